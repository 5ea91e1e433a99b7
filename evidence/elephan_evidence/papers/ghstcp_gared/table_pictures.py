"""Pictures of Tables 1 to 6, and of their printed intervals: the paper, ours, its simulator, and ns-2.

*Source*: Zhang2005, Tables 1 to 6; ``ns2.csv`` for ns-2. The paper prints an interval for the throughput, none for the
index.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series
from elephan.pictures.table import Cell, Table
from elephan.pictures.table import cell as entry
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.ghstcp_gared import intervals
from elephan_evidence.papers.ghstcp_gared.cells import CASES, DELAYS, OF, printed, table_of
from elephan_evidence.papers.ghstcp_gared.nulls import has_sack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.ghstcp_gared.intervals import Cells
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

FIGURES = PaperExhibits()

BLOCK = len(DELAYS)
"""Number of places that a case takes."""

BESIDE = {"paper": -0.27, "elephan": -0.09, "paper's simulator": 0.09, "ns-2 2.35": 0.27}
"""Series, and the position of each within a place."""

SETTLED_S = 50
"""Begin of the evaluated part of ns-2's runs [s]; before it slow start's overshoot dominates."""

MEASURED = {"util": Axis("TCP's share of the link", "%"), "fair": Axis("max-min index")}
NAMES = {"util": "utilization", "fair": "fairness"}
NOTE = (
    "Lines are 95 % intervals; the paper has none for the index. *paper's simulator*: with settings inferred from its "
    "tables (`profile-table1` to `profile-table6`). *ns-2 2.35*: one run of ours, its line from the least to the "
    "most of its parts of 50 s."
)
EVERY = tuple(f"{beginning}{table}" for beginning in intervals.SETS.values() for table in range(1, 7))


@cache
def ns2() -> dict[tuple[int, int], dict[str, list[float]]]:
    """Read the results of ns-2 with the tables' settings: for each cell the parts of its run, by measure."""
    found: dict[tuple[int, int], dict[str, list[float]]] = {}
    with Path(__file__).with_name("ns2.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            case = int(row["case"])
            settings = "max_p=0.001" if table_of(case) == 4 else ""
            if row["changed"] == settings and float(row["from_s"]) >= SETTLED_S:
                cell = found.setdefault((case, int(row["delay_ms"])), {"util": [], "fair": []})
                cell["util"].append(float(row["util_pct"]))
                cell["fair"].append(float(row["fairness"]))
    return found


def pictures(runs: ExperimentRuns, table: int) -> tuple[Figure, ...]:
    """Draw a table: utilization and fairness, every case at every delay.

    Parameters
    ----------
    runs : ExperimentRuns
        Runs of the table's experiment; that of the paper's simulator is drawn if it was run.
    """
    cases = [case for case in CASES if table_of(case) == table]
    return tuple(_picture(runs, table, of, cases) for of in MEASURED)


def _picture(runs: ExperimentRuns, table: int, of: str, cases: list[int]) -> Figure:
    places = {(case, delay): BLOCK * i + j for i, case in enumerate(cases) for j, delay in enumerate(DELAYS)}
    series = [made for made in _series(runs, table, of, places) if made.x.size]
    # Every second case is shaded, so that points can be assigned to their case.
    shades = tuple(
        Mark(None, "", "x", "shade", BLOCK * i - 0.5, BLOCK * (i + 1) - 0.5) for i in range(1, len(cases), 2)
    )
    return Figure(
        f"table-{table}-{NAMES[of]}",
        f"Table {table}: {NAMES[of]}",
        f"{NAMES[of].capitalize()} of cases {cases[0]} to {cases[-1]}: {'; '.join(_case_texts(series, of))}.",
        Axis(
            "delay one way [ms], case",
            scale="names",
            low=-0.5,
            high=BLOCK * len(cases) - 0.5,
            names=tuple(_names(runs, table, cases)),
        ),
        MEASURED[of],
        tuple(series),
        shades,
        link=f"table-{table}",
        height=330,
        note=NOTE if of == "util" else "",
    )


def _series(runs: ExperimentRuns, table: int, of: str, places: dict[tuple[int, int], int]) -> Iterator[Series]:
    paper, exact, profile, other = BESIDE
    stated = {at: getattr(printed()[at], of) for at in places}
    halves = {at: printed()[at].ci_mbps / intervals.POINT if of == "util" else 0.0 for at in places}
    yield _points(paper, places, stated, halves, "ink")
    for name, experiment, colour in ((exact, "table", "blue"), (profile, "profile-table", "vermilion")):
        if f"{experiment}{table}" in runs:
            cells = {at: point for at in places for point in _found(runs, f"{experiment}{table}", at)}
            found = {at: OF[of](point) for at, point in cells.items()}
            means = {at: one.mean for at, one in found.items()}
            yield _points(name, places, means, {at: one.ci95 or 0.0 for at, one in found.items()}, colour)
    parts = {at: ns2()[at][of] for at in places if at in ns2()}
    ends = {at: (min(each), max(each)) for at, each in parts.items()}
    means = {at: float(np.mean(each)) for at, each in parts.items()}
    yield _points(other, places, means, {}, "green", ends)


def _found(runs: ExperimentRuns, experiment: str, at: tuple[int, int]) -> Iterable[ExperimentPoint]:
    return runs[experiment].where(case=at[0], delay=at[1])


def _points(
    name: str,
    places: dict[tuple[int, int], int],
    means: dict[tuple[int, int], float],
    halves: dict[tuple[int, int], float],
    colour: str,
    ends: dict[tuple[int, int], tuple[float, float]] | None = None,
) -> Series:
    at = [each for each in places if each in means]
    x = np.array([places[each] + BESIDE[name] for each in at], dtype=float)
    y = np.array([means[each] for each in at], dtype=float)
    half = np.array([halves.get(each, 0.0) for each in at], dtype=float)
    low, high = (y - half, y + half) if ends is None else (np.array([ends[each][i] for each in at]) for i in (0, 1))
    interval = "95 %" if ends is None else "parts of the run"
    return Series(name, x, y, low, high, colour=colour, kind="points", interval=interval)


def _names(runs: ExperimentRuns, table: int, cases: list[int]) -> Iterator[str]:
    """Name the places: the delays, and below the middle one the case and its senders."""
    labels = [str(label) for label in runs[f"table{table}"].labels("case")]
    full = {int(label.split()[0]): label.partition(" ")[2].replace(", ", "\n") for label in labels}
    for case in cases:
        first, middle, last = DELAYS
        below = f"\ncase {case}\n{full[case]}"
        # All names have the same number of lines, so that the first lines are at one height.
        empty = "\n" * below.count("\n")
        yield from (f"{first}{empty}", f"{middle}{below}", f"{last}{empty}")


def _case_texts(series: list[Series], of: str) -> Iterator[str]:
    """Describe how far each is from the paper: in which directions, and how far on average."""
    paper = {round(x - BESIDE["paper"]): y for x, y in zip(series[0].x, series[0].y, strict=True)}
    digits, unit = (1, " points") if of == "util" else (3, "")
    for one in series[1:]:
        gaps = np.array([y - paper[round(x - BESIDE[one.name])] for x, y in zip(one.x, one.y, strict=True)])
        yield (
            f"{one.name} is above the paper in {np.sum(gaps > 0)} of {gaps.size} cells, "
            f"{np.mean(np.abs(gaps)):.{digits}f}{unit} from it on average"
        )


@FIGURES(
    "Tables 1 to 6",
    "The printed intervals of the throughput",
    paper="Each cell has the half-width of the 95 % interval of the total throughput, from 0.7 to 199 Mbit/s. Of how "
    "many runs, or of which parts of one, is not said.",
    experiments=EVERY,
)
def printed_intervals(runs: ExperimentRuns) -> Made:
    """Compare the printed intervals with ours: all cells together, their widths, and cell by cell."""
    return (_together(runs), _widths(runs), _cells(runs))


def _together(runs: ExperimentRuns) -> Table:
    here = intervals.ours(runs)
    columns = {"elephan": here}
    if all(name in runs for name in EVERY):
        columns["its simulator, as inferred"] = intervals.ours(runs, "profile")
    columns |= {f"null: {name}": null(here) for name, null in intervals.NULLS.items()}
    counted = {
        "cells of 93 whose intervals meet": intervals.meeting,
        "cells of 93 whose difference is within its 95 % (88 if the means were the same)": intervals.agreeing,
        "cells of 93 whose mean lies in the printed interval": intervals.inside,
    }
    rows = [(entry(says), *(entry(of(cells)) for cells in columns.values())) for says, of in counted.items()]
    own = [name for name in columns if not name.startswith("null")]
    rows += [_compared(says, columns, own, i) for i, says in enumerate(_WIDTHS)]
    note = (
        "Nulls have our widths, cell by cell, and other means: two constants (with SACK on the fast flows and without, "
        "those that meet the printed intervals most often), and our own cells under the other law, at another "
        "router, at the next delay."
    )
    return Table("The 93 printed intervals beside ours", ("", *columns), tuple(rows), note)


_WIDTHS = (
    "width of the printed interval over ours, middle cell",
    f"cells of 93 whose widths are within a factor of {intervals.BY_CHANCE:g} (88 for five runs of one thing)",
    "Spearman's correlation of the widths (0 by chance, within 0.2 in 95 of 100)",
)


def _compared(says: str, columns: dict[str, Cells], own: list[str], which: int) -> tuple[Cell, ...]:
    """Return a statistic of the widths; nulls have none of their own."""

    def of(cells: Cells) -> float:
        ratios = intervals.ratios(cells)
        near = np.sum(np.abs(np.log(ratios)) <= np.log(intervals.BY_CHANCE))
        return (float(np.median(ratios)), float(near), intervals.rank_correlation(cells))[which]

    return (
        entry(says),
        *(entry(of(cells), digits=2) if name in own else entry(None) for name, cells in columns.items()),
    )


def _widths(runs: ExperimentRuns) -> Figure:
    here, there = intervals.ours(runs), intervals.theirs()
    series = []
    for name, sack, colour in (("SACK on the fast flows", True, "blue"), ("no SACK on them", False, "vermilion")):
        at = [each for each in there if has_sack(each[0]) is sack]
        x, y = (np.array([of[each].half for each in at]) for of in (here, there))
        series.append(Series(name, x, y, colour=colour, kind="points"))
    ends = np.array([0.001, 10.0])
    series.append(Series("as wide", ends, ends, colour="muted", dashed=True))
    ratios = intervals.ratios(here)
    return Figure(
        "interval-widths",
        "Half-widths of the intervals of utilization",
        f"The printed one is {np.median(ratios):.2g} times as wide as ours in the middle cell, and wider in "
        f"{np.sum(ratios > 1)} of 93.",
        Axis("ours", "points of utilization", scale="log"),
        Axis("the paper's", "points of utilization", scale="log"),
        tuple(series),
    )


def _cells(runs: ExperimentRuns) -> Table:
    rows = tuple(
        (
            entry(at[0]),
            entry(at[1]),
            *(
                entry(None) if one is None else entry({"mean": one.mean, "ci95": one.half})
                for one in (other, here, profile)
            ),
            entry(here.meets(other)),
            entry(None) if profile is None else entry(profile.meets(other)),
            entry(other.half / here.half, digits=2),
        )
        for at, other, here, profile in intervals.by_cell(runs)
    )
    heads = (
        "case",
        "delay [ms]",
        "paper, U [%]",
        "elephan",
        "its simulator",
        "elephan meets",
        "its simulator meets",
        "its width over elephan's",
    )
    return Table("Cell by cell: utilization by TCP and its 95 % interval", heads, rows)
