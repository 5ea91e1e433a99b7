"""Packets in flight over time: mean, cuts and the time between them, in the same way of simulated and real flows.

Cuts are found in the series after a running median: what was sent and not acknowledged rises for a round trip after a
loss, until its repair is acknowledged, and a link may hand over several packets at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP_S = 0.02
"""Interval of the resampled series [s]: shorter than a round trip of any set."""

SMOOTH_S = 0.5
"""Width of the running median [s]: more than twice the longest round trip, so that repairs of losses make no peaks."""

FEWEST = 4
"""Smallest number of cuts that have a median."""

LEAST_CUT = 0.1
"""Smallest fall, as a share of the peak, that is a cut."""


@dataclass(frozen=True)
class Window:
    """Packets in flight at equal intervals of `STEP_S`.

    Parameters
    ----------
    packets : ndarray, shape (samples,)
    """

    packets: NDArray[np.float64]

    def mean(self) -> float:
        """Return the mean over time."""
        return float(self.packets.mean())


@dataclass(frozen=True)
class Cuts:
    """Cuts of a window.

    Parameters
    ----------
    ratio : float
        Median of the valley over the peak before it; NaN with fewer than `FEWEST` cuts.
    period : float [s]
        Median time between peaks; NaN with fewer than `FEWEST` cuts.
    count : int
    """

    ratio: float
    period: float
    count: int


def resampled(time_s: NDArray[np.float64], packets: NDArray[np.float64], begin: float, end: float) -> Window:
    """Return a step function at equal intervals.

    Parameters
    ----------
    time_s, packets : ndarray, shape (events,)
        In order of time; each value holds until the next.
    begin, end : float [s]

    Examples
    --------
    >>> resampled(np.array([0.0, 0.03]), np.array([1.0, 2.0]), 0.0, 0.08).packets
    array([1., 1., 2., 2.])
    """
    grid = np.arange(begin, end - STEP_S / 2, STEP_S)
    at = np.clip(np.searchsorted(time_s, grid, side="right") - 1, 0, None)
    return Window(np.asarray(packets, dtype=float)[at])


def cuts(window: Window) -> Cuts:
    """Find the cuts of a window.

    Examples
    --------
    >>> saw = Window(np.tile(np.linspace(50.0, 100.0, 500), 8))
    >>> found = cuts(saw)
    >>> found.count, round(found.period, 1), round(found.ratio, 1)
    (7, 10.0, 0.5)
    """
    width = round(SMOOTH_S / STEP_S)
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(window.packets, width), axis=1)
    peaks, valleys = [], []
    high, low, at, falling = -np.inf, np.inf, 0, False
    for i, x in enumerate(smooth):
        if not falling:
            if x > high:
                high, at = float(x), i
            if x < (1 - LEAST_CUT) * high:
                falling, low = True, float(x)
                peaks.append((at, high))
        else:
            low = min(low, float(x))
            if x > low + LEAST_CUT / 2 * high:
                falling = False
                valleys.append(low)
                high, at = float(x), i
    if len(valleys) < FEWEST:
        return Cuts(np.nan, np.nan, len(valleys))
    ratios = [valley / peak for valley, (_, peak) in zip(valleys, peaks, strict=False)]
    gaps = np.diff([at for at, _ in peaks]) * STEP_S
    return Cuts(float(np.median(ratios)), float(np.median(gaps)), len(valleys))


def peaks(time_s: NDArray[np.float64], cwnd: NDArray[np.float64]) -> tuple[float, float]:
    """Return the median of a congestion window before its cuts, and the median time between these [s].

    A cut ends where the window grows again; NaN with fewer than two.

    Examples
    --------
    >>> peaks(np.arange(6.0), np.array([8.0, 9.0, 5.0, 6.0, 9.0, 5.0]))
    (9.0, 3.0)
    """
    tops: list[float] = []
    times: list[float] = []
    high, low, at, falling = -np.inf, np.inf, 0.0, False
    for t, w in zip(time_s, cwnd, strict=True):
        if falling:
            falling = w <= low
            low = min(low, w)
            high, at = (high, at) if falling else (w, t)
        elif w >= high:
            high, at = w, t
        elif w < (1 - LEAST_CUT) * high:
            tops.append(high)
            times.append(at)
            falling, low = True, w
    if len(tops) < 2:
        return float("nan"), float("nan")
    return float(np.median(tops)), float(np.median(np.diff(times)))
