"""``elephan run``: all replications of one scenario."""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

import elephan
from elephan.assignments import parse_assignments
from elephan.catalog import catalog
from elephan.cli.columns import command_lines, wrapped
from elephan.cli.common import (
    METRIC_HEADS,
    PARQUET,
    DetailsOption,
    ForceOption,
    Interrupted,
    JsonOption,
    KeepOption,
    LawOption,
    MetricOption,
    OutOption,
    QuietOption,
    ReplicationsOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    StrictOption,
    TablesOption,
    WorkersOption,
    as_text,
    check_laws,
    check_out,
    check_tables,
    fitted_table,
    metric_rows,
    new_table,
    note_changes,
    print_json,
    print_lines,
    print_tables,
    say,
    say_written,
    shown,
    titled,
    warn,
    writing,
)
from elephan.cli.estimate import announce
from elephan.cli.progress import ProgressLine
from elephan.cli.run_screen import screen, whole
from elephan.errors import InputError, suggest
from elephan.extras import require
from elephan.own_laws import declare
from elephan.scenario import AUTO
from elephan.units import count

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from rich.table import Table

    from elephan.runs.measures import AskedMetric
    from elephan.runs.result import RunResult
    from elephan.scenario import Scenario
    from elephan.store import StoredRun

ENGINES = ("window", "reference")

EXAMPLE = """Example:  elephan run scenarios/hstcp-1g.toml --set links.0.buffer="0.1 bdp" --out run/ --plot
elephan run scenarios/hstcp-1g.toml --precision goodput=2% --metric loss_synchronization --json"""


def run(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    law: LawOption = None,
    seed: SeedOption = None,
    replications: ReplicationsOption = None,
    precision: Annotated[
        list[str] | None,
        typer.Option(
            "--precision",
            metavar="[METRIC=]SHARE",
            help="More replications until the 95 % half-width is that share of the mean: 1% (utilizations and "
            "goodputs), goodput=2%, utilization\\[core]=1%, and loss, delay or backlog likewise; repeatable.",
        ),
    ] = None,
    max_replications: Annotated[
        int | None,
        typer.Option("--max-replications", min=2, help="Maximum replications for --precision; 100 by default."),
    ] = None,
    metric: MetricOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    tables: TablesOption = PARQUET,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            metavar="FORMAT",
            help="Files for other tools, too, into --out: iperf3 and flent, qlog (flows of record.trace), pcapng for "
            "Wireshark (packets of record.packets); repeatable.",
        ),
    ] = None,
    plot: Annotated[
        bool,
        typer.Option("--plot", help="Draw cwnd, backlog, srtt, utilization, distributions and packets into --out."),
    ] = False,
    store: KeepOption = None,
    engine: Annotated[str, typer.Option("--engine", help="window, or reference: the plain one, slow.")] = "window",
    strict: StrictOption = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    details: DetailsOption = False,
    json: JsonOption = False,
) -> None:
    """Run all replications of a scenario and sum them up, with 95 % confidence intervals."""
    from elephan.lint import lint  # noqa: PLC0415 (--help does without NumPy)
    from elephan.results.files import write_files  # noqa: PLC0415 (as above)
    from elephan.runs.halves import is_cheap  # noqa: PLC0415 (as above)
    from elephan.runs.measures import needs_series  # noqa: PLC0415 (as above)

    check_out(out)
    check_tables(tables)
    if plot:
        require("--plot", "matplotlib")
    _check_formats(also or [])
    _check_folder(out, {"--plot": plot, "--also": bool(also)})
    if engine not in ENGINES:
        message = f'--engine: there is no "{engine}"; {suggest(engine, ENGINES, "use window or reference")}'
        raise InputError(message)
    most = _most(replications, precision, max_replications)
    declare(law or [])
    read = elephan.Scenario.from_file(scenario)
    if changes := parse_assignments(set_, replications=replications, seed=seed):
        read = read.replace(changes)
    check_laws(read.own_laws)
    metrics = _metrics(metric or [], read)
    for name in also or []:
        from elephan.runs.elsewhere import check_recorded  # noqa: PLC0415 (few runs want it)

        check_recorded(read, name)
    # A store keeps no samples that were not asked for, and a precision may ask for many replications.
    is_looked_at = store is None and engine == ENGINES[0] and not precision and is_cheap(read)
    series = out is not None or needs_series(metrics) or is_looked_at
    if strict:
        warn(lint(read), strict=True)
    with ExitStack() as stack:
        kept = None
        if store is not None:
            require("--store", "pyarrow")
            from elephan.store import Store  # noqa: PLC0415 (few runs are kept)

            kept = stack.enter_context(Store(store))
        asked: dict[str, Any] = {"engine": engine, "precision": precision, "max_replications": most}
        key = kept.key(read, **asked) if kept is not None else ""
        # Pictures and files for other tools are made of what a run leaves in memory.
        found = kept.find(key, series=series) if kept is not None and not (plot or also) else None
        with writing(out):
            if found is not None:
                if not quiet:
                    say(f"run {found.id[:12]} is in the store {store}: shown from there")
                written = write_files(out, found.files(metrics), tables) if out is not None else []
                made: RunResult | StoredRun = found
            else:
                # For a long run, the progress of each replication is shown.
                asked["watched"] = announce(read, workers=workers, series=series, force=force, quiet=quiet)
                made = _simulate(read, workers, quiet, asked | {"series": series, "metrics": metric or []})
                if kept is not None:
                    kept.put(made, key=key)
                written = _written(made, out, tables, plot=plot, also=also or [], set_=set_)
            note_changes(out, set_)
        document: dict[str, Any] = {**made.to_json()}
        document |= {"metrics": found.measured(metrics)} if found is not None and metrics else {}
        warnings = made.warnings
    if json:
        print_json(document)
    else:
        title = titled(document["run"]["scenario"], set_)
        print_document(document | {"run": document["run"] | {"scenario": title}}, made.scenario, details=details)
        say_written(written)
    # A document has them.
    warn(warnings if strict or not (json and quiet) else (), strict=strict, quiet=quiet)
    if not document.get("precision", {}).get("met", True):
        from elephan.runs.precision import missed  # noqa: PLC0415 (NumPy is there by now)

        done = document["run"]["replications"]
        say(f"precision not met after {count(done, 'replication')}: {missed(document['precision'])}")
        raise typer.Exit(1)


def _metrics(asked: list[str], read: Scenario) -> tuple[AskedMetric, ...]:
    """Parse ``--metric``; refuse metrics that are not defined for this scenario."""
    from elephan.runs.measures import check_metrics, parse_metrics  # noqa: PLC0415 (--help does without NumPy)

    metrics = parse_metrics(asked)
    check_metrics(metrics, read)
    return metrics


def _simulate(read: Scenario, workers: int | None, quiet: bool, asked: dict[str, Any]) -> RunResult:
    """Run the scenario, with a progress line."""
    done = 0
    with ProgressLine("replications", quiet=quiet) as line:

        def progress(now: int, total: int) -> None:
            nonlocal done
            done = now
            line.update(now, total)

        line.update(0, read.replications + (read.warmup_rule == AUTO))
        try:
            return elephan.run(read, workers=workers, progress=progress, **asked)
        except KeyboardInterrupt:
            message = f"interrupted after {count(done, 'replication')}; nothing is half-written"
            raise Interrupted(message) from None


def _check_folder(out: Path | None, asked: Mapping[str, bool]) -> None:
    """Refuse options that write into a folder without ``--out``."""
    for option, is_asked in asked.items():
        if is_asked and out is None:
            message = f"{option}: where to? Give a folder with --out DIR"
            raise InputError(message)


def _check_formats(names: Sequence[str]) -> None:
    """Refuse a format for other tools that is not known."""
    if not names:
        return
    from elephan.runs.elsewhere import FORMATS  # noqa: PLC0415 (few runs want it)

    for name in names:
        if name not in FORMATS:
            known = f"known: {', '.join(FORMATS)}"
            message = f'--also: there is no format "{name}"; {suggest(name, list(FORMATS), known)}'
            raise InputError(message)


def _written(
    result: RunResult, out: Path | None, tables: str, *, plot: bool, also: Collection[str], set_: list[str] | None
) -> list[Path]:
    """Write the files of ``--out``, ``--also`` and ``--plot``."""
    if out is None:
        return []
    written = result.write(out, tables)
    if also:
        from elephan.runs.elsewhere import FORMATS  # noqa: PLC0415 (few runs want it)

        for name in dict.fromkeys(also):
            written += FORMATS[name](result, out)
    if plot:
        from elephan.plots.run import draw_run  # noqa: PLC0415 (matplotlib is slow to import)

        written += draw_run(result, out, parse_assignments(set_))
    return written


def print_document(document: Mapping[str, Any], scenario: Scenario, *, details: bool = False) -> None:
    """Print the document of a run as tables on stdout.

    Parameters
    ----------
    scenario : Scenario
        The one that was run.
    details : bool
        All of it, not only what fits on a screen.
    """
    facts, links = scenario.groups, scenario.resolved["links"]
    if details:
        print_lines(*whole(document, facts, links=links))
        print_tables(*_transfers(document["groups"]))
    else:
        print_lines(*screen(document, facts, links=links))
    if document.get("metrics"):
        rows = metric_rows(document["metrics"], document["run"]["replications"])
        print_tables(fitted_table(METRIC_HEADS, rows, [True, True, False, True]))
    if details:
        print_lines(*_queues(document))


def _most(replications: int | None, precision: list[str] | None, most: int | None) -> int:
    """Return the maximum number of replications for ``--precision``; refuse contradictory options."""
    from elephan.runs.precision import MOST  # noqa: PLC0415 (--help does without NumPy)

    if most is not None and not precision:
        message = "--max-replications: is for --precision; give that too, or --replications for so many"
        raise InputError(message)
    most = most or MOST
    if replications is not None and precision and replications > most:
        message = f"--replications: {replications} are more than --max-replications, {most}; give fewer, or allow more"
        raise InputError(message)
    return most


def _transfers(groups: Sequence[dict[str, Any]]) -> list[Table | str]:
    """Return the summary of transfers, if there are any that end."""
    some = [(group["name"], group["transfers"]) for group in groups if group["transfers"] is not None]
    if not some:
        return []
    transfers = new_table("transfers", "complete", "open", "time [s]", "95 % [s]", "slowdown")
    for name, each in some:
        cells = (
            shown(each["completed"], digits=5, of="completed"),
            shown(each["open"], digits=3, of="open"),
            shown(each["completion_time_s"], of="completion_time_s"),
        )
        more = (
            shown(each["completion_time_p95_s"], of="completion_time_p95_s"),
            shown(each["slowdown"], digits=3, of="slowdown"),
        )
        transfers.add_row(name, *cells, *more)
        if "pages" in each:
            pages = (
                shown(each["pages"], digits=5, of="pages"),
                "",
                shown(each["page_time_s"], of="page_time_s"),
                shown(each["page_time_p95_s"], of="page_time_p95_s"),
                "",
            )
            transfers.add_row(f"{name}: pages", *pages)
    refused = [f"{name}: {shown(each['refused'])} refused" for name, each in some if each["refused"]["mean"]]
    return [transfers, *refused]


def _queues(document: Mapping[str, Any]) -> list[str]:
    """Describe the non-default settings of each link's queue, and the equivalent for Linux."""
    defaults = {card["name"]: {p["name"]: p["default"] for p in card["parameters"]} for card in catalog("queues")}
    lines = []
    for link in document["links"]:
        discipline = link["queue"]["discipline"]
        values = {key: (as_text(link["queue"][key]), as_text(usual)) for key, usual in defaults[discipline].items()}
        chosen = [f"{key} = {value}" for key, (value, usual) in values.items() if value != usual]
        if chosen:
            # Values that a file gives in other units have as many digits as a double.
            short = re.sub(r"\d+\.\d{5,}", lambda found: f"{float(found[0]):.5g}", ", ".join(chosen))
            lines += wrapped(f"{link['name']}: {discipline} with {short}")
        if link["tc"]:
            lines += command_lines(link["tc"], f"{link['name']}, on Linux: ")
    return lines
