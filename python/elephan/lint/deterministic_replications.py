"""Rule: replications that are all identical, because the scenario has no randomness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.lint.rule import LintFinding, LintRule, LintSubject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROUNDING = 1e-9
"""Half-width relative to the mean up to which a difference is only rounding."""


def _check(study: LintSubject) -> Iterator[LintFinding]:
    document = study.document
    if document is None or document["run"]["replications"] < 2:
        return
    measured = [link["backlog_packets"] for link in document["links"]]
    measured += [group["goodput_bps"] for group in document["groups"]]
    moving = [quantity for quantity in measured if quantity["mean"]]
    if moving and all(_is_constant(quantity) for quantity in moving):
        yield LintFinding(
            "replications",
            f"all {document['run']['replications']} are the same, since nothing in the scenario is random, so the "
            "intervals are empty and say nothing",
            "give start a range, or tcp a send_jitter, or run one",
        )


def _is_constant(quantity: Mapping[str, Any]) -> bool:
    return quantity["ci95"] is not None and quantity["ci95"] <= ROUNDING * abs(quantity["mean"])


RULE = LintRule(
    "deterministic-replications",
    "All replications are the same",
    "Law and Kelton 2000, Simulation modeling and analysis, Section 9.4, on independent replications",
    "Replications differ by what is drawn: starts, jitter, random traffic, round-trip times, disciplines that drop by "
    "chance. Where nothing is, a hundred replications are one, and a half-width of zero is no precision.",
    _check,
)
