"""End of the warm-up of a series, by the rule MSER-5.

Source: White1997 and, with means of five values, WhiteCobbSpratt2000: cut the series where the standard error of the
mean of the remaining values is smallest. A minimum in the second half is rejected (FranklinWhite2008): most of the
series would then be warm-up, so a longer series is needed. Cuts that leave less than a tenth are not considered: few
remaining values can be equal by chance, which makes their standard error small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

BATCH = 5
"""Number of values per batch."""

FEWEST = 10
"""Minimum number of batches."""

KEPT = 0.1
"""Minimum share of the series that must remain after a cut."""


def mser5(x: ArrayLike) -> int | None:
    """Number of values at the beginning of a series that belong to the warm-up.

    Parameters
    ----------
    x : array_like, shape (n,)
        Values at equal intervals. Values after the last complete batch of five are ignored.

    Returns
    -------
    int or None
        A multiple of five, at most half of the series; None if there is no valid truncation: the series is too short
        (less than 50 values) or does not settle in its first half.

    References
    ----------
    White1997, WhiteCobbSpratt2000, FranklinWhite2008.

    Examples
    --------
    >>> settled = np.random.default_rng(1).normal(0, 1, 400)
    >>> mser5(np.concatenate([np.linspace(20, 0, 100), settled]))
    100
    >>> mser5(np.linspace(20, 0, 500)) is None
    True
    """
    values = np.asarray(x, dtype=float)
    batches = values.size // BATCH
    if batches < FEWEST:
        return None
    means = values[: batches * BATCH].reshape(batches, BATCH).mean(axis=1)
    # Subtract the mean, so that the differences of large sums below do not lose digits.
    means -= means.mean()
    left = np.arange(batches, 0, -1)
    tails = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum(means[::-1] ** 2)[::-1]
    error = np.maximum(squares - tails**2 / left, 0.0) / left**2
    cut = int(np.argmin(error[left >= KEPT * batches]))
    return cut * BATCH if cut <= batches // 2 else None
