"""``elephan doctor``: what this machine can do, what is missing, and the command that mends it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import typer

from elephan.cli import options
from elephan.cli.columns import LINES, wrapped
from elephan.cli.common import print_json, print_lines
from elephan.cli.tables import whole_table

if TYPE_CHECKING:
    from elephan.doctor.finding import ProbeResult

EXAMPLE = """Example:  elephan doctor
elephan doctor --details"""

_ORDER = ("missing", "limited")
"""Statuses of what is shown by default, worst first."""


def doctor(details: options.Details = False, json: options.Json = False) -> None:
    """Look at this machine: what is missing, and the command that mends it. Nothing is changed.

    Exit code 0 if simulations run here (what is optional may be missing), 1 if not.
    """
    from elephan.doctor import document, examine  # noqa: PLC0415 (a dozen modules; --help does without)

    rows = examine()
    report = document(rows)
    if json:
        print_json(report)
    elif details:
        _show_all(rows)
        print_lines("", _ready(ok=report["ok"]))
    else:
        print_lines(*_screen(rows, ok=report["ok"]))
    raise typer.Exit(0 if report["ok"] else 1)


def _ready(*, ok: bool) -> str:
    return "Ready to simulate." if ok else "Not ready to simulate: something needed is missing."


def _screen(rows: Sequence[ProbeResult], *, ok: bool) -> list[str]:
    """The answer, then what is missing, what is needed first; each with the command that mends it."""
    wanting = [row for row in rows if row.status in _ORDER]
    wanting.sort(key=lambda row: (not row.needed, _ORDER.index(row.status)))
    fine = sum(row.status == "ok" for row in rows)
    lines = wrapped(f"{_ready(ok=ok)} {fine} of {fine + len(wanting)} checks are ok; all of them: --details")
    for n, row in enumerate(wanting):
        # Only the sentence wraps: the command is to be copied.
        said = [
            *wrapped(f"{row.name}: {row.status}, {row.found}; for {row.purpose}"),
            *([f"  {row.mend}"] if row.mend else []),
        ]
        if len(lines) + len(said) + (n + 1 < len(wanting)) > LINES and not row.needed:
            return [*lines, f"({len(wanting) - n} more: --details)"]
        lines += said
    return lines


def _show_all(rows: Sequence[ProbeResult]) -> None:
    cells: list[tuple[str, str, str]] = []
    for _, group in groupby(rows, lambda row: row.group):
        cells += [("", "", "")] if cells else []
        cells += [
            (row.name, row.status, row.found + ("" if row.status == "ok" else f"; for {row.purpose}")) for row in group
        ]
    print_lines(*whole_table(["", "", "found"], cells, [False] * 3))
    mends = [row for row in rows if row.mend]
    if mends:
        print_lines("", "To fix:")
        for one in mends:
            print_lines(*wrapped(f"{one.name}, for {one.purpose}:", mark="  "), f"    {one.mend}")
