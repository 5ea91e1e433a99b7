"""``elephan judge``: data sets as folders, errors of cells, nulls, reasons, and what is committed."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from elephan import testbed
from elephan.errors import InputError
from elephan.runs import run
from elephan.scenario import Scenario
from elephan_evidence.judge import DataSet, judge, nebby, sets, windows
from elephan_evidence.judge.cell import matches
from elephan_evidence.judge.dataset import HOME, Null, Quantity, find
from elephan_evidence.judge.scoring import Measurement, accepted, constant, halves, score, swapped
from elephan_evidence.report.judge import write_pages
from judged import example
from testbeds import faked


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return example(tmp_path)


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_example_of_contributing_is_judged(folder: Path, elephan: Command) -> None:
    done = elephan("judge", folder, "--quiet", "--json")
    assert done.code == 1  # nothing is committed yet
    [found] = json.loads(done.out)["sets"]
    [share] = found["quantities"]
    assert (found["cells"], found["apart"]) == (3, 1)
    assert share["cells"][0]["verdict"] == "apart"
    assert [null["name"] for null in share["nulls"]] == ["a constant", "the wrong law"]
    [unknown] = share["unknowns"]
    assert (unknown["name"], unknown["with"]["cells"]) == ("round-trip time: 10 ms", 3)
    # Half-widths have the spread of ten trials: 0.2 of 9.5 Mbit/s is 0.015 of the share.
    assert all(cell["ci95"] > 0.01 for cell in share["cells"])
    for cell in share["cells"]:
        assert cell["error"] == pytest.approx(cell["simulated"] - cell["measured"])


def test_a_table_is_committed_and_a_verdict_that_changes_is_an_error(folder: Path, elephan: Command) -> None:
    words = ("judge", folder, "--quiet")
    assert elephan(*words, "--bless", "--quick").code == 2  # no rows of full runs
    assert elephan(*words, "--bless").code == 0
    assert elephan(*words).code == 0
    assert elephan(*words, "--bless", "--quick").code == 0
    assert elephan(*words, "--quick").code == 0
    table = folder / "table.csv"
    lines = table.read_text().splitlines()
    assert lines[0] == "quantity,cell,measured,simulated,error,ci95,verdict,quick"
    # Every second cell was run again, shortened.
    assert sum(line.endswith((",within", ",above", ",apart")) for line in lines) == 2
    [row] = [line for line in lines if line.startswith("share,cubic/100,")]
    changed = row.replace(",within,", ",above,") if ",within," in row else row.replace(",above,", ",within,")
    rewrite(table, row, changed)
    done = elephan(*words)
    assert done.code == 1
    assert "two-flows, share, cubic/100: " in done.err


def test_held_out_measurements_are_judged_apart(folder: Path, elephan: Command, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    head = (folder / "measured.csv").read_text().splitlines()[0]
    other.write_text(f"{head}\nreno,50,4.7,4.8,0.2,10\n")
    done = elephan("judge", folder, "--held-out", other, "--quiet", "--json")
    [found] = json.loads(done.out)["sets"]
    assert (done.code, found["cells"], found["changed"]) == (0, 1, [])
    both = elephan("judge", folder, "nebby-2024", "--held-out", other)
    assert (both.code, both.err) == (2, "--held-out: belongs to one data set; name it\n")


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("set.toml", 'title = "Two', 'titel = "Two', "set.toml: title: missing"),
        ("set.toml", "[columns.law.words]\nreno", "[columns.law.words]\nrenno", 'columns.law.words: no "reno"'),
        ("set.toml", 'error = "difference"', 'error = "diff"', "quantities.share.error: must be difference"),
        ("measured.csv", "law,", "control,", "no column law, which set.toml names"),
        ("measured.csv", "cubic,20,", "reno,20,", "reno/20: stands there twice"),
        ("measured.csv", "cubic,20,4.8", "cubic,20,x", 'measured.csv: cubic/20: first_mbps: not a number: "x"'),
        ("scenario.toml", 'rate = "10 Mbit/s"', 'rat = "10 Mbit/s"', "links[0].rat: unknown key"),
        ("set.toml", 'reading = "share group', 'reading = "shar group', 'quantities.share: no reading "shar"'),
        ("set.toml", "form = ", "form = 1 #", "set.toml: columns.buffer_packets.form: must be text"),
    ],
)
def test_a_wrong_folder_gets_one_line(folder: Path, elephan: Command, file: str, old: str, new: str, said: str) -> None:
    rewrite(folder / file, old, new)
    done = elephan("judge", folder, "--quiet")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_each_set_is_whole() -> None:
    for name in sets():
        data = DataSet.read(find(name))
        assert data.counted, name
        assert ("LICENSE" in data.licence) == (data.folder / "LICENSE").exists(), name
        assert (data.folder / "table.csv").exists(), name
        for one in data.unknowns:
            assert "Taken:" in one.says, one.name
        # Each variant is a scenario, in the first and the last cell.
        variants = [value for one in data.unknowns for value in one.values]
        variants += [one.variant for one in data.nulls if one.variant is not None]
        variants += [one.variant for one in data.reasons if one.variant is not None]
        for cell in (data.counted[0], data.counted[-1]):
            for variant in (None, *variants):
                if variant is None or matches(cell, variant.where):
                    data.scenario(cell, variant)
                    data.scenario(cell, variant, quick=True)


def test_a_column_scales_its_number_before_it_is_written() -> None:
    data = DataSet.read(find("s2n-quic-cubic"))
    [cell] = [one for one in data.cells if one.id == "loss-at-3mb/40"]
    assert data.scenario(cell).facts["duration_s"] == pytest.approx(0.2 * 40 + 0.1)


@pytest.mark.parametrize(
    ("name", "cell", "segments"),
    [
        # Rounds are of 10, 20, 40, ... segments: the first one of rounds 8 and 6; 44,005 come before round 28.
        ("s2n-quic-cubic", "loss-at-3mb/134", [2550]),
        ("s2n-quic-cubic", "loss-at-3mb-and-2.75mb/119", [2550, 44005]),
        ("s2n-quic-cubic", "app-limited-1mb/119", [630]),
        ("neqo-cubic", "cubic-phase/6.5012", [597]),
        ("neqo-cubic", "loss-in-slow-start/0.15", [1]),
        ("neqo-cubic", "loss-in-avoidance/0.15", [1]),
        ("neqo-cubic", "newreno-loss/0.15", [0]),
        ("neqo-cubic", "newreno-two-losses/0.15", [0, 1]),
    ],
)
def test_scripted_losses_hit_the_segments_of_the_source_also_under_a_wrong_law(
    name: str, cell: str, segments: list[int]
) -> None:
    data = DataSet.read(find(name))
    [one] = [each for each in data.cells if each.id == cell]
    [found] = run(data.scenario(one)).outcomes
    assert found.traces[0]["drop_segment"].tolist() == segments
    for null in data.nulls:
        if null.variant is not None and matches(one, null.variant.where):
            [other] = run(data.scenario(one, null.variant)).outcomes
            assert len(other.traces[0]["drop_segment"]) == len(segments), null.name


def test_only_licensed_data_is_copied() -> None:
    # No licence: means alone. MIT captures: numbers computed from them.
    assert not (HOME / "l4s-pam-2025" / "LICENSE").exists()
    assert len(list((HOME / "nebby-2024").iterdir())) <= 4


def test_pages_have_each_set_and_its_picture(folder: Path, tmp_path: Path) -> None:
    found = judge(str(folder))
    write_pages(found, tmp_path / "pages")
    text = (tmp_path / "pages" / "two-flows.md").read_text()
    assert "Two flows beside each other" in text
    assert "pictures/two-flows-share.svg" in text
    assert "the round-trip time was read from it" in text
    assert "null: the wrong law" in text
    assert (tmp_path / "pages" / "pictures" / "two-flows-share.svg").exists()
    # The index is about all sets.
    assert not (tmp_path / "pages" / "README.md").exists()


def quantity(**more: object) -> Quantity:
    given = {"name": "q", "says": "", "unit": "", "measured": "", "reading": "", "error": "difference", "by": ("law",)}
    return Quantity(**{**given, "cell": 0.1, "mean": 0.1, "reason": "", **more})  # type: ignore[arg-type]


def measurement(law: str, measured: float, *simulated: float, per: float = 1.0, **more: object) -> Measurement:
    return Measurement(quantity(**more), {"law": law}, (), measured, 0.0, per, np.array(simulated), counted=True)


def test_errors_by_kind() -> None:
    assert measurement("reno", 40.0, 50.0, per=100.0).found_error == pytest.approx(0.1)
    assert measurement("reno", 40.0, 50.0, error="relative").found_error == pytest.approx(0.25)
    assert measurement("reno", 40.0, 50.0, error="factor").found_error == pytest.approx(math.log(1.25))
    # What the measurement does not resolve is no error.
    assert measurement("reno", 2.0, 3.0, per=2.0, resolution=1.0).limit == pytest.approx(0.5)


def test_a_bias_and_a_mean_error_are_bounded_apart() -> None:
    ours = score([(0.08, 0.1), (-0.08, 0.1), (0.3, 0.1), (math.nan, 0.1)])
    assert (ours.cells, ours.within, ours.share) == (4, 2.0, 0.5)
    assert ours.bias == pytest.approx(0.1)
    assert ours.mean == pytest.approx(0.46 / 3)
    assert accepted(quantity(mean=0.2), ours)
    assert not accepted(quantity(mean=0.2, bias=0.05), ours)


def test_nulls_are_the_mean_and_the_other_law() -> None:
    every = [measurement("reno", 0.2, 0.2), measurement("cubic", 0.4, 0.5)]
    assert constant(every) == [pytest.approx(0.1), pytest.approx(-0.1)]
    wrong = swapped(Null("the wrong law", "law"), every, every)
    assert wrong == [[pytest.approx(0.3)], [pytest.approx(-0.2)]]


def test_intervals_pool_the_replications_of_a_family() -> None:
    every = [measurement("reno", 0.2, 0.1, 0.3), measurement("cubic", 0.4, 0.5, 0.5)]
    half = halves(every)
    assert half["reno"] == pytest.approx(12.706 * 0.1, rel=1e-3)  # t of one degree of freedom
    assert half["cubic"] == 0.0


def test_a_capture_gives_the_window_and_its_cuts() -> None:
    # A sawtooth from 30 to 60 segments in flight, 4 s long, acknowledged after 100 ms.
    rows = []
    acked = 1
    for step in range(2000):
        at = 0.02 * step
        flight = 30 + 30 * (at % 4.0) / 4.0
        acked += 48 * 3
        data = {"tcp.seq": str(int(acked + 48 * flight - 48)), "tcp.len": "48", "tcp.dstport": "5000", "tcp.ack": "1"}
        ack = {"tcp.seq": "1", "tcp.len": "0", "tcp.dstport": "4000", "tcp.ack": str(acked)}
        rows += [{**one, "frame.time_relative": str(at)} for one in (data, ack)]
    mean, cuts = nebby.measure(rows)
    # What is sent stays sent: the highest number makes the fall of a cut last until the ACKs have caught up.
    assert 44 < mean < 50
    assert cuts.count == 7
    assert cuts.period == pytest.approx(4.0, abs=2 * windows.STEP_S)
    with pytest.raises(ValueError, match="needs data and ACKs"):
        nebby.measure(rows[:10])


def test_the_screen_answers_first(folder: Path, elephan: Command) -> None:
    done = elephan("judge", folder, "--quiet")
    assert done.out.startswith("3 values in 1 data sets: ")
    assert len((done.out + done.err).splitlines()) <= 15
    with pytest.raises(InputError, match='no data set "nosuch"'):
        judge("nosuch")


def test_a_kernel_is_recorded_as_a_data_set(elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def simulated(scenario: Scenario) -> testbed.TestbedResult:
        if scenario.groups[0]["law"] == "bbr1":
            message = "the kernel has no bbr; modprobe tcp_bbr"
            raise InputError(message)
        return faked(run(scenario.replace({"duration": "3 s", "warmup": "1 s"}), 3))

    monkeypatch.setattr(testbed, "run", simulated)
    folder = tmp_path / "kernel"
    done = elephan("judge", "--testbed", folder, "--quiet")
    assert done.code == 0
    assert done.err.count("not recorded: bbr/") == 3
    assert "and 3 more cells" in done.err
    data = DataSet.read(folder)
    assert len(data.cells) == 12
    assert "@kernel@" not in data.title
    assert all(float(cell.row["trials"]) == 3 and cell.row["delay_ms_sd"] for cell in data.cells)
    again = elephan("judge", "--testbed", folder, "--quiet")
    assert (again.code, again.err) == (2, f"--testbed: {folder}: is not empty\n")
