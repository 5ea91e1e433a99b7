"""Elastic traffic: flows that share the rate left by background traffic, and the background's loss at a small buffer.

Source: AugeRoberts2006 (processor sharing, loss rho^n, residual capacity); M/M/1/K Kleinrock1975; M/D/1/K Keilson1966;
a closed population of users, Andrew2005.
Differs from the source: AugeRoberts2006 states a load of 71 % for a buffer of 20 packets and a loss of 0.01; rho^n
gives 0.794 for this loss, and 0.708 for a loss of 0.001.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elephan.errors import InputError
from elephan.theory.equal_packets import equal_packets
from elephan.theory.fixed_points import blocking, occupancy
from elephan.theory.response import Response, bisect
from elephan.units import count

Arrivals = Literal["bound", "M/M/1/K", "M/D/1/K"]
"""Formula for the loss of a small buffer: the bound rho^n, or exact for exponential or for equal packet sizes."""


def _load(load: ArrayLike, below_one: bool = False) -> NDArray[np.float64]:
    """Check that loads are valid, and return them as an array."""
    values = np.asarray(load, dtype=float)
    if np.any(~(values >= 0)) or (below_one and np.any(values >= 1)):
        raise InputError(f"load: {load!r} must be at least 0" + (" and below 1" if below_one else ""))
    return values


def in_progress(load: ArrayLike, flows: ArrayLike) -> NDArray[np.float64]:
    """Probability of exactly n flows in progress under processor sharing: (1 - rho) rho^n.

    Parameters
    ----------
    load : array_like [1]
        Offered load of the flows over the capacity that they share, below 1.
    flows : array_like of int
        n, broadcast against `load`.

    Returns
    -------
    ndarray of float [1], broadcast shape

    Raises
    ------
    InputError
        If a load is not within [0, 1).

    References
    ----------
    AugeRoberts2006. The formula holds for any distribution of flow sizes if sessions start as a Poisson process.

    Examples
    --------
    >>> in_progress(0.5, [0, 1, 2])
    array([0.5  , 0.25 , 0.125])
    """
    rho = _load(load, below_one=True)
    return np.asarray((1 - rho) * rho ** np.asarray(flows, dtype=float))


def more_in_progress(load: ArrayLike, flows: ArrayLike) -> NDArray[np.float64]:
    """Probability of more than m flows in progress under processor sharing: rho^(m + 1).

    Parameters
    ----------
    load : array_like [1]
        As in `in_progress`.
    flows : array_like of int
        m, broadcast against `load`.

    Returns
    -------
    ndarray of float [1], broadcast shape

    Raises
    ------
    InputError
        If a load is not within [0, 1).

    References
    ----------
    AugeRoberts2006.

    Examples
    --------
    >>> float(more_in_progress(0.5, 4))
    0.03125
    """
    return np.asarray(_load(load, below_one=True) ** (np.asarray(flows, dtype=float) + 1))


def mean_in_progress(load: ArrayLike) -> NDArray[np.float64]:
    """Mean number of flows in progress under processor sharing: rho / (1 - rho).

    Parameters
    ----------
    load : array_like [1]

    Returns
    -------
    ndarray of float [flows], shape of `load`

    Raises
    ------
    InputError
        If a load is not within [0, 1).

    References
    ----------
    AugeRoberts2006.

    Examples
    --------
    >>> float(mean_in_progress(0.5))
    1.0
    """
    rho = _load(load, below_one=True)
    return np.asarray(rho / (1 - rho))


def mean_response(size_bytes: ArrayLike, rate_bps: ArrayLike, load: ArrayLike) -> NDArray[np.float64]:
    """Mean duration of a transfer of a given size under processor sharing: size / (rate (1 - rho)).

    Parameters
    ----------
    size_bytes : array_like [bytes]
    rate_bps : array_like [bit/s]
        Rate that the flows share.
    load : array_like [1]
        All three are broadcast.

    Returns
    -------
    ndarray of float [s], broadcast shape

    Raises
    ------
    InputError
        If a load is not within [0, 1).

    References
    ----------
    AugeRoberts2006, Kleinrock1975.

    Examples
    --------
    >>> float(mean_response(125e3, 10e6, 0.5))
    0.2
    """
    rho = _load(load, below_one=True)
    return np.asarray(8 * np.asarray(size_bytes, dtype=float) / (np.asarray(rate_bps, dtype=float) * (1 - rho)))


def loss(load: ArrayLike, packets: ArrayLike, arrivals: Arrivals = "bound") -> NDArray[np.float64]:
    """Loss ratio of Poisson packets at a buffer, if the link does not limit any flow.

    Parameters
    ----------
    load : array_like [1]
        Packets that arrive per service time; below 1 for the bound.
    packets : array_like of int
        Capacity n, including the packet in service; broadcast against `load`.
    arrivals : {"bound", "M/M/1/K", "M/D/1/K"}
        rho^n, the probability that an unlimited queue has at least n packets, which is an upper bound of the loss; or
        the exact loss with exponential packet sizes; or the exact loss with equal packet sizes.

    Returns
    -------
    ndarray of float [1], broadcast shape

    Raises
    ------
    InputError
        If a load or a buffer is out of range.

    References
    ----------
    AugeRoberts2006, Kleinrock1975, Keilson1966.

    Examples
    --------
    >>> [f"{float(loss(0.9, 100, model)):.3g}" for model in ("bound", "M/M/1/K", "M/D/1/K")]
    ['2.66e-05', '2.66e-06', '1.16e-10']
    """
    rho, places = np.broadcast_arrays(_load(load, below_one=arrivals == "bound"), np.asarray(packets, dtype=float))
    if np.any(places < 1):
        raise InputError(f"packets: {packets!r} must be at least 1")
    if arrivals == "bound":
        return np.asarray(rho**places)
    if arrivals == "M/M/1/K":
        with np.errstate(divide="ignore"):  # the logarithm of a load of 0
            return blocking(rho, np.floor(places))
    return equal_packets(rho, np.floor(places)).loss


def load_for_loss(target: ArrayLike, packets: ArrayLike) -> NDArray[np.float64]:
    """Load at which rho^n equals a given loss ratio: target^(1/n).

    Parameters
    ----------
    target : array_like [1]
        Loss ratio, within (0, 1).
    packets : array_like of int
        Broadcast against `target`.

    Returns
    -------
    ndarray of float [1], broadcast shape

    Raises
    ------
    InputError
        If a target is not within (0, 1).

    References
    ----------
    AugeRoberts2006.

    Examples
    --------
    >>> load_for_loss([0.01, 0.001], 20).round(3)
    array([0.794, 0.708])
    """
    return np.asarray(_target(target) ** (1 / np.asarray(packets, dtype=float)))


def buffer_for_loss(target: float, load: float, arrivals: Arrivals = "bound", limit: int = 4096) -> int:
    """Smallest buffer with at most a given loss ratio in the transparent regime (the link does not limit any flow).

    Parameters
    ----------
    target : float [1]
        Loss ratio, within (0, 1).
    load : float [1]
        Load, below 1.
    arrivals : {"bound", "M/M/1/K", "M/D/1/K"}
        As in `loss`.
    limit : int [packets]
        Largest buffer considered with an exact model.

    Returns
    -------
    int [packets]

    Raises
    ------
    InputError
        If the target or the load is out of range, or no buffer up to the limit is sufficient.

    References
    ----------
    AugeRoberts2006.

    Examples
    --------
    >>> buffer_for_loss(0.001, 0.7), buffer_for_loss(0.001, 0.7, "M/D/1/K")
    (20, 10)
    """
    goal, rho = float(_target(target)), float(_load(load, below_one=True))
    if arrivals == "bound":
        return max(1, math.ceil(math.log(goal) / math.log(rho) - 1e-12)) if rho > 0 else 1
    return _smallest(lambda n: float(loss(rho, n, arrivals)) <= goal, limit)


def _smallest(enough: Callable[[int], bool], limit: int) -> int:
    """Return the smallest n with a monotone property, by doubling and bisection."""
    high = 1
    while not enough(high):
        if high >= limit:
            raise InputError(f"target: no buffer of up to {count(limit, 'packet')} is enough")
        high = min(2 * high, limit)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _target(target: ArrayLike) -> NDArray[np.float64]:
    """Check that targets are loss ratios, and return them as an array."""
    values = np.asarray(target, dtype=float)
    if np.any(~((values > 0) & (values < 1))):
        raise InputError(f"target: {target!r} must lie strictly between 0 and 1")
    return values


class BottleneckedMix(NamedTuple):
    """A few bottlenecked flows on background traffic."""

    residual_bps: float
    """Residual rate: the rate that the background leaves to other flows [bit/s]."""
    load: float
    """Offered load of the bottlenecked flows over the residual rate [1]; NaN if they are permanent."""
    flows: int
    """Number of bottlenecked flows in progress that is exceeded with at most the probability `chance`."""
    background_packets: int
    """Buffer for the target loss of the background alone."""
    bottlenecked_packets: float
    """Residual rate x RTT: the buffer with which one Reno flow uses the residual rate completely."""
    regime: Literal["transparent", "elastic", "overload"]
    """Transparent: the link does not limit any flow; elastic: it limits a few; overload: the load exceeds its rate."""


def mixed(
    rate_bps: float,
    packet_bytes: float,
    rtt_s: float,
    background: float,
    offered: float = 0.0,
    *,
    loss_target: float = 1e-3,
    chance: float = 0.05,
) -> BottleneckedMix:
    """Buffer for bottlenecked flows on Poisson background traffic.

    Parameters
    ----------
    rate_bps : float [bit/s]
    packet_bytes : float [bytes]
    rtt_s : float [s]
        RTT of a bottlenecked flow, without queueing.
    background : float [1]
        Load of flows that are limited elsewhere, over the link's rate; below 1.
    offered : float [1]
        Load of finite flows that are limited only by the link, over the link's rate.
    loss_target : float [1]
        Accepted loss ratio of the background's packets.
    chance : float [1]
        Probability with which more than `flows` bottlenecked flows may be in progress.

    Raises
    ------
    InputError
        If a load, the target or the chance is out of range.

    References
    ----------
    AugeRoberts2006. Both buffers are returned, because the paper finds that the background's buffer is too small for a
    bottlenecked flow (it uses 40 % of the residual rate with 20 packets), and that the product is more than needed.

    Examples
    --------
    >>> answer = mixed(50e6, 1000, 0.1, background=0.5, offered=0.25)
    >>> answer.regime, answer.flows, answer.background_packets, answer.bottlenecked_packets
    ('elastic', 4, 10, 312.5)
    """
    _target(chance)
    residual = rate_bps * (1 - float(_load(background, below_one=True)))
    rho = float(_load(offered)) * rate_bps / residual
    # P(N > m) = rho^(m + 1) <= chance
    flows = max(0, math.ceil(math.log(chance) / math.log(rho) - 1 - 1e-12)) if 0 < rho < 1 else 0
    return BottleneckedMix(
        residual_bps=residual,
        load=rho,
        flows=flows,
        background_packets=buffer_for_loss(loss_target, background),
        bottlenecked_packets=residual * rtt_s / 8 / packet_bytes,
        regime="transparent" if rho == 0 else "elastic" if rho < 1 else "overload",
    )


def utilization(
    law: Response,
    rate: float,
    rtt_s: float,
    background: float,
    flows: float,
    buffer: float,
    arrivals: Arrivals = "M/M/1/K",
) -> float:
    """Utilization with permanent flows on Poisson background: the load at which flows and queue agree.

    The flows send w(p) segments per round-trip time. The loss p is that of a queue at which all packets together arrive
    as a Poisson process. The source announces a formula but does not give it; this formula is elephan's.

    Parameters
    ----------
    law : Response
        Response function of the flows.
    rate : float [packets/s]
    rtt_s : float [s]
        Round-trip time without queueing.
    background : float [1]
        Load of the background, below 1.
    flows : float
        Number of permanent flows.
    buffer : float [packets]
        Capacity for waiting packets, without the packet in service.
    arrivals : {"bound", "M/M/1/K", "M/D/1/K"}
        As in `loss`. Windows arrive in bursts, which vary more than Poisson arrivals of equal packets.

    Returns
    -------
    float [1]

    Raises
    ------
    InputError
        If the background is not within [0, 1), or another quantity is not above 0.

    References
    ----------
    AugeRoberts2006 (the regime, and the loss of a small buffer); the fixed point is that of Barman2004.
    *Differs from* packets: packets of a window arrive in bursts, and all have one size.

    Examples
    --------
    >>> from elephan.theory.laws import reno
    >>> [round(utilization(reno(), 6250, 0.1, 0.5, n, 20), 3) for n in (1, 2, 4)]
    [0.685, 0.723, 0.765]
    """
    _load(background, below_one=True)
    if min(rate, rtt_s, flows, buffer) <= 0:
        raise InputError("rate, rtt_s, flows, buffer: must be above 0")

    places = buffer + 1

    def without_flows(load: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the load minus the load that the flows offer at its loss and delay; the difference rises with load."""
        p = np.maximum(loss(load, places, arrivals), 1e-100)
        rtt = rtt_s + occupancy(load, places) / rate
        return load - flows * law.window(p, rtt) / (rate * rtt)

    # rho^n is a bound only for loads below 1.
    low, high = max(background, 1e-6), 1 - 1e-9 if arrivals == "bound" else 4.0
    load = bisect(without_flows, np.array(background), low, high)
    return float(load * (1 - loss(load, places, arrivals)))


def drain_time(packets: ArrayLike, packet_bytes: ArrayLike, rate_bps: ArrayLike) -> NDArray[np.float64]:
    """Time to send the contents of a full buffer.

    Parameters
    ----------
    packets : array_like [packets]
    packet_bytes : array_like [bytes]
    rate_bps : array_like [bit/s]
        All three are broadcast.

    Returns
    -------
    ndarray of float [s], broadcast shape

    References
    ----------
    AugeRoberts2006.

    Examples
    --------
    >>> float(drain_time(100, 500, 2.5e9))
    0.00016
    """
    bits = 8 * np.asarray(packets, dtype=float) * np.asarray(packet_bytes, dtype=float)
    return np.asarray(bits / np.asarray(rate_bps, dtype=float))


def active_by_balance(
    users: ArrayLike, think_s: ArrayLike, session_packets: ArrayLike, throughput: ArrayLike
) -> NDArray[np.float64]:
    """Mean number of users in a session, from the balance of begun and completed sessions: N - Z X / S.

    Parameters
    ----------
    users : array_like
        Number of users, N.
    think_s : array_like [s]
        Mean time between a user's sessions, Z.
    session_packets : array_like [packets]
        Mean size of a session, S.
    throughput : array_like [packets/s]
        Throughput of all users together, X; all four are broadcast.

    Returns
    -------
    ndarray of float, broadcast shape

    References
    ----------
    Andrew2005 (the population), Little1961 (the balance).

    Examples
    --------
    >>> active_by_balance([200, 500], 2.0, 100.5, 4000).round(1)
    array([120.4, 420.4])
    """
    idle = np.asarray(think_s, dtype=float) * np.asarray(throughput, dtype=float)
    return np.asarray(np.asarray(users, dtype=float) - idle / np.asarray(session_packets, dtype=float))


class Engset(NamedTuple):
    """Results for a closed population of users sharing a link."""

    active: float
    """Mean number of users in a session."""
    throughput: float
    """Throughput [packets/s]."""
    idle: float
    """Probability that no user is in a session [1]."""
    distribution: NDArray[np.float64]
    """Probability of n users in a session, shape (users + 1,)."""


def engset(users: int, think_s: float, session_packets: float, rate: float) -> Engset:
    """Model a closed population: each user alternately pauses (thinks) and transfers data by processor sharing.

    Parameters
    ----------
    users : int
        Number of users, at least 1.
    think_s : float [s]
        Mean thinking time, above 0.
    session_packets : float [packets]
        Mean size of a session.
    rate : float [packets/s]

    Raises
    ------
    InputError
        If the number of users is below 1, or another quantity is not above 0.

    References
    ----------
    Andrew2005 (the population), Kleinrock1975 (the finite-population queue). With processor sharing the model holds for
    any distributions of thinking times and sizes. It ignores TCP's round trips, so it is the limit of short RTTs.

    Examples
    --------
    >>> round(engset(200, 2.0, 100.5, 4000.0).active, 1)
    120.4
    """
    if users < 1 or min(think_s, session_packets, rate) <= 0:
        raise InputError("users, think_s, session_packets, rate: must be above 0")
    # P(n) is proportional to N!/(N - n)! r^n, with r the service time of a session over the thinking time.
    steps = np.log(np.arange(users, 0, -1.0)) + math.log(session_packets / rate / think_s)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    chances = weights / weights.sum()
    idle = float(chances[0])
    active = float(chances @ np.arange(users + 1.0))
    # 1 - idle would lose all digits if users think most of the time.
    return Engset(active, rate * float(chances[1:].sum()), idle, chances)
