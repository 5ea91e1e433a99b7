"""Pages about the reproduction of papers, in Markdown with pictures: one page per paper, and an index page.

A reader of a paper finds each figure and table by its number, our version of it, and the verdict of each claim about
it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from elephan import _native
from elephan.citations import CITATIONS
from elephan.errors import InputError
from elephan.pictures.figure import Figure
from elephan.pictures.words import joined, number
from elephan.plots.pictures import draw
from elephan.plots.style import save
from elephan.runs.files import write_text
from elephan_evidence.papers import PAPERS
from elephan_evidence.papers.paper import ORIGINS
from elephan_evidence.papers.runs import NotRunError
from elephan_evidence.papers.verdicts import VERDICTS
from elephan_evidence.papers.words import MEANS, SAID, WORTH, headline, tally
from elephan_evidence.report.markdown import line, table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from elephan.pictures.table import Table
    from elephan_evidence.papers import Paper, Reproduction
    from elephan_evidence.papers.exhibits import Exhibit
    from elephan_evidence.papers.nulls import NullPower
    from elephan_evidence.papers.verdicts import Argument, Evidence, JudgedClaim

INDEX = "README.md"
PICTURES = "pictures"

MARKS = {
    "pass": "pass",
    "deviation": "**deviation**",
    "fail": "**FAIL**",
    "undecided": "undecided",
    "uninformative": "*uninformative*",
    "ran": "ran",
    "not_run": "*not run*",
}

SOURCES = {
    "stated": "the papers' words, numbers and figures",
    "derived": "made here from their equations or text",
    "formula": "decided by formulas alone",
    "misprint": "printed in error",
}

NULLS = (
    "*constant*: the one number for all cells with SACK, and the one for all without, that passes most. *wrong law*,",
    "*queue*, *delay*: our own cell of another case in the band of this one; of several each counts in part. Beside",
    "single claims: of orderings *opposite* is what was found with its sign turned, of shapes and orderings over a",
    "sweep *flat* is a world in which what is varied changes nothing; of numbers *another point* takes this place.",
)

GENERATED = "<!-- Written by `elephan reproduce --pages`; what is changed here is lost. -->"


def write_pages(found: Reproduction, folder: Path) -> list[Path]:
    """Write a page for each paper, its pictures, and the index page.

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
    InputError
        If only some claims of a paper were asked for.
    OSError
        If the folder cannot be written.
    """
    check_whole(found.papers, found.asked)
    pages = []
    for paper in found.papers:
        for old in (folder / PICTURES).glob(f"{paper.prefix}-*.svg"):
            old.unlink()
        pages.append(write_text(folder / f"{paper.name}.md", _page(found, paper, folder)))
    # The index page is about all papers.
    return [*([write_text(folder / INDEX, _index(found))] if len(found.papers) == len(PAPERS) else []), *pages]


def check_whole(papers: Iterable[Paper], asked: Collection[str]) -> None:
    """Refuse to write the page of a paper for which only some claims are requested: it would replace the complete page.

    Parameters
    ----------
    asked : collection of str
        Ids of claims.

    Raises
    ------
    InputError
        If there is such a paper.
    """
    for paper in papers:
        mine = paper.claims.keys() & set(asked)
        if mine and mine != paper.claims.keys():
            message = f"--pages: a page is about a whole paper; ask for {paper.name} instead of some of its claims"
            raise InputError(message)


def _index(found: Reproduction) -> str:
    lines = [
        "# The papers, reproduced",
        "",
        GENERATED,
        "",
        *_shortened(found),
        *_headline(found.origins),
        *_by_origin(found),
        *_meanings(found.judged.values()),
        *_by_paper(found),
        *_bands([each for every in found.power.values() for each in every]),
        *(
            line
            for paper in found.papers
            if found.counts[paper.name]
            for line in (f"Of [{paper.title}]({paper.name}.md):", "", *_counts(found, paper))
        ),
        *_command("", found),
        "",
    ]
    return "\n".join(lines)


def _headline(origins: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Make the headline; only the papers' own statements count as claims of the papers."""
    stated, apart = headline(origins)
    return [f"**{stated}.**", "", *([f"Counted apart: {apart}.", ""] if apart else [])]


def _meanings(every: Iterable[JudgedClaim]) -> list[str]:
    """Explain the verdicts that occur."""
    given = {judged.verdict for judged in every}
    return [*(f"* *{SAID[verdict]}*: {MEANS[verdict]}" for verdict in MEANS if verdict in given), ""]


def _by_origin(found: Reproduction) -> list[str]:
    """Make the table of claims by origin and verdict."""
    verdicts = [v for v in VERDICTS if any(of[v] for of in found.origins.values())]
    rows = [
        [SOURCES[origin], *(str(n) for n in (sum(of.values()), *(of[v] for v in verdicts)))]
        for origin, of in found.origins.items()
        if any(of.values())
    ]
    heads = ["from", "claims", *(verdict.replace("_", " ") for verdict in verdicts)]
    return table(heads, rows, [False, *[True] * (len(heads) - 1)])


def _by_paper(found: Reproduction) -> list[str]:
    """Make the table of each paper's own statements by verdict, and the number of its other claims."""
    stated: dict[str, Counter[str]] = {paper.name: Counter() for paper in found.papers}
    apart: Counter[str] = Counter()
    for judged in found.judged.values():
        if judged.claim.origin == "stated":
            stated[judged.claim.paper][judged.verdict] += 1
        else:
            apart[judged.claim.paper] += 1
    verdicts = [v for v in VERDICTS if any(of[v] for of in stated.values())]
    rows = [
        [
            f"[{paper.title}]({paper.name}.md)",
            str(sum(stated[paper.name].values())),
            *(str(stated[paper.name][verdict]) for verdict in verdicts),
            str(apart[paper.name]),
        ]
        for paper in found.papers
    ]
    heads = ["paper", "statements", *(verdict.replace("_", " ") for verdict in verdicts), "counted apart"]
    return table(heads, rows, [False, *[True] * (len(heads) - 1)])


def _bands(every: Sequence[NullPower]) -> list[str]:
    """Make the table of claims that pass in the bands of each family: ours, the variant's and the nulls'."""
    whole = [each for each in every if each.whole]
    if not whole:
        return []
    names = list(dict.fromkeys(name for each in whole for name in each.nulls))
    variant = ["its one variant"] if any(each.variant is not None for each in whole) else []
    heads = ["claims that pass in the same bands", "of", "ours", *variant, *names, "so ours is"]
    rows = [
        [
            each.family,
            str(len(each.claims)),
            str(each.ours),
            *(["" if each.variant is None else str(each.variant)] if variant else []),
            *(number(each.nulls[name]) if name in each.nulls else "" for name in names),
            "informative" if each.informative else "**uninformative**",
        ]
        for each in whole
    ]
    why = [line for each in whole if each.why and not each.informative for line in (each.why, "")]
    return [WORTH, "", *why, *table(heads, rows, [False, *[True] * (len(heads) - 2), False]), *NULLS, ""]


def _page(found: Reproduction, paper: Paper, folder: Path) -> str:
    mine = {key: judged for key, judged in found.judged.items() if judged.claim.paper == paper.name}
    exhibits = found.exhibits(paper)
    needed = [
        argued for argued in found.argued[paper.name] if any(_missed(mine, key) for key in argued.deviation.claims)
    ]
    headings = {key: _argument(i, argued) for i, argued in enumerate(needed, 1) for key in argued.deviation.claims}
    shown = {exhibit.place for exhibit in exhibits}
    elsewhere = list(dict.fromkeys(judged.claim.figure for judged in mine.values() if judged.claim.figure not in shown))
    lines = [
        f"# {paper.title}",
        "",
        GENERATED,
        "",
        *_shortened(found),
        *_headline(_origins(mine.values())),
        *_meanings(mine.values()),
        *_bands(found.power[paper.name]),
        *_counts(found, paper),
        CITATIONS[paper.about["cite"]],
        "",
        str(paper.about.get("summary", "")).strip(),
        "",
        *_command(paper.name, found),
        "",
        *_contents(exhibits, mine),
    ]
    for exhibit in exhibits:
        lines += [f"## {_heading(exhibit)}", "", f"*The paper:* {exhibit.paper.strip()}", ""]
        lines += _made(found, paper, exhibit, folder)
        lines += _claims([j for j in mine.values() if j.claim.figure == exhibit.place], headings)
    if elsewhere:
        lines += ["## Claims without a figure", ""]
        for place in elsewhere:
            title = "Numbers derived from its equations" if place == "derived" else place
            lines += [f"### {title}", "", *_claims([j for j in mine.values() if j.claim.figure == place], headings)]
    lines += _deviations(needed, mine, quick=found.quick)
    lines += _open(found, paper)
    lines += _experiments(found, paper)
    return "\n".join(lines).rstrip() + "\n"


def _counts(found: Reproduction, paper: Paper) -> list[str]:
    """List the quantities that are counted over many claims."""
    every = [f"* {seen.shown.says}: {_found(seen)}" for seen in found.counts[paper.name]]
    return [*every, ""] if every else []


def _contents(exhibits: Sequence[Exhibit], mine: dict[str, JudgedClaim]) -> list[str]:
    rows = []
    for exhibit in exhibits:
        own = [judged for judged in mine.values() if judged.claim.figure == exhibit.place]
        link = f"[{exhibit.place}](#{_anchor(_heading(exhibit))})"
        rows.append([link, exhibit.title, _verdicts(own) if own else ""])
    return table(["in the paper", "shows", "claims"], rows) if rows else []


def _heading(exhibit: Exhibit) -> str:
    return f"{exhibit.place}: {exhibit.title}"


def _anchor(heading: str) -> str:
    """Return the anchor that code hosts and the site derive from a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _made(found: Reproduction, paper: Paper, exhibit: Exhibit, folder: Path) -> Iterator[str]:
    try:
        every = exhibit.make(found.runs[paper.name].only(exhibit.experiments))
    except NotRunError as error:
        yield from (f"*Not drawn:* {line(str(error))}", "")
        return
    for made in every:
        if isinstance(made, Figure):
            name = f"{paper.prefix}-{made.name}"
            save(draw(made), folder / PICTURES, name, (".svg",))
            yield from (f"![{line(made.alt)}]({PICTURES}/{name}.svg)", "")
            if made.note:
                yield from (made.note, "")
            if made.table is not None:
                yield from _shown_table(made.table)
        else:
            yield from _shown_table(made)


def _shown_table(made: Table) -> Iterator[str]:
    yield from (f"**{made.title}**", "")
    yield from table(made.heads, [[cell.text for cell in row] for row in made.rows], made.numeric)
    if made.note:
        yield from (made.note, "")


def _claims(every: Sequence[JudgedClaim], headings: dict[str, str]) -> list[str]:
    if not every:
        return []
    heads = ["claim", "says", "paper", "ours", "accepted", "nulls", "verdict"]
    varied = any(judged.variant is not None and judged.variant.found is not None for judged in every)
    if varied:
        heads.insert(4, "variant")
    rows = []
    for judged in every:
        claim = judged.claim
        mark = MARKS[judged.verdict]
        if judged.verdict in ("deviation", "fail") and claim.id in headings:
            mark = f"[{mark}](#{_anchor(headings[claim.id])})"
        if claim.origin != "stated":
            mark += f" ({claim.origin})"
        note = f" ({judged.note})" if judged.note and judged.verdict != "deviation" else ""
        accepted = f"{judged.accept}: {claim.reason}" if claim.reason else str(judged.accept)
        row = [
            f"`{claim.id}`",
            claim.statement,
            claim.value,
            _value(judged.found) + note,
            accepted,
            _nulls(judged),
            mark,
        ]
        if varied:
            row.insert(4, _closed(judged))
        rows.append(row)
    return table(heads, rows, [False, False, *[True] * (3 if varied else 2), False, False, False])


def _nulls(judged: JudgedClaim) -> str:
    """Name the tried nulls that pass in a claim's band."""
    passed = [
        each.name if each.tried == 1 else f"{each.name} {each.passed} of {each.tried}"
        for each in judged.nulls
        if each.passed
    ]
    return ", ".join(passed) if passed else "none" if judged.nulls else ""


def _closed(judged: JudgedClaim) -> str:
    """Format the variant's value, and the share of the gap that it closes."""
    variant = judged.variant
    if variant is None or variant.found is None:
        return ""
    text = _value(variant.found)
    if judged.standing == "contradicted" and variant.share is not None:
        sure = "" if variant.lower is None else f", {100 * variant.lower:.0f} % for sure"
        text += f" (closes {100 * variant.share:.0f} %{sure})"
    return text


def _origins(every: Iterable[JudgedClaim]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {origin: dict.fromkeys(VERDICTS, 0) for origin in ORIGINS}
    for judged in every:
        found[judged.claim.origin][judged.verdict] += 1
    return found


def _deviations(every: Sequence[Argument], mine: dict[str, JudgedClaim], *, quick: bool) -> list[str]:
    lines: list[str] = []
    for i, argued in enumerate(every, 1):
        deviation = argued.deviation
        missed = [mine[key] for key in deviation.claims if _missed(mine, key)]
        of = [f"`{judged.claim.id}`" for judged in missed if judged.verdict == "deviation"]
        left = [f"`{judged.claim.id}`" for judged in missed if judged.verdict != "deviation"]
        text = [f"Explains {joined(of)}."] if of else []
        text += [f"**Leaves unexplained {joined(left)}.**"] if left else []
        lines += [f"### {_argument(i, argued)}", "", " ".join(text), "", deviation.why.strip(), ""]
        if deviation.variant is not None:
            lines += [f"*The one variant:* {deviation.variant.says}.", ""]
        if deviation.ns2:
            lines += [f"*ns-2:* {deviation.ns2.strip()}", ""]
        lines += [
            f"*What would give the paper's number:* {deviation.needs.strip()}",
            "",
            *_seen(argued.seen, quick=quick),
        ]
    return ["## What is not met, and what is known of it", "", *lines] if lines else []


def _missed(mine: Mapping[str, JudgedClaim], key: str) -> bool:
    """Whether a claim needs an explanation, that is, is not met."""
    return key in mine and mine[key].verdict in ("deviation", "fail", "not_run")


def _argument(position: int, argued: Argument) -> str:
    return f"{position}. {argued.deviation.title}"


def _seen(every: Iterable[Evidence], *, quick: bool) -> list[str]:
    rows = []
    for seen in every:
        accept = seen.shown.quick if quick else seen.shown.accept
        wanted = "" if accept is None else str(accept)
        rows.append([seen.shown.says, _found(seen), wanted, "yes" if seen.holds else "**no**"])
    heads = ["what a run shows", "measured", "must be", "is so"]
    return table(heads, rows, [False, True, False, False]) if rows else []


def _open(found: Reproduction, paper: Paper) -> list[str]:
    every = found.open[paper.name]
    if not every:
        return []
    rows = []
    for each, seen in every:
        shown = "; ".join(
            f"{one.shown.says}: {_found(one)}{'' if one.holds else ' (**not as expected**)'}" for one in seen
        )
        rows.append([each.what, each.default, each.reason, f"{each.matters} {shown}".strip()])
    heads = ["not stated", "taken here", "because", "what hangs on it"]
    return ["## What the paper leaves open", "", *table(heads, rows)]


def _experiments(found: Reproduction, paper: Paper) -> list[str]:
    ran = found.ran[paper.name].values()
    if not ran:
        return []
    rows = [
        [f"`{each.experiment.name}`", each.experiment.title, str(len(each.points)), f"{each.packets / 1e6:,.0f}"]
        for each in ran
    ]
    return ["## Experiments", "", *table(["name", "what", "points", "million packets"], rows)]


def _command(ids: str, found: Reproduction) -> list[str]:
    words = " ".join(word for word in ("elephan reproduce", ids, "--quick" if found.quick else "") if word)
    return [f"`{words}` makes it again, with elephan {_native.version()}."]


def _shortened(found: Reproduction) -> list[str]:
    """Warn if the runs were shortened."""
    if not found.quick:
        return []
    return ["**Shortened runs: they say that every measure runs, not that the paper holds.**", ""]


def _verdicts(every: Collection[JudgedClaim]) -> str:
    """Count the claims by verdict."""
    verdicts = Counter(judged.verdict for judged in every)
    return tally({verdict: verdicts[verdict] for verdict in VERDICTS})


def _found(seen: Evidence) -> str:
    return f"not run: {seen.note}" if seen.found is None else _value(seen.found)


def _value(found: Any) -> str:
    """Format a value: a number with its interval, or yes or no."""
    if found is None:
        return ""
    if isinstance(found, bool):
        return "so" if found else "not so"
    mean, half = (found.mean, found.ci95) if hasattr(found, "mean") else (float(found), None)
    # Enough digits to show what decides the verdict, whatever the interval.
    # Where all runs agree there is no interval.
    return f"{number(mean)} ± {number(half, 2)}" if half else number(mean)
