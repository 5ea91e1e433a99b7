"""Data sets judged cell by cell: the document of ``elephan judge --json``."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from elephan.errors import InputError
from elephan.runs.files import provenance
from elephan_evidence.judge import committed
from elephan_evidence.judge.cell import matches
from elephan_evidence.judge.dataset import DataSet, find, sets
from elephan_evidence.judge.running import CellJob, declared, simulate, varied
from elephan_evidence.judge.scoring import (
    CONSTANT,
    Measurement,
    Score,
    accepted,
    constant,
    families,
    halves,
    measurements,
    score,
    swapped,
)
from elephan_evidence.papers.explained import NEEDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from elephan_evidence.judge.committed import TableChange
    from elephan_evidence.judge.dataset import Quantity, Reason, Unknown
    from elephan_evidence.judge.running import Found

CellVerdict = Literal["within", "explained", "above", "apart"]
FamilyVerdict = Literal["met", "not met", "uninformative"]

Bounded = tuple[float, float]
"""An error and its bound."""


@dataclass(frozen=True)
class JudgedCell:
    """A cell with its error.

    Parameters
    ----------
    half : float
        Half-width of the 95 % interval of the error: replications and measured spread.
    verdict : str
        ``"within"`` the bound, ``"explained"`` (above it, and a run shows why), ``"above"``, or ``"apart"`` (not
        counted).
    reason : Reason or None
        The named reason of an error above the bound.
    shown : float or None
        Error under the reason's variant.
    """

    of: Measurement
    half: float
    verdict: CellVerdict
    reason: Reason | None = None
    shown: float | None = None


@dataclass(frozen=True)
class JudgedFamily:
    """A family of cells with its score, and those of the nulls.

    Parameters
    ----------
    nulls : dict of str to Score
    """

    quantity: Quantity
    name: str
    ours: Score
    nulls: Mapping[str, Score]
    verdict: FamilyVerdict


@dataclass(frozen=True)
class JudgedQuantity:
    """A quantity of a set.

    Parameters
    ----------
    unknowns : list of tuple of str, Score and Score
        For each value of an unknown: its name, our score with it, and the declared score in the same cells.
    """

    quantity: Quantity
    cells: tuple[JudgedCell, ...]
    families: tuple[JudgedFamily, ...]
    ours: Score
    nulls: Mapping[str, Score]
    unknowns: tuple[tuple[Unknown, str, Score, Score], ...]

    @property
    def best_null(self) -> tuple[str, float]:
        """The null with the largest share of cells within the bound, and that share."""
        known = {name: each.share for name, each in self.nulls.items() if each.cells}
        name = max(known, key=lambda name: known[name], default="")
        return name, known.get(name, math.nan)

    @property
    def verdict(self) -> FamilyVerdict:
        """Verdict of all families: the worst of them."""
        verdicts = [family.verdict for family in self.families]
        return next((each for each in ("not met", "uninformative") if each in verdicts), "met")


@dataclass(frozen=True, repr=False)
class JudgedSet:
    """A data set with the errors of its cells."""

    data: DataSet
    quantities: tuple[JudgedQuantity, ...]
    quick: bool

    @property
    def cells(self) -> int:
        """Number of counted values, over all quantities."""
        return sum(each.ours.cells for each in self.quantities)

    @property
    def share(self) -> float:
        """Score of the set: share of its counted values within their bounds."""
        return sum(each.ours.within for each in self.quantities) / self.cells if self.cells else math.nan

    @property
    def best_null(self) -> tuple[str, float]:
        """The null with the best score of the set."""
        names = dict.fromkeys(name for each in self.quantities for name in each.nulls)
        shares = {}
        for name in names:
            tried = [each.nulls[name] for each in self.quantities if name in each.nulls and each.nulls[name].cells]
            if tried:
                shares[name] = sum(each.within for each in tried) / sum(each.cells for each in tried)
        best = max(shares, key=lambda name: shares[name], default="")
        return best, shares.get(best, math.nan)

    @cached_property
    def changed(self) -> list[TableChange]:
        """Verdicts that differ from the committed ones."""
        return committed.changes(self.data.folder, _rows(self), quick=self.quick)


@dataclass(frozen=True, repr=False)
class Judgement:
    """The result of `judge`.

    Parameters
    ----------
    sets : tuple of JudgedSet
    quick : bool
    compared : bool
        Whether the verdicts are compared with the committed ones: not those of other measurements.
    wall_s : float [s]
    """

    sets: tuple[JudgedSet, ...]
    quick: bool
    compared: bool
    wall_s: float

    @property
    def holds(self) -> bool:
        """Whether every verdict is the committed one."""
        return not self.compared or not any(each.changed for each in self.sets)

    def bless(self) -> list[Path]:
        """Commit the tables for later runs to be compared with."""
        return [committed.write(each.data.folder, _rows(each), quick=each.quick) for each in self.sets]

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``elephan judge --json``."""
        return {
            "sets": [_set(each, compared=self.compared) for each in self.sets],
            "quick": self.quick,
            "wall_s": self.wall_s,
            "provenance": provenance(),
        }


def judge(
    *names: str,
    quick: bool = False,
    measured: Path | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Judgement:
    """Simulate the cells of data sets and judge the errors.

    Parameters
    ----------
    *names : str
        Names of sets, or folders; all sets by default.
    quick : bool
        Whether to run few cells, shortened, and no variants.
    measured : Path, optional
        Other measurements for one set, with the columns of its ``measured.csv``: cells that were held out.
    workers : int, optional
        Number of threads; by default the number of cores. The result does not depend on it.
    progress : callable, optional
        Called with (runs done, total runs) after each.

    Raises
    ------
    InputError
        If there is no such set, a file is wrong, or `measured` is given with several sets.
    """
    begun = time.perf_counter()
    asked = list(dict.fromkeys(names or sets()))
    if measured is not None and len(asked) != 1:
        message = "--held-out: belongs to one data set; name it"
        raise InputError(message)
    every = [DataSet.read(find(name), measured) for name in asked]
    jobs: list[CellJob] = []
    for data in every:
        jobs += declared(data, _chosen(data, quick=quick))
        if not quick:
            jobs += varied(data, data.counted[:: data.sample])
    found = simulate(jobs, quick=quick, workers=workers, progress=progress)
    first = [_judged(data, found, quick=quick) for data in every]
    if not quick:
        more = [job for judged in first for job in _shown(judged)]
        total = len(jobs) + len(more)
        found |= simulate(more, workers=workers, progress=progress, total=total, done=len(jobs))
    final = [_judged(data, found, quick=quick) for data in every]
    return Judgement(tuple(final), quick, measured is None, time.perf_counter() - begun)


def _chosen(data: DataSet, *, quick: bool) -> list[Any]:
    cells = data.simulated
    return cells[:: int(data.quick.get("every", 1))] if quick else cells


def _judged(data: DataSet, found: Found, *, quick: bool) -> JudgedSet:
    made = []
    for quantity in data.quantities:
        if quick and quantity.over:
            continue  # the smallest of few cells is not the smallest
        every = measurements(data, quantity, found)
        counted = [one for one in every if one.counted]
        nulls = _nulls(data, quantity, found, counted, every)
        half = halves(every)
        cells = tuple(_cell(data, found, one, half[one.id]) for one in every)
        of = tuple(
            _family(quantity, name, mine, {null: _only(errors, mine) for null, errors in nulls.items()})
            for name, mine in families(every).items()
        )
        ours = score([(one.found_error, one.limit) for one in counted])
        scores = {name: _null_score(list(errors.values())) for name, errors in nulls.items()}
        made.append(JudgedQuantity(quantity, cells, of, ours, scores, tuple(_unknowns(data, quantity, found))))
    return JudgedSet(data, tuple(made), quick)


def _nulls(
    data: DataSet, quantity: Quantity, found: Found, counted: list[Measurement], every: list[Measurement]
) -> dict[str, dict[str, list[Bounded]]]:
    """Return the errors of each null with their bounds: a list per cell, as far as it can be tried."""
    errors = {CONSTANT: {one.id: [(error, one.limit)] for one, error in zip(counted, constant(counted), strict=True)}}
    for null in data.nulls:
        if null.variant is not None:
            with_runs = measurements(data, quantity, found, null.variant.name)
            ours = {one.id for one in counted}
            # A smallest value needs all cells of its group, and variants have a sample.
            tried = {} if quantity.over else {o.id: [(o.found_error, o.limit)] for o in with_runs if o.id in ours}
        else:
            each = zip(counted, swapped(null, counted, every), strict=True)
            tried = {one.id: [(error, one.limit) for error in swaps] for one, swaps in each if swaps}
        if tried:
            errors[null.name] = tried
    return errors


def _only(errors: Mapping[str, list[Bounded]], mine: list[Measurement]) -> list[list[Bounded]]:
    return [errors[one.id] for one in mine if one.id in errors]


def _null_score(errors: list[list[Bounded]]) -> Score:
    """Score a null: a cell for which it has several values counts as one."""
    each = [score(values) for values in errors]
    whole = score([error for values in errors for error in values])
    return replace(whole, cells=len(each), within=sum(one.share for one in each))


def _family(
    quantity: Quantity, name: str, mine: list[Measurement], nulls: Mapping[str, list[list[Bounded]]]
) -> JudgedFamily:
    ours = score([(one.found_error, one.limit) for one in mine])
    scores = {null: _null_score(errors) for null, errors in nulls.items() if errors}
    verdict: FamilyVerdict = "met" if accepted(quantity, ours) else "not met"
    if verdict == "met" and any(each.share >= ours.share for each in scores.values()):
        verdict = "uninformative"
    return JudgedFamily(quantity, name, ours, scores, verdict)


def _cell(data: DataSet, found: Found, one: Measurement, half: float) -> JudgedCell:
    if not one.counted:
        return JudgedCell(one, half, "apart")
    error = one.found_error
    if abs(error) <= one.limit:
        return JudgedCell(one, half, "within")
    reason = _reason(data, one)
    if reason is None or reason.variant is None:
        return JudgedCell(one, half, "above", reason)
    [*shown] = [
        each.found_error
        for each in measurements(data, one.quantity, found, reason.variant.name, one.cells)
        if each.id == one.id
    ]
    if not shown:
        return JudgedCell(one, half, "above", reason)
    closes = abs(shown[0]) <= max(one.limit, (1 - NEEDED) * abs(error))
    return JudgedCell(one, half, "explained" if closes else "above", reason, shown[0])


def _reason(data: DataSet, one: Measurement) -> Reason | None:
    """Return the first reason for a cell's error, for which all of its cells match."""
    for reason in data.reasons:
        if reason.quantity in ("", one.quantity.name) and all(matches(cell, reason.where) for cell in one.cells):
            return reason
    return None


def _shown(judged: JudgedSet) -> list[CellJob]:
    """Return the runs of the variants that reasons name, of cells above their bounds."""
    jobs: dict[tuple[str, str], CellJob] = {}
    for each in judged.quantities:
        for one in each.cells:
            if one.verdict == "above" and one.reason is not None and one.reason.variant is not None:
                for cell in one.of.cells:
                    variant = one.reason.variant
                    jobs[variant.name, cell.id] = CellJob(judged.data, cell, variant)
    return list(jobs.values())


def _unknowns(data: DataSet, quantity: Quantity, found: Found) -> Iterable[tuple[Unknown, str, Score, Score]]:
    """Yield the score with each value of each unknown, and the declared score in the same cells."""
    base = {one.id: one for one in measurements(data, quantity, found) if one.counted}
    for unknown in data.unknowns:
        for value in unknown.values:
            if value.changes and quantity.over:
                continue  # needs all cells of a group
            varied = [one for one in measurements(data, quantity, found, value.name) if one.id in base]
            if varied:
                yield (
                    unknown,
                    value.name,
                    score([(one.found_error, one.limit) for one in varied]),
                    score([(base[one.id].found_error, one.limit) for one in varied]),
                )


def _number(x: float) -> float | None:
    return None if math.isnan(x) else x


def _score(of: Score) -> dict[str, Any]:
    return {
        "cells": of.cells,
        "within": of.within,
        "bias": _number(of.bias),
        "bias_ci95": of.bias_half,
        "mean_error": _number(of.mean),
    }


def _set(judged: JudgedSet, *, compared: bool) -> dict[str, Any]:
    data = judged.data
    null, share = judged.best_null
    return {
        "name": data.name,
        "title": data.title,
        "source": data.source,
        "licence": data.licence,
        "cells": judged.cells,
        "score": _number(judged.share),
        "best_null": {"name": null, "score": _number(share)},
        "quantities": [_quantity(each) for each in judged.quantities],
        "apart": len(data.cells) - len(data.counted),
        "changed": [each.to_json() for each in judged.changed] if compared else [],
    }


def _quantity(judged: JudgedQuantity) -> dict[str, Any]:
    quantity = judged.quantity
    return {
        "name": quantity.name,
        "says": quantity.says,
        "unit": quantity.unit,
        "error": quantity.error,
        "bounds": {"cell": quantity.cell, "bias": quantity.bias, "mean": quantity.mean, "reason": quantity.reason},
        "verdict": judged.verdict,
        "ours": _score(judged.ours),
        "nulls": [{"name": name, **_score(each)} for name, each in judged.nulls.items()],
        "families": [
            {
                "name": family.name,
                "verdict": family.verdict,
                "ours": _score(family.ours),
                "nulls": [{"name": name, **_score(each)} for name, each in family.nulls.items()],
            }
            for family in judged.families
        ],
        "unknowns": [
            {"name": value, "fitted": unknown.fitted, "with": _score(theirs), "declared": _score(ours)}
            for unknown, value, theirs, ours in judged.unknowns
        ],
        "cells": [_cell_json(each) for each in judged.cells],
    }


def _cell_json(each: JudgedCell) -> dict[str, Any]:
    of = each.of
    return {
        "id": of.id,
        "measured": of.measured,
        "simulated": _number(of.found),
        "error": _number(of.found_error),
        "ci95": each.half,
        "verdict": each.verdict,
        "reason": each.reason.title if each.reason is not None else "",
        "shown_error": None if each.shown is None else _number(each.shown),
    }


def _rows(judged: JudgedSet) -> Iterator[dict[str, str]]:
    """Yield the rows of the committed table."""
    for each in judged.quantities:
        name = each.quantity.name
        # A family of few shortened cells is none.
        for family in () if judged.quick else each.families:
            yield {
                "quantity": name,
                "cell": f"[{family.name}]",
                "measured": "",
                "simulated": "",
                "error": _text(family.ours.bias),
                "ci95": _text(family.ours.bias_half),
                "verdict": family.verdict,
            }
        for one in each.cells:
            yield {
                "quantity": name,
                "cell": one.of.id,
                "measured": _text(one.of.measured),
                "simulated": _text(one.of.found),
                "error": _text(one.of.found_error),
                "ci95": _text(one.half),
                "verdict": "above" if judged.quick and one.verdict == "explained" else one.verdict,
            }


def _text(x: float | None) -> str:
    return "" if x is None or math.isnan(x) else f"{x:.4g}"
