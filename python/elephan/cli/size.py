"""``elephan size``: the smallest buffer that meets the targets, for one scenario or for laws and queues compared."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

import elephan
from elephan.cli.common import (
    ForceOption,
    Interrupted,
    JsonOption,
    OutOption,
    QuietOption,
    ReplicationsOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    StrictOption,
    WorkersOption,
    check_out,
    fitted_table,
    new_table,
    print_json,
    print_tables,
    say,
    shown,
    warn,
    writing,
)
from elephan.cli.comparison import comparison_notes, comparison_tables, read_names, write_comparison
from elephan.cli.progress import ProgressLine
from elephan.errors import InputError
from elephan.estimate.check import check_memory
from elephan.scenario import parse_assignments
from elephan.units import format_bytes, format_rate, format_time, share

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from elephan.size import SizeAnswer
    from elephan.size.search import SearchProgress

EXAMPLE = """Example:  elephan size scenarios/hstcp-1g.toml --target utilization=0.95 --target delay=10ms --out sized/
elephan size scenarios/hstcp-1g.toml --target utilization=0.95 --laws reno,highspeed,cubic --model-only"""


def size(
    scenario: ScenarioArgument,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", metavar="NAME=VALUE", help="utilization=0.95, loss=0.1%, delay=10ms, fairness=0.9; repeatable."
        ),
    ] = None,
    link: Annotated[str | None, typer.Option("--link", help="Link to size; the first that carries data.")] = None,
    precision: Annotated[str, typer.Option("--precision", help="How finely, as a share of the buffer.")] = "5%",
    laws: Annotated[
        str | None, typer.Option("--laws", metavar="A,B,C", help="Compare laws of the first group of TCP flows.")
    ] = None,
    queues: Annotated[
        str | None, typer.Option("--queues", metavar="X,Y", help="Compare disciplines of the link, under each law.")
    ] = None,
    model_only: Annotated[
        bool, typer.Option("--model-only", help="Simulate nothing: what the analytic models say, at once.")
    ] = False,
    whole_curve: Annotated[
        bool, typer.Option("--whole-curve", help="Measure buffers over the whole range, not only near the answer.")
    ] = False,
    set_: SetOption = None,
    seed: SeedOption = None,
    replications: ReplicationsOption = None,
    workers: WorkersOption = None,
    out: OutOption = None,
    strict: StrictOption = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Find the smallest buffer of a link that meets all targets, with the delay and loss it costs.

    With --laws or --queues: for each of them, with a recommendation and its reason.
    Exit code 0 if the targets are met (of a comparison: by what is recommended), 1 if not.
    """
    from elephan.size import SizeComparison, compare  # noqa: PLC0415 (--help does without NumPy)
    from elephan.size.targets import parse_targets  # noqa: PLC0415 (as above)

    check_out(out)
    if not target:
        message = "--target: none given; write for example --target utilization=0.95 or --target loss=0.1%,delay=10ms"
        raise InputError(message)
    parse_targets(target)
    names = read_names("--laws", laws, "reno,highspeed"), read_names("--queues", queues, "drop-tail,fq")
    if model_only and whole_curve:
        message = "--whole-curve: is measured by simulation, which --model-only leaves out; give one of them"
        raise InputError(message)
    read = elephan.Scenario.from_file(scenario)
    if set_:
        read = read.replace(parse_assignments(set_))
    if not model_only:
        check_memory(read, workers=workers, force=force)

    with ProgressLine("sizing", quiet=quiet) as line:
        watch = _SizeProgressDisplay(line)
        make = partial(
            elephan.size,
            target=target,
            link=link,
            precision=share(precision),
            replications=replications,
            seed=seed,
            workers=workers,
            progress=watch,
            whole_curve=whole_curve,
            model_only=model_only,
        )
        try:
            found = compare(read, *names, make, link=link, begin=watch.begin) if any(names) else make(read)
            with writing(out):
                written = write_comparison(found, out) if isinstance(found, SizeComparison) else _write(found, out)
        except KeyboardInterrupt:
            raise Interrupted(watch.summary()) from None
    if json:
        print_json(found.to_json())
    else:
        print_tables(*(comparison_tables(found) if isinstance(found, SizeComparison) else _tables(found)))
        for path in written:
            say(f"wrote {path}")
    warn(found.warnings, strict=strict, quiet=quiet)
    for note in comparison_notes(found) if isinstance(found, SizeComparison) else _notes(found):
        say(note)
    raise typer.Exit(0 if found.is_met else 1)


class _SizeProgressDisplay:
    """Hands progress to the display and remembers it for the case of Ctrl-C."""

    def __init__(self, line: ProgressLine) -> None:
        self.line = line
        self.last: SearchProgress | None = None
        self.variant = ""

    def begin(self, number: int, of: int, label: str) -> None:
        """Name the variant of a comparison that comes next."""
        self.last, self.variant = None, f"{label} ({number} of {of})"
        self.line.begin(f"sizing {self.variant}")

    def __call__(self, progress: SearchProgress) -> None:
        self.last = progress
        self.line.update(progress.done, progress.expected, _bracket(progress))

    def summary(self) -> str:
        where = f" at {self.variant}" if self.variant else ""
        if self.last is None:
            return f"interrupted{where} before the first run was done; nothing was written"
        known = _bracket(self.last) or "no bracket yet"
        return (
            f"interrupted{where}: {self.last.done} of about {self.last.expected} runs done, {self.last.points} buffers "
            f"measured, {known}; nothing is half-written"
        )


def _bracket(progress: SearchProgress) -> str:
    if progress.below is not None and progress.above is not None:
        return f"{progress.below} to {progress.above} packets"
    if progress.above is not None:
        return f"at most {progress.above} packets"
    return f"more than {progress.below} packets" if progress.below is not None else ""


def _notes(answer: SizeAnswer) -> list[str]:
    return [f"{'note' if answer.is_met else 'target not met'}: {answer.note}"] if answer.note else []


def _write(answer: SizeAnswer, out: Path | None) -> list[Path]:
    if out is None:
        return []
    from elephan.plots.size import draw_size  # noqa: PLC0415 (matplotlib is slow to import)

    return [*answer.write(out), *draw_size(answer, out)]


def _interval(document: dict[str, Any]) -> str:
    bounds = document["buffer_interval_packets"]
    if bounds is None:
        if not document["simulated"]["runs"]:
            return "by a model, not simulated"
        return "no interval from one replication" if document["replications"] == 1 else "no target bounds it from below"
    low, high = bounds
    return f"95 %: {low} to {high}" if high is not None else f"95 %: {low} or more"


def _tables(answer: SizeAnswer) -> list[Table | str]:
    document, link = answer.to_json(), answer.facts
    wanted = ", ".join(str(target) for target in answer.targets)
    head = (
        f"{answer.scenario.title}\nLink {link['name']}: {format_rate(link['rate_bps'])}, mean base RTT "
        f"{format_time(link['mean_rtt_s'])}, {_flows(link)}, BDP {link['bdp_packets']:.0f} packets\n"
        f"Wanted: {wanted}"
    )
    parts: list[Table | str] = [head]
    buffer = answer.buffer_packets
    if buffer is not None:
        table = new_table("smallest buffer", f"{_count(buffer, 'packet')} ({_interval(document)})")
        table.add_row("in bytes", format_bytes(document["buffer_bytes"]))
        table.add_row("in BDP", f"{document['buffer_bdp']:.3g}")
        table.add_row("utilization", shown(document["utilization"]))
        table.add_row("loss [%]", shown(document["loss_ratio"], 100, 3))
        table.add_row("queueing delay [ms]", shown(document["queueing_delay_s"], 1e3, 3))
        if document["tc"]:
            table.add_row("Linux", document["tc"])
        parts.append(table)
    parts += [_rules(answer, document), "\n".join(_shared(document["rules_broken"])), *_models(answer, document)]
    if not answer.is_simulated:
        return [*parts, f"nothing simulated, {document['wall_s']:.1f} s"]
    ran = f"{len(document['curve'])} buffers, {answer.runs} runs, {answer.packets_simulated / 1e6:.0f} million packets"
    return [*parts, f"{ran}, {document['wall_s']:.1f} s"]


def _rules(answer: SizeAnswer, document: dict[str, Any]) -> Table:
    """Buffers by rules of thumb; ~ marks what is by the trusted model, where it holds, and not measured."""
    table = new_table("rule of thumb", "packets", "of the answer", "utilization", "delay [ms]")
    for name, packets in document["rules"].items():
        table.add_row(
            name.replace("_", " "),
            f"{packets:.0f}",
            _times(packets, answer.buffer_packets),
            _known(answer, packets, "utilization"),
            _known(answer, packets, "queueing_delay_s", 1e3),
        )
    return table


def _shared(lines: dict[str, list[str]]) -> list[str]:
    """Assumptions of rules or models that are violated here; those that share an assumption share a line."""
    names: dict[str, list[str]] = {}
    for name, own in lines.items():
        for line in own:
            names.setdefault(line, []).append(name.replace("_", " "))
    return [f"{', '.join(found)}: {line}" for line, found in names.items()]


def _known(answer: SizeAnswer, packets: float, metric: str, scale: float = 1.0) -> str:
    if (measured := answer.curve.interpolate(packets, metric)) is not None:
        return f"{measured * scale:.3g}"
    if answer.trusted is None or not answer.models[answer.trusted].holds(packets):
        return "-"
    predicted = answer.models[answer.trusted].at(packets, metric)
    return "-" if predicted is None else f"~{predicted * scale:.3g}"


def _models(answer: SizeAnswer, document: dict[str, Any]) -> list[Table | str]:
    """What each model predicts, how far it was off, and which of its assumptions are violated here."""
    rows = []
    for name, row in document["models"].items():
        if row["silent"]:
            continue
        points = row["off"]["utilization_points"]
        rows.append(
            [
                f"{name} *" if name == answer.trusted else name,
                "-" if row["buffer_packets"] is None else str(row["buffer_packets"]),
                _times(row["buffer_packets"], answer.buffer_packets),
                _about(row["utilization"]),
                "-" if points is None else f"{points:+.1f}",
                _near(row["near"]),
                _about(row["queueing_delay_s"], 1e3),
            ]
        )
    if not rows:
        return []
    heads = ["model", "packets", "of the answer", "utilization", "off", "nearby", "delay [ms]"]
    where = "at the answer" if answer.buffer_packets is not None else "nowhere, for there is no answer"
    star = "the search began there" if answer.is_simulated else "the answer is its own"
    notes = [
        f"*: {star}; ~: by that model, not measured; utilization, off (points of utilization) and delay {where}; "
        "nearby: largest error in the survey's runs nearest to the model's own buffer"
    ]
    if answer.trusted is not None:
        notes.append(f"{answer.trusted}: {document['models'][answer.trusted]['near']['sentence']}")
    notes += _shared({name: row["doubts"] for name, row in document["models"].items()})
    if others := [name for name, row in document["models"].items() if row["silent"]]:
        notes.append(f"not applicable: {', '.join(others)} (--json says why)")
    return [fitted_table(heads, rows, [True] + [False] * 6), "\n".join(notes)]


def _near(near: dict[str, Any]) -> str:
    """The level that a model keeps in the runs nearest to a link."""
    if not near["cells"]:
        return "?"
    return f"< {near['within_points']}" if near["within_points"] is not None else "> 10"


def _times(packets: float | None, buffer: int | None) -> str:
    return f"{packets / buffer:.2g} x" if packets is not None and buffer else "-"


def _flows(link: dict[str, Any]) -> str:
    """Say how many flows the buffer is sized for, and how many there are beside them: datagrams, short transfers."""
    beside = link["background_flows"]
    return _count(link["flows"], "flow") + (f" (and {beside} of other traffic)" if beside else "")


def _count(number: int, of: str) -> str:
    return f"{number} {of}" if number == 1 else f"{number} {of}s"


def _about(x: float | None, scale: float = 1.0) -> str:
    return "-" if x is None else f"{x * scale:.3g}"
