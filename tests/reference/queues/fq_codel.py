"""FQ-CoDel.

Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, RFC 8290 (2018), sections 4 and 5.2; from
memory, as its text was not at hand.

Choices:
* The queue of a flow is hash(flow) modulo `flows`; the hash is the identity unless given, and has no perturbation.
* 4.2 has a queue's turn over when its credits are negative, "(i.e., it has already dequeued at least a quantum of
  bytes)", which is so at 0 already: a queue with 0 credits is given a quantum and goes to the end (`zero_serves`: is
  served).
* 4.1: when the limit is exceeded, the largest queue in bytes loses half its packets, rounded down but at least one
  (`half_up`: rounded up) and at most `drop_batch`, from its head. The arrival has joined before. Ties: one draw, in the
  order of the queues (RFC: open). CoDel's count knows nothing of these drops.
* An empty queue found at the head: of the new list it goes to the end of the old one, of the old list it leaves; its
  CoDel state stays, and its credits are a quantum again when it comes back.
* Codel's choices (`codel`), with one maxpacket `mtu`.
"""

from collections import deque
from collections.abc import Callable
from functools import partial

from .codel import Controller
from .discipline import Discipline, Unit
from .flows import longest
from .packet import Packet


def identity(flow: int) -> int:
    return flow


class FqCodel(Discipline):
    """CoDel in every queue, queues in turn, new ones first."""

    def __init__(
        self,
        limit: float = 10240,
        quantum: int = 1514,
        flows: int = 1024,
        target: float = 0.005,
        interval: float = 0.1,
        mtu: int = 1514,
        hashed: Callable[[int], int] = identity,
        drop_batch: int = 64,
        ecn: bool = False,
        unit: Unit = "packets",
        zero_serves: bool = False,
        half_up: bool = False,
    ) -> None:
        super().__init__(limit, unit)
        self.quantum, self.hashed, self.drop_batch, self.zero_serves = quantum, hashed, drop_batch, zero_serves
        self.half_up = half_up
        self.queues: dict[int, deque[Packet]] = {i: deque() for i in range(flows)}
        self.codels = {i: Controller(target, interval, mtu, ecn) for i in range(flows)}
        self.credits: dict[int, int] = {}  # of the queues in one of the lists
        self.new: deque[int] = deque()
        self.old: deque[int] = deque()

    def arrive(self, p: Packet, now: int) -> None:
        i = self.hashed(p.flow) % len(self.queues)
        self.enter(p)
        self.queues[i].append(p)
        if i not in self.credits:
            self.credits[i] = self.quantum
            self.new.append(i)
        if self.idle_since is None and self.level() > self.limit:
            fattest = self.one_of(longest(self.queues, "bytes"))
            half = (len(self.queues[fattest]) + self.half_up) // 2
            for _ in range(min(max(half, 1), self.drop_batch)):
                lost = self.queues[fattest].popleft()
                self.leave(lost)
                self.drop(lost, now, "overflow")

    def take(self, now: int) -> Packet | None:
        while self.new or self.old:
            source = self.new or self.old
            i = source[0]
            if self.credits[i] < 0 or (self.credits[i] == 0 and not self.zero_serves):
                self.credits[i] += self.quantum
                self.old.append(source.popleft())
                continue
            p = self.codels[i].deque(self.queues[i], now, partial(self.head, i), self.late)
            if p is not None:
                self.credits[i] -= p.size
                return p
            source.popleft()
            if source is self.new:
                self.old.append(i)
            else:
                del self.credits[i]
        return None

    def head(self, i: int) -> Packet | None:
        if not self.queues[i]:
            return None
        p = self.queues[i].popleft()
        self.leave(p)
        return p

    def late(self, p: Packet, now: int) -> None:
        self.drop(p, now, "sojourn")

    def numbers(self) -> dict[str, float]:
        return {"new": len(self.new), "old": len(self.old), **{f"credits[{i}]": c for i, c in self.credits.items()}}
