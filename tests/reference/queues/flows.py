"""Queues per flow: the longest queue, and two ways to share the server, for disciplines that choose the next flow.

Sources: M. Shreedhar, G. Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995, Fig. 2; P.
Goyal, H. Vin, H. Cheng, "Start-Time Fair Queueing", SIGCOMM 1996, section 2.
"""

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Literal

from .packet import Packet

Measure = Literal["packets", "bytes"]


def backlog(queue: deque[Packet], measure: Measure) -> int:
    return len(queue) if measure == "packets" else sum(p.size for p in queue)


def longest(queues: dict[int, deque[Packet]], measure: Measure) -> list[int]:
    """Ids of the longest queues, all that tie, ascending; none if all are empty."""
    lengths = {f: backlog(q, measure) for f, q in queues.items() if q}
    return sorted(f for f, n in lengths.items() if n == max(lengths.values()))


class FlowQueues:
    """One first-in first-out queue per flow."""

    def __init__(self) -> None:
        self.queues: defaultdict[int, deque[Packet]] = defaultdict(deque)

    def push(self, flow: int, p: Packet) -> None:
        raise NotImplementedError

    def pop(self) -> Packet | None:
        raise NotImplementedError

    def removed(self, flow: int) -> None:
        """Called when a packet of this flow was dropped."""


class RoundRobin(FlowQueues):
    """Deficit round robin.

    * A turn starts with `quantum` and lasts, while the flow has what fits, until the next packet is asked for: a flow
      that becomes active during a service comes before the flow that is being served.
    * A flow whose last packet is taken leaves the list at once and loses its deficit. `lingers`: it stays until the
      next packet is asked for (Fig. 2 with a Send that blocks), and goes on with its turn if it has a packet by then.
    * A flow all of whose packets were dropped leaves at once, except the one whose turn it is under `lingers`.
    * `cost` of a packet is its size unless given.
    """

    def __init__(
        self,
        quantum: Callable[[int], int],
        lingers: bool = False,
        cost: Callable[[Packet], int] = lambda p: p.size,
    ) -> None:
        super().__init__()
        self.quantum, self.lingers, self.cost = quantum, lingers, cost
        self.active: list[int] = []
        self.deficit: dict[int, int] = {}
        self.turn: int | None = None  # of the flow at the head of the list, once it has its quantum

    def activate(self, flow: int) -> None:
        if flow not in self.deficit:
            self.active.append(flow)
            self.deficit[flow] = 0

    def push(self, flow: int, p: Packet) -> None:
        self.activate(flow)
        self.queues[flow].append(p)

    def pop(self) -> Packet | None:
        while self.active:
            flow = self.active[0]
            queue = self.queues[flow]
            if not queue:
                self.retire(flow)
                continue
            if self.turn is None:
                self.turn = flow
                self.deficit[flow] += self.quantum(flow)
            if self.cost(queue[0]) <= self.deficit[flow]:
                p = queue.popleft()
                self.deficit[flow] -= self.cost(p)
                if not queue and not self.lingers:
                    self.retire(flow)
                return p
            self.active.append(self.active.pop(0))
            self.turn = None
        return None

    def take_from(self, flow: int) -> Packet:
        """Take a packet, for schedulers without turns."""
        p = self.queues[flow].popleft()
        self.removed(flow)
        return p

    def removed(self, flow: int) -> None:
        if not self.queues[flow] and not (self.lingers and self.turn == flow):
            self.retire(flow)

    def retire(self, flow: int) -> None:
        self.active.remove(flow)
        del self.deficit[flow]
        if self.turn == flow:
            self.turn = None


class StartTimeFair(FlowQueues):
    """Start-time fair queueing with equal weights; tags in bytes.

    * A tag is given to a flow's head: max(v, finish tag of the flow's last served packet) to one that comes to an
      empty queue, that finish tag to one that comes up behind it. Without drops these are the tags of the paper.
    * A dropped packet leaves no trace in the tags; one that comes up for a dropped head inherits its tag.
    * Ties: the head that arrived first (the paper: arbitrary).
    * v is the start tag in service; at the end of a busy period, the largest finish tag served.
    """

    def __init__(self) -> None:
        super().__init__()
        self.start: dict[int, int] = {}  # of the heads
        self.finish: dict[int, int] = {}
        self.v = 0

    def push(self, flow: int, p: Packet) -> None:
        if not self.queues[flow]:
            self.start[flow] = max(self.v, self.finish.get(flow, 0))
        self.queues[flow].append(p)

    def pop(self) -> Packet | None:
        backlogged = [f for f, q in self.queues.items() if q]
        if not backlogged:
            self.v = max([self.v, *self.finish.values()])
            return None
        flow = min(backlogged, key=lambda f: (self.start[f], self.queues[f][0].index))
        p = self.queues[flow].popleft()
        self.v = self.start[flow]
        self.start[flow] = self.finish[flow] = self.v + p.size
        return p
