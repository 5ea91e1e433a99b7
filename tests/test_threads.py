"""Cores left idle by replications are used by the running ones, without effect on results."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from conftest import PATIENCE_S
from elephan import _native
from elephan.runs import threads
from elephan.scenario import Scenario

if TYPE_CHECKING:
    import pytest

LARGE = """
duration = "1 s"
[[links]]
name   = "core"
rate   = "3 Gbit/s"
buffer = "3000 packets"
[[flows]]
count = 300
path  = ["core"]
rtt   = { from = "50 ms", to = "150 ms" }
"""
"""Enough flows, and packets in a window, for several threads."""


class _Monitor:
    """A monitor that records the last permitted number of threads."""

    share = 0.0

    def __init__(self) -> None:
        self.allowed = 1

    def allow_threads(self, count: int) -> None:
        self.allowed = count

    def stop(self) -> None:
        """There is nothing to stop."""


def test_what_runs_shares_the_threads_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "RunMonitor", _Monitor)
    seen = []
    begun, ends = [threading.Event() for _ in range(6)], [threading.Event() for _ in range(6)]

    def work(i: int) -> int:
        begun[i].set()
        assert ends[i].wait(PATIENCE_S)
        monitor: Any = threads.monitor_of_thread()
        return int(monitor.allowed)

    with threads.SimulationThreads(4) as pool:
        futures = [pool.submit(work, i) for i in range(6)]
        # One after the other, each once all are running that can be: what each was allowed when it ended.
        for i, future in enumerate(futures):
            assert all(event.wait(PATIENCE_S) for event in begun[: i + 4])
            ends[i].set()
            seen.append(future.result(PATIENCE_S))
    # Six, five and four to be done: a thread each; then four threads for three, two and one.
    assert seen == [1, 1, 1, 2, 2, 4]


def test_a_run_on_two_threads_is_the_same() -> None:
    canonical = Scenario.from_text(LARGE).canonical
    alone, shared = (_native.simulate(canonical, 0, hash=True, threads=count) for count in (1, 2))
    assert alone["hash"] == shared["hash"] != 0
    assert alone["balance"] == shared["balance"]
