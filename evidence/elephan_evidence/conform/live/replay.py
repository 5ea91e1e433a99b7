"""Recorded connections of a kernel, run again with another sender: the same ACKs at the same times.

The order of the segments is compared, not the ACK that released each: a window that differs by a fraction of a segment releases a
segment one ACK earlier or later. At each ACK the number of segments that have left may therefore differ by one, as cwnd may.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from elephan_evidence.conform.packetdrill.drive import TOLERANCE, Driver, StopError
from elephan_evidence.conform.packetdrill.connection import MICROSECOND
from elephan_evidence.conform.packetdrill.script import SECOND, Call, Code, Packet, read_script

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from elephan_evidence.conform.packetdrill.connection import Connection
    from elephan_evidence.conform.packetdrill.script import Event

KINDS = ("segments", "snd_ssthresh", "snd_cwnd", "ca_state")
"""What is compared."""

SLACK = {"snd_cwnd": 1}
"""Accepted difference of a field; 0 for all others."""

MORE_SENT = 1
"""Accepted difference of the number of segments that have left, at an ACK."""

WHEEL = 1 / 8
"""Share of its duration by which a timer of the kernel may be late: the levels of its wheel (Linux, ``kernel/time/timer.c``)."""

TIMERS = ("timeout", "probe", "reordering")

ASSERTED = re.compile(r"assert (?:abs\()?tcpi_(?P<name>\w+) (?:==|-) (?P<value>\d+)")


@dataclass(frozen=True)
class Deviation:
    """The first place where a sender deviates from the kernel, of one kind.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    line : int
        Of the script.
    at_s : float [s]
    kernel, ours : str
    phase, kernel_phase : int
        ``tcpi_ca_state`` of our sender, and of the kernel at the ACK before.
    cause : str
        Event that triggered our segment; empty for a state.
    """

    kind: str
    line: int
    at_s: float
    kernel: str
    ours: str
    phases: tuple[int, int]
    cause: str = ""


@dataclass
class Replayed:
    """Result of a replay.

    Parameters
    ----------
    first : dict of str to Deviation
        By kind; empty if all agrees.
    segments, acks : int
        Numbers that agree, until the first deviation.
    """

    first: dict[str, Deviation] = field(default_factory=dict)
    segments: int = 0
    acks: int = 0

    @property
    def earliest(self) -> Deviation | None:
        """The deviation that came first."""
        return min(self.first.values(), key=lambda one: (one.line, KINDS.index(one.kind)), default=None)


def replay(path: Path, changes: Mapping[str, object] | None = None) -> Replayed:
    """Run a recording with a sender.

    Parameters
    ----------
    path : Path
        Script that `record` has written.
    changes : mapping, optional
        Differences of the sender from the kernel's settings, by place in its scenario.

    Returns
    -------
    Replayed

    Raises
    ------
    InputError
        If the script cannot be read, or the sender does not exist.
    """
    return Replay(read_script(path), changes or {}).replay()


@dataclass(frozen=True)
class _Left:
    """A segment that has left, and when [ps]; for the kernel's, the time since the ACK or the write before."""

    start: int
    end: int
    at: int
    since: int = 0
    cause: str = ""

    def __str__(self) -> str:
        return f"{self.start}:{self.end} at {self.at / SECOND:.4f} s"


def _agree(kernel: _Left, own: _Left) -> bool:
    by_timer = own.cause in TIMERS or kernel.since > TOLERANCE * MICROSECOND
    late = kernel.at - own.at
    accepted = TOLERANCE * MICROSECOND + kernel.since * WHEEL
    return (kernel.start, kernel.end) == (own.start, own.end) and not (by_timer and abs(late) > accepted)


class Replay(Driver):
    """A sender on its way through a recording."""

    def replay(self) -> Replayed:
        """Run it; return what deviates."""
        self.found = Replayed()
        # Each with its time, and the time since the ACK or the write before.
        # First transmissions and retransmissions.
        self._theirs: tuple[list[_Left], list[_Left]] = ([], [])
        self._ours: tuple[list[_Left], list[_Left]] = ([], [])
        self._compared = [0, 0]
        self._high = 0
        self._state = 0
        self._event = 0
        for event in self.script.events:
            try:
                self.run(event)
            except StopError as stop:
                self._compare(event)
                self._deviate("segments", event, "an ACK", stop.why)
                break
            if "segments" in self.found.first:
                break
        self.found.segments = sum(self._compared)
        return self.found

    def _happen(self, event: Event) -> None:
        super()._happen(event)
        if isinstance(event, Packet | Call):
            self._event = self.now

    def _expect_data(self, connection: Connection, packet: Packet, at: int) -> None:
        again = packet.start < self._high
        self._high = max(self._high, packet.end)
        if packet.options.timestamp is not None:
            self.stamps[packet.options.timestamp[0]] = again
        self._theirs[again].append(_Left(packet.start, packet.end, at, at - self._event))
        del connection

    def _take(self) -> None:
        if self.connection is not None:
            for sent in self.connection.sent:
                self._ours[sent.again].append(_Left(sent.start, sent.end, sent.at, cause=sent.cause))
            self.connection.sent.clear()

    def _assert(self, event: Code) -> None:
        connection = self.connection
        if connection is None:
            return
        self._take()
        self._compare(event)
        fields = connection.info()
        values = {match["name"]: int(match["value"]) for match in ASSERTED.finditer(event.text)}
        for name, value in values.items():
            ours = fields[f"tcpi_{name}"]
            if abs(ours - value) > SLACK.get(name, 0):
                self._deviate(name, event, f"{name} {value}", f"{name} {ours}")
        if not self.found.first:
            self.found.acks += 1
        self._state = values.get("ca_state", 0)

    def _compare(self, event: Event) -> None:
        """Compare what has left so far: what left for the first time, and retransmissions."""
        for which in (False, True):
            theirs, ours, done = self._theirs[which], self._ours[which], self._compared[which]
            for kernel, own in zip(theirs[done:], ours[done:], strict=False):
                if not _agree(kernel, own):
                    self._deviate("segments", event, str(kernel), str(own), own.cause)
                    return
                self._compared[which] += 1
            if abs(len(theirs) - len(ours)) > MORE_SENT:
                rest = [*theirs[self._compared[which] :], *ours[self._compared[which] :]]
                shown = [str(rest[0]) if len(one) > self._compared[which] else "nothing" for one in (theirs, ours)]
                self._deviate("segments", event, *shown, rest[0].cause)
                return

    def _deviate(self, kind: str, event: Event, kernel: str, ours: str, cause: str = "") -> None:
        state = self.connection.info()["tcpi_ca_state"] if self.connection is not None else 0
        found = Deviation(kind, event.line, self.now / SECOND, kernel, ours, (state, self._state), cause)
        self.found.first.setdefault(kind, found)
