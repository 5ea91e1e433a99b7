"""A receiver at the far end of the kernel's connection, behind a small path that loses and reorders as drawn.

*Source*: RFC 9293 (cumulative), 2018 (blocks, most recent first), 2883 (duplicates), 7323 (the echoed timestamp), 5681,
Section 4.2 (one ACK for two segments, at once for segments out of order).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from elephan_evidence.conform.live.wire import ACK, LIMIT, SYN, Segment

WSCALE = 7
WINDOW = 60_000
"""Window field: 7.7 MB behind the scale, more than any of these connections has outstanding."""

MSS = 1460
MOST_BLOCKS = 3
"""SACK blocks beside a timestamp (RFC 2018, Section 3)."""

DELAYED_S = 0.04
"""An ACK for one segment waits this long [s]."""


@dataclass(frozen=True)
class PathDraw:
    """The path between the kernel and the receiver, and how the latter acknowledges.

    Parameters
    ----------
    delay_s : float [s]
        Round-trip time without a queue.
    packet_s : float [s]
        Time that the slowest link takes for a segment.
    loss, ack_loss : float
        Probability that a segment, or an ACK, is lost.
    reorder : float
        Probability that a segment is late.
    late_s : float [s]
        Longest additional delay of such a segment.
    per_ack : int
        Segments in order that one ACK is for.
    """

    delay_s: float
    packet_s: float
    loss: float
    ack_loss: float
    reorder: float
    late_s: float
    per_ack: int


@dataclass
class Path:
    """State of the path: decides what happens to each segment."""

    draw: PathDraw
    chance: Random
    free_s: float = 0.0

    def arrival(self, now: float) -> float | None:
        """Return when a segment that leaves at `now` arrives [s], or None if it is lost."""
        self.free_s = max(now, self.free_s) + self.draw.packet_s
        lost, late, more = (self.chance.random() for _ in range(3))
        if lost < self.draw.loss:
            return None
        return self.free_s + self.draw.delay_s + (more * self.draw.late_s if late < self.draw.reorder else 0.0)

    def loses_ack(self) -> bool:
        """Whether the next ACK is lost."""
        return self.chance.random() < self.draw.ack_loss


@dataclass
class Receiver:
    """State of the receiving side of a connection.

    Parameters
    ----------
    ports : tuple of int
        Its own and the kernel's.
    """

    ports: tuple[int, int]
    per_ack: int
    initial: int = 0
    next: int = 0
    recent: int = 0
    held: list[tuple[int, int]] = field(default_factory=list)
    pending: int = 0
    clock: int = 0

    def accept(self, syn: Segment, clock: int) -> Segment:
        """Return the answer to the kernel's SYN."""
        self.next = 1
        self.recent = syn.timestamp[0] if syn.timestamp else 0
        self.clock = clock
        return Segment(
            self.ports, self.initial, (syn.seq + 1) % LIMIT, SYN | ACK, 65_535, 0, MSS, WSCALE, sack=True,
            timestamp=(clock, self.recent),
        )  # fmt: skip

    def take(self, start: int, end: int, stamp: int) -> tuple[bool, tuple[int, int] | None]:
        """Take payload [start, end); return whether to acknowledge now, and the duplicate to report.

        Sequence numbers are relative to the kernel's first.
        """
        duplicate = self._duplicate(start, end)
        # That of the last segment that advanced the edge, or of the first not yet acknowledged (RFC 7323, 4.3).
        if start <= self.next and not self.pending:
            self.recent = max(self.recent, stamp)
        before, had_holes = self.next, bool(self.held)
        if start <= self.next < end:
            self.next = end
            self.held = [run for run in self.held if run[1] > self.next]
            while (run := next((run for run in self.held if run[0] <= self.next), None)) is not None:
                self.next = max(self.next, run[1])
                self.held = [run for run in self.held if run[1] > self.next]
        elif start > self.next and duplicate is None:
            self._hold(start, end)
        if self.next > before and not had_holes:
            self.pending += 1
            return self.pending >= self.per_ack, None
        return True, duplicate

    def _duplicate(self, start: int, end: int) -> tuple[int, int] | None:
        if end <= self.next or any(a <= start and end <= b for a, b in self.held):
            return start, end
        return None

    def _hold(self, start: int, end: int) -> None:
        """Add a run in front: the block of the latest segment comes first (RFC 2018, Section 4)."""
        others = []
        for a, b in self.held:
            if a <= end and start <= b:
                start, end = min(a, start), max(b, end)
            else:
                others.append((a, b))
        self.held = [(start, end), *others]

    def acknowledgement(self, kernel_initial: int, clock: int, duplicate: tuple[int, int] | None) -> Segment:
        """Return the ACK for everything so far."""
        self.pending = 0
        runs = ([duplicate] if duplicate else []) + self.held
        blocks = tuple(((a + kernel_initial) % LIMIT, (b + kernel_initial) % LIMIT) for a, b in runs[:MOST_BLOCKS])
        self.clock = max(self.clock, clock)
        return Segment(
            self.ports, (self.initial + 1) % LIMIT, (kernel_initial + self.next) % LIMIT, ACK, WINDOW,
            timestamp=(self.clock, self.recent), blocks=blocks,
        )  # fmt: skip
