"""Measures of the claims about delay and drops with increasing numbers of flows, up to the 1000 of Figure 5.

Source: Andrew2005, Section III: more flows and more buffer both lengthen the delay; drops rise with the former and fall
with the latter.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from elephan_evidence.papers.measured import MeasuredQuantity, largest, least
from elephan_evidence.papers.measures import MeasureRegistry

if TYPE_CHECKING:
    from elephan_evidence.papers.runs import ExperimentRuns

MEASURES = MeasureRegistry()

FLOWS = (25, 100, 1000)


def curve(runs: ExperimentRuns, flows: int, column: str) -> list[MeasuredQuantity]:
    """Return a column of the link at each buffer, with round-trip times by quantiles.

    Returns
    -------
    list of MeasuredQuantity
        Values by buffer, each with its flows and its buffer in the note.
    """
    points = runs["loss"].where(flows=flows, case="quantiles")
    return [MeasuredQuantity(point.link(column), f"{flows} flows, {point.labels['buffer']}") for point in points]


def _least_step(runs: ExperimentRuns, column: str, flows: tuple[int, ...]) -> MeasuredQuantity:
    """Return the smallest increase from one number of flows to the next at one buffer."""
    every = [curve(runs, n, column) for n in flows]
    return least(
        (more - fewer).noted(f"from {fewer.note} to {more.note}")
        for one, other in pairwise(every)
        for fewer, more in zip(one, other, strict=True)
    )


@MEASURES
def delay_with_flows(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the smallest increase of the mean queueing delay with the number of flows, over buffers and steps [s]."""
    return _least_step(runs, "queueing_delay_s", FLOWS)


@MEASURES
def loss_with_flows(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the loss of 1000 flows minus that of 100, minimum over buffers."""
    return _least_step(runs, "loss_ratio", FLOWS[1:])


@MEASURES
def loss_step_of_many(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the loss of 1000 flows at a buffer minus that at the next smaller one, the maximum."""
    return largest((b - a).noted(b.note) for a, b in pairwise(curve(runs, FLOWS[-1], "loss_ratio")))
