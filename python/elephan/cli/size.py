"""``elephan size``: the smallest buffer that meets the targets, for one scenario or for laws and queues compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import elephan
from elephan.assignments import parse_assignments
from elephan.cli import common, options
from elephan.cli.comparison import comparison_notes, comparison_screen, comparison_tables, read_names, write_comparison
from elephan.cli.estimate import announce_search
from elephan.cli.options import option
from elephan.cli.progress import ProgressLine
from elephan.cli.size_details import details_of
from elephan.cli.size_limit import limit_screen
from elephan.cli.size_screen import size_screen
from elephan.cli.worst_screen import search_worst, worst_screen
from elephan.costs.check import check_memory
from elephan.errors import InputError
from elephan.own_laws import declare, here
from elephan.sizing import SizeAnswer, SizeComparison
from elephan.sizing.inverse import LimitAnswer
from elephan.sizing.search import SearchProgress
from elephan.units import count, share

if TYPE_CHECKING:
    from elephan.worst import WorstSizing

    Found = SizeAnswer | SizeComparison | LimitAnswer

EXAMPLE = """Example:  elephan size scenarios/hstcp-1g.toml --target utilization=0.95 --target delay=10ms --out sized/
elephan size scenarios/hstcp-1g.toml --target utilization=0.95 --laws reno,highspeed,cubic --model-only"""


def size(
    scenario: options.Scenario,
    target: Annotated[
        list[str] | None,
        option(
            "--target NAME=VALUE",
            "utilization=0.95, loss=0.1%, delay=10ms (mean), delay_p95=20ms, fairness=0.9; of pings "
            "rtt_p95\\[GROUP]=50ms, of cbr delay_p95\\[GROUP]=20ms; repeatable.",
        ),
    ] = None,
    link: Annotated[str | None, option("--link", "Link to size; the first that carries data.")] = None,
    precision: Annotated[str, option("--precision", "How finely, as a share of the buffer.")] = "5%",
    laws: Annotated[str | None, option("--laws A,B,C", "Compare laws of the first group of TCP flows.")] = None,
    queues: Annotated[str | None, option("--queues X,Y", "Compare disciplines of the link, under each law.")] = None,
    model_only: Annotated[
        bool, option("--model-only", "Simulate nothing: what the analytic models say, at once.")
    ] = False,
    whole_curve: Annotated[
        bool, option("--whole-curve", "Measure buffers over the whole range, not only near the answer.")
    ] = False,
    find: Annotated[
        str | None,
        option(
            "--find rtt|rate|flows|red|pool|alpha",
            "Not the buffer but what the file's buffer is enough for: the longest path, the fastest link, the "
            "fewest flows; or RED's thresholds, the size of the link's pool, its alpha.",
        ),
    ] = None,
    pacing: Annotated[
        str | None,
        option(
            "--pacing none|linux|quic|both",
            "How all TCP senders space their segments; both: beside the answer that for paced ones.",
        ),
    ] = None,
    worst_case: Annotated[
        bool, option("--worst-case", "The buffer that survives the worst case found within ranges.")
    ] = False,
    range_: options.Range = None,
    runs: options.Runs = None,
    set_: options.Set = None,
    law: options.Law = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    workers: options.Workers = None,
    out: options.Out = None,
    tables: options.Tables = options.PARQUET,
    details: options.Details = False,
    strict: options.Strict = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Find the smallest buffer of a link that meets all targets, with the delay and loss it costs.

    With --laws or --queues: for each of them, with a recommendation and its reason. With --find: what the file's own
    buffer is enough for. With --worst-case: the smallest that survives what a search finds within --range (by default
    RTTs within a factor of 1.25, starts, the seed); no proof.
    Exit code 0 if the targets are met (of a comparison: by what is recommended), 1 if not.
    """
    from elephan.sizing import size_variants  # noqa: PLC0415 (--help does without NumPy)
    from elephan.sizing.inverse import size_limit  # noqa: PLC0415 (as above)
    from elephan.sizing.pacing import BOTH, check_pacing, with_pacing  # noqa: PLC0415 (as above)

    common.check_out(out)
    common.check_tables(tables)
    check_pacing(pacing)
    names = read_names("--laws", laws, "reno,highspeed"), read_names("--queues", queues, "drop-tail,fq")
    flags = {"model_only": model_only, "whole_curve": whole_curve, "worst_case": worst_case}
    target = _check(target, find, pacing, {"--range": range_, "--runs": runs}, compared=any(names), **flags)
    declare(law or [])
    counts = {"replications": replications, "seed": seed}
    # The file is changed once; the answers of a comparison get the counts, and its scenario stays that of the file.
    read = elephan.Scenario.from_file(scenario).replace(parse_assignments(set_, **({} if any(names) else counts)))
    _check_own_laws(read, names[0])
    if pacing is not None and pacing != BOTH:
        read = with_pacing(read, pacing)
    chosen: dict[str, Any] = {
        "link": link,
        "precision": common.option_value("--precision", share, precision),
        "workers": workers,
    }
    if worst_case:
        check_memory(read, workers=workers, force=force)
        shown: dict[str, Any] = {"out": out, "quiet": quiet, "json": json, "details": details}
        worst = _size_worst(read, target, common.titled(read.title, set_), range_ or [], runs, chosen, **shown)
        common.warn(worst.nominal.warnings, strict=strict, quiet=quiet)
        raise typer.Exit(0 if worst.is_met else 1)
    if not model_only:
        check_memory(read, workers=workers, force=force)
        if not quiet:
            searched = read.replace(replications=replications if any(names) else None)
            announce_search(searched, workers=workers, variants=max(len(names[0]), 1) * max(len(names[1]), 1))
    with ProgressLine("sizing", quiet=quiet) as line:
        watch = _SizeProgressDisplay(line)
        search: dict[str, Any] = {**chosen, "progress": watch} | (counts if any(names) else {})
        sizing = {"target": target, **search, "whole_curve": whole_curve, "model_only": model_only}
        sizing |= {"pacing": BOTH} if pacing == BOTH else {}
        if find is not None:
            watch.counts_packets = False
            found: Found = size_limit(read, target or (), find, **search)
        elif any(names):
            found = size_variants(read, *names, partial(elephan.size, **sizing), link=link, begin=watch.begin)
        else:
            found = elephan.size(read, **sizing)
        with common.writing(out):
            written = [] if out is None else _write(found, out, tables, set_)
            common.note_changes(out, set_)
    if json:
        common.print_json(found.to_json())
    else:
        _show(found, common.titled(found.scenario.title, set_), details=details)
        common.say_written(written)
    # The screen says how many there are.
    common.warn(found.warnings if strict or details or (json and not quiet) else (), strict=strict, quiet=quiet)
    if json or details:
        for note in _notes(found):
            common.say(note)
    raise typer.Exit(0 if found.is_met else 1)


def _check(
    target: list[str] | None, find: str | None, pacing: str | None, given: dict[str, object], **asked: bool
) -> list[str]:
    """Refuse contradictory options; return the targets.

    Parameters
    ----------
    given : dict
        Values of the options that are for ``--worst-case`` alone.
    **asked : bool
        Whether variants are compared, and the flags.
    """
    from elephan.sizing.pacing import BOTH  # noqa: PLC0415 (--help does without NumPy)
    from elephan.sizing.targets import parse_targets  # noqa: PLC0415 (as above)

    compared, model_only, whole_curve = asked["compared"], asked["model_only"], asked["whole_curve"]
    if not target:
        raise InputError(
            "--target: none given; write for example --target utilization=0.95 or --target loss=0.1%,delay=10ms"
        )
    if model_only and whole_curve:
        raise InputError("--whole-curve: is measured by simulation, which --model-only leaves out; give one of them")
    if find is not None and (compared or model_only or whole_curve):
        raise InputError(
            "--find: goes without --laws, --queues, --model-only and --whole-curve; ask one thing at a time"
        )
    parse_targets(target)
    if pacing == BOTH and (find is not None or compared):
        raise InputError("--pacing: both goes without --find, --laws and --queues; give none, linux or quic there")
    if asked["worst_case"] and (find is not None or compared or model_only or whole_curve or pacing == BOTH):
        raise InputError(
            "--worst-case: goes without --laws, --queues, --find, --model-only, --whole-curve and --pacing both; "
            "ask one thing at a time"
        )
    lonely = next((option for option, value in given.items() if value is not None), None)
    if not asked["worst_case"] and lonely is not None:
        raise InputError(f"{lonely}: is for --worst-case; give that too")
    return target


def _size_worst(
    read: elephan.Scenario,
    target: list[str],
    title: str,
    ranges: list[str],
    runs: int | None,
    chosen: dict[str, Any],
    *,
    out: Path | None,
    quiet: bool,
    json: bool,
    details: bool,
) -> WorstSizing:
    """Search for the buffer that survives the worst case, print and write it."""
    from elephan.worst.sizing import RUNS, size_worst  # noqa: PLC0415 (--help does without NumPy)

    look = partial(size_worst, read, target, ranges, runs=runs or RUNS, **chosen)
    found, written = search_worst(
        "the file as it is", lambda watch: look(progress=watch, begin=watch.begin), out, quiet=quiet
    )
    if json:
        common.print_json(found.to_json())
    else:
        common.print_lines(*worst_screen(found, title, out, details=details))
    common.say_written(written)
    return found


def _check_own_laws(read: elephan.Scenario, controls: Sequence[str]) -> None:
    """Refuse a law of --laws that is unknown, and then one of --law that nothing uses."""
    group = next((each.index for each in read.network.groups if each.is_tcp), 0)
    for name in controls if here() else ():
        read.replace({f"flows[{group}].control": name})
    common.check_laws(read.own_laws, controls)


def _show(found: Found, title: str, *, details: bool) -> None:
    """Print an answer below its title: on one screen, or completely."""
    from elephan.sizing import SizeComparison  # noqa: PLC0415 (--help does without NumPy)
    from elephan.sizing.inverse import LimitAnswer  # noqa: PLC0415 (as above)

    if isinstance(found, LimitAnswer):
        common.print_lines(*limit_screen(found, title, details=details))
    elif isinstance(found, SizeComparison):
        if details:
            common.print_tables(*comparison_tables(found, title))
        else:
            common.print_lines(*comparison_screen(found, title))
    elif details:
        common.print_tables(*details_of(found, title))
    else:
        common.print_lines(*size_screen(found, title))


class _SizeProgressDisplay:
    """Passes progress to the display, and keeps it for messages after Ctrl-C."""

    def __init__(self, line: ProgressLine) -> None:
        self.line = line
        line.interrupted = self.summary
        self.last: SearchProgress | None = None
        self.variant = ""
        self.counts_packets = True

    def begin(self, number: int, of: int, label: str) -> None:
        """Announce the next variant of a comparison."""
        self.last, self.variant = None, f"{label} ({number} of {of})"
        self.line.begin(f"sizing {self.variant}")

    def __call__(self, progress: SearchProgress) -> None:
        self.last = progress
        self.line.update(progress.done, progress.expected, self._bracket(progress))

    def _bracket(self, progress: SearchProgress) -> str:
        return _bracket(progress) if self.counts_packets else ""

    def summary(self) -> str:
        where = f" at {self.variant}" if self.variant else ""
        if self.last is None:
            return f"interrupted{where} before the first run was done; nothing was written"
        known = self._bracket(self.last) or "no bracket yet"
        return (
            f"interrupted{where}: {self.last.done} of about {count(self.last.expected, 'run')} done, "
            f"{count(self.last.points, 'buffer')} measured, {known}; nothing is half-written"
        )


def _bracket(progress: SearchProgress) -> str:
    if progress.below is not None and progress.above is not None:
        return f"{progress.below} to {count(progress.above, 'packet')}"
    if progress.above is not None:
        return f"at most {count(progress.above, 'packet')}"
    return f"more than {count(progress.below, 'packet')}" if progress.below is not None else ""


def _notes(found: Found) -> list[str]:
    """Return the notes on an answer, for stderr."""
    from elephan.sizing import SizeComparison  # noqa: PLC0415 (--help does without NumPy)

    if isinstance(found, SizeComparison):
        return comparison_notes(found)
    return [f"{'note' if found.is_met else 'target not met'}: {found.note}"] if found.note else []


def _write(found: Found, out: Path, tables: str, set_: list[str] | None) -> list[Path]:
    from elephan.sizing import SizeAnswer, SizeComparison  # noqa: PLC0415 (--help does without NumPy)

    if isinstance(found, SizeComparison):
        return write_comparison(found, out, tables, parse_assignments(set_))
    written = found.write(out, tables)
    if isinstance(found, SizeAnswer) and common.can_draw():
        from elephan.plots import draw  # noqa: PLC0415 (matplotlib is slow to import)

        written += draw(found, out, parse_assignments(set_))
    return written
