"""Measured quantities of a claim: a number per replication, so that differences are paired and have an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.stats import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, init=False)
class MeasuredQuantity:
    """A quantity of a run or of several.

    Replications of compared runs share their random numbers, so arithmetic between two quantities works replication by
    replication.

    Parameters
    ----------
    samples : array_like, shape (replications,)
        Values of the replications, or a single number.
    note : str
        A remark, such as the place of the smallest of several.
    parts : tuple of MeasuredQuantity
        The quantities of which it is the smallest or the largest: a claim "at every delay" must hold for each.
    half : float, optional
        Half-width of its 95 % interval [its unit] if samples do not give it, as for a slope; 0 for counts over all runs
        together, such as the worst of them.

    Examples
    --------
    >>> a, b = MeasuredQuantity([0.91, 0.93]), MeasuredQuantity([0.90, 0.91])
    >>> round((a - b).mean, 3), round((a - b).ci95, 3)
    (0.015, 0.064)
    """

    samples: NDArray[np.float64]
    note: str
    parts: tuple[MeasuredQuantity, ...]
    half: float | None

    def __init__(
        self, samples: ArrayLike, note: str = "", parts: tuple[MeasuredQuantity, ...] = (), half: float | None = None
    ) -> None:
        object.__setattr__(self, "samples", np.atleast_1d(np.asarray(samples, dtype=float)))
        object.__setattr__(self, "note", note)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "half", half)

    @property
    def mean(self) -> float:
        """Mean over the replications; NaN if a replication is NaN."""
        return float(self.samples.mean())

    @property
    def ci95(self) -> float | None:
        """Half-width of its 95 % interval; None with one replication, or if the mean is NaN."""
        if self.half is not None:
            return self.half
        return estimate(self.samples).ci95 if self.samples.size > 1 and not np.isnan(self.mean) else None

    def noted(self, note: str) -> MeasuredQuantity:
        """Return the same quantity with a note."""
        return MeasuredQuantity(self.samples, note, self.parts, self.half)

    @property
    def every(self) -> tuple[MeasuredQuantity, ...]:
        """Its parts, or itself if it has none."""
        return self.parts or (self,)

    def to_json(self) -> dict[str, float | None]:
        """Return ``{"mean", "ci95"}``, with null for NaN."""
        return {"mean": None if np.isnan(self.mean) else self.mean, "ci95": None if self.half == 0 else self.ci95}

    def __sub__(self, other: MeasuredQuantity | float) -> MeasuredQuantity:
        return MeasuredQuantity(self.samples - self._beside(other), self.note, half=self._both(other))

    def __add__(self, other: MeasuredQuantity | float) -> MeasuredQuantity:
        return MeasuredQuantity(self.samples + self._beside(other), self.note)

    def __mul__(self, factor: MeasuredQuantity | float) -> MeasuredQuantity:
        return MeasuredQuantity(self.samples * self._beside(factor), self.note)

    def __truediv__(self, other: MeasuredQuantity | float) -> MeasuredQuantity:
        with np.errstate(divide="ignore", invalid="ignore"):
            return MeasuredQuantity(self.samples / self._beside(other), self.note)

    def __neg__(self) -> MeasuredQuantity:
        return MeasuredQuantity(-self.samples, self.note, tuple(-part for part in self.parts), self.half)

    def __abs__(self) -> MeasuredQuantity:
        return MeasuredQuantity(np.abs(self.samples), self.note)

    def _both(self, other: MeasuredQuantity | float) -> float | None:
        """Return the half-width of a difference of two unpaired quantities that each have a half-width."""
        theirs = other.half if isinstance(other, MeasuredQuantity) else 0.0
        return None if self.half is None or theirs is None else float(np.hypot(self.half, theirs))

    def _beside(self, other: MeasuredQuantity | float) -> NDArray[np.float64] | float:
        """Return the samples of another quantity with as many replications; a plain number is the same in all."""
        if not isinstance(other, MeasuredQuantity):
            return other
        if other.samples.size != self.samples.size:
            message = f"{self.samples.size} replications cannot be paired with {other.samples.size}"
            raise ValueError(message)
        return other.samples


Found = MeasuredQuantity | float | bool
"""Result of a measure: a measured quantity, the number of a formula, or a truth value."""


def least(each: Iterable[MeasuredQuantity]) -> MeasuredQuantity:
    """Return the quantity with the smallest mean, which decides claims "at every buffer"; NaN takes precedence.

    Examples
    --------
    >>> least([MeasuredQuantity(0.2, "at 50"), MeasuredQuantity(0.1, "at 100")]).note
    'at 100'
    """
    return _of_all(each, lambda every: min(every, key=lambda one: _first_nan(one.mean, -np.inf)))


def largest(each: Iterable[MeasuredQuantity]) -> MeasuredQuantity:
    """Return the quantity with the largest mean; NaN takes precedence."""
    return _of_all(each, lambda every: max(every, key=lambda one: _first_nan(one.mean, np.inf)))


def mean(each: Iterable[MeasuredQuantity]) -> MeasuredQuantity:
    """Return the mean of several, replication by replication.

    Examples
    --------
    >>> mean([MeasuredQuantity([1.0, 2.0]), MeasuredQuantity([3.0, 4.0])]).samples
    array([2., 3.])
    """
    return MeasuredQuantity(np.mean([one.samples for one in each], axis=0))


def number(found: Found) -> float | bool:
    """Return the number by which a claim is judged.

    Returns
    -------
    float or bool
        The mean of a measured quantity.
    """
    return found.mean if isinstance(found, MeasuredQuantity) else found


def to_json(found: Found) -> Any:
    """Return a result in the form of a document."""
    if isinstance(found, MeasuredQuantity):
        return found.to_json()
    if isinstance(found, bool | np.bool_):
        return bool(found)
    return float(found) if np.isfinite(found) else None


def _of_all(
    each: Iterable[MeasuredQuantity], chosen: Callable[[Sequence[MeasuredQuantity]], MeasuredQuantity]
) -> MeasuredQuantity:
    """Choose one of several, keeping all candidates as its parts; candidates with parts are replaced by their parts."""
    every = list(each)
    one = chosen(every)
    return MeasuredQuantity(one.samples, one.note, tuple(part for whole in every for part in whole.every), one.half)


def _first_nan(x: float, end: float) -> float:
    """Return a sort key that puts NaN first."""
    return end if np.isnan(x) else x
