"""Windows as a fluid on a drop-tail link: they grow by a(w) per round trip; when the buffer is full, some are cut.

The models give utilisation, period, loss and mean queue for any a(w) and b(w). `synchronised` evaluates an integral for
flows of one RTT that are all cut at each overflow. `partial` integrates the windows of flows with their own RTTs, some
of which are cut at each overflow, until the windows repeat. The engine integrates laws that remember their last loss
(`LawResponses.drop_tail_sawtooth`). *Source*: LakshmanMadhow1997 for one Reno flow; Andrew2005 for the fluid model;
PhillipsHu2006 for the recovery time. *Differs from* packets: no bursts, no timeouts, no slow start; cuts are immediate
(for a law that remembers, cuts follow a round trip later, and growth another round trip later); real flows are neither
all cut together nor in turns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from elephan.errors import InputError
from elephan.theory.law_responses import LawResponses
from elephan.theory.response import Floats, Response

# Number of midpoints of an integral over the window: the error is 1e-5 if a(w) jumps by a tenth, 1e-7 if it is smooth.
_CELLS = 4000
# Number of steps of the midpoint rule in which the fastest flow recovers from a cut.
_STEPS = 40
# Growth that counts as zero [segments/s].
_RESTING = 1e-9


@dataclass(frozen=True)
class Sawtooth:
    """Averages over the link and its flows.

    Parameters
    ----------
    utilisation : ndarray [1]
    period : ndarray [s]
        Time between two overflows.
    queue : ndarray [segments]
        Mean queue over time.
    rates : ndarray [segments/s], shape (..., n)
        Rate of each flow.
    events : ndarray [1]
        Cuts per segment.
    dropped : ndarray [1]
        Lost segments per segment sent. A flow that is cut is assumed to lose the segments by which its window grows in
        a round trip, at least one. 1 if windows are too small for a sawtooth.

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
    """Time from a cut until the window is as large as before, without a queue: RTT times the integral of dw / a(w).

    Parameters
    ----------
    law : Response
    window : array_like [segments]
        Window before the cut.
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
    w, cell = _climb(law, top, over, over)
    return np.asarray(over * (cell / law.increase(w, over[..., None])).sum(-1))


def synchronised(law: Response, rate: ArrayLike, buffer: ArrayLike, rtt: ArrayLike, flows: ArrayLike = 1) -> Sawtooth:
    """Compute the sawtooth of one flow, or of equal flows that are all cut at every overflow.

    Parameters
    ----------
    law : Response
    rate : array_like [segments/s]
        Rate of the link.
    buffer : array_like [segments]
        Queue at which the flows are cut, 0 or more.
    rtt : array_like [s]
        RTT without queueing.
    flows : array_like
        Number of flows.

    Returns
    -------
    Sawtooth
        Fields have the broadcast shape of the arguments; relative error 1e-4, for a law that remembers 1e-2.

    Raises
    ------
    InputError
        If the law has no a(w) and b(w) and is not the engine's, or an argument is out of range.

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
    if isinstance(law, LawResponses) and law.remembers:
        return _repeating(law, c, room, tau, n)
    top = (c * tau + room) / n
    full = tau + room / c
    w, cell = _climb(law, top, full, tau)
    total = w * n[..., None]
    # Number of round trips per cell; times and segments follow from it.
    over = np.maximum(tau[..., None], total / c[..., None])
    rounds = cell / law.increase(w, over, tau[..., None])
    period = (over * rounds).sum(-1)
    sent = (total * rounds).sum(-1)
    waiting = np.maximum(total - (c * tau)[..., None], 0)
    lost = np.minimum(n * np.maximum(law.increase(top, full, tau), 1) / sent, 1.0)
    each = np.broadcast_to((sent / period / n)[..., None], (*n.shape, int(n.max())))
    values = (sent / (c * period), period, (waiting * over * rounds).sum(-1) / period, each, n / sent, lost)
    return Sawtooth(*(np.asarray(x) for x in values))


def partial(law: Response, rate: float, buffer: ArrayLike, rtts: ArrayLike, cut: int, turns: int = 8) -> Sawtooth:
    """Compute the sawtooth of flows if those with the largest windows are cut at every overflow: one or more, or all.

    Parameters
    ----------
    law : Response
    rate : float [segments/s]
    buffer : array_like [segments]
        Buffers; all cases are integrated at once.
    rtts : array_like [s], shape (n,)
        RTTs without queueing.
    cut : int
        Number of flows that are cut at an overflow, 1 (staggered) to n.
    turns : int
        Cuts per flow in the measurement; twice as many precede it.

    Returns
    -------
    Sawtooth
        Rates have the shape (..., n), all other fields the shape of `buffer`. The relative error is 1e-3 if the windows
        are periodic when the measurement begins; with different RTTs they may drift for hundreds of turns.

    Raises
    ------
    InputError
        If the law has no a(w) and b(w) and is not the engine's, or an argument is out of range.

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
        raise InputError(f"sawtooth: cut is {cut}; give a number of flows from 1 to {tau.size}")
    overflows = turns * -(-tau.size // cut)
    if isinstance(law, LawResponses) and law.remembers:
        return _remembering(
            law.drop_tail_sawtooth(rate, room.ravel().tolist(), tau.tolist(), cut, (2 * overflows, overflows)), room
        )
    rows = room.reshape(-1, 1)
    fluid = _Fluid(law, np.full_like(rows, rate), rows, np.tile(tau, (len(rows), 1)), cut)
    found = _measured(fluid, 2 * overflows, overflows)
    used, period, queue, events, dropped = (
        x.reshape(room.shape) for x in (found.utilisation, found.period, found.queue, found.events, found.dropped)
    )
    return Sawtooth(used, period, queue, found.rates.reshape(*room.shape, tau.size), events, dropped)


def _repeating(law: LawResponses, rate: Floats, buffer: Floats, rtt: Floats, flows: Floats) -> Sawtooth:
    """Integrate one of several equal flows, and scale the result to all."""
    cases = [x.ravel().tolist() for x in (rate / flows, buffer / flows, rtt)]
    rows = np.concatenate([law.alone(own, [room], tau) for own, room, tau in zip(*cases, strict=True)])
    one = _remembering(rows, rate)
    return replace(one, queue=one.queue * flows, rates=np.repeat(one.rates, int(flows.max()), axis=-1))


def _remembering(rows: Floats, shape: Floats) -> Sawtooth:
    """Convert the columns of `LawResponses.drop_tail_sawtooth` to a `Sawtooth`."""
    used, period, queue, events, dropped = (rows[:, i].reshape(shape.shape) for i in range(5))
    return Sawtooth(used, period, queue, rows[:, 7:].reshape(*shape.shape, -1), events, dropped)


def _measured(fluid: _Fluid, before: int, overflows: int) -> Sawtooth:
    """Average over some overflows, after others that are not measured; one row per link."""
    for _ in range(before):
        fluid.overflow()
    fluid.forget()
    for _ in range(overflows):
        fluid.overflow()
    sent = fluid.sent.sum(-1, keepdims=True)
    values = (
        sent / (fluid.rate * fluid.time),
        fluid.time / overflows,
        fluid.backlog / fluid.time,
        overflows * fluid.cut / sent,
        np.minimum(fluid.lost / sent, 1.0),
    )
    used, period, queue, events, dropped = (x[:, 0] for x in values)
    return Sawtooth(used, period, queue, fluid.sent / fluid.time, events, dropped)


class _Fluid:
    """Current windows, and the segments sent since the last reset.

    Several independent links are integrated together: arrays have the shape (links, flows) or (links, 1).
    """

    def __init__(self, law: Response, rate: Floats, buffer: Floats, rtts: Floats, cut: int) -> None:
        self.law, self.rate, self.buffer, self.rtts, self.cut = law, rate, buffer, rtts, cut
        flows = rtts.shape[-1]
        # Initially, flows have equal rates at an overflow. Unless all are cut together, their phases within the period
        # are evenly spread.
        self.full = rtts + buffer / rate
        self.window = rate / flows * self.full
        if cut < flows:
            turn = np.arange(flows) % -(-flows // cut) * cut / flows
            self.window = self.window * (1 - self._share(self.window, self.full) * turn)
        self.delay = np.zeros(rate.shape)
        self.forget()

    def forget(self) -> None:
        self.time, self.backlog, self.lost = (np.zeros(self.rate.shape) for _ in range(3))
        self.sent = np.zeros(self.rtts.shape)

    def overflow(self) -> None:
        """Integrate until the buffer is full, and cut windows."""
        while (left := self._left()).any():
            self._step(left)
        largest = np.argsort(-self.window, axis=-1, kind="stable")[:, : self.cut]
        hit = np.zeros(self.window.shape, dtype=bool)
        np.put_along_axis(hit, largest, True, axis=-1)
        self.lost += np.where(hit, np.maximum(self._growth(self.window, self.full), 1), 0).sum(-1, keepdims=True)
        self.window = np.where(hit, self.window * (1 - self._share(self.window, self.full)), self.window)

    def _left(self) -> Floats:
        """Return the rate that is missing for an overflow; 0 at an overflow."""
        left = self.rate - (self.window / self.full).sum(-1, keepdims=True)
        return np.where(left > 1e-7 * self.rate, left, 0.0)

    def _step(self, left: Floats) -> None:
        """Take one step of the midpoint rule, at most up to the estimated overflow."""
        over = self._round(self.window)
        slope = self._growth(self.window, over) / over
        step = np.minimum(self._longest(over, np.maximum(np.abs(slope), _RESTING)), self._until(left, slope))
        half = step / 2
        middle = self.window + slope * half
        over = self._round(middle)
        slope = self._growth(middle, over) / over
        step = np.minimum(step, self._until(left, slope))
        self.window = self.window + slope * step
        self.time += step
        self.sent += middle / over * step
        self.backlog += (over - self.rtts)[:, :1] * self.rate * step

    def _round(self, window: Floats) -> Floats:
        """Return the round-trip times with the queue caused by these windows [s]."""
        self.delay = _queueing(window, self.rtts, self.rate, self.delay)
        return self.rtts + self.delay

    def _until(self, left: Floats, slope: Floats) -> Floats:
        """Return the time to the overflow with this growth [segments/s]."""
        return np.asarray(left / (np.maximum(slope, _RESTING) / self.full).sum(-1, keepdims=True))

    def _longest(self, over: Floats, slope: Floats) -> Floats:
        """Return a step within which no flow's growth changes much."""
        return np.asarray((self._share(self.window, over) * self.window / slope / _STEPS).min(-1, keepdims=True))

    def _growth(self, window: Floats, over: Floats) -> Floats:
        """Return the growth in segments per RTT."""
        return self.law.increase(window, over, self.rtts)

    def _share(self, window: Floats, over: Floats) -> Floats:
        """Return the share by which a loss reduces the window."""
        return self.law.decrease(window, over, self.rtts)


def _queueing(window: Floats, rtts: Floats, rate: Floats, delay: Floats) -> Floats:
    """Find the queueing delay of each link at which the windows just use its rate; 0 if they do not.

    Newton's method starts from the given delay. The windows' excess rate is convex in the delay, so the method
    converges from below after the first step.
    """
    if window.shape[-1] == 1:
        return np.maximum(window / rate - rtts, 0)
    for _ in range(50):
        over = rtts + delay
        shares = window / over
        excess = shares.sum(-1, keepdims=True) - rate
        if ((np.abs(excess) <= 1e-10 * rate) | ((excess < 0) & (delay == 0))).all():
            break
        delay = np.maximum(delay + excess / (shares / over).sum(-1, keepdims=True), 0)
    return delay


def _climb(law: Response, top: Floats, over: Floats, base: Floats) -> tuple[Floats, Floats]:
    """Return the midpoints of windows between a cut and the top, on a new last axis, and the length of a cell."""
    b = law.decrease(top, over, base)[..., None]
    ticks = (np.arange(_CELLS) + 0.5) / _CELLS
    return top[..., None] * (1 - b + b * ticks), top[..., None] * b / _CELLS


def _check(rate: Floats, buffer: Floats, rtt: Floats) -> None:
    if not ((rate > 0).all() and (rtt > 0).all() and (buffer >= 0).all()):
        raise InputError("sawtooth: rate and rtt must be above 0, the buffer not below")
