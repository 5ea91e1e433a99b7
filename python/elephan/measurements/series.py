"""The common form of all measurements: time series of TCP senders, with units in the names of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COLUMNS = {
    "bytes": "payload sent or acknowledged in the interval [bytes]",
    "retransmits": "segments retransmitted in the interval",
    "cwnd_bytes": "congestion window at the end of the interval [bytes]",
    "srtt_s": "smoothed round-trip time at the end of the interval [s]",
    "rttvar_s": "its mean deviation [s]",
    "min_rtt_s": "smallest round-trip time so far [s]",
    "rwnd_bytes": "receive window that the receiver advertised [bytes]",
    "delivered_segments": "segments delivered so far",
    "retrans_segments": "segments retransmitted so far",
    "delivery_rate_bps": "the kernel's delivery rate [bit/s]",
    "pacing_rate_bps": "the kernel's pacing rate, also of senders that do not pace [bit/s]",
    "rwnd_limited_s": "time limited by the receive window so far [s]",
    "sndbuf_limited_s": "time limited by the send buffer so far [s]",
    "busy_s": "time with data to send so far [s]",
}
"""Columns of a flow, and their meanings. Columns that samples of simulations also have are called the same there."""

MOST_ROWS = 2_000_000
"""Maximum number of intervals of all flows of a measurement."""

LARGEST = 1e18
"""Values from this one on are treated as damaged."""


@dataclass(frozen=True)
class MeasuredFlow:
    """Time series of one TCP sender.

    Parameters
    ----------
    name : str
        Name of the stream in its file.
    end_s : ndarray, shape (intervals,) [s]
        Ends of the intervals, from the start of the measurement.
    length_s : ndarray, shape (intervals,) [s]
        Lengths of the intervals.
    columns : mapping of str to ndarray, shape (intervals,)
        Some of `COLUMNS`; missing values are NaN.
    mss_bytes : float [bytes]
        Payload of a full segment; NaN if the file does not state it.
    law : str
        Congestion control as the kernel names it; empty if unknown.
    app_limited : float
        Share of the samples in which the application limited the sender; NaN if unknown.
    """

    name: str
    end_s: Floats
    length_s: Floats
    columns: Mapping[str, Floats]
    mss_bytes: float = math.nan
    law: str = ""
    app_limited: float = math.nan

    def has(self, name: str) -> bool:
        """Whether at least half of the values of a column are known."""
        values = self.columns.get(name)
        return values is not None and values.size > 0 and bool(np.isfinite(values).mean() >= 0.5)

    @property
    def duration_s(self) -> float:
        """Total duration of all intervals [s]."""
        return float(self.length_s.sum())

    @property
    def interval_s(self) -> float:
        """Median length of the intervals [s]."""
        return float(np.median(self.length_s))

    @property
    def volume(self) -> float:
        """Sum of the known bytes, or of the windows if bytes are not counted; it is used to rank flows."""
        values = self.columns.get("bytes", self.columns.get("cwnd_bytes"))
        return 0.0 if values is None else float(np.nansum(values))

    def growth(self, name: str, until_s: float = math.inf) -> tuple[float, float]:
        """Return the growth of a counter within the measurement, and the total length of the counted intervals [s].

        Counters count from the start of a connection, which may be long before the measurement. If a counter falls,
        another connection has begun; such an interval is skipped.
        """
        values = self.columns.get(name, np.empty(0))
        known = np.isfinite(values) & (self.end_s[: values.size] <= until_s + 1e-9)
        steps, gaps = np.diff(values[known]), np.diff(self.end_s[: values.size][known])
        grown = steps >= 0
        return float(steps[grown].sum()), float(gaps[grown].sum())


@dataclass(frozen=True)
class Measurement:
    """Measurement of one path.

    Parameters
    ----------
    path : Path
        Path of the file.
    source : str
        Program that wrote the file: "iperf3 3.12", "ss", "flent".
    flows : tuple of MeasuredFlow
        Senders, the one with the most data first.
    notes : tuple of str
        Sentences about omitted data and assumptions.
    base_rtt_s : float [s]
        Round-trip time of the handshake or of a ping before the test; NaN if unknown.
    omitted_s : float [s]
        Time at the start that the program omitted.
    """

    path: Path
    source: str
    flows: tuple[MeasuredFlow, ...]
    notes: tuple[str, ...] = field(default=())
    base_rtt_s: float = math.nan
    omitted_s: float = 0.0

    @property
    def flow(self) -> MeasuredFlow:
        """The sender with the most data."""
        return self.flows[0]

    def to_json(self) -> dict[str, Any]:
        """Return a summary as plain data, without the series."""
        return {
            "file": str(self.path),
            "source": self.source,
            "flows": [
                {
                    "name": flow.name,
                    "law": flow.law or None,
                    "duration_s": flow.duration_s,
                    "interval_s": flow.interval_s,
                    "intervals": int(flow.end_s.size),
                    "columns": [name for name in COLUMNS if flow.has(name)],
                    "mss_bytes": flow.mss_bytes if math.isfinite(flow.mss_bytes) else None,
                }
                for flow in self.flows
            ],
            "base_rtt_s": self.base_rtt_s if math.isfinite(self.base_rtt_s) else None,
            "notes": list(self.notes),
        }


def check_count(count: int, what: str) -> None:
    """Refuse a file with more than `MOST_ROWS` rows; `what` is their name in the message.

    Raises
    ------
    ValueError
    """
    if count > MOST_ROWS:
        raise ValueError(f"has more than {MOST_ROWS:,} {what}")


def lines_of(text: str) -> Iterator[str]:
    r"""Yield the lines of a text one by one. A list of short lines would take ten times as much memory as the text.

    Examples
    --------
    >>> list(lines_of("a\r\nb"))
    ['a', 'b']
    """
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = end if end >= 0 else len(text)
        yield text[begin:end].removesuffix("\r")
        begin = end + 1


def shortened(text: object, most: int = 60) -> str:
    r"""Return the beginning of a text from a file, on one line, for a message.

    Examples
    --------
    >>> shortened("a\nb"), shortened("abc", 2)
    ('a\\nb', 'ab')
    """
    return str(text)[:most].encode("unicode_escape").decode()


def number(value: Any, scale: float = 1.0) -> float:
    """Return a number of a document times `scale`; NaN if the value is not a number, negative, or above `LARGEST`.

    Examples
    --------
    >>> number(1500, 1e-6), number("1500"), number(-1), number(True)
    (0.0015, nan, nan, nan)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        found = float(value) * scale
    except OverflowError:
        return math.nan
    return found if 0 <= found < LARGEST else math.nan


def flow_of(name: str, end_s: Sequence[float], columns: Mapping[str, Sequence[float]], **facts: Any) -> MeasuredFlow:
    """Return a flow from rows in any order; of several rows with the same time, one is used.

    Parameters
    ----------
    name : str
    end_s : sequence of float [s]
        Ends of the intervals, counted from any instant.
    columns : mapping of str to sequence of float
        Columns; those without a finite value are omitted.
    **facts
        Further parameters of `MeasuredFlow`; `length_s` if the file states lengths.

    Raises
    ------
    ValueError
        If there are fewer than three rows, or their times are not numbers.
    """
    ends = np.asarray(end_s, dtype=float)
    if not np.isfinite(ends).all():
        raise ValueError("a time is not a number")
    ends, chosen = np.unique(ends, return_index=True)
    if ends.size < 3:
        raise ValueError(f"has {ends.size} intervals of a TCP sender; at least three are needed")
    lengths = facts.pop("length_s", None)
    if lengths is None:
        gaps = np.diff(ends)
        lengths = np.concatenate([[np.median(gaps)], gaps])
    else:
        lengths = np.asarray(lengths, dtype=float)[chosen]
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError("the length of an interval is not a positive number")
    begin = ends[0] - lengths[0]
    arrays = {name: np.asarray(values, dtype=float)[chosen] for name, values in columns.items()}
    known = {name: values for name, values in arrays.items() if np.isfinite(values).any()}
    return MeasuredFlow(name, ends - begin, lengths, known, **facts)


def differences(total: Sequence[float]) -> list[float]:
    """Return the growth of a counter from row to row; NaN if it falls, which means that another connection has begun.

    Examples
    --------
    >>> differences([5.0, 8.0, 2.0])
    [nan, 3.0, nan]
    """
    found = [math.nan]
    for before, after in pairwise(total):
        found.append(after - before if after >= before else math.nan)
    return found
