"""The page about a suite of test cases, in Markdown with pictures: required observations and verdicts of each case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elephan import _native
from elephan.errors import InputError
from elephan.pictures.words import joined, number
from elephan.plots.pictures import draw
from elephan.plots.style import save
from elephan.runs.files import write_text
from elephan_evidence.conform.figures import draw_case
from elephan_evidence.report.markdown import code, line, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from elephan_evidence.conform import Conformance
    from elephan_evidence.conform.judge import JudgedCase, JudgedObservation, JudgedPath
    from elephan_evidence.conform.registry import Found

PICTURES = "pictures"
GENERATED = "<!-- Written by `elephan conform bbr --pages`; what is changed here is lost. -->"

MEANS = {
    "met": "every observation of its row is made in the trace, on every path, and no null makes it.",
    "contradicted": "an observation is made otherwise. *Explained*: the run beside it, in the same suite, makes it.",
    "uninformative": "a null makes it as well.",
    "undecided": "what is to be looked at did not happen.",
}


def write_page(found: Conformance, folder: Path) -> Path:
    """Write the page of a suite, ``NAME.md``, and its pictures.

    Parameters
    ----------
    folder : Path
        Created if missing.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If only some of its cases were asked for.
    """
    if len(found.cases) != len(found.suite.cases):
        message = "--pages: the page is about the whole suite; ask for no single cases"
        raise InputError(message)
    for old in (folder / PICTURES).glob("case-*.svg"):
        old.unlink()
    for each in found.cases:
        figure = draw_case(each)
        if figure is not None:
            save(draw(figure), folder / PICTURES, figure.name, (".svg",))
    return write_text(folder / f"{found.suite.name}.md", page(found))


def page(found: Conformance) -> str:
    """Return the text of the page."""
    suite = found.suite
    given = {verdict: n for verdict, n in found.summary.items() if n}
    counted = joined([f"{number(n)} {verdict}" for verdict, n in given.items()])
    lines = [
        f"# {suite.title}",
        "",
        GENERATED,
        "",
        f"**{number(len(found.cases))} test cases of {suite.revision}: {counted}.** "
        f"Source: {suite.source}; the law `bbr` follows the same revision, and verdicts hold for it.",
        "",
        *(f"* *{verdict}*: {MEANS[verdict]}" for verdict in given),
        "",
        *_how(),
        *_overview(found),
        *(text for case in found.cases for text in _case(case)),
        f"`elephan conform {suite.name}` makes it again, with elephan {_native.version()}.",
        "",
    ]
    return "\n".join(lines)


def _how() -> list[str]:
    return [
        "The stimulus of a case is timed by a run without it: where that enters a state, the run with the stimulus",
        "has its step, loss or pause, and until then both are the same. What must be seen is a measure of the",
        "gauges that the law shows with every ACK. The estimators of the draft (rounds without growth,",
        "aggregation) are computed a second time from the samples and held against the gauges. Each observation",
        "has a null: the run without the stimulus, a law with another constant, another law, or another measure of",
        "the same run, which must not pass. Traces to compare others with, in qlog, come with `elephan conform bbr",
        "--out DIR`.",
        "",
        "At an RTT of 1 s ProbeRTT is due before Startup is over (five seconds after the first sample), so the",
        "cases that begin with Startup are run up to 200 ms.",
        "",
    ]


def _overview(found: Conformance) -> list[str]:
    rows = [
        [
            str(each.case.number),
            f"[{each.case.title}](#{_anchor(each)})",
            _verdict(each),
            "; ".join(each.case.paths),
        ]
        for each in found.cases
    ]
    return table(["#", "case", "verdict", "paths"], rows, [True, False, False, False])


def _verdict(each: JudgedCase) -> str:
    if each.verdict == "met":
        return "met"
    return f"**{each.verdict}**" + (", explained" if each.verdict == "contradicted" and each.holds else "")


def _heading(each: JudgedCase) -> str:
    return f"{each.case.number}. {each.case.title}"


def _anchor(each: JudgedCase) -> str:
    """Return the anchor that code hosts and the site derive from the heading."""
    return re.sub(r"[^\w -]", "", _heading(each).lower()).replace(" ", "-")


def _case(judged: JudgedCase) -> Iterator[str]:
    case = judged.case
    yield from (f"## {_heading(judged)}", "", f"*{case.section}*: {_verdict(judged)}.", "")
    yield from (line(case.stimulus), "")
    figure = draw_case(judged)
    if figure is not None:
        yield from (f"![{line(figure.alt)}]({PICTURES}/{figure.name}.svg)", "")
    yield from _observations(judged)
    for explained in case.explained:
        if any(seen.explanation is explained and seen.verdict == "contradicted" for seen in judged.every):
            names = joined([f"`{one}`" for one in explained.seen])
            yield from (f"*Why {names} {'are' if len(explained.seen) > 1 else 'is'} contradicted.* {explained.why}", "")


def _observations(judged: JudgedCase) -> list[str]:
    """Make a row for each observation: the measured value of each path, and the value in the null."""
    heads = ["must be seen", "shown by", "accepted", "null", *(each.path.name for each in judged.paths)]
    rows = []
    for n, of in enumerate(judged.case.seen):
        null = code(of.null_measure) if of.null_measure != of.measure else judged.paths[0].runs[of.null].says
        shown_by = ", ".join(code(name.strip()) for name in of.gauge.split(","))
        cells = [_cell(each, each.seen[n]) for each in judged.paths]
        rows.append([f"`{of.id}`: {of.says}", shown_by, f"{of.accepted}: {of.reason}", null, *cells])
    return table(heads, rows)


def _cell(on: JudgedPath, seen: JudgedObservation) -> str:
    """Return the measured value, the null's value, and the verdict or an explanation if the observation is not met."""
    text = f"{_shown(seen.found)} (null: {_shown(seen.null)})"
    if seen.verdict == "met":
        return text
    if seen.verdict == "contradicted" and seen.explanation is not None:
        return f"**{text}**; {_shown(seen.shown)} with {on.runs[seen.explanation.run].says}"
    return f"**{text}**: {seen.verdict}"


def _shown(value: Found) -> str:
    if value is None:
        return "not seen"
    return str(value).lower() if isinstance(value, bool) else f"{value:.4g}"
