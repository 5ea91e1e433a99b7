"""``elephan doctor``: what this machine can do, what is missing, and the command that mends it."""

from __future__ import annotations

from itertools import pairwise

import typer

from elephan.cli.common import JsonOption, fitted_table, print_json, print_lines, print_tables

EXAMPLE = "Example:  elephan doctor"


def doctor(json: JsonOption = False) -> None:
    """Look at this machine: what works, what is missing, and the command that mends it. Nothing is changed.

    Exit code 0 if simulations run here (what is optional may be missing), 1 if not.
    """
    from elephan.doctor import document, examine  # noqa: PLC0415 (a dozen modules; --help does without)

    rows = examine()
    report = document(rows)
    if json:
        print_json(report)
        raise typer.Exit(0 if report["ok"] else 1)
    cells = [[row.name, row.status, row.found + ("" if row.status == "ok" else f"; for {row.purpose}")] for row in rows]
    table = fitted_table(["", "", "found"], cells, [True] * 3)
    for row, (now, following) in zip(table.rows, pairwise([*rows, None]), strict=True):
        row.end_section = following is None or now is None or following.group != now.group
    print_tables(table)
    mends = [row for row in rows if row.mend]
    if mends:
        print_lines("", "To fix:", *(f"  {row.mend}  # {row.name}: {row.purpose}" for row in mends))
    print_lines("", "Ready to simulate." if report["ok"] else "Not ready to simulate: see what is missing.")
    raise typer.Exit(0 if report["ok"] else 1)
