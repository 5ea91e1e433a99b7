"""Comparison of two variants under common random numbers: the interval of their difference.

Source: LawKelton2000, Section 11.2. Variants of a scenario with the same seed share their draws in each replication, so
effects that the draws have on both cancel in the difference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elephan.errors import InputError
from elephan.stats.interval import Estimate, estimate
from elephan.units import count


class PairedDifference(NamedTuple):
    """The difference of two variants.

    ``difference``: mean of first - second, with its half-width. ``correlation`` of the two over replications.
    ``variance_reduction``: variance of the difference with independent draws over that with common ones, the factor by
    which more replications would be needed without pairing. NaN if all differences are equal.
    """

    difference: Estimate
    correlation: float
    variance_reduction: float


def paired(first: ArrayLike, second: ArrayLike) -> PairedDifference:
    """Compare two variants replication by replication.

    Parameters
    ----------
    first, second : array_like, shape (replications,)
        The same metric of both variants, in the same order of replications.

    Returns
    -------
    PairedDifference

    Raises
    ------
    InputError
        If the numbers of replications differ.

    References
    ----------
    LawKelton2000.

    Examples
    --------
    >>> found = paired([1.0, 2.0, 3.0, 4.0], [1.1, 2.0, 3.1, 4.2])
    >>> found.difference
    Estimate(mean=-0.1..., ci95=0.12...)
    >>> round(found.variance_reduction)
    521
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if x.shape != y.shape or x.ndim != 1:
        sizes = f"{count(x.size, 'replication')} and {y.size}"
        raise InputError(f"paired: {sizes} cannot be paired; both need the same ones")
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    difference = estimate(x - y)
    if x.size < 2:
        return PairedDifference(difference, float("nan"), float("nan"))
    apart = float(x.var(ddof=1) + y.var(ddof=1))
    together = float((x - y).var(ddof=1))
    spread = float(x.std(ddof=1) * y.std(ddof=1))
    correlation = (apart - together) / (2 * spread) if spread > 0 else float("nan")
    return PairedDifference(difference, correlation, apart / together if together > 0 else float("nan"))
