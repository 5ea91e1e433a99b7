"""Statistics of a measurement: the inputs of the neural network, which corrects simple estimates by theory.

The simple estimates (`Base`) are: the rate is that of the best seconds; the base round-trip time is the known one, or
the smallest measured one; the buffer is the largest round-trip time minus the base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elephan.inference.paths import LAWS, MSS_B, PACKET_B
from elephan.inference.simulated import Samples

Floats = NDArray[np.float64]

Facts: TypeAlias = tuple[float | None, float | None, bool | None]
"""Known facts about a path: rate [bit/s], base RTT [s], and whether no other traffic uses it; None if unknown."""

LONGEST_S = 30.0
"""Part of a measurement that is used [s]; it equals the longest simulations of the training."""

NOISE_S = 2e-4
"""Differences of round-trip times below this value are noise of the hosts [s]."""

STARTS = np.array([0, 1, 2, 3, 5, 8, 12, 18, 25])
"""Indices of the intervals at the start whose queue is used as a statistic."""

CUT = 0.9
"""Ratio of consecutive windows below which a loss is assumed, if retransmissions are not counted."""


@dataclass(frozen=True)
class Base:
    """Estimates by theory.

    Parameters
    ----------
    rate_bps : float [bit/s]
        Rate on the wire.
    rtt_s : float [s]
        Base round-trip time: the known or the smallest one.
    queue_s : float [s]
        Largest round-trip time minus the base.
    """

    rate_bps: float
    rtt_s: float
    queue_s: float

    @property
    def queue_packets(self) -> float:
        """Queue in packets of 1,500 bytes."""
        return max(self.queue_s * self.rate_bps / 8 / PACKET_B, 1.0)


@dataclass(frozen=True)
class Episodes:
    """Loss episodes: groups of intervals with retransmissions, or with a cut of the window.

    Parameters
    ----------
    at : ndarray of int
        First interval of each episode.
    retransmits : ndarray
        Segments retransmitted in each episode; NaN if they are not counted.
    """

    at: NDArray[np.intp]
    retransmits: NDArray[Any]


def base(samples: Samples, rtt_s: float | None = None) -> Base:
    """Return the estimates by theory, with a known base round-trip time [s] if there is one."""
    rtt = samples.rtt_s
    least = float(rtt.min()) if rtt_s is None else min(rtt_s, float(rtt.max()))
    return Base(_rate(samples), least, max(float(rtt.max()) - least, NOISE_S))


def _rate(samples: Samples) -> float:
    """Return the 90 % quantile of mean rates over 3 s, without the first 2 s, in which iperf3 fills the send buffer."""
    each = max(round(3.0 / samples.interval_s), 1)
    skipped = min(max(round(2.0 / samples.interval_s), 1), max(samples.rtt_s.size - each, 0))
    if samples.delivered_bytes is not None:
        values = samples.delivered_bytes * (PACKET_B / MSS_B * 8 / samples.interval_s)
    else:
        values = samples.cwnd_segments * PACKET_B * 8 / samples.rtt_s
    total = np.concatenate([[0.0], np.cumsum(values[skipped:])])
    each = min(each, total.size - 1)
    return max(_quantiles((total[each:] - total[:-each]) / each, (0.9,))[0], 1e4)


def rates_bps(samples: Samples) -> Floats:
    """Mean rates on the wire of each second [bit/s]; without counts of bytes, means of window over round-trip time."""
    each = max(round(1.0 / samples.interval_s), 1)
    wire = PACKET_B / MSS_B * 8
    if samples.delivered_bytes is not None:
        values = samples.delivered_bytes
        whole = max(values.size // each, 1) * each
        grouped = values[: min(whole, values.size)]
        each = min(each, grouped.size)
        parts: Floats = grouped[: grouped.size // each * each].reshape(-1, each).sum(axis=1)
        return parts * wire / (each * samples.interval_s)
    values = samples.cwnd_segments * PACKET_B * 8 / samples.rtt_s
    each = min(each, values.size)
    found: Floats = values[: values.size // each * each].reshape(-1, each).mean(axis=1)
    return found


def episodes(samples: Samples) -> Episodes:
    """Return the loss episodes."""
    cwnd, counts = samples.cwnd_segments, samples.retransmits
    gap = max(round(2 * _quantiles(samples.rtt_s, (0.5,))[0] / samples.interval_s), 1)
    hit = np.flatnonzero(counts > 0) if counts is not None else np.flatnonzero(cwnd[1:] < CUT * cwnd[:-1]) + 1
    if not hit.size:
        return Episodes(hit, np.empty(0))
    begins = np.concatenate([[True], np.diff(hit) > gap])
    at = hit[begins]
    if counts is None:
        return Episodes(at, np.full(at.size, np.nan))
    return Episodes(at, np.bincount(np.cumsum(begins) - 1, weights=counts[hit]).astype(float))


def _quantiles(values: Floats, shares: tuple[float, ...]) -> list[float]:
    """Return the same as `numpy.quantile`, ten times as fast for few values."""
    ordered = np.sort(values).tolist()
    last = len(ordered) - 1
    found = []
    for share in shares:
        at = min(int(share * last), max(last - 1, 0))
        above = ordered[min(at + 1, last)]
        found.append(ordered[at] + (share * last - at) * (above - ordered[at]))
    return found


def _log(value: float, least: float = 1e-6) -> float:
    return float(np.log(max(value, least)))


def _autocorrelation(values: Floats, lag: int) -> float:
    if values.size <= lag + 2:
        return 0.0
    a, b = values[:-lag] - values.mean(), values[lag:] - values.mean()
    return float((a * b).mean() / max(values.var(), 1e-12))


def statistics(samples: Samples, law: str, known: Facts = (None, None, None)) -> Floats:
    """Return the statistics of a measurement.

    Parameters
    ----------
    samples : Samples
        Samples; only the first `LONGEST_S` are used.
    law : str
        One of `LAWS`; for other laws, all three indicators are 0.
    known : Facts

    Returns
    -------
    ndarray, shape (statistics,)
    """
    samples = samples.first(LONGEST_S)
    least = base(samples, known[1])
    rtt, cwnd = samples.rtt_s, np.maximum(samples.cwnd_segments, 1.0)
    queue = rtt - least.rtt_s
    share = queue / least.queue_s
    bdp = max(least.rate_bps * least.rtt_s / 8 / PACKET_B, 0.1)
    rates = rates_bps(samples)
    after = slice(min(max(round(3.0 / samples.interval_s), 1), rtt.size - 2), None)
    found = [
        _log(least.rate_bps),
        _log(least.rtt_s),
        _log(least.queue_s / least.rtt_s),
        _log(least.queue_packets),
        _log(least.queue_s),
        _log(bdp),
        _log(samples.duration_s / least.rtt_s),
        _log(samples.duration_s),
        *_quantiles(share, (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)),
        *_quantiles(share[after], (0.02, 0.1, 0.5, 0.9, 0.98)),
        _log(float(queue[after].max()) / least.queue_s, 1e-3),
        _log(float(queue[after].min()) / least.queue_s, 1e-3),
        _log(float(rtt.min()) / least.rtt_s),
        _log(float(rtt[after].min()) / least.rtt_s),
        float((queue < 0.1 * least.queue_s).mean()),
        float((queue > 0.9 * least.queue_s).mean()),
        float((queue[after] < 0.1 * max(float(queue[after].max()), NOISE_S)).mean()),
        float((queue[after] > 0.8 * max(float(queue[after].max()), NOISE_S)).mean()),
        *[_log(value / bdp) for value in _quantiles(cwnd, (0.02, 0.25, 0.5, 0.75, 0.98))],
        _log(float(cwnd.max()) / (bdp + least.queue_packets)),
        *[value / least.rate_bps for value in _quantiles(rates, (0.0, 0.25, 0.5, 0.75))],
        _log(float(rates.max()) / least.rate_bps),
        float(rates.std() / max(rates.mean(), 1.0)),
        _log(_quantiles(cwnd / rtt, (0.5,))[0] * PACKET_B * 8 / least.rate_bps),
        _log(_quantiles(cwnd / rtt, (0.95,))[0] * PACKET_B * 8 / least.rate_bps),
        *_line(rtt[after], cwnd[after], least),
        _autocorrelation(rtt[after], 1),
        _autocorrelation(rtt[after], 5),
        _log(float(np.sqrt((np.diff(rtt[after]) ** 2).mean())) / least.queue_s, 1e-4),
        float(np.diff(rtt[after]).mean() / least.queue_s),
        float((np.diff(rtt[after]) > 0).mean()),
        float((np.diff(cwnd) == 0).mean()),
        *_shape(share, cwnd, after),
        *_losses(samples, least),
        *[float(law == name) for name in LAWS],
        *_facts(known, least),
    ]
    values = np.array(found)
    finite: Floats = np.clip(np.nan_to_num(values, nan=0.0, posinf=20.0, neginf=-20.0), -20.0, 20.0)
    return finite


def _shape(share: Floats, cwnd: Floats, after: slice) -> list[float]:
    """Return statistics of the queue relative to its maximum: its growth at the start, and its distribution later."""
    begin = share[np.minimum(STARTS, share.size - 1)]
    late, last = share[after], cwnd[after]
    return [
        *[_log(value, 1e-2) for value in begin.tolist()],
        *[_log(value, 1e-2) for value in _quantiles(late, (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0))],
        float(late.std()),
        float(((late - late.mean()) ** 3).mean() / max(float(late.std()) ** 3, 1e-6)),
        _autocorrelation(late, 2),
        _autocorrelation(late, 10),
        *[_log(value) for value in _quantiles(last, (0.05, 0.5, 0.95))],
        float((last == np.median(last)).mean()),
    ]


def _line(rtt: Floats, cwnd: Floats, least: Base) -> list[float]:
    """Regression of the RTT on window over rate: slope (1 for one flow with a queue), correlation, error, intercept."""
    x, y = cwnd * PACKET_B * 8 / least.rate_bps, rtt
    spread = float(x.var())
    if spread < 1e-12 or rtt.size < 4:
        return [0.0, 0.0, 0.0, 0.0]
    slope = float(np.cov(x, y, bias=True)[0, 1]) / spread
    rest = y - y.mean() - slope * (x - x.mean())
    correlation = slope * np.sqrt(spread / max(float(y.var()), 1e-16))
    intercept = (y.mean() - slope * x.mean()) / least.rtt_s
    return [
        float(np.clip(slope, -2, 3)),
        float(np.clip(correlation, -1, 1)),
        _log(float(rest.std()) / least.queue_s, 1e-4),
        float(np.clip(intercept, -3, 5)),
    ]


def _losses(samples: Samples, least: Base) -> list[float]:
    """Return statistics of loss episodes."""
    rtt, cwnd = samples.rtt_s, np.maximum(samples.cwnd_segments, 1.0)
    found = episodes(samples)
    total = 0.0 if samples.retransmits is None else float(samples.retransmits.sum())
    packets = float(rates_bps(samples).mean()) * samples.duration_s / 8 / PACKET_B
    steady = found.at[found.at * samples.interval_s > 2.0]
    head = [
        _log(1.0 + found.at.size),
        _log(1.0 + steady.size),
        _log(total / max(packets, 1.0), 1e-7),
        _log(1.0 + total),
        1.0 if found.at.size else 0.0,
        1.0 if steady.size else 0.0,
    ]
    if not found.at.size:
        return [*head, *[0.0] * 17]
    before = np.maximum(found.at - 1, 0)
    # The window is cut within the first interval of an episode, and the round-trip time is largest about then.
    peak = np.maximum(rtt[before], rtt[found.at]) - least.rtt_s
    late = np.isin(found.at, steady)
    peaks = peak[late] if late.any() else peak
    after = np.minimum(found.at + max(round(2 * _quantiles(rtt, (0.5,))[0] / samples.interval_s), 1), rtt.size - 1)
    depth = cwnd[after] / cwnd[before]
    highs = cwnd[before][late] if late.any() else cwnd[before]
    bdp = max(least.rate_bps * least.rtt_s / 8 / PACKET_B, 0.1)
    periods = np.diff(found.at) * samples.interval_s
    counts = np.nan_to_num(found.retransmits, nan=0.0)
    return [
        *head,
        *[value / least.queue_s for value in _quantiles(peaks, (0.1, 0.5, 0.9))],
        float(peaks.std() / max(float(peaks.mean()), NOISE_S)),
        _log(_quantiles(peaks, (0.5,))[0] / least.rtt_s, 1e-3),
        _log(_quantiles(highs, (0.5,))[0] / (bdp + least.queue_packets)),
        float(highs.std() / highs.mean()),
        *_quantiles(depth, (0.25, 0.5, 0.75)),
        _log(1.0 + _quantiles(counts, (0.5,))[0]),
        _log(1.0 + float(counts[0])),
        _log(1.0 + float(counts.max())),
        _log(_quantiles(periods, (0.5,))[0] / least.rtt_s) if periods.size else 0.0,
        float(periods.std() / max(float(periods.mean()), 1e-3)) if periods.size > 1 else 0.0,
        float((rtt[np.minimum(found.at + 1, rtt.size - 1)] - least.rtt_s).mean() / least.queue_s),
        float(found.at[0] * samples.interval_s / samples.duration_s),
    ]


def _facts(known: Facts, least: Base) -> list[float]:
    """Return the known facts as inputs: a flag for each, and the ratio of a known rate to its estimate."""
    rate, rtt, alone = known
    return [
        0.0 if rate is None else 1.0,
        0.0 if rate is None else _log(rate / least.rate_bps),
        0.0 if rtt is None else 1.0,
        0.0 if alone is None else (1.0 if alone else -1.0),
    ]
