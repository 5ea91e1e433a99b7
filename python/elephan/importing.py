"""Traces that others measured, read for `elephan import`: mahimahi's format, and tables of times and rates or delays.

What a link reads is stricter (`trace_files`): names of columns, times from 0 on, seconds and bits. Here units and
columns may be others, and times may begin anywhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from elephan import trace_files
from elephan.errors import InputError, UnitError
from elephan.input_files import decoded, read_bytes
from elephan.units import bits_per_second, format_rate, format_time, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Kind = Literal["mahimahi", "rates", "delays"]

_SHORTEST_S, _LONGEST_S = 60.0, 600.0
"""Between these a scenario is as long as its trace."""

_MOST = {"rates": 1e15, "delays": 3600.0}
"""Of a link [bit/s], [s]."""

_SHOWN = {"rates": format_rate, "delays": format_time}


@dataclass(frozen=True)
class ImportedTrace:
    """What was measured.

    Parameters
    ----------
    path : Path
    kind : {"mahimahi", "rates", "delays"}
    count : int
        Opportunities or rows.
    span_s : float [s]
        To the last of them.
    mean, least, most : float [bit/s] or [s]
        Over the span; of opportunities the least and the most in whole seconds.
    pause_s : float [s]
        The longest time in which nothing passes; 0 for delays.
    rows : sequence of (float, float)
        Times [s] from 0 on, and what holds from then on [bit/s] or [s]; none of opportunities.
    begins_s : float [s]
        What the file calls the first time.
    as_it_stands : bool
        Whether a link reads the file as it is.
    """

    path: Path
    kind: Kind
    count: int
    span_s: float
    mean: float
    least: float
    most: float
    pause_s: float
    rows: Sequence[tuple[float, float]] = ()
    begins_s: float = 0.0
    as_it_stands: bool = True

    def to_json(self) -> dict[str, Any]:
        """Everything but the rows, as plain data."""
        unit = "delay_s" if self.kind == "delays" else "rate_bps"
        return {
            "file": str(self.path),
            "kind": self.kind,
            "count": self.count,
            "span_s": self.span_s,
            unit: {"mean": self.mean, "min": self.least, "max": self.most},
            "longest_pause_s": self.pause_s,
            "begins_s": self.begins_s,
            "as_it_stands": self.as_it_stands,
        }

    def lines(self) -> list[str]:
        """What there is to say of it, in a few lines."""
        form = _SHOWN["delays" if self.kind == "delays" else "rates"]
        what = {"mahimahi": "opportunities of 1504 bytes", "rates": "rates", "delays": "delays"}[self.kind]
        within = " in whole seconds" if self.kind == "mahimahi" else ""
        found = [
            f"{self.path}: {self.count:,} {what} in {format_time(self.span_s)}",
            f"mean {form(self.mean)}, from {form(self.least)} to {form(self.most)}{within}",
        ]
        if self.pause_s > 0:
            found.append(f"nothing passes for {format_time(self.pause_s)} at the longest")
        if self.begins_s > 0:
            found.append(f"times begin at 0, not at {format_time(self.begins_s)}")
        return found

    def table(self) -> str:
        """The rows as a link reads them (.csv)."""
        name = "delay_s" if self.kind == "delays" else "rate_bps"
        return "".join([f"time_s,{name}\n", *(f"{time:.9f},{value:.15g}\n" for time, value in self.rows)])

    def scenario(self, name: str) -> str:
        """Write a scenario to start from, whose link follows the trace.

        Parameters
        ----------
        name : str
            Of the file of the trace, as the scenario names it.

        Returns
        -------
        str
            TOML.
        """
        duration = min(max(self.span_s, _SHORTEST_S), _LONGEST_S)
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        trace = f'{{ trace = "{quoted}" }}'
        rate, delay, rtt = ('"100 Mbit/s"', trace, "auto") if self.kind == "delays" else (trace, '"20 ms"', "40 ms")
        title = "".join(c for c in self.path.name if c.isprintable() and c not in '"\\')
        return _SCENARIO.format(
            title=title, duration=f"{duration:.0f} s", warmup=f"{duration / 6:.0f} s", rate=rate, delay=delay, rtt=rtt
        )


_SCENARIO = """\
# A link that follows a measured trace: by elephan import.
title        = "{title}"
duration     = "{duration}"
warmup       = "{warmup}"
replications = 3
seed         = 1

[[links]]
name   = "measured"
rate   = {rate}
delay  = {delay}
buffer = "1 bdp"                         # of the means
queue  = {{ discipline = "drop-tail" }}    # elephan list queues

[[flows]]
name    = "sender"
path    = ["measured"]
rtt     = "{rtt}"
tcp     = {{ profile = "linux", pacing = "linux" }}
control = {{ law = "cubic" }}              # elephan list laws
packet  = "1500 B"
start   = {{ from = "0 s", to = "1 s" }}

[record]
every = "100 ms"
"""


def read(path: Path, *, rate: str | None = None, delay: str | None = None, time: str | None = None) -> ImportedTrace:
    """Read a trace.

    Parameters
    ----------
    path : Path
        Times in whole milliseconds, one a line (mahimahi), or a table in a text file: columns parted by commas,
        semicolons or tabs, with a header or without.
    rate, delay : str, optional
        What the second column is in: ``"Mbit/s"``, ``"ms"``. Needs not be said of ``rate_bps`` and ``delay_s``.
    time : str, optional
        What the first column is in, seconds otherwise.

    Raises
    ------
    InputError
        What is wrong with it, and in which line. No more than 64 MiB are read.
    """
    if rate is not None and delay is not None:
        message = "--rate, --delay: give the one that the second column is"
        raise InputError(message)
    raw = read_bytes(path, "trace")
    first = raw[:4096].strip().replace(b"\r", b"\n").partition(b"\n")[0]
    is_table = any(mark in first for mark in b",;\t") or rate is not None or delay is not None
    try:
        if not is_table:
            if time is not None:
                message = "is in mahimahi's format, whose times are in milliseconds; leave --time out"
                raise ValueError(message)
            return _opportunities(path, raw)
        return _table(path, raw, (rate, delay, time))
    except InputError:
        raise
    except ValueError as error:
        message = f"{path}: {error}"
        raise InputError(message) from None


def _opportunities(path: Path, raw: bytes) -> ImportedTrace:
    import numpy as np  # noqa: PLC0415 (slow to import)

    times, counts = trace_files.opportunity_times(raw)
    span, bits = int(times[-1]), 8 * trace_files.OPPORTUNITY_BYTES
    # What comes at the end of a second is in the next, but for the last: the trace begins anew there.
    seconds_of = np.minimum(times, span - 1) // 1000
    whole = span // 1000
    rates = (
        np.bincount(seconds_of, weights=counts * bits)[:whole]
        if whole
        else np.array([counts.sum() * bits * 1e3 / span])
    )
    # From the last of it to the first of the next round.
    pauses = np.diff(np.append(times, span + times[0]))
    return ImportedTrace(
        path,
        "mahimahi",
        int(counts.sum()),
        span / 1e3,
        float(counts.sum() * bits * 1e3 / span),
        float(rates.min()),
        float(rates.max()),
        float(pauses.max()) / 1e3,
        as_it_stands=path.suffix.lower() != ".csv",
    )


def _table(path: Path, raw: bytes, units: tuple[str | None, str | None, str | None]) -> ImportedTrace:
    """A table of times and rates or delays."""
    text = decoded(raw)
    _, names = next(trace_files.table_rows(text), (0, []))
    first = text.strip("\n").partition("\n")[0]
    # A link knows commas alone: where they give it its columns, other marks belong to names.
    mark = "," if "time_s" in names else max(",;\t", key=first.count)
    rows = list(trace_files.table_rows(text, mark))
    header = [] if not rows or _is_number(rows[0][1][0]) else rows.pop(0)[1]
    kind, columns, scales = _columns(header, len(rows[0][1]) if rows else 2, units)
    held: list[tuple[float, float]] = []
    begins = 0.0
    for line, row in rows:
        time, value = (_number(line, row[i]) * scale for i, scale in zip(columns, scales, strict=True))
        if held and round((time - begins) * 1e9) <= round(held[-1][0] * 1e9):
            message = f"line {line}: its time must be later than in the line above; sort them"
            raise ValueError(message)
        if not held:
            begins = time
        held.append((time - begins, value))
        if value > _MOST[kind] or time - begins > trace_files.MOST_SECONDS:
            message = f"line {line}: is beyond what a link may have; is the unit right?"
            raise ValueError(message)
        if len(held) > trace_files.MOST_STEPS:
            message = f"has more than {trace_files.MOST_STEPS} rows; give fewer, such as one each 100 ms"
            raise ValueError(message)
    if not held:
        message = "has no rows; each is a time and what holds from then on"
        raise ValueError(message)
    taken = [header[i] for i in columns] if header else []
    standard = taken == ["time_s", {"rates": "rate_bps", "delays": "delay_s"}[kind]] and scales == (1.0, 1.0)
    stands = standard and mark == "," and begins == 0 and path.suffix.lower() == ".csv"
    return _summed(path, kind, held, begins, as_it_stands=stands)


def _summed(
    path: Path, kind: Kind, held: list[tuple[float, float]], begins: float, *, as_it_stands: bool
) -> ImportedTrace:
    span = held[-1][0]
    ends = [time for time, _ in held[1:]]
    parts = [(end - time, value) for (time, value), end in zip(held, ends, strict=False)] or [(1.0, held[0][1])]
    whole = sum(length for length, _ in parts)
    pause = longest = 0.0
    for length, value in parts:
        pause = pause + length if kind == "rates" and value == 0 else 0.0
        longest = max(longest, pause)
    values = [value for _, value in held]
    mean = sum(length * value for length, value in parts) / whole
    return ImportedTrace(
        path, kind, len(held), span, mean, min(values), max(values), longest, held, begins, as_it_stands=as_it_stands
    )


def _columns(
    header: Sequence[str], width: int, units: tuple[str | None, str | None, str | None]
) -> tuple[Kind, tuple[int, int], tuple[float, float]]:
    """What a table holds, in which columns, and what one of each is in seconds and bit/s."""
    rate, delay, time = units
    scale = _unit("--time", time, seconds) if time is not None else 1.0
    for name, kind in (("rate_bps", "rates"), ("delay_s", "delays")):
        if rate is None and delay is None and time is None and header.count(name) == 1 == header.count("time_s"):
            return ("rates" if kind == "rates" else "delays"), (header.index("time_s"), header.index(name)), (1.0, 1.0)
    named = f"its columns: {', '.join(header)}" if header and "".join(header).isprintable() else "it has no header"
    if rate is None and delay is None:
        message = f"say what the second column is: --rate Mbit/s, or --delay ms ({named})"
        raise ValueError(message)
    if (len(header) or width) != 2:
        message = f"must have two columns, times and what holds from then on, not {len(header) or width}"
        raise ValueError(message)
    if rate is not None:
        return "rates", (0, 1), (scale, _unit("--rate", rate, bits_per_second))
    return "delays", (0, 1), (scale, _unit("--delay", delay or "", seconds))


def _unit(option: str, unit: str, quantity: Callable[[str], float]) -> float:
    """One of a unit, in seconds or bit/s."""
    try:
        return quantity(f"1 {unit}")
    except UnitError as error:
        message = f"{option} {unit}: {error}"
        raise InputError(message) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(line: int, text: str) -> float:
    number = float(text) if _is_number(text) and "_" not in text else float("nan")
    if not 0 <= number < float("inf"):
        shown = text[:20].encode("unicode_escape").decode()
        message = f'line {line}: must be numbers, none below 0, not "{shown}"'
        raise ValueError(message)
    return number


def beside(file: Path, out: Path) -> str:
    """How a scenario at ``out`` names a file."""
    return os.path.relpath(file, out.parent).replace(os.sep, "/")
