"""Per-flow fair queueing with drop from the longest queue.

Source: B. Suter, T. Lakshman, D. Stiliadis, A. Choudhury, "Design Considerations for Supporting TCP with Per-flow
Queueing", INFOCOM 1998, as Auge and Roberts 2006 use it.

Choices:
* The arrival joins first; then, while too much waits, the longest queue loses its tail (`victim`: or its head), which
  can be the arrival itself. What waits does not include the packet in service, neither in total nor per flow.
* Longest in bytes (`measure`: or packets). Ties: one draw, flows in the order of their ids.
* What `flows` says of turns and tags. The quantum is one packet of 1500 bytes.
* An arrival at the idle server needs no room.
"""

from typing import Literal

from .discipline import Discipline, Unit
from .flows import FlowQueues, Measure, RoundRobin, StartTimeFair, longest
from .packet import Packet


class Fq(Discipline):
    """Fair shares, with losses for the flows with the longest queues."""

    def __init__(
        self,
        limit: float,
        scheduler: Literal["drr", "stfq"] = "drr",
        victim: Literal["head", "tail"] = "tail",
        quantum: int = 1500,
        measure: Measure = "bytes",
        unit: Unit = "packets",
        lingers: bool = False,
    ) -> None:
        super().__init__(limit, unit)
        self.victim, self.measure = victim, measure
        self.flows: FlowQueues = RoundRobin(lambda _flow: quantum, lingers) if scheduler == "drr" else StartTimeFair()

    def queue_of(self, p: Packet) -> int:
        return p.flow

    def arrive(self, p: Packet, now: int) -> None:
        self.enter(p)
        self.flows.push(self.queue_of(p), p)
        while self.idle_since is None and self.level() > self.limit:
            flow = self.one_of(longest(self.flows.queues, self.measure))
            queue = self.flows.queues[flow]
            lost = queue.pop() if self.victim == "tail" else queue.popleft()
            self.flows.removed(flow)
            self.leave(lost)
            self.drop(lost, now, "overflow")

    def take(self, _now: int, /) -> Packet | None:
        p = self.flows.pop()
        if p is not None:
            self.leave(p)
        return p

    def numbers(self) -> dict[str, float]:
        return {f"queue[{f}]": len(q) for f, q in self.flows.queues.items() if q}
