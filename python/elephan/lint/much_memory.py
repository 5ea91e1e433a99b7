"""Rule: runs that need more memory than this process may take."""

from __future__ import annotations

from elephan.costs.available import available_memory
from elephan.costs.check import memory_of, too_much
from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.network import Network


def _check(subject: LintSubject) -> LintFindings:
    # A run that has finished had enough memory.
    if subject.document is not None:
        return
    # One replication at a time is the least that a run can do with.
    needed, parts = memory_of(subject.network, workers=1)
    reason = too_much(needed, available_memory(), parts)
    if reason:
        most = max(parts, key=lambda name: parts[name])
        yield LintFinding(_place(subject.network, most), f"a run {reason}", "make it smaller, or give it more memory")


def _place(network: Network, most: str) -> str:
    """Key of the scenario that causes the largest part of the memory."""
    if most == "flows":
        group = max(network.groups, key=lambda group: group.flows * group.places)
        return f"flows[{group.name}].count"
    if most in ("links", "packets in flight"):
        link = max(network.links, key=lambda link: link.members * link.rate_bps)
        return f"links[{link.name}]"
    return {"samples": "record.every", "traces": "record"}.get(most, "replications")


RULE = LintRule.named("much-memory", _check)
