"""Picture of a link's idle time over time, by its causes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elephan.causes.answer import IdleCauses
from elephan.pictures.figure import COLOURS, Axis, Figure, Series
from elephan.units import format_time

BINS = 240
"""Maximum number of bins of a picture."""

NAMES = {
    "event": "after drops or marks",
    "timeout": "timeouts",
    "recovery": "losses elsewhere",
    "slow_start": "slow start",
    "window": "window growth",
    "receive_window": "receive window",
    "application": "application",
}
"""Names of the causes in the legend."""


def idle_figure(causes: IdleCauses) -> Figure:
    """Return a figure of the share of time in which the link was idle, stacked by cause.

    Parameters
    ----------
    causes : IdleCauses
    """
    low, high = causes.found["from"], causes.found["to"]
    # Each bin has the same number of steps.
    step = causes.found["step"]
    width = step * math.ceil((high - low) / step / BINS)
    edges = np.append(np.arange(low, high, width, dtype=np.float64), high)
    shares = {name: np.zeros(edges.size - 1) for name in NAMES}
    idle = _binned(causes, [causes.found["idle_steps"]] * len(causes.periods), edges)
    left = _binned(causes, [period["rest_steps"] for period in causes.found["periods"]], edges)
    for k, period in enumerate(causes.periods):
        # Without forks all of the idle time is the rest.
        rest = idle[k] if causes.found["periods"][k]["rest_steps"] is None else np.minimum(left[k], idle[k])
        shares["event"] += idle[k] - rest
        whole = sum(period.rest_ps.values())
        for name, part in period.rest_ps.items():
            shares[name] += rest * (part / whole if whole else 0.0)
    x = edges / 1e12
    base = np.zeros(edges.size - 1)
    series = []
    for (name, label), colour in zip(NAMES.items(), COLOURS, strict=True):
        if not shares[name].any():
            continue
        top = base + 100 * shares[name] / np.diff(edges)
        # NaN where a cause has no share, so that nothing is drawn there.
        there = np.where(shares[name] > 0, 1.0, np.nan)
        held = [np.append(values * there, np.nan) for values in (top, base)]
        series.append(Series(label, x, held[0], held[1], held[0], colour=colour, kind="step", interval="share"))
        base = top
    alt = f"Idle time of {causes.link} over {format_time(causes.measured_s)}. {causes.sentence()}"
    # A single series has no legend, so the axis names it.
    what = f"idle time, {series[0].name}" if len(series) == 1 else "idle time"
    axis = Axis(what, "%", low=0.0, high=max(5.0, min(105.0, 1.1 * float(base.max()))))
    time = Axis("time", "s", low=low / 1e12, high=high / 1e12)
    return Figure("why", f"Idle time of {causes.link}", alt, time, axis, tuple(series))


def _binned(
    causes: IdleCauses, steps: Sequence[Sequence[Sequence[int]] | None], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the idle time of each period in each bin. A step of a period counts in the bin of its middle."""
    found = np.zeros((len(steps), edges.size - 1))
    arrays: dict[int, NDArray[np.float64]] = {}
    for k, (period, own) in enumerate(zip(causes.found["periods"], steps, strict=True)):
        if not own or not period["idle"]:
            continue
        if id(own) not in arrays:
            arrays[id(own)] = np.array(own, dtype=np.float64)
        rows = arrays[id(own)]
        middle = rows[:, 0] - causes.found["step"] / 2
        first, last = np.searchsorted(middle, [period["from"], period["to"]])
        bins = np.clip(np.searchsorted(edges, middle[first:last], side="right") - 1, 0, edges.size - 2)
        np.add.at(found[k], bins, rows[first:last, 1])
    return found
