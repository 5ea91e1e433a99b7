"""Recording this machine's kernel as a data set, by `elephan.testbed`: the cells of a declared grid, in real time."""

from __future__ import annotations

import csv
import io
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elephan import testbed
from elephan.errors import InputError
from elephan.runs.files import write_text
from elephan_evidence.judge.cell import matches
from elephan_evidence.judge.dataset import FILE, MEASUREMENTS, DataSet
from elephan_evidence.judge.readings import READINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from elephan_evidence.judge.cell import MeasuredCell

GRID = Path(__file__).parent / "testbed"
"""Folder with the declared grid: laws, buffers and round-trip times, and how it is judged."""

SCENARIO = "scenario.toml"


def record(folder: Path, progress: Callable[[int, int], None] | None = None) -> tuple[Path, list[str]]:
    """Record the cells of the grid with this machine's kernel, and write them as a data set.

    Parameters
    ----------
    folder : Path
        Created; must not exist, or be empty.
    progress : callable, optional
        Called with (cells done, total cells) after each.

    Returns
    -------
    Path, list of str
        The folder; and a line for each cell that is not in it: the kernel lacks the law, or no trial was punctual.

    Raises
    ------
    InputError
        If the folder is not empty, this machine does not support a testbed, or no cell could be recorded.
    """
    if folder.exists() and any(folder.iterdir()):
        message = f"--testbed: {folder}: is not empty"
        raise InputError(message)
    grid = DataSet.read(GRID)
    rows, missing, reason = [], [], ""
    for n, cell in enumerate(grid.cells, 1):
        try:
            rows.append(_row(grid, cell))
        except InputError as error:
            reason = str(error)
            missing.append(f"{cell.id}: {reason}")
        if progress is not None:
            progress(n, len(grid.cells))
    if not rows:
        raise InputError(reason)
    text = io.StringIO()
    table = csv.DictWriter(text, list(grid.cells[0].row), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    described = (GRID / FILE).read_text(encoding="utf-8").replace("@kernel@", platform.release())
    write_text(folder / FILE, described)
    write_text(folder / SCENARIO, (GRID / SCENARIO).read_text(encoding="utf-8"))
    write_text(folder / MEASUREMENTS, text.getvalue())
    return folder, missing


def _row(grid: DataSet, cell: MeasuredCell) -> dict[str, str]:
    """Run a cell through the kernel; raise an InputError if no result is valid."""
    found = testbed.run(grid.scenario(cell))
    if not found.valid:
        raise InputError("; ".join(found.objections))
    row = dict(cell.row)
    for quantity in grid.quantities:
        if matches(cell, quantity.where or {}):
            trials = READINGS(quantity.reading, found.result).samples
            row[quantity.name] = f"{trials.mean():.4g}"
            row[f"{quantity.name}_sd"] = f"{np.std(trials, ddof=1):.3g}" if trials.size > 1 else ""
            row["trials"] = str(trials.size)
    return row
