"""A sweep read back from the folder that ``elephan sweep --out`` wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from elephan.errors import InputError
from elephan.results import AxisDocument, CaseDocument, PointsWarningDocument, RunDocument, SweepDocument
from elephan.runs.saved import of_this_version, read_document
from elephan.scenario import Scenario
from elephan.store.labels import as_value
from elephan.store.stored import StoredRun
from elephan.sweeps.axes import SweepAxis, SweepCase, SweepCases
from elephan.sweeps.document import Sweep
from elephan.sweeps.points import SweepPoint
from elephan.sweeps.result import OF_RUN, PARTS, PointResult, SweepResult

DOCUMENT = "sweep.json"


@dataclass(frozen=True)
class SavedPoint(PointResult):
    """Point of a sweep that was read from a folder; its columns are read from the store.

    Parameters
    ----------
    title : str
        Title of the sweep.
    saved : mapping
        The point in the document of the sweep.
    """

    title: str
    saved: Mapping[str, Any]

    @property
    def document(self) -> RunDocument:
        """Part of the sweep's document about this point, in the form of a run's document, without warnings."""
        parts = {name: self.saved[name] for name in PARTS if name in self.saved}
        run = {"id": self.run, "scenario": self.title} | {name: self.saved[name] for name in OF_RUN}
        return cast("RunDocument", {"run": run, **parts, "warnings": []})

    @property
    def stored(self) -> StoredRun:
        """The point's run in the store.

        Raises
        ------
        InputError
            If the store is not at its former path.
        """
        if not self.folder.is_dir():
            raise InputError(
                f"{self.store}: does not hold run {self.run[:12]} of the sweep, whose columns and samples are needed; "
                "put the store back, or load the store itself from where it is now"
            )
        return super().stored


@dataclass(frozen=True, repr=False)
class SavedSweep(SweepResult):
    """Sweep that was read from a folder.

    Parameters
    ----------
    saved : mapping
        The document of the sweep.
    """

    saved: SweepDocument = field(kw_only=True)

    @cached_property
    def warnings(self) -> list[PointsWarningDocument]:
        """Lint warnings about the points."""
        return list(self.saved["warnings"])

    def to_json(self) -> SweepDocument:
        """Return the document as it was written.

        Returns
        -------
        dict
        """
        return self.saved.copy()


def read_sweep(folder: Path | str) -> SweepResult:
    """Read a folder that ``elephan sweep --out`` or `SweepResult.write` wrote.

    Parameters
    ----------
    folder : Path or str
        Folder with ``sweep.json``. Columns of replications and samples are read from the sweep's store on demand.

    Returns
    -------
    SweepResult

    Raises
    ------
    InputError
        If the document cannot be read.

    Examples
    --------
    >>> import elephan, tempfile
    >>> base = elephan.Scenario.from_text(elephan.EXAMPLE)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     swept = elephan.sweep(base, over={"flows[0].count": [1, 2]}, replications=1, store=f"{folder}/runs")
    ...     _ = swept.write(folder)
    ...     read_sweep(folder).links["utilization"] == swept.links["utilization"]
    True
    """
    path = Path(folder) / DOCUMENT
    keys = ("title", "precision", "max_replications", "base", "axes", "points", "failures", "warnings", "provenance")
    document = read_document(path, keys)
    with of_this_version(path):
        return _sweep(document, path)


def _sweep(document: SweepDocument, path: Path) -> SweepResult:
    title, made = document["title"], document["provenance"]
    base = Scenario.from_text(document["base"], f"{path}: base")
    precision = tuple(document["precision"])
    sweep = Sweep(base, _axes(document["axes"]), title, str(path), precision, document["max_replications"])
    store = Path(made["store"])
    if not store.exists() and (path.parent / store).exists():
        store = path.parent / store
    rows = [(row, None) for row in document["points"]] + [(row, row["error"]) for row in document["failures"]]
    done = tuple(
        SavedPoint(
            SweepPoint(i, row["labels"], {}, base, row["run"], 0.0, error, None),
            store,
            reused=True,
            error=error,
            title=title,
            saved=row,
        )
        for i, (row, error) in enumerate(rows)
    )
    return SavedSweep(sweep, done, store, made["wall_s"], made["packets_simulated"], saved=document)


def _axes(given: Sequence[AxisDocument]) -> tuple[SweepAxis | SweepCases, ...]:
    return tuple(_cases(axis["cases"]) if "cases" in axis else _axis(axis) for axis in given)


def _axis(axis: AxisDocument) -> SweepAxis:
    return SweepAxis(tuple(axis["places"]), tuple(tuple(map(as_value, row)) for row in axis["values"]))


def _cases(cases: Sequence[CaseDocument]) -> SweepCases:
    made = [
        SweepCase(
            case["name"], {name: as_value(value) for name, value in case["set"].items()}, _axes(case["axes"]), "cases"
        )
        for case in cases
    ]
    return SweepCases(tuple(made))
