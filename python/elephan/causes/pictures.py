"""Picture of a link's idle time over time, by its causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import COLOURS, Axis, Figure, Series
from elephan.units import format_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan.causes.answer import IdleCauses

BINS = 240
"""Number of bins of a picture."""

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
    """Return the share of each bin of time in which the link was idle, by causes above each other.

    Parameters
    ----------
    causes : IdleCauses
    """
    low, high = causes.found["from"], causes.found["to"]
    edges = np.linspace(low, high, BINS + 1)
    shares = {name: np.zeros(BINS) for name in NAMES}
    steps = np.array(causes.found["idle_steps"], dtype=np.float64).reshape(-1, 2)
    ends = np.array([period["to"] for period in causes.found["periods"]], dtype=np.float64)
    if steps.size:
        # A step lies in the period and the bin of its middle.
        middle = steps[:, 0] - causes.found["step"] / 2
        period_of = np.minimum(np.searchsorted(ends, middle), ends.size - 1)
        bin_of = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, BINS - 1)
        for name, part in _parts(causes).items():
            np.add.at(shares[name], bin_of, steps[:, 1] * part[period_of])
    width = (high - low) / BINS
    x = edges / 1e12
    base = np.zeros(BINS)
    series = []
    for (name, label), colour in zip(NAMES.items(), COLOURS, strict=True):
        if not shares[name].any():
            continue
        top = base + 100 * shares[name] / width
        held = [np.append(values, values[-1]) for values in (top, base)]
        series.append(Series(label, x, held[0], held[1], held[0], colour=colour, kind="step", interval="share"))
        base = top
    alt = f"Idle time of {causes.link} over {format_time(causes.measured_s)}. {causes.sentence()}"
    # A legend is for several.
    what = f"idle time, {series[0].name}" if len(series) == 1 else "idle time"
    axis = Axis(what, "%", low=0.0, high=max(5.0, min(105.0, 1.1 * float(base.max()))))
    time = Axis("time", "s", low=low / 1e12, high=high / 1e12)
    return Figure("why", f"Idle time of {causes.link}", alt, time, axis, tuple(series))


def _parts(causes: IdleCauses) -> dict[str, NDArray[np.float64]]:
    """Return the share of each cause in the idle time of each period."""
    found = {name: np.zeros(len(causes.periods)) for name in NAMES}
    for k, period in enumerate(causes.periods):
        if not period.idle_ps:
            continue
        found["event"][k] = sum(period.charged_ps.values()) / period.idle_ps
        for name, idle in period.rest_ps.items():
            found[name][k] += idle / period.idle_ps
    return found
