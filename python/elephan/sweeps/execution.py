"""Execution of points: the longest first, several short ones per task, and a bounded number of submitted tasks."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

from elephan.errors import InputError
from elephan.runs import default_workers
from elephan.sweeps.points import SweepPoint
from elephan.sweeps.tasks import PointReply, SweepSettings, run_points, task

TASK = 2_000_000
"""Maximum packets of a task of several points. They take about 0.1 s, so that the cost of sending a task is small."""

MOST_POINTS = 64
"""Maximum number of points per task. It is bounded because results that are not stored yet are lost in a crash."""

PER_WORKER = 3
"""Number of submitted tasks per worker: one that runs and others that wait, so that no worker is idle."""


class ExecutorLostError(InputError):
    """An executor can no longer run tasks."""


@dataclass(frozen=True)
class PointJob:
    """Points that resolve to the same scenario, which is run once.

    Parameters
    ----------
    points : tuple of SweepPoint
        One or more points, of one or several sweeps.
    settings : SweepSettings
        Settings of the first point's sweep; with samples (series) if any of the points needs them.
    """

    points: tuple[SweepPoint, ...]
    settings: SweepSettings

    @property
    def key(self) -> str:
        """Key of the points in the store."""
        return self.points[0].key

    @property
    def cost(self) -> float:
        """Expected work [packets]."""
        return self.points[0].cost


def jobs_of(planned: Iterable[tuple[SweepSettings, Sequence[SweepPoint]]]) -> list[PointJob]:
    """Merge points with the same key into jobs, the longest first.

    Parameters
    ----------
    planned : iterable of tuple of SweepSettings and sequence of SweepPoint
        One tuple for each sweep.

    Returns
    -------
    list of PointJob
        Jobs of equal length are in the order of the sweeps.
    """
    same: dict[str, list[SweepPoint]] = {}
    asked: dict[str, SweepSettings] = {}
    for settings, points in planned:
        for point in points:
            same.setdefault(point.key, []).append(point)
            first = asked.setdefault(point.key, settings)
            if settings.series and not first.series:
                asked[point.key] = first._replace(series=True)
    return sorted((PointJob(tuple(group), asked[key]) for key, group in same.items()), key=lambda job: -job.cost)


def share_of(jobs: Sequence[PointJob], number: int, of: int) -> list[PointJob]:
    """Return the jobs of one shard. Jobs are dealt to the shards in turn, so that all shards take about the same time.

    Parameters
    ----------
    jobs : sequence of PointJob
        Result of `jobs_of`.
    number, of : int
        Number of the shard, from 1 on, and number of shards.

    Examples
    --------
    >>> share_of(["a", "b", "c", "d", "e"], 2, 3)
    ['b', 'e']
    """
    return list(jobs[number - 1 :: of])


def batches(jobs: Sequence[PointJob], workers: int) -> list[list[PointJob]]:
    """Group consecutive jobs into tasks.

    Returns
    -------
    list of list of PointJob
        Tasks, sorted by the cost of their first jobs. The jobs of a task have the same settings. Together they take at
        most about 0.1 s and a quarter of the total time per worker, unless a single job takes longer.
    """
    total = sum(job.cost for job in jobs)
    most = min(TASK, total / (4 * workers))
    alike: dict[SweepSettings, list[PointJob]] = {}
    for job in jobs:
        alike.setdefault(job.settings, []).append(job)
    tasks = [task for group in alike.values() for task in _filled(group, most)]
    return sorted(tasks, key=lambda task: -task[0].cost)


def _filled(jobs: Sequence[PointJob], most: float) -> list[list[PointJob]]:
    """Group consecutive jobs into tasks of at most `most` packets, or of one job."""
    found: list[list[PointJob]] = []
    filled = math.inf
    for job in jobs:
        if filled + job.cost > most or len(found[-1]) == MOST_POINTS:
            found.append([])
            filled = 0.0
        found[-1].append(job)
        filled += job.cost
    return found


def workers_of(executor: Any) -> int:
    """Estimate how many tasks an executor runs at the same time.

    Returns
    -------
    int
        If the executor does not report a number, the number of cores of this machine.
    """
    client: Any = getattr(executor, "_client", None)  # of dask.distributed
    if client is not None and hasattr(client, "nthreads"):
        return max(1, int(sum(client.nthreads().values())))
    return int(getattr(executor, "_max_workers", None) or default_workers())


def execute(
    executor: Executor,
    jobs: Sequence[PointJob],
    workers: int,
    is_mine: Callable[[PointJob], bool] = lambda _: True,
) -> Iterator[tuple[PointJob, PointReply]]:
    """Run jobs and yield their replies as they arrive.

    Parameters
    ----------
    jobs : sequence of PointJob
        Jobs in the order in which they start.
    workers : int
    is_mine : callable
        Called with each job just before it is submitted; if it returns false, the job is skipped.

    Raises
    ------
    ExecutorLostError
        If the executor is broken or was shut down. Before that, the complete replies are yielded, and replies with an
        error for the points that the lost worker may have been running.
    InputError
        If a worker cannot be used.
    """
    queue = _Queue(executor, batches(jobs, workers), workers, is_mine)
    try:
        while queue.submit():
            done, _ = wait(queue.running, return_when=FIRST_COMPLETED)
            # Keep the order of submission, which the set `done` does not have.
            for future in [future for future in queue.running if future in done]:
                yield from queue.take(future)
        if queue.lost:
            message = f"sweep: the executor is gone ({queue.lost}); with another one the same sweep goes on from there"
            raise ExecutorLostError(message)
    except KeyboardInterrupt:
        for future in [future for future in queue.running if future.done() and not future.cancelled()]:
            yield from queue.take(future)
        raise
    finally:
        for future in queue.running:
            future.cancel()


class _Queue:
    """Queue of tasks that wait and tasks that run."""

    def __init__(
        self, executor: Executor, tasks: list[list[PointJob]], workers: int, is_mine: Callable[[PointJob], bool]
    ) -> None:
        self.executor, self.workers, self.is_mine = executor, workers, is_mine
        self.waiting = deque(tasks)
        self.running: dict[Future[list[PointReply]], list[PointJob]] = {}
        self.lost = ""
        self.named = False
        """Whether the caller already knows the points that a lost worker may have been running."""

    def submit(self) -> bool:
        """Submit tasks up to the limit; return whether any task runs."""
        while self.waiting and not self.lost and len(self.running) < PER_WORKER * self.workers:
            jobs = [job for job in self.waiting.popleft() if self.is_mine(job)]
            if not jobs:
                continue
            try:
                future = self.executor.submit(run_points, task(jobs[0].settings, [job.points[0] for job in jobs]))
            except RuntimeError as error:  # Broken, or shut down.
                self.lost = _error_text(error)
            else:
                self.running[future] = jobs
        return bool(self.running)

    def take(self, future: Future[list[PointReply]]) -> Iterator[tuple[PointJob, PointReply]]:
        """Yield the replies of a finished task."""
        jobs = self.running[future]
        # Workers take tasks in the order of submission, so the first unfinished ones were running.
        first = [one for one in self.running if not one.done() or one.exception() is not None][: self.workers]
        del self.running[future]
        try:
            replies = future.result()
        except InputError:
            raise
        except BrokenExecutor as error:
            # `submit` may have detected the broken executor already.
            self.lost = self.lost or _error_text(error)
            if not self.named:
                self.named = True
                suspects = [job for one in first for job in self.running.get(one, jobs)]
                where = f"at one of {len(suspects)} points" if suspects[1:] else "at this point"
                for job in suspects:
                    yield job, PointReply(None, f"a worker process ended {where}: {self.lost}")
        except CancelledError as error:
            self.lost = self.lost or _error_text(error)
        except Exception as error:  # Executors raise different exceptions if a worker has died.
            if len(jobs) > 1:
                # One of the jobs causes the failure. Run each of them in its own task, so that the others succeed.
                self.waiting.extend([job] for job in jobs)
            else:
                yield jobs[0], PointReply(None, f"its worker failed: {_error_text(error)}")
        else:
            yield from zip(jobs, replies, strict=True)


def _error_text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")
