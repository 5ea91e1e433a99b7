"""Rule: senders whose window fills the queue of their own network card instead of the network's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.network import FlowGroup
from elephan.units import format_rate


def _check(subject: LintSubject) -> LintFindings:
    for group in subject.network.bulk:
        rate, link = group.access_rate_bps, group.narrowest
        is_bounded = group.access_buffer is not None or group.receive_window is not None
        if rate is None or is_bounded or rate > link.rate_bps or link.members > 1:
            continue
        beside = [other for other in subject.network.bulk if link.index in other.path and other is not group]
        if _never_full(group, beside):
            message = f"all access links together carry less than {link.name}, so nothing is ever lost there"
        elif _holds_all(group, beside):
            message = f"a flow that starts first can hold all of {link.name} without ever waiting there"
        elif _is_alone(group, beside):
            message = f"{format_rate(rate)} is no more than {link.name} carries, so the first flow loses nothing"
        else:
            continue
        yield LintFinding(
            f"flows[{group.name}].access",
            f"{message}, and its window grows without end in its own unbounded queue",
            "give access a buffer, tcp a receive_window, or make access faster than the link",
        )


def _never_full(group: FlowGroup, beside: Sequence[FlowGroup]) -> bool:
    """Whether all flows of a link together cannot fill what datagrams leave of it."""
    wanted = sum(one.flows * (one.access_rate_bps or math.inf) for one in (group, *beside))
    return wanted <= group.narrowest.share_bps * group.narrowest.flows_per_member


def _starts_without_limit(group: FlowGroup) -> bool:
    return (group.control.get("slow_start") or {}).get("kind") == "classic" and group.tcp["initial_ssthresh"] is None


def _holds_all(group: FlowGroup, beside: Sequence[FlowGroup]) -> bool:
    """Whether the first flow may lock out all others: with an access at the link rate, its excess waits there.

    One of five replications of the second paper's web scenario did (case 33, starts within a second).
    """
    first = all(group.start_s[0] <= other.start_s[0] for other in beside)
    return first and group.access_rate_bps == group.narrowest.rate_bps and _starts_without_limit(group)


def _is_alone(group: FlowGroup, beside: Sequence[FlowGroup]) -> bool:
    """Whether the first flow probably has the link for itself until the end of an unlimited slow start."""
    if not _starts_without_limit(group):
        return False
    first, last = group.start_s
    # Starts are drawn: the gap after the first is on average the spread over the number of flows.
    gaps = [(last - first) / group.flows if group.flows > 1 else math.inf]
    gaps += [other.start_s[0] - first for other in beside]
    full = group.narrowest.rate_bps * group.rtt_s / 8 / group.packet_bytes
    return min(gaps) > group.rtt_s * math.log2(max(2.0, full / group.tcp["initial_window"]))


RULE = LintRule.named("nic-queue", _check)
