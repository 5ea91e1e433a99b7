"""``elephan sweep``: a scenario varied over lists, every point run once and kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.assignments import parse_assignments, usual_place
from elephan.cli import common, options
from elephan.cli.estimate import preview_cost
from elephan.cli.options import argument, option
from elephan.cli.progress import ProgressLine, SweepProgressReporter
from elephan.errors import InputError

if TYPE_CHECKING:
    from elephan.sweeps import Sweep

EXAMPLE = "Example:  elephan sweep scenarios/sweeps/buffers.toml --store runs/ --out swept/"

SHOWN = 5
"""Maximum number of points whose metrics or costs are shown, unless all are requested."""


def sweep(
    sweep_file: Annotated[Path, argument("SWEEP", "Sweep file, or a scenario file with --over (TOML).")],
    over: Annotated[
        list[str] | None,
        option(
            "--over PLACE=VALUES",
            'Vary a place too: links\\[0].buffer=\\["0.1 bdp","1 bdp"], flows\\[0].count=1,2,5, or a range '
            '"100..15000 packets:12log"; repeatable, in every combination.',
        ),
    ] = None,
    zip_: Annotated[list[str] | None, option("--zip A=VALUES;B=VALUES", "Vary places together; repeatable.")] = None,
    set_: options.Set = None,
    law: options.Law = None,
    store: options.Store = None,
    workers: options.Workers = None,
    scheduler: Annotated[
        str | None, option("--scheduler ADDRESS", "Run on a Dask cluster: tcp://host:8786, or its file.")
    ] = None,
    shard: Annotated[str | None, option("--shard I/N", "Only part I of N, for arrays of batch jobs.")] = None,
    precision: Annotated[
        list[str] | None, option("--precision [METRIC=]SHARE", "Precision of every point, as in `elephan run`.")
    ] = None,
    max_replications: Annotated[
        int | None, option("--max-replications", "Maximum replications for --precision.", min=2)
    ] = None,
    replications: options.Replications = None,
    seed: options.Seed = None,
    metric: options.Metric = None,
    series: Annotated[bool, option("--series", "Keep the sampled cwnd, srtt and backlog too.")] = False,
    columns: Annotated[
        str | None,
        option(
            "--columns A,B,C",
            "Columns of the table: utilization, loss, delay_p95\\[LINK], goodput\\[GROUP], goodput_p5\\[GROUP], "
            "page_time_p95\\[GROUP], jain, ...; all of them: elephan list columns.",
        ),
    ] = None,
    differences: Annotated[
        bool,
        option(
            "--differences",
            "Show the differences from the first row, with intervals by paired replications.",
        ),
    ] = False,
    out: options.Out = None,
    tables: options.Tables = options.PARQUET,
    dry_run: Annotated[
        bool, option("--dry-run", "List the points, their costs, and which of them are in the store.")
    ] = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    details: options.Details = False,
    json: options.Json = False,
) -> None:
    """Run every combination of what varies in a scenario, and keep each result; what is kept is not run again.

    If it is stopped, whatever the reason, the same command goes on from there. Exit code 1 if points failed.
    """
    from elephan import sweep as run_sweep  # noqa: PLC0415 (--help does without NumPy)
    from elephan.cli.sweep_screen import labelled_rows, preview_rows, say_end, show_preview, sweep_screen  # noqa: PLC0415 (as above)
    from elephan.runs.measures import needs_series, parse_metrics  # noqa: PLC0415 (as above)
    from elephan.sweeps import parse_shard, preview  # noqa: PLC0415 (as above)
    from elephan.sweeps.columns import parse_columns  # noqa: PLC0415 (as above)

    common.check_out(out)
    common.check_tables(tables)
    settings: dict[str, Any] = {"precision": precision, "max_replications": max_replications}
    settings |= {"replications": replications, "seed": seed}
    zipped = [_read_over([part for part in text.split(";") if part.strip()]) for text in zip_ or []]
    asked = common.read_sweep(sweep_file, set_, law, _read_over(over or []), zipped)
    _check(sweep_file, asked, parse_assignments(set_), **settings)
    title = common.titled(asked.title, set_)
    chosen = None if columns is None else parse_columns(columns, asked.base.network)
    series = series or needs_series(parse_metrics(metric or []))
    places: dict[str, Any] = {"store": store, "shard": parse_shard(shard) if shard else None, "series": series}
    if dry_run:
        points = preview(asked.asking(**settings), **places)
        if json:
            common.print_json({"title": asked.title, "points": preview_rows(points)})
        else:
            show_preview(title, points, preview_cost(points, workers, series=series), None if details else SHOWN)
        return
    with ProgressLine("sweep", quiet=quiet, of="points") as line, _executor(scheduler) as executor:
        how: dict[str, Any] = {"executor": executor, "workers": workers, "metrics": metric or [], "force": force}
        swept = run_sweep(asked, **settings, **places, **how, progress=SweepProgressReporter(line, workers))
        written = common.write_result(swept, out if swept.points else None, tables, set_)
    if json:
        shows = chosen is not None or differences
        more = {"columns": labelled_rows(swept, chosen, differences=differences)} if shows else {}
        common.print_json({**swept.to_json(), **more})
    elif details and chosen is None and not (differences or metric):
        from elephan.cli.page_screen import details as details_of  # noqa: PLC0415 (--help does without NumPy)

        common.print_lines(*details_of(swept, title))
    else:
        common.print_lines(*sweep_screen(swept, chosen, title, differences=differences, details=details))
    if not json:
        common.say_written(written)
    say_end(swept, json=json, quiet=quiet)
    raise typer.Exit(1 if swept.failures else 0)


def _check(
    sweep_file: Path,
    asked: Sweep,
    fixed: Mapping[str, object],
    *,
    precision: list[str] | None,
    max_replications: int | None,
    **given: int | None,
) -> None:
    """Refuse a sweep in which nothing varies, options without effect, and a maximum without a precision.

    Parameters
    ----------
    fixed : mapping
        Places that ``--set`` sets.
    **given : int or None
        Options that set a place of their name.
    """
    from elephan.sweeps.axes import SweepAxis  # noqa: PLC0415 (--help does without)

    varied = {place for axis in asked.axes if isinstance(axis, SweepAxis) for place in axis.places}
    setting = dict.fromkeys(fixed, "--set") | {name: f"--{name}" for name, value in given.items() if value is not None}
    for place, setter in setting.items():
        if place in varied:
            raise InputError(
                f"{setter}: {place} varies in the sweep, so a value for all points has no effect; leave out one"
            )
    if not asked.axes:
        raise InputError(f'{sweep_file}: nothing varies in it; give lists with --over "links[0].buffer=0.1 bdp,1 bdp"')
    if max_replications is not None and not (precision or asked.precision):
        raise InputError("--max-replications: needs --precision; give it, too, or use --replications")


def _read_over(texts: list[str]) -> dict[str, Any]:
    from elephan.sweeps.lists import read_words  # noqa: PLC0415 (--help does without)

    found: dict[str, Any] = {}
    for text in texts:
        place, equals, values = (part.strip() for part in text.partition("="))
        place = usual_place(place)
        if not (equals and place and values):
            raise InputError(
                f'--over: "{text}" is not of the form PLACE=VALUES, such as links[0].buffer=["0.1 bdp","1 bdp"]'
            )
        if place in found:
            raise InputError(f'--over: "{place}" is given twice; give it one list')
        found[place] = read_words(f"--over {place}", values)
    return found


def _executor(scheduler: str | None) -> AbstractContextManager[Any]:
    if scheduler is None:
        return nullcontext()
    from elephan.sweeps.cluster import connected  # noqa: PLC0415 (needed by few)

    return connected(scheduler)
