"""CUBIC.

Source: L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert, RFC 9438 (2023), section 4; numbers in comments are its sections
and figures (equations).

Choices:
* ssthresh and cwnd come from cwnd, not from FlightSize: section 4.6 allows it where the window cannot grow unused.
* A congestion avoidance stage (epoch) begins with the first acknowledgement in congestion avoidance, after a cut or
  after slow start, for which the window is the limit; there t = 0, W_est = cwnd.
* t leaves out each stretch that ends with an acknowledgement for which the window was not the limit (section 5.8).
* W_est is brought up to date before it is compared with W_cubic(t), alpha before that.
* Setting cwnd to W_est never lowers it (W_cubic(t) < W_est < cwnd is possible, as cwnd follows W_cubic(t + RTT)).
* (target - cwnd)/cwnd is taken per acknowledged segment, as target is a window one round trip ahead; sections 4.4 and
  4.5 say "for each received new ACK" (`per_segment=False`). Figure 4 (W_est) counts segments anyway.
* If W_max <= cwnd at the start of an epoch, the epoch is treated like the first after a timeout: K = 0, W_max = cwnd.
* Timeouts (section 4.8): ssthresh = 0.7 cwnd, W_max with fast convergence as at a loss. A loss during the slow start
  that follows makes the next epoch an ordinary one.
* An ECN echo cuts like a loss: at least 2 segments stay (section 4.6 would let it go down to 1).
"""

import math

from .event import Event
from .sender import Sender


class Cubic(Sender):
    """A cubic function of the time since the last cut, or Reno's window if that is larger."""

    def __init__(
        self,
        c: float = 0.4,
        beta: float = 0.7,
        fast_convergence: bool = True,
        per_segment: bool = True,
        initial_window: float = 2.0,
    ) -> None:
        super().__init__(initial_window)
        self.c, self.beta = c, beta
        self.fast_convergence, self.per_segment = fast_convergence, per_segment
        self.alpha_cubic = 3.0 * (1.0 - beta) / (1.0 + beta)  # 4.3
        self.w_max = 0.0  # none yet
        self.k = 0.0
        self.w_est = 0.0
        self.cwnd_prior: float | None = None
        self.epoch: float | None = None  # its beginning, moved on by what t leaves out
        self.after_timeout = False
        self.last_ack = 0.0

    def w_cubic(self, t: float) -> float:
        """Figure 1."""
        return self.c * (t - self.k) ** 3 + self.w_max

    def measure(self, e: Event, /) -> None:
        if self.epoch is not None and not e.cwnd_limited:
            self.epoch += e.now - self.last_ack
        self.last_ack = e.now

    def begin_epoch(self, now: float) -> float:
        if self.after_timeout or self.w_max <= self.cwnd:  # 4.8, and 4.10 for a slow start that ended without a loss
            self.k, self.w_max = 0.0, self.cwnd
        else:
            self.k = math.cbrt((self.w_max - self.cwnd) / self.c)  # figure 2
        if self.cwnd_prior is None:  # 4.10
            self.cwnd_prior = self.cwnd
        self.after_timeout = False
        self.w_est = self.cwnd
        self.epoch = now
        return now

    def change(self, e: Event, /) -> float:
        epoch = self.begin_epoch(e.now) if self.epoch is None else self.epoch
        t = e.now - epoch
        # 4.2
        target = min(max(self.w_cubic(t + e.srtt), self.cwnd), 1.5 * self.cwnd)
        # 4.3, figure 4
        grown_back = self.cwnd_prior is not None and self.w_est >= self.cwnd_prior
        self.w_est += (1.0 if grown_back else self.alpha_cubic) * e.acked / self.cwnd
        if self.w_cubic(t) < self.w_est:
            return max(self.w_est - self.cwnd, 0.0)
        # 4.4, 4.5
        return (target - self.cwnd) / self.cwnd * (e.acked if self.per_segment else 1.0)

    def cut(self) -> float:
        """4.6 and 4.7."""
        downward = self.fast_convergence and self.cwnd < self.w_max
        self.w_max = self.cwnd * (1.0 + self.beta) / 2.0 if downward else self.cwnd
        self.cwnd_prior = self.cwnd
        self.epoch = None
        return self.beta * self.cwnd

    def backoff(self, _e: Event, /) -> float:
        self.after_timeout = False
        return self.cut()

    def timeout(self, _e: Event, /) -> float:
        self.after_timeout = True
        return self.cut()
