"""Threads that simulate: native runs in them end as soon as nobody waits for them any more."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from elephan import _native

_here = threading.local()


def monitor_of_thread() -> _native.RunMonitor | None:
    """Return what ends native runs of this thread; None if it belongs to no `SimulationThreads`, and signals do."""
    monitor: _native.RunMonitor | None = getattr(_here, "monitor", None)
    return monitor


class SimulationThreads(ThreadPoolExecutor):
    """An executor whose running simulations are ended when it is shut down without waiting, or left by an exception.

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
        super().__init__(workers, thread_name_prefix="elephan", initializer=self._begin)
        self._monitors: list[_native.RunMonitor] = []

    def _begin(self) -> None:
        """Give the thread that has just begun a monitor of its own."""
        _here.monitor = _native.RunMonitor()
        self._monitors.append(_here.monitor)

    @property
    def shares(self) -> list[float]:
        """How much of the simulated time of its replication has passed in each thread, from 0 to 1."""
        return [monitor.share for monitor in self._monitors]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads: after what they run if `wait`, otherwise at once.

        Parameters
        ----------
        wait : bool
        cancel_futures : bool
            What has not begun does not begin.
        """
        if not wait:
            for monitor in list(self._monitors):
                monitor.stop()
        super().shutdown(wait=wait, cancel_futures=cancel_futures)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(wait=kind is None, cancel_futures=kind is not None)
