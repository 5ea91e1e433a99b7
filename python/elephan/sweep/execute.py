"""Points on an executor: longest first, several short ones in a task, a bounded number of tasks under way."""

from __future__ import annotations

import math
from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elephan.errors import InputError
from elephan.run import default_workers
from elephan.sweep.tasks import Reply, run_points, task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elephan.sweep.points import Point
    from elephan.sweep.tasks import Settings

TASK = 2_000_000
"""Packets of a task of several points: a tenth of a second, beside which the way to a worker and back is nothing."""

MOST_POINTS = 64
"""Of a task: what is not yet in the store is lost if the process is killed."""

PER_WORKER = 3
"""Tasks under way for each worker: one that runs, others that wait, so that none idles."""


class LostError(InputError):
    """An executor that can run nothing any more."""


@dataclass(frozen=True)
class Job:
    """Points that resolve to the same scenario: run once.

    Parameters
    ----------
    points : tuple of Point
        One or more.
    """

    points: tuple[Point, ...]

    @property
    def key(self) -> str:
        """Identity of what is asked."""
        return self.points[0].key

    @property
    def cost(self) -> float:
        """Expected work [packets]."""
        return self.points[0].cost


def jobs_of(points: Sequence[Point]) -> list[Job]:
    """Gather points that are the same, the longest first.

    Parameters
    ----------
    points : sequence of Point

    Returns
    -------
    list of Job
        Those of the same length in the order of the sweep.
    """
    same: dict[str, list[Point]] = {}
    for point in points:
        same.setdefault(point.key, []).append(point)
    return sorted((Job(tuple(group)) for group in same.values()), key=lambda job: -job.cost)


def share_of(jobs: Sequence[Job], number: int, of: int) -> list[Job]:
    """Return the jobs of one shard: dealt in turn from the longest on, so that shards take about as long.

    Parameters
    ----------
    jobs : sequence of Job
        From `jobs_of`.
    number, of : int
        The shard, from 1, and how many there are.

    Returns
    -------
    list of Job

    Examples
    --------
    >>> share_of(["a", "b", "c", "d", "e"], 2, 3)
    ['b', 'e']
    """
    return list(jobs[number - 1 :: of])


def batches(jobs: Sequence[Job], workers: int) -> list[list[Job]]:
    """Put jobs that follow each other into tasks.

    Parameters
    ----------
    jobs : sequence of Job
    workers : int

    Returns
    -------
    list of list of Job
        Each of about a tenth of a second, unless a single job is longer; the last ones are not longer than what
        is left for each worker.
    """
    total = sum(job.cost for job in jobs)
    most = min(TASK, total / (4 * workers))
    found: list[list[Job]] = []
    filled = math.inf
    for job in jobs:
        if filled + job.cost > most or len(found[-1]) == MOST_POINTS:
            found.append([])
            filled = 0.0
        found[-1].append(job)
        filled += job.cost
    return found


def workers_of(executor: Executor) -> int:
    """Guess how many tasks an executor runs at once.

    Parameters
    ----------
    executor : Executor

    Returns
    -------
    int
        As many as there are cores here, if it does not tell.
    """
    client = getattr(executor, "_client", None)  # of dask.distributed
    if client is not None and hasattr(client, "nthreads"):
        return max(1, sum(client.nthreads().values()))
    return int(getattr(executor, "_max_workers", None) or default_workers())


def execute(executor: Executor, jobs: Sequence[Job], settings: Settings, workers: int) -> Iterator[tuple[Job, Reply]]:
    """Run jobs and yield what became of them, as they come.

    Parameters
    ----------
    executor : Executor
    jobs : sequence of Job
        In the order in which they begin.
    settings : Settings
    workers : int

    Yields
    ------
    Job, Reply

    Raises
    ------
    LostError
        If the executor is broken or gone. What it had done by then has been yielded.
    InputError
        If a worker cannot be used.
    """
    waiting = deque(batches(jobs, workers))
    running: dict[Future[list[Reply]], list[Job]] = {}
    lost = ""
    try:
        while (waiting and not lost) or running:
            while waiting and not lost and len(running) < PER_WORKER * workers:
                batch = waiting.popleft()
                try:
                    running[executor.submit(run_points, task(settings, [job.points[0] for job in batch]))] = batch
                except (BrokenExecutor, RuntimeError) as error:
                    lost = f"{type(error).__name__}: {error}"
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                batch = running.pop(future)
                try:
                    replies = future.result()
                except InputError:
                    raise
                except (BrokenExecutor, CancelledError) as error:
                    lost = lost or f"{type(error).__name__}: {error}"
                except Exception as error:  # Whatever an executor says of a worker that died.
                    if len(batch) > 1:
                        # One of them is at fault; the others shall not fail with it.
                        waiting.extend([job] for job in batch)
                    else:
                        yield batch[0], Reply(None, f"its worker failed: {type(error).__name__}: {error}")
                else:
                    yield from zip(batch, replies, strict=True)
        if lost:
            message = f"sweep: the executor is gone ({lost})"
            raise LostError(message)
    except KeyboardInterrupt:
        for future, batch in running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                yield from zip(batch, future.result(), strict=True)
        raise
    finally:
        for future in running:
            future.cancel()
