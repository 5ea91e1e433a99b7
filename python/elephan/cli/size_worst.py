"""``elephan size --worst-case``: the smallest buffer that survives the worst case found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.cli.common import Interrupted, print_json, print_lines, say_written, writing
from elephan.cli.progress import ProgressLine
from elephan.cli.worst_screen import WorstProgressDisplay, worst_screen

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

    with ProgressLine("the file as it is", quiet=quiet) as line:
        watch = WorstProgressDisplay(line)
        try:
            found = size_worst(
                scenario,
                target,
                ranges,
                runs=runs or RUNS,
                progress=watch,
                begin=watch.begin,
                **options,
            )
            with writing(out):
                written = [] if out is None else found.write(out)
        except KeyboardInterrupt:
            raise Interrupted(watch.summary()) from None
    if json:
        print_json(found.to_json())
    else:
        print_lines(*worst_screen(found, title, out, details=details))
    say_written(written)
    return found
