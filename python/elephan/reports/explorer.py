"""A picture that the reader configures: any measured quantity against any varied parameter, with lines for the others.

This module makes the empty pictures, one for each axis, and the numbers; the page's own script fills them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elephan.errors import UnitError
from elephan.pictures.figure import Axis, Figure, Series, colour
from elephan.pictures.words import number
from elephan.reports.page import PageSection
from elephan.store.labels import short
from elephan.units import bits_per_second, octets, scaled, seconds

SLOTS = 12
"""Maximum number of lines in one picture; more cannot be told apart."""

MOST_NUMBERS = 120_000
"""Maximum number of values that a page holds for this picture; later quantities are left out."""

DECADE = 8.0
"""Values that span more than this factor are shown on a logarithmic axis."""

COUNTED = ("packets", "packet", "bdp", "bdp/sqrt(n)", "segments")
"""Units that appear only in scenario files."""


@dataclass(frozen=True)
class MeasuredColumn:
    """A quantity that was measured in every run.

    Parameters
    ----------
    mean, half : list of float or None
        Mean of each run, and half the width of its 95 % interval.
    """

    title: str
    unit: str
    mean: list[float | None]
    half: list[float | None]


def explorer(
    rows: Sequence[Mapping[str, Any]], quantities: Sequence[MeasuredColumn], against: str
) -> list[PageSection]:
    """Make the section with the pictures, and with the data with which the page's script fills them.

    Parameters
    ----------
    rows : sequence of mapping
        Labels of each run.
    against : str
        Description of the horizontal axes.

    Returns
    -------
    list of PageSection
        A section with a picture for each label with several values; empty if there is nothing to show.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    values = {name: list(dict.fromkeys(_text(row.get(name)) for row in rows)) for name in names}
    values = {name: _ordered(texts) for name, texts in values.items()}
    names = [name for name in names if len(values[name]) > 1]
    shown = [q for q in quantities if any(v is not None for v in q.mean)]
    shown = shown[: max(1, MOST_NUMBERS // (2 * max(1, len(rows))))]
    if not names or not shown:
        return []
    shorter = short(names)
    places = {name: {text: i for i, text in enumerate(values[name])} for name in names}
    figures, axes = [], []
    for k, name in enumerate(names):
        axis, numbers = _axis(name, values[name])
        kind: Any = "points" if axis.scale == "names" else "both"
        nothing = np.empty(0)
        slots = tuple(
            Series(f"line {i + 1}", nothing, nothing, nothing, nothing, colour(i), kind, dashed=i >= 7)
            for i in range(SLOTS)
        )
        alt = f"{shown[0].title} against {name}; the table below has the numbers."
        figures.append(Figure(f"explore-{k}", f"Against {name}", alt, axis, Axis(shown[0].title), slots, height=380))
        axes.append(
            {"name": name, "short": shorter[name], "values": values[name], "numbers": numbers, "figure": f"explore-{k}"}
        )
    data = {
        "axes": axes,
        "quantities": [
            {"title": q.title, "unit": q.unit, "mean": _short(q.mean), "half": _short(q.half)} for q in shown
        ],
        "at": [[places[name][_text(row.get(name))] for name in names] for row in rows],
        "slots": SLOTS,
    }
    lead = f"Choose what is shown, against {against}, and of which runs. Bands and bars are 95 % intervals."
    return [PageSection("Explore", (lead,), tuple(figures), explorer=data)]


def quantity(title: str, unit: str, measured: Sequence[Mapping[str, Any] | None]) -> MeasuredColumn:
    """Make a quantity from the measured values of documents, scaled to the unit that is easiest to read.

    Parameters
    ----------
    unit : str
        Unit as in `elephan.units.scaled`, or ``"%"`` for a share of one.
    measured : sequence of mapping with ``mean`` and ``ci95``, or None
    """
    means = [None if row is None else row["mean"] for row in measured]
    halves = [None if row is None else row["ci95"] for row in measured]
    factor, name = (0.01, "%") if unit == "%" else scaled(unit, [v for v in means if v is not None])
    mean, half = ([None if v is None else v / factor for v in column] for column in (means, halves))
    return MeasuredColumn(title, name if name != "1" else "", mean, half)


def _short(values: Sequence[float | None]) -> list[float | None]:
    """Round to six digits; a picture is not read more precisely."""
    return [None if v is None or not math.isfinite(v) else float(f"{v:.6g}") for v in values]


def _text(value: object) -> str:
    if value is None:
        return "–"
    return number(float(value), 6) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _ordered(texts: list[str]) -> list[str]:
    """Sort numbers of one unit by size; keep the order of anything else."""
    values, unit = _numbers(texts)
    return texts if unit is None else [text for _, text in sorted(zip(values, texts, strict=True))]


def _axis(name: str, values: Sequence[str]) -> tuple[Axis, list[float]]:
    """Return the axis of a label: numeric if all of its values are numbers of one unit, otherwise an axis of names."""
    parsed, unit = _numbers(values)
    if unit is None:
        return Axis(name, scale="names", names=tuple(values)), [float(i) for i in range(len(values))]
    factor, written = scaled(unit, parsed)
    numbers = [value / factor for value in parsed]
    low, high = min(numbers), max(numbers)
    logarithmic = low > 0 and high / low >= DECADE
    room = 0.05 * (high - low)
    ends = (low / 1.15, high * 1.15) if logarithmic else (low - room, high + room)
    return Axis(name, written, "log" if logarithmic else "linear", *ends), numbers


def _numbers(texts: Sequence[str]) -> tuple[list[float], str | None]:
    """Parse the values of a label into numbers of one unit; the unit is None if they have none in common."""
    parsed = [_number(text) for text in texts]
    units = {unit for _, unit in parsed}
    return [value for value, _ in parsed], units.pop() if len(units) == 1 else None


def _number(text: str) -> tuple[float, str | None]:
    """Parse a label's value into a number and its unit; the unit is None for a word."""
    bare, _, unit = text.replace(",", "").partition(" ")
    try:
        value = float(bare)
    except ValueError:
        return math.nan, None
    if not unit:
        return value, ""
    if unit in COUNTED:
        return value, {"packet": "packets", "bdp": "BDP"}.get(unit, unit)
    for read, base in ((seconds, "s"), (bits_per_second, "bit/s"), (octets, "B")):
        try:
            return read(text), base
        except UnitError:
            continue
    return math.nan, None
