"""Figures of cases that the first paper names without numbers: several bottlenecks, datagrams and short flows, FAST.

*Source*: Barman2004 names them; scenarios and pictures are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Series, colour
from elephan.pictures.table import Table, cell
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.hstcp_buffer_model.links import LINKS
from elephan_evidence.papers.hstcp_buffer_model.mixed_measures import FULL, HOPS, TRAFFIC
from elephan_evidence.papers.measured import MeasuredQuantity
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

FIGURES = PaperExhibits()
SHARE = Axis(f"buffer / {LINKS['1g'].full:,} packets", scale="log")
USED = Axis("utilization", low=0.0, high=1.02)
LAWS = ("highspeed", "fast, alpha 20", "fast, alpha 200")


@FIGURES(
    "Several bottlenecks",
    "HighSpeed flows over three bottlenecks in a row",
    paper="Named as what its model of one link leaves out; no number.",
    experiments=("three-hops",),
)
def three_hops(runs: ExperimentRuns) -> Made:
    """Draw the utilization of each hop, and the rates of flows over one and over three."""
    points = list(runs["three-hops"])
    used = tuple(_line(hop, points, "utilization", i, hop) for i, hop in enumerate(HOPS))
    rows = []
    for point in points:
        rates = [MeasuredQuantity(point.flows("goodput_bps", g).mean(axis=1) / 1e6) for g in ("long", "cross1")]
        rows.append((cell(leading(point.labels["buffer"])), *(cell(rate.to_json()) for rate in rates)))
    heads = ("buffer [packets]", "a flow over three [Mbit/s]", "a flow over the first alone [Mbit/s]")
    values, least = (", ".join(f"{one.y[i]:.2f}" for one in used) for i in (1, 0))
    return (
        Figure(
            "three-hops",
            "Utilization of three bottlenecks",
            f"At a tenth the three are used to {values}; at a fiftieth to {least}.",
            SHARE,
            USED,
            used,
        ),
        Table(
            "What flows get",
            heads,
            tuple(rows),
            "All round trips are alike. A flow over three links loses at each of them, and HighSpeed, which grows the "
            "faster the larger its window is, turns more losses into far less.",
        ),
    )


@FIGURES(
    "Other traffic",
    "Datagrams and short flows beside ten HighSpeed flows",
    paper="Named as what its runs leave out; no number.",
    experiments=("mixed-1g", "fast-1g"),
)
def mixed(runs: ExperimentRuns) -> Made:
    """Draw the utilization beside each kind of traffic."""
    cases = [case for case in TRAFFIC if case in runs["mixed-1g"].labels("case")]
    series = [_line(case, runs["mixed-1g"].where(case=case), "utilization", i) for i, case in enumerate(cases)]
    series.append(_line("HighSpeed alone", runs["fast-1g"].where(case="highspeed"), "utilization", 6))
    values = ", ".join(f"{one.y[-1]:.2f} beside {one.name}" for one in series[:-1])
    return (
        Figure(
            "mixed",
            "Utilization beside a tenth of other traffic",
            f"At a tenth: {values}.",
            SHARE,
            USED,
            tuple(series),
            note="The whole link, other traffic included; it offers a tenth of the link.",
        ),
    )


@FIGURES(
    "FAST",
    "FAST in place of HighSpeed",
    paper="Named beside HighSpeed as a proposal for fast networks; no number.",
    experiments=("fast-1g",),
)
def fast(runs: ExperimentRuns) -> Made:
    """Draw utilization and loss by law."""
    used = [_line(case, runs["fast-1g"].where(case=case), "utilization", i) for i, case in enumerate(LAWS)]
    rows = []
    for point in runs["fast-1g"]:
        lost = MeasuredQuantity(1e6 * point.link("loss_ratio"))
        backlog = MeasuredQuantity(point.link("backlog_packets"))
        buffer = cell(leading(point.labels["buffer"]))
        rows.append((cell(point.labels["case"]), buffer, cell(lost.to_json()), cell(backlog.to_json())))
    heads = ("law", "buffer [packets]", "lost [1e-6]", "mean backlog [packets]")
    values = ", ".join(f"{np.interp(0.1, one.x, one.y):.2f} with {one.name}" for one in used)
    return (
        Figure("fast", "Utilization, HighSpeed and FAST", f"At a tenth: {values}.", SHARE, USED, tuple(used)),
        Table(
            "Loss and backlog",
            heads,
            tuple(rows),
            "Ten flows that keep alpha segments each in the queue need room for them all, and then lose nothing; "
            "without it FAST is a law that halves.",
        ),
    )


def _line(name: str, points: Iterable[ExperimentPoint], column: str, i: int, link: str | None = None) -> Series:
    every = [(leading(point.labels["buffer"]) / FULL, MeasuredQuantity(point.link(column, link))) for point in points]
    x, y = np.array([share for share, _ in every]), np.array([one.mean for _, one in every])
    half = np.array([one.ci95 or 0.0 for _, one in every])
    return Series(name, x, y, y - half, y + half, colour(i), "both")
