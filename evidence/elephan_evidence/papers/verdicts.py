"""The verdict on a claim: the measured value, its interval, and, if it is not met, the explanation by one variant.

Full runs: *pass*, *undecided* (an ordering or a shape whose interval holds the limit), *deviation* (not met, and one
variant explains it), *fail*; claims that nulls pass as often as ours become *uninformative*
(`elephan_evidence.papers.nulls`).
Shortened runs give *ran*, and *pass* or *fail* only for claims that full runs met and that are judged in the same band,
orderings by an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elephan_evidence.papers import measured
from elephan_evidence.papers.explained import VariantVerdict, explain
from elephan_evidence.papers.measured import MeasuredQuantity
from elephan_evidence.papers.runs import NotRunError

if TYPE_CHECKING:
    from elephan_evidence.papers.accept import AcceptedBand, Standing
    from elephan_evidence.papers.measured import Found
    from elephan_evidence.papers.nulls import NullVerdict
    from elephan_evidence.papers.paper import Claim, Deviation, EvidenceSpec, Paper
    from elephan_evidence.papers.runs import ExperimentRuns

Verdict = Literal["pass", "deviation", "fail", "undecided", "uninformative", "ran", "not_run"]
UNMEASURED = (ArithmeticError, LookupError, ValueError)
"""Exceptions of a measure without enough data: its claims are not judged, all others are."""

VERDICTS: tuple[Verdict, ...] = ("pass", "deviation", "fail", "undecided", "uninformative", "ran", "not_run")

MET: frozenset[str] = frozenset(("pass", "uninformative"))
"""Verdicts of full runs; shortened runs that then miss the band show a change."""


@dataclass(frozen=True)
class Evidence:
    """Result of a run that supports an argument.

    Parameters
    ----------
    found : Found or None
        Measured value; None if it was not run.
    holds : bool
        Whether it is as the argument states.
    """

    shown: EvidenceSpec
    found: Found | None
    holds: bool
    note: str = ""

    def to_json(self, *, quick: bool) -> dict[str, Any]:
        """Return the evidence as an entry of a document."""
        accept = self.shown.quick if quick else self.shown.accept
        return {
            "says": self.shown.says,
            "measure": self.shown.measure,
            "measured": None if self.found is None else measured.to_json(self.found),
            "accept": None if accept is None else str(accept),
            "holds": self.holds,
            "note": self.note,
        }


@dataclass(frozen=True)
class Argument:
    """An argument about unmet claims, with its evidence from runs of this reproduction."""

    deviation: Deviation
    seen: tuple[Evidence, ...]

    @property
    def holds(self) -> bool:
        """Whether all of its evidence holds; an argument without a variant explains nothing."""
        return self.deviation.variant is not None and all(each.holds for each in self.seen)

    def to_json(self, *, quick: bool) -> dict[str, Any]:
        """Return the argument as an entry of a document."""
        deviation = self.deviation
        return {
            "claims": list(deviation.claims),
            "title": deviation.title,
            "why": deviation.why.strip(),
            "ns2": deviation.ns2.strip(),
            "needs": deviation.needs.strip(),
            "variant": None if deviation.variant is None else deviation.variant.says,
            "shown": [each.to_json(quick=quick) for each in self.seen],
            "holds": self.holds,
        }


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict.

    Parameters
    ----------
    found : Found or None
        Measured value; None if it was not run.
    accept : AcceptedBand
        Accepted band, widened by our interval if it is the paper's interval.
    standing : str or None
        Result before explanations: ``"met"``, ``"undecided"`` or ``"contradicted"``.
    variant : VariantVerdict or None
        Result of the one variant of its table or figure, whatever the verdict.
    nulls : tuple of NullVerdict
        Results of the nulls in its band.
    """

    claim: Claim
    found: Found | None
    accept: AcceptedBand
    verdict: Verdict
    note: str
    standing: Standing | None = None
    variant: VariantVerdict | None = None
    nulls: tuple[NullVerdict, ...] = ()

    @property
    def full_holds(self) -> bool | None:
        """Whether the value is within the band of full runs; None if it was not run."""
        if self.found is None:
            return None
        return bool(self.claim.accept.beside(interval(self.found)).holds(measured.number(self.found)))

    def to_json(self) -> dict[str, Any]:
        """Return the claim as an entry of a document."""
        claim = self.claim
        return {
            "id": claim.id,
            "paper": claim.paper,
            "kind": claim.kind,
            "origin": claim.origin,
            "statement": claim.statement,
            "figure": claim.figure,
            "expected": _expected(claim.value),
            "measured": None if self.found is None else measured.to_json(self.found),
            "tolerance": str(self.accept),
            "full_tolerance": str(claim.accept),
            "full_holds": self.full_holds,
            "reason": claim.reason,
            "standing": self.standing,
            "verdict": self.verdict,
            "note": self.note,
            "variant": None if self.variant is None else self.variant.to_json(),
            "nulls": [each.to_json() for each in self.nulls],
        }


def see(paper: Paper, shown: EvidenceSpec, runs: ExperimentRuns) -> Evidence:
    """Measure the evidence of an argument."""
    try:
        found: Found = paper.measures(shown.measure, runs.only(shown.experiments))
    except UNMEASURED as error:
        return Evidence(shown, None, holds=False, note=_why(error))
    accept = shown.quick if runs.quick else shown.accept
    return Evidence(shown, found, accept is None or accept.holds(measured.number(found)), _noted(found))


def judge(
    paper: Paper, claim: Claim, runs: ExperimentRuns, argued: tuple[Argument, ...], known: str = ""
) -> JudgedClaim:
    """Judge a claim without regard to nulls.

    Parameters
    ----------
    argued : tuple of Argument
        Arguments about the paper's claims.
    known : str
        The committed verdict of full runs, for shortened ones; empty if there is none.
    """
    short = runs.quick and bool(claim.experiments)
    try:
        found: Found = paper.measures(claim.measure, runs.only(claim.experiments))
    except UNMEASURED as error:
        return JudgedClaim(claim, None, claim.quick if short else claim.accept, "not_run", _why(error))
    accept = (claim.quick if short else claim.accept).beside(interval(found))
    stands = standing(claim, accept, found)
    note = _noted(found)
    if short:
        return _shortened(JudgedClaim(claim, found, accept, "ran", note, stands), known)
    if stands == "undecided":
        note = _joined(note, _undecided(found))
    verdict: Verdict = {"met": "pass", "undecided": "undecided"}.get(stands, "fail")  # type: ignore[assignment]
    for each in argued:
        if claim.id in each.deviation.claims:
            return _explained(paper, JudgedClaim(claim, found, accept, verdict, note, stands), each, runs)
    return JudgedClaim(claim, found, accept, verdict, note, stands)


def standing(claim: Claim, accept: AcceptedBand, found: Found) -> Standing:
    """Return the verdict of a measured value on a claim: by interval for orderings and shapes, otherwise by the mean.

    Returns
    -------
    str
        Also undecided with a single run, which has no interval.
    """
    if not (isinstance(found, MeasuredQuantity) and claim.experiments and claim.kind in ("ordering", "shape")):
        return "met" if accept.holds(measured.number(found)) else "contradicted"
    if accept.how == "so" or np.isnan(found.mean):
        return "contradicted"
    if any(part.ci95 is None for part in found.every):
        return "undecided"
    parts = [accept.standing(part.mean, part.ci95 or 0.0) for part in found.every]
    return next((each for each in ("contradicted", "undecided") if each in parts), "met")


def interval(found: Found) -> float | None:
    """Return the half-width of a result's interval, if it has one."""
    return found.ci95 if isinstance(found, MeasuredQuantity) else None


def _shortened(ran: JudgedClaim, known: str) -> JudgedClaim:
    """Judge shortened runs, as far as they can decide."""
    claim, found = ran.claim, ran.found
    assert found is not None
    inside = bool(ran.accept.holds(measured.number(found)))
    verdict: Verdict = "ran"
    if not inside and known in MET:
        verdict = "fail"
    elif claim.quick == claim.accept and ran.standing == "met" and (not known or known == "pass"):
        verdict = "pass"
    note = "" if inside or verdict == "fail" else "outside what is accepted of shortened runs"
    return JudgedClaim(claim, found, ran.accept, verdict, _joined(ran.note, note), ran.standing)


def _explained(paper: Paper, judged: JudgedClaim, argued: Argument, runs: ExperimentRuns) -> JudgedClaim:
    """Compare a claim with its variant, which may explain it."""
    variant = argued.deviation.variant
    note, verdict = judged.note, judged.verdict
    found = None if variant is None else _varied(paper, judged, argued, runs)
    if verdict == "fail":
        if found is not None and found.explains and argued.holds:
            verdict, note = "deviation", _joined(note, argued.deviation.title)
        elif found is not None and found.explains:
            untrue = next(seen.shown.says for seen in argued.seen if not seen.holds)
            note = _joined(note, f"not explained: the measurement contradicts this reason: {untrue}")
        else:
            note = _joined(note, f"not explained{f' by {variant.says}: {found.note}' if variant and found else ''}")
    return JudgedClaim(judged.claim, judged.found, judged.accept, verdict, note, judged.standing, found)


def _varied(paper: Paper, judged: JudgedClaim, argued: Argument, runs: ExperimentRuns) -> VariantVerdict:
    """Return the result of an argument's variant for a claim."""
    variant, claim = argued.deviation.variant, judged.claim
    assert variant is not None
    assert judged.found is not None
    measure, names = variant.of(claim)
    try:
        found: Found = paper.measures(measure, runs.only(tuple(dict.fromkeys((*claim.experiments, *names)))))
        points = [point for name in names or claim.experiments for point in runs[name]]
    except UNMEASURED as error:
        return VariantVerdict(None, holds=False, note=_why(error))
    seeds = min((int(point.document["run"]["replications"]) for point in points), default=None)
    met = standing(claim, claim.accept.beside(interval(found)), found) == "met"
    return explain(judged.accept, judged.found, found, met=met, seeds=seeds, valued=claim.kind == "numeric")


def _undecided(found: Found) -> str:
    """Return the reason why a claim is undecided."""
    if not isinstance(found, MeasuredQuantity) or found.ci95 is None:
        return "no interval decides"
    return "its interval holds the limit"


def _noted(found: Found) -> str:
    return found.note if isinstance(found, MeasuredQuantity) else ""


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, NotRunError) else f"cannot be measured: {type(error).__name__}: {error}"


def _expected(value: str) -> float | str | None:
    """Return the value as a number if it is one; None if the paper gives none."""
    try:
        return float(value)
    except ValueError:
        return value or None
