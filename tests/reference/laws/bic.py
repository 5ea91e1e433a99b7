"""BIC, binary increase congestion control.

Source: L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control for Fast, Long Distance Networks", IEEE
INFOCOM 2004, section IV and its pseudo-code.

Where text and pseudo-code differ, the text is taken:
* Fast convergence ("if the new maximum is less than the previous") compares with the last maximum that was recorded
  at a cut. The pseudo-code puts default_max_win in its place once a flow probes beyond it, and to begin with, so that
  it would call every cut after a probe, and the first one, a downward trend (`forgets_maximum` selects that).
* The search ends at S_min, of which the pseudo-code makes no use (it would never arrive at its maximum). The text lets
  it go on until maximum and minimum differ by less than S_min, the analysis that follows has steps from S_max/2 down to
  S_min: here the maximum counts as reached, and the window is set to it, once the next step would be below S_min.

Choices:
* A flow that knows no maximum grows by S_max per round trip: its maximum is default_max_win. Probing in slow start
  manner is for a window that outgrows a maximum it knew, as there it is likely at the point of saturation.
* The target is the midpoint of maximum and current window at each acknowledgement. (By the pseudo-code, one
  acknowledgement after probing would still use the target from before, and shrink the window.)
* Probing grows by 1, 2, 4 and so on beyond the maximum, each once the window has grown by the one before.
* Steps are per round trip: step/w per acknowledged segment.
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
        self.max_win = math.inf  # where the search goes; infinite: unknown
        self.last_max = math.inf if forgets_maximum else 0.0  # what the next cut is compared with
        self.probing = False
        self.ss_cwnd = self.ss_target = 0.0

    def change(self, e: Event, /) -> float:
        if self.cwnd < self.low_window:
            return e.acked / self.cwnd
        cwnd = self.cwnd
        if not self.probing and (self.max_win - cwnd) / 2.0 < self.s_min:
            cwnd = max(cwnd, self.max_win)
            self.begin_probing(cwnd)
        # binary search, additive increase while the midpoint is far
        step = self.ss_cwnd if self.probing else min((self.max_win - cwnd) / 2.0, self.s_max)
        cwnd += step * e.acked / cwnd
        if self.probing:
            self.go_on_probing(cwnd)
        return cwnd - self.cwnd

    def begin_probing(self, cwnd: float) -> None:
        self.probing = True
        self.ss_cwnd, self.ss_target = 1.0, cwnd + 1.0
        self.max_win = math.inf
        if self.forgets_maximum:
            self.last_max = math.inf

    def go_on_probing(self, cwnd: float) -> None:
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
