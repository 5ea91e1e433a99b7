"""Tables of numbers as CSV in the package: comment lines that say where they come from, a head, rows.

Numbers are written with a stated number of digits, so that the same results give the same bytes.
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
"""Cells as they stand in the file."""


def digits(value: float, count: int = 6) -> str:
    """Write a number as briefly as it can be read back to so many significant digits; NaN as nothing.

    Examples
    --------
    >>> digits(0.123456789), digits(-2.0), digits(float("nan")), digits(-1e-20, 3), digits(-0.0)
    ('0.123457', '-2', '', '-1e-20', '0')
    """
    return "" if value != value else f"{value or 0.0:.{count}g}"


def number(cell: str) -> float:
    """Read a number back.

    Returns
    -------
    float
        NaN if there is none.

    Examples
    --------
    >>> number("0.5"), number("")
    (0.5, nan)
    """
    return float(cell) if cell else float("nan")


def text(notes: Iterable[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Write a table.

    Parameters
    ----------
    notes : iterable of str
        What stands above it, a line each.
    rows : iterable of mapping
        All with the same keys; at least one.

    Examples
    --------
    >>> text(["how it was made"], [{"law": "reno", "flows": "2"}]).splitlines()
    ['# how it was made', 'law,flows', 'reno,2']
    """
    rows = list(rows)
    lines = [*(f"# {note}" for note in notes), ",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    return "\n".join(lines) + "\n"


def read(path: Path) -> tuple[Row, ...]:
    """Read a table, without what stands above it.

    Returns
    -------
    tuple of dict of str to str
        Nothing if there is no such file.

    Examples
    --------
    >>> read(FOLDER / "nothing.csv")
    ()
    """
    # As it is now: a survey is written and compared with models by one process.
    return _read(path, path.stat().st_mtime_ns) if path.exists() else ()


@cache
def _read(path: Path, _written: int) -> tuple[Row, ...]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(csv.DictReader(line for line in lines if not line.startswith("#")))
