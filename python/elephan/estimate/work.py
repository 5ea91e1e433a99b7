"""What a replication costs the processor, in packets of the machine's probe (see `machine`), before it runs.

The weights were fitted to what `tools/estimate_check.py` runs, by least squares of the logarithms: what a law, a
recovery, a discipline or many flows cost beside the probe's ten Reno flows at one drop-tail link.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from elephan.estimate.memory import DELIVERIES, EVERY_RTT, FIFO, expected_memory
from elephan.estimate.traffic import expected_traffic

if TYPE_CHECKING:
    from elephan.estimate.memory import ExpectedMemory
    from elephan.estimate.traffic import ExpectedTraffic
    from elephan.network import FlowGroup, Network

OWN = "source"
"""What the control of a law that is none of elephan's has in a resolved scenario."""

SACK, OTHER, RACK = 0.75, 0.9, 1.1
"""Of a packet at its sender and receiver, by the recovery, of flows that send many in a round trip."""

DATAGRAM = 1.75
"""Of a datagram. Each is drawn."""

RARE, SELDOM_PER_S = 4.0, 290.0
"""More of a packet whose flow sends few: it is visited for each window of the engine, and loses more. Of a flow with so
many packets a second half as much."""

EVERY_ROUND_TRIP, RATES, PACED, BURSTS = 1.15, 2.5, 2.2, 3.6
"""Times as much where the law wants every round-trip time, where it measures rates of delivery, where segments are
spaced, and where they leave in bursts: then the engine takes ACKs one by one."""

KERNEL, HEADERS, RETURNED = 3.7, 2.0, 3.0
"""Times as much where the law runs in the interpreter of what the kernel loads, where packets carry headers for
routers, and where ACKs cross links."""

PYTHON = 30.0
"""Of a packet whose sender's law is a class in Python that is called for each ACK; for each round trip it is next to
nothing, but which it is does not stand in a scenario."""

LINK, RULE, LOCAL = 0.02, 0.12, 1.4
"""Of a packet at a drop-tail link, at one that asks a rule for each arrival, and where the discipline chooses whom to
serve."""

CACHE, CACHED = 0.24, 512e3
"""More of all for each doubling of the memory above so many bytes: it leaves the processor's caches."""

PER_FLOW, PER_LINK, PER_SAMPLE = 95.0, 900.0, 0.05
"""Packets that cost as much as a flow or a link costs to build and to measure, and a sample of one of them."""

ACTION = 2.5
"""The same of an application that writes or pauses, whatever leaves."""

PER_TRANSFER = 4.4
"""The same of a transfer of a session."""

PER_RUN = 30_000.0
"""The same of a replication: network, results, columns."""


def expected_work(network: Network, traffic: ExpectedTraffic, memory: ExpectedMemory) -> float:
    """Work out what one replication costs, given the memory that it takes.

    Returns
    -------
    float
        In packets of the probe.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> network = Scenario.from_text(EXAMPLE).network
    >>> traffic = expected_traffic(network)
    >>> expected_work(network, traffic, expected_memory(network, traffic)) > 5000
    True
    """
    flows = sum(group.flows * group.places for group in network.groups)
    links = sum(link.members for link in network.links)
    senders = sum(
        sent * _sender(network, group, sent) for group, sent in zip(network.groups, traffic.sent, strict=True)
    )
    served = sum(packets * _link(link.discipline) for link, packets in zip(network.links, traffic.served, strict=True))
    samples = 0.0 if network.every_s is None else network.duration_s / network.every_s
    more = 1.0 + CACHE * max(0.0, math.log2(max(memory.flows + memory.packets, 1.0) / CACHED))
    return (
        more * (senders + served)
        + PER_RUN
        + PER_TRANSFER * sum(traffic.transfers)
        + ACTION * sum(traffic.actions)
        + PER_FLOW * flows
        + (PER_LINK + PER_SAMPLE * samples) * links
        + (PER_SAMPLE * samples * flows)
    )


SLOW_NS = 50.0
"""What a packet of the probe costs on a slow machine [ns]."""


def is_long(network: Network, limit_s: float) -> bool:
    """Whether a run may take so much processor time, on a slow machine: then it is worth measuring this one.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> is_long(Scenario.from_text(EXAMPLE).network, 10.0)
    False
    """
    traffic = expected_traffic(network)
    work = network.replications * expected_work(network, traffic, expected_memory(network, traffic))
    return work * SLOW_NS * 1e-9 > limit_s


def _sender(network: Network, group: FlowGroup, sent: float) -> float:
    """Of each packet of `group`, which sends so many."""
    if not group.is_tcp:
        return DATAGRAM
    if OWN in group.control:
        return PYTHON
    law = group.control.get("law")
    cost = RACK if group.recovery == "rack" else SACK if group.recovery in ("sack", "prr") else OTHER
    cost *= EVERY_ROUND_TRIP if law in EVERY_RTT else 1.0
    if law in DELIVERIES:
        cost *= RATES
    elif group.tcp.get("burst", "none") != "none":
        cost *= BURSTS
    elif group.tcp.get("pacing", "none") != "none":
        cost *= PACED
    if law == "bpf" or group.control.get("arithmetic") == "kernel":
        cost *= KERNEL
    if law == "xcp":
        cost *= HEADERS
    if group.return_path:
        cost *= RETURNED
    per_s = sent / max(group.flows * group.places, 1) / network.duration_s
    return cost * (1.0 + RARE / (1.0 + per_s / SELDOM_PER_S))


def _link(discipline: str) -> float:
    if discipline == "drop-tail":
        return LINK
    return RULE if discipline in FIFO else LOCAL
