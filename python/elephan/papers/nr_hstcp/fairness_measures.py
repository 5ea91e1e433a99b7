"""Measures of the claims about segment sizes, other queues, other laws and slow links.

*Source*: PhillipsHu2006, which proves fairness between round-trip times and segment sizes for losses at equal times,
and simulates round-trip times behind drop-tail alone: the rest is simulated here. Two flows are compared by the ratio
of their rates, and ratios by their logarithms, so that twice and half are equally far from equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.papers.measured import MeasuredQuantity, least
from elephan.papers.measures import MeasureRegistry
from elephan.papers.runs import leading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elephan.papers.measured import Found
    from elephan.papers.runs import ExperimentPoint, ExperimentPoints, ExperimentRuns

MEASURES = MeasureRegistry()
HOPS = ("hop1", "hop2")
LAWS = ("highspeed", "nr-hstcp", "bic", "fast")
PACKETS, BYTES = "500 packets", "750 kB"
"""Limits of the hops' queues, counted in packets or bytes."""
STEP_S = 0.1
"""Time between samples of cwnd [s]."""
FALL = 0.05
"""Fall of cwnd within two samples that counts as a cut; the laws give up a tenth or more, and gain some of it again."""
TOGETHER_S = 0.3
"""Cuts of two flows that lie no farther apart come from one overflow: the longer round trip and its queueing."""


def ratio(point: ExperimentPoint, over: str = "short", under: str = "long") -> MeasuredQuantity:
    """Return what a flow of one group gets over what one of another gets.

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
    """Return the logarithm, with the note."""
    return MeasuredQuantity(np.log(found.samples), found.note)


def farthest(each: Iterable[MeasuredQuantity]) -> MeasuredQuantity:
    """Return the ratio that is farthest from 1, either way."""
    return max(each, key=lambda one: float(np.abs(np.log(one.mean))))


# Segment sizes.


def larger_over_smaller(point: ExperimentPoint) -> MeasuredQuantity:
    """Return what the flow of larger segments gets over what that of smaller ones gets."""
    size = leading(point.labels["packet"])
    named = f"1500 and {size:.0f} bytes, {point.labels['buffer']}"
    larger, smaller = ("long", "short") if size > 1500 else ("short", "long")
    return ratio(point, larger, smaller).noted(named)


@MEASURES
def by_segment(runs: ExperimentRuns, *, law: str, counts: str) -> Found:
    """Throughput of larger over smaller segments, where it is farthest from 1: queues that count packets or bytes."""
    every = {
        case: farthest(larger_over_smaller(point) for point in runs["segments"].where(case=case, buffer=_room(counts)))
        for case in ("highspeed", "nr-hstcp")
    }
    other = every["highspeed" if law == "nr-hstcp" else "nr-hstcp"]
    return every[law].noted(f"{every[law].note}; {_words(law, other=True)} {other.mean:.2g}")


@MEASURES
def segments_bias_less(runs: ExperimentRuns, *, counts: str) -> Found:
    """Logarithm of HSTCP's ratio less that of NR-HSTCP's, the least over segment sizes."""
    points = runs["segments"].where(buffer=_room(counts))
    found = []
    for packet in points.labels("packet"):
        one, other = (larger_over_smaller(points.at(case=case, packet=packet)) for case in ("highspeed", "nr-hstcp"))
        found.append((log(one) - log(other)).noted(f"{packet}: {one.mean:.2g} and {other.mean:.2g}"))
    return least(found)


@MEASURES
def smaller_loses_oftener(runs: ExperimentRuns, *, law: str, counts: str) -> Found:
    """Loss events of the flow of 576 bytes over those of the flow of 1500."""
    point = runs["segments"].where(case=law, buffer=_room(counts)).at(packet=576)
    small, large = (MeasuredQuantity(point.flows("loss_events", group).sum(axis=1)) for group in ("long", "short"))
    return small / large


def _room(counts: str) -> str:
    return {"packets": PACKETS, "bytes": BYTES}[counts]


def _words(law: str, *, other: bool = False) -> str:
    return "HSTCP" if (law == "highspeed") != other else "NR-HSTCP"


# Other laws and queues.


def of_law(runs: ExperimentRuns, law: str, queue: str = "drop-tail") -> ExperimentPoints:
    """Return the runs of a law over two hops, one for each round trip of the longer way."""
    return runs["laws"].where(case=queue, law=law)


def bias(runs: ExperimentRuns, law: str, queue: str = "drop-tail") -> list[MeasuredQuantity]:
    """Return what the flow of 75 ms gets over what the other gets, for each round trip of the other."""
    return [ratio(point).noted(f"75 and {point.labels['rtt']}") for point in of_law(runs, law, queue)]


@MEASURES
def by_rtt(runs: ExperimentRuns, *, law: str, queue: str = "drop-tail") -> Found:
    """Throughput of the flow of 75 ms over that of the other, where it is farthest from 1."""
    found = farthest(bias(runs, law, queue))
    hstcp = farthest(bias(runs, "highspeed", queue))
    return found.noted(f"{found.note}; HSTCP {hstcp.mean:.2g}")


@MEASURES
def less_biased(runs: ExperimentRuns, *, law: str, than: str) -> Found:
    """Logarithm of that ratio under one law less under another, the least over round trips."""
    found = []
    for one, other in zip(bias(runs, than), bias(runs, law), strict=True):
        # Either way: a flow that is behind with the shorter way counts as much.
        gap = abs(log(one)) - abs(log(other))
        found.append(gap.noted(f"{one.note}: {one.mean:.2g} with {than}, {other.mean:.2g} with {law}"))
    return least(found)


@MEASURES
def red_softens(runs: ExperimentRuns, *, law: str = "highspeed") -> Found:
    """Logarithm of that ratio behind drop-tail less behind RED, the least over round trips."""
    pairs = zip(bias(runs, law), bias(runs, law, "red"), strict=True)
    return least(
        (log(one) - log(other)).noted(f"{one.mean:.2g} and {other.mean:.2g}, {one.note}") for one, other in pairs
    )


@MEASURES
def red_apart(runs: ExperimentRuns) -> Found:
    """Share of cuts that hit both flows behind drop-tail less behind RED, the least over laws and round trips."""
    found = []
    for law in ("highspeed", "nr-hstcp"):
        for one, other in zip(of_law(runs, law), of_law(runs, law, "red"), strict=True):
            tail, red = together(one), together(other)
            found.append((tail - red).noted(f"{tail.mean:.2f} and {red.mean:.2f}, {_words(law)}, {one.labels['rtt']}"))
    return least(found)


@MEASURES
def used_behind(runs: ExperimentRuns, *, queue: str, law: str = "nr-hstcp") -> Found:
    """Utilization of the hop that is used least, the least over round trips."""
    return least(
        MeasuredQuantity(point.link("utilization", hop), f"{point.labels['rtt']}, {hop}")
        for point in of_law(runs, law, queue)
        for hop in HOPS
    )


def together(point: ExperimentPoint) -> MeasuredQuantity:
    """Return the share of the cuts of either flow that hit both.

    Parameters
    ----------
    point : ExperimentPoint
        With samples of cwnd.

    Returns
    -------
    MeasuredQuantity
        Cuts in common, twice, over the cuts of both flows.
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
    """Throughput of 75 ms over that of the longer way with standard TCP less with NR-HSTCP, the least over settings."""
    found = []
    for rate in map(leading, runs["slow-link"].labels("rate")):
        for rtt in (150, 225):
            one, other, hstcp = (_among(runs, law, rate, rtt) for law in ("reno", "nr-hstcp", "highspeed"))
            note = f"{rate:g} Mbit/s, {rtt} ms: {one.mean:.2f} and {other.mean:.2f}, HSTCP {hstcp.mean:.2f}"
            found.append((one - other).noted(note))
    return least(found)


@MEASURES
def beside_standard(runs: ExperimentRuns, *, rate: float, law: str = "nr-hstcp") -> Found:
    """Throughput of a flow of a law over that of a standard one beside it, both of 100 ms."""
    points = runs["slow-link"].where(case="beside standard TCP", law=law)
    found = ratio(points.at(rate=rate))
    faster = max(points, key=lambda point: leading(point.labels["rate"]))
    return found.noted(f"at {faster.labels['rate']} {ratio(faster).mean:.2f}")


# Figure 3, hop by hop.


@MEASURES
def behind_on_each_hop(runs: ExperimentRuns, *, above: float) -> Found:
    """Share of HSTCP's runs in which the long flow has less than a standard flow of a hop, the least of both hops."""
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
