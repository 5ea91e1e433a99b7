"""The sawtooth of a window over time: period, maximum and minimum, computed in the same way for all samples.

BBR has no cuts: its period is the time between two phases of ProbeRTT, its maximum the mean window between them.

*Source*: none. A cut is a fall of the sampled window by at least a given share, at most once per recovery.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CUT = 0.07
"""Smallest relative fall of the window that counts as a cut; the laws here reduce it by at least a tenth."""

PROBE_RTT = 0.7
"""Smallest relative fall of a BBR window that counts as ProbeRTT: from two bandwidth-delay products to four segments
(version 1) or to half a product (version 3). In recovery it falls to about one."""

SETTLED = 3.0
"""Round-trip times after a cut until recovery is over and the window has its reduced value."""


@dataclass(frozen=True)
class SawtoothStatistics:
    """Statistics of the sawtooth of one window.

    Parameters
    ----------
    cuts : int
    period_s : float [s]
        Mean time between cuts; NaN with fewer than two.
    high, low : float [segments]
        Mean window before a cut, and after recovery from it; NaN without any.
    """

    cuts: int
    period_s: float
    high: float
    low: float


def sawtooth_statistics(time_s: Floats, window: Floats, rtt_s: float, *, bbr: bool = False) -> SawtoothStatistics:
    """Measure the sawtooth of a window.

    Parameters
    ----------
    time_s : ndarray, shape (samples,)
    window : ndarray, shape (samples,) [segments]
    rtt_s : float [s]
        Round-trip time, with its usual queueing delay.
    bbr : bool
        Measure phases of ProbeRTT instead of cuts: the time between them, the mean window between them, and the mean of
        the windows in them.

    Returns
    -------
    SawtoothStatistics

    Examples
    --------
    >>> t = np.arange(0, 40, 0.1)
    >>> sawtooth_statistics(t, 100 + 10 * (t % 10), 0.1)
    SawtoothStatistics(cuts=3, period_s=10.0, high=199.0, low=103.0)
    """
    known = np.isfinite(window)
    time_s, window = time_s[known], window[known]
    if bbr:
        return _probe_rtt(time_s, window)
    cuts, highs, lows = [], [], []
    top, quiet_until = 0.0, -np.inf
    for i in range(window.size):
        if time_s[i] < quiet_until:
            continue
        if window[i] < (1.0 - CUT) * top:
            cuts.append(float(time_s[i]))
            highs.append(top)
            quiet_until = time_s[i] + SETTLED * rtt_s
            after = np.searchsorted(time_s, quiet_until)
            if after < window.size:
                lows.append(float(window[after]))
                top = lows[-1]
            continue
        top = max(top, float(window[i]))
    period = (cuts[-1] - cuts[0]) / (len(cuts) - 1) if len(cuts) > 1 else np.nan
    return SawtoothStatistics(len(cuts), float(period), _mean(highs), _mean(lows))


def _probe_rtt(time_s: Floats, window: Floats) -> SawtoothStatistics:
    """Measure the phases in which the window is below its median by `PROBE_RTT`.

    Examples
    --------
    >>> t = np.arange(0, 40, 0.1)
    >>> _probe_rtt(t, np.where(t % 10 < 0.25, 4.0, 100.0))
    SawtoothStatistics(cuts=3, period_s=10.0, high=100.0, low=4.0)
    """
    low = window < (1.0 - PROBE_RTT) * (np.median(window) if window.size else np.nan)
    begins = time_s[1:][low[1:] & ~low[:-1]]
    period = float(np.diff(begins).mean()) if begins.size > 1 else np.nan
    return SawtoothStatistics(int(begins.size), period, _mean(window[~low].tolist()), _mean(window[low].tolist()))


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
