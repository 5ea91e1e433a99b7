"""iperf3's report of a flow: windows, round-trip times, bytes and retransmissions over time.

*Source*: iperf3(1), ``--json``; its values come from the kernel's ``tcp_info``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elephan.errors import InputError


@dataclass(frozen=True)
class Iperf3Report:
    """Report of one flow, with an entry per interval; times count from the start of the flow.

    Parameters
    ----------
    time_s : ndarray, shape (intervals,)
        Ends of the intervals [s].
    cwnd_segments, srtt_s, retransmitted : ndarray, shape (intervals,)
        Values at the sender: window and round-trip time at the end of each interval, retransmissions within it.
    received_s, received_bytes : ndarray, shape (others,)
        Ends of the receiver's intervals [s], and the bytes received within each [B].
    mss : int [B]
    rttvar_s : ndarray, shape (intervals,)
        Mean deviation of the round-trip time at the end of each interval [s]; NaN if iperf3 does not report it.
    """

    time_s: NDArray[np.float64]
    cwnd_segments: NDArray[np.float64]
    srtt_s: NDArray[np.float64]
    retransmitted: NDArray[np.float64]
    received_s: NDArray[np.float64]
    received_bytes: NDArray[np.float64]
    mss: int
    rttvar_s: NDArray[np.float64]


def read(sender: str, receiver: str, name: str) -> Iperf3Report:
    """Read the JSON documents of both ends.

    Parameters
    ----------
    sender, receiver : str
        JSON text of each end.
    name : str
        Name of the flow, for messages.

    Raises
    ------
    InputError
        If either end failed; the message contains its error.
    """
    sent, came = (_document(text, f"{name}, {end}") for text, end in ((sender, "sender"), (receiver, "receiver")))
    streams = [interval["streams"][0] for interval in sent["intervals"]]
    arrived = [interval["streams"][0] for interval in came["intervals"]]
    mss = int(sent["start"]["tcp_mss_default"])

    def column(rows: list[dict[str, Any]], key: str, scale: float = 1.0) -> NDArray[np.float64]:
        return scale * np.array([row[key] for row in rows], dtype=float)

    rttvar = [row.get("rttvar", np.nan) for row in streams]

    return Iperf3Report(
        column(streams, "end"),
        column(streams, "snd_cwnd", 1 / mss),
        column(streams, "rtt", 1e-6),
        column(streams, "retransmits"),
        column(arrived, "end"),
        column(arrived, "bytes"),
        mss,
        1e-6 * np.array(rttvar, dtype=float),
    )


def complaint(text: str) -> str:
    """Return the error of an iperf3 process.

    Parameters
    ----------
    text : str
        Output of either end; may be empty.

    Returns
    -------
    str
        Error message; empty if there was none.

    Examples
    --------
    >>> complaint('{"error": "unable to connect"}'), complaint('{"intervals": []}'), complaint("out of memory")
    ('unable to connect', '', 'out of memory')
    """
    try:
        return str(json.loads(text).get("error", ""))
    except ValueError:
        return " ".join(text.split())[:200]


def _document(text: str, name: str) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(text)
    except ValueError:
        raise InputError(f"testbed: {name}: iperf3 wrote no report: {text.strip()[:200]!r}") from None
    if "error" in document and not document.get("intervals"):
        raise InputError(f"testbed: {name}: iperf3: {document['error']}")
    return document
