"""Pages about data sets that others measured, in Markdown with pictures: a page per set, an index, and the scores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from elephan import _native
from elephan.pictures.figure import Axis, Figure, Series, colour, extent
from elephan.pictures.words import number
from elephan.plots.pictures import draw
from elephan.plots.style import save
from elephan.runs.files import write_text
from elephan.units import count
from elephan_evidence.judge.dataset import sets
from elephan_evidence.judge.words import error, percent
from elephan_evidence.report.markdown import line, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from elephan_evidence.judge import JudgedSet, Judgement
    from elephan_evidence.judge.judgement import JudgedCell, JudgedQuantity
    from elephan_evidence.judge.scoring import Score

INDEX, SCORES, PICTURES = "README.md", "scores.md", "pictures"

GENERATED = "<!-- Written by `elephan judge --pages`; what is changed here is lost. -->"

MEANS = (
    "A cell is *within* if the error of its mean is at most the bound. A family is *met* if its mean error (bias)",
    "and its mean absolute error are within theirs, and no null has as many cells within the bound; it is",
    "*uninformative* if one has. A null is a wrong answer in the same cells: one number for all of them, the mean of",
    "what was measured; our own cells of another law or queue. An error is *explained* if the named run closes 70 %",
    "of it or comes within the bound.",
)


def write_pages(found: Judgement, folder: Path) -> list[Path]:
    """Write a page for each set, its pictures, and, if all sets were judged, the index page and the scores.

    Parameters
    ----------
    folder : Path
        Created if missing. Each file appears whole or not at all.

    Returns
    -------
    list of Path
        The pages.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    written = []
    for each in found.sets:
        for old in (folder / PICTURES).glob(f"{each.data.name}-*.svg"):
            old.unlink()
        for quantity in each.quantities:
            figure = picture(each, quantity)
            save(draw(figure), folder / PICTURES, figure.name, (".svg",))
        written.append(write_text(folder / f"{each.data.name}.md", page(each)))
    if {each.data.name for each in found.sets} >= set(sets()):
        written.append(write_text(folder / INDEX, index(found)))
        written.append(write_text(folder / SCORES, scores(found)))
    return written


def index(found: Judgement) -> str:
    """Return the text of the index page."""
    lines = [
        "# Judged by other people's measurements",
        "",
        GENERATED,
        "",
        "Measurements that others made on hardware, testbeds and other simulators, each simulated and judged cell",
        "by cell. What a source does not say of its testbed is declared with its range; a parameter that was fitted",
        "to a set is named, and the cells that it was fitted to are not counted.",
        "",
        *MEANS,
        "",
        *_scores(found),
        f"`elephan judge --pages docs/judged --bless` makes this again, with elephan {_native.version()}.",
        "",
    ]
    return "\n".join(lines)


def scores(found: Judgement) -> str:
    """Return the table of scores, which another page includes."""
    return "\n".join([GENERATED, "", *_scores(found)])


def page(judged: JudgedSet) -> str:
    """Return the text of the page of a set."""
    data = judged.data
    null, share = judged.best_null
    lines = [
        f"# {data.title}",
        "",
        GENERATED,
        "",
        f"**{percent(judged.share)} of {number(judged.cells)} values are within their bounds; of the best null, "
        f"{null}, {percent(share)}.**",
        "",
        f"Source: {line(data.source)}. Licence: {line(data.licence)}.",
        "",
        "## How the testbed is read",
        "",
        *data.testbed.strip().splitlines(),
        "",
        *_apart(judged),
        *_unknowns(judged),
        *(text for each in judged.quantities for text in _quantity(judged, each)),
        f"`elephan judge {data.name} --details` shows the families, `--json` each cell; elephan {_native.version()}.",
        "",
    ]
    return "\n".join(lines)


def picture(judged: JudgedSet, of: JudgedQuantity) -> Figure:
    """Return the picture of a quantity: measured against simulated, a dot per cell."""
    quantity = of.quantity
    by = quantity.by[0] if quantity.by else ""
    groups: dict[str, list[JudgedCell]] = {}
    for one in of.cells:
        if one.verdict != "apart":
            groups.setdefault(one.of.keys[by] if by else judged.data.name, []).append(one)
    series = []
    for n, (name, cells) in enumerate(groups.items()):
        x, y = (np.array(values) for values in zip(*(_dot(one) for one in cells), strict=True))
        series.append(Series(name, x, y, colour=colour(n), kind="points"))
    low, high = extent([part for each in series for part in (each.x, each.y)])
    ends = np.array([low, high])
    series.append(Series("equal", ends, ends, colour="ink", dashed=True))
    unit = f"share {quantity.unit}" if quantity.per else ""
    wide = quantity.error == "factor" or (quantity.error == "relative" and high > 100 * low)
    scale = "log" if wide and low > 0 else "linear"
    null, share = of.best_null
    slug = re.sub(r"[^a-z0-9]+", "-", quantity.name.lower())
    alt = (
        f"{quantity.says}: measured against simulated, {of.ours.cells} cells, {percent(of.ours.share)} of them within "
        f"the bound; mean error {error(quantity.error, of.ours.mean)}."
    )
    return Figure(
        f"{judged.data.name}-{slug}",
        f"{quantity.name}: {percent(of.ours.share)} within the bound; {null}: {percent(share)}",
        alt,
        Axis("measured", unit, scale=scale),  # type: ignore[arg-type]
        Axis("simulated", unit, scale=scale),  # type: ignore[arg-type]
        tuple(series),
        height=420,
    )


def _dot(one: JudgedCell) -> tuple[float, float]:
    return one.of.measured / one.of.per, one.of.found / one.of.per


def _scores(found: Judgement) -> list[str]:
    rows = []
    for each in found.sets:
        null, share = each.best_null
        met = sum(family.verdict == "met" for q in each.quantities for family in q.families)
        families = sum(len(q.families) for q in each.quantities)
        rows.append(
            [
                f"[{each.data.title}](./{each.data.name}.md)",
                str(each.cells),
                percent(each.share),
                f"{percent(share)} ({null})",
                f"{met} of {families}",
            ]
        )
    heads = ["measurements", "values", "within their bounds", "best null", "families met"]
    return table(heads, rows, [False, True, True, True, True])


def _apart(judged: JudgedSet) -> list[str]:
    data = judged.data
    lines = []
    for each in data.apart:
        cells = [cell for cell in data.cells if data.set_apart(cell) is each]
        kind = "simulated, and not counted" if each.kind == "fitted" else "not simulated"
        lines.append(f"* {number(len(cells))} cells are {kind}: {line(each.why)}.")
    return [*lines, ""] if lines else []


def _unknowns(judged: JudgedSet) -> list[str]:
    """List what is not known of the testbed, with the score of each value beside the declared one."""
    unknowns = judged.data.unknowns
    if not unknowns:
        return []
    rows = []
    for each in judged.quantities:
        kind = each.quantity.error
        worst: list[Score] = []
        for unknown, name, theirs, ours in each.unknowns:
            fitted = " (fitted)" if unknown.fitted else ""
            worst += [theirs, ours]
            rows.append(
                [
                    each.quantity.name,
                    name + fitted,
                    error(kind, theirs.bias, signed=True),
                    error(kind, theirs.mean),
                    error(kind, ours.bias, signed=True),
                    error(kind, ours.mean),
                    str(theirs.cells),
                ]
            )
        if worst:
            means = [score.mean for score in worst]
            rows.append(
                [
                    each.quantity.name,
                    "*best and worst*",
                    "",
                    f"{error(kind, min(means))} to {error(kind, max(means))}",
                    "",
                    "",
                    "",
                ]
            )
    heads = ["quantity", "value", "bias", "mean error", "bias as declared", "mean error as declared", "cells"]
    return [
        "## What is not known of it",
        "",
        *(f"* *{unknown.name}*: {line(unknown.says)}" for unknown in unknowns),
        "",
        "Each value is tried alone, in a sample of the cells, beside the declared values in the same cells:",
        "",
        *table(heads, rows, [False, False, True, True, True, True, True]),
    ]


def _quantity(judged: JudgedSet, each: JudgedQuantity) -> Iterator[str]:
    quantity = each.quantity
    slug = picture(judged, each)
    bias = "" if quantity.bias is None else f", the mean error of a family {_bound(quantity.error, quantity.bias)}"
    yield from (
        f"## {quantity.name[:1].upper()}{quantity.name[1:]}",
        "",
        f"{quantity.says}; errors are {quantity.unit}.",
        "",
    )
    yield from (
        f"Accepted: the error of a cell {_bound(quantity.error, quantity.cell)}{bias}, the mean absolute error of a "
        f"family {_bound(quantity.error, quantity.mean)}. {line(quantity.reason)}",
        "",
    )
    yield from (f"![{line(slug.alt)}]({PICTURES}/{slug.name}.svg)", "")
    names = list(dict.fromkeys(name for family in each.families for name in family.nulls))
    heads = ["family", "verdict", "cells", "within", "bias", "mean error", *(f"null: {name}" for name in names)]
    rows = [
        [
            family.name,
            family.verdict if family.verdict == "met" else f"**{family.verdict}**",
            str(family.ours.cells),
            percent(family.ours.share),
            _biased(quantity.error, family.ours),
            error(quantity.error, family.ours.mean),
            *(_null(quantity.error, family.nulls.get(name)) for name in names),
        ]
        for family in each.families
    ]
    rows.append(
        [
            "*all*",
            "",
            str(each.ours.cells),
            percent(each.ours.share),
            _biased(quantity.error, each.ours),
            error(quantity.error, each.ours.mean),
            *(_null(quantity.error, each.nulls.get(name)) for name in names),
        ]
    )
    yield from table(heads, rows, [False, False, *([True] * (4 + len(names)))])
    yield from _above(judged, each)


def _above(judged: JudgedSet, each: JudgedQuantity) -> Iterator[str]:
    """Name the reasons of errors above the bound, and the cells that have none."""
    above = [one for one in each.cells if one.verdict in ("above", "explained")]
    if not above:
        return
    explained = sum(one.verdict == "explained" for one in above)
    tried = sum(one.verdict == "above" and one.shown is not None for one in above)
    none = sum(one.reason is None for one in above)
    yield from (
        f"Above the bound are {count(len(above), 'cell')}: {number(explained)} explained by a run, {number(tried)} not "
        f"explained by the run that was tried, {number(len(above) - explained - tried - none)} with a reason that no "
        f"run can show yet, {number(none)} without a reason.",
        "",
    )
    for reason in judged.data.reasons:
        mine = [one for one in above if one.reason is reason]
        if mine:
            closed = sum(one.verdict == "explained" for one in mine)
            shown = f" Its run explains {closed} of {len(mine)} cells." if reason.variant else " No run shows it."
            yield from (f"* *{reason.title}* ({count(len(mine), 'cell')}): {line(reason.why)}{shown}",)
    if judged.data.reasons:
        yield ""
    heads = ["cell", "measured", "simulated", "error", "95 %", "reason", "error in its run"]
    rows = [_row(each.quantity.error, one) for one in above]
    yield from (
        "<details><summary>The cells above the bound</summary>",
        "",
        *table(heads, rows, [False, *[True] * 4, False, True]),
        "</details>",
        "",
    )


def _row(kind: str, one: JudgedCell) -> list[str]:
    said = "explained" if one.verdict == "explained" else "no run" if one.shown is None else "not explained"
    verdict = f"{one.reason.title}: {said}" if one.reason else ""
    shown = "" if one.shown is None else error(kind, one.shown, signed=True)
    half = "" if not one.half else f"± {100 * one.half:.1f} %"
    return [
        one.of.id,
        f"{one.of.measured:.4g}",
        f"{one.of.found:.4g}",
        error(kind, one.of.found_error, signed=True),
        half,
        verdict,
        shown,
    ]


def _bound(kind: str, bound: float) -> str:
    return f"within a factor of {bound:g}" if kind == "factor" else f"at most {100 * bound:g} %"


def _biased(kind: str, of: Score) -> str:
    half = "" if of.bias_half is None or kind == "factor" else f" ± {100 * of.bias_half:.1f}"
    text = error(kind, of.bias, signed=True)
    return text.replace(" %", f"{half} %") if half else text


def _null(kind: str, of: Score | None) -> str:
    return "" if of is None else f"{percent(of.share)}, {error(kind, of.mean)}"
