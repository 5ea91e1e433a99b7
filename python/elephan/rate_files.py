"""Rates of links from files: traces in mahimahi's format, and tables (.csv) of times and rates.

Source: mahimahi (Netravali et al., USENIX ATC 2015): each line is a time in whole milliseconds at which 1504 bytes may
leave.
"""

from __future__ import annotations

import csv
import io
import math
import tomllib
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError, ScenarioError
from elephan.flow_files import dumps
from elephan.input_files import MOST_BYTES, open_regular, parse_toml
from elephan.units import format_bytes

if TYPE_CHECKING:
    from pathlib import Path

_TIME, _RATE = "time_s", "rate_bps"
_MOST_TIMES, _MOST_STEPS = 10_000_000, 100_000
_MOST_MS, _MOST_SECONDS, _MOST_BPS = 10**9, 1e6, 1e15
_WHAT = "trace (times in milliseconds, one a line, or a .csv of time_s and rate_bps)"


def fill(text: str, folder: Path) -> str:
    """Put what the traces hold that a scenario names into it.

    Parameters
    ----------
    text : str
        A scenario in TOML.
    folder : Path
        What the names of files are relative to.

    Returns
    -------
    str
        The same text if it names no trace; otherwise without its comments, with ``opportunities`` or ``steps`` instead.

    Raises
    ------
    ScenarioError
        If a file cannot be read or is no trace: the place, the file, the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> fill('title = "no trace"', Path())
    'title = "no trace"'
    """
    if "trace" not in text:
        return text
    try:
        mapping = parse_toml(text)
    except tomllib.TOMLDecodeError:
        # The reader has the better message.
        return text
    links: Any = mapping.get("links")
    named = [i for i, link in enumerate(links) if _names_trace(link)] if isinstance(links, list) else []
    for i in named:
        rate, place = links[i]["rate"], f"links[{i}].rate.trace"
        name = rate.pop("trace")
        if not isinstance(name, str) or not name:
            message = f'{place}: must be the name of a file such as "cellular.up"'
            raise ScenarioError(message)
        try:
            held = read(folder / name)
        except InputError as error:
            message = f"{place}: {error}"
            raise ScenarioError(message) from None
        if twice := held.keys() & rate.keys():
            message = f"{place}: {min(twice)} stand beside it; give one of them"
            raise ScenarioError(message)
        rate |= held
    return dumps(mapping) if named else text


def _names_trace(link: object) -> bool:
    rate = link.get("rate") if isinstance(link, dict) else None
    return isinstance(rate, dict) and "trace" in rate


def read(path: Path) -> dict[str, Any]:
    """Read a trace as the keys that a link's ``rate`` takes for it.

    Parameters
    ----------
    path : Path
        A ``.csv`` with a header and the columns ``time_s`` [s], in order from 0, and ``rate_bps`` [bit/s]; any other
        file is in mahimahi's format.

    Returns
    -------
    dict
        ``{"steps": [["0 ns", "50000000 bit/s"], ...]}`` or ``{"opportunities": "1 3x2 7"}``.

    Raises
    ------
    InputError
        What is wrong with it, and in which line. No more than 64 MiB are read.
    """
    try:
        with open_regular(path, _WHAT) as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        message = f"{path}: cannot be read: {(error.strerror or str(error)).lower()}"
        raise InputError(message) from None
    if len(raw) > MOST_BYTES:
        message = f"{path}: has more than {format_bytes(MOST_BYTES)}; give a shorter {_WHAT}"
        raise InputError(message)
    try:
        return _steps(raw) if path.suffix.lower() == ".csv" else {"opportunities": _opportunities(raw)}
    except ValueError as error:
        message = f"{path}: {error}"
        raise InputError(message) from None


def _opportunities(raw: bytes) -> str:
    """The times of a trace, with how often each is there."""
    import numpy as np  # noqa: PLC0415 (slow to import; few scenarios need it)

    raw = raw.replace(b"\r\n", b"\n").removesuffix(b"\n")
    if not raw:
        message = "is empty; a trace has a time in milliseconds on each line"
        raise ValueError(message)
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
        message = f'line {line + 1}: must be a whole number of milliseconds, not "{shown}"'
        raise ValueError(message)
    times = np.fromstring(raw.decode("ascii"), np.int64, sep="\n")
    if len(times) > _MOST_TIMES:
        message = f"must have 1 to {_MOST_TIMES} lines, has {len(times)}"
        raise ValueError(message)
    if (early := np.flatnonzero(np.diff(times) < 0)).size:
        line = int(early[0]) + 1
        message = f"line {line + 1}: {times[line]} ms come before the line above, {times[line - 1]} ms; sort them"
        raise ValueError(message)
    if not 0 < times[-1] <= _MOST_MS:
        message = f"line {len(times)}: the last time must lie between 1 and {_MOST_MS} ms, not {times[-1]}"
        raise ValueError(message)
    each, counts = np.unique(times, return_counts=True)
    pairs = zip(each.tolist(), counts.tolist(), strict=True)
    return " ".join(f"{ms}x{count}" if count > 1 else str(ms) for ms, count in pairs)


def _steps(raw: bytes) -> dict[str, Any]:
    """The rows of a table."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        message = "not a text file in UTF-8"
        raise ValueError(message) from None
    try:
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = [name.strip() for name in next(rows, [])]
        if any(header.count(name) != 1 for name in (_TIME, _RATE)):
            message = f"must have one column {_TIME} and one {_RATE}; its columns: {', '.join(header) or 'none'}"
            raise ValueError(message)
        columns = [header.index(name) for name in (_TIME, _RATE)]
        steps: list[list[str]] = []
        last = -1
        for row in filter(None, rows):
            line = rows.line_num
            if len(row) != len(header):
                message = f"line {line}: has {len(row)} fields, not {len(header)}"
                raise ValueError(message)
            limits = ((_TIME, _MOST_SECONDS), (_RATE, _MOST_BPS))
            time, rate = (_number(line, limit, row[i]) for limit, i in zip(limits, columns, strict=True))
            if (at := round(time * 1e9)) <= last:
                message = f"line {line}: {_TIME} must be later than in the line above, not {time:.15g}"
                raise ValueError(message)
            if not steps and at:
                message = f"line {line}: {_TIME} must begin at 0, not at {time:.15g}"
                raise ValueError(message)
            last = at
            steps.append([f"{at} ns", f"{round(rate)} bit/s"])
            if len(steps) > _MOST_STEPS:
                message = f"must have 1 to {_MOST_STEPS} rows, has more"
                raise ValueError(message)
    except csv.Error as error:
        message = f"cannot be read: {error}"
        raise ValueError(message) from None
    if not steps:
        message = "has no rows; each is a time and the rate from then on"
        raise ValueError(message)
    return {"steps": steps}


def _number(line: int, limit: tuple[str, float], text: str) -> float:
    name, most = limit
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most or "_" in text:
        message = f'line {line}: {name} must be a number from 0 to {most:.15g}, not "{text[:20]}"'
        raise ValueError(message)
    return number
