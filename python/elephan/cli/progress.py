"""Progress of a long command: a bar with the time left on a terminal, lines in a log, nothing with --quiet.

The display counts runs or points. Between two of them it advances with the simulated time of the running replications.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Self

from elephan.cli.common import Interrupted, say
from elephan.cli.estimate import announce_packets
from elephan.errors import InputError
from elephan.units import count, format_long_time

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import Task

    from elephan.sweeps import SweepProgress

EVERY_S = 5.0
"""Interval between lines in a log [s]."""

FIRST_S = 1.0
"""Time before the first line [s]; shorter commands print none."""


LOOK_S = 0.5
"""Interval at which the progress of the running replications is read [s]."""


class ProgressLine:
    """A progress display on stderr.

    Parameters
    ----------
    what : str
        Text at the start of the line.
    quiet : bool
        Show nothing.
    of : str
        Name of the things counted.

    Examples
    --------
    >>> with ProgressLine("runs", quiet=True) as line:
    ...     line.update(1, 2)
    """

    def __init__(self, what: str, *, quiet: bool = False, of: str = "runs") -> None:
        self.what, self.quiet, self.of = what, quiet, of
        self.interrupted: Callable[[], str] | None = None
        """Returns the message after Ctrl-C in the ``with`` block; if None, KeyboardInterrupt is raised unchanged."""
        self.kept: Callable[[], str] | None = None
        """Describes the results kept so far; its text ends the message of an InputError in the ``with`` block."""
        self.bar: Bar | None = None
        self.begun = time.monotonic()
        self.last_line_s = self.begun - EVERY_S + FIRST_S
        self._shown: _Shown | None = None
        self._ended = threading.Event()
        self._looker: threading.Thread | None = None

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console, RenderableType  # noqa: PLC0415 (slow to import; only a terminal needs it)
            from rich.constrain import Constrain  # noqa: PLC0415 (as above)
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415 (as above)
            from rich.text import Text  # noqa: PLC0415 (as above)

            console = Console(stderr=True)

            class TimeLeftColumn(TimeRemainingColumn):
                """Column with the time left: the caller's estimate, or else one from the items left."""

                def render(self, task: Task) -> Text:
                    left_s = task.fields["left_s"]
                    if left_s is None or task.finished:
                        return super().render(task)
                    minutes, seconds = divmod(round(left_s), 60)
                    hours, minutes = divmod(minutes, 60)
                    return Text(f"{hours:d}:{minutes:02d}:{seconds:02d}", style="progress.remaining")

            class NarrowBar(Progress):
                """Progress bar with room for a terminal's ^C after it: a wrapped line would not be erased."""

                def get_renderable(self) -> RenderableType:
                    return Constrain(super().get_renderable(), max(console.width - len("^C^C"), 1))

            self.bar = NarrowBar(
                TextColumn("{task.description}"),
                BarColumn(bar_width=None),
                MofNCompleteColumn(),
                TextColumn("left"),
                TimeLeftColumn(),
                console=console,
                transient=True,
                expand=True,
            )
            self.task = self.bar.add_task(self.what, total=None, left_s=None)
            self.bar.start()
        if not self.quiet:
            self._looker = threading.Thread(target=self._look, daemon=True)
            self._looker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self._ended.set()
        if self._looker is not None:
            self._looker.join()
        if self.bar is not None:
            self.bar.stop()
        if kind is KeyboardInterrupt and self.interrupted is not None:
            raise Interrupted(self.interrupted()) from None
        if isinstance(error, InputError) and self.kept is not None:
            raise InputError(f"{error}; {self.kept()}") from None

    def begin(self, what: str) -> None:
        """Start over with another task.

        Parameters
        ----------
        what : str
            New text at the start of the line.
        """
        self.what, self.begun = what, time.monotonic()

    def update(self, done: int, total: int, note: str = "", left_s: float | None = None) -> None:
        """Show the progress.

        Parameters
        ----------
        done, total : int
            Number of finished items, and of all items.
        note : str
            Additional information.
        left_s : float [s], optional
            Estimated time left, for items that take different times; by default it follows from `done` and `total`.
        """
        text = f"{self.what}: {note}" if note else self.what
        self._shown = _Shown(done, total, text, left_s, time.monotonic())
        self._show(self._shown, [])

    def _look(self) -> None:
        """Update the display with the progress of the running replications."""
        while not self._ended.wait(LOOK_S):
            shown, threads = self._shown, sys.modules.get("elephan.runs.threads")
            # The module is imported when the first replication starts.
            shares = [] if threads is None else threads.running_shares()
            if shown is not None and shares:
                self._show(shown, shares)

    def _show(self, shown: _Shown, shares: list[float]) -> None:
        now = time.monotonic()
        reached = min(shown.done + sum(shares), float(shown.total))
        left_s = None if shown.left_s is None else max(shown.left_s - (now - shown.at), 0.0)
        if left_s is None and reached > 0:
            left_s = (now - self.begun) / reached * (shown.total - reached)
        if self.bar is not None:
            self.bar.update(
                self.task,
                completed=reached,
                total=shown.total,
                description=shown.text,
                left_s=left_s if shares else shown.left_s,
            )
        elif not self.quiet and now - self.last_line_s >= EVERY_S:
            self.last_line_s = now
            parts = " and ".join(f"{share:.0%}" for share in shares)
            running = f", {len(shares)} running ({parts} done)" if shares else ""
            known = f", about {format_long_time(round(left_s))} left" if left_s is not None else ""
            say(f"{shown.text}: {shown.done} of {shown.total} {self.of}{running}{known}")


class _Shown(NamedTuple):
    """Last reported progress, and its time [s]."""

    done: int
    total: int
    text: str
    left_s: float | None
    at: float


class SweepProgressReporter:
    """Passes the progress of a sweep to a `ProgressLine`, and keeps the last progress for the message after Ctrl-C."""

    def __init__(self, line: ProgressLine, workers: int | None = None) -> None:
        self.line, self.workers = line, workers
        line.interrupted = self.stopped
        self.last: SweepProgress | None = None

    def __call__(self, progress: SweepProgress) -> None:
        """Show the progress; before the first point runs, announce the total cost."""
        if self.last is None and not self.line.quiet and progress.total > progress.done:
            announce_packets(progress.cost_total, progress.total - progress.done, self.workers)
        self.last, self.line.kept = progress, self.kept
        failed = f"{progress.failed} failed" if progress.failed else ""
        self.line.update(progress.done, progress.total, failed, progress.left_s)

    def after(self, what: str) -> None:
        """Show the task that follows the last point."""
        if self.last is not None:
            self.line.update(self.last.done, self.last.total, what, 0.0)

    def kept(self) -> str:
        """Describe how many points the store has."""
        if self.last is None:
            return "nothing was run"
        kept = self.last.done - self.last.failed
        return f"{kept} of {count(self.last.total, 'point')} kept"

    def stopped(self) -> str:
        """Return the message after an interrupt."""
        is_kept = self.last is not None and self.last.done > self.last.failed
        again = "goes on from there" if is_kept else "starts from the beginning"
        return f"interrupted: {self.kept()}; the same command {again}"
