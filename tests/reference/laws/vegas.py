"""TCP Vegas, its congestion avoidance.

Source: L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8),
1995, section III.B: Diff = (Expected - Actual) baseRTT, between alpha and beta segments. alpha = 1 and beta = 3 are
among the paper's settings, and ns-2's defaults.

Choices:
* Diff = cwnd (1 - baseRTT/RTT): the window stands for what was in the network.
* Once per round, when a round starts; RTT is the smallest of the round that ended (the paper takes a distinguished
  segment's). The acknowledgement that starts a round counts for that round. A round without a valid round-trip time
  changes nothing.
* "Linearly during the next RTT", up as down: acked/cwnd of one segment, cwnd that at the round's start.
* A cut throws away what was measured before it, as that was another window's. The next round only measures.
* A round that starts with an acknowledgement for which the window is not the limit changes nothing.
* Start: classic slow start until the first cut. Vegas's own slow start (growth every other round, until Diff > gamma
  = 1) and its earlier retransmissions are left out.
* Losses, marks, timeouts: half is kept, as in Reno. (Some implementations keep three quarters after an early
  retransmission.)
* The window shrinks to 2 segments at least; the paper names no floor, implementations take 2.
"""

import math

from .event import Event
from .sender import Sender


class Vegas(Sender):
    """Keeps between alpha and beta of its own segments in the path's queues."""

    def __init__(self, alpha: float = 1.0, beta: float = 3.0, initial_window: float = 2.0) -> None:
        super().__init__(initial_window)
        self.alpha, self.beta = alpha, beta
        self.round_rtt = math.inf  # smallest so far, of the current round
        self.ended_rtt = math.inf  # smallest of the round that ended last
        self.per_segment = 0.0  # change of the window in the current round, per acknowledged segment

    def measure(self, e: Event, /) -> None:
        if e.round_start:
            self.ended_rtt, self.round_rtt = self.round_rtt, math.inf
            self.per_segment = 0.0
        if e.rtt is not None:
            self.round_rtt = min(self.round_rtt, e.rtt)

    def change(self, e: Event, /) -> float:
        if e.round_start and math.isfinite(self.ended_rtt):
            diff = self.cwnd * (1.0 - e.min_rtt / self.ended_rtt)
            if diff < self.alpha:
                self.per_segment = 1.0 / self.cwnd
            elif diff > self.beta:
                self.per_segment = -1.0 / self.cwnd
        return max(self.per_segment * e.acked, 2.0 - self.cwnd)

    def backoff(self, _e: Event, /) -> float:
        self.forget()
        return 0.5 * self.cwnd

    def timeout(self, e: Event, /) -> float:
        self.forget()
        return super().timeout(e)

    def forget(self) -> None:
        self.round_rtt = self.ended_rtt = math.inf
        self.per_segment = 0.0
