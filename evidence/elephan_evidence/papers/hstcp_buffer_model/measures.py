"""Measures of the claims of the first paper.

*Source*: Barman2004, Figures 3 to 8, and the equations of Sections II to IV.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elephan.metrics import jain
from elephan.theory import hstcp
from elephan_evidence.papers.hstcp_buffer_model import fixed_point_measures, mixed_measures
from elephan_evidence.papers.hstcp_buffer_model.links import LINKS, SHARES, modelled, red_at, tail_at, two_in_step
from elephan_evidence.papers.measured import MeasuredQuantity, largest, least
from elephan_evidence.papers.measures import MeasureRegistry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

MEASURES = MeasureRegistry()
MEASURES.update(fixed_point_measures.MEASURES)
MEASURES.update(mixed_measures.MEASURES)
BELOW = (0.1, 0.02, 0.005, 0.001)
"""Decreasing shares of the buffer at which windows are compared."""
KNEE, SATURATED, NOISE = 0.2, 0.11, 0.01
"""Thresholds of a significant fall, of a marginal gain, and of noise [utilization], for the 1 Gbit/s claims."""
FULL = 0.99
"""Utilization from which a link counts as full: a larger buffer cannot add to it, and steps are noise."""
SHORT = 0.03
"""Additional tolerance of shortened runs, which have one seed and windows that are still growing."""


def point(runs: ExperimentRuns, experiment: str, share: float) -> ExperimentPoint:
    """Return the point of an experiment whose buffer is a share of its link's."""
    return runs[experiment].at(buffer=LINKS[_link(experiment)].packets(share))


def curve(
    runs: ExperimentRuns, experiment: str, case: str = "", column: str = "utilization"
) -> dict[float, MeasuredQuantity]:
    """Return a column of the link at each share of the figures at which there are runs.

    Parameters
    ----------
    experiment : str
        Name of the experiment, which ends with its link unless cases are named by links.

    Returns
    -------
    dict of float to MeasuredQuantity
        Values by share, in their order; each has its share in the note.
    """
    link = case or _link(experiment)
    there = {
        int(at.labels["buffer"].split()[0]): at for at in runs[experiment] if not case or at.labels["case"] == case
    }
    return {
        share: MeasuredQuantity(there[buffer].link(column), f"{link} at a share of {share:g}")
        for share in SHARES
        if (buffer := LINKS[link].packets(share)) in there
    }


def _link(experiment: str) -> str:
    return experiment.split("-", 1)[1]


def _used(runs: ExperimentRuns, experiment: str, share: float) -> MeasuredQuantity:
    return MeasuredQuantity(point(runs, experiment, share).link("utilization"))


def _steps(used: dict[float, MeasuredQuantity]) -> list[MeasuredQuantity]:
    """Return the increase at each step of the buffer."""
    return [(after - before).noted(after.note) for before, after in pairwise(used.values())]


def loss_events(at: ExperimentPoint) -> MeasuredQuantity:
    """Return the loss events noticed by flows, per packet that arrives."""
    return MeasuredQuantity(at.flows("loss_events").sum(axis=1) / at.link("arrived"))


# Utilization against the buffer: Figures 3, 4, 7, 8.


@MEASURES
def utilization(runs: ExperimentRuns, experiment: str, share: float) -> MeasuredQuantity:
    """Return the utilization at one share."""
    return _used(runs, experiment, share)


@MEASURES
def gain(runs: ExperimentRuns, experiment: str, share: float, over: float) -> MeasuredQuantity:
    """Return the utilization at one share minus that at another."""
    return _used(runs, experiment, share) - _used(runs, experiment, over)


@MEASURES
def rises(runs: ExperimentRuns, experiment: str) -> MeasuredQuantity:
    """Return the smallest increase of utilization from one buffer to the next: above 0 if it rises throughout.

    Steps of a full link are credited with the noise, so that they are below 0 only for a larger fall.
    """
    return _least_rise(curve(runs, experiment).values())


def _least_rise(every: Iterable[MeasuredQuantity]) -> MeasuredQuantity:
    steps = pairwise(list(every))
    return least(
        ((after - before) + (NOISE if before.mean >= FULL else 0.0)).noted(f"step to {after.note}")
        for before, after in steps
    )


@MEASURES
def rises_to_saturation(runs: ExperimentRuns, experiment: str, knee: list[float], case: str = "") -> bool:
    """Return whether utilization rises with every buffer, falls below the knee and gains little beyond it."""
    used, spare = curve(runs, experiment, case), SHORT if runs.quick else 0.0
    below, above = (used[share] for share in knee)
    rises = least(_steps(used)).mean >= -NOISE - spare
    falls = (above - below).mean > KNEE - spare
    return rises and falls and (used[1.0] - above).mean < SATURATED + spare


@MEASURES
def distance(runs: ExperimentRuns, experiment: str, least_share: float, case: str = "") -> MeasuredQuantity:
    """Return the largest difference between model and runs over the buffers."""
    queue, link = experiment.split("-", 1)[0], case or _link(experiment)
    return largest(
        abs(used - modelled(queue, link, share).utilisation).noted(used.note)
        for share, used in curve(runs, experiment, case).items()
        if share >= least_share
    )


@MEASURES
def red_distance(runs: ExperimentRuns, least_share: float, experiment: str = "") -> MeasuredQuantity:
    """Return the largest difference between RED's fixed point and Adaptive RED over links and buffers."""
    return largest(
        distance(runs, experiment, least_share, link) if experiment else distance(runs, f"ared-{link}", least_share)
        for link in LINKS
    )


@MEASURES
def goodput_rises(runs: ExperimentRuns, experiment: str) -> MeasuredQuantity:
    """Return the smallest increase of the flows' rate from one buffer to the next, as a share of the link.

    The difference between half of the rate with the largest buffer and the rate with the smallest one also counts.
    """
    link = LINKS[_link(experiment)]
    shares = curve(runs, experiment)
    at = [point(runs, experiment, share) for share in shares]
    rates = [MeasuredQuantity(each.flows("goodput_bps").sum(axis=1)) / (8000 * link.rate) for each in at]
    named = [rate.noted(used.note) for rate, used in zip(rates, shares.values(), strict=True)]
    slow = (named[-1] * 0.5 - named[0]).noted("the smallest buffer, below half of the largest's")
    return least([_least_rise(named), slow])


# Loss.


@MEASURES
def loss(runs: ExperimentRuns, experiment: str, share: float) -> MeasuredQuantity:
    """Return the lost packets over the packets that arrived."""
    return MeasuredQuantity(point(runs, experiment, share).link("loss_ratio"))


@MEASURES
def usual_loss(runs: ExperimentRuns, experiment: str) -> MeasuredQuantity:
    """Return the median loss over the buffers."""
    return _median(curve(runs, experiment, column="loss_ratio").values())


@MEASURES
def usual_events(runs: ExperimentRuns, experiment: str) -> MeasuredQuantity:
    """Return the median of the loss events, per packet that arrived, over the buffers."""
    return _median(loss_events(point(runs, experiment, share)) for share in curve(runs, experiment))


def _median(each: Iterable[MeasuredQuantity]) -> MeasuredQuantity:
    return MeasuredQuantity(np.median([one.samples for one in each], axis=0))


@MEASURES
def most_lost(runs: ExperimentRuns, experiment: str, buffer: int) -> MeasuredQuantity:
    """Return the largest loss ratio of the cases."""
    points = runs[experiment].where(buffer=buffer)
    return largest(MeasuredQuantity(at.link("loss_ratio"), str(at.labels["case"])) for at in points)


@MEASURES
def farthest_loss(
    runs: ExperimentRuns, experiment: str, claimed: float, above: float, case: str = ""
) -> MeasuredQuantity:
    """Return the loss ratio that is farthest from the claimed one, among the buffers above a share."""
    lost = [one for share, one in curve(runs, experiment, case, "loss_ratio").items() if share > above]
    return max(lost, key=lambda one: abs(float(np.log(one.mean / claimed))))


@MEASURES
def events(runs: ExperimentRuns, experiment: str, share: float) -> MeasuredQuantity:
    """Return the loss events noticed by flows, per packet that arrived."""
    return loss_events(point(runs, experiment, share))


@MEASURES
def time_below(runs: ExperimentRuns, experiment: str, share: float, window: float = 38.0) -> MeasuredQuantity:
    """Return the share of the time after the warm-up in which a flow's cwnd is below a window."""
    return MeasuredQuantity([np.mean(windows < window) for windows in _windows(runs, experiment, share)])


@MEASURES
def typical_window(runs: ExperimentRuns, experiment: str, share: float) -> MeasuredQuantity:
    """Return the median of all flows' cwnd over the time after the warm-up [segments]."""
    return MeasuredQuantity([np.median(windows) for windows in _windows(runs, experiment, share)])


def _windows(runs: ExperimentRuns, experiment: str, share: float) -> list[NDArray[np.float64]]:
    """Return the samples of cwnd after the warm-up, by replication."""
    at = point(runs, experiment, share)
    samples = at.samples("flows")
    late = samples["time_s"] >= at.document["run"]["warmup_s"]
    of = samples["replication"]
    return [samples["cwnd_segments"][late & (of == replication)] for replication in np.unique(of)]


@MEASURES
def towards_reno(runs: ExperimentRuns, experiment: str) -> MeasuredQuantity:
    """Return the smallest relative fall of the median window to the next smaller buffer, if Reno's region is reached.

    It is reached if with the smallest buffer windows are below 38 segments for more of the time than with the largest;
    otherwise the result is -1.
    """
    below = [time_below(runs, experiment, share) for share in BELOW]
    windows = [typical_window(runs, experiment, share) for share in BELOW]
    seen = ", ".join(
        f"{window.mean:.0f} at {share:g} ({100 * time.mean:.2g} % below 38)"
        for share, window, time in zip(BELOW, windows, below, strict=True)
    )
    if (below[-1] - below[0]).mean <= 0:
        return MeasuredQuantity(-1.0, f"median windows: {seen}")
    falls = least((larger - smaller) / larger for larger, smaller in pairwise(windows))
    return falls.noted(f"median windows: {seen}")


# Two flows: Figures 5 and 6. The first has the longer round trip.


def _ratio(runs: ExperimentRuns, buffer: int) -> MeasuredQuantity:
    rates = runs["two-flows"].at(buffer=buffer).flows("goodput_bps")
    return MeasuredQuantity(rates[:, 1] / rates[:, 0])


@MEASURES
def shorter_gains(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the excess of the flow with the shorter round trip [Mbit/s], at the buffer where it is smallest."""
    return least(_ahead(runs, buffer) for buffer in (250, 10_000))


def _ahead(runs: ExperimentRuns, buffer: int) -> MeasuredQuantity:
    rates = runs["two-flows"].at(buffer=buffer).flows("goodput_bps") / 1e6
    more = rates[:, 1] - rates[:, 0]
    return MeasuredQuantity(more, f"{buffer} packets: ahead in {(more > 0).sum()} of {more.size} runs")


@MEASURES
def fairer_with_more(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the ratio of the two rates in the small buffer, minus that in the large one."""
    return _ratio(runs, 250) - _ratio(runs, 10_000)


@MEASURES
def ratio(runs: ExperimentRuns, case: str, buffer: int) -> MeasuredQuantity:
    """Return the rate of the flow with the shorter round trip over that of the other, which gives the case its name."""
    rates = runs["two-flows-open"].at(case=case, buffer=buffer).flows("goodput_bps")
    return MeasuredQuantity(rates[:, 1] / rates[:, 0])


@MEASURES
def ratio_in_step(_: ExperimentRuns, buffer: int) -> float:
    """Return the ratio for 80 and 40 ms if both flows are cut at each overflow."""
    first, second = two_in_step(buffer)
    return float(second / first)


# Other settings, for open points and deviations.


@MEASURES
def with_case(
    runs: ExperimentRuns, experiment: str, case: str, buffer: int, what: str = "utilization"
) -> MeasuredQuantity:
    """Return a column of the link in one case, or the loss events per packet."""
    at = runs[experiment].at(case=case, buffer=buffer)
    return loss_events(at) if what == "loss_events" else MeasuredQuantity(at.link(what))


@MEASURES
def evenness(runs: ExperimentRuns, case: str, buffer: int) -> MeasuredQuantity:
    """Return Jain's index of the rates of the ten flows on 1 Gbit/s."""
    rates = runs["senders-1g"].at(case=case, buffer=buffer).flows("goodput_bps")
    return MeasuredQuantity([jain(each) for each in rates])


@MEASURES
def averaged(runs: ExperimentRuns, w_q: float) -> MeasuredQuantity:
    """Return the utilization with a weight of the average."""
    return MeasuredQuantity(runs["ared-average"].at(w_q=w_q).link("utilization"))


@MEASURES
def beyond_droptail(runs: ExperimentRuns, link: str, share: float, experiment: str = "ared") -> MeasuredQuantity:
    """Return the utilization under Adaptive RED minus that under drop-tail."""
    return _column(runs, experiment, link, share, "utilization") - _used(runs, f"droptail-{link}", share)


@MEASURES
def loss_over_droptail(runs: ExperimentRuns, link: str, share: float, experiment: str = "ared") -> MeasuredQuantity:
    """Return the packets lost under Adaptive RED over those under drop-tail."""
    return _column(runs, experiment, link, share, "loss_ratio") / loss(runs, f"droptail-{link}", share)


@MEASURES
def filled(runs: ExperimentRuns, link: str, share: float) -> MeasuredQuantity:
    """Return the mean queue under Adaptive RED as a share of the buffer."""
    return _column(runs, "ared", link, share, "backlog_packets") / LINKS[link].packets(share)


def _column(runs: ExperimentRuns, experiment: str, link: str, share: float, column: str) -> MeasuredQuantity:
    """Return a column at one share, of an experiment for each link or of one with cases for them."""
    if experiment == "ared":
        return curve(runs, f"ared-{link}", column=column)[share]
    return curve(runs, experiment, link, column)[share]


# Results of formulas.


@MEASURES
def over_largest_product(_: ExperimentRuns, link: str, rate: float = 0.0) -> float:
    """Return the buffer at a share of 1, over the product of the largest round trip and the rate [bit/s]."""
    on = LINKS[link]
    return on.full / (on.rtts[-1] * (rate / 8000 if rate else on.rate))


@MEASURES
def period(_: ExperimentRuns, what: str, p: float, rtt: float = 0.12) -> float:
    """Return duration [s], packets or throughput [packets/s] of the period between two losses, in closed form."""
    return float(getattr(hstcp.closed_form(p, rtt), what))


@MEASURES
def droptail(_: ExperimentRuns, link: str, share: float) -> float:
    """Return the utilization of the fixed point of Section III."""
    return tail_at(link, share).utilisation


@MEASURES
def red(_: ExperimentRuns, link: str, share: float, p_max: float = 0.1) -> float:
    """Return the utilization of the fixed point of Section IV."""
    return red_at(link, share, p_max).utilisation


@MEASURES
def model_loss(_: ExperimentRuns, queue: str, link: str, share: float) -> float:
    """Return the loss rate of a fixed point."""
    return modelled(queue, link, share).loss


@MEASURES
def offered(_: ExperimentRuns, link: str, p: float) -> float:
    """Return the rate of the ten flows at a loss rate p without a queue, in capacities of the link."""
    on = LINKS[link]
    return float(hstcp.throughput(p, np.array(on.rtts)).sum() / on.rate)
