"""RED, random early detection.

Source: S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993,
Fig. 2 and section 4, from memory; gentle mode, `wait` and the idle decay as Zhang, Hasegawa and
Murata 2005 and ns-2 have them.

Choices:
* Idle time s: avg is multiplied by (1 - w_q)^(s C), C the link's rate in mean packets per second, s C not rounded,
  and then takes the sample q = 0 as well (the 1993 paper has the decay alone). s counts from the later of the end
  of the last service and the last update of avg, which is another packet's only if that was dropped at the idle
  server.
* q is what waits when the packet arrives: neither that packet nor the one in service.
* avg < min_th: count = -1. Otherwise count grows by one for every packet whose fate is drawn, gentle region included.
* avg >= 2 max_th (gentle), avg >= max_th (not): forced, always a drop, also with ECN; count = 0.
* classic: p_b/(1 - count p_b), 1 once count p_b >= 1. wait: 0, p_b/(2 - count p_b), 1 for count p_b below 1, below 2,
  above.
* The rule is asked before the room: a draw is spent on a packet that then finds the buffer full. count = 0 after each
  drop and each mark; after an overflow too, unless it is -1 (Fig. 2: so it stays below min_th).
* In bytes, q, thresholds and limit are bytes and p_b is scaled by size/`reference_size` and cut at 1 before count
  enters (section 4: proportional to the size). The paper refers to the maximum packet; default here: the mean packet.
"""

from .discipline import Fifo, Unit, Verdict
from .packet import SECOND, Packet


class Red(Fifo):
    """Drops with a probability that rises with the average queue."""

    def __init__(
        self,
        limit: float,
        min_th: float,
        max_th: float,
        w_q: float = 0.002,
        max_p: float = 0.1,
        gentle: bool = True,
        wait: bool = False,
        unit: Unit = "packets",
        mean_packet: int = 1500,
        reference_size: int | None = None,
        ecn: bool = False,
    ) -> None:
        super().__init__(limit, unit)
        self.min_th, self.max_th, self.w_q, self.max_p = min_th, max_th, w_q, max_p
        self.gentle, self.wait, self.ecn, self.mean_packet = gentle, wait, ecn, mean_packet
        self.reference_size = mean_packet if reference_size is None else reference_size
        self.avg = self.p_a = 0.0
        self.avg_at = 0  # when it was updated last
        self.count = -1

    def packets_per_second(self) -> float:
        return self.rate / (8.0 * self.mean_packet)

    def average(self, now: int) -> float:
        """Return the current average: it decays as if small packets had found an empty queue."""
        if self.idle_since is None:
            return self.avg
        idle = (now - max(self.idle_since, self.avg_at)) / SECOND
        return float(self.avg * (1.0 - self.w_q) ** (idle * self.packets_per_second()))

    def base(self) -> float:
        """Return p_b of a packet of the reference size."""
        if self.avg < self.max_th:
            return self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        if self.gentle and self.avg < 2.0 * self.max_th:
            return self.max_p + (1.0 - self.max_p) * (self.avg - self.max_th) / self.max_th
        return 1.0

    def spread(self, p_b: float) -> float:
        """Return p_a, the probability that evens out the gaps between drops."""
        x = self.count * p_b
        if self.wait:
            return 0.0 if x < 1.0 else p_b / (2.0 - x) if x < 2.0 else 1.0
        return p_b / (1.0 - x) if x < 1.0 else 1.0

    def rule(self, p: Packet, now: int) -> Verdict:
        self.avg = (1.0 - self.w_q) * self.average(now) + self.w_q * self.level()
        self.avg_at = now
        self.p_a = 0.0
        if self.avg < self.min_th:
            self.count = -1
            return "accept"
        if self.avg >= (2.0 if self.gentle else 1.0) * self.max_th:
            self.count, self.p_a = 0, 1.0
            return "forced"
        self.count += 1
        p_b = self.base()
        if self.unit == "bytes":
            p_b = min(p_b * p.size / self.reference_size, 1.0)
        self.p_a = self.spread(p_b)
        if not self.happens(self.p_a):
            return "accept"
        self.count = 0
        return "mark" if self.ecn and p.ect else "early"

    def overflowed(self, _p: Packet, _now: int, /) -> None:
        self.count = min(self.count, 0)

    def numbers(self) -> dict[str, float]:
        return {"avg": self.avg, "count": self.count, "p_a": self.p_a, "max_p": self.max_p}
