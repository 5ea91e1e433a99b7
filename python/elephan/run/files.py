"""Files of a run. Each is written beside its place and renamed, so none is ever half there."""

from __future__ import annotations

import json
import os
import platform
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan import _native

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from elephan.run.result import Result
    from elephan.scenario import Scenario


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Give a temporary path that becomes `path` when the block ends well, and vanishes otherwise.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Path
        In the same folder, with the same ending.

    Raises
    ------
    OSError
        If the folder cannot be written.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> Path:
    """Write a text file, whole or not at all.

    Parameters
    ----------
    path : Path
    text : str

    Returns
    -------
    Path

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def write_json(path: Path, document: Mapping[str, Any]) -> Path:
    """Write a JSON document, whole or not at all.

    Parameters
    ----------
    path : Path
    document : mapping

    Returns
    -------
    Path

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    return write_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def write_parquet(path: Path, columns: Mapping[str, Any], metadata: Mapping[str, str]) -> Path:
    """Write columns as Parquet, whole or not at all.

    Parameters
    ----------
    path : Path
    columns : mapping of str to array_like, shape (rows,)
        NaN becomes null.
    metadata : mapping of str to str
        Kept with the schema.

    Returns
    -------
    Path

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import; only written results need it)
    import pyarrow.parquet as pq  # noqa: PLC0415

    def made(column: Any) -> Any:
        # Columns of names stay text where all of them are absent.
        kind = pa.string() if isinstance(column, np.ndarray) and column.dtype == object else None
        return pa.array(column, type=kind, from_pandas=True) if isinstance(column, np.ndarray) else column

    arrays = {name: made(column) for name, column in columns.items()}
    table = pa.table(arrays).replace_schema_metadata(dict(metadata))
    with atomic(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    return path


def identity(scenario: Scenario) -> dict[str, str]:
    """Return what traces a file back to its run.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    dict of str to str

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
    """Return where a result was computed.

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
    """Name the link whose packets were recorded as a path names it.

    Parameters
    ----------
    links : sequence of dict
        Facts of the scenario's links.
    trace : mapping
        ``link`` and ``member``.

    Returns
    -------
    str

    Examples
    --------
    >>> link_name([{"name": "client", "count": 9}], {"link": 0, "member": 3})
    'client[3]'
    """
    link = links[trace["link"]]
    return str(link["name"]) if link["count"] == 1 else f"{link['name']}[{trace['member']}]"


def write_result(result: Result, folder: Path) -> list[Path]:
    """Write everything `Result.write` promises.

    Parameters
    ----------
    result : Result
    folder : Path

    Returns
    -------
    list of Path

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    who = identity(result.scenario)
    document = result.to_json() | {"resolved": result.scenario.resolved, "provenance": provenance()}
    written = [
        write_parquet(folder / "flows.parquet", _flows(result), who),
        write_parquet(folder / "links.parquet", _links(result), who),
    ]
    if any(outcome.has_series for outcome in result.outcomes):
        written.append(write_parquet(folder / "samples.parquet", _samples(result), who))
    if any(outcome.traces for outcome in result.outcomes):
        written.append(write_parquet(folder / "traces.parquet", _traces(result), who))
    for name, rows in (("transfers", "rows"), ("pages", "page_rows")):
        table = _transfers(result, rows)
        if table:
            written.append(write_parquet(folder / f"{name}.parquet", table, who))
    if any(outcome.packets for outcome in result.outcomes):
        written.append(write_parquet(folder / "packets.parquet", _packets(result), who))
    written.append(write_text(folder / "scenario.toml", result.scenario.text))
    written.append(write_json(folder / "run.json", document))
    return written


def _flows(result: Result) -> dict[str, Any]:
    """One row per replication and flow."""
    groups = result.scenario.groups
    columns: dict[str, list[Any]] = {"replication": [], "group": [], "traffic": [], "law": []}
    for replication, outcome in enumerate(result.outcomes):
        group = outcome.flows["group"]
        columns["replication"].append(np.full(group.size, replication, dtype=np.uint32))
        for key, fact in (("group", "name"), ("traffic", "traffic"), ("law", "law")):
            names = np.array([g[fact] for g in groups], dtype=object)
            columns[key].append(names[group] if group.size else np.array([], dtype=object))
        for name, column in outcome.flows.items():
            if name != "group":
                columns.setdefault(name, []).append(column)
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def _links(result: Result) -> dict[str, Any]:
    """One row per replication and link."""
    names = np.array([link["name"] for link in result.scenario.links], dtype=object)
    columns: dict[str, list[Any]] = {"replication": [], "link": [], "loss_ratio": []}
    for replication, outcome in enumerate(result.outcomes):
        columns["replication"].append(np.full(names.size, replication, dtype=np.uint32))
        columns["link"].append(names)
        columns["loss_ratio"].append(np.array([outcome.loss_ratio(i) for i in range(names.size)]))
        for name, column in outcome.links.items():
            columns.setdefault(name, []).append(column)
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def _samples(result: Result) -> dict[str, Any]:
    """One row per replication, instant and flow or link; what does not apply is null.

    ``queue_*`` is what a link's discipline shows of itself.
    """
    import pyarrow as pa  # noqa: PLC0415

    links = [link["name"] for link in result.scenario.links]
    groups = [group["name"] for group in result.scenario.groups]
    names = (
        "replication",
        "time_s",
        "kind",
        "name",
        "index",
        "cwnd_segments",
        "srtt_s",
        "backlog_packets",
        "begun_bytes",
    )
    gauges = sorted({name for outcome in result.outcomes for shown in outcome.queue_gauges for name in shown})
    columns: dict[str, list[Any]] = {name: [] for name in (*names, *(f"queue_{name}" for name in gauges))}
    floats = (*(f"queue_{name}" for name in gauges), "cwnd_segments", "srtt_s")
    types = dict.fromkeys(floats, "float") | {"backlog_packets": "uint32", "begun_bytes": "uint64"}

    def append(replication: int, time_s: Any, kind: str, named: list[str], index: Any, values: dict[str, Any]) -> None:
        rows, samples = len(named), time_s.size
        columns["replication"].append(pa.array(np.full(rows * samples, replication, dtype=np.uint32)))
        columns["time_s"].append(pa.array(np.tile(time_s, rows)))
        columns["kind"].append(pa.repeat(kind, rows * samples))
        columns["name"].append(pa.array(np.repeat(np.array(named, dtype=object), samples), type=pa.string()))
        columns["index"].append(pa.array(np.repeat(np.asarray(index, dtype=np.uint32), samples)))
        for name, kind_of in types.items():
            made = pa.array(values[name].ravel(), from_pandas=True) if name in values else pa.nulls(rows * samples)
            columns[name].append(made.cast(kind_of))

    for replication, outcome in enumerate(result.outcomes):
        time_s = outcome.samples["time_s"]
        if outcome.samples["cwnd_segments"].size:
            named = [groups[g] for g in outcome.flows["group"]]
            srtt_s = outcome.samples["srtt_s"]
            values = {"cwnd_segments": outcome.samples["cwnd_segments"], "srtt_s": np.where(srtt_s > 0, srtt_s, np.nan)}
            append(replication, time_s, "flow", named, outcome.flows["index"], values)
        if outcome.samples["backlog_packets"].size:
            values = {name: outcome.samples[name] for name in ("backlog_packets", "begun_bytes")}
            for name in gauges:
                absent = np.full(time_s.size, np.nan)
                rows = [shown.get(name, absent) for shown in outcome.queue_gauges]
                values[f"queue_{name}"] = np.array(rows)
            append(replication, time_s, "link", links, np.arange(len(links)), values)
    return {name: pa.chunked_array(parts) for name, parts in columns.items()}


def _transfers(result: Result, rows: str) -> dict[str, Any]:
    """One row per replication and complete transfer or page; empty without any."""
    columns: dict[str, list[Any]] = {"replication": [], "group": []}
    for replication, outcome in enumerate(result.outcomes):
        for fact, transfers in zip(result.scenario.groups, outcome.transfers, strict=True):
            if transfers is None or not transfers[rows]["flow"].size:
                continue
            size = transfers[rows]["flow"].size
            columns["replication"].append(np.full(size, replication, dtype=np.uint32))
            columns["group"].append(np.full(size, fact["name"], dtype=object))
            for name, column in transfers[rows].items():
                columns.setdefault(name, []).append(column)
    return {name: np.concatenate(parts) for name, parts in columns.items() if parts}


def _traces(result: Result) -> dict[str, Any]:
    """One row per ACK or timeout of the flows recorded event by event; ``law_*`` is what the law shows of itself."""
    columns: dict[str, list[Any]] = {"replication": [], "flow": []}
    gauges = sorted({name for outcome in result.outcomes for trace in outcome.traces for name in trace["gauges"]})
    for replication, outcome in enumerate(result.outcomes):
        for trace in outcome.traces:
            rows = trace["time_s"].size
            absent = np.full(rows, np.nan)
            for name in gauges:
                columns.setdefault(f"law_{name}", []).append(trace["gauges"].get(name, absent))
            columns["replication"].append(np.full(rows, replication, dtype=np.uint32))
            columns["flow"].append(np.full(rows, trace["flow"], dtype=np.uint32))
            for name, column in trace.items():
                if name not in {"flow", "gauges"} and not name.startswith("drop_"):
                    columns.setdefault(name, []).append(column)
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def _packets(result: Result) -> dict[str, Any]:
    """One row per data packet recorded at a link."""
    columns: dict[str, list[Any]] = {"replication": [], "link": []}
    for replication, outcome in enumerate(result.outcomes):
        for trace in outcome.packets:
            rows = trace["time_s"].size
            columns["replication"].append(np.full(rows, replication, dtype=np.uint32))
            columns["link"].append(np.full(rows, link_name(result.scenario.links, trace), dtype=object))
            for name, column in trace.items():
                if name not in {"link", "member"}:
                    columns.setdefault(name, []).append(column)
    return {name: np.concatenate(parts) for name, parts in columns.items()}
