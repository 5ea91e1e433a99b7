"""Monotone regression.

Source: pooling adjacent violators, Ayer1955.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def isotonic(y: ArrayLike, weights: ArrayLike, *, increasing: bool = True) -> NDArray[np.float64]:
    """Weighted least-squares fit by a monotone sequence.

    Parameters
    ----------
    y : array_like, shape (n,)
    weights : array_like, shape (n,)
        Positive.
    increasing : bool

    Returns
    -------
    ndarray of float, shape (n,)

    Notes
    -----
    A violating stretch is replaced by its weighted mean, and its first value was never below that mean (rising fits).
    So where a rising fit first reaches a level, the value itself reaches it too.

    References
    ----------
    Ayer1955.

    Examples
    --------
    >>> isotonic([1.0, 3.0, 2.0, 4.0], [1, 1, 1, 1])
    array([1. , 2.5, 2.5, 4. ])
    """
    blocks: list[tuple[float, float, int]] = []
    sign = 1.0 if increasing else -1.0
    for value, weight in zip(np.asarray(y, dtype=float), np.asarray(weights, dtype=float), strict=True):
        mean, mass, size = sign * float(value), float(weight), 1
        while blocks and blocks[-1][0] >= mean:
            before, its_mass, its_size = blocks.pop()
            mean = (before * its_mass + mean * mass) / (its_mass + mass)
            mass, size = mass + its_mass, size + its_size
        blocks.append((mean, mass, size))
    return sign * np.repeat([b[0] for b in blocks], [b[2] for b in blocks])
