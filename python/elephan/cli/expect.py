"""``elephan expect``: expected results of iperf3 over a path, and whether a measurement is in their range."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elephan import traffic_control
from elephan.assignments import parse_assignments
from elephan.cli import options
from elephan.cli.common import option_value, print_json, print_lines, print_wrapped, say
from elephan.cli.importing import path_of
from elephan.cli.options import argument, option
from elephan.cli.tables import whole_table
from elephan.errors import InputError
from elephan.input_files import read_text
from elephan.measurements import read
from elephan.scenario import Scenario
from elephan.units import count, format_bytes, format_rate, format_time, seconds

if TYPE_CHECKING:
    from elephan.expectations import Expectation

EXAMPLE = """Example:  elephan expect path.toml
elephan expect queues.txt --measured iperf.json"""


def expect(
    path: Annotated[Path, argument("FILE", "A scenario (.toml), or lines of tc qdisc show or tc ... add.")],
    measured: Annotated[
        Path | None,
        option(
            "--measured FILE",
            "File with a measurement to compare: iperf3 --json, ss, flent or pcap. The exit code is 0 even if the "
            "measurement is outside of the expected range.",
        ),
    ] = None,
    duration: Annotated[
        str | None,
        option(
            "--time TIME", "Duration of the iperf3 test; --measured uses that of the measurement.", show_default="10 s"
        ),
    ] = None,
    dev: options.Device = None,
    rtt: options.DeviceRtt = None,
    link_rate: options.DeviceRate = None,
    replications: Annotated[int, option("--replications", "Number of simulated runs.", min=3, max=1000)] = 19,
    set_: options.Set = None,
    json: options.Json = False,
) -> None:
    """Show the expected results of iperf3 over a path, with intervals; and what would explain another measurement."""
    from elephan.expectations import expect as expected  # noqa: PLC0415 (the engine; --help does without)

    scenario, notes = _scenario(path, (dev, rtt, link_rate))
    scenario = scenario.replace(parse_assignments(set_))
    if duration is not None:
        option_value("--time", seconds, duration)
    if duration is not None or measured is None:
        scenario = scenario.replace({"duration": duration or "10 s", "warmup": "0 s"})
    flow = None if measured is None else read(measured).flow
    answer = expected(scenario, flow, replications=replications)
    if json:
        print_json({"path": str(path), "measured": None if measured is None else str(measured), "notes": notes}
                   | answer.to_json())  # fmt: skip
        return
    _print(path, _whose(scenario), answer, with_measured=flow is not None)
    for note in notes:
        say(f"note: {note}")


def _scenario(path: Path, options: tuple[str | None, str | None, str | None]) -> tuple[Scenario, list[str]]:
    """Return the scenario that the file describes, and notes on the parts of the file that it ignores."""
    if path.suffix.lower() == ".toml":
        if any(option is not None for option in options):
            raise InputError("--dev, --rtt, --link-rate: belong to lines of tc; change a scenario with --set")
        return Scenario.from_file(path), []
    text = read_text(path, "scenario (.toml) or a file of tc's lines")
    if not traffic_control.is_tc(text):
        raise InputError(f"{path}: has no lines of tc qdisc or tc class, and is no scenario (.toml)")
    made, around = path_of(text, path, options)
    scenario = Scenario.from_text(traffic_control.scenario(made, around, path.name), f"{path}, as a scenario")
    # iperf3 measures slow start, too.
    return scenario.replace({"warmup": "0 s"}), made.notes


def _whose(scenario: Scenario) -> str:
    """Name the flow whose results are expected; empty if the scenario has only one flow."""
    groups = scenario.network.groups
    if sum(group.flows for group in groups) == 1:
        return ""
    return f", the first of {count(groups[0].flows, 'flow')} of {groups[0].name}"


def _print(path: Path, whose: str, answer: Expectation, *, with_measured: bool) -> None:
    from elephan.expectations import QUANTITIES  # noqa: PLC0415 (as in `expect`)

    verdict = ""
    if with_measured:
        outside = [QUANTITIES[name] for name, one in answer.quantities.items() if one.place in ("below", "above")]
        verdict = f": {', '.join(outside)} outside" if outside else ": the measurement is what this path gives"
    print_wrapped(f"{path}{whose}, {count(answer.runs, 'run')} of {format_time(answer.duration_s)}{verdict}")
    rows = []
    for name, one in answer.quantities.items():
        low, high = _shown(name, one.low), _shown(name, one.high)
        row = [QUANTITIES[name], _shown(name, one.mean), low if low == high else f"{low} to {high}"]
        if with_measured:
            row += [_shown(name, one.measured) if one.place else "-", one.place]
        rows.append(row)
    heads = [
        "iperf3",
        "expected",
        f"{100 * answer.coverage:.0f} % of runs",
        *(["measured", ""] if with_measured else []),
    ]
    print_lines(*whole_table(heads, rows, [False, True, True, True, False][: len(heads)]))
    if answer.explanations:
        found = "; ".join(f"{name} ({100 * ratio:.0f} %)" for name, ratio in answer.explanations)
        print_wrapped(f"variants that fit the measurement better (distance relative to the given path's): {found}")
    elif with_measured and not answer.is_met:
        print_wrapped("no variant tried (pacing, offload, receive window, buffer, burst, loss) fits much better")


def _shown(name: str, value: float) -> str:
    if name == "goodput_bps":
        return format_rate(value)
    if name == "cwnd_bytes":
        return format_bytes(value)
    return f"{value:.0f}" if name == "retransmits" else format_time(value)
