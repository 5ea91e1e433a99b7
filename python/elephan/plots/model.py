"""Figure of a model's table: its columns against one parameter, a family of curves for the other parameters."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from elephan.pictures.palette import BLACK, COLOURS
from elephan.plots.style import NotebookFigure, footer, house_style, legend_of, title, written_out
from elephan.theory.models import ModelTable
from elephan.theory.models.card import CI95
from elephan.units import format_quantity, scaled

PALE: dict[str, Any] = {"lw": 3.5, "alpha": 0.3}
"""Line style of the first of several curves, so that an identical curve on top of it leaves it visible."""

STYLES = ("-", (0, (4, 2)), ":", "-.")
"""Line styles of the columns of a family: the closed form first, then its checks."""

DECADES = 12
"""Maximum number of decades on a logarithmic axis; lower values count as zero."""


LINE = 100
"""Maximum number of characters per line of a title."""

MOST_LETTERS = 85
"""Maximum number of characters of a label."""


@house_style()
def model_figure(table: ModelTable) -> Figure | None:
    """Draw a model's table.

    Parameters
    ----------
    table : ModelTable

    Returns
    -------
    Figure or None
        None where the model has no picture, or a single row.
    """
    picture = table.model.picture
    if picture is None or picture.x not in table.varied:
        return None
    figure = NotebookFigure()
    left_out = _curves(figure.subplots(), table)
    title(figure, "\n".join(wrap(table.model.title, LINE)))
    footer(figure, f"model {table.model.name}{f'   {left_out} more curves are in the table' if left_out else ''}")
    return figure


def _curves(axes: Axes, table: ModelTable) -> int:
    """Draw a curve for each family and column; return the number of families left out."""
    picture, model = table.model.picture, table.model
    assert picture is not None  # `model_figure` has looked
    x = np.asarray(table.values[picture.x], dtype=float)
    columns = [np.asarray(table.columns[line], dtype=float) for line in picture.lines]
    y = np.concatenate(columns)
    x_factor, x_unit = scaled(model.parameters[picture.x].unit, x)
    y_factor, y_unit = scaled(model.columns[picture.lines[0]].unit, y)
    found = families(table)
    # Styles tell columns apart, or where there is one column a second round of colours.
    looks: list[tuple[str, Any]] = [
        (colour, STYLES[i]) for i in range(2 if len(columns) == 1 else 1) for colour in COLOURS
    ]
    for (colour, first), rows in zip(looks, found.values(), strict=False):
        order = rows[np.argsort(x[rows], kind="stable")]
        for i, (style, column) in enumerate(zip(STYLES if len(columns) > 1 else [first], columns, strict=False)):
            look: dict[str, Any] = PALE if picture.points and len(columns) > 1 and i == 0 else {}
            axes.plot(x[order] / x_factor, column[order] / y_factor, ls=style, color=colour, **look)
        if picture.points:
            mean, half = (table.columns[name][order] / y_factor for name in (picture.points, picture.points + CI95))
            # A single run has no interval.
            axes.errorbar(x[order] / x_factor, mean, np.nan_to_num(half), fmt="o", ms=3.5, lw=1.0, color=colour)
    _axes(axes, picture.logarithmic, y[np.isfinite(y) & (y > 0)] / y_factor)
    name, meaning = picture.x.replace("_", " "), model.parameters[picture.x].meaning
    axes.set_xlabel(_label(meaning if meaning.startswith(name) else f"{name}: {meaning}", x_unit))
    meanings = [model.columns[line].meaning for line in picture.lines]
    alone = meanings[0] if len(meanings) == 1 else meanings[0].partition(",")[0]
    axes.set_ylabel(_label(picture.y or alone, y_unit))
    _legend(axes, list(found), looks, meanings, points=model.columns[picture.points].meaning if picture.points else "")
    return max(len(found) - len(looks), 0)


def _legend(
    axes: Axes, families: list[str], looks: list[tuple[str, Any]], meanings: list[str], points: str = ""
) -> None:
    """Draw the legend: families by colour, columns by style."""
    entries = [
        (label, Line2D([], [], color=colour, ls=style))
        for label, (colour, style) in zip(families, looks, strict=False)
        if label
    ]
    colour = BLACK if entries else COLOURS[0]
    if len(meanings) > 1 or points:
        entries += [
            (
                meaning,
                Line2D([], [], color=colour, ls=style, **(PALE if points and len(meanings) > 1 and not i else {})),
            )
            for i, (meaning, style) in enumerate(zip(meanings, STYLES, strict=False))
        ]
    if points:
        entries.append((points, Line2D([], [], color=colour, ls="", marker="o", ms=3.5)))
    more = "\N{HORIZONTAL ELLIPSIS}"
    shown = [label if len(label) <= MOST_LETTERS else label[: MOST_LETTERS - 1] + more for label, _ in entries]
    legend_of(axes, [handle for _, handle in entries], shown)


def _axes(axes: Axes, logarithmic: str, y: NDArray[np.float64]) -> None:
    if "x" in logarithmic:
        axes.set_xscale("log")
        written_out(axes.xaxis)
    if "y" in logarithmic:
        axes.set_yscale("log")
        written_out(axes.yaxis)
        if y.size and y.max() > y.min() * 10**DECADES:
            axes.set_ylim(y.max() / 10**DECADES, 4 * y.max())


def _label(meaning: str, unit: str) -> str:
    return f"{meaning} [{unit}]".lstrip() if unit not in ("", "1") else meaning


def families(table: ModelTable) -> dict[str, NDArray[np.int64]]:
    """Group the rows by the varying parameters other than the one on the axis.

    Returns
    -------
    dict of str to ndarray of int
        Rows by label.
    """
    model = table.model
    others = [name for name in table.varied if model.picture is None or name != model.picture.x]
    labels = [
        ", ".join(_value(name, table.values[name][i], model.parameters[name].unit) for name in others)
        for i in range(len(next(iter(table.values.values()))))
    ]
    return {label: np.flatnonzero(np.array(labels) == label) for label in dict.fromkeys(labels)}


def _value(name: str, value: object, unit: str) -> str:
    """Format a parameter's value for a legend; a word is shown without the parameter's name."""
    return f"{name} {format_quantity(value, unit)}" if isinstance(value, float) else str(value)
