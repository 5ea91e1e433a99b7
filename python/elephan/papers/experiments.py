"""Running experiments: each a sweep into the store, so that what is there is not run again; in full or shortened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from elephan.papers.runs import Point, Points, same
from elephan.store import Stored
from elephan.sweep import Sweep, sweep
from elephan.sweep.axes import CASE, Axis, Case, Cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from elephan.papers.paper import Experiment
    from elephan.store import Store
    from elephan.sweep import Done, Progress


@dataclass(frozen=True)
class Ran:
    """What became of an experiment.

    Parameters
    ----------
    experiment : Experiment
    points : Points
    reused : int
        Of the points.
    simulated_s : float [s]
        Work of all its runs, those in the store included; on one core.
    packets : int
        Delivered in them.
    """

    experiment: Experiment
    points: Points
    reused: int
    simulated_s: float
    packets: int

    def to_json(self) -> dict[str, Any]:
        """Return it as a document has it."""
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


@dataclass(frozen=True)
class Running:
    """How far a reproduction is.

    Parameters
    ----------
    experiment : Experiment
        The one that runs.
    done, total : int
        Points of all experiments.
    left_s : float or None [s]
    """

    experiment: Experiment
    done: int
    total: int
    left_s: float | None


def sweep_of(experiment: Experiment, *, quick: bool) -> Sweep:
    """Return the sweep of an experiment.

    Parameters
    ----------
    experiment : Experiment
    quick : bool
        With the changes of shortened runs, and only the points that they keep.

    Returns
    -------
    Sweep

    Raises
    ------
    InputError
        If its file is not one.
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
    progress: Callable[[Running], None] | None = None,
) -> list[Ran]:
    """Run experiments that the store does not have.

    Parameters
    ----------
    experiments : iterable of Experiment
    store : Store
    quick : bool
    workers : int, optional
    progress : callable, optional

    Returns
    -------
    list of Ran
        In the order given.
    """
    sweeps = [(experiment, sweep_of(experiment, quick=quick)) for experiment in experiments]
    watch = _Watch([sum(point.cost for point in asked.points()) for _, asked in sweeps], progress)
    watch.total = sum(len(asked) for _, asked in sweeps)
    found = []
    for position, (experiment, asked) in enumerate(sweeps):
        watch.begin(experiment, position)
        swept = sweep(asked, store=store, workers=workers, series=experiment.series, progress=watch)
        watch.end(len(swept.done))
        points = [_point(experiment, done) for done in swept.points]
        failed = tuple(str(done.error) for done in swept.failures)
        runs = [point.document["run"] for point in points]
        ran = Ran(
            experiment,
            Points(experiment.name, tuple(points), failed),
            swept.reused,
            sum(_spent(point.stored) for point in points),
            sum(run["packets_delivered"] for run in runs),
        )
        found.append(ran)
    return found


def _spent(stored: Stored) -> float:
    """How long a run took, as far as the store knows [s]."""
    return float(stored.provenance.get("wall_s") or 0.0)


def _point(experiment: Experiment, done: Done) -> Point:
    short = {place: name for name, place in experiment.names.items()}
    labels = {short.get(place, place): value for place, value in done.labels.items()}
    return Point(labels, Stored(done.run, done.folder, lambda: [done.labels]))


def _kept(axes: Iterable[Axis | Cases], only: Mapping[str, list[Any]]) -> Iterable[Axis | Cases]:
    """Keep the rows and cases whose labels are wanted."""
    for axis in axes:
        if isinstance(axis, Cases):
            inner = [replace(case, axes=tuple(_kept(case.axes, only))) for case in axis.cases if _wanted(case, only)]
            yield Cases(tuple(inner))
        else:
            rows = [row for row in axis.rows if all(_among(p, x, only) for p, x in zip(axis.places, row, strict=True))]
            yield replace(axis, rows=tuple(rows))


def _wanted(case: Case, only: Mapping[str, list[Any]]) -> bool:
    return _among(CASE, case.name, only)


def _among(place: str, value: object, only: Mapping[str, list[Any]]) -> bool:
    return place not in only or any(same(value, wanted) for wanted in only[place])


class _Watch:
    """Turns the progress of one sweep into that of all."""

    def __init__(self, costs: list[float], tell: Callable[[Running], None] | None) -> None:
        self.costs, self.tell = costs, tell
        self.total = self.before = 0

    def begin(self, experiment: Experiment, position: int) -> None:
        self.experiment, self.position = experiment, position

    def end(self, points: int) -> None:
        self.before += points

    def __call__(self, progress: Progress) -> None:
        if self.tell is None:
            return
        after = sum(self.costs[self.position + 1 :])
        here = progress.cost_total - progress.cost_done
        per_cost = progress.seconds / progress.cost_done if progress.cost_done > 0 else None
        left = None if per_cost is None else per_cost * (here + after)
        self.tell(Running(self.experiment, self.before + progress.done, self.total, left))
