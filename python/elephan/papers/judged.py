"""The verdict on a claim: what was found of it, whether that is accepted, and if not, whether the reason is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from elephan.papers import measured
from elephan.papers.runs import NotRunError

if TYPE_CHECKING:
    from elephan.papers.accept import Accept
    from elephan.papers.measured import Found
    from elephan.papers.paper import Claim, Deviation, Paper, Shown
    from elephan.papers.runs import Runs

Verdict = Literal["pass", "deviation", "fail", "not_run"]
UNMEASURED = (ArithmeticError, LookupError, ValueError)
"""What a measure raises where it finds too little to measure: its claims are not judged, and all others are."""

VERDICTS: tuple[Verdict, ...] = ("pass", "deviation", "fail", "not_run")


@dataclass(frozen=True)
class Seen:
    """What a run showed in support of an argument.

    Parameters
    ----------
    shown : Shown
    found : Found or None
        None if it was not run.
    holds : bool
        Whether it is as the argument says.
    note : str
    """

    shown: Shown
    found: Found | None
    holds: bool
    note: str = ""

    def to_json(self, *, quick: bool) -> dict[str, Any]:
        """Return it as a document has it."""
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
class Argued:
    """A deviation with what supports it in this reproduction.

    Parameters
    ----------
    deviation : Deviation
    seen : tuple of Seen
    """

    deviation: Deviation
    seen: tuple[Seen, ...]

    @property
    def holds(self) -> bool:
        """Whether everything that it rests on is so; one that rests on nothing does not hold."""
        return bool(self.seen) and all(each.holds for each in self.seen)

    def to_json(self, *, quick: bool) -> dict[str, Any]:
        """Return it as a document has it."""
        deviation = self.deviation
        return {
            "claims": list(deviation.claims),
            "title": deviation.title,
            "why": deviation.why.strip(),
            "ns2": deviation.ns2.strip(),
            "needs": deviation.needs.strip(),
            "shown": [each.to_json(quick=quick) for each in self.seen],
            "each": [shown.says for shown in deviation.each],
            "holds": self.holds,
        }


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict.

    Parameters
    ----------
    claim : Claim
    found : Found or None
        None if it was not run.
    accept : Accept
    verdict : str
    note : str
    own : tuple of Seen
        Its own checks, if its deviation has some.
    """

    claim: Claim
    found: Found | None
    accept: Accept
    verdict: Verdict
    note: str
    own: tuple[Seen, ...] = ()

    @property
    def full_holds(self) -> bool | None:
        """Whether what was found is within what is accepted of full runs; None if it was not run."""
        return None if self.found is None else self.claim.accept.holds(measured.number(self.found))

    @property
    def only_wider(self) -> bool:
        """Whether it passes by the wider band of shortened runs alone."""
        return self.verdict == "pass" and not self.full_holds

    def to_json(self, *, quick: bool = False) -> dict[str, Any]:
        """Return it as a document has it."""
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
            "verdict": self.verdict,
            "note": self.note,
            "own": [each.to_json(quick=quick) for each in self.own],
        }


def see(paper: Paper, shown: Shown, runs: Runs) -> Seen:
    """Measure what an argument rests on.

    Parameters
    ----------
    paper : Paper
    shown : Shown
    runs : Runs

    Returns
    -------
    Seen
    """
    try:
        found: Found = paper.measures(shown.measure, runs.only(shown.experiments))
    except UNMEASURED as error:
        return Seen(shown, None, holds=False, note=_why(error))
    accept = shown.quick if runs.quick else shown.accept
    return Seen(shown, found, accept is None or accept.holds(measured.number(found)), _noted(found))


def judge(paper: Paper, claim: Claim, runs: Runs, argued: tuple[Argued, ...]) -> Judged:
    """Judge a claim.

    Parameters
    ----------
    paper : Paper
    claim : Claim
    runs : Runs
    argued : tuple of Argued
        The paper's deviations.

    Returns
    -------
    Judged
    """
    accept = claim.quick if runs.quick else claim.accept
    try:
        found: Found = paper.measures(claim.measure, runs.only(claim.experiments))
    except UNMEASURED as error:
        return Judged(claim, None, accept, "not_run", _why(error))
    note = _noted(found)
    if accept.holds(measured.number(found)):
        return Judged(claim, found, accept, "pass", _doubted(note, found, claim, accept))
    for each in argued:
        if claim.id in each.deviation.claims:
            return _excused(paper, Judged(claim, found, accept, "fail", note), each, runs)
    return Judged(claim, found, accept, "fail", note)


def _excused(paper: Paper, missed: Judged, argued: Argued, runs: Runs) -> Judged:
    """Judge a claim that is not met by what is shown of its deviation, and of itself."""
    if not argued.holds:
        untrue = next((s.shown.says for s in argued.seen if not s.holds), "nothing")
        return replace(missed, note=_joined(missed.note, f"its explanation is not shown: {untrue}"))
    own = tuple(see(paper, shown.of(missed.claim), runs) for shown in argued.deviation.each)
    if own and not any(seen.holds for seen in own):
        return replace(missed, note=_joined(missed.note, "its explanation is not shown of this claim"), own=own)
    return replace(missed, verdict="deviation", note=_joined(missed.note, argued.deviation.title), own=own)


def _noted(found: Found) -> str:
    return found.note if isinstance(found, measured.Measured) else ""


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, NotRunError) else f"cannot be measured: {type(error).__name__}: {error}"


def _doubted(note: str, found: Found, claim: Claim, accept: Accept) -> str:
    """Say of an ordering whose interval holds what decides it that the runs do not tell it for sure."""
    if claim.kind != "ordering" or not isinstance(found, measured.Measured) or found.ci95 is None:
        return note
    bound = 0.0 if accept.how == "sign" else accept.numbers[0] if accept.how in ("min", "max") else None
    if bound is not None and abs(found.mean - bound) <= found.ci95:
        return _joined(note, f"within its interval of {bound:g}")
    return note


def _expected(value: str) -> float | str | None:
    """The value as a number where it is one; None where the paper gives none."""
    try:
        return float(value)
    except ValueError:
        return value or None
