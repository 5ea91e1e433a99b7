"""Searches of ``elephan size``: their progress, and what is shown, written and noted of each kind of answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.cli import common
from elephan.cli.comparison import comparison_notes, comparison_screen
from elephan.cli.size_limit import limit_screen
from elephan.cli.size_screen import size_screen
from elephan.cli.worst_screen import search_worst, worst_screen
from elephan.extras import missing
from elephan.sizing import LimitAnswer, SizeAnswer, SizeComparison, size, size_limit, size_variants
from elephan.sizing.search import SearchProgress
from elephan.units import count
from elephan.worst.sizing import RUNS, WorstSizing
from elephan.worst.sizing import size_worst as survive

if TYPE_CHECKING:
    from collections.abc import Callable

    from elephan.cli.progress import ProgressLine
    from elephan.scenario import Scenario

Found = SizeAnswer | SizeComparison | LimitAnswer


def size_worst(
    read: Scenario,
    target: list[str],
    ranges: list[str] | None,
    runs: int | None,
    asked: dict[str, Any],
    title: str,
    out: Path | None,
    *,
    quiet: bool,
    json: bool,
    details: bool,
) -> WorstSizing:
    """Search for the buffer that meets the targets in the worst case, write and print it."""
    look = partial(survive, read, target, ranges or [], runs=runs or RUNS, **asked)
    return search_worst(
        "the file as it is",
        lambda watch: look(progress=watch, begin=watch.begin),
        lambda found: worst_screen(found, title, out, details=details),
        out,
        quiet=quiet,
        json=json,
    )


def search(
    read: Scenario,
    target: list[str],
    names: tuple[list[str], list[str]],
    find: str | None,
    asked: dict[str, Any],
    line: ProgressLine,
    **how: Any,
) -> Found:
    """Size one scenario, its variants by laws and queues, or find what its buffer is enough for.

    Parameters
    ----------
    names : tuple of list of str
        Laws and queues to compare.
    find : str or None
        What is found for the buffer of the file.
    asked : dict
        Link, precision, workers and other arguments of all of these searches.
    **how
        Further arguments of `elephan.size`.
    """
    watch = _SizeProgressReporter(line, counts_packets=find is None)
    if find is not None:
        return size_limit(read, target, find, **asked, progress=watch)
    sizing: Callable[[Scenario], SizeAnswer] = partial(size, target=target, **asked, progress=watch, **how)
    return size_variants(read, *names, sizing, link=asked["link"], begin=watch.begin) if any(names) else sizing(read)


def show(found: Found, title: str, *, details: bool) -> None:
    """Print an answer below its title: on one screen, or completely."""
    if details:
        from elephan.cli.page_screen import details as details_of  # noqa: PLC0415 (pages; a screen does without)

        lines = details_of(found, title)
    elif isinstance(found, LimitAnswer):
        lines = limit_screen(found, title)
    else:
        lines = comparison_screen(found, title) if isinstance(found, SizeComparison) else size_screen(found, title)
    common.print_lines(*lines)


def write(found: Found, out: Path | None, tables: str, assignments: list[str] | None) -> list[Path]:
    """Write an answer with its pictures; of a comparison also a picture of each answer, in its folder."""
    written = common.write_result(found, out, tables, assignments, drawn=not isinstance(found, LimitAnswer))
    if out is not None and isinstance(found, SizeComparison) and not missing("matplotlib"):
        with common.writing(out):
            for variant in found.variants:
                common.draw(variant.answer, found.folder(variant, out), assignments)
    return written


def notes(found: Found) -> list[str]:
    """Return the notes on an answer, for stderr."""
    if isinstance(found, SizeComparison):
        return comparison_notes(found)
    return [f"{'note' if found.is_met else 'target not met'}: {found.note}"] if found.note else []


class _SizeProgressReporter:
    """Passes progress to the display, and keeps it for messages after Ctrl-C."""

    def __init__(self, line: ProgressLine, *, counts_packets: bool) -> None:
        self.line, self.counts_packets = line, counts_packets
        line.interrupted = self.summary
        self.last: SearchProgress | None = None
        self.variant = ""

    def begin(self, number: int, of: int, label: str) -> None:
        """Announce the next variant of a comparison."""
        self.last, self.variant = None, f"{label} ({number} of {of})"
        self.line.begin(f"sizing {self.variant}")

    def __call__(self, progress: SearchProgress) -> None:
        self.last = progress
        self.line.update(progress.done, progress.expected, self._bracket(progress))

    def _bracket(self, progress: SearchProgress) -> str:
        return _bracket(progress) if self.counts_packets else ""

    def summary(self) -> str:
        where = f" at {self.variant}" if self.variant else ""
        if self.last is None:
            return f"interrupted{where} before the first run was done; nothing was written"
        known = self._bracket(self.last) or "no bracket yet"
        return (
            f"interrupted{where}: {self.last.done} of about {count(self.last.expected, 'run')} done, "
            f"{count(self.last.points, 'buffer')} measured, {known}; nothing is half-written"
        )


def _bracket(progress: SearchProgress) -> str:
    if progress.below is not None and progress.above is not None:
        return f"{progress.below} to {count(progress.above, 'packet')}"
    if progress.above is not None:
        return f"at most {count(progress.above, 'packet')}"
    return f"more than {count(progress.below, 'packet')}" if progress.below is not None else ""
