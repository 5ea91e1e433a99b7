"""One scenario simulated and through real stacks: windows and backlog over time, one above the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.plots.style import BLUE, GREY, ORANGE, NotebookFigure, house_style, legend, save, sign, title

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from elephan.compare import ScenarioComparison

NAME = "compare"
MOST_FLOWS = 8
"""Whose windows are drawn."""


def draw_model_sim_testbed(compared: ScenarioComparison, folder: Path) -> list[Path]:
    """Draw ``compare`` as PNG and SVG.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    return save(model_sim_testbed_figure(compared), folder, NAME)


def model_sim_testbed_figure(compared: ScenarioComparison) -> Figure:
    """Draw what `elephan.compare` found.

    Returns
    -------
    Figure
        The model as dashed lines at the ends of its sawtooth.
    """
    with house_style():
        figure = NotebookFigure(figsize=(7.16, 4.6))
        windows, backlog = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
        results = [("simulation", BLUE, compared.simulated)]
        if compared.tested is not None:
            results.append(("testbed", ORANGE, compared.tested.result))
        for name, colour, result in results:
            samples = result.outcomes[0].samples
            time_s = samples["time_s"]
            for number, window in enumerate(np.asarray(samples["cwnd_segments"], dtype=float)[:MOST_FLOWS]):
                windows.plot(time_s, window, color=colour, linewidth=0.8, label=name if number == 0 else None)
            backlog.plot(time_s, samples["backlog_packets"][0], color=colour, linewidth=0.8, label=name)
        for row in compared.rows:
            if row.name.startswith("cwnd_") and row.model is not None:
                which = "model" if "high" in row.name else None
                windows.axhline(row.model, color=GREY, linewidth=0.8, linestyle="--", label=which)
        warmup_s = compared.scenario.facts["warmup_s"]
        for axes in (windows, backlog):
            axes.axvspan(0.0, warmup_s, color=GREY, alpha=0.12, linewidth=0)
            axes.set_ylim(bottom=0.0)
        windows.set_ylabel("cwnd [segments]")
        backlog.set_ylabel("backlog [packets]")
        backlog.set_xlabel("time [s]; shaded: not measured")
        backlog.set_xlim(0.0, compared.scenario.facts["duration_s"])
        legend(windows)
        title(figure, compared.scenario)
        sign(figure, compared.scenario)
        return figure
