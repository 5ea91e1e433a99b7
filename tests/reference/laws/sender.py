"""Common parts of all window laws: slow start, conditions for growth, lower limits, and cuts.

Sources: RFC 5681 (slow start, congestion avoidance, timeouts), RFC 3465 (at most two segments per acknowledgement in
slow start), RFC 7661 (no growth while the window is not the limit).

Choices where these leave room:
* A law measures before it acts: what an acknowledgement says counts already for that acknowledgement's own step.
* The acknowledgement that fills slow start up to ssthresh does no congestion avoidance with what is left of it.
* An acknowledgement for which the window was not the limit leaves the window alone. It must not grow then; and what a
  delay-based law (FAST, Vegas) computes from cwnd is about a window that was in the network, which this one was not.
* A law that shrinks the window below ssthresh takes ssthresh with it: it has not asked for slow start.
* After a timeout half of the window is kept as ssthresh (RFC 5681, with cwnd in place of FlightSize) unless a law
  says otherwise. Repeated timeouts of one segment cut ssthresh each time.
"""

import math

from .event import Event


class Sender:
    """A window driven by events; a law defines `change`, `backoff` and, if needed, `measure` and `timeout`."""

    def __init__(self, initial_window: float = 2.0) -> None:
        self.cwnd = initial_window
        self.ssthresh = math.inf

    def on_ack(self, e: Event) -> None:
        self.measure(e)
        if not e.cwnd_limited:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd = min(self.cwnd + min(e.acked, 2.0), self.ssthresh)
        else:
            self.cwnd = max(self.cwnd + self.change(e), 1.0)
            self.ssthresh = min(self.ssthresh, max(self.cwnd, 2.0))

    def on_congestion(self, e: Event) -> None:
        if e.kind == "timeout":
            self.ssthresh = max(self.timeout(e), 2.0)
            self.cwnd = 1.0
        else:  # an ECN echo counts as a loss
            self.ssthresh = max(self.backoff(e), 2.0)
            self.cwnd = self.ssthresh

    def measure(self, e: Event, /) -> None:
        """Measure at every acknowledgement, in slow start too."""

    def change(self, e: Event, /) -> float:
        """Return the change of the window at an acknowledgement in congestion avoidance, if the window is the limit."""
        raise NotImplementedError

    def backoff(self, e: Event, /) -> float:
        """Return the window that is kept after a loss or a mark."""
        raise NotImplementedError

    def timeout(self, _e: Event, /) -> float:
        """Return the window that becomes ssthresh after a timeout."""
        return 0.5 * self.cwnd
