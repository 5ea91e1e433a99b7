"""The pictures of a run: windows, backlog, round-trip times and utilization over time, and what goes with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection

from elephan.metrics import utilization_series
from elephan.plots.distributions import distributions_figure
from elephan.plots.packets import packets_figures
from elephan.plots.style import (
    COLOURS,
    GREY,
    MOST_LINKS,
    NotebookFigure,
    busiest,
    house_style,
    legend,
    save,
    sign,
    title,
)
from elephan.run.result import buffer_packets

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from elephan.run.outcome import ReplicationOutcome
    from elephan.run.saved import ReplicatedRun

SINGLE_LINES = 50
"""With more flows in a group, their mean and range are drawn instead of every one."""

FAR_ABOVE = 4.0
"""A buffer this many times above the largest backlog is not drawn."""

FINE = 400
"""With more bins of utilization than these, their mean over as many stretches is drawn over them."""


def draw_run(result: ReplicatedRun, folder: Path) -> list[Path]:
    """Draw ``run``, ``distributions`` and ``packets-LINK``, each as PNG and SVG.

    Parameters
    ----------
    result : RunResult or another that has a scenario and outcomes
        With its sampled series.
    folder : Path
        Made if missing.

    Returns
    -------
    list of Path
        What there is something to draw for: of ``run``, samples; of ``packets``, packets recorded at a link.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    with house_style():
        return [path for name, figure in run_figures(result).items() for path in save(figure, folder, name)]


def run_figures(result: ReplicatedRun) -> dict[str, Figure]:
    """Draw the pictures of a run, by name.

    Parameters
    ----------
    result : RunResult or another that has a scenario and outcomes

    Returns
    -------
    dict of str to Figure
        What there is something to draw for: ``run`` needs samples, ``distributions`` samples or transfers that end,
        ``packets-LINK`` packets recorded at a link.

    Examples
    --------
    >>> from elephan import EXAMPLE, Scenario, run
    >>> list(run_figures(run(Scenario.from_text(EXAMPLE), series=True)))
    ['run', 'distributions']
    """
    with house_style():
        figures = {"run": _figure(result)} if result.outcomes[0].has_series else {}
        distributions = distributions_figure(result)
        if distributions is not None:
            figures["distributions"] = distributions
        return figures | packets_figures(result)


def _figure(result: ReplicatedRun) -> Figure:
    outcome, facts = result.outcomes[0], result.scenario.facts
    figure = NotebookFigure(figsize=(7.16, 6.0))
    windows, backlog, rtt, used = figure.subplots(4, 1, sharex=True, height_ratios=[3, 2, 2, 2])
    _per_flow(windows, result, outcome.samples["cwnd_segments"])
    windows.set_ylabel("cwnd [segments]")
    legend(windows)
    _per_flow(rtt, result, 1e3 * np.where(outcome.samples["srtt_s"] > 0, outcome.samples["srtt_s"], np.nan))
    rtt.set_ylabel("srtt [ms]")
    # So much around it at least that rounding does not look like a queue.
    low, high = rtt.get_ylim()
    rtt.set_ylim(max(0.0, min(low, 0.99 * high)), high)
    _backlog(backlog, result, outcome)
    _utilization(used, result, outcome)
    for axes in (windows, backlog, rtt, used):
        axes.set_xlim(0.0, facts["duration_s"])
        if facts["warmup_s"] > 0:
            axes.axvspan(0.0, facts["warmup_s"], color=GREY, alpha=0.10, lw=0, zorder=0)
    used.set_xlabel("time [s]")
    title(figure, result.scenario)
    warmup = f"   shaded: warm-up, {facts['warmup_s']:g} s" if facts["warmup_s"] > 0 else ""
    sign(figure, result.scenario, f"replication 1 of {len(result.outcomes)}{warmup}")
    return figure


def _per_flow(axes: Axes, result: ReplicatedRun, values: NDArray[Any]) -> None:
    """One thin line per flow, coloured by group; in large groups the mean and the range."""
    outcome = result.outcomes[0]
    time_s = outcome.samples["time_s"]
    if not values.size:
        return
    # Datagrams have no window, and the transfers of sessions none that lasts.
    with_values = np.isfinite(values).any(axis=1)
    groups = [g for g in range(len(result.scenario.groups)) if with_values[outcome.flows["group"] == g].any()]
    for k, g in enumerate(groups):
        group, rows = result.scenario.groups[g], values[outcome.flows["group"] == g]
        colour = COLOURS[k] if k < len(COLOURS) else GREY
        label = f"{group['name']}: {group['flows']} {group['law']}"
        if k > len(COLOURS):
            label = "_"
        elif k == len(COLOURS):
            label = f"{len(groups) - k} more groups"
        known = rows[:, np.isfinite(rows).any(axis=0)]
        at = time_s[np.isfinite(rows).any(axis=0)]
        if rows.shape[0] <= SINGLE_LINES:
            lines = [np.column_stack([time_s, row]) for row in rows]
            axes.add_collection(LineCollection(lines, colors=colour, linewidths=0.6, alpha=0.6))
            axes.plot([], [], color=colour, label=label)
            axes.autoscale_view()
        else:
            axes.fill_between(at, np.nanmin(known, axis=0), np.nanmax(known, axis=0), color=colour, alpha=0.2, lw=0)
            axes.plot(
                at,
                np.nanmean(known, axis=0),
                color=colour,
                label=label if k >= len(COLOURS) else f"{label} (mean, range)",
            )
    axes.set_ylim(bottom=0.0 if axes.get_ylim()[0] <= 0.0 else None)


def _backlog(axes: Axes, result: ReplicatedRun, outcome: ReplicationOutcome) -> None:
    shown = busiest(result)
    most = max(float(np.max(outcome.samples["backlog_packets"][i], initial=0.0)) for i in shown)
    for k, i in enumerate(shown):
        link, colour = result.scenario.links[i], COLOURS[k % len(COLOURS)]
        values = outcome.samples["backlog_packets"][i]
        mean = np.mean([float(o.links["utilization"][i]) for o in result.outcomes])
        label = f"{link['name']}: utilization {mean:.3f}"
        axes.plot(outcome.samples["time_s"], values, color=colour, lw=0.8, label=label)
        limit = buffer_packets(link)
        # The links of an array wait together in the samples. A buffer far above what waits would flatten all lines.
        if limit is not None and limit * link["count"] <= FAR_ABOVE * most:
            axes.axhline(limit * link["count"], color=colour, lw=0.8, ls=(0, (5, 3)))
    if len(result.scenario.links) > MOST_LINKS:
        axes.plot([], [], lw=0, label=f"the busiest of {len(result.scenario.links)} links")
    axes.set_ylabel("backlog [packets]")
    axes.set_ylim(bottom=0.0)
    legend(axes)


def _utilization(axes: Axes, result: ReplicatedRun, outcome: ReplicationOutcome) -> None:
    """Per mean round-trip time of each link; of long runs also smoothed, or nothing could be seen."""
    for k, i in enumerate(busiest(result)):
        link, colour = result.scenario.links[i], COLOURS[k % len(COLOURS)]
        time_s, begun = outcome.samples["time_s"], outcome.samples["begun_bytes"][i]
        # Of an array, all links together.
        rate_bps = link["rate_bps"] * link["count"]
        fine = utilization_series(time_s, begun, rate_bps, bin_s=link["mean_rtt_s"] or 0.0)
        many = fine[0].size > FINE
        axes.step(*fine, where="post", color=colour, lw=0.5 if many else 0.9, alpha=0.35 if many else 1.0)
        if many:
            coarse = utilization_series(time_s, begun, rate_bps, bin_s=4 * time_s[-1] / FINE)
            axes.step(*coarse, where="post", color=colour, lw=0.9)
    axes.set_ylabel("utilization\nper RTT")
    axes.set_ylim(0.0, 1.05)
