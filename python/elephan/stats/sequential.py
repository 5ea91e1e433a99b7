"""Sequential sampling: add replications until an interval is tight enough.

Source: the sequential procedure of ChowRobbins1965 as LawKelton2000 use it (Section 9.4.1): after each batch of
replications, compare the half-width with the required one, and stop when it is small enough. Sampling stops early if
the sample variance happens to be small. The coverage is therefore slightly below the nominal 95 %. For normal data and
batches of five it is 93 % if about 15 replications are needed, and 94 % if 65 are. With two replications first and then
one at a time it is 88 %. The procedure does not correct this.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elephan.errors import InputError
from elephan.stats.interval import Estimate, estimate, t_quantile


def is_precise(found: Estimate, *, relative: float = 0.0, absolute: float = 0.0) -> bool:
    """Whether a half-width is small enough, relatively or absolutely.

    Parameters
    ----------
    found : Estimate
    relative : float [1]
        Largest half-width as a share of the mean's magnitude.
    absolute : float
        Largest half-width in the unit of the mean.

    Returns
    -------
    bool
        False with a single replication. True if the mean is NaN, as more replications would not change this.

    Examples
    --------
    >>> is_precise(Estimate(100.0, 0.9), relative=0.01), is_precise(Estimate(0.0, 0.9), relative=0.01)
    (True, False)
    """
    if math.isnan(found.mean):
        return True
    return found.ci95 is not None and found.ci95 <= max(relative * abs(found.mean), absolute)


def replications_needed(found: Estimate, replications: int, half_width: float) -> int:
    """Number of replications that a half-width requires, if the spread stays the same.

    Parameters
    ----------
    found : Estimate
    replications : int
        Number of replications from which `found` was computed, at least 2.
    half_width : float
        Required half-width in the unit of the mean, positive.

    Returns
    -------
    int
        Total number, including the given replications.

    Raises
    ------
    InputError
        If `found` has no half-width, if there are fewer than two replications, or if the required half-width is not
        positive.

    Examples
    --------
    >>> replications_needed(Estimate(10.0, 1.0), 5, 0.5)
    13
    """
    if found.ci95 is None or replications < 2:
        raise InputError("replications: must be at least 2, and their estimate must have a half-width")
    if not half_width > 0:
        raise InputError("half_width: must be above 0")
    spread = found.ci95 * math.sqrt(replications) / t_quantile(replications - 1)
    wanted = max(2, math.floor((spread / half_width) ** 2))
    while t_quantile(wanted - 1) * spread / math.sqrt(wanted) > half_width:
        wanted += 1
    return wanted


def sample_until(
    measure: Callable[[range], ArrayLike],
    *,
    relative: ArrayLike = 0.0,
    absolute: ArrayLike = 0.0,
    first: int = 5,
    step: int = 5,
    most: int = 100,
) -> tuple[NDArray[np.float64], bool]:
    """Add replications until the interval of every metric is tight enough.

    Parameters
    ----------
    measure : callable
        Takes the indices of the replications to run (a range) and returns their metrics, shape (replications, metrics).
    relative, absolute : array_like, shape () or (metrics,)
        As in `is_precise`.
    first, step, most : int
        Number of replications in the first batch, in each further batch, and at most. Batches do not depend on the
        number of parallel workers, so the result does not depend on it, either.

    Returns
    -------
    ndarray of float, shape (replications, metrics)
        Metrics of all replications.
    bool
        Whether every metric is precise.

    References
    ----------
    ChowRobbins1965, LawKelton2000.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> rows, met = sample_until(lambda numbers: rng.normal(10, 1, (len(numbers), 1)), relative=0.05)
    >>> len(rows), met
    (10, True)
    """
    done = min(first, most)
    rows = np.asarray(measure(range(done)), dtype=float)
    while True:
        metrics = rows.shape[1]
        wanted = zip(np.broadcast_to(relative, metrics), np.broadcast_to(absolute, metrics), strict=True)
        met = all(
            is_precise(estimate(column), relative=float(r), absolute=float(a))
            for column, (r, a) in zip(rows.T, wanted, strict=True)
        )
        if met or done >= most:
            return rows, met
        more = range(done, min(done + step, most))
        rows = np.vstack([rows, np.asarray(measure(more), dtype=float)])
        done = more.stop
