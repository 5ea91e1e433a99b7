"""DualPI2, the dual-queue coupled AQM with a PI2 classic side.

Source: K. De Schepper, B. Briscoe, G. White, RFC 9332 (2023), Appendix A: Figures 2 to 6 with the overload lines of
A.2 (Figures 7 to 9); read from memory and from quotations, as its text was not at hand.

Choices:
* Packets with ECT(1) (`l4s`) go to L, others to C; none arrive marked.
* limit in bytes: a packet is dropped if what waits and one `mtu` exceed it, whatever its size (Fig. 3); default: 250
  ms of the rate. In packets: the ordinary test.
* time() of a queue is the sojourn of its head: of the packet just taken at a dequeue, of the oldest waiting one (0 if
  there is none) at an update. len() at a dequeue counts what is left after the packet was taken; native marking needs
  len() > Th_len = 1.
* p' is kept within [0, 1]. prevq = 0 at the start. Updates at multiples of Tupdate, empty or not.
* recur (Fig. 4): one count per queue, true beyond 1 strictly, no draws. `recur` False: one draw per decision instead.
  In overload of L a packet can meet two decisions, both with L's count: p_C for the drop, then p_CL for the mark.
* A likelihood above 1 (p_CL in overload) counts as 1. At 1, recur's first answer is False, as printed (`certain`: a
  likelihood of 1 or more is acted on at once, and not counted).
* The RFC leaves the scheduler open. "wrr": deficit round robin with 15 and 1 mtu for L and C (C's weight 1/16),
  "strict": L first, "ts_fifo": the head that has waited longer, L's advanced by `t_shift`, ties to L.
* Early is the cause of all drops but overflows.
"""

from collections.abc import Iterator
from typing import Literal

from .discipline import Discipline, Unit
from .flows import RoundRobin
from .packet import SECOND, Packet, picoseconds

L, C = 0, 1


class DualPi2(Discipline):
    """A shallow queue for L4S beside a classic one, one probability for both."""

    def __init__(
        self,
        limit: float | None = None,
        unit: Unit = "bytes",
        mtu: int = 1500,
        k: float = 2.0,
        target: float = 0.015,
        rtt_max: float = 0.1,
        t_update: float | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        min_th: float = 800e-6,
        ramp: float = 400e-6,
        th_len: int = 1,
        p_lmax: float = 1.0,
        scheduler: Literal["wrr", "strict", "ts_fifo"] = "wrr",
        t_shift: float = 0.05,
        recur: bool = True,
        certain: bool = False,
    ) -> None:
        super().__init__(0.0, unit)
        self.given, self.mtu, self.k, self.target = limit, mtu, k, target
        self.p_cmax = min(1.0 / k**2, 1.0)
        period = min(target, rtt_max / 3.0) if t_update is None else t_update
        self.alpha = 0.1 * period / rtt_max**2 if alpha is None else alpha
        self.beta = 0.3 / rtt_max if beta is None else beta
        self.t_update, self.updates = picoseconds(period), 0
        self.min_th, self.ramp, self.th_len, self.p_lmax = min_th, ramp, th_len, p_lmax
        self.scheduler, self.t_shift, self.recurs = scheduler, picoseconds(t_shift), recur
        self.certain = certain
        self.flows = RoundRobin(lambda queue: mtu if queue == C else 15 * mtu)
        self.counts = {L: 0.0, C: 0.0}
        self.p = self.p_cl = self.p_c = self.prevq = 0.0

    def attach(self, rate: float, draws: Iterator[float]) -> None:
        super().attach(rate, draws)
        self.limit = 0.25 * rate / 8.0 if self.given is None else self.given

    def arrive(self, p: Packet, now: int) -> None:
        if self.unit == "bytes":
            fits = self.idle_since is not None or self.waiting_bytes + self.mtu <= self.limit
        else:
            fits = self.has_room(p)
        if not fits:
            self.drop(p, now, "overflow")
            return
        self.enter(p)
        self.flows.push(L if p.l4s else C, p)

    def schedule(self, now: int) -> Packet | None:
        if self.scheduler == "wrr":
            return self.flows.pop()
        l, c = self.flows.queues[L], self.flows.queues[C]  # noqa: E741 (the source's sign)
        if not l and not c:
            return None
        if self.scheduler == "strict" or not l or not c:
            return self.flows.take_from(L if l else C)
        return self.flows.take_from(L if now - l[0].time + self.t_shift >= now - c[0].time else C)

    def take(self, now: int) -> Packet | None:
        while (p := self.schedule(now)) is not None:
            self.leave(p)
            dropped = self.drops_l(p, now) if p.l4s else self.drops_c(p)
            if not dropped:
                return p
            self.drop(p, now, "early")
        return None

    def drops_l(self, p: Packet, now: int) -> bool:
        if self.p_cl < self.p_lmax:
            native = self.laqm((now - p.time) / SECOND) if len(self.flows.queues[L]) > self.th_len else 0.0
            p.marked = self.recur(L, max(native, self.p_cl))
            return False
        if self.recur(L, self.p_c):  # overload saturation: classic drop
            return True
        p.marked = self.recur(L, self.p_cl)
        return False

    def drops_c(self, p: Packet) -> bool:
        if not self.recur(C, self.p_c):
            return False
        p.marked = p.ect and self.p_c < self.p_cmax
        return not p.marked

    def laqm(self, qdelay: float) -> float:
        return min(max((qdelay - self.min_th) / self.ramp, 0.0), 1.0)

    def recur(self, queue: int, likelihood: float) -> bool:
        if not self.recurs:
            return self.happens(likelihood)
        if self.certain and likelihood >= 1.0:
            return True
        self.counts[queue] += min(likelihood, 1.0)
        if self.counts[queue] > 1.0:
            self.counts[queue] -= 1.0
            return True
        return False

    def next_timer(self) -> int:
        return (self.updates + 1) * self.t_update

    def on_timer(self, now: int) -> None:
        self.updates += 1
        curq = max((now - q[0].time) / SECOND if q else 0.0 for q in (self.flows.queues[L], self.flows.queues[C]))
        self.p += self.alpha * (curq - self.target) + self.beta * (curq - self.prevq)
        self.p = min(max(self.p, 0.0), 1.0)
        self.p_cl = self.k * self.p
        self.p_c = self.p**2
        self.prevq = curq

    def numbers(self) -> dict[str, float]:
        return {"p": self.p, "p_cl": self.p_cl, "p_c": self.p_c, "count_l": self.counts[L], "count_c": self.counts[C]}
