"""gHSTCP, gentle HighSpeed TCP.

Source: Z. Zhang, G. Hasegawa, M. Murata, IEICE Trans. Commun. E88-B(6), 2005: HighSpeed TCP that grows like Reno
while its round-trip times rise with the times of departure.

Choices where the paper says nothing:
* The test is made on windows that do not overlap: N = max(8, floor(cwnd)) pairs, N fixed by the window that holds
  when the first pair of a batch is taken (before that acknowledgement's own increase); after the test the batch is
  thrown away.
* A pair is an acknowledgement with a valid round-trip time, whatever number of segments it acknowledges; a segment's
  departure is the arrival of its acknowledgement less its round-trip time.
* Only acknowledgements in congestion avoidance for which the window was the limit give pairs: N is a window's worth of
  them, and what the test looks for is a queue that this window builds.
* The batch is thrown away at each cut. The mode that a test sets holds already for the increase of the acknowledgement
  that completed the batch.
* |r| is clipped to 1 - 1e-6; r = 0 if either variance is 0.
* A timeout ends Reno mode too, and keeps half of the window. b is HighSpeed TCP's in both modes.
"""

import math

from .event import Event
from .highspeed import Highspeed


def correlation(pairs: list[tuple[float, float]]) -> float:
    n = len(pairs)
    d_mean = math.fsum(d for d, _ in pairs) / n
    t_mean = math.fsum(t for _, t in pairs) / n
    dd = math.fsum((d - d_mean) ** 2 for d, _ in pairs)
    tt = math.fsum((t - t_mean) ** 2 for _, t in pairs)
    dt = math.fsum((d - d_mean) * (t - t_mean) for d, t in pairs)
    return dt / (math.sqrt(dd) * math.sqrt(tt)) if dd > 0.0 and tt > 0.0 else 0.0


def fisher_z(r: float, n: int) -> float:
    """Return the test's statistic: approximately standard normal without correlation."""
    r = min(max(r, -(1.0 - 1e-6)), 1.0 - 1e-6)
    return 0.5 * math.log((1.0 + r) / (1.0 - r)) * math.sqrt(n - 3)


class Ghstcp(Highspeed):
    """HighSpeed TCP, a = 1 while the round-trip time is found to rise."""

    def __init__(self, z_threshold: float = 3.09, initial_window: float = 2.0) -> None:
        super().__init__(initial_window=initial_window)
        self.z_threshold = z_threshold
        self.reno_mode = False
        self.pairs: list[tuple[float, float]] = []
        self.wanted = 0

    def change(self, e: Event, /) -> float:
        if e.rtt is not None:
            self.take(e.now - e.rtt, e.rtt)
        return e.acked / self.cwnd if self.reno_mode else super().change(e)

    def take(self, departure: float, rtt: float) -> None:
        if not self.pairs:
            self.wanted = max(8, math.floor(self.cwnd))
        self.pairs.append((departure, rtt))
        if len(self.pairs) >= self.wanted:
            self.reno_mode = fisher_z(correlation(self.pairs), len(self.pairs)) > self.z_threshold
            self.pairs.clear()

    def backoff(self, e: Event, /) -> float:
        self.start_again()
        return super().backoff(e)

    def timeout(self, e: Event, /) -> float:
        self.start_again()
        return super().timeout(e)

    def start_again(self) -> None:
        self.reno_mode = False
        self.pairs.clear()
