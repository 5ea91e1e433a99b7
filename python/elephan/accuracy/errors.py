"""Errors of each model on each link of the survey, model minus simulation: one table per model in ``errors/``.

`elephan.accuracy.nearby` and the maps read these tables, so that they neither simulate nor compute a model.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent

Row = dict[str, str]
"""Cells as text, as in the file."""

KEYS = ("law", "discipline", "pacing", "rtt_ms", "flows", "share")
"""Columns that identify a cell in both tables."""


def file(name: str) -> Path:
    """Return the path of a model's table.

    Examples
    --------
    >>> file("sawtooth").name
    'sawtooth.csv'
    """
    return FOLDER / "errors" / f"{name}.csv"


def errors(name: str) -> tuple[Row, ...]:
    """Read a model's table.

    Returns
    -------
    tuple of dict of str to str
        A row for each cell to which the model applies; empty if it has no table.

    Examples
    --------
    >>> list(errors("sawtooth")[0])
    ['law', 'discipline', 'pacing', 'rtt_ms', 'flows', 'share', 'utilization', 'loss_ratio', 'queueing_delay_s']
    """
    return read(file(name))


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
