"""Repeated output of ``ss -tin``, with or without a time before each output.

*Source*: ss(8); `misc/ss.c` of iproute2 for the keys. Round-trip times are in milliseconds, windows in segments. In
`retrans:a/b`, b is the number of retransmissions since the start; in `rwnd_limited:12ms(23.1%)`, 12 ms is the time
since the start.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from elephan.measurements.series import MeasuredFlow, Measurement, check_count, differences, flow_of, lines_of, number

_EPOCH = re.compile(r"^[\[(]?(\d{9,10}(?:\.\d+)?)[\])]?(?=\s|$)")
_ISO = re.compile(r"^[\[(]?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)[\])]?(?=\s|$)")
_CLOCK = re.compile(r"^[\[(]?(\d\d):(\d\d):(\d\d(?:\.\d+)?)[\])]?(?=\s|$)")
_SOCKET = re.compile(r"\b(?:ESTAB|CLOSE-WAIT|FIN-WAIT-[12]|LAST-ACK|CLOSING)\s+\d+\s+\d+\s+(\S+)\s+(\S+)")
_ADDRESSES = re.compile(r"^\s*\d+\s+\d+\s+(\S+:\d+)\s+(\S+:\d+)")
_PAIR = re.compile(r"(?<![\w:])([a-z_]+):([0-9][0-9.]*)(?:/([0-9][0-9.]*))?")
_RATE = re.compile(r"\b(delivery_rate|pacing_rate) ([0-9.]+)([KMGT]?)bps")
_LIMITED = re.compile(r"\b(busy|rwnd_limited|sndbuf_limited):([0-9]+)ms")
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

_INFO = re.compile(r"\brtt:[0-9.]+/[0-9.]+")
"""Pattern of the line of a socket's TCP information."""

LONGEST_LINE = 100_000
"""Maximum length of a line [characters]."""


class _Sampled:
    """Samples of one socket."""

    def __init__(self) -> None:
        self.times: list[float | None] = []
        self.rows: list[dict[str, float]] = []
        self.law = ""
        self.limited = 0


def is_ss(text: str) -> bool:
    """Whether a text may be output of ``ss``."""
    return _INFO.search(text[:200_000]) is not None and "cwnd:" in text[:200_000]


def read(text: str, path: Path, every_s: float | None = None) -> Measurement:
    """Read output of ``ss``.

    Parameters
    ----------
    text : str
    path : Path
    every_s : float [s], optional
        Time between two outputs, for a file without times.

    Raises
    ------
    ValueError
        If no socket has at least three samples, or a time is missing.
    """
    found = _sockets(text)
    if not found:
        raise ValueError("has no socket with rtt and cwnd; use ss --tcp --info --numeric (ss -tin)")
    notes: list[str] = []
    flows = []
    reasons = []
    for name, sampled in found.items():
        if len(sampled.rows) < 3:
            continue
        try:
            flows.append(_flow(name, sampled, every_s))
        except ValueError as error:
            reasons.append(str(error))
    if not flows:
        raise ValueError(
            reasons[0] if reasons else "has fewer than three samples of each socket; repeat ss every 100 ms"
        )
    flows.sort(key=lambda flow: flow.volume, reverse=True)
    kept = [flow for flow in flows if flow.volume >= 0.01 * flows[0].volume]
    if idle := len(flows) - len(kept):
        notes.append(f"{idle} socket{'s' if idle > 1 else ''} with less than 1 % of the data left out")
    return Measurement(path, "ss", tuple(kept), tuple(notes))


def _sockets(text: str) -> dict[str, _Sampled]:
    found: dict[str, _Sampled] = {}
    now: float | None = None
    name = ""
    count = 0
    for line in lines_of(text):
        if len(line) > LONGEST_LINE:
            raise ValueError(f"has a line of more than {LONGEST_LINE:,} characters")
        if (time := _time(line)) is not None:
            now = time
        if (socket := _SOCKET.search(line) or _ADDRESSES.search(line)) is not None:
            name = f"{socket[1][:60]} > {socket[2][:60]}"
        # Listening sockets and the header do not have TCP information.
        if (info := _INFO.search(line)) is None:
            continue
        sampled = found.setdefault(name or "socket", _Sampled())
        sampled.times.append(now)
        sampled.rows.append(_values(line))
        sampled.limited += " app_limited" in line
        body = line[socket.end() :] if socket is not None else line
        if not sampled.law and info is not None:
            sampled.law = _law(body)
        count += 1
        check_count(count, "samples")
    return found


def _law(body: str) -> str:
    """Return the law in a line of TCP information: the word before `wscale`, `rto` or `rtt`."""
    words = body.split()
    for word, following in pairwise(words):
        if following.startswith(("wscale:", "rto:", "rtt:")) and ":" not in word:
            return word[:32]
    return ""


def _values(line: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, first, second in _PAIR.findall(line):
        try:
            found.setdefault(key, float(first))
            if second:
                found.setdefault(f"{key}/", float(second))
        except ValueError:
            continue
    for key, rate, prefix in _RATE.findall(line):
        if rate.replace(".", "", 1).isdigit():
            found[key] = float(rate) * _UNITS[prefix]
    for key, ms in _LIMITED.findall(line):
        found[key] = float(ms[:15])
    return found


def _time(line: str) -> float | None:
    """Return the time at the start of a line: seconds since 1970, ISO 8601, or a time of day."""
    text = line[:60].strip()
    if (epoch := _EPOCH.match(text)) is not None:
        return float(epoch[1])
    if (iso := _ISO.match(text)) is not None:
        try:
            return datetime.fromisoformat(iso[1].replace(",", ".")).timestamp()
        except (ValueError, OverflowError):
            return None
    if (clock := _CLOCK.match(text)) is not None:
        return 3600 * float(clock[1]) + 60 * float(clock[2]) + float(clock[3])
    return None


def _flow(name: str, sampled: _Sampled, every_s: float | None) -> MeasuredFlow:
    rows = sampled.rows
    if every_s is not None:
        times = [every_s * i for i in range(len(rows))]
    elif any(time is None for time in sampled.times) or len(set(sampled.times)) < 3:
        raise ValueError("has no times; print one before each sample (date +%s.%N), or give --every 0.1s")
    else:
        times = [time for time in sampled.times if time is not None]

    def column(key: str, scale: float = 1.0) -> list[float]:
        return [number(row.get(key, math.nan), scale) for row in rows]

    mss = [value for value in column("mss") if value > 0]
    segment = mss[-1] if mss else math.nan
    # Older kernels have no bytes_acked; `delivered` counts segments.
    acked = column("bytes_acked")
    if not any(map(math.isfinite, acked)):
        acked = column("delivered", segment)
    # The field is missing before the first retransmission.
    retransmitted = [value if math.isfinite(value) else 0.0 for value in column("retrans/")]
    columns = {
        "bytes": differences(acked),
        "retransmits": differences(retransmitted),
        "cwnd_bytes": column("cwnd", segment if segment > 0 else 1448.0),
        "srtt_s": column("rtt", 1e-3),
        "rttvar_s": column("rtt/", 1e-3),
        "min_rtt_s": column("minrtt", 1e-3),
        "rwnd_bytes": column("snd_wnd"),
        "delivered_segments": column("delivered"),
        "retrans_segments": retransmitted,
        "delivery_rate_bps": column("delivery_rate"),
        "pacing_rate_bps": column("pacing_rate"),
        "rwnd_limited_s": column("rwnd_limited", 1e-3),
        "sndbuf_limited_s": column("sndbuf_limited", 1e-3),
        "busy_s": column("busy", 1e-3),
    }
    # ss omits these values if they are 0.
    for key in ("rwnd_limited_s", "sndbuf_limited_s"):
        if any(map(math.isfinite, columns["busy_s"])):
            columns[key] = [value if math.isfinite(value) else 0.0 for value in columns[key]]
    return flow_of(name, times, columns, mss_bytes=segment, law=sampled.law, app_limited=sampled.limited / len(rows))
