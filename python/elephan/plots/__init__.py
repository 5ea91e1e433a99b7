"""Figures: `figures` of any result, `run_figures` and others of one kind, `runs_figure`, `xy`; `draw` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.causes import IdleCauses
from elephan.comparisons import ScenarioComparison, SweepComparison
from elephan.errors import InputError
from elephan.plots.comparison import comparison_figure
from elephan.plots.model import model_figure
from elephan.plots.run import run_figures
from elephan.plots.side_by_side import runs_figure, sweep_over_time
from elephan.plots.stacked import causes_figure, model_sim_testbed_figure, saved_size_figure, size_figure
from elephan.plots.style import house_style, save
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
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

__all__ = [
    "comparison_figure",
    "draw",
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
    found: dict[str, Figure | None]
    if isinstance(of, (RunResult, FolderRun, TestbedResult)):
        return run_figures(of)
    if isinstance(of, PointResult):
        return run_figures(of.stored)
    if isinstance(of, SweepComparison):
        return {point.name: model_sim_testbed_figure(point.comparison) for point in of.points}
    if isinstance(of, SweepResult):
        found = {"sweep": sweep_figure(of), "over-time": sweep_over_time(of)}
    elif isinstance(of, Store):
        runs = of.runs()
        found = {"sweep": points_figure(of.parts, runs[0].scenario, str(of.folder)) if runs else None}
    elif isinstance(of, ScenarioComparison):
        found = {"compare": model_sim_testbed_figure(of)}
    elif isinstance(of, SizeAnswer):
        found = {"size": size_figure(of)}
    elif isinstance(of, SavedSizing):
        found = {"size": saved_size_figure(of)}
    elif isinstance(of, IdleCauses):
        found = {"why": causes_figure(of)}
    elif isinstance(of, SizeComparison):
        found = {"comparison": comparison_figure(of)}
    elif isinstance(of, ModelTable):
        found = {of.model.name: model_figure(of)}
    else:
        message = f"plot: there is no picture of a {type(of).__name__}; elephan.plots.xy draws tables"
        raise InputError(message)
    return {name: figure for name, figure in found.items() if figure is not None}


def draw(
    of: object,
    folder: Path,
    changes: Mapping[str, object] | None = None,
    endings: tuple[str, ...] = (".png", ".svg"),
) -> list[Path]:
    """Write all figures of a result as PNG and SVG, see `figures`.

    Parameters
    ----------
    of : object
        As `figures` takes it.
    folder : Path
        Made if missing.
    changes : mapping of str to value, optional
        What ``--set`` has changed, to stand beside the title.
    endings : tuple of str

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        If there are no figures of such a result.
    OSError
        If the folder cannot be written.
    """
    with house_style():
        drawn = figures(of)
        return [path for name, figure in drawn.items() for path in save(figure, folder, name, endings, changes)]


draw_run = draw_size = draw_comparison = draw
"""Names of `draw` for one kind of result."""


def draw_model(table: ModelTable, folder: Path, endings: tuple[str, ...] = (".png", ".svg")) -> list[Path]:
    """Write ``NAME.png`` and ``NAME.svg``; nothing if the model has no figure or its table has a single row."""
    return draw(table, folder, endings=endings)
