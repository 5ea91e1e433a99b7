"""Figures: `figures` of any result, `run_figures` and others of one kind, `runs_figure`, `xy`; `draw` writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

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
    for kind, drawn in _FIGURES:
        if isinstance(of, kind):
            return {name: figure for name, figure in drawn(of).items() if figure is not None}
    raise InputError(f"plot: there is no picture of a {type(of).__name__}; elephan.plots.xy draws tables")


def _of_store(store: Store) -> Figure | None:
    """Draw the runs of a store against their labels."""
    runs = store.runs()
    return points_figure(store.parts, runs[0].scenario, str(store.folder)) if runs else None


def _of_points(compared: SweepComparison) -> dict[str, Figure]:
    return {point.name: model_sim_testbed_figure(point.comparison) for point in compared.points}


_FIGURES: tuple[tuple[type | tuple[type, ...], Callable[[Any], Mapping[str, Figure | None]]], ...] = (
    ((RunResult, FolderRun, TestbedResult), run_figures),
    (PointResult, lambda point: run_figures(point.stored)),
    (SweepResult, lambda swept: {"sweep": sweep_figure(swept), "over-time": sweep_over_time(swept)}),
    (Store, lambda store: {"sweep": _of_store(store)}),
    (ScenarioComparison, lambda compared: {"compare": model_sim_testbed_figure(compared)}),
    (SweepComparison, _of_points),
    (SizeAnswer, lambda answer: {"size": size_figure(answer)}),
    (SavedSizing, lambda saved: {"size": saved_size_figure(saved)}),
    (SizeComparison, lambda compared: {"comparison": comparison_figure(compared)}),
    (IdleCauses, lambda causes: {"why": causes_figure(causes)}),
    (ModelTable, lambda table: {table.model.name: model_figure(table)}),
)
"""Figures of each kind of result by name; None where there is nothing to draw."""


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
        What ``--set`` has changed, to stand beside the title; of a run or sizing in a folder, by default what its
        document has kept.
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
    drawn = figures(of)
    if changes is None and isinstance(of, FolderRun | SavedSizing):
        document: Mapping[str, Any] = of.to_json()
        changes = document.get("set")
    return [path for name, figure in drawn.items() for path in save(figure, folder, name, endings, changes)]


draw_run = draw_size = draw_comparison = draw
"""Names of `draw` for one kind of result."""


def draw_model(table: ModelTable, folder: Path, endings: tuple[str, ...] = (".png", ".svg")) -> list[Path]:
    """Write ``NAME.png`` and ``NAME.svg``; nothing if the model has no figure or its table has a single row."""
    return draw(table, folder, endings=endings)
