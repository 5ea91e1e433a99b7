"""HighSpeed TCP.

Source: S. Floyd, RFC 3649 (2003), section 5: response function, a(w), b(w); its Appendix B tabulates them.

Choices:
* The response function is the exact log-log line through (Low_Window, Low_P) and (High_Window, High_P), with Low_P =
  1e-3, not the rounded 0.078/w^1.2 and not the table.
* a(w) is never below 1: just above Low_Window the line alone would give 0.96.
* Above High_Window both functions go on as they are; b(w) is held at 0.01 or more, also where it enters a(w).
* Timeouts: half is kept, as in Reno (section 5 changes congestion avoidance and the reaction to losses in it only).
* Classic slow start; RFC 3742 is a part of its own.
"""

import math

from .event import Event
from .sender import Sender


class Highspeed(Sender):
    """a(w)/w per acknowledged segment, (1 - b(w)) w kept."""

    def __init__(
        self,
        low_window: float = 38.0,
        high_window: float = 83000.0,
        low_p: float = 1e-3,
        high_p: float = 1e-7,
        high_decrease: float = 0.1,
        initial_window: float = 2.0,
    ) -> None:
        super().__init__(initial_window)
        self.low_window, self.high_window = low_window, high_window
        self.low_p, self.high_p = low_p, high_p
        self.high_decrease = high_decrease

    def height(self, w: float) -> float:
        """Return the position of ln w between Low_Window (0) and High_Window (1)."""
        return math.log(w / self.low_window) / math.log(self.high_window / self.low_window)

    def p(self, w: float) -> float:
        """Return the rate of loss events at which w is the average window."""
        return self.low_p * math.pow(self.high_p / self.low_p, self.height(w))

    def b(self, w: float) -> float:
        """Return the share by which a loss reduces the window."""
        if w <= self.low_window:
            return 0.5
        return max(0.5 + (self.high_decrease - 0.5) * self.height(w), 0.01)

    def a(self, w: float) -> float:
        """Return the segments gained per round trip."""
        if w <= self.low_window:
            return 1.0
        b = self.b(w)
        return max(w * w * self.p(w) * 2.0 * b / (2.0 - b), 1.0)

    def change(self, e: Event, /) -> float:
        return self.a(self.cwnd) * e.acked / self.cwnd

    def backoff(self, _e: Event, /) -> float:
        return (1.0 - self.b(self.cwnd)) * self.cwnd
