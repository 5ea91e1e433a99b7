"""Rows of TCP_INFO (from NDT and M-Lab's archives, as JSON or Parquet), and tables (.csv) with named columns.

*Source*: `struct tcp_info` of Linux (times in microseconds, windows in segments, rates in bytes/s); M-Lab's ndt7 and
tcp-info schemas, which name its fields in CamelCase.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from elephan.extras import require
from elephan.measurements.series import (
    COLUMNS,
    MOST_ROWS,
    MeasuredFlow,
    Measurement,
    check_count,
    differences,
    flow_of,
    lines_of,
    number,
    shortened,
)
from elephan.units import count

_FIELDS: dict[str, tuple[str, float]] = {
    "elapsedtime": ("time", 1e-6),
    "rtt": ("srtt_s", 1e-6),
    "rttvar": ("rttvar_s", 1e-6),
    "minrtt": ("min_rtt_s", 1e-6),
    "sndcwnd": ("cwnd_segments", 1.0),
    "bytesacked": ("acked", 1.0),
    "totalretrans": ("retransmitted", 1.0),
    "bytesretrans": ("retransmitted_bytes", 1.0),
    "sndwnd": ("rwnd_bytes", 1.0),
    "deliveryrate": ("delivery_rate_bps", 8.0),
    "pacingrate": ("pacing_rate_bps", 8.0),
    "delivered": ("delivered_segments", 1.0),
    "rwndlimited": ("rwnd_limited_s", 1e-6),
    "sndbuflimited": ("sndbuf_limited_s", 1e-6),
    "busytime": ("busy_s", 1e-6),
    "sndmss": ("mss", 1.0),
    "applimited": ("app_limited", 1.0),
}
"""Fields of TCP_INFO, in lower case without underscores and `tcpi_`: columns, and factors for their units."""

_TIMES = ("elapsedtime", "elapsed", "timestamp", "time", "times", "t")

_SCALES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TABLE: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("time", "time|t|timestamp|elapsed", _SCALES),
    ("srtt_s", "rtt|srtt|smoothed_rtt|tcp_rtt", _SCALES),
    ("rttvar_s", "rttvar|rtt_var", _SCALES),
    ("min_rtt_s", "min_rtt|minrtt", _SCALES),
    ("cwnd_segments", "cwnd|snd_cwnd|tcp_cwnd", {"segments": 1.0, "packets": 1.0}),
    ("cwnd_bytes", "cwnd|snd_cwnd", {"bytes": 1.0, "b": 1.0, "kb": 1e3}),
    ("bytes", "acked|delivered|sent|payload|interval", {"bytes": 1.0}),
    ("rwnd_bytes", "rwnd|snd_wnd", {"bytes": 1.0}),
    ("rate", "rate|goodput|throughput", {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "mbit_s": 1e6}),
)
_BARE = {"bytes": "bytes", "retransmits": "retransmits", "retrans": "retransmits"}

MSS_B = 1448.0
"""Payload of a segment that is assumed if the file does not state it [bytes]."""


def plain(name: Any) -> str:
    """Return a field's name in lower case, without underscores, prefixes with a dot, and `tcpi_`.

    Examples
    --------
    >>> plain("tcpi_snd_cwnd"), plain("TCPInfo.SndCwnd")
    ('sndcwnd', 'sndcwnd')
    """
    return str(name).rpartition(".")[2].lower().removeprefix("tcpi_").replace("_", "")


def find(document: Any) -> list[dict[str, Any]]:
    """Return the largest list of TCP_INFO rows anywhere in a JSON document; empty if there is none."""
    best: list[dict[str, Any]] = []
    open_ = [document]
    visited = 0
    while open_ and visited < MOST_ROWS:
        visited += 1
        here = open_.pop()
        if isinstance(here, dict):
            open_.extend(here.values())
        elif isinstance(here, list):
            rows = [row for item in here if (row := _row(item)) is not None]
            if len(rows) > len(best):
                best = rows
            open_.extend(item for item in here if isinstance(item, dict | list))
    return best


def _row(item: Any) -> dict[str, Any] | None:
    """Return a row of TCP_INFO, with the fields of the enclosing object; None if an item is not such a row."""
    if not isinstance(item, dict):
        return None
    inner = next((value for key, value in item.items() if plain(key) == "tcpinfo" and isinstance(value, dict)), None)
    if inner is not None:
        item = {**item, **inner}
    names = {plain(key) for key in item}
    return item if {"rtt", "sndcwnd"} <= names else None


def from_rows(rows: Sequence[dict[str, Any]], path: Path, source: str = "TCP_INFO") -> Measurement:
    """Convert rows of TCP_INFO.

    Raises
    ------
    ValueError
        If the rows have no times, or there are fewer than three.
    """
    check_count(len(rows), "rows")
    plainer = [{plain(key): value for key, value in row.items()} for row in rows]
    key = next((name for name in _TIMES if any(name in row for row in plainer)), None)
    if key is None:
        raise ValueError("has rows of TCP_INFO without a time; ElapsedTime or Timestamp is needed")
    stamped = [(time, row) for row in plainer if math.isfinite(time := _instant(row.get(key), key))]
    columns: dict[str, list[float]] = {}
    for name, (column, scale) in _FIELDS.items():
        columns[column] = [number(_value(row.get(name)), scale) for _, row in stamped]
    return Measurement(path, source, (_flow([time for time, _ in stamped], columns, "connection"),))


def _value(value: Any) -> Any:
    # Numbers may be stored as text.
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value


def _instant(value: Any, key: str) -> float:
    """Return a time in seconds; NaN if the value is not a time."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError):
            pass
    return number(_value(value), 1e-6 if key == "elapsedtime" else 1.0)


def _flow(times: list[float], columns: dict[str, list[float]], name: str) -> MeasuredFlow:
    count = len(times)
    nothing = [math.nan] * count

    def column(key: str) -> list[float]:
        return columns.get(key, nothing)

    known = [value for value in column("mss") if value > 0]
    mss = known[-1] if known else math.nan
    segment = mss if mss > 0 else MSS_B
    order = sorted(range(count), key=times.__getitem__)

    def ordered(key: str) -> list[float]:
        values = column(key)
        return [values[i] for i in order]

    found = {key: ordered(key) for key in columns if key in COLUMNS}
    found["cwnd_bytes"] = (
        ordered("cwnd_bytes") if "cwnd_bytes" in columns else [value * segment for value in ordered("cwnd_segments")]
    )
    if "bytes" not in found:
        found["bytes"] = differences(ordered("acked"))
    if "retransmits" not in found:
        total = ordered("retransmitted")
        if not any(map(math.isfinite, total)):
            total = [value / segment for value in ordered("retransmitted_bytes")]
        found["retransmits"], found["retrans_segments"] = differences(total), total
    limited = [value for value in column("app_limited") if math.isfinite(value)]
    # Only the lowest bit is `tcpi_delivery_rate_app_limited`; the others are `tcpi_fastopen_client_fail`.
    share = sum(value % 2 == 1 for value in limited) / len(limited) if limited else math.nan
    flow = flow_of(name, [times[i] for i in order], found, mss_bytes=mss, app_limited=share)
    if not flow.has("srtt_s"):
        raise ValueError("has no round-trip times")
    return flow


def read_parquet(path: Path) -> Measurement:
    """Read a Parquet file of TCP_INFO rows, or of a table with named columns.

    Raises
    ------
    InputError
        If pyarrow is not installed.
    ValueError
        If the file is damaged, or does not have the required columns.
    """
    require("a Parquet file", "pyarrow")
    import pyarrow  # noqa: PLC0415 (an optional package)
    from pyarrow import parquet  # noqa: PLC0415 (as above)

    try:
        with parquet.ParquetFile(path) as file:
            check_count(file.metadata.num_rows, "rows")
            rows = file.read().to_pylist()
    except (pyarrow.ArrowException, OSError, MemoryError) as error:
        raise ValueError(f"is a damaged Parquet file ({str(error).partition(chr(10))[0][:60]})") from None
    if not rows:
        raise ValueError("is a Parquet file without rows")
    if found := find(rows):
        return from_rows(found, path, "TCP_INFO (Parquet)")
    names = [str(name) for name in rows[0]]
    return _table(names, ([row.get(name) for name in rows[0]] for row in rows), path, "Parquet")


def read_lines(text: str, path: Path) -> Measurement | None:
    """Read rows of TCP_INFO from a text with one JSON object per line; None if the text has another format."""
    rows = []
    for at, line in enumerate(lines_of(text), 1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            if not rows:
                return None
            raise ValueError(f"line {at}: is not JSON; the file may be cut off") from None
    found = find(rows)
    return from_rows(found, path) if found else None


def read_csv(text: str, path: Path) -> Measurement:
    """Read a table with named columns, such as ``time_s,rtt_ms,cwnd_segments,acked_bytes,retransmits``.

    Raises
    ------
    ValueError
        If no column is known, or a value is not a number.
    """
    csv.field_size_limit(10_000)
    first = text[:4096].partition("\n")[0]
    mark = max(",;\t", key=first.count)
    rows = csv.reader(lines_of(text), delimiter=mark)
    try:
        names = [name.strip() for name in next(rows, [])]
        if len(names) < 2 or not any(_meaning(name) for name in names):
            message = (
                "is none of iperf3 --json, ss -tin, flent, pcap, TCP_INFO, and no table with columns such as time_s "
                f'and rtt_ms; it begins with "{shortened(first, 30)}"'
            )
            raise ValueError(message)
        return _table(names, rows, path, "table")
    except csv.Error as error:
        raise ValueError(f"is no table: {str(error)[:60]}") from None


def _meaning(name: str) -> tuple[str, float] | None:
    """Return the column that a name in a table means, and the factor that converts its unit; None if unknown.

    Examples
    --------
    >>> _meaning("srtt_ms"), _meaning("cwnd_bytes"), _meaning("colour")
    (('srtt_s', 0.001), ('cwnd_bytes', 1.0), None)
    """
    text = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if text in _BARE:
        return _BARE[text], 1.0
    for column, stems, units in _TABLE:
        for unit, scale in units.items():
            if re.fullmatch(f"(?:{stems})_{unit}", text):
                return column, scale
    return None


def _table(names: Sequence[str], rows: Iterator[Sequence[Any]] | Any, path: Path, source: str) -> Measurement:
    meanings = [_meaning(name) for name in names]
    columns: dict[str, list[float]] = {found[0]: [] for found in meanings if found is not None}
    for needed, example in (("time", "time_s"), ("srtt_s", "rtt_ms")):
        if needed not in columns:
            shown = ", ".join(shortened(name, 20) for name in names[:8]) or "nothing"
            raise ValueError(f"has no column such as {example}; it has {shown}")
    if len([found for found in meanings if found]) != len(columns):
        raise ValueError("has two columns of the same quantity")
    for line, row in enumerate(rows, 2):
        if not any(str(field).strip() for field in row):
            continue
        check_count(line, "rows")
        if len(row) != len(names):
            message = (
                f"line {line}: has {count(len(row), 'field')}, not {len(names)} as the header; the file may be cut off"
            )
            raise ValueError(message)
        for field, found in zip(row, meanings, strict=True):
            if found is not None:
                columns[found[0]].append(_field(field, line, found[1]))
    if not columns["time"]:
        raise ValueError("has no rows")
    times = columns.pop("time")
    if "rate" in columns and "bytes" not in columns:
        step = sorted(b - a for a, b in pairwise(times))
        length = step[len(step) // 2] if step else math.nan
        columns["bytes"] = [value * length / 8 for value in columns["rate"]]
    return Measurement(path, source, (_flow(times, columns, "flow"),))


def _field(field: Any, line: int, scale: float) -> float:
    if field is None or (isinstance(field, str) and field.strip().lower() in ("", "nan", "na", "-", "null")):
        return math.nan
    try:
        value = float(field) * scale
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f'line {line}: must be a number, not "{shortened(field, 20)}"') from None
    return value if abs(value) < 1e18 else math.nan
