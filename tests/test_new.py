"""``elephan new``: every template is a scenario that runs, and says what was asked for."""

import json
from pathlib import Path

import pytest

import elephan as package
from conftest import Command
from elephan.errors import InputError, ScenarioError
from elephan.lint import lint
from elephan.metrics import maxmin_shares
from elephan.scenario import Scenario
from elephan.templates import DEFAULTS, example_path, examples, template

SHORT: dict[str, object] = {"duration": "3 s", "warmup": "1 s", "replications": 2}


@pytest.mark.parametrize("kind", DEFAULTS)
def test_every_template_runs_and_gives_results(kind: str) -> None:
    # The fifth paper's flows start after what is left of the run.
    early = {"flows[short-rtt].start": "0 s", "flows[long-rtt].start": "0 s"} if kind == "two-hops" else {}
    scenario = Scenario.from_text(template(kind, {}), kind).replace(SHORT | early)
    document = package.run(scenario).to_json()
    assert all(link["utilization"]["mean"] > 0 for link in document["links"])
    assert all(group["goodput_bps"]["mean"] > 0 for group in document["groups"])
    assert 0 < document["fairness"]["jain_maxmin"]["mean"] <= 1


@pytest.mark.parametrize("kind", DEFAULTS)
def test_a_template_is_read_by_people(kind: str, elephan: Command) -> None:
    done = elephan("new", kind)
    assert done.code == 0
    assert done.out == template(kind, {})
    assert done.out.startswith("# ")
    assert "$" not in done.out
    assert "#:" not in done.out
    assert max(map(len, done.out.splitlines())) <= 120


def test_what_is_chosen_stands_in_the_file(elephan: Command, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    words = ["--rate", "2.5 Gbit/s", "--rtt", "60 ms", "--flows", "7", "--buffer", "100 packets"]
    assert elephan("new", "two-way", *words, "--out", out).code == 0
    scenario = Scenario.from_file(out)
    assert [link["rate_bps"] for link in scenario.links] == [2_500_000_000] * 2
    assert [link["mean_rtt_s"] for link in scenario.links] == [0.06] * 2
    assert [link["buffer_limit_packets"] for link in scenario.links] == [100] * 2
    assert [group["flows"] for group in scenario.groups] == [7] * 2


def test_programs_get_one_document(elephan: Command) -> None:
    document = json.loads(elephan("new", "web", "--json").out)
    assert document == {"format": 1, "kind": "web", "file": None, "text": template("web", {})}


def test_a_parking_lot_has_its_hops_and_cross_traffic_at_each() -> None:
    scenario = Scenario.from_text(template("parking-lot", {"hops": 5}))
    assert [group["path"] for group in scenario.groups] == [list(range(5)), *([i] for i in range(5))]
    # 10 ms a hop and 5 ms of access, there and back.
    assert [link["flows"] for link in scenario.links] == [4] * 5
    assert scenario.links[0]["min_rtt_s"] == pytest.approx(2 * (0.010 + 0.004))
    assert scenario.links[0]["max_rtt_s"] == pytest.approx(2 * (0.050 + 0.006))


def test_no_file_is_lost(elephan: Command, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    out.write_text("precious")
    done = elephan("new", "dumbbell", "--out", out)
    assert (done.code, done.err) == (2, f"--out {out}: is there already; --force replaces it\n")
    assert out.read_text() == "precious"
    assert elephan("new", "dumbbell", "--out", out, "--force").code == 0
    assert out.read_text() == template("dumbbell", {})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["star"], 'there is no kind "star"; kinds: dumbbell, two-way, parking-lot, two-hops, web, elastic-50m, '),
        (["hstcp-1G"], 'there is no kind "hstcp-1G"; did you mean "hstcp-1g"?'),
        (["hstcp-1g", "--rate", "2 Gbit/s"], "--rate: hstcp-1g is a whole scenario; write it, and change the file"),
        (["web", "--hops", "3"], "--hops: web has no such choice; it has --rate, --flows, --buffer"),
        (["dumbbell", "--rtt", 'x"y'], "--rtt: must be a number with its unit, such as 80 ms"),
        (
            ["dumbbell", "--rtt", "80"],
            'dumbbell: flows[0].rtt: "80" has no unit; write for example "80 ms"',
        ),
        (["dumbbell", "--out", "no/such/place.toml"], "--out no/such/place.toml: no such file or directory"),
    ],
)
def test_wrong_words_get_one_line(words: list[str], message: str, elephan: Command) -> None:
    done = elephan("new", *words)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(message)


def test_links_of_an_array_are_one_in_fair_shares() -> None:
    scenario = Scenario.from_text(template("web", {}))
    fair = scenario.facts["fair"]
    # 200 servers, the bottleneck, 1000 clients of 127.5 Mbit/s in the mean.
    assert fair["rates_bps"] == [200e9, 1e9, 127.5e9]
    assert fair["paths"] == [[1], [0, 1, 2]]
    # Sessions come and go: beside flows that stay they have no share of their own.
    assert fair["caps_bps"] == [1e9, 0.0]
    shares = maxmin_shares(fair["rates_bps"], fair["paths"], [5, 1000], fair["caps_bps"])
    assert shares == pytest.approx([1e9 / 5, 0.0])


def test_only_single_links_are_sized() -> None:
    scenario = Scenario.from_text(template("web", {}), "web.toml")
    assert scenario.link_index(None) == 1
    with pytest.raises(ScenarioError, match=r"web.toml: client are 1000 links; only a single link can be sized"):
        package.size(scenario, "loss=1%", link="client")


@pytest.mark.parametrize("kind", DEFAULTS)
def test_templates_have_no_faults_that_lint_knows(kind: str) -> None:
    assert [str(warning) for warning in lint(Scenario.from_text(template(kind, {}), kind))] == []


def test_names_in_a_template_are_not_taken_for_choices() -> None:
    with pytest.raises(InputError, match="has no such choice"):
        template("dumbbell", {"i": 3})


@pytest.mark.parametrize("name", examples())
def test_every_scenario_that_comes_along_is_written_as_it_is_and_can_be_read(
    elephan: Command, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "mine.toml"
    assert elephan("new", name, "--out", out).code == 0
    assert out.read_text(encoding="utf-8") == example_path(name).read_text(encoding="utf-8")
    assert Scenario.from_file(out).title == examples()[name]
