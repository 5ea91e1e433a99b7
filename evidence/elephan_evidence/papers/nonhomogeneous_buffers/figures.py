"""Figures 2 to 5 of Andrew et al. 2005 from our runs.

Source: Andrew2005.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series, colour
from elephan.pictures.table import Table, cell
from elephan.stats import estimate
from elephan.theory import elastic, rules
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.nonhomogeneous_buffers import concept_figures, measures
from elephan_evidence.papers.nonhomogeneous_buffers.patterns import MU
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentPoints, ExperimentRuns

FIGURES = PaperExhibits()
FIGURES.update(concept_figures.FIGURES)

CASES = {"drawn": "drawn", "quantiles": "quantiles of the law", "equal": "all 100 ms"}
AS_NS2 = "plain Reno, minimum RTO of 0.2 s"
BUFFER = Axis("buffer", "packets", scale="log")


@FIGURES(
    "Figure 2",
    "Buffer for 1 % and 5 % idle time, long-lived flows",
    paper="The buffer falls as the number of flows grows, and lies well below the product of 400 packets for all but "
    "a few flows. Five need slightly more than half of it for 1 % idle time; 5 % needs less than 1 %.",
    experiments=("long-lived", "variants"),
)
def figure2(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw the buffer against the number of flows for three distributions of RTTs, beside the Gaussian window."""
    return (*(_sizes(runs, idle) for idle in (0.01, 0.05)), _idle_curves(runs))


@FIGURES(
    "Figure 3",
    "Idle time with users who think",
    paper="The link idles less the larger the buffer; about 110 of 200 users are active on average, and about 400 of "
    "500, fewer as the buffer grows.",
    experiments=("sessions",),
)
def figure3(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw idle time and users in a session against the buffer."""
    series, rows = [], []
    for i, users in enumerate((200, 500)):
        for case, words in (("sack", "SACK"), ("reno", "plain Reno")):
            points = runs["sessions"].where(users=users, case=case)
            name = f"{users} users, {words}"
            series.append(_line(name, points, "utilization", i, dashed=case == "reno"))
            for point in points:
                group = point.document["groups"][0]
                carried = group["goodput_bps"]["mean"] / 8 / measures.PACKET
                still = float(elastic.active_by_balance(users, measures.THINK, measures.SESSION, carried))
                idle = estimate(1 - point.link("utilization")).to_json()
                active = group["transfers"]["open"]
                rows.append(
                    (cell(name), cell(leading(point.labels["buffer"])), cell(idle, 100), cell(active), cell(still))
                )
    heads = ("", "buffer [packets]", "idle [%]", "in a session", "by the balance of flow")
    first = ", ".join(f"{100 * one.y[0]:.1f} % for {one.name}" for one in series)
    figure = Figure(
        "figure-3", "Idle time of the link", f"At the smallest buffers: {first}.", BUFFER, Axis("idle"), tuple(series)
    )
    return (figure, Table("Users in a session; the paper: about 110 of 200, about 400 of 500", heads, tuple(rows)))


@FIGURES(
    "Figure 4",
    "Loss, long-lived flows",
    paper="The loss ratio falls as the buffer grows, and is larger with 100 flows than with 25.",
    experiments=("loss",),
)
def figure4(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw the loss against the buffer."""
    return (_by_buffer(runs, "loss_ratio", "figure-4", "Loss ratio", Axis("loss ratio", scale="log"), (25, 100)),)


@FIGURES(
    "Figure 5",
    "Mean occupancy, long-lived flows",
    paper="The mean queue as a share of the buffer is largest with 1000 flows, then 100, then 25.",
    experiments=("loss",),
)
def figure5(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw the occupancy against the buffer."""
    axis = Axis("mean queue over the buffer", low=0.0, high=1.05)
    return (_by_buffer(runs, "backlog_packets", "figure-5", "Mean occupancy", axis, (25, 100, 1000)),)


def _sizes(runs: ExperimentRuns, idle: float) -> Figure:
    flows = np.array([float(n) for n in runs["long-lived"].labels("flows")])
    series = []
    for i, (case, words) in enumerate(CASES.items()):
        found = [measures.buffer_for(runs, flows=int(n), idle=idle, case=case).samples for n in flows]
        if case == "drawn":
            middle = np.array([float(np.median(one)) for one in found])
            low, high = (np.array([float(of(one)) for one in found]) for of in (np.min, np.max))
            series.append(Series(words, flows, middle, low, high, colour(i), "both", interval="five draws"))
        else:
            series.append(_with_interval(words, flows, found, i))
    as_ns2 = np.array([float(n) for n in runs["variants"].labels("flows")])
    found = [measures.variant(runs, case=AS_NS2, flows=int(n), idle=idle).samples for n in as_ns2]
    largest = max(leading(label) for label in runs["variants"].labels("buffer"))
    # A draw that needs more than the largest buffer is shown at the largest.
    reached = np.array([np.where(np.isnan(one), largest, one) for one in found])
    middle, low, high = (of(reached, axis=1) for of in (np.median, np.min, np.max))
    words = "drawn, plain Reno, minimum RTO 0.2 s"
    shade = colour(len(CASES))
    series.append(Series(words, as_ns2, middle, low, high, shade, "both", interval="five draws"))
    gaussian = rules.buffer_for_utilization(MU * measures.MEAN_RTT, 1 - idle, flows)
    series.append(Series("Gaussian window", flows, np.asarray(gaussian), colour="muted", dashed=True))
    if idle == 0.01:
        series.append(Series("paper", np.array([5.0]), np.array([205.0]), colour="ink", kind="points"))
    values = ", ".join(f"{one.name} {one.y[one.x == 5][0]:.0f}" for one in series)
    title = f"Buffer for {100 * idle:g} % idle time"
    flows_axis = Axis("flows", scale="log")
    return Figure(
        f"figure-2-{100 * idle:.0f}",
        title,
        f"{title} with five flows, in packets: {values}.",
        flows_axis,
        Axis("buffer", "packets", low=0.0, high=450.0),
        tuple(series),
        (Mark(400.0, "rate times mean round-trip time", axis="y"),),
        note="Of the draws the median, and the range of five; one that needs more than the largest buffer is at it.",
    )


def _with_interval(name: str, x: NDArray[np.float64], found: list[NDArray[np.float64]], i: int) -> Series:
    every = [estimate(one) for one in found]
    mean = np.array([one.mean for one in every])
    half = np.array([one.ci95 or 0.0 for one in every])
    return Series(name, x, mean, mean - half, mean + half, colour(i), "both")


def _idle_curves(runs: ExperimentRuns) -> Figure:
    series = [
        _line(
            f"{n} flows, {words}",
            runs["long-lived"].where(flows=n, case=case),
            "utilization",
            i,
            dashed=case == "equal",
        )
        for i, n in enumerate((5, 25, 100))
        for case, words in (("quantiles", "quantiles"), ("equal", "all 100 ms"))
    ]
    values = ", ".join(f"{100 * one.y[3]:.1f} % with {one.name}" for one in series)
    return Figure(
        "figure-2-idle",
        "Idle time of the link",
        f"With {series[0].x[3]:.0f} packets: {values}.",
        BUFFER,
        Axis("idle", low=0.0),
        tuple(series),
        (Mark(0.01, "1 %", axis="y", role="wanted"), Mark(0.05, "5 %", axis="y", role="wanted")),
    )


def _line(name: str, points: ExperimentPoints, column: str, i: int, *, dashed: bool = False) -> Series:
    """Make a line of idle time, or of a column, against the buffer, with its interval."""
    x = np.array([leading(point.labels["buffer"]) for point in points])
    every = [estimate(_values(point, column)) for point in points]
    mean = np.array([one.mean for one in every])
    half = np.array([one.ci95 or 0.0 for one in every])
    return Series(name, x, mean, mean - half, mean + half, colour(i), "both", dashed=dashed)


def _values(point: ExperimentPoint, column: str) -> NDArray[np.float64]:
    values = point.link(column)
    if column == "utilization":
        return 1 - values
    return values / leading(point.labels["buffer"]) if column == "backlog_packets" else values


def _by_buffer(runs: ExperimentRuns, column: str, name: str, title: str, axis: Axis, flows: tuple[int, ...]) -> Figure:
    series = [
        _line(f"{n} flows, {CASES[case]}", runs["loss"].where(flows=n, case=case), column, i, dashed=case == "drawn")
        for i, n in enumerate(flows)
        for case in runs["loss"].labels("case")
    ]
    values = ", ".join(f"{one.name} {one.y[0]:.3g} and {one.y[-1]:.3g}" for one in series if not one.dashed)
    return Figure(
        name, title, f"{title} with the smallest and the largest buffer: {values}.", BUFFER, axis, tuple(series)
    )
