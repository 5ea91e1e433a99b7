"""BLUE.

Source: W. Feng, K. Shin, D. Kandlur, D. Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM ToN 10(4),
2002, Fig. 2: upon packet loss (or queue above L) p_m rises by d1, upon link idle it falls by d2, neither within
freeze_time of the last update.

Choices:
* Loss is an overflow; drops and marks that p_m itself made are none.
* With L, an accepted packet that leaves more than L waiting is the same event.
* `room_first`: events come before the packet is judged. One without room is a loss whatever p_m says, and one that
  finds more than L waiting is the event.
* Link idle is a state: it counts at the instant at which the server finds nothing to serve, and while it lasts whenever
  freeze_time has passed since the last update, until p_m is 0. A packet dropped at the idle server ends no idle period
  and begins none.
* now - last_update > freeze_time strictly; last_update is 0 at the start, so that nothing moves in the first
  freeze_time.
* p_m is kept within [0, 1].
* Otherwise the rule is asked before the room. A packet that overflows is judged by the p_m before its own loss.
* d1 = 0.02, d2 = 0.002, freeze_time 0.1 s: defaults only.
"""

import math

from .discipline import Fifo, Unit, Verdict
from .packet import Packet, picoseconds


class Blue(Fifo):
    """One probability, up with losses and down with idleness."""

    def __init__(
        self,
        limit: float,
        d1: float = 0.02,
        d2: float = 0.002,
        freeze_time: float = 0.1,
        level: float | None = None,
        unit: Unit = "packets",
        ecn: bool = False,
        room_first: bool = False,
    ) -> None:
        super().__init__(limit, unit, room_first)
        self.d1, self.d2, self.freeze_time = d1, d2, picoseconds(freeze_time)
        self.high, self.ecn = level, ecn
        self.p_m, self.last_update = 0.0, 0

    def move(self, step: float, now: int) -> None:
        if now - self.last_update > self.freeze_time:
            self.p_m = min(max(self.p_m + step, 0.0), 1.0)
            self.last_update = now

    def watch(self, now: int) -> None:
        # a packet at the idle server does not wait
        if self.idle_since is None and self.high is not None and self.level() > self.high:
            self.move(self.d1, now)

    def rule(self, p: Packet, now: int, /) -> Verdict:
        if self.room_first:
            self.watch(now)
        if not self.happens(self.p_m):
            return "accept"
        return "mark" if self.ecn and p.ect else "early"

    def stay_idle(self, now: int) -> None:
        # Updated at arrivals, as p_m is not used in between.
        passed = -(-(now - self.last_update) // self.freeze_time) - 1
        periods = min(passed, math.ceil(self.p_m / self.d2))
        if self.idle_since is not None and periods > 0:
            self.p_m = max(self.p_m - periods * self.d2, 0.0)
            self.last_update += periods * self.freeze_time

    def arrive(self, p: Packet, now: int) -> None:
        self.stay_idle(now)
        super().arrive(p, now)
        if p.fate is None and not self.room_first:
            self.watch(now)

    def overflowed(self, _p: Packet, now: int, /) -> None:
        self.move(self.d1, now)

    def take(self, now: int) -> Packet | None:
        p = super().take(now)
        if p is None and self.idle_since == now:
            self.move(-self.d2, now)
        return p

    def numbers(self) -> dict[str, float]:
        return {"p_m": self.p_m, "last_update": self.last_update}
