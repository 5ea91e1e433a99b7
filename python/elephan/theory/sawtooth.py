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
from numpy.typing import NDArray

from elephan.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from elephan.theory.response import Floats, Response

Rows = NDArray[np.int64]

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


def partial(law: Response, rate: float, buffer: ArrayLike, rtts: ArrayLike, cut: int, turns: int = 8) -> Sawtooth:
    """Flows of which the largest few are cut at every overflow: staggered if it is one, synchronised if all.

    Parameters
    ----------
    law : Response
    rate : float [segments/s]
    buffer : array_like [segments]
        All of them are followed at once.
    rtts : array_like [s], shape (n,)
        Without queueing.
    cut : int
        Flows cut at an overflow, 1 to n: those with the largest windows.
    turns : int
        What is measured, in cuts per flow; twice as many go before.

    Returns
    -------
    Sawtooth
        Rates of shape (..., n), everything else of the buffer's shape. Relative error 1e-3, if the windows repeat by
        then: those of flows with different RTTs may drift for hundreds of turns.

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
    >>> partial(reno(), 4000, [0, 100], [0.1] * 4, 1).utilisation.round(3).tolist()
    [0.923, 1.0]
    """
    tau, room = np.asarray(rtts, dtype=float), np.asarray(buffer, dtype=float)
    _check(np.asarray(rate), room, tau)
    if not 1 <= cut <= tau.size:
        message = f"sawtooth: cut is {cut}; give a number of flows from 1 to {tau.size}"
        raise InputError(message)
    overflows = turns * -(-tau.size // cut)
    fluid = _Fluid(law, rate, room.reshape(-1, 1), tau, cut)
    fluid.follow(2 * overflows, overflows)
    sent = fluid.sent.sum(-1)
    each = (fluid.sent / fluid.time[:, None]).reshape(*room.shape, tau.size)
    used, period, queue = sent / (rate * fluid.time), fluid.time / overflows, fluid.backlog / fluid.time
    events, dropped = overflows * cut / sent, fluid.lost / sent
    period, queue, used, events, dropped = (x.reshape(room.shape) for x in (period, queue, used, events, dropped))
    return Sawtooth(used, period, queue, each, events, dropped)


class _Fluid:
    """Windows on their way, one row a buffer, and what they have sent since their measurement began."""

    def __init__(self, law: Response, rate: float, buffer: Floats, rtts: Floats, cut: int) -> None:
        self.law, self.rate, self.rtts, self.cut = law, rate, rtts, cut
        # Equal rates at overflow; the turns of the flows evenly spread, unless all are cut together.
        self.full = rtts + buffer / rate
        self.window = rate / rtts.size * self.full
        self.lost_at = self.window * law.decrease(self.window, self.full)
        if cut < rtts.size:
            self.window = self.window - self.lost_at * (np.arange(rtts.size) % -(-rtts.size // cut)) * cut / rtts.size
        cases = len(buffer)
        self.delay = np.zeros((cases, 1))
        self.seen = np.zeros(cases, dtype=int)
        self.time, self.backlog, self.lost = (np.zeros(cases) for _ in range(3))
        self.sent = np.zeros_like(self.window)

    def follow(self, before: int, measured: int) -> None:
        """Go on until every row has overflown `before` times unmeasured and `measured` times more."""
        while True:
            total = (self.window / self.full).sum(-1)
            over = np.flatnonzero((total >= self.rate * (1 - 1e-7)) & (self.seen < before + measured))
            if over.size:
                self._overflow(over, before)
            counted = (self.seen >= before) & (self.seen < before + measured)
            if (self.seen >= before + measured).all():
                return
            self._step(counted)

    def _overflow(self, rows: Rows, before: int) -> None:
        window, full = self.window[rows], self.full[rows]
        hit = np.argsort(-window, axis=1, kind="stable")[:, : self.cut]
        gone = window * self.law.decrease(window, full)
        self.lost_at[rows] = gone
        grown = np.take_along_axis(np.maximum(self.law.increase(window, full), 1), hit, 1).sum(-1)
        self.lost[rows] += np.where(self.seen[rows] >= before, grown, 0)
        np.put_along_axis(window, hit, np.take_along_axis(window - gone, hit, 1), 1)
        self.window[rows] = window
        self.seen[rows] += 1

    def _step(self, counted: NDArray[np.bool_]) -> None:
        """One step of the midpoint rule, no further than the overflow as it is seen from here."""
        over, slope = self._slopes(self.window)
        left = (self.rate - (self.window / self.full).sum(-1)) / (slope / self.full).sum(-1)
        # Rows that have arrived stand still.
        step = np.clip(left, 0, (self.lost_at / slope).min(-1) / _STEPS)[:, None]
        middle = self.window + slope * step / 2
        over, slope = self._slopes(middle)
        self.window = self.window + slope * step
        kept = np.where(counted[:, None], step, 0)
        self.time += kept[:, 0]
        self.sent += middle / over * kept
        self.backlog += (self.delay * self.rate * kept)[:, 0]

    def _slopes(self, window: Floats) -> tuple[Floats, Floats]:
        """Round-trip times with the queue that these windows make, and growth per second."""
        self.delay = _queueing(window, self.rtts, self.rate, self.delay)
        over = self.rtts + self.delay
        return over, self.law.increase(window, over) / over


def _queueing(window: Floats, rtts: Floats, rate: float, delay: Floats) -> Floats:
    """Delay of each row at which the windows just fill the link, 0 if they do not.

    Newton: what the windows send too much is convex in the delay, so that from the second step on it comes from below.
    """
    for _ in range(50):
        over = rtts + delay
        shares = window / over
        excess = shares.sum(-1, keepdims=True) - rate
        if ((np.abs(excess) <= 1e-10 * rate) | ((excess < 0) & (delay == 0))).all():
            break
        delay = np.maximum(delay + excess / (shares / over).sum(-1, keepdims=True), 0)
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
