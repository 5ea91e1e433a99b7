"""Nulls: alternative values that might pass in a claim's band, judged from the same runs in the same band.

* **constant**, for a family of numbers: the one number for each column that passes most of its claims. It was fitted to
  the papers' numbers alone.
* **alternatives** that a paper's ``nulls.py`` names, such as the *wrong law*, *queue* or *delay*: our own cell of
  another case, of which some or all pass.
* **opposite**, for orderings: the measured value with the opposite sign.
* **flat**, for shapes and orderings over a sweep: a world in which what is varied changes nothing. All points have the
  data of one, and it passes if it does so with each of several points in that place.
* **another point**, for numbers that are alone: the same, so that the number is that of some other point.

A band that a null passes as often as ours says nothing of ours: its claims, where met, are *uninformative*. Of claims
in a family numbers of claims are compared, of a claim alone whether the null passes, each time it is tried.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns
from elephan_evidence.papers.verdicts import UNMEASURED, standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from elephan_evidence.papers.accept import AcceptedBand
    from elephan_evidence.papers.measured import Found
    from elephan_evidence.papers.paper import Claim, ClaimFamily, Paper
    from elephan_evidence.papers.verdicts import JudgedClaim

CONSTANT, OPPOSITE, FLAT, ANOTHER = "constant", "opposite", "flat", "another point"

WORLDS = 5
"""Maximum number of points tried in place of all others: the first, the last, and evenly spaced ones between."""


@dataclass(frozen=True)
class NullVerdict:
    """Result of a null for one claim.

    Parameters
    ----------
    passed, tried : int
        Number of times that it passed, and that it was tried.
    """

    name: str
    passed: int
    tried: int

    @property
    def always(self) -> bool:
        """Whether it passed every time."""
        return self.passed == self.tried

    def to_json(self) -> dict[str, Any]:
        """Return the result as an entry of a document."""
        return {"name": self.name, "passed": self.passed, "tried": self.tried}


@dataclass(frozen=True)
class NullPower:
    """Informative value of the bands of a family.

    Parameters
    ----------
    whole : bool
        Whether the whole family was judged; a part of it has no verdict.
    ours : int
        Number of claims that are met.
    variant : int or None
        Number of claims that the variant of their tables meets, if there is one.
    nulls : dict of str to float
        Number of claims that each null passes; a null that is tried several times counts fractions.
    why : str
        The reason if ours meets fewer than a null.
    """

    family: str
    claims: tuple[str, ...]
    whole: bool
    ours: int
    variant: int | None
    nulls: dict[str, float]
    why: str = ""

    @property
    def informative(self) -> bool:
        """Whether ours passes more often than every null."""
        return all(self.ours > passed for passed in self.nulls.values())

    def to_json(self) -> dict[str, Any]:
        """Return the result as an entry of a document."""
        return {
            "family": self.family,
            "claims": len(self.claims),
            "whole": self.whole,
            "ours": self.ours,
            "variant": self.variant,
            "nulls": dict(self.nulls),
            "why": self.why,
            "informative": self.informative if self.whole else None,
        }


def tried(paper: Paper, judged: JudgedClaim, runs: ExperimentRuns) -> tuple[NullVerdict, ...]:
    """Try the nulls of a single claim.

    Parameters
    ----------
    judged : JudgedClaim
        A claim that was run.
    runs : ExperimentRuns
        All runs of the paper.

    Returns
    -------
    tuple of NullVerdict
        Empty if a formula decides.
    """
    claim, accept = judged.claim, judged.accept
    if not claim.experiments or judged.found is None:
        return ()
    found = []
    for name, measures in _alternatives(paper, claim).items():
        each = [_measured(paper, measure, runs) for measure in measures]
        known = [one for one in each if one is not None]
        if known:
            found.append(NullVerdict(name, sum(_passes(claim, accept, one) for one in known), len(known)))
    if claim.kind == "ordering" and accept.how in ("sign", "min", "max"):
        turned = -judged.found if not isinstance(judged.found, bool) else not judged.found
        found.append(NullVerdict(OPPOSITE, int(_passes(claim, accept, turned)), 1))
    # A cell of a family has nulls that are more informative.
    flat = None if found and claim.kind == "numeric" else _flat(paper, claim, accept, runs)
    return (*found, flat) if flat is not None else tuple(found)


def families(
    paper: Paper, judged: Mapping[str, JudgedClaim]
) -> tuple[list[NullPower], dict[str, tuple[NullVerdict, ...]]]:
    """Compare ours with the nulls of each family.

    Parameters
    ----------
    judged : mapping of str to JudgedClaim
        Claims with the results of their nulls.

    Returns
    -------
    dict of str to tuple of NullVerdict
        Results of the best constants, by claim.
    """
    every: list[NullPower] = []
    constants: dict[str, tuple[NullVerdict, ...]] = {}
    for family in paper.families:
        mine = {key: judged[key] for key in family.claims if key in judged and judged[key].found is not None}
        if not mine:
            continue
        passed: dict[str, float] = {}
        if CONSTANT in family.nulls:
            fitted = _constants(paper, mine)
            constants |= {key: (NullVerdict(CONSTANT, int(held), 1),) for key, held in fitted.items()}
            passed[CONSTANT] = sum(fitted.values())
        for name in family.nulls:
            shares = [t.passed / t.tried for one in mine.values() for t in one.nulls if t.name == name]
            if shares:
                passed[name] = float(sum(shares))
        every.append(_power(family, mine, passed))
    return every, constants


def _power(family: ClaimFamily, mine: Mapping[str, JudgedClaim], passed: dict[str, float]) -> NullPower:
    variants = [one.variant.holds for one in mine.values() if one.variant is not None and one.variant.found is not None]
    return NullPower(
        family.name,
        family.claims,
        len(mine) == len(family.claims),
        sum(one.standing == "met" for one in mine.values()),
        sum(variants) if variants else None,
        passed,
        family.why,
    )


def empty(judged: JudgedClaim) -> str:
    """Name the null that always passes, which makes a single claim uninformative; empty if there is none."""
    return next((each.name for each in judged.nulls if each.always), "")


def best_constant(bands: Sequence[tuple[float, float]]) -> float:
    """Return the smallest end of a band that is in the most bands.

    Examples
    --------
    >>> best_constant([(0.0, 1.0), (0.5, 2.0), (0.75, 0.8)])
    0.75
    """
    ends = sorted({low for low, _ in bands if np.isfinite(low)} | {high for _, high in bands if np.isfinite(high)})
    return max(ends, key=lambda x: sum(low <= x <= high for low, high in bands))


def _constants(paper: Paper, mine: Mapping[str, JudgedClaim]) -> dict[str, bool]:
    """Return whether each claim is met by the best constant of its column."""
    columns: dict[str, list[str]] = defaultdict(list)
    for key, one in mine.items():
        columns[paper.column(one.claim)].append(key)
    held: dict[str, bool] = {}
    for keys in columns.values():
        best = best_constant([mine[key].accept.bounds for key in keys])
        held |= {key: bool(mine[key].accept.holds(best)) for key in keys}
    return {key: held[key] for key in mine}


def _alternatives(paper: Paper, claim: Claim) -> dict[str, Sequence[str]]:
    return {name: measures for name, of in paper.alternatives.items() if (measures := of(claim))}


def _passes(claim: Claim, accept: AcceptedBand, found: Found) -> bool:
    return standing(claim, accept, found) == "met"


def _measured(paper: Paper, measure: str, runs: ExperimentRuns) -> Found | None:
    try:
        found: Found = paper.measures(measure, runs)
    except UNMEASURED:
        return None
    return found


def _flat(paper: Paper, claim: Claim, accept: AcceptedBand, runs: ExperimentRuns) -> NullVerdict | None:
    """Judge a claim if no varied parameter had an effect; None if the claim itself says so, or compares nothing."""
    number = claim.kind == "numeric"
    if claim.value in (">= 0", "<= 0", "0") or not (number or accept.how in ("sign", "min", "max", "so")):
        return None
    mine = runs.only(claim.experiments)
    first = next(iter(mine.experiments.values()), None)
    if first is None or len(first) < 2:
        return None
    at = sorted({round(i) for i in np.linspace(0, len(first) - 1, WORLDS)})
    passed = []
    for which in at:
        looked: set[int] = set()
        world = ExperimentRuns(dict(_filled(mine.experiments.values(), first, which, looked)), runs.quick)
        found = _measured(paper, claim.measure, world)
        if found is not None and (number or len(looked) > 1):
            passed.append(_passes(claim, accept, found))
    return NullVerdict(ANOTHER if number else FLAT, sum(passed), len(passed)) if passed else None


def _filled(
    every: Iterable[ExperimentPoints], source: ExperimentPoints, which: int, looked: set[int]
) -> Iterable[tuple[str, ExperimentPoints]]:
    """Return experiments whose points all have the data of one."""
    one = source.points[which]
    for points in every:
        filled = tuple(one.under(point.labels, looked) for point in points)
        yield points.name, ExperimentPoints(points.name, filled, points.failed)
