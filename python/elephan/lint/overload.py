"""Rule: links, and senders' own links, with more offered load than capacity, at a stated rate or by users of pages."""

from __future__ import annotations

from elephan.costs.traffic import asked_bps
from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.network import FlowGroup, Network
from elephan.units import format_rate

ABOVE = 1 + 1e-9
"""Factor above the capacity of a link from which it is overloaded; it allows for rounding in sums of rates."""


def _check(subject: LintSubject) -> LintFindings:
    network = subject.network
    # Flows that stop before the end overload the link only for a while, which may be what a study is about.
    stops = [form["stop_ps"] for form in network.tables().resolved["flows"]]
    staying = [group for group, stop in zip(network.groups, stops, strict=True) if stop is None]
    for group in staying:
        rate, each = group.access_rate_bps, group.offered_bps / group.flows
        if not group.is_tcp and rate is not None and each > ABOVE * rate:
            yield LintFinding(
                f"flows[{group.name}].access.rate",
                f"each flow sends {format_rate(each)}, more than the {format_rate(rate)} of its own link",
                "lower the traffic's rate, or raise this one",
            )
    users = [group for group in staying if group.kind.get("kind") in PAGES]
    for link in network.links:
        carried = link.rate_bps * link.members
        asked = sum(_arriving(network, group, link.index) for group in staying if link.index in group.path)
        if asked > ABOVE * carried:
            yield LintFinding(
                f"links[{link.name}].rate",
                f"{format_rate(asked)} are asked of {format_rate(carried)} whatever the network does, so what waits or "
                "is open grows until something is refused, and the result depends on the length of the run",
                "lower the rate or load of that traffic, or raise this rate",
            )
            continue
        here = [group for group in users if link.index in group.path]
        wanted = sum(group.flows * asked_bps(network.links, group) for group in here)
        if wanted > ABOVE * carried:
            yield LintFinding(
                f"links[{link.name}].rate",
                f"{' and '.join(group.name for group in here)} would ask {format_rate(wanted)} of "
                f"{format_rate(carried)} if pages took no time, so users wait for the link and open fewer of them",
                "lower their count, raise their think time, or raise this rate, unless a full link is what you study",
            )


PAGES = ("page", "web")
"""Traffic whose users wait for a page before they open the next."""


def _arriving(network: Network, group: FlowGroup, link: int) -> float:
    """Maximum offered load of a group that reaches a link [bit/s], limited by the links before it."""
    offered = group.offered_bps
    if not group.is_tcp and group.access_rate_bps is not None:
        offered = min(offered, group.flows * group.access_rate_bps)
    for index in group.path[: group.path.index(link)]:
        before = network.links[index]
        offered = min(offered, before.rate_bps * before.members)
    return offered


RULE = LintRule.named("overload", _check)
