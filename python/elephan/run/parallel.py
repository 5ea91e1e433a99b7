"""Many replications on threads. Results come back in the order of the jobs, so their bytes do not depend on workers."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from elephan.run.outcome import Outcome, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from elephan.scenario import Scenario


class Job(NamedTuple):
    """One replication of one scenario."""

    scenario: Scenario
    replication: int


def default_workers() -> int:
    """Count the cores this process may use.

    Returns
    -------
    int

    Examples
    --------
    >>> default_workers() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def simulate_all(
    jobs: Sequence[Job],
    *,
    workers: int | None = None,
    on_done: Callable[[Job], None] | None = None,
    series: bool = False,
    engine: str = "window",
) -> list[Outcome]:
    """Run all jobs on threads.

    Parameters
    ----------
    jobs : sequence of Job
    workers : int, optional
        Threads; as many as there are cores by default. 0: none but this one, for who has threads of his own.
    on_done : callable, optional
        Called in this thread, in the order of the jobs.
    series : bool
        Keep the sampled series.
    engine : str

    Returns
    -------
    list of Outcome
        In the order of the jobs.

    Raises
    ------
    KeyboardInterrupt
        At once; replications that are running end in the background and are thrown away.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> scenario = Scenario.from_text(EXAMPLE)
    >>> len(simulate_all([Job(scenario, 0), Job(scenario, 1)], workers=2))
    2
    """
    outcomes = []
    if workers == 0:
        for job in jobs:
            outcomes.append(simulate(*job, engine=engine, series=series))
            if on_done is not None:
                on_done(job)
        return outcomes
    pool = ThreadPoolExecutor(max_workers=workers or default_workers())
    try:
        futures = [pool.submit(simulate, *job, engine=engine, series=series) for job in jobs]
        for job, future in zip(jobs, futures, strict=True):
            outcomes.append(future.result())
            if on_done is not None:
                on_done(job)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return outcomes
