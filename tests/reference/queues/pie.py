"""PIE, proportional integral controller enhanced.

Source: R. Pan, P. Natarajan, F. Baker, G. White, RFC 8033 (2017), sections 4 and 5, Appendices A and B; read from
memory and from quotations, as its text was not at hand. The delay is what waits, in bytes, times 8/rate (5.2 is not
needed).

Choices:
* Room is asked first, then drop_early (Appendix B): no draw for a packet that does not fit, and accu_prob = 0 for it.
* Burst allowance left: drop_early is not asked, so that accu_prob stays as it is (4.4, Appendix A; B asks it and
  ignores the answer). The last interval ends it when it reaches 0.
* At an update drop_prob first moves, then decays, then is bounded (Appendix A); it decays while both delays are below
  half the target (Appendix A; not: are 0). After that the burst allowance shrinks by T_UPDATE, and is full again if
  drop_prob is 0 and both delays are below half the target (4.4; `refill` "arrival": after each packet that enters,
  with the delay that it found).
* 5.3: becomes active when an arrival leaves at least a third of the limit waiting (in the limit's unit); inactive, at
  an update, under the condition of the full burst allowance. What goes straight into service counts nowhere.
  Inactive: no update, no drop. The timer keeps its beat, multiples of T_UPDATE from 0, whenever PIE becomes active.
* 5.1: marks while drop_prob < 0.1 strictly, else drops.
* "A couple of packets" is 2 mean packets of waiting bytes, the arrival excluded.
* No scaling of drop_prob with packet size (4.1 allows it), and none of Linux's jump at 250 ms.
* `active` at the start only without 5.3 (`on_off` False).
"""

from typing import Literal

from .discipline import Fifo, Unit
from .packet import Packet, picoseconds

SCALES = ((1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0))  # 4.2


class Pie(Fifo):
    """Drops on arrival with a probability that a controller of the delay sets."""

    def __init__(
        self,
        limit: float,
        target: float = 0.015,
        t_update: float = 0.015,
        alpha: float = 0.125,
        beta: float = 1.25,
        max_burst: float = 0.15,
        max_ecnth: float = 0.1,
        unit: Unit = "packets",
        mean_packet: int = 1500,
        ecn: bool = False,
        on_off: bool = True,
        derandomize: bool = True,
        cap: bool = True,
        refill: Literal["update", "arrival"] = "update",
    ) -> None:
        super().__init__(limit, unit)
        self.target, self.alpha, self.beta, self.max_ecnth = target, alpha, beta, max_ecnth
        self.max_burst, self.mean_packet, self.ecn = picoseconds(max_burst), mean_packet, ecn
        self.on_off, self.derandomize, self.cap = on_off, derandomize, cap
        self.t_update, self.updates, self.refill = picoseconds(t_update), 0, refill
        self.active = not on_off
        self.reset()

    def reset(self) -> None:
        self.drop_prob = self.qdelay_old = self.accu_prob = 0.0
        self.burst_allowance = self.max_burst  # picoseconds

    def arrive(self, p: Packet, now: int) -> None:
        if not self.has_room(p):
            self.accu_prob = 0.0
            self.drop(p, now, "overflow")
            return
        if self.active and self.burst_allowance == 0 and self.drop_early():
            if not (self.ecn and p.ect and self.drop_prob < self.max_ecnth):
                self.drop(p, now, "early")
                return
            p.marked = True
        if self.refill == "arrival" and self.calm(self.qdelay()):
            self.burst_allowance = self.max_burst
        self.enter(p)
        self.queue.append(p)
        if not self.active and self.idle_since is None and self.level() >= self.limit / 3.0:
            self.active = True
            self.reset()

    def drop_early(self) -> bool:
        if self.qdelay_old < self.target / 2.0 and self.drop_prob < 0.2:
            return False
        if self.waiting_bytes <= 2 * self.mean_packet:
            return False
        if self.derandomize:  # 5.4
            self.accu_prob = self.accu_prob + self.drop_prob if self.drop_prob > 0.0 else 0.0
            if self.accu_prob < 0.85:
                return False
        certain = self.derandomize and self.accu_prob >= 8.5
        if not certain and not self.happens(self.drop_prob):
            return False
        self.accu_prob = 0.0
        return True

    def qdelay(self) -> float:
        return self.waiting_bytes * 8.0 / self.rate

    def calm(self, qdelay: float) -> bool:
        return self.drop_prob == 0.0 and max(qdelay, self.qdelay_old) < self.target / 2.0

    def next_timer(self) -> int:
        return (self.updates + 1) * self.t_update

    def on_timer(self, _now: int, /) -> None:
        self.updates += 1
        if not self.active:
            return
        qdelay = self.qdelay()
        p = self.alpha * (qdelay - self.target) + self.beta * (qdelay - self.qdelay_old)
        p /= next((scale for below, scale in SCALES if self.drop_prob < below), 1.0)
        if self.cap and self.drop_prob >= 0.1:  # 5.5
            p = min(p, 0.02)
        self.drop_prob += p
        low = qdelay < self.target / 2.0 and self.qdelay_old < self.target / 2.0
        if low:
            self.drop_prob *= 0.98
        self.drop_prob = min(max(self.drop_prob, 0.0), 1.0)
        self.burst_allowance = max(0, self.burst_allowance - self.t_update)
        self.qdelay_old = qdelay
        if low and self.drop_prob == 0.0:
            if self.refill == "update":
                self.burst_allowance = self.max_burst
            self.active = not self.on_off

    def numbers(self) -> dict[str, float]:
        return {
            "drop_prob": self.drop_prob,
            "qdelay_old": self.qdelay_old,
            "accu_prob": self.accu_prob,
            "burst_allowance": self.burst_allowance,
            "active": self.active,
        }
