"""CUBIC whose Reno-friendly window keeps its slope, for the run of a reason."""

from __future__ import annotations

from math import cbrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elephan._native import LawAck, LawEvent, LawFlow


class KeptSlope:
    """RFC 9438, Sections 4.2 to 4.6, with two differences: the slope of W_est, and what W_est is compared with.

    The slope stays 3 (1 - beta) / (1 + beta) above the window of the last reduction, and the larger one of W_est and
    the target of the next round trip is aimed at.
    """

    C, BETA = 0.4, 0.7

    def __init__(self, flow: LawFlow) -> None:
        self.cwnd, self.ssthresh = flow.initial_window, flow.initial_ssthresh
        self.w_max = self.w_est = self.k = 0.0
        self.epoch: float | None = None

    def on_ack(self, ack: LawAck) -> None:
        """Grow by slow start, or towards the target."""
        if not ack.cwnd_limited:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd = min(self.cwnd + ack.acked, self.ssthresh)
            return
        if self.epoch is None:
            self.epoch, self.w_est, self.w_max = ack.now, self.cwnd, max(self.w_max, self.cwnd)
            self.k = cbrt((self.w_max - self.cwnd) / self.C)
        share = min(ack.acked / self.cwnd, 1.0)
        self.w_est += 3 * (1 - self.BETA) / (1 + self.BETA) * share
        cubic = self.C * (ack.now - self.epoch + ack.min_rtt - self.k) ** 3 + self.w_max
        self.cwnd += max(min(cubic, 1.5 * self.cwnd) - self.cwnd, self.w_est - self.cwnd, 0.0) * share

    def on_loss(self, _event: LawEvent) -> None:
        """Reduce the window."""
        self.w_max, self.epoch = self.cwnd, None
        self.cwnd = self.ssthresh = max(self.cwnd * self.BETA, 2.0)
