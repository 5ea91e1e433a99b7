"""One scenario in the simulator and with real stacks: windows and backlog over time, in stacked panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.comparisons.pictures import over_time
from elephan.plots.pictures import WIDTH, stack
from elephan.plots.style import house_style, save, sign
from elephan.runs.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

    from elephan.comparisons import ScenarioComparison

NAME = "compare"


def draw_model_sim_testbed(
    compared: ScenarioComparison, folder: Path, changes: Mapping[str, object] | None = None
) -> list[Path]:
    """Draw ``compare`` as PNG and SVG.

    Parameters
    ----------
    changes : mapping of str to value, optional
        What ``--set`` has changed, to stand beside the title.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    return save(model_sim_testbed_figure(compared), folder, NAME, changes=changes)


def model_sim_testbed_figure(compared: ScenarioComparison) -> Figure:
    """Draw the result of `elephan.compare`.

    Returns
    -------
    Figure
        The model as dashed lines at the ends of its sawtooth.
    """
    seen = {"simulation": sampled(compared.simulated)}
    if compared.tested is not None:
        seen["testbed"] = sampled(compared.tested)
    with house_style():
        figure = stack(over_time(compared.to_json(), seen), compared.scenario.title, (WIDTH, 4.6))
        sign(figure, compared.scenario, "shaded: not measured")
        return figure
