"""Figure of a sweep: utilization, delay, loss and fairness against a numeric label."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from elephan.pictures.figure import COLOURS, Axis, Series, colour
from elephan.pictures.figure import Figure as Description
from elephan.plots.pictures import sheet
from elephan.results import ResultPart
from elephan.results.axes import as_numbers as amounts
from elephan.results.axes import link_at
from elephan.scenario import Scenario
from elephan.sweeps import SweepResult
from elephan.units import count, scaled

PANELS = (
    ("utilization", "utilization", 1.0, 260),
    ("queueing_delay_s", "queueing\ndelay [ms]", 1e3, 170),
    ("loss_ratio", "loss ratio", 1.0, 170),
    ("jain", "Jain's\nindex", 1.0, 130),
)
"""Panels: metric, label, factor, height."""

MOST_LINES = 14
"""Maximum number of lines in a panel."""

DECADE = 10.0
"""Ratio of the largest to the smallest value above which an axis is logarithmic."""

SCALED = {"s": "s", "bit/s": "bit/s", "byte": "B"}
"""Units of labels that an axis shows in a suitable multiple, and their names there."""

HIGHER = 0.08
"""Additional height of a figure per line of the legend [in]."""


class LabelNumbers(NamedTuple):
    """One label as numbers."""

    name: str
    """Name of the label."""
    title: str
    """Title of the axis."""
    values: list[float]
    """Value at each point; NaN if the point has none."""


def sweep_figure(swept: SweepResult) -> Figure | None:
    """Draw a sweep; see `points_figure`."""
    return points_figure(swept.parts, swept.sweep.base, swept.sweep.title)


def points_figure(points: Sequence[ResultPart], base: Scenario, title: str) -> Figure | None:
    """Draw runs against their labels.

    Parameters
    ----------
    points : sequence of ResultPart
    base : Scenario
        Scenario whose first link with data is shown.
    title : str

    Returns
    -------
    Figure or None
        None if no label has numbers.
    """
    axis = numeric_axis(points)
    if axis is None:
        return None
    link = base.link_index(None)
    rows = [_measured(point, link) for point in points]
    lines = _lines(points, axis)
    shown, across, figures = list(lines.items())[:MOST_LINES], _across(axis), []
    for metric, name, factor, height in PANELS:
        values = [factor * row[metric][0] for row in rows if math.isfinite(row[metric][0])]
        upright = _upright(metric, name, values)
        series = [
            _line(upright, label, i, np.array([axis.values[m] for m in members]),
                  *(factor * np.array([rows[m][metric][k] for m in members], dtype=float) for k in (0, 1)))
            for i, (label, members) in enumerate(shown)
        ]  # fmt: skip
        figures.append(Description(metric, name, "", across, upright, tuple(series), height=height))
    hidden = f"{MOST_LINES} of {len(lines)} lines; " if len(lines) > MOST_LINES else ""
    more = f"link {base.links[link]['name']}, {count(len(points), 'point')}; {hidden}bars: 95 % intervals"
    return sheet(figures, title, (7.0, 6.4 + HIGHER * max(0, len(shown) - 8)), base, more)


def numeric_axis(points: Sequence[ResultPart]) -> LabelNumbers | None:
    """Choose the label with the most numeric values.

    Returns
    -------
    LabelNumbers or None
        The first of several; None if none has two values.
    """
    names = dict.fromkeys(name for point in points for name in point.labels)
    found = [numbers for name in names if (numbers := as_numbers(name, points)) is not None]
    return max(found, key=lambda numbers: len(set(numbers.values)), default=None)


def as_numbers(name: str, points: Sequence[ResultPart]) -> LabelNumbers | None:
    """Convert a label to numbers: directly, by its unit, or by its resolved size in the scenario.

    Parameters
    ----------
    name : str
        Name of the label.

    Returns
    -------
    LabelNumbers or None
        None if they are none, or there are fewer than two.
    """
    given = [point.labels.get(name) for point in points]
    values: list[float] | None = None
    title = name
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in given):
        values = [float(value) for value in given if isinstance(value, int | float)]
    elif name.endswith(".buffer"):
        links = [link_at(name, point.document["links"]) for point in points]
        values = [_number(link.get("buffer_packets"), math.nan) for link in links]
        which = name.removeprefix("links[").partition("]")[0]
        title = f"buffer of {links[0].get('name', which)} [packets]"
    elif (found := amounts(given)).unit in SCALED:
        factor, shown = scaled(SCALED[found.unit], found.values)
        values, title = [value / factor for value in found.values], f"{name} [{shown}]"
    if values is None or len({value for value in values if math.isfinite(value)}) < 2:
        return None
    return LabelNumbers(name, title, values)


def _measured(point: ResultPart, link: int) -> dict[str, tuple[float, float]]:
    """Mean and half-width of each metric of a point."""
    document = point.document
    row: Mapping[str, Any] = document["links"][min(link, len(document["links"]) - 1)]
    found = {metric: row[metric] for metric, *_ in PANELS if metric in row} | {"jain": document["fairness"]["jain"]}
    return {metric: (_number(each["mean"], math.nan), _number(each["ci95"], 0.0)) for metric, each in found.items()}


def _number(x: float | None, otherwise: float) -> float:
    return otherwise if x is None else x


def _lines(points: Sequence[ResultPart], axis: LabelNumbers) -> dict[str, list[int]]:
    """Group the points by the other labels, in the order of the axis; the keys are legend texts.

    Labels that follow from the axis's own, as those of lists that go together, say nothing.
    """
    names = [name for name in dict.fromkeys(n for point in points for n in point.labels) if name != axis.name]
    own = [point.labels.get(axis.name) for point in points]
    others = [
        name
        for name in names
        if len({point.labels.get(name) for point in points}) > 1
        and len({(mine, point.labels.get(name)) for mine, point in zip(own, points, strict=True)}) > len(set(own))
    ]
    found: dict[str, list[int]] = {}
    for i in sorted(range(len(points)), key=lambda i: axis.values[i]):
        if math.isfinite(axis.values[i]):
            text = ", ".join(_label_text(name, points[i].labels.get(name)) for name in others)
            found.setdefault(text, []).append(i)
    return dict(sorted(found.items(), key=lambda line: min(line[1])))


def _label_text(name: str, value: object) -> str:
    """Format a label for a legend: words as they are, numbers with the last part of their name."""
    short = name.rpartition(".")[2]
    return str(value) if isinstance(value, str) else f"{short} {value}"


def _line(y: Axis, label: str, i: int, x: NDArray[Any], mean: NDArray[Any], half: NDArray[Any]) -> Series:
    """Return one line, clipped to the axes."""
    if y.scale == "log":
        # Zero cannot be shown on a logarithmic axis: the line has a gap.
        mean = np.where(mean > 0, mean, np.nan)
    low, high = (np.clip(end, y.low, y.high) for end in (mean - half, mean + half))
    # When all colours are used, the next lines repeat them, paler and dashed.
    again = i >= len(COLOURS)
    return Series(label, x, mean, low, high, colour(i), "both", dashed=again, faint=again)


def _upright(metric: str, name: str, values: Sequence[float]) -> Axis:
    """Vertical axis of a metric."""
    if metric == "utilization":
        return Axis(name, scale="share", low=min(0.5, *values, 1.0), high=1.0)
    if metric == "jain":
        return Axis(name, low=max(0.0, min(values, default=0.0) - 0.05), high=1.03)
    positive = [value for value in values if value > 0]
    if positive and max(positive) > DECADE * min(positive):
        return Axis(name, scale="log", low=min(positive) / 2, high=2 * max(positive))
    return Axis(name, low=0.0, high=1.1 * max(values, default=1.0) or 1.0)


def _across(axis: LabelNumbers) -> Axis:
    """Horizontal axis that all panels share."""
    finite = [value for value in axis.values if math.isfinite(value)]
    wide = min(finite) > 0 and max(finite) > DECADE * min(finite)
    return Axis(axis.title, scale="log" if wide else "linear")
