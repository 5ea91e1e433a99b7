"""The picture of a law: its window round trip by round trip, beside Reno's, under the same losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from elephan import _native
from elephan.pictures.palette import BLUE, GREY
from elephan.plots.style import house_style, save

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

ROUNDS = 100
LOSSES = (10, 40, 60)
TIMEOUT = 80
BASE_RTT_S = 0.1
BDP = 1000.0
STORY = (
    f"One flow, {BASE_RTT_S * 1e3:g} ms, BDP {BDP:g} segments, unlimited buffer: slow start "
    f"from 2 segments, a loss in rounds {', '.join(map(str, LOSSES[:-1]))} and {LOSSES[-1]}, a timeout in {TIMEOUT}."
)
"""Description of every picture of a law, as one sentence."""
START_ROUNDS = 16
START_STORY = f"One flow, {BASE_RTT_S * 1e3:g} ms, BDP {BDP:g} segments, from 2 segments, without a loss."
"""Description of every picture of a slow start."""


def rounds(control: str, *, slow_start: bool = False) -> NDArray[np.float64]:
    """Drive a control through the losses of the pictures, round trip by round trip.

    Parameters
    ----------
    control : str
        Value of ``control`` in a scenario file: ``'"reno"'`` or ``'{ law = "highspeed", low_window = 31 }'``.
    slow_start : bool
        Whether to use the scenario of slow starts instead of that of laws.

    Returns
    -------
    ndarray, shape (rounds, 4)
        Start [s], cwnd [segments], ssthresh [segments], round-trip time [s].

    Raises
    ------
    ScenarioError
        If there is no such control.

    Examples
    --------
    >>> rounds('"reno"')[:4, 1].tolist()
    [2.0, 4.0, 8.0, 16.0]
    """
    losses, timeouts = ([], []) if slow_start else (list(LOSSES), [TIMEOUT])
    count = START_ROUNDS if slow_start else ROUNDS
    return _native.law_rounds(control, base_rtt_s=BASE_RTT_S, bdp=BDP, losses=losses, timeouts=timeouts, count=count)


def draw_rounds(control: str, name: str, folder: Path, *, slow_start: bool = False) -> Path:
    """Draw ``NAME.svg``.

    Parameters
    ----------
    control : str
        As in `rounds`.
    name : str
        Name of the line and of the file.
    folder : Path
        Must exist.
    slow_start : bool
        Whether to use the scenario of slow starts instead of that of laws.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    with house_style():
        figure = Figure(figsize=(5.2, 2.2))
        axes = figure.subplots()
        plain = rounds('"reno"', slow_start=slow_start)
        table = rounds(control, slow_start=slow_start)
        axes.plot(plain[:, 1], color=GREY, linewidth=0.8, label="classic" if slow_start else "reno")
        axes.plot(table[:, 1], color=BLUE, linewidth=1.4, label=name)
        axes.axhline(BDP, color=GREY, linewidth=0.5, linestyle=":")
        last = len(table) - 1
        axes.annotate("path full", (0.3 * last, BDP), va="bottom", fontsize=6.5, color=GREY)
        if slow_start:
            axes.set_yscale("log", base=2)
            axes.yaxis.set_major_formatter("{x:g}")
        else:
            axes.set_ylim(0, None)
            for loss in (*LOSSES, TIMEOUT):
                axes.axvline(loss, color=GREY, linewidth=0.4, zorder=0)
        axes.set(xlabel="round trip", ylabel="cwnd [segments]", xlim=(0, last))
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, ncols=2)
        return save(figure, folder, name, endings=(".svg",))[0]
