"""Pages about the reproduction of papers, in Markdown with pictures: one a paper, and one that leads to them.

A reader of a paper finds each figure and table by its number, sees ours, and what became of each claim about it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from elephan import _native
from elephan.citations import CITATIONS
from elephan.errors import InputError
from elephan.papers import PAPERS
from elephan.papers.judged import VERDICTS
from elephan.papers.runs import NotRunError
from elephan.pictures.figure import Figure
from elephan.pictures.markdown import line, table
from elephan.pictures.words import count, joined, number
from elephan.plots.pictures import draw
from elephan.plots.style import save
from elephan.run.files import write_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from elephan.papers import Paper, Reproduction
    from elephan.papers.exhibits import Exhibit
    from elephan.papers.judged import Argued, Judged, Seen
    from elephan.pictures.table import Table

INDEX = "README.md"
PICTURES = "pictures"

MARKS = {"pass": "pass", "deviation": "**deviation**", "fail": "**FAIL**", "not_run": "*not run*"}
SAID = {"pass": "met", "deviation": "not met for a shown reason", "fail": "failed", "not_run": "not run"}

GENERATED = "<!-- Written by `elephan reproduce --pages`; what is changed here is lost. -->"


def write_pages(found: Reproduction, folder: Path) -> list[Path]:
    """Write a page for each paper, its pictures, and the page that leads to them.

    Parameters
    ----------
    found : Reproduction
    folder : Path
        Made if missing. Each file appears whole or not at all.

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
    # The page that leads to them is about all.
    return [*([write_text(folder / INDEX, _index(found))] if len(found.papers) == len(PAPERS) else []), *pages]


def check_whole(papers: Iterable[Paper], asked: Collection[str]) -> None:
    """Refuse pages of papers of which only some claims are asked for: they would replace the whole ones.

    Parameters
    ----------
    papers : iterable of Paper
    asked : collection of str
        Ids of claims.

    Raises
    ------
    InputError
        If there is one.
    """
    for paper in papers:
        mine = paper.claims.keys() & set(asked)
        if mine and mine != paper.claims.keys():
            message = f"--pages: a page is about a whole paper; ask for {paper.name} instead of some of its claims"
            raise InputError(message)


def _index(found: Reproduction) -> str:
    heads = ["paper", "claims", *(verdict.replace("_", " ") for verdict in VERDICTS)]
    rows = [
        [
            f"[{paper.title}]({paper.name}.md)",
            str(sum(found.summary[paper.name].values())),
            *(str(found.summary[paper.name][verdict]) for verdict in VERDICTS),
        ]
        for paper in found.papers
    ]
    if found.quick:
        heads.insert(3, "by wider bands only")
        for row, paper in zip(rows, found.papers, strict=True):
            row.insert(3, str(found.only_wider[paper.name]))
    every = found.judged.values()
    lines = [
        "# The papers, reproduced",
        "",
        GENERATED,
        "",
        *_shortened(found),
        f"{count(len(found.judged), 'claim')} of {count(len(found.papers), 'paper')}: {_verdicts(every)}.",
        "",
        "*Pass*: within what is accepted, which is stated beside each claim with its reason. *Deviation*: the paper's",
        "number is not met, and the reason is known, argued and shown by a run of the same reproduction. *Fail*: not",
        "met and not explained.",
        "",
        *table(heads, rows, [False, *[True] * (len(heads) - 1)]),
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


def _page(found: Reproduction, paper: Paper, folder: Path) -> str:
    mine = {key: judged for key, judged in found.judged.items() if judged.claim.paper == paper.name}
    exhibits = found.exhibits(paper)
    needed = [
        argued for argued in found.argued[paper.name] if any(_excused(mine, key) for key in argued.deviation.claims)
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
        f"**{count(len(mine), 'claim')}: {_verdicts(mine.values())}.**",
        "",
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
    """What is counted over many claims."""
    every = [f"* {seen.shown.says}: {_found(seen)}" for seen in found.counts[paper.name]]
    return [*every, ""] if every else []


def _contents(exhibits: Sequence[Exhibit], mine: dict[str, Judged]) -> list[str]:
    rows = []
    for exhibit in exhibits:
        own = [judged for judged in mine.values() if judged.claim.figure == exhibit.place]
        link = f"[{exhibit.place}](#{_anchor(_heading(exhibit))})"
        rows.append([link, exhibit.title, _verdicts(own) if own else ""])
    return table(["in the paper", "shows", "claims"], rows) if rows else []


def _heading(exhibit: Exhibit) -> str:
    return f"{exhibit.place}: {exhibit.title}"


def _anchor(heading: str) -> str:
    """The anchor that code hosts and the site give to a heading."""
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


def _claims(every: Sequence[Judged], headings: dict[str, str]) -> list[str]:
    if not every:
        return []
    heads = ["claim", "says", "paper", "ours", "accepted", "verdict"]
    rows = []
    for judged in every:
        claim = judged.claim
        mark = MARKS[judged.verdict]
        if judged.verdict == "deviation":
            mark = f"[{mark}](#{_anchor(headings[claim.id])})"
        note = f" ({_beside(judged)})" if _beside(judged) else ""
        accepted = f"{judged.accept}: {claim.reason}" if claim.reason else str(judged.accept)
        if judged.only_wider:
            mark += f" in the wider band; not {claim.accept}"
        rows.append([f"`{claim.id}`", claim.statement, claim.value, _value(judged.found) + note, accepted, mark])
    return table(heads, rows, [False, False, True, True, False, False])


def _beside(judged: Judged) -> str:
    """What stands beside a claim's number: its note, or the first of its own checks that excuses it."""
    if judged.verdict != "deviation":
        return judged.note
    excuse = next((seen for seen in judged.own if seen.holds), None)
    if excuse is None:
        return ""
    note = f", {excuse.note}" if excuse.note else ""
    return f"{excuse.shown.says}: {_found(excuse)}{note}"


def _deviations(every: Sequence[Argued], mine: dict[str, Judged], *, quick: bool) -> list[str]:
    lines: list[str] = []
    for i, argued in enumerate(every, 1):
        deviation = argued.deviation
        missed = [mine[key] for key in deviation.claims if _excused(mine, key)]
        of = [f"`{judged.claim.id}`" for judged in missed if judged.verdict == "deviation"]
        left = [f"`{judged.claim.id}`" for judged in missed if judged.verdict != "deviation"]
        said = [f"Of {joined(of)}."] if of else []
        said += [f"**Not shown of {joined(left)}.**"] if left else []
        lines += [f"### {_argument(i, argued)}", "", " ".join(said), "", deviation.why.strip(), ""]
        if deviation.ns2:
            lines += [f"*ns-2:* {deviation.ns2.strip()}", ""]
        lines += [
            f"*What would give the paper's number:* {deviation.needs.strip()}",
            "",
            *_seen(argued.seen, quick=quick),
        ]
    return ["## Deviations", "", *lines] if lines else []


def _excused(mine: Mapping[str, Judged], key: str) -> bool:
    """Whether a claim needs its explanation; one that is met does not."""
    return key in mine and mine[key].verdict != "pass"


def _argument(position: int, argued: Argued) -> str:
    return f"Deviation {position}: {argued.deviation.title}"


def _seen(every: Iterable[Seen], *, quick: bool) -> list[str]:
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
    """What nobody may overlook."""
    if not found.quick:
        return []
    return ["**Shortened runs, judged in wider bands: they say that nothing is broken, not that the paper holds.**", ""]


def _verdicts(every: Collection[Judged]) -> str:
    """How many have which verdict."""
    verdicts = [judged.verdict for judged in every]
    wider = sum(judged.only_wider for judged in every)
    said = {
        verdict: f"{number(verdicts.count(verdict))} {SAID[verdict]}" for verdict in VERDICTS if verdict in verdicts
    }
    if wider:
        said["pass"] += f" ({number(wider)} of them only within the wider bands of `--quick`)"
    return joined(list(said.values()))


def _found(seen: Seen) -> str:
    return f"not run: {seen.note}" if seen.found is None else _value(seen.found)


def _value(found: Any) -> str:
    """A number with its interval, or whether something is so."""
    if found is None:
        return ""
    if isinstance(found, bool):
        return "so" if found else "not so"
    mean, half = (found.mean, found.ci95) if hasattr(found, "mean") else (float(found), None)
    # As many digits as the verdict may hang on, whatever the interval.
    return number(mean) if half is None else f"{number(mean)} ± {number(half, 2)}"
