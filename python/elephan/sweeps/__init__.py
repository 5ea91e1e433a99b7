"""Sweeps: a scenario varied over lists. Each point is run once, on any executor, and its result is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.own_laws import LawSource, check_used, declared

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from elephan.scenario import Scenario
    from elephan.store import Store
    from elephan.sweeps.document import Sweep
    from elephan.sweeps.execution import ExecutorLostError
    from elephan.sweeps.points import SweepPoint
    from elephan.sweeps.progress import SweepProgress
    from elephan.sweeps.result import PointResult, SweepResult
    from elephan.sweeps.running import parse_shard, preview

__all__ = [
    "ExecutorLostError",
    "PointResult",
    "Sweep",
    "SweepPoint",
    "SweepProgress",
    "SweepResult",
    "parse_shard",
    "preview",
    "sweep",
]

_HOMES = {
    "PointResult": "result",
    "ExecutorLostError": "execution",
    "SweepPoint": "points",
    "SweepProgress": "progress",
    "Sweep": "document",
    "SweepResult": "result",
    "parse_shard": "running",
    "preview": "running",
}
"""Modules of the lazily imported names: they need NumPy and SQLite, which `import elephan` does not load."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]


def sweep(
    sweep_or_base: Sweep | Scenario | Mapping[str, Any] | str | Path,
    *,
    over: Mapping[str, Any] | None = None,
    zip: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,  # noqa: A002 (the file's word)
    cases: Sequence[Mapping[str, Any]] | None = None,
    store: Store | str | Path | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    shard: str | tuple[int, int] | None = None,
    precision: str | Sequence[str] | None = None,
    max_replications: int | None = None,
    replications: int | None = None,
    seed: int | None = None,
    series: bool = False,
    metrics: str | Sequence[str] = (),
    progress: Callable[[SweepProgress], None] | None = None,
    force: bool = False,
    laws: Mapping[str, LawSource] | None = None,
) -> SweepResult:
    """Run every point of a sweep that is not in the store yet.

    Each result is stored as soon as it is complete, so a sweep that was stopped continues when it is called again. A
    point that fails does not stop the others; its error is recorded, and the next call tries the point again.

    Parameters
    ----------
    sweep_or_base : Sweep, Scenario, mapping or path
        A sweep, a sweep file or a mapping with its keys, or the base scenario.
    over, zip, cases
        Axes, as for `Sweep.of`; for a given sweep, additional axes.
    store : Store or path, optional
        By default ``$ELEPHAN_STORE``, or ``.elephan`` in the working directory.
    executor : concurrent.futures.Executor, optional
        Executor of the points: processes, or `distributed.Client.get_executor`; by default threads. The results do not
        depend on the executor.
    workers : int, optional
        Number of tasks that run at the same time; by default that of the executor, or the number of cores.
    shard : str or tuple of int, optional
        ``"2/5"`` runs only the second of five parts. Its results are written to a separate store inside of the store,
        which merges them when it is next opened for writing.
    precision : str or sequence of str, optional
        Precision of each point, as for `elephan.run`; replaces the sweep's own.
    max_replications : int, optional
        Maximum replications of a point for its precision; by default the sweep's value, which is 100 if not stated.
    replications, seed : int, optional
        Replace the values of the sweep.
    series : bool
        Whether to store the samples of cwnd, srtt and backlog.
    metrics : str or sequence of str
        Additional metrics of the catalogue, as in `elephan.run`.
    progress : callable, optional
        Called with a `SweepProgress` in this thread, before the first point and after each.
    force : bool
        Whether to run points even if they need more memory than is available.
    laws : mapping of str to class or path, optional
        Your own laws, as in `elephan.run`.

    Returns
    -------
    SweepResult

    Raises
    ------
    InputError
        If the sweep cannot be read, a point is not a valid scenario, points need more memory than is available, or the
        store cannot be written.
    ExecutorLostError
        If the executor broke; results that were complete are in the store.
    KeyboardInterrupt
        After Ctrl-C; results that were complete are in the store.

    Examples
    --------
    >>> import elephan, tempfile
    >>> base = elephan.Scenario.from_text(elephan.EXAMPLE)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     swept = sweep(base, over={"links[0].buffer": ["5 packets", "0.5 bdp"]}, store=folder)
    ...     [(point.labels["links[0].buffer"], point.links["buffer_packets"][0]) for point in swept.points]
    [('5 packets', 5), ('0.5 bdp', 50)]
    """
    from elephan.runs.measures import needs_series, parse_metrics  # noqa: PLC0415 (as below)
    from elephan.sweeps.running import asked_of, parse_shard, run_sweeps  # noqa: PLC0415 (need NumPy)

    with declared(laws):
        asked = asked_of(sweep_or_base).extended(over, zip, cases)
        asked = asked.asking(precision, max_replications, replications, seed)
    if laws:
        check_used(laws, asked.own_laws())
    part = parse_shard(shard) if isinstance(shard, str) else shard
    chosen = parse_metrics(metrics)
    series = series or needs_series(chosen)
    [swept] = run_sweeps([(asked, series)], store, executor, workers, part, progress=progress, force=force)
    return replace(swept, metrics=chosen) if chosen else swept
