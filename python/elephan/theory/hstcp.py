"""One HighSpeed flow as a fluid: window, duration and packets of the period between two losses, and the throughput.

*Source*: Barman2004, Section II, where p determines the window before the loss (not the mean window). *Differs from the
source*: lines that are missing in print were derived again; above p = 1e-3, which the paper does not cover, the law is
Reno with the same peak at 1e-3. The closed form fixes b at 0.1, its smallest value, while the window grows. Its
throughput is within 0.6 % of the exact equation, but its periods and packets are up to seven times too large. Use only
its throughput.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elephan.errors import InputError
from elephan.theory.laws import HIGH_DECREASE, HIGH_P, HIGH_WINDOW, LOW_P, LOW_WINDOW, given_up
from elephan.theory.response import Floats

# A and c of the paper: differences of ln w and of ln p.
SPAN = float(np.log(HIGH_WINDOW / LOW_WINDOW))
SLOPE = float(np.log(HIGH_P / LOW_P))
# -(1 + c/A), the power of the window that grows linearly in time in the closed form.
POWER = -(1 + SLOPE / SPAN)


@dataclass(frozen=True)
class LossPeriod:
    """Period between two losses; every field has the broadcast shape of p and rtt.

    Parameters
    ----------
    peak : ndarray [segments]
        Window before the loss.
    decrease : ndarray [1]
        Share by which the loss reduces the window.
    duration : ndarray [s]
    packets : ndarray [segments]

    Examples
    --------
    >>> closed_form(1e-5, 0.12).duration.round(2).tolist()
    22.11
    """

    peak: Floats
    decrease: Floats
    duration: Floats
    packets: Floats

    @property
    def throughput(self) -> Floats:
        """Packets over duration [segments/s]."""
        return np.asarray(self.packets / self.duration)


def peak(p: ArrayLike) -> tuple[Floats, Floats]:
    """Window before the loss, and the share by which the loss reduces it.

    Parameters
    ----------
    p : array_like
        Loss events per segment.

    Returns
    -------
    ndarray [segments], ndarray [1]
        Above p = 1e-3 the window is Reno's. The share is at least 0.01.

    Raises
    ------
    InputError
        If p is not above 0.

    Examples
    --------
    >>> [float(x.round(4)) for x in peak(1e-7)]
    [83000.0, 0.1]
    """
    loss = _positive("p", p)
    window = LOW_WINDOW * (loss / LOW_P) ** np.where(loss > LOW_P, -0.5, SPAN / SLOPE)
    y = np.log(np.maximum(window, LOW_WINDOW) / LOW_WINDOW) / SPAN
    return np.asarray(window), given_up(y)


def closed_form(p: ArrayLike, rtt: ArrayLike) -> LossPeriod:
    """Period in closed form, with b fixed at 0.1 while the window grows.

    Parameters
    ----------
    p : array_like
        Loss events per segment.
    rtt : array_like [s]
        Broadcast against p.

    Returns
    -------
    LossPeriod
        At p > 1e-3 the period of Reno: its number of round trips is half the peak, at a mean of 3/4 of the peak.

    Raises
    ------
    InputError
        If p or rtt is not above 0.

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> float(closed_form(1e-5, 0.12).throughput.round(2))
    12474.03
    """
    loss, over = np.broadcast_arrays(_positive("p", p), _positive("rtt", rtt))
    top, b = peak(loss)
    high, low = top / LOW_WINDOW, top * (1 - b) / LOW_WINDOW
    factor = (2 - HIGH_DECREASE) / (2 * HIGH_DECREASE * LOW_P)
    duration = factor * over / (LOW_WINDOW * POWER) * (high**POWER - low**POWER)
    packets = factor / (1 + POWER) * (high ** (1 + POWER) - low ** (1 + POWER))
    reno = loss > LOW_P
    return LossPeriod(top, b, np.where(reno, over * top / 2, duration), np.where(reno, 0.75 * top * top / 2, packets))


def throughput(p: ArrayLike, rtt: ArrayLike) -> Floats:
    """Throughput, lambda(p) of the paper.

    Parameters
    ----------
    p : array_like
        Loss events per segment.
    rtt : array_like [s]

    Returns
    -------
    ndarray [segments/s]
        Approximately peak (1 - b/2) / rtt.

    Raises
    ------
    InputError
        If p or rtt is not above 0.

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> float(throughput(1e-7, 0.12).round())
    656596.0
    """
    return closed_form(p, rtt).throughput


def window(t: ArrayLike, p: float, rtt: float) -> Floats:
    """Window w(t) in closed form, after a loss at t = 0.

    Parameters
    ----------
    t : array_like [s]
        Time within the period's duration; beyond it the window continues to grow.
    p : float
        Loss events per segment, at most 1e-3.
    rtt : float [s]

    Returns
    -------
    ndarray [segments]

    Raises
    ------
    InputError
        If p or rtt is not above 0, or p is in Reno's range.

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> period = closed_form(1e-5, 0.12)
    >>> window([0.0, period.duration], 1e-5, 0.12).round(1).tolist()
    [1243.2, 1776.0]
    """
    _scaling(p)
    top, b = peak(p)
    _positive("rtt", rtt)
    slope = POWER * 2 * HIGH_DECREASE * LOW_WINDOW * LOW_P / ((2 - HIGH_DECREASE) * rtt)
    start = (top * (1 - b) / LOW_WINDOW) ** POWER
    return np.asarray(LOW_WINDOW * (start + slope * np.asarray(t, dtype=float)) ** (1 / POWER))


@dataclass(frozen=True)
class PeriodTrajectory:
    """One period of the exact equation.

    Parameters
    ----------
    t : ndarray [s], shape (n,)
    window : ndarray [segments], shape (n,)

    Examples
    --------
    >>> exact(1e-5, 0.12, samples=3).t.round(2).tolist()
    [0.0, 3.18, 6.37]
    """

    t: Floats
    window: Floats
    period: LossPeriod


def exact(p: float, rtt: float, *, least: bool = False, samples: int = 101) -> PeriodTrajectory:
    """Integrate dw/dt = 2 w^2 b p / ((2 - b) RTT) from the loss to the next.

    Parameters
    ----------
    p : float
        Loss events per segment, at most 1e-3.
    rtt : float [s]
    least : bool
        Whether b is fixed at 0.1, as in the closed form.
    samples : int
        Number of equally spaced instants of the trajectory.

    Returns
    -------
    PeriodTrajectory
        Relative error below 1e-9.

    Raises
    ------
    InputError
        If p or rtt is not above 0, or p is in Reno's range.

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> float(exact(1e-5, 0.12).period.throughput.round(2))
    12500.26
    """
    from scipy.integrate import solve_ivp  # noqa: PLC0415 (slow to import; the closed form does without)

    _scaling(p)
    _positive("rtt", rtt)
    top, b = (float(x) for x in peak(p))

    def slope(_: float, state: Floats) -> tuple[float, float]:
        # State: ln(w / 38) / SPAN, and the packets sent so far.
        y = state[0]
        share = HIGH_DECREASE if least else float(given_up(y))
        rate = 2 * LOW_WINDOW * LOW_P / (SPAN * rtt) * np.exp((SPAN + SLOPE) * y) * share / (2 - share)
        return rate, LOW_WINDOW * np.exp(SPAN * y) / rtt

    end = np.log(top / LOW_WINDOW) / SPAN

    def arrived(_: float, state: Floats) -> float:
        return float(state[0] - end)

    arrived.terminal = True  # type: ignore[attr-defined]
    begin = np.log(top * (1 - b) / LOW_WINDOW) / SPAN
    # At b = 0.01, its lower limit, the exact equation takes 10.5 times as long as with b = 0.1.
    limit = 20 * float(closed_form(p, rtt).duration)
    found = solve_ivp(
        slope, (0.0, limit), (begin, 0.0), method="DOP853", rtol=1e-11, atol=1e-10, events=arrived, dense_output=True
    )
    duration, packets = float(found.t_events[0][0]), float(found.y_events[0][0][1])
    t = np.linspace(0.0, duration, samples)
    curve = LOW_WINDOW * np.exp(SPAN * found.sol(t)[0])
    values = (np.asarray(x) for x in (top, b, duration, packets))
    return PeriodTrajectory(t, curve, LossPeriod(*values))


def _positive(name: str, x: ArrayLike) -> Floats:
    values = np.asarray(x, dtype=float)
    if not (values > 0).all():
        raise InputError(f"hstcp: {name} must be above 0")
    return values


def _scaling(p: float) -> None:
    if p > LOW_P:
        raise InputError(f"hstcp: at p = {p:g} the window stays in Reno's range; give a p of at most {LOW_P:g}")
    _positive("p", p)
