"""What the pictures of a run over time show, as plain data: drawn by pages and by figures alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.metrics import utilization_series
from elephan.pictures.figure import Axis, Figure, Mark, Series, colour
from elephan.pictures.lines import MOST_POINTS, average_after, of_flows, points_each, spans
from elephan.pictures.thin import thin
from elephan.pictures.words import count, number
from elephan.units import format_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan.run.sampled import SampledRun
    from elephan.scenario import Scenario

Document = dict[str, Any]

MOST_LINKS = 4
"""More links than these in one picture cannot be told apart."""

FINE = 400
"""With more bins of utilization than these, stretches of several round-trip times are shown."""


def over_time(document: Document, scenario: Scenario, seen: SampledRun) -> tuple[Figure, ...]:
    """Make the pictures over time.

    Returns
    -------
    tuple of Figure
        Those for which there is something to show.
    """
    run = document["run"]
    time = Axis("time", "s", low=0.0, high=run["duration_s"])
    whose = f"over {format_time(run['duration_s'])}, replication 1."
    marks = (Mark(None, "warm-up", "x", "shade", 0.0, run["warmup_s"]),) if run["warmup_s"] else ()
    found = []
    for name, title, axis, values in (
        ("cwnd", "Congestion windows", Axis("cwnd", "segments"), seen.cwnd_segments),
        ("srtt", "Smoothed round-trip times", Axis("srtt", "ms"), 1e3 * seen.srtt_s),
    ):
        series = _per_flow(document, seen, values)
        if series:
            alt = f"{title} {whose} {spans(series, axis.unit, run['warmup_s'])}"
            found.append(Figure(name, title, alt, time, axis, series, marks, link="time"))
    if seen.links:
        shown = busiest(document, seen)
        backlog = _backlog(seen, shown, run["warmup_s"])
        alt = f"Backlog {whose} {spans(backlog, 'packets', run['warmup_s'])}"
        axis = Axis("backlog", "packets", low=0.0)
        limits = _buffers(document, scenario, seen, shown)
        figure = Figure("backlog", "Backlog", alt, time, axis, backlog, (*marks, *limits), link="time")
        found.insert(1 if found else 0, figure)
        used = _utilization(scenario, seen, shown, run["warmup_s"])
        if used:
            alt = f"Utilization of each stretch of time {whose} {spans(used, '%', run['warmup_s'])}"
            axis = Axis("utilization", "%", low=0.0, high=105.0)
            found.append(Figure("utilization", "Utilization", alt, time, axis, used, marks, link="time", height=220))
    return tuple(found)


def _per_flow(document: Document, seen: SampledRun, values: NDArray[np.float64]) -> tuple[Series, ...]:
    """One line per flow, coloured by group; in large groups the mean and the range."""
    if not values.size or not np.isfinite(values).any():
        return ()
    laws = {group["name"]: group["law"] or "datagrams" for group in document["groups"]}
    parts = {name: values[seen.flows == name] for name in laws}
    known = {name: rows for name, rows in parts.items() if np.isfinite(rows).any()}
    most = points_each(list(known.values()))
    found: list[Series] = []
    for k, (name, rows) in enumerate(known.items()):
        label = f"{name}: {count(int(np.isfinite(rows).any(axis=1).sum()), f'{laws[name]} flow')}"
        found += of_flows(label, name, seen.time_s, rows, colour(k), most, document["run"]["warmup_s"])
    return tuple(found)


def busiest(document: Document, seen: SampledRun) -> list[str]:
    """Links that one picture can show: those with the highest utilization, in the file's order."""
    used = {
        link["name"]: link["utilization"]["mean"] or 0.0 for link in document["links"] if link["name"] in seen.links
    }
    chosen = sorted(used, key=lambda name: -used[name])[:MOST_LINKS]
    return [name for name in used if name in chosen]


def _backlog(seen: SampledRun, shown: list[str], warmup_s: float) -> tuple[Series, ...]:
    most, found = MOST_POINTS // max(1, len(shown)), []
    for k, name in enumerate(shown):
        packets = seen.backlog_packets[seen.links.index(name)]
        average = average_after(seen.time_s, packets, warmup_s)
        found.append(Series(name, *thin(seen.time_s, packets, most), colour=colour(k), average=average))
    return tuple(found)


def _buffers(document: Document, scenario: Scenario, seen: SampledRun, shown: list[str]) -> tuple[Mark, ...]:
    """The buffers of the links shown, where they do not flatten what waits; the links of an array wait together."""
    largest = max((float(seen.backlog_packets[seen.links.index(name)].max(initial=0)) for name in shown), default=0.0)
    counts = {facts["name"]: facts["count"] for facts in scenario.links}
    found = []
    for link in document["links"]:
        limit = link["buffer_packets"]
        if link["name"] in shown and limit is not None and limit * counts[link["name"]] <= 4 * largest:
            phrases = f"buffer of {link['name']}" if len(shown) > 1 else f"buffer, {number(limit)} packets"
            # Of several, in the colour of the link's own line.
            hue = colour(shown.index(link["name"])) if len(shown) > 1 else ""
            found.append(Mark(limit * counts[link["name"]], phrases, "y", "wanted", colour=hue))
    return tuple(found)


def _utilization(scenario: Scenario, seen: SampledRun, shown: list[str], warmup_s: float) -> tuple[Series, ...]:
    """Per round-trip time of each link, in per cent; of long runs over several."""
    facts = {fact["name"]: fact for fact in scenario.links}
    found = []
    for k, name in enumerate(shown):
        fact = facts[name]
        bin_s = max(fact["mean_rtt_s"] or 0.0, float(seen.time_s[-1]) / FINE)
        begun = seen.begun_bytes[seen.links.index(name)]
        x, y = utilization_series(seen.time_s, begun, fact["rate_bps"] * fact["count"], bin_s=bin_s)
        if x.size:
            average = average_after(x, 100 * y, warmup_s)
            found.append(Series(name, x, 100 * y, colour=colour(k), kind="step", average=average))
    return tuple(found)
