"""``elephan infer``: rate, base RTT, buffer and discipline of a path, from what its sender measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from elephan.assignments import parse_assignments
from elephan.cli import options
from elephan.cli.columns import LINES
from elephan.cli.common import option_value, print_json, print_wrapped, say, sentence_lines, write_new
from elephan.cli.options import argument, option
from elephan.errors import InputError, unknown
from elephan.measurements import read
from elephan.units import bits_per_second, format_number, format_packets, format_rate, format_time, scaled, seconds

if TYPE_CHECKING:
    from elephan.inference import Answer, Interval, Nearby, Observation

EXAMPLE = """Example:  elephan infer iperf.json --out path.toml
elephan infer iperf.json --simulate --what-if queue=fq-codel"""

BESIDE = ("none", "some")


def infer(
    files: Annotated[
        list[Path], argument("FILE...", "iperf3 --json, ss -tin, flent, pcap, TCP_INFO or .csv, of one path.")
    ],
    rate: Annotated[str | None, option("--rate RATE", "Rate of the path, if known.")] = None,
    rtt: Annotated[
        str | None, option("--rtt TIME", "Base RTT of the path, for example from a ping before the test.")
    ] = None,
    beside: Annotated[str | None, option("--beside none|some", "State whether there was other traffic.")] = None,
    control: Annotated[
        str | None, option("--control LAW", "Congestion control of the sender: cubic, reno, bbr.")
    ] = None,
    every: Annotated[str | None, option("--every TIME", "Time between samples of an ss log without times.")] = None,
    simulate: Annotated[
        bool, option("--simulate", "Simulate paths near the answer, for about 10 s: intervals from similar paths.")
    ] = False,
    what_if: Annotated[
        list[str] | None,
        option(
            "--what-if KEY=VALUE",
            "Simulate the path as it is and with a change: queue=fq-codel, law=bbr, buffer='20 ms', rate, or any "
            "place of a scenario, such as flows.0.count=2; repeatable.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, option("--plot FILE", "Picture of the measurement and the simulation (.svg, .png).")
    ] = None,
    out: Annotated[Path | None, option("--out FILE", "Write a scenario with the medians of the answer.")] = None,
    force: options.ReplaceFiles = False,
    quiet: options.Quiet = False,
    details: options.Details = False,
    json: options.Json = False,
) -> None:
    """Infer a path's rate, base RTT, buffer and queue from a measurement of its sender, with 90 % intervals."""
    from elephan import inference  # noqa: PLC0415 (NumPy and the engine; --help does without)

    known = _known(rate, rtt, beside, control)
    if plot is not None and not simulate:
        raise InputError("--plot: shows simulated beside measured; give --simulate too")
    every_s = None if every is None else option_value("--every", seconds, every)
    answer = inference.infer([read(file, every_s=every_s) for file in files], known)
    if isinstance(answer, inference.Observation):
        if json:
            measured = [answer.measurement.to_json()]
            print_json({"files": measured, "law": answer.law, "bound_s": answer.bound_s, "why": answer.why})
        else:
            print_wrapped(*_bound_lines(answer))
        return
    if simulate:
        answer = replace(answer, nearby=inference.search(answer.region))
        if answer.nearby is not None and answer.nearby.is_unlike and out is not None:
            raise InputError(f"--out: {_unlike(answer.nearby)}, so that there is no scenario of it")
    if out is not None:
        write_new(out, answer.scenario(), force=force)
    changed = inference.what_if(answer, [_change(text) for text in what_if]) if what_if else None
    if plot is not None and answer.nearby is not None:
        _draw(answer, plot)
    if json:
        print_json(answer.to_json() | ({} if changed is None else {"what_if": changed}))
        return
    if changed is None:
        print_wrapped(*lines(answer))
    elif details:
        print_wrapped(*_change_lines(changed), *lines(answer))
    else:
        print_wrapped(*_briefly(_change_lines(changed), lines(answer)))
    if out is not None and not quiet:
        say(f"{out} is written; next: elephan size {out} --target utilization=0.95")


def _known(rate: str | None, rtt: str | None, beside: str | None, control: str | None):  # type: ignore[no-untyped-def]
    from elephan.inference import Known  # noqa: PLC0415 (as above)

    if beside is not None and beside not in BESIDE:
        raise InputError(f'--beside: must be "none" or "some", not "{beside}"')
    return Known(
        None if rate is None else option_value("--rate", bits_per_second, rate),
        None if rtt is None else option_value("--rtt", seconds, rtt),
        None if beside is None else beside == "none",
        control,
    )


def _bound_lines(found: Observation) -> list[str]:
    head = _head(found)
    if found.bound_s > 0:
        return [f"Buffer: at least {format_time(found.bound_s)}, and no more can be said", f"{head}: {found.why}"]
    return ["Buffer: nothing can be said", f"{head}: {found.why}"]


def _head(found: Observation) -> str:
    from elephan.inference.answer import law_name  # noqa: PLC0415 (as above)

    samples = found.samples
    streams = f", the largest of {found.streams} streams" if found.streams > 1 else ""
    return (
        f"{found.measurement.path.name}: {law_name(found.law)}, {format_time(samples.duration_s)} in steps of "
        f"{format_time(samples.interval_s)}{streams}"
    )


def _between(one: Interval, form: Callable[[float], str]) -> str:
    from elephan.inference.answer import GIVEN  # noqa: PLC0415 (as above)

    if one.high <= one.low * GIVEN:
        return f"{form(one.median)} (given)"
    low, high = form(one.low), form(one.high)
    # A common unit is written once.
    low = low.split()[0] if low.split()[1:] == high.split()[1:] else low
    return f"{form(one.median)} ({low} to {high})"


def lines(answer: Answer) -> list[str]:
    """Return the lines of the screen, the answer first."""
    from elephan.inference.answer import NAMES, SUM_ONLY  # noqa: PLC0415 (as above)

    near = answer.nearby
    if near is not None and near.is_unlike:
        return [f"No answer: {_unlike(near)}", _head(answer.observation), *_theory(answer)]
    # Given values are kept, whatever paths are similar to the measurement.
    found = answer.found
    names = list(answer.discipline_set)
    if near is not None and near.decided:
        names = [near.decided]
        if near.decided in ("codel", "fq-codel") and answer.beside_set[0] == "none":
            names = ["codel", "fq-codel"]
    said = [*_buffer(answer, found, names), *_bottleneck(answer, found, names)]
    said.append(f"{_head(answer.observation)}; base RTT {_between(found['rtt_s'], format_time)}")
    said += _theory(answer)
    if near is not None and near.best is not None:
        said.append(
            f"twin: of {near.runs} simulated paths the nearest is {100 * near.best.distance:.1f} % off in RTT and cwnd "
            f"({NAMES[near.best.path.discipline]}, {format_time(near.best.path.buffer_s)})"
        )
    told = (
        near is not None
        and "rtt_s" in near.intervals
        and near.intervals["rtt_s"].high < 1.2 * near.intervals["rtt_s"].low
    )
    said += [f"! {doubt}" for doubt in answer.doubts[:4] if not (told and doubt == SUM_ONLY)]
    return [*said, *_record(answer)]


def _briefly(asked: Sequence[str], inferred: Sequence[str]) -> list[str]:
    """Return what each change would do, and as much of the answer below it as one screen holds."""
    left = LINES - 1 - sum(len(sentence_lines(line)) for line in asked)
    shown = []
    # The buffer and the bottleneck; then doubts, since they are about the changes, too.
    for line in sorted(inferred, key=lambda line: (line not in inferred[:2], not line.startswith("! "))):
        left -= len(sentence_lines(line))
        if left < 0:
            break
        shown.append(line)
    more = ["More about the path: --details"] if len(shown) < len(inferred) else []
    return [*asked, *shown, *more]


def _buffer(answer: Answer, found: dict[str, Interval], names: list[str]) -> list[str]:
    if names == ["policer"]:
        return [f"Policer: a bucket of {_between(found['burst_s'], format_time)} at its rate"]
    if "drop-tail" not in names:
        queue = float(sorted(answer.observation.samples.rtt_s)[answer.observation.samples.rtt_s.size // 2])
        queue -= found["rtt_s"].median
        return [f"Buffer: not seen behind a queue that drops early; its queue is about {format_time(max(queue, 0.0))}"]
    buffer = found["buffer_s"]
    packets = found["buffer_packets"].scaled(1500 / answer.observation.packet_bytes)
    bdp = buffer.median / max(found["rtt_s"].median, 1e-9)
    some = "Buffer" if names[0] == "drop-tail" else "Buffer, if it is drop-tail"
    counted = f"{format_packets(round(packets.median))} ({packets.low:,.0f} to {packets.high:,.0f})"
    shown = _between(buffer, format_time).replace("(", "(90 %: ", 1)
    return [f"{some}: {shown}, {counted}, {bdp:.2g} BDP"]


def _bottleneck(answer: Answer, found: dict[str, Interval], names: list[str]) -> list[str]:
    from elephan.inference.answer import NAMES  # noqa: PLC0415 (as above)

    if set(names) == {"codel", "fq-codel"}:
        shown = "CoDel or FQ-CoDel (one flow alone cannot tell)" if "none" in answer.beside_set else "CoDel or FQ-CoDel"
    elif len(names) == 1:
        shown = NAMES[names[0]]
    else:
        shown = f"{NAMES[names[0]]} ({', '.join(NAMES[name] for name in names[1:])} not excluded)"
    kinds = {"none": "no other traffic", "flows": "with other flows", "datagrams": "with other datagrams"}
    beside = " or ".join(kinds[name] for name in answer.beside_set)
    return [f"Bottleneck: {shown}, {_between(found['rate_bps'], format_rate)}, {beside}"]


def _theory(answer: Answer) -> list[str]:
    theory = answer.theory
    window = theory["buffer_by_window_s"]
    other = f"; window at losses: {format_time(window)}" if window == window else ""
    return [f"theory: largest less smallest RTT, {format_time(theory['buffer_s'])}{other}"]


def _unlike(near: Nearby) -> str:
    if near.best is None:
        return "no path could be simulated"
    return f"no simulated path is like the measurement (the nearest is {100 * near.best.distance:.0f} % off)"


def _record(answer: Answer) -> list[str]:
    """Return how often answers of this kind were right on real paths."""
    from elephan.inference import coverage  # noqa: PLC0415 (as above)

    record = coverage()
    if not record.get("network"):
        return []
    way = "simulated" if answer.nearby is not None and answer.nearby.intervals else "network"
    held = record.get(way, record["network"])
    buffer, rate, queue = (f"{held[name][0]} of {held[name][1]}" for name in ("buffer", "rate", "set"))
    return [
        f"On {held['runs']} real paths the true buffer was within its interval in {buffer}, the rate in {rate}; "
        f"the queue was among those named in {queue}"
    ]


_SHORT = {
    **dict.fromkeys(("queue", "queues"), "links.0.queue"),
    **dict.fromkeys(("law", "laws", "control"), "flows.0.control"),
    "buffer": "links.0.buffer",
    "rate": "links.0.rate",
}
"""Places of a scenario by their short names in ``--what-if``."""


def _change(text: str) -> tuple[str, dict[str, object]]:
    """Read a change of ``--what-if``: its name and the values of places."""
    key, _, value = text.partition("=")
    if not value:
        raise InputError(f'--what-if {text}: must be a key and a value, such as queue=fq-codel or buffer="20 ms"')
    place = _SHORT.get(key, key)
    if place == key and "." not in key and "[" not in key:
        known = [name for name in _SHORT if name not in ("queues", "laws", "control")]
        raise InputError(f"--what-if {key}: {unknown('key', key, known)}, or a place such as flows.0.count")
    return text, parse_assignments([f"{place}={value}"])


def _change_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Describe the effect of each change, with the range of the difference over the ends of the answer's intervals."""
    paths = rows[0]["paths"]

    def one(row: Mapping[str, Any]) -> str:
        parts = []
        for key, name, unit in (
            ("goodput_bps", "", "bit/s"),
            ("queueing_delay_s", "queue ", "s"),
            ("loss_ratio", "loss ", "%"),
        ):
            divide, shown = (0.01, "%") if unit == "%" else scaled(unit, [row[key]])
            text = f"{name}{format_number(row[key] / divide, 3)} {shown}"
            if "difference" in row and paths > 1:
                low, high = (row["difference"][key][end] / divide for end in ("low", "high"))
                ends = f"{format_signed(low)} to {format_signed(high)}{'' if low > 0 or high < 0 else '?'}"
                text += f" ({ends})" if low or high else " (no difference)"
            parts.append(text)
        return ", ".join(parts)

    changes = [f"What if {row['path']}: {one(row)}" for row in rows[1:]]
    where = (
        f"{paths} paths, the middle and the ends of the answer's intervals; ?: not decided"
        if paths > 1
        else "the middle of the answer alone, so that no difference is decided"
    )
    how = f"; in brackets: the smallest and the largest difference over {where}" if paths > 1 else f"; of {where}"
    return [*changes, f"As it is: {one(rows[0])}{how}"]


def format_signed(value: float) -> str:
    """Format a difference with its sign.

    Examples
    --------
    >>> format_signed(3.14159), format_signed(-0.001234), format_signed(0.0)
    ('+3.1', '-0.0012', '0')
    """
    return f"{'+' if value > 0 else ''}{format_number(float(f'{value:.2g}'), 2)}"


def _draw(answer: Answer, plot: Path) -> None:
    from elephan.plots.inference import draw_inference  # noqa: PLC0415 (matplotlib)

    draw_inference(answer, plot)
