"""TCP and active queue management as a fluid: differential equations for windows and queue, delayed by the RTT.

Source: Misra2000; the linear form Hollot2001 and Hollot2002, with drop-tail RainaWischik2005. Differs from the source:
any window law a(w), b(w) in place of a = 1, b = 1/2; drops do not shorten the queue (as if packets were marked) unless
the buffer overflows; optionally, a window with several losses is cut only once. The disciplines are in `fluid_queues`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elephan.errors import InputError
from elephan.theory.fluid_queues import Array, Discipline, DropTail, FluidPath, Law, SmallBuffer, loss_at_rest

Complex = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]


class Equilibrium(NamedTuple):
    """Equilibrium of window and queue; every field has the shape (cases,)."""

    window: Array
    """Window [segments]."""
    queue: Array
    """Queue [packets]."""
    rtt_s: Array
    loss: Array


def equilibrium(law: Law, path: FluidPath, discipline: Discipline) -> Equilibrium:
    """Compute window, queue, RTT and loss at equilibrium, whether or not it is stable.

    Parameters
    ----------
    law : callable
        See `Law`; a / (b w^2) must fall with the window.

    Raises
    ------
    InputError
        If a quantity of the path is not above 0.

    References
    ----------
    Misra2000, Hollot2001: N W = C R, and for Reno W = sqrt(2 / p).

    Examples
    --------
    >>> from elephan.theory.fluid_queues import FluidPath, Red, reno
    >>> rest = equilibrium(reno, FluidPath(3750, 0.2, 60), Red(150, 700, 0.1, 1.33e-6))
    >>> [round(float(x[0]), 4) for x in rest]
    [15.74, 194.4, 0.2518, 0.0081]
    """
    rate, rtt, _ = path.arrays()
    window, queue = discipline.at_rest(law, path)
    return Equilibrium(window, queue, rtt + queue / rate, loss_at_rest(law, window))


class FluidTrajectory(NamedTuple):
    """Trajectory of the fluid; arrays have the shape (steps, cases), the time (steps,)."""

    time_s: Array
    window: Array
    """Window [segments]."""
    queue: Array
    """Queue [packets]."""
    loss: Array
    load: Array
    """Arrival rate over the link's rate."""

    def mean_loss(self, since_s: float = 0.0) -> Array:
        """Share of arrivals lost from a time on, shape (cases,)."""
        kept = self.time_s >= since_s
        return np.asarray((self.loss[kept] * self.load[kept]).sum(axis=0) / self.load[kept].sum(axis=0))

    def utilization(self, since_s: float = 0.0) -> Array:
        """Share of the link's rate that is used from a time on, shape (cases,)."""
        kept = self.time_s >= since_s
        busy = np.where(self.queue[kept] > 0, 1.0, np.minimum(self.load[kept], 1.0))
        return np.asarray(busy.mean(axis=0))


def trajectory(
    law: Law,
    path: FluidPath,
    discipline: Discipline,
    duration_s: float,
    step_s: float,
    window: ArrayLike = 1.0,
    queue: ArrayLike = 0.0,
    *,
    once: bool = False,
) -> FluidTrajectory:
    """Integrate the fluid equations by steps of fixed length.

    Parameters
    ----------
    law : callable
        See `Law`.
    path : FluidPath
        All its cases are integrated at once.
    duration_s : float [s]
    step_s : float [s]
        Step, at most a tenth of the smallest RTT.
    window : array_like [segments]
        Initial window, also before the start; shape () or (cases,).
    queue : array_like [packets]
        Initial queue, in the same form.
    once : bool
        Whether a window with several losses is cut only once, as in TCP: 1 - exp(-W p) cuts per RTT instead of W p.

    Raises
    ------
    InputError
        If the step is too long, or a quantity is not above 0.

    References
    ----------
    Misra2000: dW/dt = a(W)/R - b(W) W W(t - R)/R(t - R) p(t - R), dq/dt = N W / R - C.

    Examples
    --------
    >>> from elephan.theory.fluid_queues import FluidPath, Pie, reno
    >>> run = trajectory(reno, FluidPath(1250, 0.03, 20), Pie(0.02), 20.0, 0.003)
    >>> run.queue.shape, round(float(run.queue[-1, 0]) / 1250, 3)
    ((6668, 1), 0.02)
    """
    rate, base, flows = path.arrays()
    if not 0 < step_s <= base.min() / 10:
        message = f"step_s: {step_s:g} s must be above 0 and at most a tenth of the smallest RTT, {base.min() / 10:g} s"
        raise InputError(message)
    steps, cases = round(duration_s / step_s) + 1, np.arange(rate.size)
    windows, queues, losses, loads = (np.zeros((steps, rate.size)) for _ in range(4))
    # Rate of cuts of a flow; the cuts take effect an RTT later.
    blows = np.zeros((steps + 1, rate.size))
    w, q = (np.array(np.broadcast_to(np.asarray(v, dtype=float), rate.shape)) for v in (window, queue))
    marker = discipline.marker(rate)
    for k in range(steps):
        rtt = base + q / rate
        load = flows * w / rtt / rate
        p = marker.step(q, load, k * step_s, step_s)
        # If the buffer is full, excess arrivals are lost with every discipline.
        p = np.where(q >= discipline.limit, np.maximum(p, 1 - 1 / np.maximum(load, 1e-9)), p)
        windows[k], queues[k], losses[k], loads[k] = w, q, p, load
        blows[k] = (-np.expm1(-w * p) if once else w * p) / rtt
        # There is no loss before the start; past values within a step are interpolated linearly.
        at = k - rtt / step_s
        i = np.maximum(at, 0).astype(int)
        early = blows[i, cases]
        blow = np.where(at >= 0, early + (at - i) * (blows[i + 1, cases] - early), 0.0)
        a, b = law(w)
        w = np.maximum(w + step_s * (a / rtt - b * w * blow), 1.0)
        q = np.minimum(np.maximum(q + step_s * rate * (load - 1), 0.0), discipline.limit)
    return FluidTrajectory(np.asarray(np.arange(steps) * step_s, dtype=float), windows, queues, losses, loads)


def unstable_roots(
    law: Law, path: FluidPath, discipline: Discipline
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Count the growing modes of the linearised equations; there are none if the equilibrium is locally stable.

    Parameters
    ----------
    law : callable
        See `Law`; differentiable at equilibrium.

    Returns
    -------
    ndarray of int, shape (cases,)
        Roots of the characteristic equation with a positive real part; a pair of them means oscillation. Values of a
        discipline must be the same for all cases.

    Raises
    ------
    InputError
        If a quantity of the path is not above 0.

    References
    ----------
    The linear form of Hollot2001 for any law, with all delays; of RainaWischik2005 for drop-tail. The number of roots
    follows from the turns of the characteristic function around 0 along the imaginary axis (the argument principle).

    Examples
    --------
    >>> from elephan.theory.fluid_queues import FluidPath, Red, reno
    >>> path = FluidPath(3750, 0.2, [60, 60])
    >>> [int(unstable_roots(reno, path, Red(150, 700, 0.1, weight))[0]) for weight in (1.33e-6, 2e-4)]
    [0, 2]
    """
    rest = equilibrium(law, path, discipline)
    rate, _, flows = path.arrays()
    columns = zip(*rest, rate, flows, strict=True)
    return np.array([_growing(law, discipline, *(float(x) for x in column)) for column in columns])


def _growing(
    law: Law, discipline: Discipline, w: float, q: float, rtt: float, loss: float, rate: float, flows: float
) -> int:
    """Count the growing modes of one case."""
    a, b = (float(x) for x in law(np.array(w)))
    h = 1e-5 * w
    above, below = law(np.array(w + h)), law(np.array(w - h))
    da, db = (float(up - down) / (2 * h) for up, down in zip(above, below, strict=True))
    # Derivatives of dW/dt: by W, by W an RTT ago, and by the loss an RTT ago.
    now = (da - a * db / b - a / w) / rtt
    then = -a / (w * rtt)
    to_loss = b * w * w / rtt

    if isinstance(discipline, DropTail | SmallBuffer):
        # The queue is constant and the loss follows the window.
        late = then - to_loss * discipline.by_window(w, loss)
        return _turns(lambda s: s - now - late * np.exp(-s * rtt), 1, rtt)
    gain = discipline.gain

    def function(s: Complex) -> Complex:
        late = np.exp(-s * rtt)
        top, bottom = gain(s, rate, q, loss)
        by_queue = a / (rtt**2 * rate) * (1 - late)
        own = (s - now - then * late) * (s + 1 / rtt) + flows / rtt * by_queue
        return np.asarray(own * bottom + flows / rtt * to_loss * top * late)

    return _turns(function, 3, rtt)  # state: window, queue, and the state of the discipline


def _turns(function: Callable[[Complex], Complex], degree: int, rtt: float) -> int:
    """Count the roots with a positive real part of a quasi-polynomial whose highest power has no delay."""
    # At high frequencies the highest power dominates. Find a frequency above which the rest contributes little, so that
    # the function turns little beyond it.
    far = 10 / rtt
    while far < 1e9 / rtt:
        ends = np.array([far, 2 * far, 4 * far])
        scaled = function(1j * ends) / (1j * ends) ** degree
        if np.all(np.abs(scaled / scaled[-1] - 1) < 0.05):
            break
        far *= 2
    dense = np.arange(0.0, min(far, 2e4 / rtt), 0.1 / rtt)  # 63 points per turn of exp(-s rtt)
    omega = np.union1d(dense, np.geomspace(1e-7 / rtt, far, 4000))
    turned = np.unwrap(np.angle(function(1j * omega)))
    return round(degree / 2 - float(turned[-1] - turned[0]) / math.pi)


class HollotCondition(NamedTuple):
    """Both sides of the condition; RED is stable if the left side is at most the right side."""

    left: float
    right: float
    crossover: float
    """Upper bound of the crossover frequency, at which the loop's gain is 1 [rad/s]."""


def hollot_condition(rate: float, rtt_s: float, flows: float, slope: float, pole: float) -> HollotCondition:
    """Sufficient condition for RED with Reno: stable for all larger numbers of flows and all shorter RTTs.

    Parameters
    ----------
    rate : float [packets/s]
    rtt_s : float [s]
        The longest RTT, queueing included.
    flows : float
        The smallest number of flows.
    slope : float [1/packets]
        max_p / (max_th - min_th).
    pole : float [rad/s]
        -ln(1 - weight) x rate.

    Raises
    ------
    InputError
        If a quantity is not above 0.

    References
    ----------
    Hollot2001, Proposition 1.

    Examples
    --------
    >>> condition = hollot_condition(3750, 0.246, 60, 1.86e-4, 0.005)
    >>> round(condition.left, 2), round(condition.right, 2), round(condition.crossover, 3)
    (10.14, 10.62, 0.053)
    """
    if min(rate, rtt_s, flows, slope, pole) <= 0:
        raise InputError("rate, rtt_s, flows, slope, pole: must be above 0")
    crossover = 0.1 * min(2 * flows / (rtt_s**2 * rate), 1 / rtt_s)
    left = slope * (rtt_s * rate) ** 3 / (2 * flows) ** 2
    return HollotCondition(left, math.hypot(crossover / pole, 1), crossover)
