"""Lint rules: checks of a scenario, and of its results if there are any, for common mistakes of studies.

A rule is a file that holds a `RULE`, and an entry in `RULES`. A warning is true of the scenario, not an opinion: what
ordinary scenarios do is never one.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from elephan.catalog import Card
from elephan.lint.rule import LintRule, LintSubject, LintWarning
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from elephan.results import MeasuredRun

__all__ = ["RULES", "LintRule", "LintWarning", "cards", "lint"]


_MODULES = (
    "receiver_limited",
    "short_warmup",
    "short_run",
    "unsettled",
    "phase_locked",
    "phase_effects",
    "small_buffer",
    "unfinished",
    "unpaced_bursts",
    "thresholds",
    "nic_queue",
    "deterministic_replications",
    "few_duplicates",
    "little_goodput",
    "no_effect",
    "overload",
    "unlimited_buffer",
    "ends_in_warmup",
    "much_memory",
)

RULES: tuple[LintRule, ...] = tuple(import_module(f"{__name__}.{name}").RULE for name in _MODULES)
"""All rules, in the order in which their warnings are shown."""


def lint(
    scenario: Scenario,
    document: MeasuredRun | None = None,
    changes: Mapping[int, tuple[float, float | None]] | None = None,
) -> list[LintWarning]:
    """Check a scenario for settings that give its numbers another meaning than intended.

    Parameters
    ----------
    scenario : Scenario
    document : mapping, optional
        The document of its run. Rules then judge by what was measured where they can.
    changes : mapping, optional
        As `LintSubject` has them.

    Returns
    -------
    list of LintWarning
        Warnings in the order of `RULES`.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> [warned.rule for warned in lint(Scenario.from_text(EXAMPLE))]
    ['short-warmup', 'short-run', 'phase-locked']
    """
    subject = LintSubject(scenario.network, document, changes or {})
    return [
        LintWarning(rule.name, "warning", found.where, found.message, found.remedy)
        for rule in RULES
        for found in rule.check(subject)
    ]


def cards() -> list[Card]:
    """Return the cards of all rules, in the form of `elephan.catalog.catalog`.

    Returns
    -------
    list of Card

    Examples
    --------
    >>> cards()[0]["name"]
    'receiver-limited'
    """
    return [rule.card() for rule in RULES]
