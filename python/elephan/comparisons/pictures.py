"""The pictures of a comparison over time, as plain data for HTML pages and image files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import WARMUP, Axis, Figure, Mark, Series, colour
from elephan.pictures.lines import MOST_POINTS, average_after, of_flows, points_each, spans
from elephan.pictures.thin import thin
from elephan.pictures.words import joined, number
from elephan.units import count, format_time

if TYPE_CHECKING:
    from elephan.results import CompareDocument
    from elephan.runs.sampled import SampledRun


def over_time(document: CompareDocument, seen: Mapping[str, SampledRun]) -> tuple[Figure, ...]:
    """Make the pictures over time: windows, and the backlog of the first link.

    Parameters
    ----------
    document : mapping
        Document of ``elephan compare --json``.
    seen : mapping of str to SampledRun
        ``simulation``, and ``testbed`` if there is one; only runs with stored samples.

    Returns
    -------
    tuple of Figure
        Empty if there are no series.
    """
    run = document["simulation"]["run"]
    time = Axis("time", "s", low=0.0, high=run["duration_s"])
    shade = (Mark(None, WARMUP, "x", "shade", 0.0, run["warmup_s"]),) if run["warmup_s"] else ()
    figures = []
    warmup_s = run["warmup_s"]
    windows, backlog = _windows(seen, warmup_s), _backlog(seen, warmup_s)
    if windows:
        model = {row["name"]: row["model"] for row in document["rows"] if row["model"] is not None}
        ends = {"highest": model.get("cwnd_high_segments"), "lowest": model.get("cwnd_low_segments")}
        lines = {name: at for name, at in ends.items() if at is not None}
        marks = tuple(Mark(at, f"model, {name}: {number(at)}", "y", "wanted") for name, at in lines.items())
        alt = f"Congestion windows over {format_time(run['duration_s'])}. {spans(windows, 'segments', warmup_s)}"
        sentences = joined(f"{number(at)} ({name})" for name, at in lines.items())
        alt += f" Dashed: by the model {sentences} segments." if lines else ""
        axis = Axis("cwnd", "segments", low=0.0)
        figures.append(Figure("cwnd", "Congestion windows", alt, time, axis, windows, (*shade, *marks), link="time"))
    if backlog:
        link = document["simulation"]["links"][0]
        alt = f"Backlog of {link['name']} over {format_time(run['duration_s'])}. {spans(backlog, 'packets', warmup_s)}"
        axis, limit = Axis("backlog", "packets", low=0.0), link["buffer_packets"]
        # A buffer far above the backlog would flatten the picture.
        highest = max(float(np.nanmax(s.y, initial=0.0)) for s in backlog)
        near = limit is not None and limit <= 4 * highest
        marks = (Mark(limit, f"buffer, {count(limit or 0, 'packet')}", "y", "wanted"),) if near else ()
        figures.append(Figure("backlog", "Backlog", alt, time, axis, backlog, (*shade, *marks), link="time"))
    return tuple(figures)


def _windows(seen: Mapping[str, SampledRun], warmup_s: float) -> tuple[Series, ...]:
    known = {name: each for name, each in seen.items() if np.isfinite(each.cwnd_segments).any()}
    most = points_each([each.cwnd_segments for each in known.values()])
    found: list[Series] = []
    for name, each in known.items():
        rows = each.cwnd_segments
        label = f"{name}: {count(int(np.isfinite(rows).any(axis=1).sum()), 'flow')}"
        found += of_flows(label, name, each.time_s, rows, _hue(name), most, warmup_s)
    return tuple(found)


def _backlog(seen: Mapping[str, SampledRun], warmup_s: float) -> tuple[Series, ...]:
    most = MOST_POINTS // max(1, len(seen))
    return tuple(
        Series(
            name,
            *thin(each.time_s, each.backlog_packets[0], most),
            colour=_hue(name),
            average=average_after(each.time_s, each.backlog_packets[0], warmup_s),
        )
        for name, each in seen.items()
        if each.links
    )


def _hue(name: str) -> str:
    """Return the fixed colour of a source, whether or not the other source is present."""
    return colour(("simulation", "testbed").index(name))
