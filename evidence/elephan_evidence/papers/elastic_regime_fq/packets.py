"""Packets as they arrive at the bottleneck: bursts, losses within them, waits, and how many flows have packets waiting.

Source: AugeRoberts2006, Figure 4 and Section 6, which have no numbers for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from elephan_evidence.papers.runs import ExperimentPoint

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

GAP = 5e-3
"""Gap that ends a burst [s]: a twentieth of the round trip. Between 2 and 10 ms the rate differs by below 1 %."""


class PacketBursts(NamedTuple):
    """Bursts of some of the packets of one replication.

    Parameters
    ----------
    idle : float
        Share of time between bursts.
    rate : float
        Rate of all packets that arrive during bursts, over the link's.
    own : float
        Rate of the selected packets during bursts, over the link's.
    place : float
        Mean position of losses within their burst, from 0 to 1; NaN without losses.
    middle : float
        Mean position of losses if each packet were lost with the same probability.
    """

    idle: float
    rate: float
    own: float
    place: float
    middle: float


def of_flow(point: ExperimentPoint, packet: float) -> list[PacketBursts]:
    """Return the bursts of the first flow, for each replication.

    Parameters
    ----------
    point : ExperimentPoint
        A point with recorded packets.
    packet : float [s]
        Time of a packet in service.
    """
    return _each(point, lambda flow: flow == 0, packet)


def of_poisson(point: ExperimentPoint, packet: float) -> list[PacketBursts]:
    """Return the bursts of background streams with as many packets as the flow, as a reference without structure.

    Parameters
    ----------
    packet : float [s]
    """

    def streams(flow: NDArray[np.int64]) -> Bools:
        counts = np.bincount(flow)
        together = np.cumsum(counts[1:])
        return (flow > 0) & (flow <= 1 + int(np.argmin(np.abs(together - counts[0]))))

    return _each(point, streams, packet)


def waits(point: ExperimentPoint) -> list[float]:
    """Return the mean wait of background packets beside two flows, for each replication [s]."""
    packets = point.packets
    mine = (packets["flow"] >= 2) & ~packets["dropped"]
    replication, waited = packets["replication"][mine], packets["waited_s"][mine]
    return [float(np.nanmean(waited[replication == one])) for one in np.unique(replication)]


def waiting(point: ExperimentPoint) -> list[float]:
    """Return the number of flows with waiting packets that 1 of 1000 instants exceed, for each replication."""
    packets = point.packets
    found = []
    for one in np.unique(packets["replication"]):
        mine = (packets["replication"] == one) & ~packets["dropped"]
        flow, arrived = packets["flow"][mine], packets["time_s"][mine]
        left = arrived + packets["waited_s"][mine]
        at = np.linspace(arrived[0], arrived[-1], 20_000)
        counts = np.zeros(at.size)
        for each in np.unique(flow):
            own = flow == each
            counts += np.searchsorted(arrived[own], at) > np.searchsorted(np.sort(left[own]), at)
        found.append(float(np.quantile(counts, 0.999)))
    return found


def _each(point: ExperimentPoint, which: Callable[[NDArray[np.int64]], Bools], packet: float) -> list[PacketBursts]:
    packets, found = point.packets, []
    for one in np.unique(packets["replication"]):
        mine = packets["replication"] == one
        time, flow, dropped = (packets[name][mine] for name in ("time_s", "flow", "dropped"))
        found.append(_stripes(time, dropped, which(flow), packet))
    return found


def _stripes(every: Floats, dropped: Bools, which: Bools, packet: float) -> PacketBursts:
    """Select the given arrivals from all arrivals in order."""
    time, lost = every[which], dropped[which]
    first = np.flatnonzero(np.diff(time, prepend=-np.inf) > GAP)
    last = np.append(first[1:], time.size) - 1
    length = float((time[last] - time[first]).sum())
    inside = np.searchsorted(every, time[last]) - np.searchsorted(every, time[first])
    burst = np.repeat(np.arange(first.size), last - first + 1)
    place = (np.arange(time.size) - first[burst]) / np.maximum(last - first, 1)[burst]
    return PacketBursts(
        1 - length / float(every[-1] - every[0]),
        float(inside.sum()) * packet / length,
        float((last - first).sum()) * packet / length,
        float(place[lost].mean()) if lost.any() else float("nan"),
        float(place.mean()),
    )
