"""Maps of a model's error: buffer x flows, a panel per RTT, a row per law, a figure per discipline."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from elephan.accuracy import LEVELS, ErrorRegion, regions
from elephan.accuracy.survey import FLOWS, RTTS_MS, SHARES
from elephan.pictures.palette import BLACK
from elephan.plots.style import footer, house_style, save, title
from elephan.theory.models import Model
from elephan.theory.models.bottleneck import UNPACED

BOUNDS = (-100, *(-at for at in reversed(LEVELS)), *LEVELS, 100)
"""Limits of the colours' ranges [percentage points]."""
SHADES = ("#2166ac", "#67a9cf", "#d1e5f0", "#f7f7f7", "#fddbc7", "#ef8a62", "#b2182b")
"""Colours of the ranges: blue if too low, red if too high (ColorBrewer's RdBu, safe for colour-blind readers)."""
DARK = 10
"""Error above which the colour is too dark for black text [percentage points]."""


def draw_accuracy(model: Model, folder: Path) -> list[Path]:
    """Draw ``NAME-map-DISCIPLINE.png`` and ``.svg`` for each discipline that the model covers.

    Parameters
    ----------
    folder : Path
        Made if missing.

    Returns
    -------
    list of Path
        Nothing if the model was never compared.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    written = []
    ordered = sorted(regions(model.name), key=lambda region: region.family.discipline)
    with house_style():
        for discipline, group in groupby(ordered, key=lambda region: region.family.discipline):
            figure = _figure(model, discipline, list(group))
            written += save(figure, folder, f"{model.name}-map-{discipline}")
    return written


def _figure(model: Model, discipline: str, maps: Sequence[ErrorRegion]) -> Figure:
    figure = Figure(figsize=(7.16, 0.75 + 1.75 * len(maps)))
    panels = figure.subplots(len(maps), len(RTTS_MS), sharex=True, sharey=True, squeeze=False)
    for row, region in zip(panels, maps, strict=True):
        for axes, rtt, points in zip(row, RTTS_MS, region.points, strict=True):
            image = _panel(axes, points)
            bdp = region.family.rate * rtt / 1e3
            axes.set_title(f"{rtt:g} ms, BDP {bdp:g}", fontsize=7.5, fontweight="normal")
        law, _, rate, pacing = region.family
        paced = "" if pacing == UNPACED else " paced"
        row[0].set_ylabel(f"{law}{paced}, {rate} Mbit/s\nbuffer / BDP")
    for axes in panels[-1]:
        axes.set_xlabel("flows")
    figure.colorbar(image, ax=panels, ticks=BOUNDS[1:-1], aspect=12 * len(maps), pad=0.01, label=_LABEL)
    title(figure, f"{model.title}: where it holds, {discipline}")
    footer(figure, f"model {model.name}")
    return figure


_LABEL = "model - simulation [points]"


def _panel(axes: Axes, points: np.ndarray) -> AxesImage:
    """Draw one map: flows on the horizontal axis, buffers on the vertical one, the error in each cell."""
    shown = np.clip(points.T, -99, 99)
    image = axes.imshow(
        np.ma.masked_invalid(shown),
        cmap=ListedColormap(list(SHADES)),
        norm=BoundaryNorm(BOUNDS, len(SHADES)),
        origin="lower",
        aspect="auto",
    )
    for (y, x), value in np.ndenumerate(points.T):
        if np.isfinite(value):
            colour = "white" if abs(value) >= DARK else BLACK
            shown_as = f"{value:+.0f}" if round(value) else "0"
            # Inside of the panel anyway: the layout need not measure hundreds of them.
            axes.text(x, y, shown_as, ha="center", va="center", fontsize=5.5, color=colour, in_layout=False)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.set_xticks(range(len(FLOWS)), [f"{flows}" for flows in FLOWS])
    axes.set_yticks(range(len(SHARES)), [f"{share:g}" for share in SHARES])
    return image
