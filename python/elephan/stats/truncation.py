"""Where the warm-up of a series ends, by the rule MSER-5.

Source: White1997 and, with means of five values, WhiteCobbSpratt2000: cut where the standard error of the mean of what
remains is smallest. Minima in the second half are ignored, as FranklinWhite2008 say: few values are left there, and
neighbours are alike by chance. If the best cut is the last one that is allowed, the series was still getting better by
being cut, and there is no valid truncation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BATCH = 5
"""Values to a batch."""

FEWEST = 10
"""Batches below which nothing is said."""


def mser5(x: ArrayLike) -> int | None:
    """How many values at the beginning of a series are warm-up.

    Parameters
    ----------
    x : array_like, shape (n,)
        Evenly spaced. Values beyond the last whole batch of five are not looked at.

    Returns
    -------
    int or None
        A multiple of five, at most half of the series; None if there is no valid truncation: the series is too short
        (less than 50 values) or not yet settled in its first half.

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
    # Around their mean, so that the differences of large sums below keep their digits.
    means -= means.mean()
    left = np.arange(batches, 0, -1)
    tails = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum(means[::-1] ** 2)[::-1]
    error = np.maximum(squares - tails**2 / left, 0.0) / left**2
    allowed = batches // 2
    cut = int(np.argmin(error[: allowed + 1]))
    return None if cut == allowed else cut * BATCH
