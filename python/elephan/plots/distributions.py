"""Distributions of backlog, queueing delay and completion times over all replications together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from elephan.metrics import distribution, percentile
from elephan.pictures.palette import COLOURS
from elephan.plots.style import NotebookFigure, busiest, sign, title, written_out
from elephan.runs.outcome import ReplicationOutcome
from elephan.runs.saved import ReplicatedRun

REACH = 1.35
"""Maximum end of an axis, relative to the largest 99.9th percentile."""


def distributions_figure(result: ReplicatedRun) -> Figure | None:
    """Draw the distributions of backlog, queueing delay and completion times, in the current style.

    Returns
    -------
    Figure or None
        None if nothing was sampled and no transfer finished.
    """
    sampled = any(counts.size for outcome in result.outcomes for counts in outcome.histograms["backlog_packets"])
    times = _completions(result)
    return _figure(result, times, sampled=sampled) if sampled or times else None


def _figure(result: ReplicatedRun, times: dict[str, NDArray[np.int64]], *, sampled: bool) -> Figure:
    figure = NotebookFigure(figsize=(7.16, 2.9))
    panels = list(figure.subplots(1, 2 * sampled + bool(times), squeeze=False, sharey=True)[0])
    panels[0].set_ylabel("cumulative share")
    if sampled:
        every = any(outcome.histograms["delay_ps"][0].size for outcome in result.outcomes)
        backlog, delay = panels[:2]
        _links(backlog, result, lambda outcome, i: outcome.histograms["backlog_packets"][i], 1.0)
        backlog.set_xlabel("backlog at the samples [packets]")
        backlog.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
        _links(delay, result, lambda outcome, i: outcome.delay_histogram(i), 1e-9)
        delay.set_xlabel(f"queueing delay, {'every packet' if every else 'at the samples'} [ms]")
        backlog.legend(loc="best")
    if times:
        _transfers(panels[-1], times)
    for axes in panels:
        axes.set_ylim(0.0, 1.005)
        axes.set_yticks([0.0, 0.25, 0.5, 0.75, 0.95])
    title(figure, result.scenario.title)
    sign(figure, result.scenario, f"replications: {len(result.outcomes)}")
    return figure


def _links(
    axes: Axes, result: ReplicatedRun, of: Callable[[ReplicationOutcome, int], NDArray[Any]], scale: float
) -> None:
    reach = 0.0
    for k, i in enumerate(busiest(result)):
        counts = _together([of(outcome, i) for outcome in result.outcomes])
        value, share = distribution(counts)
        if not value.size:
            continue
        # From nothing to the first share, and on to the edge of the panel.
        value, share = np.append(value, 1e3 * value[-1] + 1.0), np.append(share, 1.0)
        axes.step(
            scale * np.insert(value, 0, 0.0),
            np.insert(share, 0, 0.0),
            where="post",
            color=COLOURS[k % len(COLOURS)],
            label=result.scenario.links[i]["name"],
        )
        reach = max(reach, scale * min(REACH * percentile(counts, 0.999), 1.04 * percentile(counts, 1.0)))
    axes.set_xlim(0.0, reach or 1.0)


def _together(parts: list[NDArray[Any]]) -> NDArray[np.int64]:
    """Add histograms of different lengths."""
    total = np.zeros(max((part.size for part in parts), default=0), dtype=np.int64)
    for part in parts:
        total[: part.size] += part.astype(np.int64)
    return total


def _completions(result: ReplicatedRun) -> dict[str, NDArray[np.int64]]:
    """Return histograms of the completion times of transfers and pages, for each group that has any."""
    found = {}
    for g, group in enumerate(result.scenario.groups):
        for label, counts in ((group["name"], "duration_ps"), (f"{group['name']}: pages", "page_ps")):
            parts = [transfers[counts] for o in result.outcomes if (transfers := o.transfers[g]) is not None]
            if any(part.size for part in parts):
                found[label] = _together(parts)
    return found


def _transfers(axes: Axes, times: dict[str, NDArray[np.int64]]) -> None:
    for k, (name, counts) in enumerate(times.items()):
        value, share = distribution(counts)
        colour = COLOURS[k % len(COLOURS)]
        axes.step(1e-12 * value, share, where="post", color=colour, label=name)
    axes.set_xscale("log")
    written_out(axes.xaxis)
    axes.set_xlabel("completion time [s]")
    axes.legend(loc="lower right")
