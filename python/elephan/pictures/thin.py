"""Downsampling of long series that preserves their look: the lowest and the highest point of each interval are kept."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def thin(x: NDArray[np.float64], y: NDArray[np.float64], most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep the lowest and the highest point of each of several equal intervals, and both ends.

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        Points in order of x. NaN is omitted if an interval has other values.
    most : int
        Points to keep, at least four.

    Returns
    -------
    x, y : ndarray, shape (at most `most`,)
        The points themselves, in order; all of them if they are few enough.

    Examples
    --------
    >>> x = np.arange(1000.0)
    >>> y = np.where(x == 500, 9.0, np.sin(x))
    >>> few, kept = thin(x, y, 20)
    >>> few.size <= 20, float(kept.max())
    (True, 9.0)
    """
    if x.size <= most:
        return x, y
    stretches = max(1, most // 2 - 1)
    edges = np.linspace(0, x.size, stretches + 1).astype(int)
    known = np.isfinite(y)
    low, high = np.where(known, y, np.inf), np.where(known, y, -np.inf)
    keep = {0, x.size - 1}
    for begin, end in pairwise(edges.tolist()):
        keep.update((begin + int(low[begin:end].argmin()), begin + int(high[begin:end].argmax())))
    chosen = np.array(sorted(keep))
    return x[chosen], y[chosen]
