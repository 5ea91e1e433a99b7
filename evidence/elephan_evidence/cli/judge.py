"""``elephan judge``: measurements that others made, and the errors of simulations of them, cell by cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli import common, options
from elephan.cli.progress import ProgressLine
from elephan.cli.tables import whole_table
from elephan.units import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


EXAMPLE = """Example:  elephan judge --quick
elephan judge tofino-2021 --details
elephan judge tofino-2021 --held-out other-half.csv
elephan judge --testbed this-kernel/
elephan judge this-kernel/"""

FEW_ROWS = 7
"""Maximum number of quantities that have a row each; if there are more, each set has a row."""

FEW = 3
"""Maximum number of changed verdicts, and of unrecorded cells, that are named."""


def _sets() -> list[str]:
    """Return the data sets that Tab offers."""
    from elephan_evidence.judge.dataset import sets  # noqa: PLC0415 (--help does without NumPy)

    return sets()


def judge(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SET", help="Data sets, or folders with the files of one.", show_default="all", autocompletion=_sets
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only list the data sets.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few cells in shorter runs, to see whether a verdict changes; a minute.")
    ] = False,
    held_out: Annotated[
        Path | None,
        typer.Option("--held-out", metavar="FILE", help="Other measurements of one set, in the columns of its CSV."),
    ] = None,
    testbed: Annotated[
        Path | None,
        typer.Option(
            "--testbed",
            metavar="DIR",
            help="Record this machine's kernel over a grid of laws, buffers and delays, as a data set (root; minutes).",
        ),
    ] = None,
    details: options.Details = False,
    bless: Annotated[bool, typer.Option("--bless", help="Make these tables the reference of later runs.")] = False,
    workers: options.Workers = None,
    pages: Annotated[
        Path | None,
        typer.Option("--pages", metavar="DIR", help="Write a page for each set, with its pictures, in Markdown."),
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Simulate what others measured; give the error of each cell, and what wrong answers would get.

    Exit code 1 if a verdict differs from the recorded one.
    """
    from elephan.errors import InputError  # noqa: PLC0415 (--help does without NumPy)
    from elephan_evidence.judge import judge as run  # noqa: PLC0415 (as above)
    from elephan_evidence.judge.dataset import DataSet, find  # noqa: PLC0415 (as above)
    from elephan_evidence.judge.dataset import sets as known  # noqa: PLC0415 (as above)

    common.check_out(pages, "--pages", drawn=True)
    if testbed is not None:
        _record(testbed, quiet=quiet)
        return
    if list_:
        _show_list([DataSet.read(find(name)) for name in sets or known()], json=json)
        return
    if quick and pages is not None:
        message = "--pages: a page needs all cells; leave out --quick"
        raise InputError(message)
    if held_out is not None and bless:
        message = "--bless: published tables use a set's own measurements; leave out --held-out"
        raise InputError(message)
    with ProgressLine("judge", quiet=quiet, of="runs") as line:
        line.interrupted = lambda: "nothing was written"
        found = run(*(sets or ()), quick=quick, measured=held_out, workers=workers, progress=line.update)
    document = found.to_json()
    written: list[Path] = []
    if pages is not None:
        from elephan_evidence.report.judge import write_pages  # noqa: PLC0415 (Matplotlib is slow to import)

        with common.writing(pages, "--pages"):
            written += write_pages(found, pages)
    if bless:
        written += found.bless()
    if json:
        common.print_json(document)
    else:
        _show(document, details=details)
        for path in dict.fromkeys(path.parent for path in written):
            names = [each.name for each in written if each.parent == path]
            common.say(f"wrote {path}: {', '.join(names)}")
    raise typer.Exit(0 if found.holds or bless else 1)


def _record(folder: Path, *, quiet: bool) -> None:
    """Record a data set with this machine's kernel."""
    from elephan_evidence.judge.recording import record  # noqa: PLC0415 (--help does without NumPy)

    common.check_out(folder, "--testbed")
    with ProgressLine("judge", quiet=quiet, of="cells") as line, common.writing(folder, "--testbed"):
        line.interrupted = lambda: "nothing was written"
        written, missing = record(folder, line.update)
    for each in missing[:FEW]:
        common.say(f"not recorded: {each}")
    if len(missing) > FEW:
        common.say(f"and {len(missing) - FEW} more cells")
    common.say(f"wrote {written}; elephan judge {written} --details")


def _show(document: Mapping[str, Any], *, details: bool) -> None:
    """Print what fits on a screen: the shares within bounds, a row per quantity or per set, changed verdicts."""
    from elephan_evidence.judge.words import percent  # noqa: PLC0415 (--help does without NumPy)

    sets = document["sets"]
    cells = sum(each["cells"] for each in sets)
    within = sum(q["ours"]["within"] for each in sets for q in each["quantities"])
    nulls = [each["best_null"]["score"] for each in sets if each["best_null"]["score"] is not None]
    share = f"{100 * within / cells:.0f} %" if cells else "none"
    best = f"; the best wrong answers: {percent(min(nulls))} to {percent(max(nulls))}" if nulls else ""
    common.print_wrapped(f"{cells} values in {len(sets)} data sets: {share} within their bounds{best}.")
    quantities = sum(len(each["quantities"]) for each in sets)
    common.print_lines(*_by_quantity(sets) if details or quantities <= FEW_ROWS else _by_set(sets))
    if details:
        for each in sets:
            common.print_wrapped("", f"{each['name']}: {each['title']}")
            for quantity in each["quantities"]:
                common.print_wrapped("", f"{quantity['says']}; errors are {quantity['unit']}.")
                common.print_lines(*_families(quantity))
    changed = [{**one, "set": each["name"]} for each in sets for one in each["changed"]]
    known = [one for one in changed if one["was"] is not None]
    for one in known[:FEW]:
        common.say(f"{one['set']}, {one['quantity']}, {one['cell']}: {one['now']}, was {one['was']}")
    new = f", {len(changed) - len(known)} were not known" if len(changed) > len(known) else ""
    more = "" if details else "; --details shows families"
    verdicts = "verdict has" if len(known) == 1 else "verdicts have"
    common.say(f"{len(known) or 'no'} {verdicts} changed{new}; {format_time(document['wall_s'])}{more}")


def _by_set(sets: Sequence[Mapping[str, Any]]) -> list[str]:
    from elephan_evidence.judge.words import percent  # noqa: PLC0415 (--help does without NumPy)

    rows = []
    for each in sets:
        score, null = each["score"], each["best_null"]
        verdicts = [family["verdict"] for quantity in each["quantities"] for family in quantity["families"]]
        rows.append(
            [
                each["name"],
                str(each["cells"]),
                "-" if score is None else percent(score),
                "-" if null["score"] is None else percent(null["score"]),
                null["name"],
                f"{verdicts.count('met')} of {len(verdicts)}",
            ]
        )
    heads = ["set", "values", "within", "null", "best null", "families met"]
    return whole_table(heads, rows, [False, True, True, True, False, True])


def _by_quantity(sets: Sequence[Mapping[str, Any]]) -> list[str]:
    from elephan_evidence.judge.words import error, percent  # noqa: PLC0415 (--help does without NumPy)

    heads = ["set", "quantity", "cells", "within", "null", "bias", "mean error"]
    rows = []
    for each in sets:
        for n, quantity in enumerate(each["quantities"]):
            ours = quantity["ours"]
            tried = [null["within"] / null["cells"] for null in quantity["nulls"] if null["cells"]]
            rows.append(
                [
                    each["name"] if n == 0 else "",
                    quantity["name"],
                    str(ours["cells"]),
                    percent(ours["within"] / ours["cells"]) if ours["cells"] else "-",
                    percent(max(tried)) if tried else "-",
                    error(quantity["error"], ours["bias"], signed=True),
                    error(quantity["error"], ours["mean_error"]),
                ]
            )
    return whole_table(heads, rows, [False] * 2 + [True] * 5)


def _families(quantity: Mapping[str, Any]) -> list[str]:
    from elephan_evidence.judge.words import error, percent  # noqa: PLC0415 (--help does without NumPy)

    heads = ["family", "verdict", "cells", "within", "bias", "mean error"]
    rows = [
        [
            family["name"],
            family["verdict"],
            str(family["ours"]["cells"]),
            percent(family["ours"]["within"] / family["ours"]["cells"]),
            error(quantity["error"], family["ours"]["bias"], signed=True),
            error(quantity["error"], family["ours"]["mean_error"]),
        ]
        for family in quantity["families"]
    ]
    return whole_table(heads, rows, [False] * 2 + [True] * 4)


def _show_list(every: Sequence[Any], *, json: bool) -> None:
    rows = [
        {
            "name": each.name,
            "title": each.title,
            "cells": len(each.counted),
            "apart": len(each.cells) - len(each.counted),
        }
        for each in every
    ]
    if json:
        common.print_json(rows)
        return
    cells = [[row["name"], row["title"], str(row["cells"]), str(row["apart"])] for row in rows]
    common.print_lines(*whole_table(["set", "what", "cells", "not counted"], cells, [False, False, True, True]))
