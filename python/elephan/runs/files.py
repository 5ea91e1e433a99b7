"""Files of a run."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elephan import _native
from elephan.results.files import TableColumns
from elephan.results.files import atomic as atomic
from elephan.results.files import file_names as file_names
from elephan.results.files import whole_folder as whole_folder
from elephan.results.files import write_bytes as write_bytes
from elephan.results.files import write_json as write_json
from elephan.results.files import write_text as write_text
from elephan.runs.outcome import ReplicationOutcome
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from elephan.runs.result import RunResult


DOCUMENT = "run.json"
"""Name of the document of a run."""


def identity(scenario: Scenario) -> dict[str, str]:
    """Return the metadata that identifies the run of a file.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> sorted(identity(Scenario.from_text(EXAMPLE)))
    ['elephan_engine_version', 'elephan_run_id', 'elephan_scenario', 'elephan_seed']
    """
    return {
        "elephan_run_id": scenario.id,
        "elephan_engine_version": _native.version(),
        "elephan_seed": str(scenario.seed),
        "elephan_scenario": scenario.canonical,
    }


def provenance() -> dict[str, str]:
    """Return the provenance of a result: where it was computed.

    Returns
    -------
    dict of str to str
        Versions and the kind of machine; the numbers do not depend on it.
    """
    return {
        "engine_version": _native.version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "system": platform.system(),
    }


def link_name(links: Sequence[dict[str, Any]], trace: Mapping[str, Any]) -> str:
    """Return the name, as in a path, of the link at which packets were recorded.

    Parameters
    ----------
    links : sequence of dict
        Facts of the scenario's links.
    trace : mapping
        ``link`` and ``member``.

    Examples
    --------
    >>> link_name([{"name": "client", "count": 9}], {"link": 0, "member": 3})
    'client[3]'
    """
    link = links[trace["link"]]
    return str(link["name"]) if link["count"] == 1 else f"{link['name']}[{trace['member']}]"


def run_files(result: RunResult, document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the files of a run as `elephan.results.files.encode_files` takes them; ``run.json`` is last.

    Parameters
    ----------
    document : mapping
        Content of ``run.json``.
    """
    yield from run_tables(result)
    yield DOCUMENT, {**document, "resolved": result.scenario.resolved, "provenance": provenance()}


def run_tables(result: RunResult) -> Iterator[tuple[str, Any]]:
    """Yield the files of a run, except ``run.json``.

    Examples
    --------
    >>> from elephan.runs import run
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> [name for name, _ in run_tables(run(Scenario.from_text(EXAMPLE)))]
    ['flows', 'links', 'scenario.toml']
    """
    who = identity(result.scenario)
    yield "flows", TableColumns(_flows(result), who)
    yield "links", TableColumns(_links(result), who)
    if any(outcome.has_series for outcome in result.outcomes):
        yield "samples", TableColumns(sample_columns(result), who)
    if any(outcome.traces for outcome in result.outcomes):
        yield "traces", TableColumns(_traces(result), who)
        yield "retransmissions", TableColumns(_retransmissions(result), who)
        yield "events", TableColumns(_events(result), who)
    for name, rows in (("transfers", "rows"), ("pages", "page_rows")):
        if table := _transfers(result, rows):
            yield name, TableColumns(table, who)
    if any(outcome.packets for outcome in result.outcomes):
        yield "packets", TableColumns(_packets(result), who)
    yield "scenario.toml", result.scenario.text


_OF_GROUPS = {"group": "name", "traffic": "traffic", "law": "law"}
"""Columns of flows that are properties of their group."""


def _flows(result: RunResult) -> dict[str, Any]:
    """Return one row per replication and flow."""
    groups = result.scenario.groups
    names = {key: np.array([g[fact] for g in groups], dtype=object) for key, fact in _OF_GROUPS.items()}
    parts = []
    for replication, outcome in enumerate(result.outcomes):
        group = outcome.flows["group"]
        own = {key: of[group] if group.size else np.array([], dtype=object) for key, of in names.items()}
        parts.append((group.size, {"replication": replication, **outcome.flows, **own}))
    return _joined(parts, ("replication", *_OF_GROUPS))


def _links(result: RunResult) -> dict[str, Any]:
    """Return one row per replication and link."""
    names = np.array([link["name"] for link in result.scenario.links], dtype=object)
    return _joined(
        (names.size, {"replication": replication, "link": names, **outcome.derived, **outcome.links})
        for replication, outcome in enumerate(result.outcomes)
    )


def _joined(parts: Iterable[tuple[int, Mapping[str, Any]]], first: Sequence[str] = ()) -> dict[str, Any]:
    """Concatenate columns of parts with these numbers of rows, `first` first; a scalar is the same in all its rows."""
    columns: dict[str, list[Any]] = {name: [] for name in first}
    for rows, part in parts:
        for name, value in part.items():
            if isinstance(value, int | str):
                value = np.full(rows, value, dtype=object if isinstance(value, str) else np.uint32)
            columns.setdefault(name, []).append(value)
    return {name: found[0] if len(found) == 1 else np.concatenate(found) for name, found in columns.items()}


COUNTERS = {
    "rttvar_s": "float32",
    "min_rtt_s": "float32",
    "delivered_segments": "uint64",
    "retrans_segments": "uint32",
    "delivery_rate_bps": "float32",
    "pacing_rate_bps": "float32",
    **dict.fromkeys(("cwnd_limited", "rwnd_limited", "app_limited", "pacing_limited"), "uint8"),
}
"""Samples of TCP senders beside window and smoothed round-trip time, and their types in files; a testbed has some."""


def sample_columns(result: RunResult) -> dict[str, Any]:
    """Return one row per replication, instant and flow or link; null where a column does not apply.

    ``queue_*`` are the gauges of a link's discipline.

    Parameters
    ----------
    result : RunResult
        Result with sampled series.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    links = [link["name"] for link in result.scenario.links]
    groups = [group["name"] for group in result.scenario.groups]
    counters = {name: kind for name, kind in COUNTERS.items() if name in result.outcomes[0].samples}
    about, of_links = ("replication", "time_s", "kind", "name", "index"), ("backlog_packets", "begun_bytes")
    names = (*about, "cwnd_segments", "srtt_s", *counters, *of_links)
    gauges = sorted({name for outcome in result.outcomes for shown in outcome.queue_gauges for name in shown})
    columns: dict[str, list[Any]] = {name: [] for name in (*names, *(f"queue_{name}" for name in gauges))}
    floats = (*(f"queue_{name}" for name in gauges), "cwnd_segments", "srtt_s")
    types = dict.fromkeys(floats, "float") | counters | {"backlog_packets": "uint32", "begun_bytes": "uint64"}

    def append(replication: int, time_s: Any, kind: str, named: list[str], index: Any, values: dict[str, Any]) -> None:
        rows, samples = len(named), time_s.size
        columns["replication"].append(pa.array(np.full(rows * samples, replication, dtype=np.uint32)))
        columns["time_s"].append(pa.array(np.tile(time_s, rows)))
        columns["kind"].append(pa.repeat(kind, rows * samples))
        columns["name"].append(pa.array(np.repeat(np.array(named, dtype=object), samples), type=pa.string()))
        columns["index"].append(pa.array(np.repeat(np.asarray(index, dtype=np.uint32), samples)))
        for name, kind_of in types.items():
            if (at := values.get(name)) is None:
                made = pa.nulls(rows * samples)
            else:
                # If Arrow gets a mask, it does not turn NaN into null itself.
                absent = np.ma.getmaskarray(at) | (np.isnan(np.ma.getdata(at)) if at.dtype.kind == "f" else False)
                made = pa.array(np.ma.getdata(at).ravel(), mask=absent.ravel())
            columns[name].append(made.cast(kind_of))

    for replication, outcome in enumerate(result.outcomes):
        time_s = outcome.samples["time_s"]
        if outcome.samples["cwnd_segments"].size:
            named = [groups[g] for g in outcome.flows["group"]]
            values = flow_samples(outcome)
            append(replication, time_s, "flow", named, outcome.flows["index"], values)
        if outcome.samples["backlog_packets"].size:
            values = {name: outcome.samples[name] for name in of_links}
            for name in gauges:
                absent = np.full(time_s.size, np.nan)
                rows = [shown.get(name, absent) for shown in outcome.queue_gauges]
                values[f"queue_{name}"] = np.array(rows)
            append(replication, time_s, "link", links, np.arange(len(links)), values)
    return {name: pa.chunked_array(parts) for name, parts in columns.items()}


HEADER_B = 40
"""Bytes of IP and TCP header without options, if the scenario states none."""


def payload_bytes(scenario: Scenario) -> list[int]:
    """Return the bytes of data in a full segment of each group of flows."""
    groups = scenario.resolved["flows"]
    return [int(one["packet_bytes"]) - int(one.get("tcp", {}).get("header_bytes", HEADER_B)) for one in groups]


def of_replication(result: RunResult, replication: int) -> str:
    """Return the part of a file name that identifies the replication: ``-rN``; empty if there is only one."""
    return f"-r{replication}" if len(result.outcomes) > 1 else ""


def flow_samples(outcome: ReplicationOutcome) -> dict[str, NDArray[Any]]:
    """Return the samples of the flows of a replication, shape (flows, samples); NaN or masked if there is none.

    Round-trip times are unknown before the first measurement, and datagrams have no window and no counters.
    """
    seen = outcome.samples
    unknown = ~(seen["srtt_s"] > 0)
    found = {"cwnd_segments": seen["cwnd_segments"], "srtt_s": np.where(unknown, np.float32(np.nan), seen["srtt_s"])}
    datagrams = np.isnan(seen["cwnd_segments"])
    for name, kind in COUNTERS.items():
        if name in seen:
            missing = datagrams if kind != "float32" else datagrams | unknown
            # A handshake sets the smoothed round-trip time, but not the minimum.
            missing = missing | ~(seen[name] > 0) if name == "min_rtt_s" else missing
            found[name] = np.ma.masked_array(seen[name], missing)
    return found


def _transfers(result: RunResult, rows: str) -> dict[str, Any]:
    """Return one row per replication and completed transfer or page; empty if there are none."""
    return _joined(
        (transfers[rows]["flow"].size, {"replication": replication, "group": fact["name"], **transfers[rows]})
        for replication, outcome in enumerate(result.outcomes)
        for fact, transfers in zip(result.scenario.groups, outcome.transfers, strict=True)
        if transfers is not None and transfers[rows]["flow"].size
    )


def _traces(result: RunResult) -> dict[str, Any]:
    """Return one row per ACK or timeout of the traced flows; ``law_*`` are the law's gauges."""
    gauges = sorted({name for outcome in result.outcomes for trace in outcome.traces for name in trace["gauges"]})

    def columns(trace: Mapping[str, Any]) -> dict[str, Any]:
        absent = np.full(trace["time_s"].size, np.nan)
        known = (name for name in trace if not name.startswith(("drop_", "retransmit_", "sack_")))
        own = {name: trace[name] for name in known if name not in ("flow", "gauges", "events")}
        return {f"law_{name}": trace["gauges"].get(name, absent) for name in gauges} | own

    return _of_traces(result, columns)


def _events(result: RunResult) -> dict[str, Any]:
    """Return one row per event of the traced flows: losses, states of recovery, timers and undone reductions."""
    return _of_traces(result, lambda trace: trace["events"])


def _retransmissions(result: RunResult) -> dict[str, Any]:
    """Return one row per segment of the traced flows that was sent again."""
    return _of_traces(result, lambda trace: {name: trace[f"retransmit_{name}"] for name in ("time_s", "segment")})


def _of_traces(result: RunResult, columns_of: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> dict[str, Any]:
    """Concatenate columns of the traced flows, after columns of the replication and the flow."""
    traced = [(number, trace) for number, outcome in enumerate(result.outcomes) for trace in outcome.traces]
    found = [(number, int(trace["flow"]), columns_of(trace)) for number, trace in traced]
    return _joined((own["time_s"].size, {"replication": number, "flow": flow, **own}) for number, flow, own in found)


def _packets(result: RunResult) -> dict[str, Any]:
    """Return one row per data packet recorded at a link."""
    parts = []
    for replication, outcome in enumerate(result.outcomes):
        for trace in outcome.packets:
            own = {name: column for name, column in trace.items() if name != "member"}
            name = link_name(result.scenario.links, trace)
            parts.append((trace["time_s"].size, {"replication": replication, **own, "link": name}))
    return _joined(parts, ("replication", "link"))
