"""Drives a sender through a script in virtual time, and compares its segments and state with the expected ones.

*Differs from packetdrill*: segmentation within a burst, PSH, the window and the options of sent segments are not
compared; closing a connection and receiving data are not modelled. Ignored lines are reported.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from elephan import _native
from elephan.errors import InputError
from elephan.scenario import Scenario
from elephan_evidence.conform.packetdrill.code import Assertions, FailedAssertionError, NotEvaluatedError
from elephan_evidence.conform.packetdrill.connection import (
    MICROSECOND,
    Connection,
    PartialAckError,
    Sent,
)
from elephan_evidence.conform.packetdrill.host import ECN_OFF, Host
from elephan_evidence.conform.packetdrill.judged import Difference, JudgedScript, Verdict
from elephan_evidence.conform.packetdrill.quic import QuicSender, check_law, is_quic
from elephan_evidence.conform.packetdrill.rules import rule
from elephan_evidence.conform.packetdrill.script import (
    SECOND,
    Call,
    Code,
    NotExpressibleError,
    OtherPacket,
    Packet,
    Shell,
    read_script,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from elephan_evidence.conform.packetdrill.script import Event, Script, TcpOptions, When

    Blocks = tuple[tuple[int, int], ...]

CONTROL = "flows[0].control: "
"""Prefix of messages about a law that failed."""

TOLERANCE = 4000
"""packetdrill's default tolerance [µs], which allows for a loaded machine. A script may set a larger one."""

TOLERANCE_PERCENT = 12.5
"""The same as a percentage of the time since the previous event."""

OPTIONS = {
    "gateway_ip", "ip_version", "local_ip", "mtu", "netmask_ip", "remote_ip", "tolerance_percent", "tolerance_usecs",
}  # fmt: skip
"""Options of scripts that are read, or that affect no segment."""

LONGEST = 24 * 3600 * SECOND
"""Longest duration of a script [ps]: timers would expire for ever."""

MOST_SEGMENTS = 100_000
"""Maximum number of segments in all writes of a script: a mistyped number must not fill the memory."""

LEAST_RTT = 10_000
"""Least round-trip time without queues of a sender's scenario [µs]."""

DEFAULT_MTU = 1500
DEFAULT_MSS = 536
"""MSS of a peer without an MSS option (RFC 9293, 3.7.1)."""

HEADERS = 40
"""Size of IPv4 and TCP headers without options [bytes]."""

TIMESTAMP_BYTES = 12
LARGEST_SCALE = 14
"""Largest window scale (RFC 7323, Section 2.3); larger ones are reduced to it."""

ARRIVAL = MICROSECOND
"""Time that an injected packet takes to arrive: on a host no two events happen at the same instant."""

WRITES = ("write", "writev", "send", "sendto", "sendmsg", "sendfile", "splice")
IGNORED = (
    "accept", "bind", "connect", "epoll_create", "epoll_ctl", "epoll_wait", "fcntl", "getsockopt", "ioctl", "listen",
    "pipe", "poll", "read", "readv", "recv", "recvfrom", "recvmsg", "socket",
)  # fmt: skip
"""System calls that affect no data segment."""

IGNORED_OPTIONS = ("SO_REUSEADDR", "SO_SNDBUF", "SO_RCVBUF", "SO_LINGER", "IP_TOS", "IP_MTU_DISCOVER", "TCP_QUICKACK")


class StopError(Exception):
    """Raised at the first line that cannot be expressed."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line, self.why = line, why


class _DifferenceError(Exception):
    def __init__(self, difference: Difference) -> None:
        super().__init__()
        self.difference = difference


class _EndError(Exception):
    """Raised when the connection is closed."""


def judge_script(path: Path, changes: Mapping[str, object] | None = None) -> JudgedScript:
    """Run a script against a sender.

    Parameters
    ----------
    path : Path
    changes : mapping, optional
        Differences of the sender from the script's host, by place in its scenario: ``{"flows[0].recovery": "prr"}``.

    Returns
    -------
    JudgedScript

    Raises
    ------
    InputError
        If the script cannot be read, or the sender does not exist.
    """
    return Driver(read_script(path), changes or {}).judge()


@dataclass
class _Handshake:
    """State of the handshake, until the connection is open."""

    theirs: TcpOptions | None = None
    ours: TcpOptions | None = None
    flags: list[str] = field(default_factory=list)
    opened: int = 0
    window: int = 0


class Driver:
    """A sender on its way through a script."""

    def __init__(self, script: Script, changes: Mapping[str, object]) -> None:
        self.script, self.changes = script, changes
        self.host = Host(script.path.parent)
        self.assertions = Assertions()
        self.handshake = _Handshake()
        self.connection: Connection | None = None
        self.sender: dict[str, str | None] = dict.fromkeys(("law", "variant", "slow_start", "recovery", "rto"))
        self.now = 0
        self.before: tuple[int, bool] | None = None
        self.left_out: list[tuple[int, str]] = []
        self.checked = [0, 0]
        self.closed = False
        self.nodelay = False
        self.stamps: dict[int, bool] = {}
        self.scale = 0
        self.quic: QuicSender | None = None
        self.tolerance = int(self._option("tolerance_usecs", TOLERANCE) * MICROSECOND)
        self.tolerance_share = self._option("tolerance_percent", TOLERANCE_PERCENT) / 100
        self.mtu = int(self._option("mtu", DEFAULT_MTU))
        for name in script.options.keys() - OPTIONS:
            self.left_out.append((1, f"--{name}: no such option here"))

    def _option(self, name: str, default: float) -> float:
        text = self.script.options.get(name)
        if text is None:
            return default
        if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text):
            message = f"{self.script.path}: --{name}={text}: write a number"
            raise InputError(message)
        return float(text)

    def judge(self) -> JudgedScript:
        """Run the script to its end, or to the first difference."""
        stopped: tuple[int, str] | None = None
        difference: Difference | None = None
        try:
            for event in self.script.events:
                self.run(event)
        except _DifferenceError as found:
            difference = found.difference
        except StopError as stop:
            stopped = (stop.line, stop.why)
        except _EndError:
            pass
        finally:
            if self.quic is not None:
                self.quic.close()
        if difference is None and stopped is None and not any(self.checked):
            stopped = (self.script.events[-1].line, "nothing of it is about a sender of data")
        verdict: Verdict = "differs" if difference else "not expressible" if stopped else "agrees"
        left_out = tuple(sorted(set(self.left_out + self.host.left_out)))
        segments, assertions = self.checked
        return JudgedScript(self.script.path, verdict, difference, stopped, left_out, segments, assertions, self.sender)

    def run(self, event: Event) -> None:
        """Let an event happen, or compare it."""
        try:
            self._go_on(event)
        except InputError as error:
            if not str(error).startswith(CONTROL):
                raise
            message = f"{self.script.path}:{event.line}: {error}"
            raise InputError(message) from None

    def _go_on(self, event: Event) -> None:
        inbound = isinstance(event, Packet) and not event.expected
        at = self._time(event.when, inbound)
        if max(at, at + (event.when.most or 0)) > LONGEST:
            message = f"{self.script.path}:{event.line}: after {at // SECOND} s; a script may take a day"
            raise InputError(message)
        if isinstance(event, Packet) and event.expected:
            self._expect(event, at)
        else:
            self.now = max(self.now, at)
            if inbound:
                self.now += ARRIVAL
            if self.connection is not None:
                self.connection.advance(self.now)
            self._happen(event)
        self.before = (max(at, self.now) if not inbound else at, inbound)

    def _time(self, when: When, inbound: bool) -> int:
        """Return the time of an event since the start; consecutive injected packets are timed from each other."""
        if when.kind == "absolute":
            return when.at
        base = self.before[0] if inbound and self.before is not None and self.before[1] else self.now
        return base + when.at

    def _happen(self, event: Event) -> None:
        if isinstance(event, Packet):
            self._inject(event)
        elif isinstance(event, Call):
            self._call(event)
        elif isinstance(event, Shell):
            self._shell(event)
        elif isinstance(event, Code):
            self._assert(event)
        elif isinstance(event, OtherPacket):
            raise StopError(event.line, f"{event.text[:60]}: no packet of TCP")

    def _shell(self, event: Shell) -> None:
        self.host.run(event.text, event.line)
        if self.host.stops is not None:
            raise StopError(event.line, self.host.stops)

    def _call(self, event: Call) -> None:
        if event.name in WRITES:
            self._write(event)
        elif event.name == "setsockopt":
            self._set_option(event)
        elif event.name in ("close", "shutdown"):
            self.closed = True
            self._leave_out(event, f"{event.name}: the end of a connection is not modelled")
        elif event.name not in IGNORED:
            self._leave_out(event, f"{event.name}: no such call here")

    def _write(self, event: Call) -> None:
        if event.result is not None and event.result <= 0:
            return
        if event.result is None:
            raise StopError(event.line, f"{event.name}: a write of how many bytes it takes")
        if self.connection is None:
            raise StopError(event.line, f"{event.name}: before the handshake is over (fast open)")
        if any("MSG_MORE" in argument for argument in event.arguments):
            raise StopError(event.line, "MSG_MORE: an application that holds segments back is not modelled")
        if (self.connection.written + event.result) // self.connection.mss > MOST_SEGMENTS:
            message = (
                f"{self.script.path}:{event.line}: writes {event.result} bytes; {MOST_SEGMENTS} segments are the most"
            )
            raise InputError(message)
        if self.quic is not None and event.result % self.connection.mss:
            raise StopError(event.line, f"{event.name}: a short segment; a segment is a full datagram of QUIC here")
        ends_record = any("MSG_EOR" in argument for argument in event.arguments)
        self.connection.write(self.now, event.result, ends_record=ends_record)
        self._check_window(event)

    def _check_window(self, event: Event) -> None:
        connection = self.connection
        if connection is not None and connection.window < connection.mss and connection.has_unsent:
            raise StopError(event.line, "data waits behind a window of less than a segment, which is not probed here")

    def _set_option(self, event: Call) -> None:
        words = {word for argument in event.arguments for word in re.findall(r"\w+", argument)}
        values = re.findall(r"\w+", event.arguments[3]) if len(event.arguments) > 3 else []
        if "TCP_NODELAY" in words:
            self.nodelay = "1" in values
            if self.connection is not None:
                self.connection.nodelay = self.nodelay
        elif "TCP_CONGESTION" in words and self.connection is None and values:
            self.host.law = values[0]
        elif words & {"TCP_CORK", "TCP_CONGESTION", "TCP_MAXSEG"}:
            raise StopError(event.line, f"{event.text}: no such setting of a connection here")
        elif not words & set(IGNORED_OPTIONS):
            self._leave_out(event, f"{event.text}: no such setting of a connection here")

    # Packets from the network.

    def _inject(self, packet: Packet) -> None:
        if packet.has("R"):
            self._leave_out(packet, "the connection is reset; nothing after it is judged")
            raise _EndError
        if packet.has("S"):
            self._their_syn(packet)
        elif self.connection is None:
            self._open(packet)
        else:
            self._acknowledge(self.connection, packet)

    def _their_syn(self, packet: Packet) -> None:
        if self.connection is not None:
            raise StopError(packet.line, "a second connection")
        if packet.end > packet.start or any(option.startswith("FO") for option in packet.options.others):
            raise StopError(packet.line, "fast open is not modelled")
        self.handshake.theirs = packet.options
        self.handshake.window = packet.window or 0
        self.handshake.flags.append(packet.flags)
        if packet.ack is not None:
            self._establish(packet.line, packet.window or 0)

    def _open(self, packet: Packet) -> None:
        if self.handshake.theirs is None or self.handshake.ours is None or packet.ack is None:
            raise StopError(packet.line, "a segment before the handshake")
        if packet.end > packet.start:
            self._leave_out(packet, "data that the host receives is not modelled; its ACK is")
        self._establish(packet.line, (packet.window or 0) << self._shift())

    def _shift(self) -> int:
        theirs, ours = self.handshake.theirs, self.handshake.ours
        if theirs is None or theirs.wscale is None or ours is None:
            return 0
        return min(theirs.wscale, LARGEST_SCALE) if ours.any or ours.wscale is not None else 0

    def _establish(self, line: int, window: int) -> None:
        theirs, ours = self.handshake.theirs, self.handshake.ours
        if theirs is None or ours is None:
            raise StopError(line, "a handshake without a SYN of the host")
        self.scale = self._shift()
        stamped = theirs.timestamp is not None and (ours.any or ours.timestamp is not None)
        selective = theirs.sack and (ours.any or ours.sack)
        marks = all("E" in flags for flags in self.handshake.flags[:2]) and len(self.handshake.flags) > 1
        if any("A" in flags for flags in self.handshake.flags[:2]):
            raise StopError(line, "accurate ECN is not modelled")
        mss = min(theirs.mss or DEFAULT_MSS, self.mtu - HEADERS) - (TIMESTAMP_BYTES if stamped else 0)
        if mss < 1:
            raise StopError(line, f"segments of {mss} bytes")
        times = (self.handshake.opened, self.now)
        try:
            sender = self._quic_sender() or self._tcp_sender(mss, stamped=stamped, selective=selective, marks=marks)
            self.connection = Connection(sender, mss, times, window, nodelay=self.nodelay)
        except InputError:
            raise
        except ValueError as error:
            message = f"{self.script.path}: its sender: {error}"
            raise InputError(message) from None

    def _quic_sender(self) -> QuicSender | None:
        """Return the controller of a QUIC stack, if the changes name one: ``quinn/cubic``."""
        law = self.changes.get(CONTROL.removesuffix(": "))
        if not isinstance(law, str) or not is_quic(law):
            return None
        others = sorted(self.changes.keys() - {CONTROL.removesuffix(": ")})
        if others:
            message = f"--set {others[0]}: {law} has its own transport, which cannot be changed"
            raise InputError(message)
        self.sender = self.sender | {"law": law, "variant": check_law(law)}
        self.quic = QuicSender(law)
        return self.quic

    def _tcp_sender(self, mss: int, *, stamped: bool, selective: bool, marks: bool) -> _native.TcpSender:
        scenario = self._scenario(mss, stamped=stamped, selective=selective, marks=marks)
        self.sender = _sender(scenario)
        return _native.TcpSender(scenario.canonical, scenario.own_laws or None)

    def _scenario(self, mss: int, *, stamped: bool, selective: bool, marks: bool) -> Scenario:
        """Build the sender's scenario from the handshake and the host's settings."""
        header = HEADERS + (TIMESTAMP_BYTES if stamped else 0)
        tcp = self.host.tcp() | {"header": f"{header} B", "timestamps": stamped, "receive_window": "none"}
        if marks and self.host.sysctl("tcp_ecn", "2") != ECN_OFF:
            tcp["ecn"] = "on"
        # Laws of users may ask for the round-trip time of the path: that of the handshake.
        rtt = max((self.now - self.handshake.opened) // MICROSECOND, LEAST_RTT)
        flow: dict[str, Any] = {"path": ["path"], "rtt": f"{rtt} us", "packet": f"{mss + header} B", "tcp": tcp}
        flow["traffic"] = {"kind": "request-response"}
        if self.host.law is not None:
            flow["control"] = self.host.law
        if not selective:
            flow["recovery"] = "newreno"
        elif self.host.sysctl("tcp_recovery", "1") == "0":
            flow["recovery"] = "prr"
        path = {"name": "path", "rate": "1 Gbit/s", "delay": "1 ms", "buffer": "100 packets"}
        named = f"{self.script.path}: its sender"
        scenario = Scenario.from_mapping({"duration": "1 s", "links": [path], "flows": [flow]}, named)
        return scenario.replace(dict(self.changes)) if self.changes else scenario

    def _acknowledge(self, connection: Connection, packet: Packet) -> None:
        if packet.ack is None:
            raise StopError(packet.line, "a segment without ACK")
        if packet.end > packet.start:
            self._leave_out(packet, "data that the host receives is not modelled; its ACK is")
        duplicate, blocks = _duplicate(packet.options.blocks, packet.ack)
        echo = packet.options.timestamp and packet.options.timestamp[1]
        ack = packet.ack - 1 if self.closed and packet.ack == connection.written + 1 else packet.ack
        try:
            connection.acknowledge(
                self.now,
                ack,
                blocks,
                ece=packet.has("E"),
                echoes_resent=echo is not None and self.stamps.get(echo, False),
                has_data=packet.end > packet.start,
                duplicate=duplicate,
                window=(packet.window or 0) << self.scale,
            )
        except NotExpressibleError as error:
            raise StopError(packet.line, str(error)) from None
        except PartialAckError:
            raise StopError(packet.line, "acknowledges a part of a segment; segments are whole here") from None
        except InputError:
            raise
        except ValueError:
            raise StopError(packet.line, "acknowledges what the sender has not sent") from None
        self._check_window(packet)

    # Expected packets.

    def _expect(self, packet: Packet, at: int) -> None:
        if self.connection is None:
            self._our_syn(packet, at)
        elif packet.end > packet.start and not packet.has("S"):
            self._expect_data(self.connection, packet, at)
        elif packet.has("F") or packet.has("R"):
            self._leave_out(packet, "the end of a connection is not modelled")
            self.now = max(self.now, at)
        elif not packet.has("S"):
            # ACKs of data that the host has received.
            self.now = max(self.now, at)

    def _our_syn(self, packet: Packet, at: int) -> None:
        if packet.has("S"):
            self.handshake.ours = packet.options
            self.handshake.opened = self.now = max(self.now, at)
            self.handshake.flags.append(packet.flags)

    def _expect_data(self, connection: Connection, packet: Packet, at: int) -> None:
        low, high = self._accepted(packet.when, at)
        begin, sent = packet.start, connection.sent
        wanted = f"{packet.start}:{packet.end} at {_shown(packet.when, at)}"
        while begin < packet.end:
            due = connection.deadline()
            if not sent and (due is None or due > high):
                timer = "no timer runs" if due is None else f"the next timer expires at {_seconds(due)} s"
                state = connection.info()
                held = f"cwnd {state['tcpi_snd_cwnd']}, {state['tcpi_unacked']} outstanding, {timer}"
                named = rule(self.sender, "held", connection.phase())
                self._differ(packet, wanted, f"nothing by {_seconds(high)} s ({held})", named)
            elif not sent:
                connection.expire()
            else:
                begin = self._compare(packet, wanted, sent.popleft(), begin, (low, high))

    def _compare(self, packet: Packet, wanted: str, sent: Sent, begin: int, accepted: tuple[int, int]) -> int:
        """Compare a segment with an expected one; return the begin of the next."""
        found = f"{sent.start}:{sent.end} at {_seconds(sent.at)} s"
        named = rule(self.sender, sent.cause, sent.phase)
        if sent.start != begin or sent.end > packet.end:
            self._differ(packet, wanted, found, named)
        if packet.when.kind != "any" and not accepted[0] <= sent.at <= accepted[1]:
            self._differ(packet, wanted, found, named)
        asked = {"ect0": True, "noecn": False}.get(next(iter(packet.ip), ""))
        if asked is not None and asked != sent.marked:
            self._differ(packet, f"{wanted}, [{packet.ip[0]}]", "ECT(0)" if sent.marked else "not ECT", "RFC 3168, 6.1")
        if packet.options.timestamp is not None:
            self._note_stamp(packet.options.timestamp[0], again=sent.again)
        self.now = max(self.now, sent.at)
        self.checked[0] += 1
        return sent.end

    def _note_stamp(self, stamp: int, *, again: bool) -> None:
        """Note whether a retransmission carried a timestamp: one of a millisecond may be that of several segments."""
        self.stamps[stamp] = again or self.stamps.get(stamp, False)

    def _accepted(self, when: When, at: int) -> tuple[int, int]:
        """Return the earliest and the latest accepted time of an event that is expected at a time."""
        if when.kind == "any":
            return 0, LONGEST
        tolerance = self.tolerance
        if self.before is not None:
            tolerance = max(tolerance, int(self.tolerance_share * (at - self.before[0])))
        most = at if when.most is None else at - when.at + when.most
        return at - tolerance, most + tolerance

    def _assert(self, event: Code) -> None:
        fields = self.connection.info() if self.connection is not None else {}
        try:
            statements = self.assertions.statements(event.text)
        except NotEvaluatedError as error:
            self._leave_out(event, f"%{{ }}%: {error}")
            return
        for statement in statements:
            try:
                self.checked[1] += self.assertions.run(statement, fields)
            except NotEvaluatedError as error:
                self._leave_out(event, f"%{{ }}%: {error}")
            except FailedAssertionError as error:
                text = ast.unparse(statement.test if isinstance(statement, ast.Assert) else statement)
                phase = self.connection.phase() if self.connection is not None else "open"
                cause = "timeout" if "tcpi_rto" in text else "state"
                self._differ(event, text, str(error), rule(self.sender, cause, phase))

    def _differ(self, event: Event, expected: str, actual: str, named: str) -> NoReturn:
        raise _DifferenceError(Difference(event.line, expected, actual, named))

    def _leave_out(self, event: Event, why: str) -> None:
        self.left_out.append((event.line, why))


def _duplicate(blocks: Blocks, ack: int) -> tuple[tuple[int, int] | None, list[tuple[int, int]]]:
    """Split the reported duplicate from the SACK blocks: below the ACK, or within the second block (RFC 2883, 4)."""
    first, rest = blocks[:1], blocks[1:]
    reports = any(end <= ack or any(a <= start and end <= b for a, b in rest[:1]) for start, end in first)
    others = rest if reports else blocks
    return (first[0] if reports else None), [(start, end) for start, end in others if start >= ack]


def _sender(scenario: Scenario) -> dict[str, str | None]:
    group = scenario.resolved["flows"][0]
    control = group["control"]
    start = control.get("slow_start")
    return {
        "law": control["law"],
        "variant": control.get("variant"),
        "slow_start": start and start["kind"],
        "recovery": group["recovery"],
        "rto": group["tcp"].get("rto", "rfc6298"),
    }


def _seconds(at: int) -> str:
    return f"{at / SECOND:.4f}".rstrip("0").rstrip(".")


def _shown(when: When, at: int) -> str:
    if when.kind == "any":
        return "any time"
    most = at if when.most is None else at - when.at + when.most
    return f"{_seconds(at)} s" if most == at else f"{_seconds(at)} to {_seconds(most)} s"
