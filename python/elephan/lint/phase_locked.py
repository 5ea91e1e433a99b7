"""Rule: flows that stay synchronized because nothing in the scenario is random."""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.network import DROP_TAIL, FlowGroup
from elephan.units import format_time

REGULAR = {"bulk", "finite", "cbr"}
"""Deterministic traffic, which keeps the pattern; random traffic breaks it."""


def _check(subject: LintSubject) -> LintFindings:
    seen: dict[tuple[int, int, float], str] = {}
    for group in subject.network.bulk:
        in_step = group.tcp["send_jitter_ps"] == 0 and not group.rtts_are_drawn and not group.is_held_by_access
        if not in_step or group.narrowest.discipline != DROP_TAIL or group.narrowest.traffic - REGULAR:
            continue
        members = group.narrowest.members
        if members > 1:  # Flow i takes link i mod members; which links another group takes is not asked.
            seen = {}
        for i, rtt in enumerate(group.rtts_s):
            place = (group.narrowest.index, i % members, rtt)
            other = seen.get(place)
            if other is not None:
                yield _finding(group, other, rtt)
                break
            seen[place] = group.name


def _finding(group: FlowGroup, other: str, rtt_s: float) -> LintFinding:
    whom = "its flows" if other == group.name else f"it and {other}"
    packet_s = 8 * group.packet_bytes / group.narrowest.rate_bps
    return LintFinding(
        f"flows[{group.name}].tcp.send_jitter",
        f"{whom} have equal RTTs ({rtt_s * 1e3:.6g} ms) into a drop-tail queue and no send jitter, so they may "
        "keep step and lose in a fixed pattern",
        f'spread rtt, or give send_jitter = "{format_time(packet_s)}", one packet time at {group.narrowest.name}',
    )


RULE = LintRule.named("phase-locked", _check)
