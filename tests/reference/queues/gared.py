"""gARED, gentle Adaptive RED.

Source: Z. Zhang, G. Hasegawa, M. Murata, IEICE Trans. Commun. E88-B(6), 2005, Fig. 8.

Choices:
* "target" is ARED's band: up needs an average above its upper end, down one below its lower end.
* The two tests follow each other; they cannot both hold.
* old_avg is the average that the previous update read, 0 before the first; at arrivals, that the last one left.
* No lower bound. `top` cuts the step as in `ared`.
* interval 0.5 s, max_p 0.1 at the start, top 0.5 (not stated).
"""

from .ared import Ared
from .discipline import Verdict
from .packet import Packet


class Gared(Ared):
    """Adaptive RED that waits with an increase while the average is falling, and with a decrease while it is rising."""

    def __init__(
        self,
        limit: float,
        min_th: float | None = None,
        max_th: float | None = None,
        w_q: float | None = None,
        max_p: float = 0.1,
        interval: float = 0.5,
        top: float = 0.5,
        beta: float = 0.9,
        delay_target: float = 0.005,
        clamp: bool = True,
        wait: bool = False,
        mean_packet: int = 1500,
        ecn: bool = False,
        arrivals: bool = False,
    ) -> None:
        super().__init__(
            limit,
            min_th,
            max_th,
            w_q,
            max_p,
            interval,
            top,
            0.0,
            beta,
            delay_target,
            clamp,
            wait,
            mean_packet,
            ecn,
            arrivals,
        )
        self.old_avg = 0.0

    def rule(self, p: Packet, now: int) -> Verdict:
        if self.arrivals:
            self.old_avg = self.avg
        return super().rule(p, now)

    def adapt(self, avg: float) -> None:
        if avg > self.target(0.6) and avg > self.old_avg and self.max_p < self.top:
            self.increase()
        if self.min_th < avg < self.target(0.4) and avg < self.old_avg:
            self.decrease()
        self.old_avg = avg
