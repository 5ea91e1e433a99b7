"""Committed tables of full and of shortened runs, with which later runs are compared: a set's ``table.csv``.

A check reports verdicts that change, not a known error. ``elephan judge --bless`` writes the file.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.runs.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

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


def changes(folder: Path, rows: Iterable[Mapping[str, str]], *, quick: bool) -> list[TableChange]:
    """Compare the verdicts of a set with the committed ones.

    Parameters
    ----------
    rows : iterable of mapping
        Rows of the table, without ``quick``.
    quick : bool
        Whether the runs are shortened.
    """
    known = read(folder)
    column = "quick" if quick else "verdict"
    found = []
    for row in rows:
        was = known.get((row["quantity"], row["cell"]), {}).get(column, "")
        if was != row["verdict"]:
            found.append(TableChange(row["quantity"], row["cell"], was, row["verdict"]))
    return found


def write(folder: Path, rows: Iterable[Mapping[str, str]], *, quick: bool) -> Path:
    """Write the table of a set; shortened runs write their verdicts only, into the rows of full runs.

    Raises
    ------
    InputError
        If the folder cannot be written, or shortened runs have no row to go to.
    """
    path = folder / FILE
    before = read(folder)
    new = {(row["quantity"], row["cell"]): row for row in rows}
    if quick:
        if not new.keys() <= before.keys():
            message = f"--bless: {path}: has no rows of full runs yet; bless a full run first"
            raise InputError(message)
        written = {key: {**row, "quick": new[key]["verdict"] if key in new else ""} for key, row in before.items()}
    else:
        written = {key: {**row, "quick": before.get(key, {}).get("quick", "")} for key, row in new.items()}
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(written.values())
    try:
        return write_text(path, text.getvalue())
    except OSError as error:
        message = f"--bless: {path}: {error.strerror}"
        raise InputError(message) from None
