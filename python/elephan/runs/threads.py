"""Threads for simulations: they stop running simulations on shutdown, report progress, and share cores."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from elephan import _native

_here = threading.local()


def monitor_of_thread() -> _native.RunMonitor | None:
    """Return the monitor that stops native runs of this thread; None outside `SimulationThreads`, where signals do."""
    monitor: _native.RunMonitor | None = getattr(_here, "monitor", None)
    return monitor


def running_shares() -> list[float]:
    """Return the progress of each replication that runs on a thread now, from 0 to 1 of its simulated time.

    Examples
    --------
    >>> running_shares()
    []
    """
    return [share for pool in list(_pools) for share in pool.shares]


class SimulationThreads(ThreadPoolExecutor):
    """Executor that stops its running simulations on shutdown without waiting, or when an exception leaves its block.

    If there are fewer jobs than threads, running simulations use the cores of the idle threads, too.

    Parameters
    ----------
    workers : int

    Examples
    --------
    >>> with SimulationThreads(2) as threads:
    ...     threads.submit(sum, [1, 2]).result()
    3
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers, thread_name_prefix="elephan")
        self._running: dict[int, _native.RunMonitor] = {}
        self._unfinished = 0
        self._sharing = threading.Lock()
        self._is_stopped = False
        _pools.add(self)

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function in a thread, with its own monitor."""
        self._share_cores(1)
        return super().submit(self._run, work, args, kwargs)

    def _share_cores(self, more: int) -> None:
        """Give each running simulation its share of the cores, after the number of jobs has changed."""
        with self._sharing:
            self._unfinished += more
            each, left = divmod(self._max_workers, max(self._unfinished, 1))
            for i, monitor in enumerate(list(self._running.values())):
                monitor.allow_threads(each + (i < left))

    def _run(self, work: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        monitor = _here.monitor = self._running[threading.get_ident()] = _native.RunMonitor()
        if self._is_stopped:
            monitor.stop()
        self._share_cores(0)
        try:
            return work(*args, **kwargs)
        finally:
            _here.monitor = None
            del self._running[threading.get_ident()]
            self._share_cores(-1)

    @property
    def shares(self) -> list[float]:
        """Progress of the replication in each busy thread, from 0 to 1 of its simulated time."""
        return [monitor.share for monitor in list(self._running.values())]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut down: after the running jobs if `wait`, otherwise at once.

        Parameters
        ----------
        wait : bool
        cancel_futures : bool
            Whether to cancel work that has not started.
        """
        if not wait:
            self._is_stopped = True
            for monitor in list(self._running.values()):
                monitor.stop()
        super().shutdown(wait=wait, cancel_futures=cancel_futures)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(wait=kind is None, cancel_futures=kind is not None)


_pools: weakref.WeakSet[SimulationThreads] = weakref.WeakSet()
