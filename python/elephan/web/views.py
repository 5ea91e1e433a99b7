"""Figures and pages of the report as plain JSON, which the page's script draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elephan.pictures.figure import Axis, Figure, Series
from elephan.pictures.table import Table
from elephan.pictures.thin import thin
from elephan.reports.page import ReportPage

MOST_POINTS, FEWEST_POINTS = 6000, 60
"""Target number of points of all lines of a figure, and minimum number per line, which takes precedence. A screen
cannot show more, and a live page transmits all points at each update."""


def page_view(page: ReportPage) -> dict[str, Any]:
    """Return a page of the report as JSON.

    Examples
    --------
    >>> from elephan.reports.page import ReportPage
    >>> page_view(ReportPage("Run", "title", ("Why?",), "5", "It is five."))["headline"]
    '5'
    """
    return {
        **{name: getattr(page, name) for name in ("kind", "title", "headline", "sentence", "tone")},
        "question": list(page.question),
        "tiles": [tile._asdict() for tile in page.tiles],
        "notes": list(page.notes),
        "commands": [command._asdict() for command in page.commands],
        "warnings": [dict(warned) for warned in page.warnings or ()],
        "sections": [
            {
                "title": part.title,
                "lead": list(part.lead),
                "figures": figure_views(part.figures),
                "tables": [table_view(table) for table in part.tables],
            }
            for part in page.parts
        ],
    }


def figure_views(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Return figures as JSON. Lines have as many points as a screen can show."""
    return [_figure(figure) for figure in figures]


def table_view(table: Table) -> dict[str, Any]:
    """Return a table as JSON: heads, rows of texts, and which columns hold numbers."""
    return {
        "title": table.title,
        "heads": list(table.heads),
        "rows": [[each.text for each in row] for row in table.rows],
        "numeric": list(table.numeric),
        "note": table.note,
    }


def _figure(figure: Figure) -> dict[str, Any]:
    each = max(FEWEST_POINTS, MOST_POINTS // max(1, len(figure.series)))
    return {
        **{name: getattr(figure, name) for name in ("name", "title", "alt", "height", "note")},
        "x": _axis(figure.x),
        "y": _axis(figure.y),
        "series": [_series(series, each) for series in figure.series],
        "marks": [_present(vars(mark)) for mark in figure.marks],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    return _present({**vars(axis), "names": list(axis.names), "above": list(axis.above) if axis.above else None})


def _series(series: Series, most: int) -> dict[str, Any]:
    x, y, low, high = series.x, series.y, series.low, series.high
    if x.size > most:
        if low is None or high is None:
            x, y = thin(np.asarray(x, dtype=float), np.asarray(y, dtype=float), most)
        else:
            at = np.unique(np.linspace(0, x.size - 1, most).astype(int))
            x, y, low, high = x[at], y[at], low[at], high[at]
    about: dict[str, Any] = {"name": series.name, "colour": series.colour, "kind": series.kind, "label": series.label}
    about |= {"dashed": series.dashed, "faint": series.faint, "interval": series.interval if low is not None else ""}
    return _present({**about, "x": numbers(x), "y": numbers(y), "low": _maybe(low), "high": _maybe(high)})


def _maybe(values: NDArray[np.float64] | None) -> list[float | None] | None:
    return None if values is None else numbers(values)


def numbers(values: Any) -> list[float | None]:
    """Return numbers with six significant digits; NaN and infinite values become None, which is null in JSON.

    Examples
    --------
    >>> numbers([1.0, float("nan"), 1 / 3])
    [1.0, None, 0.333333]
    """
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in map(float, values)]


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Omit None, False, empty and non-finite values, for which the script has defaults. Zero is a value."""
    return {key: value for key, value in values.items() if not _is_absent(value)}


def _is_absent(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return value is None or value is False or value in ("", [])
