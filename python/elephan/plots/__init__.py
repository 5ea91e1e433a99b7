"""Figures: `run_figures`, `size_figure`, `comparison_figure`, `model_figure`, `xy`; `draw_…` write them to a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.errors import InputError
from elephan.plots.comparison import comparison_figure, draw_comparison
from elephan.plots.model import draw_model, model_figure
from elephan.plots.run import draw_run, run_figures
from elephan.plots.size import draw_size, size_figure
from elephan.plots.style import house_style
from elephan.plots.xy import xy
from elephan.run.result import RunResult
from elephan.size import SizeAnswer, SizeComparison
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
    "size_figure",
    "xy",
]


def figures(of: object) -> dict[str, Figure]:
    """Draw what there is to draw of a result, by name.

    Parameters
    ----------
    of : RunResult, SizeAnswer, SizeComparison or ModelTable
        The table is a model's.

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
    if isinstance(of, RunResult):
        return run_figures(of)
    if isinstance(of, SizeAnswer):
        return {"size": size_figure(of)}
    if isinstance(of, SizeComparison):
        return {"comparison": comparison_figure(of)}
    if isinstance(of, ModelTable):
        drawn = model_figure(of)
        return {} if drawn is None else {of.model.name: drawn}
    message = f"plot: there is no picture of a {type(of).__name__}; elephan.plots.xy draws tables"
    raise InputError(message)
