"""Figure of a sizing that was read from a folder: measurements with each buffer, or each value, of each variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.plots.pictures import WIDTH, stack
from elephan.plots.style import house_style, sign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from elephan.sizing.saved import SavedSizing


def saved_size_figure(saved: SavedSizing) -> Figure | None:
    """Draw the figure.

    Returns
    -------
    Figure or None
        None if nothing was simulated.
    """
    figures = saved.pictures()
    if not figures:
        return None
    with house_style():
        drawn = stack(figures, saved.scenario.title, (WIDTH, 6.4))
        sign(drawn, saved.scenario, "bars: 95 % intervals")
        return drawn
