"""Jobs of the page: a bounded queue, threads that run them, and their cancellation.

A job runs in a thread and sends events, which one connection of the page reads. The native engine releases the
interpreter's lock, so threads run simulations in parallel. When a job is cancelled, its simulations are stopped.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.runs.outcome import ReplicationOutcome, simulate
from elephan.runs.threads import SimulationThreads, monitor_of_thread
from elephan.scenario import Scenario
from elephan.units import count

if TYPE_CHECKING:
    from elephan import _native

RUNNING = 4
"""Minimum number of jobs that run at the same time: enough for two users, each with a run and a curve."""

MOST_WAITING = 16
"""Maximum number of jobs that wait for a thread; more are refused."""

MOST_OF_TAB = 4
"""Maximum number of unfinished jobs of one tab."""

PATIENCE_S = 15.0
"""Time after which a job is cancelled if no connection reads its events [s]."""

LOG = logging.getLogger("elephan.web")

Event = dict[str, Any]


class JobCancelledError(Exception):
    """Raised inside a job that has been cancelled."""


class BusyError(InputError):
    """The queue of jobs is full."""


class Job:
    """A job: its work, its events, and whether it has been cancelled.

    Parameters
    ----------
    work : callable
        Function that takes the job, and returns its last event.
    tab, slot : str
        Tab of the browser and part of the page; a new job with the same tab and slot replaces this one.
    """

    def __init__(self, work: Callable[[Job], Event], tab: str, slot: str, queue: JobQueue) -> None:
        self.id = secrets.token_urlsafe(12)
        self.tab, self.slot = tab, slot
        self.is_over = False
        self.is_read = False
        self._work, self._queue = work, queue
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._cancelled = threading.Event()
        self._monitors: set[_native.RunMonitor] = set()
        # The lock is reentrant: a signal handler may interrupt the thread that holds it, and cancel the job there.
        self._guard = threading.RLock()

    @property
    def is_cancelled(self) -> bool:
        """Whether the job has been cancelled."""
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raise `JobCancelledError` if the job has been cancelled."""
        if self._cancelled.is_set():
            raise JobCancelledError

    def send(self, event: Event) -> None:
        """Send an event to the connection that reads the job; may be called from any thread."""
        self.check()
        self._post(event)

    def cancel(self) -> None:
        """Stop the job and the simulations that it has started."""
        self._cancelled.set()
        with self._guard:
            for monitor in self._monitors:
                monitor.stop()

    def replications(
        self,
        scenario: Scenario,
        numbers: Sequence[int],
        *,
        series: bool = True,
        done: Callable[[int], None] | None = None,
    ) -> list[ReplicationOutcome]:
        """Run replications of a scenario, several at the same time; return their outcomes in order.

        Parameters
        ----------
        done : callable, optional
            Called in this thread with the number of outcomes so far.
        """
        self.check()
        futures = [self._queue.simulations.submit(self._simulate, scenario, number, series) for number in numbers]
        found: list[ReplicationOutcome] = []
        try:
            for future in futures:
                found.append(future.result())
                self.check()
                if done is not None:
                    done(len(found))
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return found

    def _simulate(self, scenario: Scenario, number: int, series: bool) -> ReplicationOutcome:
        monitor = monitor_of_thread()
        assert monitor is not None
        with self._guard:
            self._monitors.add(monitor)
        try:
            self.check()
            return simulate(scenario, number, series=series)
        except KeyboardInterrupt:
            # The engine raises this when the monitor stops it.
            raise JobCancelledError from None
        finally:
            with self._guard:
                self._monitors.discard(monitor)

    def run(self) -> None:
        """Do the work and send the last event; called in a thread."""
        try:
            self.check()
            last = self._work(self)
        except (JobCancelledError, CancelledError):
            last = {"state": "cancelled"}
        except InputError as error:
            last = {"state": "failed", "message": str(error)}
        except MemoryError:
            last = {"state": "failed", "message": "out of memory; make the run smaller"}
        except Exception:
            LOG.exception("a job failed")
            last = {"state": "failed", "message": "a defect of elephan; the terminal has its place"}
        self.is_over = True
        self._post({**last, "is_last": True})

    def _post(self, event: Event) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def events(self, *, wait_s: float = 10.0) -> Any:
        """Yield events until the last one; yield None after `wait_s` without events, to keep the connection open."""
        self.is_read = True
        while True:
            try:
                event = await asyncio.wait_for(self._events.get(), wait_s)
            except TimeoutError:
                yield None
                continue
            yield event
            if event.get("is_last"):
                return


class JobQueue:
    """Jobs that wait and run, and threads for their simulations."""

    def __init__(self, workers: int) -> None:
        self.simulations = SimulationThreads(workers)
        self.running = max(RUNNING, workers)
        self._threads = ThreadPoolExecutor(self.running, thread_name_prefix="elephan-job")
        self._jobs: dict[str, Job] = {}
        self._futures: dict[str, Future[None]] = {}

    def __iter__(self) -> Iterator[Job]:
        return iter(list(self._jobs.values()))

    def start(self, work: Callable[[Job], Event], tab: str, slot: str) -> Job:
        """Add a job; an earlier job of the same tab and slot is cancelled.

        Raises
        ------
        BusyError
            If too many jobs are unfinished, in total or in this tab.
        """
        mine = [job for job in self if job.tab == tab and not job.is_over and not job.is_cancelled]
        for job in (job for job in mine if job.slot == slot):
            self.end(job)
        unfinished = [job for job in self if not job.is_over and not job.is_cancelled]
        if len(unfinished) >= self.running + MOST_WAITING or len([j for j in mine if j.slot != slot]) >= MOST_OF_TAB:
            raise BusyError(f"queue: {count(len(unfinished), 'run')} waiting already; try again when some are done")
        job = Job(work, tab, slot, self)
        self._jobs[job.id] = job
        self._futures[job.id] = self._threads.submit(job.run)
        asyncio.get_running_loop().call_later(PATIENCE_S, self._forget_unread, job)
        return job

    def get(self, job_id: str) -> Job | None:
        """Return a job; None if it does not exist or was forgotten."""
        return self._jobs.get(job_id)

    def end(self, job: Job) -> None:
        """Cancel a job, if it is not over, and forget it."""
        job.cancel()
        future = self._futures.pop(job.id, None)
        if future is not None and future.cancel():
            # The job has not started. Run it now: it only sends the event "cancelled" to a reader.
            job.run()
        self._jobs.pop(job.id, None)

    def _forget_unread(self, job: Job) -> None:
        if not job.is_read:
            self.end(job)

    def close(self) -> None:
        """Cancel all jobs, and stop the threads."""
        for job in self:
            self.end(job)
        self.simulations.shutdown(wait=False, cancel_futures=True)
        self._threads.shutdown(wait=False, cancel_futures=True)
