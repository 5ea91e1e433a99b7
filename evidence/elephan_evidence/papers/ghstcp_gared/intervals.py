"""The intervals printed in Tables 1 to 6, beside ours: overlap, widths, and the results of nulls.

*Source*: Zhang2005, Tables 1 to 6: half-widths of the 95 % interval of the total throughput [Mbit/s]. The paper does
not say from how many runs, or from which parts of one, they come, and prints none for the index. A null has our own
widths, cell by cell, so that only its means differ.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import rankdata

from elephan_evidence.papers.ghstcp_gared import nulls
from elephan_evidence.papers.ghstcp_gared.cells import CASES, DELAYS, RATE, printed, table_of, util
from elephan_evidence.papers.measures import MeasureRegistry
from elephan_evidence.papers.runs import NotRunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

    Floats = NDArray[np.float64]
    Cells = dict[tuple[int, int], "UtilizationInterval"]

MEASURES = MeasureRegistry()

POINT = RATE / 1e6 / 100
"""One point of utilization [Mbit/s]."""

BY_CHANCE = 3.1
"""A ratio that the half-widths of two sets of five equal runs exceed in one of twenty cases: the square root of 9.6,
the 97.5 % point of F with 4 and 4 degrees of freedom."""

SETS = {"exact": "table", "profile": "profile-table"}
"""Prefixes of the experiments compared with the paper: the exact laws, and its simulator as inferred."""


class UtilizationInterval(NamedTuple):
    """Utilization by TCP [%]: its mean and the half-width of its 95 % interval."""

    mean: float
    half: float

    def meets(self, other: UtilizationInterval) -> bool:
        """Whether the intervals overlap."""
        return abs(self.mean - other.mean) <= self.half + other.half

    def agrees(self, other: UtilizationInterval) -> bool:
        """Whether the difference is within its own 95 % interval, as in 95 of 100 pairs of equal quantities."""
        return abs(self.mean - other.mean) <= math.hypot(self.half, other.half)


def theirs() -> Cells:
    """Return the paper's intervals, in points of utilization."""
    return {at: UtilizationInterval(cell.util, cell.ci_mbps / POINT) for at, cell in printed().items()}


def interval(point: ExperimentPoint) -> UtilizationInterval:
    """Return the utilization of a cell of ours with its interval.

    Raises
    ------
    NotRunError
        If there is only one run.
    """
    found = util(point)
    if found.ci95 is None:
        message = "one run has no interval"
        raise NotRunError(message)
    return UtilizationInterval(found.mean, found.ci95)


def ours(runs: ExperimentRuns, which: str = "exact") -> Cells:
    """Return our 93 cells.

    Parameters
    ----------
    which : str
        One of `SETS`.

    Raises
    ------
    NotRunError
        If a cell was not run, or only once.
    """
    return {
        (case, delay): interval(runs[f"{SETS[which]}{table_of(case)}"].at(case=case, delay=delay))
        for case in CASES
        for delay in DELAYS
    }


# Nulls: cells of ours in the wrong places. Each keeps the widths of the cell that it replaces.


def constant(cells: Cells) -> Cells:
    """Return two constants for the cells with and without SACK on the fast flows, those that overlap most intervals."""
    target = theirs()
    best = {}
    for sack in (False, True):
        mine = [at for at in cells if nulls.has_sack(at[0]) is sack]
        tried = sorted({target[at].mean for at in mine})
        score = [sum(UtilizationInterval(one, cells[at].half).meets(target[at]) for at in mine) for one in tried]
        best[sack] = tried[int(np.argmax(score))]
    return {at: UtilizationInterval(best[nulls.has_sack(at[0])], cells[at].half) for at in cells}


def wrong_law(cells: Cells) -> Cells:
    """Replace each cell by the one with the other of HighSpeed TCP and gentle HighSpeed TCP; case 1 by case 2."""
    return _moved(cells, lambda case, delay: (nulls.wrong_law(case)[0], delay))


def wrong_queue(cells: Cells) -> Cells:
    """Replace each cell by the one of the same senders at the next router; case 1, which has one router, by case 2."""
    return _moved(cells, lambda case, delay: (_next(nulls.wrong_queue(case), case), delay))


def wrong_delay(cells: Cells) -> Cells:
    """Replace each cell by the one at the next longer delay, and the longest by the shortest."""
    return _moved(cells, lambda case, delay: (case, DELAYS[(DELAYS.index(delay) + 1) % len(DELAYS)]))


def _moved(cells: Cells, of: Callable[[int, int], tuple[int, int]]) -> Cells:
    return {at: UtilizationInterval(cells[of(*at)].mean, cells[at].half) for at in cells}


def _next(others: list[int], case: int) -> int:
    return min((other for other in others if other > case), default=min(others, default=2))


NULLS: dict[str, Callable[[Cells], Cells]] = {
    "two constants": constant,
    "wrong law": wrong_law,
    "wrong queue": wrong_queue,
    "wrong delay": wrong_delay,
}


# Statistics of all cells.


def meeting(cells: Cells) -> int:
    """Count the cells in which the intervals overlap."""
    return sum(cells[at].meets(other) for at, other in theirs().items())


def agreeing(cells: Cells) -> int:
    """Count the cells in which the difference is within its 95 % interval."""
    return sum(cells[at].agrees(other) for at, other in theirs().items())


def inside(cells: Cells) -> int:
    """Count the cells in which our mean is in the printed interval."""
    return sum(abs(cells[at].mean - other.mean) <= other.half for at, other in theirs().items())


def ratios(cells: Cells) -> Floats:
    """Return the width of the printed interval over the width of ours, cell by cell."""
    return np.array([other.half / cells[at].half for at, other in theirs().items()])


def rank_correlation(cells: Cells) -> float:
    """Return Spearman's correlation of the widths: whether cells that are uncertain in the paper are so here."""
    here, there = (rankdata([of[at].half for at in theirs()]) for of in (cells, theirs()))
    return float(np.corrcoef(here, there)[0, 1])


@MEASURES
def times_as_wide(runs: ExperimentRuns) -> float:
    """Return the width of the printed interval over the width of ours, median over the cells."""
    return float(np.median(ratios(ours(runs))))


@MEASURES
def widths_by_chance(runs: ExperimentRuns) -> float:
    """Count the cells whose widths differ no more than those of two sets of five equal runs do in 19 of 20 cases."""
    return float(np.sum(np.abs(np.log(ratios(ours(runs)))) <= math.log(BY_CHANCE)))


@MEASURES
def widths_together(runs: ExperimentRuns) -> float:
    """Return Spearman's correlation of the printed widths and ours."""
    return rank_correlation(ours(runs))


def by_cell(
    runs: ExperimentRuns,
) -> Iterator[tuple[tuple[int, int], UtilizationInterval, UtilizationInterval, UtilizationInterval | None]]:
    """Yield each cell: the paper's, ours, and that of its simulator as inferred, if it was run."""
    profile = ours(runs, "profile") if all(f"{SETS['profile']}{table}" in runs for table in range(1, 7)) else {}
    here = ours(runs)
    for at, other in theirs().items():
        yield at, other, here[at], profile.get(at)
