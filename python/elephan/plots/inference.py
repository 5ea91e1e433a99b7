"""Measured and simulated round-trip times and windows over each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from elephan.errors import InputError
from elephan.pictures.palette import COLOURS, GREY
from elephan.plots.style import NotebookFigure, house_style, legend, save

if TYPE_CHECKING:
    from elephan.inference import Answer

ENDINGS = (".svg", ".png", ".pdf")


def draw_inference(answer: Answer, file: Path) -> None:
    """Write the picture of an answer with simulations.

    Raises
    ------
    InputError
        If the file's ending is not one of a picture.
    """
    if file.suffix.lower() not in ENDINGS:
        raise InputError(f"--plot {file}: must end in {', '.join(ENDINGS)}")
    save(inference_figure(answer), file.parent, file.stem, (file.suffix.lower(),))


@house_style()
def inference_figure(answer: Answer) -> Figure:
    """Draw the measurement and its nearest simulated path.

    Parameters
    ----------
    answer : Answer
        With simulations.
    """
    figure = NotebookFigure(figsize=(6.5, 4.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    measured = answer.observation.samples
    twin = None if answer.nearby is None else answer.nearby.best
    sources = [(measured, "measured", GREY, 2.2)]
    if twin is not None:
        sources.append((twin.samples, f"simulated ({twin.path.discipline})", COLOURS[0], 1.2))
    for samples, label, colour, width in sources:
        time_s = np.arange(1, samples.rtt_s.size + 1) * samples.interval_s
        above.plot(time_s, samples.rtt_s * 1e3, color=colour, lw=width, label=label)
        below.plot(time_s, samples.cwnd_segments, color=colour, lw=width)
    above.set_ylabel("srtt [ms]")
    below.set_ylabel("cwnd [segments]")
    below.set_xlabel("time [s]")
    above.set_ylim(bottom=0)
    below.set_ylim(bottom=0)
    legend(above)
    return figure
