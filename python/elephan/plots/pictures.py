"""Plain-data figures drawn with Matplotlib in the house style, for image files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawn
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter
from numpy.typing import NDArray

from elephan.pictures.figure import BARS, Axis, Figure, Mark, Series, grouped
from elephan.pictures.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION
from elephan.pictures.thin import thin
from elephan.plots.style import TITLE, NotebookFigure, house_style, legend_of, sign, written_out
from elephan.plots.style import title as write_title
from elephan.scenario import Scenario

COLOURS = {
    "blue": BLUE,
    "vermilion": VERMILION,
    "green": GREEN,
    "purple": PURPLE,
    "orange": ORANGE,
    "sky": SKY,
    "ink": BLACK,
    "muted": GREY,
}
MARKERS = dict(zip(COLOURS, "osD^vPx.", strict=True))
"""Markers of points, which distinguish series without their colours."""

WIDTH, PER_PX = 7.16, 0.0094
"""Width of a figure [in], and height per pixel of the specification [in/px]."""

MOST = 1600
"""Maximum number of points of a line; more would not be visible."""

MANY = 4
"""Number of lines of one name from which they are thin, as for the flows of a group."""

SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)


def stack(figures: Sequence[Figure], title: str, size: tuple[float, float] = (WIDTH, 6.0)) -> Drawn:
    """Draw figures with a common horizontal axis below each other, in the current style.

    Parameters
    ----------
    figures : sequence of elephan.pictures.figure.Figure
        At least one.
    title : str
    size : tuple of float [in]

    Returns
    -------
    Figure

    Examples
    --------
    >>> from elephan.pictures.figure import Axis, Figure, Series
    >>> rises = Series("measured", np.array([10.0, 20.0]), np.array([0.8, 0.9]))
    >>> one = Figure("u", "Use", "It rises.", Axis("time", "s"), Axis("utilization"), (rises,))
    >>> [axes.get_xlabel() for axes in stack([one, one], "Twice").axes]
    ['', 'time [s]']
    """
    drawn = NotebookFigure(figsize=size)
    heights = [figure.height for figure in figures]
    panels = drawn.subplots(len(figures), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    named: set[str] = set()
    waiting: dict[str, Any] = {}
    for axes, figure in zip(panels, figures, strict=True):
        found = waiting | {name: one for name, one in _panel(axes, figure).items() if name not in named}
        # An axis above the first panel leaves no room for the legend, which moves above the next one.
        if axes is panels[0] and figure.x.above is not None and len(figures) > 1:
            waiting = found
            continue
        waiting = {}
        named |= found.keys()
        legend_of(axes, list(found.values()), list(found))
    for axes in panels[:-1]:
        axes.set_xlabel("")
    _above(panels[0], figures[0].x)
    write_title(drawn, title)
    return drawn


@house_style()
def sheet(
    figures: Sequence[Figure], title: str, size: tuple[float, float], scenario: Scenario, more: str = ""
) -> Drawn:
    """Draw figures as `stack`, in the house style, with what traces them back to a run in the footer.

    Parameters
    ----------
    more : str
        Said in the footer as well, such as the number of runs.
    """
    drawn = stack(figures, title, size)
    sign(drawn, scenario, more)
    return drawn


@house_style()
def draw(figure: Figure) -> Drawn:
    """Draw one figure.

    Examples
    --------
    >>> from elephan.pictures.figure import Axis, Figure, Series
    >>> rises = Series("measured", np.array([10.0, 20.0]), np.array([0.8, 0.9]))
    >>> drawn = draw(Figure("u", "Use", "It rises.", Axis("buffer", "packets"), Axis("utilization"), (rises,)))
    >>> drawn.axes[0].get_xlabel()
    'buffer [packets]'
    """
    drawn = NotebookFigure(figsize=(WIDTH, max(2.4, figure.height * PER_PX)))
    axes = drawn.add_subplot()
    axes.set_title("\n".join(wrap(figure.title, TITLE)), pad=20)
    names = _panel(axes, figure)
    legend_of(axes, list(names.values()), list(names))
    return drawn


def _panel(axes: Axes, figure: Figure) -> dict[str, Any]:
    """Draw the contents of one figure; return the legend's entries by name."""
    bars = [series for series in figure.series if series.kind == "bars"]
    # Lines of the same style are labelled directly.
    beside = [mark for mark in figure.marks if mark.axis == "x" and mark.role in ("rule", "answer") and mark.label]
    compared = sum(mark.role == "rule" for mark in beside) > 1 and any(mark.role == "answer" for mark in beside)
    beside = beside if compared or len(beside) >= MANY else []
    for mark in figure.marks:
        _mark(axes, mark, is_named=mark not in beside)
    alike = Counter(series.name for series in figure.series)
    for series in figure.series:
        _series(axes, series, bars, is_one_of_many=alike[series.name] >= MANY)
    _axis(axes, "x", figure.x)
    _axis(axes, "y", figure.y)
    _named_beside(axes, beside, figure.x)
    handles, labels = axes.get_legend_handles_labels()
    once: dict[str, Any] = {}
    for handle, label in zip(handles, labels, strict=True):
        # Of several lines with one name, the legend shows the most visible one.
        if label not in once or (_alpha(handle) > _alpha(once[label])):
            once[label] = handle
    return once if len(once) > 1 or figure.marks else {}


def _alpha(handle: Any) -> float:
    alpha = handle.get_alpha() if hasattr(handle, "get_alpha") else None
    return 1.0 if alpha is None else float(alpha)


def _series(axes: Axes, series: Series, bars: list[Series], *, is_one_of_many: bool) -> None:
    colour, alpha = COLOURS[series.colour], 0.45 if series.faint else 1.0
    if series.kind == "bars":
        width = BARS / len(bars)
        axes.bar(
            series.x + (bars.index(series) - (len(bars) - 1) / 2) * width,
            series.y,
            width,
            color=colour,
            label=series.name,
            yerr=_half(series),
            error_kw={"elinewidth": 0.8},
        )
        return
    if series.low is not None and series.high is not None and series.kind in ("line", "step"):
        axes.fill_between(
            series.x,
            series.low,
            series.high,
            color=colour,
            alpha=0.15,
            linewidth=0,
            step="post" if series.kind == "step" else None,
        )
    elif series.low is not None:
        axes.errorbar(series.x, series.y, yerr=_half(series), fmt="none", ecolor=colour, elinewidth=0.8, alpha=alpha)
    x, y = (series.x, series.y) if series.kind == "points" else thin(series.x, series.y, MOST)
    axes.plot(
        x,
        y,
        color=colour,
        alpha=alpha,
        label=series.name,
        linestyle="none" if series.kind == "points" else "--" if series.dashed else "-",
        marker=MARKERS[series.colour] if series.kind in ("points", "both") else "",
        markersize=3.5 if series.x.size <= 200 else 1.0,  # a scatter of very many stays one
        linewidth=0.6 if is_one_of_many else 1.2 if series.x.size <= 200 else 0.8,
        drawstyle="steps-post" if series.kind == "step" else "default",
        rasterized=series.kind == "points" and series.x.size > MOST,
    )


def _half(series: Series) -> NDArray[np.float64] | None:
    if series.low is None or series.high is None:
        return None
    bounds: NDArray[np.float64] = np.abs(np.array([series.y - series.low, series.high - series.y]))
    return np.nan_to_num(bounds)


def _named_beside(axes: Axes, marks: Sequence[Mark], x: Axis) -> None:
    """Label vertical lines: the answer at the top, comparisons at the bottom; neighbours share a label."""
    if x.low is None or x.high is None:
        return
    ends = (x.low, x.high)

    def place(at: float) -> float:
        low, high, here = (float(np.log(v)) if x.scale == "log" else v for v in (*ends, at))
        return (here - low) / (high - low)

    answer = next((mark for mark in marks if mark.role == "answer" and mark.at is not None), None)
    for group in grouped((mark for mark in marks if mark.role == "rule"), place):
        names = [mark.label for mark in group]
        text = ",\n".join(", ".join(names[i : i + 2]) for i in range(0, len(names), 2))
        at = group[-1].at or 0.0
        # Left of the answer, the label is to the left of its line, away from the answer's.
        left = answer is not None and at < (answer.at or 0.0)
        axes.annotate(
            text,
            (at, 0.05),
            xycoords=("data", "axes fraction"),
            xytext=(-2 if left else 2, 0),
            textcoords="offset points",
            rotation=90,
            va="bottom",
            ha="right" if left else "left",
            fontsize=7,
            color=GREY,
        )
    if answer is not None:
        axes.annotate(
            answer.label,
            (answer.at or 0.0, 0.95),
            xycoords=("data", "axes fraction"),
            xytext=(-5, 0),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=8,
            weight="bold",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85},
        )


def _above(axes: Axes, x: Axis) -> None:
    """Draw the second horizontal axis at the top, if the figure has one."""
    if x.above is None:
        return
    label, unit, worth = x.above
    second = axes.secondary_xaxis("top", functions=(lambda v: np.asarray(v) / worth, lambda v: np.asarray(v) * worth))
    second.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    second.xaxis.set_minor_formatter(NullFormatter())
    second.set_xlabel(f"{label} [{unit}]")
    second.spines["top"].set_visible(True)


def _mark(axes: Axes, mark: Mark, *, is_named: bool = True) -> None:
    line, span = (axes.axvline, axes.axvspan) if mark.axis == "x" else (axes.axhline, axes.axhspan)
    if mark.low is not None and mark.high is not None:
        span(mark.low, mark.high, color=GREY, alpha=0.15, linewidth=0, label=mark.label if mark.at is None else None)
    if mark.at is not None:
        hue = BLACK if mark.role == "answer" else COLOURS.get(mark.colour, GREY)
        style = "-" if mark.role == "answer" else ":" if not (is_named and mark.label) else (0, (3, 2))
        line(mark.at, color=hue, linewidth=0.8, linestyle=style, label=mark.label if is_named else None)


def _axis(axes: Axes, side: str, axis: Axis) -> None:
    scale, limits, own = (
        (axes.set_xscale, axes.set_xlim, axes.xaxis)
        if side == "x"
        else (
            axes.set_yscale,
            axes.set_ylim,
            axes.yaxis,
        )
    )
    own.set_label_text(axis.title)
    if axis.scale == "log":
        scale("log")
    elif axis.scale == "share":
        # 0.9, 0.95 and 0.99 apart, and 1 still on it.
        scale("function", functions=(lambda u: -np.log10(1.01 - np.minimum(u, 1.0)), lambda v: 1.01 - 10.0**-v))
        own.set_major_locator(FixedLocator(SHARES))
        own.set_minor_formatter(NullFormatter())
        own.set_major_formatter(FuncFormatter(lambda u, _: f"{u:g}"))
    elif axis.scale == "names":
        own.set_ticks(range(len(axis.names)), labels=axis.names)
        in_lines = any("\n" in name for name in axis.names)
        if sum(map(len, axis.names)) > 90 and side == "x" and not in_lines:  # they would touch
            own.set_tick_params(labelrotation=90)
    if axis.low is not None or axis.high is not None:
        limits(axis.low, axis.high)
    if axis.scale == "log":
        written_out(own)
