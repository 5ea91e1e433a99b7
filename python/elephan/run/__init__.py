"""One scenario, all its replications: the run, its result and where it came from."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from elephan.run.parallel import Job, default_workers, simulate_all
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from elephan.run.result import Result

__all__ = ["Job", "default_workers", "run", "simulate_all"]


def run(
    scenario: Scenario | str | Path,
    replications: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    series: bool = False,
    engine: str = "window",
) -> Result:
    """Run all replications of a scenario.

    Parameters
    ----------
    scenario : Scenario or path
    replications, seed : int, optional
        Instead of what the file says.
    workers : int, optional
        Threads; the results do not depend on it. As many as there are cores by default.
    progress : callable, optional
        Called with (replications done, replications to do) after each.
    series : bool
        Keep the sampled cwnd, srtt and backlog, not only their means.
    engine : str
        ``"window"``, or ``"reference"`` for the plain one it is checked against.

    Returns
    -------
    Result

    Raises
    ------
    ScenarioError
        If the scenario cannot be read or is too large for the engine.
    ValueError
        If there is no such engine.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> result = run(Scenario.from_text(EXAMPLE), replications=2)
    >>> len(result.outcomes)
    2
    """
    from elephan.run.result import Result  # noqa: PLC0415 (NumPy; the command line starts without)

    begun = time.perf_counter()
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    changes = {"replications": replications, "seed": seed}
    changes = {key: value for key, value in changes.items() if value is not None}
    if changes:
        scenario = scenario.override(changes)
    total = scenario.replications
    done = 0

    def on_done(_: Job) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    jobs = [Job(scenario, replication) for replication in range(total)]
    outcomes = simulate_all(jobs, workers=workers, on_done=on_done, series=series, engine=engine)
    return Result(scenario, tuple(outcomes), engine, time.perf_counter() - begun)
