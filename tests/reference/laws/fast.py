"""FAST TCP.

Source: C. Jin, D. Wei, S. Low, "FAST TCP: Motivation, Architecture, Algorithms, Performance", IEEE INFOCOM 2004,
section IV: the window update w <- min{2w, (1 - gamma) w + gamma (baseRTT/RTT w + alpha)}, spread over one round trip;
in the next one the window is frozen. RTT is an average in which a sample has the weight min(3/w, 1/4). alpha is
constant.

Choices:
* A round begins with the acknowledgement that starts it. The first in congestion avoidance and the first after a cut
  move the window, the next one rests, and so on; one whose first acknowledgement the window did not limit goes on as
  the one before, though not beyond the target.
* In a round that moves, each acknowledged segment moves the window by (target - w)/w, w and target those at the round's
  start, until it is there.
* An acknowledgement gives one sample, and w in its weight is what was in flight before it: the window where that is the
  limit, and where it is not, the average is still that of the last third of a round trip, which the paper aims at.
* The first sample is taken as it is.
* baseRTT is the smallest round-trip time of the connection.
* The target is at least 2 segments, RFC 5681's least ssthresh; the paper names no floor.
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
        self.rtt: float | None = None  # the average
        self.moving = False
        self.start = self.target = initial_window  # of the move

    def measure(self, e: Event, /) -> None:
        if e.rtt is None:
            return
        if self.rtt is None:
            self.rtt = e.rtt
        else:
            weight = min(3.0 / max(e.in_flight, 1.0), 0.25)
            self.rtt = (1.0 - weight) * self.rtt + weight * e.rtt

    def update(self, w: float, share: float) -> float:
        """Return the target window for `w` if baseRTT is this share of the average."""
        return min(2.0 * w, (1.0 - self.gamma) * w + self.gamma * (share * w + self.alpha))

    def change(self, e: Event, /) -> float:
        if e.round_start and self.rtt is not None:
            self.moving = not self.moving
            if self.moving:
                self.start = self.cwnd
                self.target = max(self.update(self.cwnd, e.min_rtt / self.rtt), 2.0)
        if not self.moving:
            return 0.0
        step = (self.target - self.start) / self.start * e.acked
        left = self.target - self.cwnd
        return min(step, left) if self.target > self.start else max(step, left)

    def backoff(self, _e: Event, /) -> float:
        self.moving = False
        return 0.5 * self.cwnd

    def timeout(self, e: Event, /) -> float:
        self.moving = False
        return super().timeout(e)
