"""``--metric``: every metric of the catalogue that is a number, from results or computed from their columns."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elephan as package
from conftest import Command
from elephan.errors import InputError
from elephan.metrics import METRICS, convergence_time, loss_synchronization, recovery_times
from elephan.runs.measures import MEASURES, numbers, parse_metrics
from elephan.runs.result import RunResult

TWO = """
title = "Two flows, one later"
duration = "30 s"
warmup = "4 s"
replications = 3
[[links]]
name = "core"
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "60 packets"
[[flows]]
name = "early"
path = ["core"]
rtt = "40 ms"
start = { from = "0 s", to = "1 s" }
[[flows]]
name = "late"
path = ["core"]
rtt = "80 ms"
start = { from = "8 s", to = "9 s" }
[record]
trace = ["early[0]"]
"""
FILES = """
[[flows]]
name = "files"
path = ["core"]
rtt = "60 ms"
count = 20
start = { from = "5 s", to = "29 s" }
traffic = { kind = "finite", size = "200 kB" }
"""
ASKED = ["convergence_time(delta=0.6)", "recovery_time", "loss_synchronization", "throughput_by_rtt", "maxmin_share"]


@pytest.fixture(scope="module")
def result() -> RunResult:
    return package.run(package.Scenario.from_text(TWO), series=True)


def row(result: Any, metric: str) -> dict[str, Any]:
    table = result.measure(metric)
    return {name: table[name][0] for name in table}


def test_every_metric_that_is_a_number_is_given_and_curves_are_refused(result: RunResult) -> None:
    with_files = package.run(package.Scenario.from_text(TWO + FILES), replications=1, series=True)
    assert set(METRICS) - set(numbers()) == {"distribution"}
    for name in numbers():
        # Each of two is not of more, and transfers that end are not in either.
        held = with_files if name in ("response_time_cdf", "completion_time", "slowdown") else result
        found = held.measure(name)
        assert set(found["metric"]) == {name} or (name in ("completion_time", "slowdown") and not found.rows), name
    with pytest.raises(InputError, match="distribution: is a curve, not a number"):
        result.measure("distribution")


def test_counts_are_asked_by_their_names_on_the_screen_of_a_run(result: RunResult) -> None:
    found, groups = result.measure(["cuts", "timeouts"]), result.to_json()["groups"]
    assert found["name"] == ["early", "late"] * 2
    assert found["value"] == [group[key]["mean"] for key in ("loss_events", "timeouts") for group in groups]
    assert sum(found["value"][:2]) > 0
    with pytest.raises(InputError, match=r'no "cutz"; did you mean "cuts"'):
        result.measure("cutz")
    with pytest.raises(InputError, match=r'cuts: there is no option "delta"; it has none'):
        result.measure("cuts(delta=1)")


def test_what_results_have_is_what_the_document_says(result: RunResult) -> None:
    document = result.to_json()
    found = result.measure(["jain", "goodput", "percentile"])
    assert found["value"][0] == document["fairness"]["jain"]["mean"]
    assert found["value_ci95"][0] == document["fairness"]["jain"]["ci95"]
    of_groups = [group[key]["mean"] for group in document["groups"] for key in ("goodput_bps", "goodput_per_flow_bps")]
    assert found["value"][1:5] == of_groups
    assert found["name"][1:5] == ["early", "early", "late", "late"]
    assert found["value"][-1] == document["links"][0]["queueing_delay_p99_s"]["mean"]


def test_convergence_is_that_of_shares_over_ten_round_trips(result: RunResult) -> None:
    values = []
    for outcome in result.outcomes:
        srtt = np.where(outcome.samples["srtt_s"] > 0, outcome.samples["srtt_s"], np.inf)
        rates = outcome.samples["cwnd_segments"].astype(float) / srtt
        # Ten round trips of 80 ms are eight samples.
        means = rates[:, : 37 * 8].reshape(2, 37, 8).mean(axis=2)
        start = outcome.flows["start_s"][1]
        values.append(convergence_time(outcome.samples["time_s"][: 37 * 8 : 8], means, start, delta=0.6))
    found = row(result, "convergence_time(delta=0.6)")
    assert found["quantity"] == "convergence_time_s"
    assert found["unit"] == "s"
    assert found["value"] == pytest.approx(np.nanmean(values))
    assert found["replications"] == np.isfinite(values).sum()
    # Never within a hundredth of each other to the end: no value, not a number of what converged.
    never = row(result, "convergence_time(delta=0.01)")
    assert (never["value"], never["replications"]) == (None, 0)


def test_computed_metrics_are_those_of_the_functions_of_the_catalogue(result: RunResult) -> None:
    hit = [loss_synchronization(o.links["flows_hit"][0], o.links["loss_events"][0], 2) for o in result.outcomes]
    assert row(result, "loss_synchronization")["value"] == pytest.approx(np.mean(hit))
    times = []
    for outcome in result.outcomes:
        trace = outcome.traces[0]
        measured = trace["time_s"] >= 4.0
        found = recovery_times(*(trace[name][measured] for name in ("time_s", "cwnd_segments", "ssthresh_segments")))
        times.append(np.nanmean(found))
    assert row(result, "recovery_time")["value"] == pytest.approx(np.mean(times))
    assert row(result, "recovery_time")["name"] == "early[0]"
    assert result.measure("maxmin_share")["value"] == [5e6, 5e6]
    by_rtt = result.measure("throughput_by_rtt")
    goodputs = np.mean([outcome.flows["goodput_bps"] for outcome in result.outcomes], axis=0)
    assert [by_rtt["value"][0], by_rtt["value"][2]] == pytest.approx(goodputs.tolist())
    assert by_rtt["name"][0] == "RTT 40 to 53.33 ms"


def test_response_times_count_what_never_ended(result: RunResult) -> None:
    held = package.run(package.Scenario.from_text(TWO + FILES), replications=1)
    flows = held.outcomes[0].flows
    mine = flows["group"] == 2
    taken = np.sort(flows["finished_s"][mine] - flows["start_s"][mine])
    known = np.isfinite(taken)
    found = held.measure("response_time_cdf")
    assert found["quantity"] == ["response_time_p50_s", "response_time_p95_s"]
    # The tenth of twenty.
    assert found["value"][0] == taken[9]
    # One is still under way at the end: 19 of 20 are 95 %.
    assert known.sum() in (19, 20)
    assert found["value"][1] == taken[18]
    with pytest.raises(InputError, match='response_time_cdf: is defined for groups with "finite" traffic'):
        result.measure("response_time_cdf")


def test_a_run_from_a_folder_and_points_of_a_sweep_measure_the_same(result: RunResult, tmp_path: Path) -> None:
    own = {metric: result.measure(metric)["value"] for metric in ASKED}
    result.write(tmp_path / "run")
    back = package.load(tmp_path / "run")
    swept = package.sweep(
        result.scenario, over={"links[0].buffer": ["60 packets"]}, store=tmp_path / "runs", metrics=ASKED
    )
    for metric in ASKED:
        assert back.measure(metric)["value"] == own[metric]  # type: ignore[attr-defined]
        assert swept.measure(metric)["value"] == own[metric]
        assert swept.points[0].measure(metric)["value"] == own[metric]
    assert swept.measure("jain")["links[0].buffer"] == ["60 packets"]
    rows = swept.to_json()["points"][0]["metrics"]
    assert [each["metric"] for each in rows][:3] == ASKED[:3]
    swept.write(tmp_path / "out")
    assert package.load(tmp_path / "out").to_json()["points"][0]["metrics"] == rows  # type: ignore[attr-defined]


def test_the_commands_give_them_and_keep_series_for_them(elephan: Command, tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TWO)
    words = ("run", file, "--metric", "convergence-time(delta=0.6)", "--metric", "jain")
    done = elephan(*words, "--json")
    found = {each["quantity"]: each for each in json.loads(done.out)["metrics"]}
    own = package.run(file, series=True).measure("convergence_time(delta=0.6)")
    assert found["convergence_time_s"]["value"]["mean"] == own["value"][0]
    shown = elephan(*words).out
    assert [line.split()[:2] for line in shown.splitlines() if line.strip().startswith("convergence")] == [
        ["convergence_time", "run"]
    ]
    store = tmp_path / "runs"
    assert "is in the store" not in elephan(*words, "--store", store).err
    kept = elephan(*words, "--store", store, "--json", "--out", tmp_path / "out")
    assert package.load(tmp_path / "out").to_json()["metrics"] == list(found.values())  # type: ignore[attr-defined]
    assert "is in the store" in kept.err
    assert json.loads(kept.out)["metrics"] == list(found.values())
    swept = elephan("sweep", file, "--over", "links[0].buffer=60 packets", "--store", store, *words[2:], "--json")
    assert json.loads(swept.out)["points"][0]["metrics"] == list(found.values())
    out = elephan(*("sweep", *words[1:], "--over", "seed=1", "--store", store)).out
    assert "convergence" in out
    assert "time(delta=0.6)" in out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("convergence_tme", 'metric: there is no "convergence_tme"; did you mean "convergence_time"?'),
        ("convergence_time(dleta=1)", 'metric: convergence_time: there is no option "dleta"; did you mean "delta"?'),
        ("convergence_time(delta=x)", 'metric: convergence_time: delta: "x" is not a number'),
        ("jain(delta=1)", 'metric: jain: there is no option "delta"; it has none'),
        ("jain[core]", 'metric: "jain[core]" cannot be read; write for example jain'),
        ("distribution", "metric: distribution: is a curve"),
        ("response_time_cdf", 'metric: response_time_cdf: is defined for groups with "finite" traffic'),
    ],
)
def test_what_cannot_be_measured_is_one_line_and_exit_2(
    elephan: Command, tmp_path: Path, asked: str, said: str
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TWO)
    done = elephan("run", file, "--metric", asked)
    assert done.code == 2
    assert done.err.startswith(said)
    assert len(done.err.splitlines()) == 1


def test_other_scenarios_say_why_there_is_no_value() -> None:
    small = package.Scenario.from_text(package.EXAMPLE)
    three = small.replace({"flows[0].count": 3})
    with pytest.raises(InputError, match="convergence_time: is defined for two TCP flows, and the scenario has 3"):
        package.run(three, metrics="convergence_time")
    with pytest.raises(InputError, match=r'give --set record.trace=\["bulk\[0\]"\]'):
        package.run(small, metrics="recovery_time")
    short = package.run(small, replications=1)
    with pytest.raises(InputError, match="the samples, which were not kept; run with series=True"):
        short.measure("convergence_time")


def test_options_are_part_of_what_is_asked() -> None:
    found = parse_metrics(["jain", "convergence_time(delta=0.2)", "convergence_time", "jain"])
    assert [str(metric) for metric in found] == ["jain", "convergence_time(delta=0.2)", "convergence_time"]
    assert set(MEASURES) < set(METRICS)


def test_a_page_shows_what_was_asked_for(tmp_path: Path) -> None:
    held = package.run(package.Scenario.from_text(TWO), metrics=["convergence_time(delta=0.6)", "jain"])
    page = package.report(held, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Metrics that were asked for" in page
    assert "convergence_time" in page
    plain = package.report(package.run(package.Scenario.from_text(TWO)), tmp_path / "plain.html")
    assert "Metrics that were asked for" not in plain.read_text(encoding="utf-8")
