"""The page of a reproduction: every claim of the papers with its verdict, filtered by paper, origin and verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elephan.pictures.figure import Axis, Figure, Series
from elephan.pictures.table import Cell, Table, cell
from elephan.pictures.words import joined
from elephan.reports.page import PageSection, ReportPage, RowFilter, TerminalCommand
from elephan.reports.sources import made_by
from elephan.runs.saved import read_document
from elephan.units import count, format_time
from elephan_evidence.papers.words import MEANS, SAID, bands, headline, missed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Document = dict[str, Any]

VERDICTS = {
    "pass": "green",
    "deviation": "orange",
    "fail": "vermilion",
    "undecided": "sky",
    "uninformative": "purple",
    "ran": "blue",
    "not_run": "muted",
}
"""The colours of verdicts."""

MOST_NAMED = 8
"""Maximum number of unmet claims named beside the headline."""

IN_HEADLINE = 3
"""Maximum number of unmet claims named in the headline itself."""

BETWEEN = "\x1f"
"""Separator of the keys by which rows are filtered."""


def page(folder: Path) -> ReportPage:
    """Make the page of a folder that ``elephan reproduce --out`` wrote.

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    document = read_document(folder / "reproduce.json")
    claims: list[Document] = document["claims"]
    papers = list(dict.fromkeys(str(claim["paper"]) for claim in claims))
    counts = {paper: {v: _counted(claims, paper, v) for v in _verdicts(claims)} for paper in papers}
    total = {verdict: sum(of[verdict] for of in counts.values()) for verdict in _verdicts(claims)}
    filters = (
        RowFilter("Verdict", tuple(total)),
        RowFilter("Paper", tuple(papers)),
        RowFilter("Kind", tuple(dict.fromkeys(str(claim["kind"]) for claim in claims))),
        RowFilter("Origin", tuple(dict.fromkeys(str(claim.get("origin")) for claim in claims))),
    )
    stated, apart = headline(document["origins"])
    failed = [str(claim["id"]) for claim in claims if claim["verdict"] == "fail"]
    quick = bool(document["quick"])
    shortened = ["Shortened runs: they say that every measure runs, not that the papers hold."] if quick else []
    changed = document["changed"]
    again = f"elephan reproduce {' '.join(papers)}{' --quick' if quick else ''} --out reproduced/"
    return ReportPage(
        kind="Reproduction",
        title=f"Claims of {count(len(papers), 'paper')}",
        question=("Do the published experiments hold?",),
        headline=f"{stated}; not met: {joined(failed)}" if 0 < len(failed) <= IN_HEADLINE else stated,
        sentence=f"Counted apart: {apart}." if apart else f"{count(len(claims), 'claim')}.",
        tone=_tone(total, changed=bool(changed)),
        notes=(
            *(f"{line[:1].upper()}{line[1:]}." for line in missed(claims, MOST_NAMED)),
            *(f"{each['id']}: {each['now']}, was {each['was'] or 'not known'}" for each in changed),
            # Nothing is stated about a family that was run only in part.
            *bands([each for each in document["power"] if each["whole"]]),
            *(f"{each['says']}: {_value(each['measured']).text}" for each in document["counts"]),
            *shortened,
            *(f"{SAID[verdict].capitalize()}: {MEANS[verdict]}" for verdict in MEANS if total.get(verdict)),
        ),
        parts=(
            PageSection("Verdicts", (), (_figure(counts),)),
            PageSection("Claims", (), (), tuple(_table(paper, claims) for paper in papers), filters),
            *_arguments(document),
        ),
        warnings=None,
        reproduce=(TerminalCommand(again, "The same claims, judged again."),),
        provenance=(
            ("claims", str(len(claims))),
            made_by(),
            ("time taken", format_time(document["wall_s"])),
            *((str(name), str(value)) for name, value in sorted(document["provenance"].items())),
        ),
    )


def _tone(total: Mapping[str, int], *, changed: bool) -> Literal["good", "bad", "plain"]:
    """Return the tone of the headline; it is good only if every claim is met or explained."""
    if changed or total.get("not_run") or total.get("fail"):
        return "bad"
    return "plain" if any(n for verdict, n in total.items() if verdict not in ("pass", "deviation")) else "good"


def _verdicts(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the verdicts: the known ones in their order, then any others."""
    return list(dict.fromkeys((*VERDICTS, *(str(claim["verdict"]) for claim in claims))))


def _counted(claims: Sequence[Mapping[str, Any]], paper: str, verdict: str) -> int:
    return sum(str(claim["paper"]) == paper and claim["verdict"] == verdict for claim in claims)


def _figure(counts: Mapping[str, Mapping[str, int]]) -> Figure:
    """Draw the number of claims of each paper by verdict."""
    papers = tuple(counts)
    series, phrases = [], []
    for verdict in next(iter(counts.values()), {}):
        y = np.array([float(counts[paper][verdict]) for paper in papers])
        if y.any():
            colour = VERDICTS.get(verdict, "ink")
            series.append(Series(verdict.replace("_", " "), np.arange(float(y.size)), y, colour=colour, kind="bars"))
    for paper in papers:
        each = [f"{n} {verdict.replace('_', ' ')}" for verdict, n in counts[paper].items() if n]
        phrases.append(f"{paper}: {joined(each)}")
    alt = f"Claims of each paper by verdict. {'. '.join(phrases)}."
    names = Axis("", scale="names", names=papers)
    heads = ("paper", *(verdict.replace("_", " ") for verdict in next(iter(counts.values()), {})))
    rows = tuple((cell(paper), *(cell(n) for n in of.values())) for paper, of in counts.items())
    table = Table("Claims by paper and verdict", heads, rows)
    return Figure("verdicts", "Claims by verdict", alt, names, Axis("claims", low=0.0), tuple(series), table=table)


def _table(paper: str, claims: Sequence[Document]) -> Table:
    own = [claim for claim in claims if str(claim["paper"]) == paper]
    heads = (
        *("id", "verdict", "kind", "origin", "where", "statement"),
        *("expected", "measured", "accepted", "why so much", "nulls that pass", "note"),
    )
    rows = tuple(
        (
            cell(claim["id"]),
            cell(str(claim["verdict"]).replace("_", " ")),
            cell(claim["kind"]),
            cell(claim.get("origin")),
            cell(claim.get("figure") or None),
            cell(claim["statement"]),
            *(_value(claim.get(key)) for key in ("expected", "measured", "tolerance")),
            cell(claim.get("reason") or None),
            cell(_nulls(claim) or None),
            cell(_noted(claim) or None),
        )
        for claim in own
    )
    keys = tuple(BETWEEN.join((claim["verdict"], paper, str(claim["kind"]), str(claim.get("origin")))) for claim in own)
    return Table(paper, heads, rows, keys=keys)


def _nulls(claim: Document) -> str:
    """Name the nulls that pass in a claim's band, with counts."""
    return ", ".join(f"{each['name']} {each['passed']}/{each['tried']}" for each in claim.get("nulls", ()))


def _noted(claim: Document) -> str:
    """Return a claim's note, and the share of its gap that the variant closes."""
    variant = claim.get("variant") or {}
    share, low = variant.get("share"), variant.get("share_lower")
    closed = "" if share is None else f"the variant closes {100 * share:.0f} % of the gap"
    closed += "" if share is None or low is None else f", {100 * low:.0f} % for sure"
    return "; ".join(part for part in (claim.get("note"), closed) if part)


def _arguments(document: Document) -> tuple[PageSection, ...]:
    """List the explanations of unmet numbers and the papers' open questions, each with its evidence from runs."""
    deviations, left = document["deviations"], document["open"]
    parts = (
        PageSection("What is not met, and what is known of it", (), (), (_deviations(deviations),)),
        PageSection("What the papers leave open", (), (), (_open(left),)),
    )
    return tuple(part for part, every in zip(parts, (deviations, left), strict=True) if every)


def _deviations(every: Sequence[Document]) -> Table:
    heads = ("paper", "claims", "what", "why", "ns-2", "what would give the paper's number", "the one variant", "shown")
    rows = tuple(
        (
            cell(each["paper"]),
            cell(" ".join(each["claims"])),
            *(cell(each.get(key) or None) for key in ("title", "why", "ns2", "needs", "variant")),
            cell(_shown(each["shown"])),
        )
        for each in every
    )
    return Table("Why numbers are not met", heads, rows)


def _open(every: Sequence[Document]) -> Table:
    rows = tuple(
        (cell(each["paper"]), cell(each["what"]), cell(each["default"]), cell(_shown(each["shown"]) or None))
        for each in every
    )
    return Table("Values that are not stated", ("paper", "not stated", "taken", "shown"), rows)


def _shown(every: Sequence[Document]) -> str:
    """Format the evidence from runs as one cell."""
    return "; ".join(
        f"{each['says']}: {_value(each['measured']).text}{'' if each['holds'] else ' (not as it must be)'}"
        for each in every
    )


def _value(value: object) -> Cell:
    """Format an expected or measured value: a number, an interval, or words."""
    if isinstance(value, dict) and set(value) != {"mean", "ci95"}:
        return cell(", ".join(f"{key} {cell(part).text}" for key, part in value.items()))
    if isinstance(value, list):
        return cell(", ".join(cell(part).text for part in value))
    return cell(value)
