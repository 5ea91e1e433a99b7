"""Figures of a run: windows, backlog, round-trip times and utilization over time, distributions and packets."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from elephan.pictures.figure import Figure as Description
from elephan.plots.distributions import distributions_figure
from elephan.plots.packets import packets_figures
from elephan.plots.pictures import WIDTH, sheet
from elephan.plots.style import house_style
from elephan.runs.pictures import over_time
from elephan.runs.sampled import sampled
from elephan.runs.saved import ReplicatedRun

PANELS = 3 * 300 + 220
"""Total height of the panels of a run whose links do not change [px], for which the figure's size is made."""


@house_style()
def run_figures(result: ReplicatedRun) -> dict[str, Figure]:
    """Draw the figures of a run, by name.

    Parameters
    ----------
    result : RunResult or another that has a scenario and outcomes

    Returns
    -------
    dict of str to Figure
        Figures with data only: ``run`` needs samples, ``distributions`` samples or transfers that end,
        ``packets-LINK`` packets recorded at a link.

    Examples
    --------
    >>> from elephan import EXAMPLE, Scenario, run
    >>> list(run_figures(run(Scenario.from_text(EXAMPLE), series=True)))
    ['run', 'distributions']
    """
    figures = {}
    if result.outcomes[0].has_series:
        shown = over_time(result.to_json(), result.scenario, sampled(result))
        figures = {"run": _figure(result, shown)} if shown else {}
    distributions = distributions_figure(result)
    if distributions is not None:
        figures["distributions"] = distributions
    return figures | packets_figures(result)


def _figure(result: ReplicatedRun, shown: Sequence[Description]) -> Figure:
    scenario = result.scenario
    # With the panels of links that change it is as much higher.
    higher = max(1.0, sum(description.height for description in shown) / PANELS)
    warmup_s = scenario.facts["warmup_s"]
    warmup = f"   shaded: warm-up, {warmup_s:g} s" if warmup_s > 0 else ""
    more = f"replication 1 of {len(result.outcomes)}{warmup}"
    return sheet(shown, scenario.title, (WIDTH, 6.0 * higher), scenario, more)
