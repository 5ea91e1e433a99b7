"""``elephan compare`` without a testbed: a scenario, all points of a sweep, and early refusal of impossible
testbeds."""

import json
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from conftest import Command
from elephan import testbed
from elephan.cli.columns import LINES
from elephan.cli.compare_screen import _gap
from elephan.comparisons import ScenarioComparison, SweepComparison, compare
from elephan.comparisons.comparison import ComparedQuantity
from elephan.comparisons.several import compare_points
from elephan.errors import InputError
from elephan.scenario import EXAMPLE, Scenario
from elephan.sweeps.document import Sweep

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
SHORT = ("--set", 'duration="20 s"', "--set", 'warmup="5 s"')


def heads(out: str) -> str:
    """Return the words of the heads of the table of one scenario, which follow its title."""
    lines = out[: out.index("utilization")].splitlines()
    return " ".join(word for line in lines if line.startswith("  ") for word in line.split())


@pytest.mark.slow
def test_the_points_of_a_sweep_have_a_table_and_a_folder_each(elephan: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    base = f"base = {json.dumps(str(SCENARIOS / 'testbed.toml'))}"
    file.write_text(f'{base}\n[over]\n"flows[0].control.law" = ["reno", "highspeed"]\n')
    done = elephan("compare", str(file), "--no-testbed", *SHORT, "--out", str(out), "--details")
    assert done.code == 0, done.err
    assert "highspeed" in done.out
    assert "values of the simulation; gap: model (the sawtooth) minus simulation" in done.err
    points = json.loads((out / "points.json").read_text())["points"]
    assert [point["folder"] for point in points] == ["01-reno", "02-highspeed"]
    assert [point["valid"] for point in points] == [None, None]
    for point in points:
        own = json.loads((out / point["folder"] / "compare.json").read_text())
        assert own["rows"] == point["rows"]
        assert own["testbed"] is None
    # The same seed: what is said of a point alone is the same.
    command = ("compare", str(SCENARIOS / "testbed.toml"), "--no-testbed", *SHORT)
    rows = json.loads(elephan(*command, "--json").out)["rows"]
    assert rows == points[1]["rows"]
    # Without a testbed the model is measured by the simulation, in the same places.
    assert {(row["against"], row["testbed"], row["simulation_gap"]) for row in rows} == {("simulation", None, None)}
    low = next(row for row in rows if row["name"] == "cwnd_low_segments")
    assert low["model_gap"] == pytest.approx(low["model"] / low["simulation"] - 1)
    said = elephan(*command).out
    assert heads(said) == "model model minus sawtooth simulation simulation"
    assert f"{100 * low['model_gap']:+.1f} %" in said
    # The table of points has the unit in its heads.
    assert f"{100 * low['model_gap']:+.1f}" in done.out
    assert [done.out.count(word) for word in ("cwnd", "before a", "after a")] == [2, 1, 1]


def test_a_receive_window_that_does_not_hold_leaves_the_model_its_answer(elephan: Command, tmp_path: Path) -> None:
    file = tmp_path / "net.toml"
    assert elephan("new", "sawtooth", "--out", file).code == 0
    command = ("compare", file, "--no-testbed", *SHORT)
    assert heads(elephan(*command).out) == "model model minus sawtooth simulation simulation"
    # Pipe and buffer are 166 segments. The profile is a word in the file.
    said = " ".join(elephan(*command, "--set", "flows[0].tcp.receive_window=60").out.split())
    assert 'receive_window holds at any buffer: set tcp.receive_window = "none"' in said
    assert heads(elephan(*command, "--set", "flows[0].tcp.receive_window=none").out).startswith(
        "model model minus sawtooth"
    )


def test_the_model_of_equal_flows_keeps_quiet_about_unequal_ones(elephan: Command) -> None:
    done = elephan("compare", str(SCENARIOS / "testbed-rtts.toml"), "--no-testbed", *SHORT, "--json")
    rows = {row["name"]: row for row in json.loads(done.out)["rows"]}
    assert {row["model"] for row in rows.values()} == {None}
    assert rows["jain"]["simulation"] < 0.8


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ([], "the response of cubic depends on more than its window"),
        (["flows[0].control.law=reno", "flows[0].rtt={ from = '20 ms', to = '30 ms' }"], "round-trip times differ"),
        (["flows[0].control.law=reno", "links[0].queue=codel"], "the queue is codel, not drop-tail"),
        (["flows[0].control.law=reno", "flows[0].recovery=tahoe"], "here recovery is tahoe"),
    ],
)
def test_where_there_is_no_model_its_columns_are_left_out_and_the_reason_is_said(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int, changes: list[str], why: str
) -> None:
    file = tmp_path / "net.toml"
    assert elephan("new", "dumbbell", "--out", file).code == 0
    monkeypatch.setenv("COLUMNS", str(width))
    words = ("compare", file, "--no-testbed", *SHORT, *(word for change in changes for word in ("--set", change)))
    done = elephan(*words)
    assert done.code == 0, done.err
    assert heads(done.out) == "simulation"
    assert why in " ".join(done.out.split())
    assert max(map(len, done.out.splitlines())) <= width


def test_points_without_a_model_say_why_and_those_with_the_largest_gaps_stay(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    file = tmp_path / "sweep.toml"
    base = f"base = {json.dumps(str(SCENARIOS / 'testbed.toml'))}"
    file.write_text(f'{base}\n[over]\n"flows[0].recovery" = ["sack", "tahoe"]\n"seed" = [1, 2, 3, 4, 5, 6]\n')
    done = elephan("compare", str(file), "--no-testbed", *SHORT)
    assert done.code == 0, done.err
    assert "no model at 6 of 12 points: the sawtooth does not apply: " in " ".join(done.err.split())
    assert sum(line.startswith("sack ") for line in done.out.splitlines()) == 6
    assert "flows[0]" not in done.out
    assert re.search(r"\b[34] more points, with\s+smaller gaps", done.out), done.out
    assert len(done.out.splitlines()) <= LINES


def test_the_scenarios_for_testbeds_are_such(elephan: Command) -> None:
    for name in ("testbed.toml", "testbed-rtts.toml"):
        assert "iperf3 --client" in elephan("testbed", "run", str(SCENARIOS / name), "--dry-run").out
    for name, count in (("testbed-buffers.toml", 16), ("testbed-gared.toml", 2)):
        assert len(Sweep.from_file(SCENARIOS / "sweeps" / name).points()) == count


def test_a_point_that_no_testbed_can_have_is_named_before_any_is_run() -> None:
    sweep = Sweep.from_file(SCENARIOS / "sweeps" / "testbed-gared.toml").changed({"links[0].rate": "10 Gbit/s"})
    with pytest.raises(InputError, match=r"^links\[0\].queue.discipline ared: .*links\[0\].rate: on a testbed"):
        next(compare_points(sweep))


def test_the_function_is_what_the_command_does(elephan: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(EXAMPLE)
    shown = json.loads(elephan("compare", scenario, "--no-testbed", "--replications", "1", "--json").out)
    found = compare(scenario, replications=1, real=False)
    assert isinstance(found, ScenarioComparison)
    assert found.to_json()["rows"] == shown["rows"]
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('base = "s.toml"\n[over]\n"flows[0].count" = [1, 2]\n')
    shown = json.loads(elephan("compare", sweep, "--no-testbed", "--replications", "1", "--json").out)
    several = compare(sweep, replications=1, real=False)
    assert isinstance(several, SweepComparison)
    assert {"format": 1, **several.to_json()} == shown


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "testbed run {file} --set 'duration=30 s' --replications 4",
            "testbed: 4 runs of 30 s in real time, about 120 s, at most 360 s where runs are not valid",
        ),
        (
            "compare {file} --set 'duration=30 s' --replications 1 --attempts 1",
            "testbed: 1 run of 30 s in real time, about 30 s",
        ),
        ("testbed run {file} --set 'duration=30 s' --replications 4 --quiet", None),
        ("testbed run {file} --set 'warmup=1 s' --set 'duration=5 s' --replications 1", None),
        ("compare {file} --set 'duration=30 s' --replications 4 --no-testbed", None),
    ],
)
def test_a_testbed_says_how_long_it_takes_before_it_begins(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, words: str, line: str | None
) -> None:
    def run(*_: object, **__: object) -> None:
        raise InputError("begun")

    monkeypatch.setattr(testbed, "run", run)
    monkeypatch.setattr(import_module("elephan.comparisons"), "compare_scenario", run)
    path = SCENARIOS / "testbed.toml"
    said = elephan(*(word.format(file=path) for word in shlex.split(words))).err.splitlines()
    assert [each for each in said if each.startswith("testbed: ")] == ([line] if line else [])
    assert said[-1].endswith("begun")


def test_the_period_of_bbr_is_the_time_between_two_phases_of_probe_rtt() -> None:
    scenario = Scenario.from_text(EXAMPLE).replace(
        {"flows[0].control": "bbr1", "flows[0].count": 1, "duration": "45 s", "warmup": "2 s", "record.every": "50 ms"}
    )
    found = compare(scenario, 1, real=False).to_json()
    rows = {row["name"]: row["simulation"] for row in found["rows"]}
    # Ten seconds without a smaller round-trip time, and the phase itself: 200 ms and up to two round trips.
    assert rows["period_s"] == pytest.approx(10.3, abs=0.4)
    low, high = rows["cwnd_low_segments"], rows["cwnd_high_segments"]
    assert low is not None
    assert high is not None
    assert low < 10 < high


def test_what_is_measured_has_its_interval_beside_it(elephan: Command) -> None:
    file = SCENARIOS / "testbed-rtts.toml"
    more = ("--set", "duration=20 s", "--set", "warmup=5 s", "--set", "flows[0].start={ from = '0 s', to = '2 s' }")
    done = elephan("compare", file, "--no-testbed", *more, "--replications", "3", "-q")
    assert re.search(r"mean queueing delay \[ms\] +\d[\d.]*(±| \()", done.out), done.out + done.err
    assert not re.search(r"±0(?![.\d])", done.out)


@pytest.mark.parametrize(
    ("row", "halves", "shown"),
    [
        # Of 0.96 less 0.95 ± 0.002; of 1.1 / (1 ± 0.02), which is 1.1 ± 0.022; and the hypotenuse of 3 and 4.
        (ComparedQuantity("utilization", "", 0.96, 0.95, None, relative=False, against="simulation"),
         {"simulation": 0.002}, "+1.0±0.2 points"),
        (ComparedQuantity("queueing_delay_s", "s", 1.1, 1.0, None, relative=True, against="simulation"),
         {"simulation": 0.02}, "+10±2 %"),
        (ComparedQuantity("utilization", "", None, 0.5, 0.7, relative=False, against="testbed"),
         {"simulation": 0.03, "testbed": 0.04}, "-20±5 points"),
        (ComparedQuantity("utilization", "", 0.5, 0.7, None, relative=False, against="simulation"),
         {"simulation": 0.0}, "-20.00 points"),
    ],
)  # fmt: skip
def test_a_gap_has_the_interval_of_what_it_is_the_difference_of(
    row: ComparedQuantity, halves: dict[str, float], shown: str
) -> None:
    known = {source: {row.name: {"mean": getattr(row, source), "ci95": half}} for source, half in halves.items()}
    assert _gap(row, "model" if row.against == "simulation" else "simulation", known) == shown
