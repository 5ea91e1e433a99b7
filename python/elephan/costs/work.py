"""Estimated processor time of a replication, in packets of the machine's probe (see `machine`).

The weights were fitted to what `tools/estimate_check.py` runs, by least squares of the logarithms: what a law, a
recovery, a discipline or many flows cost beside the probe's ten Reno flows at one drop-tail link.
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
"""Additional relative cost of a packet whose flow sends rarely: each window of the engine visits the flow, which also
loses more packets; and the rate at which this is halved [packets/s]."""

EVERY_ROUND_TRIP, RATES, PACED = 1.15, 2.5, 2.2
"""Cost factors: for a law that uses every RTT sample, for one that measures delivery rates, and for pacing."""

BURST = 6.0
"""Added cost of a packet sent in a burst, as with ``tcp = "linux"``: the engine takes its ACKs one by one and paces the
bursts."""

KERNEL, HEADERS, RETURNED = 3.7, 2.0, 3.0
"""Cost factors: for a law in a kernel program, for packets with headers for routers, and for ACKs that
cross links."""

PYTHON = 30.0
"""Cost of a packet whose sender has a law written in Python that is called for each ACK. A law called for each round
trip costs almost nothing, but the scenario does not tell which it is."""

LINK, RULE, LOCAL = 0.02, 0.12, 1.4
"""Cost of a packet at a drop-tail link, at one with a rule for each arrival, and at one whose discipline schedules
packets."""

CACHE, CACHED = 0.24, 512e3
"""Additional relative cost per doubling of the memory above a size [bytes], because of the processor's caches."""

PER_FLOW, PER_LINK, PER_SAMPLE = 95.0, 900.0, 0.05
"""Cost of building and measuring a flow or a link, and of a sample of one of them [packets]."""

ACTION = 2.5
"""Cost of an action of an application, that is a write or a pause, even if it sends nothing [packets]."""

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
    """Whether a run may take more processor time than a limit on a slow machine; if so, this one is measured.

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
    """Cost of each packet of `group`, which sends `sent` packets."""
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
