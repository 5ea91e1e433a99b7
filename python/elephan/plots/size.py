"""The picture of a sizing: utilization, delay and loss against the buffer, measured and by models; rules and answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from elephan.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    NotebookFigure,
    house_style,
    legend,
    save,
    sign,
)
from elephan.size.curve import APART
from elephan.size.rules import rules
from elephan.units import format_rate, format_time

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from elephan.size import SizeAnswer

PANELS = (
    ("utilization", "utilization", 1.0, BLUE),
    ("queueing_delay_s", "queueing\ndelay [ms]", 1e3, VERMILION),
    ("loss_ratio", "loss ratio", 1.0, GREEN),
)
"""Metric, label, factor, colour."""

MODEL_COLOURS = (PURPLE, ORANGE, SKY, GREY, BLACK, GREEN, VERMILION)
"""In the order of the catalogue."""

NEAR = 0.035
"""Rules closer than this share of the axis get one label."""


def draw_size(answer: SizeAnswer, folder: Path) -> list[Path]:
    """Draw ``size.png`` and ``size.svg``.

    Parameters
    ----------
    answer : SizeAnswer
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
    with house_style():
        return save(size_figure(answer), folder, "size")


def size_figure(answer: SizeAnswer) -> Figure:
    """Draw the picture.

    Parameters
    ----------
    answer : SizeAnswer

    Returns
    -------
    Figure
    """
    with house_style():
        return _figure(answer)


def _figure(answer: SizeAnswer) -> Figure:
    figure = NotebookFigure()
    panels = figure.subplots(3, 1, sharex=True, height_ratios=[3.2, 2, 2])
    for axes, (metric, label, factor, colour) in zip(panels, PANELS, strict=True):
        _curve(axes, answer, metric, factor, colour)
        _models(axes, answer, metric, factor)
        axes.set_ylabel(label)
    legend(panels[1])
    _mark_rules(panels, answer)
    _mark_answer(panels, answer)
    _axis_of_buffers(panels[0], panels[-1], answer)
    link = answer.facts
    figure.suptitle(answer.scenario.title, fontsize=9, fontweight="bold", x=0.005, ha="left")
    panels[0].set_title(
        f"link {link['name']}: {format_rate(link['rate_bps'])}, {link['flows']} flows, mean base RTT "
        f"{format_time(link['mean_rtt_s'])}, bandwidth-delay product {link['bdp_packets']:.0f} packets",
        fontsize=8,
        fontweight="normal",
    )
    runs = answer.runs
    sign(
        figure,
        answer.scenario,
        f"{runs} runs, bands: 95 % intervals; models pale: off in the survey, or not in it"
        if runs
        else "models only, nothing simulated; pale: more than 10 points off in the survey, or not in it",
    )
    return figure


def _curve(axes: Axes, answer: SizeAnswer, metric: str, factor: float, colour: str) -> None:
    """One metric with its intervals, and the level that is wanted."""
    buffers = np.array(answer.curve.buffers)
    rows = [answer.curve.estimate(b, metric) for b in answer.curve.buffers]
    mean = factor * np.array([row.mean for row in rows])
    half = factor * np.array([row.ci95 or 0.0 for row in rows])
    levels = [factor * target.level for target in answer.targets if target.metric == metric]
    axes.set_xscale("log")
    if metric == "utilization":
        shown = np.ones(mean.size, dtype=bool)
        low, high = 0.0, 1.0
        stretch_towards_one(axes, min([*mean, *levels, *_lowest(answer)]))
    else:
        shown = mean > 0
        low, high = _logarithmic(axes, [*mean[shown], *_expected(answer, metric, factor)], levels)
    axes.set_xlim(_reach(answer))
    if answer.is_simulated:
        bridged = np.concatenate([[True], buffers[1:] <= APART * buffers[:-1]])
        ends = (np.clip(mean - half, low, high), np.clip(mean + half, low, high))
        for part in np.split(np.arange(buffers.size), np.flatnonzero(~bridged)):
            axes.fill_between(buffers[part], ends[0][part], ends[1][part], color=colour, alpha=0.2, lw=0)
        axes.plot(buffers[shown], mean[shown], "o", color=colour, clip_on=False, zorder=3)
        for part in np.split(np.arange(buffers.size), np.flatnonzero(buffers[1:] > APART * buffers[:-1]) + 1):
            near = part[shown[part]]
            axes.plot(buffers[near], mean[near], "-", color=colour, clip_on=False, zorder=3)
    left = metric != "loss_ratio"  # there the curve comes from above
    for level in levels:
        axes.axhline(level, color=BLACK, lw=0.8, ls=(0, (5, 3)))
        axes.annotate(
            f"wanted {level:g}" + (" ms" if metric == "queueing_delay_s" else ""),
            (0.0 if left else 1.0, level),
            xycoords=("axes fraction", "data"),
            xytext=(3 if left else -3, 2),
            textcoords="offset points",
            ha="left" if left else "right",
            va="bottom",
            fontsize=7,
        )


def _reach(answer: SizeAnswer) -> tuple[float, float]:
    """Buffers that are shown: those measured, and a hundredth to twice the bandwidth-delay product."""
    bdp = float(answer.facts["bdp_packets"])
    shown = [b for b in (*answer.curve.buffers, answer.buffer_packets) if b]
    return max(1.0, 0.9 * min([bdp / 100, *shown])), 1.1 * max([2 * bdp, *shown])


def _lowest(answer: SizeAnswer) -> list[float]:
    """Utilization of the trusted model where the picture begins."""
    prediction = answer.models[answer.trusted].at(_reach(answer)[0], "utilization") if answer.trusted else None
    return [] if prediction is None else [prediction]


def _expected(answer: SizeAnswer, metric: str, factor: float) -> list[float]:
    """What the trusted model says of a metric over the buffers shown, down to a thousandth of the largest."""
    if answer.trusted is None:
        return []
    low, high = _reach(answer)
    prediction = [answer.models[answer.trusted].at(float(b), metric) for b in np.geomspace(low, high, 20)]
    values = [factor * value for value in prediction if value is not None and value > 0]
    return [value for value in values if value > max(values) / 1000]


def _models(axes: Axes, answer: SizeAnswer, metric: str, factor: float) -> None:
    """What the models say of a metric, pale where they did not hold; the one that the search began with in full."""
    applicable = [name for name, prediction in answer.models.items() if np.isfinite(prediction.curve.utilization).any()]
    for colour, name in zip(MODEL_COLOURS, applicable, strict=False):
        prediction = answer.models[name]
        style = "-" if name == answer.trusted else (0, (4, 2))
        values = factor * getattr(prediction.curve, metric)
        look: dict[str, Any] = {"ls": style, "lw": 0.9, "color": colour, "zorder": 1, "scaley": False}
        axes.plot(prediction.buffers, values, **look, alpha=0.3)
        axes.plot(prediction.buffers, np.where(prediction.held, values, np.nan), **look, label=name)


def stretch_towards_one(axes: Axes, smallest: float) -> None:
    """A scale on which 0.9, 0.95 and 0.99 are told apart: logarithmic in 1.01 - u, so that 1 is still on it."""
    axes.set_yscale("function", functions=(lambda u: -np.log(1.01 - np.minimum(u, 1.0)), lambda y: 1.01 - np.exp(-y)))
    axes.set_ylim(max(0.0, smallest - 0.05), 1.0)
    ticks = [tick for tick in (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 1.0) if tick >= axes.get_ylim()[0]]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())


def _logarithmic(axes: Axes, positive: list[float], levels: list[float]) -> tuple[float, float]:
    """A logarithmic scale that shows all values and levels; its limits."""
    axes.set_yscale("log")
    if not positive:
        return 0.0, 1.0
    low, high = min([*positive, *levels]) / 2, 2 * max([*positive, *levels])
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(numticks=6))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    return low, high


def _mark_answer(panels: Iterable[Axes], answer: SizeAnswer) -> None:
    if answer.buffer_packets is None:
        next(iter(panels)).annotate(
            "no buffer meets the target",
            (0.01, 0.94),
            xycoords="axes fraction",
            va="top",
            color=VERMILION,
            weight="bold",
        )
        return
    for i, axes in enumerate(panels):
        if answer.interval is not None:
            low, high = answer.interval
            axes.axvspan(low, min(high, answer.curve.buffers[-1]), color=BLACK, alpha=0.10, lw=0, zorder=0)
        axes.axvline(answer.buffer_packets, color=BLACK, lw=1.2)
        if i == 0:
            axes.annotate(
                _sentence(answer),
                (answer.buffer_packets, 0.95),
                xycoords=("data", "axes fraction"),
                xytext=(-5, 0),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=8,
                weight="bold",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85},
            )


def _sentence(answer: SizeAnswer) -> str:
    buffer = answer.buffer_packets or 0
    text = f"{buffer} packets = {buffer / answer.facts['bdp_packets']:.2g} BDP"
    if answer.interval is None:
        return text
    low, high = answer.interval
    upper = f"to {math.ceil(high)}" if math.isfinite(high) else "or more"
    return f"{text}\n95 %: {math.floor(low)} {upper}"


def _mark_rules(panels: Any, answer: SizeAnswer) -> None:
    """A dotted line for each rule of thumb; rules that nearly coincide share a label."""
    low, high = (math.log(panels[0].get_xlim()[i]) for i in (0, 1))
    groups: list[list[tuple[str, float]]] = []
    for name, packets in sorted(rules(answer.scenario.network, answer.link).items(), key=lambda rule: rule[1]):
        if not low <= math.log(packets) <= high:
            continue
        if groups and math.log(packets / groups[-1][-1][1]) < NEAR * (high - low):
            groups[-1].append((name, packets))
        else:
            groups.append([(name, packets)])
        for axes in panels:
            axes.axvline(packets, color=GREY, lw=0.8, ls=":")
    for group in groups:
        names = [name.replace("bdp_over_sqrt_n", "bdp/√n").replace("_", " ") for name, _ in group]
        lines = [", ".join(names[i : i + 2]) for i in range(0, len(names), 2)]
        # Left of the answer the label stands left of its line, to keep away from it.
        is_left = answer.buffer_packets is not None and group[-1][1] < answer.buffer_packets
        panels[0].annotate(
            ",\n".join(lines),
            (group[-1][1], 0.05),
            xycoords=("data", "axes fraction"),
            xytext=(-2 if is_left else 2, 0),
            textcoords="offset points",
            rotation=90,
            va="bottom",
            ha="right" if is_left else "left",
            fontsize=7,
            color=GREY,
        )


def _axis_of_buffers(top: Axes, bottom: Axes, answer: SizeAnswer) -> None:
    """Packets below, bandwidth-delay products above."""
    plain = FuncFormatter(lambda x, _: f"{x:g}")
    bottom.set_xlabel("buffer [packets]")
    bottom.xaxis.set_major_formatter(plain)
    bottom.xaxis.set_minor_formatter(NullFormatter())
    bdp = float(answer.facts["bdp_packets"])
    above = top.secondary_xaxis("top", functions=(lambda x: np.asarray(x) / bdp, lambda x: np.asarray(x) * bdp))
    above.xaxis.set_major_formatter(plain)
    above.xaxis.set_minor_formatter(NullFormatter())
    above.set_xlabel("buffer [bandwidth-delay products]")
    above.spines["top"].set_visible(True)
