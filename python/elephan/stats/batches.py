"""Mean of one long, correlated series with its interval, by non-overlapping batch means.

Source: Schmeiser1982: 10 to 30 batches lose little precision, and more are seldom useful. A batch must be long compared
with the correlation time of the series: it must contain several periods of a sawtooth. If even 10 batches are
correlated, `BatchMeans.is_settled` is False: the interval is too short, or too long if batch means alternate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elephan.errors import InputError
from elephan.stats.correlation import autocorrelation
from elephan.stats.interval import Estimate, estimate

BATCHES = (30, 20, 10)
"""Numbers of batches to try, the largest first."""


class BatchMeans(NamedTuple):
    """Mean of a series by batches.

    ``mean``, ``ci95`` (half-width), ``batches``, ``size`` (values in each), and ``lag1``: the correlation of
    neighbouring batch means.
    """

    mean: float
    ci95: float
    batches: int
    size: int
    lag1: float

    @property
    def is_settled(self) -> bool:
        """Whether the batch means are uncorrelated by a test at 5 %, so that the interval is valid."""
        return abs(self.lag1 + 1 / self.batches) <= 1.96 / math.sqrt(self.batches)

    @property
    def estimate(self) -> Estimate:
        """Mean and half-width only."""
        return Estimate(self.mean, self.ci95)


def batch_means(x: ArrayLike, batches: int | None = None) -> BatchMeans:
    """Mean of a stationary series and its interval.

    Parameters
    ----------
    x : array_like, shape (n,)
        Evenly spaced in time, or one value per customer, without warm-up. If the length is not a multiple of the number
        of batches, values at the beginning are omitted.
    batches : int, optional
        Number of batches; by default the largest of `BATCHES` whose means are uncorrelated, or else the smallest.

    Returns
    -------
    BatchMeans

    Raises
    ------
    InputError
        If there are fewer than two values per batch, or fewer than two batches.

    References
    ----------
    Schmeiser1982.

    Examples
    --------
    >>> batch_means(np.random.default_rng(1).normal(5, 1, 3000))
    BatchMeans(mean=4.99..., ci95=0.04..., batches=30, size=100, lag1=-0.01...)
    """
    values = np.asarray(x, dtype=float)
    fewest = batches if batches is not None else BATCHES[-1]
    if fewest < 2 or values.size < 2 * fewest:
        message = f"batches: {values.size} values do not make {fewest} batches of two; at least 2 batches are needed"
        raise InputError(message)
    tried = (batches,) if batches is not None else tuple(b for b in BATCHES if values.size >= 2 * b)
    for count in tried:
        size = values.size // count
        means = values[values.size - count * size :].reshape(count, size).mean(axis=1)
        mean, ci95 = estimate(means)
        found = BatchMeans(mean, ci95 or 0.0, count, size, float(autocorrelation(means, 1)[1]))
        if found.is_settled:
            break
    return found
