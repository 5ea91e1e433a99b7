"""Fairness indices, and max-min fair shares.

Source: Jain's index, Jain1984; max-min fair shares by progressive filling, BertsekasGallager1992.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.metrics.cards import metric

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@metric(
    "jain",
    "Jain's fairness index",
    definition="(sum x)^2 / (n sum x^2) of the goodputs x of n flows: 1 when all are equal, 1/n when one has all.",
    source="Jain1984",
)
def jain(x: ArrayLike) -> float:
    """Jain's fairness index: (sum x)^2 / (n sum x^2), 1 when all are equal and 1/n when one has all.

    Parameters
    ----------
    x : array_like, shape (n,)
        Rate of each flow, in any unit.

    Returns
    -------
    float [1]
        NaN if all values are zero.

    References
    ----------
    Jain1984.

    Examples
    --------
    >>> jain([1, 1, 1, 1]), jain([1, 0, 0, 0])
    (1.0, 0.25)
    """
    values = np.asarray(x, dtype=float)
    squares = float((values**2).sum())
    return float(values.sum()) ** 2 / (values.size * squares) if squares > 0 else float("nan")


@metric(
    "maxmin_share",
    "Max-min fair share",
    unit="bit/s",
    definition="The rates of which none can be raised without lowering one that is no larger: all rise together, and "
    "each stops where a link of its path is full or it has all that it wants.",
    source="BertsekasGallager1992",
)
def maxmin_shares(
    rates: Sequence[float], paths: Sequence[Sequence[int]], counts: Sequence[int], caps: Sequence[float]
) -> NDArray[np.float64]:
    """Max-min fair rate of a flow of each group, by progressive filling.

    Parameters
    ----------
    rates : sequence of float [bit/s], shape (links,)
    paths : sequence of sequences of int, shape (groups,)
        Links that each group crosses, as indices.
    counts : sequence of int, shape (groups,)
        Flows per group.
    caps : sequence of float [bit/s], shape (groups,)
        Maximum rate that a flow of the group can use; infinite if unlimited.

    Returns
    -------
    ndarray of float [bit/s], shape (groups,)

    References
    ----------
    BertsekasGallager1992.

    Examples
    --------
    The parking lot of two links: the long flow gets half of the narrow one.

    >>> maxmin_shares([10.0, 4.0], [[0, 1], [0], [1]], [1, 1, 1], [np.inf] * 3)
    array([2., 8., 2.])
    """
    left = np.asarray(rates, dtype=float).copy()
    share = np.zeros(len(paths))
    active = [g for g in range(len(paths)) if counts[g] > 0]
    while active:
        crossing = np.zeros(left.size)
        for g in active:
            crossing[list(paths[g])] += counts[g]
        used = crossing > 0
        room = np.full(left.size, np.inf)
        room[used] = np.maximum(left[used], 0.0) / crossing[used]
        rise = min(float(room.min(initial=np.inf)), min(caps[g] - share[g] for g in active))
        if not np.isfinite(rise):
            share[active] = np.inf
            break
        share[active] += rise
        left -= rise * crossing
        full = used & (room <= rise * (1 + 1e-12))
        active = [g for g in active if not full[list(paths[g])].any() and share[g] < caps[g] * (1 - 1e-12)]
    return share


@metric(
    "jain_maxmin",
    "Jain's index over max-min fair shares",
    definition="Jain's index of each goodput divided by the flow's max-min fair share.",
    source="Jain1984",
)
def jain_maxmin(x: ArrayLike, shares: ArrayLike) -> float:
    """Jain's index of the goodputs of flows, each divided by the flow's max-min fair share.

    Parameters
    ----------
    x : array_like, shape (n,) [bit/s]
    shares : array_like, shape (n,) [bit/s]

    Returns
    -------
    float [1]
        NaN if all values are zero.

    References
    ----------
    Jain1984.

    Examples
    --------
    >>> jain_maxmin([2.0, 8.0], [2.0, 8.0])
    1.0
    """
    return jain(np.asarray(x, dtype=float) / np.asarray(shares, dtype=float))
