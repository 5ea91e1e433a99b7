"""Samples of one flow on a simulated path, as iperf3 would measure them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elephan.inference.paths import MSS_B, PathModel
from elephan.runs.outcome import simulate
from elephan.scenario import Scenario

EVERY_S = 0.1
"""Interval of the samples [s]."""

BLOCK_B = 131_072
"""Number of bytes that iperf3 writes to the socket in one call."""


@dataclass(frozen=True)
class Samples:
    """Samples of one flow at equal intervals.

    Parameters
    ----------
    interval_s : float [s]
    rtt_s : ndarray, shape (samples,) [s]
        Smoothed round-trip time at the end of each interval.
    cwnd_segments : ndarray, shape (samples,)
        Congestion window at the end of each interval.
    delivered_bytes : ndarray, shape (samples,) [bytes], optional
        Payload of each interval.
    retransmits : ndarray, shape (samples,), optional
        Retransmitted segments of each interval.
    """

    interval_s: float
    rtt_s: NDArray[np.float64]
    cwnd_segments: NDArray[np.float64]
    delivered_bytes: NDArray[np.float64] | None = None
    retransmits: NDArray[np.float64] | None = None

    @property
    def duration_s(self) -> float:
        """Duration of the measurement [s]."""
        return self.interval_s * self.rtt_s.size

    def without_counts(self) -> Samples:
        """Return only the round-trip times and windows, as in many logs of `ss`."""
        return Samples(self.interval_s, self.rtt_s, self.cwnd_segments)

    def written(self, ahead: float) -> Samples:
        """Return the samples with bytes as iperf3 counts them: when a block is written to the socket.

        Parameters
        ----------
        ahead : float
            Data in the send buffer, in windows. Linux lets it grow to twice the largest window (`tcp_sndbuf_expand`).
        """
        if self.delivered_bytes is None:
            return self
        held = ahead * np.maximum.accumulate(self.cwnd_segments) * MSS_B
        total = np.floor((np.cumsum(self.delivered_bytes) + held) / BLOCK_B) * BLOCK_B
        return replace(self, delivered_bytes=np.diff(total, prepend=0.0))

    def merged(self, count: int) -> Samples:
        """Return the samples at intervals longer by the factor `count`: sums of counts, last values of states."""
        whole = self.rtt_s.size // count * count
        last = slice(count - 1, whole, count)

        def summed(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
            return None if values is None else values[:whole].reshape(-1, count).sum(axis=1)

        return Samples(
            self.interval_s * count,
            self.rtt_s[last],
            self.cwnd_segments[last],
            summed(self.delivered_bytes),
            summed(self.retransmits),
        )

    def first(self, duration_s: float) -> Samples:
        """Return the samples of the first seconds."""
        end = max(int(duration_s / self.interval_s + 1e-6), 1)
        counts = [None if values is None else values[:end] for values in (self.delivered_bytes, self.retransmits)]
        return Samples(self.interval_s, self.rtt_s[:end], self.cwnd_segments[:end], *counts)


def measure(path: PathModel, duration_s: float, *, seed: int = 1, every_s: float = EVERY_S) -> Samples:
    """Simulate a path and sample its measured flow.

    Raises
    ------
    ScenarioError
        If the scenario of the path is invalid.
    """
    scenario = Scenario.from_text(path.scenario(duration_s, every_s=every_s, seed=seed), "infer")
    found = simulate(scenario, 0, series=True).samples
    # For states, skip the sample at the start, which is not the end of an interval.
    begin = round(path.lead_s / every_s)
    delivered = found["delivered_segments"][0, begin:].astype(float)
    retransmits = found["retrans_segments"][0, begin:].astype(float)
    rtt, cwnd = (found[name][0, begin + 1 :].astype(float) for name in ("srtt_s", "cwnd_segments"))
    # At the end of the first intervals there may be no RTT sample yet; use the base RTT.
    rtt = np.where(rtt > 0, rtt, path.rtt_s)
    return Samples(every_s, rtt, cwnd, np.diff(delivered) * MSS_B, np.diff(retransmits))
