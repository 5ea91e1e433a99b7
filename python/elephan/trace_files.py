"""Rates and delays of links from files: traces in mahimahi's format, and .csv tables of times and rates or delays.

Source: mahimahi (Netravali et al., USENIX ATC 2015). Each line is an opportunity: a time in whole milliseconds at which
1504 bytes may leave.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from elephan.errors import InputError, ScenarioError, UnitError
from elephan.input_files import decoded, form_of, read_bytes, unpacked
from elephan.units import count, format_time, seconds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TIME = "time_s"
_MOST_TIMES, MOST_STEPS = 10_000_000, 100_000
OPPORTUNITY_BYTES = 1504
_MOST_MS, MOST_SECONDS = 10**9, 1e6
_BLANKS = re.compile(rb"^[ \t]+|[ \t]+$", re.MULTILINE)
_WHAT = {
    "rate": "trace (times in milliseconds, one a line, or a .csv of time_s and rate_bps)",
    "delay": "trace (a .csv of time_s and delay_s)",
}


LEAST_BPS = 1000.0
"""Smallest rate of a link other than 0 [bit/s]."""


class Column(NamedTuple):
    """A column of a table: its name, its largest permitted value, and the function that writes values in scenarios."""

    name: str
    most: float
    text: Callable[[float], str]


COLUMNS = {
    "rate": Column("rate_bps", 1e15, lambda bps: f"{round(bps)} bit/s"),
    "delay": Column("delay_s", 3600.0, lambda seconds: f"{round(seconds * 1e12)} ps"),
}
"""Columns by the key of a link."""


KEY = "trace"
"""Key that names a file."""


def fill(mapping: dict[str, Any], folder: Path) -> bool:
    """Insert the contents of the traces that a scenario names, as ``opportunities`` or ``steps``.

    Parameters
    ----------
    mapping : dict
        A scenario's file, which is changed.
    folder : Path
        Folder for relative names of files.

    Returns
    -------
    bool
        Whether anything changed.

    Raises
    ------
    ScenarioError
        If a file cannot be read or is not a trace; the message names the place, the file and the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> fill({"title": "no trace"}, Path())
    False
    """
    links: Any = mapping.get("links")
    keys = [(i, key) for i in range(len(links)) for key in COLUMNS] if isinstance(links, list) else []
    named = [(i, key) for i, key in keys if _names_trace(links[i], key)]
    for i, key in named:
        table, place = links[i][key], f"links[{i}].{key}.trace"
        name = table.pop(KEY)
        if not isinstance(name, str) or not name:
            example = {"rate": "cellular.up", "delay": "passes.csv"}[key]
            raise ScenarioError(f'{place}: must be the name of a file such as "{example}"')
        try:
            held = read(folder / name, key)
        except InputError as error:
            raise ScenarioError(f"{place}: {error}") from None
        _check_whole(held, table, f"links[{i}].{key}", name)
        if twice := held.keys() & table.keys():
            raise ScenarioError(f"{place}: {min(twice)} stand beside it; give one of them")
        table |= held
    return bool(named)


def _check_whole(held: Mapping[str, Any], table: Mapping[str, Any], place: str, name: str) -> None:
    """Refuse a period that is not longer than the trace, and a trace without period that ends with a rate of 0."""
    steps = held.get("steps")
    if not steps:
        return
    period = table.get("period")
    if isinstance(period, str):
        try:
            length = seconds(period)
        except UnitError:
            return  # The parser of the scenario reports the invalid period.
        last = seconds(steps[-1][0])
        if length <= last:
            raise ScenarioError(
                f"{place}.period: must be longer than the trace {name}, whose last time is {format_time(last)}, "
                f"not {format_time(length)}"
            )
    elif period is None and steps[-1][1] == "0 bit/s":
        raise ScenarioError(f"{place}.trace: {name} ends with a rate of 0, which would last for ever; give a period")


def _names_trace(link: object, key: str) -> bool:
    table = link.get(key) if isinstance(link, dict) else None
    return isinstance(table, dict) and KEY in table


def read(path: Path, key: str = "rate") -> dict[str, Any]:
    """Read a trace and return the keys of a link's ``rate`` or ``delay``.

    Parameters
    ----------
    path : Path
        A ``.csv`` file with a header and the columns ``time_s`` [s], ascending from 0, and ``rate_bps`` [bit/s] or
        ``delay_s`` [s]. For rates, files with another suffix are read in mahimahi's format. Both may be compressed with
        gzip (``.gz``).
    key : {"rate", "delay"}

    Returns
    -------
    dict
        ``{"steps": [["0 ns", "50000000 bit/s"], ...]}`` or ``{"opportunities": "1 3x2 7"}``.

    Raises
    ------
    InputError
        If the trace is invalid or larger than 64 MiB; the message names the line.
    """
    raw = read_trace(path, _WHAT[key])
    try:
        if key == "rate" and not is_table(path):
            return {"opportunities": _opportunities(raw)}
        return {"steps": _steps(raw, COLUMNS[key])}
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def read_trace(path: Path, what: str = "trace") -> bytes:
    """Read the bytes of a trace, decompressed if it is a gzip file.

    Raises
    ------
    InputError
        If it cannot be read, is too large, or is a file of another kind, which the message names.
    """
    raw = read_bytes(path, what)
    try:
        raw = unpacked(raw)
    except ValueError as error:
        raise InputError(f"{path}: {error}; give the trace itself") from None
    if form := form_of(raw):
        name, advice = form
        right = "give times in milliseconds, one a line, or a table of times and rates or delays"
        raise InputError(f"{path}: is {name}, no trace; {advice or right}")
    return raw


def is_table(path: Path) -> bool:
    """Whether a link reads a file as a table; other files are in mahimahi's format.

    Examples
    --------
    >>> from pathlib import Path
    >>> is_table(Path("rates.csv.gz")), is_table(Path("cellular.up"))
    (True, False)
    """
    return path.name.lower().removesuffix(".gz").endswith(".csv")


def _opportunities(raw: bytes) -> str:
    """Return the times of a trace with their multiplicities, in the scenario's notation."""
    times, counts = opportunity_times(raw)
    pairs = zip(times.tolist(), counts.tolist(), strict=True)
    return " ".join(f"{ms}x{count}" if count > 1 else str(ms) for ms, count in pairs)


def opportunity_times(raw: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read a trace in mahimahi's format.

    Parameters
    ----------
    raw : bytes
        A byte order mark, blanks around a time and blank lines at the end are ignored.

    Returns
    -------
    times : array of int, shape (times,) [ms]
        Distinct times in ascending order.
    counts : array of int, shape (times,)
        Number of lines with each time.

    Raises
    ------
    ValueError
        If the trace is invalid; the message names the line.
    """
    import numpy as np  # noqa: PLC0415 (slow to import; few scenarios need it)

    raw = raw.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n").rstrip()
    if b" " in raw or b"\t" in raw:
        raw = _BLANKS.sub(b"", raw)
    if not raw:
        raise ValueError("is empty; a trace has a time in milliseconds on each line")
    letters = np.frombuffer(raw, np.uint8)
    ends = letters == ord("\n")
    wrong = ~ends & ((letters < ord("0")) | (letters > ord("9")))
    starts = np.flatnonzero(np.concatenate([[True], ends[:-1]])) if len(letters) > 1 else np.zeros(1, np.int64)
    lengths = np.diff(np.append(np.flatnonzero(ends), len(letters)), prepend=-1) - 1
    bad = np.flatnonzero((lengths == 0) | (lengths > len(str(_MOST_MS))))
    first = int(ends[: int(wrong.argmax())].sum()) if wrong.any() else len(lengths)
    if (line := min(first, int(bad[0]) if len(bad) else len(lengths))) < len(lengths):
        begin = int(starts[line]) if line < len(starts) else len(raw)
        shown = raw[begin : begin + min(int(lengths[line]), 20)].decode("ascii", "backslashreplace")
        shown = shown.encode("unicode_escape").decode().replace("\\\\x", "\\x")
        raise ValueError(f'line {line + 1}: must be a whole number of milliseconds, not "{shown}"')
    times = np.fromstring(raw.decode("ascii"), np.int64, sep="\n")
    if len(times) > _MOST_TIMES:
        raise ValueError(f"must have 1 to {_MOST_TIMES} lines, has {len(times)}")
    if (early := np.flatnonzero(np.diff(times) < 0)).size:
        line = int(early[0]) + 1
        raise ValueError(
            f"line {line + 1}: {times[line]} ms come before the line above, {times[line - 1]} ms; sort them"
        )
    if not 0 < times[-1] <= _MOST_MS:
        raise ValueError(f"line {len(times)}: the last time must lie between 1 and {_MOST_MS} ms, not {times[-1]}")
    each, counts = np.unique(times, return_counts=True)
    return each, counts


def table_rows(text: str, mark: str = ",") -> Iterator[tuple[int, list[str]]]:
    r"""Yield the rows of a table, including the header, by the rules that all readers of tables share.

    Parameters
    ----------
    text : str
        Without a byte order mark (`elephan.input_files.decoded`).
    mark : str
        Separator of the columns.

    Yields
    ------
    tuple of int and list of str
        Number of the line in the file, and its fields without the blanks around them. Blank lines are skipped.

    Raises
    ------
    ValueError
        If quotes are wrong, or a row has another number of fields than the first.

    Examples
    --------
    >>> list(table_rows('time_s, "rate_bps"\n\n0, 5'))
    [(1, ['time_s', '"rate_bps"']), (3, ['0', '5'])]
    """
    width = 0
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        for row in rows:
            fields = [field.strip() for field in row]
            if fields in ([], [""]):
                continue
            width = width or len(fields)
            if len(fields) != width:
                raise ValueError(f"line {rows.line_num}: has {count(len(fields), 'field')}, not {width}")
            yield rows.line_num, fields
    except csv.Error as error:
        raise ValueError(f"cannot be read: {error}") from None


def _steps(raw: bytes, value: Column) -> list[list[str]]:
    """Return the rows of a table in the notation of scenarios: times, and the value from each time on."""
    rows = table_rows(decoded(raw))
    _, header = next(rows, (0, []))
    if any(header.count(name) != 1 for name in (_TIME, value.name)):
        held = ", ".join(header) if "".join(header).isprintable() else "not readable"
        raise ValueError(f"must have one column {_TIME} and one {value.name}; its columns: {held or 'none'}")
    columns = [header.index(name) for name in (_TIME, value.name)]
    limits = ((_TIME, MOST_SECONDS), (value.name, value.most))
    steps: list[list[str]] = []
    last = -1
    for line, row in rows:
        time, number = (_number(line, limit, row[i]) for limit, i in zip(limits, columns, strict=True))
        if (at := round(time * 1e9)) <= last:
            raise ValueError(f"line {line}: {_TIME} must be later than in the line above, not {time:.15g}")
        if not steps and at:
            raise ValueError(f"line {line}: {_TIME} must begin at 0, not at {time:.15g}")
        if value.name == "rate_bps" and 0 < number < LEAST_BPS:
            raise ValueError(
                f"line {line}: rate_bps must be 0 or at least {LEAST_BPS:g}, not {number:.15g}; it is in bit/s"
            )
        last = at
        steps.append([f"{at} ns", value.text(number)])
        if len(steps) > MOST_STEPS:
            raise ValueError(f"must have 1 to {MOST_STEPS} rows, has more")
    if not steps:
        raise ValueError("has no rows; each is a time and what holds from then on")
    return steps


def _number(line: int, limit: tuple[str, float], text: str) -> float:
    name, most = limit
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most or "_" in text:
        raise ValueError(f'line {line}: {name} must be a number from 0 to {most:.15g}, not "{text[:20]}"')
    return number


def column_mark(text: str) -> str:
    """Return the separator of the columns of a table; a blank means one or more blanks or tabs."""
    first = text.strip("\n").partition("\n")[0]
    _, names = next(table_rows(first), (0, []))
    # A link accepts only commas. If a header separated by commas has its column, other separators belong to names.
    if "time_s" in names:
        return ","
    mark = max(",;\t", key=first.count)
    return mark if mark in first else " "


def blank_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table whose columns are separated by blanks.

    Lines that begin with # are skipped, but such a first line may be the header.
    """
    lines = [(i, line.split()) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
    rows = [(i, fields) for i, fields in lines if not fields[0].startswith("#")]
    if lines and lines[0][1][0].startswith("#") and rows:
        names = " ".join(lines[0][1]).lstrip("# ").split()
        if len(names) == len(rows[0][1]):
            yield lines[0][0], names
    width = len(rows[-1][1]) if rows else 0
    for i, fields in rows:
        # A header may have fewer fields: one name for a time that contains a blank.
        is_header = i == rows[0][0] and not any(map(is_number, fields))
        if len(fields) != width and not is_header:
            raise ValueError(f"line {i}: has {count(len(fields), 'field')}, not {width}")
        yield i, fields


def is_number(text: str) -> bool:
    """Whether a field is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
