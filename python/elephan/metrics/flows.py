"""Metrics of flows: goodput, round-trip times and completion times, from columns, samples and traces.

Source: RFC 5166 for the choice of metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.metrics.cards import metric

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@metric(
    "goodput",
    "Goodput",
    unit="bit/s",
    definition="Wire size of what the receiver has in order, each segment once, over the measured period.",
    source="RFC5166",
)
def goodput(segments: ArrayLike, packet_bytes: ArrayLike, span_s: float) -> NDArray[np.float64]:
    """Goodput of each flow.

    Parameters
    ----------
    segments : array_like, shape (flows,)
        Segments delivered in order in the span.
    packet_bytes : array_like, shape (flows,) [B]
        Wire size of a segment.
    span_s : float [s]

    Returns
    -------
    ndarray, shape (flows,) [bit/s]

    References
    ----------
    RFC5166.

    Examples
    --------
    >>> goodput([100, 200], 1000, 2.0).tolist()
    [400000.0, 800000.0]
    """
    return np.asarray(8.0 * np.asarray(segments, dtype=float) * np.asarray(packet_bytes, dtype=float) / span_s)


@metric(
    "srtt",
    "Round-trip time",
    unit="s",
    definition="The sender's smoothed round-trip time at the samples of the measured period, averaged.",
    source="RFC6298",
)
def mean_srtt(srtt_s: ArrayLike) -> float:
    """Mean of sampled smoothed round-trip times.

    Parameters
    ----------
    srtt_s : array_like [s]
        Values of 0 and NaN (before the first measurement) are ignored.

    Returns
    -------
    float [s]
        NaN if there is no other value.

    References
    ----------
    RFC6298.

    Examples
    --------
    >>> mean_srtt([0.0, 0.1, 0.3])
    0.2
    """
    values = np.asarray(srtt_s, dtype=float)
    known = values[values > 0.0]
    return float(known.mean()) if known.size else float("nan")


@metric(
    "rtt_ratio",
    "RTT fairness ratio",
    definition="Goodput per flow of the third of the flows with the shortest base RTTs over that of the third with the "
    "longest.",
    source="LakshmanMadhow1997",
)
def rtt_ratio(goodput_bps: ArrayLike, base_rtt_s: ArrayLike) -> float:
    """Ratio of the goodputs of flows with short and with long round-trip times.

    Parameters
    ----------
    goodput_bps : array_like, shape (flows,) [bit/s]
    base_rtt_s : array_like, shape (flows,) [s]

    Returns
    -------
    float [1]
        All flows with the RTT at the border of a third count in this third, so flows with equal RTTs are treated
        equally. NaN if all RTTs are equal, or if the third with the longest RTTs has a goodput of 0.

    References
    ----------
    LakshmanMadhow1997: throughput is proportional to 1/RTT^a, with a from 1 to 2 depending on the regime.

    Examples
    --------
    >>> rtt_ratio([9.0, 3.0, 1.0], [0.01, 0.1, 0.2])
    9.0
    """
    got, rtt = np.asarray(goodput_bps, dtype=float), np.asarray(base_rtt_s, dtype=float)
    if rtt.size == 0 or rtt.min() == rtt.max():
        return float("nan")
    order, third = np.sort(rtt), max(1, rtt.size // 3)
    short, long = got[rtt <= order[third - 1]], got[rtt >= order[-third]]
    return float(short.mean() / long.mean()) if long.mean() > 0 else float("nan")


@metric(
    "throughput_by_rtt",
    "Throughput per RTT bin",
    unit="bit/s",
    definition="Mean goodput of the flows whose base RTT lies in each bin.",
    source="LakshmanMadhow1997",
)
def throughput_by_rtt(goodput_bps: ArrayLike, base_rtt_s: ArrayLike, edges_s: ArrayLike) -> NDArray[np.float64]:
    """Mean goodput by base round-trip time.

    Parameters
    ----------
    goodput_bps : array_like, shape (flows,) [bit/s]
    base_rtt_s : array_like, shape (flows,) [s]
    edges_s : array_like, shape (bins + 1,) [s]
        Ascending; the last bin includes its upper edge.

    Returns
    -------
    ndarray, shape (bins,) [bit/s]
        NaN for an empty bin.

    References
    ----------
    LakshmanMadhow1997.

    Examples
    --------
    >>> throughput_by_rtt([1.0, 3.0, 5.0], [0.01, 0.02, 0.1], [0.0, 0.05, 0.1]).tolist()
    [2.0, 5.0]
    """
    rtt, edges = np.asarray(base_rtt_s, dtype=float), np.asarray(edges_s, dtype=float)
    sums, _ = np.histogram(rtt, edges, weights=np.asarray(goodput_bps, dtype=float))
    counts, _ = np.histogram(rtt, edges)
    return np.asarray(np.divide(sums, counts, out=np.full(counts.size, np.nan), where=counts > 0))


@metric(
    "convergence_time",
    "Convergence time",
    unit="s",
    definition="From the start of the second of two flows to the first time from which on neither has less than a "
    "share of (1 - delta)/2 of what both get, in every window.",
    source="Bansal2001",
    delta="how far from equal the shares may be; 0 is exactly equal",
)
def convergence_time(time_s: ArrayLike, rates: ArrayLike, start_s: float, *, delta: float = 0.1) -> float:
    """delta-fair convergence time of two flows.

    Parameters
    ----------
    time_s : array_like, shape (windows,) [s]
        Start of each window.
    rates : array_like, shape (2, windows)
        Rates of the flows, averaged over each window; any unit.
    start_s : float [s]
        Start of the second flow.
    delta : float [1]

    Returns
    -------
    float [s]
        NaN if the last window is not fair.

    References
    ----------
    RFC5166. Bansal2001, where the time runs from shares of 1/101 and 100/101 to the first fair shares. Here the time
    runs from the start of the second flow, and the shares must stay fair.

    Examples
    --------
    >>> convergence_time([0, 1, 2, 3], [[10, 8, 6, 5], [0, 2, 4, 5]], 0.0)
    3.0
    """
    time, both = np.asarray(time_s, dtype=float), np.asarray(rates, dtype=float)
    total = both.sum(axis=0)
    least = np.divide(both.min(axis=0), total, out=np.zeros(total.size), where=total > 0)
    # The factor 1 - 1e-12 accepts a share that rounding has left just below the limit.
    unfair = np.flatnonzero((least < 0.5 * (1.0 - delta) * (1.0 - 1e-12)) & (time >= start_s))
    first = unfair[-1] + 1 if unfair.size else int(np.searchsorted(time, start_s))
    return float(max(time[first] - start_s, 0.0)) if first < time.size else float("nan")


@metric(
    "recovery_time",
    "Recovery time after loss",
    unit="s",
    definition="From a window reduction to the first time that cwnd is again what it was before.",
    source="PhillipsHu2006",
)
def recovery_times(time_s: ArrayLike, cwnd_segments: ArrayLike, ssthresh_segments: ArrayLike) -> NDArray[np.float64]:
    """Time from each window reduction of a traced flow until its window has recovered.

    Parameters
    ----------
    time_s : array_like, shape (rows,) [s]
    cwnd_segments : array_like, shape (rows,) [segments]
    ssthresh_segments : array_like, shape (rows,) [segments]
        Columns of a trace. A reduction is a row with a smaller cwnd and another ssthresh than the row before.

    Returns
    -------
    ndarray, shape (reductions,) [s]
        NaN if the run ends before the window has recovered. The time includes further reductions before the recovery.

    References
    ----------
    PhillipsHu2006: the time of growth from w(1 - b) back to w, by a formula; here it is measured in a trace.

    Examples
    --------
    >>> recovery_times([0, 1, 2, 3, 4], [10, 5, 8, 10, 9], [20, 5, 5, 5, 9]).tolist()
    [2.0, nan]
    """
    time, cwnd, ssthresh = (np.asarray(x, dtype=float) for x in (time_s, cwnd_segments, ssthresh_segments))
    cuts = np.flatnonzero((np.diff(cwnd) < 0) & (ssthresh[1:] != ssthresh[:-1])) + 1
    found = np.full(cuts.size, np.nan)
    # Go from the last cut backwards. `higher` has the rows after the cut whose window exceeds those of all rows between
    # the cut and them; the nearest row is last.
    higher: list[int] = []
    row = time.size - 1
    for i in range(cuts.size - 1, -1, -1):
        while row >= cuts[i]:
            while higher and cwnd[higher[-1]] <= cwnd[row]:
                higher.pop()
            higher.append(row)
            row -= 1
        at = _first_at_least(cwnd, higher, cwnd[cuts[i] - 1])
        if at is not None:
            found[i] = time[at] - time[cuts[i]]
    return found


def _first_at_least(cwnd: NDArray[np.float64], higher: list[int], level: float) -> int | None:
    """Return the nearest row whose window is at least a level; `higher` has the farthest and highest row first."""
    low, high = 0, len(higher)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if cwnd[higher[middle]] >= level else (low, middle)
    return higher[low - 1] if low else None


@metric(
    "completion_time",
    "Flow completion time",
    unit="s",
    definition="From the start of a finite transfer to the instant at which the receiver has all of it.",
    source="Dukkipati2006",
)
def completion_times(start_s: ArrayLike, finished_s: ArrayLike) -> NDArray[np.float64]:
    """Completion times of finite transfers.

    Parameters
    ----------
    start_s, finished_s : array_like, shape (flows,) [s]
        The end is NaN for unfinished transfers.

    Returns
    -------
    ndarray, shape (flows,) [s]

    References
    ----------
    Dukkipati2006.

    Examples
    --------
    >>> completion_times([1.0, 2.0], [1.5, np.nan]).tolist()
    [0.5, nan]
    """
    return np.asarray(np.asarray(finished_s, dtype=float) - np.asarray(start_s, dtype=float))


@metric(
    "response_time_cdf",
    "Response-time distribution",
    definition="Share of all transfers begun that were complete within each time.",
    source="Dukkipati2006",
)
def response_time_cdf(times_s: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cumulative distribution of completion or response times.

    Parameters
    ----------
    times_s : array_like, shape (transfers,) [s]
        NaN for unfinished transfers, which count as longer than all others.

    Returns
    -------
    time_s : ndarray, shape (finished,) [s]
        Ascending.
    share : ndarray, shape (finished,) [1]

    References
    ----------
    Dukkipati2006.

    Examples
    --------
    >>> time, share = response_time_cdf([0.3, np.nan, 0.1, 0.2])
    >>> time.tolist(), share.tolist()
    ([0.1, 0.2, 0.3], [0.25, 0.5, 0.75])
    """
    times = np.asarray(times_s, dtype=float).ravel()
    known = np.sort(times[np.isfinite(times)])
    return known, np.arange(1, known.size + 1) / max(times.size, 1)


@metric(
    "slowdown",
    "Slowdown",
    definition="Completion time over the shortest possible: a packet's way to the receiver through empty queues, and "
    "every further one's time at the narrowest rate of the path.",
    source="Bender1998",
)
def slowdown(completion_s: ArrayLike, ideal_s: ArrayLike) -> NDArray[np.float64]:
    """Slowdown of transfers: completion time divided by the shortest possible time on the path.

    Parameters
    ----------
    completion_s : array_like, shape (transfers,) [s]
    ideal_s : array_like, shape (transfers,) [s]
        Shortest possible time: propagation to the receiver, the service time of one packet at every link of the path
        (the sender's own link included), and the service times of all further packets at the slowest link.

    Returns
    -------
    ndarray, shape (transfers,) [1]

    References
    ----------
    Bender1998, where it is called stretch.

    Examples
    --------
    >>> slowdown([0.9, 0.2], [0.18, 0.2]).round(6).tolist()
    [5.0, 1.0]
    """
    return np.asarray(np.asarray(completion_s, dtype=float) / np.asarray(ideal_s, dtype=float))
