"""Errors of cells, scores of families, and the scores of nulls in the same cells."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elephan.stats.interval import t_quantile
from elephan_evidence.judge.cell import matches
from elephan_evidence.judge.readings import MEASURED
from elephan_evidence.judge.running import DECLARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from elephan_evidence.judge.cell import MeasuredCell
    from elephan_evidence.judge.dataset import DataSet, Null, Quantity
    from elephan_evidence.judge.running import Found
    from elephan_evidence.papers.measured import MeasuredQuantity

CONSTANT = "a constant"

NEAR = 1.5
"""Largest factor between two cells' numbers for one to stand for the other in a null."""


@dataclass(frozen=True)
class Measurement:
    """A measured value, and what was simulated beside it.

    Parameters
    ----------
    keys : dict of str to str
        Columns that say what was run; of a smallest value, without the column that it is searched over.
    row : dict of str to str
        Columns by which it is selected.
    measured, half : float
        Measured value and half-width of its interval, 0 if the set has no spread.
    per : float
        What a difference is divided by.
    simulated : ndarray, shape (replications,)
    counted : bool
    """

    quantity: Quantity
    keys: Mapping[str, str]
    cells: tuple[MeasuredCell, ...]
    measured: float
    half: float
    per: float
    simulated: NDArray[np.float64]
    counted: bool

    @property
    def id(self) -> str:
        """Its keys in one text."""
        return "/".join(self.keys.values())

    @property
    def family(self) -> str:
        """Values of the columns that make families."""
        return "/".join(self.keys[column] for column in self.quantity.by) or "all"

    def error(self, value: float) -> float:
        """Return the error of a value; of a quotient its logarithm."""
        if self.quantity.error == "factor":
            return math.log(value / self.measured) if value > 0 and self.measured > 0 else math.nan
        if self.quantity.error == "relative":
            return (value - self.measured) / self.measured
        return (value - self.measured) / self.per

    @property
    def limit(self) -> float:
        """Largest accepted error, of quotients its logarithm: at least what the measurement resolves."""
        if self.quantity.error == "factor":
            return math.log(self.quantity.cell)
        accepted = self.half if self.quantity.stated else self.quantity.resolution
        return max(self.quantity.cell, abs(self.error(self.measured + accepted)))

    @property
    def found(self) -> float:
        """Mean over the replications."""
        return float(self.simulated.mean())

    @property
    def found_error(self) -> float:
        """Error of the simulated mean."""
        return self.error(self.found)

    @property
    def errors(self) -> NDArray[np.float64]:
        """Error of each replication."""
        return np.array([self.error(float(x)) for x in self.simulated])


@dataclass(frozen=True)
class Score:
    """How well some values agree with measurements.

    Parameters
    ----------
    cells : int
    within : float
        Number of cells within the bound; a null that is tried several times counts fractions.
    bias, mean : float
        Mean error and mean absolute error; of quotients the mean logarithm and mean absolute logarithm.
    bias_half : float or None
        Half-width of the 95 % interval of the mean error over the cells; None with fewer than two.
    """

    cells: int
    within: float
    bias: float
    mean: float
    bias_half: float | None

    @property
    def share(self) -> float:
        """Share of cells within the bound; NaN without cells."""
        return self.within / self.cells if self.cells else math.nan


def measurements(
    data: DataSet, quantity: Quantity, found: Found, variant: str = DECLARED, only: Iterable[MeasuredCell] | None = None
) -> list[Measurement]:
    """Return the measurements of a quantity beside the runs of a variant, as far as there are runs.

    Parameters
    ----------
    only : iterable of MeasuredCell, optional
        Cells to be used; all by default.
    """
    ready = [
        (cell, found[data.name, variant, cell.id][quantity.name])
        for cell in (data.simulated if only is None else only)
        if matches(cell, quantity.where or {}) and (data.name, variant, cell.id) in found
    ]
    if quantity.over:
        return _smallest(data, quantity, ready)
    made = []
    for cell, simulated in ready:
        value: MeasuredQuantity = MEASURED(quantity.measured, cell)
        if not math.isnan(value.mean):
            counted = data.set_apart(cell) is None
            per = cell.number(quantity.per) if quantity.per else 1.0
            half = value.half or 0.0
            made.append(Measurement(quantity, cell.keys, (cell,), value.mean, half, per, simulated.samples, counted))
    return made


def score(errors: Sequence[tuple[float, float]]) -> Score:
    """Score errors, each with its bound; NaN is above it, and has no part in the means.

    Examples
    --------
    >>> score([(0.1, 0.2), (-0.3, 0.2)]).within
    1.0
    """
    known = np.array([error for error, _ in errors if not math.isnan(error)])
    if not known.size:
        return Score(len(errors), 0.0, math.nan, math.nan, None)
    within = float(sum(abs(error) <= bound for error, bound in errors))
    half = None
    if known.size > 1:
        half = float(t_quantile(known.size - 1) * known.std(ddof=1) / math.sqrt(known.size))
    return Score(len(errors), within, float(known.mean()), float(np.abs(known).mean()), half)


def families(every: Iterable[Measurement]) -> dict[str, list[Measurement]]:
    """Return the counted measurements by family, in order."""
    found: dict[str, list[Measurement]] = defaultdict(list)
    for one in every:
        if one.counted:
            found[one.family].append(one)
    return dict(found)


def accepted(quantity: Quantity, ours: Score) -> bool:
    """Return whether a family's score is within the bounds of its mean error and mean absolute error."""
    as_log = quantity.error == "factor"
    mean = math.log(quantity.mean) if as_log else quantity.mean
    if quantity.bias is None:
        return bool(ours.mean <= mean)
    bias = math.log(quantity.bias) if as_log else quantity.bias
    return bool(ours.mean <= mean and abs(ours.bias) <= bias)


def halves(every: Sequence[Measurement]) -> dict[str, float]:
    """Return the half-width of each error's 95 % interval, from the replications and the measured spread.

    The variance of replications is pooled over a family: two or three runs of one cell do not give one.
    """
    found: dict[str, float] = {}
    by: dict[str, list[Measurement]] = defaultdict(list)
    for one in every:
        by[one.family].append(one)
    for family in by.values():
        spreads = [(one.errors.var(ddof=1), one.errors.size - 1) for one in family if one.errors.size > 1]
        spreads = [(var, dof) for var, dof in spreads if not math.isnan(var)]
        dof = sum(dof for _, dof in spreads)
        pooled = sum(var * dof for var, dof in spreads) / dof if dof else math.nan
        for one in family:
            ours = t_quantile(dof) * math.sqrt(pooled / one.errors.size) if dof else 0.0
            spread = one.half if not one.quantity.stated else 0.0
            measured = abs(one.error(one.measured + spread)) if spread else 0.0
            found[one.id] = math.hypot(ours, measured)
    return found


def constant(every: Sequence[Measurement]) -> list[float]:
    """Return the errors of one number for all cells, the mean of what was measured.

    Of differences the mean of the measured value over what they are divided by, of quotients the geometric mean.
    """
    if not every:
        return []
    if every[0].quantity.error == "factor":
        value = math.exp(np.mean([math.log(one.measured) for one in every]))
        return [one.error(value) for one in every]
    value = float(np.mean([one.measured / one.per for one in every]))
    return [one.error(value * one.per) for one in every]


def swapped(null: Null, every: Sequence[Measurement], all_: Sequence[Measurement]) -> list[list[float]]:
    """Return the errors of our cells with another value of a column, in place of each cell.

    Parameters
    ----------
    all_ : sequence of Measurement
        Cells that can be taken, counted or not.

    Returns
    -------
    list of list of float
        For each cell an error per other value; empty where there is no such cell.
    """
    found = []
    for one in every:
        best: dict[str, tuple[float, Measurement]] = {}
        for other in all_:
            if null.swap not in one.keys or other.keys[null.swap] == one.keys[null.swap]:
                continue
            distance = _distance(null, one, other)
            if distance is not None and distance < best.get(other.keys[null.swap], (math.inf, other))[0]:
                best[other.keys[null.swap]] = (distance, other)
        found.append([one.error(other.found / other.per * one.per) for _, other in best.values()])
    return found


def _distance(null: Null, one: Measurement, other: Measurement) -> float | None:
    """Return how far the numbers of two cells are apart, as a logarithm; None if one cannot stand for the other."""
    distance = 0.0
    for column, value in one.keys.items():
        if column == null.swap:
            continue
        if column in null.near:
            distance += abs(math.log(float(other.keys[column]) / float(value)))
        elif other.keys[column] != value:
            return None
    return distance if distance <= math.log(NEAR) else None


def _smallest(
    data: DataSet, quantity: Quantity, ready: Sequence[tuple[MeasuredCell, MeasuredQuantity]]
) -> list[Measurement]:
    """Return for each group of cells the smallest value of a column at which the quantity is above a limit."""
    groups: dict[tuple[tuple[str, str], ...], list[tuple[float, float, float, MeasuredCell]]] = defaultdict(list)
    for cell, simulated in ready:
        if data.set_apart(cell) is None:
            keys = tuple((column, value) for column, value in cell.keys.items() if column != quantity.over)
            measured: MeasuredQuantity = MEASURED(quantity.measured, cell)
            groups[keys].append((cell.number(quantity.over), measured.mean, simulated.mean, cell))
    made = []
    for keys, rows in groups.items():
        rows.sort(key=lambda row: row[0])
        theirs = next((at for at, measured, _, _ in rows if measured > quantity.above), math.nan)
        ours = next((at for at, _, simulated, _ in rows if simulated > quantity.above), math.nan)
        if not math.isnan(theirs):
            cells = tuple(row[3] for row in rows)
            made.append(Measurement(quantity, dict(keys), cells, theirs, 0.0, 1.0, np.array([ours]), counted=True))
    return made
