"""Measures of the claims about web traffic beside HSTCP and gHSTCP: loss at the bottleneck, and response times.

*Source*: Zhang2005, cases 32 to 35. The response time of an object ends when its client has received all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan_evidence.papers.measured import MeasuredQuantity, least, mean
from elephan_evidence.papers.measures import MeasureRegistry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elephan_evidence.papers.measured import Found
    from elephan_evidence.papers.runs import ExperimentRuns

    Floats = NDArray[np.float64]

MEASURES = MeasureRegistry()
RATES = (1000, 500)
"""Rates of the bottleneck [Mbit/s]."""
BUFFERS = (5000, 500)
"""Buffers of the bottleneck [packets]."""
COUNTS = (5, 10, 20)
"""Numbers of high-speed flows."""
LAWS = ("highspeed", "ghstcp")
BOTTLENECK = "bottleneck"
DECILES = tuple(q / 10 for q in range(1, 10))
"""Quantiles at which two distributions are compared."""


def loss(runs: ExperimentRuns, rate: int, buffer: int, count: int, law: str) -> MeasuredQuantity:
    """Return packets lost at the bottleneck over packets arrived there [1]."""
    point = runs["web-loss"].at(rate=rate, buffer=buffer, count=count, law=law)
    return MeasuredQuantity(point.link("loss_ratio", BOTTLENECK))


@MEASURES
def web_gentle_loses(runs: ExperimentRuns, rate: int, buffer: int, count: int) -> Found:
    """Return the loss under gHSTCP minus the loss under HSTCP [1]."""
    return loss(runs, rate, buffer, count, "ghstcp") - loss(runs, rate, buffer, count, "highspeed")


def buffer_rise(runs: ExperimentRuns, rate: int, count: int, law: str) -> MeasuredQuantity:
    """Return the rise of the loss from 5000 to 500 packets of buffer [1]."""
    large, small = (loss(runs, rate, buffer, count, law) for buffer in BUFFERS)
    return (small - large).noted(f"least with {rate} Mbit/s, {count} flows, {law}")


@MEASURES
def web_least_rise_by_buffer(runs: ExperimentRuns) -> Found:
    """Return the smallest of the rises by buffer [1]."""
    return least(buffer_rise(runs, rate, count, law) for rate in RATES for count in COUNTS for law in LAWS)


@MEASURES
def web_hstcp_rises_more(runs: ExperimentRuns) -> Found:
    """Return the rise under HSTCP minus that under gHSTCP, mean over bandwidths and numbers of flows [1]."""
    both = [[buffer_rise(runs, rate, count, law) for law in LAWS] for rate in RATES for count in COUNTS]
    more = [hstcp - gentle for hstcp, gentle in both]
    return mean(more).noted(f"in {sum(one.mean > 0 for one in more)} of {len(more)} settings")


@MEASURES
def web_least_rise_by_rate(runs: ExperimentRuns) -> Found:
    """Return the smallest rise of the loss from 1000 to 500 Mbit/s [1]."""

    def rise(buffer: int, count: int, law: str) -> MeasuredQuantity:
        fast, slow = (loss(runs, rate, buffer, count, law) for rate in RATES)
        return (slow - fast).noted(f"least with {buffer} packets, {count} flows, {law}")

    return least(rise(buffer, count, law) for buffer in BUFFERS for count in COUNTS for law in LAWS)


def responses(runs: ExperimentRuns, law: str) -> list[Floats]:
    """Return the response times of case 32 with ten flows [s], by replication."""
    return runs["web-responses"].at(law=law).transfers("duration_s", "web")


@MEASURES
def web_left(runs: ExperimentRuns) -> Found:
    """Return the smallest difference between the deciles of response times under HSTCP and under gHSTCP [s]."""
    hstcp, gentle = (responses(runs, law) for law in LAWS)
    tenths = [_earlier(hstcp, gentle, q) for q in DECILES]
    left = sum(one.mean > 0 for one in tenths)
    return least(tenths).noted(f"left at {left} of {len(tenths)} tenths, " + least(tenths).note)


def _earlier(hstcp: Sequence[Floats], gentle: Sequence[Floats], q: float) -> MeasuredQuantity:
    gaps = [np.quantile(a, q) - np.quantile(b, q) for a, b in zip(hstcp, gentle, strict=True)]
    return MeasuredQuantity(gaps, f"least at {100 * q:.0f} %")


@MEASURES
def web_faster(runs: ExperimentRuns, q: float | None = None) -> Found:
    """Return the response time under HSTCP minus that under gHSTCP [s]: quantile `q`, or the mean."""
    hstcp, gentle = (responses(runs, law) for law in LAWS)
    if q is None:
        return MeasuredQuantity([a.mean() - b.mean() for a, b in zip(hstcp, gentle, strict=True)])
    return _earlier(hstcp, gentle, q).noted("")


@MEASURES
def web_queue(runs: ExperimentRuns) -> Found:
    """Return the mean backlog under gHSTCP minus that under HSTCP, case 32 with ten flows [packets]."""
    hstcp, gentle = (
        MeasuredQuantity(runs["web-responses"].at(law=law).link("backlog_packets", BOTTLENECK)) for law in LAWS
    )
    return (gentle - hstcp).noted(f"{gentle.mean:.0f} under gHSTCP, {hstcp.mean:.0f} under HSTCP")


@MEASURES
def web_later_than(runs: ExperimentRuns, seconds: float) -> Found:
    """Return the share of responses later than `seconds` under HSTCP minus that under gHSTCP [1]."""
    hstcp, gentle = (MeasuredQuantity([np.mean(times > seconds) for times in responses(runs, law)]) for law in LAWS)
    return hstcp - gentle


# Details that the paper leaves open.


@MEASURES
def web_loss_with(runs: ExperimentRuns, case: str) -> Found:
    """Return the loss under gHSTCP over loss under HSTCP, in case 32 with ten flows and another assumption."""
    hstcp, gentle = (
        MeasuredQuantity(runs["web-choices"].at(case=case, law=law).link("loss_ratio", BOTTLENECK)) for law in LAWS
    )
    return gentle / hstcp


@MEASURES
def web_response_with(runs: ExperimentRuns, case: str) -> Found:
    """Return the mean response time under HSTCP minus that under gHSTCP [s], in the same case."""
    hstcp, gentle = (_mean_response(runs, case, law) for law in LAWS)
    return hstcp - gentle


def _mean_response(runs: ExperimentRuns, case: str, law: str) -> float:
    groups = runs["web-choices"].at(case=case, law=law).document["groups"]
    [web] = [group for group in groups if group["name"] == "web"]
    return float(web["transfers"]["completion_time_s"]["mean"])
