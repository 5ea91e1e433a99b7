"""Times the overhead of a sweep beside its simulations: ``python tools/sweep_speed.py [--runs N] [--dask]``.

Many runs of a few milliseconds against the bare calls of the engine in the same process, and runs of about 20 ms on one
worker and on two, beside the bare engine's gain from a second thread on this machine; with ``--dask`` also on two
processes of a local cluster, whose table must be the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import TYPE_CHECKING, NamedTuple

import elephan
from elephan.run.outcome import simulate, simulate_several
from elephan.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

SHORT, LONGER = "40 s", "480 s"
"""Durations of the example: some milliseconds of simulation, and some twenty."""

ROUNDS = 5
"""Rounds of the longer runs, against changing load from other work."""


class Spent(NamedTuple):
    """Wall-clock seconds, and CPU seconds of all threads and of ended child processes."""

    wall_s: float
    cpu_s: float


def spent(do: Callable[[], object]) -> Spent:
    """Measure the time of an operation."""
    begun, used = time.perf_counter(), _cpu_s()
    do()
    return Spent(time.perf_counter() - begun, _cpu_s() - used)


def _cpu_s() -> float:
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def swept(duration: str, runs: int, workers: int | None, folder: Path, executor: Executor | None = None) -> None:
    """Sweep the example over its seed."""
    base = elephan.Scenario.from_text(elephan.EXAMPLE).replace({"duration": duration})
    elephan.sweep(base, over={"seed": list(range(1, runs + 1))}, store=folder, workers=workers, executor=executor)


def table_of(folder: Path) -> bytes:
    """Return the table of a store."""
    with Store(folder, readonly=True) as store:
        return store.export(format="csv")


def bare(duration: str, runs: int) -> None:
    """Simulate the same without storing anything."""
    base = elephan.Scenario.from_text(elephan.EXAMPLE).replace({"duration": duration})
    for replication in range(runs):
        simulate(base, replication)


def bare_on_two(duration: str, runs: int) -> None:
    """Simulate the same on two threads, with one call for each half: the limit of this machine's second core."""
    base = elephan.Scenario.from_text(elephan.EXAMPLE).replace({"duration": duration})
    halves = [[(base, number) for number in range(first, runs, 2)] for first in (0, 1)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(simulate_several, halves))


def say(what: str, took: Spent, runs: int) -> None:
    """Print a row of the table."""
    sys.stdout.write(f"{what:<44}{1e3 * took.wall_s / runs:9.2f} ms{1e3 * took.cpu_s / runs:9.2f} ms of CPU per run\n")
    sys.stdout.flush()


def overhead(runs: int, folder: Path) -> None:
    """Print short runs on one worker and on two, minus the engine's own time."""
    swept(SHORT, 20, 1, folder / "warm")
    engine = spent(lambda: bare(SHORT, runs))
    say(f"{runs} short runs, the engine alone", engine, runs)
    for workers in (1, 2):
        took = spent(lambda workers=workers: swept(SHORT, runs, workers, folder / f"short-{workers}"))  # type: ignore[misc]
        say(f"  sweep, {workers} worker{'s' * (workers > 1)}", took, runs)
        beyond = Spent(took.wall_s - engine.wall_s / workers, took.cpu_s - engine.cpu_s)
        say("    beyond the engine", beyond, runs)


def scaling(runs: int, folder: Path) -> bytes:
    """Print longer runs on one worker and on two, the best of alternating rounds; return the table of the latter."""
    ways: dict[str, Callable[[int], None]] = {
        "the engine alone": lambda _: bare(LONGER, runs),
        "the engine alone, two threads": lambda _: bare_on_two(LONGER, runs),
        "sweep, 1 worker": lambda number: swept(LONGER, runs, 1, folder / f"long-1-{number}"),
        "sweep, 2 workers": lambda number: swept(LONGER, runs, 2, folder / f"long-2-{number}"),
    }
    sys.stdout.write(f"{runs} longer runs, the best of {ROUNDS}\n")
    rounds = [[spent(lambda do=do, number=number: do(number)) for do in ways.values()] for number in range(ROUNDS)]  # type: ignore[misc]
    best = [min(times) for times in zip(*rounds, strict=True)]
    for what, took in zip(ways, best, strict=True):
        say(f"  {what}", took, runs)
    engine, halves, one, two = (took.wall_s for took in best)
    gain, most = one / two, engine / halves
    sys.stdout.write(f"  two workers are {gain:.2f} times as fast as one; the bare engine on two threads {most:.2f}\n")
    return table_of(folder / "long-2-0")


def on_dask(runs: int, folder: Path, expected: bytes) -> None:
    """Run the longer runs on two processes of a local cluster."""
    import distributed  # noqa: PLC0415 (an extra; only asked for with --dask)

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,  # type: ignore[no-untyped-call]
        distributed.Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        executor = client.get_executor()
        swept(LONGER, 4, None, folder / "warm-dask", executor)
        took = spent(lambda: swept(LONGER, runs, None, folder / "dask", executor))
        sys.stdout.write(f"  {'Dask, 2 processes':<42}{1e3 * took.wall_s / runs:9.2f} ms per run\n")
    same = table_of(folder / "dask") == expected
    sys.stdout.write(f"  store export of both: {'the same bytes' if same else 'NOT the same bytes'}\n")
    if not same:
        sys.exit(1)


def main() -> None:
    """Measure, and print a small table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--runs", type=int, default=10_000, help="short runs; a twentieth as many longer ones, some times"
    )
    parser.add_argument("--dask", action="store_true", help="also on two processes of a local Dask cluster")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        overhead(asked.runs, folder)
        longer = max(1, asked.runs // 20)
        table = scaling(longer, folder)
        if asked.dask:
            on_dask(longer, folder, table)


if __name__ == "__main__":
    main()
