"""``elephan reproduce``: the papers' experiments, with a verdict on each claim."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli import common, options
from elephan.cli.progress import ProgressLine, SweepProgressReporter
from elephan.cli.tables import text_table, whole_table
from elephan.units import count, format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from elephan_evidence.papers import Claim, Reproduction

EXAMPLE = """Example:  elephan reproduce --quick
elephan reproduce "hsbuf:Figure 3" --out reproduced/
elephan reproduce nr-hstcp --list"""

FEW = 8
"""Maximum number of claims, and of entries of other lists, that are all shown; longer lists are cut or summarized."""


def reproduce(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Claims, beginnings of their ids (ghstcp.T1), papers (nr-hstcp) or places (hsbuf:Figure 3).",
            show_default="all",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only list the claims.")] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Shorter runs and fewer seeds, to see that every measure works; some minutes."),
    ] = False,
    claims: Annotated[bool, typer.Option("--claims", help="Show each claim that is not met, however many.")] = False,
    bless: Annotated[bool, typer.Option("--bless", help="Make these verdicts the reference of later runs.")] = False,
    store: options.Store = None,
    workers: options.Workers = None,
    out: options.Out = None,
    pages: Annotated[
        Path | None,
        typer.Option("--pages", metavar="DIR", help="Write a page for each paper, with its figures, in Markdown."),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Run the experiments of published papers; give a verdict on every claim, and say what the verdict is worth.

    Runs are kept in the store: a reproduction that is stopped goes on where it was.

    Exit code 1 if a verdict differs from the recorded one, or if a claim could not be judged.
    """
    from elephan_evidence.papers import papers  # noqa: PLC0415 (--help does without NumPy)
    from elephan_evidence.papers import reproduce as judge  # noqa: PLC0415 (as above)
    from elephan_evidence.papers.reproduction import select  # noqa: PLC0415 (as above)

    common.check_out(out, drawn=True)
    common.check_out(pages, "--pages", drawn=True)
    asked = select(papers(), ids or ())
    if list_:
        _show_list(asked.values(), json=json)
        return
    if pages is not None:
        from elephan_evidence.report.papers import check_whole  # noqa: PLC0415 (Matplotlib is slow to import)

        check_whole(papers(), asked)
    with ProgressLine("reproduce", quiet=quiet, of="points") as line:
        watch = SweepProgressReporter(line, workers)
        found = judge(*(ids or ()), quick=quick, store=store, workers=workers, progress=watch)
        watch.after("judging")
        document = found.to_json()
        watch.after("writing")
        written = _write(found, document, out, pages)
        if bless:
            written.extend(found.bless())
    if json:
        common.print_json(document)
    else:
        _show(document, every=claims)
        for folder in dict.fromkeys(path.parent for path in written):
            names = [path.name for path in written if path.parent == folder]
            more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
            common.say(f"wrote {folder}: {', '.join(names[:FEW])}{more}")
    raise typer.Exit(0 if found.holds or (bless and not _unjudged(document)) else 1)


def _write(found: Reproduction, document: Mapping[str, Any], out: Path | None, pages: Path | None) -> list[Path]:
    from elephan.runs.files import write_json  # noqa: PLC0415 (--help does without NumPy)
    from elephan_evidence.papers.reproduction import DOCUMENT  # noqa: PLC0415 (as above)

    written: list[Path] = []
    if out is not None:
        from elephan_evidence.report.exhibits import draw_exhibits  # noqa: PLC0415 (Matplotlib is slow to import)

        with common.writing(out):
            drawn, missing = draw_exhibits(found, out)
            written += [write_json(out / DOCUMENT, document), *drawn]
        for line in missing[:FEW]:
            common.say(line)
    if pages is not None:
        from elephan_evidence.report.papers import write_pages  # noqa: PLC0415 (Matplotlib is slow to import)

        with common.writing(pages, "--pages"):
            written.extend(write_pages(found, pages))
    return written


def _show(document: Mapping[str, Any], *, every: bool) -> None:
    """Print what fits on a screen: claims or papers, the counts by verdict, the results of nulls, changed verdicts."""
    from elephan_evidence.papers.words import bands, headline, missed  # noqa: PLC0415 (--help does without NumPy)

    claims = document["claims"]
    open_ = [each for each in claims if each["verdict"] not in ("pass", "ran")]
    if len(claims) <= FEW or every:
        common.print_lines(*_table(claims if len(claims) <= FEW else open_))
    if len(claims) > FEW:
        common.print_lines(*_by_paper(document))
    counts, apart = headline(document["origins"])
    common.print_wrapped(f"{counts}.", *([f"Counted apart: {apart}."] if apart else []))
    if len(claims) > FEW and not every:
        common.print_wrapped(*(f"{line[:1].upper()}{line[1:]}." for line in missed(claims, FEW)))
    common.print_wrapped(*bands([each for each in document["power"] if each["whole"]]))
    changed = [each for each in document["changed"] if each["was"] is not None]
    for each in changed[:FEW]:
        common.say(f"{each['id']}: {_plain(each['now'])}, was {_plain(each['was'])}")
    if len(changed) > FEW:
        common.say(f"and {count(len(changed) - FEW, 'other changed verdict')}")
    new = len(document["changed"]) - len(changed)
    runs = sum(each["points"] for each in document["experiments"])
    reused = sum(each["reused"] for each in document["experiments"])
    took = f"{count(runs, 'point')} in {format_time(document['wall_s'])}, {reused} of them from the store"
    verdicts = "verdict has" if len(changed) == 1 else "verdicts have"
    same = f"{len(changed) or 'no'} {verdicts} changed" + (f", {new} were not known" if new else "")
    common.say(f"{count(len(claims), 'claim')}: {_verdicts(claims)}; {same}; {took}")


def _plain(verdict: str) -> str:
    return verdict.replace("_", " ")


def _unjudged(document: Mapping[str, Any]) -> bool:
    return any(each["verdict"] == "not_run" for each in document["claims"])


def _by_paper(document: Mapping[str, Any]) -> list[str]:
    """Return the number of claims per paper and verdict; verdicts without claims are omitted."""
    papers = document["summary"]
    verdicts = [v for v in next(iter(papers.values())) if any(of[v] for of in papers.values())]
    rows = [[paper, *(str(of[verdict]) for verdict in verdicts)] for paper, of in papers.items()]
    return whole_table(["paper", *map(_plain, verdicts)], rows, [False, *([True] * len(verdicts))])


def _verdicts(claims: Sequence[Mapping[str, Any]]) -> str:
    """Count claims by verdict, in words."""
    counts = Counter(_plain(each["verdict"]) for each in claims)
    return ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())


def _table(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    heads = ["claim", "verdict", "paper says", "measured", "accepted", "note"]
    rows = [
        [
            each["id"],
            _plain(each["verdict"]),
            "" if each["expected"] is None else _number(each["expected"]),
            _number(each["measured"]),
            each["tolerance"],
            each["note"],
        ]
        for each in claims
    ]
    return whole_table(heads, rows, [False, False, True, True, False, False])


def _number(value: Any) -> str:
    """Format a measured or claimed value: a quantity, a number, words, or a truth value."""
    if isinstance(value, dict):
        return common.shown(value)
    if value is None or isinstance(value, bool):
        return "-" if value is None else str(value).lower()
    return value if isinstance(value, str) else f"{value:.4g}"


def _by_place(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    """Group claims by their place in the paper and by the experiments from which they are judged."""
    places: dict[str, list[Claim]] = {}
    for claim in claims:
        judged = f"judged from {', '.join(claim.experiments)}" if claim.experiments else "judged by a formula"
        places.setdefault(f"{claim.paper}, {claim.figure}, {judged}:", []).append(claim)
    return places


def _show_list(claims: Iterable[Claim], *, json: bool) -> None:
    every = list(claims)
    if json:
        rows = [
            {
                "id": claim.id,
                "paper": claim.paper,
                "kind": claim.kind,
                "origin": claim.origin,
                "figure": claim.figure,
                "statement": claim.statement,
                "expected": claim.value or None,
                "tolerance": str(claim.accept),
                "experiments": list(claim.experiments),
            }
            for claim in every
        ]
        common.print_json(rows)
        return
    for n, (place, group) in enumerate(_by_place(every).items()):
        common.print_wrapped(*([""] if n else []), place)
        common.print_lines(*text_table((), [(f"  {claim.id}", claim.statement) for claim in group]))
    common.say(count(len(every), "claim"))
