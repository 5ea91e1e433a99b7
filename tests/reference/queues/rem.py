"""REM, random exponential marking.

Source: S. Athuraliya, V. Li, S. Low, Q. Yin, "REM: Active Queue Management", IEEE Network 15(3), 2001: price p(t+1) =
[p(t) + gamma (alpha (b(t) - b*) + x(t) - c)]+, marking probability 1 - phi^-p; with x - c taken as the change of the
backlog, p(t+1) = [p(t) + gamma (b(t+1) - (1 - alpha) b(t) - alpha b*)]+.

Choices:
* b is what waits, the packet in service excluded, in packets (in bytes: divided by the mean packet), at the timer; b*
  in packets. b = 0 before the first update, at `interval`, then at its multiples.
* Change per interval, not per second: gamma is the article's only if the interval is.
* Without ECN, or where the packet is not capable, marking is dropping.
* The rule is asked before the room (`room_first`: not about a packet without room).
* interval 0.01 s: default only (the article leaves it open); gamma 0.001, phi 1.001, alpha 0.1, b* 20 are its own.
"""

from .discipline import Fifo, Unit, Verdict
from .packet import Packet, picoseconds


class Rem(Fifo):
    """A price that rises with mismatch of backlog and rate."""

    def __init__(
        self,
        limit: float,
        gamma: float = 0.001,
        phi: float = 1.001,
        alpha: float = 0.1,
        target: float = 20.0,
        interval: float = 0.01,
        unit: Unit = "packets",
        mean_packet: int = 1500,
        ecn: bool = False,
        room_first: bool = False,
    ) -> None:
        super().__init__(limit, unit, room_first)
        self.gamma, self.phi, self.alpha, self.target = gamma, phi, alpha, target
        self.mean_packet, self.ecn = mean_packet, ecn
        self.interval, self.updates = picoseconds(interval), 0
        self.price = self.backlog = 0.0

    def next_timer(self) -> int:
        return (self.updates + 1) * self.interval

    def on_timer(self, _now: int, /) -> None:
        self.updates += 1
        b = self.waiting if self.unit == "packets" else self.waiting_bytes / self.mean_packet
        step = b - (1.0 - self.alpha) * self.backlog - self.alpha * self.target
        self.price = max(self.price + self.gamma * step, 0.0)
        self.backlog = b

    def probability(self) -> float:
        return float(1.0 - self.phi**-self.price)

    def rule(self, p: Packet, _now: int, /) -> Verdict:
        if not self.happens(self.probability()):
            return "accept"
        return "mark" if self.ecn and p.ect else "early"

    def numbers(self) -> dict[str, float]:
        return {"price": self.price, "probability": self.probability()}
