"""Figure of a link's idle time over time, by its causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.causes.pictures import idle_figure
from elephan.plots.pictures import WIDTH, stack
from elephan.plots.style import house_style, save, sign

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from elephan.causes import IdleCauses

NAME = "why"


def draw_causes(causes: IdleCauses, folder: Path) -> list[Path]:
    """Draw ``why`` as PNG and SVG.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    return save(causes_figure(causes), folder, NAME)


def causes_figure(causes: IdleCauses) -> Figure:
    """Draw the idle time of each stretch of time.

    Parameters
    ----------
    causes : IdleCauses
    """
    with house_style():
        title = f"{causes.scenario.title}: idle time of {causes.link}"
        drawn = stack([idle_figure(causes)], title, (WIDTH, 3.2))
        sign(drawn, causes.scenario, f"replication {causes.replication}")
        return drawn
