"""The picture of a model's table: its columns against one parameter, a family of curves for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from elephan import _native
from elephan.plots.style import COLOURS, GREY, house_style, legend, save

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from elephan.theory.models import Table

MOST_CURVES = 7
"""More cannot be told apart."""

STYLES = ("-", (0, (4, 2)), ":", "-.")
"""Of the columns of one family: the closed form first, then what checks it."""


def draw_model(table: Table, folder: Path) -> list[Path]:
    """Draw ``NAME.png`` and ``NAME.svg``; nothing where the model has no picture, or a single row.

    Parameters
    ----------
    table : Table
    folder : Path
        Made if missing.

    Returns
    -------
    list of Path

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    picture = table.model.picture
    if picture is None or picture.x not in table.varied:
        return []
    with house_style():
        figure = Figure()
        axes = figure.subplots()
        _curves(axes, table)
        figure.suptitle(table.model.title, fontsize=9, fontweight="bold", x=0.005, ha="left")
        figure.supxlabel(f"elephan {_native.version()}   model {table.model.name}", fontsize=6.5, color=GREY, x=0.995,
                         ha="right")  # fmt: skip
        return save(figure, folder, table.model.name)


def _curves(axes: Axes, table: Table) -> None:
    picture, model = table.model.picture, table.model
    assert picture is not None  # `draw_model` has looked
    x = np.asarray(table.values[picture.x], dtype=float)
    for colour, (label, rows) in zip(COLOURS, families(table).items(), strict=False):
        order = rows[np.argsort(x[rows], kind="stable")]
        for style, line in zip(STYLES, picture.lines, strict=False):
            name = ", ".join(part for part in (model.columns[line].meaning, label) if part)
            axes.plot(x[order], table.columns[line][order], ls=style, color=colour, label=name)
    if "x" in picture.logarithmic:
        axes.set_xscale("log")
    if "y" in picture.logarithmic:
        axes.set_yscale("log")
    unit = model.parameters[picture.x].unit
    axes.set_xlabel(model.parameters[picture.x].meaning + (f" [{unit}]" if unit not in ("", "1") else ""))
    unit = model.columns[picture.lines[0]].unit
    axes.set_ylabel(f"[{unit}]" if unit not in ("", "1") else model.columns[picture.lines[0]].meaning)
    legend(axes)


def families(table: Table) -> dict[str, NDArray[np.int64]]:
    """Split the rows by the parameters that vary besides the one on the axis.

    Parameters
    ----------
    table : Table

    Returns
    -------
    dict of str to ndarray of int
        Rows by label; at most `MOST_CURVES`.
    """
    others = [name for name in table.varied if table.model.picture is None or name != table.model.picture.x]
    labels = [
        ", ".join(f"{name} {_plain(table.values[name][i])}" for name in others)
        for i in range(len(next(iter(table.values.values()))))
    ]
    found = {label: np.flatnonzero(np.array(labels) == label) for label in dict.fromkeys(labels)}
    return dict(list(found.items())[:MOST_CURVES])


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
