"""FAST TCP.

Source: C. Jin, D. Wei, S. Low, "FAST TCP: Motivation, Architecture, Algorithms, Performance", IEEE INFOCOM 2004, the
window update w <- min{2w, (1 - gamma) w + gamma (baseRTT/RTT w + alpha)}.

Choices:
* RTT is the smoothed one of RFC 6298; the paper's own average has a weight of min(3/w, 1/4).
* The window is set once per round, when a round starts (the paper's prototype has intervals of its own).
* baseRTT is the smallest round-trip time of the connection.
* Start: classic slow start as long as cwnd < ssthresh, that is, until the first loss, mark or timeout. The paper's
  slow start, which also stops when the queueing delay says so, is left out, and so is its burst control.
* Losses, marks, timeouts: half is kept, as in Reno.
* alpha is a setting, the same at all rates; the law says nothing about its value.
"""

from .event import Event
from .sender import Sender


class Fast(Sender):
    """Keeps alpha of its own segments in the path's queues."""

    def __init__(self, alpha: float = 200.0, gamma: float = 0.5, initial_window: float = 2.0) -> None:
        super().__init__(initial_window)
        self.alpha, self.gamma = alpha, gamma

    def change(self, e: Event, /) -> float:
        if not e.round_start:
            return 0.0
        w = self.cwnd
        wanted = (1.0 - self.gamma) * w + self.gamma * (e.min_rtt / e.srtt * w + self.alpha)
        return min(2.0 * w, wanted) - w

    def backoff(self, _e: Event, /) -> float:
        return 0.5 * self.cwnd
