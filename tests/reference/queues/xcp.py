"""The router of XCP, the explicit control protocol.

Source: D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM 2002,
section 3.5 (equations 1 to 9) and the pseudo-code of Appendix A; from memory, as the text was not at hand.

phi = alpha d S - beta Q; h = max(0, gamma y - |phi|); xi_p = (h + max(phi, 0))/(d sum(rtt s/cwnd)); xi_n = (h +
max(-phi, 0))/(d sum(s)); a packet gets p - n, p = xi_p rtt^2 s/cwnd, n = xi_n rtt s.

Choices:
* h is the text's; Appendix A shuffles gamma y whole (`shuffle` "gross").
* Bytes and seconds throughout. y is the input of the control interval, S = capacity - y/(length of that interval),
  where the interval was the previous d. d = sum(rtt^2 s/cwnd)/sum(rtt s/cwnd), as it was if no header came. xi = 0
  where its sum is 0. First interval: `interval`; xi = 0 in it.
* All arrivals count, those dropped afterwards and those without header too (the latter in y and sum(s) only).
* Departure is the start of service. inst_queue is what waits then, that packet excluded; min_queue is what was least
  at the departures since the queue timer's last. Q = 0 before its first, at max(`allowed_queue`, interval/2).
* At the same instant: control timer, then queue timer. Timers are rounded to picoseconds.
* A demand equal to the router's feedback counts as limited by the router.
* The feedback is written with floating-point bytes; the header's demand is replaced if it is not smaller.
"""

from collections.abc import Iterator
from typing import Literal

from .discipline import Fifo, Unit
from .packet import Header, Packet, picoseconds


class Xcp(Fifo):
    """Drop-tail that writes into each packet the change of its sender's window."""

    def __init__(
        self,
        limit: float,
        alpha: float = 0.4,
        beta: float = 0.226,
        gamma: float = 0.1,
        interval: float = 0.1,
        allowed_queue: float = 0.002,
        shuffle: Literal["net", "gross"] = "net",
        unit: Unit = "packets",
    ) -> None:
        super().__init__(limit, unit)
        self.alpha, self.beta, self.gamma, self.shuffle = alpha, beta, gamma, shuffle
        self.allowed_queue = allowed_queue
        self.d = interval  # mean round-trip time, and the control interval [s]
        self.capacity = 0.0  # bytes/s
        self.input_traffic = self.sum_rtt_by_cwnd = self.sum_rtt_square_by_cwnd = 0.0
        self.phi = self.xi_p = self.xi_n = self.residue_pos = self.residue_neg = 0.0
        self.queue_estimate = self.min_queue = 0
        self.control_at = picoseconds(interval)
        self.queue_at = picoseconds(max(allowed_queue, interval / 2.0))

    def attach(self, rate: float, draws: Iterator[float]) -> None:
        super().attach(rate, draws)
        self.capacity = rate / 8.0

    def arrive(self, p: Packet, now: int) -> None:
        self.input_traffic += p.size
        if p.header is not None:
            h = p.header
            self.sum_rtt_by_cwnd += h.rtt * p.size / h.cwnd
            self.sum_rtt_square_by_cwnd += h.rtt * h.rtt * p.size / h.cwnd
        super().arrive(p, now)

    def next_timer(self) -> int:
        return min(self.control_at, self.queue_at)

    def on_timer(self, now: int) -> None:
        if now == self.control_at:
            self.control(now)
        else:
            self.estimate_queue(now)

    def control(self, now: int) -> None:
        input_bw = self.input_traffic / self.d
        if self.sum_rtt_by_cwnd > 0.0:
            self.d = self.sum_rtt_square_by_cwnd / self.sum_rtt_by_cwnd
        self.phi = self.alpha * self.d * (self.capacity - input_bw) - self.beta * self.queue_estimate
        shuffled = self.gamma * self.input_traffic
        if self.shuffle == "net":
            shuffled = max(0.0, shuffled - abs(self.phi))
        pos, neg = shuffled + max(self.phi, 0.0), shuffled + max(-self.phi, 0.0)
        self.xi_p = pos / (self.d * self.sum_rtt_by_cwnd) if self.sum_rtt_by_cwnd > 0.0 else 0.0
        self.xi_n = neg / (self.d * self.input_traffic) if self.input_traffic > 0.0 else 0.0
        self.residue_pos, self.residue_neg = pos / self.d, neg / self.d
        self.input_traffic = self.sum_rtt_by_cwnd = self.sum_rtt_square_by_cwnd = 0.0
        self.control_at = now + picoseconds(self.d)

    def estimate_queue(self, now: int) -> None:
        self.queue_estimate = self.min_queue
        self.min_queue = self.waiting_bytes
        t_q = max(self.allowed_queue, (self.d - self.waiting_bytes / self.capacity) / 2.0)
        self.queue_at = now + picoseconds(t_q)

    def take(self, now: int) -> Packet | None:
        p = super().take(now)
        if p is not None:
            self.min_queue = min(self.min_queue, self.waiting_bytes)
            if p.header is not None:
                self.write(p.header, p.size)
        return p

    def write(self, h: Header, size: int) -> None:
        pos = self.xi_p * h.rtt * h.rtt * size / h.cwnd
        neg = self.xi_n * h.rtt * size
        feedback = pos - neg
        if h.feedback >= feedback:
            h.feedback = feedback
            self.residue_pos -= pos / h.rtt
            self.residue_neg -= neg / h.rtt
        elif h.feedback > 0.0:
            self.residue_pos -= h.feedback / h.rtt
            self.residue_neg -= (feedback - h.feedback) / h.rtt
        else:
            self.residue_neg += h.feedback / h.rtt
            if feedback > 0.0:
                self.residue_neg -= feedback / h.rtt
        if self.residue_pos <= 0.0:
            self.xi_p = 0.0
        if self.residue_neg <= 0.0:
            self.xi_n = 0.0

    def numbers(self) -> dict[str, float]:
        return {
            "d": self.d,
            "phi": self.phi,
            "xi_p": self.xi_p,
            "xi_n": self.xi_n,
            "residue_pos": self.residue_pos,
            "residue_neg": self.residue_neg,
            "queue_estimate": self.queue_estimate,
        }
