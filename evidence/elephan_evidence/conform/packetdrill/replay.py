"""Recorded connections of a kernel, run again with another sender: the same ACKs at the same times.

The order of the segments is compared, not the ACK that released each: a window that differs by a fraction of a segment
releases one an ACK earlier or later. At each ACK the number of segments that have left may differ by one, as cwnd may.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from elephan.errors import InputError
from elephan_evidence.conform.packetdrill.connection import INFINITE_SSTHRESH, MICROSECOND, STATES
from elephan_evidence.conform.packetdrill.drive import TOLERANCE, Driver, StopError
from elephan_evidence.conform.packetdrill.judged import Difference, JudgedScript, Verdict
from elephan_evidence.conform.packetdrill.quic import is_quic
from elephan_evidence.conform.packetdrill.script import SECOND, Call, Code, Packet, read_script

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from elephan_evidence.conform.packetdrill.connection import Connection
    from elephan_evidence.conform.packetdrill.script import Event

HEAD = "// Recorded connection {name}: seed {seed}, Linux {kernel}, HZ {hz}"
"""First line of a recording."""

RECORDED = re.compile(r"// Recorded connection (?P<name>\S+): seed \d+, Linux (?P<kernel>\S+), HZ (?P<hz>\d+)\n")

KINDS = ("segments", "snd_ssthresh", "snd_cwnd", "ca_state")
"""Quantities that are compared."""

SLACK = {"snd_cwnd": 1}
"""Accepted difference of a field; 0 for all others."""

MORE_SENT = 1
"""Accepted difference of the number of segments that have left, at an ACK."""

WHEEL = 1 / 8
"""Share of its duration by which a timer of the kernel may be late (the levels of Linux's ``kernel/time/timer.c``)."""

SHORTEST_TIMER = 2000 * MICROSECOND
"""Time that the kernel adds to timers of RACK and TLP (Linux, ``include/net/tcp.h``: ``TCP_TIMEOUT_MIN_US``) [ps]."""

TICKS = 2
"""Ticks of 1/HZ by which a timer may be late besides: rounded up, and counted from the next tick."""

REASONS = {
    "timer": "timers: 2 ms later, in ticks of 1/HZ (tcp_rack_mark_lost)",
    "window": "cwnd: a whole number, with a counter (snd_cwnd_cnt)",
    "timeout": "timeout in a recovery: keeps ssthresh (tcp_enter_loss)",
    "prr": "PRR: a share of cwnd, not of the flight (tcp_cwnd_reduction)",
    "rack": "RACK: the RTT of the segment reported last (tcp_rack_advance)",
    "seen": "reordering: seen by a late original (tcp_try_undo_partial)",
    "reordering": "reordering: SACKs raise cwnd, too (tcp_may_raise_cwnd)",
    "slow start": "HyStart: ends slow start at another ACK (hystart_update)",
    "hystart": "HyStart: in a recovery, ssthresh falls to cwnd (hystart_update)",
    "idle": "idle: a probe is no use of the window (tcp_cwnd_validate)",
    "again": "a loss after a repaired probe reduces again (tcp_process_tlp_ack)",
    "other": "not explained",
}
"""Differences of Linux, each with its function."""

TIMERS = ("timeout", "probe", "reordering")

SEEN = ("reordering", "reord_seen")
"""Variables in the code after an ACK that hold the reordering seen by the kernel."""

SEEN_VALUE = re.compile(r"\b(?P<name>reordering|reord_seen) = (?P<value>\d+)")

RECOVERY = STATES["recovery"]

USUAL_REORDERING = 3
"""Its value until reordering was seen (``sysctl_tcp_reordering``)."""

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
    reason : str
        One of `REASONS`.
    """

    kind: str
    line: int
    at_s: float
    kernel: str
    ours: str
    phases: tuple[int, int]
    cause: str = ""
    reason: str = ""


@dataclass
class Replayed:
    """Result of a replay.

    Parameters
    ----------
    first : dict of str to Deviation
        By kind; empty if all agrees.
    segments, acks : int
        Numbers that agree, until the first deviation.
    sender : dict of str
        As in `JudgedScript`.
    """

    first: dict[str, Deviation] = field(default_factory=dict)
    segments: int = 0
    acks: int = 0
    sender: dict[str, str | None] = field(default_factory=dict)

    @property
    def earliest(self) -> Deviation | None:
        """The deviation that came first."""
        return min(self.first.values(), key=lambda one: (one.line, KINDS.index(one.kind)), default=None)

    def agrees(self) -> dict[str, bool]:
        """Return by kind whether it agrees to the end, or to the first deviation of another kind."""
        return {kind: kind not in self.first for kind in KINDS}


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
    return Replay(path, changes or {}).replay()


def judge_recording(path: Path, changes: Mapping[str, object] | None = None) -> JudgedScript:
    """Run a recording as `replay` does, and return the result as that of a script."""
    found = replay(path, changes)
    first = found.earliest
    difference = None if first is None else Difference(first.line, first.kernel, first.ours, REASONS[first.reason])
    verdict: Verdict = "differs" if first else "agrees"
    return JudgedScript(path, verdict, difference, None, (), found.segments, found.acks, found.sender, found.agrees())


def is_recording(path: Path) -> bool:
    """Whether a script is a recording."""
    with suppress(OSError, ValueError), path.open(encoding="utf-8") as script:
        return RECORDED.match(script.readline()) is not None
    return False


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


class Replay(Driver):
    """A sender on its way through a recording."""

    def __init__(self, path: Path, changes: Mapping[str, object]) -> None:
        if is_quic(law := changes.get("flows[0].control")):
            message = f"{path}: a recorded connection of TCP, which {law} cannot replay; give a script"
            raise InputError(message)
        with path.open(encoding="utf-8") as script:
            head = RECORDED.match(script.readline())
        assert head is not None, "a recording"
        self.tick = SECOND // int(head["hz"])
        clock = {"flows[0].tcp.rto_granularity": f"{1000 / int(head['hz']):g} ms"}
        super().__init__(read_script(path), clock | dict(changes))

    def replay(self) -> Replayed:
        """Run it; return what deviates."""
        self.found = Replayed()
        # Each with its time, and the time since the ACK or the write before.
        # First transmissions and retransmissions.
        self._theirs: tuple[list[_Left], list[_Left]] = ([], [])
        self._ours: tuple[list[_Left], list[_Left]] = ([], [])
        self._compared = [0, 0]
        self._high = 0
        # The kernel's state at this ACK, and at the one before.
        self._state = self._before = 0
        # Whether cwnd differed at the ACK before, and the longest time between a segment and the kernel's.
        self._was_off = False
        self._lag = 0
        self._seen = {"reordering": USUAL_REORDERING, "reord_seen": 0}
        self._ssthresh = self._cwnd = 0
        self._una = 0
        self._acked_and_sacked = False
        self._event = 0
        for event in self.script.events:
            try:
                self.run(event)
            except StopError as stop:
                self._check(event)
                self._deviate("segments", event, "an ACK", stop.why)
                break
            if "segments" in self.found.first:
                break
        self.found.segments, self.found.sender = sum(self._compared), self.sender
        return self.found

    def _happen(self, event: Event) -> None:
        if isinstance(event, Packet) and event.ack is not None:
            self._acked_and_sacked = event.ack > self._una and bool(event.options.blocks)
            self._una = max(self._una, event.ack)
        super()._happen(event)
        if isinstance(event, Packet | Call):
            self._event = self.now

    def _expect_data(self, connection: Connection, packet: Packet, at: int) -> None:
        again = packet.start < self._high
        self._high = max(self._high, packet.end)
        if packet.options.timestamp is not None:
            self._note_stamp(packet.options.timestamp[0], again=again)
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
        fields = connection.info()
        values = {match["name"]: int(match["value"]) for match in ASSERTED.finditer(event.text)}
        self._state, self._cwnd = values.get("ca_state", 0), values.get("snd_cwnd", 0)
        self._check(event)
        for name, value in values.items():
            ours = fields[f"tcpi_{name}"]
            if abs(ours - value) > SLACK.get(name, 0):
                self._deviate(name, event, f"{name} {value}", f"{name} {ours}")
        if not self.found.first:
            self.found.acks += 1
        self._before = self._state
        self._was_off = fields["tcpi_snd_cwnd"] != values.get("snd_cwnd")
        for match in SEEN_VALUE.finditer(event.text):
            self._seen[match["name"]] = int(match["value"])
        self._ssthresh = values.get("snd_ssthresh", 0)

    def _check(self, event: Event) -> None:
        """Compare what has left so far: what left for the first time, and retransmissions."""
        for which in (False, True):
            theirs, ours, done = self._theirs[which], self._ours[which], self._compared[which]
            for kernel, own in zip(theirs[done:], ours[done:], strict=False):
                if not self._agree(kernel, own):
                    self._deviate("segments", event, str(kernel), str(own), own.cause)
                    return
                if not which:
                    self._lag = max(self._lag, abs(own.at - kernel.at))
                self._compared[which] += 1
            if abs(len(theirs) - len(ours)) > MORE_SENT:
                rest = [*theirs[self._compared[which] :], *ours[self._compared[which] :]]
                shown = [str(rest[0]) if len(one) > self._compared[which] else "nothing" for one in (theirs, ours)]
                self._deviate("segments", event, shown[0], shown[1], rest[0].cause)
                return

    def _by_timer(self, kernel: _Left | None, own: _Left | None) -> bool:
        """Whether a timer sent a segment of one of them, and not yet or long before that of the other."""
        if kernel is not None and own is not None and abs(kernel.at - own.at) < SHORTEST_TIMER:
            return False
        return (own is not None and own.cause in TIMERS) or (kernel is not None and kernel.since > self.tick)

    def _agree(self, kernel: _Left, own: _Left) -> bool:
        """Whether it is the same segment; if a timer sent it, also whether it left in time."""
        if (kernel.start, kernel.end) != (own.start, own.end):
            return False
        by_timer = own.cause in TIMERS or kernel.since > TOLERANCE * MICROSECOND
        late = SHORTEST_TIMER + TICKS * self.tick + kernel.since * WHEEL
        return not by_timer or -TOLERANCE * MICROSECOND <= kernel.at - own.at <= TOLERANCE * MICROSECOND + late

    def _deviate(self, kind: str, event: Event, kernel: str, ours: str, cause: str = "") -> None:
        if kind in self.found.first:
            return
        state = self.connection.info()["tcpi_ca_state"] if self.connection is not None else 0
        earlier = self.found.earliest
        reason = earlier.reason if earlier else self._reason(kind, (state, self._state), kernel, ours)
        found = Deviation(kind, event.line, self.now / SECOND, kernel, ours, (state, self._state), cause, reason)
        self.found.first[kind] = found

    def _reason(self, kind: str, phases: tuple[int, int], kernel: str, ours: str) -> str:
        """Name the reason of the first deviation, from the states of both and from what has left since the last ACK."""
        recent = [
            (left, own)
            for theirs, mine, done in zip(self._theirs, self._ours, self._compared, strict=True)
            for left, own in zip_longest(theirs[max(0, done - 1) :], mine[max(0, done - 1) :])
        ]
        causes = [own.cause for _, own in recent if own is not None]
        if kind == "snd_ssthresh" and "timeout" in causes and self._before == RECOVERY:
            return "timeout"
        if kind == "snd_cwnd" and "probe" in causes and max(phases) == 0:
            return "idle"
        if any(self._by_timer(left, own) for left, own in recent):
            return "timer"
        if phases[0] == RECOVERY and phases[1] < RECOVERY and self._seen["reord_seen"]:
            return "seen"
        if phases[0] == RECOVERY and phases[1] < RECOVERY and self._acked_and_sacked:
            return "rack"
        if self._seen["reordering"] > USUAL_REORDERING and 1 in phases and kind in ("snd_cwnd", "segments"):
            return "reordering"
        if kind == "snd_ssthresh" and str(INFINITE_SSTHRESH) in kernel + ours and max(phases) == 0:
            return "slow start"
        if (
            kind == "snd_ssthresh"
            and min(phases) >= RECOVERY
            and kernel == f"{kind} {self._cwnd}"
            and self._cwnd < self._ssthresh
        ):
            return "hystart"
        if self._was_off or self._lag > self.tick:
            return "window"
        if kind == "snd_cwnd" and phases == (RECOVERY, RECOVERY):
            return "prr"
        if kind == "snd_ssthresh" and self._before < RECOVERY and ours == f"{kind} {self._ssthresh}":
            return "again"
        return "other"
