"""Figures: `run_figures`, `runs_figure`, `size_figure`, `comparison_figure`, `model_figure`, `xy`; `draw_…` write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.causes import IdleCauses
from elephan.comparisons import ScenarioComparison, SweepComparison
from elephan.errors import InputError
from elephan.plots.causes import causes_figure
from elephan.plots.comparison import comparison_figure, draw_comparison
from elephan.plots.model import draw_model, model_figure
from elephan.plots.model_sim_testbed import model_sim_testbed_figure
from elephan.plots.run import draw_run, run_figures
from elephan.plots.saved_size import saved_size_figure
from elephan.plots.side_by_side import NAME, runs_figure, sweep_over_time
from elephan.plots.size import draw_size, size_figure
from elephan.plots.style import house_style
from elephan.plots.sweep import points_figure, sweep_figure
from elephan.plots.xy import xy
from elephan.runs.result import RunResult
from elephan.runs.saved import FolderRun
from elephan.sizing import SizeAnswer, SizeComparison
from elephan.sizing.saved import SavedSizing
from elephan.store import Store
from elephan.sweeps.result import PointResult, SweepResult
from elephan.testbed import TestbedResult
from elephan.theory.models import ModelTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "comparison_figure",
    "draw_comparison",
    "draw_model",
    "draw_run",
    "draw_size",
    "figures",
    "house_style",
    "model_figure",
    "run_figures",
    "runs_figure",
    "size_figure",
    "xy",
]


def figures(of: object) -> dict[str, Figure]:
    """Draw all figures of a result, by name.

    Parameters
    ----------
    of : object
        A run (`RunResult`, `StoredRun`, `SavedRun`, `TestbedResult`, `PointResult`), a `SweepResult`, a `Store`, a
        `ScenarioComparison` or `SweepComparison`, a `SizeAnswer` or `SizeComparison`, or the `ModelTable` of a model.

    Returns
    -------
    dict of str to Figure

    Raises
    ------
    InputError
        If it is none of these.

    Examples
    --------
    >>> import elephan
    >>> list(figures(elephan.models.hstcp()))
    ['hstcp']
    """
    if isinstance(of, (RunResult, FolderRun, TestbedResult)):
        return run_figures(of)
    if isinstance(of, PointResult):
        return run_figures(of.stored)
    if isinstance(of, SweepResult):
        with house_style():
            found = {"sweep": sweep_figure(of), NAME: sweep_over_time(of)}
        return {name: figure for name, figure in found.items() if figure is not None}
    if isinstance(of, Store):
        return _of_store(of)
    if isinstance(of, ScenarioComparison):
        return {"compare": model_sim_testbed_figure(of)}
    if isinstance(of, SweepComparison):
        return {point.name: model_sim_testbed_figure(point.comparison) for point in of.points}
    if isinstance(of, SizeAnswer):
        return {"size": size_figure(of)}
    if isinstance(of, IdleCauses):
        return {"why": causes_figure(of)}
    if isinstance(of, SizeComparison):
        return {"comparison": comparison_figure(of)}
    if isinstance(of, SavedSizing):
        drawn = saved_size_figure(of)
        return {} if drawn is None else {"size": drawn}
    if isinstance(of, ModelTable):
        drawn = model_figure(of)
        return {} if drawn is None else {of.model.name: drawn}
    message = f"plot: there is no picture of a {type(of).__name__}; elephan.plots.xy draws tables"
    raise InputError(message)


def _of_store(store: Store) -> dict[str, Figure]:
    """Draw the runs of a store against their labels."""
    runs = store.runs()
    if not runs:
        return {}
    with house_style():
        drawn = points_figure(store.parts, runs[0].scenario, str(store.folder))
    return {} if drawn is None else {"sweep": drawn}
