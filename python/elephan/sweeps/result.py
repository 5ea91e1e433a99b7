"""Result of a sweep: its points in order, read from the store on demand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from elephan import _native, display
from elephan.display import ColumnTable
from elephan.results import (
    PointsWarningDocument,
    ResultPart,
    ResultTables,
    RunDocument,
    SweepDocument,
    SweepPointDocument,
    WarningDocument,
)
from elephan.results.files import TableColumns
from elephan.runs.measures import AskedMetric, as_table, parse_metrics
from elephan.store import StoredRun, StoreTable, folders
from elephan.store.labels import Labels
from elephan.store.provenance import here
from elephan.store.query import as_column
from elephan.store.summary import RUN, shown_as, summarize
from elephan.store.upkeep import SHARDS
from elephan.units import count, seconds

if TYPE_CHECKING:
    from elephan.sweeps.document import Sweep
    from elephan.sweeps.points import SweepPoint


OF_RUN = ("seed", "replications", "duration_s", "warmup_s", "warmup_rule")
PARTS = ("pools", "links", "groups", "fairness", "precision")
"""Keys of the part ``run`` of a run's document, and parts of it, that a point's document has."""


@dataclass(frozen=True)
class PointResult(ResultTables):
    """Result of a point of a sweep.

    Parameters
    ----------
    point : SweepPoint
    store : Path
    reused : bool
        It was in the store.
    error : str or None
        Why it failed.
    """

    point: SweepPoint
    store: Path
    reused: bool
    error: str | None

    @property
    def labels(self) -> Labels:
        """Values of the axes at this point, as written, by place."""
        return self.point.labels

    @property
    def run(self) -> str:
        """Id of the point's run in the store."""
        return self.point.key

    @property
    def document(self) -> RunDocument:
        """The document of ``elephan run --json``, read again on each access.

        Raises
        ------
        InputError
            If the run is not in the store any more, or damaged.
        """
        return self.stored.document

    @property
    def folder(self) -> Path:
        """Folder of the point's run: in the whole store after the shard was merged, else in the shard's."""
        own = folders.place(self.store, self.run)
        if self.store.parent.name == SHARDS and not own.exists():
            return folders.place(self.store.parent.parent, self.run)
        return own

    @property
    def stored(self) -> StoredRun:
        """The point's run in the store."""
        return StoredRun(self.run, self.folder, lambda: [self.labels])

    @property
    def has_samples(self) -> bool:
        """Whether the point's run is in the store, with samples over time."""
        return self.folder.is_dir() and self.stored.has_samples

    @property
    def parts(self) -> list[ResultPart]:
        """The point as a single part."""
        return [ResultPart(self.labels, self.document, lambda: self.stored.arrays())]

    @property
    def _title(self) -> str:
        return str(self.document["run"]["scenario"])

    def measure(self, metrics: str | Sequence[str]) -> ColumnTable:
        """Compute metrics of the catalogue, see `elephan.runs.result.RunResult.measure`."""
        return self.stored.measure(metrics)

    def to_json(self) -> SweepPointDocument:
        """Return the point in the form of the sweep's document."""
        document: Mapping[str, Any] = self.document
        about = {key: document["run"][key] for key in OF_RUN}
        parts = {key: document[key] for key in PARTS if key in document}
        return cast("SweepPointDocument", {"labels": self.labels, "run": self.run, **about, **parts})


@dataclass(frozen=True, repr=False)
class SweepResult(ResultTables):
    """The result of `sweep`.

    Parameters
    ----------
    sweep : Sweep
    done : tuple of PointResult
        All its points in their order; of a shard, its own.
    store : Path
        Folder of the store with the runs.
    wall_s : float [s]
    packets : int
        Simulated now; what was in the store does not count.
    metrics : tuple of AskedMetric
        Additional metrics requested for the points.
    """

    sweep: Sweep
    done: tuple[PointResult, ...]
    store: Path
    wall_s: float
    packets: int
    metrics: tuple[AskedMetric, ...] = ()

    @property
    def points(self) -> list[PointResult]:
        """Points with a result."""
        return [point for point in self.done if point.error is None]

    @property
    def failures(self) -> list[PointResult]:
        """Points that failed."""
        return [point for point in self.done if point.error is not None]

    @property
    def reused(self) -> int:
        """Number of points that were already in the store."""
        return sum(point.reused for point in self.done)

    @property
    def label_names(self) -> list[str]:
        """Names of the labels, in the order of the axes."""
        return list(dict.fromkeys(name for point in self.done for name in point.labels))

    @property
    def parts(self) -> list[ResultPart]:
        """Parts of the points with a result."""
        return [part for point in self.points for part in point.parts]

    @property
    def _title(self) -> str:
        return self.sweep.title

    @cached_property
    def warnings(self) -> list[PointsWarningDocument]:
        """Lint warnings about the points, one for each rule and place.

        Its words are those of the one of its ``points`` that needs the longest time, and of the first if it needs none;
        the remedy also has the shortest.
        """
        found: dict[tuple[str, str], list[WarningDocument]] = {}
        for point in self.points:
            # Two groups without names, say, are warned about at one place.
            here = {(warned["rule"], warned["where"]): warned for warned in reversed(point.document["warnings"])}
            for place, warned in reversed(here.items()):
                found.setdefault(place, []).append(warned)
        return [_merged(several) for several in found.values()]

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        points = count(len(self.points), "point")
        return f"<SweepResult {self.sweep.title!r}: {points}, {self.reused} of them in the store{failed}>"

    def _repr_html_(self) -> str:
        return display.page(self)

    def table(self) -> StoreTable:
        """Return all points as one table: labels, then the columns that the store has for a run.

        Returns
        -------
        StoreTable
            A row per point with a result, in the order of the sweep.
        """
        import pyarrow as pa  # noqa: PLC0415 (slow to import)

        rows = list(self._rows())
        names = dict.fromkeys(name for row in rows for name in row)
        return StoreTable(pa.table({name: as_column([row.get(name) for row in rows]) for name in names}))

    def measure(self, metrics: str | Sequence[str]) -> ColumnTable:
        """Compute metrics of the catalogue at every point.

        Parameters
        ----------
        metrics : str or sequence of str
            As ``elephan sweep --metric`` takes them.

        Returns
        -------
        ColumnTable
            As for `elephan.runs.result.RunResult.measure`, with the point's labels in front of each row; points
            without a value of the metric have no rows.

        Raises
        ------
        InputError
            If there is no such metric, or the series that it needs were not kept: sweep with ``series=True``.
        """
        asked = parse_metrics(metrics)
        return as_table([{**point.labels, **row} for point in self.points for row in point.stored.measured(asked)])

    def to_json(self) -> SweepDocument:
        """Return the document of ``elephan sweep --json``.

        Returns
        -------
        dict
            ``title``, ``seed``, ``replications``, ``engine_version``, ``base``, ``axes``, ``points`` (each with
            ``labels``, ``run``, and ``links``, ``groups`` and ``fairness`` as ``elephan run --json`` has them),
            ``metrics`` if any were requested), ``failures``, ``warnings``; and under ``provenance`` the values that
            differ between equal sweeps.
        """
        points = [point.to_json() for point in self.points]
        if self.metrics:
            for point, row in zip(self.points, points, strict=True):
                row["metrics"] = point.stored.measured(self.metrics)
        return cast("SweepDocument", {**self._head, "points": points, **self._tail})

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield ``points`` and ``sweep.json``."""
        arrow = self.table().arrow
        about = {"elephan_engine_version": _native.version(), "elephan_sweep": self.sweep.title}
        yield "points", TableColumns({name: arrow[name] for name in arrow.column_names}, about)
        yield "sweep.json", self.to_json()

    @cached_property
    def _head(self) -> dict[str, Any]:
        base = self.sweep.base
        return {
            "title": self.sweep.title,
            "seed": base.seed,
            "replications": base.replications,
            "precision": list(self.sweep.precision),
            "max_replications": self.sweep.max_replications,
            "engine_version": _native.version(),
            "base": base.text,
            "axes": self.sweep.to_json(),
        }

    @property
    def _tail(self) -> dict[str, Any]:
        failures = [{"labels": point.labels, "run": point.run, "error": point.error} for point in self.failures]
        counts = {"reused": self.reused, "wall_s": self.wall_s, "packets_simulated": self.packets}
        provenance = {**here(), **counts, "store": str(self.store)}
        return {"failures": failures, "warnings": self.warnings, "provenance": provenance}

    def _rows(self) -> Iterator[dict[str, Any]]:
        labels = self.label_names
        found = [(point, summarize(point.document)) for point in self.points]
        links = {link["name"] for _, summary in found for link in summary.links}
        for point, summary in found:
            row: dict[str, Any] = {name: point.labels.get(name) for name in labels} | {"run": point.run}
            row |= {name: value for name, value in summary.run.items() if name in RUN and row.get(name) is None}
            for kind, parts in (("links", summary.links), ("groups", summary.groups)):
                for part in parts:
                    begin = shown_as(kind, part["name"], links)
                    row |= {f"{begin}.{name}": value for name, value in part.items() if name != "name"}
            yield row


def _merged(several: Sequence[WarningDocument]) -> PointsWarningDocument:
    """Return one warning for the same warnings about several points."""
    times = [_asked_time(warned) for warned in several]
    longest = max(range(len(several)), key=times.__getitem__)
    chosen, shortest = several[longest], several[times.index(min(times))]
    remedy = chosen["remedy"]
    if _asked_time(shortest) < times[longest]:
        remedy += f" (the point that needs the least: {_ASKED.match(shortest['remedy'])[1]})"  # type: ignore[index]
    return {**chosen, "remedy": remedy, "points": len(several)}


_ASKED = re.compile(r"give ([\d.]+ [num]?s) or more")


def _asked_time(warned: WarningDocument) -> float:
    """Time that a warning asks for [s]; 0 if it asks for none."""
    found = _ASKED.match(warned["remedy"])
    return 0.0 if found is None else seconds(found[1])
