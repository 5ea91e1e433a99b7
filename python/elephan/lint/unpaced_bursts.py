"""Rule: buffers of which unpaced senders use little and paced ones much.

Source: Aggarwal, Savage and Anderson 2000, Understanding the performance of TCP pacing: a window leaves as a block, in
slow start at twice the rate of the bottleneck, so that half of it waits. A flow that has lost has half of its window: a
block of that leaves a quarter of the window in the queue. Measured in the survey (`elephan.accuracy`): in all 31 pairs
of links of ten flows and more with fewer packets than that, but more than one, paced flows use 22 to 67 points more.
"""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.lint.sawtooth import ASKED
from elephan.network import DROP_TAIL, FlowGroup
from elephan.units import format_packets

WINDOW_LAWS = {"reno", *ASKED}
"""Laws that grow until they lose packets."""

BLOCK = 0.25
"""Packets that a block of half the window leaves in the queue, as a share of the window at the loss."""
LEAST_FLOWS = 10
"""Minimum number of flows: with fewer, other flows cannot use what a loss leaves, and half the surveyed pairs agree."""
LEAST_PACKETS = 2.0
"""Minimum buffer [packets]: one of a single packet drops simultaneous arrivals, paced or not."""
FAST_ACCESS = 0.1
"""Rate of an access link over the link's above which a block stays a block: at 0.2 pacing still gained 30 points."""


def _check(subject: LintSubject) -> LintFindings:
    seen: set[int] = set()
    for group in subject.network.bulk:
        link, window = group.narrowest, group.window
        if link.index in seen or not _sends_blocks(group) or window is None or link.buffer_packets is None:
            continue
        if link.flows_per_member < LEAST_FLOWS or not LEAST_PACKETS <= link.buffer_packets < BLOCK * window:
            continue
        seen.add(link.index)
        yield LintFinding(
            f"links[{link.name}].buffer",
            f"room for {format_packets(link.buffer_packets)} is less than a quarter of a flow's window of {window:.0f} "
            "segments: what unpaced senders make of so small a buffer rests on blocks of packets, and paced ones use "
            "far more of the link",
            'say tcp = { pacing = "linux" } if yours pace, or ask for both: elephan size --pacing both',
        )


def _sends_blocks(group: FlowGroup) -> bool:
    """Whether a window of the group arrives as a block at a queue that drops only when it is full."""
    link, access = group.narrowest, group.access_rate_bps
    fast = access is None or access > FAST_ACCESS * link.rate_bps
    return (
        link.discipline == DROP_TAIL
        and group.law in WINDOW_LAWS
        and group.tcp.get("pacing", "none") == "none"
        and fast
        and not group.is_held_by_access
        and not group.is_held_by_receiver
    )


RULE = LintRule.named("unpaced-bursts", _check)
