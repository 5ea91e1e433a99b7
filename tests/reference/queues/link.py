"""A link: one server of a constant rate, with a discipline that decides on waiting, drops and the next packet.

Order at one instant: timers of the discipline, the end of the service with the next start, arrivals. A packet that
finds the server idle is decided upon like every other, on arrival and, at the same instant, on leaving; it needs no
room. A service takes round(bits 10^12 / rate) picoseconds; Python rounds a half to the even neighbour.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .discipline import Discipline
from .packet import SECOND, Arrival, Fate, Packet


class Link:
    """Serves packets one at a time; `rate` in bit/s, `draws` are numbers in [0, 1)."""

    def __init__(self, rate: int, discipline: Discipline, draws: Iterable[float] = ()) -> None:
        self.rate, self.discipline = rate, discipline
        self.draws: Iterator[float] = iter(draws)
        self.packets: list[Packet] = []
        self.trace: list[dict[str, float]] = []  # the discipline's numbers after each arrival
        self.ends: int | None = None  # of the service; None: idle
        discipline.attach(float(rate), self.draws)

    def service(self, size: int) -> int:
        return round(8 * size * SECOND / self.rate)

    def run(self, arrivals: Sequence[Arrival]) -> list[Fate]:
        """Fates in the order of the arrivals; every packet has one when this returns."""
        self.packets = [
            Packet(i, a.time, a.flow, a.size, a.ect, a.l4s, None if a.header is None else replace(a.header))
            for i, a in enumerate(arrivals)
        ]
        coming = 0
        while coming < len(self.packets) or self.ends is not None:
            arrival = self.packets[coming].time if coming < len(self.packets) else None
            now = min(t for t in (self.discipline.next_timer(), self.ends, arrival) if t is not None)
            if now == self.discipline.next_timer():
                self.discipline.on_timer(now)
            elif now == self.ends:
                self.ends = None
                self.discipline.idle_since = now
                self.start(now)
            else:
                packet = self.packets[coming]
                coming += 1
                self.discipline.arrive(packet, now)
                if self.ends is None:
                    self.start(now)
                self.trace.append(self.numbers(now))
        return [self.fate(p) for p in self.packets]

    def fate(self, p: Packet) -> Fate:
        if p.fate is None:
            raise RuntimeError(f"packet {p.index} was lost from sight")
        return p.fate

    def start(self, now: int) -> None:
        packet = self.discipline.take(now)
        if packet is not None:
            packet.fate = ("left", now, packet.marked)
            self.discipline.idle_since = None
            self.ends = now + self.service(packet.size)

    def numbers(self, now: int) -> dict[str, float]:
        d = self.discipline
        return {"time": now, "waiting": d.waiting, "waiting_bytes": d.waiting_bytes, **d.numbers()}
