"""Runs a test case over its paths, and judges whether each observation is met, and whether a null meets it too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from elephan.runs import run as simulate
from elephan.scenario import Scenario
from elephan_evidence.conform.adapting import ADAPTING
from elephan_evidence.conform.amounts import evaluate, filled
from elephan_evidence.conform.lawtrace import LawTrace
from elephan_evidence.conform.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elephan.runs.result import RunResult
    from elephan_evidence.conform.case import CaseExplanation, Observation, Suite, TestCase, TestPath
    from elephan_evidence.conform.registry import Found

MEASURES.update(ADAPTING)

Verdict = Literal["met", "undecided", "contradicted", "uninformative"]
WORST: tuple[Verdict, ...] = ("contradicted", "uninformative", "undecided", "met")
"""Verdicts in order of precedence: the first one that occurs is the verdict of the whole."""


@dataclass(frozen=True)
class Made:
    """A completed run of a case.

    Parameters
    ----------
    says : str
        Difference from the other runs, in words.
    result : RunResult
    trace : LawTrace
    """

    says: str
    result: RunResult
    trace: LawTrace


@dataclass(frozen=True)
class JudgedObservation:
    """Verdict on an observation on one path.

    Parameters
    ----------
    found, null : float, bool or None
        Measured value in its run and in its null; None if the measured event did not occur.
    shown : float, bool or None
        Measured value in the run that explains why it is not met, if there is one.
    """

    observation: Observation
    found: Found
    null: Found
    explanation: CaseExplanation | None = None
    shown: Found = None

    @property
    def verdict(self) -> Verdict:
        """*Undecided* if it could not be measured; *uninformative* if its null passes as well."""
        if self.found is None:
            return "undecided"
        if not self.observation.accept.holds(self.found):
            return "contradicted"
        if self.null is not None and self.observation.accept.holds(self.null):
            return "uninformative"
        return "met"

    @property
    def explained(self) -> bool:
        """Whether a run of this suite demonstrated the explanation."""
        return self.explanation is not None and self.shown is not None and self.observation.accept.holds(self.shown)

    @property
    def holds(self) -> bool:
        """Whether the observation is met, or its absence is explained."""
        return self.verdict == "met" or (self.verdict == "contradicted" and self.explained)


@dataclass(frozen=True)
class JudgedPath:
    """A case on one path."""

    path: TestPath
    runs: Mapping[str, Made]
    seen: tuple[JudgedObservation, ...]

    @property
    def verdict(self) -> Verdict:
        """Verdict over all of its observations."""
        return worst([each.verdict for each in self.seen])


@dataclass(frozen=True)
class JudgedCase:
    """A case on all of its paths."""

    case: TestCase
    paths: tuple[JudgedPath, ...]

    @cached_property
    def verdict(self) -> Verdict:
        """*Met* only if every observation is met on every path."""
        return worst([each.verdict for each in self.paths])

    @property
    def every(self) -> tuple[JudgedObservation, ...]:
        """Its observations on all paths."""
        return tuple(seen for each in self.paths for seen in each.seen)

    @property
    def holds(self) -> bool:
        """Whether every observation is met or explained."""
        return all(seen.holds for seen in self.every)


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the common verdict of several."""
    return min(verdicts, key=WORST.index)


def judge(suite: Suite, case: TestCase) -> JudgedCase:
    """Run a case over its paths.

    Returns
    -------
    JudgedCase
        Without paths if the case cannot be run.
    """
    return JudgedCase(case, tuple(_on(suite, case, suite.paths[name]) for name in case.paths))


def _on(suite: Suite, case: TestCase, path: TestPath) -> JudgedPath:
    made: dict[str, Made] = {}
    for name in case.runs:
        _make(suite, case, path, name, made)
    return JudgedPath(path, made, tuple(_look(case, each, made) for each in case.seen))


def _look(case: TestCase, each: Observation, made: Mapping[str, Made]) -> JudgedObservation:
    found = MEASURES.of(each.measure, made[each.run].trace)
    explanation = case.explanation(each.id)
    return JudgedObservation(
        each,
        found,
        MEASURES.of(each.null_measure, made[each.null].trace),
        explanation,
        None if explanation is None else MEASURES.of(each.measure, made[explanation.run].trace),
    )


def _make(suite: Suite, case: TestCase, path: TestPath, name: str, made: dict[str, Made]) -> Made:
    """Run the named run of a case, after the run that determines its times."""
    if name in made:
        return made[name]
    run = case.runs[name]
    names = _make(suite, case, path, run.after, made).trace.names if run.after else {}
    names = {**names, **path.names}
    for key, measure in (run.finds or {}).items():
        found = MEASURES.of(measure, made[run.after].trace)
        if found is None:
            message = f"{case.name}: {path.name}: {key} is not found by {measure}"
            raise LookupError(message)
        names[key] = float(found)
    for key, text in (run.lets or {}).items():
        names[key] = evaluate(text, names)
    names["length"] = evaluate(case.length, names)
    scenario = scenario_of(suite, run.changes, names, f"{case.name}, {path.name}, {name}")
    result = simulate(scenario, workers=0)
    law = scenario.groups[0]["law"]
    scaled = {key: evaluate(text, names) for key, text in (run.scale or {}).items()}
    made[name] = Made(run.says, result, LawTrace.of(result.outcomes[0], {**names, **scaled}, law))
    return made[name]


def scenario_of(suite: Suite, changes: Mapping[str, Any], names: Mapping[str, float], origin: str) -> Scenario:
    """Return the scenario of a run, with its expressions evaluated."""
    base = Scenario.from_mapping(filled(dict(suite.scenario), names), origin=origin)
    return base.replace(filled(dict(changes), names))
