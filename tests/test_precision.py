"""Runs until a precision, and warm-ups determined by a pilot."""

import json
from pathlib import Path
from typing import Any

import pytest

import elephan as package
from conftest import Command
from elephan.errors import InputError, ScenarioError
from elephan.runs.outcome import simulate
from elephan.runs.precision import parse_precision
from elephan.runs.warmup import _round_up, settle_warmup
from elephan.scenario import AUTO, EXAMPLE


@pytest.fixture(scope="module")
def scenario() -> package.Scenario:
    return package.Scenario.from_text(EXAMPLE)


def test_replications_are_added_in_fives_until_all_is_precise(scenario: package.Scenario) -> None:
    result = package.run(scenario, precision="2%")
    document = result.to_json()
    assert len(result.outcomes) % 5 == 0
    assert document["precision"]["met"]
    assert [row["metric"] for row in document["precision"]["metrics"]] == ["utilization[core]", "goodput[bulk]"]
    for row, quantity in zip(
        document["precision"]["metrics"],
        (document["links"][0]["utilization"], document["groups"][0]["goodput_bps"]),
        strict=True,
    ):
        assert row["reached"] == pytest.approx(quantity["ci95"] / quantity["mean"])
        assert row["reached"] <= 0.02
    fewer = package.run(scenario, replications=len(result.outcomes) - 5 or 2, precision="2%", max_replications=2)
    assert len(fewer.outcomes) == 2


def test_the_result_is_that_of_so_many_replications_and_does_not_depend_on_workers(scenario: package.Scenario) -> None:
    one, two = (package.run(scenario, precision="goodput=0.5%", max_replications=12, workers=n) for n in (1, 2))
    plain = package.run(scenario, replications=len(one.outcomes))
    parts = [{k: v for k, v in r.to_json().items() if k not in ("run", "precision")} for r in (one, two, plain)]
    assert parts[0] == parts[1] == parts[2]
    assert one.scenario.id == two.scenario.id == plain.scenario.id


def test_the_command_says_when_the_precision_is_not_met(elephan: Command, small: Path) -> None:
    done = elephan("run", small, "-q", "--json", "--precision", "0.01%", "--max-replications", 6)
    document = json.loads(done.out)
    assert done.code == 1
    assert document["run"]["replications"] == 6
    assert not document["precision"]["met"]
    assert done.err.startswith("precision not met after 6 replications: utilization[core] 0.0")
    assert elephan("run", small, "-q", "--precision", "utilization=50%").code == 0


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("1", "out of range"),
        ("speed=1%", 'there is no "speed"; use utilization, loss, delay, backlog, goodput'),
        ("utilization[edge]=1%", "there is none of this name; known: core"),
        ("a=b=c", "cannot be read"),
        ("goodput=ten", "is not a share"),
    ],
)
def test_a_precision_that_cannot_be_used_is_refused(scenario: package.Scenario, asked: str, says: str) -> None:
    with pytest.raises(InputError, match="precision: ") as refusal:
        parse_precision(asked, scenario)
    assert says in str(refusal.value)


def test_chosen_metrics_replace_the_default(scenario: package.Scenario) -> None:
    found = parse_precision(["1%", "goodput[bulk]=3%", "delay=5%"], scenario)
    assert [(wanted.name, wanted.relative) for wanted in found] == [
        ("utilization[core]", 0.01),
        ("goodput[bulk]", 0.03),
        ("delay[core]", 0.05),
    ]
    result = package.run(scenario, replications=2)
    held: Any = result.to_json()
    for wanted in (*found, *parse_precision(["loss=1%", "backlog=1%"], scenario)):
        of = {
            "goodput": ("groups", "goodput_bps"),
            "delay": ("links", "queueing_delay_s"),
            "loss": ("links", "loss_ratio"),
        }
        where, name = of.get(wanted.metric, ("links", {"backlog": "backlog_packets"}.get(wanted.metric, wanted.metric)))
        mean = sum(wanted.measure(outcome) for outcome in result.outcomes) / 2
        assert mean == pytest.approx(held[where][0][name]["mean"])


LATE = EXAMPLE.replace('"4 s"', '"100 s"').replace('warmup   = "1 s"', 'warmup = "auto"').replace("0.1 s", "1 s")


def test_an_automatic_warmup_ends_after_the_start_and_before_the_middle() -> None:
    auto = package.Scenario.from_text(LATE)
    assert auto.warmup_rule == AUTO
    settled = settle_warmup(auto)
    # Flows start within 1 s and leave slow start in 10 round trips of 80 ms; a step is 1 s.
    assert 1.0 <= settled.facts["warmup_s"] <= 50.0
    assert settled.facts["warmup_s"] % 1.0 == 0.0
    assert settled.warmup_rule == "MSER-5 on a pilot of 5 replications"
    assert settle_warmup(auto, workers=1) == settled
    assert settle_warmup(settled) is settled
    assert settled.replace(replications=7).warmup_rule == settled.warmup_rule
    assert settled.replace(warmup="3 s").warmup_rule == "stated"


def test_a_group_that_starts_late_ends_the_warmup_late() -> None:
    flows = LATE[LATE.index("[[flows]]") :]
    late = flows.replace('"bulk"', '"late"').replace('{ from = "0 s", to = "1 s" }', '"20 s"')
    settled = settle_warmup(package.Scenario.from_text(LATE + late))
    # Its window is 2 until 20 s and dozens afterwards: no cut before it leaves a steady series.
    assert settled.facts["warmup_s"] >= 20.0


def test_what_does_not_settle_in_its_first_half_is_refused() -> None:
    flows = LATE[LATE.index("[[flows]]") :]
    late = flows.replace('"bulk"', '"late"').replace('{ from = "0 s", to = "1 s" }', '"60 s"')
    with pytest.raises(
        ScenarioError,
        match=r'warmup: "auto" found none: by MSER-5 the cwnd of bulk does not settle in the first half of 100 s',
    ):
        settle_warmup(package.Scenario.from_text(LATE + late))
    with pytest.raises(ScenarioError, match="needs 50 samples or more"):
        settle_warmup(package.Scenario.from_text(LATE).replace(duration="4 s"))


def test_an_unsettled_warmup_is_not_run_by_mistake() -> None:
    with pytest.raises(ScenarioError, match="is determined by"):
        simulate(package.Scenario.from_text(LATE), 0)


def test_run_and_size_find_the_warmup_and_say_how(elephan: Command, tmp_path: Path) -> None:
    file = tmp_path / "auto.toml"
    file.write_text("replications = 2\n" + LATE)
    out = tmp_path / "out"
    done = elephan("run", file, "-q", "--out", out)
    assert done.code == 0
    assert "warm-up by MSER-5 on a pilot" in done.out
    document = json.loads((out / "run.json").read_text())
    assert document["run"]["warmup_rule"].startswith("MSER-5")
    assert document["run"]["warmup_s"] * 1e12 == document["resolved"]["warmup_ps"] > 0
    assert package.Scenario.from_file(out / "scenario.toml").id == document["run"]["id"]
    sized = json.loads(elephan("size", file, "-q", "--target", "utilization=0.8", "--json").out)
    assert sized["run"]["warmup_s"] == document["run"]["warmup_s"]
    assert sized["run"]["warmup_rule"] == document["run"]["warmup_rule"]


def test_warmups_are_rounded_up_to_round_times() -> None:
    assert _round_up(12.3, 200.0) == 14.0
    assert _round_up(12.0, 200.0) == 12.0
    assert _round_up(0.0, 200.0) == 0.0
    assert _round_up(1.01, 30.0) == pytest.approx(1.5)
