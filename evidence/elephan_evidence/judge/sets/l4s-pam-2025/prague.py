"""TCP Prague's dependence on the round-trip time: it grows, and is cut, as over a virtual one of 25 ms.

Source: draft-briscoe-iccrg-prague-congestion-control (growth and average of marks by a virtual round-trip time).
Differs from the source: no pacing by its own rule, no fallback. For the run of a reason: no law of elephan does this.
"""

from typing import Any

VIRTUAL_RTT_S = 0.025
"""Smallest round-trip time that Prague acts by [s]."""


class Prague:
    """DCTCP over a round trip of at least 25 ms."""

    needs = "marks"

    def __init__(self, flow: Any) -> None:
        self.cwnd = float(flow.initial_window)
        self.ssthresh = float("inf")
        self.alpha = 1.0
        self.acked = self.marked = self.updated = 0.0
        self.reduced = -1.0
        self.virtual = VIRTUAL_RTT_S

    def on_ack(self, ack: Any) -> None:
        """Grow by what was not marked, as over the virtual round trip."""
        self.on_recovery_ack(ack)
        unmarked = ack.acked - ack.ce_marked
        if self.cwnd < self.ssthresh:
            self.cwnd += unmarked
        else:
            self.cwnd += unmarked / self.cwnd * ((ack.srtt or VIRTUAL_RTT_S) / self.virtual) ** 2

    def on_recovery_ack(self, ack: Any) -> None:
        """Average the share of marks once a virtual round trip."""
        rtt = ack.srtt or VIRTUAL_RTT_S
        self.virtual = max(rtt, VIRTUAL_RTT_S)
        self.acked += ack.acked
        self.marked += ack.ce_marked
        if ack.now - self.updated >= self.virtual:
            self.alpha += (self.marked / self.acked - self.alpha) / 16
            self.acked, self.marked, self.updated = 0.0, 0.0, ack.now

    def on_loss(self, event: Any) -> None:
        """Halve at a loss; at a mark reduce by half of the share of marks, once a virtual round trip."""
        if event.signal != "ecn":
            self.cwnd = max(2.0, 0.5 * self.cwnd) if event.signal == "loss" else 1.0
        elif event.now - self.reduced >= self.virtual:
            self.cwnd = max(2.0, (1 - 0.5 * self.alpha) * self.cwnd)
            self.reduced = event.now
        self.ssthresh = self.cwnd
