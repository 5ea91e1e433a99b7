"""Figures 1 and 2 of the first paper in our terms: the window between two losses, the network, and the fixed point.

*Source*: Barman2004, Sections II and III. Our digest of the paper does not describe the two sketches, which have no
numbers: these are pictures of their sections' content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series
from elephan.pictures.table import Table, cell
from elephan.theory import hstcp
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.hstcp_buffer_model.fixed_point_measures import LinkSetting, behind, droptail_queue, slope
from elephan_evidence.papers.hstcp_buffer_model.links import LINKS, tail_at

if TYPE_CHECKING:
    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.runs import ExperimentRuns

FIGURES = PaperExhibits()
LOSS, RTT = 1e-5, 0.12
"""Loss and mean round trip [s] of the sketch: about those at which ten flows fill the first link."""
PERIODS = 3
PACKETS = (12, 125, 1250)
"""Buffers whose fixed points are drawn [packets]."""


@FIGURES(
    "Figures 1 and 2",
    "The window between two losses, and the network",
    paper="Sketches without a number. The window falls to (1 - b) of its peak at a loss and climbs back until the next "
    "one; senders and receivers lie on either side of one link between two routers.",
)
def sketches(_: ExperimentRuns) -> Made:
    """Draw the window as a fluid, in closed form and exactly, and the network of senders."""
    exact = hstcp.exact(LOSS, RTT)
    closed = hstcp.closed_form(LOSS, RTT)
    top, share = float(exact.period.peak), float(exact.period.decrease)
    once = np.linspace(0.0, float(closed.duration), 101)
    approximate = hstcp.window(once, LOSS, RTT)
    spans = (exact.t[-1], once[-1])
    figure = Figure(
        "window",
        "Window of one HighSpeed flow",
        f"The window climbs from {top * (1 - share):.0f} to {top:.0f} segments in {spans[0]:.1f} s by the exact "
        f"equation, and in {spans[1]:.1f} s by the closed form.",
        Axis("time", "s", low=0.0),
        Axis("cwnd", "segments", low=0.0, high=2000.0),
        (
            _repeated("exact equation", exact.t, exact.window, "blue", until=spans[1]),
            Series("closed form", once, approximate, colour="vermilion", dashed=True),
        ),
        (
            Mark(top, f"peak w(p) = {top:.0f}", axis="y"),
            Mark(top * (1 - share), "(1 - b) w(p)", axis="y", role="wanted"),
        ),
        note=f"A loss in {1 / LOSS:,.0f} segments and a round trip of {1e3 * RTT:.0f} ms. The closed form holds b at "
        "its least value, so that the climb takes too long; its throughput is right to half a percent.",
    )
    return figure, _network()


def _repeated(name: str, t: np.ndarray, window: np.ndarray, colour: str, until: float) -> Series:
    """Repeat a period, with a gap in the line where the window falls."""
    times = int(np.ceil(until / t[-1]))
    x = np.concatenate([t + i * t[-1] for i in range(times)])
    y = np.tile(window, times)
    return Series(name, x[x <= until], y[x <= until], colour=colour)


def _network() -> Table:
    rows = tuple(
        (
            cell(name),
            cell(len(on.rtts)),
            cell(8e-3 * on.rate),
            cell(f"{1e3 * min(on.rtts):g} to {1e3 * max(on.rtts):g}"),
            cell(on.full),
        )
        for name, on in zip(("Figures 3 and 7", "Figures 4 and 8"), LINKS.values(), strict=True)
    )
    heads = ("figures", "HighSpeed flows", "link [Mbit/s, 1000 B]", "round trips [ms]", "whole buffer [packets]")
    return Table("Senders, one link between two routers, receivers", heads, rows)


@FIGURES(
    "Section 3",
    "The fixed point: that there is one, and that it is the only one",
    paper="A load at which flows and queue agree exists; whether it is unique is left to the size of the buffer.",
)
def fixed_points(_: ExperimentRuns) -> Made:
    """Draw the flows' offered load against the assumed load, and its slope at the fixed point."""
    # Loads are dense enough for the steep curves to pass through their fixed points.
    loads, series = np.linspace(0.2, 1.2, 501), []
    for size, shade in zip(PACKETS, ("blue", "green", "purple"), strict=True):
        setting = LinkSetting("1g", 10, size, None)
        offered = behind(setting, *droptail_queue(setting, loads))
        series.append(Series(f"K = {size:,}", loads, np.clip(offered, 0.0, 9.0), colour=shade))
    series.append(Series("as assumed", loads, loads, colour="ink", dashed=True))
    at = {size: tail_at("1g", size / LINKS["1g"].full) for size in PACKETS}
    roots = np.array([point.load for point in at.values()])
    series.append(Series("fixed points", roots, roots, colour="vermilion", kind="points"))
    crossing_loads = ", ".join(f"{point.load:.3f} with {size}" for size, point in at.items())
    sizes = (1, 2, 3, 5, *PACKETS)
    rows = tuple((cell(size), *(cell(slope(link, size)) for link in LINKS)) for size in sizes)
    heads = ("buffer [packets]", "slope, 1 Gbit/s", "slope, 2.5 Gbit/s")
    note = (
        "Substituting what is offered for what was assumed draws nearer to the fixed point only where the slope lies "
        "between -1 and 1: with a buffer of one packet. With all others it runs away from the only one there is."
    )
    return (
        Figure(
            "fixed-points",
            "What ten flows offer, 1 Gbit/s",
            f"Each curve falls and crosses the line once: at a load of {crossing_loads} packets.",
            Axis("assumed load", low=0.2, high=1.2),
            Axis("offered load", low=0.0, high=2.0),
            tuple(series),
        ),
        Table("Slope of the curve at the fixed point, in logarithms", heads, rows, note),
    )
