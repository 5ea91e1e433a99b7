"""Caveats about deploying a law and a queue that were compared."""

from __future__ import annotations

from collections.abc import Sequence

from elephan.network import Network, NetworkLink
from elephan.sizing.recommend import Candidate

FULL_FIRST = frozenset({"drop-tail", "fq", "drr", "sfq", "priority-fq", "xcp"})
"""Disciplines that drop only when the buffer is full, so that the buffer limits the queueing delay."""

SERVES_IN_TURN = frozenset({"fq", "drr", "sfq", "priority-fq", "fq-codel"})
"""Disciplines that serve flows one after the other."""

UNFAIR = 0.8
"""Jain's index of two flows of which one has three times the rate of the other."""


def caveats(
    network: Network, link: int, group: int, chosen: Candidate, replications: int, said: Sequence[str] = ()
) -> tuple[str, ...]:
    """List the open questions that a recommendation leaves.

    Parameters
    ----------
    network : Network
        Network of the scenario with the chosen law and queue.
    link, group : int
        Indices of the link and the group.
    replications : int
        0 if nothing was simulated.
    said : sequence of str
        Dangers that are reported separately.

    Returns
    -------
    tuple of str
        One sentence each, without a full stop.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.sizing.recommend import Candidate
    >>> network = Scenario.from_text(EXAMPLE).replace({"links[0].queue": "codel"}).network
    >>> caveats(network, 0, 0, Candidate("reno", "codel", 20, True, (18.0, 21.0), ()), 5)[0]
    'codel drops or marks before the buffer is full: a larger buffer adds no delay'
    """
    lines = [*_partner(network.links[link], chosen)]
    if chosen.meets and chosen.queue not in FULL_FIRST:
        lines.append(f"{chosen.queue} drops or marks before the buffer is full: a larger buffer adds no delay")
    fairness = chosen.mean("jain")
    if fairness < UNFAIR and not any("Jain's index" in text for text in said):
        lines.append(f"Jain's index is {fairness:.2f}: some flows get far less than others")
    others = _others(network, link, group)
    if others:
        lines.append(f'only the flows of "{network.groups[group].name}" run {chosen.law}; those of {", ".join(others)}')
    if replications == 0:
        lines.append("nothing was simulated: the numbers are a model's, without intervals")
    elif replications == 1:
        lines.append("one replication has no interval: the choice goes by single runs")
    elif replications == 2:
        lines.append("two replications tell little apart: more of them may change the choice")
    return tuple(lines)


def _partner(link: NetworkLink, chosen: Candidate) -> list[str]:
    """List what a law needs of its queue, or a queue of its senders, and lacks here."""
    law, queue = chosen.law, chosen.queue
    if law in {"dctcp", "prague"} and not _marks(link):
        return [
            f"{law} reads marks, and {queue} with these parameters makes none, so it sees losses only, as Reno does"
        ]
    if law == "packet-pair" and queue not in SERVES_IN_TURN:
        return [f"packet-pair reads its rate off a queue that serves flows in turn, and {queue} does not"]
    if law == "xcp" and queue != "xcp":
        return [f"xcp needs routers that send it its rate, and {queue} does not"]
    if queue == "xcp" and law != "xcp":
        return [f"xcp as a queue steers senders that run XCP; to it {law} is load like any other"]
    return []


def _marks(link: NetworkLink) -> bool:
    """Whether a link's discipline, with its parameters, can mark packets."""
    threshold = str(link.queue.get("ecn_threshold", "0 packets"))
    return link.discipline == "dualpi2" or bool(link.queue.get("ecn")) or not threshold.startswith("0 ")


def _others(network: Network, link: int, group: int) -> list[str]:
    """Other groups of TCP flows on the link, with their laws."""
    return [
        f'"{other.name}" keep {other.law}' for other in network.crossing(link) if other.index != group and other.is_tcp
    ]
