"""Adaptive RED.

Source: S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active
Queue Management", 2001, Fig. 1 and section 3, as Zhang, Hasegawa and
Murata 2005 sum it up.

Choices:
* A real timer: the first update at `interval`, then at its multiples. ns-2 looks at arrivals only (`arrivals`): at each
  that comes `interval` after the last change of max_p or later, after its own fate is decided.
* The average read then has decayed if the server is idle; reading does not change it.
* Fig. 1 tests max_p before the step only; the text says that it "is constrained to remain within" [0.01, 0.5]. Both
  are kept: a step is made where `bottom` < max_p < `top` allows it (strictly), and is cut at the bound
  (`clamp` = False: not cut, Fig. 1 alone).
* w_q = 1 - exp(-1/C) unless given; max_th = 3 min_th; min_th = max(5, `delay_target` C/2) unless given (section 3.3);
  C in mean packets per second. max_p starts at 0.1, gentle is on.
* Everything else is `red`, in packets.
"""

import math
from collections.abc import Iterator

from .discipline import Verdict
from .packet import Packet, picoseconds
from .red import Red


class Ared(Red):
    """RED that moves max_p so that the average stays halfway between the thresholds."""

    def __init__(
        self,
        limit: float,
        min_th: float | None = None,
        max_th: float | None = None,
        w_q: float | None = None,
        max_p: float = 0.1,
        interval: float = 0.5,
        top: float = 0.5,
        bottom: float = 0.01,
        beta: float = 0.9,
        delay_target: float = 0.005,
        clamp: bool = True,
        wait: bool = False,
        mean_packet: int = 1500,
        ecn: bool = False,
        arrivals: bool = False,
    ) -> None:
        super().__init__(limit, math.nan, math.nan, math.nan, max_p, True, wait, "packets", mean_packet, None, ecn)
        self.given = (min_th, max_th, w_q)
        self.delay_target, self.clamp = delay_target, clamp
        self.top, self.bottom, self.beta = top, bottom, beta
        self.interval, self.updates = picoseconds(interval), 0
        self.arrivals, self.changed = arrivals, 0

    def attach(self, rate: float, draws: Iterator[float]) -> None:
        super().attach(rate, draws)
        c = self.packets_per_second()
        min_th, max_th, w_q = self.given
        self.min_th = max(5.0, self.delay_target * c / 2.0) if min_th is None else min_th
        self.max_th = 3.0 * self.min_th if max_th is None else max_th
        self.w_q = 1.0 - math.exp(-1.0 / c) if w_q is None else w_q

    def target(self, share: float) -> float:
        return self.min_th + share * (self.max_th - self.min_th)

    def next_timer(self) -> int | None:
        return None if self.arrivals else (self.updates + 1) * self.interval

    def rule(self, p: Packet, now: int) -> Verdict:
        verdict = super().rule(p, now)
        if self.arrivals and now - self.changed >= self.interval:
            before = self.max_p
            self.adapt(self.avg)
            if self.max_p != before:
                self.changed = now
        return verdict

    def on_timer(self, now: int) -> None:
        self.updates += 1
        self.adapt(self.average(now))

    def adapt(self, avg: float) -> None:
        if avg > self.target(0.6) and self.max_p < self.top:
            self.increase()
        elif avg < self.target(0.4) and self.max_p > self.bottom:
            self.decrease()

    def increase(self) -> None:
        self.max_p += min(0.01, self.max_p / 4.0)
        if self.clamp:
            self.max_p = min(self.max_p, self.top)

    def decrease(self) -> None:
        self.max_p *= self.beta
        if self.clamp:
            self.max_p = max(self.max_p, self.bottom)
