"""Comparison of several runs: differing scenario keys, and figures over time with a colour for each run.

A `Figure` is plain data; the web pages and the figures of Matplotlib are both drawn from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elephan.errors import InputError
from elephan.metrics import utilization_series
from elephan.pictures.figure import COLOURS, WARMUP, Axis, Figure, Mark, Series, colour
from elephan.pictures.lines import MOST_POINTS, average_after, spans
from elephan.pictures.thin import thin
from elephan.runs.pictures import DELAYS, FINE, busiest, sampled_delay
from elephan.runs.sampled import SampledRun, sampled
from elephan.scenario import Scenario
from elephan.units import count, format_rate, format_time

if TYPE_CHECKING:
    from elephan.results import RunDocument
    from elephan.runs.saved import ReplicatedRun

    Floats = NDArray[np.float64]

MOST_RUNS = len(COLOURS)
"""Maximum number of runs in a figure: each has its own colour."""

MOST_OF_EACH = 3
"""Maximum number of links, and of groups of flows, that get a figure."""

BANDS = 3
"""Maximum number of runs for which the range of a group is drawn beside its mean."""


@dataclass(frozen=True)
class NamedRun:
    """A run with its name, document and samples.

    Parameters
    ----------
    name : str
        Name in the legend.
    scenario : Scenario
        The scenario that was run.
    document : mapping
        Document of ``elephan run --json``.
    seen : SampledRun or None
        None if no samples were kept.
    """

    name: str
    scenario: Scenario
    document: RunDocument
    seen: SampledRun | None


@dataclass(frozen=True)
class DifferingKey:
    """A key that differs between scenarios: its path, and its value in each; empty if a scenario lacks it."""

    path: str
    values: tuple[str, ...]


def named_runs(runs: Mapping[str, ReplicatedRun]) -> tuple[NamedRun, ...]:
    """Collect the data of each run that figures and tables need.

    Parameters
    ----------
    runs : mapping of str to RunResult, StoredRun, SavedRun or TestbedResult

    Returns
    -------
    tuple of NamedRun

    Raises
    ------
    InputError
        If there are fewer than two or more than `MOST_RUNS`.
    """
    if not 2 <= len(runs) <= MOST_RUNS:
        raise InputError(
            f"runs over each other: {count(len(runs), 'run')}; give 2 to {MOST_RUNS}, the number of distinct colours"
        )
    return tuple(_named(name, run) for name, run in runs.items())


def _named(name: str, run: ReplicatedRun) -> NamedRun:
    has_series = bool(run.outcomes) and run.outcomes[0].has_series
    return NamedRun(name, run.scenario, run.to_json(), sampled(run) if has_series else None)


def chosen(total: int) -> list[int]:
    """Choose which of many runs to show: the first, the last, and evenly spaced ones between.

    Examples
    --------
    >>> chosen(3), chosen(13)
    ([0, 1, 2], [0, 2, 4, 6, 8, 10, 12])
    """
    return sorted({round(float(i)) for i in np.linspace(0, total - 1, min(total, MOST_RUNS))})


def differing(scenarios: Sequence[Scenario]) -> tuple[DifferingKey, ...]:
    """List the keys that differ between scenarios, defaults included; titles are ignored.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> small = Scenario.from_text(EXAMPLE)
    >>> differing([small, small.replace({"links[0].buffer": "50 packets", "title": "More"})])
    (DifferingKey(path='links[0].buffer', values=('25 packets', '50 packets')),)
    """
    flat = [dict(_leaves(scenario.resolved)) for scenario in scenarios]
    found: dict[str, tuple[str, ...]] = {}
    for path in dict.fromkeys(path for leaves in flat for path in leaves if path != "title"):
        name, values = _shown(path, [leaves.get(path, _MISSING) for leaves in flat])
        # In the canonical form a buffer in packets and one in bytes are two keys, in a scenario file one.
        known = found.get(name, ("",) * len(values))
        found[name] = tuple(one or other for one, other in zip(known, values, strict=True))
    rows = [DifferingKey(*row) for row in found.items()]
    return tuple(row for row in rows if len(set(row.values)) > 1)


_MISSING = object()

_UNITS = {
    "ps": lambda x: format_time(x * 1e-12),
    "bps": format_rate,
    "bytes": lambda x: f"{x} B",
    "packets": lambda x: f"{x} packets",
}
"""Unit suffixes of names in the canonical form of a scenario, and how to format such quantities."""

_SAME_UNIT = ("uniform", "mean", "min", "max", "amplitude")
"""Keys inside a quantity that have its unit."""


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        for i, part in enumerate(value):
            yield from _leaves(part, f"{path}[{i}]")
    else:
        yield path, value


def _shown(path: str, values: Sequence[object]) -> tuple[str, tuple[str, ...]]:
    """Return the path as in a scenario file, and the values with their units."""
    names, write = [], None
    for part in path.split("."):
        name, _, unit = part.rpartition("_")
        if unit not in _UNITS or (not name and unit != part):
            name, write = part, write if part in _SAME_UNIT else None
        else:
            write = _UNITS[unit]
        if name not in ("", "constant"):
            names.append(name)
    return ".".join(names), tuple(_text(value, write) for value in values)


def _text(value: object, write: Any) -> str:
    if value is _MISSING:
        return ""
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(_text(part, write) for part in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(write(value)) if write is not None and isinstance(value, int | float) else str(value)


CHOICES = ("discipline", "law", "kind")
"""Keys that decide which other keys their table has."""


def decisive(keys: Sequence[DifferingKey]) -> tuple[DifferingKey, ...]:
    """Omit keys that exist only because of another differing key, such as the parameters of a discipline.

    Examples
    --------
    >>> queue = DifferingKey("links[0].queue.discipline", ("drop-tail", "codel"))
    >>> decisive([queue, DifferingKey("links[0].queue.target", ("", "5 ms"))]) == (queue,)
    True
    """
    chosen = {head for key in keys for head, _, last in [key.path.rpartition(".")] if last in CHOICES}
    return tuple(key for key in keys if all(key.values) or key.path.rpartition(".")[0] not in chosen)


def spoken(path: str, scenario: Scenario) -> str:
    """Name a key as in a scenario file, with the link or group that it belongs to.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> spoken("links[0].queue.discipline", Scenario.from_text(EXAMPLE))
    'queue of core'
    >>> spoken("flows[0].control.slow_start.kind", Scenario.from_text(EXAMPLE))
    'control.slow_start of bulk'
    """
    place, _, key = path.partition(".")
    table, bracket, index = place.partition("[")
    rows: Sequence[Mapping[str, Any]] = {"links": scenario.links, "flows": scenario.groups}.get(table, ())
    at = int(index.rstrip("]")) if bracket and index.rstrip("]").isdigit() else len(rows)
    if not key or at >= len(rows):
        return path
    head, _, last = key.rpartition(".")
    # In a file, the name of the choice can be written in place of the table.
    name = head if last in ("discipline", "kind") and head else last if key == "control.law" else key
    return f"{name} of {rows[at]['name']}"


def laid_over(runs: Sequence[NamedRun]) -> tuple[Figure, ...]:
    """Return the figures over time, with all runs in each.

    Parameters
    ----------
    runs : sequence of NamedRun
        Each run has the same colour in all pictures; runs without samples have no line.

    Returns
    -------
    tuple of Figure
        Windows and round-trip times (or one-way delays) of the first groups, backlog and rate of the busiest links,
        up to ``MOST_OF_EACH`` of each; none if no run has samples.
    """
    known = [(run, run.seen, colour(k)) for k, run in enumerate(runs) if run.seen is not None]
    if not known:
        return ()
    end_s = max(run.document["run"]["duration_s"] for run, _, _ in known)
    time = Axis("time", "s", low=0.0, high=end_s)
    shade = _warmup(run for run, _, _ in known)
    warmup_s = max(_warmup_s(run) for run, _, _ in known)
    groups = _first(name for _, seen, _ in known for name in seen.flows)
    links = _first(
        name for run, seen, _ in known for name in (busiest(run.document["links"], seen) if seen.links else ())
    )
    found: list[Figure] = []

    def add(name: str, title: str, axis: Axis, lines: Iterable[Series], marks: tuple[Mark, ...] = ()) -> None:
        series = tuple(lines)
        if series:
            about = f"{title} of {count(len(known), 'run')}, replication 1 of each, over {format_time(end_s)}."
            alt = f"{about} {spans(series, axis.unit, warmup_s)}"
            found.append(Figure(name, title, alt, time, axis, series, (*shade, *marks), link="time"))

    for i, name in enumerate(groups):
        of = f", {name}" if len(groups) > 1 else ""
        axis = Axis("cwnd", "segments", low=0.0)
        add(f"cwnd-{i}", f"Congestion windows{of}", axis, _of_group(known, name, lambda seen: seen.cwnd_segments))
    for i, name in enumerate(links):
        of = f" of {name}" if len(links) > 1 else ""
        lines, most = [], MOST_POINTS // len(known)
        for run, seen, hue in known:
            if name in seen.links:
                packets = seen.backlog_packets[seen.links.index(name)]
                average = average_after(seen.time_s, packets, _warmup_s(run))
                lines.append(Series(run.name, *thin(seen.time_s, packets, most), colour=hue, average=average))
        axis = Axis("backlog", "packets", low=0.0)
        add(f"backlog-{i}", f"Backlog{of}", axis, lines, tuple(_buffers(known, name, lines)))
        rates = Axis("rate", "Mbit/s", low=0.0)
        add(f"rate-{i}", f"Rate that the link carries{of}", rates, _rates(known, name, end_s))
    for i, name in enumerate(groups):
        of = f", {name}" if len(groups) > 1 else ""
        documents = (group for run, _, _ in known for group in run.document["groups"] if group["name"] == name)
        title, axis = DELAYS[sampled_delay(next(documents))]
        add(f"srtt-{i}", f"{title}{of}", axis, _of_group(known, name, _srtt_ms))
    return tuple(found)


def _first(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))[:MOST_OF_EACH]


def _warmup(runs: Iterable[NamedRun]) -> tuple[Mark, ...]:
    """Mark the warm-up if it is the same in all runs."""
    lengths = {_warmup_s(run) for run in runs}
    if len(lengths) > 1 or not (warmup_s := lengths.pop()):
        return ()
    return (Mark(None, WARMUP, "x", "shade", 0.0, warmup_s),)


def _warmup_s(run: NamedRun) -> float:
    return float(run.document["run"]["warmup_s"])


def _srtt_ms(seen: SampledRun) -> Floats:
    return 1e3 * seen.srtt_s


def _of_group(known: Sequence[tuple[NamedRun, SampledRun, str]], group: str, values: Any) -> Iterator[Series]:
    """Yield one line per run: its only flow, or the mean of its flows, with their range if few runs are shown."""
    most = MOST_POINTS // len(known)
    for run, seen, hue in known:
        rows = values(seen)[seen.flows == group]
        rows = rows[np.isfinite(rows).any(axis=1)]
        if not len(rows):
            continue
        average = average_after(seen.time_s, rows, _warmup_s(run))
        if len(rows) == 1:
            yield Series(run.name, *thin(seen.time_s, rows[0], most), colour=hue, average=average)
            continue
        at = np.isfinite(rows).any(axis=0)
        x, mean = thin(seen.time_s[at], np.nanmean(rows[:, at], axis=0), most)
        label = f"{run.name}, mean of {count(len(rows), 'flow')}"
        if len(known) > BANDS:
            yield Series(run.name, x, mean, colour=hue, label=label, average=average)
            continue
        low, high = (np.interp(x, seen.time_s[at], how(rows[:, at], axis=0)) for how in (np.nanmin, np.nanmax))
        yield Series(run.name, x, mean, low, high, hue, label=label, interval="range", average=average)


def _buffers(known: Sequence[tuple[NamedRun, SampledRun, str]], link: str, lines: Sequence[Series]) -> Iterator[Mark]:
    """Mark the buffers, in the run's colour if only one run has it; omit those far above the backlog."""
    found: dict[float, list[tuple[str, str]]] = {}
    largest = max((float(np.nanmax(line.y, initial=0.0)) for line in lines), default=0.0)
    for run, _, hue in known:
        limit = next((row["buffer_packets"] for row in run.document["links"] if row["name"] == link), None)
        members = next((facts["count"] for facts in run.scenario.links if facts["name"] == link), 1)
        if limit is not None and limit * members <= 4 * largest:
            found.setdefault(limit * members, []).append((f"{run.name}: {count(limit, 'packet')}", hue))
    for at, named in found.items():
        if len(named) == len(known) > 1:
            yield Mark(at, f"buffer of all: {named[0][0].rpartition(': ')[2]}", "y", "wanted")
        else:
            words = ", ".join(label.rpartition(": ")[0] for label, _ in named)
            yield Mark(
                at,
                f"{words}: {named[0][0].rpartition(': ')[2]}",
                "y",
                "wanted",
                colour=named[0][1] if len(named) == 1 else "",
            )


def _rates(known: Sequence[tuple[NamedRun, SampledRun, str]], link: str, end_s: float) -> Iterator[Series]:
    """Yield the throughput of each run in bins of equal width, so that runs can be compared."""
    rtts = [facts["mean_rtt_s"] or 0.0 for run, _, _ in known for facts in run.scenario.links if facts["name"] == link]
    bin_s = max(*rtts, end_s / FINE, 0.0)
    for run, seen, hue in known:
        if link in seen.links:
            # With a rate of 1 Mbit/s the utilization is the throughput in Mbit/s.
            x, y = utilization_series(seen.time_s, seen.begun_bytes[seen.links.index(link)], 1e6, bin_s=bin_s)
            if x.size:
                average = average_after(x, y, _warmup_s(run))
                yield Series(run.name, x, y, colour=hue, kind="step", average=average)
