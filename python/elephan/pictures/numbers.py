"""Numbers behind a figure as a table, for readers who cannot see it or want to check it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.table import Cell, Table, cell
from elephan.pictures.words import number
from elephan.units import count

if TYPE_CHECKING:
    from elephan.pictures.figure import Figure, Series

MOST_POINTS = 600
"""Maximum number of points of all series of a table; longer series are sampled."""

FEWEST = 4
"""Minimum number of points of each series of a table."""


def behind(figure: Figure) -> Table:
    """Return the table behind a figure.

    Returns
    -------
    Table
        The figure's own table, or a row for each point; for evenly chosen points if there are many.

    Examples
    --------
    >>> from elephan.pictures.figure import Axis, Figure, Series
    >>> line = Series("measured", np.array([10.0, 20.0]), np.array([0.8, 0.9]))
    >>> table = behind(Figure("u", "Use", "It rises.", Axis("buffer", "packets"), Axis("share"), (line,)))
    >>> table.heads, table.rows[0][1].text
    (('series', 'buffer [packets]', 'share'), '10')
    """
    if figure.table is not None:
        return figure.table
    total = sum(series.x.size for series in figure.series)
    ranged = any(series.low is not None for series in figure.series)
    heads = ("series", figure.x.title, figure.y.title, *(("low", "high") if ranged else ()))
    each = max(FEWEST, MOST_POINTS // max(1, len(figure.series)))
    rows = [row for series in figure.series for row in _rows(figure, series, each, ranged=ranged)]
    note = f"{len(rows)} of the {count(total, 'point')} of the picture." if total > len(rows) else ""
    return Table(f"Numbers of: {figure.title}", heads, tuple(rows), note)


def _rows(figure: Figure, series: Series, most: int, *, ranged: bool) -> list[tuple[Cell, ...]]:
    chosen = np.unique(np.linspace(0, series.x.size - 1, min(most, series.x.size)).round().astype(int))
    rows: list[tuple[Cell, ...]] = []
    for i in chosen:
        x = float(series.x[i])
        names = figure.x.names
        at = cell(names[round(x)]) if figure.x.scale == "names" else cell(x, digits=6)
        bounds: tuple[Cell, ...] = ()
        if ranged:
            low, high = (None if side is None else float(side[i]) for side in (series.low, series.high))
            bounds = (cell(low), cell(high))
        rows.append((cell(series.label or series.name), at, cell(float(series.y[i])), *bounds))
    return rows


def span(series: Series, unit: str = "") -> str:
    """Describe the range of a series.

    Parameters
    ----------
    unit : str
        Unit of its values.

    Examples
    --------
    >>> from elephan.pictures.figure import Series
    >>> span(Series("u", np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.9, 0.8])))
    'from 0.5 to 0.8, between 0.5 and 0.9'
    """
    known = series.y[np.isfinite(series.y)]
    if not known.size:
        return "nothing known"
    first, last, low, high = (number(float(v), 3) for v in (known[0], known[-1], known.min(), known.max()))
    of = f" {unit}" if unit else ""
    if low == high:
        return f"{low}{of} throughout"
    if {first, last} == {low, high}:
        return f"from {first} to {last}{of}"
    return f"from {first} to {last}{of}, between {low} and {high}"


def course(rows: Sequence[Series], unit: str = "") -> str:
    """Describe one or several series over time: their range including the warm-up, their mean without it.

    Parameters
    ----------
    rows : sequence of Series
        Described together. If one has no average, none is given, as drawn points may be thinned.
    unit : str
        Unit of their values.

    Examples
    --------
    >>> from elephan.pictures.figure import Series
    >>> course([Series("u", np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.9, 0.7]), average=0.8)], "packets")
    'between 0.5 and 0.9 packets, 0.8 on average'
    """
    known = np.concatenate([series.y[np.isfinite(series.y)] for series in rows])
    if not known.size:
        return "nothing known"
    low, high = (number(float(v), 3) for v in (known.min(), known.max()))
    of = f" {unit}" if unit else ""
    if low == high:
        return f"{low}{of} throughout"
    averages = [series.average for series in rows if series.average is not None]
    mean = f", {number(float(np.mean(averages)), 4)} on average" if len(averages) == len(rows) else ""
    return f"between {low} and {high}{of}{mean}"
