"""Replications on threads. Results have the order of the jobs, so they do not depend on the number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from elephan.runs.outcome import ReplicationOutcome, simulate
from elephan.runs.threads import SimulationThreads
from elephan.scenario import Scenario
from elephan.workers import check_workers
from elephan.workers import default_workers as default_workers


class ReplicationJob(NamedTuple):
    """One replication of one scenario."""

    scenario: Scenario
    replication: int


def simulate_all(
    jobs: Sequence[ReplicationJob],
    *,
    workers: int | None = None,
    on_done: Callable[[ReplicationJob], None] | None = None,
    on_outcome: Callable[[ReplicationJob, ReplicationOutcome], None] | None = None,
    series: bool = False,
    engine: str = "window",
    watched: bool = False,
) -> list[ReplicationOutcome]:
    """Run all jobs on threads, or in this thread if there is only one worker or job.

    With fewer jobs than threads, each job runs its flows on several threads; results do not depend on it.

    Parameters
    ----------
    jobs : sequence of ReplicationJob
    workers : int, optional
        Threads; as many as there are cores by default.
    on_done : callable, optional
        Called in this thread, in the order of the jobs.
    on_outcome : callable, optional
        Called with the job and its outcome before `on_done`.
    series : bool
        Keep the sampled series.
    engine : str
    watched : bool
        Run on threads in any case: `elephan.runs.threads.running_shares` returns their progress.

    Returns
    -------
    list of ReplicationOutcome
        In the order of the jobs.

    Raises
    ------
    KeyboardInterrupt
        Raised at once; running replications are stopped.
    InputError
        As in `check_workers`.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> scenario = Scenario.from_text(EXAMPLE)
    >>> len(simulate_all([ReplicationJob(scenario, 0), ReplicationJob(scenario, 1)], workers=2))
    2
    """
    check_workers(workers or None)
    work = partial(simulate, engine=engine, series=series)
    if (workers == 1 or len(jobs) == 1) and not watched:
        threads = 1 if len(jobs) > 1 else workers or default_workers()
        return _collected(jobs, (work(*job, threads=threads) for job in jobs), on_done, on_outcome)

    with SimulationThreads(workers or default_workers()) as pool:
        futures = [pool.submit(work, *job) for job in jobs]
        return _collected(jobs, (future.result() for future in futures), on_done, on_outcome)


def _collected(
    jobs: Sequence[ReplicationJob],
    outcomes: Iterable[ReplicationOutcome],
    on_done: Callable[[ReplicationJob], None] | None,
    on_outcome: Callable[[ReplicationJob, ReplicationOutcome], None] | None,
) -> list[ReplicationOutcome]:
    found = []
    for job, outcome in zip(jobs, outcomes, strict=True):
        found.append(outcome)
        if on_outcome is not None:
            on_outcome(job, outcome)
        if on_done is not None:
            on_done(job)
    return found
