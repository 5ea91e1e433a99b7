"""Running experiments, full or shortened: each is a sweep into the store, so that stored runs are not repeated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from elephan.store import StoredRun
from elephan.sweeps import Sweep
from elephan.sweeps.axes import CASE, SweepAxis, SweepCases
from elephan.sweeps.running import run_sweeps
from elephan_evidence.papers.runs import ExperimentPoint, ExperimentPoints, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from elephan.store import Store
    from elephan.sweeps import PointResult, SweepProgress, SweepResult
    from elephan_evidence.papers.paper import Experiment


@dataclass(frozen=True)
class ExperimentRun:
    """Results of an experiment.

    Parameters
    ----------
    reused : int
        Number of points taken from the store.
    simulated_s : float [s]
        CPU time of all its runs, those in the store included, on one core.
    packets : int
        Number of packets delivered in the runs.
    """

    experiment: Experiment
    points: ExperimentPoints
    reused: int
    simulated_s: float
    packets: int

    def to_json(self) -> dict[str, Any]:
        """Return the results as an entry of a document."""
        return {
            "paper": self.experiment.paper,
            "name": self.experiment.name,
            "title": self.experiment.title,
            "points": len(self.points),
            "failed": list(self.points.failed),
            "reused": self.reused,
            "cpu_s": self.simulated_s,
            "packets_delivered": self.packets,
        }


def sweep_of(experiment: Experiment, *, quick: bool) -> Sweep:
    """Return the sweep of an experiment.

    Parameters
    ----------
    quick : bool
        Whether to apply the changes of shortened runs and keep only their points.

    Raises
    ------
    InputError
        If its file is not a sweep.
    """
    whole = Sweep.from_file(experiment.file)
    if not quick:
        return whole
    short = whole.changed(experiment.changes).asking(replications=experiment.replications)
    only = {experiment.names.get(name, name): values for name, values in experiment.only.items()}
    return replace(short, axes=tuple(_kept(short.axes, only)))


def run(
    experiments: Iterable[Experiment],
    store: Store,
    *,
    quick: bool = False,
    workers: int | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> list[ExperimentRun]:
    """Run the missing points of experiments, the longest of all points first.

    Parameters
    ----------
    experiments : iterable of Experiment
    store : Store
    quick : bool
    workers : int, optional
    progress : callable, optional
        Called with an `elephan.sweeps.SweepProgress` of all experiments together.

    Returns
    -------
    list of ExperimentRun
        Results in the given order.
    """
    every = list(experiments)
    asked = ((sweep_of(experiment, quick=quick), experiment.series) for experiment in every)
    swept = run_sweeps(asked, store, workers=workers, progress=progress)
    return [_ran(experiment, found) for experiment, found in zip(every, swept, strict=True)]


def _ran(experiment: Experiment, swept: SweepResult) -> ExperimentRun:
    points = [_point(experiment, done) for done in swept.points]
    return ExperimentRun(
        experiment,
        ExperimentPoints(experiment.name, tuple(points), tuple(str(done.error) for done in swept.failures)),
        swept.reused,
        sum(_spent(point.stored) for point in points),
        sum(point.document["run"]["packets_delivered"] for point in points),
    )


def _spent(stored: StoredRun) -> float:
    """Return the duration of a run [s]; 0 if the store does not have it."""
    return float(stored.provenance.get("wall_s") or 0.0)


def _point(experiment: Experiment, done: PointResult) -> ExperimentPoint:
    short = {place: name for name, place in experiment.names.items()}
    labels = {short.get(place, place): value for place, value in done.labels.items()}
    return ExperimentPoint(labels, StoredRun(done.run, done.folder, lambda: [done.labels]))


def _kept(axes: Iterable[SweepAxis | SweepCases], only: Mapping[str, list[Any]]) -> Iterable[SweepAxis | SweepCases]:
    """Keep the rows and cases with selected labels."""
    for axis in axes:
        if isinstance(axis, SweepCases):
            cases = [case for case in axis.cases if _among(CASE, case.name, only)]
            yield SweepCases(tuple(replace(case, axes=tuple(_kept(case.axes, only))) for case in cases))
        else:
            rows = [row for row in axis.rows if all(_among(p, x, only) for p, x in zip(axis.places, row, strict=True))]
            yield replace(axis, rows=tuple(rows))


def _among(place: str, value: object, only: Mapping[str, list[Any]]) -> bool:
    return place not in only or any(same(value, wanted) for wanted in only[place])
