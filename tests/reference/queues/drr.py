"""Deficit round robin with a limit per flow.

Source: M. Shreedhar, G. Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995, Fig. 2
(`flows`).

Choices:
* Instead of the paper's buffer stealing, an arrival is dropped if its flow has `flow_limit` waiting (`measure`:
  packets, or bytes that it would exceed), or if
  the whole buffer is full. (`fq` steals.)
* What `flows.RoundRobin` says of turns. One quantum for all.
"""

import math

from .discipline import Discipline, Unit
from .flows import Measure, RoundRobin, backlog
from .packet import Packet


class Drr(Discipline):
    """Flows in turn, each with a quantum of bytes."""

    def __init__(
        self,
        quantum: int = 1500,
        flow_limit: float = math.inf,
        limit: float = math.inf,
        unit: Unit = "packets",
        lingers: bool = False,
        measure: Measure = "packets",
    ) -> None:
        super().__init__(limit, unit)
        self.flow_limit, self.measure = flow_limit, measure
        self.flows = RoundRobin(lambda _flow: quantum, lingers)

    def arrive(self, p: Packet, now: int) -> None:
        more = 1 if self.measure == "packets" else p.size
        full = self.idle_since is None and backlog(self.flows.queues[p.flow], self.measure) + more > self.flow_limit
        if full or not self.has_room(p):
            self.drop(p, now, "overflow")
            return
        self.enter(p)
        self.flows.push(p.flow, p)

    def take(self, _now: int, /) -> Packet | None:
        p = self.flows.pop()
        if p is not None:
            self.leave(p)
        return p

    def numbers(self) -> dict[str, float]:
        return {f"deficit[{f}]": d for f, d in self.flows.deficit.items()}
