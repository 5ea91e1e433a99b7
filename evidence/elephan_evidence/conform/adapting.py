"""Measures of BBR's response to a path that changes, batches, loses or polices.

See `elephan_evidence.conform.measures`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elephan_evidence.conform.lawtrace import SHORT, STATES
from elephan_evidence.conform.registry import TraceMeasures

if TYPE_CHECKING:
    from elephan_evidence.conform.lawtrace import LawTrace, Phase

ADAPTING = TraceMeasures()

PROBE_RTT = STATES.index("ProbeRTT")

STARTUP_ROUNDS = 1
"""Rounds for which aggregation is remembered in Startup, Section 5.5.9."""

FELL = 0.95
"""A gauge counts as fallen below this share of its former value."""

LEAST_STEPS = 3
"""Minimum number of rounds with growing steps that show how a bound grows."""


@ADAPTING
def extra_acked_error(seen: LawTrace, *, rounds: int = 10, of: float = 1.0) -> float | None:
    """Return the largest difference between extra_acked and its value computed from the ACKs, over its largest value.

    The computation follows Section 5.5.9. A null uses another memory, or expects another share of the bandwidth.
    """
    shown = seen.gauge("extra_acked")
    if np.isnan(shown).all():
        return None
    bw, cwnd = seen.gauge("bw"), seen.columns["cwnd_segments"]
    count, full = seen.gauge("round_count"), seen.gauge("full_bw_reached")
    # At the first ACK no bandwidth is known; it only begins the interval.
    since, volume, worst = seen.time[0], seen.acked[0], 0.0
    kept: dict[float, float] = {count[0]: volume}
    for row in range(1, seen.time.size):
        now = seen.time[row]
        expected = of * bw[row - 1] * (now - since)
        if volume <= expected:
            volume, since, expected = 0.0, now, 0.0
        volume += seen.acked[row]
        memory = rounds if full[row - 1] else STARTUP_ROUNDS
        extra = min(volume - expected, cwnd[row - 1])
        if seen.round_starts[row]:
            kept = {of_round: largest for of_round, largest in kept.items() if of_round > count[row] - memory}
        kept[count[row]] = max(kept.get(count[row], 0.0), extra)
        worst = max(worst, abs(max(kept.values()) - shown[row]))
    return float(worst / np.nanmax(shown))


@ADAPTING
def widened(seen: LawTrace, *, state: str, nth: int = 1) -> float | None:
    """Return the window's excess over two BDP at the end of a phase, in amounts that the link delivers at a time."""
    phase = seen.phase(state, nth)
    if phase is None:
        return None
    row = phase.end - 1
    over = seen.columns["cwnd_segments"][row] - 2 * seen.gauge("bdp")[row]
    return None if np.isnan(over) else float(over / seen.names["quantum"])


@ADAPTING
def least_growth(seen: LawTrace, *, over: int, until: float = 0.5) -> float | None:
    """Return the smallest growth of max_bw over `over` rounds of Startup, while below a share of the link's rate."""
    phase = seen.phase("Startup")
    if phase is None:
        return None
    rows = np.flatnonzero(seen.round_starts[: phase.end])
    value = seen.gauge("max_bw")[rows] / seen.names["segments"]
    growing = np.flatnonzero((value[:-over] > 0) & (value[:-over] < until))
    return float(np.min(value[growing + over] / value[growing])) if growing.size else None


@ADAPTING
def used(seen: LawTrace, *, since: str = "at", to: str = "until") -> float | None:
    """Return the data acknowledged between two times, over what the link could have carried."""
    begun, ended = seen.names[since], seen.names[to]
    una = np.interp([begun, ended], seen.time, seen.columns["una"])
    return float((una[1] - una[0]) / (seen.names["segments"] * (ended - begun)))


@ADAPTING
def least_window(seen: LawTrace, *, since: str) -> float | None:
    """Return the smallest window after a time [segments]."""
    rows = seen.time >= seen.names[since]
    return float(seen.columns["cwnd_segments"][rows].min()) if rows.any() else None


@ADAPTING
def gauge_of_link(seen: LawTrace, *, gauge: str, state: str, nth: int = 1) -> float | None:
    """Return the mean of a gauge over a phase, over the link's rate."""
    phase = seen.phase(state, nth)
    if phase is None:
        return None
    value = float(np.mean(seen.gauge(gauge)[phase.start : phase.end]))
    return None if np.isnan(value) else value / seen.names["segments"]


@ADAPTING
def step_doubling(seen: LawTrace) -> float | None:
    """Return the factor from round to round of the increments of inflight_longterm while it limits a probe."""
    best: list[float] = []
    for phase in seen.phases:
        if phase.state == "ProbeBW_UP" and seen.time[phase.start] >= seen.names["at"]:
            steps = _steps(seen, phase.start, phase.end)
            best = max(best, steps, key=len)
    if len(best) < LEAST_STEPS:
        return None
    return float((best[-1] / best[0]) ** (1 / (len(best) - 1)))


def _steps(seen: LawTrace, start: int, end: int) -> list[float]:
    """Return the increments of the bound per round of a probe, from the first increment up to a round without one."""
    bound = seen.gauge("inflight_longterm")
    edges = [row for row in range(start, end) if seen.round_starts[row] or row == start]
    steps = [float(bound[b] - bound[a]) for a, b in pairwise(edges)]
    begun = next((n for n, step in enumerate(steps) if step > 0), len(steps))
    ended = next((n for n, step in enumerate(steps[begun:], begun) if not step > 0), len(steps))
    return steps[begun:ended]


@ADAPTING
def falls_by_round(seen: LawTrace, *, gauge: str, rounds: int) -> float | None:
    """Return the factor by which a gauge falls from round to round, from its first fall on."""
    value = seen.gauge(gauge)
    begun = int(np.searchsorted(seen.time, seen.names["at"]))
    rows = begun + np.flatnonzero(seen.round_starts[begun:])
    lower = np.flatnonzero(value[rows] < FELL * value[begun])
    if not lower.size or lower[0] + rounds >= rows.size:
        return None
    first, last = value[rows[lower[0]]], value[rows[lower[0] + rounds]]
    return None if np.isnan(last) else float((last / first) ** (1 / rounds))


@ADAPTING
def rounds_of_log(seen: LawTrace, *, level: float = 0.95) -> float | None:
    """Return the rounds from the first probe after a step until max_bw is the new rate, over log2 of the new BDP."""
    probes = [each for each in seen.phases if each.state == "ProbeBW_UP" and seen.time[each.start] >= seen.names["at"]]
    reached = np.flatnonzero(seen.gauge("max_bw") >= level * seen.names["segments"])
    if not probes or not reached.size:
        return None
    count = seen.gauge("round_count")
    reached = reached[reached >= probes[0].start]
    if not reached.size:
        return None
    return float((count[reached[0]] - count[probes[0].start]) / np.log2(seen.names["bdp"]))


@ADAPTING
def after_cycles(seen: LawTrace, *, gauge: str, cycles: int) -> float | None:
    """Return a gauge, over the link's new rate, after `cycles` complete ProbeBW cycles that began after the step."""
    later = np.flatnonzero(seen.round_starts)
    ends = []
    for phase in seen.phases:
        if phase.state == "ProbeBW_UP" and seen.time[phase.start] > seen.names["at"]:
            # The filter advances when the round after a probe is over, unless ProbeRTT came first.
            rows = later[later > phase.end]
            if rows.size and not np.any(seen.gauge("state")[phase.end : rows[0] + 1] == PROBE_RTT):
                ends.append(rows[0])
    return float(seen.gauge(gauge)[ends[cycles - 1]] / seen.names["segments"]) if len(ends) >= cycles else None


@ADAPTING
def bound_set(seen: LawTrace, *, gauge: str, since: str = "at") -> float | None:
    """Return the smallest value of a bound after a time, in BDP or over the link's rate; None if it was never set."""
    value = seen.gauge(gauge)[seen.time >= seen.names[since]]
    unit = seen.names["segments"] if gauge.startswith("bw") else seen.names["bdp"]
    return float(np.nanmin(value) / unit) if value.size and not np.isnan(value).all() else None


@ADAPTING
def lost_share(seen: LawTrace, *, since: str, to: str) -> float | None:
    """Return the segments dropped between two times, over those acknowledged or dropped."""
    begun, ended = seen.names[since], seen.names[to]
    dropped = float(np.sum((seen.columns["drop_time_s"] >= begun) & (seen.columns["drop_time_s"] <= ended)))
    una = np.interp([begun, ended], seen.time, seen.columns["una"])
    return dropped / (dropped + float(una[1] - una[0]))


@ADAPTING
def changes_by(seen: LawTrace, *, gauge: str, state: str, nth: int = 1) -> float | None:
    """Return the factor by which a gauge changes at the ACK that ends a phase."""
    phase = seen.phase(state, nth)
    if phase is None or phase.end >= seen.time.size:
        return None
    values = seen.gauge(gauge)
    factor = values[phase.end] / values[phase.end - 1]
    return None if np.isnan(factor) else float(factor)


@ADAPTING
def is_set_by(seen: LawTrace, *, gauge: str, state: str, nth: int = 1) -> bool | None:
    """Whether a bound at the ACK that ends a phase differs from its value at the phase's begin."""
    phase = seen.phase(state, nth)
    if phase is None or phase.end >= seen.time.size:
        return None
    values = seen.gauge(gauge)
    now, before = values[phase.end], values[phase.end - 1]
    return bool(not np.isnan(now) and (np.isnan(before) or now != before))


@ADAPTING
def kept(seen: LawTrace, *, of: str, state: str, nth: int = 1, then: int = 0) -> float | None:
    """Return the largest value of a gauge in a phase (and `then` further rounds), over max_bw before the phase."""
    phase = seen.phase(state, nth)
    if phase is None or phase.end >= seen.time.size or phase.start == 0:
        return None
    count = seen.gauge("round_count")
    end = int(np.searchsorted(count, count[phase.end] + then, side="right")) if then else phase.end
    value = seen.gauge(of)[phase.start + 1 : end]
    return float(np.max(value) / seen.gauge("max_bw")[phase.start - 1]) if value.size else None


@ADAPTING
def undo_state(seen: LawTrace, *, state: str) -> bool | None:
    """Whether undo_state is a state at the ACK that ends its first phase after the stimulus."""
    phase = _probe(seen, state)
    return None if phase is None else bool(seen.gauge("undo_state")[phase.end] == seen.gauge("state")[phase.start])


@ADAPTING
def saved(seen: LawTrace, *, state: str, gauge: str) -> float | None:
    """Return the saved value of a gauge over the gauge itself, just before the first phase after the stimulus ends."""
    phase = _probe(seen, state)
    if phase is None:
        return None
    ratio = float(seen.gauge("undo_" + gauge)[phase.end] / seen.gauge(gauge)[phase.end - 1])
    return None if np.isnan(ratio) else ratio


@ADAPTING
def restored(seen: LawTrace, *, state: str, gauge: str) -> float | None:
    """Return a gauge over its saved value, at the first PROBE_REFILL after the phase of `_probe`."""
    refill = _refill(seen, state)
    if refill is None:
        return None
    return float(seen.gauge(gauge)[refill.start] / seen.gauge("undo_" + gauge)[refill.start])


@ADAPTING
def window_restored(seen: LawTrace, *, state: str) -> float | None:
    """Return cwnd at the first PROBE_REFILL after the phase of `_probe`, over cwnd just before its end."""
    phase, refill = _probe(seen, state), _refill(seen, state)
    if phase is None or refill is None:
        return None
    cwnd = seen.columns["cwnd_segments"]
    return float(cwnd[refill.start] / cwnd[phase.end - 1])


@ADAPTING
def lifted(seen: LawTrace, *, gauge: str) -> float | None:
    """Return the time from when a bound is set after the stimulus until it is infinite again [rtt]."""
    bound, time = seen.gauge(gauge), seen.time
    is_set = np.flatnonzero((time >= seen.names["at"]) & ~np.isnan(bound))
    if not is_set.size:
        return None
    after = is_set[0] + np.flatnonzero(np.isnan(bound[is_set[0] :]))
    return float((time[after[0]] - time[is_set[0]]) / seen.names["rtt"]) if after.size else None


@ADAPTING
def returns(seen: LawTrace, *, state: str) -> float | None:
    """Return the time from the end of a state's first phase after the stimulus to the next PROBE_REFILL [rtt]."""
    phase, refill = _probe(seen, state), _refill(seen, state)
    if phase is None or refill is None:
        return None
    return float((seen.time[refill.start] - seen.time[phase.end]) / seen.names["rtt"])


def _probe(seen: LawTrace, state: str) -> Phase | None:
    """Return the first phase of a state that ends after the stimulus and within the trace."""
    name = SHORT.get(state, state)
    ended = (each for each in seen.phases if each.state == name and each.end < seen.time.size)
    return next((each for each in ended if seen.time[each.end] > seen.names["at"]), None)


def _refill(seen: LawTrace, state: str) -> Phase | None:
    """Return the first PROBE_REFILL after the phase of `_probe`."""
    phase = _probe(seen, state)
    if phase is None:
        return None
    return next((each for each in seen.phases if each.state == "ProbeBW_REFILL" and each.start >= phase.end), None)
