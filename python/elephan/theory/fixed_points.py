"""Loss-responsive flows and a queue of Poisson arrivals: the load at which both agree.

*Source*: Barman2004, Sections III (drop-tail, M/M/1/K) and IV (RED, arrivals see time averages); the Markov chain of
RED's queue follows BonaldMayBolot2000. *Differs from the source*: the root is found by bisection, because fixed-point
iteration diverges except for tiny buffers; details that the paper leaves open are named options. *Differs from*
packets: Poisson arrivals have no bursts and no synchronised losses. With drop-tail, the utilization of this model is
nearly full with any buffer (99.5 % at a tenth of the bandwidth-delay product) and has no knee; simulations have one
near a tenth of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elephan.errors import InputError
from elephan.theory.equal_packets import equal_packets
from elephan.theory.response import Floats

# Function of loss rate and round-trip times [s] that returns rates [segments/s], such as `Response.throughput`.
Throughput = Callable[[Floats, Floats], Floats]

Delay = Literal["accepted", "occupancy", "none"]
Loss = Literal["blocking", "tail", "equal"]
Chain = Literal["thinned", "unthinned"]

Indices = NDArray[np.int64]
# Function of cases (buffers) and logarithms of loads. Returns loss, mean number of segments that delay an arrival, and
# utilisation.
_Queue = Callable[[Indices, Floats], tuple[Floats, Floats, Floats]]

# Number of loads in the search for roots, and the smallest loss rate for which a law is evaluated.
_GRID = 65
_LEAST_P = 1e-100
# Maximum number of flows x loads in one evaluation of a law: 8 MB per array.
_MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class FixedPoint:
    """A load at which flows and queue agree.

    Parameters
    ----------
    load : float [1]
        Offered load over the capacity of the link, rho.
    loss : float [1]
        Share of arrivals that are lost, which the flows use as their rate of loss events.
    utilisation : float [1]
    queue : float [segments]
        Mean number of segments that delay an arrival, by the chosen definition of the delay.
    rates : ndarray [segments/s], shape (n,)
    residual : float [1]
        Remaining error of the load; a value above 1e-6 is the size of a jump of the response function.

    Examples
    --------
    >>> from elephan.theory import hstcp
    >>> len(droptail(hstcp.throughput, 125_000, 1250, [0.12] * 10))
    1
    """

    load: float
    loss: float
    utilisation: float
    queue: float
    rates: Floats
    residual: float


@dataclass(frozen=True)
class RedThresholds:
    """RED as a function of the instantaneous queue.

    Parameters
    ----------
    min_th, max_th : float [segments]
    p_max : float [1]
        Drop probability at max_th; above max_th all arrivals are dropped.
    gentle : bool
        Whether the probability instead rises from p_max at max_th to 1 at twice max_th.

    Examples
    --------
    >>> RedThresholds(40, 100, 0.1).drop([40, 70, 100, 101]).round(3).tolist()
    [0.0, 0.05, 0.1, 1.0]
    """

    min_th: float
    max_th: float
    p_max: float = 0.1
    gentle: bool = False

    def drop(self, queue: ArrayLike) -> Floats:
        """Drop probability of an arrival.

        Parameters
        ----------
        queue : array_like [segments]

        Returns
        -------
        ndarray [1]

        Examples
        --------
        >>> RedThresholds(40, 100, 0.1, gentle=True).drop(150).round(3).tolist()
        0.55
        """
        n = np.asarray(queue, dtype=float)
        rising = self.p_max * (n - self.min_th) / (self.max_th - self.min_th)
        beyond = self.p_max + (1 - self.p_max) * (n - self.max_th) / self.max_th if self.gentle else np.ones_like(n)
        return np.asarray(np.clip(np.where(n <= self.max_th, rising, beyond), 0.0, 1.0))


def blocking(load: ArrayLike, buffer: ArrayLike) -> Floats:
    """Share of arrivals that find an M/M/1/K system full: (1 - rho) rho^K / (1 - rho^(K + 1)).

    Parameters
    ----------
    load : array_like [1]
        Above 0, also above 1.
    buffer : array_like [segments]
        K, including the segment in service.

    Returns
    -------
    ndarray [1]
        Relative error 1e-12.

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> blocking([0.5, 1.0], 5).round(6).tolist()
    [0.015873, 0.166667]
    """
    log, k = np.broadcast_arrays(np.log(np.asarray(load, dtype=float)), np.asarray(buffer, dtype=float))
    safe = np.where(log == 0, 1.0, np.abs(log))
    # The largest power is factored out to avoid overflow.
    share = np.expm1(-safe) / np.expm1(-(k + 1) * safe) * np.exp(np.minimum(k * log, 0))
    return np.asarray(np.where(log == 0, 1 / (k + 1), share))


def occupancy(load: ArrayLike, buffer: ArrayLike) -> Floats:
    """Mean number in an M/M/1/K system.

    Parameters
    ----------
    load : array_like [1]
    buffer : array_like [segments]
        K. With K - 1 it is the mean number that accepted arrivals find.

    Returns
    -------
    ndarray [segments]

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> occupancy(0.9, [10, 9]).round(4).tolist()
    [3.9694, 3.6466]
    """
    log, k = np.broadcast_arrays(np.log(np.asarray(load, dtype=float)), np.asarray(buffer, dtype=float))
    places = k + 1
    flat = np.abs(log) * places < 1e-4
    safe = np.where(flat, 1.0, log)
    # rho / (1 - rho) - N rho^N / (1 - rho^N), or a series if both terms are large. For loads above 1, the number of
    # empty places is computed by the same formula with 1/rho.
    down = -np.abs(safe)
    mean = 1 / np.expm1(-down) - places / np.expm1(np.minimum(-places * down, 700.0))
    mean = np.where(safe > 0, k - mean, mean)
    return np.asarray(np.where(flat, k / 2 + (places**2 - 1) * log / 12, mean))


def droptail(
    throughput: Throughput,
    rate: float,
    buffer: float,
    rtts: ArrayLike,
    *,
    delay: Delay = "accepted",
    loss: Loss = "blocking",
) -> list[FixedPoint]:
    """Loads at which flows through a drop-tail queue, modelled as M/M/1/K, offer exactly this load.

    Parameters
    ----------
    throughput : callable
        Function of loss rate and round-trip times, which are broadcast: `hstcp.throughput` or the method of a
        `Response`.
    rate : float [segments/s]
        Rate of the link.
    buffer : float [segments]
        K.
    rtts : array_like [s], shape (n,)
        RTTs without queueing.
    delay : {"accepted", "occupancy", "none"}
        Number of segments that delay a segment: the mean number that accepted arrivals find, the mean number in the
        system, or none.
    loss : {"blocking", "tail", "equal"}
        Loss ratio: share of arrivals at a full system; rho^K, the share of time for which an unlimited queue has K or
        more; or share of arrivals at a full system with packets of one size, M/D/1/K.

    Returns
    -------
    list of FixedPoint
        Fixed points by load; exactly one if throughput falls with loss and delay, which every published law fulfils.

    Raises
    ------
    InputError
        If an argument is out of range, if there is no fixed point, or if ``loss`` is ``"equal"`` and ``delay`` is not
        ``"none"``.

    References
    ----------
    Barman2004; Keilson1966.

    Examples
    --------
    >>> from elephan.theory import hstcp
    >>> [point] = droptail(hstcp.throughput, 125_000, 1250, [0.12] * 10)
    >>> round(point.utilisation, 3)
    0.995
    """
    [points] = droptail_each(throughput, rate, [buffer], rtts, delay=delay, loss=loss)
    return points


def droptail_each(
    throughput: Throughput,
    rate: float,
    buffers: ArrayLike,
    rtts: ArrayLike,
    *,
    delay: Delay = "accepted",
    loss: Loss = "blocking",
) -> list[list[FixedPoint]]:
    """`droptail` for many buffers at once.

    Parameters
    ----------
    throughput : callable
        As for `droptail`; called with arrays of shape (m, 1) and (m, n).
    rate : float [segments/s]
    buffers : array_like [segments], shape (buffers,)
    rtts : array_like [s], shape (n,)
    delay : {"accepted", "occupancy", "none"}
    loss : {"blocking", "tail", "equal"}

    Raises
    ------
    InputError
        As in `droptail`.

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> from elephan.theory import hstcp
    >>> points = droptail_each(hstcp.throughput, 125_000, [125, 1250], [0.12] * 10)
    >>> [round(point.utilisation, 3) for [point] in points]
    [0.932, 0.995]
    """
    room = np.asarray(buffers, dtype=float)
    _check(rate, room)
    _named("delay", delay, get_args(Delay))
    _named("loss", loss, get_args(Loss))
    if loss == "equal" and delay != "none":
        raise InputError(f'fixed point: delay is "{delay}"; with the loss of equal packets write none')

    def queue(which: Indices, logs: Floats) -> tuple[Floats, Floats, Floats]:
        load, k = np.exp(logs), room[which]
        if loss == "equal":
            p = equal_packets(load, k).loss
            return p, np.zeros_like(p), load * (1 - p)
        p = blocking(load, k) if loss == "blocking" else np.exp(np.minimum(k * logs, 0.0))
        found = occupancy(load, np.maximum(k - 1, 0.0) if delay == "accepted" else k)
        return p, np.zeros_like(p) if delay == "none" else found, load * (1 - p)

    return _solve(throughput, rate, rtts, queue, room.size)


def red(
    throughput: Throughput,
    rate: float,
    buffer: int,
    rtts: ArrayLike,
    thresholds: RedThresholds,
    *,
    delay: Delay = "accepted",
    chain: Chain = "thinned",
) -> list[FixedPoint]:
    """Loads at which flows through a RED queue, modelled with Poisson arrivals, offer exactly this load.

    Parameters
    ----------
    throughput : callable
        As for `droptail`.
    rate : float [segments/s]
    buffer : int [segments]
        K; arrivals at a queue of K are dropped.
    rtts : array_like [s], shape (n,)
        RTTs without queueing.
    thresholds : RedThresholds
        Thresholds of the instantaneous queue; RED itself uses an average.
    delay : {"accepted", "occupancy", "none"}
        As for `droptail`.
    chain : {"thinned", "unthinned"}
        Distribution of the queue that RED observes: that of arrivals thinned by RED's own drops, or that of M/M/1/K.

    Returns
    -------
    list of FixedPoint
        Fixed points by load.

    Raises
    ------
    InputError
        If an argument is out of range, or there is no fixed point.

    References
    ----------
    Barman2004; BonaldMayBolot2000.

    Examples
    --------
    >>> from elephan.theory import hstcp
    >>> [point] = red(hstcp.throughput, 125_000, 1250, [0.12] * 10, RedThresholds(500, 1250))
    >>> round(point.utilisation, 3)
    0.988
    """
    [points] = red_each(throughput, rate, [buffer], rtts, [thresholds], delay=delay, chain=chain)
    return points


def red_each(
    throughput: Throughput,
    rate: float,
    buffers: ArrayLike,
    rtts: ArrayLike,
    thresholds: Sequence[RedThresholds],
    *,
    delay: Delay = "accepted",
    chain: Chain = "thinned",
) -> list[list[FixedPoint]]:
    """`red` for many buffers at once.

    Parameters
    ----------
    throughput : callable
        As for `droptail_each`.
    rate : float [segments/s]
    buffers : array_like of int [segments], shape (buffers,)
    rtts : array_like [s], shape (n,)
    thresholds : sequence of RedThresholds
        One value for each buffer.
    delay : {"accepted", "occupancy", "none"}
    chain : {"thinned", "unthinned"}

    Raises
    ------
    InputError
        As in `red`.

    References
    ----------
    Barman2004; BonaldMayBolot2000.

    Examples
    --------
    >>> from elephan.theory import hstcp
    >>> curve = RedThresholds(500, 1250)
    >>> points = red_each(hstcp.throughput, 125_000, [1250], [0.12] * 10, [curve])
    >>> [round(point.utilisation, 3) for [point] in points]
    [0.988]
    """
    room = np.asarray(buffers, dtype=int)
    _check(rate, room)
    _named("delay", delay, get_args(Delay))
    _named("chain", chain, get_args(Chain))
    states = [_States(int(k), curve, chain) for k, curve in zip(room, thresholds, strict=True)]

    def queue(which: Indices, logs: Floats) -> tuple[Floats, Floats, Floats]:
        rows = np.array([states[case].at(log) for case, log in zip(which.tolist(), logs.tolist(), strict=True)])
        p, accepted, mean, used = rows.T
        return p, {"accepted": accepted, "occupancy": mean, "none": np.zeros_like(p)}[delay], used

    return _solve(throughput, rate, rtts, queue, room.size)


class _States:
    """Markov chain of RED's queue with one buffer: states, drop probabilities, and weights independent of the load."""

    def __init__(self, buffer: int, thresholds: RedThresholds, chain: Chain) -> None:
        self.n = np.arange(buffer + 1, dtype=float)
        self.drop = thresholds.drop(self.n)
        self.drop[-1] = 1.0
        with np.errstate(divide="ignore"):
            thin = np.concatenate(([0.0], np.cumsum(np.log1p(-self.drop[:-1]))))
        self.kept = thin if chain == "thinned" else np.zeros(self.n.size)
        # Values averaged over the states: drops, accepted arrivals and the number they find, the number in the system.
        keep = 1 - self.drop
        self.means = np.column_stack((self.drop, keep, keep * self.n, self.n))

    def at(self, log: float) -> tuple[float, float, float, float]:
        """Return loss, mean number that accepted arrivals find, mean number and utilisation at the log of a load."""
        weight = self.n * log
        weight += self.kept
        weight -= weight.max()
        law = np.exp(weight, out=weight)
        # The values are computed from accepted arrivals, which avoids cancellation if 1 - p is small.
        p, passed, found, mean = (law @ self.means).tolist()
        total = float(law.sum())
        return p / total, found / passed, mean / total, 1 - float(law[0]) / total


def _solve(throughput: Throughput, rate: float, rtts: ArrayLike, queue: _Queue, cases: int) -> list[list[FixedPoint]]:
    """Find all loads that the flows offer if the queue is the one that this load causes."""
    tau = np.asarray(rtts, dtype=float)
    if tau.ndim != 1 or not tau.size or not (tau > 0).all():
        raise InputError("fixed point: rtts must be a list of times above 0, one for each flow")

    def offered(p: Floats, mean: Floats) -> Floats:
        seen = np.clip(p, _LEAST_P, 1.0)
        return np.asarray(throughput(seen[:, None], tau + mean[:, None] / rate))

    def excess(which: Indices, logs: Floats) -> Floats:
        p, mean, _ = queue(which, logs)
        lot = max(1, _MOST_CELLS // tau.size)
        total = [offered(p[i : i + lot], mean[i : i + lot]).sum(-1) for i in range(0, p.size, lot)]
        return np.concatenate(total) / rate - np.exp(logs)

    # The grid is dense near a load of 1, where the loss rate changes by orders of magnitude.
    spread = np.geomspace(1e-6, 20.0, _GRID // 2)
    grid = np.concatenate((-spread[::-1], [0.0], spread))
    every = np.repeat(np.arange(cases), grid.size)
    above = (excess(every, np.tile(grid, cases)) > 0).reshape(cases, grid.size)
    which, cell = np.nonzero(above[:, :-1] != above[:, 1:])
    if np.unique(which).size < cases:
        raise InputError(
            "fixed point: no load between 2e-9 and 5e8 capacities agrees with the flows; is the link's rate right?"
        )
    logs = _bisected(lambda x: (excess(which, x) > 0) == above[which, cell], grid[cell], grid[cell + 1])
    p, mean, used = queue(which, logs)
    residual = np.abs(excess(which, logs))
    found: list[list[FixedPoint]] = [[] for _ in range(cases)]
    for i, case in enumerate(which):
        [rates] = offered(p[i : i + 1], mean[i : i + 1])
        load, lost, busy, waiting = (float(x[i]) for x in (np.exp(logs), p, used, mean))
        found[case].append(FixedPoint(load, lost, busy, waiting, rates, float(residual[i])))
    return found


def _bisected(left: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    """Bisect all brackets to rounding error; `left` returns whether the root is above its argument."""
    while True:
        middle = (low + high) / 2
        if ((high - low) <= 1e-15 + 2e-16 * np.abs(middle)).all():
            return np.asarray(middle)
        short = left(middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)


def _check(rate: float, buffers: ArrayLike) -> None:
    room = np.asarray(buffers)
    if rate <= 0 or room.ndim != 1 or not (room >= 1).all():
        raise InputError("fixed point: the rate must be above 0 and the buffer at least one segment")


def _named(what: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise InputError(f'fixed point: {what} is "{name}"; write {", ".join(names)}')
