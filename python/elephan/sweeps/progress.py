"""Progress of sweeps: points, and their expected work."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elephan.store import PackedRun
    from elephan.sweeps.execution import PointJob


@dataclass(frozen=True)
class SweepProgress:
    """Progress of a sweep.

    Parameters
    ----------
    done, total : int
        Numbers of points. Points that were in the store and points that failed count as done.
    reused, failed : int
        Numbers of points, among those done, that were in the store and that failed.
    cost_done, cost_total : float [packets]
        Expected work of the points that were not in the store.
    seconds : float [s]
        Time since the first of these points was started.
    packets : int
        Number of packets simulated in this time.
    """

    done: int
    total: int
    reused: int
    failed: int
    cost_done: float
    cost_total: float
    seconds: float
    packets: int

    @property
    def left_s(self) -> float | None:
        """Estimated remaining time, from the remaining work [s]; None before any point is done."""
        if self.cost_done <= 0:
            return None
        return self.seconds * (self.cost_total - self.cost_done) / self.cost_done


class ProgressCounter:
    """Counts and reports the progress of sweeps.

    Parameters
    ----------
    report : callable or None
        Function that takes a `SweepProgress`.

    Attributes
    ----------
    packets_of : dict of str to int
        Number of simulated packets of each job, by its key.
    """

    def __init__(self, jobs: Sequence[PointJob], report: Callable[[SweepProgress], None] | None) -> None:
        self._report = report
        self._total = sum(len(job.points) for job in jobs)
        self._cost_total = sum(job.cost for job in jobs)
        self._cost = 0.0
        self._points = self._reused = self._failed = 0
        self._begun = time.perf_counter()
        self._packets = 0
        self.packets_of: dict[str, int] = {}

    def reused(self, job: PointJob) -> None:
        """Count a job that was already in the store."""
        self._points += len(job.points)
        self._reused += len(job.points)
        self._cost_total -= job.cost

    def begin(self) -> None:
        """Start measuring time."""
        self._begun = time.perf_counter()
        self._say()

    def done(self, job: PointJob, packed: PackedRun | None) -> None:
        """Count a job that was run or has failed, and report the progress."""
        self._points += len(job.points)
        self._cost += job.cost
        if packed is None:
            self._failed += len(job.points)
        else:
            packets = int(packed.document["run"]["packets_delivered"])
            self.packets_of[job.key] = packets
            self._packets += packets
        self._say()

    def _say(self) -> None:
        if self._report is not None:
            seconds = time.perf_counter() - self._begun
            counts = (self._points, self._total, self._reused, self._failed)
            self._report(SweepProgress(*counts, self._cost, self._cost_total, seconds, self._packets))
