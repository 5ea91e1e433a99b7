"""Import of measured traces for `elephan import`: mahimahi's format, and tables of times and rates or delays.

The traces that a link reads (`trace_files`) need fixed column names, times from 0 on, and units of seconds and bit/s.
Here other names and units are permitted, and times may begin at any value.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal, TypeAlias

from elephan import trace_files
from elephan.errors import InputError, UnitError, suggest
from elephan.input_files import decoded
from elephan.units import bits_per_second, format_rate, format_time, seconds

Kind = Literal["mahimahi", "rates", "delays"]
_Clock: TypeAlias = "Callable[[int, str], int]"

_COLUMNS: dict[Kind, trace_files.Column] = {
    "rates": trace_files.COLUMNS["rate"],
    "delays": trace_files.COLUMNS["delay"],
}
"""Columns whose names imply their units."""

_SHOWN_NAMES = 12
_FORMATS = ("%Y.%m.%d_%H.%M.%S", "%Y/%m/%d %H:%M:%S")
"""Formats of calendar times besides ISO 8601. The first is the format of G-NetTrack, an app that measures 4G and 5G."""

_MISSING = frozenset(("", "-", "na", "n/a", "nan", "none", "null"))

_LIKELY = re.compile(r"rate|throughput|bps|delay|rtt|latency", re.IGNORECASE)
"""Pattern of column names that messages use as an example."""

_LEAST_PACKETS = 10
"""Smallest buffer in a suggested scenario [packets]: a smaller one drops a sender's bursts."""

_SHORTEST_S, _LONGEST_S = 60.0, 600.0
"""Limits of the duration of a suggested scenario [s]; between them it is the length of the trace."""

_SHOWN = {"rates": format_rate, "delays": format_time}


@dataclass(frozen=True)
class ImportedTrace:
    """An imported trace.

    Parameters
    ----------
    path : Path
    kind : {"mahimahi", "rates", "delays"}
    count : int
        Number of opportunities or rows.
    span_s : float [s]
        Time of the last row, counted from the first.
    mean, least, most : float [bit/s] or [s]
        Mean, minimum and maximum of the rate or delay over the span. For opportunities, minimum and maximum are those
        of whole seconds.
    pause_s : float [s]
        The longest time with a rate of 0; 0 for delays.
    rows : sequence of (float, float)
        Times [s] from 0 on, and the rate [bit/s] or delay [s] from each time on; empty for opportunities.
    begins_s : float [s]
        First time in the file, before times are shifted to begin at 0.
    as_it_stands : bool
        Whether a link can read the file unchanged.
    first : str
        The first time as the file writes it, if it is a calendar time.
    without : int
        Number of rows without a value; they are skipped.
    shared : int
        Number of rows with the time of the row above. Rows of equal time are replaced by their mean.
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
    first: str = ""
    without: int = 0
    shared: int = 0

    @property
    def _name(self) -> str:
        """Name of the column of rates or delays."""
        return _COLUMNS["delays" if self.kind == "delays" else "rates"].name

    def to_json(self) -> dict[str, Any]:
        """Return all fields except the rows as plain data."""
        return {
            "file": str(self.path),
            "kind": self.kind,
            "count": self.count,
            "span_s": self.span_s,
            self._name: {"mean": self.mean, "min": self.least, "max": self.most},
            "longest_pause_s": self.pause_s,
            "begins_s": self.begins_s,
            "first": self.first or None,
            "rows_without_value": self.without,
            "rows_of_one_time": self.shared,
            "as_it_stands": self.as_it_stands,
        }

    def lines(self) -> list[str]:
        """Description of the trace, in a few lines."""
        form = _SHOWN["delays" if self.kind == "delays" else "rates"]
        what = {"mahimahi": "opportunities of 1504 bytes", "rates": "rates", "delays": "delays"}[self.kind]
        within = " in whole seconds" if self.kind == "mahimahi" else ""
        found = [
            f"{self.path}: {self.count:,} {what} in {format_time(self.span_s)}",
            f"mean {form(self.mean)}, from {form(self.least)} to {form(self.most)}{within}",
        ]
        if self.pause_s > 0:
            found.append(f"nothing passes for {format_time(self.pause_s)} at the longest")
        if self.first or self.begins_s > 0:
            found.append(f"times begin at 0, not at {self.first or format_time(self.begins_s)}")
        if self.without:
            rows = "row without a value is" if self.without == 1 else "rows without a value are"
            found.append(f"{self.without:,} {rows} passed over: what held before holds on")
        if self.shared:
            rows = "row has" if self.shared == 1 else "rows have"
            found.append(f"{self.shared:,} {rows} the time of the row above: the mean of those of one time holds")
        return found

    def table(self) -> str:
        """Return the rows in the format that a link reads (.csv)."""
        return "".join([f"time_s,{self._name}\n", *(f"{time:.9f},{value:.15g}\n" for time, value in self.rows)])

    def _period_s(self) -> float:
        """Period after which a trace that is shorter than the run begins again [s]; 0 if it is not repeated.

        Without a period the last row would apply until the end of the run. With it, the last row applies as long as the
        row before.
        """
        if self.kind == "mahimahi" or len(self.rows) < 2 or self.span_s >= _SHORTEST_S:
            return 0.0
        (before, _), (last, _) = self.rows[-2:]
        return 2 * last - before

    def _mean_over(self, duration_s: float) -> float:
        """Mean over a run of a given duration; the last row applies until the end of the run."""
        ends = [*(time for time, _ in self.rows[1:]), duration_s]
        parts = ((min(end, duration_s) - time, value) for (time, value), end in zip(self.rows, ends, strict=True))
        return sum(max(0.0, length) * value for length, value in parts) / duration_s if self.rows else self.mean

    def scenario(self, name: str) -> str:
        """Return a suggested scenario whose link follows the trace.

        Parameters
        ----------
        name : str
            Name of the trace's file in the scenario.

        Returns
        -------
        str
            TOML.
        """
        duration = min(max(self.span_s, _SHORTEST_S), _LONGEST_S)
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        period = self._period_s()
        again = f', period = "{period:.12g} s"' if period else ""
        trace = f'{{ trace = "{quoted}"{again} }}'
        rate, delay, rtt = ('"100 Mbit/s"', trace, "auto") if self.kind == "delays" else (trace, '"20 ms"', "40 ms")
        mean = self._mean_over(period or duration)
        bdp = (100e6 * 2 * mean if self.kind == "delays" else mean * 0.040) / 8 / 1500
        is_small = bdp < _LEAST_PACKETS
        buffer = f'"{_LEAST_PACKETS} packets"' if is_small else '"1 bdp"'
        why = f"a BDP of the means is {bdp:.2g}, too few" if is_small else "of the means"
        title = "".join(c for c in self.path.name if c.isprintable() and c not in '"\\')
        template = files("elephan.templates").joinpath("imported", "trace.toml").read_text(encoding="utf-8")
        return Template(template).substitute(
            title=title,
            buffer=f"{buffer:32}# {why}",
            duration=f"{duration:.0f} s",
            warmup=f"{duration / 6:.0f} s",
            rate=rate,
            delay=delay,
            rtt=rtt,
        )


@dataclass(frozen=True)
class TableForm:
    """Columns, units and times of a table whose header does not state them.

    Parameters
    ----------
    columns : str, optional
        The columns of times and of values, as names or as numbers from 1 on: ``"Timestamp,DL_bitrate"``. Not needed if
        the table has only two columns.
    rate, delay : str, optional
        Unit of the values: ``"Mbit/s"``, ``"ms"``. Not needed if the column is called ``rate_bps`` or ``delay_s``.
    time : str, optional
        Unit of the times, by default seconds.
    time_format : str, optional
        Format of calendar times, as for ``strptime``: ``"%d/%m/%Y %H:%M:%S"``. Not needed for ISO 8601 and for
        ``2022.01.01_12.00.00``, the format of G-NetTrack.
    """

    columns: str | None = None
    rate: str | None = None
    delay: str | None = None
    time: str | None = None
    time_format: str | None = None

    def check(self) -> None:
        """Refuse contradictory settings.

        Raises
        ------
        InputError
        """
        if self.rate is not None and self.delay is not None:
            raise InputError("--rate, --delay: give the one that the second column is")
        if self.time is not None and self.time_format is not None:
            raise InputError(
                "--time, --time-format: give the one that the first column has; calendar times have no unit"
            )
        if self.columns is not None and [bool(name.strip()) for name in self.columns.split(",")] != [True, True]:
            raise InputError(
                f"--columns {self.columns}: must be two, of times and of what holds from then on: --columns time,rate"
            )
        if self.time_format is not None and "%" not in self.time_format:
            raise InputError(
                f'--time-format {self.time_format}: must say where days and hours stand, as in "%d/%m/%Y %H:%M:%S"'
            )


def read(path: Path, form: TableForm | None = None) -> ImportedTrace:
    """Read a trace.

    Parameters
    ----------
    path : Path
        Times in whole milliseconds, one per line (mahimahi), or a table in a text file: columns separated by commas,
        semicolons, tabs or blanks, with or without a header. Either may be compressed with gzip.
    form : TableForm, optional
        Properties of a table that its header does not state.

    Raises
    ------
    InputError
        If the trace is invalid or larger than 64 MiB; the message names the line.
    """
    form = form or TableForm()
    form.check()
    raw = trace_files.read_trace(path)
    first = raw[:4096].strip().replace(b"\r", b"\n").partition(b"\n")[0]
    parted = any(mark in first for mark in b",;\t ") and not first.startswith(b"#")
    try:
        if not parted and form in (TableForm(), TableForm(time=form.time)):
            if form.time is not None:
                raise ValueError("is in mahimahi's format, whose times are in milliseconds; leave --time out")
            return _opportunities(path, raw)
        return _checked(_table(path, raw, form), form)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def _checked(found: ImportedTrace, form: TableForm) -> ImportedTrace:
    """Refuse rates that are too low for a link; the usual reason is a wrong unit."""
    rates = (rate for _, rate in found.rows if found.kind == "rates")
    if (low := next((rate for rate in rates if 0 < rate < trace_files.LEAST_BPS), None)) is not None:
        unit = f", as --rate {form.rate} has it" if form.rate is not None else ""
        least = format_rate(trace_files.LEAST_BPS)
        raise ValueError(
            f"a rate is {format_rate(low)}{unit}; a link has 0 or at least {least}; give another unit with --rate"
        )
    return found


def _opportunities(path: Path, raw: bytes) -> ImportedTrace:
    import numpy as np  # noqa: PLC0415 (slow to import)

    times, counts = trace_files.opportunity_times(raw)
    span, bits = int(times[-1]), 8 * trace_files.OPPORTUNITY_BYTES
    # An opportunity at the end of a second counts in the next second. The last one is at the end of the trace, where
    # the trace repeats; it counts in the last second.
    seconds_of = np.minimum(times, span - 1) // 1000
    whole = span // 1000
    rates = (
        np.bincount(seconds_of, weights=counts * bits)[:whole]
        if whole
        else np.array([counts.sum() * bits * 1e3 / span])
    )
    # The last pause is from the last opportunity to the first one of the next repetition.
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
        as_it_stands=not trace_files.is_table(path),
    )


def _table(path: Path, raw: bytes, form: TableForm) -> ImportedTrace:
    """Read a table of times and rates or delays."""
    text = decoded(raw)
    mark = trace_files.column_mark(text)
    rows = list(trace_files.blank_rows(text)) if mark == " " else list(trace_files.table_rows(text, mark))
    # A first row without any number is a header.
    header = rows.pop(0)[1] if rows and not any(map(trace_files.is_number, rows[0][1])) else []
    span = len((form.time_format or "x").split()) if mark == " " else 1
    at, of = _places(header, len(rows[0][1]) if rows else len(header), span, form)
    kind, scale = _kind(header, of, form)
    if span > 1 and rows:
        # A blank within a calendar time (between day and hour) split it into several fields; join them.
        rows = [(line, [*row[:at], " ".join(row[at : at + span]), *row[at + span :]]) for line, row in rows]
        of -= span - 1 if of > at and len(header) != len(rows[0][1]) else 0
    named = [header[i] for i in (at, of)] if header else []
    held = _RowCollector(kind)
    clock: _Clock | None = None
    for line, row in rows:
        if _is_missing(row[of], kind):
            held.without += 1
            continue
        if clock is None:
            clock, held.first = _clock(line, row[at], form), row[at]
        held.add(line, clock(line, row[at]), _number(line, row[of]) * scale)
    if not held.rows:
        raise ValueError("has no rows; each is a time and what holds from then on")
    standard = (
        mark == ","
        and named == ["time_s", _COLUMNS[kind].name]
        and form in (TableForm(), TableForm(columns=form.columns))
    )
    whole = held.begins_ns == 0 == held.without + held.shared
    found = _summed(
        path, kind, held.rows, held.begins_ns / 1e9, as_it_stands=standard and whole and trace_files.is_table(path)
    )
    first = "" if trace_files.is_number(held.first) else held.first
    return replace(found, first=first, without=held.without, shared=held.shared)


class _RowCollector:
    """Collects the rows of a table, and replaces rows of equal time by their mean."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.rows: list[tuple[float, float]] = []
        self.begins_ns = self.last_ns = 0
        self.alike = self.without = self.shared = 0
        self.first = ""

    def add(self, line: int, time_ns: int, value: float) -> None:
        """Add a row."""
        if not self.rows:
            self.begins_ns = self.last_ns = time_ns
        if value > _COLUMNS[self.kind].most or time_ns - self.begins_ns > trace_files.MOST_SECONDS * 1e9:
            raise ValueError(f"line {line}: is beyond what a link may have; is the unit right?")
        if time_ns < self.last_ns:
            raise ValueError(
                f"line {line}: its time must be later than in the line above; sort them, and give one run at a time"
            )
        if self.rows and time_ns == self.last_ns:
            # A clock with a resolution of a second gives two samples the same time. Their mean rate carries as many
            # bits as each sample for half of the second.
            self.shared += 1
            self.alike += 1
            time, mean = self.rows[-1]
            self.rows[-1] = (time, mean + (value - mean) / self.alike)
            return
        self.last_ns, self.alike = time_ns, 1
        self.rows.append(((time_ns - self.begins_ns) / 1e9, value))
        if len(self.rows) > trace_files.MOST_STEPS:
            raise ValueError(f"has more than {trace_files.MOST_STEPS} rows; give fewer, such as one each 100 ms")


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


def _places(header: Sequence[str], width: int, span: int, form: TableForm) -> tuple[int, int]:
    """Return the positions of the time and the value in the rows of a table; a time takes ``span`` fields."""
    count = len(header) or width
    if form.columns is not None:
        at, of = (_place(name.strip(), header, count) for name in form.columns.split(","))
        if at == of:
            raise ValueError(
                f"--columns {form.columns}: both are one column; name that of the times and that of the values"
            )
        return at, of
    for name, _, _ in _COLUMNS.values():
        if header.count("time_s") == 1 == header.count(name):
            return header.index("time_s"), header.index(name)
    if count - (span - 1 if count == width else 0) != 2:
        likely = [name for name in header if _LIKELY.search(name)] or header[-1:]
        example = f"{header[0]},{likely[0]}" if header and "".join(header).isprintable() else "1,2"
        raise ValueError(f"has {count} columns; say which two to read, such as --columns {example} ({_named(header)})")
    return 0, count - 1


def _place(name: str, header: Sequence[str], count: int) -> int:
    """Return the position of a column, given its name or its number from 1 on."""
    alike = [i for i, known in enumerate(header) if known == name]
    alike = alike or [i for i, known in enumerate(header) if known.lower() == name.lower()]
    if len(alike) > 1:
        raise ValueError(f'--columns: {len(alike)} columns are called "{name}"; count from 1 on: {alike[0] + 1}')
    if alike:
        return alike[0]
    if name.isdecimal() and 1 <= int(name) <= count:
        return int(name) - 1
    near = suggest(name, header, _named(header) if header else f"it has no header; give numbers from 1 to {count}")
    raise ValueError(f'--columns: there is no column "{name}"; {near}')


def _named(header: Sequence[str]) -> str:
    """List the columns, for a message."""
    if not header or not "".join(header).isprintable():
        return "it has no header"
    more = f" and {len(header) - _SHOWN_NAMES} more" if len(header) > _SHOWN_NAMES else ""
    return f"its columns: {', '.join(header[:_SHOWN_NAMES])}{more}"


def _kind(header: Sequence[str], of: int, form: TableForm) -> tuple[Kind, float]:
    """Return the kind of a table, and the unit of its values in bit/s or seconds."""
    if form.rate is not None:
        return "rates", _unit("--rate", form.rate, bits_per_second)
    if form.delay is not None:
        return "delays", _unit("--delay", form.delay, seconds)
    for kind, (name, _, _) in _COLUMNS.items():
        if header and header[of] == name:
            return kind, 1.0
    what = f'the column "{header[of]}"' if header and header[of].isprintable() else "the second column"
    raise ValueError(f"say what {what} is: --rate Mbit/s, or --delay ms ({_named(header)})")


def _clock(line: int, text: str, form: TableForm) -> _Clock:
    """Return a function that reads times in the format of this one, in nanoseconds."""
    if form.time_format is None and trace_files.is_number(text):
        unit = Decimal(repr(_unit("--time", form.time, seconds) if form.time is not None else 1.0)) * 10**9
        return lambda line, text: round(Decimal(text) * unit) if _number(line, text) >= 0 else 0
    if form.time is not None:
        raise ValueError(f'line {line}: "{_short(text)}" is no number, as --time {form.time} has it; see --time-format')
    known = (form.time_format,) if form.time_format is not None else (None, *_FORMATS)
    found = next((each for each in known if _calendar(text, each) is not None), "")
    if found == "":
        how = f"is not of the form {form.time_format}" if form.time_format else "is no time that is known"
        raise ValueError(
            f'line {line}: "{_short(text)}" {how}; say how times are written: --time-format "%d/%m/%Y %H:%M:%S"'
        )

    def read_calendar(line: int, text: str) -> int:
        time = _calendar(text, found)
        if time is None:
            raise ValueError(f'line {line}: "{_short(text)}" is not a time of the form {found or "ISO 8601"}')
        return time

    return read_calendar


def _calendar(text: str, form: str | None) -> int | None:
    """Return a calendar time in nanoseconds, ISO 8601 by default; UTC unless it has a time zone."""
    try:
        time = datetime.fromisoformat(text) if form is None else datetime.strptime(text, form)
    except (ValueError, re.error):
        return None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


def _is_missing(text: str, kind: Kind) -> bool:
    """Whether a field marks a missing value; in tables of delays, -1 is a lost ping."""
    return text.lower() in _MISSING or (kind == "delays" and text in ("-1", "-1.0"))


def _short(text: str) -> str:
    return text[:40].encode("unicode_escape").decode()


def _unit(option: str, unit: str, quantity: Callable[[str], float]) -> float:
    """Return the size of a unit in seconds or bit/s."""
    if not unit.strip() or unit.strip()[0].isdigit():
        example = "Mbit/s" if option == "--rate" else "ms"
        raise InputError(f'{option}: "{unit}" is not a unit; write one without a number, such as {example}')
    try:
        return quantity(f"1 {unit}")
    except UnitError as error:
        # The user did not write the number 1: remove it from the message.
        said = re.sub(r'"1 ([^"]*)"', r'"\1"', str(error)).replace(f'"{unit}" in "{unit}"', f'"{unit}"')
        raise InputError(option + ": " + said) from None


def _number(line: int, text: str) -> float:
    number = float(text) if trace_files.is_number(text) and "_" not in text else float("nan")
    if not 0 <= number < float("inf"):
        shown = text[:20].encode("unicode_escape").decode()
        raise ValueError(f'line {line}: must be numbers, none below 0, not "{shown}"')
    return number


def beside(file: Path, out: Path) -> str:
    """Return the path of a file relative to the folder of a scenario at ``out``."""
    return os.path.relpath(file, out.parent).replace(os.sep, "/")
