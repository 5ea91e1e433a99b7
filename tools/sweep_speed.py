"""Time what a sweep costs beside its simulations: ``python tools/sweep_speed.py [--runs N] [--dask]``.

Many runs of a few milliseconds against the bare calls of the engine in the same process, and runs of about 20 ms on one
worker and on two; with ``--dask`` also on two processes of a local cluster, whose table must be the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import TYPE_CHECKING, NamedTuple

import elephan
from elephan.run.outcome import simulate
from elephan.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

SHORT, LONGER = "40 s", "240 s"
"""Of the example: a few milliseconds of simulation, and some twenty."""


class Spent(NamedTuple):
    """Seconds by the clock, and of CPU in all threads and in processes that have ended."""

    wall_s: float
    cpu_s: float


def spent(do: Callable[[], object]) -> Spent:
    """Measure what something takes."""
    begun, used = time.perf_counter(), _cpu_s()
    do()
    return Spent(time.perf_counter() - begun, _cpu_s() - used)


def _cpu_s() -> float:
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def swept(duration: str, runs: int, workers: int | None, folder: Path, executor: Executor | None = None) -> None:
    """Sweep the example over its seed."""
    base = elephan.Scenario.from_text(elephan.EXAMPLE).override({"duration": duration})
    elephan.sweep(base, over={"seed": list(range(1, runs + 1))}, store=folder, workers=workers, executor=executor)


def table_of(folder: Path) -> bytes:
    """Return the table of a store."""
    with Store(folder, readonly=True) as store:
        return store.export(format="csv")


def bare(duration: str, runs: int) -> None:
    """Simulate the same and keep nothing."""
    base = elephan.Scenario.from_text(elephan.EXAMPLE).override({"duration": duration})
    for replication in range(runs):
        simulate(base, replication)


def say(what: str, took: Spent, runs: int) -> None:
    """Print a row of the table."""
    sys.stdout.write(f"{what:<44}{1e3 * took.wall_s / runs:9.2f} ms{1e3 * took.cpu_s / runs:9.2f} ms of CPU per run\n")
    sys.stdout.flush()


def overhead(runs: int, folder: Path) -> None:
    """Short runs on one worker and on two, beyond what the engine takes."""
    swept(SHORT, 20, 1, folder / "warm")
    engine = spent(lambda: bare(SHORT, runs))
    say(f"{runs} short runs, the engine alone", engine, runs)
    for workers in (1, 2):
        took = spent(lambda workers=workers: swept(SHORT, runs, workers, folder / f"short-{workers}"))  # type: ignore[misc]
        say(f"  sweep, {workers} worker{'s' * (workers > 1)}", took, runs)
        beyond = Spent(took.wall_s - engine.wall_s / workers, took.cpu_s - engine.cpu_s)
        say("    beyond the engine", beyond, runs)


def scaling(runs: int, folder: Path) -> bytes:
    """Longer runs on one worker and on two; return the table of the latter."""
    say(f"{runs} longer runs, the engine alone", spent(lambda: bare(LONGER, runs)), runs)
    took = {}
    for workers in (1, 2):
        took[workers] = spent(lambda workers=workers: swept(LONGER, runs, workers, folder / f"long-{workers}"))  # type: ignore[misc]
        say(f"  sweep, {workers} worker{'s' * (workers > 1)}", took[workers], runs)
    sys.stdout.write(f"  two workers are {took[1].wall_s / took[2].wall_s:.2f} times as fast as one\n")
    return table_of(folder / "long-2")


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
    parser.add_argument("--runs", type=int, default=10_000, help="short runs; a tenth as many longer ones")
    parser.add_argument("--dask", action="store_true", help="also on two processes of a local Dask cluster")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        overhead(asked.runs, folder)
        table = scaling(max(1, asked.runs // 10), folder)
        if asked.dask:
            on_dask(max(1, asked.runs // 10), folder, table)


if __name__ == "__main__":
    main()
