"""Groups of flows whose shares depend on fractions of a packet's time, as their unequal RTTs meet a drop-tail queue.

Source: Floyd and Jacobson 1991, "Traffic phase effects in packet-switched gateways". Measured: 2 to 40 loss-based flows
of 5, 25 and 100 Mbit/s each with RTTs of 20 to 240 ms, 5 seeds, RTTs moved by less than the time of a packet. The
variance of shares over these moves was 5 to 1300 times that over seeds, which is 1 where moves change nothing; with
pacing, and beside 10 to 50 % of Poisson datagrams or elastic transfers, still 5 to 125 times. It was 0.8 to 3.3 times
with a `send_jitter` of a packet's time, 0.5 to 1.7 under CoDel, FQ-CoDel, PIE, RED and ARED, and 0.5 to 0.7 with BBR
and Vegas. Inside a group with RTTs that are spread, utilization moved by a point at most.
"""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.lint.sawtooth import ASKED
from elephan.network import DROP_TAIL, FlowGroup
from elephan.units import format_time

LOSS_BASED = {"reno", "dctcp", *ASKED}
"""Laws whose shares depend on which packets are dropped or marked."""


def _check(subject: LintSubject) -> LintFindings:
    first: dict[int, FlowGroup] = {}
    found: set[int] = set()
    for group in subject.network.bulk:
        link = group.narrowest.index
        if link in found or not _is_clocked(group):
            continue
        other = first.setdefault(link, group)
        if set(other.rtts_s) != set(group.rtts_s):
            found.add(link)
            yield _finding(group, other)


def _is_clocked(group: FlowGroup) -> bool:
    """Whether packets of its flows arrive at a drop-tail queue at phases that nothing random changes."""
    link = group.narrowest
    return (
        link.discipline == DROP_TAIL
        # Flows of an array are dealt out to its links, and need not meet.
        and link.members == 1
        and group.law in LOSS_BASED
        and group.tcp["send_jitter_ps"] == 0
        and not group.rtts_are_drawn
        and not group.is_held_by_access
        and not group.is_held_by_receiver
        and link.held_s == 0.0
    )


def _finding(group: FlowGroup, other: FlowGroup) -> LintFinding:
    packet_s = 8 * group.packet_bytes / group.narrowest.rate_bps
    return LintFinding(
        f"flows[{group.name}].tcp.send_jitter",
        f"its RTTs and those of {other.name} differ and neither has jitter before the drop-tail queue, so their shares "
        "may depend on fractions of a packet's time (phase effects)",
        f'give all TCP flows at {group.narrowest.name} send_jitter = "{format_time(packet_s)}", one packet time',
    )


RULE = LintRule.named("phase-effects", _check)
