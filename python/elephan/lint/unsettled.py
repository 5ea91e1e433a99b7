"""Rule: runs whose flows get significantly more, or less, in the second half of the measured time than in the first."""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.units import format_time

LEAST = 0.05
"""Change of a group's rate, relative to its mean, below which it does not matter to a study."""

SURE = 2.0
"""Half-widths of the 95 % interval that a change exceeds: with five replications one in 200 does so by chance."""


def _check(subject: LintSubject) -> LintFindings:
    network = subject.network
    steady = all(
        group.start_s[1] <= network.warmup_s and (group.stop_s is None or group.stop_s >= network.duration_s)
        for group in network.groups
    )
    # Flows that come and go, and links whose rate changes, have no steady state.
    if not steady or any(not isinstance(link.rate, int | float | None) for link in network.links):
        return
    found = [
        (change, half, group)
        for group in network.bulk
        if (measured := subject.changes.get(group.index)) is not None
        for change, half in (measured,)
        if half is not None and abs(change) >= LEAST and abs(change) > SURE * half
    ]
    if not found:
        return
    change, half, group = max(found, key=lambda one: abs(one[0]))
    middle_s = (network.warmup_s + network.duration_s) / 2
    yield LintFinding(
        "warmup",
        f"{group.name} gets {100 * abs(change):.2g} % {'more' if change > 0 else 'less'} in the second half of the "
        f"measured time than in the first (95 %: {100 * (abs(change) - half):.2g} to {100 * (abs(change) + half):.2g} "
        "%), so the mean depends on where the measurement begins and ends",
        f"give {format_time(middle_s)} or more, and a longer duration",
    )


RULE = LintRule.named("unsettled", _check)
