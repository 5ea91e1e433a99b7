"""The picture of a run: windows, backlog and utilization over time, of the first replication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from elephan.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, house_style, save, sign
from elephan.run.result import buffer_packets

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from elephan.run.outcome import Outcome
    from elephan.run.result import Result

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)

SINGLE_LINES = 50
"""With more flows in a group, their mean and range are drawn instead of every one."""


def draw_run(result: Result, folder: Path) -> list[Path]:
    """Draw ``run.png`` and ``run.svg``.

    Parameters
    ----------
    result : Result
        With its sampled series.
    folder : Path
        Made if missing.

    Returns
    -------
    list of Path
        Empty if the scenario records no samples.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    if not result.outcomes or not result.outcomes[0].has_series:
        return []
    with house_style():
        return save(_figure(result), folder, "run")


def _figure(result: Result) -> Figure:
    outcome, facts = result.outcomes[0], result.scenario.facts
    figure = Figure()
    windows, backlog, rtt = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 2])
    _per_flow(windows, result, outcome.samples["cwnd_segments"])
    windows.set_ylabel("cwnd [segments]")
    _legend(windows)
    _per_flow(rtt, result, 1e3 * np.where(outcome.samples["srtt_s"] > 0, outcome.samples["srtt_s"], np.nan))
    rtt.set_ylabel("srtt [ms]")
    rtt.set_ylim(bottom=max(0.0, 0.97 * rtt.get_ylim()[0]))
    _backlog(backlog, result, outcome)
    for axes in (windows, backlog, rtt):
        axes.set_xlim(0.0, facts["duration_s"])
        if facts["warmup_s"] > 0:
            axes.axvspan(0.0, facts["warmup_s"], color=GREY, alpha=0.10, lw=0, zorder=0)
    if facts["warmup_s"] > 0:
        text = f"shaded: warm-up, {facts['warmup_s']:g} s"
        windows.annotate(
            text, (0.0, 1.0), xycoords="axes fraction", xytext=(0, 3), textcoords="offset points", fontsize=7
        )
    rtt.set_xlabel("time [s]")
    figure.suptitle(result.scenario.title, fontsize=9, fontweight="bold", x=0.005, ha="left")
    sign(figure, result.scenario, f"replication 1 of {len(result.outcomes)}")
    return figure


def _per_flow(axes: Axes, result: Result, values: NDArray[Any]) -> None:
    """One thin line per flow, coloured by group; in large groups the mean and the range."""
    outcome = result.outcomes[0]
    time_s = outcome.samples["time_s"]
    if not values.size:
        return
    for g, group in enumerate(result.scenario.groups):
        if group["law"] is None:
            continue
        rows = values[outcome.flows["group"] == g]
        colour = COLOURS[g % len(COLOURS)]
        label = f"{group['name']}: {group['flows']} {group['law']}"
        known = rows[:, np.isfinite(rows).any(axis=0)]
        at = time_s[np.isfinite(rows).any(axis=0)]
        if rows.shape[0] <= SINGLE_LINES:
            lines = [np.column_stack([time_s, row]) for row in rows]
            axes.add_collection(LineCollection(lines, colors=colour, linewidths=0.6, alpha=0.6))
            axes.plot([], [], color=colour, label=label)
            axes.autoscale_view()
        else:
            axes.fill_between(at, np.nanmin(known, axis=0), np.nanmax(known, axis=0), color=colour, alpha=0.2, lw=0)
            axes.plot(at, np.nanmean(known, axis=0), color=colour, label=f"{label} (mean, range)")
    axes.set_ylim(bottom=0.0 if axes.get_ylim()[0] <= 0.0 else None)


def _backlog(axes: Axes, result: Result, outcome: Outcome) -> None:
    for i, link in enumerate(result.scenario.links):
        mean = np.mean([float(o.links["utilization"][i]) for o in result.outcomes])
        colour = COLOURS[i % len(COLOURS)]
        label = f"{link['name']}: utilization {mean:.3f}"
        axes.plot(outcome.samples["time_s"], outcome.samples["backlog_packets"][i], color=colour, lw=0.8, label=label)
        limit = buffer_packets(link)
        if limit is not None:
            axes.axhline(limit, color=colour, lw=0.8, ls=(0, (5, 3)))
    axes.set_ylabel("backlog [packets]")
    axes.set_ylim(bottom=0.0)
    _legend(axes)


def _legend(axes: Axes) -> None:
    """Name the lines above the panel, where nothing is drawn."""
    columns = min(4, len(axes.get_legend_handles_labels()[1]))
    if not columns:
        return
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), borderaxespad=0.0, ncols=columns)
