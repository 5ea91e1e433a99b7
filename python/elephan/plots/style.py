"""House style of all figures, and saving them; `elephan.pictures.palette` has the colours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from textwrap import wrap

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from elephan import _native
from elephan.assignments import changed_title
from elephan.pictures.palette import GREY
from elephan.runs.files import atomic
from elephan.runs.saved import ReplicatedRun
from elephan.scenario import Scenario

STYLE = Path(__file__).with_name("elephan.mplstyle")

MOST_LINKS = 4
"""Maximum number of links in one panel."""

LEGEND = 100
"""Maximum number of characters of a legend's row above a panel."""

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

TITLE = 85
"""Maximum number of characters in a line of a title; more do not fit the width of a picture."""

PLAIN, FEW = (0.1, 20_000), 150
"""Range of numbers that are written out on a logarithmic axis, and maximum ratio of its ends."""


@contextmanager
def house_style() -> Iterator[None]:
    """Use the house style inside this block, whatever the user's own settings are.

    Examples
    --------
    >>> with house_style():
    ...     mpl.rcParams["font.size"]
    8.0
    """
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(mpl.rc_params_from_file(STYLE, use_default_template=False))
        yield


NOTEBOOK_DPI = 110
"""Resolution of figures in a notebook [dpi]: sharp on a screen, and small in the notebook's file."""


COLOURS_KEPT = 256
"""Maximum number of colours of a figure in a notebook, including the edges of lines."""


class NotebookFigure(Figure):
    """A Matplotlib figure that a notebook displays with any backend."""

    def _repr_png_(self) -> bytes:
        from PIL import Image  # noqa: PLC0415 (Matplotlib has it; only notebooks need it)

        drawn, written = BytesIO(), BytesIO()
        with house_style():
            self.savefig(drawn, format="png", dpi=NOTEBOOK_DPI)
        with Image.open(drawn) as image:
            # A drawing has few colours: a palette of them takes a third of the bytes.
            image.convert("RGB").quantize(COLOURS_KEPT, Image.Quantize.MAXCOVERAGE).save(
                written, format="png", optimize=True
            )
        return written.getvalue()


def sign(figure: Figure, scenario: Scenario, more: str = "") -> None:
    """Write the data that trace a figure back to its run into its footer.

    Parameters
    ----------
    figure : Figure
    scenario : Scenario
    more : str
        Said as well, such as the number of runs.
    """
    footer(figure, f"scenario {scenario.id[:12]}   seed {scenario.seed}   {more}")


def footer(figure: Figure, text: str) -> None:
    """Write the version of elephan, and a text, below a figure."""
    whole = f"elephan {_native.version()}   {text}".rstrip()
    figure.supxlabel(whole, fontsize=6.5, color=GREY, x=0.995, ha="right")


def title(figure: Figure, text: str) -> None:
    """Write a title above a figure."""
    figure.suptitle(text, fontsize=9, fontweight="bold", x=0.005, ha="left")


def legend(axes: Axes) -> None:
    """Draw the legend above the panel, where nothing else is drawn.

    Parameters
    ----------
    axes : Axes
    """
    legend_of(axes, *axes.get_legend_handles_labels())


def legend_of(axes: Axes, handles: Sequence[Artist], labels: Sequence[str]) -> None:
    """Draw a legend with given entries above the panel; none without labels.

    Parameters
    ----------
    axes : Axes
    handles : sequence of Artist
    labels : sequence of str
    """
    if labels:
        # A legend key is as wide as about eight characters.
        columns = min(4, len(labels), max(1, LEGEND // (8 + max(map(len, labels)))))
        axes.legend(handles, labels, loc="lower right", bbox_to_anchor=(1.0, 0.98), borderaxespad=0.0, ncols=columns)


def written_out(axis: Axis) -> None:
    """Write out the numbers of a logarithmic axis with few decades (200, not 2 x 10^2); otherwise powers of ten.

    Parameters
    ----------
    axis : Axis
    """
    low, high = axis.get_view_interval()
    if low >= PLAIN[0] and high <= PLAIN[1] and high < FEW * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
        return
    # Without mathtext: in the house style a $ starts no formula.
    axis.set_major_formatter(lambda value, _: power_of_ten(value))
    axis.set_minor_formatter(NullFormatter() if high >= 10 * low else "{x:g}")


def power_of_ten(value: float) -> str:
    """Format a power of ten for a logarithmic axis.

    Examples
    --------
    >>> power_of_ten(1e6), power_of_ten(0.01), power_of_ten(200.0)
    ('10⁶', '10⁻²', '200')
    """
    if value <= 0 or (exponent := round(math.log10(value))) != math.log10(value):
        return f"{value:g}"
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def busiest(result: ReplicatedRun) -> list[int]:
    """Return the links to show in a panel: all, or those with the highest utilization, in the order of the file.

    Parameters
    ----------
    result : RunResult or another that has a scenario and outcomes

    Returns
    -------
    list of int
        At most `MOST_LINKS`.
    """
    used = sum(np.asarray(outcome.links["utilization"], dtype=float) for outcome in result.outcomes)
    return sorted(np.argsort(-np.asarray(used), kind="stable")[:MOST_LINKS].tolist())


def retitle(figure: Figure, changes: Mapping[str, object]) -> None:
    """Write the changes of a scenario beside the title above its figure, see `elephan.assignments.changed_title`.

    Parameters
    ----------
    figure : Figure
        Its first line is the title.
    changes : mapping of str to value
        As `elephan.assignments.parse_assignments` returns them. A title among them is the scenario's already.
    """
    if not changes or "title" in changes:
        return
    head, *rest = figure.get_suptitle().split("\n")
    lines = [*wrap(changed_title(head, changes, most=len(changes)), TITLE), *rest]
    title(figure, "\n".join(lines))


def save(
    figure: Figure,
    folder: Path,
    name: str,
    endings: tuple[str, ...] = (".png", ".svg"),
    changes: Mapping[str, object] | None = None,
) -> list[Path]:
    """Write a figure as PNG and SVG, or with other `endings`, each file atomically.

    Parameters
    ----------
    figure : Figure
    folder : Path
    name : str
        Without ending.
    endings : tuple of str
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
    retitle(figure, changes or {})
    paths = [folder / f"{name}{ending}" for ending in endings]
    with house_style():
        for path in paths:
            with atomic(path) as temporary:
                # Without a date, and with names that are no draws (in the style), the same figure gives the same bytes.
                metadata = {"Date": None} if path.suffix == ".svg" else {}
                figure.savefig(temporary, metadata=metadata)
    return paths
