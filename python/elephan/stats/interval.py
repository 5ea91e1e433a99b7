"""Means over replications with their intervals.

Source: Student's t interval, Student1908.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95
"""Confidence of every interval that elephan reports."""


class Estimate(NamedTuple):
    """A mean over replications and the half-width of its 95 % confidence interval (None with one replication)."""

    mean: float
    ci95: float | None

    def to_json(self) -> dict[str, float | None]:
        """Return ``{"mean", "ci95"}``; what is not a number becomes null.

        Returns
        -------
        dict

        Examples
        --------
        >>> Estimate(1.5, None).to_json()
        {'mean': 1.5, 'ci95': None}
        """
        return {"mean": finite(self.mean), "ci95": finite(self.ci95)}


def finite(x: float | None) -> float | None:
    """Return a number as JSON can hold it: NaN and infinity become None.

    Parameters
    ----------
    x : float or None

    Returns
    -------
    float or None

    Examples
    --------
    >>> finite(float("nan")), finite(2)
    (None, 2.0)
    """
    return float(x) if x is not None and np.isfinite(x) else None


@lru_cache(maxsize=256)
def t_quantile(dof: int, confidence: float = CONFIDENCE) -> float:
    """Two-sided quantile of Student's t distribution.

    Parameters
    ----------
    dof : int
        Degrees of freedom, at least 1.
    confidence : float [1]

    Returns
    -------
    float

    References
    ----------
    Student1908.

    Examples
    --------
    >>> round(t_quantile(4), 3)
    2.776
    """
    from scipy.special import stdtrit  # noqa: PLC0415 (slow to import; not needed to start)

    return float(stdtrit(dof, 0.5 + confidence / 2))


def estimate(x: ArrayLike) -> Estimate:
    """Mean and Student t half-width over replications.

    Parameters
    ----------
    x : array_like, shape (replications,)
        One value per replication; what is not a number is left out.

    Returns
    -------
    Estimate

    References
    ----------
    Student1908.

    Examples
    --------
    >>> estimate([1.0, 2.0, 3.0])
    Estimate(mean=2.0, ci95=2.484...)
    >>> estimate([4.0])
    Estimate(mean=4.0, ci95=None)
    """
    values = np.asarray(x, dtype=float)
    values = values[np.isfinite(values)]
    if values.size == 0:
        return Estimate(float("nan"), None)
    if values.size == 1:
        return Estimate(float(values[0]), None)
    half = t_quantile(values.size - 1) * float(values.std(ddof=1)) / float(np.sqrt(values.size))
    return Estimate(float(values.mean()), half)


def estimates(x: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Do as `estimate` does for many quantities at once, with the same digits.

    Parameters
    ----------
    x : array_like, shape (..., replications)
        What is not a number is left out.

    Returns
    -------
    mean, ci95 : ndarray of float, shape (...)
        NaN without a value, the half-width with a single one too.

    References
    ----------
    Student1908.

    Examples
    --------
    >>> mean, ci95 = estimates([[1.0, 2.0, 3.0], [4.0, np.nan, np.nan]])
    >>> mean, ci95.round(3)
    (array([2., 4.]), array([2.484,   nan]))
    """
    values = np.asarray(x, dtype=float)
    known = np.isfinite(values)
    counts = known.sum(axis=-1)
    mean, ci95 = np.full(counts.shape, np.nan), np.full(counts.shape, np.nan)
    for n in set(counts.ravel().tolist()) - {0}:
        alike = counts == n
        rows = values[alike][known[alike]].reshape(-1, n)
        mean[alike] = rows.mean(axis=1)
        if n > 1:
            ci95[alike] = t_quantile(n - 1) * rows.std(axis=1, ddof=1) / np.sqrt(n)
    return mean, ci95
