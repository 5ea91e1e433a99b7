"""Connections of the running kernel through a path with drawn losses, reordering and pauses, as scripts of packetdrill.

Each connection becomes a script: what the application wrote, the ACKs that the kernel received, the segments that it
sent, and its ``tcp_info`` after each ACK.
"""

from __future__ import annotations

import heapq
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count as counter
from random import Random
from typing import TYPE_CHECKING

from elephan.errors import InputError
from elephan_evidence.conform.live.host import REMOTE, LiveHost, kernel_version, tcp_info, ticks_per_second
from elephan_evidence.conform.live.receiver import DELAYED_S, Path, PathDraw, Receiver
from elephan_evidence.conform.live.wire import ACK, SYN, Segment
from elephan_evidence.conform.packetdrill.replay import HEAD, SEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SO_SNDBUFFORCE = 32
FIRST_PORT = 10_000
TOGETHER = 4
"""Connections at the same time: a process on one core delivers the ACKs of all."""

MSS = 1448
"""Payload of a full segment beside a timestamp."""

LONGEST_S = 20.0
"""Longest duration of a connection [s]."""

CHECKED = ("snd_ssthresh", "snd_cwnd", "ca_state")
"""Fields of ``tcp_info`` that are compared after each ACK."""

SETTINGS = "net.ipv4.tcp_tso_win_divisor=100"


@dataclass(frozen=True)
class Draw:
    """Random draws for one connection.

    Parameters
    ----------
    name : str
    law : str
    path : PathDraw
    writes : tuple of (float, int)
        Pause before each write [s], and its size in segments.
    """

    name: str
    law: str
    path: PathDraw
    writes: tuple[tuple[float, int], ...]


LAWS = ("cubic", "reno")
"""Laws of the drawn connections, in turns."""

REORDERED = 3
"""Every third connection is reordered, the others have losses."""


def draw(number: int, seed: int) -> Draw:
    """Draw a connection.

    Parameters
    ----------
    number : int
        From 0; it decides the law, and whether segments are lost or reordered.
    seed : int
    """
    reorders = number % REORDERED == REORDERED - 1
    law = LAWS[number // REORDERED % len(LAWS)]
    chance = Random(f"{seed} {number}")
    path = PathDraw(
        delay_s=chance.uniform(0.02, 0.05),
        packet_s=chance.choice((0.0002, 0.0005, 0.001)),
        loss=0.0 if reorders else chance.choice((0.005, 0.01, 0.02, 0.05)),
        ack_loss=chance.choice((0.0, 0.0, 0.05)),
        reorder=chance.choice((0.02, 0.05, 0.1)) if reorders else 0.0,
        late_s=chance.choice((0.002, 0.005, 0.02)) if reorders else 0.0,
        per_ack=chance.choice((1, 2)),
    )
    first = chance.randint(20, 80)
    later = [(chance.choice((0.0, 0.06, 0.3, 0.7)), chance.randint(5, 80)) for _ in range(chance.randint(1, 3))]
    writes = [(0.0, first), *later]
    return Draw(f"{number + 1:03}-{law}-{'reordering' if reorders else 'losses'}", law, path, tuple(writes))


@dataclass
class _Connection:
    """A connection on its way."""

    draw: Draw
    socket: socket.socket
    receiver: Receiver
    path: Path
    events: list[str] = field(default_factory=list)
    initial: int | None = None
    writes: int = 0
    written: int = 0
    opened: float = 0.0
    pending: int = 0
    done: bool = False


class Recorder:
    """Runs connections on a host of the kernel.

    Parameters
    ----------
    host : LiveHost
    draws : sequence of Draw
    seed : int
    progress : callable, optional
        Called with (connections done, total) after each.
    """

    def __init__(
        self, host: LiveHost, draws: Sequence[Draw], seed: int, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self._host, self._draws, self._seed, self._progress = host, draws, seed, progress
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = counter()
        self._waiting = list(reversed(list(enumerate(draws))))
        self._running: dict[int, _Connection] = {}
        self._scripts: dict[int, str] = {}

    def run(self) -> list[str]:
        """Run all; return their scripts, in order."""
        for _ in range(min(TOGETHER, len(self._draws))):
            self._begin()
        try:
            while self._running:
                self._read()
                if self._heap and self._heap[0][0] <= time.monotonic():
                    heapq.heappop(self._heap)[2]()
                else:
                    self._host.wait(self._heap[0][0] - time.monotonic() if self._heap else 1.0)
        finally:
            for one in self._running.values():
                one.socket.close()
        return [self._scripts[number] for number in range(len(self._draws))]

    def _at(self, when: float, happen: Callable[[], None]) -> None:
        heapq.heappush(self._heap, (when, next(self._order), happen))

    def _begin(self) -> None:
        number, drawn = self._waiting.pop()
        port = FIRST_PORT + number
        one = self._host.socket()
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, drawn.law.encode())
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 16 << 20)
        receiver = Receiver((port, 0), drawn.path.per_ack)
        connection = _Connection(drawn, one, receiver, Path(drawn.path, Random(f"path {self._seed} {drawn.name}")))
        self._running[port] = connection
        with suppress(BlockingIOError):
            one.connect((REMOTE, port))
        connection.opened = time.monotonic()
        self._at(connection.opened + LONGEST_S, lambda: self._give_up(connection))
        self._read()

    def _give_up(self, connection: _Connection) -> None:
        if not connection.done:
            message = f"{connection.draw.name}: not over after {LONGEST_S:g} s"
            raise InputError(message)

    def _read(self, at: float | None = None) -> None:
        """Take what the kernel has sent; at this time, if it has just been made to."""
        while (segment := self._host.read()) is not None:
            connection = self._running.get(segment.ports[1])
            if connection is not None and not connection.done:
                self._on_segment(connection, segment, time.monotonic() if at is None else at)

    def _on_segment(self, connection: _Connection, segment: Segment, now: float) -> None:
        receiver = connection.receiver
        if segment.flags & SYN:
            if connection.initial is None:
                connection.initial = segment.seq
                connection.opened = now
                receiver.ports = (receiver.ports[0], segment.ports[0])
                self._note(connection, now, f"> {shown(segment.after(segment.seq, 0))}")
                answer = receiver.accept(segment, self._clock(now))
                self._at(now + connection.draw.path.delay_s, lambda: self._open(connection, answer))
            return
        if segment.length == 0 or connection.initial is None:
            return
        own = segment.after(connection.initial, receiver.initial)
        self._note(connection, now, f"> {shown(own)}")
        at = connection.path.arrival(now)
        if at is not None:
            self._at(at, lambda: self._arrive(connection, own))

    def _open(self, connection: _Connection, answer: Segment) -> None:
        self._deliver(connection, answer)
        self._write(connection)

    def _write(self, connection: _Connection) -> None:
        _, segments = connection.draw.writes[connection.writes]
        connection.writes += 1
        self._read()
        now = time.monotonic()
        sent = connection.socket.send(bytes(segments * MSS))
        if sent != segments * MSS:
            message = f"{connection.draw.name}: the kernel took {sent} of {segments * MSS} bytes"
            raise InputError(message)
        connection.written += sent
        self._note(connection, now, f"write(3, ..., {sent}) = {sent}")
        self._read(now)
        if connection.writes < len(connection.draw.writes) and connection.draw.writes[connection.writes][0] == 0:
            self._write(connection)

    def _arrive(self, connection: _Connection, segment: Segment) -> None:
        """A segment reaches the receiver."""
        if connection.done:
            return
        start, end = segment.seq, segment.seq + segment.length
        stamp = segment.timestamp[0] if segment.timestamp else 0
        now, duplicate = connection.receiver.take(start, end, stamp)
        if now:
            self._acknowledge(connection, duplicate)
        else:
            expected = connection.receiver.next

            def late() -> None:
                if connection.receiver.pending and connection.receiver.next == expected and not connection.done:
                    self._acknowledge(connection, None)

            self._at(time.monotonic() + DELAYED_S, late)

    def _acknowledge(self, connection: _Connection, duplicate: tuple[int, int] | None) -> None:
        assert connection.initial is not None, "a segment has arrived"
        ack = connection.receiver.acknowledgement(connection.initial, self._clock(time.monotonic()), duplicate)
        if not connection.path.loses_ack():
            self._deliver(connection, ack)
        is_done = connection.receiver.next == connection.written + 1
        if not is_done:
            return
        if connection.writes < len(connection.draw.writes):
            self._at(time.monotonic() + connection.draw.writes[connection.writes][0], lambda: self._go_on(connection))

    def _go_on(self, connection: _Connection) -> None:
        if connection.receiver.next == connection.written + 1 and connection.writes < len(connection.draw.writes):
            self._write(connection)

    def _deliver(self, connection: _Connection, segment: Segment) -> None:
        """Give the kernel a segment, and note its state afterwards."""
        assert connection.initial is not None, "the kernel's SYN came first"
        self._read()
        now = time.monotonic()
        self._host.write(segment)
        self._note(connection, now, f"< {shown(segment.after(connection.receiver.initial, connection.initial))}")
        self._read(now)
        if segment.flags & SYN:
            return
        info = tcp_info(connection.socket)
        code = [
            *(_assertion(name, info[name]) for name in CHECKED),
            *(f"{name} = {info.get(name, 0)}" for name in SEEN),
        ]
        self._note(connection, now, "%{ " + "; ".join(code) + " }%")
        over = connection.receiver.next == connection.written + 1 and connection.writes == len(connection.draw.writes)
        if over and info["unacked"] == 0:
            self._finish(connection)

    def _finish(self, connection: _Connection) -> None:
        connection.done = True
        connection.socket.close()
        port = connection.receiver.ports[0]
        del self._running[port]
        self._scripts[port - FIRST_PORT] = _script(connection, self._seed)
        if self._progress is not None:
            self._progress(len(self._scripts), len(self._draws))
        if self._waiting:
            self._begin()

    def _note(self, connection: _Connection, now: float, text: str) -> None:
        connection.events.append(f"{max(0.0, now - connection.opened):.6f} {text}")

    @staticmethod
    def _clock(now: float) -> int:
        return int(now * 1000) % 2**31


def _assertion(name: str, value: int) -> str:
    found = f"tcpi_{name}"
    return f"assert abs({found} - {value}) <= 1" if name == "snd_cwnd" else f"assert {found} == {value}"


def shown(segment: Segment) -> str:
    """Return a segment in packetdrill's notation; its numbers are relative."""
    options = []
    if segment.mss is not None:
        options.append(f"mss {segment.mss}")
    if segment.sack:
        options.append("sackOK")
    if segment.timestamp is not None:
        options.append(f"TS val {segment.timestamp[0]} ecr {segment.timestamp[1]}")
    if segment.wscale is not None:
        options.append(f"wscale {segment.wscale}")
    if segment.blocks:
        options.append("sack " + " ".join(f"{start}:{end}" for start, end in segment.blocks))
    text = f"{segment.shown_flags()} {segment.seq}:{segment.seq + segment.length}({segment.length})"
    if segment.flags & ACK:
        text += f" ack {segment.ack}"
    return f"{text} win {segment.window}" + (f" <{','.join(options)}>" if options else "")


def _script(connection: _Connection, seed: int) -> str:
    drawn, path = connection.draw, connection.draw.path
    about = (
        HEAD.format(name=drawn.name, seed=seed, kernel=kernel_version(), hz=ticks_per_second()),
        f"// Round trip {path.delay_s * 1e3:.1f} ms, {path.packet_s * 1e3:g} ms a segment, an ACK for {path.per_ack};",
        f"// lost {path.loss:g}, ACKs lost {path.ack_loss:g}, late {path.reorder:g} by up to {path.late_s * 1e3:g} ms.",
        f"`sysctl -q net.ipv4.tcp_congestion_control={drawn.law} {SETTINGS}`",
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
        "0 setsockopt(3, IPPROTO_TCP, TCP_NODELAY, [1], 4) = 0",
        "0 connect(3, ..., ...) = -1",
    )
    return "\n".join([*about, *connection.events, ""])


def record(count: int, seed: int, progress: Callable[[int, int], None] | None = None) -> dict[str, str]:
    """Record connections of the running kernel.

    Parameters
    ----------
    count : int
    seed : int
        Seed of what is drawn. Times are real, so that two recordings with the same seed differ.
    progress : callable, optional
        Called with (connections done, total) after each.

    Returns
    -------
    dict of str
        A script of packetdrill for each, by name.

    Raises
    ------
    InputError
        If this machine cannot do it.
    """
    draws = [draw(number, seed) for number in range(count)]
    with LiveHost() as host:
        scripts = Recorder(host, draws, seed, progress).run()
    return {drawn.name: script for drawn, script in zip(draws, scripts, strict=True)}
