"""``elephan size``: the smallest buffer that meets the targets."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli.common import (
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
    new_table,
    print_json,
    print_tables,
    say,
    shown,
    warn,
    writing,
)
from elephan.cli.progress import ProgressLine
from elephan.errors import InputError
from elephan.units import format_bytes, format_rate, format_time, share

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from elephan.size import Answer
    from elephan.size.search import Progress

EXAMPLE = "Example:  elephan size scenarios/hstcp-1g.toml --target utilization=0.95 --target delay=10ms --out sized/"


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
        str | None, typer.Option("--laws", metavar="A,B,C", help="Compare laws of the first group.")
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
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Find the smallest buffer of a link that meets all targets, with the delay and loss it costs."""
    import elephan  # noqa: PLC0415 (--help does without NumPy)
    from elephan.scenario import parse_assignment  # noqa: PLC0415
    from elephan.size import compare_laws  # noqa: PLC0415
    from elephan.size.targets import parse_targets  # noqa: PLC0415

    begun = time.perf_counter()
    check_out(out)
    if not target:
        message = "--target: none given; write for example --target utilization=0.95 or --target loss=0.1%,delay=10ms"
        raise InputError(message)
    parse_targets(target)
    names = [name.strip() for name in laws.split(",") if name.strip()] if laws is not None else []
    if model_only and whole_curve:
        message = "--whole-curve: is measured by simulation, which --model-only leaves out; give one of them"
        raise InputError(message)
    if laws is not None and not names:
        message = "--laws: none given; write for example --laws reno,highspeed"
        raise InputError(message)
    read = elephan.Scenario.from_file(scenario)
    if set_:
        read = read.override(dict(parse_assignment(text) for text in set_))

    with ProgressLine("sizing", quiet=quiet) as line:
        watch = _Watch(line)
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
            answers = compare_laws(read, names, make) if names else {"": make(read)}
            with writing(out):
                written = [path for law, answer in answers.items() for path in _write(answer, out, law)]
        except KeyboardInterrupt:
            raise Interrupted(watch.summary()) from None
    met = all(answer.is_met for answer in answers.values())
    documents = {law: answer.to_json() for law, answer in answers.items()}
    if json:
        rows = [{"law": law, **document} for law, document in documents.items()]
        print_json({"laws": rows, "wall_s": time.perf_counter() - begun} if names else documents[""])
    else:
        print_tables(*(_comparison(answers) if names else _tables(answers[""])))
        for path in written:
            say(f"wrote {path}")
    warn((warned for answer in answers.values() for warned in answer.warnings), strict=strict, quiet=quiet)
    for law, answer in answers.items():
        if answer.note:
            say(f"{'note' if answer.is_met else 'target not met'}{f' under {law}' if law else ''}: {answer.note}")
    raise typer.Exit(0 if met else 1)


class _Watch:
    """Hands progress to the display and remembers it for the case of Ctrl-C."""

    def __init__(self, line: ProgressLine) -> None:
        self.line = line
        self.last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        self.line.update(progress.done, progress.expected, _bracket(progress))

    def summary(self) -> str:
        if self.last is None:
            return "interrupted before the first run was done; nothing was written"
        known = _bracket(self.last) or "no bracket yet"
        return (
            f"interrupted: {self.last.done} of about {self.last.expected} runs done, {self.last.points} buffers "
            f"measured, {known}; nothing is half-written"
        )


def _bracket(progress: Progress) -> str:
    if progress.below is not None and progress.above is not None:
        return f"{progress.below} to {progress.above} packets"
    if progress.above is not None:
        return f"at most {progress.above} packets"
    return f"more than {progress.below} packets" if progress.below is not None else ""


def _write(answer: Answer, out: Path | None, law: str) -> list[Path]:
    if out is None:
        return []
    from elephan.plots.size import draw_size  # noqa: PLC0415 (matplotlib is slow to import)

    folder = out / law if law else out
    return [*answer.write(folder), *draw_size(answer, folder)]


def _interval(document: dict[str, Any]) -> str:
    bounds = document["buffer_interval_packets"]
    if bounds is None:
        return "no interval from one replication" if document["simulated"]["runs"] else "by a model, not simulated"
    low, high = bounds
    return f"95 %: {low} to {high}" if high is not None else f"95 %: {low} or more"


def _tables(answer: Answer) -> list[Table | str]:
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
        table = new_table("smallest buffer", f"{buffer} packets ({_interval(document)})")
        table.add_row("in bytes", format_bytes(document["buffer_bytes"]))
        table.add_row("in BDP", f"{document['buffer_bdp']:.3g}")
        table.add_row("utilization", shown(document["utilization"]))
        table.add_row("loss [%]", shown(document["loss_ratio"], 100, 3))
        table.add_row("queueing delay [ms]", shown(document["queueing_delay_s"], 1e3, 3))
        if document["tc"]:
            table.add_row("Linux", document["tc"])
        parts.append(table)
    parts += [_rules(answer, document), "\n".join(_broken(document)), *_models(answer, document)]
    if not answer.is_simulated:
        return [*parts, f"nothing simulated, {document['wall_s']:.1f} s"]
    ran = f"{len(document['curve'])} buffers, {answer.runs} runs, {answer.packets_simulated / 1e6:.0f} million packets"
    return [*parts, f"{ran}, {document['wall_s']:.1f} s"]


def _rules(answer: Answer, document: dict[str, Any]) -> Table:
    """What rules of thumb would have said; ~ marks what is not measured but said by the trusted model."""
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


def _broken(document: dict[str, Any]) -> list[str]:
    """What the rules take for granted and does not hold here; rules that take the same share a line."""
    shared: dict[str, list[str]] = {}
    for name, lines in document["rules_broken"].items():
        for line in lines:
            shared.setdefault(line, []).append(name.replace("_", " "))
    return [f"{', '.join(names)}: {line}" for line, names in shared.items()]


def _known(answer: Answer, packets: float, metric: str, scale: float = 1.0) -> str:
    if (measured := answer.curve.interpolate(packets, metric)) is not None:
        return f"{measured * scale:.3g}"
    said = answer.models[answer.trusted].at(packets, metric) if answer.trusted else None
    return "-" if said is None else f"~{said * scale:.3g}"


def _models(answer: Answer, document: dict[str, Any]) -> list[Table | str]:
    """What each model says, how far it was off, and what it takes for granted that does not hold here."""
    table = new_table("model", "packets", "of the answer", "utilization", "off [points]", "delay [ms]")
    for name, row in document["models"].items():
        if row["silent"]:
            continue
        points = row["off"]["utilization_points"]
        table.add_row(
            f"{name} *" if name == answer.trusted else name,
            "-" if row["buffer_packets"] is None else str(row["buffer_packets"]),
            _times(row["buffer_packets"], answer.buffer_packets),
            _about(row["utilization"]),
            "-" if points is None else f"{points:+.1f}",
            _about(row["queueing_delay_s"], 1e3),
        )
    if not table.row_count:
        return []
    where = "at the answer" if answer.buffer_packets is not None else "nowhere, for there is no answer"
    star = "the search began there" if answer.is_simulated else "the answer is its own"
    notes = [f"utilization, off and delay {where}; *: {star}; ~: by that model, not measured"]
    for name, row in document["models"].items():
        notes += [f"{name}: {line}" for line in ([f"silent: {row['silent']}"] if row["silent"] else row["doubts"])]
    return [table, "\n".join(notes)]


def _times(packets: float | None, buffer: int | None) -> str:
    return f"{packets / buffer:.2g} x" if packets is not None and buffer else "-"


def _flows(link: dict[str, Any]) -> str:
    """Say how many flows the buffer is sized for, and how many datagram flows there are beside them."""
    beside = link["background_flows"]
    return f"{link['flows']} flows" + (f" (and {beside} of datagrams)" if beside else "")


def _about(x: float | None, scale: float = 1.0) -> str:
    return "-" if x is None else f"{x * scale:.3g}"


def _comparison(answers: dict[str, Answer]) -> list[Table | str]:
    first = next(iter(answers.values()))
    table = new_table("law", "buffer", "95 %", "BDP", "utilization", "loss [%]", "delay [ms]")
    for law, answer in answers.items():
        document = answer.to_json()
        if answer.buffer_packets is None:
            table.add_row(law, "not met", *[""] * 5)
            continue
        table.add_row(
            law,
            str(answer.buffer_packets),
            _interval(document).removeprefix("95 %: "),
            f"{document['buffer_bdp']:.3g}",
            shown(document["utilization"]),
            shown({**document["loss_ratio"], "ci95": None}, 100, 3),
            shown({**document["queueing_delay_s"], "ci95": None}, 1e3, 3),
        )
    wanted = ", ".join(str(target) for target in first.targets)
    return [f"{first.scenario.title}\nlink {first.facts['name']}; wanted: {wanted}", table]
