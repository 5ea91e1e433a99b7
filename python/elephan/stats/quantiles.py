"""Percentiles of values, weighted values and histograms, and their bootstrap intervals.

Source: the percentile interval of the bootstrap, EfronTibshirani1993, Chapter 13. The accelerated variant (BCa) is not
used: it needs a jackknife, which fails for percentiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elephan.errors import InputError
from elephan.stats.interval import CONFIDENCE
from elephan.units import count

RESAMPLES = 2000
"""Resamples of a bootstrap. With this number the limits of the interval vary by about 1/20 of its half-width."""


class ValueInterval(NamedTuple):
    """A value and its 95 % interval, which need not be symmetric around it."""

    value: float
    low: float
    high: float


def ecdf(x: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Empirical distribution function.

    Parameters
    ----------
    x : array_like, shape (n,)

    Returns
    -------
    values : ndarray of float, shape (m,)
        Distinct values in ascending order.
    share : ndarray of float, shape (m,) [1]
        Share of the values that do not exceed each of these; the last is 1.

    Examples
    --------
    >>> ecdf([3.0, 1.0, 3.0, 2.0])
    (array([1., 2., 3.]), array([0.25, 0.5 , 1.  ]))
    """
    from scipy import stats  # noqa: PLC0415 (slow to import)

    values = np.asarray(x, dtype=float).ravel()
    if not values.size:
        return values, values
    found = stats.ecdf(values).cdf
    return found.quantiles, found.probabilities


def weighted_quantile(x: ArrayLike, weights: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """Quantiles of weighted values: the smallest value up to which at least a share q of the weight lies.

    Parameters
    ----------
    x, weights : array_like, shape (n,)
        Values and nonnegative weights, such as states and the time spent in each, or sizes and the number of each.
    q : array_like, shape (…) [1]

    Returns
    -------
    ndarray of float, shape of q
        NaN if the sum of the weights is 0.

    Examples
    --------
    >>> weighted_quantile([10.0, 20.0, 30.0], [1, 8, 1], [0.05, 0.5, 0.95])
    array([10., 20., 30.])
    """
    values, mass = np.asarray(x, dtype=float), np.asarray(weights, dtype=float)
    order = np.argsort(values, kind="stable")
    values, reached = values[order], np.cumsum(mass[order])
    asked = np.asarray(q, dtype=float)
    if not reached.size or reached[-1] <= 0:
        return np.full(asked.shape, np.nan)
    # If a value reaches the share exactly, rounding must not select the next value.
    place = np.searchsorted(reached, asked * reached[-1] * (1 - 1e-12))
    found: NDArray[np.float64] = values[np.minimum(place, values.size - 1)]
    return found


def histogram_quantile(counts: ArrayLike, edges: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """Quantiles of a histogram, assuming a uniform distribution in each bin.

    Parameters
    ----------
    counts : array_like, shape (bins,)
    edges : array_like, shape (bins + 1,)
        Ascending.
    q : array_like, shape (…) [1]

    Returns
    -------
    ndarray of float, shape of q
        NaN if all counts are 0. The error is less than the width of the bin. If a share is reached exactly at the lower
        edge of empty bins, the result is their upper edge.

    Examples
    --------
    >>> histogram_quantile([2, 2], [0.0, 1.0, 3.0], [0.25, 0.5, 0.75])
    array([0.5, 1. , 2. ])
    """
    reached = np.concatenate([[0.0], np.cumsum(np.asarray(counts, dtype=float))])
    asked, bounds = np.asarray(q, dtype=float), np.asarray(edges, dtype=float)
    if reached[-1] <= 0:
        return np.full(asked.shape, np.nan)
    held = np.diff(reached) > 0
    # Within empty bins the inverse of the distribution is ambiguous; they are omitted.
    knots = np.concatenate([reached[:-1][held], reached[1:][held]])
    places = np.concatenate([bounds[:-1][held], bounds[1:][held]])
    order = np.lexsort((places, knots))
    found: NDArray[np.float64] = np.interp(asked * reached[-1], knots[order], places[order])
    return found


def bootstrap_quantile(
    x: ArrayLike | Sequence[ArrayLike], q: float, *, resamples: int = RESAMPLES, seed: int = 1
) -> ValueInterval:
    """Quantile with its 95 % bootstrap interval.

    Parameters
    ----------
    x : array_like, shape (n,), or sequence of array_like
        Independent values; or one array per replication. Values within a replication may be correlated, as each
        replication is resampled as a whole.
    q : float [1]
    resamples, seed : int
        The same seed gives the same interval.

    Returns
    -------
    ValueInterval
        Quantile of all values together.

    Raises
    ------
    InputError
        If there are fewer than two values or replications, or q is not between 0 and 1.

    References
    ----------
    EfronTibshirani1993.

    Examples
    --------
    >>> bootstrap_quantile(np.arange(101.0), 0.5)
    ValueInterval(value=50.0, low=40.0, high=60.0)
    """
    units = [np.atleast_1d(np.asarray(unit, dtype=float)) for unit in x]  # type: ignore[union-attr]
    if len(units) < 2 or not 0 < q < 1:
        raise InputError(
            f"bootstrap: {count(len(units), 'value')} at q = {q:g}; needs two values or more and q between 0 and 1"
        )
    together = np.concatenate(units)
    order = np.argsort(together, kind="stable")
    ranked = together[order]
    owner = np.repeat(np.arange(len(units)), [unit.size for unit in units])[order]
    rng = np.random.default_rng(seed)
    found = np.empty(resamples)
    for i in range(resamples):
        times = np.bincount(rng.integers(0, len(units), len(units)), minlength=len(units))
        found[i] = _quantile(ranked, times[owner], q)
    low, high = np.quantile(found, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return ValueInterval(float(np.quantile(together, q)), float(low), float(high))


def _quantile(ranked: NDArray[np.float64], times: NDArray[np.int64], q: float) -> float:
    """Quantile of sorted values with multiplicities, interpolated as in `numpy.quantile`."""
    reached = np.cumsum(times)
    place = q * (reached[-1] - 1)
    below = int(place)
    low, high = ranked[np.searchsorted(reached, [below + 1, min(below + 2, reached[-1])])]
    return float(low + (high - low) * (place - below))
