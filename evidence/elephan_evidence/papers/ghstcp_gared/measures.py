"""Measures of the claims of the gHSTCP and gARED paper; those about web traffic are in ``web_measures.py``.

*Source*: Zhang, Hasegawa and Murata 2005. An ordering "at every delay" is judged by the delay at which it is closest to
failing, among the delays at which the paper's own tables have it.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elephan.theory import elastic, highspeed, reno, sawtooth
from elephan.theory.fluid_queues import Red, with_pole
from elephan_evidence.papers.ghstcp_gared import cells, further_measures, intervals, traces, web_measures
from elephan_evidence.papers.ghstcp_gared.cells import CASES, DELAYS, OF, difference, index_of, measured, printed
from elephan_evidence.papers.ghstcp_gared.nulls import has_sack
from elephan_evidence.papers.ghstcp_gared.variants import claims, profiled
from elephan_evidence.papers.measured import Found, MeasuredQuantity, largest, least
from elephan_evidence.papers.measures import MeasureRegistry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

MEASURES = MeasureRegistry()
MEASURES.update(web_measures.MEASURES)
MEASURES.update(intervals.MEASURES)
MEASURES.update(further_measures.MEASURES)


# Tables 1 to 6.


@MEASURES
def cell(runs: ExperimentRuns, of: str, case: int, delay: int) -> MeasuredQuantity:
    """Return a cell of a table."""
    return measured(runs, of, case, delay)


@MEASURES
def varied(runs: ExperimentRuns, experiment: str, of: str, case: int, delay: int = 50) -> MeasuredQuantity:
    """Return a cell with a setting that differs from the tables', as named by ``experiment``."""
    return OF[of](_of(runs, experiment, case, delay))


@MEASURES
def above(runs: ExperimentRuns, of: str, case: int, other: int, but: int = 0) -> MeasuredQuantity:
    """Return the excess of a case over another at the delay where it is smallest."""
    return least(_differences(runs, of, case, other, but))


@MEASURES
def below(runs: ExperimentRuns, of: str, cases: Sequence[int], others: Sequence[int], but: int = 0) -> MeasuredQuantity:
    """Return the largest excess of cases over others, over delays and pairs: below 0 if all are less."""
    pairs = zip(cases, others, strict=True)
    return largest(each for case, other in pairs for each in _differences(runs, of, case, other, but))


@MEASURES
def gap_at(runs: ExperimentRuns, of: str, case: int, other: int, delay: int) -> MeasuredQuantity:
    """Return the excess of a case over another at one delay."""
    return difference(measured(runs, of, case, delay), measured(runs, of, other, delay))


@MEASURES
def apart(runs: ExperimentRuns, of: str, case: int, other: int) -> MeasuredQuantity:
    """Return the largest difference between two cases."""
    return largest(abs(each) for each in _differences(runs, of, case, other))


@MEASURES
def over(runs: ExperimentRuns, of: str, case: int, level: float) -> MeasuredQuantity:
    """Return the excess of a case over a level at the delay where it is smallest."""
    return least((measured(runs, of, case, delay) - level).noted(f"at {delay} ms") for delay in DELAYS)


@MEASURES
def falls(runs: ExperimentRuns, of: str, cases: Sequence[int]) -> MeasuredQuantity:
    """Return the smallest fall to the next longer delay, over all cases: negative if all fall."""
    steps = pairwise(DELAYS)
    return largest(
        difference(measured(runs, of, case, after), measured(runs, of, case, before)).noted(
            f"case {case}, {before} to {after} ms"
        )
        for before, after in steps
        for case in cases
    )


@MEASURES
def spread(runs: ExperimentRuns, of: str, case: int) -> MeasuredQuantity:
    """Return the variation of a case over the delays, as a share of its largest value."""
    every = np.array([measured(runs, of, case, delay).samples for delay in DELAYS])
    return MeasuredQuantity(1 - every.min(axis=0) / every.max(axis=0))


@MEASURES
def slow_ones_full(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the smallest excess, in case 1, of S1 over 90 Mbit/s per flow or of 95 % of the rest over S2."""
    s1, s2 = ({delay: measured(runs, of, 1, delay) for delay in DELAYS} for of in ("s1", "s2"))
    full = [(s1[delay] - 90.0).noted(f"S1 at {delay} ms") for delay in DELAYS]
    spare = [((s1[delay] * -5.0 + 2450.0) * 0.19 - s2[delay]).noted(f"S2 at {delay} ms") for delay in DELAYS]
    return least([*full, *spare])


@MEASURES
def within(runs: ExperimentRuns, of: str, by: float, tables: str = "table", *, sack: bool = False) -> float:
    """Count those of the 93 cells, or of those with SACK on the fast group, that are within `by` of the paper's."""
    cases = [case for case in CASES if has_sack(case) or not sack]
    return float(sum(abs(ours.mean - theirs) <= by for ours, theirs in _cells(runs, of, cases, tables)))


# Claims in the paper's simulator as inferred; other values of unstated details.


@MEASURES
def in_profile(runs: ExperimentRuns, claim: str) -> Found:
    """Return a claim's measure in the paper's simulator as inferred."""
    asked = claims()[claim]
    found: Found = MEASURES(asked.measure, profiled(runs, asked.experiments))
    return found


@MEASURES
def close(
    runs: ExperimentRuns, experiment: str, of: str, by: float, cases: Sequence[int], delays: Sequence[int] = DELAYS
) -> float:
    """Count the cells of some cases that are within `by` of the paper's in an experiment."""
    every = [(case, delay) for case in cases for delay in delays]
    found = [abs(OF[of](_of(runs, experiment, *at)).mean - getattr(printed()[at], of)) for at in every]
    return float(sum(miss <= by for miss in found))


@MEASURES
def times(runs: ExperimentRuns, experiment: str, what: str, group: str, case: int, delay: int = 50) -> float:
    """Return the frequency of ``timeouts`` or ``loss_events`` of a group, over that in the tables."""
    there, here = (
        _a_second(point, what, group) for point in (_of(runs, experiment, case, delay), cells.cell(runs, case, delay))
    )
    return there / here


# Figures 4 to 7, Section 5.


@MEASURES
def cut_together(runs: ExperimentRuns, cases: Sequence[int]) -> MeasuredQuantity:
    """Return how many more of the five S2 flows are cut together than by chance, in the case where it is smallest."""
    return least(_more_cut(runs, case) for case in cases)


@MEASURES
def falls_to_one(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the smaller of S2's common timeouts with gentle HighSpeed and their excess with HighSpeed (Figure 4)."""
    hstcp, gentle = (_resets(runs, case) for case in (8, 11))
    note = f"flows fall together {hstcp.mean:.1f} times with HighSpeed TCP, {gentle.mean:.1f} with gentle HighSpeed TCP"
    return least([gentle, hstcp - gentle]).noted(note)


@MEASURES
def cut_but_not_to_one(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the share of runs with one more common cut than by chance but no fall to one segment (Figure 5)."""
    fallen = [np.array([bool(each) for each in traces.resets(runs["traces"].at(case=case))]) for case in (9, 12)]
    alone = [_more_cut(runs, case).samples < 1 for case in (9, 12)]
    bad = np.any([*fallen, *alone], axis=0)
    return MeasuredQuantity(~bad, f"a flow falls in {np.sum(fallen)} of {np.size(fallen)} runs")


@MEASURES
def empty(runs: ExperimentRuns, cases: Sequence[int], delay: int = 50) -> MeasuredQuantity:
    """Return the share of time with an empty queue at the bottleneck, in the case where it is smallest."""
    each = {case: MeasuredQuantity(cells.cell(runs, case, delay).link("empty_fraction")) for case in cases}
    note = ", ".join(f"{100 * one.mean:.1f} % in case {case}" for case, one in each.items())
    return least(each.values()).noted(note)


@MEASURES
def raises_late(runs: ExperimentRuns, looks: str) -> MeasuredQuantity:
    """Return how long beyond an interval the average falls before adaptive RED still raises max_p (Figure 7) [s].

    If it is smaller: how much shorter than an interval the average falls at most before gentle adaptive RED raises it.
    Routers check their average at ``"arrivals"``, as in Tables 5 and 6, or by a ``"clock"``.
    """
    end = ", arrivals" if looks == "arrivals" else ""
    cases = (f"adaptive RED{end}", f"gentle adaptive RED{end}")
    adaptive, gentle = (traces.lags(runs["surges"].at(case=case)) for case in cases)
    mean_lag = MeasuredQuantity([float(np.mean(each)) if each.size else 0.0 for each in adaptive])
    longest = _longest(gentle)
    note = f"{mean_lag.mean:.2f} s after the average's peak under adaptive RED, over {sum(map(len, adaptive))} falls"
    note += f"; at most {longest.samples.max():.2f} s under gentle adaptive RED"
    return least([mean_lag - traces.INTERVAL, -longest + traces.INTERVAL]).noted(note)


@MEASURES
def longest_lag(runs: ExperimentRuns, case: str) -> MeasuredQuantity:
    """Return the longest time that a router's average had been falling when max_p was raised [s]."""
    return _longest(traces.lags(runs["surges"].at(case=case)))


# Results of formulas.


@MEASURES
def curves_of_highspeed(_: ExperimentRuns) -> bool:
    """Return whether a(w) rises and b(w) falls (Figure 1)."""
    w, law = np.geomspace(38.1, 83000, 200), highspeed()
    return bool((np.diff(law.increase(w)) > 0).all() and (np.diff(law.decrease(w)) < 0).all())


@MEASURES
def window(_: ExperimentRuns, law: str, p: float) -> float:
    """Return the window of a response function (Figure 2) [segments]."""
    response = highspeed() if law == "highspeed" else reno()
    return float(response.window(p))


@MEASURES
def needed_window(_: ExperimentRuns, rate: float, rtt: float) -> float:
    """Return the segments of 1500 bytes that fill a path."""
    return elastic.mixed(rate, 1500, rtt, background=0.0).bottlenecked_packets


@MEASURES
def reno_loss(_: ExperimentRuns, w: float) -> float:
    """Return the loss rate at which Reno has a window."""
    return float(reno().loss(w))


@MEASURES
def reno_recovery(_: ExperimentRuns, w: float) -> float:
    """Return the time that Reno needs to recover a window after a loss [round trips]."""
    return float(sawtooth.recovery_time(reno(), w, 1.0))


@MEASURES
def fisher_z(_: ExperimentRuns, r: float, n: int) -> float:
    """Return Fisher's Z of a correlation of n samples (Section 4)."""
    return math.atanh(r) * math.sqrt(n - 3)


@MEASURES
def critical_correlation(_: ExperimentRuns, z: float, n: int) -> float:
    """Return the correlation of n samples at which Z reaches its threshold."""
    return math.tanh(z / math.sqrt(n - 3))


@MEASURES
def index(_: ExperimentRuns, first: float, second: float) -> float:
    """Return the max-min index of five flows with one throughput and five with another [Mbit/s]."""
    return index_of(first, second)


@MEASURES
def weight(_: ExperimentRuns, rate: float) -> float:
    """Return Adaptive RED's w_q for packets of 1500 bytes."""
    return float(with_pole(Red(2500, 7500), 1.0, rate / 12000).weight)


def _differences(runs: ExperimentRuns, of: str, case: int, other: int, but: int = 0) -> Iterator[MeasuredQuantity]:
    for delay in DELAYS:
        if delay != but:
            gap = difference(measured(runs, of, case, delay), measured(runs, of, other, delay))
            yield gap.noted(f"{case} and {other} at {delay} ms")


def _of(runs: ExperimentRuns, experiment: str, case: int, delay: int) -> ExperimentPoint:
    return runs[experiment].at(case=case, delay=delay)


def _a_second(point: ExperimentPoint, what: str, group: str) -> float:
    run = point.document["run"]
    measured_s = run["duration_s"] - run["warmup_s"]
    return float(point.flows(what, group).sum(axis=1).mean() / measured_s)


def _longest(lags: Sequence[traces.Floats]) -> MeasuredQuantity:
    return MeasuredQuantity([float(np.max(each, initial=0.0)) for each in lags])


def _resets(runs: ExperimentRuns, case: int) -> MeasuredQuantity:
    """Count the times at which two or more flows fall to one segment together."""
    return MeasuredQuantity(
        [sum(len(flows) > 1 for flows in one) for one in traces.resets(runs["traces"].at(case=case))]
    )


def _more_cut(runs: ExperimentRuns, case: int) -> MeasuredQuantity:
    """Return the flows cut together with another one, minus those expected by chance."""
    point = runs["traces"].at(case=case)
    cut, chance = (MeasuredQuantity([_size(each) for each in of(point)]) for of in (traces.cuts, traces.cuts_by_chance))
    return (cut - chance).noted(f"{cut.mean:.1f} at a time, {chance.mean:.1f} by chance, in case {case}")


def _size(groups: list[set[int]]) -> float:
    return float(np.mean([len(flows) for flows in groups])) if groups else float("nan")


def _cells(
    runs: ExperimentRuns, of: str, cases: Iterable[int], tables: str
) -> Iterator[tuple[MeasuredQuantity, float]]:
    for case in cases:
        for delay in DELAYS:
            ours = OF[of](_of(runs, f"{tables}{cells.table_of(case)}", case, delay))
            yield ours, getattr(printed()[case, delay], of)
