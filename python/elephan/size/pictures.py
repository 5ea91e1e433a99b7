"""What the pictures of a sizing that lies in a folder show, as plain data: drawn by pages and by figures alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.pictures.figure import COLOURS, Axis, Figure, Mark, Series, colour
from elephan.pictures.numbers import span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan.size.saved import SavedSizing

PANELS = (
    ("utilization", Axis("utilization", "%", low=0.0, high=103.0), 100.0, 240),
    ("queueing_delay_s", Axis("queueing delay", "ms", low=0.0), 1e3, 160),
    ("loss_ratio", Axis("loss", "%", low=0.0), 100.0, 160),
)
"""Quantity, axis, factor, height."""

DECADE = 10.0
"""Amounts that span more stand on a logarithmic axis."""

MOST_SAID = 4
"""Lines that are said in words."""


def measured_pictures(saved: SavedSizing) -> tuple[Figure, ...]:
    """Make the pictures: utilization, delay and loss against the buffer, or against what was searched.

    Returns
    -------
    tuple of Figure
        A line for each variant; none if nothing was simulated.
    """
    parts = saved.parts
    if not parts:
        return ()
    *others, axis = parts[0].labels
    x = np.array([_amount(part.labels[axis]) for part in parts])
    names = [", ".join(str(part.labels[name]) for name in others) or "measured" for part in parts]
    document = saved.to_json()
    wide = x.min() > 0 and x.max() > DECADE * x.min()
    unit = str(document.get("unit", "packets"))
    across = Axis(axis, "" if unit == axis else unit, scale="log" if wide else "linear")
    rows = [part.document["links"][0] for part in parts]
    found = []
    for metric, upright, factor, height in PANELS:
        mean, half = (_column(rows, metric, end) * factor for end in ("mean", "ci95"))
        series = []
        for i, name in enumerate(dict.fromkeys(names)):
            own = [k for k, each in enumerate(names) if each == name]
            low, high = np.maximum(mean[own] - half[own], 0.0), mean[own] + half[own]
            again = i >= len(COLOURS)
            series.append(Series(name, x[own], mean[own], low, high, colour(i), "both", dashed=again, faint=again))
        said = ". ".join(f"{one.name}: {span(one, upright.unit)}" for one in series[:MOST_SAID])
        alt = f"{upright.title[:1].upper()}{upright.title[1:]} against {across.title}, with 95 % intervals. {said}."
        title = upright.label[:1].upper() + upright.label[1:]
        marks = _marks(document) if metric == "utilization" else ()
        found.append(Figure(metric, title, alt, across, upright, tuple(series), marks, link="amount", height=height))
    return tuple(found)


def _marks(document: dict[str, Any]) -> tuple[Mark, ...]:
    """The level that is wanted, and the answer to the inverse question."""
    level = document.get("target", {}).get("utilization")
    wanted = (Mark(100 * level, f"wanted: {100 * level:g} %", "y", "wanted"),) if level is not None else ()
    amount = document.get("amount")
    return (*wanted, Mark(amount, "answer", "x", "answer")) if amount is not None else wanted


def _amount(label: Any) -> float:
    """The number of a label, such as that of ``25 packets``."""
    return float(str(label).split()[0])


def _column(rows: list[Any], metric: str, end: str) -> NDArray[np.float64]:
    otherwise = np.nan if end == "mean" else 0.0
    return np.array([otherwise if row[metric][end] is None else row[metric][end] for row in rows], dtype=float)
