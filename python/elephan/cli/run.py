"""``elephan run``: all replications of one scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import elephan
from elephan.cli import common, options
from elephan.cli.estimate import announce
from elephan.cli.options import option
from elephan.cli.progress import ProgressLine
from elephan.cli.run_events import event_lines, events_of, finite, traced
from elephan.cli.run_screen import screen
from elephan.errors import InputError, suggest
from elephan.extras import require
from elephan.scenario import AUTO
from elephan.units import count

if TYPE_CHECKING:
    from elephan.runs.measures import AskedMetric
    from elephan.runs.result import RunResult
    from elephan.scenario import Scenario
    from elephan.store import StoredRun

ENGINES = ("window", "reference")

EXAMPLE = """Example:  elephan run scenarios/hstcp-1g.toml --set links.0.buffer="0.1 bdp" --out run/ --plot
elephan run scenarios/hstcp-1g.toml --precision goodput=2% --metric loss_synchronization --json"""


def run(
    scenario: options.Scenario,
    set_: options.Set = None,
    law: options.Law = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    precision: Annotated[
        list[str] | None,
        option(
            "--precision [METRIC=]SHARE",
            "More replications until the 95 % half-width is that share of the mean: 1% (utilizations and "
            "goodputs), goodput=2%, utilization\\[core]=1%, and loss, delay or backlog likewise; repeatable.",
        ),
    ] = None,
    max_replications: Annotated[
        int | None, option("--max-replications", "Maximum replications for --precision; 100 by default.", min=2)
    ] = None,
    metric: options.Metric = None,
    workers: options.Workers = None,
    out: options.Out = None,
    tables: options.Tables = options.PARQUET,
    also: Annotated[
        list[str] | None,
        option(
            "--also FORMAT",
            "Also write files for other tools into --out: iperf3 and flent, qlog (flows of record.trace), pcapng for "
            "Wireshark (packets of record.packets); repeatable.",
        ),
    ] = None,
    trace: Annotated[
        str | None,
        option(
            "--trace GROUP[INDEX]",
            "Record this flow (record.trace), and show its losses, recoveries, timeouts, probes and undone "
            "reductions in place of the tables.",
        ),
    ] = None,
    plot: Annotated[
        bool, option("--plot", "Draw cwnd, backlog, srtt, utilization, distributions and packets into --out.")
    ] = False,
    store: options.Keep = None,
    engine: Annotated[str, option("--engine", "window, or reference: a simpler engine, slow.")] = "window",
    strict: options.Strict = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    details: options.Details = False,
    json: options.Json = False,
) -> None:
    """Run all replications of a scenario and summarize them, with 95 % confidence intervals."""
    from elephan.lint import lint  # noqa: PLC0415 (--help does without NumPy)

    common.check_out(out)
    common.check_tables(tables)
    others = list(dict.fromkeys(also or ()))
    most = _check(out, engine, replications, precision, max_replications, plot=plot, also=others)
    read = common.read_scenario(scenario, set_, law, replications=replications, seed=seed)
    read = traced(read, trace)
    metrics = _metrics(metric or [], read, others)
    is_plain = store is None and engine == ENGINES[0] and not precision
    series = out is not None or _wants_series(read, metrics, is_plain=is_plain)
    if strict:
        common.warn(lint(read), strict=True)
    asked: dict[str, Any] = {"workers": workers, "series": series, "engine": engine}
    asked |= {"precision": precision, "max_replications": most}
    simulate = partial(_simulate, force=force, quiet=quiet, metrics=metric or [])
    # Pictures, files for other tools and events need data that a run has in memory and a store does not keep.
    keep = {"again": bool(plot or others or trace), "quiet": quiet}
    made = simulate(read, **asked) if store is None else _kept(store, read, simulate, metrics, **asked, **keep)
    with common.writing(out):
        written = [] if out is None else _written(made, out, tables, plot=plot, also=others, set_=set_)
    document = made.to_json()
    _show(document, made, trace, json=json, details=details, set_=set_)
    if not json:
        common.say_written(written)
    # The JSON document contains the warnings.
    common.warn(made.warnings if strict or not (json and quiet) else (), strict=strict, quiet=quiet)
    _check_precision(document)


def _wants_series(read: Scenario, metrics: Sequence[AskedMetric], *, is_plain: bool) -> bool:
    """Whether a run keeps its series although no file needs them; a plain run does if that is cheap."""
    from elephan.runs.halves import is_cheap  # noqa: PLC0415 (--help does without NumPy)
    from elephan.runs.measures import needs_series  # noqa: PLC0415 (as above)

    # A store keeps no samples that were not asked for, and a precision may ask for many replications.
    return needs_series(metrics) or (is_plain and is_cheap(read))


def _kept(
    store: Path,
    read: Scenario,
    simulate: Callable[..., RunResult],
    metrics: tuple[AskedMetric, ...],
    *,
    quiet: bool,
    **asked: Any,
) -> RunResult | StoredRun:
    """Return a run from a store, or run and keep it, see `Store.run`."""
    require("--store", "pyarrow")
    from elephan.store import Store  # noqa: PLC0415 (few runs are kept)

    results: list[RunResult] = []

    def simulated(read: Scenario, **how: Any) -> RunResult:
        results.append(simulate(read, **how))
        return results[0]

    with Store(store) as kept:
        stored = kept.run(read, simulate=simulated, **asked)
    if results:
        return results[0]
    if not quiet:
        common.say(f"run {stored.id[:12]} is in the store {store}: shown from there")
    return replace(stored, metrics=metrics)


def _check_precision(document: Mapping[str, Any]) -> None:
    """Exit with code 1 if a run has not reached the precision that was requested."""
    from elephan.runs.precision import missed  # noqa: PLC0415 (--help does without NumPy)

    if not document.get("precision", {}).get("met", True):
        done = count(document["run"]["replications"], "replication")
        common.say(f"precision not met after {done}: {missed(document['precision'])}")
        raise typer.Exit(1)


def _metrics(asked: list[str], read: Scenario, also: Sequence[str]) -> tuple[AskedMetric, ...]:
    """Parse ``--metric``; refuse metrics that are not defined for this scenario, and formats that need a record."""
    if not asked and not also:
        return ()
    from elephan.runs.elsewhere import check_recorded  # noqa: PLC0415 (--help does without NumPy)
    from elephan.runs.measures import check_metrics, parse_metrics  # noqa: PLC0415 (as above)

    metrics = parse_metrics(asked)
    check_metrics(metrics, read)
    for name in also:
        check_recorded(read, name)
    return metrics


def _simulate(read: Scenario, *, force: bool, quiet: bool, **asked: Any) -> RunResult:
    """Run the scenario, with a progress line; refuse a run that needs too much memory, and announce a long one."""
    # For a long run, the progress of each replication is shown.
    watched = announce(read, workers=asked["workers"], series=asked["series"], force=force, quiet=quiet)
    done = 0
    with ProgressLine("replications", quiet=quiet) as line:

        def progress(now: int, total: int) -> None:
            nonlocal done
            done = now
            line.update(now, total)

        line.interrupted = lambda: f"interrupted after {count(done, 'replication')}; nothing is half-written"
        line.update(0, read.replications + (read.warmup_rule == AUTO))
        return elephan.run(read, **asked | {"progress": progress, "watched": watched})


def _check(
    out: Path | None,
    engine: str,
    replications: int | None,
    precision: list[str] | None,
    most: int | None,
    *,
    plot: bool,
    also: Sequence[str],
) -> int:
    """Refuse unknown names and contradictory options; return the maximum number of replications for ``--precision``."""
    from elephan.runs.elsewhere import FORMATS  # noqa: PLC0415 (--help does without NumPy)
    from elephan.runs.precision import MOST  # noqa: PLC0415 (as above)

    if plot:
        require("--plot", "matplotlib")
    for name in also:
        if name not in FORMATS:
            known = f"known: {', '.join(FORMATS)}"
            raise InputError(f'--also: there is no format "{name}"; {suggest(name, list(FORMATS), known)}')
    if out is None and (plot or also):
        raise InputError(f"{'--plot' if plot else '--also'}: where to? Give a folder with --out DIR")
    if engine not in ENGINES:
        raise InputError(f'--engine: there is no "{engine}"; {suggest(engine, ENGINES, "use window or reference")}')
    if most is not None and not precision:
        raise InputError("--max-replications: needs --precision; give it, too, or use --replications")
    most = most or MOST
    if replications is not None and precision and replications > most:
        raise InputError(
            f"--replications: {replications} are more than --max-replications, {most}; give fewer, or allow more"
        )
    return most


def _written(
    made: RunResult | StoredRun, out: Path, tables: str, *, plot: bool, also: Sequence[str], set_: list[str] | None
) -> list[Path]:
    """Write the files of ``--out``, ``--also`` and ``--plot``."""
    from elephan.runs.elsewhere import FORMATS  # noqa: PLC0415 (--help does without NumPy)
    from elephan.runs.result import RunResult  # noqa: PLC0415 (as above)

    written = made.write(out, tables)
    if isinstance(made, RunResult):
        written += [path for name in also for path in FORMATS[name](made, out)]
    written += common.draw(made, out, set_) if plot else []
    common.note_changes(out, set_)
    return written


def _show(
    document: Mapping[str, Any],
    made: RunResult | StoredRun,
    trace: str | None,
    *,
    json: bool,
    details: bool,
    set_: list[str] | None,
) -> None:
    """Print the results of a run, or the events of its traced flow."""
    from elephan.runs.result import RunResult  # noqa: PLC0415 (--help does without NumPy)

    events = events_of(made, trace) if trace is not None and isinstance(made, RunResult) else []
    if json:
        common.print_json(document if trace is None else {**document, "events": finite(events)})
    elif trace is not None:
        common.print_lines(*event_lines(events, trace, details=details))
    else:
        title = common.titled(document["run"]["scenario"], set_)
        shown_ = {**document, "run": document["run"] | {"scenario": title}}
        print_document(shown_, made.scenario, details=details)


def print_document(document: Any, scenario: Scenario, *, details: bool = False) -> None:
    """Print the document of a run as tables on stdout.

    Parameters
    ----------
    scenario : Scenario
        The one that was run.
    details : bool
        Print everything, not only what fits on a screen.
    """
    if not details:
        common.print_lines(*screen(document, scenario.groups, links=scenario.resolved["links"]))
        if not document.get("metrics"):
            return
    from elephan.cli.page_screen import page_lines, table_rows  # noqa: PLC0415 (slower to import than a short run)
    from elephan.reports.run import content, metrics_table  # noqa: PLC0415 (as above)

    if details:
        common.print_lines(*page_lines(replace(content(document, scenario), title=document["run"]["scenario"])))
    else:
        common.print_lines(*table_rows(metrics_table(document), main=True))
