"""Estimated memory of a replication at its peak, and of its results.

The engine itself reports the sizes of its types (`_native.memory_sizes`). Further allocations were measured with
`tools/estimate_check.py`, which prints this estimate next to the peaks of real runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from elephan import _native
from elephan.costs.traffic import ExpectedTraffic, recorded
from elephan.network import FlowGroup, Network, NetworkLink

GROWTH = 1.5
"""Ratio of allocated to used length of vectors, which grow by factors of 1.5 or 2."""

RING = 1.8
"""Ratio of allocated to used length of the ring buffers of waiting packets: they grow by half and free entries late."""

BURST = 5.0
"""Allocated entries per packet of one BDP: slow start ends with two BDP in flight, and entries are freed late."""

RECOVERY = {"rack": 280, "prr": 96, "sack": 96}
"""Memory of each recovery algorithm in addition to the sender [bytes]; 48 for others."""

NOTED = 88
"""Memory of the counters saved per flow at the end of a warm-up, and at samples [bytes]."""

DEPARTURE = 8
"""Memory per packet in flight for its send time, if the recovery or the law records it [bytes]."""

DELIVERY = 40
"""Memory per packet in flight for the delivery rate, if the law measures it [bytes]."""

OPTIONAL = 260
"""Memory of a sender for a law that uses more than one RTT sample per round [bytes]."""

BURSTS = 320
"""Memory of a sender for bursts: pacing and departures [bytes]."""

TUNED = 310
"""Memory of both ends for a receive window that grows [bytes]."""

DELIVERIES = frozenset({"bbr3", "bbr1", "packet-pair"})
"""Laws that measure the rate of delivery (`Needs::deliveries` in the crate `elephan-law`)."""

EVERY_RTT = DELIVERIES | {"compound", "fast", "ghstcp", "illinois", "prague", "vegas", "xcp", "yeah"}
"""Laws that need more than one RTT sample per round: `DELIVERIES` and laws with `Needs::every_rtt` or `headers`."""

DELIVERED = 900
"""Memory of a sender that measures the delivery rate [bytes]."""

QUEUED = 64
"""Memory per packet that waits in a discipline with its own queue of packets [bytes], see `FIFO`."""

FIFO = frozenset({"drop-tail", "red", "ared", "gared", "pie", "rem", "blue", "pd-red"})
"""Disciplines that drop only on arrival (`admissions` in the crate `elephan-queue`), and store a count, not packets."""

DISCIPLINE = {"fq-codel": 1024 * 64, "sfq": 1024 * 8, "dualpi2": 2000}
"""Memory of each discipline itself [bytes]; 500 for others."""

BINS = 32 * 8
"""Memory of a histogram per doubling of its largest value [bytes]."""

COLUMNS = 13 * 8
"""Memory of a flow's row in the columns of a result [bytes]."""

LINK_COLUMNS = 30 * 8
"""Memory of a link's row in the columns of a result [bytes]."""

WRITE = 24
"""Memory of a write of an application: of the pending write, and of the transfer in the results [bytes]."""

BUCKET = 44
"""Memory of an arrival in the engine's time window, whose arrivals a link sorts [bytes]."""

HELD = 44
"""Memory of a packet that a link has served but still delays; it is stored as an arrival, see `BUCKET` [bytes]."""

ARRIVALS, ARRIVALS_PER_FLOW = 8192, 4
"""Minimum number of arrivals in a time window, and arrivals per flow, as in the engine."""

PROCESS = 75e6
"""Memory of the Python process with the modules of a run loaded [bytes]."""


@dataclass(frozen=True)
class ExpectedMemory:
    """Memory of one replication by component.

    Parameters
    ----------
    flows, links, packets, series, recorded, writes : float [bytes]
        Memory at the peak, while the replication runs.
    result : float [bytes]
        Memory of its result, kept until all replications are done.
    """

    flows: float
    links: float
    packets: float
    series: float
    recorded: float
    result: float
    writes: float = 0.0

    @property
    def peak(self) -> float:
        """Peak during the run [bytes]."""
        return self.flows + self.links + self.packets + self.series + self.recorded + self.writes


@cache
def sizes() -> dict[str, int]:
    """Return the sizes of the engine's types [bytes]."""
    return dict(_native.memory_sizes())


def expected_memory(network: Network, traffic: ExpectedTraffic, *, series: bool = False) -> ExpectedMemory:
    """Estimate the memory of one replication.

    Parameters
    ----------
    series : bool
        Whether samples of cwnd, srtt and backlog are kept.

    Examples
    --------
    >>> from elephan.costs.traffic import expected_traffic
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> network = Scenario.from_text(EXAMPLE).network
    >>> expected_memory(network, expected_traffic(network)).peak < 1e6
    True
    """
    size = sizes()
    senders = sum(group.flows * group.places for group in network.groups)
    any_return = any(group.return_path for group in network.groups)
    flows = float(senders * size["receiver_ring"] * any_return)
    noted = NOTED * (network.warmup_s > 0.0 or network.every_s is not None)
    packets = 0.0
    for group, in_flight, at_access in zip(network.groups, traffic.in_flight, traffic.at_access, strict=True):
        # Base RTTs are Python numbers: 8 bytes for a reference, and 24 more for an object if they differ.
        flows += len(group.rtts_s) * (32 if group.rtts_s[0] != group.rtts_s[-1] else 8)
        flows += group.flows * (size["flow"] + noted * group.is_tcp + group.places * _sender(group))
        # Packets that wait at links are in flight, too; they are counted below, with the links.
        packets += in_flight * _packet(group) + at_access * GROWTH * (size["packet"] + _noted(group))
    links = result_links = 0.0
    samples = 0.0 if network.every_s is None else math.ceil(network.duration_s / network.every_s)
    members = sum(link.members for link in network.links)
    answered = {link for group in network.groups if group.is_tcp for link in (*group.path, *group.return_path)}
    each_link = zip(network.links, traffic.waiting, traffic.served, traffic.held, strict=True)
    for link, waiting, served, held in each_link:
        links += link.members * (size["link"] + size["link_outcome"] + _discipline(link))
        counted = _histograms(network, link, served, samples)
        links += link.members * counted
        # The engine's time window is at most as long as an RTT; datagrams have no RTT.
        answers = link.index in answered and math.isfinite(link.min_rtt_s)
        rtt_s = link.min_rtt_s if answers else network.duration_s
        most = served / link.members * min(1.0, rtt_s / network.duration_s)
        window = min(most, max(ARRIVALS, ARRIVALS_PER_FLOW * senders / members))
        links += link.members * window * BUCKET
        stored = RING * size["packet"] if link.discipline in FIFO else QUEUED
        packets += min(waiting, served) * stored + held * HELD
        result_links += LINK_COLUMNS + counted
    flows_in_all = sum(group.flows for group in network.groups)
    kept = samples * (40.0 * flows_in_all + 12.0 * len(network.links) + 8.0) if series else 0.0
    more = recorded(network, traffic)
    rows = 64.0 * GROWTH * (more["trace"] + more["packets"])
    ended = sum(traffic.transfers) if series else 0.0
    columns = flows_in_all * COLUMNS + result_links + ended * 40
    return ExpectedMemory(
        flows=flows,
        links=links,
        packets=packets,
        # Growing lists, and a copy of the data as columns.
        series=(GROWTH + 1.0) * kept + ended * 100,
        recorded=rows + 1.0 * rows,
        result=columns + kept + rows,
        writes=GROWTH * WRITE * sum(traffic.writes),
    )


def _sender(group: FlowGroup) -> float:
    """Memory of a sender without packets in flight [bytes]."""
    size = sizes()
    hops = len(group.path) + len(group.return_path)
    own = size["tcp"] if group.is_tcp else size["source"]
    # A ring buffer begins with space for four packets. It is freed if no packet waits, which is mostly so at sources of
    # datagrams. malloc rounds sizes up.
    ring = 4 * size["packet"] * group.is_tcp + 32
    return own + hops * size["hop"] + ring + _kept_by_keys(group) + RECOVERY.get(group.recovery, 48)


def _kept_by_keys(group: FlowGroup) -> float:
    law, tcp = group.control.get("law"), group.tcp
    bursts, tuned = tcp.get("burst", "none") != "none", isinstance(tcp.get("receive_window"), dict)
    kept: float = BURSTS * bool(bursts) + TUNED * tuned
    return kept + OPTIONAL * (law in EVERY_RTT) + DELIVERED * (law in DELIVERIES)


def _packet(group: FlowGroup) -> float:
    """Memory of a packet in flight, including the sender's records about it [bytes]."""
    return BURST * sizes()["packet"] + 2.0 * GROWTH * _noted(group)


def _noted(group: FlowGroup) -> float:
    """Memory of a sender's records about a packet in flight [bytes]."""
    law = group.control.get("law")
    return DEPARTURE * (group.recovery == "rack" or law in EVERY_RTT) + DELIVERY * (law in DELIVERIES)


def _histograms(network: Network, link: NetworkLink, served: float, samples: float) -> float:
    """Memory of a link's histograms of backlog and drain time; their length depends on the largest sample [bytes]."""
    size = link.packet_bytes if math.isfinite(link.packet_bytes) else 1000.0
    used = 8 * served * size / (link.members * link.rate_bps * network.duration_s)
    # Probability that any sample finds a packet at the link.
    busy = 1.0 - float(max(0.0, 1.0 - used) ** min(samples, 1e6))
    drain_ps = 1e12 * (link.drain_s if link.drain_s is not None else network.duration_s)
    buffer = link.most_waiting if link.most_waiting is not None else served
    doublings = math.log2(max(drain_ps, 64) / 32) + math.log2(max(buffer, 64) / 32)
    return float(busy) * GROWTH * BINS * doublings


def _discipline(link: NetworkLink) -> float:
    return float(DISCIPLINE.get(link.discipline, 500))
