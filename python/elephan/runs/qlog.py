"""Traced flows as qlog, for qlog tools and for comparison with traces of other stacks.

Source: draft-ietf-quic-qlog-main-schema-14 (the file, JSON-SEQ, `simulation:` events) and
draft-ietf-quic-qlog-quic-events-13 (`quic:recovery_metrics_updated`, `quic:congestion_state_updated`,
`quic:packet_lost`, `quic:timer_updated`).
Differs from the source: it is TCP, so packets are segments by their numbers; sizes are segments times the packet on the
wire. The gauges of the law are in one unspecified field, ``law``, in the law's units. Drops are markers, with the
time at the link; retransmissions and undone reductions are markers, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.runs.files import file_names, link_name, of_replication, write_bytes

if TYPE_CHECKING:
    from elephan.runs.result import RunResult

EVENT_SCHEMAS = ("urn:ietf:params:qlog:events:quic-13", "urn:ietf:params:qlog:events:simulation")
"""Event schemas; a draft's number is part of the first name."""

RECORD_SEPARATOR = b"\x1e"

LAW_STATES: Mapping[str, tuple[str, ...]] = {
    "bbr3": ("Startup", "Drain", "ProbeBW_DOWN", "ProbeBW_CRUISE", "ProbeBW_REFILL", "ProbeBW_UP", "ProbeRTT"),
    "bbr1": ("Startup", "Drain", "ProbeBW", "ProbeRTT"),
}
"""Names of the values of a law's gauge ``state``."""

SLOW_START, AVOIDANCE = "slow_start", "congestion_avoidance"
"""Congestion states, as in RFC 9002, of laws without states of their own."""

TRIGGERS = {
    "dup_thresh": "reordering_threshold",
    "rack": "time_threshold",
    "reo_timer": "time_threshold",
    "rto": "pto_expired",
}
"""Rules by which segments are declared lost, and the draft's names; the field ``rule`` has the names of elephan."""

TIMERS = {"rto": "pto", "tlp": "pto", "reo_timer": "ack"}
"""Timers that expire, and the draft's types of RFC 9002, Sections 6.2 and 6.1.2; the field ``timer`` has elephan's."""

CA_STATE = "ca_state"
"""Value of ``state_machine`` of changes of the sender's state of recovery; those of the law have no such field."""

_DIGITS = 12
"""Significant digits of a number."""


def write_qlog(result: RunResult, folder: Path) -> list[Path]:
    """Write a file ``GROUP-INDEX.sqlog`` for each traced flow, with ``-rN`` if there are several replications.

    Characters of a group's name that a file name cannot have are omitted.

    Parameters
    ----------
    folder : Path
        Created if missing. Each file is written completely or not at all.

    Returns
    -------
    list of Path
        Empty if the scenario's ``record.trace`` names no flow.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    written = []
    groups = file_names([group["name"] for group in result.scenario.groups])
    for replication, outcome in enumerate(result.outcomes):
        for position, trace in enumerate(outcome.traces):
            group = groups[int(outcome.flows["group"][trace["flow"]])]
            of = of_replication(result, replication)
            path = folder / f"{group}-{int(outcome.flows['index'][trace['flow']])}{of}.sqlog"
            written.append(write_bytes(path, encode_qlog(result, replication, position)))
    return written


def encode_qlog(result: RunResult, replication: int = 0, trace: int = 0) -> bytes:
    """Return the qlog of one traced flow: JSON text sequences (RFC 7464).

    Parameters
    ----------
    replication, trace : int
        Index of the replication, and of the flow among those that it recorded.
    """
    records = _records(result, replication, result.outcomes[replication].traces[trace])
    lines = (json.dumps(record, separators=(",", ":"), allow_nan=False).encode() for record in records)
    return b"".join(RECORD_SEPARATOR + line + b"\n" for line in lines)


def _records(result: RunResult, replication: int, trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    scenario = result.scenario
    outcome = result.outcomes[replication]
    group = scenario.groups[int(outcome.flows["group"][trace["flow"]])]
    name = f"{group['name']}[{int(outcome.flows['index'][trace['flow']])}]"
    yield {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": scenario.title or name,
        "trace": {
            "title": f"{name}, {group['law']}",
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
            },
            "vantage_point": {"name": "sender", "type": "server"},
            "event_schemas": list(EVENT_SCHEMAS),
        },
    }
    details = {"id": scenario.id, "replication": replication, "flow": name, "law": group["law"]}
    yield {"time": 0, "name": "simulation:scenario", "data": {"name": scenario.title or name, "details": details}}
    packet = int(group["packet_bytes"])
    events = [
        *_of_recovery(trace["events"]),
        *_of_sender(trace, group["law"], packet),
        *_of_links(trace, scenario.links),
        *_again(trace),
    ]
    yield from sorted(events, key=lambda event: float(event["time"]))


def _of_sender(trace: Mapping[str, Any], law: str, packet: int) -> Iterable[dict[str, Any]]:
    """Yield events of changed metrics and of new states."""
    shown: dict[str, Any] = {}
    state = ""
    rows = _rows(trace, packet)
    for time_s, metrics in zip(trace["time_s"].tolist(), rows, strict=True):
        entered = _state(metrics, law)
        if entered != state:
            of = {"old": state} if state else {}
            yield _event(time_s, "quic:congestion_state_updated", {**of, "new": entered})
            state = entered
        changed = {key: value for key, value in metrics.items() if shown.get(key) != value}
        if "law" in changed:
            before = shown.get("law", {})
            changed["law"] = {key: value for key, value in metrics["law"].items() if before.get(key) != value}
        shown = metrics
        if changed:
            yield _event(time_s, "quic:recovery_metrics_updated", changed)


def _of_recovery(events: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield losses, changes of the state of recovery, expired timers and undone reductions."""
    state = "Open"
    columns = (events[name].tolist() for name in ("time_s", "event", "reason", "segment", "ca_state"))
    for row, (time_s, kind, reason, segment, entered) in enumerate(zip(*columns, strict=True)):
        if kind == "lost":
            trigger = {"trigger": TRIGGERS[reason]} if reason in TRIGGERS else {}
            header = {"packet_type": "1RTT", "packet_number": segment}
            yield _event(time_s, "quic:packet_lost", {"header": header, **trigger, "rule": reason})
        elif kind in TIMERS:
            found: dict[str, Any] = {"timer_type": TIMERS[kind], "event_type": "expired", "timer": kind}
            if kind == "rto":
                found |= {"rto": _rounded(float(events["rto_s"][row]) * 1e3), "backoff": int(events["backoff"][row])}
            elif kind == "tlp":
                found |= {"probe": segment, "reason": reason}
            yield _event(time_s, "quic:timer_updated", found)
        elif kind == "undo":
            before, after = (float(events[name][row]) for name in ("cwnd_before_segments", "cwnd_segments"))
            said = f"{reason}: cwnd from {before:.6g} to {after:.6g} segments"
            yield _event(time_s, "simulation:marker", {"type": kind, "message": said})
        elif entered != state:
            change = {"old": state, "new": entered, "trigger": reason, "state_machine": CA_STATE}
            yield _event(time_s, "quic:congestion_state_updated", change)
            state = entered


def _rows(trace: Mapping[str, Any], packet: int) -> Iterator[dict[str, Any]]:
    """Yield each row's metrics in qlog's fields and units, omitting infinite and unknown ones."""
    gauges = {name: np.asarray(values).tolist() for name, values in trace["gauges"].items()}
    columns = (trace[name].tolist() for name in ("cwnd_segments", "ssthresh_segments", "in_flight_segments", "srtt_s"))
    for row, (cwnd, ssthresh, in_flight, srtt) in enumerate(zip(*columns, strict=True)):
        law = {name: values[row] for name, values in gauges.items() if row < len(values)}
        law = {name: _rounded(x) for name, x in law.items() if np.isfinite(x)}
        found: dict[str, Any] = {
            "congestion_window": round(cwnd * packet),
            "bytes_in_flight": in_flight * packet,
            "packets_in_flight": in_flight,
        }
        if np.isfinite(ssthresh):
            found["ssthresh"] = round(ssthresh * packet)
        if srtt > 0:
            found["smoothed_rtt"] = _rounded(srtt * 1e3)
        if "min_rtt" in law:
            found["min_rtt"] = _rounded(law["min_rtt"] * 1e3)
        if "pacing_rate" in law:
            found["pacing_rate"] = round(law["pacing_rate"] * packet * 8)
        if law:
            found["law"] = law
        yield found


def _state(metrics: Mapping[str, Any], law: str) -> str:
    if law in LAW_STATES and "state" in metrics.get("law", {}):
        return LAW_STATES[law][int(metrics["law"]["state"])]
    return SLOW_START if metrics["congestion_window"] < metrics.get("ssthresh", np.inf) else AVOIDANCE


def _of_links(trace: Mapping[str, Any], links: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Yield events of the flow's dropped packets: time and link."""
    columns = (trace[f"drop_{name}"].tolist() for name in ("time_s", "link", "segment"))
    for time_s, link, segment in zip(*columns, strict=True):
        name = link_name(links, {"link": link, "member": 0})
        yield _event(time_s, "simulation:marker", {"type": "drop", "message": f"segment {segment} at link {name}"})


def _again(trace: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield events of the segments that were sent again."""
    for time_s, segment in zip(trace["retransmit_time_s"].tolist(), trace["retransmit_segment"].tolist(), strict=True):
        yield _event(time_s, "simulation:marker", {"type": "retransmission", "message": f"segment {segment}"})


def _event(time_s: float, name: str, data: dict[str, Any]) -> dict[str, Any]:
    # In milliseconds, to the picosecond.
    return {"time": round(time_s * 1e3, 9), "name": name, "data": data}


def _rounded(x: float) -> float:
    return float(f"{x:.{_DIGITS}g}")
