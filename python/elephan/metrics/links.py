"""Metrics of links, from their counters, samples and histograms.

Source: RFC 5166 for the choice of metrics; HdrHistogram for the bins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from elephan.metrics.cards import metric

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

BINS_PER_DOUBLING = 32


def ratio(part: float, whole: float) -> float:
    """Divide two numbers; return 0 if the divisor is 0.

    Parameters
    ----------
    part, whole : float

    Returns
    -------
    float

    Examples
    --------
    >>> ratio(1, 4), ratio(0, 0)
    (0.25, 0.0)
    """
    return float(part) / float(whole) if whole else 0.0


def utilization_series(
    time_s: ArrayLike, begun_bytes: ArrayLike, rate_bps: float, *, bin_s: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Utilization of a link between consecutive samples, or over bins of several samples.

    Parameters
    ----------
    time_s : array_like, shape (samples,) [s]
        Times of the samples, at equal intervals.
    begun_bytes : array_like, shape (samples,) [B]
        Bytes that began service from the start of the run until each sample.
    rate_bps : float [bit/s]
    bin_s : float [s]
        Minimum length of a bin; it is rounded up to a whole number of sampling intervals.

    Returns
    -------
    begin_s : ndarray, shape (bins,) [s]
        Start of each bin. An incomplete bin at the end is omitted.
    utilization : ndarray, shape (bins,) [1]
        A packet counts completely in the bin in which its service begins, so a value can exceed 1 by one packet.

    References
    ----------
    RFC5166.

    Examples
    --------
    >>> begin, utilization = utilization_series([0, 1, 2, 3, 4], [0, 100, 200, 200, 250], 800.0, bin_s=2.0)
    >>> begin.tolist(), utilization.tolist()
    ([0.0, 2.0], [1.0, 0.25])
    """
    time, begun = np.asarray(time_s, dtype=float), np.asarray(begun_bytes, dtype=float)
    if time.size < 2:
        return np.empty(0), np.empty(0)
    step = max(1, int(np.ceil(bin_s / (time[1] - time[0]) - 1e-9)))
    time, begun = time[::step], begun[::step]
    return time[:-1], 8.0 * np.diff(begun) / (rate_bps * np.diff(time))


@metric(
    "utilization",
    "Utilization",
    definition="Bits that began service in the measured period over what the link could have carried in it.",
    source="RFC5166",
)
def utilization(begun_bytes: float, rate_bps: float, span_s: float) -> float:
    """Utilization of a link over a span.

    Parameters
    ----------
    begun_bytes : float [B]
        Bytes that began service in the span.
    rate_bps : float [bit/s]
    span_s : float [s]

    Returns
    -------
    float [1]

    References
    ----------
    RFC5166.

    Examples
    --------
    >>> utilization(1.25e6, 1e7, 2.0)
    0.5
    """
    return 8.0 * begun_bytes / (rate_bps * span_s)


@metric(
    "idle_fraction",
    "Idle fraction",
    definition="1 - utilization: what the link could have carried and did not.",
    source="RFC5166",
)
def idle_fraction(utilization: float) -> float:
    """Share of a link's capacity that was not used.

    Parameters
    ----------
    utilization : float [1]

    Returns
    -------
    float [1]

    References
    ----------
    RFC5166.

    Examples
    --------
    >>> idle_fraction(0.75)
    0.25
    """
    return 1.0 - utilization


@metric(
    "empty_fraction",
    "Empty fraction",
    definition="Share of the measured period in which no packet waits; one may be in service.",
    source="Barman2004",
)
def empty_fraction(histogram: ArrayLike) -> float:
    """Share of samples with an empty queue. Results contain the exact share of time instead.

    Parameters
    ----------
    histogram : array_like, shape (bins,)
        Histogram of the backlog at samples.

    Returns
    -------
    float [1]
        NaN without samples.

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> empty_fraction([3, 1])
    0.75
    """
    counts = np.asarray(histogram, dtype=float)
    return float(counts[0] / counts.sum()) if counts.sum() else float("nan")


@metric(
    "loss_ratio",
    "Loss ratio",
    definition="Packets dropped over packets arrived; of a group, data packets dropped anywhere over data packets "
    "sent.",
    source="RFC5166",
)
def loss_ratio(dropped: float, arrived: float) -> float:
    """Share of packets that are dropped.

    Parameters
    ----------
    dropped, arrived : float

    Returns
    -------
    float [1]
        0 if none arrived.

    References
    ----------
    RFC5166.

    Examples
    --------
    >>> loss_ratio(1, 8)
    0.125
    """
    return ratio(dropped, arrived)


@metric(
    "flows_hit_per_loss_event",
    "Flows hit per loss event",
    unit="flows",
    definition="Flows that lose a packet in one loss event of a link, in the mean; drops with less than one mean base "
    "RTT between one and the next are one event.",
    source="HassayounRos2008",
)
def flows_hit_per_loss_event(hit: float, events: float) -> float:
    """Mean number of flows that lose packets in a loss event.

    Parameters
    ----------
    hit : float
        Number of flows that lost a packet in an event, summed over all events.
    events : float
        Number of loss events.

    Returns
    -------
    float
        NaN without loss events.

    References
    ----------
    HassayounRos2008.

    Examples
    --------
    >>> flows_hit_per_loss_event(12, 4)
    3.0
    """
    return hit / events if events else float("nan")


@metric(
    "loss_synchronization",
    "Synchronization of losses",
    definition="Flows hit per loss event over the flows that send there: 1 when every event hits every flow.",
    source="HassayounRos2008",
)
def loss_synchronization(hit: float, events: float, flows: int) -> float:
    """Mean share of flows that lose a packet in a loss event.

    Parameters
    ----------
    hit, events : float
        As for `flows_hit_per_loss_event`.
    flows : int
        Number of flows that send data over the link.

    Returns
    -------
    float [1]
        NaN without loss events.

    References
    ----------
    HassayounRos2008.

    Examples
    --------
    >>> loss_synchronization(12, 4, 10)
    0.3
    """
    return flows_hit_per_loss_event(hit, events) / flows if flows else float("nan")


@metric(
    "backlog",
    "Mean backlog",
    unit="packets",
    definition="Packets waiting, the one in service not counted, averaged over the time of the measured period.",
    source="Little1961",
)
def mean_backlog(histogram: ArrayLike) -> float:
    """Mean of a histogram of the backlog. Results contain the exact mean over time instead.

    Parameters
    ----------
    histogram : array_like, shape (bins,)

    Returns
    -------
    float [packets]
        NaN without samples.

    References
    ----------
    Little1961.

    Examples
    --------
    >>> mean_backlog([1, 2, 1])
    1.0
    """
    counts = np.asarray(histogram, dtype=float)
    return float(counts @ bin_middles(counts.size) / counts.sum()) if counts.sum() else float("nan")


@metric(
    "occupancy",
    "Occupancy",
    definition="Mean backlog over the buffer.",
    source="Barman2004",
)
def occupancy(backlog_packets: float, buffer_packets: float | None) -> float:
    """Mean share of a buffer that is occupied.

    Parameters
    ----------
    backlog_packets : float [packets]
    buffer_packets : float or None [packets]
        None if unlimited.

    Returns
    -------
    float [1]
        NaN if the buffer is 0 or unlimited.

    References
    ----------
    Barman2004.

    Examples
    --------
    >>> occupancy(25.0, 100)
    0.25
    """
    return backlog_packets / buffer_packets if buffer_packets else float("nan")


@metric(
    "queueing_delay",
    "Mean queueing delay",
    unit="s",
    definition="Waiting time of the packets served, own service excluded: the integral of the backlog over packets "
    "served.",
    source="Little1961",
)
def queueing_delay(backlog_packets: float, served_per_s: float) -> float:
    """Mean waiting time by Little's law.

    Parameters
    ----------
    backlog_packets : float [packets]
        Mean over time.
    served_per_s : float [1/s]

    Returns
    -------
    float [s]
        0 if nothing is served.

    References
    ----------
    Little1961.

    Examples
    --------
    >>> queueing_delay(50.0, 1000.0)
    0.05
    """
    return ratio(backlog_packets, served_per_s)


def bin_lowers(count: int) -> NDArray[np.float64]:
    """Lower limits of the first `count` bins of the engine's histograms.

    Each whole number below 64 has its own bin; above, there are 32 bins per doubling.

    Parameters
    ----------
    count : int

    Returns
    -------
    ndarray, shape (count,)

    Examples
    --------
    >>> bin_lowers(67)[[0, 1, 63, 64, 65, 66]].tolist()
    [0.0, 1.0, 63.0, 64.0, 66.0, 68.0]
    """
    bins = np.arange(count, dtype=np.int64)
    octaves = np.maximum(bins // BINS_PER_DOUBLING - 1, 0)
    return np.asarray(np.ldexp((bins - BINS_PER_DOUBLING * octaves).astype(float), octaves))


def bin_middles(count: int) -> NDArray[np.float64]:
    """Midpoints of the first `count` bins: means of the smallest and the largest whole number in each.

    Parameters
    ----------
    count : int

    Returns
    -------
    ndarray, shape (count,)

    Examples
    --------
    >>> bin_middles(66)[[0, 63, 64, 65]].tolist()
    [0.0, 63.0, 64.5, 66.5]
    """
    lowers = bin_lowers(count + 1)
    return (lowers[:-1] + lowers[1:] - 1.0) / 2.0


@cache
def _all_middles() -> NDArray[np.float64]:
    """Midpoints of all bins of a histogram of 64-bit values."""
    return bin_middles(60 * BINS_PER_DOUBLING)


@metric(
    "percentile",
    "Percentiles of backlog and queueing delay",
    definition="The smallest value that at least a share of the samples does not exceed, to 1.6 %; delays are what a "
    "packet arriving at the sample would wait at a first-in first-out link, or with `record = { delays = true }` those "
    "of every packet served.",
    source="RFC5166",
)
def percentile(histogram: ArrayLike, share: float) -> float:
    """Quantile of a histogram of the engine.

    Parameters
    ----------
    histogram : array_like, shape (bins,)
    share : float [1]
        Above 0, at most 1; 0.95 for the 95th percentile.

    Returns
    -------
    float
        Midpoint of the bin of the quantile, in the histogram's unit: exact below 64, within 1/64 of the value above.
        NaN without samples.

    References
    ----------
    RFC5166.

    Examples
    --------
    >>> percentile([5, 3, 1, 1], 0.5), percentile([5, 3, 1, 1], 0.9)
    (0.0, 2.0)
    """
    return float(percentiles([histogram], [share])[0, 0])


def percentiles(histograms: Sequence[ArrayLike], shares: Sequence[float]) -> NDArray[np.float64]:
    """Quantiles of several histograms of the engine, see `percentile`.

    Parameters
    ----------
    histograms : sequence of array_like, shape (bins,) each
    shares : sequence of float [1]

    Returns
    -------
    ndarray, shape (histograms, shares)
        NaN without samples.

    Examples
    --------
    >>> percentiles([[5, 3, 1, 1], [0, 1], []], [0.5, 0.9])
    array([[ 0.,  2.],
           [ 1.,  1.],
           [nan, nan]])
    """
    found = np.full((len(histograms), len(shares)), np.nan)
    for row, histogram in zip(found, histograms, strict=True):
        counted = np.asarray(histogram, dtype=np.int64).cumsum()
        total = int(counted[-1]) if counted.size else 0
        if total:
            # The subtraction of 1e-9 prevents that rounding increases the rank by one.
            ranks = [max(math.ceil(share * total - 1e-9), 1) for share in shares]
            row[:] = _all_middles()[counted.searchsorted(ranks)]
    return found


@metric(
    "distribution",
    "Distribution of backlog and queueing delay",
    definition="Share of samples, or of packets, at or below each value.",
    source="RFC5166",
)
def distribution(histogram: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cumulative distribution of a histogram of the engine.

    Parameters
    ----------
    histogram : array_like, shape (bins,)

    Returns
    -------
    value : ndarray, shape (used bins,)
        Largest whole number of each bin that is not empty.
    share : ndarray, shape (used bins,) [1]

    References
    ----------
    RFC5166.

    Examples
    --------
    >>> value, share = distribution([1, 0, 3])
    >>> value.tolist(), share.tolist()
    ([0.0, 2.0], [0.25, 1.0])
    """
    counts = np.asarray(histogram, dtype=float)
    used = np.flatnonzero(counts)
    return bin_lowers(counts.size + 1)[used + 1] - 1.0, np.cumsum(counts)[used] / max(counts.sum(), 1.0)
