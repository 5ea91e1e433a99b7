"""Stochastic fairness queueing.

Source: P. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990: flows are hashed to a fixed number of queues, these
are served in turn, one packet each, and a full buffer steals from the longest.

Choices:
* The hash is flow modulo `queues` unless given, and never changes (no perturbation).
* A turn is one packet whatever its size (with `quantum` that number of bytes, with a deficit); it ends when the next
  packet is requested (`flows.RoundRobin`).
* The longest in packets loses its tail; the arrival joins first, as in `fq`. Ties: one draw, in the order of the
  queues.
"""

from collections.abc import Callable
from typing import Literal

from .discipline import Unit
from .flows import Measure, RoundRobin
from .fq import Fq
from .packet import Packet


def identity(flow: int) -> int:
    return flow


class Sfq(Fq):
    """Round robin over hashed queues."""

    def __init__(
        self,
        limit: float,
        queues: int = 1024,
        victim: Literal["head", "tail"] = "tail",
        measure: Measure = "packets",
        unit: Unit = "packets",
        lingers: bool = False,
        quantum: int | None = None,
        hashed: Callable[[int], int] = identity,
    ) -> None:
        super().__init__(limit, "drr", victim, 1, measure, unit)
        self.buckets, self.hashed = queues, hashed
        if quantum is None:
            self.flows = RoundRobin(lambda _queue: 1, lingers, lambda _p: 1)
        else:
            self.flows = RoundRobin(lambda _queue: quantum, lingers)

    def queue_of(self, p: Packet) -> int:
        return self.hashed(p.flow) % self.buckets
