"""``elephan import``: a measured trace, or queues of Linux as tc shows them; and a scenario with that link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from elephan import traffic_control
from elephan.cli import options
from elephan.cli.common import option_value, print_json, print_lines, print_wrapped, say, write_new
from elephan.cli.options import argument, option
from elephan.errors import InputError
from elephan.importing import ImportedTrace, TableForm, beside, read
from elephan.input_files import decoded, read_text
from elephan.scenario import Scenario
from elephan.trace_files import read_trace
from elephan.units import bits_per_second, format_bytes, format_rate, format_time, seconds

EXAMPLE = """Example:  elephan import cellular.up --out cellular.toml
elephan import 5g.csv --columns Timestamp,DL_bitrate --rate kbit/s --out 5g.toml
elephan import tc queues.txt --out path.toml"""

WORD = "tc"
"""First argument if the file has lines of tc."""


LIKELY = {"rates": (100e3, 2e12), "delays": (1e-6, 5.0)}
"""Ranges of the largest value of a trace: GPRS to the fastest ports [bit/s]; a rack to a busy satellite [s]."""


def import_(
    trace: Annotated[
        Path,
        argument(
            "TRACE",
            "Times in milliseconds, one a line (mahimahi), or a table: columns separated by commas, semicolons, "
            "tabs or blanks. May be compressed with gzip. Or the word tc.",
        ),
    ],
    file: Annotated[
        Path | None,
        argument("[FILE]", "After the word tc: file with lines of tc qdisc show, tc class show or tc ... add."),
    ] = None,
    columns: Annotated[
        str | None,
        option("--columns TIME,VALUE", "The two columns to read, by name or number; needed if there are more."),
    ] = None,
    rate: Annotated[
        str | None, option("--rate UNIT", "The second column is a rate in this unit: Mbit/s, kbit/s, B/s.")
    ] = None,
    delay: Annotated[
        str | None, option("--delay UNIT", "The second column is a one-way delay in this unit, such as ms.")
    ] = None,
    time: Annotated[str | None, option("--time UNIT", "Unit of the first column.", show_default="s")] = None,
    time_format: Annotated[
        str | None,
        option(
            "--time-format FORMAT",
            'Format of calendar times in the first column, such as "%d/%m/%Y %H:%M:%S". '
            "ISO 8601 and 2022.01.01_12.00.00 are recognized.",
        ),
    ] = None,
    dev: options.Device = None,
    rtt: options.DeviceRtt = None,
    link_rate: options.DeviceRate = None,
    out: Annotated[
        Path | None, option("--out FILE", "Write a scenario whose link follows the trace or the queues.")
    ] = None,
    force: options.ReplaceFiles = False,
    json: options.Json = False,
) -> None:
    """Read a measured trace of a link's rate or delay, or queues as tc has them, and write a scenario with that link.

    Tables with the columns time_s and rate_bps or delay_s need no options; for others, give the unit of the second
    column.
    """
    form = TableForm(columns=columns, rate=rate, delay=delay, time=time, time_format=time_format)
    of_tc = {"--dev": dev, "--rtt": rtt, "--link-rate": link_rate}
    if str(trace) == WORD:
        _queues(file, form, (dev, rtt, link_rate), out, force=force, json=json)
        return
    _check_words(file, of_tc)
    found = read(trace, form)
    files = [] if out is None else _write(found, trace, out, force=force)
    if doubt := _doubts(found):
        say(f"warning: {trace}: {doubt}")
    if json:
        print_json(found.to_json() | {"files": [str(file) for file in files]})
        return
    print_wrapped(*found.lines())
    if out is None:
        key = "delay" if found.kind == "delays" else "rate"
        name = beside(trace, trace) if found.as_it_stands else "FILE.csv"
        print_lines("for a link (--out FILE.toml writes a scenario with it):", f'  {key} = {{ trace = "{name}" }}')
    else:
        say(f"{' and '.join(map(str, files))} {'are' if len(files) > 1 else 'is'} written; next: elephan run {out}")


def _write(found: ImportedTrace, trace: Path, out: Path, *, force: bool) -> list[Path]:
    """Write the scenario of a trace, and a table if a link cannot read the trace as it is."""
    if not out.name or out.is_dir():
        raise InputError(f"--out {out}: is a folder; give the name of a scenario file (.toml)")
    if out.suffix.lower() == ".csv":
        raise InputError(f"--out {out}: must be a scenario (.toml); a table that a link reads is written beside it")
    files: list[Path] = []
    source = trace
    if not found.as_it_stands:
        source = out.with_name(out.stem + ("-trace.up" if found.kind == "mahimahi" else "-trace.csv"))
        if source.exists() and source.samefile(trace):
            raise InputError(f"--out {out}: {source} would be written over the trace itself; give another name")
        text = decoded(read_trace(trace)) if found.kind == "mahimahi" else found.table()
        write_new(source, text, force=force)
        files.append(source)
    scenario = found.scenario(beside(source, out))
    try:
        # A trace that a link cannot use is refused here, not at the first run.
        Scenario.from_text(scenario, str(trace), out.parent)
        write_new(out, scenario, force=force)
    except InputError:
        for file in files:
            file.unlink()
        raise
    files.append(out)
    return files


def _check_words(file: Path | None, of_tc: Mapping[str, str | None]) -> None:
    """Refuse arguments and options that apply only to lines of tc."""
    if file is not None:
        raise InputError(f'import: unexpected "{file}"; one file is read, or tc and a file')
    if (option := next((name for name, value in of_tc.items() if value is not None), None)) is not None:
        raise InputError(f"{option}: belongs to queues of Linux: elephan import tc FILE")


def path_of(
    text: str, origin: Path, options: tuple[str | None, str | None, str | None]
) -> tuple[traffic_control.EmulatedPath, traffic_control.Around]:
    """Return the path that lines of tc describe, and the rate and base RTT around it, by the options or by default."""
    dev, rtt, link_rate = options
    known = traffic_control.Around()
    around = traffic_control.Around(
        known.link_bps if link_rate is None else option_value("--link-rate", bits_per_second, link_rate),
        known.rtt_s if rtt is None else option_value("--rtt", seconds, rtt),
    )
    made = traffic_control.read(text, str(origin), dev, rate_known=link_rate is not None)
    if made.rate_bps is None and link_rate is None:
        made.notes.append(
            f"no line limits the rate; the device is assumed to have {format_rate(known.link_bps)} (--link-rate)"
        )
    return made, around


def _queues(
    file: Path | None,
    form: TableForm,
    options: tuple[str | None, str | None, str | None],
    out: Path | None,
    *,
    force: bool,
    json: bool,
) -> None:
    """Read lines of tc."""
    if file is None:
        raise InputError("import tc: give a file with lines of tc qdisc show or tc ... add")
    if form != TableForm():
        raise InputError("import tc: --columns, --rate, --delay, --time and --time-format belong to traces")
    made, around = path_of(read_text(file, "file of tc's lines"), file, options)
    text = traffic_control.scenario(made, around, file.name)
    # An invalid scenario is refused here.
    scenario = Scenario.from_text(text, f"{file}, as a scenario")
    if out is not None:
        write_new(out, text, force=force)
    link = scenario.links[0]
    if json:
        notes = {"file": str(file), "notes": made.notes, "link": scenario.resolved["links"][0], "text": text}
        print_json(notes | {"files": [] if out is None else [str(out)]})
        return
    limit = (
        f"{format_rate(made.rate_bps)}" if made.rate_bps is not None else f"{format_rate(link['rate_bps'])} (device)"
    )
    added = f", {format_time(made.delay_s)} added one way" if made.delay_s else ""
    print_wrapped(f"{file}: {link['discipline']}, {limit}, buffer {_held(scenario)}{added}", *made.notes)
    if out is None:
        print_wrapped("--out FILE.toml writes a scenario of it")
    else:
        say(f"{out} is written; next: elephan expect {out}")


def _held(scenario: Scenario) -> str:
    """Format the buffer of the only link, without what netem's delay holds."""
    packets, size = (scenario.links[0][name] for name in ("buffer_limit_packets", "buffer_limit_bytes"))
    return f"{packets:,} packets" if packets is not None else format_bytes(size)


def _doubts(found: ImportedTrace) -> str:
    """Return a doubt about the unit if the largest value is outside of the likely range; empty if it is inside."""
    low, high = LIKELY.get(found.kind, (0.0, math.inf))
    if low <= found.most <= high:
        return ""
    form, option = (format_time, "--delay") if found.kind == "delays" else (format_rate, "--rate")
    return f"the largest value is {form(found.most)}; if this is wrong, give the unit with {option}"
