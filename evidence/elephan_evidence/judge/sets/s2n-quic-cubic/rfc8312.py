"""CUBIC with the Reno-friendly window of RFC 8312, for the run of a reason."""

from __future__ import annotations

from math import cbrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elephan._native import LawAck, LawEvent, LawFlow


class Rfc8312:
    """RFC 8312, Sections 4.1 to 4.6: its Equation 4 counts time, where RFC 9438 counts acknowledged segments."""

    C, BETA = 0.4, 0.7

    def __init__(self, flow: LawFlow) -> None:
        self.cwnd, self.ssthresh = flow.initial_window, flow.initial_ssthresh
        self.w_max = self.w_last_max = self.k = 0.0
        self.epoch: float | None = None

    def on_ack(self, ack: LawAck) -> None:
        """Grow by slow start, to the window of Equation 4, or towards that of Equation 1."""
        if not ack.cwnd_limited:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd = min(self.cwnd + ack.acked, self.ssthresh)
            return
        if self.epoch is None:
            self.epoch, self.w_max = ack.now, self.w_max or self.cwnd
            self.k = cbrt((self.w_max - self.cwnd) / self.C)
        t = ack.now - self.epoch
        w_est = self.w_max * self.BETA + 3 * (1 - self.BETA) / (1 + self.BETA) * t / ack.min_rtt
        if self.w_cubic(t) < w_est:
            self.cwnd = max(self.cwnd, w_est)
        else:
            self.cwnd += max(self.w_cubic(t + ack.min_rtt) - self.cwnd, 0.0) * min(ack.acked / self.cwnd, 1.0)

    def w_cubic(self, t: float) -> float:
        """Return Equation 1."""
        cubic: float = self.C * (t - self.k) ** 3 + self.w_max
        return cubic

    def on_loss(self, _event: LawEvent) -> None:
        """Reduce the window, with fast convergence."""
        self.w_max = self.cwnd * (1 + self.BETA) / 2 if self.cwnd < self.w_last_max else self.cwnd
        self.w_last_max, self.epoch = self.cwnd, None
        self.cwnd = self.ssthresh = max(self.cwnd * self.BETA, 2.0)
