"""Correlation of a series with itself: autocorrelation and effective sample size.

Source: Geyer1992: autocorrelations are summed up to the first neighbouring pair whose sum is not positive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def autocorrelation(x: ArrayLike, lags: int | None = None) -> NDArray[np.float64]:
    """Autocorrelation of a series at the lags from 0 on.

    Parameters
    ----------
    x : array_like, shape (n,)
    lags : int, optional
        The largest lag; n - 1 by default.

    Returns
    -------
    ndarray of float, shape (lags + 1,)
        Sums are divided by n at every lag, which makes the result positive definite. For a constant series, 1 at lag 0
        and 0 elsewhere.

    Examples
    --------
    >>> autocorrelation([1.0, -1.0, 1.0, -1.0], 1)
    array([ 1.  , -0.75])
    """
    values = np.asarray(x, dtype=float)
    most = values.size - 1 if lags is None else min(lags, values.size - 1)
    centred = values - values.mean()
    # Padded to twice the length, so that the convolution is not circular.
    spectrum = np.fft.rfft(centred, 2 * values.size)
    sums = np.fft.irfft(np.abs(spectrum) ** 2, 2 * values.size)[: most + 1]
    found = np.zeros(most + 1)
    found[0] = 1.0
    # The difference of a constant series and its mean consists of rounding errors.
    if sums[0] > values.size * (1e-12 * np.abs(values).max(initial=0.0)) ** 2:
        found = sums / sums[0]
    return found


def effective_size(x: ArrayLike) -> float:
    """Effective sample size: number of independent values whose mean would be as uncertain as that of the series.

    Parameters
    ----------
    x : array_like, shape (n,)
        Stationary.

    Returns
    -------
    float
        From 1 to n. For an alternating series, whose mean is more precise, it is n.

    References
    ----------
    Geyer1992.

    Examples
    --------
    >>> effective_size([1.0, 1.0, 1.0, 5.0, 5.0, 5.0]) < 6
    True
    """
    rho = autocorrelation(x)
    n = rho.size
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    last = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else pairs.size
    memory = 2 * float(pairs[:last].sum()) - 1
    return float(min(n, max(1.0, n / memory))) if memory > 0 else float(n)
