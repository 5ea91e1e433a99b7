"""What a replication costs the processor, in packets of the machine's probe (see `machine`), before it runs.

The weights were fitted to runs with `tools/estimate_check.py`: what a law, a recovery, a discipline or many flows cost
beside the probe's ten Reno flows at one drop-tail link.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from elephan.estimate.memory import EVERY_RTT, FIFO, expected_memory
from elephan.estimate.traffic import expected_traffic

if TYPE_CHECKING:
    from elephan.estimate.memory import ExpectedMemory
    from elephan.estimate.traffic import ExpectedTraffic
    from elephan.network import FlowGroup, Network

OWN = "source"
"""What the control of a law that is none of elephan's has in a resolved scenario."""

SENDER = 0.6
"""Of a packet at its sender and receiver, all else at its link."""

LINK = 0.4
"""Of a packet at a drop-tail link."""

SLOW_SENDER = 3.0
"""More at a sender whose law looks at every ACK, over one that takes them in runs."""

PYTHON = 20.0
"""Of a packet whose sender's law is a class in Python that is called for each ACK; for each round trip it is next to
nothing, but which it is does not stand in a scenario."""

LOSSY = 1.5
"""More at a sender whose law or recovery looks at every ACK while packets are lost."""

RULE = 1.0
"""More at a link that asks a rule for each arrival."""

LOCAL = 4.0
"""More at a link whose discipline chooses whom to serve."""

CACHE, CACHED = 0.45, 512e3
"""More of all for each doubling of the memory above so many bytes: it leaves the processor's caches."""

PER_FLOW, PER_LINK, PER_SAMPLE = 64.0, 250.0, 0.75
"""Packets that cost as much as a flow or a link costs to build and to measure, and a sample of one of them."""

PER_TRANSFER = 40.0
"""The same of a transfer of a session."""

PER_RUN = 20_000.0
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
    senders = sum(sent * _sender(group) for group, sent in zip(network.groups, traffic.sent, strict=True))
    served = sum(packets * _link(link.discipline) for link, packets in zip(network.links, traffic.served, strict=True))
    samples = 0.0 if network.every_s is None else network.duration_s / network.every_s
    more = 1.0 + CACHE * max(0.0, math.log2(max(memory.flows + memory.packets, 1.0) / CACHED))
    return (
        more * (senders + served)
        + PER_RUN
        + PER_TRANSFER * sum(traffic.transfers)
        + PER_FLOW * flows
        + (PER_LINK + PER_SAMPLE * samples) * links
        + (PER_SAMPLE * samples * flows)
    )


SLOW_NS = 100.0
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


def _sender(group: FlowGroup) -> float:
    if not group.is_tcp:
        return SENDER
    if OWN in group.control:
        return PYTHON
    if group.recovery == "rack" or group.control.get("law") in EVERY_RTT:
        return SENDER * SLOW_SENDER
    return SENDER * (1.0 if group.recovery in ("sack", "prr") else LOSSY)


def _link(discipline: str) -> float:
    if discipline == "drop-tail":
        return LINK
    return LINK * (1.0 + (RULE if discipline in FIFO else LOCAL))
