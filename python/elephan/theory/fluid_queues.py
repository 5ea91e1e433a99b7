"""Queue disciplines of the fluid model: loss probability of each as a function of the queue or the load.

Source: RED FloydJacobson1993; Adaptive RED Floyd2001; gARED Zhang2005; PIE RFC8033; a small drop-tail buffer whose loss
is load^B, RainaWischik2005. Differs from the source: PIE without its burst allowance and its safeguards, except for the
decay of the drop probability on an idle link.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from elephan.errors import InputError
from elephan.theory.response import Response

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Complex = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]
Law = Callable[[Array], tuple[Array, Array]]
"""Function of the window [segments] that returns a(w) [segments per RTT] and b(w) [1]."""
Each = float | Array
"""One value for all cases, or an array of shape (cases,)."""


def reno(window: Array) -> tuple[Array, Array]:
    """Reno: one segment per RTT, half the window.

    Parameters
    ----------
    window : ndarray of float [segments]

    Returns
    -------
    a, b : ndarray of float, shape of `window`

    References
    ----------
    Misra2000.

    Examples
    --------
    >>> [float(x) for x in reno(np.array(30.0))]
    [1.0, 0.5]
    """
    return np.ones_like(window), np.full_like(window, 0.5)


def fluid_law(law: Response, rtt_s: float, top: float = 1e6) -> Law:
    """Tabulate a(w) and b(w) of any window law for the fluid model.

    Parameters
    ----------
    law : Response
    rtt_s : float [s]
        RTT without queueing, for laws that depend on it.
    top : float [segments]
        Largest window of the table; above it the values are constant.

    Returns
    -------
    callable
        Function with an error below 1e-4, except within a cell of the table (0.2 % of the window) around a jump.

    Raises
    ------
    InputError
        If a or b is not a function of the window.

    References
    ----------
    Those of the law.

    Examples
    --------
    >>> from elephan.theory import highspeed
    >>> [round(float(x), 3) for x in fluid_law(highspeed(), 0.1)(np.array(1058.0))]
    [8.136, 0.327]
    """
    logs = np.linspace(0.0, math.log(max(top, 2.0)), _TABLE)
    windows = np.exp(logs)
    grow, cut = law.increase(windows, rtt_s), law.decrease(windows, rtt_s)

    def tabulated(window: Array) -> tuple[Array, Array]:
        at = np.log(window)
        return np.asarray(np.interp(at, logs, grow)), np.asarray(np.interp(at, logs, cut))

    return tabulated


# Number of windows in a tabulated law: every 0.17 % up to 1e6 segments.
_TABLE = 8192


@dataclass(frozen=True)
class FluidPath:
    """Flows of one kind through one link; each field may be an array, and all are broadcast.

    Parameters
    ----------
    rate : array_like [packets/s]
    rtt_s : array_like [s]
        RTT without queueing.
    flows : array_like
        Number of flows.
    """

    rate: ArrayLike
    rtt_s: ArrayLike
    flows: ArrayLike

    def arrays(self) -> tuple[Array, Array, Array]:
        """Return rate, RTT and flows, each of shape (cases,)."""
        given = (np.atleast_1d(np.asarray(value, dtype=float)) for value in (self.rate, self.rtt_s, self.flows))
        rate, rtt, flows = (np.array(value) for value in np.broadcast_arrays(*given))
        if not (np.all(rate > 0) and np.all(rtt > 0) and np.all(flows > 0)):
            raise InputError("path: rate, rtt_s and flows must be above 0")
        return rate, rtt, flows


class QueueMarker(Protocol):
    """State of a discipline during an integration."""

    def step(self, queue: Array, load: Array, time_s: float, dt: float) -> Array:
        """Return the current loss probability, from the queue [packets] and the load (arrival rate over link rate)."""


def loss_at_rest(law: Law, window: Array) -> Array:
    """Loss probability at which a window is constant.

    Parameters
    ----------
    window : ndarray of float [segments]

    Returns
    -------
    ndarray of float [1], shape of `window`
        a / (b w^2), at most 1.

    References
    ----------
    Misra2000, for any law.

    Examples
    --------
    >>> float(loss_at_rest(reno, np.array(20.0)))
    0.005
    """
    a, b = law(window)
    return np.asarray(np.minimum(a / (b * window**2), 1.0))


def _root(rising: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Find the root of a rising function by bisection; return an end of the bracket if it does not contain a root."""
    for _ in range(100):
        middle = (low + high) / 2
        below = rising(middle) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


@dataclass(frozen=True)
class DropTail:
    """Drop-tail buffer: while it is full, excess arrivals are lost, a share of 1 - 1/load. Methods as in `Red`.

    Parameters
    ----------
    buffer : float or ndarray, shape (cases,) [packets]
    """

    buffer: Each

    @property
    def limit(self) -> Each:
        """See `Red`."""
        return self.buffer

    def marker(self, rate: Array) -> QueueMarker:  # noqa: ARG002  # the same for every rate
        """See `Red`."""
        return self

    def step(self, queue: Array, load: Array, time_s: float, dt: float) -> Array:  # noqa: ARG002  # it has no memory
        """See `QueueMarker`."""
        return np.where(queue >= self.buffer, np.maximum(1 - 1 / np.maximum(load, 1e-9), 0), 0.0)

    def at_rest(self, law: Law, path: FluidPath) -> tuple[Array, Array]:
        """See `Red`."""
        rate, rtt, flows = path.arrays()
        full = (rate * rtt + self.buffer) / flows
        window = _root(lambda w: 1 - full / w - loss_at_rest(law, w), full, 4 * full + 10)
        return window, np.full_like(rate, self.buffer)

    def by_window(self, window: float, loss: float) -> float:
        """Derivative of the loss, 1 - 1/load, with respect to the window [1/segment]."""
        return (1 - loss) / window


@dataclass(frozen=True)
class SmallBuffer:
    """Buffer so small that it fills and drains within an RTT: the loss is load^B, without queueing delay.

    Methods as in `Red`.

    Parameters
    ----------
    buffer : float or ndarray, shape (cases,) [packets]
    """

    buffer: Each

    @property
    def limit(self) -> Each:
        """See `Red`; the fluid model has no queue here."""
        return 0.0

    def marker(self, rate: Array) -> QueueMarker:  # noqa: ARG002  # the same for every rate
        """See `Red`."""
        return self

    def step(self, queue: Array, load: Array, time_s: float, dt: float) -> Array:  # noqa: ARG002  # it has no memory
        """See `QueueMarker`."""
        return np.asarray(np.minimum(load, 1.0) ** self.buffer)

    def at_rest(self, law: Law, path: FluidPath) -> tuple[Array, Array]:
        """See `Red`."""
        rate, rtt, flows = path.arrays()
        full = rate * rtt / flows
        rest = _root(lambda w: np.minimum(w / full, 1) ** self.buffer - loss_at_rest(law, w), 1e-3 * full, full)
        return rest, np.zeros_like(rate)

    def by_window(self, window: float, loss: float) -> float:
        """Derivative of the loss, load^B, with respect to the window [1/segment]."""
        return float(self.buffer) * loss / window


@dataclass(frozen=True)
class Red:
    """Random early detection, and its variants with an adaptive slope.

    Parameters
    ----------
    min_th, max_th : float or ndarray, shape (cases,) [packets]
    max_p : float or ndarray, shape (cases,) [1]
        Drop probability at the upper threshold; for adaptive kinds, its initial value.
    weight : float or ndarray, shape (cases,) [1]
        Weight of a packet in the average.
    adapt : {"", "ared", "gared"}
        At each interval, Adaptive RED increases max_p if the average queue is above the band, and decreases it if the
        average is below. gARED does so only while the average moves away from the band, and without a lower limit.
    limit : float or ndarray, shape (cases,) [packets]
    interval_s : float [s]
    top, bottom : float [1]
        Limits of an adaptive max_p.
    """

    min_th: Each
    max_th: Each
    max_p: Each = 0.1
    weight: Each = 0.002
    adapt: Literal["", "ared", "gared"] = ""
    limit: Each = math.inf
    interval_s: float = 0.5
    top: float = 0.5
    bottom: float = 0.01

    @property
    def band(self) -> tuple[Each, Each]:
        """Band in which the adaptive kinds keep the average [packets]."""
        span = self.max_th - self.min_th
        return self.min_th + 0.4 * span, self.min_th + 0.6 * span

    def curve(self, average: Array, max_p: ArrayLike) -> Array:
        """Loss probability at an average queue; gentle: it rises from max_p at the upper threshold to 1 at twice it."""
        x, top = np.asarray(average, dtype=float), np.asarray(max_p, dtype=float)
        rising = top * (x - self.min_th) / (self.max_th - self.min_th)
        gentle = top + (1 - top) * (x - self.max_th) / self.max_th
        return np.asarray(np.clip(np.where(x < self.max_th, rising, gentle), 0, 1))

    def marker(self, rate: Array) -> QueueMarker:
        """Create the state of an integration, for links with these rates [packets/s], shape (cases,)."""
        return _RedMarker(self, rate)

    def settled(self, law: Law, path: FluidPath) -> Array:
        """Return the adapted max_p: the value within its limits for which the queue is in the middle of the band."""
        rate, rtt, flows = path.arrays()
        if not self.adapt:
            return np.full_like(rate, self.max_p)
        middle = (self.band[0] + self.band[1]) / 2
        bottom = self.bottom if self.adapt == "ared" else 0.0
        return np.clip(2 * loss_at_rest(law, (rate * rtt + middle) / flows), bottom, self.top)

    def at_rest(self, law: Law, path: FluidPath) -> tuple[Array, Array]:
        """Return window and queue at equilibrium, each of shape (cases,)."""
        rate, rtt, flows = path.arrays()
        max_p = self.settled(law, path)

        def excess(queue: Array) -> Array:
            return self.curve(queue, max_p) - loss_at_rest(law, (rate * rtt + queue) / flows)

        end = np.minimum(self.limit, 2 * np.asarray(self.max_th))
        queue = _root(excess, np.zeros_like(rate), np.full_like(rate, end))
        return (rate * rtt + queue) / flows, queue

    def gain(self, s: Complex, rate: float, queue: float, loss: float) -> tuple[Complex, Complex]:
        """Transfer function from the queue to the loss at s, as numerator and denominator: a slope and a low pass.

        The slow adaptation of max_p is neglected. This method handles a single case.
        """
        low, high = float(self.min_th), float(self.max_th)
        pole = -math.log1p(-float(self.weight)) * rate
        slope = loss / (queue - low) if low < queue < high else 0.0
        if high <= queue:
            slope = (1 - loss) / (2 * high - queue) if queue < 2 * high else 0.0
        return np.full_like(s, slope), 1 + s / pole


class _RedMarker:
    """State of RED: the average queue, and the current max_p."""

    def __init__(self, red: Red, rate: Array) -> None:
        self.red = red
        self.pole = -np.log1p(-np.asarray(red.weight)) * rate
        self.average = np.zeros_like(rate)
        self.before = np.zeros_like(rate)
        self.max_p = np.full_like(rate, red.max_p)
        self.updates = 0

    def step(self, queue: Array, load: Array, time_s: float, dt: float) -> Array:  # noqa: ARG002  # RED sees the queue
        """See `QueueMarker`."""
        self.average = self.average - np.expm1(-self.pole * dt) * (queue - self.average)
        if self.red.adapt and time_s >= (self.updates + 1) * self.red.interval_s:
            self.updates += 1
            self._adapt()
        return self.red.curve(self.average, self.max_p)

    def _adapt(self) -> None:
        red, avg, max_p = self.red, self.average, self.max_p
        low, high = red.band
        if red.adapt == "ared":
            more, less = avg > high, (avg < low) & (max_p > red.bottom)
        else:
            more, less = (avg > high) & (avg > self.before), (red.min_th < avg) & (avg < low) & (avg < self.before)
        raised = np.minimum(max_p + np.minimum(0.01, max_p / 4), red.top)
        self.max_p = np.where(more & (max_p < red.top), raised, np.where(less, 0.9 * max_p, max_p))
        self.before = avg


# Factors for losses below these limits; above the last one the factor is 1.
_PIE_BOUNDS = np.array([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
_PIE_FACTORS = 1 / np.array([2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 1.0])


@dataclass(frozen=True)
class Pie:
    """Proportional integral controller, enhanced. Methods as in `Red`.

    Parameters
    ----------
    target_s : float [s]
    alpha, beta : float [1/s]
        Weights of the delay's difference from the target, and of its change.
    interval_s : float [s]
        Time between updates; integrate with steps of at most this length.
    limit : float or ndarray, shape (cases,) [packets]
    """

    target_s: float = 0.015
    alpha: float = 0.125
    beta: float = 1.25
    interval_s: float = 0.015
    limit: Each = math.inf

    def marker(self, rate: Array) -> QueueMarker:
        """See `Red`."""
        return _PieMarker(self, rate)

    def scale(self, loss: Array) -> Array:
        """Return the factor of the controller's gains, which is smaller for small drop probabilities."""
        return _PIE_FACTORS[np.searchsorted(_PIE_BOUNDS, loss, side="right")]

    def at_rest(self, law: Law, path: FluidPath) -> tuple[Array, Array]:
        """See `Red`: the queue is at the target delay, or the buffer is full if it is smaller than this queue."""
        rate, rtt, flows = path.arrays()
        queue = rate * self.target_s
        limit = np.broadcast_to(np.asarray(self.limit, dtype=float), rate.shape)
        window, full = DropTail(np.minimum(limit, queue)).at_rest(law, path)
        beyond = queue > limit
        return np.where(beyond, window, (rate * rtt + queue) / flows), np.where(beyond, full, queue)

    def gain(self, s: Complex, rate: float, queue: float, loss: float) -> tuple[Complex, Complex]:  # noqa: ARG002  # the queue does not matter
        """See `Red`: a proportional and an integral term of the queueing delay."""
        scale = float(self.scale(np.array(loss))) / rate
        return scale * (self.beta * s + self.alpha / self.interval_s), s


class _PieMarker:
    """State of PIE: drop probability and queueing delay at the last update."""

    def __init__(self, pie: Pie, rate: Array) -> None:
        self.pie = pie
        self.rate = rate
        self.loss = np.zeros_like(rate)
        self.delay = np.zeros_like(rate)
        self.updates = 0

    def step(self, queue: Array, load: Array, time_s: float, dt: float) -> Array:  # noqa: ARG002  # PIE sees the queue
        """See `QueueMarker`."""
        if time_s >= (self.updates + 1) * self.pie.interval_s:
            self.updates += 1
            delay = queue / self.rate
            change = self.pie.alpha * (delay - self.pie.target_s) + self.pie.beta * (delay - self.delay)
            loss = self.loss + self.pie.scale(self.loss) * change
            idle = (delay == 0) & (self.delay == 0)
            self.loss = np.clip(np.where(idle, 0.98 * loss, loss), 0.0, 1.0)
            self.delay = delay
        return self.loss


Discipline = DropTail | SmallBuffer | Red | Pie
"""All disciplines of the fluid model."""


def with_pole(red: Red, pole: float, rate: float) -> Red:
    """Return RED with the weight for which the average has a given pole.

    Parameters
    ----------
    red : Red
    pole : float [rad/s]
    rate : float [packets/s]

    References
    ----------
    Hollot2001: pole = -ln(1 - weight) x rate.

    Examples
    --------
    >>> round(with_pole(Red(150, 700), 0.005, 3750).weight * 1e6, 3)
    1.333
    """
    return replace(red, weight=-math.expm1(-pole / rate))
