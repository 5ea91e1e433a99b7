"""Committed tables of full and of shortened runs, with which later runs are compared: a set's ``table.csv``.

A check reports verdicts that change, not a known error. ``elephan judge --bless`` writes the file.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.runs.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from elephan_evidence.judge.judgement import JudgedSet

FILE = "table.csv"
COLUMNS = ("quantity", "cell", "measured", "simulated", "error", "ci95", "verdict", "quick")
"""``cell`` is the key of a cell, or a family in brackets with its mean error and its verdict."""


@dataclass(frozen=True)
class TableChange:
    """A verdict that differs from the committed one; `was` is empty if there is none."""

    quantity: str
    cell: str
    was: str
    now: str

    def to_json(self) -> dict[str, Any]:
        """Return the change as an entry of a document."""
        return {"quantity": self.quantity, "cell": self.cell, "was": self.was or None, "now": self.now}


def read(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Read the committed rows of a set by quantity and cell; empty if there is no file.

    Raises
    ------
    InputError
        If the file has other columns.
    """
    path = folder / FILE
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            message = f"{path}: its columns must be {', '.join(COLUMNS)}"
            raise InputError(message)
        return {(row["quantity"], row["cell"]): row for row in reader}


def changes(judged: JudgedSet) -> list[TableChange]:
    """Compare the verdicts of a set with the committed ones."""
    known = read(judged.data.folder)
    column = "quick" if judged.quick else "verdict"
    found = []
    for row in _rows(judged):
        was = known.get((row["quantity"], row["cell"]), {}).get(column, "")
        if was != row["verdict"]:
            found.append(TableChange(row["quantity"], row["cell"], was, row["verdict"]))
    return found


def write(judged: JudgedSet) -> Path:
    """Write the table of a set; shortened runs write their verdicts only, into the rows of full runs.

    Raises
    ------
    InputError
        If the folder cannot be written, or shortened runs have no row to go to.
    """
    path = judged.data.folder / FILE
    before = read(judged.data.folder)
    rows = {(row["quantity"], row["cell"]): row for row in _rows(judged)}
    if judged.quick:
        if not rows.keys() <= before.keys():
            message = f"--bless: {path}: has no rows of full runs yet; bless a full run first"
            raise InputError(message)
        written = {key: {**row, "quick": rows[key]["verdict"] if key in rows else ""} for key, row in before.items()}
    else:
        written = {key: {**row, "quick": before.get(key, {}).get("quick", "")} for key, row in rows.items()}
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(written.values())
    try:
        return write_text(path, text.getvalue())
    except OSError as error:
        message = f"--bless: {path}: {error.strerror}"
        raise InputError(message) from None


def _rows(judged: JudgedSet) -> Iterator[dict[str, str]]:
    for each in judged.quantities:
        name = each.quantity.name
        # A family of few shortened cells is none.
        for family in () if judged.quick else each.families:
            yield {
                "quantity": name,
                "cell": f"[{family.name}]",
                "measured": "",
                "simulated": "",
                "error": _number(family.ours.bias),
                "ci95": _number(family.ours.bias_half),
                "verdict": family.verdict,
            }
        for one in each.cells:
            yield {
                "quantity": name,
                "cell": one.of.id,
                "measured": _number(one.of.measured),
                "simulated": _number(one.of.found),
                "error": _number(one.of.found_error),
                "ci95": _number(one.half),
                "verdict": "above" if judged.quick and one.verdict == "explained" else one.verdict,
            }


def _number(x: float | None) -> str:
    return "" if x is None or math.isnan(x) else f"{x:.4g}"
