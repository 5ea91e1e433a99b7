"""Monotone regression.

Source: pooling adjacent violators, Ayer1955; SciPy's `isotonic_regression`.
"""

from __future__ import annotations

import numpy as np
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
    A stretch of values that is not monotone is replaced by its weighted mean. In a rising fit, the first value of the
    stretch is at least this mean. Therefore, where a rising fit first reaches a level, ``y`` itself reaches it, too.

    References
    ----------
    Ayer1955.

    Examples
    --------
    >>> isotonic([1.0, 3.0, 2.0, 4.0], [1, 1, 1, 1])
    array([1. , 2.5, 2.5, 4. ])
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 (slow to import; only a search for a buffer needs it)

    values, masses = np.asarray(y, dtype=float), np.asarray(weights, dtype=float)
    fit: NDArray[np.float64] = isotonic_regression(values, weights=masses, increasing=increasing).x
    return fit
