"""Figure 1 of the paper in our terms: the queue that remains after an overflow, by the flows' shares of the link.

Source: Andrew2005, Section II. *Differs from the source*: our digest of the paper does not describe its sketch, which
has no numbers; this picture shows the bound that its section proves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series
from elephan.theory import rules
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.nonhomogeneous_buffers.patterns import MU, left, patterns

if TYPE_CHECKING:
    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.runs import ExperimentRuns

FIGURES = PaperExhibits()

RTTS = [0.02, 0.05, 0.1]
"""Round-trip times of three flows [s]; the longest is the paper's mean."""

SHARES = {"a third each": 1 / 3, "longest 80 %": 0.8, "longest alone": 0.99999}
"""Shares of the flow with the longest round-trip time when the buffer overflows; the others share the rest."""


@FIGURES(
    "Figure 1",
    "What an overflow leaves in the queue",
    paper="A sketch without a number, beside the bound: after an overflow no less than half of what the buffer exceeds "
    "the product of rate and longest round-trip time is left, however many flows there are; the flow of the longest "
    "time, alone on the link, leaves just that.",
)
def sketch(_: ExperimentRuns) -> Made:
    """Draw the remaining queue against the buffer, for three divisions of the link, random ones, and the bound."""
    product = MU * max(RTTS)
    buffers = np.linspace(0.2, 3.0, 57) * product
    series = []
    for (name, share), shade in zip(SHARES.items(), ("green", "purple", "vermilion"), strict=True):
        shares = [(1 - share) / 2, (1 - share) / 2, share]
        found = [left(RTTS, buffer, shares, losers=[True] * 3) for buffer in buffers]
        series.append(Series(name, buffers / product, np.array(found) / product, colour=shade))
    bound = np.array([float(rules.smallest_queue(MU, RTTS, buffer)) for buffer in buffers])
    drawn = [(buffer / (MU * max(rtts)), queue / (MU * max(rtts))) for rtts, buffer, queue in patterns((0.2, 3.0), 300)]
    x, y = np.array(drawn).T
    series.append(Series("bound", buffers / product, bound / product, colour="ink", dashed=True))
    over = ", ".join(f"{np.interp(2.0, one.x, one.y):.2f} with {one.name}" for one in series)
    series.append(Series("random patterns", x, y, colour="muted", kind="points", faint=True))
    return (
        Figure(
            "overflow",
            "Queue left by an overflow",
            f"With a buffer of twice the product an overflow leaves, in products: {over}. Below the "
            "product the longest flow alone empties the queue.",
            Axis("buffer / (rate x longest round trip)", low=0.0, high=3.0),
            Axis("queue left / the same", low=0.0),
            tuple(series),
            (Mark(1.0, "the product", axis="x"),),
            note="Three flows of 20, 50 and 100 ms that all lose; grey are random flows, shares and losers. No pattern "
            "lies below the bound.",
        ),
    )
