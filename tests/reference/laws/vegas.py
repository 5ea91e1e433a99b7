"""TCP Vegas, its congestion avoidance.

Source: L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8),
1995, section III.B: Diff = (Expected - Actual) baseRTT, between alpha and beta segments. alpha = 1 and beta = 3 are
among the paper's settings, and ns-2's defaults.

Choices:
* Diff = cwnd (1 - baseRTT/RTT): the window stands for what was in the network.
* Once per round, when a round starts; RTT is the smallest of the round that ends, the acknowledgement that starts the
  new one included (the paper takes a distinguished segment's). A round without a valid round-trip time changes
  nothing.
* The whole segment at once, not spread over the round.
* Start: classic slow start until the first cut. Vegas's own slow start (growth every other round, until Diff > gamma
  = 1) and its earlier retransmissions are left out.
* Losses, marks, timeouts: half is kept, as in Reno. (Some implementations keep three quarters after an early
  retransmission.)
* The window may shrink to 1 segment; the paper names no floor, implementations take 2.
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

    def measure(self, e: Event, /) -> None:
        if e.rtt is not None:
            self.round_rtt = min(self.round_rtt, e.rtt)
        if e.round_start:
            self.ended_rtt, self.round_rtt = self.round_rtt, math.inf

    def change(self, e: Event, /) -> float:
        if not e.round_start or math.isinf(self.ended_rtt):
            return 0.0
        diff = self.cwnd * (1.0 - e.min_rtt / self.ended_rtt)
        if diff < self.alpha:
            return 1.0
        if diff > self.beta:
            return -1.0
        return 0.0

    def backoff(self, _e: Event, /) -> float:
        return 0.5 * self.cwnd
