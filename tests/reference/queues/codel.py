"""CoDel, controlled delay.

Source: K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, RFC 8289 (2018), section 5, pseudo-code, step by step (with
the variant of count that it prints); from memory, as its text was not at hand.

Choices:
* `mtu` stands for maxpacket: a constant. bytes() is what is left after the packet in hand was taken out.
* drop_next is rounded to picoseconds. All numbers start at 0, out of dropping state.
* ECN (the RFC has no code for it): where a capable packet would be dropped it is marked and sent; everything else of
  that step happens, but no further packet is looked at, so that at most one is marked per dequeue, and a drop time
  that is already past waits for the next dequeue.
* A drop at dequeue has the cause "sojourn". The limit is drop-tail's.
"""

import math
from collections import deque
from collections.abc import Callable

from .discipline import Fifo, Unit
from .packet import Packet, picoseconds

Drop = Callable[[Packet, int], None]
Take = Callable[[], Packet | None]


class Controller:
    """The state of one queue; `take` removes its head, `drop` discards the removed packet."""

    def __init__(self, target: float, interval: float, mtu: int, ecn: bool) -> None:
        self.target, self.interval = picoseconds(target), picoseconds(interval)
        self.mtu, self.ecn = mtu, ecn
        self.first_above_time = self.drop_next = self.count = self.lastcount = 0
        self.dropping = False

    def control_law(self, t: int, count: int) -> int:
        return t + round(self.interval / math.sqrt(count))

    def dodequeue(self, queue: deque[Packet], now: int, take: Take) -> tuple[Packet | None, bool]:
        """Return the head, and whether it may be dropped."""
        p = take()
        if p is None:
            self.first_above_time = 0
            return None, False
        if now - p.time < self.target or sum(q.size for q in queue) <= self.mtu:
            self.first_above_time = 0  # went below: stay below for at least an interval
        elif self.first_above_time == 0:
            self.first_above_time = now + self.interval
        elif now >= self.first_above_time:
            return p, True
        return p, False

    def deque(self, queue: deque[Packet], now: int, take: Take, drop: Drop) -> Packet | None:
        p, ok_to_drop = self.dodequeue(queue, now, take)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while p is not None and now >= self.drop_next and self.dropping:
                self.count += 1
                if self.mark(p):
                    self.drop_next = self.control_law(self.drop_next, self.count)
                    return p
                drop(p, now)
                p, ok_to_drop = self.dodequeue(queue, now, take)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next = self.control_law(self.drop_next, self.count)
        elif p is not None and ok_to_drop:
            if not self.mark(p):
                drop(p, now)
                p, _ = self.dodequeue(queue, now, take)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = delta if delta > 1 and now - self.drop_next < 16 * self.interval else 1
            self.drop_next = self.control_law(now, self.count)
            self.lastcount = self.count
        return p

    def mark(self, p: Packet) -> bool:
        p.marked = p.marked or (self.ecn and p.ect)
        return self.ecn and p.ect


class Codel(Fifo):
    """One queue, one controller."""

    def __init__(
        self,
        limit: float,
        target: float = 0.005,
        interval: float = 0.1,
        mtu: int = 1500,
        unit: Unit = "packets",
        ecn: bool = False,
    ) -> None:
        super().__init__(limit, unit)
        self.codel = Controller(target, interval, mtu, ecn)

    def take(self, now: int) -> Packet | None:
        return self.codel.deque(self.queue, now, lambda: Fifo.take(self, now), self.late)

    def late(self, p: Packet, now: int) -> None:
        self.drop(p, now, "sojourn")

    def numbers(self) -> dict[str, float]:
        c = self.codel
        return {
            "count": c.count,
            "lastcount": c.lastcount,
            "drop_next": c.drop_next,
            "first_above_time": c.first_above_time,
            "dropping": c.dropping,
        }
