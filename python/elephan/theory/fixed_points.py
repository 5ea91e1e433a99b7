"""Flows that answer to loss, and a queue of Poisson arrivals that makes it: the load at which both agree.

*Source*: Barman2004, Sections III (drop-tail, M/M/1/K) and IV (RED, arrivals see time averages); the chain behind RED
follows BonaldMayBolot2000. *Differs from the source*: a bracketed root, since plain substitution diverges for all but
tiny buffers; what the print leaves open is an option with a name.
*Differs from* packets: Poisson arrivals know no bursts and no synchronised losses. Drop-tail comes out nearly full at
any buffer (99.5 % at a tenth of the bandwidth-delay product) and shows no knee; simulations show one near there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from elephan.errors import InputError
from elephan.theory.response import Floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Loss rate and round-trip times [s] to rates [segments/s]: `hstcp.throughput`, or `Response.throughput` of any law.
Throughput = Callable[[Floats, Floats], Floats]

Delay = Literal["accepted", "occupancy", "none"]
Loss = Literal["blocking", "tail"]
Chain = Literal["thinned", "unthinned"]

# Loads that are looked at for roots, and the loss rate below which a law is not asked.
_GRID = 65
_LEAST_P = 1e-100


@dataclass(frozen=True)
class FixedPoint:
    """One load at which flows and queue agree.

    Parameters
    ----------
    load : float [1]
        Offered, in capacities of the link: rho.
    loss : float [1]
        Share of arrivals lost, which the flows take for their loss events.
    utilisation : float [1]
    queue : float [segments]
        Mean number that delays an arrival under the reading of the delay.
    rates : ndarray [segments/s], shape (n,)
    residual : float [1]
        What the load misses by: above 1e-6 the law jumps there, and this is the jump.

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
class Thresholds:
    """RED as a function of the instantaneous queue.

    Parameters
    ----------
    min_th, max_th : float [segments]
    p_max : float [1]
        Reached at max_th. Beyond it everything is dropped.
    gentle : bool
        Beyond max_th the probability rises to one at twice max_th instead.

    Examples
    --------
    >>> Thresholds(40, 100, 0.1).drop([40, 70, 100, 101]).round(3).tolist()
    [0.0, 0.05, 0.1, 1.0]
    """

    min_th: float
    max_th: float
    p_max: float = 0.1
    gentle: bool = False

    def drop(self, queue: ArrayLike) -> Floats:
        """Probability at which an arrival is dropped.

        Parameters
        ----------
        queue : array_like [segments]

        Returns
        -------
        ndarray [1]

        Examples
        --------
        >>> Thresholds(40, 100, 0.1, gentle=True).drop(150).round(3).tolist()
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
        Above 0; 1 and more too.
    buffer : array_like [segments]
        K, the one in service included.

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
    # Of the larger powers one is taken out, so that nothing overflows.
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
    # rho / (1 - rho) - N rho^N / (1 - rho^N); the series where both terms are huge. Above full load count the holes.
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
    """Loads at which flows through a drop-tail queue agree with M/M/1/K.

    Parameters
    ----------
    throughput : callable
        Of loss rate and round-trip times, broadcast: `hstcp.throughput` or the method of a `Response`.
    rate : float [segments/s]
        Of the link.
    buffer : float [segments]
        K.
    rtts : array_like [s], shape (n,)
        Without queueing.
    delay : {"accepted", "occupancy", "none"}
        What a segment waits for: the mean number that accepted arrivals find, the mean number there is, or nothing.
    loss : {"blocking", "tail"}
        What is lost: arrivals at a full system, or rho^K, the share of time an unlimited queue is at K or above.

    Returns
    -------
    list of FixedPoint
        By load. Exactly one if throughput falls with loss and delay, as it does for every published law.

    Raises
    ------
    InputError
        If an argument is out of range, or no load agrees.

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> from elephan.theory import hstcp
    >>> [point] = droptail(hstcp.throughput, 125_000, 1250, [0.12] * 10)
    >>> round(point.utilisation, 3)
    0.995
    """
    _check(rate, buffer)
    _named("delay", delay, get_args(Delay))
    _named("loss", loss, get_args(Loss))
    waiting = {"accepted": max(buffer - 1, 0.0), "occupancy": buffer}

    def queue(load: float) -> tuple[float, float, float]:
        log = np.log(load)
        p = float(blocking(load, buffer)) if loss == "blocking" else float(np.exp(min(buffer * log, 0.0)))
        mean = float(occupancy(load, waiting[delay])) if delay in waiting else 0.0
        return p, mean, load * (1 - p)

    return _solve(throughput, rate, rtts, queue)


def red(
    throughput: Throughput,
    rate: float,
    buffer: int,
    rtts: ArrayLike,
    thresholds: Thresholds,
    *,
    delay: Delay = "accepted",
    chain: Chain = "thinned",
) -> list[FixedPoint]:
    """Loads at which flows through a RED queue agree with the drops that Poisson arrivals find.

    Parameters
    ----------
    throughput : callable
        As for `droptail`.
    rate : float [segments/s]
    buffer : int [segments]
        K, beyond which everything is dropped.
    rtts : array_like [s], shape (n,)
        Without queueing.
    thresholds : Thresholds
        Of the instantaneous queue, where RED takes an average.
    delay : {"accepted", "occupancy", "none"}
        As for `droptail`.
    chain : {"thinned", "unthinned"}
        Whether what RED drops is missing from the queue it looks at, or the law of that queue is M/M/1/K.

    Returns
    -------
    list of FixedPoint
        By load.

    Raises
    ------
    InputError
        If an argument is out of range, or no load agrees.

    References
    ----------
    Barman2004; BonaldMayBolot2000.

    Examples
    --------
    >>> from elephan.theory import hstcp
    >>> [point] = red(hstcp.throughput, 125_000, 1250, [0.12] * 10, Thresholds(500, 1250))
    >>> round(point.utilisation, 3)
    0.988
    """
    _check(rate, buffer)
    _named("delay", delay, get_args(Delay))
    _named("chain", chain, get_args(Chain))
    n = np.arange(buffer + 1, dtype=float)
    drop = thresholds.drop(n)
    drop[-1] = 1.0
    with np.errstate(divide="ignore"):
        kept = np.concatenate(([0.0], np.cumsum(np.log1p(-drop[:-1])))) if chain == "thinned" else np.zeros(n.size)

    def queue(load: float) -> tuple[float, float, float]:
        weight = n * np.log(load) + kept
        law = np.exp(weight - weight.max())
        law /= law.sum()
        p = float(law @ drop)
        accepted = law * (1 - drop)
        # From what is accepted, so that nothing is lost where 1 - p is small.
        passed = float(accepted.sum())
        mean = {"accepted": float(accepted @ n) / passed, "occupancy": float(law @ n), "none": 0.0}[delay]
        return p, mean, 1 - float(law[0])

    return _solve(throughput, rate, rtts, queue)


def _solve(
    throughput: Throughput, rate: float, rtts: ArrayLike, queue: Callable[[float], tuple[float, float, float]]
) -> list[FixedPoint]:
    """Find all loads that the flows offer when the queue that such a load makes is what they see."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to load, and a door lists models without it

    tau = np.asarray(rtts, dtype=float)
    if tau.ndim != 1 or not tau.size or not (tau > 0).all():
        message = "fixed point: rtts must be a list of times above 0, one for each flow"
        raise InputError(message)

    def offered(load: float) -> Floats:
        p, mean, _ = queue(load)
        return np.asarray(throughput(np.asarray(min(max(p, _LEAST_P), 1.0)), tau + mean / rate))

    def excess(log: float) -> float:
        load = float(np.exp(log))
        return float(offered(load).sum()) / rate - load

    # Dense about full load, where the loss rate changes by orders of magnitude.
    spread = np.geomspace(1e-6, 20.0, _GRID // 2)
    grid = np.concatenate((-spread[::-1], [0.0], spread))
    signs = [excess(x) > 0 for x in grid]
    found = []
    for low, high, before, after in zip(grid[:-1], grid[1:], signs[:-1], signs[1:], strict=True):
        if before == after:
            continue
        log = float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14))
        load = float(np.exp(log))
        p, mean, utilisation = queue(load)
        found.append(FixedPoint(load, p, utilisation, mean, offered(load), abs(excess(log))))
    if not found:
        message = (
            "fixed point: no load between 2e-9 and 5e8 capacities agrees with the flows; is the link's rate right?"
        )
        raise InputError(message)
    return found


def _check(rate: float, buffer: float) -> None:
    if rate <= 0 or buffer < 1:
        message = "fixed point: the rate must be above 0 and the buffer at least one segment"
        raise InputError(message)


def _named(what: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        message = f'fixed point: {what} is "{name}"; write {", ".join(names)}'
        raise InputError(message)
