"""``elephan import``: a summary of a measured trace, and a scenario whose link follows it."""

from __future__ import annotations

import math
from pathlib import Path  # noqa: TC003 (Typer reads the annotations)
from typing import TYPE_CHECKING, Annotated

import typer

from elephan.cli.common import JsonOption, print_json, print_lines, print_wrapped, say, write_new
from elephan.errors import InputError
from elephan.importing import TableForm, beside, read
from elephan.input_files import decoded
from elephan.scenario import Scenario
from elephan.trace_files import read_trace
from elephan.units import format_rate, format_time

if TYPE_CHECKING:
    from elephan.importing import ImportedTrace

EXAMPLE = """Example:  elephan import cellular.up --out cellular.toml
elephan import 5g.csv --columns Timestamp,DL_bitrate --rate kbit/s --out 5g.toml"""


LIKELY = {"rates": (100e3, 2e12), "delays": (1e-6, 5.0)}
"""Ranges of the largest value of a trace: GPRS to the fastest ports [bit/s]; a rack to a busy satellite [s]."""


def import_(
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            help="Times in milliseconds, one a line (mahimahi), or a table: columns parted by commas, semicolons, tabs "
            "or blanks. Packed by gzip, too.",
        ),
    ],
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns", metavar="TIME,VALUE", help="The two to read, by name or number; needless if there are two."
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option("--rate", metavar="UNIT", help="The second is a rate in this: Mbit/s, kbit/s, B/s."),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option("--delay", metavar="UNIT", help="The second is a delay, one way, in this, such as ms."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="UNIT", help="The first is in this.", show_default="s"),
    ] = None,
    time_format: Annotated[
        str | None,
        typer.Option(
            "--time-format",
            metavar="FORMAT",
            help='How the first writes calendar times: "%d/%m/%Y %H:%M:%S". '
            "ISO 8601 and 2022.01.01_12.00.00 are known.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write a scenario whose link follows it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    json: JsonOption = False,
) -> None:
    """Read a measured trace of a link's rate or delay, and write a scenario that follows it.

    Tables with the columns time_s and rate_bps or delay_s say all; of others say what the second column is in.
    """
    form = TableForm(columns=columns, rate=rate, delay=delay, time=time, time_format=time_format)
    found = read(trace, form)
    files: list[Path] = []
    key = "delay" if found.kind == "delays" else "rate"
    if out is not None:
        if not out.name or out.is_dir():
            message = f"--out {out}: is a folder; give the name of a scenario file (.toml)"
            raise InputError(message)
        if out.suffix.lower() == ".csv":
            message = f"--out {out}: must be a scenario (.toml); a table that a link reads is written beside it"
            raise InputError(message)
        source = trace
        if not found.as_it_stands:
            source = out.with_name(out.stem + ("-trace.up" if found.kind == "mahimahi" else "-trace.csv"))
            if source.exists() and source.samefile(trace):
                message = f"--out {out}: {source} would be written over the trace itself; give another name"
                raise InputError(message)
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
    if doubt := _doubts(found):
        say(f"warning: {trace}: {doubt}")
    if json:
        print_json(found.to_json() | {"files": [str(file) for file in files]})
        return
    print_wrapped(*found.lines())
    if out is None:
        name = beside(trace, trace) if found.as_it_stands else "FILE.csv"
        print_lines("for a link (--out FILE.toml writes a scenario with it):", f'  {key} = {{ trace = "{name}" }}')
    else:
        say(f"{' and '.join(map(str, files))} {'are' if len(files) > 1 else 'is'} written; next: elephan run {out}")


def _doubts(found: ImportedTrace) -> str:
    """Say so if a trace is so slow or so fast, or a delay so long, that its unit is probably another; empty if not."""
    low, high = LIKELY.get(found.kind, (0.0, math.inf))
    if low <= found.most <= high:
        return ""
    form, option = (format_time, "--delay") if found.kind == "delays" else (format_rate, "--rate")
    return f"the largest value is {form(found.most)}; if that is not so, say its unit with {option}"
