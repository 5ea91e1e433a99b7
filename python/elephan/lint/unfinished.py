"""Rule: single transfers that have not ended when the run does, which no time of the results includes."""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.units import format_time


def _check(subject: LintSubject) -> LintFindings:
    if subject.document is None:
        return
    for group in subject.network.groups:
        transfers = subject.document["groups"][group.index].get("transfers")
        if group.traffic != "finite" or not transfers:
            continue
        opened, completed = transfers["opened"]["mean"], transfers["completed"]["mean"]
        left = opened - completed - transfers["refused"]["mean"]
        # Means over replications: any part of one counts.
        if left > 1e-9 * opened:
            yield LintFinding(
                "duration",
                f"{left:.3g} of {opened:.6g} transfers of {group.name} had not ended; times are those of the others",
                f"give more than {format_time(subject.network.duration_s)}, so that all can end",
            )


RULE = LintRule.named("unfinished-transfers", _check)
