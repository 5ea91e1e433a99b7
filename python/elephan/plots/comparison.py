"""Figure of a comparison: utilization against delay as the buffer grows, and a row of costs for each variant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from elephan.pictures.palette import BLACK, COLOURS, GREY, ORANGE
from elephan.plots.style import NotebookFigure, house_style, sign, title
from elephan.sizing import SizeAnswer, SizeComparison
from elephan.sizing.comparison import SizedVariant
from elephan.units import count

MARKERS = "osD^vPX*<>"
"""Markers of the laws, or of the queues if there is a single law."""

LEGEND = 14
"""Maximum number of variants in the legend; more are identified by their rows only."""

REACH = 4.0
"""Factor above the largest and below the smallest delay of an answer up to which curves are shown."""

FAR = 50.0
"""Ratio of an axis's ends above which a narrow axis labels powers of ten only."""

WIDE = 8.0
"""Ratio of the largest to the smallest value above which a scale is logarithmic."""


class _Column(NamedTuple):
    metric: str
    label: str
    scale: float


COLUMNS = (
    _Column("buffer_packets", "buffer [packets]", 1.0),
    _Column("queueing_delay_s", "delay [ms]", 1e3),
    _Column("loss_ratio", "loss [%]", 100.0),
    _Column("jain", "fairness (Jain)", 1.0),
    _Column("utilization", "utilization", 1.0),
)
"""Quantities in the rows, from left to right."""


class _SeriesStyle(NamedTuple):
    colour: str
    marker: str
    filled: bool
    recommended: bool

    def points(self) -> dict[str, Any]:
        """Keyword arguments of its points."""
        face = self.colour if self.filled else "white"
        size = 6.5 if self.recommended else 4.5
        return {"marker": self.marker, "ms": size, "mfc": face, "mec": self.colour, "color": self.colour}


@house_style()
def comparison_figure(comparison: SizeComparison) -> Figure:
    """Draw the figure of a comparison."""
    variants = comparison.variants
    rows = 0.21 * len(variants) + 0.25
    above = 2.6 + 0.05 * max(0, len(variants) - 6)
    figure = NotebookFigure(figsize=(7.16, above + rows + 1.1))
    parts: Any = figure.subfigures(2, 1, height_ratios=[above + 0.4, rows + 0.7])
    top, bottom = parts
    looks = _looks(comparison)
    _trade_off(top.subplots(), comparison, looks)
    panels = bottom.subplots(1, len(COLUMNS), sharey=True, gridspec_kw={"wspace": 0.07})
    for axes, column in zip(panels, COLUMNS, strict=True):
        _rows(axes, comparison, looks, column)
    _name_rows(panels[0], comparison)
    title(figure, comparison.scenario.title)
    runs = sum(variant.answer.runs for variant in variants)
    how = f"{count(runs, 'run')}, bars: 95 % intervals" if runs else "by models, nothing simulated"
    sign(figure, comparison.scenario, f"{how}; hollow: no buffer meets the targets")
    return figure


def _looks(comparison: SizeComparison) -> list[_SeriesStyle]:
    """Choose a colour for each queue and a marker for each law; if there is a single one, both vary with the other."""
    laws = list(dict.fromkeys(variant.law for variant in comparison.variants))
    queues = list(dict.fromkeys(variant.queue for variant in comparison.variants))
    looks = []
    for variant in comparison.variants:
        law, queue = laws.index(variant.law), queues.index(variant.queue)
        colour = queue if len(queues) > 1 else law
        marker = law if len(laws) > 1 else queue
        looks.append(
            _SeriesStyle(
                COLOURS[colour % len(COLOURS)],
                MARKERS[marker % len(MARKERS)],
                variant.answer.is_met,
                variant is comparison.recommended(),
            )
        )
    return looks


def _trade_off(axes: Axes, comparison: SizeComparison, looks: Sequence[_SeriesStyle]) -> None:
    """Draw every measured buffer as a point of (delay, utilization), and each answer with its intervals."""
    lowest, answers, delays = 1.0, [], []
    for variant, look in zip(comparison.variants, looks, strict=True):
        buffer = variant.candidate.buffer_packets
        delay, used = _curve(variant.answer)
        seen = delay > 0
        axes.plot(delay[seen], used[seen], "-", color=look.colour, lw=0.9, alpha=0.55, zorder=2)
        measured = variant.answer.at(buffer)
        x, y = (measured[metric] or {"mean": None, "ci95": None} for metric in ("queueing_delay_s", "utilization"))
        if x["mean"] is None or y["mean"] is None or x["mean"] <= 0:
            continue
        lowest = min(lowest, y["mean"])
        delays.append(1e3 * x["mean"])
        name = variant.label + (" (recommended)" if look.recommended and look.filled else "")
        edge = {"mec": BLACK, "mew": 1.1} if look.recommended else {}
        answers.append(
            axes.errorbar(
                1e3 * x["mean"],
                y["mean"],
                # The bar stays on the logarithmic axis.
                xerr=[[1e3 * min(x["ci95"] or 0.0, 0.9 * x["mean"])], [1e3 * (x["ci95"] or 0.0)]],
                yerr=_up_to_one(y["mean"], y["ci95"] or 0.0),
                ls="none",
                elinewidth=0.8,
                label=name,
                zorder=5 if look.recommended else 4,
                **{**look.points(), **edge},
            )
        )
    axes.set_xscale("log")
    _plain(axes)
    for target in comparison.variants[0].answer.targets:
        if target.metric == "utilization":
            axes.axhline(target.level, **_WANTED)
            lowest = min(lowest, target.level)
        elif target.metric == "queueing_delay_s":
            delays.append(1e3 * target.level)
            axes.axvline(1e3 * target.level, **_WANTED)
    if delays:
        axes.set_xlim(min(delays) / REACH, max(delays) * REACH)
    stretch_towards_one(axes, max(0.0, lowest - 0.1))
    axes.set_xlabel("queueing delay [ms]")
    axes.set_ylabel("utilization")
    link = comparison.variants[0].answer.facts["name"]
    axes.set_title(
        f"link {link}: lines as the buffer grows, markers at the smallest that meets the targets (dashed)",
        fontsize=8,
        fontweight="normal",
    )
    if 0 < len(answers) <= LEGEND:
        axes.legend(handles=answers, loc="center left", bbox_to_anchor=(1.01, 0.5), labelspacing=0.45)


_WANTED: dict[str, Any] = {"color": BLACK, "lw": 0.8, "ls": (0, (5, 3)), "zorder": 1}
"""Line style of targets."""


def _curve(answer: SizeAnswer) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Delay [ms] and utilization as the buffer grows: measured, or by the trusted model if nothing was simulated."""
    if not answer.is_simulated and answer.trusted is not None:
        prediction = answer.models[answer.trusted].curve
        return 1e3 * prediction.queueing_delay_s, prediction.utilization
    curve = answer.curve
    delay = np.array([curve.estimate(b, "queueing_delay_s").mean for b in curve.buffers])
    return 1e3 * delay, np.array([curve.estimate(b, "utilization").mean for b in curve.buffers])


def _rows(axes: Axes, comparison: SizeComparison, looks: Sequence[_SeriesStyle], column: _Column) -> None:
    """Draw one quantity of all variants, each in its row."""
    values = []
    for row, (variant, look) in enumerate(zip(comparison.variants, looks, strict=True)):
        if look.recommended:
            axes.axhspan(row - 0.5, row + 0.5, color=ORANGE, alpha=0.18, lw=0, zorder=0)
        found = _value(variant, column)
        if found is None:
            continue
        x, below, above = found
        values.append(x)
        axes.plot([x - below, x + above], [row, row], color=look.colour, lw=0.9, zorder=2)
        axes.plot(x, row, ls="none", zorder=3, clip_on=False, **look.points())
    levels = [column.scale * t.level for t in comparison.variants[0].answer.targets if t.metric == column.metric]
    for level in levels:
        axes.axvline(level, **_WANTED)
    _scale(axes, column, [*values, *levels])
    axes.set_xlabel(column.label)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _value(variant: SizedVariant, column: _Column) -> tuple[float, float, float] | None:
    """Return a quantity at the answer or at the nearest buffer, and the lengths of its interval below and above."""
    buffer = variant.candidate.buffer_packets
    if buffer is None:
        return None
    if column.metric == "buffer_packets":
        if not variant.answer.is_met:
            return None  # The nearest is no answer to "how large", and can be the largest that was tried.
        low, high = variant.answer.interval or (buffer, buffer)
        return buffer, buffer - low, (high if math.isfinite(high) else variant.answer.curve.buffers[-1]) - buffer
    measured: Mapping[str, Any] = variant.answer.at(buffer)
    row = measured[column.metric]
    if row is None or row["mean"] is None:
        return None
    mean, half = column.scale * row["mean"], column.scale * (row["ci95"] or 0.0)
    most = 1.0 if column.metric in {"utilization", "jain"} else math.inf
    return mean, min(half, mean), max(0.0, min(half, most - mean))


def _scale(axes: Axes, column: _Column, values: Sequence[float]) -> None:
    """Set the scale: shares from near their minimum, others from zero, or logarithmic if values are far apart."""
    if not values:
        axes.set_xticks([])
        return
    low, high = min(values), max(values)
    if column.metric in {"utilization", "jain"}:
        room = max(0.02, 0.15 * (1.0 - low))
        axes.set_xlim(max(0.0, low - room), 1.0 + 0.02 * (1.0 - low + room))
        axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
    elif low > 0 and high / low > WIDE:
        axes.set_xscale("log")
        axes.set_xlim(low / 1.6, high * 1.6)
        _plain(axes, few=True)
    else:
        axes.set_xlim(0.0, 1.12 * high or 1.0)
        axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))


def _name_rows(axes: Axes, comparison: SizeComparison) -> None:
    """Label the rows: the first variant at the top, the recommended one in bold."""
    names = [variant.label + ("" if variant.answer.is_met else " (not met)") for variant in comparison.variants]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    for text, variant in zip(axes.get_yticklabels(), comparison.variants, strict=True):
        if variant is comparison.recommended():
            text.set_fontweight("bold")
        elif not variant.answer.is_met:
            text.set_color(GREY)


def _up_to_one(mean: float, half: float) -> list[list[float]]:
    """Return the error bar of a utilization, which may slightly exceed 1 because of a packet at the end of a run."""
    return [[half], [max(min(half, 1 - mean), 0.0)]]


def _plain(axes: Axes, *, few: bool = False) -> None:
    """Write plain numbers on a logarithmic axis: ones and threes, or fewer where labels would overlap."""
    low, high = axes.get_xlim()
    threes = high / low < FAR
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0) if threes or not few else (1.0,), numticks=3 if few else 6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())


def stretch_towards_one(axes: Axes, smallest: float) -> None:
    """Set a scale that separates 0.9, 0.95 and 0.99: logarithmic in 1.01 - u, so that 1 is still on it."""
    axes.set_yscale("function", functions=(lambda u: -np.log(1.01 - np.minimum(u, 1.0)), lambda y: 1.01 - np.exp(-y)))
    axes.set_ylim(max(0.0, smallest - 0.05), 1.0)
    ticks = [tick for tick in (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 1.0) if tick >= axes.get_ylim()[0]]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())
