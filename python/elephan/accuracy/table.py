"""Tables of numbers as CSV files in the package: comment lines with their origin, a head, rows.

Numbers are written with a fixed number of digits, so that the same results give the same bytes.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = Path(__file__).parent

Row = dict[str, str]
"""Cells as text, as in the file."""


def digits(value: float, count: int = 6) -> str:
    """Format a number with at most `count` significant digits, as short as possible; NaN becomes an empty text.

    Examples
    --------
    >>> digits(0.123456789), digits(-2.0), digits(float("nan")), digits(-1e-20, 3), digits(-0.0)
    ('0.123457', '-2', '', '-1e-20', '0')
    """
    return "" if value != value else f"{value or 0.0:.{count}g}"


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


def text(notes: Iterable[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Write a table as text.

    Parameters
    ----------
    notes : iterable of str
        Comment lines above the table.
    rows : iterable of mapping
        At least one row; all with the same keys.

    Examples
    --------
    >>> text(["how it was made"], [{"law": "reno", "flows": "2"}]).splitlines()
    ['# how it was made', 'law,flows', 'reno,2']
    """
    rows = list(rows)
    lines = [*(f"# {note}" for note in notes), ",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    return "\n".join(lines) + "\n"


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
