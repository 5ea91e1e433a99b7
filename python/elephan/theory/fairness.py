"""Fairness between round-trip times with synchronised losses: the time that a flow needs to recover from a loss.

Source: PhillipsHu2006; its equations are named where they are used. Differs from the source: a and b of equations (1)
to (3) are used by the normalised law at any window above 0, without HSTCP's a = 1, b = 1/2 below 38 segments. The paper
does not state this, but its own limits follow only with this assumption.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elephan.errors import InputError
from elephan.theory import controls, laws

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Law = Callable[[Array, Array, Array], tuple[Array, Array]]
"""Function of window [segments], RTT [s] and MSS [bytes] that returns a(w) [segments per RTT] and b(w) [1]."""

Method = Literal["integral", "steps", "crude"]
"""Computation of a recovery time: an integral (fluid); a(w) added once per round trip; or w b(w) / a(w) round trips."""

RTT0_S = 0.1
LOW_WINDOW, HIGH_DECREASE = laws.LOW_WINDOW, laws.HIGH_DECREASE
_PANELS = 1024


def reno(window: Array, rtt_s: Array, mss_bytes: Array) -> tuple[Array, Array]:
    """Standard TCP: one segment per round trip, half the window.

    Parameters
    ----------
    window : ndarray of float [segments]
    rtt_s : ndarray of float [s]
    mss_bytes : ndarray of float [bytes]
        Not used.

    Returns
    -------
    a : ndarray of float [segments per RTT], broadcast shape
    b : ndarray of float [1], broadcast shape

    References
    ----------
    PhillipsHu2006.

    Examples
    --------
    >>> [float(x) for x in reno(np.array(100.0), np.array(0.1), np.array(1500.0))]
    [1.0, 0.5]
    """
    shape = np.broadcast_shapes(np.shape(window), np.shape(rtt_s), np.shape(mss_bytes))
    return np.ones(shape), np.full(shape, 0.5)


def highspeed(window: Array, rtt_s: Array, mss_bytes: Array) -> tuple[Array, Array]:
    """HighSpeed TCP: equations (1) to (3), standard TCP up to 38 segments, and b of at least a tenth.

    Parameters
    ----------
    window : ndarray of float [segments]
    rtt_s : ndarray of float [s]
    mss_bytes : ndarray of float [bytes]
        Not used.

    Returns
    -------
    a : ndarray of float [segments per RTT], broadcast shape
    b : ndarray of float [1], broadcast shape

    References
    ----------
    PhillipsHu2006.

    Examples
    --------
    >>> [round(float(x), 3) for x in highspeed(np.array(20000.0), np.array(0.25), np.array(1500.0))]
    [41.029, 0.174]
    """
    w = np.broadcast_arrays(np.asarray(window, dtype=float), rtt_s, mss_bytes)[0]
    law = laws.highspeed("rfc")
    return law.increase(w), np.maximum(law.decrease(w), laws.HIGH_DECREASE)


def normalised(window: Array, rtt_s: Array, mss_bytes: Array) -> tuple[Array, Array]:
    """NR-HSTCP: a and b at the window of a flow of the same rate with 100 ms and 1500 bytes.

    Parameters
    ----------
    window : ndarray of float [segments]
    rtt_s : ndarray of float [s]
    mss_bytes : ndarray of float [bytes]

    Returns
    -------
    a : ndarray of float [segments per RTT], broadcast shape
        Within [1, window], or 1 below one segment.
    b : ndarray of float [1], broadcast shape
        Within [0.1, 0.5].

    References
    ----------
    PhillipsHu2006, equations (5) to (9).

    Examples
    --------
    >>> [round(float(x), 4) for x in normalised(np.array(1000.0), np.array(0.2), np.array(1500.0))]
    [20.1604, 0.3659]
    """
    w, rtt, mss = np.broadcast_arrays(np.asarray(window, dtype=float), rtt_s, mss_bytes)
    law = laws.nr_hstcp(mss)
    return law.increase(w, rtt), law.decrease(w, rtt)


READINGS: dict[str, Law] = {"highspeed": highspeed, "nr-hstcp": normalised, "reno": reno}
"""Laws in the paper's version, by name."""

PAPERS = "phillips-hu"
"""Name of the paper's version of HighSpeed in models: p(w) = 0.078 / w^1.2 (rounded), and b of at least 0.1."""

LAWS = ("highspeed", "nr-hstcp", "reno", "constant-rate", "hybla", "scalable", "tabulated")
"""Laws whose growth is a function of the window and of the round-trip time."""


def law(name: str) -> Law:
    """Return a(w) and b(w) of the engine's law, or of the paper's HighSpeed.

    Parameters
    ----------
    name : str
        `PAPERS`, or a law in the form of `controls.write`. For ``nr-hstcp`` without `mss` in the name, the MSS is that
        of the flow.

    Returns
    -------
    callable
        See `Law`.

    Raises
    ------
    InputError
        If the law does not exist, or its growth is not a function of window and RTT.

    References
    ----------
    That of the law; `reno`, `highspeed` and `normalised` are the paper's own versions.

    Examples
    --------
    >>> float(recovery_time(law("scalable"), 1e9, 0.1).round(2))
    1.34
    """
    if name == PAPERS:
        return READINGS["highspeed"]
    if controls.kind(name) not in LAWS:
        message = f'fairness: "{name}" has no growth that depends on the window alone; there are {", ".join(LAWS)}'
        raise InputError(message)
    given = controls.control(name)
    asked = laws.response(name)
    sized = given["law"] == "nr-hstcp" and "mss" not in given

    def both(window: Array, rtt_s: Array, mss_bytes: Array) -> tuple[Array, Array]:
        w, rtt, mss = np.broadcast_arrays(np.asarray(window, dtype=float), rtt_s, mss_bytes)
        if not sized:
            return asked.increase(w, rtt), asked.decrease(w, rtt)
        a, b = np.empty(w.shape), np.empty(w.shape)
        for size in np.unique(mss).tolist():
            here, own = mss == size, laws.response(controls.write(given | {"mss": size}))
            a[here], b[here] = own.increase(w[here], rtt[here]), own.decrease(w[here], rtt[here])
        return a, b

    return both


def recovery_time(
    law: Law, rate_bps: ArrayLike, rtt_s: ArrayLike, mss_bytes: ArrayLike = 1500.0, method: Method = "integral"
) -> NDArray[np.float64]:
    """Time in congestion avoidance from (1 - b(w)) w back to w, the window of a given rate.

    Parameters
    ----------
    law : callable
        See `Law`.
    rate_bps : array_like [bit/s]
        Rate at which the loss occurs.
    rtt_s : array_like [s]
        Constant RTT, without queueing.
    mss_bytes : array_like [bytes]
        All three are broadcast.
    method : {"integral", "steps", "crude"}
        RTT x integral of dw / a(w); whole round trips of w += a(w) until w is back; or RTT w b(w) / a(w).

    Returns
    -------
    ndarray of float [s], broadcast shape

    Raises
    ------
    InputError
        If a rate, RTT or MSS is not above 0, or the law does not grow.

    References
    ----------
    PhillipsHu2006, Figure 1. The integral is a trapezoidal sum over the logarithm of the window.

    Examples
    --------
    >>> recovery_time(highspeed, 1e9, [0.0875, 0.1, 0.1125, 0.125]).round(3)
    array([6.306, 7.407, 8.538, 9.694])
    >>> recovery_time(normalised, 1e9, [0.075, 0.1, 0.15, 0.25]).round(3)
    array([7.407, 7.407, 7.407, 7.407])
    """
    given = (np.asarray(value, dtype=float) for value in (rate_bps, rtt_s, mss_bytes))
    rate, rtt, mss = (np.array(value) for value in np.broadcast_arrays(*given))
    if not (np.all(rate > 0) and np.all(rtt > 0) and np.all(mss > 0)):
        raise InputError("rate_bps, rtt_s, mss_bytes: must be above 0")
    return _recovery(law, rate, rtt, mss, method, math.inf)


def _recovery(law: Law, rate: Array, rtt: Array, mss: Array, method: Method, limit: float) -> Array:
    """Return the recovery time for checked arrays of one shape; steps are counted up to a limit of round trips."""
    window = rate * rtt / 8 / mss
    a, b = law(window, rtt, mss)
    if np.any(~(a > 0)) or np.any(~((b > 0) & (b < 1))):
        raise InputError("law: a must be above 0 and b strictly between 0 and 1")
    if method == "crude":
        return np.asarray(rtt * window * b / a)
    if method == "steps":
        return np.asarray(rtt * _rounds(law, window, b, rtt, mss, limit))
    depth = -np.log1p(-b)[..., np.newaxis] * np.linspace(1.0, 0.0, _PANELS + 1)
    x = window[..., np.newaxis] * np.exp(-depth)
    growth, _ = law(x, rtt[..., np.newaxis], mss[..., np.newaxis])
    return np.asarray(rtt * np.trapezoid(x / growth, -depth, axis=-1))


def _rounds(law: Law, window: Array, decrease: Array, rtt: Array, mss: Array, limit: float) -> Array:
    """Count the round trips until the window has recovered, at least one; each adds a(w). Infinite beyond the limit."""
    w = np.array((1 - decrease) * window)
    rounds = np.zeros(w.shape)
    below = np.ones(w.shape, dtype=bool)
    while below.any():
        a, _ = law(w, rtt, mss)
        w = np.where(below, w + a, w)
        rounds += below
        # Tolerance of a millionth of a segment for rounding errors.
        below = below & (w < window - 1e-6)
        if rounds.max() > limit:
            return np.where(below, np.inf, rounds)
    return rounds


def share(
    law: Law,
    period_s: ArrayLike,
    rtt_s: ArrayLike,
    mss_bytes: ArrayLike = 1500.0,
    method: Method = "integral",
    bounds_bps: tuple[float, float] = (1e4, 1e10),
) -> NDArray[np.float64]:
    """Rate of a flow under periodic losses: the largest rate to which it recovers within a period.

    Parameters
    ----------
    law : callable
        See `Law`; recovery must take longer at a higher rate.
    period_s : array_like [s]
        Time between synchronised losses.
    rtt_s : array_like [s]
    mss_bytes : array_like [bytes]
        All three are broadcast.
    method : {"integral", "steps", "crude"}
        As in `recovery_time`.
    bounds_bps : tuple of float [bit/s]
        Range in which the rate is searched.

    Returns
    -------
    ndarray of float [bit/s], broadcast shape
        NaN if the rate is outside the bounds.

    Raises
    ------
    InputError
        As in `recovery_time`.

    References
    ----------
    PhillipsHu2006 (losses every 4 s, its worked example).

    Examples
    --------
    >>> (share(highspeed, 4.0, [0.0875, 0.1, 0.1125, 0.125]) / 1e6).round(1)
    array([108.9,  49.6,  24.8,  13.3])
    """
    given = (np.asarray(value, dtype=float) for value in (period_s, rtt_s, mss_bytes))
    period, rtt, mss = np.broadcast_arrays(*given)

    if not (np.all(rtt > 0) and np.all(mss > 0)):
        raise InputError("rtt_s, mss_bytes: must be above 0")
    # This exceeds the number of round trips in the longest period.
    limit = float(np.max(period / rtt, initial=0.0)) + 1

    def within(log_rate: Array) -> NDArray[np.bool_]:
        return np.asarray(_recovery(law, np.exp(log_rate), rtt, mss, method, limit) <= period)

    low, high = (np.full(period.shape, np.log(bound)) for bound in bounds_bps)
    found = within(low) & ~within(high)
    for _ in range(48):  # the range of 14 in ln(rate) is halved down to 1e-13
        middle = (low + high) / 2
        short = within(middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.where(found, np.exp(low), np.nan)


class Convergence(NamedTuple):
    """Violations of condition (4) among pairs of flows."""

    violations: float
    """Share of pairs of flows with different rates that violate the condition [1]."""
    worst_ratio: float
    """Largest ratio of rates of a pair in which the faster flow recovers first [1]; 1 without such a pair."""
    worst: tuple[float, float, float, float] | None
    """The pair with this ratio: rate [bit/s] and RTT [s] of the faster flow, then of the slower."""


def convergence(law: Law, rates_bps: ArrayLike, rtts_s: ArrayLike, mss_bytes: float = 1500.0) -> Convergence:
    """Check for every pair of flows that the slower one recovers first, so that synchronised losses equalize the rates.

    Parameters
    ----------
    law : callable
        See `Law`.
    rates_bps : array_like [bit/s], shape (r,)
    rtts_s : array_like [s], shape (t,)
        RTTs; every rate is combined with every RTT.
    mss_bytes : float [bytes]

    Raises
    ------
    InputError
        As in `recovery_time`, or if all rates are equal.

    References
    ----------
    PhillipsHu2006, equation (4): t(A) < t(B) if and only if X_A < X_B.

    Examples
    --------
    >>> rates = [30e6, 100e6, 300e6, 1e9]
    >>> convergence(normalised, rates, [0.075, 0.25]).violations
    0.0
    >>> round(convergence(highspeed, rates, [0.075, 0.25]).worst_ratio)
    33
    """
    rates, rtts = np.meshgrid(np.asarray(rates_bps, dtype=float), np.asarray(rtts_s, dtype=float), indexing="ij")
    x, rtt = rates.ravel(), rtts.ravel()
    times = recovery_time(law, x, rtt, mss_bytes)
    faster = x[:, np.newaxis] > x[np.newaxis, :]
    if not faster.any():
        raise InputError("rates_bps: must hold two different rates")
    broken = faster & (times[:, np.newaxis] <= times[np.newaxis, :])
    if not broken.any():
        return Convergence(0.0, 1.0, None)
    ratios = np.where(broken, x[:, np.newaxis] / x[np.newaxis, :], 0.0)
    i, j = (int(index) for index in np.unravel_index(int(ratios.argmax()), ratios.shape))
    worst = (float(x[i]), float(rtt[i]), float(x[j]), float(rtt[j]))
    return Convergence(float(broken.sum() / faster.sum()), float(ratios[i, j]), worst)
