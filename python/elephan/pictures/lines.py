"""Lines over time for pages: one per flow, or the mean and range of many, and their descriptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.pictures.figure import Series
from elephan.pictures.numbers import course
from elephan.pictures.thin import thin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SINGLE_LINES = 30
"""Maximum number of flows in a group with a line each; larger groups show their mean and range."""

MOST_POINTS = 24_000
"""Maximum number of points of all lines of a figure: enough for a screen, and few enough to send the page by mail."""

LEAST_POINTS = 100
"""Minimum number of points of each line."""

MOST_SAID = 6
"""Maximum number of lines that a description names."""


def points_each(groups: Sequence[Floats]) -> int:
    """Return the number of points available to each line of a figure.

    Parameters
    ----------
    groups : sequence of ndarray, shape (flows, samples)

    Examples
    --------
    >>> points_each([np.zeros((2, 9)), np.zeros((50, 9))])
    8000
    """
    lines = sum(own if (own := len(rows)) <= SINGLE_LINES else 1 for rows in groups)
    return max(LEAST_POINTS, MOST_POINTS // max(1, lines))


def average_after(time_s: Floats, values: Floats, since_s: float) -> float | None:
    """Mean of all samples from a time on.

    Parameters
    ----------
    time_s : ndarray, shape (samples,) [s]
    values : ndarray, shape (samples,) or (flows, samples)
    since_s : float [s]

    Returns
    -------
    float or None
        None if no sample has a value.

    Examples
    --------
    >>> average_after(np.array([0.0, 1.0, 2.0]), np.array([9.0, 3.0, 5.0]), 1.0)
    4.0
    """
    late = values[..., time_s >= since_s]
    return float(np.nanmean(late)) if np.isfinite(late).any() else None


def of_flows(
    name: str, each: str, time_s: Floats, values: Floats, hue: str, most: int, since_s: float = 0.0
) -> list[Series]:
    """Return the lines of a group of flows.

    Parameters
    ----------
    name : str
        Name in the legend.
    each : str
        Label of one line when a reader points at it, before the flow's number.
    time_s : ndarray, shape (samples,) [s]
    values : ndarray, shape (flows, samples)
        Rows without values are omitted.
    hue : str
        Colour of all lines.
    most : int
        Points of a line.
    since_s : float [s]
        Beginning of the samples in the average of each line.

    Examples
    --------
    >>> two = of_flows("bulk: 2 flows", "bulk", np.array([0.0, 1.0]), np.array([[1.0, 2.0], [3.0, 4.0]]), "blue", 100)
    >>> [series.label for series in two]
    ['bulk, flow 1', 'bulk, flow 2']
    """
    rows = values[np.isfinite(values).any(axis=1)]
    if len(values) <= SINGLE_LINES:
        return [
            Series(
                name,
                *thin(time_s, row, most),
                colour=hue,
                label=f"{each}, flow {i}",
                average=average_after(time_s, row, since_s),
            )
            for i, row in enumerate(rows, 1)
        ]
    known = np.isfinite(rows).any(axis=0)
    stretch = max(1, int(np.ceil(known.sum() / most * 3)))
    x, mean, low, high = (
        _stretched(part, stretch, how)
        for part, how in (
            (time_s[known], np.min),
            (np.nanmean(rows[:, known], axis=0), np.mean),
            (np.nanmin(rows[:, known], axis=0), np.min),
            (np.nanmax(rows[:, known], axis=0), np.max),
        )
    )
    average = average_after(time_s, rows, since_s)
    title, label = f"{name}, mean and range", f"{each}, mean"
    return [Series(title, x, mean, low, high, hue, label=label, interval="range", average=average)]


def _stretched(values: Floats, stretch: int, how: Callable[..., Any]) -> Floats:
    """Reduce each block of values to one."""
    starts = np.arange(0, values.size, stretch)
    return np.array([how(values[start : start + stretch]) for start in starts])


def spans(series: Sequence[Series], unit: str, warmup_s: float = 0.0) -> str:
    """Describe the ranges of lines: each of a few, or all lines of one name together.

    Parameters
    ----------
    unit : str
        Unit of their values.
    warmup_s : float [s]
        Warm-up, which the averages exclude and the lines include.

    Examples
    --------
    >>> spans([Series("core", np.array([0.0, 1.0]), np.array([3.0, 5.0]), average=5.0)], "packets", 1.0)
    'Warm-up included, on average without it. core: between 3 and 5 packets, 5 on average.'
    """
    names = list(dict.fromkeys(s.name for s in series))[:MOST_SAID]
    text = ". ".join(f"{name}: {course([s for s in series if s.name == name], unit)}" for name in names) + "."
    return f"Warm-up included, on average without it. {text}" if warmup_s else text
