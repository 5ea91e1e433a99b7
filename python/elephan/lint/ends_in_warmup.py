"""Rule: flows and transfers that are over before anything is measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.network import FlowGroup
from elephan.units import format_time, octets, seconds

KNOWN = {"bulk", "finite", "replay", "cbr", "poisson", "on-off"}
"""Kinds of traffic for which an equal share is a good estimate."""

MARGIN = 4.0
"""Safety factor on the estimated duration of a transfer, which assumes equal shares and no losses."""


def _check(subject: LintSubject) -> LintFindings:
    network = subject.network
    if network.warmup_s <= 0:
        return
    forms = network.tables().resolved["flows"]
    for group, form in zip(network.groups, forms, strict=True):
        delivered = subject.measured(group, "goodput_bps")
        if group.stop_s is not None and group.stop_s <= network.warmup_s:
            message = f"all stop by {format_time(group.stop_s)}"
        elif (end := _done_s(group, form["traffic"])) is None:
            continue
        elif delivered is not None and end[0] <= network.warmup_s:
            if delivered > 0:
                continue
            message = "nothing of it was delivered after the warm-up"
        elif delivered is None and end[1] <= network.warmup_s:
            message = f"all is transferred by about {format_time(end[1])} at the latest"
        else:
            continue
        yield LintFinding(
            f"flows[{group.name}]",
            f"{message}, and what is measured begins at {format_time(network.warmup_s)}",
            "shorten warmup, start it later, or give it more to send",
        )


def _done_s(group: FlowGroup, traffic: Mapping[str, Any]) -> tuple[float, float] | None:
    """Time when the last transfer starts, and latest time when all are done [s]; None for endless traffic."""
    if traffic["kind"] == "finite":
        opened, size = 0.0, octets(traffic["size"])
    elif traffic["kind"] == "replay":
        rows = [row.split() for row in str(traffic["flows"]).split(";")]
        opened = max(seconds(" ".join(row[:-2])) for row in rows)
        size = sum(octets(" ".join(row[-2:])) for row in rows)
    else:
        return None
    start = group.start_s[1] + opened
    if group.narrowest.traffic - KNOWN:
        return start, math.inf
    rate = min(group.narrowest.share_bps, group.access_rate_bps or math.inf)
    # Slow start takes a round trip for each doubling.
    rounds = math.log2(max(2.0, size / group.packet_bytes))
    return start, start + MARGIN * (8 * size / rate + rounds * group.rtt_s)


RULE = LintRule.named("ends-in-warm-up", _check)
