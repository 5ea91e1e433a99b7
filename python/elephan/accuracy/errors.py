"""Errors of each model on each link of the survey, model minus simulation: one table per model in ``errors/``.

`elephan.accuracy.nearby` and the maps read these tables, so that they neither simulate nor compute a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.accuracy.table import FOLDER, Row, read

if TYPE_CHECKING:
    from pathlib import Path

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
