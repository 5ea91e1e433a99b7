"""Figures as plain data: axes with units, series with intervals, marks, and alternative texts.

They are drawn by `elephan.reports.drawing`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan.pictures.table import Table

COLOURS = ("blue", "vermilion", "green", "purple", "orange", "sky", "ink")
"""Colours of series, in order; a theme defines their values. ``muted`` is an additional one."""


WARMUP = "warm-up, not counted"
"""Name of the band over the time that means exclude."""


@dataclass(frozen=True)
class Axis:
    """An axis.

    Parameters
    ----------
    label : str
        Measured quantity, without its unit.
    unit : str
        Empty for a pure number.
    scale : str
        ``"share"``: logarithmic in 1.01 - u, so that 0.9, 0.95, 0.99 and 1 are far apart. ``"names"``: each
        position has a name.
    low, high : float, optional
        Ends of the axis; None to derive them from the series.
    names : tuple of str
        Names of the positions 0, 1, 2… on a scale of names.
    above : tuple of str, str and float, optional
        Second axis above a horizontal one, if there is room: label, unit, and the size of its unit in units of the
        main axis.
    """

    label: str
    unit: str = ""
    scale: Literal["linear", "log", "share", "names"] = "linear"
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()
    above: tuple[str, str, float] | None = None

    @property
    def title(self) -> str:
        """Label and unit as written at the axis."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


@dataclass(frozen=True)
class Series:
    """A line, or points.

    Parameters
    ----------
    name : str
        Name in the legend. Series with equal names share an entry there, and are hidden together.
    x, y : ndarray, shape (n,)
        NaN breaks a line.
    low, high : ndarray, shape (n,), optional
        Bounds of the 95 % interval of each point, or of the range that a line stands for.
    colour : str
        One of `COLOURS`.
    kind : str
        ``"step"`` holds each value until the next; ``"bars"`` of several series are drawn side by side.
    label : str
        Text shown when a reader points at the series; the name by default.
    interval : str
        Meaning of low and high.
    average : float, optional
        Mean of all samples after the warm-up, for descriptions; `y` may be thinned and begin earlier.
    """

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    colour: str = "blue"
    kind: Literal["line", "points", "both", "step", "bars"] = "line"
    dashed: bool = False
    faint: bool = False
    label: str = ""
    interval: str = "95 %"
    average: float | None = None


@dataclass(frozen=True)
class Mark:
    """A line across the figure, or a band.

    Parameters
    ----------
    at : float or None
        Position of the line; None for a band only.
    axis : str
        The axis that `at` is on.
    role : str
        ``"answer"``; ``"wanted"`` for a target level; ``"rule"`` for a value to compare with; ``"shade"`` for a part of
        the picture that means exclude.
    low, high : float, optional
        Ends of the band.
    colour : str
        One of `COLOURS` for a line that belongs to a series; if empty, the line has the colour of its role.
    """

    at: float | None
    label: str
    axis: Literal["x", "y"] = "x"
    role: Literal["answer", "wanted", "rule", "shade"] = "rule"
    low: float | None = None
    high: float | None = None
    colour: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure.

    Parameters
    ----------
    name : str
        Name, unique in a page; letters, digits and hyphens.
    alt : str
        Alternative text: a description with numbers.
    table : Table or None
        Numbers of the figure; if None, they are made from the series.
    link : str
        Pictures with the same name here are zoomed together along x.
    height : int [px]
    note : str
        Text below the figure.

    Examples
    --------
    >>> rises = Series("measured", np.array([10.0, 20.0]), np.array([0.8, 0.9]))
    >>> figure = Figure("u", "Utilization", "It rises from 0.8 to 0.9.", Axis("buffer", "packets"), Axis("u"), (rises,))
    >>> figure.x.title
    'buffer [packets]'
    """

    name: str
    title: str
    alt: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    table: Table | None = None
    link: str = ""
    height: int = 300
    note: str = ""


def colour(position: int) -> str:
    """Return the colour of a series by its position.

    Examples
    --------
    >>> colour(1), colour(8)
    ('vermilion', 'vermilion')
    """
    return COLOURS[position % len(COLOURS)]


BARS = 0.8
"""Share of a position's width that its bars take together."""

NEAR = 0.035
"""Vertical lines closer than this share of the axis get one label."""


def grouped(marks: Iterable[Mark], place: Callable[[float], float], near: float = NEAR) -> list[list[Mark]]:
    """Group labelled lines that are too near each other for labels of their own.

    Parameters
    ----------
    place : callable
        Returns the place of a position along the axis; marks outside of 0 to 1 are omitted.
    near : float
        Smallest distance between labels.

    Examples
    --------
    >>> marks = [Mark(1.0, "a"), Mark(5.0, "b"), Mark(5.2, "c"), Mark(20.0, "d")]
    >>> [[mark.label for mark in group] for group in grouped(marks, lambda at: at / 10)]
    [['a'], ['b', 'c']]
    """
    found: list[list[Mark]] = []
    last = -math.inf
    for at, mark in sorted(((m.at, m) for m in marks if m.label and m.at is not None), key=lambda pair: pair[0]):
        if not 0.0 <= (here := place(at)) <= 1.0:
            continue
        if here - last < near:
            found[-1].append(mark)
        else:
            found.append([mark])
        last = here
    return found


def extent(values: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """Return the smallest and largest finite number.

    Returns
    -------
    tuple of float
        Zero and one if there is none.

    Examples
    --------
    >>> extent([np.array([2.0, np.nan]), np.array([5.0])])
    (2.0, 5.0)
    """
    known = [part[np.isfinite(part)] for part in values]
    known = [part for part in known if part.size]
    if not known:
        return 0.0, 1.0
    return float(min(part.min() for part in known)), float(max(part.max() for part in known))
