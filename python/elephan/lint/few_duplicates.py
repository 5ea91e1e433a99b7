"""Rule: links that reorder packets by more than a recovery waits for."""

from __future__ import annotations

from collections.abc import Mapping

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.network import NetworkLink
from elephan.units import format_time

DEFAULT = 3
"""Duplicates of RFC 5681, where the file gives no `dup_thresh`."""


def _check(subject: LintSubject) -> LintFindings:
    network = subject.network
    for group in network.groups:
        if not group.is_tcp or group.recovery == "rack":
            continue
        threshold = group.tcp.get("dup_thresh", DEFAULT)
        links = (network.links[i] for i in group.path)
        link = max(links, key=lambda each: _overtaking(each, group.packet_bytes))
        most = _overtaking(link, group.packet_bytes)
        if threshold == "adaptive" or most < threshold:
            continue
        yield LintFinding(
            f"flows[{group.name}].recovery",
            f"a packet that {link.name} delays by {format_time(_late_s(link.reorder))} may be overtaken by {most:.0f} "
            f"others, and {group.recovery} takes it for lost after {threshold}: windows are cut though nothing is lost",
            'give recovery = "rack" or tcp = "linux" unless that is the subject, or a larger dup_thresh',
        )


def _late_s(rule: Mapping[str, object] | str | None) -> float:
    """Difference between the longest and the shortest additional delay of a rule [s], without jitter."""
    if not isinstance(rule, dict):
        return 0.0
    paths = rule.get("paths_ps")
    picoseconds = max(paths) - min(paths) if paths else rule.get("by_ps", 0)
    return float(picoseconds) * 1e-12


def _overtaking(link: NetworkLink, packet_bytes: float) -> float:
    """Packets of a given size that the link serves in that time."""
    return _late_s(link.reorder) * link.rate_bps / (8 * packet_bytes)


RULE = LintRule.named("few-duplicates", _check)
