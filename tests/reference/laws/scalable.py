"""Scalable TCP.

Source: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM SIGCOMM CCR 33(2), 2003:
cwnd += 0.01 per acknowledged segment, cwnd -= 0.125 cwnd per loss, both above the legacy window of 16 segments only.

Choices:
* At the legacy window itself Reno's rules hold (`cwnd <= 16`).
* The increase is the paper's 0.01 right above the legacy window, though Reno's 1/cwnd is larger up to 100 segments
  (implementations that take the larger of the two are another law).
* Timeouts: half is kept; the paper leaves them to TCP.
"""

from .event import Event
from .sender import Sender


class Scalable(Sender):
    """Growth in proportion to the window."""

    def __init__(
        self, a: float = 0.01, b: float = 0.125, legacy_window: float = 16.0, initial_window: float = 2.0
    ) -> None:
        super().__init__(initial_window)
        self.a, self.b, self.legacy_window = a, b, legacy_window

    def change(self, e: Event, /) -> float:
        per_segment = 1.0 / self.cwnd if self.cwnd <= self.legacy_window else self.a
        return per_segment * e.acked

    def backoff(self, _e: Event, /) -> float:
        lost = 0.5 if self.cwnd <= self.legacy_window else self.b
        return (1.0 - lost) * self.cwnd
