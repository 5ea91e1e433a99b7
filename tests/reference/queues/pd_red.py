"""PD-RED: RED whose max_p follows a proportional-derivative controller.

Source: J. Sun, K.-T. Ko, G. Chen, S. Chan, M. Zukerman, "PD-RED: To Improve the Performance of RED", IEEE
Communications Letters 7(8), 2003. Its text was not at hand when this was written (only its abstract was): the law is
the one that later papers report of it, max_p(n) = max_p(n-1) + k_p e(n) + k_d (e(n) - e(n-1)), e(n) = (avg(n) -
target)/`scale`.

Choices:
* target halfway between the thresholds unless given, scale = limit unless given (a normalised error), e = 0 before
  the first update (`starts_empty`: that of an average of 0), max_p kept within [`bottom`, `top`] = [0, 1].
* k_p = 0.001, k_d = 0.05, an update every 0.01 s: defaults only, to be held against the letter.
* A real timer; the average decays at an idle server, as in `ared`. Everything else is `red`.
"""

from .discipline import Unit
from .packet import picoseconds
from .red import Red


class PdRed(Red):
    """RED, max_p by a controller."""

    def __init__(
        self,
        limit: float,
        min_th: float,
        max_th: float,
        w_q: float = 0.002,
        max_p: float = 0.1,
        k_p: float = 0.001,
        k_d: float = 0.05,
        interval: float = 0.01,
        target: float | None = None,
        scale: float | None = None,
        bottom: float = 0.0,
        top: float = 1.0,
        gentle: bool = True,
        wait: bool = False,
        unit: Unit = "packets",
        mean_packet: int = 1500,
        ecn: bool = False,
        starts_empty: bool = False,
    ) -> None:
        super().__init__(limit, min_th, max_th, w_q, max_p, gentle, wait, unit, mean_packet, None, ecn)
        self.k_p, self.k_d = k_p, k_d
        self.target = (min_th + max_th) / 2.0 if target is None else target
        self.scale = limit if scale is None else scale
        self.bottom, self.top = bottom, top
        self.interval, self.updates = picoseconds(interval), 0
        self.old_error = -self.target / self.scale if starts_empty else 0.0

    def next_timer(self) -> int:
        return (self.updates + 1) * self.interval

    def on_timer(self, now: int) -> None:
        self.updates += 1
        error = (self.average(now) - self.target) / self.scale
        step = self.k_p * error + self.k_d * (error - self.old_error)
        self.max_p = min(max(self.max_p + step, self.bottom), self.top)
        self.old_error = error
