"""iperf3's JSON: ``--json`` of versions 3.0 to 3.19, and ``--json-stream`` (3.17 and later).

*Source*: iperf3(1); `iperf_api.c` for the keys. Round-trip times are in microseconds, windows in bytes. `bytes` counts
data written to the socket, which exceeds the acknowledged data by the contents of the send buffer. Versions before 3.1
do not have `rtt`, versions before 3.11 do not have `snd_wnd`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from elephan.measurements.series import MeasuredFlow, Measurement, check_count, flow_of, lines_of, number, shortened

Document = dict[str, Any]

_NAMED = (
    ("bytes", "bytes", 1.0),
    ("retransmits", "retransmits", 1.0),
    ("cwnd_bytes", "snd_cwnd", 1.0),
    ("srtt_s", "rtt", 1e-6),
    ("rttvar_s", "rttvar", 1e-6),
    ("rwnd_bytes", "snd_wnd", 1.0),
)
"""Columns, iperf3's keys, and factors that convert iperf3's values to the units of the columns."""


def is_iperf3(document: Any) -> bool:
    """Whether a JSON document is one of iperf3."""
    return isinstance(document, dict) and ("intervals" in document or ("start" in document and "end" in document))


def is_stream(text: str) -> bool:
    """Whether a text may be the output of ``--json-stream``: a JSON object with an event on the first line."""
    head = text.lstrip()[:400]
    return head.startswith("{") and '"event"' in head.partition("\n")[0]


def joined(text: str) -> Document:
    """Return the lines of ``--json-stream`` as one document of ``--json``.

    Raises
    ------
    ValueError
        If a line is not an event.
    """
    document: Document = {"start": {}, "intervals": [], "end": {}}
    for at, line in enumerate(lines_of(text), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            raise ValueError(f"line {at}: is not an event of iperf3 --json-stream; the file may be cut off") from None
        kind, data = (event.get("event"), event.get("data")) if isinstance(event, dict) else (None, None)
        if kind == "interval":
            document["intervals"].append(data)
        elif kind in ("start", "end"):
            document[kind] = data
        elif kind == "error":
            document["error"] = data
    return document


def read(document: Document, path: Path) -> Measurement:
    """Read a document of iperf3.

    Raises
    ------
    ValueError
        If the test failed, did not use TCP, or does not contain a sender with round-trip times.
    """
    start, end = _table(document, "start"), _table(document, "end")
    if isinstance(complaint := document.get("error"), str) and not document.get("intervals"):
        raise ValueError(f'iperf3 failed: "{shortened(complaint)}"')
    test = _table(start, "test_start")
    if (protocol := str(test.get("protocol", "TCP")).upper()) != "TCP":
        message = f"is a test of {shortened(protocol)}; only TCP has windows and round-trip times: iperf3 without --udp"
        raise ValueError(message)
    rows = _rows(document)
    flows = [flow for socket, mine in rows.items() if (flow := _flow(socket, mine, start, end)) is not None]
    if not flows:
        raise ValueError(_why_none(rows, test))
    flows.sort(key=lambda flow: -flow.volume)
    omitted = number(test.get("omit"))
    version = str(start.get("version", "iperf3")).removeprefix("iperf ")
    notes = []
    if omitted > 0:
        notes.append(f"the first {omitted:g} s were omitted by iperf3 (-O): slow start is not seen")
    if isinstance(complaint, str):
        notes.append(f'iperf3 ended with "{shortened(complaint)}"')
    return Measurement(
        path,
        f"iperf3 {shortened(version)}",
        tuple(flows),
        tuple(notes),
        omitted_s=omitted if math.isfinite(omitted) else 0.0,
    )


def _table(document: Document, key: str) -> Document:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _rows(document: Document) -> dict[Any, list[Document]]:
    """Return the intervals of each socket that were not omitted."""
    intervals = document.get("intervals")
    if not isinstance(intervals, list):
        raise ValueError('has no list "intervals", as iperf3 --json writes it')
    found: dict[Any, list[Document]] = {}
    count = 0
    for interval in intervals:
        streams = interval.get("streams") if isinstance(interval, dict) else None
        for stream in streams if isinstance(streams, list) else ():
            if not isinstance(stream, dict) or stream.get("omitted") is True:
                continue
            socket = stream.get("socket")
            found.setdefault(socket if isinstance(socket, int | str) else None, []).append(stream)
            count += 1
            check_count(count, "intervals")
    return found


def _is_sender(stream: Document) -> bool:
    """Whether this host sends the stream; versions before 3.7 do not state it, but only senders have `snd_cwnd`."""
    return stream.get("sender") is not False and "snd_cwnd" in stream


def _flow(socket: Any, rows: list[Document], start: Document, end: Document) -> MeasuredFlow | None:
    mine = [row for row in rows if _is_sender(row)]
    ends, lengths = [], []
    kept = []
    for row in mine:
        at, begun = number(row.get("end")), number(row.get("start"))
        length = number(row.get("seconds"))
        length = length if length > 0 else at - begun
        # The last interval of iperf3 may have only some microseconds.
        if not math.isfinite(at) or not math.isfinite(length) or length < 1e-3:
            continue
        kept.append(row)
        ends.append(at)
        lengths.append(length)
    if len(kept) > 3 and lengths[-1] < 0.5 * sorted(lengths)[len(lengths) // 2]:
        kept, ends, lengths = kept[:-1], ends[:-1], lengths[:-1]
    if len(kept) < 3:
        return None
    columns = {column: [number(row.get(key), scale) for row in kept] for column, key, scale in _NAMED}
    # iperf3 writes 0 for unknown values.
    for name in ("srtt_s", "rttvar_s", "cwnd_bytes", "rwnd_bytes"):
        columns[name] = [value if value > 0 else math.nan for value in columns[name]]
    mss = number(start.get("tcp_mss", start.get("tcp_mss_default")))
    mss = mss if mss > 0 else number(start.get("tcp_mss_default"))
    law = end.get("sender_tcp_congestion")
    return flow_of(
        f"stream {shortened(socket)}",
        ends,
        columns,
        length_s=lengths,
        mss_bytes=mss if mss > 0 else math.nan,
        law=law[:32] if isinstance(law, str) else "",
    )


def _why_none(rows: dict[Any, list[Document]], test: Document) -> str:
    count = max((len(mine) for mine in rows.values()), default=0)
    if not rows:
        return "has no intervals; give iperf3 --interval 0.1 and let it run to its end"
    if any(_is_sender(row) for mine in rows.values() for row in mine):
        return f"has {count} intervals; at least three are needed: iperf3 --interval 0.1"
    how = (
        "the client with --get-server-output or the JSON of the server" if test.get("reverse") else "the client's JSON"
    )
    return f"is of a host that received: windows and round-trip times are the sender's; give {how}"
