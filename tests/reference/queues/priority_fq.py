"""Priority fair queueing, deficit round robin form.

Source: A. Kortebi, S. Oueslati, J. Roberts, "Cross-protect: Implicit Service Differentiation and Admission Control",
HPSR 2004, and "Implicit Service Differentiation using Deficit Round Robin", ITC 19, 2005.
The papers' pseudo-code was not at hand: this follows their description (packets
of flows that just became active, at most one quantum of them, go first; the others wait in fair queues).

Choices:
* A flow that is not in the list joins its end with an allowance of one quantum. Its packets take the priority queue
  as long as they fit into what is left of the allowance and nothing of the flow waits in its own queue (its packets
  stay in order); a packet larger than the quantum never does.
* The flow leaves the list when its turn comes and its queue is empty, or when its last packet is taken in its turn. A
  loss leaves it where it is: otherwise its next packet would go first. Turns come only while the priority queue is
  empty.
* `charged`: what took the priority queue is owed, so that the deficit starts at minus that many bytes (fair queues of
  the HPSR form raise the flow's finish tag by it). Not charged: it starts at 0.
* Full buffer: the arrival joins first, then the longest of the flows' own queues, in bytes, loses its tail (`victim`:
  or its head); ties by one draw. The priority queue is spared, unless nothing else waits: then it loses the arrival.
"""

from collections import deque
from typing import Literal

from .discipline import Discipline, Unit
from .flows import Measure, RoundRobin, longest
from .packet import Packet


class PriorityFq(Discipline):
    """Fair queueing, newly active flows first."""

    def __init__(
        self,
        limit: float,
        quantum: int = 1500,
        victim: Literal["head", "tail"] = "tail",
        measure: Measure = "bytes",
        unit: Unit = "packets",
        charged: bool = False,
        lingers: bool = False,
    ) -> None:
        super().__init__(limit, unit)
        self.quantum, self.victim, self.measure, self.charged = quantum, victim, measure, charged
        self.flows = RoundRobin(lambda _flow: quantum, lingers)
        self.priority: deque[Packet] = deque()
        self.used: dict[int, int] = {}  # of the allowance, by flows in the list [bytes]

    def arrive(self, p: Packet, now: int) -> None:
        self.enter(p)
        if p.flow not in self.flows.deficit:
            self.flows.activate(p.flow)
            self.used[p.flow] = 0
        if self.used[p.flow] + p.size <= self.quantum and not self.flows.queues[p.flow]:
            self.used[p.flow] += p.size
            self.priority.append(p)
            if self.charged:
                self.flows.deficit[p.flow] -= p.size
        else:
            self.flows.push(p.flow, p)
        while self.idle_since is None and self.level() > self.limit:
            self.lose(now)

    def lose(self, now: int) -> None:
        ties = longest(self.flows.queues, self.measure)
        if not ties:
            lost = self.priority.pop()
            self.used[lost.flow] -= lost.size
            if self.charged:
                self.flows.deficit[lost.flow] += lost.size
        else:
            flow = self.one_of(ties)
            queue = self.flows.queues[flow]
            lost = queue.pop() if self.victim == "tail" else queue.popleft()
        self.leave(lost)
        self.drop(lost, now, "overflow")

    def take(self, _now: int, /) -> Packet | None:
        p = self.priority.popleft() if self.priority else self.flows.pop()
        if p is not None:
            self.leave(p)
        return p

    def numbers(self) -> dict[str, float]:
        return {"priority": len(self.priority), "listed": len(self.flows.active)}
