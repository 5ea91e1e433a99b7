"""Pictures for Bokeh: from figure specifications to the one JSON document of a page.

Colours are those of the light theme; every coloured model names its colour in its tag, so that the page can restyle it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from bokeh.document import Document
from bokeh.models import (
    BasicTickFormatter,
    BoxZoomTool,
    ColumnDataSource,
    FixedTicker,
    Grid,
    HoverTool,
    Line,
    LinearAxis,
    LinearScale,
    LogAxis,
    LogScale,
    LogTicker,
    NoOverlap,
    PanTool,
    Plot,
    Range1d,
    Scatter,
    Segment,
    Step,
    Toolbar,
    VArea,
    VBar,
    WheelZoomTool,
)
from bokeh.models.annotations import BoxAnnotation, Label, Span

from elephan.pictures.figure import BARS, NEAR, Axis, Figure, Mark, Series, extent, grouped
from elephan.reports.themes import THEMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIGHT = THEMES["light"]
FONT = "system-ui, sans-serif"

SHARES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 1.0)
"""Tick values of an axis of shares."""

NEAR_ABOVE = 0.07
"""`NEAR` for horizontal lines, whose labels are 15 px high in pictures of at least 220 px."""

TOGETHER = 6
"""Maximum number of series whose tooltips are shown together; with more series only the nearest one is shown."""

ALPHA = {True: 0.5, False: 0.95}
"""Opacity of lines: faint ones, and all others."""

DECADES = 5
"""Maximum number of decades of a logarithmic axis with ticks at 1, 2 and 5 of each."""


def document(figures: Sequence[Figure]) -> dict[str, Any]:
    """Make the document of a page's pictures.

    Parameters
    ----------
    figures : sequence of Figure

    Returns
    -------
    dict
        ``doc`` as BokehJS reads it, and ``roots``: which of its models is drawn into which element. The same figures
        give the same document, whatever was drawn before.

    Examples
    --------
    >>> document([])["roots"]
    {}
    """
    drawn, ranges = Document(), {}
    for figure in figures:
        if figure.link not in ranges:
            low, high = _limits(figure.x, [s.x for s in figure.series], _along(figure, "x"))
            ranges[figure.link] = Range1d(start=low, end=high)
        x_range = ranges[figure.link] if figure.link else ranges.pop(figure.link)
        drawn.add_root(_plot(figure, x_range))
    encoded = _renamed(drawn.to_json(deferred=False), {})
    roots = {root["id"]: figure.name for root, figure in zip(encoded["roots"], figures, strict=True)}
    return {"doc": encoded, "roots": roots}


def _renamed(encoded: Any, names: dict[str, str]) -> Any:
    """Return the document with models numbered from one in each page; Bokeh continues its count from page to page."""
    if isinstance(encoded, dict):
        own = {key: part for key, part in encoded.items() if key != "id"}
        known = {"id": names.setdefault(encoded["id"], f"m{len(names) + 1}")} if "id" in encoded else {}
        return known | {key: _renamed(part, names) for key, part in own.items()}
    return [_renamed(part, names) for part in encoded] if isinstance(encoded, list) else encoded


def _plot(figure: Figure, x_range: Any) -> Any:
    values = [part for s in figure.series for part in (s.y, s.low, s.high) if part is not None]
    low, high = _limits(figure.y, values, _along(figure, "y"))
    scales = {True: LogScale, False: LinearScale}
    # Only one drag tool is active, and none on touch screens, where a finger scrolls the page; the page sets which.
    tools: list[Any] = [BoxZoomTool(), PanTool(), WheelZoomTool()]
    plot = Plot(
        x_range=x_range,
        y_range=Range1d(start=low, end=high),
        x_scale=scales[figure.x.scale == "log"](),
        y_scale=scales[figure.y.scale == "log"](),
        height=figure.height,
        sizing_mode="stretch_width",
        toolbar=Toolbar(tools=tools, logo=None, active_drag=None, active_scroll=None),
        toolbar_location=None,
        title=None,
        # The background is transparent, so it takes the theme's colour, and no border of another theme is left after a
        # change.
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_right=12,
        name=figure.name,
    )
    _axes(plot, figure)
    for mark in figure.marks:
        _shade(plot, mark)
    entries = [entry.name for entry in legend(figure)]
    hovers: dict[bool, list[Any]] = {True: [], False: []}
    for series in figure.series:
        hovers[series.low is not None].append(_series(plot, figure, series, entries.index(series.name)))
    for with_interval, renderers in hovers.items():
        if renderers:
            plot.add_tools(_hover(figure, renderers, with_interval=with_interval))
    _marks(plot, figure, (low, high))
    return plot


class LegendEntry(NamedTuple):
    """One line of a legend."""

    name: str
    colour: str
    kind: str
    dashed: bool
    faint: bool


def legend(figure: Figure) -> list[LegendEntry]:
    """Return the entries of a figure's legend.

    Parameters
    ----------
    figure : Figure

    Returns
    -------
    list of LegendEntry
        One for each name, in their order; a name with both lines and points shows both.
    """
    found = []
    for name in dict.fromkeys(series.name for series in figure.series):
        own = [series for series in figure.series if series.name == name]
        kinds = {series.kind for series in own}
        kind = own[0].kind if len(kinds) == 1 else "both"
        found.append(LegendEntry(name, own[0].colour, kind, own[0].dashed, all(series.faint for series in own)))
    return found


def _axes(plot: Any, figure: Figure) -> None:
    sides: tuple[tuple[Axis, str, Literal[0, 1]], ...] = ((figure.x, "below", 0), (figure.y, "left", 1))
    for axis, place, dimension in sides:
        kind = LogAxis if axis.scale == "log" else LinearAxis
        made = kind(
            axis_label=axis.title,
            axis_label_text_font=FONT,
            axis_label_text_font_size="12px",
            axis_label_text_font_style="normal",
            axis_label_text_color=LIGHT["ink"],
            axis_label_standoff=8,
            major_label_text_font=FONT,
            major_label_text_font_size="11px",
            major_label_text_color=LIGHT["muted"],
            major_label_policy=NoOverlap(min_distance=6),
            axis_line_color=LIGHT["control"],
            major_tick_line_color=LIGHT["control"],
            major_tick_in=0,
            major_tick_out=4,
            minor_tick_line_color=None,
            tags=["axis"],
        )
        ends = plot.x_range if place == "below" else plot.y_range
        _ticks(made, axis, (ends.start, ends.end))
        plot.add_layout(made, place)
        if axis.scale != "names":
            plot.add_layout(
                Grid(dimension=dimension, axis=made, grid_line_color=LIGHT["grid"], level="underlay", tags=["grid"]),
                "center",
            )


def _ticks(made: Any, axis: Axis, ends: tuple[float, float]) -> None:
    """Set the ticks of an axis and write their numbers in ordinary notation."""
    made.formatter = BasicTickFormatter(use_scientific=True, power_limit_high=7, power_limit_low=-5)
    if axis.scale == "share":
        made.ticker = FixedTicker(ticks=[float(p) for p in _placed(np.array(SHARES), axis)])
        made.major_label_overrides = {float(p): f"{u:g}" for p, u in zip(made.ticker.ticks, SHARES, strict=True)}
    elif axis.scale == "names":
        made.ticker = FixedTicker(ticks=list(range(len(axis.names))))
        made.major_label_overrides = dict(enumerate(axis.names))
    elif axis.scale == "log":
        powers = range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)
        fine = len(powers) <= DECADES + 1 and ends[1] / ends[0] > 10
        steps = [float(f"{mantissa}e{power}") for power in powers for mantissa in (1, 2, 5)]
        made.ticker = FixedTicker(ticks=steps) if fine else LogTicker(num_minor_ticks=0)


def _placed(values: NDArray[np.float64], axis: Axis) -> NDArray[np.float64]:
    """Return the positions of values along an axis."""
    if axis.scale == "share":
        return -np.log(1.01 - np.minimum(values, 1.0))
    if axis.scale == "log":
        return np.where(values > 0, values, np.nan)
    return values


def _along(figure: Figure, axis: str) -> list[float]:
    """Return the positions of marks that must be visible along an axis in addition to the series."""
    marks = [mark for mark in figure.marks if mark.axis == axis and mark.role in {"answer", "wanted"}]
    return [at for mark in marks for at in (mark.at, mark.low, mark.high) if at is not None and math.isfinite(at)]


def _limits(axis: Axis, values: Sequence[NDArray[np.float64]], more: Sequence[float]) -> tuple[float, float]:
    """Return the limits of an axis."""
    if axis.scale == "names":
        return -0.5, len(axis.names) - 0.5
    parts = [np.asarray(part, dtype=float) for part in (*values, np.array(more))]
    if axis.scale == "log":
        low, high = extent([part[part > 0] for part in parts])
        low, high = (low, high) if low > 0 else (0.1, 1.0)
        low, high = axis.low or low / 1.25, axis.high or high * 1.25
    else:
        low, high = extent(parts)
        room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
        # The axis begins at zero if this leaves only a small part of the picture empty.
        start = 0.0 if 0 <= low < 0.6 * high else low - room
        low = start if axis.low is None else axis.low
        high = high + room if axis.high is None else axis.high
    ends = _placed(np.array([low, high]), axis)
    return float(ends[0]), float(ends[1])


def _series(plot: Any, figure: Figure, series: Series, entry: int) -> Any:
    """Draw a series; return the renderer that tooltips attach to."""
    source = ColumnDataSource(_columns(figure, series))
    x, y = ("px" if "px" in source.data else "x"), ("py" if "py" in source.data else "y")
    tags = [f"entry:{entry}"]
    colour, paint = LIGHT[series.colour], [f"colour:{series.colour}"]
    alpha = ALPHA[series.faint]

    def add(glyph: Any) -> Any:
        glyph.tags = paint
        return plot.add_glyph(source, glyph, tags=tags, name=series.label or series.name)

    if series.low is not None:
        below, above = ("plow", "phigh") if "plow" in source.data else ("low", "high")
        if series.kind != "points":
            add(VArea(x=x, y1=below, y2=above, fill_color=colour, fill_alpha=0.18))
        else:
            add(Segment(x0=x, x1=x, y0=below, y1=above, line_color=colour, line_width=1.5, line_alpha=alpha))
    dash = "dashed" if series.dashed else "solid"
    shown = []
    if series.kind == "bars":
        width = BARS / sum(s.kind == "bars" for s in figure.series)
        shown.append(add(VBar(x=x, top=y, width=0.9 * width, fill_color=colour, line_color=None, fill_alpha=alpha)))
    if series.kind in {"line", "both"}:
        shown.append(add(Line(x=x, y=y, line_color=colour, line_width=1.6, line_alpha=alpha, line_dash=dash)))
    elif series.kind == "step":
        shown.append(add(Step(x=x, y=y, mode="after", line_color=colour, line_width=1.6, line_alpha=alpha)))
    if series.kind in {"points", "both"}:
        points = Scatter(x=x, y=y, size=7, fill_color=colour, line_color=colour, fill_alpha=alpha, line_alpha=alpha)
        shown.append(add(points))
    return shown[0]


def _columns(figure: Figure, series: Series) -> dict[str, NDArray[np.float64]]:
    """Return the values of a series, and their positions where these differ from the values."""
    # Nobody reads more than seven digits from a picture, and rounding halves the size of a long series.
    kind = np.float32 if series.x.size > 300 else np.float64
    columns = {"x": series.x, "y": series.y}
    if series.low is not None and series.high is not None:
        columns |= {"low": series.low, "high": series.high}
    if figure.x.scale in {"share", "log"}:
        columns["px"] = _placed(series.x, figure.x)
    if series.kind == "bars":
        bars = [s for s in figure.series if s.kind == "bars"]
        columns["px"] = series.x + BARS / len(bars) * (bars.index(series) - (len(bars) - 1) / 2)
    if figure.y.scale in {"share", "log"}:
        columns["py"] = _placed(series.y, figure.y)
        if "low" in columns:
            low, _ = _limits(figure.y, [series.y], [])
            floor = low if figure.y.scale == "log" else 0.0
            columns["plow"] = np.where(columns["low"] > floor, _placed(columns["low"], figure.y), low)
            columns["phigh"] = _placed(columns["high"], figure.y)
    return {name: np.asarray(column, dtype=kind) for name, column in columns.items()}


def _hover(figure: Figure, renderers: list[Any], *, with_interval: bool) -> Any:
    rows = [("", "$name"), (figure.x.label, _shown("x", figure.x)), (figure.y.label, _shown("y", figure.y))]
    if with_interval:
        interval = next(s.interval for s in figure.series if s.low is not None)
        rows.append((interval, f"@low{{%.4g}} to {_shown('high', figure.y)}"))
    few = len(figure.series) <= TOGETHER
    formatters: dict[str, Any] = {f"@{name}": "printf" for name in ("x", "y", "low", "high")}
    return HoverTool(
        tooltips=rows,
        formatters=formatters,
        renderers=renderers,
        mode="vline" if few else "mouse",
        line_policy="nearest",
        point_policy="snap_to_data",
    )


def _shown(name: str, axis: Axis) -> str:
    """Format a value with its unit for a tooltip."""
    # Braces and at signs are Bokeh's own syntax.
    unit = axis.unit.replace("@", "").replace("{", "").replace("}", "").replace("$", "")
    return f"@{name}{{%.6g}} {unit}" if name == "x" else f"@{name}{{%.4g}} {unit}"


def _shade(plot: Any, mark: Mark) -> None:
    """Shade a band behind everything else."""
    if mark.low is None and mark.high is None:
        return
    sides = {"x": ("left", "right"), "y": ("bottom", "top")}[mark.axis]
    bounds: dict[str, Any] = dict(zip(sides, (mark.low, mark.high), strict=True))
    alpha = 0.10 if mark.role == "shade" else 0.14
    plot.add_layout(
        BoxAnnotation(
            **bounds,
            fill_color=LIGHT["ink"],
            fill_alpha=alpha,
            line_color=None,
            level="underlay",
            tags=["colour:ink"],
        )
    )


def _marks(plot: Any, figure: Figure, y_limits: tuple[float, float]) -> None:
    looks = {"answer": ("ink", "solid", 2.0), "wanted": ("ink", "dashed", 1.2), "rule": ("muted", "dotted", 1.2)}
    lines = [mark for mark in figure.marks if mark.at is not None and mark.role in looks]
    for mark in lines:
        axis = figure.x if mark.axis == "x" else figure.y
        usual, dash, width = looks[mark.role]
        colour = mark.colour or usual
        at = float(_placed(np.array([mark.at], dtype=float), axis)[0])
        plot.add_layout(
            Span(
                location=at,
                dimension="height" if mark.axis == "x" else "width",
                line_color=LIGHT[colour],
                line_dash=dash,
                line_width=width,
                tags=[f"colour:{colour}"],
            )
        )
    words: dict[str, Any] = {"text_font": FONT, "text_font_size": "11px", "text_baseline": "bottom"}
    for at, text in _grouped(figure.y, [mark for mark in lines if mark.axis == "y"], y_limits, NEAR_ABOVE):
        # The label stands below a line that is near the top.
        side = {"text_baseline": "top", "y_offset": -3} if at > 0.1 * y_limits[0] + 0.9 * y_limits[1] else {}
        label = Label(x=4, x_units="screen", y=at, text=text, **(words | {"y_offset": 2} | side))
        label.text_color, label.tags = LIGHT["ink"], ["colour:ink"]
        plot.add_layout(label)
    beside = [mark for mark in lines if mark.axis == "x" and mark.role != "answer"]
    for at, text in _grouped(figure.x, beside, (plot.x_range.start, plot.x_range.end), NEAR):
        label = Label(x=at, y=6, y_units="screen", angle=math.pi / 2, x_offset=-2, text=text, **words)
        label.text_color, label.tags = LIGHT["muted"], ["colour:muted"]
        plot.add_layout(label)
    for mark in lines:
        if mark.role == "answer" and mark.axis == "x" and mark.label:
            plot.add_layout(_answer(mark, figure, plot))


def _answer(mark: Mark, figure: Figure, plot: Any) -> Any:
    """Make the label beside the line of the answer, at the top, on the side with more room."""
    at = float(_placed(np.array([mark.at], dtype=float), figure.x)[0])
    along = math.log if figure.x.scale == "log" else float
    left = along(at) > (along(plot.x_range.start) + along(plot.x_range.end)) / 2
    return Label(
        x=at,
        y=plot.y_range.end,
        x_offset=-7 if left else 7,
        y_offset=-6,
        text=mark.label,
        text_align="right" if left else "left",
        text_baseline="top",
        text_font=FONT,
        text_font_size="13px",
        text_font_style="bold",
        text_color=LIGHT["ink"],
        background_fill_color=LIGHT["card"],
        background_fill_alpha=0.85,
        tags=["colour:ink", "behind"],
    )


def _grouped(axis: Axis, marks: Iterable[Mark], ends: tuple[float, float], near: float) -> list[tuple[float, str]]:
    """Group the labels of lines across an axis: lines closer than this share of the axis get one common label."""
    along = math.log if axis.scale == "log" else float
    begin, end = map(along, ends)

    def placed(at: float) -> float:
        return float(_placed(np.array([at], dtype=float), axis)[0])

    groups = grouped(marks, lambda at: (along(placed(at)) - begin) / (end - begin), near)
    return [(placed(group[0].at or 0.0), ", ".join(mark.label for mark in group)) for group in groups]
