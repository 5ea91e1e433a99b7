"""Measures of the claims of Andrew et al. 2005.

Source: Andrew2005; formulas of `elephan.theory`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elephan.theory import elastic, reno, rules, sawtooth
from elephan_evidence.papers.measured import MeasuredQuantity, largest, least
from elephan_evidence.papers.measures import MeasureRegistry
from elephan_evidence.papers.nonhomogeneous_buffers import many_measures
from elephan_evidence.papers.nonhomogeneous_buffers.patterns import MU, left, patterns
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns

MEASURES = MeasureRegistry()
MEASURES.update(many_measures.MEASURES)

MEAN_RTT = 0.1
"""Mean round-trip time [s]."""

THINK, SESSION = 2.0, 100.5
"""Mean time between sessions [s], and mean size of a session [packets]."""

PACKET = 500


# Formulas.


@MEASURES
def smallest_queue(_: ExperimentRuns, *, buffer: float, rtts: list[float]) -> float:
    """Return the bound on the queue, equation (1)."""
    return _bound(buffer, rtts)


@MEASURES
def least_left(_: ExperimentRuns) -> float:
    """Return the smallest difference of the queue after random losses and the bound [packets]; buffers above (2)."""
    found = [(queue, queue - _bound(buffer, rtts)) for rtts, buffer, queue in patterns((1.001, 3.0))]
    # An empty queue contradicts (2), whatever the bound.
    return min(over if queue > 0 else -np.inf for queue, over in found)


@MEASURES
def longest_alone_empties(_: ExperimentRuns) -> bool:
    """Return whether the longest flow, with nearly all of the link, empties the queue below (2), and not above."""
    rtts, shares = [0.02, 0.05, 0.1], [5e-4, 5e-4, 0.999]
    below, above = (left(rtts, buffer, shares, losers=[True] * 3) for buffer in (390, 410))
    return below == 0 < above


@MEASURES
def left_over_bound(_: ExperimentRuns, *, share: float) -> float:
    """Return the largest difference of remaining queue and bound over three buffers, if all flows lose [packets].

    The flow with the longest round-trip time has the given share of the link, the two others the rest.
    """
    rtts, shares = [0.02, 0.1, 0.15], [(1 - share) / 2, (1 - share) / 2, share]
    return max(
        left(rtts, buffer, shares, losers=[True] * 3) - _bound(buffer, rtts) for buffer in (620.0, 700.0, 1000.0)
    )


@MEASURES
def bound_over_flows(_: ExperimentRuns) -> float:
    """Return the spread of the bound over 1 to 1000 flows."""
    return float(np.ptp([_bound(700, [0.1] * n) for n in (1, 10, 1000)]))


@MEASURES
def fluid(_: ExperimentRuns, *, buffer: float) -> float:
    """Return the utilization of one Reno flow as a fluid."""
    return float(sawtooth.synchronised(reno(), MU, buffer, MEAN_RTT, 1).utilisation)


@MEASURES
def pareto_mean(_: ExperimentRuns, *, least: float, shape: float) -> float:
    """Return the mean of a Pareto distribution, in units of its smallest value."""
    return least * shape / (shape - 1)


@MEASURES
def bdp(_: ExperimentRuns) -> float:
    """Return the bandwidth-delay product [packets]."""
    return elastic.mixed(MU * PACKET * 8, PACKET, MEAN_RTT, background=0.0).bottlenecked_packets


@MEASURES
def rate(_: ExperimentRuns) -> float:
    """Return the rate of the link [Mbit/s]."""
    return MU * PACKET * 8 / 1e6


@MEASURES
def mean_session(_: ExperimentRuns, *, most: int) -> float:
    """Return the mean of the uniform distribution from 1 on [packets]."""
    return float(np.mean(np.arange(1, most + 1)))


@MEASURES
def balance(_: ExperimentRuns, *, users: int) -> float:
    """Return the users in a session while the link is full."""
    return float(elastic.active_by_balance(users, THINK, SESSION, MU))


# Long-lived flows: idle time.


@MEASURES
def buffer_for(
    runs: ExperimentRuns, *, flows: int, idle: float = 0.01, case: str = "drawn", waiting: bool = False
) -> MeasuredQuantity:
    """Return the smallest buffer with an idle share, or a share of an empty queue, of at most `idle` [packets]."""
    points = runs["long-lived"].where(flows=flows, case=case)
    found = MeasuredQuantity(_crossings(points, idle, waiting=waiting))
    if case != "drawn":
        return found
    return found.noted(
        f"median {np.median(found.samples):.0f}, from {found.samples.min():.0f} to {found.samples.max():.0f}"
    )


@MEASURES
def fall_with_flows(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the buffer of 100 flows minus that of five, maximum over both targets and both distributions of RTTs."""
    return largest(
        (buffer_for(runs, flows=100, idle=idle, case=case) - buffer_for(runs, flows=5, idle=idle, case=case)).noted(
            f"{case}, {100 * idle:g} % idle"
        )
        for idle in (0.01, 0.05)
        for case in ("drawn", "quantiles")
    )


@MEASURES
def stricter_needs_more(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the buffer for 1 % idle time minus that for 5 %, minimum over flows and distributions of RTTs."""
    return least(
        (buffer_for(runs, flows=n, case=case) - buffer_for(runs, flows=n, idle=0.05, case=case)).noted(
            f"{case}, {n} flows"
        )
        for n in runs["long-lived"].labels("flows")
        for case in ("drawn", "quantiles")
    )


@MEASURES
def most_needed(runs: ExperimentRuns, *, flows: int) -> MeasuredQuantity:
    """Return the buffer for 1 % idle time with at least `flows` flows, the maximum over cases and flows [packets]."""
    return largest(
        buffer_for(runs, flows=n, case=case).noted(f"{case}, {n} flows")
        for n in runs["long-lived"].labels("flows")
        if n >= flows
        for case in ("drawn", "quantiles")
    )


@MEASURES
def idle_above_mean_product(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the largest idle share of any run whose buffer exceeds the rate times the mean round-trip time."""
    found = []
    for point in runs["long-lived"]:
        products, idle = MU * point.flows("base_rtt_s").mean(axis=1), 1 - point.link("utilization")
        buffer, of = leading(point.labels["buffer"]), f"{point.labels['case']}, {point.labels['flows']} flows"
        found += [
            MeasuredQuantity(one, f"{of}, {buffer:.0f} packets, product {product:.0f}")
            for one, product in zip(idle, products, strict=True)
            if buffer > product
        ]
    worst = largest(found)
    # Each single run counts; there is no mean.
    return MeasuredQuantity(worst.samples, f"{len(found)} runs; most with {worst.note}", half=0.0)


@MEASURES
def equal_need_more(runs: ExperimentRuns, *, flows: int = 5) -> MeasuredQuantity:
    """Return the buffer for 1 % idle time with equal round-trip times minus that with unequal ones."""
    both = [buffer_for(runs, flows=flows, case=case) for case in ("equal", "quantiles")]
    return (both[0] - both[1]).noted(f"{both[0].mean:.0f} and {both[1].mean:.0f} packets")


@MEASURES
def variant(runs: ExperimentRuns, *, case: str, flows: int = 5, idle: float = 0.01) -> MeasuredQuantity:
    """Return the smallest buffer for an idle share under another assumption [packets]."""
    return MeasuredQuantity(_crossings(runs["variants"].where(case=case, flows=flows), idle))


@MEASURES
def typical_variant(runs: ExperimentRuns, *, case: str, flows: int = 5, idle: float = 0.01) -> MeasuredQuantity:
    """Return the same as the median of the draws, some of which may need more than the largest buffer [packets]."""
    found = variant(runs, case=case, flows=flows, idle=idle).samples
    beyond = int(np.isnan(found).sum())
    ends = f"from {np.nanmin(found):.0f}" + ("" if beyond else f" to {np.nanmax(found):.0f}")
    more = f", {beyond} of {found.size} draws need more than the largest buffer" if beyond else ""
    return MeasuredQuantity(np.median(np.where(np.isnan(found), np.inf, found)), ends + more)


@MEASURES
def tail(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the share of time with less than a tenth of the buffer filled: largest step from 5 to 25 to 100 flows."""
    below = []
    for point in runs["occupancy"]:
        samples = point.samples("links")
        late = samples["time_s"] > point.document["run"]["warmup_s"]
        low, of = samples["backlog_packets"][late] < 10, samples["replication"][late]
        below.append(MeasuredQuantity([float(low[of == one].mean()) for one in np.unique(of)]))
    shares = ", ".join(f"{100 * one.mean:.2g} %" for one in below)
    return largest(b - a for a, b in pairwise(below)).noted(f"5, 25 and 100 flows: {shares}")


# Loss and occupancy.


@MEASURES
def loss_step(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the loss at a buffer minus that at the next smaller one, maximum over 25 and 100 flows."""
    return largest(
        (b - a).noted(f"{n} flows") for n in (25, 100) for a, b in pairwise(_by_buffer(runs, n, "loss_ratio"))
    )


@MEASURES
def loss_order(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the loss of 100 flows minus that of 25, minimum over buffers."""
    return _least_gap(_by_buffer(runs, 25, "loss_ratio"), _by_buffer(runs, 100, "loss_ratio"))


@MEASURES
def contrast(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the utilization of 100 flows minus that of 25 at 50 packets, if they lose more too; otherwise -1."""
    if loss_order(runs).mean <= 0:
        return MeasuredQuantity(-1.0, "25 flows lose as much")
    few, many = (_by_buffer(runs, n, "utilization")[0] for n in (25, 100))
    return many - few


@MEASURES
def occupancy_order(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the filled share of the buffer: smallest step from 25 to 100 to 1000 flows, over buffers."""
    every = [_filled(runs, n) for n in (25, 100, 1000)]
    return least(_least_gap(a, b) for a, b in pairwise(every))


@MEASURES
def delay_step(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the mean queueing delay at a buffer minus that at the next smaller one, minimum over flows [s]."""
    return least(
        (b - a).noted(f"{n} flows")
        for n in (25, 100, 1000)
        for a, b in pairwise(_by_buffer(runs, n, "queueing_delay_s"))
    )


# Users with think times.


@MEASURES
def idle_step(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the idle share at a buffer minus that at the next smaller one, if that idles; the largest step."""
    return largest(
        max(
            ((b - a).noted(f"{users} users") for a, b in pairwise(_idle(runs, users)) if a.mean > FULL),
            key=lambda step: step.mean,
        )
        for users in (200, 500)
    )


FULL = 1e-3
"""Idle share below which a link counts as full, so that a larger buffer has no effect."""


@MEASURES
def idle_order(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the idle share of 500 users minus that of 200, maximum over buffers with idle time."""
    few, many = _idle(runs, 200), _idle(runs, 500)
    return largest(b - a for a, b in zip(few, many, strict=True) if a.mean > FULL)


@MEASURES
def active(runs: ExperimentRuns, *, users: int, buffer: int = 400, case: str = "sack") -> MeasuredQuantity:
    """Return the mean number of users in a session."""
    return _active(runs["sessions"].where(users=users, case=case, buffer=buffer))[0]


@MEASURES
def active_fall(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the users in a session with the largest buffer minus those with the smallest, maximum of populations."""
    found = []
    for users in (200, 500):
        every = _active(runs["sessions"].where(users=users, case="sack"))
        found.append((every[-1] - every[0]).noted(f"{users} users: from {every[0].mean:.1f} to {every[-1].mean:.1f}"))
    return largest(found)


# Parts.


def _bound(buffer: float, rtts: Sequence[float]) -> float:
    return float(rules.smallest_queue(MU, list(rtts), buffer))


def _crossings(points: ExperimentPoints, idle: float, *, waiting: bool = False) -> list[float]:
    """Return for each replication the buffer from which on the link no longer idles, by interpolation [packets]."""
    buffers = np.log([leading(point.labels["buffer"]) for point in points])
    every = np.array([point.link("empty_fraction") if waiting else 1 - point.link("utilization") for point in points])
    return [_crossing(buffers, one, idle) for one in every.T]


def _crossing(buffers: NDArray[np.float64], idle: NDArray[np.float64], target: float) -> float:
    above = np.flatnonzero(idle > target)
    if above.size == 0:
        return float(np.exp(buffers[0]))
    last = above[-1]
    if last == buffers.size - 1:
        return float("nan")
    part = (idle[last] - target) / (idle[last] - idle[last + 1])
    return float(np.exp(buffers[last] + part * (buffers[last + 1] - buffers[last])))


def _least_gap(low: list[MeasuredQuantity], high: list[MeasuredQuantity]) -> MeasuredQuantity:
    return least(b - a for a, b in zip(low, high, strict=True))


def _by_buffer(runs: ExperimentRuns, flows: int, column: str) -> list[MeasuredQuantity]:
    points = runs["loss"].where(flows=flows, case="quantiles")
    return [MeasuredQuantity(point.link(column), f"{point.labels['buffer']}") for point in points]


def _filled(runs: ExperimentRuns, flows: int) -> list[MeasuredQuantity]:
    points = runs["loss"].where(flows=flows, case="quantiles")
    return [
        MeasuredQuantity(point.link("backlog_packets"), f"{flows} flows, {point.labels['buffer']}")
        / leading(point.labels["buffer"])
        for point in points
    ]


def _idle(runs: ExperimentRuns, users: int) -> list[MeasuredQuantity]:
    points = runs["sessions"].where(users=users, case="sack")
    return [MeasuredQuantity(1 - point.link("utilization"), f"{point.labels['buffer']}") for point in points]


def _active(points: ExperimentPoints) -> list[MeasuredQuantity]:
    """Return the means over replications, which the document has only as means."""
    every = [point.document["groups"][0]["transfers"]["open"] for point in points]
    return [
        MeasuredQuantity(one["mean"], "" if one["ci95"] is None else f"± {one['ci95']:.1f}", half=one["ci95"])
        for one in every
    ]
