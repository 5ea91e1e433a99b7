"""The picture of a test case: inflight or rate over time, in its first run on its first path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series
from elephan_evidence.conform.case import PACKET_BITS
from elephan_evidence.papers.measures import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan_evidence.conform.case import TestCase
    from elephan_evidence.conform.judge import JudgedCase
    from elephan_evidence.conform.lawtrace import LawTrace

MOST_STATES = 1
"""Maximum number of shaded phases; more would have no names in the legend."""

MOST_WORDS = 12
"""Maximum number of states named in the caption."""

MBIT = PACKET_BITS / 1e6
"""One segment per second [Mbit/s]."""


def draw_case(judged: JudgedCase) -> Figure | None:
    """Return the picture of a case.

    Returns
    -------
    Figure or None
        None if the case was not run.
    """
    if not judged.paths:
        return None
    path, case = judged.paths[0], judged.case
    made = path.runs[next(iter(case.runs))]
    trace = made.trace
    inflight = case.picture == "inflight"
    series = _volumes(trace) if inflight else _rates(trace)
    largest = f"{np.nanmax(series[0].y):.4g}"
    shown = f"at most {largest} segments in flight" if inflight else f"a pace of at most {largest} Mbit/s"
    states = " ".join(phase.state.replace("ProbeBW_", "") for phase in trace.phases[:MOST_WORDS])
    return Figure(
        name=f"case-{case.number:02}",
        title=f"Case {case.number}",
        alt=f"{case.title} on {path.path.name}, {made.says}: {shown}; states {states}.",
        x=Axis("time", "s", low=0.0, high=float(trace.time[-1])),
        y=Axis("volume", "segments", low=0.0) if inflight else Axis("rate", "Mbit/s", low=0.0),
        series=series,
        marks=_marks(case, trace),
    )


def _volumes(trace: LawTrace) -> tuple[Series, ...]:
    each = [
        ("in flight", trace.columns["in_flight_segments"].astype(float), "blue", False),
        ("cwnd", trace.columns["cwnd_segments"], "ink", False),
        ("inflight_longterm", trace.gauge("inflight_longterm"), "vermilion", True),
        ("inflight_shortterm", trace.gauge("inflight_shortterm"), "purple", True),
        ("BDP of the model", trace.gauge("bdp"), "green", True),
    ]
    return _drawn(trace, each)


def _rates(trace: LawTrace) -> tuple[Series, ...]:
    each = [
        ("pace", trace.gauge("pacing_rate") * MBIT, "blue", False),
        ("max_bw", trace.gauge("max_bw") * MBIT, "ink", False),
        ("bw_shortterm", trace.gauge("bw_shortterm") * MBIT, "vermilion", True),
    ]
    return _drawn(trace, each)


def _drawn(trace: LawTrace, each: list[tuple[str, NDArray[np.float64], str, bool]]) -> tuple[Series, ...]:
    return tuple(
        Series(name, trace.time, y, colour=colour, kind="step", dashed=dashed)
        for name, y, colour, dashed in each
        if not np.isnan(y).all()
    )


def _marks(case: TestCase, trace: LawTrace) -> tuple[Mark, ...]:
    """Mark the begin of the stimulus, and the first phase of each observed state."""
    looked = (parse(of.measure)[1] for of in case.seen)
    states = dict.fromkeys((each["state"], each.get("nth", 1)) for each in looked if "state" in each)
    phases = [phase for state, nth in states if (phase := trace.phase(state, nth)) is not None]
    end = trace.time.size - 1
    bands = [
        Mark(
            None,
            phase.state,
            role="shade",
            low=float(trace.time[phase.start]),
            high=float(trace.time[min(phase.end, end)]),
        )
        for phase in phases[:MOST_STATES]
    ]
    stimulus = [Mark(trace.names["at"], "stimulus", role="wanted")] if trace.names.get("at", 0) > 0 else []
    return (*stimulus, *bands)
