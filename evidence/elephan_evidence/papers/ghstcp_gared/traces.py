"""Behaviour of S2's windows and of the queue over time: falls to one segment, cuts, raises of max_p.

*Source*: Figures 4 to 7 of Zhang, Hasegawa and Murata 2005, which show traces without numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from elephan_evidence.papers.runs import ExperimentPoint

    Floats = NDArray[np.float64]

START = 50.0
"""Begin of the evaluation [s]; before it the overshoot of slow start dominates."""

TOGETHER = 1.0
"""Largest time between timeouts, or cuts, that count as common: the smallest timeout [s]."""

SHIFTS = 20
"""Number of shifts of the flows' cuts that estimate coincidences by chance, accurate to a tenth of a flow."""

INTERVAL = 0.5
"""Time between two checks of the average by adaptive RED [s]."""

LOW = 2.0
"""Window after a timeout [segments]: one, and two a round trip later."""

DEEP = 0.9
"""A window that falls below this share from one sample to the next was cut: HighSpeed reduces it by at least 0.1."""


def windows(point: ExperimentPoint, group: str = "S2", replication: int = 0) -> tuple[Floats, Floats]:
    """Return the windows of a group over time.

    Parameters
    ----------
    point : ExperimentPoint
        A point with its series.

    Returns
    -------
    time_s : ndarray, shape (samples,)
    cwnd_segments : ndarray, shape (flows, samples)
    """
    rows = point.samples("flows", replication)
    mine = rows["name"] == group
    flows = np.unique(rows["index"][mine])
    each = [mine & (rows["index"] == flow) for flow in flows]
    return rows["time_s"][each[0]], np.array([rows["cwnd_segments"][flow] for flow in each], dtype=float)


def queue(point: ExperimentPoint) -> dict[str, Floats]:
    """Return ``time_s``, ``backlog_packets`` and the discipline's own variables, over time."""
    rows = point.samples("links", replication=0)
    return {name: np.asarray(rows[name], dtype=float) for name in rows if name not in ("kind", "name")}


def resets(point: ExperimentPoint) -> list[list[set[int]]]:
    """Find falls to one segment in each replication: the flows of each, those within a second together."""
    return [_together(time, cwnd <= LOW) for time, cwnd in _every(point)]


def cuts(point: ExperimentPoint) -> list[list[set[int]]]:
    """Find cuts of windows in each replication: the flows of each, those within a second of one another together."""
    return [_together(time[1:], _cut(cwnd)) for time, cwnd in _every(point)]


def cuts_by_chance(point: ExperimentPoint) -> list[list[set[int]]]:
    """Find common cuts after shifting the cuts of each flow in time by its own amount, as if flows were independent."""
    random = np.random.default_rng(1)
    found = []
    for time, cwnd in _every(point):
        happens = _cut(cwnd)
        shifted = ([np.roll(one, random.integers(one.size)) for one in happens] for _ in range(SHIFTS))
        found.append([flows for one in shifted for flows in _together(time[1:], np.array(one))])
    return found


def lags(point: ExperimentPoint) -> list[Floats]:
    """Return how long the average had been falling when max_p was last raised in each of its falls.

    Parameters
    ----------
    point : ExperimentPoint
        A point with its series, sampled more often than the router checks.

    Returns
    -------
    list of ndarray [s]
        For each replication, the falls in which max_p was raised; may be empty.
    """
    every = point.samples("links")
    return [
        _lags(*(every[name][every["replication"] == one] for name in ("time_s", "queue_avg", "queue_max_p")))
        for one in np.unique(every["replication"])
    ]


def _lags(time: Floats, average: Floats, max_p: Floats) -> Floats:
    falls = np.diff(average) < 0
    began = np.flatnonzero(falls & ~np.insert(falls[:-1], 0, False))
    raised = np.flatnonzero((np.diff(max_p) > 0) & falls & (time[1:] > START))
    of = np.searchsorted(began, raised, side="right") - 1
    last = np.flatnonzero(np.diff(of, append=-1))
    return time[raised[last] + 1] - time[began[of[last]]]


def _every(point: ExperimentPoint) -> Iterator[tuple[Floats, Floats]]:
    """Yield the windows after the start, for each replication."""
    for replication in np.unique(point.samples("flows")["replication"]):
        time, cwnd = windows(point, replication=int(replication))
        yield time[time > START], cwnd[:, time > START]


def _cut(cwnd: Floats) -> NDArray[np.bool_]:
    return cwnd[:, 1:] < DEEP * cwnd[:, :-1]


def _together(time: Floats, happens: NDArray[np.bool_]) -> list[set[int]]:
    return _grouped((float(time[at]), int(flow)) for at, flow in np.argwhere(happens.T))


def _grouped(each: Iterable[tuple[float, int]]) -> list[set[int]]:
    groups: list[set[int]] = []
    last = -np.inf
    for at, flow in each:
        if at - last > TOGETHER:
            groups.append(set())
        groups[-1].add(flow)
        last = at
    return groups
