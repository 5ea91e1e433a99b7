"""Flows that grow until they lose, at a queue that never drops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.lint.rule import LintFinding, LintRule, LintSubject
from elephan.lint.sawtooth import ASKED
from elephan.units import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elephan.network import FlowGroup, NetworkLink

GROWING = {"reno", *ASKED}
"""Laws that grow until they lose."""

PASSIVE = {"drop-tail", "drr", "fq", "priority-fq", "sfq"}
"""Disciplines that drop for want of room and for nothing else."""


def _check(study: LintSubject) -> Iterator[LintFinding]:
    network = study.network
    lossy = {i for i, form in enumerate(network.tables().resolved["links"]) if form["loss"] is not None}
    for link in network.links:
        if link.buffer_packets is not None or link.discipline not in PASSIVE or _marks(link):
            continue
        bulk = [group for group in network.bulk if link.index in group.path]
        growing = [group for group in bulk if _grows(group, link) and not lossy & set(group.path)]
        # Access links that together are no faster keep the queue away, as receive windows do.
        if not growing or _held_together(bulk, link):
            continue
        measured = None
        if study.document is not None:
            measured = study.document["links"][link.index].get("queueing_delay_s", {}).get("mean")
        waited = "" if measured is None else f": packets waited {format_time(measured)} on average"
        yield LintFinding(
            f"links[{link.name}].buffer",
            f"without limit, and {growing[0].name} ({growing[0].law}) grows until it loses, so queue and delay grow as "
            f"long as the run lasts{waited}",
            'give a limit such as "1 bdp", or its flows a receive_window',
        )


def _marks(link: NetworkLink) -> bool:
    threshold = str(link.queue.get("ecn_threshold", "0 packets"))
    return float(threshold.partition(" ")[0]) > 0


def _grows(group: FlowGroup, link: NetworkLink) -> bool:
    """Whether nothing else than a loss at this link ends its growth."""
    held = group.tcp["receive_window"] is not None or group.access_buffer is not None
    return group.law in GROWING and not held and group.narrowest is link


def _held_together(bulk: list[FlowGroup], link: NetworkLink) -> bool:
    wanted = sum(group.flows * (group.access_rate_bps or float("inf")) for group in bulk)
    return wanted <= link.share_bps * link.flows_per_member * link.members


RULE = LintRule(
    "unlimited-buffer",
    "A queue without limit under flows that grow until they lose",
    "Gettys and Nichols 2012, Bufferbloat: dark buffers in the Internet",
    "A law that answers losses alone grows as long as it loses nothing. At a queue without limit that is for ever: the "
    "delay reaches seconds, then minutes, and every number depends on how long the run was.",
    _check,
)
