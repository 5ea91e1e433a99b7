"""Figure of a sizing: utilization, delay and loss against the buffer, the answer, and two rules of thumb."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import NullLocator

from elephan.plots.pictures import WIDTH, stack
from elephan.plots.style import house_style, save, sign
from elephan.sizing.pictures import brief
from elephan.units import count, format_rate, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from elephan.sizing import SizeAnswer

HEIGHT = 7.2
"""Height of the figure [in]."""


def draw_size(answer: SizeAnswer, folder: Path, changes: Mapping[str, object] | None = None) -> list[Path]:
    """Draw ``size.png`` and ``size.svg``.

    Parameters
    ----------
    answer : SizeAnswer
    folder : Path
        Made if missing.
    changes : mapping of str to value, optional
        What ``--set`` has changed, to stand beside the title.

    Returns
    -------
    list of Path

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    with house_style():
        return save(size_figure(answer), folder, "size", changes=changes)


def size_figure(answer: SizeAnswer) -> Figure:
    """Draw the figure.

    Parameters
    ----------
    answer : SizeAnswer

    Returns
    -------
    Figure
    """
    link = answer.facts
    of = (
        f"Link {link['name']}: {format_rate(link['rate_bps'])}, {count(link['flows'], 'flow')}, mean RTT "
        f"{format_time(link['mean_rtt_s'])}, BDP {link['bdp_packets']:.0f} packets"
    )
    runs = f"{count(answer.runs, 'run')}, bars: 95 % intervals" if answer.runs else "models only, nothing simulated"
    with house_style():
        figure = stack(brief(answer.pictures(), answer.to_json()), f"{answer.scenario.title}\n{of}", (WIDTH, HEIGHT))
        sign(figure, answer.scenario, f"{runs}; models and all rules: elephan report")
        return figure


def stretch_towards_one(axes: Axes, smallest: float) -> None:
    """Set a scale that separates 0.9, 0.95 and 0.99: logarithmic in 1.01 - u, so that 1 is still on it."""
    axes.set_yscale("function", functions=(lambda u: -np.log(1.01 - np.minimum(u, 1.0)), lambda y: 1.01 - np.exp(-y)))
    axes.set_ylim(max(0.0, smallest - 0.05), 1.0)
    ticks = [tick for tick in (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 1.0) if tick >= axes.get_ylim()[0]]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.yaxis.set_minor_locator(NullLocator())
