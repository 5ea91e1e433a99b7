"""``elephan store``: list, query and maintain the runs of a store."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.assignments import labelled, parse_assignments
from elephan.cli import options
from elephan.cli.brief import brief
from elephan.cli.columns import LINES, Column, left_out, table_lines, terminal_width, wrapped
from elephan.cli.common import print_json, print_lines, print_wrapped, say, warn
from elephan.cli.help import CommandHelp
from elephan.cli.options import argument, option
from elephan.cli.run import print_document
from elephan.cli.tables import cut_table, text_table, whole_table
from elephan.errors import InputError, suggest
from elephan.results.axes import short

if TYPE_CHECKING:
    from elephan.store import DamageReport, Store
    from elephan.store.described import DescribedColumn

app = typer.Typer(
    name="store",
    help="Stored runs: list, show, query, export, check and remove them.",
    epilog="Example:  elephan store query 'SELECT title, jain FROM results'",
)

FileOption = Annotated[Path | None, option("--out FILE", "Write to a file instead of stdout.")]
OthersArgument = Annotated[list[Path], argument("OTHER...", "Folders of other stores.")]
WhereOption = Annotated[list[str] | None, option("--where LABEL=VALUE", "Only points with this label; repeatable.")]

LEAST_ROWS = 6
"""Minimum number of lines of a table that is cut."""

VALUES = 8
"""Maximum number of values of a label that are listed if none is the requested one."""

SHOWN = {"written": 20, "engine_version": 20, "commit": 10}
"""Shown parts of the provenance of a run, and their maximum length; the JSON document has all of it."""

_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*(min|h|d|w)")
_SECONDS = {"min": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}


@app.command("list", cls=CommandHelp, hidden=True, epilog="Example:  elephan store list --limit 10")
@app.command("ls", cls=CommandHelp, epilog='Example:  elephan store ls --where "links[0].buffer=0.1 bdp"')
def ls(
    where: WhereOption = None,
    limit: Annotated[int, option("--limit", "Number of rows to show; 0 for all.", min=0)] = 10,
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """List runs, a row for each set of labels."""
    with _reading(store) as opened:
        wanted = _labels(where, opened)
        table = opened.table(wanted, ("labels", "summary")).arrow
        labels = set(opened.index.names("labels"))
        none = _why_none(wanted, opened) if wanted and not table.num_rows else []
        failed = opened.failures() if not where else []
    if json:
        print_json(table.to_pylist())
        return
    if none:
        print_wrapped(*none)
        return
    chosen = [name for name in table.column_names if name in labels]
    chosen += ["replications"] if "replications" not in chosen else []
    chosen += [name for name in table.column_names if name.endswith(".utilization")][:4]
    rows = table.slice(0, limit or None).to_pylist()
    print_lines(*_listed(rows, chosen, labels))
    more = table.num_rows - len(rows)
    say(f"{_count(table.num_rows, 'row')}{f', {more} more with --limit 0' if more else ''}")
    for failure in failed:
        say(f"failed: {labelled(failure['labels'])}: {failure['error']}")


def _why_none(wanted: Mapping[str, Any], opened: Store) -> list[str]:
    """Say why no run has the requested labels: list the values of each label that no run has with the requested one."""
    if not opened.index.names("labels"):
        return ["no run has a label"]
    kept, found = opened.table(None, ("labels",)).arrow, []
    for name, value in wanted.items():
        if value not in (values := dict.fromkeys(kept.column(name).to_pylist())):
            others = ", ".join(_cell(each) for each in list(values)[:VALUES] if each is not None)
            found.append(f"no run has {name} = {_cell(value)}; runs have {others}{', ...' * (len(values) > VALUES)}")
    return found or [f"no run has {labelled(dict(wanted))} together"]


def _listed(rows: Sequence[dict[str, Any]], names: Sequence[str], labels: Collection[str]) -> list[str]:
    """A line for each row: its run, the labels that tell rows apart before the others, and what was measured."""
    width = terminal_width()
    lines: list[str] = []
    # Full names, or if they do not fit the last part of each.
    for heads in (dict(zip(names, names, strict=True)), short(names)):
        columns = [Column("run", "", tuple(row["run"][:12] for row in rows), is_text=True)]
        for name in names:
            cells = tuple(brief([_cell(row[name]) for row in rows]) if rows else [])
            rank = 1 if len(set(cells)) > 1 or name not in labels else 3
            rank += name == "replications"
            columns.append(Column(heads[name], "", cells, rank, is_text=name in labels))
        left = left_out(columns, width)
        lines = table_lines(columns)
        lines += wrapped(f"(no room for {', '.join(left)}: --json)") if left else []
        if not left:
            break
    return lines


@app.command("show", cls=CommandHelp, epilog="Example:  elephan store show 3f2a")
def show(
    run: Annotated[str, argument("ID", "Id of a run (see store ls), or a unique prefix of it.")],
    store: options.Store = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Show a run as elephan run does, with its labels and where it comes from."""
    with _reading(store) as opened:
        stored = opened.get(run)
        document, sets, where = stored.document, stored.labels, stored.provenance
        warnings = stored.warnings
    if json:
        print_json(document | {"labels": sets, "provenance": where, "folder": str(stored.folder)})
        return
    print_document(document, stored.scenario)
    print_wrapped(
        *(f"labels: {labelled(labels)}" for labels in sets),
        "origin: "
        + ", ".join(f"{name.replace('_', ' ')} {_cell(where[name])[:n]}" for name, n in SHOWN.items() if name in where),
        f"folder: {stored.folder}",
    )
    warn(warnings, quiet=quiet)


@app.command(
    "query",
    cls=CommandHelp,
    epilog='Example:  elephan store query "SELECT law, avg(goodput_bps) FROM groups GROUP BY law"',
)
def query(
    sql: Annotated[
        str,
        argument(
            "SQL",
            "One SELECT. The view results has a row per run and label set, with the columns of export; the tables "
            "are runs, links, groups, points, failures: elephan store tables.",
        ),
    ],
    limit: Annotated[
        int | None, option("--limit", "Number of rows to show; 0 for all.", min=0, show_default="what a screen holds")
    ] = None,
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Read-only SQL (SQLite)."""
    with _reading(store) as opened:
        table = opened.query(sql).arrow
    rows = table.to_pylist()
    if json:
        print_json(rows)
        return
    numbers = [str(column.type) not in ("string", "null") for column in table.columns]
    cells = [[_cell(value, row.get(name.removesuffix("_ci95"))) for name, value in row.items()] for row in rows]
    if limit is not None:
        print_lines(*whole_table(table.column_names, cells[: limit or None], numbers))
        more = len(cells) - len(cells[: limit or None])
    else:
        lines, more = _first_rows(table.column_names, cells, numbers)
        print_lines(*lines)
    if more:
        say(f"{_count(len(cells), 'row')}, {more} more with --limit 0; --json has all")


def _first_rows(heads: list[str], cells: list[list[str]], numbers: list[bool]) -> tuple[list[str], int]:
    """Return the lines of the rows that one screen holds, and the number of the others."""
    for kept in range(min(len(cells), LINES), 0, -1):
        lines = whole_table(heads, cells[:kept], numbers)
        # A line of its own says how many rows are left out.
        if len(lines) + (kept < len(cells)) <= LINES:
            return lines, len(cells) - kept
    if not cells:
        return whole_table(heads, cells, numbers), 0
    # If not even one row fits: its first columns.
    lines = [line for line in whole_table(heads, cells[:1], numbers) if line.strip()]
    said = wrapped(f"({_count(len(heads), 'column')}, all of them with --limit 0 or --json; or name some: SELECT …)")
    return [*lines[: LINES - len(said) - (len(cells) > 1)], *said], len(cells) - 1


@app.command("tables", cls=CommandHelp, epilog="Example:  elephan store tables links")
def tables(
    table: Annotated[str | None, argument("[TABLE]", "Table whose columns are shown, with units and meanings.")] = None,
    store: options.Store = None,
    details: options.Details = False,
    json: options.Json = False,
) -> None:
    """Describe the tables for query; without a store, those of an empty one."""
    from elephan.display import CI95  # noqa: PLC0415 (--help does without NumPy)
    from elephan.store.described import described, gathered  # noqa: PLC0415 (as above)
    from elephan.store.opening import is_there, usual  # noqa: PLC0415 (as above)

    names_of: dict[str, list[str]] = {}
    together: Sequence[DescribedColumn] = ()
    if store is None and not is_there(usual(store)):
        found = described()
    else:
        with _reading(store) as opened:
            found = described(opened.index)
            together, names_of = gathered(found[0].columns, opened.index)
    names = [each.name for each in found]
    if table is not None and table not in names:
        raise InputError(f'store tables: there is no table "{table}"; {suggest(table, names)}')
    if json:
        print_json([each.to_json() for each in found if table in (None, each.name)])
        return
    if table is None:
        rows = [(each.name, f"{len(each.columns)}", each.title) for each in found]
        print_lines(*text_table(("table", "columns", "holds"), rows))
        print_wrapped(
            "Columns with units and meanings: elephan store tables TABLE. "
            f"Not counted: NAME{CI95}, half-widths of 95 % intervals."
        )
        return
    chosen = next(each for each in found if each.name == table)
    columns: Sequence[DescribedColumn] = chosen.columns
    above, below = wrapped(f"{chosen.name}: {chosen.title}."), []
    if table == found[0].name and names_of:
        columns = together
        below = [line for place, own in names_of.items() for line in wrapped(f"{place} is one of {', '.join(own)}.")]
    below += wrapped(f"Of what is measured, NAME{CI95} is the half-width of the 95 % interval.")
    heads = ("column", "unit", "meaning")
    if details:
        print_lines(*above, *text_table(heads, columns), *below)
        return
    room = max(LINES - len(above) - len(below), LEAST_ROWS)
    print_lines(*above, *cut_table(heads, columns, room, "--details"), *below)


@app.command(
    "export",
    cls=CommandHelp,
    epilog="Example:  elephan store export --format csv --columns labels,core.utilization > all.csv",
)
def export(
    format: Annotated[  # noqa: A002 (the option's name)
        str | None,
        option("--format", "csv, parquet or json.", show_default="by the suffix of --out, else csv"),
    ] = None,
    columns: Annotated[
        str, option("--columns", "Names of columns with commas; labels and summary stand for all columns of this kind.")
    ] = "labels,summary",
    out: FileOption = None,
    where: WhereOption = None,
    store: options.Store = None,
) -> None:
    """Write a row for each run and set of labels, sorted: the same bytes for the same results."""
    if format is None:
        suffix = "" if out is None else out.suffix.removeprefix(".").lower()
        from elephan.results.formats import FORMATS  # noqa: PLC0415 (--help does without NumPy)

        if suffix not in {*FORMATS, "", "txt"}:
            known = ", ".join(f".{name}" for name in FORMATS)
            raise InputError(f"--out {out}: no format has the suffix .{suffix}; give {known}, or --format")
        format = suffix if suffix in FORMATS else "csv"  # noqa: A001 (as above)
    if format == "parquet" and out is None and sys.stdout.isatty():
        raise InputError("--format parquet: is not for a terminal; give a file with --out")
    with _reading(store) as opened:
        content = opened.export(out, format, [name for name in columns.split(",") if name], _labels(where, opened))
    if out is not None:
        say(f"wrote {out}")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)


@app.command("gc", cls=CommandHelp, epilog="Example:  elephan store gc --other-versions --dry-run")
def gc(
    unlabelled: Annotated[bool, option("--unlabelled", "Runs without labels.")] = False,
    other_versions: Annotated[bool, option("--other-versions", "Runs of other versions of the engine.")] = False,
    older_than: Annotated[
        str | None, option("--older-than AGE", 'Runs older than this, such as "30 d" (min, h, d, w).')
    ] = None,
    where: WhereOption = None,
    failures: Annotated[bool, option("--failures", "Also remove the records of all failed points.")] = False,
    dry_run: Annotated[bool, option("--dry-run", "Only show how much would be removed.")] = False,
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Remove files left by killed processes, and the runs that meet all given conditions."""
    age_s = _age(older_than)
    with _existing(store) if not dry_run else _reading(store) as opened:
        freed = opened.gc(
            unlabelled=unlabelled,
            other_versions=other_versions,
            older_than_s=age_s,
            labels=_labels(where, opened),
            failures=failures,
            dry_run=dry_run,
        )
    if json:
        print_json(vars(freed))
        return
    verb = "would remove" if dry_run else "removed"
    what = f"{_count(freed.runs, 'run')} and {_count(freed.leftovers, 'leftover')}"
    also = f", {_count(freed.failures, 'record')} of failures" if failures else ""
    print_lines(f"{verb} {what}{also}: {freed.bytes:,} bytes")


@app.command("verify", cls=CommandHelp, epilog="Example:  elephan store verify --repair")
def verify(
    repair: Annotated[
        bool, option("--repair", "Remove damaged runs, so that they are run again, and repair the index.")
    ] = False,
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Check every file against its checksum; exit 1 if one is not what was written."""
    with _existing(store, repair=True) if repair else _reading(store) as opened:
        problems = opened.verify(repair=repair)
        known = {run for (run,) in opened.index.rows("SELECT id FROM runs")}
    _report(problems, json)
    if not json:
        bad = {problem.run for problem in problems if problem.run}
        if repair and bad:
            print_lines(f"removed {_count(len(bad), 'run')}; the commands that made them make them again")
        print_lines(f"{_count(len(known - bad), 'run')} whole, {0 if repair else len(bad)} damaged")
    if problems and not repair:
        raise typer.Exit(1)


@app.command(
    "merge", cls=CommandHelp, epilog="Example:  elephan store merge cluster-a/.elephan cluster-b/.elephan --store all/"
)
def merge(
    others: OthersArgument,
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Copy the runs, labels and failures of other stores into one."""
    from elephan.store import Store  # noqa: PLC0415 (--help does without NumPy)

    with Store(store) as opened:
        merged = opened.merge(*others)
    if json:
        print_json({"added": merged.added, "known": merged.known, "problems": [p._asdict() for p in merged.problems]})
    else:
        _report(list(merged.problems), json)
        print_lines(f"added {_count(merged.added, 'run')}; there already: {merged.known}")
    if merged.problems:
        raise typer.Exit(1)


def _report(problems: list[DamageReport], json: bool) -> None:
    if json:
        print_json([problem._asdict() for problem in problems])
        return
    print_lines(*map(str, problems))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _reading(folder: Path | None) -> Store:
    """Open an existing store for reading; if it is writable, merge finished shards first."""
    from elephan.store import Store, StoreError  # noqa: PLC0415 (--help does without NumPy)
    from elephan.store.errors import DamageError  # noqa: PLC0415 (as above)

    try:
        return _existing(folder)
    except StoreError as error:
        opened = Store(folder, readonly=True)
        if isinstance(error, DamageError):
            say(f"{error}; answered from the runs themselves")
        return opened


def _existing(folder: Path | None, *, repair: bool = False) -> Store:
    """Open an existing store for writing."""
    from elephan.store import Store  # noqa: PLC0415 (--help does without NumPy)
    from elephan.store.opening import check_is_there, usual  # noqa: PLC0415 (as above)

    check_is_there(usual(folder))
    return Store(folder, repair=repair)


def _labels(where: list[str] | None, opened: Store) -> dict[str, Any] | None:
    """Parse ``--where``; a label may be given by the last part of its name, as in the heads of lists."""
    if not where:
        return None
    for text in where:
        if "=" not in text:
            raise InputError(f'--where: "{text}" is not of the form LABEL=VALUE, such as "links[0].buffer=0.1 bdp"')
    known = opened.index.names("labels")
    whole = {end: name for name, end in short(list(known)).items()}
    return {name if name in known else whole.get(name, name): value for name, value in parse_assignments(where).items()}


def _age(text: str | None) -> float | None:
    """Parse an age [s]."""
    if text is None:
        return None
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise InputError(f'--older-than: "{text}" is not an age; write for example "30 d" (min, h, d or w)')
    return float(match[1]) * _SECONDS[match[2]]


def _cell(value: object, beside: object = None) -> str:
    """Format a value with six digits; the half-width of an interval to the last digit of its value, `beside`."""
    if value is None:
        return ""
    if isinstance(value, float) and isinstance(beside, float) and value is not beside and beside:
        places = 5 - math.floor(math.log10(abs(beside)))
        return f"{round(value, places):.6g}" if round(value, places) or not value else ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
