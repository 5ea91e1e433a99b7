"""Rule: warm-ups that end before the slowest law has completed one sawtooth."""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.lint.sawtooth import slowest
from elephan.units import format_time


def _check(study: LintSubject) -> LintFindings:
    warmup_s = study.network.warmup_s
    found = slowest(study.network.bulk)
    # A rule that measured the run itself is better than a bound.
    if found is None or not study.network.warmup_is_stated or warmup_s >= found[1]:
        return
    group, period = found
    yield LintFinding(
        "warmup",
        f"{format_time(warmup_s)} is shorter than one sawtooth of {group.name} ({group.law}), about "
        f"{format_time(period)}, so what is measured begins in the middle of the first",
        f'give {format_time(group.start_s[1] + period)} or more, or "auto"',
    )


RULE = LintRule.named("short-warmup", _check)
