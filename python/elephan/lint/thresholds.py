"""Rule: thresholds and targets of a discipline that its buffer cannot reach, or that a single packet exceeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.units import format_packets, format_time, seconds

COMPARED = ("min_th", "max_th", "ecn_threshold", "threshold", "target")
"""Parameters that are compared with a backlog or a delay, and have no effect above the buffer."""

CODELS = frozenset({"codel", "fq-codel"})
"""Disciplines with CoDel's target."""


def _check(subject: LintSubject) -> LintFindings:
    for link in subject.network.links:
        limit: float | None = link.buffer_limit_packets
        size = link.packet_bytes
        if limit is None:
            limit = link.buffer_packets
        if math.isnan(size):
            continue
        packet_s = 8 * size / link.rate_bps
        if link.discipline in CODELS and seconds(link.queue["target"]) < packet_s:
            yield LintFinding(
                f"links[{link.name}].queue.target",
                f"{link.queue['target']} is less than the transmission time of a packet on this link, "
                f"{format_time(packet_s)}, so a single waiting packet is above the target",
                # Rounded up, so that the suggested target is large enough.
                f'give at least "{math.ceil(round(1e5 * packet_s, 6)) / 100:g} ms", as in the tc line for this link',
            )
        if limit is None:
            continue
        # While the low-latency queue is busy, the classic queue gets only its share of the rate (RFC 9332).
        drain_s = 8 * limit * size / link.rate_bps / link.queue.get("classic_share", 1.0)
        for name, wanted, most in _compared(link.queue, limit, drain_s, size):
            yield LintFinding(
                f"links[{link.name}].queue.{name}",
                f"{wanted} is more than the buffer ever holds ({most}), so {link.discipline} never acts on it",
                "lower it, or enlarge the buffer",
            )


def _compared(queue: Mapping[str, Any], limit: float, drain_s: float, size: float) -> Iterator[tuple[str, str, str]]:
    """Yield the name, value and limit of thresholds above the buffer; nothing after the first one in packets."""
    for name in COMPARED:
        value = queue.get(name)
        if value is None:
            continue
        packets = _packets(value, size)
        if packets is None and seconds(value) > drain_s:
            yield name, value, format_time(drain_s)
        elif packets is not None and packets > limit:
            yield name, value, format_packets(limit)
            # The next ones are higher.
            return


def _packets(text: str, size: float) -> float | None:
    """Convert an amount in packets or bytes to packets; None if it is a time."""
    number, _, unit = text.partition(" ")
    return {"packets": 1.0, "B": 1 / size}[unit] * float(number) if unit in ("packets", "B") else None


RULE = LintRule.named("thresholds", _check)
