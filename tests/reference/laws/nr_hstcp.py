"""NR-HSTCP, normalised-rate HighSpeed TCP.

Source: D. Phillips, J. Hu, "Enhancements for RTT-Fair HighSpeed TCP", IEEE GLOBECOM 2006, equations (1) to (9).

Choices:
* Equations (1) to (3) are taken at any normalised window, without HighSpeed TCP's a = 1 and b = 0.5 below 38: only
  then do the paper's limits for a round-trip time of 1 s come out (a <= w in force up to about 8 kB).
* p(w) = 0.078/w^1.2, as (3) prints it.
* RTT is the smoothed one, at the moment of the acknowledgement or of the loss.
* Timeouts: half is kept, as in HighSpeed TCP and Reno.
"""

import math

from .event import Event
from .sender import Sender


class NrHstcp(Sender):
    """HighSpeed TCP's functions of the rate that a reference flow of 1500 bytes and 100 ms would show."""

    W, W_1, H_D = 38.0, 83000.0, 0.1
    RTT_0, MSS_0 = 0.1, 1500.0

    def __init__(self, mss: float = 1500.0, initial_window: float = 2.0) -> None:
        super().__init__(initial_window)
        self.mss = mss

    def b0(self, w: float) -> float:
        """Equation (1)."""
        return (self.H_D - 0.5) * (math.log(w) - math.log(self.W)) / (math.log(self.W_1) - math.log(self.W)) + 0.5

    def a0(self, w: float) -> float:
        """Equations (2) and (3)."""
        p = 0.078 / math.pow(w, 1.2)
        b = self.b0(w)
        return w * w * p * 2.0 * b / (2.0 - b)

    def normalised(self, cwnd: float, rtt: float) -> float:
        """Equation (5)."""
        return (cwnd * self.mss / rtt) * (self.RTT_0 / self.MSS_0)

    def a(self, cwnd: float, rtt: float) -> float:
        """Equations (7) and (9)."""
        increase = self.a0(self.normalised(cwnd, rtt)) * (self.MSS_0 / self.mss) * (rtt / self.RTT_0) ** 2
        return max(min(increase, cwnd), 1.0)

    def b(self, cwnd: float, rtt: float) -> float:
        """Equations (6) and (8)."""
        return min(max(self.b0(self.normalised(cwnd, rtt)), 0.1), 0.5)

    def change(self, e: Event, /) -> float:
        return self.a(self.cwnd, e.srtt) * e.acked / self.cwnd

    def backoff(self, e: Event, /) -> float:
        return (1.0 - self.b(self.cwnd, e.srtt)) * self.cwnd
