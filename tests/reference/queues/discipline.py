"""Common parts of all disciplines: a buffer, draws, fates, and first-in first-out service for those that only admit."""

import math
from collections import deque
from collections.abc import Iterator
from typing import Literal

from .packet import Cause, Packet

Unit = Literal["packets", "bytes"]
Verdict = Literal["accept", "mark", "early", "forced"]


class Discipline:
    """Base of all. `waiting` counts what is in the buffer: the packet in service is not."""

    def __init__(self, limit: float = math.inf, unit: Unit = "packets") -> None:
        self.limit, self.unit = limit, unit
        self.waiting = self.waiting_bytes = 0
        self.idle_since: int | None = 0  # kept by the link; None: the server is busy
        self.rate = math.nan  # bit/s
        self.draws: Iterator[float] = iter(())

    def attach(self, rate: float, draws: Iterator[float]) -> None:
        self.rate, self.draws = rate, draws

    def arrive(self, p: Packet, now: int) -> None:
        raise NotImplementedError

    def take(self, now: int) -> Packet | None:
        """Return the packet to serve next; None if there is none."""
        raise NotImplementedError

    def next_timer(self) -> int | None:
        return None

    def on_timer(self, now: int) -> None:
        raise NotImplementedError

    def numbers(self) -> dict[str, float]:
        return {}

    # Helpers.

    def happens(self, p: float) -> bool:
        """Make one draw, or none if p is 0 or 1."""
        return next(self.draws) < p if 0.0 < p < 1.0 else p >= 1.0

    def one_of(self, flows: list[int]) -> int:
        """Choose one of several in the order of their ids, which is a convention; a single one needs no draw."""
        return flows[0] if len(flows) == 1 else flows[math.floor(next(self.draws) * len(flows))]

    def has_room(self, p: Packet) -> bool:
        if self.idle_since is not None:
            return True  # goes straight into service
        return self.level() + (1 if self.unit == "packets" else p.size) <= self.limit

    def level(self) -> int:
        return self.waiting if self.unit == "packets" else self.waiting_bytes

    def enter(self, p: Packet) -> None:
        self.waiting += 1
        self.waiting_bytes += p.size

    def leave(self, p: Packet) -> None:
        self.waiting -= 1
        self.waiting_bytes -= p.size

    def drop(self, p: Packet, now: int, cause: Cause) -> None:
        p.fate = ("dropped", now, cause)


class Fifo(Discipline):
    """First-in first-out behind a rule: the rule first, then the room. A packet without room is an overflow.

    With `room_first` the rule is not asked about such a packet.
    """

    def __init__(self, limit: float = math.inf, unit: Unit = "packets", room_first: bool = False) -> None:
        super().__init__(limit, unit)
        self.room_first = room_first
        self.queue: deque[Packet] = deque()

    def rule(self, _p: Packet, _now: int, /) -> Verdict:
        return "accept"

    def overflowed(self, p: Packet, now: int) -> None:
        """Called if the buffer has no room for this packet."""

    def arrive(self, p: Packet, now: int) -> None:
        fits = self.has_room(p)
        verdict = self.rule(p, now) if fits or not self.room_first else "accept"
        if verdict in ("early", "forced"):
            self.drop(p, now, "early" if verdict == "early" else "forced")
        elif not fits:
            self.drop(p, now, "overflow")
            self.overflowed(p, now)
        else:
            p.marked = p.marked or verdict == "mark"
            self.enter(p)
            self.queue.append(p)

    def take(self, _now: int, /) -> Packet | None:
        if not self.queue:
            return None
        p = self.queue.popleft()
        self.leave(p)
        return p
