"""Measures of the claims about NR-HSTCP: recovery times in closed form, and shares on two hops in simulations.

*Source*: PhillipsHu2006; the settings are those of its examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.theory import fairness
from elephan_evidence.papers.measured import MeasuredQuantity
from elephan_evidence.papers.measures import MeasureRegistry
from elephan_evidence.papers.nr_hstcp import fairness_measures
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elephan_evidence.papers.measured import Found
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentPoints, ExperimentRuns

MEASURES = MeasureRegistry()
MEASURES.update(fairness_measures.MEASURES)
EXAMPLE_S = np.array([0.0875, 0.1, 0.1125, 0.125])
"""Round-trip times of the paper's example and of its curves for HSTCP."""
RATES_BPS = np.geomspace(1e6, 1e10, 60)
SHORT_S = 0.075
"""Round-trip time of the flow from S1."""


# Section III: recovery times, equations (4) to (9).


@MEASURES
def every_four_seconds(_: ExperimentRuns, rtt: float) -> float:
    """Return the rate [Mbit/s] of an HSTCP flow with a loss every 4 s, by whole round trips."""
    return float(fairness.share(fairness.highspeed, 4.0, rtt, method="steps")) / 1e6


@MEASURES
def ratio_every_four_seconds(runs: ExperimentRuns, short: float, long: float) -> float:
    """Return the rate at one RTT over that at another."""
    return every_four_seconds(runs, short) / every_four_seconds(runs, long)


@MEASURES
def recovery(_: ExperimentRuns, law: str, rtt: float, rate: float) -> Found:
    """Return the recovery time [s] at a rate [Mbit/s]."""
    return float(fairness.recovery_time(fairness.READINGS[law], 1e6 * rate, rtt))


@MEASURES
def rises_with_rtt(_: ExperimentRuns) -> Found:
    """Return whether HSTCP's recovery time rises with its RTT, at every rate."""
    times = fairness.recovery_time(fairness.highspeed, RATES_BPS[:, np.newaxis], EXAMPLE_S)
    return bool((np.diff(times, axis=1) > 0).all())


@MEASURES
def least_spread(_: ExperimentRuns) -> Found:
    """Return the smallest relative spread of HSTCP's recovery times at any rate of the figure."""
    return float(_spreads(fairness.highspeed, RATES_BPS, EXAMPLE_S).min())


@MEASURES
def largest_spread(_: ExperimentRuns, above: float) -> Found:
    """Return the largest relative spread of NR-HSTCP's from 75 to 250 ms above a rate [Mbit/s]."""
    rates = RATES_BPS[1e6 * above < RATES_BPS]
    return float(_spreads(fairness.normalised, rates, np.linspace(SHORT_S, 0.25, 8)).max())


@MEASURES
def bends(_: ExperimentRuns) -> Found:
    """Return whether the slope of HSTCP's curve in logarithms falls from 1 below 2 Mbit/s to under a third at 20.

    Standard TCP recovers in a time proportional to the rate; a(w) with 0.078 / w^1.2 has a slope of about a fifth.
    """
    times = np.log(fairness.recovery_time(fairness.highspeed, np.array([1e6, 2e6, 20e6, 40e6]), 0.1))
    below, above = (times[1] - times[0]) / np.log(2), (times[3] - times[2]) / np.log(2)
    return bool(abs(below - 1) < 1e-6 and above < 1 / 3)


@MEASURES
def longer_leaves_earlier(_: ExperimentRuns) -> Found:
    """Return the lowest rate at which NR-HSTCP adds more than a segment with 75 ms, over that with 250 ms."""
    return _leaves_a_segment(SHORT_S) / _leaves_a_segment(0.25)


@MEASURES
def short_adds_one(_: ExperimentRuns) -> Found:
    """Return whether with 75 ms it adds one segment per round trip below 11.8 Mbit/s, and more above."""
    below, above = np.geomspace(2e5, 11.7e6, 99), np.geomspace(11.9e6, 1e9, 99)
    one, more = (_normalised(rates * SHORT_S / 12000, SHORT_S)[0] for rates in (below, above))
    return bool((one == 1).all() and (more > 1).all())


@MEASURES
def only_normalised_is_even(_: ExperimentRuns) -> Found:
    """Return whether the slower of two flows always recovers first with NR-HSTCP, and not always with HSTCP or TCP."""
    rates, rtts = np.geomspace(20e6, 5e9, 25), np.linspace(SHORT_S, 0.25, 8)
    laws = (fairness.normalised, fairness.highspeed, fairness.reno)
    broken = [fairness.convergence(law, rates, rtts).violations for law in laws]
    return broken[0] == 0 and min(broken[1:]) > 0


@MEASURES
def grows_alike(_: ExperimentRuns, rtts: list[float], sizes: list[float]) -> Found:
    """Return whether gained bytes and reduction equal those of 100 ms and 1500 bytes, except for rounding."""
    first = _growth(0.1, 1500.0)
    return all(np.allclose(_growth(rtt, mss), first, rtol=1e-12) for rtt in rtts for mss in sizes)


@MEASURES
def doubling_window(_: ExperimentRuns, mss: float) -> Found:
    """Return the window [segments] up to which a flow of 1 s may double per round trip; to 1e-4."""
    w = np.linspace(2, 30, 280_001)
    return float(w[np.argmax(_normalised(w, 1.0, mss)[0] < w)])


@MEASURES
def standard_at_low_rates(_: ExperimentRuns) -> Found:
    """Return whether a = 1 and b = 1/2 wherever the scaled increase is at most a segment, for 75 to 250 ms."""
    for rtt in np.linspace(SHORT_S, 0.25, 8):
        rates = np.geomspace(1e4, _leaves_a_segment(rtt) * 1e6 * 0.999, 50)
        a, b = _normalised(rates * rtt / 12000, float(rtt))
        # Above the rate of 38 segments in 100 ms, b falls before a grows; 75 ms already shows it.
        standard = rates <= fairness.LOW_WINDOW * 12000 / fairness.RTT0_S
        if not ((a == 1).all() and (b[standard] == 0.5).all()):
            return False
    return True


@MEASURES
def least_increase(_: ExperimentRuns) -> Found:
    """Return the smallest a for windows of 1 to 10^6 segments and 10 ms to 1 s."""
    return _bounds(0)[0]


@MEASURES
def decrease_is_bounded(_: ExperimentRuns) -> Found:
    """Return whether b is within 0.1 and 0.5 for these, and reaches both."""
    return _bounds(1) == (fairness.HIGH_DECREASE, 0.5)


@MEASURES
def sharper(_: ExperimentRuns, rtt: float, which: str) -> Found:
    """Return NR-HSTCP's b minus HSTCP's at windows of 100 to 50,000 segments: the minimum or the maximum."""
    w = np.geomspace(100, 5e4, 50)
    ours, theirs = _normalised(w, rtt)[1], fairness.highspeed(w, np.array(rtt), np.array(1500.0))[1]
    return float((ours - theirs).min() if which == "least" else (ours - theirs).max())


@MEASURES
def increase(_: ExperimentRuns, window: float, rtt: float) -> Found:
    """Return the increase of NR-HSTCP [segments per RTT]."""
    return float(_normalised(window, rtt)[0])


@MEASURES
def decrease(_: ExperimentRuns, window: float, rtt: float) -> Found:
    """Return the share by which NR-HSTCP reduces its window."""
    return float(_normalised(window, rtt)[1])


def _normalised(
    window: NDArray[np.float64] | float, rtt: float, mss: float = 1500.0
) -> tuple[NDArray[np.float64], ...]:
    return fairness.normalised(np.asarray(window, dtype=float), np.asarray(rtt), np.asarray(mss))


def _spreads(law: fairness.Law, rates: NDArray[np.float64], rtts: NDArray[np.float64]) -> NDArray[np.float64]:
    times = fairness.recovery_time(law, rates[:, np.newaxis], rtts)
    return np.asarray(np.ptp(times, axis=1) / times.mean(axis=1))


def _leaves_a_segment(rtt: float) -> float:
    """Return the rate [Mbit/s] at which NR-HSTCP first adds more than one segment in a round trip, to 0.02 %."""
    rates = np.geomspace(1e4, 1e8, 40001)
    return float(rates[np.argmax(_normalised(rates * rtt / 12000, rtt)[0] > 1)] / 1e6)


def _growth(rtt: float, mss: float, rate: float = 2e9) -> tuple[float, float]:
    """Return the growth [bytes/s²] and the reduction at a rate [bit/s] where neither limit of (9) applies."""
    a, b = _normalised(rate * rtt / 8 / mss, rtt, mss)
    return float(a * mss / rtt**2), float(b)


def _bounds(which: int) -> tuple[float, float]:
    w = np.geomspace(1, 1e6, 500)
    values = np.array([_normalised(w, rtt)[which] for rtt in (0.01, 0.1, 1.0)])
    return float(values.min()), float(values.max())


# Section IV: two hops.


def goodput(point: ExperimentPoint, group: str) -> float:
    """Return the mean goodput of a group's flows [Mbit/s]."""
    return float(point.flows("goodput_bps", group).mean()) / 1e6


def across(points: Iterable[ExperimentPoint], group: str) -> MeasuredQuantity:
    """Return the goodput over several points: round-trip times are the repetitions of this experiment."""
    return MeasuredQuantity([goodput(point, group) for point in points])


def protocol(runs: ExperimentRuns, law: str, above: float = 0.0) -> ExperimentPoints:
    """Return the runs of a protocol with a ratio of RTTs above a number."""
    points = runs["two-hops"].where(law=law)
    longer = tuple(point for point in points if leading(point.labels["rtt"]) > 1e3 * SHORT_S * above)
    return type(points)(points.name, longer, points.failed)


@MEASURES
def share_ahead(runs: ExperimentRuns, law: str, above: float, times: float) -> Found:
    """Return the share of runs in which the flow of 75 ms has more than `times` times the other's rate."""
    points = protocol(runs, law, above)
    return _share(_ratios(points) > times, _ratios(points), points)


@MEASURES
def share_alike(runs: ExperimentRuns, law: str, above: float, within: float) -> Found:
    """Return the share of runs in which the rates of both flows differ by at most the factor `within`."""
    points = protocol(runs, law, above)
    ratios = _ratios(points)
    ahead = f"75 ms ahead in {(ratios > 1).sum()}, on average {np.exp(np.log(ratios).mean()):.2f} times the other"
    found = _share(abs(np.log(ratios)) <= np.log(within), ratios, points)
    return found.noted(f"{found.note}; {ahead}")


@MEASURES
def share_below_standard(runs: ExperimentRuns, law: str, above: float) -> Found:
    """Return the share of runs in which the long flow is slower than the mean of the standard TCP flows."""
    points = protocol(runs, law, above)
    standard = (across(points, "cross1") + across(points, "cross2")) / 2
    ratios = (standard / across(points, "long")).samples
    return _share(ratios > 1, ratios, points)


def _ratios(points: ExperimentPoints) -> NDArray[np.float64]:
    """Return the throughput of the flow of 75 ms over that of the other, by run."""
    return (across(points, "short") / across(points, "long")).samples


def _share(so: NDArray[np.bool_], ratios: NDArray[np.float64], points: ExperimentPoints) -> MeasuredQuantity:
    ends = (int(ratios.argmin()), int(ratios.argmax()))
    seen = " to ".join(f"{ratios[at]:.2f} (at {points.points[at].labels['rtt']})" for at in ends)
    return MeasuredQuantity(so.astype(float), f"{so.sum()} of {so.size} runs; ratios from {seen}")


@MEASURES
def trend(runs: ExperimentRuns, law: str) -> Found:
    """Return the change of the long flow's throughput from 75 to 250 ms over its mean, by linear regression."""
    points = protocol(runs, law)
    rtt = np.array([leading(point.labels["rtt"]) for point in points])
    got = across(points, "long").samples
    off = rtt - rtt.mean()
    slope = float(off @ got / (off @ off))
    left = got - got.mean() - slope * off
    # 1.96, as there are more than a hundred runs.
    half = 1.96 * float(np.sqrt(left @ left / (rtt.size - 2) / (off @ off)))
    return MeasuredQuantity(slope * 175 / got.mean(), half=half * 175 / got.mean())


@MEASURES
def used(runs: ExperimentRuns) -> Found:
    """Return the total throughput of both hops with NR-HSTCP over that with HSTCP."""
    return total(protocol(runs, "nr-hstcp")) / total(protocol(runs, "highspeed"))


def total(points: Iterable[ExperimentPoint]) -> MeasuredQuantity:
    """Return the sum of the throughputs of both hops [Mbit/s]; the two long paths count at each."""
    every = tuple(points)
    both = across(every, "short") + across(every, "long") + across(every, "cross1") + across(every, "cross2")
    return both * 2.0


# Details that the paper leaves open.


@MEASURES
def times_with(runs: ExperimentRuns, case: str, law: str) -> Found:
    """Return the throughput of the flow of 75 ms over that of the other under another assumption."""
    return _typical_ratio(runs["choices"].where(case=case, law=law))


@MEASURES
def gets_with(runs: ExperimentRuns, case: str, law: str, group: str) -> Found:
    """Return the throughput of each flow of a group under another assumption [Mbit/s]."""
    return across(runs["choices"].where(case=case, law=law), group).mean


@MEASURES
def times_by(runs: ExperimentRuns, estimate: str) -> Found:
    """Return the typical ratio of NR-HSTCP for one kind of round-trip-time estimate."""
    return _typical_ratio(runs["estimates"].where(estimate=estimate))


def _typical_ratio(points: ExperimentPoints) -> float:
    """Return the geometric mean over the tried RTTs: they are too few, and too different, for an interval."""
    return float(np.exp(np.mean(np.log(_ratios(points)))))


@MEASURES
def doubles_to(runs: ExperimentRuns, packet: str) -> Found:
    """Return the largest window [segments] at which an ACK added a whole segment, in a run of a flow of 1 s."""
    windows = runs["doubling"].at(packet=packet).samples()["cwnd_segments"]
    steps = np.diff(windows)
    # A sample may include two ACKs, but not at windows where each adds a whole segment: those are 4 ms apart.
    return float(windows[:-1][steps > 0.9995].max())
