"""Runs in the formats of other tools: iperf3's JSON and flent's data files.

Both hold the flows that ``record.trace`` names, or else the first `STREAMS` with TCP, in the intervals of
``record.every``: delivered bytes, retransmissions, window, smoothed RTT and its deviation, from the samples of the run.

Source: the documents of iperf3 3.12 to 3.17 and the data files of flent 2 (version 4), as they write them.
Differs from them: times are those of the simulation, and the date is the epoch, so that the same run gives the same
bytes.
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
"""Maximum number of streams, as iperf3 has it."""

EPOCH = "1970-01-01T00:00:00.000000Z"


class _Stream(NamedTuple):
    """A flow in intervals: shape (intervals,) each."""

    name: str
    law: str
    packet: int
    mss: int
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
    payload = payload_bytes(scenario)
    found = []
    for flow in chosen:
        group = int(flows["group"][flow])
        facts, mss = scenario.groups[group], payload[group]
        known = seen["srtt_s"][flow] > 0
        found.append(
            _Stream(
                f"{facts['name']}[{int(flows['index'][flow])}]",
                facts["law"],
                int(facts["packet_bytes"]),
                mss,
                time_s[1:],
                np.diff(time_s),
                np.diff(seen["delivered_segments"][flow].astype(np.int64)) * mss,
                np.diff(seen["retrans_segments"][flow].astype(np.int64)),
                np.where(known, seen["cwnd_segments"][flow], 0.0)[1:],
                np.where(known, seen["srtt_s"][flow], 0.0)[1:],
                np.where(known, seen["rttvar_s"][flow], 0.0)[1:],
            )
        )
    return found


def iperf3(result: RunResult, replication: int = 0) -> dict[str, Any]:
    """Return the flows of a replication as the document of ``iperf3 --json``, a stream each.

    Parameters
    ----------
    result : RunResult
        With samples.
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
    for i, end in enumerate(flows[0].end_s.tolist()):
        streams = []
        for socket, flow in zip(sockets, flows, strict=True):
            state = {
                "snd_cwnd": int(flow.cwnd[i] * flow.mss),
                "rtt": round(1e6 * flow.srtt_s[i]),
                "rttvar": round(1e6 * flow.rttvar_s[i]),
                "pmtu": flow.packet,
                "omitted": False,
            }
            streams.append(row(socket, flow, end - float(flow.length_s[i]), end, slice(i, i + 1)) | state)
        intervals.append({"streams": streams, "sum": _sum(streams)})
    whole = [
        row(socket, flow, 0.0, float(flow.end_s[-1]), slice(None)) for socket, flow in zip(sockets, flows, strict=True)
    ]
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
                "duration": float(flows[0].end_s[-1]),
                "bytes": 0,
                "blocks": 0,
                "reverse": 0,
                "tos": 0,
            },
        },
        "intervals": intervals,
        "end": {
            "streams": [{"sender": one} for one in whole],
            "sum_sent": _sum(whole),
            # Of a test with several laws, which iperf3 cannot run, the first.
            "sender_tcp_congestion": laws[0],
        },
    }


def _sum(streams: list[dict[str, Any]]) -> dict[str, Any]:
    summed = {key: sum(one[key] for one in streams) for key in ("bytes", "bits_per_second", "retransmits")}
    return {key: streams[0][key] for key in ("start", "end", "seconds")} | summed | {"sender": True}


def flent(result: RunResult, replication: int = 0) -> dict[str, Any]:
    """Return the flows of a replication as a data file of flent's test ``tcp_nup``.

    Parameters
    ----------
    result : RunResult
        With samples.
    """
    flows = _streams(result, replication)
    results: dict[str, list[float | None]] = {}
    for i, flow in enumerate(flows, 1):
        name = f"TCP upload::{i}"
        begun = flow.srtt_s > 0
        results |= {
            name: _known(8e-6 * flow.bytes / flow.length_s, begun),
            f"{name}::tcp_cwnd": _known(flow.cwnd, begun),
            f"{name}::tcp_rtt": _known(1e3 * flow.srtt_s, begun),
            f"{name}::tcp_rtt_var": _known(1e3 * flow.rttvar_s, begun),
        }
    rates = [results[f"TCP upload::{i + 1}"] for i in range(len(flows))]
    results["TCP upload sum"] = [sum(x or 0.0 for x in at) for at in zip(*rates, strict=True)]
    results["TCP upload avg"] = [x / len(flows) if x is not None else None for x in results["TCP upload sum"]]
    times = flows[0].end_s.tolist()
    # flent draws nothing of a file without raw values.
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
            "STEP_SIZE": float(flows[0].length_s[0]),
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


def _known(values: NDArray[np.float64], known: NDArray[np.bool_]) -> list[float | None]:
    return [x if at else None for x, at in zip(values.tolist(), known.tolist(), strict=True)]


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
"""Writers of the files for other tools, by the name that ``elephan run --also`` gives them."""


def check_recorded(scenario: Scenario, name: str) -> None:
    """Refuse a format that needs what the scenario does not record.

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
