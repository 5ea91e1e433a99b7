"""Measures of the claims about segment sizes, other queues, other laws and slow links.

*Source*: PhillipsHu2006, which proves fairness between round-trip times and segment sizes for losses at equal times,
and simulates round-trip times behind drop-tail alone: the rest is simulated here. Two flows are compared by the ratio
of their rates, and ratios by their logarithms, so that twice and half are equally far from equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan_evidence.papers.measured import MeasuredQuantity, least
from elephan_evidence.papers.measures import MeasureRegistry
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elephan_evidence.papers.measured import Found
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentPoints, ExperimentRuns

MEASURES = MeasureRegistry()
HOPS = ("hop1", "hop2")
LAWS = ("highspeed", "nr-hstcp", "bic", "fast")
PACKETS, BYTES = "500 packets", "750 kB"
"""Limits of the hops' queues, counted in packets or bytes."""
STEP_S = 0.1
"""Time between samples of cwnd [s]."""
FALL = 0.05
"""Fall of cwnd within two samples that counts as a cut; the laws cut by a tenth or more, and grow again in between."""
TOGETHER_S = 0.3
"""Largest time between cuts of two flows from one overflow: the longer round trip and its queueing."""


def ratio(point: ExperimentPoint, over: str = "short", under: str = "long") -> MeasuredQuantity:
    """Return the rate of a flow of one group over that of a flow of another.

    Parameters
    ----------
    point : ExperimentPoint
    over, under : str

    Returns
    -------
    MeasuredQuantity
    """
    first, second = (MeasuredQuantity(point.flows("goodput_bps", group).mean(axis=1)) for group in (over, under))
    return first / second


def log(found: MeasuredQuantity) -> MeasuredQuantity:
    """Return the logarithm, keeping the note."""
    return MeasuredQuantity(np.log(found.samples), found.note)


def farthest(each: Iterable[MeasuredQuantity]) -> MeasuredQuantity:
    """Return the ratio that is farthest from 1, in either direction."""
    return max(each, key=lambda one: float(np.abs(np.log(one.mean))))


# Segment sizes.


def larger_over_smaller(point: ExperimentPoint) -> MeasuredQuantity:
    """Return the rate of the flow of larger segments over that of the flow of smaller ones."""
    size = leading(point.labels["packet"])
    named = f"1500 and {size:.0f} bytes, {point.labels['buffer']}"
    larger, smaller = ("long", "short") if size > 1500 else ("short", "long")
    return ratio(point, larger, smaller).noted(named)


@MEASURES
def by_segment(runs: ExperimentRuns, *, law: str, counts: str) -> Found:
    """Return the throughput of larger over smaller segments, farthest from 1, by what the queues count."""
    every = {
        case: farthest(larger_over_smaller(point) for point in runs["segments"].where(case=case, buffer=_room(counts)))
        for case in ("highspeed", "nr-hstcp")
    }
    other = every["highspeed" if law == "nr-hstcp" else "nr-hstcp"]
    return every[law].noted(f"{every[law].note}; {_words(law, other=True)} {other.mean:.2g}")


@MEASURES
def segments_bias_less(runs: ExperimentRuns, *, counts: str) -> Found:
    """Return the logarithm of HSTCP's ratio minus that of NR-HSTCP's, minimum over segment sizes."""
    points = runs["segments"].where(buffer=_room(counts))
    found = []
    for packet in points.labels("packet"):
        one, other = (larger_over_smaller(points.at(case=case, packet=packet)) for case in ("highspeed", "nr-hstcp"))
        found.append((log(one) - log(other)).noted(f"{packet}: {one.mean:.2g} and {other.mean:.2g}"))
    return least(found)


@MEASURES
def smaller_loses_oftener(runs: ExperimentRuns, *, law: str, counts: str) -> Found:
    """Return the loss events of the flow of 576 bytes over those of the flow of 1500."""
    point = runs["segments"].where(case=law, buffer=_room(counts)).at(packet=576)
    small, large = (MeasuredQuantity(point.flows("loss_events", group).sum(axis=1)) for group in ("long", "short"))
    return small / large


def _room(counts: str) -> str:
    return {"packets": PACKETS, "bytes": BYTES}[counts]


def _words(law: str, *, other: bool = False) -> str:
    return "HSTCP" if (law == "highspeed") != other else "NR-HSTCP"


# Other laws and queues.


def of_law(runs: ExperimentRuns, law: str, queue: str = "drop-tail") -> ExperimentPoints:
    """Return the runs of a law over two hops, one for each round trip of the longer path."""
    return runs["laws"].where(case=queue, law=law)


def bias(runs: ExperimentRuns, law: str, queue: str = "drop-tail") -> list[MeasuredQuantity]:
    """Return the rate of the flow of 75 ms over that of the other, for each round trip of the other."""
    return [ratio(point).noted(f"75 and {point.labels['rtt']}") for point in of_law(runs, law, queue)]


@MEASURES
def by_rtt(runs: ExperimentRuns, *, law: str, queue: str = "drop-tail") -> Found:
    """Return the throughput of the flow of 75 ms over that of the other, farthest from 1."""
    found = farthest(bias(runs, law, queue))
    hstcp = farthest(bias(runs, "highspeed", queue))
    return found.noted(f"{found.note}; HSTCP {hstcp.mean:.2g}")


@MEASURES
def less_biased(runs: ExperimentRuns, *, law: str, than: str) -> Found:
    """Return the logarithm of that ratio under one law minus under another, minimum over round trips."""
    found = []
    for one, other in zip(bias(runs, than), bias(runs, law), strict=True):
        # In both directions: a flow on the shorter path that is behind counts as much.
        gap = abs(log(one)) - abs(log(other))
        found.append(gap.noted(f"{one.note}: {one.mean:.2g} with {than}, {other.mean:.2g} with {law}"))
    return least(found)


@MEASURES
def red_softens(runs: ExperimentRuns, *, law: str = "highspeed") -> Found:
    """Return the logarithm of that ratio behind drop-tail minus behind RED, minimum over round trips."""
    pairs = zip(bias(runs, law), bias(runs, law, "red"), strict=True)
    return least(
        (log(one) - log(other)).noted(f"{one.mean:.2g} and {other.mean:.2g}, {one.note}") for one, other in pairs
    )


@MEASURES
def red_apart(runs: ExperimentRuns) -> Found:
    """Return the share of common cuts behind drop-tail minus behind RED, minimum over laws and round trips."""
    found = []
    for law in ("highspeed", "nr-hstcp"):
        for one, other in zip(of_law(runs, law), of_law(runs, law, "red"), strict=True):
            tail, red = together(one), together(other)
            found.append((tail - red).noted(f"{tail.mean:.2f} and {red.mean:.2f}, {_words(law)}, {one.labels['rtt']}"))
    return least(found)


@MEASURES
def used_behind(runs: ExperimentRuns, *, queue: str, law: str = "nr-hstcp") -> Found:
    """Return the utilization of the hop that is used least, minimum over round trips."""
    return least(
        MeasuredQuantity(point.link("utilization", hop), f"{point.labels['rtt']}, {hop}")
        for point in of_law(runs, law, queue)
        for hop in HOPS
    )


def together(point: ExperimentPoint) -> MeasuredQuantity:
    """Return the share of cuts that both flows have in common.

    Parameters
    ----------
    point : ExperimentPoint
        A point with samples of cwnd.

    Returns
    -------
    MeasuredQuantity
        Twice the common cuts over the cuts of both flows.
    """
    samples = point.samples("flows")
    late = samples["time_s"] >= point.document["run"]["warmup_s"]
    flows = [late & (samples["name"] == name) for name in ("short", "long")]
    found = []
    for replication in np.unique(samples["replication"]):
        of = samples["replication"] == replication
        cuts = [samples["time_s"][of & mine][cut_at(samples["cwnd_segments"][of & mine])] for mine in flows]
        common = sum(bool((np.abs(cuts[1] - at) <= TOGETHER_S).any()) for at in cuts[0])
        every = cuts[0].size + cuts[1].size
        found.append(min(2.0 * common / every, 1.0) if every else float("nan"))
    return MeasuredQuantity(found)


def cut_at(windows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the samples at which a window has been cut: the first of each fall.

    Parameters
    ----------
    windows : ndarray [segments]

    Examples
    --------
    >>> cut_at(np.array([100.0, 101.0, 71.0, 72.0, 73.0, 60.0])).tolist()
    [2, 5]
    """
    fell = windows[1:] < (1 - FALL) * windows[:-1]
    starts = fell & ~np.concatenate(([False], fell[:-1]))
    return np.flatnonzero(starts) + 1


# Slow links.


def _among(runs: ExperimentRuns, law: str, rate: float, rtt: float) -> MeasuredQuantity:
    return ratio(runs["slow-link"].at(case="among themselves", law=law, rate=rate, rtt=rtt))


@MEASURES
def no_worse_than_standard(runs: ExperimentRuns) -> Found:
    """Return the ratio of 75 ms to the longer path with standard TCP minus with NR-HSTCP, minimum over settings."""
    found = []
    for rate in map(leading, runs["slow-link"].labels("rate")):
        for rtt in (150, 225):
            one, other, hstcp = (_among(runs, law, rate, rtt) for law in ("reno", "nr-hstcp", "highspeed"))
            note = f"{rate:g} Mbit/s, {rtt} ms: {one.mean:.2f} and {other.mean:.2f}, HSTCP {hstcp.mean:.2f}"
            found.append((one - other).noted(note))
    return least(found)


@MEASURES
def beside_standard(runs: ExperimentRuns, *, rate: float, law: str = "nr-hstcp") -> Found:
    """Return the throughput of a flow of a law over that of a standard one beside it, both of 100 ms."""
    points = runs["slow-link"].where(case="beside standard TCP", law=law)
    found = ratio(points.at(rate=rate))
    faster = max(points, key=lambda point: leading(point.labels["rate"]))
    return found.noted(f"at {faster.labels['rate']} {ratio(faster).mean:.2f}")


# Figure 3, hop by hop.


@MEASURES
def behind_on_each_hop(runs: ExperimentRuns, *, above: float) -> Found:
    """Return the share of HSTCP's runs with a long flow slower than a hop's standard flow, minimum of both hops."""
    points = [point for point in runs["two-hops"].where(law="highspeed") if leading(point.labels["rtt"]) > 75 * above]
    found = []
    for group in ("cross1", "cross2"):
        behind = [float(ratio(point, group, "long").mean > 1) for point in points]
        found.append(MeasuredQuantity(float(np.mean(behind)), f"{sum(behind):.0f} of {len(points)} runs, {group}"))
    return least(found)


@MEASURES
def standard_over_long(runs: ExperimentRuns, *, law: str, above: float) -> Found:
    """Return the rate of a hop's two standard flows over that of the long flow there, mean of runs; the smaller hop."""
    points = [point for point in runs["two-hops"].where(law=law) if leading(point.labels["rtt"]) > 75 * above]
    sums = [[2 * ratio(point, group, "long").mean for point in points] for group in ("cross1", "cross2")]
    one, other = (MeasuredQuantity(float(np.exp(np.mean(np.log(each))))) for each in sums)
    return min(one, other, key=lambda each: each.mean)
