"""Extremes above a sample's largest value: a generalised Pareto distribution fitted to the sample's tail.

Source: J. R. M. Hosking, J. R. Wallis, Parameter and quantile estimation for the generalized Pareto distribution,
Technometrics 29(3), 1987: probability-weighted moments, which suit small samples better than maximum likelihood.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

TAIL = 0.25
"""Share of the sample that counts as its tail."""

FEWEST = 25
"""Smallest number of values of a tail to which the distribution is fitted."""

RESAMPLES = 400
"""Number of bootstrap samples. The ends of the interval are their 2.5 % and 97.5 % quantiles."""


class TailEstimate(NamedTuple):
    """Value that one of many draws exceeds on average.

    Parameters
    ----------
    level : float
    low, high : float
        Interval of 95 %, by bootstrap.
    end : float
        Upper end of the fitted distribution; infinite if its shape parameter is not below 0.
    """

    level: float
    low: float
    high: float
    end: float


def upper_tail(values: ArrayLike, draws: float, *, seed: int = 0) -> TailEstimate | None:
    """Estimate the value that one of many draws exceeds.

    Parameters
    ----------
    values : array_like, shape (n,)
        Independent draws.
    draws : float
        Number of draws of which one exceeds the level.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    TailEstimate or None
        None if the tail has too few values, or all are equal.

    Examples
    --------
    >>> found = upper_tail(np.linspace(0, 1, 401), 10_000)
    >>> round(found.level, 2), round(found.end, 2)
    (1.0, 1.0)
    """
    sample = np.sort(np.asarray(values, dtype=float))
    if sample.size * TAIL < FEWEST or sample[0] == sample[-1]:
        return None
    level, end = _fit(sample, draws)
    random = np.random.default_rng(seed)
    again = [_fit(np.sort(random.choice(sample, sample.size)), draws)[0] for _ in range(RESAMPLES)]
    low, high = np.quantile(again, [0.025, 0.975])
    return TailEstimate(level, float(low), float(high), end)


def _fit(sample: NDArray[np.float64], draws: float) -> tuple[float, float]:
    """Return the level that one of `draws` draws exceeds, and the upper end, both fitted to a sorted sample."""
    count = max(FEWEST, round(TAIL * sample.size))
    start, tail = sample[-count - 1], sample[-count:] - sample[-count - 1]
    below = (np.arange(1, count + 1) - 0.35) / count
    first, second = float(tail.mean()), float(((1 - below) * tail).mean())
    if first <= 0 or first == 2 * second:
        return float(sample[-1]), float(sample[-1])
    # In the paper's notation k = -shape.
    shape = 2 - first / (first - 2 * second)
    scale = 2 * first * second / (first - 2 * second)
    more = draws * count / sample.size
    level = scale * (np.log(more) if abs(shape) < 1e-9 else (more**shape - 1) / shape)
    end = start - scale / shape if shape < 0 else np.inf
    return float(start + level), float(end)
