"""Measurements of TCP senders from files of iperf3, ``ss``, flent, packet captures, NDT and TCP_INFO, and tables.

`read` recognises the format of a file by its contents, and returns a `Measurement`, whose column names end in units.
"""

from __future__ import annotations

import json
from pathlib import Path

from elephan.errors import InputError
from elephan.input_files import decoded, form_of, open_regular, read_bytes, unpacked
from elephan.measurements import captures, flent, iperf3, rows, sockets
from elephan.measurements.series import COLUMNS, MeasuredFlow, Measurement
from elephan.units import format_bytes

__all__ = ["COLUMNS", "MeasuredFlow", "Measurement", "read"]

WHAT = "measurement (iperf3 --json, ss -tin, flent, pcap, TCP_INFO, .csv)"
"""Names of the formats, for messages."""

MOST_BYTES = 256 * 2**20
"""Maximum size of a text file [bytes]; captures may have any size."""


MOST_JSON = 64 * 2**20
"""Maximum size of a JSON text [bytes]; its Python objects take up to thirty times as much memory."""


def read(path: Path, *, every_s: float | None = None) -> Measurement:
    """Read a measurement.

    Parameters
    ----------
    path : Path
        A file in any of these formats; text files may be compressed with gzip.
    every_s : float [s], optional
        Time between two outputs of ``ss``, for a log without times.

    Returns
    -------
    Measurement

    Raises
    ------
    InputError
        If the file cannot be read, has another format, is damaged, or does not contain a TCP sender.
    """
    with open_regular(path, WHAT) as file:
        try:
            head = file.read(64)
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    try:
        if head.startswith(captures.MAGICS):
            return captures.read(path)
        if head.startswith(b"PAR1"):
            return rows.read_parquet(path)
        return _text(path, every_s)
    except InputError:
        raise
    except (ValueError, OverflowError) as error:
        raise InputError(f"{path}: {error}") from None


def _text(path: Path, every_s: float | None) -> Measurement:
    raw = unpacked(read_bytes(path, WHAT, MOST_BYTES), MOST_BYTES)
    form = form_of(raw)
    is_json = form is not None and form[0] == "a JSON document"
    if form is not None and not is_json and sockets_like(raw) is False:
        advice = f"; {form[1]}" if form[1] else f"; give a {WHAT}"
        raise ValueError(f"is {form[0]}{advice}")
    if not raw.strip():
        raise ValueError(f"is empty; give a {WHAT}")
    text = decoded(raw)
    if is_json:
        return _json(text, path)
    if sockets.is_ss(text):
        return sockets.read(text, path, every_s)
    if "[ ID] Interval" in text[:20_000]:
        raise ValueError("is the text of iperf3; run it again with --json (-J), and --interval 0.1")
    return rows.read_csv(text, path)


def sockets_like(raw: bytes) -> bool:
    """Whether bytes may be a log of ``ss`` with times in brackets, whose beginning looks like JSON."""
    return raw.lstrip()[:1] == b"[" and b"cwnd:" in raw[:200_000]


def _json(text: str, path: Path) -> Measurement:
    if sockets_like(text[:200_000].encode()):
        return sockets.read(text, path, None)
    if len(text) > MOST_JSON:
        raise ValueError(f"has more than {format_bytes(MOST_JSON)} of JSON; give a shorter measurement")
    if iperf3.is_stream(text):
        return iperf3.read(iperf3.joined(text), path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        found = rows.read_lines(text, path)
        if found is not None:
            return found
        raise ValueError(f"is damaged or cut off: not JSON{_place(error)}") from None
    if iperf3.is_iperf3(document):
        return iperf3.read(document, path)
    if flent.is_flent(document):
        return flent.read(document, path)
    if isinstance(document, dict) and isinstance(document.get("error"), str):
        raise ValueError(f'iperf3 failed: "{document["error"][:60]}"')
    if found_rows := rows.find(document):
        return rows.from_rows(found_rows, path)
    raise ValueError(f"is JSON, but neither of iperf3, flent nor rows of TCP_INFO; give a {WHAT}")


def _place(error: Exception) -> str:
    line = getattr(error, "lineno", None)
    return f" at line {line}" if line is not None else ", or nested too deeply"
