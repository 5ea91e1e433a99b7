"""Several runs in the same panels: windows, backlog, rates and round-trip times over time, a colour for each run."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from elephan.errors import InputError
from elephan.plots.pictures import WIDTH, sheet
from elephan.results.axes import run_names
from elephan.runs.saved import ReplicatedRun
from elephan.runs.side_by_side import chosen, laid_over, named_runs
from elephan.sweeps.result import SweepResult
from elephan.units import count

NAME = "over-time"
PANEL = 1.5
"""Height of a panel [in]."""


def runs_figure(runs: Mapping[str, ReplicatedRun], title: str = "") -> Figure:
    """Draw several runs in the same panels.

    Parameters
    ----------
    runs : mapping of str to RunResult, StoredRun, SavedRun or TestbedResult
        Runs by their names in the legend; two to seven, with samples (``series=True``).
    title : str
        The scenario's of the first by default.

    Returns
    -------
    Figure
        Windows and round-trip times of each group, backlog and rate of each link; the first groups and busiest links.

    Raises
    ------
    InputError
        If there are too few or too many, or none has samples.

    Examples
    --------
    >>> import elephan
    >>> small = elephan.Scenario.from_text(elephan.EXAMPLE)
    >>> buffers = {f"{n} packets": small.replace({"links[0].buffer": f"{n} packets"}) for n in (5, 25)}
    >>> runs = {name: elephan.run(scenario, series=True) for name, scenario in buffers.items()}
    >>> [axes.get_ylabel() for axes in runs_figure(runs).axes]
    ['cwnd [segments]', 'backlog [packets]', 'rate [Mbit/s]', 'srtt [ms]']
    """
    named = named_runs(runs)
    figures = laid_over(named)
    if not figures:
        raise InputError("runs over each other: none has samples; run them with series=True")
    first, more = named[0].scenario, f"replication 1 of each of {len(named)} runs; scenario and seed of the first"
    return sheet(figures, title or first.title, (WIDTH, 0.8 + PANEL * len(figures)), first, more)


def sweep_over_time(swept: SweepResult) -> Figure | None:
    """Draw points of a sweep in the same panels.

    Parameters
    ----------
    swept : SweepResult

    Returns
    -------
    Figure or None
        At most seven points, including the first and the last; None if fewer than two have samples.
    """
    kept = [point for point in swept.points if point.has_samples]
    if len(kept) < 2:
        return None
    shown = [kept[i] for i in chosen(len(kept))]
    names = run_names([point.labels for point in shown])
    some = f" ({len(shown)} of {count(len(kept), 'point')})" if len(shown) < len(kept) else ""
    runs = {name: point.stored for name, point in zip(names, shown, strict=True)}
    return runs_figure(runs, f"{swept.sweep.title}{some}")
