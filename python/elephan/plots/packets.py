"""Packets recorded at a link: backlog on arrival, phase in the round trip, and drops.

Source: J. Auge, J. Roberts, Buffer Sizing for Elastic Traffic, NGI 2006, Figure 4, for showing packets one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from elephan.metrics.values import buffer_packets
from elephan.pictures.palette import BLACK, COLOURS, GREY
from elephan.plots.style import NotebookFigure, legend, sign, title
from elephan.runs.files import file_names, link_name
from elephan.runs.saved import ReplicatedRun

FOLDED = 3
"""Maximum number of TCP flows on a link for which phases in the round trip are drawn; more flows get a row each."""


def packets_figures(result: ReplicatedRun) -> dict[str, Figure]:
    """Draw each link with recorded packets, from the first replication, in the current style.

    Returns
    -------
    dict of str to Figure
        Figures by name, ``packets-LINK``; empty if no packets were recorded.
    """
    traces = [trace for trace in result.outcomes[0].packets if trace["time_s"].size]
    names = file_names([link_name(result.scenario.links, trace) for trace in traces])
    return {f"packets-{name}": _figure(result, trace) for name, trace in zip(names, traces, strict=True)}


def _figure(result: ReplicatedRun, trace: dict[str, Any]) -> Figure:
    flows, groups = result.outcomes[0].flows, result.scenario.groups
    link = result.scenario.links[trace["link"]]
    group = flows["group"][trace["flow"]]
    tcp = np.array([g["law"] is not None for g in groups])
    responsive = np.unique(trace["flow"][tcp[group]])
    figure = NotebookFigure(figsize=(7.16, 4.6))
    found, place = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1])
    folded = 0 < responsive.size <= FOLDED
    rows = _place(trace, flows, folded=folded)
    # Flows that do not respond are the background, in grey, and behind the others.
    seen = np.unique(group)
    colours = dict(zip(seen[tcp[seen]].tolist(), COLOURS, strict=False))
    for g in sorted(seen.tolist(), key=lambda g: bool(tcp[g])):
        mine, colour = (group == g) & ~trace["dropped"], colours.get(g, GREY)
        size = float(np.clip(2e4 / trace["time_s"].size, 0.4, 6.0))  # area [pt^2]; smaller for many points
        style = {"s": size, "color": colour, "lw": 0, "rasterized": True, "alpha": 0.9 if tcp[g] else 0.35}
        found.scatter(trace["time_s"][mine], trace["backlog_packets"][mine], **style)
        label = f"{groups[g]['name']}: {groups[g]['flows']} {groups[g]['law'] or groups[g]['traffic']}"
        found.scatter([], [], s=12, color=colour, lw=0, label=label)
        if tcp[g] or not folded:
            place.scatter(trace["time_s"][mine], rows[mine], **style)
    _drops(found, trace, trace["backlog_packets"], trace["dropped"])
    _drops(place, trace, rows, trace["dropped"] & (tcp[group] | (not folded)))
    found.scatter([], [], s=14, marker="x", color=BLACK, lw=0.8, label=f"dropped: {int(trace['dropped'].sum())}")
    found.set_ylabel("found waiting [packets]")
    found.set_ylim(bottom=-0.02 * max(1.0, float(trace["backlog_packets"].max())))
    limit = buffer_packets(link)
    if limit is not None:
        found.axhline(limit, color=GREY, lw=0.8, ls=(0, (5, 3)), zorder=0)
    place.set_ylabel("place in the round trip [ms]" if folded else "a row for each flow")
    if not folded:
        place.set_yticks([])
    place.set_xlabel(f"arrival at {link_name(result.scenario.links, trace)} [s]")
    place.set_xlim(*_reach(trace["time_s"]))
    legend(found)
    title(figure, result.scenario.title)
    sign(figure, result.scenario, f"replication 1 of {len(result.outcomes)}")
    return figure


def _place(trace: dict[str, Any], flows: dict[str, NDArray[Any]], *, folded: bool) -> NDArray[Any]:
    """Return each packet's vertical coordinate: time modulo the base RTT of its flow [ms], or the index of its flow."""
    if not folded:
        return np.asarray(np.unique(trace["flow"], return_inverse=True)[1])
    return np.asarray(1e3 * np.mod(trace["time_s"], flows["base_rtt_s"][trace["flow"]]))


def _drops(axes: Axes, trace: dict[str, Any], y: NDArray[Any], dropped: NDArray[Any]) -> None:
    axes.scatter(trace["time_s"][dropped], y[dropped], s=14, marker="x", color=BLACK, lw=0.8, zorder=5, rasterized=True)


def _reach(time_s: NDArray[Any]) -> tuple[float, float]:
    """Return the time of the first and last packet, with a margin."""
    first, last = float(time_s.min()), float(time_s.max())
    room = 0.005 * (last - first) or 1e-3
    return first - room, last + room
