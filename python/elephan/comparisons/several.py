"""Comparisons of all points of a sweep, one after the other: a testbed takes real time, and the whole machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elephan.comparisons.comparison import ScenarioComparison, compare_scenario
from elephan.errors import InputError
from elephan.results import ResultPart, ResultTables
from elephan.runs.files import file_names
from elephan.sweeps.document import Sweep
from elephan.testbed import ATTEMPTS, plan

SHOWN = ("utilization", "period_s", "cwnd_high_segments", "cwnd_low_segments")
"""Quantities in the table of all points."""


@dataclass(frozen=True)
class PointComparison:
    """A point and its comparison.

    Parameters
    ----------
    index : int
        From 0.
    """

    index: int
    labels: dict[str, Any]
    comparison: ScenarioComparison

    @property
    def name(self) -> str:
        """Name of the point's folder: its number and the beginning of its labels, in portable characters."""
        values = "-".join(str(value) for value in self.labels.values())
        return f"{self.index + 1:02d}-{file_names([values])[0]}"

    def to_json(self) -> dict[str, Any]:
        """Return the point as an entry of the document of all points: labels, folder, quantities, and validity."""
        tested = self.comparison.tested
        return {
            "labels": self.labels,
            "folder": self.name,
            "rows": [row.to_json() for row in self.comparison.rows],
            "valid": None if tested is None else tested.valid,
            "objections": [] if tested is None else list(tested.objections),
            "differences": [] if tested is None else list(tested.differences),
        }


@dataclass(frozen=True)
class SweepComparison(ResultTables):
    """Comparisons of all points of a sweep.

    Parameters
    ----------
    points : tuple of PointComparison
    """

    points: tuple[PointComparison, ...]

    @property
    def parts(self) -> list[ResultPart]:
        """The results of each ``source`` at each point."""
        return [
            replace(part, labels={**point.labels, **part.labels})
            for point in self.points
            for part in point.comparison.parts
        ]

    @property
    def _title(self) -> str:
        return self.points[0].comparison.scenario.title if self.points else ""

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``elephan compare --json`` of a sweep file.

        Returns
        -------
        dict
            ``points``, each by `PointComparison.to_json`.
        """
        return {"points": [point.to_json() for point in self.points]}

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield ``points.json``."""
        yield "points.json", self.to_json()

    def write(self, folder: Path | str, tables: str = "parquet") -> list[Path]:
        """Write ``points.json``, and each comparison into a folder of its own.

        Parameters
        ----------
        folder, tables : path and str
            As in other results.

        Returns
        -------
        list of Path
            The folders of the points; then the document.
        """
        folders = [Path(folder) / point.name for point in self.points]
        for point, place in zip(self.points, folders, strict=True):
            point.comparison.write(place, tables)
        return [*folders, *super().write(folder, tables)]


def compare_points(
    sweep: Sweep, progress: Callable[[str], None] | None = None, *, real: bool = True, attempts: int = ATTEMPTS
) -> Iterator[PointComparison]:
    """Compare point by point; yield each comparison as soon as it is done.

    Parameters
    ----------
    sweep : Sweep
        Sweep of scenarios that `elephan.testbed.plan` accepts; all are checked before the first is run.
    progress : callable, optional
        Called with a description of the current step.
    real, attempts : bool and int
        As in `elephan.comparisons.compare_scenario`.

    Raises
    ------
    InputError
        If a point is not valid; the message names its labels.
    """
    points = sweep.points()
    for point in points:
        try:
            plan(point.scenario)
        except InputError as error:
            raise InputError(f"{_label_text(point.labels)}: {error}") from None
    for point in points:
        if progress is not None:
            progress(f"{point.index + 1} of {len(points)}: {_label_text(point.labels)}")
        yield PointComparison(
            point.index, dict(point.labels), compare_scenario(point.scenario, real=real, attempts=attempts)
        )


def _label_text(labels: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in labels.items())
