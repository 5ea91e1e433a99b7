"""The pictures of a queue discipline: its backlog beside drop-tail's under the same traffic, its drop probability."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from elephan import _native
from elephan.catalog import catalog
from elephan.metrics import jain
from elephan.pictures.palette import BLUE, GREEN, GREY, VERMILION
from elephan.plots.style import house_style, save
from elephan.runs import run
from elephan.runs.outcome import CAUSES
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from elephan.runs.outcome import ReplicationOutcome

RATE_BPS = 10_000_000
PACKET_BYTES = 1000
BUFFER_PACKETS = 125
DURATION_S = 30.0
BURST_S = (15.0, 18.0)
BURST_BPS = 6_000_000
LONG_FLOWS = 4
TEXT = f"""
title    = "One link, every queue discipline"
duration = "{DURATION_S:g} s"
warmup   = "0 s"
seed     = 1

[[links]]
name   = "link"
rate   = "{RATE_BPS // 1_000_000} Mbit/s"
delay  = "5 ms"
buffer = "{BUFFER_PACKETS} packets"

[[flows]]
name   = "marked"
count  = 2
path   = ["link"]
rtt    = ["40 ms", "120 ms"]
packet = "{PACKET_BYTES} B"
start  = {{ from = "0 s", to = "1 s" }}
tcp    = {{ ecn = true }}

[[flows]]
name   = "dropped"
count  = 2
path   = ["link"]
rtt    = ["80 ms", "160 ms"]
packet = "{PACKET_BYTES} B"
start  = {{ from = "0 s", to = "1 s" }}

[[flows]]
name    = "burst"
rtt     = "10 ms"
path    = ["link"]
packet  = "{PACKET_BYTES} B"
start   = "{BURST_S[0]:g} s"
stop    = "{BURST_S[1]:g} s"
traffic = {{ kind = "cbr", rate = "{BURST_BPS // 1_000_000} Mbit/s" }}

[record]
every = "20 ms"
"""
"""Scenario of every picture, except for the discipline."""
LINK = (
    f"a link of {RATE_BPS // 1_000_000} Mbit/s with room for {BUFFER_PACKETS} packets of {PACKET_BYTES} B, which is "
    "what it holds in 100 ms"
)
"""The link of every picture, in words."""
STORY = (
    "four Reno flows with SACK and round-trip times of 40, 80, 120 and 160 ms, the first and the third ECN-capable, "
    f"start within the first second; from {BURST_S[0]:g} to {BURST_S[1]:g} s (shaded) a stream of "
    f"{BURST_BPS // 1_000_000} Mbit/s without congestion control comes in between."
)
"""The traffic of every picture, in words."""
AVERAGES = (0, 5, 7, 9, 11, 13, 15, 20, 25, 30, 35)
"""Average backlogs [packets] whose probabilities are listed below a curve."""
GAUGES = {
    "max_p": "max_p",
    "price": "price",
    "avg": "avg\n[packets]",
    "prob": "prob",
    "count": "count",
    "dropping": "dropping\n[queues]",
    "active_flows": "active\nflows",
    "active_buckets": "active\nbuckets",
    "phi": "phi [bytes]",
}
"""Variables of disciplines for a second panel, the most informative first, with their labels."""
DROP_TAIL = "drop-tail"
AS_LINUX: tuple[dict[str, object], ...] = ({}, {"gentle": False, "count": "classic"}, {"decide": "random"})
"""Settings in which Linux may have a discipline, the default first."""


@dataclass(frozen=True)
class BacklogNumbers:
    """Numbers listed below the picture of a backlog.

    Parameters
    ----------
    queueing_delay_s : float [s]
        Mean queueing delay, as in `elephan run`.
    utilization : float [1]
    jain : float [1]
        Jain's index over the goodputs of the long flows.
    drops, marks : dict of str to int
        Packets by cause.
    stream_drops : int
        Drops of the stream without congestion control.
    """

    queueing_delay_s: float
    utilization: float
    jain: float
    drops: dict[str, int]
    marks: dict[str, int]
    stream_drops: int


def scenario(discipline: str, parameters: Mapping[str, object] | None = None) -> Scenario:
    """Return the scenario of every picture with this discipline at the link.

    Parameters
    ----------
    parameters : mapping, optional
        Parameters that differ from their defaults.

    Raises
    ------
    ScenarioError
        If there is no such discipline or parameter.

    Examples
    --------
    >>> scenario("drop-tail").links[0]["tc"]
    'tc qdisc replace dev eth0 root pfifo limit 125'
    """
    changes: dict[str, object] = {"links[0].queue": {"discipline": discipline, **(parameters or {})}}
    if (law := own_law(discipline)) is not None:
        changes |= {f"flows[{i}].control": law for i in (0, 1)}
    return Scenario.from_text(TEXT).replace(changes)


def own_law(discipline: str) -> str | None:
    """Return the law of the long flows instead of Reno, for a discipline that needs its own sender.

    Examples
    --------
    >>> own_law("xcp"), own_law("red")
    ('xcp', None)
    """
    return next((card["name"] for card in catalog("laws") if card["name"] == discipline), None)


@cache
def watch(discipline: str) -> ReplicationOutcome:
    """Run the scenario of every picture once.

    Returns
    -------
    ReplicationOutcome
        The outcome, with its series.
    """
    return run(scenario(discipline), series=True).outcomes[0]


def numbers(discipline: str) -> BacklogNumbers:
    """Summarize the run shown in the picture of this discipline.

    Examples
    --------
    >>> numbers("drop-tail").marks["early"]
    0
    """
    outcome = watch(discipline)
    link = {name: column[0] for name, column in outcome.links.items()}
    return BacklogNumbers(
        float(link["queueing_delay_s"]),
        float(link["utilization"]),
        jain(outcome.flows["goodput_bps"][:LONG_FLOWS]),
        {cause: int(link[f"drops_{cause}"]) for cause in CAUSES},
        {cause: int(link[f"marks_{cause}"]) for cause in CAUSES},
        int(outcome.flows["dropped"][LONG_FLOWS:].sum()),
    )


def linux(discipline: str) -> tuple[dict[str, object], str] | None:
    """Find the first setting of `AS_LINUX` in which Linux has this discipline.

    Returns
    -------
    tuple of dict and str, or None
        The parameters that differ from the defaults and the ``tc`` line; None if there is no such setting.

    Examples
    --------
    >>> linux("red")[0]
    {'gentle': False, 'count': 'classic'}
    """
    known = set(_defaults(discipline))
    for setting in AS_LINUX:
        if set(setting) <= known and (line := scenario(discipline, setting).links[0]["tc"]):
            return setting, str(line)
    return None


def curves(discipline: str, averages: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the drop probability against the average backlog, on the link of every picture.

    Parameters
    ----------
    averages : ndarray [packets]

    Returns
    -------
    dict of str to ndarray, shape of `averages`
        One by default. A discipline that adapts ``max_p`` has one for each end of its range too, and one with a gentle
        mode has one without it. Empty for disciplines without such a curve.

    Examples
    --------
    >>> curves("red", np.array([5.0, 15.0]))["gentle = true"].tolist()
    [0.0, 0.1]
    >>> curves("drop-tail", np.array([5.0]))
    {}
    """
    defaults = _defaults(discipline)
    if "top" in defaults and "max_p" in defaults:
        settings = [{"max_p": defaults[key]} for key in ("bottom", "max_p", "top") if key in defaults]
    elif "gentle" in defaults:
        settings = [{"gentle": True}, {"gentle": False}]
    else:
        settings = [{}]
    found = {}
    for setting in settings:
        words = ", ".join(f"{key} = {json.dumps(value)}" for key, value in setting.items())
        values = _native.queue_curve(
            f'{{ discipline = "{discipline}"{words and ", "}{words} }}',
            averages,
            rate_bps=RATE_BPS,
            packet_bytes=PACKET_BYTES,
            buffer_packets=BUFFER_PACKETS,
        )
        if np.isfinite(values).all():
            found[words or discipline] = values
    return found


def draw_curve(discipline: str, folder: Path) -> Path | None:
    """Draw the drop probability as ``NAME.svg``.

    Parameters
    ----------
    folder : Path
        Must exist.

    Returns
    -------
    Path or None
        None for a discipline without a curve.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    last = max(AVERAGES)
    averages = np.linspace(0.0, last, 10 * last + 1)
    found = curves(discipline, averages)
    if not found:
        return None
    with house_style():
        figure = Figure(figsize=(5.2, 2.0))
        axes = figure.subplots()
        styles = ((BLUE, "-"), (VERMILION, (0, (5, 2))), (GREEN, (0, (1, 1.2))))
        for (label, values), (colour, dashes) in zip(found.items(), styles, strict=False):
            axes.plot(averages, values, color=colour, linestyle=dashes, linewidth=1.4, label=label)
        axes.set(xlabel="average backlog [packets]", ylabel="probability", xlim=(0, last), ylim=(-0.02, 1.02))
        _legend(axes)
        return save(figure, folder, discipline, endings=(".svg",))[0]


def draw_backlog(discipline: str, folder: Path) -> Path:
    """Draw the backlog over time as ``NAME.svg``, drop-tail's in grey, and a variable of the discipline.

    Parameters
    ----------
    folder : Path
        Must exist.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    outcome = watch(discipline)
    time_s = outcome.samples["time_s"]
    gauge = _main_gauge(outcome.queue_gauges[0])
    with house_style():
        figure, backlog, below = _panels(with_gauge=gauge is not None)
        if discipline != DROP_TAIL:
            plain = watch(DROP_TAIL)
            backlog.plot(
                time_s, plain.samples["backlog_packets"][0], color=GREY, alpha=0.6, linewidth=0.6, label=DROP_TAIL
            )
        colour = GREY if discipline == DROP_TAIL else BLUE
        backlog.plot(time_s, outcome.samples["backlog_packets"][0], color=colour, linewidth=0.9, label=discipline)
        backlog.axhline(BUFFER_PACKETS, color=GREY, linewidth=0.5, linestyle=":")
        backlog.set(ylabel="backlog [packets]", xlim=(0, DURATION_S), ylim=(0, 1.08 * BUFFER_PACKETS))
        _legend(backlog)
        if below is not None and gauge is not None:
            values = outcome.queue_gauges[0][gauge]
            below.plot(time_s, values, color=VERMILION, linewidth=0.9)
            if values.min() >= 0.0:
                below.set_ylim(bottom=0.0)
            below.set_ylabel(GAUGES.get(gauge, gauge))
            whole = bool((values == np.round(values)).all())
            below.yaxis.set_major_locator(MaxNLocator(3, integer=whole))
        for panel in figure.axes:
            panel.axvspan(*BURST_S, color=GREY, alpha=0.10, linewidth=0, zorder=0)
        figure.align_ylabels()
        figure.axes[-1].set_xlabel("time [s]")
        return save(figure, folder, discipline, endings=(".svg",))[0]


def _panels(*, with_gauge: bool) -> tuple[Figure, Axes, Axes | None]:
    """Make a panel at the same place and of the same size in every picture, and one for a variable below it."""
    width, left, bottom, top = 5.2, 0.72, 0.4, 0.27
    backlog_height, gauge_height = 1.45, 0.6 if with_gauge else 0.0
    lift = bottom + gauge_height + (0.14 if with_gauge else 0.0)
    height = lift + backlog_height + top
    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("none")
    share = (width - left - 0.1) / width
    backlog = figure.add_axes((left / width, lift / height, share, backlog_height / height))
    if not with_gauge:
        return figure, backlog, None
    below = figure.add_axes((left / width, bottom / height, share, gauge_height / height), sharex=backlog)
    backlog.tick_params(labelbottom=False)
    return figure, backlog, below


def _main_gauge(gauges: Mapping[str, NDArray[np.float64]]) -> str | None:
    """Return the first of `GAUGES` that varies, otherwise any variable that does."""
    moving = [name for name, values in gauges.items() if np.nanmin(values) < np.nanmax(values)]
    return next((name for name in (*GAUGES, *moving) if name in moving), None)


def _defaults(discipline: str) -> dict[str, Any]:
    card = next(card for card in catalog("queues") if card["name"] == discipline)
    return {row["name"]: row["default"] for row in card["parameters"]}


def _legend(axes: Axes) -> None:
    """Label the lines above the panel, where nothing is drawn."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, ncols=3)
