"""Figures of results whose pictures are plain data: sizings, comparisons with testbeds, and causes of idle time."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from elephan.causes import IdleCauses
from elephan.causes.pictures import idle_figure
from elephan.comparisons import ScenarioComparison
from elephan.comparisons.pictures import over_time
from elephan.plots.pictures import WIDTH, sheet
from elephan.runs.sampled import sampled
from elephan.sizing import SizeAnswer
from elephan.sizing.pictures import brief
from elephan.sizing.saved import SavedSizing
from elephan.units import count, format_rate, format_time


def size_figure(answer: SizeAnswer) -> Figure:
    """Draw a sizing: utilization, delay and loss against the buffer, the answer, and two rules of thumb."""
    link = answer.facts
    of = (
        f"Link {link['name']}: {format_rate(link['rate_bps'])}, {count(link['flows'], 'flow')}, mean RTT "
        f"{format_time(link['mean_rtt_s'])}, BDP {link['bdp_packets']:.0f} packets"
    )
    runs = f"{count(answer.runs, 'run')}, bars: 95 % intervals" if answer.runs else "models only, nothing simulated"
    figures, title = brief(answer.pictures(), answer.to_json()), f"{answer.scenario.title}\n{of}"
    return sheet(figures, title, (WIDTH, 7.2), answer.scenario, f"{runs}; models and all rules: elephan report")


def saved_size_figure(saved: SavedSizing[Any]) -> Figure | None:
    """Draw a sizing that was read from a folder: measurements with each buffer, or each value, of each variant.

    Returns
    -------
    Figure or None
        None if nothing was simulated.
    """
    if not (figures := saved.pictures()):
        return None
    return sheet(figures, saved.scenario.title, (WIDTH, 6.4), saved.scenario, "bars: 95 % intervals")


def causes_figure(causes: IdleCauses) -> Figure:
    """Draw the idle time of each stretch of time, by its causes."""
    title = f"{causes.scenario.title}: idle time of {causes.link}"
    return sheet([idle_figure(causes)], title, (WIDTH, 3.2), causes.scenario, f"replication {causes.replication}")


def model_sim_testbed_figure(compared: ScenarioComparison) -> Figure:
    """Draw the result of `elephan.compare`: windows and backlog over time, in the simulator and with real stacks.

    Returns
    -------
    Figure
        The model as dashed lines at the ends of its sawtooth.
    """
    seen = {"simulation": sampled(compared.simulated)}
    if compared.tested is not None:
        seen["testbed"] = sampled(compared.tested)
    figures = over_time(compared.to_json(), seen)
    return sheet(figures, compared.scenario.title, (WIDTH, 4.6), compared.scenario, "shaded: not measured")
