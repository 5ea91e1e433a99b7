"""Measures on a trace of BBR: the observations of test cases, and the times of their stimuli.

A measure returns None if the event it measures did not occur; the observation is then not met. Estimators of the draft
(rounds without growth, aggregation) are computed a second time, from the ACKs, and compared with the gauges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan_evidence.conform.lawtrace import PROBE_BW, SHORT
from elephan_evidence.conform.registry import TraceMeasures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan_evidence.conform.lawtrace import LawTrace, Phase

MEASURES = TraceMeasures()

FLAT, GROWTH = 3, 1.25
"""Rounds and growth factor of the full-pipe estimator, Section 5.3.1.2."""

BETA, LOSS_THRESH = 0.7, 0.02

MIN_PIPE = 4.0
"""MinPipeCwnd [segments]."""


@MEASURES
def entered(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Return the time at which a state was entered for the nth time [s]."""
    phase = seen.phase(state, nth)
    return None if phase is None else float(seen.time[phase.start])


@MEASURES
def left(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Return the time at which the nth phase of a state ended [s]."""
    phase = _ended(seen, state, nth)
    return None if phase is None else float(seen.time[phase.end])


@MEASURES
def sent(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Return the number of segments sent by the time a state was entered."""
    phase = seen.phase(state, nth)
    if phase is None:
        return None
    return float(seen.columns["una"][phase.start] + seen.columns["in_flight_segments"][phase.start])


@MEASURES
def times(seen: LawTrace, *, state: str) -> float | None:
    """Return the number of times a state was entered."""
    if not seen.phases:
        return None
    return float(sum(each.state == SHORT.get(state, state) for each in seen.phases))


@MEASURES
def leads_to(seen: LawTrace, *, state: str, to: str, nth: int = 1) -> bool | None:
    """Whether a phase was followed by a state, even if only for one ACK; ``ProbeBW`` stands for its four states."""
    phase = _ended(seen, state, nth)
    if phase is None:
        return None
    if to == "Down" and seen.passes_down(phase):
        return True
    return seen.after(phase) in (PROBE_BW if to == "ProbeBW" else (SHORT.get(to, to),))


@MEASURES
def drained(seen: LawTrace) -> bool | None:
    """Whether Startup was followed by Drain, even if only for one ACK: Drain records the round of its begin."""
    phase = _ended(seen, "Startup", 1)
    if phase is None:
        return None
    noted = seen.gauge("drain_start_round")[phase.end]
    return bool(noted == seen.gauge("round_count")[phase.end])


@MEASURES
def at_entry(seen: LawTrace, *, state: str, gauge: str, nth: int = 1) -> float | None:
    """Return the value of a gauge when a state is entered."""
    phase = seen.phase(state, nth)
    return None if phase is None else _number(seen.gauge(gauge)[phase.start])


@MEASURES
def at_exit(seen: LawTrace, *, state: str, gauge: str, nth: int = 1) -> float | None:
    """Return the value of a gauge at the ACK that ends a phase."""
    phase = _ended(seen, state, nth)
    return None if phase is None else _number(seen.gauge(gauge)[phase.end])


@MEASURES
def before_exit(seen: LawTrace, *, state: str, gauge: str, nth: int = 1) -> float | None:
    """Return the value of a gauge at the last ACK of a phase."""
    phase = _ended(seen, state, nth)
    return None if phase is None else _number(seen.gauge(gauge)[phase.end - 1])


@MEASURES
def max_bw_of_link(seen: LawTrace, *, state: str = "Startup") -> float | None:
    """Return the largest max_bw of a phase, over the link's rate."""
    phase = _ended(seen, state, 1)
    if phase is None:
        return None
    return float(np.nanmax(seen.gauge("max_bw")[phase.start : phase.end + 1])) / seen.names["segments"]


@MEASURES
def flat_rounds(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Count the rounds with growth below a quarter, computed from the samples, when full_bw_now is first set."""
    phase = seen.phase(state, nth)
    if phase is None:
        return None
    # Startup begins without a sample; a probe begins with the sample of the ACK that starts it.
    rows = slice(phase.start + (phase.start > 0), min(phase.end + 1, seen.time.size))
    base = float(seen.gauge("delivery_rate")[phase.start]) if phase.start else 0.0
    count = 0
    columns = ("delivery_rate", "app_limited", "full_bw_now")
    starts = seen.round_starts[rows]
    for starts_round, rate, limited, full in zip(starts, *(seen.gauge(name)[rows] for name in columns), strict=True):
        if starts_round and rate > 0 and not limited:
            if rate >= base * GROWTH:
                base, count = rate, 0
            else:
                count += 1
        if full:
            return float(count)
    return None


@MEASURES
def share(seen: LawTrace, *, state: str, gauge: str, nth: int = 1, skip: float = 0.0) -> float | None:
    """Return the mean of a gauge over the ACKs of a phase, without its first `skip` round-trip times."""
    rows = _rows(seen, state, nth, skip)
    return None if rows is None else _number(float(np.nanmean(seen.gauge(gauge)[rows])))


@MEASURES
def loss_rate(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Return the largest share lost of the data in flight a round trip before, at an ACK of a phase or its end."""
    phase = seen.phase(state, nth)
    if phase is None:
        return None
    rows = slice(phase.start, phase.end + 1)
    lost, sent_into = seen.gauge("lost")[rows], seen.gauge("tx_in_flight")[rows]
    return float(np.max(lost[sent_into > 0] / sent_into[sent_into > 0], initial=0.0))


@MEASURES
def lost_ranges(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Return the largest number of ranges lost within a round trip during a phase."""
    phase = seen.phase(state, nth)
    if phase is None:
        return None
    end = seen.time[min(phase.end, seen.time.size - 1)]
    time = seen.columns["drop_time_s"]
    within = (time >= seen.time[phase.start] - seen.names["rtt"]) & (time <= end)
    time, segment = time[within], seen.columns["drop_segment"][within].astype(np.int64)
    first = np.diff(segment, prepend=-2) != 1
    starts = time[first]
    return float(max((np.sum((starts >= t) & (starts < t + seen.names["rtt"])) for t in starts), default=0))


@MEASURES
def over_target(seen: LawTrace, *, state: str, rounds: int = 0, nth: int = 1) -> float | None:
    """Return the smallest excess of inflight over the exit target, over a phase or `rounds` rounds [segments]."""
    phase = seen.phase(state, nth)
    if phase is None:
        return None
    over = _over(seen, phase)
    if rounds:
        count = seen.gauge("round_count")[phase.start : min(phase.end + 1, seen.time.size)]
        over = over[count[: over.size] < count[0] + rounds]
    return float(over.min())


@MEASURES
def exits_under_target(seen: LawTrace, *, state: str, nth: int = 1) -> bool | None:
    """Whether inflight exceeded the phase's exit target at each ACK of the phase, and not at the ACK that ended it."""
    phase = _ended(seen, state, nth)
    if phase is None or phase.end - phase.start < FLAT:
        # The phase is too short to show the fall.
        return None
    over = _over(seen, phase)
    return bool(np.all(over[1:-1] > 0) and over[-1] <= 0)


@MEASURES
def rounds(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Count the rounds that began during a phase, its last ACK included."""
    phase = _ended(seen, state, nth)
    if phase is None:
        return None
    count = seen.gauge("round_count")
    return float(count[phase.end] - count[phase.start])


@MEASURES
def waits(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Return the duration of a phase, over bw_probe_wait."""
    phase = _ended(seen, state, nth)
    if phase is None:
        return None
    lasted = seen.time[phase.end] - seen.time[phase.start]
    return float(lasted / seen.gauge("bw_probe_wait")[phase.start])


@MEASURES
def wait_for_probe_rtt(seen: LawTrace) -> float | None:
    """Return the time from the last smaller round-trip time to the first ProbeRTT [s]."""
    phase = seen.phase("ProbeRTT")
    if phase is None:
        return None
    delay = seen.gauge("probe_rtt_min_delay")[: phase.start]
    # The first sample has no predecessor, so it counts as smaller.
    fell = np.flatnonzero(np.diff(delay) < 0)
    last = int(fell[-1]) + 1 if fell.size else int(np.flatnonzero(~np.isnan(delay))[0])
    return float(seen.time[phase.start] - seen.time[last])


@MEASURES
def probe_rtt_held(seen: LawTrace, *, unit: str = "s") -> float | None:
    """Return the time from the instant with half a BDP in flight to the end of ProbeRTT, in seconds or rounds."""
    phase = _ended(seen, "ProbeRTT", 1)
    if phase is None:
        return None
    rows = slice(phase.start, phase.end)
    low = np.flatnonzero(seen.gauge("inflight")[rows] <= np.maximum(0.5 * seen.gauge("bdp")[rows], MIN_PIPE))
    if not low.size:
        return None
    begun = phase.start + int(low[0])
    if unit == "s":
        return float(seen.time[phase.end] - seen.time[begun])
    count = seen.gauge("round_count")
    return float(count[phase.end] - count[begun])


@MEASURES
def resumes(seen: LawTrace, *, state: str, within: float) -> float | None:
    """Return the largest inflight within `within` round-trip times after a phase, in BDP."""
    phase = _ended(seen, state, 1)
    if phase is None:
        return None
    rows = (seen.time >= seen.time[phase.end]) & (seen.time <= seen.time[phase.end] + within * seen.names["rtt"])
    return float(np.max(seen.columns["in_flight_segments"][rows])) / seen.names["bdp"]


@MEASURES
def shown_at(seen: LawTrace, *, gauge: str) -> float | None:
    """Return the value of a gauge at the first ACK after the stimulus."""
    row = int(np.searchsorted(seen.time, seen.names["until"], side="right"))
    return None if row >= seen.time.size else _number(seen.gauge(gauge)[row])


@MEASURES
def enters_after(seen: LawTrace, *, state: str) -> float | None:
    """Return the number of times a state is entered after the stimulus began."""
    if not seen.phases:
        return None
    at = seen.names["at"]
    return float(sum(each.state == SHORT.get(state, state) and seen.time[each.start] > at for each in seen.phases))


@MEASURES
def since_least(seen: LawTrace) -> float | None:
    """Return the time from the last smaller round-trip time to the first ACK after the stimulus [s]."""
    row = int(np.searchsorted(seen.time, seen.names["until"], side="right"))
    delay = seen.gauge("probe_rtt_min_delay")[:row]
    if row >= seen.time.size or np.isnan(delay).all():
        return None
    fell = np.flatnonzero(np.diff(delay) < 0)
    last = int(fell[-1]) + 1 if fell.size else int(np.flatnonzero(~np.isnan(delay))[0])
    return float(seen.time[row] - seen.time[last])


@MEASURES
def most(seen: LawTrace, *, gauge: str) -> float | None:
    """Return the largest value of a gauge."""
    values = seen.gauge(gauge)
    return None if np.isnan(values).all() else float(np.nanmax(values))


@MEASURES
def others(seen: LawTrace, *, state: str) -> float | None:
    """Return the number of times that any other state is entered."""
    return float(sum(each.state != state for each in seen.phases)) if seen.phases else None


@MEASURES
def at_exit_ratio(seen: LawTrace, *, state: str, gauge: str, of: str, nth: int = 1) -> float | None:
    """Return the ratio of two gauges at the ACK that ends a phase."""
    phase = _ended(seen, state, nth)
    return None if phase is None else _number(seen.gauge(gauge)[phase.end] / seen.gauge(of)[phase.end])


@MEASURES
def over_floor(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Return inflight_longterm after a phase, over Beta times min(BDP, cwnd) just before its end."""
    phase = _ended(seen, state, nth)
    if phase is None:
        return None
    row = phase.end - 1
    target = min(seen.gauge("bdp")[row], seen.columns["cwnd_segments"][row])
    return _number(seen.gauge("inflight_longterm")[phase.end] / (seen.names.get("beta", BETA) * target))


@MEASURES
def leaves_on_loss(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Return the time from the first ACK with a loss above 2 % per round trip to PROBE_DOWN [rtt]."""
    phase = _ended(seen, state, nth)
    if phase is None or not seen.passes_down(phase):
        return None
    rows = slice(phase.start, phase.end + 1)
    over = np.flatnonzero(seen.gauge("lost")[rows] > LOSS_THRESH * seen.gauge("tx_in_flight")[rows])
    if not over.size:
        return None
    return float((seen.time[phase.end] - seen.time[phase.start + over[0]]) / seen.names["rtt"])


def _ended(seen: LawTrace, state: str, nth: int) -> Phase | None:
    """Return a phase whose end is in the trace."""
    phase = seen.phase(state, nth)
    return None if phase is None or phase.end >= seen.time.size else phase


def _rows(seen: LawTrace, state: str, nth: int, skip: float = 0.0) -> slice | None:
    phase = seen.phase(state, nth)
    if phase is None:
        return None
    begun = int(np.searchsorted(seen.time, seen.time[phase.start] + skip * seen.names["rtt"]))
    return slice(begun, phase.end) if begun < phase.end else None


def _over(seen: LawTrace, phase: Phase) -> NDArray[np.float64]:
    """Return inflight minus the exit target of Drain or ProbeBW_DOWN, at each ACK of the phase and at its exit.

    As in the law, the round-trip time is the one before the ACK, and so is Drain's bandwidth.
    """
    rows = np.arange(phase.start, min(phase.end + 1, seen.time.size))
    before = np.maximum(rows - 1, 0)
    if phase.state == "Drain":
        target = seen.gauge("inflight_target")[before]
    else:
        target = np.maximum(seen.gauge("max_bw")[rows] * seen.gauge("min_rtt")[before], MIN_PIPE)
        bound = seen.gauge("inflight_longterm")[rows]
        target = np.fmin(target, np.maximum(bound - np.maximum(1.0, 0.15 * bound), MIN_PIPE))
    return np.asarray(seen.gauge("inflight")[rows] - target)


def _number(x: float) -> float | None:
    return None if np.isnan(x) else float(x)
