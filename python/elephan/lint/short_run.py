"""Rule: runs with too few losses to average over."""

from __future__ import annotations

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.lint.sawtooth import period_s
from elephan.units import format_time

SAWTEETH = 5
"""Minimum number of sawteeth in a run: with fewer, the mean depends on the phase at its end."""


def _check(subject: LintSubject) -> LintFindings:
    network = subject.network
    for group in network.bulk:
        period = period_s(group)
        if period is None:
            continue
        begin = max(network.warmup_s, group.start_s[1])
        measured_s = max(0.0, min(network.duration_s, group.stop_s or float("inf")) - begin)
        events = subject.measured(group, "loss_events")
        if events is not None and events < SAWTEETH * group.flows:
            # Without a time in which all of its flows have started there is none to state.
            time = f" in {format_time(measured_s)}" if measured_s > 0 else ""
            message = f"a flow of {group.name} lost {events / group.flows:.2g} times{time}"
        elif events is None and measured_s < SAWTEETH * period:
            message = (
                f"{format_time(measured_s)} of measured time are less than {SAWTEETH} sawteeth of {group.name} "
                f"({group.law}), about {format_time(period)} each"
            )
        else:
            continue
        longest = max(period, measured_s * group.flows / events) if events else period
        yield LintFinding(
            "duration",
            message,
            f"give {format_time(begin + SAWTEETH * longest)} or more",
        )


RULE = LintRule.named("short-run", _check)
