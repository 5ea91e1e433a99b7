"""A run read back from the folder that `RunResult.write` wrote."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from elephan.display import ColumnTable, page
from elephan.errors import InputError
from elephan.formats import unstamped
from elephan.lint import LintWarning
from elephan.metrics.quantity import LINKS, quantities
from elephan.results import MetricDocument, ResultPart, ResultTables, RunArrays, RunDocument, RunFileDocument
from elephan.results.formats import FORMATS, read_table, table_path
from elephan.runs.arrays import run_arrays
from elephan.runs.files import COUNTERS
from elephan.runs.measures import AskedMetric, as_table, check_metrics, measure, parse_metrics
from elephan.runs.outcome import ReplicationOutcome
from elephan.scenario import Scenario

Columns = dict[str, NDArray[Any]]

DOCUMENT, SCENARIO = "run.json", "scenario.toml"

BESIDE = ("resolved", "provenance", "files", "store")
"""Keys that ``run.json`` has in addition to the document of ``elephan run --json``."""


class ReplicatedRun(Protocol):
    """Protocol of runs whose figures can be drawn."""

    @property
    def scenario(self) -> Scenario:
        """The scenario as it was run."""

    @property
    def outcomes(self) -> tuple[ReplicationOutcome, ...]:
        """Results of each replication."""

    @property
    def parts(self) -> list[ResultPart]:
        """The run as a single part, with its document."""

    def to_json(self) -> RunDocument:
        """Return the document of ``elephan run --json``."""


class FolderRun(ResultTables):
    """Base class of runs in folders; derived classes define the folder and how the document is read."""

    folder: Path

    @property
    @abstractmethod
    def _full(self) -> RunFileDocument:
        """Content of ``run.json``."""

    @property
    def document(self) -> RunDocument:
        """The document of ``elephan run --json``."""
        document: dict[str, Any] = {name: value for name, value in self._full.items() if name not in BESIDE}
        # In a store, `run.json` is the same for the same run, so the time taken is in the provenance only.
        wall_s = self._full["provenance"].get("wall_s")
        if wall_s is not None:
            run = dict(document["run"])
            delivered = run.pop("packets_delivered")
            document["run"] = run | {"wall_s": wall_s, "packets_delivered": delivered}
        return cast("RunDocument", document)

    @property
    def provenance(self) -> dict[str, Any]:
        """Provenance: host, time and versions of the computation, and how long it took [s]."""
        return dict(self._full["provenance"])

    @property
    def warnings(self) -> list[LintWarning]:
        """Lint warnings about the scenario and its results."""
        return [LintWarning(**each) for each in self._full["warnings"]]

    @property
    @abstractmethod
    def scenario(self) -> Scenario:
        """The scenario as it was run."""

    @abstractmethod
    def read(self, name: str) -> Any:
        """Read a table of the folder.

        Parameters
        ----------
        name : str
            ``"flows"`` and ``"links"``: a row per replication and flow or link; ``"samples"``, ``"packets"``,
            ``"traces"``, ``"retransmissions"``, ``"events"``, ``"transfers"`` and ``"pages"``, if they were kept.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        InputError
            If there is no such table, or it is damaged.
        """

    @cached_property
    def outcomes(self) -> tuple[ReplicationOutcome, ...]:
        """Results of each replication, as far as they were written; files have no histograms."""
        return read_outcomes(self)

    def arrays(self) -> RunArrays:
        """Return the columns of all replications, stacked.

        Returns
        -------
        RunArrays

        Raises
        ------
        InputError
            If a file is missing or damaged.
        """
        return run_arrays(self.scenario, self.outcomes)

    def measure(self, metrics: str | Sequence[str]) -> ColumnTable:
        """Compute metrics of the catalogue, see `elephan.runs.result.RunResult.measure`."""
        asked = parse_metrics(metrics)
        check_metrics(asked, self.scenario)
        return as_table(self.measured(asked))

    def measured(self, asked: Sequence[AskedMetric]) -> list[MetricDocument]:
        """Compute metrics, see `elephan.runs.measures.measure`.

        Parameters
        ----------
        asked : sequence of AskedMetric

        Returns
        -------
        list of dict
        """
        return measure(asked, self.scenario, lambda: self.outcomes, self.document)

    @property
    def parts(self) -> list[ResultPart]:
        """The run as a single part."""
        return [ResultPart({}, self.document, self.arrays)]

    @property
    def _title(self) -> str:
        return str(self.document["run"]["scenario"])

    def to_json(self) -> RunDocument:
        """Return `document`, as `elephan.runs.result.RunResult.to_json` does.

        Returns
        -------
        dict
        """
        return self.document

    def _repr_html_(self) -> str:
        return page(self)


@dataclass(frozen=True, repr=False)
class SavedRun(FolderRun):
    """A run that ``elephan run --out`` or `RunResult.write` wrote.

    Parameters
    ----------
    folder : Path

    Examples
    --------
    >>> import elephan, tempfile
    >>> from pathlib import Path
    >>> result = elephan.run(elephan.Scenario.from_text(elephan.EXAMPLE), replications=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = result.write(folder)
    ...     SavedRun(Path(folder)).links["utilization"] == result.links["utilization"]
    True
    """

    folder: Path

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario as it was run."""
        rule = self._full["run"]["warmup_rule"]
        return replace(Scenario.from_file(self.folder / SCENARIO), warmup_rule=rule)

    def read(self, name: str) -> Any:
        """Read a table of the folder, see `FolderRun.read`."""
        file = table_path(self.folder, name)
        if not file.is_file():
            remedy = "with record.packets in its scenario" if name == "packets" else "with series=True, or with --out"
            raise InputError(f"{self.folder}: has no {file.name}; run it again {remedy}")
        return read_table(file)

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield the files of the run as they were written."""
        files = (path for path in sorted(self.folder.iterdir()) if path.suffix.removeprefix(".") in FORMATS)
        tables = [path for path in files if path.name != DOCUMENT]
        yield from ((path.name, path) for path in (*tables, self.folder / SCENARIO, self.folder / DOCUMENT))

    def __repr__(self) -> str:
        return f"<Run of {self._title!r} in {self.folder}>"

    @cached_property
    def _full(self) -> RunFileDocument:
        keys = ("run", "links", "groups", "fairness", "warnings", "provenance")
        document: RunFileDocument = read_document(self.folder / DOCUMENT, keys)
        return document


@contextmanager
def of_this_version(where: Path | str, *, verb: str = "has") -> Iterator[None]:
    """Refuse a document that lacks data that the ``with`` block reads.

    Parameters
    ----------
    where : Path or str
        Document, for the message; a part of it follows after a colon.
    verb : str
        ``"have"`` if the part is in the plural.

    Raises
    ------
    InputError
        If a key is missing, or a value has the wrong type.
    """
    try:
        yield
    except (KeyError, TypeError) as error:
        raise InputError(f"{where}: {verb} no {error}; write the folder again with this version") from None


def read_document(path: Path, keys: Sequence[str] = ()) -> Any:
    """Read a JSON document that a command wrote.

    Parameters
    ----------
    path : Path
    keys : sequence of str
        Keys that the document must have.

    Returns
    -------
    dict
        The caller states its type.

    Raises
    ------
    InputError
        If it cannot be read, is not a document, or lacks a key.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}; write the folder again") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: not a document of elephan, which is a JSON object")
    document = unstamped(document, str(path))
    if missing := [key for key in keys if key not in document]:
        raise InputError(f'{path}: has no "{missing[0]}"; write the folder again with this version')
    return document


def read_outcomes(saved: FolderRun) -> tuple[ReplicationOutcome, ...]:
    """Read the results of each replication, as far as they were written.

    Parameters
    ----------
    saved : FolderRun

    Returns
    -------
    tuple of ReplicationOutcome
        With empty histograms; ``samples``, ``traces`` and ``packets`` are empty if they were not kept.

    Raises
    ------
    InputError
        If a file is missing or damaged.
    """
    scenario = saved.scenario
    kept = {path.stem for path in saved.folder.iterdir() if path.suffix.removeprefix(".") in FORMATS}
    optional = [name for name in ("samples", "packets", "traces", "retransmissions", "events") if name in kept]
    tables = {name: _columns(saved.read(name)) for name in ("flows", "links", *optional)}
    return tuple(_outcome(scenario, int(number), tables) for number in np.unique(tables["links"]["replication"]))


def _outcome(scenario: Scenario, number: int, tables: Mapping[str, Columns]) -> ReplicationOutcome:
    flows, links = tables["flows"], tables["links"]
    derived = (each.name for each in quantities(LINKS) if each.derive is not None)
    of_links = _rows(links, links["replication"] == number, ("replication", "link", *derived))
    of_flows = _rows(flows, flows["replication"] == number, ("replication", "traffic", "law"))
    order = {group["name"]: i for i, group in enumerate(scenario.groups)}
    of_flows["group"] = np.array([order[name] for name in of_flows["group"]], dtype=np.uint32)
    counts = of_flows["index"].size, len(scenario.links)
    sampled, gauges = _samples(tables.get("samples"), number, *counts)
    empty: list[NDArray[np.uint64]] = [np.zeros(0, dtype=np.uint64)] * counts[1]
    none: list[dict[str, Any] | None] = [None] * len(scenario.groups)
    histograms: dict[str, list[Any]] = dict.fromkeys(("backlog_packets", "drain_ps", "delay_ps"), empty)
    histograms["group_delay_ps"] = [[] for _ in scenario.links]
    histograms["datagram_delay_ps"] = empty[:1] * len(scenario.groups)
    recorded = _packets(scenario, tables["packets"], number) if "packets" in tables else []
    traced = _traces(tables, number)
    return ReplicationOutcome(of_links, of_flows, sampled, histograms, gauges, {}, traced, recorded, none, 0)


def _columns(table: Any) -> Columns:
    """Return the columns of an Arrow table as arrays; null becomes NaN."""
    return {name: table[name].to_numpy() for name in table.column_names}


def _rows(columns: Mapping[str, NDArray[Any]], chosen: NDArray[Any], without: Sequence[str]) -> Columns:
    return {name: values[chosen] for name, values in columns.items() if name not in without}


def _samples(samples: Columns | None, number: int, flows: int, links: int) -> tuple[Columns, list[Columns]]:
    """Return the samples of a replication in the shapes of an outcome, and the gauges of each queue."""
    # Columns that are null in some rows are read as floating-point numbers.
    counters = {name: np.dtype(kind) for name, kind in COUNTERS.items() if samples is not None and name in samples}
    kinds: dict[str, tuple[int, dict[str, np.dtype[Any]]]] = {
        "flow": (flows, dict.fromkeys(("cwnd_segments", "srtt_s"), np.dtype("float32")) | counters),
        "link": (links, {"backlog_packets": np.dtype("uint32"), "begun_bytes": np.dtype("uint64")}),
    }
    found: Columns = {"time_s": np.empty(0)}
    gauges: list[Columns] = [{} for _ in range(links)]
    for kind, (rows, names) in kinds.items():
        mine = {name: np.zeros((rows, 0)) for name in names}
        if samples is not None:
            chosen = (samples["kind"] == kind) & (samples["replication"] == number)
            if chosen.any():
                found["time_s"] = samples["time_s"][chosen].reshape(rows, -1)[0]
                mine = {name: _typed(samples[name][chosen], to).reshape(rows, -1) for name, to in names.items()}
                if kind == "link":
                    gauges = _gauges(
                        {n: v[chosen].reshape(rows, -1) for n, v in samples.items() if n.startswith("queue_")}
                    )
        found |= mine
    return found, gauges or [{} for _ in range(links)]


def _typed(values: NDArray[Any], to: np.dtype[Any]) -> NDArray[Any]:
    """Convert a column; datagrams, which have no counters, have zero in memory."""
    return values.astype(to) if to.kind == "f" else np.nan_to_num(values).astype(to)


def _gauges(columns: Columns) -> list[Columns]:
    rows = next((values.shape[0] for values in columns.values()), 0)
    return [
        {name.removeprefix("queue_"): values[i] for name, values in columns.items() if np.isfinite(values[i]).any()}
        for i in range(rows)
    ]


def _packets(scenario: Scenario, packets: Columns, number: int) -> list[dict[str, Any]]:
    """Return the packets of a replication per link; ``client[3]`` is a member of an array."""
    found = []
    names = [link["name"] for link in scenario.links]
    for shown in dict.fromkeys(packets["link"].tolist()):
        chosen = (packets["replication"] == number) & (packets["link"] == shown)
        name, bracket, member = shown.rpartition("[") if shown not in names else (shown, "", "0")
        place = {"link": names.index(name if bracket else shown), "member": int(member.rstrip("]"))}
        found.append({**place, **_rows(packets, chosen, ("replication", "link"))})
    return found


def _traces(tables: Mapping[str, Columns], number: int) -> list[dict[str, Any]]:
    """Return the traced flows of a replication, without the gauges of their laws, drops and SACK blocks."""
    found: list[dict[str, Any]] = []
    traces, again, events = (tables.get(name) for name in ("traces", "retransmissions", "events"))
    if traces is None:
        return found
    mine = traces["replication"] == number
    for flow in np.unique(traces["flow"][mine]):
        columns = _rows(traces, mine & (traces["flow"] == flow), ("replication", "flow"))
        own: dict[str, Any] = {name: values for name, values in columns.items() if not name.startswith("law_")}
        if again is not None:
            chosen = (again["replication"] == number) & (again["flow"] == flow)
            own |= {f"retransmit_{name}": again[name][chosen] for name in ("time_s", "segment")}
        if events is not None:
            chosen = (events["replication"] == number) & (events["flow"] == flow)
            own["events"] = _rows(events, chosen, ("replication", "flow"))
        found.append({"flow": int(flow), **own, "gauges": {}})
    return found
