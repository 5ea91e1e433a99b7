"""Rule: warm-ups that end before the slowest law has completed one sawtooth."""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.lint.sawtooth import slowest
from elephan.units import format_time


def _check(subject: LintSubject) -> LintFindings:
    warmup_s = subject.network.warmup_s
    found = slowest(subject.network.bulk)
    # A rule that measured the run itself is better than a bound.
    if found is None or not subject.network.warmup_is_stated or warmup_s >= found[1]:
        return
    group, period = found
    yield LintFinding(
        "warmup",
        f"{format_time(warmup_s)} is shorter than one sawtooth of {group.name} ({group.law}), about "
        f"{format_time(period)}, so what is measured begins in the middle of the first",
        f'give {format_time(group.start_s[1] + period)} or more, or "auto"',
    )


RULE = LintRule.named("short-warmup", _check)
