"""One column of results against another: points with intervals for measurements, lines for models of the link."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from elephan.catalog.entry import RegistryEntry
from elephan.display import CI95
from elephan.errors import InputError, unknown
from elephan.pictures.palette import COLOURS, GREY
from elephan.plots.style import LEGEND, NotebookFigure, footer, house_style
from elephan.plots.style import title as write_title
from elephan.results import ResultTables
from elephan.scenario import Scenario
from elephan.store import Store
from elephan.sweeps import SweepResult
from elephan.theory.models import model as model_named
from elephan.theory.models.links import suited
from elephan.units import limits

Handle = Artist | ErrorbarContainer

STYLES = ("-", (0, (5, 2)), (0, (1, 1.2)), "-.")
"""Line styles of the models, in the order in which they are given."""

MARKERS = "osD^vPX*"
"""Markers of the series."""

POINTS = 80
"""Number of buffers at which a model is evaluated."""

WIDE = 20.0
"""Ratio of the largest to the smallest value above which an axis is logarithmic."""

DECADES = 3.5
"""Number of decades of an axis from which only powers of ten are labelled, so that labels do not overlap."""

MOST_PANELS, ACROSS = 12, 3
"""Maximum number of panels of a figure, and of a row."""

_PLACE = re.compile(r"\[.+\]|^(?:duration|warmup|seed)$")
"""Pattern of the names of columns that are places of a scenario."""

BUFFER, PREDICTED = "buffer_packets", ("utilization", "loss_ratio", "queueing_delay_s")
"""Column of the buffer, and metrics that models predict as functions of it."""


@dataclass(frozen=True)
class _Series:
    label: str
    x: NDArray[Any]
    y: NDArray[np.float64]
    half: NDArray[np.float64]
    link: str
    scenario: Scenario | None
    panel: str


def xy(
    data: Any,
    x: str = BUFFER,
    y: str = "utilization",
    *,
    by: str | Sequence[str] = (),
    facet: str = "",
    at: Mapping[str, Any] | None = None,
    models: Sequence[str | RegistryEntry] = (),
    title: str = "",
) -> Figure:
    """Draw one column of results against another, optionally with models.

    Parameters
    ----------
    data : SweepResult, Store or other result, ModelTable, ColumnTable, mapping or data frame
        Data with named columns; of a sweep or a store its table is used, of other results the links. Several sets by
        name, ``{"1 Gbit/s": swept, "2.5 Gbit/s": other}``, are drawn into one figure.
    x, y : str
        Columns. The link or group may be left out of a name where only one has it: ``utilization`` for
        ``bottleneck.utilization``.
    by : str or sequence of str
        Columns whose values tell series apart, such as a label of the sweep.
    facet : str
        Column of which each value has a panel of its own, at most twelve; all have the same axes.
    at : mapping of str to value
        Only rows that have these values in these columns.
    models : sequence of str or RegistryEntry
        Analytic models of `elephan.models` that predict links. Of sweeps, whose scenarios they read, and for
        utilization, loss or delay against the buffer.
    title : str

    Returns
    -------
    Figure
        Bars are 95 % intervals, if the table has them.

    Raises
    ------
    InputError
        If there is no such column, value or model; if a model is asked for what it does not predict; if points of one
        series differ in a column that is not given: a line through them would have no meaning.

    Examples
    --------
    >>> from elephan.display import ColumnTable
    >>> table = ColumnTable({"buffer_packets": [10, 100], "utilization": [0.8, 0.9], "utilization_ci95": [0.1, 0.02]})
    >>> xy(table).axes[0].get_xlabel()
    'buffer [packets]'
    """
    named = _named(data)
    by = (by,) if isinstance(by, str) else tuple(by)
    series = [one for label, table in named.items() for one in _split(label, table, x, y, by, facet, at or {})]
    panels = list(dict.fromkeys(one.panel for one in series)) or [""]
    if len(panels) > MOST_PANELS:
        message = f"xy: facet: {facet} has {len(panels)} values; at most {MOST_PANELS} panels fit; give fewer with at="
        raise InputError(message)
    chosen = [model.name if isinstance(model, RegistryEntry) else model for model in models]
    with house_style():
        across = min(len(panels), ACROSS)
        down = -(-len(panels) // across)
        figure = NotebookFigure(figsize=(7.16, 3.8 if down == 1 else 1.2 + 2.2 * down))
        grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
        drawn = dict(zip(panels, grid.flat, strict=False))
        for spare in grid.flat[len(panels) :]:
            spare.set_visible(False)
        handles: list[tuple[Handle, str]] = []
        names = list(dict.fromkeys(one.label for one in series))
        for one in series:
            axes, i = drawn[one.panel], names.index(one.label)
            colour = COLOURS[i % len(COLOURS)]
            for name, style in zip(chosen, STYLES * len(chosen), strict=False):
                _line(axes, *_as_points(name, one, x, y), colour, style)
            handle = _points(axes, one, MARKERS[i % len(MARKERS)], colour, limits(y), lines=not chosen)
            if one.label not in [label for _, label in handles]:
                handles.append((handle, one.label))
        for name, style in zip(chosen, STYLES * len(chosen), strict=False):
            handles.append((Line2D([], [], color=GREY, ls=style, lw=1.0), f"model {name}"))
        for panel, axes in drawn.items():
            _axes(axes, series, x, y)
            axes.set_title(panel)
            axes.label_outer()
        _legend(figure, [(handle, label) for handle, label in handles if label])
        if title:
            write_title(figure, title)
        footer(figure, "bars: 95 % intervals" if any(np.isfinite(one.half).any() for one in series) else "")
    return figure


def _named(data: Any) -> dict[str, Any]:
    """Tables by name; a single one has none."""
    several = isinstance(data, Mapping) and data and all(_is_table(value) for value in data.values())
    return {str(name): table for name, table in data.items()} if several else {"": data}


def _is_table(value: Any) -> bool:
    return isinstance(value, (ResultTables, Mapping)) or any(
        hasattr(value, name) for name in ("arrow", "column_names", "iloc")
    )


def _columns(table: Any) -> dict[str, list[Any]]:
    """Return the columns of a table of any kind: Arrow, pandas, a mapping, a result."""
    if isinstance(table, (SweepResult, Store)):
        table = table.table()
    elif isinstance(table, ResultTables):
        table = table.links
    table = getattr(table, "arrow", table)
    if hasattr(table, "to_pydict"):
        return dict(table.to_pydict())
    if hasattr(table, "to_dict") and hasattr(table, "iloc"):
        return dict(table.to_dict("list"))
    if isinstance(table, Mapping):
        return {name: list(values) for name, values in table.items()}
    raise InputError(f"xy: a {type(table).__name__} is no table; give a result, a table of a store, or columns by name")


def _find(columns: Mapping[str, Any], name: str) -> str:
    """Return the full name of a column that may be given without the link or group."""
    if name in columns:
        return name
    found = [column for column in columns if column.endswith(f".{name}")]
    if len(found) == 1:
        return found[0]
    message = f"xy: {name}: several columns end so: {', '.join(found)}" if found else ""
    raise InputError(message or f"xy: {unknown('column', name, columns)}")


def _split(
    label: str, table: Any, x: str, y: str, by: Sequence[str], facet: str, at: Mapping[str, Any]
) -> Iterator[_Series]:
    """Yield a series for each set of values of the columns in `by`, in each panel."""
    columns = _columns(table)
    full_x, full_y = _find(columns, x), _find(columns, y)
    told = [_find(columns, name) for name in (*by, *([facet] if facet else []))]
    keys = list(zip(*(columns[name] for name in told), strict=True)) or [()] * len(columns[full_x])
    kept = _only(columns, at)
    halves = columns.get(full_y + CI95, [None] * len(columns[full_y]))
    for key in dict.fromkeys(keys[i] for i in kept):
        rows = [i for i in kept if keys[i] == key and columns[full_y][i] is not None]
        check_told(columns, rows, full_x)
        is_text = any(isinstance(columns[full_x][i], str) for i in rows)
        if not is_text:
            rows.sort(key=lambda i: columns[full_x][i])
        words = ", ".join(str(value) for value in key[: len(by)])
        yield _Series(
            ", ".join(text for text in (label, words) if text),
            np.array([columns[full_x][i] for i in rows]),
            np.array([columns[full_y][i] for i in rows], dtype=float),
            np.array([np.nan if halves[i] is None else halves[i] for i in rows], dtype=float),
            full_y.rpartition(".")[0],
            Scenario.from_file(table.points[rows[0]].folder / "scenario.toml")
            if isinstance(table, SweepResult)
            else None,
            f"{told[-1]} = {key[-1]}" if facet else "",
        )


def _only(columns: Mapping[str, Sequence[Any]], at: Mapping[str, Any]) -> list[int]:
    """Return the indices of the rows with given values."""
    rows = list(range(len(next(iter(columns.values()), ()))))
    for name, value in at.items():
        own = columns[_find(columns, name)]
        if value not in own:
            some = ", ".join(dict.fromkeys(str(x) for x in own))
            raise InputError(f"xy: at: no row has {name} = {value}; there are {some}")
        rows = [i for i in rows if own[i] == value]
    return rows


def check_told(columns: Mapping[str, Sequence[Any]], rows: Sequence[int], x: str) -> None:
    """Refuse points of one line that differ in more than their position on the axis.

    Parameters
    ----------
    columns : mapping
        Those whose names are places of a scenario, such as ``flows[0].count``, say what a row is of.
    rows : sequence of int
        The points.
    x : str
        Column of the axis.

    Raises
    ------
    InputError
        With the column that is not given, and its values.

    Examples
    --------
    >>> grid = {"buffer_packets": [1, 1, 2, 2], "links[0].buffer": [1, 1, 2, 2], "flows[0].count": [5, 9, 5, 9]}
    >>> check_told(grid, [0, 2], "buffer_packets")
    """
    varied = [
        name
        for name, own in columns.items()
        if (name == x or _PLACE.search(name)) and len({str(own[i]) for i in rows}) > 1
    ]
    labels = [name for name in varied if _PLACE.search(name)]
    # The axis: itself a label, or the label that it is the number of, or the one with most values.
    end = x.rpartition(".")[2]

    def nearness(name: str) -> tuple[bool, bool, int]:
        return name == x, name.rpartition(".")[2] in end, len({str(value) for value in columns[name]})

    axis = max(labels, key=nearness, default=x)
    own = [str(columns[axis][i]) for i in rows]
    for name in labels:
        pairs = set(zip(own, (str(columns[name][i]) for i in rows), strict=True))
        if len(pairs) > len(set(own)):
            raise _untold(name, [columns[name][i] for i in rows])
    seen: dict[str, int] = {}
    for i in rows:
        twin = seen.setdefault(str(columns[x][i]), i)
        if twin != i:
            words = (
                name for name, own in columns.items() if name != x and isinstance(own[i], str) and own[i] != own[twin]
            )
            untold = next((label for label in labels if columns[label][i] != columns[label][twin]), next(words, None))
            if untold is not None:
                raise _untold(untold, [columns[untold][i] for i in rows])
            message = f"xy: points of one line have the same {x}; give a column that tells them apart as by= or facet="
            raise InputError(message)


def _untold(name: str, values: Sequence[Any]) -> InputError:
    """Return the error about a column that differs between points of a line but is not given."""
    each = list(dict.fromkeys(values))
    some = ", ".join(map(str, each[:4])) + (", …" if len(each) > 4 else "")
    told = f'by="{name}" or facet="{name}", or take one with at={{"{name}": {json.dumps(each[0])}}}'
    return InputError(f"xy: points of one line differ in {name} ({some}); tell them apart with {told}")


def _as_points(name: str, series: _Series, x: str, y: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a model's prediction for the link of a series, as a function of the buffer."""
    metric = y.rpartition(".")[2]
    if series.scenario is None or x.rpartition(".")[2] != BUFFER or metric not in PREDICTED:
        message = f"xy: models: they say {', '.join(PREDICTED)} against {BUFFER}, of a sweep; not {y} against {x}"
        raise InputError(message)
    model = model_named(name)
    link = suited(model, series.scenario.network, series.scenario.link_index(series.link or None))
    buffers = np.geomspace(max(1.0, series.x.min()), max(1.0, series.x.max()), POINTS)
    assert model.predict is not None  # `suited` has looked
    predicted: NDArray[np.float64] = getattr(model.predict(link, buffers), metric)
    return buffers, predicted


def _line(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], colour: str, style: Any) -> None:
    """Draw a model's line in the colour of its series; a single grey one if it is the same for several."""
    for drawn in axes.get_lines():
        line = np.asarray(drawn.get_xydata())
        if drawn.get_gid() == _MODEL and line.shape[0] == x.size and np.allclose(line.T, (x, y), equal_nan=True):
            drawn.set_color(GREY)
            return
    axes.plot(x, y, color=colour, ls=style, lw=1.0, alpha=0.9, zorder=2, gid=_MODEL)


_MODEL = "model"


def _points(axes: Axes, series: _Series, marker: str, colour: str, ends: tuple[float, float], *, lines: bool) -> Handle:
    """Draw points with bars that end at the smallest and the largest value that the quantity can have."""
    half = np.nan_to_num(series.half)
    room = (np.abs(np.nan_to_num(series.y) - end) for end in ends)
    return axes.errorbar(
        series.x,
        series.y,
        [np.minimum(half, each) for each in room],
        fmt=f"{marker}{'-' if lines else ''}",
        color=colour,
        ms=4.5,
        lw=1.0,
        elinewidth=0.8,
        zorder=3,
    )


def _axes(axes: Axes, series: Sequence[_Series], x: str, y: str) -> None:
    values = np.concatenate([one.x for one in series]) if series else np.empty(0)
    if values.dtype.kind in "iuf" and values.size and values.min() > 0 and values.max() > WIDE * values.min():
        axes.set_xscale("log")
        decades = np.log10(values.max() / values.min())
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < DECADES else (1.0,)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    heights = np.concatenate([one.y for one in series]) if series else np.empty(0)
    if y.endswith(("utilization", "jain")):
        axes.set_ylim(0.0, 1.03)
    elif heights.size and np.nanmin(heights) > 0 and np.nanmax(heights) > WIDE * np.nanmin(heights):
        axes.set_yscale("log")
    axes.set_xlabel(_label(x))
    axes.set_ylabel(_label(y))


def _label(column: str) -> str:
    """Return the axis label of a column: its name without link or group, its unit in brackets."""
    column = column.rpartition(".")[2]
    for ending, unit in (("_packets", "packets"), ("_segments", "segments"), ("_bps", "bit/s"), ("_s", "s")):
        if column.endswith(ending):
            return f"{column.removesuffix(ending).replace('_', ' ')} [{unit}]"
    return column.replace("_", " ")


def _legend(figure: Figure, entries: Sequence[tuple[Handle, str]]) -> None:
    """Draw the legend above the panels, in as many columns as fit."""
    if entries:
        handles, labels = zip(*entries, strict=True)
        columns = max(1, min(len(labels), LEGEND // (8 + max(map(len, labels)))))
        figure.legend(handles, labels, loc="outside upper right", ncols=columns)
