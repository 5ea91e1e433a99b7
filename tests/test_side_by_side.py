"""Several runs over each other: their differences, lines of each in its colour, numbers equal to the documents'."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import elephan
from elephan.errors import InputError
from elephan.pictures.figure import colour
from elephan.plots import figures
from elephan.reports.side_by_side import page
from elephan.runs.side_by_side import chosen, decisive, differing, laid_over, named_runs, spoken

if TYPE_CHECKING:
    from pathlib import Path

    from elephan.runs.result import RunResult

BUFFERS = (5, 25, 100)
BASE = elephan.Scenario.from_text(elephan.EXAMPLE)


def _scenarios() -> dict[str, elephan.Scenario]:
    return {f"{n} packets": BASE.replace({"links[0].buffer": f"{n} packets"}) for n in BUFFERS}


@pytest.fixture(scope="module")
def runs() -> dict[str, RunResult]:
    """The same two flows behind three buffers."""
    return {name: elephan.run(scenario, series=True) for name, scenario in _scenarios().items()}


@pytest.fixture(scope="module")
def folders(runs: dict[str, RunResult], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The runs as ``--out`` writes them."""
    root = tmp_path_factory.mktemp("runs")
    for name, run in runs.items():
        run.write(root / name.split()[0])
    return [root / str(n) for n in BUFFERS]


def test_only_what_differs_is_listed() -> None:
    other = BASE.replace({"links[0].buffer": "1 bdp", "links[0].rate": "20 Mbit/s", "title": "Another"})
    found = {key.path: key.values for key in differing([BASE, other])}
    assert found == {"links[0].rate": ("10 Mbit/s", "20 Mbit/s"), "links[0].buffer": ("25 packets", "200 packets")}
    assert differing([BASE, BASE]) == ()


def test_a_key_that_only_one_has_is_listed() -> None:
    other = BASE.replace({"flows[0].control": {"law": "cubic"}})
    found = {key.path: key.values for key in differing([BASE, other])}
    assert found["flows[0].control.law"] == ("reno", "cubic")
    assert found["flows[0].control.increase"] == ("1.0", "")


def test_each_run_has_one_colour_in_every_picture(runs: dict[str, RunResult]) -> None:
    laid = laid_over(named_runs(runs))
    assert [figure.name for figure in laid] == ["cwnd-0", "backlog-0", "rate-0", "srtt-0"]
    for figure in laid:
        colours = {series.name: series.colour for series in figure.series}
        assert colours == dict(zip(runs, [colour(k) for k in range(len(runs))], strict=True))
        assert len(set(colours.values())) == len(runs)


def test_averages_are_those_of_the_documents(runs: dict[str, RunResult]) -> None:
    """Samples after the warm-up: the mean backlog is near the document's, which covers every instant."""
    laid = {figure.name: figure for figure in laid_over(named_runs(runs))}
    for series in laid["backlog-0"].series:
        document = runs[series.name].to_json()["links"][0]
        whole = float(np.mean(runs[series.name].outcomes[0].samples["backlog_packets"][0]))
        exact = document["backlog_packets"]["mean"]
        # 30 samples in 3 s, of a queue that swings by its whole buffer.
        assert series.average == pytest.approx(exact, rel=0.2, abs=0.5)
        if series.name == "100 packets":
            assert abs(whole - exact) > 2 * abs(series.average - exact), "the warm-up is left out"
    for series in laid["rate-0"].series:
        used = runs[series.name].to_json()["links"][0]["utilization"]["mean"]
        assert series.average == pytest.approx(10 * used, rel=0.06), "of 10 Mbit/s"


def test_buffers_have_the_colour_of_their_run(runs: dict[str, RunResult]) -> None:
    backlog = laid_over(named_runs(runs))[1]
    marks = {mark.label: (mark.at, mark.colour) for mark in backlog.marks if mark.role == "wanted"}
    colours = {series.name: series.colour for series in backlog.series}
    assert marks == {f"{name}: {name}": (float(name.split()[0]), colours[name]) for name in runs}


def test_one_line_marks_the_buffer_that_all_have() -> None:
    queues = {name: BASE.replace({"links[0].queue": name}) for name in ("drop-tail", "codel", "fq-codel")}
    backlog = laid_over(named_runs({name: elephan.run(one, series=True) for name, one in queues.items()}))[1]
    assert [(mark.label, mark.at) for mark in backlog.marks if mark.role == "wanted"] == [
        ("buffer of all: 25 packets", 25)
    ]


def test_the_parameters_of_a_discipline_do_not_hide_that_it_differs() -> None:
    queues = [BASE.replace({"links[0].queue": name}) for name in ("drop-tail", "codel", "fq-codel")]
    keys = differing(queues)
    assert len(keys) > 4
    named = [spoken(key.path, BASE) for key in decisive(keys)]
    assert named == ["queue of core"]
    # Quantities of all runs are a choice of their own.
    ecn = BASE.replace({"links[0].queue": {"discipline": "codel", "ecn": True}})
    assert "queue.ecn of core" in [spoken(key.path, BASE) for key in decisive(differing([queues[1], ecn]))]


@pytest.mark.parametrize(
    ("place", "one", "other", "name", "values"),
    [
        ("flows[0].control", {"law": "cubic"}, {"law": "cubic", "slow_start": "hystart"}, "control.slow_start", None),
        ("flows[0].traffic", "bulk", "ping", "traffic", None),
        ("flows[0].control", "reno", "cubic", "law", None),
        ("flows[0].rtt", "40 ms", "50 ms", "rtt", ("40 ms", "50 ms")),
        ("flows[0].packet", "1500 B", "500 B", "packet", ("1500 B", "500 B")),
        ("flows[0].access.rate", "1 Mbit/s", "2 Mbit/s", "access.rate", ("1 Mbit/s", "2 Mbit/s")),
        ("links[0].buffer", "9 packets", "90 kB", "buffer", ("9 packets", "90000 B")),
    ],
)
def test_a_key_that_differs_has_the_name_and_the_units_of_a_scenario_file(
    place: str, one: object, other: object, name: str, values: tuple[str, str] | None
) -> None:
    keys = differing([BASE.replace({place: value}) for value in (one, other)])
    named = {spoken(key.path, BASE).partition(" of ")[0]: key.values for key in decisive(keys)}
    assert name in named
    assert values is None or named[name] == values
    if name == "control.slow_start":
        assert list(named) == [name]


def test_a_page_of_runs_answers_with_a_comparison() -> None:
    base = elephan.Scenario.from_text(
        elephan.EXAMPLE
        + """
[[flows]]
name    = "ping"
path    = ["core"]
rtt     = "40 ms"
traffic = "ping"
"""
    ).replace(
        {
            "links[0].buffer": "300 packets",
            "replications": 4,
            "duration": "20 s",
            "flows[0].start": {"from": "0 s", "to": "1 s"},
        }
    )
    runs = {
        name: base.replace({"links[0].queue": queue}) for name, queue in (("fifo", "drop-tail"), ("fq", "fq-codel"))
    }
    found = page({name: elephan.run(one, series=True) for name, one in runs.items()})
    # A link that is idle for an eighth of the time decides before the delay, which is named, too.
    headline = r"The link is [\d.]+.% busy with fq and [\d.]+.% with fifo; packets wait [\d.]+.ms and [\d.]+.ms"
    assert re.fullmatch(headline, found.headline), found.headline
    for words in ("Mean queueing delay:", "Loss:", "Utilization:", "Round trip of ping"):
        assert words in found.sentence
    assert found.question[0] == "What does the queue of core change?"
    # A column for each run, so that no quantity lies beyond the edge of the page.
    (table,) = next(part for part in found.parts if part.title == "Results").tables
    assert table.heads == ("quantity", "fifo", "fq")
    first = [row[0].text for row in table.rows]
    assert first[:5] == ["delay [ms]", "delay, 95 % [ms]", "loss [%]", "utilization [%]", "ping: round trip, 95 % [ms]"]
    same = elephan.run(base, series=True)
    assert page({"one": same, "again": same}).headline == "The 2 runs do not differ beyond their intervals"
    figures_ = next(part for part in found.parts if part.title == "Over time").figures
    assert "Round trip of the last ping, ping" in [figure.title for figure in figures_]


@pytest.mark.parametrize("n", [1, 8])
def test_too_few_or_many_runs_are_refused(n: int, runs: dict[str, RunResult]) -> None:
    first = next(iter(runs.values()))
    with pytest.raises(InputError, match=rf"{n} runs?; give 2 to 7"):
        named_runs({str(i): first for i in range(n)})


def test_of_many_points_the_first_and_last_are_shown() -> None:
    assert chosen(2) == [0, 1]
    assert (len(chosen(100)), chosen(100)[0], chosen(100)[-1]) == (7, 0, 99)


def test_a_page_of_folders_has_all_of_them(folders: list[Path], tmp_path: Path) -> None:
    html = elephan.report(folders, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What does the buffer of core change?" in html
    for n in BUFFERS:
        assert f">{n} packets</td>" in html
    assert "Congestion windows of 3 runs" in html


def test_a_run_without_samples_is_named(tmp_path: Path, runs: dict[str, RunResult]) -> None:
    bare = elephan.run(BASE)
    html = elephan.report({"with": runs["5 packets"], "bare": bare}, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "bare kept no samples" in html


def test_a_folder_without_a_run_is_refused(folders: list[Path], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no result"):
        elephan.report([folders[0], tmp_path / "empty"], tmp_path / "page.html")


def test_a_sweep_with_series_is_laid_over_itself(tmp_path: Path) -> None:
    swept = elephan.sweep(
        BASE,
        over={"links[0].buffer": ["5 packets", "25 packets"]},
        replications=1,
        store=tmp_path / "runs",
        series=True,
    )
    assert list(figures(swept)) == ["sweep", "over-time"]
    swept.write(tmp_path / "swept")
    html = elephan.report(tmp_path / "swept", tmp_path / "page.html").read_text(encoding="utf-8")
    assert "2 of the 2 points" in html
    assert "buffer 25 packets: between" in html
    # Two sweeps, or a sweep and a run, are runs like others.
    both = elephan.report([tmp_path / "swept", tmp_path / "runs"], tmp_path / "both.html").read_text(encoding="utf-8")
    assert "swept: buffer 5 packets" in both
    assert "runs: buffer 5 packets" in both


def test_a_sweep_without_series_has_no_pictures_over_time(tmp_path: Path) -> None:
    swept = elephan.sweep(
        BASE, over={"links[0].buffer": ["5 packets", "25 packets"]}, replications=1, store=tmp_path / "runs"
    )
    assert list(figures(swept)) == ["sweep"]


def test_the_command_line_takes_several_folders(folders: list[Path], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "elephan", "report", *map(str, folders)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip() or done.stderr.strip()) == (0, "wrote runs.html")
    assert (tmp_path / "runs.html").stat().st_size > 10_000
