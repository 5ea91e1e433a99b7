"""Files of a run. Each is written under a temporary name and renamed, so that no file is ever incomplete."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import unicodedata
import zlib
from contextlib import contextmanager, suppress
from json.encoder import encode_basestring_ascii as _string
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan import _native
from elephan.formats import stamped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from elephan.runs.result import RunResult
    from elephan.scenario import Scenario


SMALL = 512
"""Number of values below which columns are not compressed: they fit into a disk block, and compression costs more."""


_KINDS = {np.dtype(kind).char for kind in (float, np.float32, np.uint64, np.uint32, bool, object)}
"""Type characters of columns that the extension can write in small tables."""

_SCALAR = json.JSONEncoder(allow_nan=False)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block succeeds, and is removed otherwise.

    Yields
    ------
    Path
        Path in the same folder, with the same suffix; no file exists there.

    Raises
    ------
    OSError
        If the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Made by whoever writes it, so it has the permissions of any new file.
    temporary = _temporary(path, path.stem, path.suffix)
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces `folder` if the block succeeds, and is removed otherwise.

    Parameters
    ----------
    folder : Path
        If it is there, it is given itself: what else is in it stays.

    Yields
    ------
    Path
        An empty one beside it, or `folder`.

    Raises
    ------
    OSError
        If it cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with whole_folder(Path(parent) / "a") as folder:
    ...         _ = (folder / "b.txt").write_text("whole")
    ...     (Path(parent) / "a" / "b.txt").read_text()
    'whole'
    """
    if folder.exists():
        yield folder
        return
    temporary = _temporary(folder, folder.name)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        temporary.replace(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


_LEFT = re.compile(r"\..+-([0-9a-f]{8})([0-9a-f]{8})[0-9a-f]{8}(\.[^.]*)?")
"""Pattern of the names that `_temporary` returns: checksum of the host's name, process id, random digits."""

_cleared: set[Path] = set()
"""Folders that this process has already cleared of temporary files of killed processes."""


def _temporary(path: Path, stem: str, suffix: str = "") -> Path:
    """Return a temporary name beside `path`; remove the leftovers of killed processes of this host there first."""
    machine = f"{zlib.crc32(platform.node().encode()):08x}"
    if path.parent not in _cleared:
        _cleared.add(path.parent)
        for left in path.parent.iterdir() if path.parent.is_dir() else ():
            found = _LEFT.fullmatch(left.name)
            if found is None or found[1] != machine or _is_alive(int(found[2], 16)):
                continue
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                with suppress(OSError):
                    left.unlink()
    return path.with_name(f".{stem}-{machine}{os.getpid():08x}{os.urandom(4).hex()}{suffix}")


def _is_alive(process: int) -> bool:
    """Whether a process of this host is still alive."""
    if os.name != "posix":
        return True  # To ask would end it there.
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
"""File names reserved for devices on Windows, with any extension."""

LONGEST_NAME = 120
"""Maximum length of a name used as part of a file name [bytes]: file systems allow 255 for the whole."""


def file_names(names: Sequence[str]) -> list[str]:
    """Turn names of links, flows, laws or points into parts of file names.

    Parameters
    ----------
    names : sequence of str
        Names within one folder; any text.

    Returns
    -------
    list of str
        Letters, digits, ``-``, ``_`` and ``.``, with ``~`` and a number where it would else be another's name on a
        file system that does not tell upper case from lower; never a path, hidden, or a device of Windows.

    Examples
    --------
    >>> file_names(["core", "client[3]", "../../core", "CON"])
    ['core', 'client-3', 'core~2', '_CON']
    """
    found: list[str] = []
    taken: set[str] = set()
    for i, name in enumerate(names):
        safe = re.sub(r"[^\w.-]+", "-", name).strip("-.").encode()[:LONGEST_NAME].decode(errors="ignore")
        safe = safe.strip("-.") or "_"
        safe = f"_{safe}" if _RESERVED.fullmatch(safe) else safe
        key = unicodedata.normalize("NFKC", safe).casefold()
        found.append(f"{safe}~{i}" if key in taken else safe)
        taken.add(key)
    return found


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file atomically.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    with atomic(path) as temporary:
        temporary.write_bytes(content)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write a text file atomically.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    return write_bytes(path, text.encode())


def write_json(path: Path, document: Mapping[str, Any]) -> Path:
    """Write a JSON document atomically.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    return write_bytes(path, encode_json(document))


def encode_json(document: Mapping[str, Any]) -> bytes:
    r"""Return a JSON document as it is written to files: its version, then one value per line, indented by one.

    Raises
    ------
    ValueError
        If a number is none that JSON has.

    Examples
    --------
    >>> encode_json({"links": [{"name": "core"}]})
    b'{\n "format": 1,\n "links": [\n  {\n   "name": "core"\n  }\n ]\n}\n'
    """
    return (_indented(stamped(document), "\n") + "\n").encode()


def _indented(value: Any, line: str) -> str:
    """Return the same text as `json.dumps` with ``indent=1``, which is pure Python and takes five times as long."""
    inner = line + " "
    if isinstance(value, dict) and value:
        parts = [f"{_string(key)}: {_indented(one, inner)}" for key, one in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{inner}{f',{inner}'.join([_indented(one, inner) for one in value])}{line}]"
    # Fast path for the most frequent types.
    if type(value) is int or (type(value) is float and isfinite(value)):
        return repr(value)
    return _string(value) if type(value) is str else _SCALAR.encode(value)


def write_parquet(path: Path, columns: Mapping[str, Any], metadata: Mapping[str, str]) -> Path:
    """Write columns as a Parquet file, atomically.

    Parameters
    ----------
    columns : mapping of str to array_like, shape (rows,)
        NaN becomes null.
    metadata : mapping of str to str
        Kept with the schema.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    return write_bytes(path, encode_parquet(columns, metadata))


def encode_parquet(columns: Mapping[str, Any], metadata: Mapping[str, str]) -> bytes:
    """Return columns as the bytes of a Parquet file.

    Parameters
    ----------
    columns : mapping of str to array_like, shape (rows,)
        NaN becomes null.
    metadata : mapping of str to str
        Kept with the schema.
    """
    if _is_small(columns):
        made_small = [(name, _names(column) if column.dtype == object else column) for name, column in columns.items()]
        return _native.parquet_file(made_small, list(metadata.items()))
    import pyarrow as pa  # noqa: PLC0415 (slow to import; only long results need it)
    import pyarrow.parquet as pq  # noqa: PLC0415 (as above)

    def made(column: Any) -> Any:
        # Columns of names stay text where all of them are absent.
        kind = pa.string() if isinstance(column, np.ndarray) and column.dtype == object else None
        return pa.array(column, type=kind, from_pandas=True) if isinstance(column, np.ndarray) else column

    table = pa.table({name: made(column) for name, column in columns.items()})
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        table.schema,
        compression="zstd" if table.num_rows * table.num_columns >= SMALL else "none",
        # Dictionaries and statistics enlarge files of measured numbers; Arrow's own schema would repeat Parquet's.
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
    ) as writer:
        writer.add_key_value_metadata(dict(metadata))
        writer.write_table(table)
    return bytes(sink.getvalue())


def _is_small(columns: Mapping[str, Any]) -> bool:
    """Whether the extension can write a table: few numbers and names, in NumPy arrays."""
    if not all(isinstance(column, np.ndarray) and column.dtype.char in _KINDS for column in columns.values()):
        return False
    return 0 < sum(len(column) for column in columns.values()) < SMALL


def _names(column: Any) -> list[str | None]:
    """Return a column of names as a list, with None for absent ones."""
    return [name if isinstance(name, str) else None for name in column.tolist()]


def identity(scenario: Scenario) -> dict[str, str]:
    """Return the metadata that traces a file back to its run.

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


def write_result(result: RunResult, folder: Path, document: Mapping[str, Any] | None = None) -> list[Path]:
    """Write the files that `RunResult.write` documents.

    Parameters
    ----------
    document : mapping, optional
        Content of ``run.json`` in place of the result's own document.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    files = _encoded(result, result.to_json() if document is None else document)
    return [write_bytes(folder / name, content) for name, content in files]


def encode_result(result: RunResult) -> dict[str, bytes]:
    """Return the files that `RunResult.write` writes, as bytes by name.

    Returns
    -------
    dict of str to bytes
        Content of the files by name; ``run.json`` is last.

    Examples
    --------
    >>> from elephan.runs import run
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> list(encode_result(run(Scenario.from_text(EXAMPLE))))
    ['flows.parquet', 'links.parquet', 'scenario.toml', 'run.json']
    """
    return dict(_encoded(result, result.to_json()))


def _encoded(result: RunResult, document: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the files one by one, so that they need not all be in memory."""
    yield from encode_columns(result)
    found = {**document, "resolved": result.scenario.resolved, "provenance": provenance()}
    yield "run.json", encode_json(found)


def encode_columns(result: RunResult) -> Iterator[tuple[str, bytes]]:
    """Yield the files that `RunResult.write` writes one by one, except ``run.json``.

    Yields
    ------
    tuple of str and bytes
        Name and content.
    """
    who = identity(result.scenario)
    yield "flows.parquet", encode_parquet(_flows(result), who)
    yield "links.parquet", encode_parquet(_links(result), who)
    if any(outcome.has_series for outcome in result.outcomes):
        yield "samples.parquet", encode_parquet(sample_columns(result), who)
    if any(outcome.traces for outcome in result.outcomes):
        yield "traces.parquet", encode_parquet(_traces(result), who)
    for name, rows in (("transfers", "rows"), ("pages", "page_rows")):
        if table := _transfers(result, rows):
            yield f"{name}.parquet", encode_parquet(table, who)
    if any(outcome.packets for outcome in result.outcomes):
        yield "packets.parquet", encode_parquet(_packets(result), who)
    yield "scenario.toml", result.scenario.text.encode()


_OF_GROUPS = {"group": "name", "traffic": "traffic", "law": "law"}
"""Columns of flows that are properties of their group."""


def _flows(result: RunResult) -> dict[str, Any]:
    """Return one row per replication and flow."""
    groups = result.scenario.groups
    names = {key: np.array([g[fact] for g in groups], dtype=object) for key, fact in _OF_GROUPS.items()}
    columns: dict[str, list[Any]] = {"replication": [], "group": [], "traffic": [], "law": []}
    for replication, outcome in enumerate(result.outcomes):
        group = outcome.flows["group"]
        columns["replication"].append(np.full(group.size, replication, dtype=np.uint32))
        for key, of_groups in names.items():
            columns[key].append(of_groups[group] if group.size else np.array([], dtype=object))
        for name, column in outcome.flows.items():
            if name != "group":
                columns.setdefault(name, []).append(column)
    return _joined(columns)


def _links(result: RunResult) -> dict[str, Any]:
    """Return one row per replication and link."""
    names = np.array([link["name"] for link in result.scenario.links], dtype=object)
    columns: dict[str, list[Any]] = {"replication": [], "link": []}
    for replication, outcome in enumerate(result.outcomes):
        columns["replication"].append(np.full(names.size, replication, dtype=np.uint32))
        columns["link"].append(names)
        for name, column in (outcome.derived | outcome.links).items():
            columns.setdefault(name, []).append(column)
    return _joined(columns)


def _joined(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Concatenate the columns of the replications."""
    return {name: parts[0] if len(parts) == 1 else np.concatenate(parts) for name, parts in columns.items()}


def sample_columns(result: RunResult) -> dict[str, Any]:
    """Return one row per replication, instant and flow or link; null where a column does not apply.

    ``queue_*`` is what a link's discipline shows of itself.

    Parameters
    ----------
    result : RunResult
        Result with sampled series.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

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


def _transfers(result: RunResult, rows: str) -> dict[str, Any]:
    """Return one row per replication and completed transfer or page; empty if there are none."""
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
    return _joined({name: parts for name, parts in columns.items() if parts})


def _traces(result: RunResult) -> dict[str, Any]:
    """Return one row per ACK or timeout of the traced flows; ``law_*`` are the law's gauges."""
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
    return _joined(columns)


def _packets(result: RunResult) -> dict[str, Any]:
    """Return one row per data packet recorded at a link."""
    columns: dict[str, list[Any]] = {"replication": [], "link": []}
    for replication, outcome in enumerate(result.outcomes):
        for trace in outcome.packets:
            rows = trace["time_s"].size
            columns["replication"].append(np.full(rows, replication, dtype=np.uint32))
            columns["link"].append(np.full(rows, link_name(result.scenario.links, trace), dtype=object))
            for name, column in trace.items():
                if name not in {"link", "member"}:
                    columns.setdefault(name, []).append(column)
    return _joined(columns)
