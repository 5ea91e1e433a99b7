"""Steps of a sweep: plan the points, look them up in the store, run and store the missing ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elephan.costs.check import check_memory
from elephan.errors import InputError
from elephan.extras import require
from elephan.runs import default_workers
from elephan.runs.threads import SimulationThreads
from elephan.scenario import Scenario
from elephan.store import Store
from elephan.store.index import FILE
from elephan.store.labels import as_labels
from elephan.store.opening import usual
from elephan.store.upkeep import SHARDS
from elephan.sweeps.claims import PointClaims
from elephan.sweeps.document import Sweep
from elephan.sweeps.execution import PointJob, execute, jobs_of, share_of, workers_of
from elephan.sweeps.points import SweepPoint
from elephan.sweeps.progress import ProgressCounter, SweepProgress
from elephan.sweeps.result import PointResult, SweepResult
from elephan.sweeps.tasks import SweepSettings
from elephan.workers import check_workers

MOST_CHECKED = 100
"""Maximum number of points whose memory is estimated before the sweep starts."""

MOST_SHARDS = 100_000
"""Maximum number of shards of a sweep."""

LOOK_S = 0.2
"""Interval between checks for points that other processes have finished [s]."""


def run_sweeps(
    every: Iterable[tuple[Sweep, bool]],
    store: Store | str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    part: tuple[int, int] | None = None,
    *,
    progress: Callable[[SweepProgress], None] | None = None,
    force: bool = False,
) -> list[SweepResult]:
    """Run every point of several sweeps, longest first over all sweeps, so that no worker waits between them.

    A point that occurs in several sweeps is run once, and gets the labels of each of them.

    Parameters
    ----------
    every : iterable of tuple of Sweep and bool
        Each sweep, and whether the samples (series) of its points are stored.
    store, executor, workers, part, progress, force
        As for `elephan.sweeps.sweep`, for all sweeps together; `part` is the shard.

    Returns
    -------
    list of SweepResult
        Results in the given order. Each has the total elapsed time, and the packets of its points, including shared
        ones.

    Raises
    ------
    InputError, ExecutorLostError, KeyboardInterrupt
        As for `elephan.sweeps.sweep`; no sweep starts if any point is not a valid scenario.
    """
    begun = time.perf_counter()
    check_workers(workers)
    require("a store", "pyarrow")
    planned = [(asked, SweepSettings.of(asked, series=series), asked.points()) for asked, series in every]
    for asked, _, points in planned:
        asked.check(points)
    jobs = jobs_of((settings, points) for _, settings, points in planned)
    if part is not None:
        jobs = share_of(jobs, *part)
    tally = ProgressCounter(jobs, progress)
    with _opened(store, part) as kept:
        found, missing = _reuse(kept, jobs, tally)
        if part is not None:
            more, missing = _reuse_enclosing(folder_of(store), missing, tally)
            found |= more
        failures: dict[str, str] = {}
        # The memory of the machines of other executors is not known.
        if executor is None and not force:
            _check_memory(missing, workers or default_workers())
        _run(kept, missing, executor, workers, tally, failures, found)
    mine = {job.key for job in jobs}
    wall_s = time.perf_counter() - begun
    swept = []
    for asked, _, points in planned:
        own = [point for point in points if point.key in mine]
        done = tuple(PointResult(p, found.get(p.key, kept.folder), p.key in found, failures.get(p.key)) for p in own)
        packets = sum(tally.packets_of.get(key, 0) for key in {point.key for point in own})
        swept.append(SweepResult(asked, done, kept.folder, wall_s, packets))
    return swept


def _check_memory(jobs: Sequence[PointJob], workers: int) -> None:
    """Refuse points that need more memory than is available if all workers run at the same time."""
    # The longest jobs come first; if there are very many, the others are assumed to need no more memory.
    for job in jobs[:MOST_CHECKED]:
        check_memory(job.points[0].scenario, workers=1, series=job.settings.series, copies=min(workers, len(jobs)))


def parse_shard(text: str) -> tuple[int, int]:
    """Parse the shard of a sweep.

    Parameters
    ----------
    text : str
        ``i/n``, with i from 1 on.

    Returns
    -------
    tuple of int
        Number of the shard, and number of shards.

    Raises
    ------
    InputError
        If the text does not have this form.

    Examples
    --------
    >>> parse_shard("2/5")
    (2, 5)
    """
    number, _, of = (part.strip() for part in text.partition("/"))
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of) <= MOST_SHARDS):
        raise InputError(f'shard: "{text}" is not a part; write i/n with i from 1 to n, such as 1/4')
    return int(number), int(of)


def preview(
    sweep: Sweep, store: Store | str | Path | None = None, shard: tuple[int, int] | None = None, *, series: bool = False
) -> list[tuple[SweepPoint, bool]]:
    """Return the points of a sweep, longest first, and whether each is in the store; nothing is run.

    Parameters
    ----------
    sweep : Sweep
    store : Store or path, optional
        As for `elephan.sweeps.sweep`; nothing is written.
    shard : tuple of int, optional
    series : bool

    Returns
    -------
    list of tuple of Point and bool
        Each point, and whether the store has its run.

    Raises
    ------
    InputError
        If none of the points is a valid scenario, or the store cannot be read.
    """
    jobs = jobs_of([(SweepSettings.of(sweep, series=series), sweep.points())])
    if shard is not None:
        jobs = share_of(jobs, *shard)
    folder = folder_of(store)
    if not (folder / FILE).exists():
        return [(point, False) for job in jobs for point in job.points]
    with Store(folder, readonly=True) as opened:
        found = {job.key for job in jobs if opened.find(job.key, series=series) is not None}
    return [(point, point.key in found) for job in jobs for point in job.points]


def asked_of(given: Sweep | Scenario | Mapping[str, Any] | str | Path) -> Sweep:
    """Return the given sweep, or read it."""
    if isinstance(given, Sweep):
        return given
    if isinstance(given, Mapping):
        return Sweep.from_mapping(given)
    return Sweep.of(Scenario.from_any(given)) if isinstance(given, Scenario) else Sweep.from_file(given)


def folder_of(store: Store | str | Path | None) -> Path:
    """Return the folder of a store, without opening it."""
    return store.folder if isinstance(store, Store) else usual(store)


@contextmanager
def _opened(store: Store | str | Path | None, part: tuple[int, int] | None) -> Iterator[Store]:
    """Open the store for the points: the given one, or a shard inside it."""
    if part is None and isinstance(store, Store):
        yield store
        return
    folder = folder_of(store)
    with Store(folder if part is None else folder / SHARDS / f"{part[0]}-of-{part[1]}") as opened:
        yield opened


def _reuse(
    store: Store, jobs: Sequence[PointJob], tally: ProgressCounter, *, label: bool = True
) -> tuple[dict[str, Path], list[PointJob]]:
    """Look up jobs in a store, and return the folders of those found, and the missing jobs.

    With `label`, runs that are found get the labels of their points; otherwise they must have them already.
    """
    reused: dict[str, Path] = {}
    missing = []
    for job in jobs:
        found = store.find(job.key, series=job.settings.series)
        if found is None or not (label or all(as_labels(point.labels) in found.labels for point in job.points)):
            missing.append(job)
            continue
        for point in job.points if label else ():
            store.label(found, point.labels)
        reused[job.key] = store.folder
        tally.reused(job)
    return reused, missing


def _reuse_enclosing(
    folder: Path, jobs: Sequence[PointJob], tally: ProgressCounter
) -> tuple[dict[str, Path], list[PointJob]]:
    """Look up a shard's missing points in the enclosing store, read-only; runs must have the labels of their points."""
    if not (folder / FILE).exists():
        return {}, list(jobs)
    with Store(folder, readonly=True) as store:
        return _reuse(store, jobs, tally, label=False)


def _fail(store: Store, job: PointJob, error: str | None) -> str:
    for point in job.points:
        store.fail(job.key, point.text, point.labels, error or "")
    return error or ""


def _run(
    store: Store,
    jobs: Sequence[PointJob],
    executor: Executor | None,
    workers: int | None,
    tally: ProgressCounter,
    failures: dict[str, str],
    found: dict[str, Path],
) -> None:
    """Run jobs and store their results; add to `found` those that another process has run meanwhile."""
    tally.begin()
    if not jobs:
        return
    threads = None if executor is not None else SimulationThreads(workers or default_workers())
    pool: Any = executor or threads
    claims = PointClaims(store.folder)
    elsewhere: list[PointJob] = []

    def is_mine(job: PointJob) -> bool:
        # Look it up again: another process may have claimed, run and released it meanwhile.
        mine = claims.claim(job.key) and store.find(job.key, series=job.settings.series) is None
        if not mine:
            elsewhere.append(job)
        return mine

    try:
        while jobs:
            for job, reply in execute(pool, jobs, workers or workers_of(pool), is_mine):
                if reply.packed is None:
                    failures[job.key] = _fail(store, job, reply.error)
                    tally.done(job, None)
                else:
                    stored = store.put(reply.packed, key=job.key, labels=job.points[0].labels)
                    for point in job.points[1:]:
                        store.label(stored, point.labels)
                    tally.done(job, reply.packed)
                claims.release(job.key)
            jobs = _of_others(store, elsewhere, claims, tally, found)
            elsewhere.clear()
    finally:
        claims.close()
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)


def _of_others(
    store: Store,
    jobs: Sequence[PointJob],
    claims: PointClaims,
    tally: ProgressCounter,
    found: dict[str, Path],
) -> list[PointJob]:
    """Wait for points that other processes run; return the missing jobs as soon as one of their claims is released."""
    left = list(jobs)
    while left:
        more, left = _reuse(store, left, tally)
        found |= more
        if any(claims.claim(job.key) for job in left):
            return left
        time.sleep(LOOK_S if left else 0.0)
    return left
