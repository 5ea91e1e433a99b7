"""Conversion of a measurement to the samples that the networks read, and checks before an inference."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elephan.errors import InputError
from elephan.inference.paths import LAWS, MSS_B
from elephan.inference.simulated import Samples
from elephan.inference.statistics import LONGEST_S, NOISE_S, base, episodes
from elephan.units import format_rate, format_time

if TYPE_CHECKING:
    from elephan.measurements import MeasuredFlow, Measurement

    Floats = NDArray[np.float64]

FINE_S, WINDOWS_S = 0.15, 0.3
"""Longest sampling intervals that are treated as 0.1 s: with counts, and with round-trip times and windows only [s]."""

LEAST_S, SHORT_S = 5.0, 8.0
"""Durations below which nothing is inferred, and below which the answer is doubtful [s]."""

MOST_S = 86_400.0
"""Longest measurement [s], a day. The limit detects damaged times."""

RTTS_S, MOST_SEGMENTS = (1e-6, 3600.0), 1e9
"""Range of valid round-trip times [s], and largest valid window [segments]; other values are ignored as damaged."""

UNUSED = 1.6
"""Ratio of window over round-trip time to goodput from which the congestion window does not limit the sender.

The ratio of a sender that its congestion window limits is 1, or some percent more because of recoveries. A measurement
from London to Sydney with a receive window of 3 MiB has 2.1."""

INITIAL_WINDOW = 10
"""Initial window of RFC 6928 [segments]."""

STILL = 0.8
"""Share of the time with the most frequent window above which, without losses, the host limits the sender.

If the path limits the sender and no packet is lost, the window grows in every round trip."""

LIMITED = 0.3
"""Share of the time for which the host may limit the sender; with more, the path cannot be inferred."""

LAW_NAMES = {"cubic": "CUBIC", "reno": "Reno", "bbr": "BBR"}

KNOWN_AS = {"bbr1": "bbr", "bbr2": "bbr", "bbr3": "bbr", "newreno": "reno"}


@dataclass(frozen=True)
class Observation:
    """A measurement that was checked and converted for an inference.

    Parameters
    ----------
    measurement : Measurement
    samples : Samples
        Samples at the interval of the level.
    level : str
        One of `network.LEVELS`.
    law : str
        One of `LAWS`.
    packet_bytes : float [bytes]
        Size of a full packet on the wire.
    notes : tuple of str
        Doubts that do not prevent an inference.
    bound_s : float [s]
        Lower bound of the buffer; NaN if more can be inferred.
    why : str
        Reason why only a lower bound can be given; empty if more can be inferred.
    streams : int
        Number of parallel streams of the test.
    """

    measurement: Measurement
    samples: Samples
    level: str
    law: str
    packet_bytes: float
    notes: tuple[str, ...]
    bound_s: float = math.nan
    why: str = ""
    streams: int = 1

    @property
    def is_bound(self) -> bool:
        """Whether only a lower bound can be given."""
        return bool(self.why)


def observe(measurement: Measurement, law: str | None = None) -> Observation:
    """Convert and check a measurement.

    Parameters
    ----------
    measurement : Measurement
    law : str, optional
        Congestion control of the sender, instead of the file's.

    Raises
    ------
    InputError
        If nothing can be inferred; the message states the reason.
    """
    flow = measurement.flow
    notes = list(measurement.notes)
    named = _law(measurement, law, notes)
    if not (flow.has("srtt_s") and flow.has("cwnd_bytes")):
        missing = "round-trip times" if not flow.has("srtt_s") else "congestion windows"
        raise InputError(f"{measurement.path}: has no {missing} of the sender")
    if flow.duration_s < LEAST_S:
        message = (
            f"{measurement.path}: {flow.duration_s:.3g} s are too short; let the test run for 15 s (iperf3 --time 15)"
        )
        raise InputError(message)
    if flow.duration_s > MOST_S:
        message = (
            f"{measurement.path}: lasts {flow.duration_s:.3g} s by its times, more than a day; is one of them wrong?"
        )
        raise InputError(message)
    if flow.duration_s < SHORT_S:
        notes.append(f"{flow.duration_s:.3g} s are short; 15 s would narrow the answer")
    samples, level = _samples(measurement, flow)
    if level == "coarse":
        notes.append("intervals of 1 s; iperf3 --interval 0.1 would narrow the answer")
    mss = flow.mss_bytes if math.isfinite(flow.mss_bytes) and 200 <= flow.mss_bytes <= 9000 else MSS_B
    found = Observation(measurement, samples, level, named, mss + 52.0, tuple(notes), streams=len(measurement.flows))
    return _checked(found, flow)


def _law(measurement: Measurement, law: str | None, notes: list[str]) -> str:
    name = (law or measurement.flow.law).lower()
    name = KNOWN_AS.get(name, name)
    if name in LAWS:
        return name
    if name:
        message = (
            f"{measurement.path}: the sender's law is {name[:20]}; cubic, reno and bbr are known: repeat the test with "
            "one of them (iperf3 -C cubic)"
        )
        raise InputError(message)
    notes.append("the file does not state the sender's law: CUBIC is assumed (--control reno, --control bbr)")
    return LAWS[0]


def _filled(values: Floats) -> Floats:
    """Fill gaps with the last known value, and a gap at the start with the first known value."""
    known = np.flatnonzero(np.isfinite(values))
    place = np.searchsorted(known, np.arange(values.size), side="right") - 1
    return values[known[np.maximum(place, 0)]]


def _samples(measurement: Measurement, flow: MeasuredFlow) -> tuple[Samples, str]:
    """Return samples at the intervals of a level."""
    counted = flow.has("bytes") and flow.has("retransmits")
    if flow.interval_s <= FINE_S:
        level, every = ("fine" if counted else "windows"), 0.1
    elif counted:
        level, every = "coarse", 1.0
    elif flow.interval_s <= WINDOWS_S:
        level, every = "windows", 0.1
    else:
        message = (
            f"{measurement.path}: has neither retransmissions nor intervals of at most {WINDOWS_S:g} s; "
            "iperf3 --json --interval 0.1 has both"
        )
        raise InputError(message)
    if every == 1.0 and flow.interval_s > 2.5:
        message = f"{measurement.path}: intervals of {flow.interval_s:.3g} s are too long; iperf3 --interval 0.1"
        raise InputError(message)
    count = int(flow.duration_s / every + 0.05)
    grid = np.arange(1, count + 1) * every
    ends = flow.end_s
    # An interval may end slightly after its grid point: accept up to a quarter of the grid's step.
    place = np.clip(np.searchsorted(ends, grid + 0.25 * every, side="right") - 1, 0, ends.size - 1)
    rtt, cwnd = flow.columns["srtt_s"], flow.columns["cwnd_bytes"]
    rtt = np.where((rtt >= RTTS_S[0]) & (rtt <= RTTS_S[1]), rtt, np.nan)
    cwnd = np.where((cwnd > 0) & (cwnd <= MOST_SEGMENTS * MSS_B), cwnd, np.nan)
    if count < 5 or not all(np.isfinite(values).mean() >= 0.5 for values in (rtt, cwnd)):
        raise InputError(f"{measurement.path}: too few intervals have a round-trip time and a window")
    rtt, cwnd = _filled(rtt), _filled(cwnd)
    if level == "windows" and flow.interval_s > FINE_S:
        rtt_at, cwnd_at = np.interp(grid, ends, rtt), np.interp(grid, ends, cwnd)
    else:
        rtt_at, cwnd_at = rtt[place], cwnd[place]

    def each(name: str) -> Floats:
        values = np.nan_to_num(flow.columns[name], nan=0.0)
        total = np.concatenate([[0.0], np.cumsum(values)])
        times = np.concatenate([[ends[0] - flow.length_s[0]], ends])
        return np.diff(np.interp(np.concatenate([[0.0], grid]), times, total))

    counts = (each("bytes"), each("retransmits")) if level != "windows" else (None, None)
    # Windows are in segments of 1,448 bytes, independent of the path's MSS.
    return Samples(every, rtt_at, cwnd_at / MSS_B, *counts), level


def _checked(found: Observation, flow: MeasuredFlow) -> Observation:
    """Detect senders that the path does not limit, and paths without losses or a queue; give only a bound for them."""
    samples = found.samples
    theory = base(samples)
    path = found.measurement.path
    why = host_limit(found, flow)
    if why.startswith("the application"):
        raise InputError(f"{path}: {why}; what the network could carry is not seen")
    seen = float(np.quantile(samples.rtt_s, 0.99)) - theory.rtt_s
    if why:
        return _bound(found, seen, f"{why}; the network's buffer is not seen")
    lost = episodes(samples).at.size > 0
    if not lost and theory.queue_s < max(0.002, 0.02 * theory.rtt_s):
        return _bound(found, seen, "no loss and no queue; the path was never full, or something else limits the sender")
    if not lost and found.law != "bbr" and (still := _still(samples)) > STILL:
        limits = f"the window stays the same for {100 * still:.0f} % of the time: the host limits the sender"
        return _bound(found, seen, f"no loss; {limits}, and the queue grew to {format_time(seen)}")
    if not lost:
        return _bound(found, seen, f"no loss; the queue grew to {format_time(seen)}, and the buffer is not full there")
    return found


def _still(samples: Samples) -> float:
    """Return the share of the time after the first seconds in which the window has its most frequent value."""
    late = samples.cwnd_segments[min(samples.rtt_s.size // 4, round(3 / samples.interval_s)) :]
    return float(np.unique(late, return_counts=True)[1].max() / late.size)


def _bound(found: Observation, seen_s: float, why: str) -> Observation:
    return replace(found, bound_s=seen_s if seen_s > NOISE_S else 0.0, why=why)


def host_limit(found: Observation, flow: MeasuredFlow) -> str:
    """Return what limits the sender at the hosts; empty if no such limit is detected."""
    busy, watched = flow.growth("busy_s", LONGEST_S)
    if busy > 0:
        for name, what in (("rwnd_limited_s", "the receive window"), ("sndbuf_limited_s", "the send buffer")):
            if (limited := flow.growth(name, LONGEST_S)[0]) > LIMITED * busy:
                return f"{what} limits the sender for {100 * min(limited / busy, 1.0):.0f} % of the time"
        if busy < (1 - LIMITED) * watched and watched - busy > 2:
            return f"the application had data for {busy:.3g} of {watched:.3g} s only"
    if flow.app_limited > 0.5:
        return f"the application limits the sender in {100 * flow.app_limited:.0f} % of the samples"
    samples = found.samples
    if found.law == "bbr" or samples.delivered_bytes is None:
        return ""
    delivered = samples.delivered_bytes
    late = slice(min(samples.rtt_s.size // 4, int(3 / samples.interval_s)), None)
    window = float(np.median(samples.cwnd_segments[late] * MSS_B * 8 / samples.rtt_s[late]))
    goodput = float(delivered[late].mean()) * 8 / samples.interval_s
    # If the median window is below the initial window, losses have cut it. It then does not limit the sender during
    # timeouts, but neither does the host.
    cut = episodes(samples).at.size > 0 and float(np.median(samples.cwnd_segments[late])) < INITIAL_WINDOW
    if window < UNUSED * goodput or cut:
        return ""
    in_flight = goodput / 8 * float(np.median(samples.rtt_s[late]))
    advertised = flow.columns.get("rwnd_bytes")
    by_window = advertised is not None and in_flight > 0.6 * float(np.nanmedian(advertised))
    what = "the receive window" if by_window else "the receive window, the send buffer or the application"
    return (
        f"{what} limits the sender: its window would allow {format_rate(window)}, {format_rate(goodput)} are "
        f"delivered, {in_flight / 1e6:.2g} MB in flight"
    )
