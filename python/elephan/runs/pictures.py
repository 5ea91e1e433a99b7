"""Figures of a run over time as plain data, for HTML pages and image files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elephan.metrics import utilization_series
from elephan.pictures.figure import WARMUP, Axis, Figure, Mark, Series, colour
from elephan.pictures.lines import MOST_POINTS, average_after, of_flows, points_each, spans
from elephan.pictures.thin import thin
from elephan.runs.schedules import delay_over_time, rate_over_time
from elephan.scenario import Scenario
from elephan.units import count, format_time

if TYPE_CHECKING:
    from elephan.results import LinkDocument, RunDocument
    from elephan.runs.sampled import SampledRun

MOST_LINKS = 4
"""Maximum number of links in one figure."""

FINE = 400
"""Maximum number of bins of utilization; longer runs have bins of several round-trip times."""


PICTURES: list[Callable[[RunDocument, Scenario, SampledRun], Figure | None]] = []
"""Functions that return further figures over time, for after the others; None if there is nothing to show."""

DELAYS = {
    "srtt": ("Smoothed round-trip times", Axis("srtt", "ms")),
    "rtt": ("Round trip of the last ping", Axis("round trip", "ms")),
    "one-way": ("One-way delay of the last datagram", Axis("delay", "ms")),
}
"""Title and axis of the samples of round-trip times, by their kind."""


def sampled_delay(group: Mapping[str, Any]) -> str:
    """Return the key of `DELAYS` for a group.

    Parameters
    ----------
    group : mapping
        Group of a run's document.

    Examples
    --------
    >>> sampled_delay({"name": "ping", "law": None, "rtt_s": {"mean": 0.1, "ci95": None}})
    'rtt'
    """
    return "rtt" if "rtt_s" in group else "one-way" if "delay_s" in group else "srtt"


def over_time(document: RunDocument, scenario: Scenario, seen: SampledRun) -> tuple[Figure, ...]:
    """Return the figures over time.

    Returns
    -------
    tuple of Figure
        Only figures with data.
    """
    run = document["run"]
    time = Axis("time", "s", low=0.0, high=run["duration_s"])
    whose = f"over {format_time(run['duration_s'])}, replication 1."
    marks = (Mark(None, WARMUP, "x", "shade", 0.0, run["warmup_s"]),) if run["warmup_s"] else ()
    found = []
    kinds = {group["name"]: sampled_delay(group) for group in document["groups"]}
    for name, (title, axis) in {"cwnd": ("Congestion windows", Axis("cwnd", "segments")), **DELAYS}.items():
        values = seen.cwnd_segments if name == "cwnd" else 1e3 * seen.srtt_s
        mine = np.array([name in ("cwnd", kinds.get(group)) for group in seen.flows], dtype=bool)
        series = _per_flow(document, seen, np.where(mine[:, None], values, np.nan)) if mine.any() else ()
        if series:
            alt = f"{title} {whose} {spans(series, axis.unit, run['warmup_s'])}"
            found.append(Figure(name, title, alt, time, axis, series, marks, link="time"))
    if seen.links:
        shown = busiest(document["links"], seen)
        backlog = _backlog(seen, shown, run["warmup_s"])
        alt = f"Backlog {whose} {spans(backlog, 'packets', run['warmup_s'])}"
        axis = Axis("backlog", "packets", low=0.0)
        limits = _buffers(document, scenario, seen, shown)
        figure = Figure("backlog", "Backlog", alt, time, axis, backlog, (*marks, *limits), link="time")
        found[1:1] = [figure, *_schedules(scenario, shown, whose, time, marks)]
        used = _utilization(scenario, seen, shown, run["warmup_s"])
        if used:
            alt = f"Utilization of each stretch of time {whose} {spans(used, '%', run['warmup_s'])}"
            axis = Axis("utilization", "%", low=0.0, high=105.0)
            found.append(Figure("utilization", "Utilization", alt, time, axis, used, marks, link="time", height=220))
    more = (draw(document, scenario, seen) for draw in PICTURES)
    return (*found, *(figure for figure in more if figure is not None))


def _per_flow(document: RunDocument, seen: SampledRun, values: NDArray[np.float64]) -> tuple[Series, ...]:
    """Return one line per flow, coloured by group; for large groups, the mean and the range."""
    if not values.size or not np.isfinite(values).any():
        return ()
    laws = {group["name"]: group["law"] or "datagram" for group in document["groups"]}
    parts = {name: values[seen.flows == name] for name in laws}
    known = {name: rows for name, rows in parts.items() if np.isfinite(rows).any()}
    most = points_each(list(known.values()))
    found: list[Series] = []
    for k, (name, rows) in enumerate(known.items()):
        label = f"{name}: {count(int(np.isfinite(rows).any(axis=1).sum()), f'{laws[name]} flow')}"
        found += of_flows(label, name, seen.time_s, rows, colour(k), most, document["run"]["warmup_s"])
    return tuple(found)


def busiest(links: Iterable[LinkDocument], seen: SampledRun) -> list[str]:
    """Return the links to show in one figure: those with the highest utilization, in the order of the file."""
    used = {link["name"]: link["utilization"]["mean"] or 0.0 for link in links if link["name"] in seen.links}
    chosen = sorted(used, key=lambda name: -used[name])[:MOST_LINKS]
    return [name for name in used if name in chosen]


def _backlog(seen: SampledRun, shown: list[str], warmup_s: float) -> tuple[Series, ...]:
    most, found = MOST_POINTS // max(1, len(shown)), []
    for k, name in enumerate(shown):
        packets = seen.backlog_packets[seen.links.index(name)]
        average = average_after(seen.time_s, packets, warmup_s)
        found.append(Series(name, *thin(seen.time_s, packets, most), colour=colour(k), average=average))
    return tuple(found)


def _buffers(document: RunDocument, scenario: Scenario, seen: SampledRun, shown: list[str]) -> tuple[Mark, ...]:
    """Mark the buffers of the links shown, unless that would flatten the backlog; arrays show their total."""
    largest = max((float(seen.backlog_packets[seen.links.index(name)].max(initial=0)) for name in shown), default=0.0)
    counts = {facts["name"]: facts["count"] for facts in scenario.links}
    found = []
    for link in document["links"]:
        limit = link["buffer_packets"]
        if link["name"] in shown and limit is not None and limit * counts[link["name"]] <= 4 * largest:
            phrases = f"buffer of {link['name']}" if len(shown) > 1 else f"buffer, {count(limit, 'packet')}"
            # With several links, in the colour of the link's own line.
            hue = colour(shown.index(link["name"])) if len(shown) > 1 else ""
            found.append(Mark(limit * counts[link["name"]], phrases, "y", "wanted", colour=hue))
    return tuple(found)


def _schedules(scenario: Scenario, shown: list[str], whose: str, time: Axis, marks: tuple[Mark, ...]) -> list[Figure]:
    """Return figures of the links' rates and delays if they change, with the same colours as the backlog."""
    links = {link["name"]: link for link in scenario.resolved["links"]}
    found, duration_s = [], time.high or 0.0
    for name, title, axis, of, scale in (
        ("rate", "Rates of links", Axis("rate", "Mbit/s", low=0.0), rate_over_time, 1e-6),
        ("delay", "Delays of links, one way", Axis("delay", "ms", low=0.0), delay_over_time, 1e3),
    ):
        held = {link: of(links[link], duration_s) for link in shown}
        series = tuple(
            Series(
                link,
                steps[0],
                scale * steps[1],
                colour=colour(shown.index(link)),
                kind="step",
                average=_mean(steps, scale),
            )
            for link, steps in held.items()
            if steps is not None
        )
        if series:
            alt = f"{title} {whose.replace(', replication 1', '')} {spans(series, axis.unit, 0.0)}"
            found.append(Figure(name, title, alt, time, axis, series, marks, link="time", height=220))
    return found


def _mean_from(steps: tuple[NDArray[np.float64], NDArray[np.float64]], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of a step function over each interval of ``x``; NaN if it is 0."""
    times, values = steps
    ends = np.append(x, 2 * x[-1] - x[-2] if x.size > 1 else times[-1])
    work = np.concatenate([[0.0], np.cumsum(np.diff(times) * values[:-1])])
    mean = np.diff(np.interp(ends, times, work)) / np.diff(ends)
    return np.where(mean > 0, mean, np.nan)


def _mean(steps: tuple[NDArray[np.float64], NDArray[np.float64]], scale: float) -> float:
    """Return the time average of a step function."""
    times, values = steps
    return float(scale * (np.diff(times) * values[:-1]).sum() / (times[-1] - times[0]))


def _utilization(scenario: Scenario, seen: SampledRun, shown: list[str], warmup_s: float) -> tuple[Series, ...]:
    """Utilization of each link per round-trip time, or longer bin in long runs [%], relative to its rate then."""
    facts = {fact["name"]: fact for fact in scenario.links}
    links = {link["name"]: link for link in scenario.resolved["links"]}
    found = []
    for k, name in enumerate(shown):
        fact = facts[name]
        bin_s = max(fact["mean_rtt_s"] or 0.0, float(seen.time_s[-1]) / FINE)
        begun = seen.begun_bytes[seen.links.index(name)]
        x, y = utilization_series(seen.time_s, begun, fact["rate_bps"] * fact["count"], bin_s=bin_s)
        held = None if "shaper" in links[name] else rate_over_time(links[name], float(seen.time_s[-1]))
        if x.size and held is not None:
            y = y * fact["rate_bps"] / _mean_from(held, x)
        if x.size:
            average = average_after(x, 100 * y, warmup_s)
            found.append(Series(name, x, 100 * y, colour=colour(k), kind="step", average=average))
    return tuple(found)
