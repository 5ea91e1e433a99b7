"""Means over replications with confidence intervals.

Source: Student's t interval, Student1908.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from elephan.results import Quantity

CONFIDENCE = 0.95
"""Confidence level of every interval that elephan reports."""


class Estimate(NamedTuple):
    """A mean over replications and the half-width of its 95 % confidence interval (None with one replication)."""

    mean: float
    ci95: float | None

    def to_json(self) -> Quantity:
        """Return ``{"mean", "ci95"}``; NaN becomes null.

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
    """Return a number that JSON can represent: NaN and infinity become None.

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


# Generated: float(scipy.special.stdtrit(dof, 0.975)) for dof = 1, 2, …; a test compares them bit by bit.
T_QUANTILES = (
    12.706204736174694,
    4.302652729749462,
    3.1824463052837078,
    2.7764451051977934,
    2.5705818356363146,
    2.4469118511449786,
    2.364624251592784,
    2.306004135204166,
    2.262157162798205,
    2.228138851986274,
    2.200985160091639,
    2.1788128296672284,
    2.1603686564627913,
    2.144786687917804,
    2.131449545559776,
    2.1199052992212546,
    2.1098155778333156,
    2.1009220402410382,
    2.0930240544083087,
    2.085963447265864,
    2.0796138447276795,
    2.0738730679040254,
    2.0686576104190486,
    2.0638985616280245,
    2.0595385527532972,
    2.0555294386428735,
    2.0518305164802846,
    2.0484071417952454,
    2.045229642132703,
    2.0422724563012378,
    2.039513446396408,
    2.0369333434601016,
)
"""Quantiles for 95 % and few degrees of freedom. They avoid an import of SciPy, which takes longer than a small run."""


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
    if confidence == CONFIDENCE and 1 <= dof <= len(T_QUANTILES):
        return T_QUANTILES[dof - 1]
    from scipy.special import stdtrit  # noqa: PLC0415 (slow to import; not needed to start)

    return float(stdtrit(dof, 0.5 + confidence / 2))


def estimate(x: ArrayLike) -> Estimate:
    """Mean and Student t half-width over replications.

    Parameters
    ----------
    x : array_like, shape (replications,)
        One value per replication; NaN and infinity are ignored.

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
    """Compute the same as `estimate` for many quantities at once, with identical digits.

    Parameters
    ----------
    x : array_like, shape (..., replications)
        Values; NaN and infinity are ignored.

    Returns
    -------
    mean, ci95 : ndarray of float, shape (...)
        The mean is NaN without any value; the half-width is NaN with fewer than two values.

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
