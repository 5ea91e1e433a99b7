"""Tables of numbers as CSV files in the package: comment lines with their origin, a head, rows.

Numbers are written with a fixed number of digits, so that the same results give the same bytes.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent

Row = dict[str, str]
"""Cells as text, as in the file."""


def number(cell: str) -> float:
    """Parse a number.

    Returns
    -------
    float
        NaN for an empty cell.

    Examples
    --------
    >>> number("0.5"), number("")
    (0.5, nan)
    """
    return float(cell) if cell else float("nan")


def read(path: Path) -> tuple[Row, ...]:
    """Read a table, without its comment lines.

    Returns
    -------
    tuple of dict of str to str
        Empty if there is no such file.

    Examples
    --------
    >>> read(FOLDER / "nothing.csv")
    ()
    """
    # The table is not cached: one process writes a survey and compares models with it.
    return _read(path, path.stat().st_mtime_ns) if path.exists() else ()


@cache
def _read(path: Path, _written: int) -> tuple[Row, ...]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(csv.DictReader(line for line in lines if not line.startswith("#")))
