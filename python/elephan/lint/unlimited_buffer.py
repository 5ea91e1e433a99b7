"""Rule: queues without limit whose delay is unbounded, by their flows' laws or according to the results."""

from __future__ import annotations

from collections.abc import Sequence

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.lint.sawtooth import ASKED
from elephan.network import FlowGroup, NetworkLink
from elephan.units import format_time

GROWING = {"reno", *ASKED}
"""Laws that grow until they lose packets."""

PASSIVE = {"drop-tail", "drr", "fq", "priority-fq", "sfq"}
"""Disciplines that drop packets only when the buffer is full."""

LONG = 10.0
"""Waiting time in a queue without limit that is reported [round trips]: ten times that of a buffer of one BDP."""


def _check(subject: LintSubject) -> LintFindings:
    network = subject.network
    resolved = network.tables().resolved["links"]
    lossy = {i for i, form in enumerate(resolved) if form["loss"] is not None}
    for link in network.links:
        # A queue in shared memory is limited by its pool.
        if link.buffer_packets is not None or resolved[link.index].get("pool") is not None:
            continue
        waited_s = None
        if subject.document is not None:
            waited_s = subject.document["links"][link.index].get("queueing_delay_s", {}).get("mean")
        if waited_s is not None and _is_long(waited_s, network.crossing(link.index)):
            yield _finding(link, f"without limit, and packets waited {format_time(waited_s)} on average")
            continue
        if link.discipline not in PASSIVE or _marks(link):
            continue
        bulk = [group for group in network.bulk if link.index in group.path]
        growing = [group for group in bulk if _grows(group, link) and not lossy & set(group.path)]
        # Access links that together are no faster keep the queue away, as receive windows do.
        if not growing or _held_together(bulk, link):
            continue
        yield _finding(
            link,
            f"without limit, and {growing[0].name} ({growing[0].law}) grows until it loses, so queue and delay grow as "
            "long as the run lasts",
        )


def _finding(link: NetworkLink, message: str) -> LintFinding:
    remedy = 'give a limit such as "1 bdp", or its flows a receive_window'
    return LintFinding(f"links[{link.name}].buffer", message, remedy)


def _is_long(waited_s: float, crossing: Sequence[FlowGroup]) -> bool:
    """Whether packets waited far longer than in a limited buffer; datagrams alone do not count."""
    rtts = [group.rtt_s for group in crossing if group.is_tcp]
    return bool(rtts) and waited_s > LONG * max(rtts)


def _marks(link: NetworkLink) -> bool:
    threshold = str(link.queue.get("ecn_threshold", "0 packets"))
    return float(threshold.partition(" ")[0]) > 0


def _grows(group: FlowGroup, link: NetworkLink) -> bool:
    """Whether only a loss at this link ends the growth of a group's windows."""
    held = group.receive_window is not None or group.access_buffer is not None
    return group.law in GROWING and not held and group.narrowest is link


def _held_together(bulk: list[FlowGroup], link: NetworkLink) -> bool:
    wanted = sum(group.flows * (group.access_rate_bps or float("inf")) for group in bulk)
    return wanted <= link.share_bps * link.flows_per_member * link.members


RULE = LintRule.named("unlimited-buffer", _check)
