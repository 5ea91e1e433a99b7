"""Runs in the formats of other tools: iperf3's JSON and flent's data files.

Both hold the flows that ``record.trace`` names, or else the first `STREAMS` with TCP, in the intervals of
``record.every``: delivered bytes, retransmissions, window, smoothed RTT and its deviation, from the samples of the run.

Source: the documents of iperf3 3.12 to 3.17 and the data files of flent 2 (version 4), as they write them.
Differs from them: the date is the epoch, so that the same run gives the same bytes; and streams need not start
together. A test begins when its first flow starts; each stream has intervals from its own start to the sample at which
all that it sends is acknowledged. Samples are at multiples of ``record.every``: a first interval shorter than half of
that is part of the next.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elephan import _native
from elephan.errors import InputError
from elephan.runs.files import of_replication, payload_bytes, write_bytes
from elephan.runs.pcapng import write_pcapng
from elephan.runs.qlog import write_qlog
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from elephan.runs.result import RunResult

SERVER_PORT = 5201
"""Port of iperf3."""

STREAMS = 128
"""Maximum number of streams, as in iperf3."""

EPOCH = "1970-01-01T00:00:00.000000Z"


class _Stream(NamedTuple):
    """A flow in intervals, shape (intervals,) each, with times since the start of the test.

    Interval ``i`` of the flow ends at sample ``first + i`` of the run.
    """

    name: str
    law: str
    packet: int
    mss: int
    first: int
    start_s: float
    end_s: NDArray[np.float64]
    length_s: NDArray[np.float64]
    bytes: NDArray[np.int64]
    retransmits: NDArray[np.int64]
    cwnd: NDArray[np.float64]
    srtt_s: NDArray[np.float64]
    rttvar_s: NDArray[np.float64]


def _streams(result: RunResult, replication: int) -> list[_Stream]:
    scenario, outcome = result.scenario, result.outcomes[replication]
    seen, flows = outcome.samples, outcome.flows
    time_s = seen["time_s"]
    tcp = [i for i, group in enumerate(flows["group"].tolist()) if scenario.groups[group]["law"] is not None]
    chosen = [trace["flow"] for trace in outcome.traces] or tcp[:STREAMS]
    firsts = {flow: _first_sample(time_s, float(flows["start_s"][flow])) for flow in chosen}
    begun = [flow for flow in chosen if firsts[flow] < time_s.size]
    if not begun:
        raise InputError("--also iperf3 and flent: no flow starts before the last sample; give a longer duration")
    test_s = min(float(flows["start_s"][flow]) for flow in begun)
    payload = payload_bytes(scenario)
    found = []
    for flow in begun:
        group, first = int(flows["group"][flow]), firsts[flow]
        facts, mss = scenario.groups[group], payload[group]
        delivered = seen["delivered_segments"][flow]
        last = time_s.size - 1
        if np.isfinite(flows["finished_s"][flow]):
            last = max(first, int(np.searchsorted(delivered, delivered[-1])))
        edges = np.concatenate([flows["start_s"][[flow]], time_s[first : last + 1]]) - test_s
        at = slice(first, last + 1)
        known = seen["srtt_s"][flow, at] > 0

        def grown(name: str, flow: int = flow, at: slice = at) -> NDArray[np.int64]:
            return np.diff(np.concatenate([np.zeros(1, np.int64), seen[name][flow, at].astype(np.int64)]))

        found.append(
            _Stream(
                f"{facts['name']}[{int(flows['index'][flow])}]",
                facts["law"],
                int(facts["packet_bytes"]),
                mss,
                first,
                float(edges[0]),
                edges[1:],
                np.diff(edges),
                grown("delivered_segments") * mss,
                grown("retrans_segments"),
                np.where(known, seen["cwnd_segments"][flow, at], 0.0),
                np.where(known, seen["srtt_s"][flow, at], 0.0),
                np.where(known, seen["rttvar_s"][flow, at], 0.0),
            )
        )
    return found


def _first_sample(time_s: NDArray[np.float64], start_s: float) -> int:
    """Return the sample at which the first interval of a flow ends; the number of samples if there is none."""
    every_s = float(time_s[1] - time_s[0]) if time_s.size > 1 else 0.0
    return int(np.searchsorted(time_s, start_s + every_s / 2, side="right"))


def iperf3(result: RunResult, replication: int = 0) -> dict[str, Any]:
    """Return the flows of a replication as the document of ``iperf3 --json``, one stream per flow.

    Parameters
    ----------
    result : RunResult
        Result with samples.
    """
    flows = _streams(result, replication)
    sockets = [5 + 2 * i for i in range(len(flows))]

    def row(socket: int, flow: _Stream, start: float, end: float, of: slice) -> dict[str, Any]:
        sent = int(flow.bytes[of].sum())
        return {
            "socket": socket,
            "start": start,
            "end": end,
            "seconds": end - start,
            "bytes": sent,
            "bits_per_second": 8 * sent / (end - start),
            "retransmits": int(flow.retransmits[of].sum()),
            "sender": True,
        }

    intervals = []
    begin = 0.0
    for sample, end in _ends(flows):
        streams = []
        for socket, flow in zip(sockets, flows, strict=True):
            i = sample - flow.first
            if not 0 <= i < flow.end_s.size:
                continue
            state = {
                "snd_cwnd": int(flow.cwnd[i] * flow.mss),
                "rtt": round(1e6 * flow.srtt_s[i]),
                "rttvar": round(1e6 * flow.rttvar_s[i]),
                "pmtu": flow.packet,
                "omitted": False,
            }
            until = float(flow.end_s[i])
            streams.append(row(socket, flow, until - float(flow.length_s[i]), until, slice(i, i + 1)) | state)
        intervals.append({"streams": streams, "sum": _sum(streams, begin, end)})
        begin = end
    whole = [
        row(socket, flow, flow.start_s, float(flow.end_s[-1]), slice(None))
        for socket, flow in zip(sockets, flows, strict=True)
    ]
    end_s = max(one["end"] for one in whole)
    connected = [
        {
            "socket": socket,
            "local_host": "198.18.0.1",
            "local_port": 40000 + i,
            "remote_host": "198.19.0.1",
            "remote_port": SERVER_PORT,
        }
        for i, socket in enumerate(sockets)
    ]
    laws = list(dict.fromkeys(flow.law for flow in flows))
    return {
        "start": {
            "connected": connected,
            "version": f"elephan {_native.version()}",
            "system_info": "a simulation",
            "timestamp": {"time": EPOCH, "timesecs": 0},
            "title": result.scenario.title,
            "tcp_mss": flows[0].mss,
            "test_start": {
                "protocol": "TCP",
                "num_streams": len(flows),
                "omit": 0,
                "duration": end_s,
                "bytes": 0,
                "blocks": 0,
                "reverse": 0,
                "tos": 0,
            },
        },
        "intervals": intervals,
        "end": {
            "streams": [{"sender": one} for one in whole],
            "sum_sent": _sum(whole, 0.0, end_s),
            # In a test with several laws, which iperf3 cannot run, the first one.
            "sender_tcp_congestion": laws[0],
        },
    }


def _ends(flows: list[_Stream]) -> list[tuple[int, float]]:
    """Return the samples at which a stream has an interval, and the end of each interval [s]."""
    ends: dict[int, float] = {}
    for flow in flows:
        for sample, end in enumerate(flow.end_s.tolist(), flow.first):
            ends[sample] = max(end, ends.get(sample, 0.0))
    return sorted(ends.items())


def _sum(streams: list[dict[str, Any]], start: float, end: float) -> dict[str, Any]:
    summed = {key: sum(one[key] for one in streams) for key in ("bytes", "retransmits")}
    over = {"start": start, "end": end, "seconds": end - start, "bits_per_second": 8 * summed["bytes"] / (end - start)}
    return over | summed | {"sender": True}


def flent(result: RunResult, replication: int = 0) -> dict[str, Any]:
    """Return the flows of a replication as a data file of flent's test ``tcp_nup``.

    Parameters
    ----------
    result : RunResult
        Result with samples.
    """
    flows = _streams(result, replication)
    at = _ends(flows)
    results: dict[str, list[float | None]] = {}
    for i, flow in enumerate(flows, 1):
        name = f"TCP upload::{i}"
        rows = {
            name: 8e-6 * flow.bytes / flow.length_s,
            f"{name}::tcp_cwnd": flow.cwnd,
            f"{name}::tcp_rtt": 1e3 * flow.srtt_s,
            f"{name}::tcp_rtt_var": 1e3 * flow.rttvar_s,
        }
        for key, values in rows.items():
            known = {flow.first + j: value for j, value in enumerate(values.tolist()) if flow.srtt_s[j] > 0}
            results[key] = [known.get(sample) for sample, _ in at]
    rates = [results[f"TCP upload::{i + 1}"] for i in range(len(flows))]
    results["TCP upload sum"] = [sum(x or 0.0 for x in values) for values in zip(*rates, strict=True)]
    results["TCP upload avg"] = [x / len(flows) if x is not None else None for x in results["TCP upload sum"]]
    times = [end for _, end in at]
    # flent does not draw files without raw values.
    raw = {
        name: [{"t": t, "val": x} for t, x in zip(times, results[name], strict=True) if x is not None]
        for name in (f"TCP upload::{i + 1}" for i in range(len(flows)))
    }
    length_s = times[-1]
    title = result.scenario.title
    return {
        "version": 4,
        "x_values": times,
        "results": results,
        "raw_values": raw,
        "metadata": {
            "NAME": "tcp_nup",
            "TITLE": title,
            "NOTE": f"simulated by elephan {_native.version()}",
            "HOST": "198.19.0.1",
            "HOSTS": ["198.19.0.1"],
            "LOCAL_HOST": "198.18.0.1",
            "TIME": EPOCH,
            "T0": EPOCH,
            "LENGTH": length_s,
            "TOTAL_LENGTH": length_s,
            "STEP_SIZE": float(np.median(flows[0].length_s)),
            "IP_VERSION": 4,
            "FLENT_VERSION": "2.0.0",
            "BATCH_NAME": None,
            "BATCH_TITLE": None,
            "DATA_FILENAME": None,
            "EGRESS_INFO": {"tcp_cong_control": flows[0].law},
            "TEST_PARAMETERS": {"upload_streams": len(flows)},
            "SERIES_META": {
                f"TCP upload::{i}": {"CONG_CONTROL": flow.law, "FLOW": flow.name} for i, flow in enumerate(flows, 1)
            },
        },
    }


def _documents(
    suffix: str, make: Callable[[RunResult, int], dict[str, Any]]
) -> Callable[[RunResult, Path], list[Path]]:
    def write(result: RunResult, folder: Path) -> list[Path]:
        return [
            write_bytes(
                folder / f"run{of_replication(result, replication)}.{suffix}",
                json.dumps(make(result, replication), separators=(",", ":"), allow_nan=False).encode(),
            )
            for replication in range(len(result.outcomes))
        ]

    return write


FORMATS: dict[str, Callable[[RunResult, Path], list[Path]]] = {
    "qlog": write_qlog,
    "iperf3": _documents("iperf3.json", iperf3),
    "flent": _documents("flent", flent),
    "pcapng": write_pcapng,
}
"""Writers of the files for other tools, by their names in ``elephan run --also``."""


def check_recorded(scenario: Scenario, name: str) -> None:
    """Refuse a format that needs data that the scenario does not record.

    Raises
    ------
    InputError
    """
    record = scenario.resolved.get("record", {})
    if name == "pcapng":
        if not record.get("packets"):
            link = scenario.links[scenario.link_index(None)]["name"]
            example = f'{{ link = "{link}", from = "0 s", to = "1 s" }}'
            raise InputError(f"--also pcapng: no packet is recorded; give --set 'record.packets=[{example}]'")
    elif name == "qlog":
        if not record.get("trace"):
            first = scenario.groups[0]["name"]
            raise InputError(f"--also qlog: no flow is recorded ACK by ACK; give --set 'record.trace=[\"{first}[0]\"]'")
    elif all(group["law"] is None for group in scenario.groups):
        raise InputError(f"--also {name}: no flow has TCP")
    elif not record.get("every_ps"):
        raise InputError(f"--also {name}: nothing is sampled; give --set 'record.every=100 ms'")
