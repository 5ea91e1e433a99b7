"""Scripts of packetdrill, run against the running kernel in real time: calls, injected segments, and the comparison.

*Differs from packetdrill*: shell commands are read and not run; of their settings those of ``net.ipv4.tcp_*`` and the
queue ``fq`` take effect, in a namespace of their own. Options of segments that the kernel sends are not compared.
"""

from __future__ import annotations

import re
import socket
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan_evidence.conform.live.host import LOCAL, REMOTE, LiveHost, kernel_version, tcp_info
from elephan_evidence.conform.live.wire import LIMIT, SYN, Segment
from elephan_evidence.conform.packetdrill.connection import CONSTANTS, MICROSECOND, Sent
from elephan_evidence.conform.packetdrill.drive import Driver, StopError
from elephan_evidence.conform.packetdrill.script import SECOND, Packet, read_script

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from elephan_evidence.conform.packetdrill import TcpConformance
    from elephan_evidence.conform.packetdrill.judged import JudgedScript
    from elephan_evidence.conform.packetdrill.script import Call, Event, Script, Shell

PORT = 8080
"""Port of the side that listens."""

OTHER_PORT = 40_000
DEFAULT_LAW = "ipv4.tcp_congestion_control"
"""Setting that other namespaces than the first cannot change; sockets can."""

STEP = 500 * MICROSECOND
"""Longest time between two looks at the device [ps]."""

LONGEST_S = 60.0
"""Longest duration of a script in real time [s]."""

STATES = ("open", "disorder", "reduction", "recovery", "loss")


def judge_live(path: Path) -> JudgedScript:
    """Run a script against the running kernel.

    Parameters
    ----------
    path : Path

    Returns
    -------
    JudgedScript
        Its ``sender`` has the kernel's version as ``law``'s variant.

    Raises
    ------
    InputError
        If the script cannot be read, or this machine cannot do it.
    """
    with LiveHost() as host:
        return LiveDriver(read_script(path), host).judge()


def beside_kernel(found: TcpConformance, progress: Callable[[int, int], None] | None = None) -> TcpConformance:
    """Run scripts against the running kernel, too, but for recorded connections.

    Parameters
    ----------
    found : TcpConformance
        Their results under a sender.
    progress : callable, optional
        Called with (scripts done, total scripts) after each.

    Returns
    -------
    TcpConformance
        The same with the kernel's verdicts.

    Raises
    ------
    InputError
        If this machine cannot do it.
    """
    done: list[JudgedScript] = []
    for script in found.scripts:
        done.append(script if script.compared is not None else replace(script, live=judge_live(script.path)))
        if progress is not None:
            progress(len(done), len(found.scripts))
    return replace(found, scripts=tuple(done), kernel=kernel_version())


class KernelConnection:
    """The kernel's connection, as a `Driver` sees a connection; its clock is real.

    Parameters
    ----------
    host : LiveHost
    """

    def __init__(self, host: LiveHost) -> None:
        self._host = host
        self.socket: socket.socket | None = None
        self.sent: deque[Sent] = deque()
        self.handshake: deque[Segment] = deque()
        self.mss = 1
        self.window = LIMIT
        self.written = 1
        self.has_unsent = False
        self.nodelay = False
        self.initial: int | None = None
        self.port: int | None = None
        self.stamps: list[int] = []
        self._start = time.monotonic()
        self._high = 1

    def begin(self) -> None:
        """Start its clock."""
        self._start = time.monotonic()

    def now(self) -> int:
        """Return the time since the start [ps]."""
        return int((time.monotonic() - self._start) * SECOND)

    def advance(self, to: int) -> None:
        """Wait until a time, and take what the kernel sends meanwhile."""
        self.take()
        while (left := to - self.now()) > 0:
            self._host.wait(min(left / SECOND, 0.1))
            self.take()

    def deadline(self) -> int:
        """Return when it looks at the device again [ps]."""
        return self.now() + STEP

    def expire(self) -> None:
        """Wait until then."""
        self.advance(self.now() + STEP)

    def inject(self, segment: Segment) -> None:
        """Deliver a segment to the kernel."""
        self.take()
        at = self.now()
        self._host.write(segment)
        self.take(at)

    def take(self, at: int | None = None) -> None:
        """Take what the kernel has sent; at this time, if it has just been made to."""
        while (segment := self._host.read()) is not None:
            if segment.flags & SYN:
                self.initial, self.port = segment.seq, segment.ports[0]
                self.handshake.append(segment)
            if segment.timestamp is not None:
                self.stamps.append(segment.timestamp[0])
            if segment.length and self.initial is not None:
                start = (segment.seq - self.initial) % LIMIT
                again, end = start < self._high, start + segment.length
                self._high = max(self._high, end)
                marked = segment.ecn in (1, 2)
                self.sent.append(
                    Sent(self.now() if at is None else at, start, end, again, marked, "kernel", self.phase())
                )

    def phase(self) -> str:
        """Return its state, by the names of our phases."""
        return STATES[tcp_info(self.socket)["ca_state"]] if self.socket is not None else "open"

    def info(self) -> dict[str, Any]:
        """Return the fields of ``tcp_info``."""
        found = tcp_info(self.socket) if self.socket is not None else {}
        return {**CONSTANTS, **{f"tcpi_{name}": value for name, value in found.items()}}


class LiveDriver(Driver):
    """The running kernel on its way through a script.

    Parameters
    ----------
    script : Script
    live : LiveHost
    """

    def __init__(self, script: Script, live: LiveHost) -> None:
        super().__init__(script, {})
        self._live = live
        self._kernel = KernelConnection(live)
        self._sockets: dict[int, socket.socket] = {}
        self._peer_initial = 0
        self._ports = (OTHER_PORT, PORT)
        self._echoes: dict[int, int] = {}
        self._applied: dict[str, str] = {}
        self._paced = False
        self.sender = self.sender | {"law": "Linux", "variant": kernel_version()}

    def judge(self) -> JudgedScript:
        """Run the script to its end, or to the first difference."""
        try:
            self._kernel.begin()
            return super().judge()
        finally:
            for one in self._sockets.values():
                one.close()

    def _happen(self, event: Event) -> None:
        if self.now > LONGEST_S * SECOND:
            raise StopError(event.line, f"after {LONGEST_S:g} s of real time")
        self._kernel.advance(self.now)
        self.now = max(self.now, self._kernel.now())
        super()._happen(event)

    def _shell(self, event: Shell) -> None:
        self.host.run(event.text, event.line)
        with self._live.entered():
            for key, value in self.host.sysctls.items():
                if key.startswith("ipv4.tcp_") and key != DEFAULT_LAW and self._applied.get(key) != value:
                    self._applied[key] = value
                    try:
                        self._live.set("net/" + key.replace(".", "/", 1), value)
                    except InputError as error:
                        self._leave_out(event, str(error))
        if self.host.paced and not self._paced:
            self._paced = True
            self._live.queue("fq")

    def _set_option(self, event: Call) -> None:
        words = {word for argument in event.arguments for word in re.findall(r"\w+", argument)}
        values = re.findall(r"\w+", event.arguments[3]) if len(event.arguments) > 3 else []
        one = self._socket(event)
        names = [name for name in words if name.startswith(("TCP_", "SO_")) and hasattr(socket, name)]
        if one is None or len(names) != 1 or not values:
            return self._leave_out(event, f"{event.text}: no such setting of a connection here")
        level = socket.IPPROTO_TCP if names[0].startswith("TCP_") else socket.SOL_SOCKET
        value: int | bytes = int(values[0]) if values[0].isdecimal() else values[0].encode()
        with suppress(OSError):
            one.setsockopt(level, getattr(socket, names[0]), value)
        return None

    def _socket(self, event: Call) -> socket.socket | None:
        number = event.arguments[0] if event.arguments else ""
        return self._sockets.get(int(number)) if number.isdecimal() else None

    def _call(self, event: Call) -> None:
        one = self._socket(event)
        if event.name == "socket" and event.result is not None and event.result >= 0:
            opened = self._sockets[event.result] = self._live.socket()
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, (self.host.law or "cubic").encode())
        elif event.name == "setsockopt":
            self._set_option(event)
        elif one is None:
            self._leave_out(event, f"{event.name}: no such socket here")
        elif event.name == "bind":
            one.bind((LOCAL, PORT))
        elif event.name == "listen":
            one.listen(5)
        elif event.name == "connect":
            with suppress(BlockingIOError):
                one.connect((REMOTE, PORT))
            self._kernel.socket = one
            self._ports = (PORT, OTHER_PORT)
        elif event.name == "accept" and event.result is not None and event.result >= 0:
            self._accept(event, one)
        elif event.name in ("close", "shutdown"):
            self.closed = True
            with suppress(OSError):
                # Its state stays readable.
                one.shutdown(socket.SHUT_WR)
        else:
            super()._call(event)

    def _accept(self, event: Call, one: socket.socket) -> None:
        try:
            taken, _ = one.accept()
        except BlockingIOError:
            raise StopError(event.line, "accept: the kernel has no connection") from None
        taken.setblocking(False)
        self._sockets[event.result or 0] = self._kernel.socket = taken

    def _write(self, event: Call) -> None:
        one = self._socket(event)
        if one is None or event.result is None or event.result <= 0:
            return
        flags = sum(getattr(socket, name, 0) for name in set(re.findall(r"MSG_\w+", " ".join(event.arguments))))
        at = self._kernel.now()
        try:
            sent = one.send(bytes(event.result), flags)
        except OSError as error:
            sent = -(error.errno or 1)
        if sent != event.result:
            self._differ(event, event.text, f"the kernel took {sent} bytes", "send(2)")
        self._kernel.take(at)

    # Packets.

    def _inject(self, packet: Packet) -> None:
        kernel = self._kernel
        if packet.has("S") and packet.ack is None:
            self._peer_initial = packet.start
        initial = (0, kernel.initial or 0)
        segment = Segment.from_script(packet, self._ports, initial)
        if segment.timestamp is not None:
            segment = replace(segment, timestamp=(segment.timestamp[0], self._echo(segment.timestamp[1])))
        kernel.inject(segment)
        if packet.has("R"):
            raise StopError(packet.line, "the connection is reset; nothing after it is judged")
        if not packet.has("S") or packet.ack is not None:
            self.connection = kernel  # type: ignore[assignment]

    def _echo(self, stamp: int) -> int:
        """Return the kernel's timestamp for that of the script."""
        if stamp in self._echoes:
            return self._echoes[stamp]
        return self._kernel.stamps[-1] if self._kernel.stamps else 0

    def _our_syn(self, packet: Packet, at: int) -> None:
        kernel = self._kernel
        high = self._accepted(packet.when, at)[1]
        while not kernel.handshake and kernel.now() < high:
            kernel.expire()
        if not kernel.handshake:
            self._differ(packet, f"a SYN at {at / SECOND:.4f} s", "nothing", "RFC 9293, 3.5")
        segment = kernel.handshake.popleft()
        self._ports = (PORT if self._ports[0] == PORT else OTHER_PORT, segment.ports[0])
        self.now = max(self.now, kernel.now())

    def _compare(self, packet: Packet, wanted: str, sent: Sent, begin: int, accepted: tuple[int, int]) -> int:
        if packet.options.timestamp is not None and self._kernel.stamps:
            self._echoes[packet.options.timestamp[0]] = self._kernel.stamps[-1]
        return super()._compare(packet, wanted, sent, begin, accepted)
