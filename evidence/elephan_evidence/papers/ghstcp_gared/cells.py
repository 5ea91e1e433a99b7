"""Cells of Tables 1 to 6: throughput of both groups, utilization and the max-min index, ours and the paper's.

*Source*: Zhang, Hasegawa and Murata, IEICE Trans. Commun. E88-B(6), 2005, Section 3 (metrics) and Tables 1 to 6. Its
column of throughputs is lost; it follows from utilization and index if the flows of a group are equal.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elephan.metrics.fairness import jain_maxmin
from elephan_evidence.papers.measured import MeasuredQuantity

if TYPE_CHECKING:
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

DELAYS = (25, 50, 100)
CASES = range(1, 32)
RATE = 2.5e9
SHARES = (100e6, 400e6)
"""Max-min fair shares of a flow of S1, which its access link limits, and of one of S2 [bit/s]."""

_LAST_CASE = {1: 4, 2: 7, 3: 13, 4: 19, 5: 25, 6: 31}


@dataclass(frozen=True)
class PaperCell:
    """A cell of the paper's tables.

    Parameters
    ----------
    table, case, delay : int
        Numbers of table and case, and the one-way delay [ms].
    util : float [%]
    ci_mbps : float [Mbit/s]
        Half-width of the interval of the total throughput.
    s1, s2 : float [Mbit/s]
        Throughput of a flow of each group, computed from utilization and index.
    """

    table: int
    case: int
    delay: int
    util: float
    fair: float
    ci_mbps: float
    s1: float
    s2: float


@cache
def printed() -> dict[tuple[int, int], PaperCell]:
    """Read the paper's tables.

    Returns
    -------
    dict
        Cells by case and delay.
    """
    path = Path(__file__).with_name("tables.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    cells = [_cell(row) for row in rows]
    return {(cell.case, cell.delay): cell for cell in cells}


def table_of(case: int) -> int:
    """Return the number of the table with a case.

    Examples
    --------
    >>> table_of(7), table_of(8)
    (2, 3)
    """
    return next(table for table, last in _LAST_CASE.items() if case <= last)


def cell(runs: ExperimentRuns, case: int, delay: int) -> ExperimentPoint:
    """Return our runs of a cell."""
    return runs[f"table{table_of(case)}"].at(case=case, delay=delay)


def s1(point: ExperimentPoint) -> MeasuredQuantity:
    """Return the throughput of a flow of S1 in wire bits [Mbit/s]."""
    return MeasuredQuantity(point.flows("goodput_bps", "S1").mean(axis=1) / 1e6)


def s2(point: ExperimentPoint) -> MeasuredQuantity:
    """Return the throughput of a flow of S2 in wire bits [Mbit/s]."""
    return MeasuredQuantity(point.flows("goodput_bps", "S2").mean(axis=1) / 1e6)


def util(point: ExperimentPoint) -> MeasuredQuantity:
    """Return TCP's share of the bottleneck [%]; the link's own utilization includes the UDP."""
    both = [point.flows("goodput_bps", group) for group in ("S1", "S2")]
    return MeasuredQuantity(100 * np.hstack(both).sum(axis=1) / RATE)


def fair(point: ExperimentPoint) -> MeasuredQuantity:
    """Return Jain's index of throughputs over max-min shares."""
    both = [point.flows("goodput_bps", group) for group in ("S1", "S2")]
    shares = np.repeat(SHARES, [rates.shape[1] for rates in both])
    return MeasuredQuantity([jain_maxmin(rates, shares) for rates in np.hstack(both)])


def _cell(row: dict[str, str]) -> PaperCell:
    table, case, delay = (int(row[name]) for name in ("table", "case", "delay"))
    util, fair, ci_mbps, s1, s2 = (float(row[name]) for name in ("util", "fair", "ci_mbps", "s1", "s2"))
    return PaperCell(table, case, delay, util, fair, ci_mbps, s1, s2)


OF = {"s1": s1, "s2": s2, "util": util, "fair": fair}
"""Compared quantities by name."""


def measured(runs: ExperimentRuns, of: str, case: int, delay: int) -> MeasuredQuantity:
    """Return a quantity of a cell of ours.

    Parameters
    ----------
    of : str
        One of `OF`.
    """
    return OF[of](cell(runs, case, delay))


def difference(first: MeasuredQuantity, second: MeasuredQuantity) -> MeasuredQuantity:
    """Return a difference, replication by replication, or of the means if one has fewer replications.

    Examples
    --------
    >>> difference(MeasuredQuantity([3.0, 4.0]), MeasuredQuantity([1.0])).samples
    array([2.5])
    """
    if first.samples.size == second.samples.size:
        return first - second
    return MeasuredQuantity(first.mean - second.mean)


def index_of(first: float, second: float) -> float:
    """Return the max-min index of five flows with one throughput and five with another.

    Parameters
    ----------
    first, second : float [Mbit/s]

    Examples
    --------
    >>> round(index_of(100, 300), 4)
    0.98
    """
    return jain_maxmin([first * 1e6] * 5 + [second * 1e6] * 5, np.repeat(SHARES, 5))
