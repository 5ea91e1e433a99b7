"""Rule: replications that are all identical, because the scenario has no randomness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject

if TYPE_CHECKING:
    from elephan.results import MeasuredRun, Quantity

Run = TypeVar("Run", bound="MeasuredRun")

ROUNDING = 1e-9
"""Half-width relative to the mean up to which a difference is only rounding."""


def _check(subject: LintSubject) -> LintFindings:
    document = subject.document
    if document is not None and all_the_same(document):
        yield LintFinding(
            "replications",
            f"all {document['run']['replications']} are the same, since nothing in the scenario is random, so the "
            "intervals are empty and say nothing",
            "give start a range, or tcp a send_jitter, or run one",
        )


def all_the_same(document: MeasuredRun) -> bool:
    """Return whether a run has several replications, and all are the same.

    Parameters
    ----------
    document : mapping
        As ``elephan run --json``.
    """
    if document["run"]["replications"] < 2:
        return False
    measured = [link["backlog_packets"] for link in document["links"]]
    measured += [group["goodput_bps"] for group in document["groups"]]
    moving = [quantity for quantity in measured if quantity["mean"]]
    return bool(moving) and all(_is_constant(quantity) for quantity in moving)


def without_empty_intervals(document: Run) -> Run:
    """Return the document of a run without its intervals if all replications are the same, else as it is.

    Examples
    --------
    >>> without_empty_intervals({"run": {"replications": 2}, "links": [{"backlog_packets": {"mean": 5, "ci95": 0}}],
    ...                          "groups": []})["links"]
    [{'backlog_packets': {'mean': 5, 'ci95': None}}]
    """

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: None if key == "ci95" else strip(part) for key, part in value.items()}
        return [strip(part) for part in value] if isinstance(value, list) else value

    found: Run = strip(document) if all_the_same(document) else document.copy()
    return found


SAME = "all the same because nothing is random"
"""Words on such replications beside their number."""


def _is_constant(quantity: Quantity) -> bool:
    return quantity["ci95"] is not None and quantity["ci95"] <= ROUNDING * abs(quantity["mean"])


RULE = LintRule.named("deterministic-replications", _check)
