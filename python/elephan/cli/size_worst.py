"""``elephan size --worst-case``: the smallest buffer that survives the worst case found."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from elephan.cli.common import print_json, print_lines, say_written
from elephan.cli.worst_screen import search_worst, worst_screen

if TYPE_CHECKING:
    from pathlib import Path

    from elephan.scenario import Scenario
    from elephan.worst import WorstSizing


def size_worst_case(
    scenario: Scenario,
    target: list[str],
    ranges: list[str],
    *,
    title: str,
    runs: int | None,
    out: Path | None,
    quiet: bool,
    json: bool,
    details: bool,
    options: dict[str, Any],
) -> WorstSizing:
    """Answer, print and write.

    Parameters
    ----------
    options : dict
        ``link``, ``precision`` and ``workers``.

    Returns
    -------
    WorstSizing
    """
    from elephan.worst.sizing import RUNS, size_worst  # noqa: PLC0415 (--help does without NumPy)

    look = partial(size_worst, scenario, target, ranges, runs=runs or RUNS, **options)
    found, written = search_worst(
        "the file as it is", lambda watch: look(progress=watch, begin=watch.begin), out, quiet=quiet
    )
    if json:
        print_json(found.to_json())
    else:
        print_lines(*worst_screen(found, title, out, details=details))
    say_written(written)
    return found
