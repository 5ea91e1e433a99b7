"""Estimated processor time of a replication, in packets of the probe that measures the machine (see `machine`).

The probe has ten Reno flows at one drop-tail link. The weights are the costs of laws, recoveries, disciplines and many
flows relative to the probe. They were fitted to the runs of `tools/estimate_check.py`, by least squares of logarithms.
"""

from __future__ import annotations

import math

from elephan.costs.memory import DELIVERIES, EVERY_RTT, FIFO, ExpectedMemory, expected_memory
from elephan.costs.traffic import ExpectedTraffic, expected_traffic
from elephan.network import FlowGroup, Network

OWN = "source"
"""Key of a resolved control that marks a law written in Python."""

SACK, OTHER, RACK = 0.75, 0.9, 1.1
"""Cost of a packet at its sender and receiver, by recovery, for flows that send many packets per second."""

DATAGRAM = 1.75
"""Cost of a datagram; each draws random numbers."""

RARE, SELDOM_PER_S = 4.0, 290.0
"""Additional relative cost of a packet of a flow that sends rarely (the engine visits every flow in each time window,
and such a flow loses more packets), and the rate at which this cost is halved [packets/s]."""

EVERY_ROUND_TRIP, RATES, PACED = 1.15, 2.5, 2.2
"""Cost factors: for a law that uses every RTT sample, for one that measures delivery rates, and for pacing."""

BURST = 6.0
"""Added cost of a packet sent in a burst, as with ``tcp = "linux"``: the engine processes its ACKs singly and paces the
bursts."""

KERNEL, HEADERS, RETURNED = 3.7, 2.0, 3.0
"""Cost factors: for a law with the kernel's program or integer arithmetic, for packets with headers for routers (XCP),
and for ACKs that cross links."""

PYTHON = 30.0
"""Cost of a packet of a sender with a law written in Python that is called for each ACK. A law that is called only for
each round trip costs almost nothing, but the scenario does not contain which of them it is."""

LINK, RULE, LOCAL = 0.02, 0.12, 1.4
"""Cost of a packet at a drop-tail link, at a link with another discipline of `FIFO`, and at a link whose discipline
schedules packets."""

CACHE, CACHED = 0.24, 512e3
"""Additional relative cost per doubling of the memory (because of the processor's caches), and the size from which it
is counted [bytes]."""

PER_FLOW, PER_LINK, PER_SAMPLE = 95.0, 900.0, 0.05
"""Cost of building and measuring a flow, of building and measuring a link, and of a sample of either [packets]."""

ACTION = 2.5
"""Cost of an action of an application (a write or a pause), even if it does not send data [packets]."""

PER_TRANSFER = 4.4
"""Cost of a transfer of a session [packets]."""

PER_RUN = 30_000.0
"""Fixed cost of a replication: network, results, columns [packets]."""


def expected_work(network: Network, traffic: ExpectedTraffic, memory: ExpectedMemory) -> float:
    """Estimate the cost of one replication, given its memory.

    Returns
    -------
    float
        Cost in packets of the probe.

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
"""Processor time per packet of the probe on a slow machine [ns]."""


def is_long(network: Network, limit_s: float) -> bool:
    """Whether a run may exceed a limit of processor time on a slow machine; only then is this machine's speed measured.

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
    """Cost of a packet of a group that sends `sent` packets, in packets of the probe."""
    if not group.is_tcp:
        return DATAGRAM
    if OWN in group.control:
        return PYTHON
    law = group.control.get("law")
    cost = RACK if group.recovery == "rack" else SACK if group.recovery in ("sack", "prr") else OTHER
    cost *= EVERY_ROUND_TRIP if law in EVERY_RTT else 1.0
    if law in DELIVERIES:
        cost *= RATES
    elif law == "prague" or group.tcp.get("pacing", "none") != "none":
        cost *= PACED
    if law == "bpf" or group.control.get("arithmetic") == "kernel":
        cost *= KERNEL
    if law == "xcp":
        cost *= HEADERS
    if group.return_path:
        cost *= RETURNED
    per_s = sent / max(group.flows * group.places, 1) / network.duration_s
    bursts = BURST if group.tcp.get("burst", "none") != "none" else 0.0
    return cost * (1.0 + RARE / (1.0 + per_s / SELDOM_PER_S)) + bursts


def _link(discipline: str) -> float:
    if discipline == "drop-tail":
        return LINK
    return RULE if discipline in FIFO else LOCAL
