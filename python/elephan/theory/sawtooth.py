"""Windows as a fluid on a drop-tail link: they grow by a(w) per round trip until the buffer is full; then some are cut.

Utilisation, period, loss and mean queue for any a(w) and b(w): `synchronised` flows of one RTT in one integral,
`partial` cuts of any number of flows with their own RTTs by following the windows until they repeat.
*Source*: LakshmanMadhow1997 for one Reno flow; Andrew2005, whose fluid reference this is; PhillipsHu2006 for the
recovery time. *Differs from* packets: no bursts, no timeouts, no slow start, the cut comes at once; real flows are
neither all cut together nor one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elephan.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from elephan.theory.response import Floats, Response

# Midpoints of an integral over the window: 1e-5 where a(w) jumps by a tenth, 1e-7 where it is smooth.
_CELLS = 4000
# Steps of the midpoint rule in which the quickest flow regains what a cut took.
_STEPS = 40


@dataclass(frozen=True)
class Sawtooth:
    """What the link and its flows do on average.

    Parameters
    ----------
    utilisation : ndarray [1]
    period : ndarray [s]
        Between two overflows.
    queue : ndarray [segments]
        Mean over time.
    rates : ndarray [segments/s], shape (..., n)
        Of each flow.
    events : ndarray [1]
        Cuts per segment.
    dropped : ndarray [1]
        Lost segments per segment sent, if a flow that is cut loses what it grows by in one round trip: at least one.

    Examples
    --------
    >>> from elephan.theory import reno
    >>> float(synchronised(reno(), 4000, 400, 0.1).queue.round())
    222.0
    """

    utilisation: Floats
    period: Floats
    queue: Floats
    rates: Floats
    events: Floats
    dropped: Floats


def recovery_time(law: Response, window: ArrayLike, rtt: ArrayLike) -> Floats:
    """Time from a cut back to the window it came at, without a queue: RTT times the integral of dw / a(w).

    Parameters
    ----------
    law : Response
    window : array_like [segments]
        Before the cut.
    rtt : array_like [s]

    Returns
    -------
    ndarray [s]

    Raises
    ------
    InputError
        If the law has no a(w) or b(w).

    References
    ----------
    PhillipsHu2006.

    Examples
    --------
    >>> from elephan.theory import reno
    >>> float(recovery_time(reno(), 1000, 0.1).round(6))
    50.0
    """
    top, over = np.broadcast_arrays(np.asarray(window, dtype=float), np.asarray(rtt, dtype=float))
    w, cell = _climb(law, top, over)
    return np.asarray(over * (cell / law.increase(w, over[..., None])).sum(-1))


def synchronised(law: Response, rate: ArrayLike, buffer: ArrayLike, rtt: ArrayLike, flows: ArrayLike = 1) -> Sawtooth:
    """Equal flows, all cut at every overflow; or one.

    Parameters
    ----------
    law : Response
    rate : array_like [segments/s]
        Of the link.
    buffer : array_like [segments]
        Queue at which the flows are cut, 0 or more.
    rtt : array_like [s]
        Without queueing.
    flows : array_like

    Returns
    -------
    Sawtooth
        Of the shape of all arguments together; relative error 1e-4.

    Raises
    ------
    InputError
        If the law has no a(w) or b(w), or an argument is out of range.

    References
    ----------
    LakshmanMadhow1997; Andrew2005.

    Examples
    --------
    >>> from elephan.theory import reno
    >>> synchronised(reno(), 4000, [0, 100, 400], 0.1).utilisation.round(3).tolist()
    [0.75, 0.893, 1.0]
    """
    parts = (np.asarray(x, dtype=float) for x in (rate, buffer, rtt, flows))
    c, room, tau, n = (np.asarray(x) for x in np.broadcast_arrays(*parts))
    _check(c, room, tau)
    top = (c * tau + room) / n
    full = tau + room / c
    w, cell = _climb(law, top, full)
    total = w * n[..., None]
    # Rounds per cell; then time and segments follow.
    over = np.maximum(tau[..., None], total / c[..., None])
    rounds = cell / law.increase(w, over)
    period = (over * rounds).sum(-1)
    sent = (total * rounds).sum(-1)
    waiting = np.maximum(total - (c * tau)[..., None], 0)
    lost = n * np.maximum(law.increase(top, full), 1)
    each = np.broadcast_to((sent / period / n)[..., None], (*n.shape, int(n.max())))
    values = (sent / (c * period), period, (waiting * over * rounds).sum(-1) / period, each, n / sent, lost / sent)
    return Sawtooth(*(np.asarray(x) for x in values))


def partial(law: Response, rate: float, buffer: float, rtts: ArrayLike, cut: int, turns: int = 8) -> Sawtooth:
    """Flows of which the largest few are cut at every overflow: staggered if it is one, synchronised if all.

    Parameters
    ----------
    law : Response
    rate : float [segments/s]
    buffer : float [segments]
    rtts : array_like [s], shape (n,)
        Without queueing.
    cut : int
        Flows cut at an overflow, 1 to n: those with the largest windows.
    turns : int
        What is measured, in cuts per flow; twice as many go before.

    Returns
    -------
    Sawtooth
        Rates of shape (n,), everything else of shape (). Relative error 1e-3, if the windows repeat by then: those of
        flows with different RTTs may drift for hundreds of turns.

    Raises
    ------
    InputError
        If the law has no a(w) or b(w), or an argument is out of range.

    References
    ----------
    Andrew2005.

    Examples
    --------
    >>> from elephan.theory import reno
    >>> float(partial(reno(), 4000, 0, [0.1] * 4, 1).utilisation.round(3))
    0.923
    """
    tau = np.asarray(rtts, dtype=float)
    _check(np.asarray(rate), np.asarray(buffer), tau)
    if not 1 <= cut <= tau.size:
        message = f"sawtooth: cut is {cut}; give a number of flows from 1 to {tau.size}"
        raise InputError(message)
    fluid = _Fluid(law, rate, buffer, tau, cut)
    overflows = turns * -(-tau.size // cut)
    for _ in range(2 * overflows):
        fluid.overflow()
    fluid.forget()
    for _ in range(overflows):
        fluid.overflow()
    sent = fluid.sent.sum()
    values = (
        sent / (rate * fluid.time),
        fluid.time / overflows,
        fluid.backlog / fluid.time,
        fluid.sent / fluid.time,
        overflows * cut / sent,
        fluid.lost / sent,
    )
    return Sawtooth(*(np.asarray(x) for x in values))


class _Fluid:
    """Windows on their way, and what they have sent since they were last told to forget."""

    def __init__(self, law: Response, rate: float, buffer: float, rtts: Floats, cut: int) -> None:
        self.law, self.rate, self.buffer, self.rtts, self.cut = law, rate, buffer, rtts, cut
        # Equal rates at overflow; the turns of the flows evenly spread, unless all are cut together.
        full = rtts + buffer / rate
        self.window = rate / rtts.size * full
        if cut < rtts.size:
            spread = (
                1 - law.decrease(self.window, full) * (np.arange(rtts.size) % -(-rtts.size // cut)) * cut / rtts.size
            )
            self.window = self.window * spread
        self.forget()

    def forget(self) -> None:
        self.time, self.backlog, self.lost, self.sent = 0.0, 0.0, 0.0, np.zeros(self.rtts.size)

    def overflow(self) -> None:
        """Grow until the buffer is full, and cut."""
        full = self.rtts + self.buffer / self.rate
        while (self.window / full).sum() < self.rate * (1 - 1e-9):
            self._step(full)
        hit = np.argsort(-self.window, kind="stable")[: self.cut]
        grown = self.law.increase(self.window, full)[hit]
        self.lost += float(np.maximum(grown, 1).sum())
        self.window[hit] *= 1 - self.law.decrease(self.window, full)[hit]

    def _step(self, full: Floats) -> None:
        """One step of the midpoint rule, no further than the overflow as it is seen from here."""
        over, slope = self._slopes(self.window)
        regained = self.law.decrease(self.window, over) * self.window / slope
        left = (self.rate - (self.window / full).sum()) / (slope / full).sum()
        step = min(float(regained.min()) / _STEPS, float(left))
        middle = self.window + slope * step / 2
        over, slope = self._slopes(middle)
        self.window = self.window + slope * step
        self.time += step
        self.sent += middle / over * step
        self.backlog += float(over[0] - self.rtts[0]) * self.rate * step

    def _slopes(self, window: Floats) -> tuple[Floats, Floats]:
        """Round-trip times with the queue that these windows make, and growth per second."""
        over = self.rtts + _queueing(window, self.rtts, self.rate)
        return over, self.law.increase(window, over) / over


def _queueing(window: Floats, rtts: Floats, rate: float) -> float:
    """Delay at which the windows just fill the link, by Newton from below (the excess is convex in it); 0 if none."""
    delay = 0.0
    for _ in range(50):
        shares = window / (rtts + delay)
        excess = float(shares.sum()) - rate
        if excess <= 1e-10 * rate:
            break
        delay += excess / float((shares / (rtts + delay)).sum())
    return delay


def _climb(law: Response, top: Floats, over: Floats) -> tuple[Floats, Floats]:
    """Midpoints of the way from a cut back to the top, on a new last axis, and the length of a cell."""
    b = law.decrease(top, over)[..., None]
    ticks = (np.arange(_CELLS) + 0.5) / _CELLS
    return top[..., None] * (1 - b + b * ticks), top[..., None] * b / _CELLS


def _check(rate: Floats, buffer: Floats, rtt: Floats) -> None:
    if not ((rate > 0).all() and (rtt > 0).all() and (buffer >= 0).all()):
        message = "sawtooth: rate and rtt must be above 0, the buffer not below"
        raise InputError(message)
