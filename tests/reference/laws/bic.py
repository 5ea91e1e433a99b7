"""BIC, binary increase congestion control.

Source: L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control for Fast, Long Distance Networks", IEEE
INFOCOM 2004, section IV and its pseudo-code.

Where text and pseudo-code differ, the text is taken:
* Fast convergence ("if the new maximum is less than the previous") compares with the last maximum that was recorded
  at a cut. The pseudo-code puts default_max_win in its place once a flow probes beyond it, and to begin with, so that
  it would call every cut after a probe, and the first one, a downward trend (`forgets_maximum` selects that).
* A window that outgrows a maximum, or knows none, probes in slow start manner. By the pseudo-code, a flow that has
  never been cut above the low window would go straight to S_max per round trip (`forgets_maximum` again).

Choices:
* S_min is the least step per round trip of the binary search; without it the search would never arrive at its
  maximum.
* The target is the midpoint of maximum and current window at each acknowledgement. (By the pseudo-code, one
  acknowledgement after probing would still use the target from before, and shrink the window.)
* Steps are per round trip: step/w per acknowledged segment.
* A flow that knows no maximum begins to probe with its first acknowledgement above the low window (that one still
  steps by S_min).
* A cut ends probing. Below the low window a cut is Reno's and leaves the search's maximum alone.
* Timeouts: half is kept; above the low window the maximum is recorded as at a loss.
"""

import math

from .event import Event
from .sender import Sender


class Bic(Sender):
    """A search for the window between the last known good and the last known bad one."""

    def __init__(
        self,
        s_max: float = 32.0,
        s_min: float = 0.01,
        beta: float = 0.125,
        low_window: float = 14.0,
        fast_convergence: bool = True,
        forgets_maximum: bool = False,
        initial_window: float = 2.0,
    ) -> None:
        super().__init__(initial_window)
        self.s_max, self.s_min, self.beta, self.low_window = s_max, s_min, beta, low_window
        self.fast_convergence, self.forgets_maximum = fast_convergence, forgets_maximum
        self.max_win = math.inf if forgets_maximum else 0.0  # where the search goes; infinite: unknown
        self.last_max = self.max_win  # what the next cut is compared with
        self.probing = False
        self.ss_cwnd = self.ss_target = 0.0

    def change(self, e: Event, /) -> float:
        if not e.cwnd_limited:
            return 0.0
        if self.cwnd < self.low_window:
            return e.acked / self.cwnd
        # binary search, additive increase while the midpoint is far
        search = min(max((self.max_win - self.cwnd) / 2.0, self.s_min), self.s_max)
        change = (self.ss_cwnd if self.probing else search) * e.acked / self.cwnd
        self.after(self.cwnd + change)
        return change

    def after(self, cwnd: float) -> None:
        """Moves between search and probing."""
        if not self.probing:
            if cwnd >= self.max_win:
                self.probing = True
                self.ss_cwnd, self.ss_target = 1.0, cwnd + 1.0
                self.max_win = math.inf
                if self.forgets_maximum:
                    self.last_max = math.inf
        else:
            if cwnd >= self.ss_target:
                self.ss_cwnd *= 2.0
                self.ss_target = cwnd + self.ss_cwnd
            if self.ss_cwnd >= self.s_max:
                self.probing = False

    def backoff(self, _e: Event, /) -> float:
        self.probing = False
        if self.cwnd < self.low_window:
            return 0.5 * self.cwnd
        self.record_maximum()
        return (1.0 - self.beta) * self.cwnd

    def timeout(self, e: Event, /) -> float:
        self.probing = False
        if self.cwnd >= self.low_window:
            self.record_maximum()
        return super().timeout(e)

    def record_maximum(self) -> None:
        downward = self.cwnd < self.last_max
        # fast convergence: the midpoint of the window before and after a cut by beta
        self.max_win = self.cwnd * (2.0 - self.beta) / 2.0 if downward and self.fast_convergence else self.cwnd
        self.last_max = self.max_win
