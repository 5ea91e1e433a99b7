"""Figures 1, 2 and 4 to 7 and Tables 1 to 6, ours beside the paper's; the other figures are in files of their own.

*Source*: Zhang, Hasegawa and Murata 2005. The numbers of its traces are unknown; each exhibit describes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series, colour
from elephan.pictures.table import Table
from elephan.pictures.table import cell as entry
from elephan.theory import highspeed, reno
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.ghstcp_gared import (
    cells,
    concept_figures,
    further_figures,
    table_pictures,
    traces,
    web_figures,
)
from elephan_evidence.papers.ghstcp_gared.cells import DELAYS, OF, printed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elephan.pictures.table import Cell
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

FIGURES = PaperExhibits()

SHOWN_S = (50.0, 110.0)
"""Displayed part of a trace: a minute after slow start's overshoot [s]."""

SURGE_S = (74.0, 82.0)
"""Displayed part of the surges: the second one [s]."""

_WINDOW = Axis("congestion window", "segments")
_TIME = Axis("time", "s", low=SHOWN_S[0], high=SHOWN_S[1])


@FIGURES("Figure 1", "What HighSpeed TCP gains and gives up", paper="a(w) rises and b(w) falls with the window.")
def figure1(_: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw a(w) and b(w)."""
    w, law = np.geomspace(38.1, 83000, 60), highspeed()
    gain, cut = law.increase(w), law.decrease(w)
    axis = Axis("window", "segments", scale="log")
    return (
        Figure(
            "highspeed-a",
            "Segments gained per round trip",
            f"From {gain[0]:.2g} at 38 to {gain[-1]:.3g} at 83000 segments.",
            axis,
            Axis("a(w)", "segments"),
            (Series("HighSpeed TCP", w, gain),),
        ),
        Figure(
            "highspeed-b",
            "Share of the window given up on loss",
            f"From {cut[0]:.2g} at 38 to {cut[-1]:.2g} at 83000 segments.",
            axis,
            Axis("b(w)"),
            (Series("HighSpeed TCP", w, cut),),
        ),
    )


@FIGURES(
    "Figure 2",
    "Response functions",
    paper="At a loss rate of 1e-7 HighSpeed TCP has 100,000 packets in flight, Reno 4,000.",
)
def figure2(_: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw the windows of both laws against the loss rate."""
    p = np.geomspace(1e-7, 1e-2, 60)
    laws = {"HighSpeed TCP": highspeed(), "Reno": reno()}
    lines = [Series(name, p, law.window(p), colour=colour(i)) for i, (name, law) in enumerate(laws.items())]
    stated = Series("paper", np.array([1e-7, 1e-7]), np.array([1e5, 4e3]), colour="ink", kind="points")
    ends = ", ".join(f"{name} {float(law.window(1e-7)):.0f}" for name, law in laws.items())
    return (
        Figure(
            "response",
            "Window against loss rate",
            f"At a loss rate of 1e-7: {ends}.",
            Axis("loss rate", scale="log"),
            Axis("window", "segments", scale="log"),
            (*lines, stated),
        ),
    )


FIGURES.update(concept_figures.FIGURE_3)


@FIGURES(
    "Figure 4",
    "Windows under RED without SACK, 50 ms",
    paper="Several flows of S2 fall to one packet at the same time, with gentle HighSpeed TCP less often.",
    experiments=("traces",),
)
def figure4(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw the windows of cases 8 and 11."""
    return tuple(_windows(runs["traces"].at(case=case), case) for case in (8, 11))


@FIGURES(
    "Figure 5",
    "Windows under RED with SACK, 50 ms",
    paper="No flow falls to one packet, but cuts still come together.",
    experiments=("traces",),
)
def figure5(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw the windows of cases 9 and 12."""
    return tuple(_windows(runs["traces"].at(case=case), case) for case in (9, 12))


@FIGURES(
    "Figure 6",
    "The queue under adaptive RED, 50 ms",
    paper="The queue at the bottleneck is often empty.",
    experiments=("traces",),
)
def figure6(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw the queue of case 21."""
    rows = _between_s(traces.queue(runs["traces"].at(case=21)), SHOWN_S)
    empty = float(np.mean(rows["backlog_packets"] == 0))
    return (
        Figure(
            "ared-queue",
            "Case 21: packets waiting",
            f"Nothing waits in {100 * empty:.0f} % of samples, at most {rows['backlog_packets'].max():.0f} packets.",
            _TIME,
            Axis("backlog", "packets"),
            (
                Series("backlog", rows["time_s"], rows["backlog_packets"]),
                Series("average", rows["time_s"], rows["queue_avg"], colour="vermilion"),
            ),
            (Mark(2500.0, "min_th", "y"),),
        ),
    )


@FIGURES(
    "Figure 7",
    "The average queue and max_p under adaptive RED",
    paper="max_p goes on rising after the average queue has peaked; gentle adaptive RED is to stop that.",
    experiments=("surges",),
)
def figure7(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw average and max_p in one surge of datagrams."""
    points = {name: runs["surges"].at(case=name) for name in ("adaptive RED", "gentle adaptive RED")}
    rows = {name: _between_s(traces.queue(point), SURGE_S) for name, point in points.items()}
    axes = {"queue_avg": Axis("average queue", "packets", low=0.0), "queue_max_p": Axis("max_p", scale="log")}
    lags = ", ".join(f"{name} {_longest(point):.2f} s" for name, point in points.items())
    time = Axis("time", "s", low=SURGE_S[0], high=SURGE_S[1])
    return tuple(
        Figure(
            f"ared-{column.removeprefix('queue_').replace('_', '-')}",
            axis.label,
            f"The longest that the average had been falling when max_p was raised, all surges: {lags}.",
            time,
            axis,
            tuple(
                Series(name, of["time_s"], of[column], colour=colour(i)) for i, (name, of) in enumerate(rows.items())
            ),
            (Mark(5500.0, "upper end of the target", "y"),) if column == "queue_avg" else (),
            link="ared",
        )
        for column, axis in axes.items()
    )


FIGURES.update(concept_figures.FIGURE_8)


def _longest(point: ExperimentPoint) -> float:
    return max(float(np.max(each, initial=0.0)) for each in traces.lags(point))


def _windows(point: ExperimentPoint, case: int) -> Figure:
    time, cwnd = traces.windows(point)
    kept = (time >= SHOWN_S[0]) & (time <= SHOWN_S[1])
    lines = tuple(Series(f"flow {i + 1}", time[kept], one[kept], colour=colour(i)) for i, one in enumerate(cwnd))
    cuts, chance = ([len(flows) for each in of(point) for flows in each] for of in (traces.cuts, traces.cuts_by_chance))
    resets, length = [len(each) for each in traces.resets(point)], point.document["run"]["duration_s"]
    return Figure(
        f"windows-{case}",
        f"Case {case}: the windows of S2",
        f"Flows are cut {np.mean(cuts or [0]):.1f} at a time, {np.mean(chance or [0]):.1f} would be by chance; "
        f"to one segment they fall {np.mean(resets):.1f} times in a run of {length:.0f} s.",
        _TIME,
        _WINDOW,
        lines,
        link="windows",
    )


def _between_s(rows: dict[str, traces.Floats], span: tuple[float, float]) -> dict[str, traces.Floats]:
    kept = (rows["time_s"] >= span[0]) & (rows["time_s"] <= span[1])
    return {name: column[kept] for name, column in rows.items()}


# The tables.

_TABLES = {
    1: (
        "Drop-tail",
        "Beside Reno S1 fills its access links; HighSpeed TCP pushes it aside, most with SACK.",
    ),
    2: ("Drop-tail, gentle HighSpeed TCP", "Fairer than Table 1 at every delay, and without SACK the link is fuller."),
    3: ("RED, max_p 0.1", "Fairer than drop-tail, for a part of the link."),
    4: ("RED, max_p 0.001", "The link is fuller than with 0.1, and shares are fairer."),
    5: ("Adaptive RED", "Between RED with 0.1 and with 0.001."),
    6: ("Gentle adaptive RED", "Fuller than adaptive RED; HighSpeed TCP is less fair at long delays."),
}

_HEADS = ("case", "delay [ms]")
_PAIRS = {"util": "U [%]", "fair": "index", "s1": "S1 [Mbit/s]", "s2": "S2 [Mbit/s]"}


def _register(table: int, title: str, paper: str) -> None:
    @FIGURES(f"Table {table}", title, paper=paper, experiments=(f"table{table}", f"profile-table{table}"))
    def made(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
        mine = sorted({case for case, _ in printed() if cells.table_of(case) == table})
        return (
            *table_pictures.pictures(runs, table),
            Table(
                f"Table {table}: {title}",
                (*_HEADS, *(head for name in _PAIRS.values() for head in (name, "paper"))),
                tuple(tuple(_row(runs, case, delay)) for case in mine for delay in DELAYS),
                "U is what TCP gets of the bottleneck. S1 and S2: throughput of a flow; the paper's column is lost, "
                "what stands here is worked out from its U and index.",
            ),
        )


def _row(runs: ExperimentRuns, case: int, delay: int) -> Iterable[Cell]:
    point = cells.cell(runs, case, delay)
    yield entry(str(point.labels["case"]))
    yield entry(delay)
    for name in _PAIRS:
        yield entry(OF[name](point).to_json())
        yield entry(getattr(printed()[case, delay], name), digits=5)


for _table, (_title, _paper) in _TABLES.items():
    _register(_table, _title, _paper)


FIGURES.update(table_pictures.FIGURES)
FIGURES.update(concept_figures.FIGURE_9)
FIGURES.update(web_figures.FIGURES)
FIGURES.update(further_figures.FIGURES)
