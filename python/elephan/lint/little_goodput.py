"""Rule: links that are busy with packets delivered twice, or never."""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject

LEAST = 0.7
"""Minimum goodput as a share of a link's throughput. Recoveries without SACK deliver at most a seventh twice at
random loss (tests of `sim`); a window waiting behind a hole at the end is seldom a tenth of a run."""

BUSY = 0.2
"""Utilization below which a link is not checked."""


def _check(subject: LintSubject) -> LintFindings:
    document = subject.document
    if document is None:
        return
    network = subject.network
    acks = {link for group in network.groups for link in group.return_path}
    for link in network.links:
        crossing = network.crossing(link.index)
        last = all(group.path[-1] == link.index for group in crossing)
        # Packets that this link carries can be dropped by a later one, and ACKs are not goodput.
        if not crossing or not last or link.index in acks:
            continue
        utilization = document["links"][link.index]["utilization"]["mean"]
        goodput = [document["groups"][group.index]["goodput_bps"]["mean"] for group in crossing]
        if utilization is None or utilization < BUSY or None in goodput:
            continue
        share = sum(goodput) / (utilization * link.rate_bps * link.members)
        if share < LEAST:
            yield LintFinding(
                f"links[{link.name}]",
                f"only {share:.0%} of what it carried was delivered in order for the first time",
                "look at loss, timeouts and recovery of the flows there; a longer run shows whether it lasts",
            )


RULE = LintRule.named("little-goodput", _check)
