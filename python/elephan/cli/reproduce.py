"""``elephan reproduce``: the papers' experiments, judged claim by claim."""

from __future__ import annotations

from collections import Counter
from pathlib import Path  # noqa: TC003 (Typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli.common import (
    Interrupted,
    JsonOption,
    OutOption,
    QuietOption,
    StoreOption,
    WorkersOption,
    check_out,
    fitted_table,
    print_json,
    print_lines,
    print_tables,
    say,
    shown,
    writing,
)
from elephan.cli.progress import ProgressLine, Watch
from elephan.errors import InputError
from elephan.units import format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.table import Table

    from elephan.papers import Claim, Reproduction

EXAMPLE = """Example:  elephan reproduce --quick
elephan reproduce "hsbuf:Figure 3" --out reproduced/
elephan reproduce nr-hstcp --list"""

FEW = 60
"""Claims that are all shown; of more, those that are not met."""


def reproduce(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Claims, beginnings of their ids (ghstcp.T1), papers (nr-hstcp) or places (hsbuf:Figure 3).",
            show_default="all",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only say which claims there are.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter runs, fewer seeds, wider bands: a few minutes.")
    ] = False,
    store: StoreOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    pages: Annotated[
        Path | None,
        typer.Option("--pages", metavar="DIR", help="Write a page for each paper, with its figures, in Markdown."),
    ] = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Run the experiments of published papers; give a verdict on every claim: pass, fail, or deviation with the reason.

    Runs are kept in the store: a reproduction that is stopped goes on where it was.

    Exit code 1 if a claim failed or could not be judged.
    """
    from elephan.papers import papers  # noqa: PLC0415 (--help does without NumPy)
    from elephan.papers import reproduce as judge  # noqa: PLC0415
    from elephan.papers.reproduction import select  # noqa: PLC0415

    check_out(out)
    check_out(pages, "--pages")
    asked = select(papers(), ids or ())
    if list_:
        _show_list(asked.values(), json=json)
        return
    if pages is not None:
        from elephan.report.papers import check_whole  # noqa: PLC0415 (Matplotlib is slow to import)

        check_whole(papers(), asked)
    with ProgressLine("reproduce", quiet=quiet, of="points") as line:
        watch = Watch(line)
        try:
            found = judge(*(ids or ()), quick=quick, store=store, workers=workers, progress=watch)
            watch.after("judging")
            document = found.to_json()
            watch.after("writing")
            written = _write(found, document, out, pages)
        except KeyboardInterrupt:
            raise Interrupted(watch.stopped()) from None
        except InputError as error:
            if watch.last is None:
                raise
            message = f"{error}; {watch.kept()}"
            raise InputError(message) from None
    if json:
        print_json(document)
    else:
        _show(document)
        for path in written:
            say(f"wrote {path}")
    raise typer.Exit(0 if found.holds else 1)


def _write(found: Reproduction, document: Mapping[str, Any], out: Path | None, pages: Path | None) -> list[Path]:
    from elephan.papers.reproduction import DOCUMENT  # noqa: PLC0415 (as above)
    from elephan.run.files import write_json  # noqa: PLC0415

    written: list[Path] = []
    if out is not None:
        with writing(out):
            written.append(write_json(out / DOCUMENT, document))
    if pages is not None:
        from elephan.report.papers import write_pages  # noqa: PLC0415 (as above)

        with writing(pages, "--pages"):
            written.extend(write_pages(found, pages))
    return written


def _show(document: Mapping[str, Any]) -> None:
    claims = document["claims"]
    shown_ = claims if len(claims) <= FEW else [each for each in claims if each["verdict"] != "pass"]
    if shown_:
        print_tables(_table(shown_))
    print_tables(_by_paper(document))
    print_lines(*(f"{each['says']}: {_number(each['measured'])}" for each in document["counts"]))
    runs = sum(each["points"] for each in document["experiments"])
    reused = sum(each["reused"] for each in document["experiments"])
    took = f"{runs} points in {format_time(document['wall_s'])}, {reused} of them from the store"
    say(f"{len(claims)} claims: {_verdicts(claims)}; {took}")


def _by_paper(document: Mapping[str, Any]) -> Table:
    """How many claims of each paper have which verdict."""
    verdicts = list(next(iter(document["summary"].values())))
    heads = ["paper", *(verdict.replace("_", " ") for verdict in verdicts)]
    rows = [[paper, *(str(of[verdict]) for verdict in verdicts)] for paper, of in document["summary"].items()]
    if document["quick"]:
        heads.insert(2, "by wider bands only")
        for row in rows:
            row.insert(2, str(sum(_only_wider(each) for each in document["claims"] if each["paper"] == row[0])))
    return fitted_table(heads, rows, [True, *([False] * (len(heads) - 1))])


def _verdicts(claims: Sequence[Mapping[str, Any]]) -> str:
    """How many have which verdict, and how many of those that are met are so only in shortened runs."""
    counts = Counter(each["verdict"].replace("_", " ") for each in claims)
    said = {verdict: f"{n} {verdict}" for verdict, n in counts.most_common()}
    wider = sum(map(_only_wider, claims))
    if wider:
        said["pass"] += f", {wider} of them only within the wider bands of --quick"
    return ", ".join(said.values())


def _only_wider(claim: Mapping[str, Any]) -> bool:
    return claim["verdict"] == "pass" and not claim["full_holds"]


def _table(claims: Sequence[Mapping[str, Any]]) -> Table:
    heads = ["claim", "verdict", "paper says", "measured", "accepted", "note"]
    rows = [
        [
            each["id"],
            "pass (wider band)" if _only_wider(each) else each["verdict"].replace("_", " "),
            "" if each["expected"] is None else _number(each["expected"]),
            _number(each["measured"]),
            each["tolerance"],
            each["note"],
        ]
        for each in claims
    ]
    return fitted_table(heads, rows, [True, True, False, False, True, True])


def _number(value: Any) -> str:
    """What was measured, or is claimed: a quantity, a number, words, or whether it is so."""
    if isinstance(value, dict):
        return shown(value)
    if value is None or isinstance(value, bool):
        return "-" if value is None else str(value).lower()
    return value if isinstance(value, str) else f"{value:.4g}"


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
        print_json(rows)
        return
    rows_ = [[claim.id, claim.figure, " ".join(claim.experiments) or "a formula", claim.statement] for claim in every]
    print_tables(fitted_table(["claim", "where", "judged from", "statement"], rows_, [True] * 4))
    say(f"{len(every)} claims")
