"""Scripts of packetdrill as data: a list of timed events, line by line.

*Source*: the language of packetdrill's ``lexer.l`` and ``parser.y``, for TCP. Packets of other protocols and inside
tunnels, and TCP options that a sender here lacks, are read and kept as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NoReturn

from elephan.errors import InputError
from elephan.input_files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECOND = 10**12
"""A second in picoseconds, the unit of times."""

TIME = r"\d*\.\d+|\d+(?:\.(?!\.))?"
STAMP = re.compile(rf"(?P<any>\*)|(?P<plus>\+)?(?P<at>{TIME})\s*(?:~\s*\+?(?P<most>{TIME}))?")
UNTIL = re.compile(rf"\s*\.\.\.\s*(?P<until>{TIME})")
OPTION = re.compile(r"--(?P<name>\w+)(?:[ \t]*=[ \t]*(?P<value>\S+))?")
CALL = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*\(")
RESULT = re.compile(r"\s*=\s*(?P<result>-?\w+|\.\.\.)(?P<rest>[^\n]*)")
PACKET = re.compile(
    r"(?:\[(?P<ip>[^\]]*)\]\s*)?(?P<flags>[SFPRUEWAC]+\.?|\.|-)\s+"
    r"(?P<start>\d{1,10}):(?P<end>\d{1,10})\s*\((?P<length>\d{1,10})\)"
    r"(?:\s*ack\s+(?P<ack>\d{1,10}))?(?:\s*win\s+(?P<window>\d{1,10}))?(?:\s*urg\s+\d{1,10})?"
    r"(?:\s*<(?P<options>[^>]*)>)?\s*$"
)
QUOTED = re.compile(r'"(\\.|[^"\\])*"')
BLANK = re.compile(r"\s+|//[^\n]*|#[^\n]*")
CLOSING = {"(": ")", "[": "]", "{": "}"}


class NotExpressibleError(Exception):
    """Raised for what a sender has no notion of; the message says what."""


@dataclass(frozen=True)
class When:
    """Time at which an event happens or is expected.

    Parameters
    ----------
    kind : {"absolute", "relative", "any"}
        Since the start, since the previous event, or at any time.
    at, most : int [ps]
        Earliest and latest time.
    """

    kind: Literal["absolute", "relative", "any"]
    at: int = 0
    most: int | None = None


@dataclass(frozen=True)
class TcpOptions:
    """TCP options of a segment.

    Parameters
    ----------
    mss, wscale : int or None
    timestamp : tuple of int, optional
        Value and echo reply.
    blocks : tuple of (int, int)
        SACK blocks, in bytes.
    any : bool
        Whether any options match.
    others : tuple of str
        Options that are kept as text.
    """

    mss: int | None = None
    wscale: int | None = None
    sack: bool = False
    timestamp: tuple[int, int] | None = None
    blocks: tuple[tuple[int, int], ...] = ()
    any: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Event:
    """An event at a line of a script."""

    line: int
    when: When
    text: str


@dataclass(frozen=True)
class Packet(Event):
    """A segment that is injected, or expected of the sender.

    Parameters
    ----------
    flags : str
        In packetdrill's notation: ``"P."``.
    start, end : int
        Sequence numbers of its payload, in bytes.
    window : int or None
        Unscaled, as in the header.
    ip : tuple of str
        Properties of the IP header, such as ``ect0``.
    """

    expected: bool = False
    flags: str = "."
    start: int = 0
    end: int = 0
    ack: int | None = None
    window: int | None = None
    ip: tuple[str, ...] = ()
    options: TcpOptions = field(default_factory=TcpOptions)

    def has(self, flag: str) -> bool:
        """Whether a TCP flag is set."""
        return flag in self.flags


@dataclass(frozen=True)
class OtherPacket(Event):
    """A packet of another protocol, or in a tunnel."""


@dataclass(frozen=True)
class Call(Event):
    """A system call of the application.

    Parameters
    ----------
    arguments : tuple of str
    result : int or None
        None if any result matches.
    """

    name: str = ""
    arguments: tuple[str, ...] = ()
    result: int | None = None


@dataclass(frozen=True)
class Shell(Event):
    """Shell commands."""


@dataclass(frozen=True)
class Code(Event):
    """Assertions in Python, run with the fields of ``tcp_info``."""


@dataclass(frozen=True)
class Script:
    """A parsed script.

    Parameters
    ----------
    options : dict of str
        The lines that begin with ``--``.
    events : tuple of Event
    """

    path: Path
    options: dict[str, str]
    events: tuple[Event, ...]


def read_script(path: Path) -> Script:
    """Read a script.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Script

    Raises
    ------
    InputError
        If it cannot be read; the message names file and line.
    """
    return _Reader(path, read_text(path, "packetdrill script")).script()


class _Reader:
    """Cursor into the text of a script."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.at = 0

    def script(self) -> Script:
        options: dict[str, str] = {}
        self._skip()
        while match := OPTION.match(self.text, self.at):
            options[match["name"]] = match["value"] or ""
            self.at = match.end()
            self._skip()
        events = tuple(self._events())
        if not events:
            message = f"{self.path}: nothing happens in it; give a packetdrill script"
            raise InputError(message)
        return Script(self.path, options, events)

    def _events(self) -> Iterator[Event]:
        while self.at < len(self.text):
            line = self._line()
            # Commands before the first event, and after the last, have no time.
            when = When("any") if self.text[self.at] == "`" else self._when()
            yield self._action(line, when)
            self._skip()

    def _when(self) -> When:
        match = STAMP.match(self.text, self.at)
        if match is None:
            self._fail(f"{self._word()!r} is no time; write 0.1, +.1, +.1~+.2 or *")
        self.at = match.end()
        if not match["any"]:
            kind: Literal["absolute", "relative"] = "relative" if match["plus"] else "absolute"
            most = None if match["most"] is None else _picoseconds(match["most"])
            when = When(kind, _picoseconds(match["at"]), most)
        else:
            when = When("any")
        # A call that blocks also states its return time.
        if match := UNTIL.match(self.text, self.at):
            self.at = match.end()
        self._skip()
        return when

    def _action(self, line: int, when: When) -> Event:
        head = self.text[self.at : self.at + 2]
        if head[:1] == "`":
            return Shell(line, when, self._quoted("`", "`"))
        if head == "%{":
            return Code(line, when, self._quoted("%{", "}%"))
        if head.startswith(("<", ">")):
            return self._packet(line, when)
        match = CALL.match(self.text, self.at)
        if match is None:
            self._fail(f"{self._word()!r} is no packet (< or >), no system call, no `command` and no %{{ code }}%")
        return self._call(line, when, match)

    def _quoted(self, opening: str, closing: str) -> str:
        begin = self.at + len(opening)
        end = self.text.find(closing, begin)
        if end < 0:
            self._fail(f"{opening} is not closed; write {closing} behind it")
        self.at = end + len(closing)
        return self.text[begin:end]

    def _packet(self, line: int, when: When) -> Event:
        expected = self.text[self.at] == ">"
        self.at += 1
        text = self._rest_of_line()
        if re.match(r"(\[[^\]]*\]\s*)?(icmp|udp|ipv4|ipv6|gre|mpls|sctp|encap)\b", text):
            return OtherPacket(line, when, text)
        # Port numbers identify one of several connections.
        text = re.sub(r"^(\[[^\]]*\]\s*)?\d+\s*>\s*\d+\s+", lambda match: match[1] or "", text)
        match = PACKET.match(text)
        if match is None:
            self._fail(f"{text!r} is no segment; write flags, first:last(length), ack, win, <options>", line)
        start, end = int(match["start"]), int(match["end"])
        if (end - start) % 2**32 != int(match["length"]):
            self._fail(f"{start}:{end} has {(end - start) % 2**32} bytes, and not {match['length']}", line)
        return Packet(
            line,
            when,
            text,
            expected,
            match["flags"],
            start,
            end,
            None if match["ack"] is None else int(match["ack"]),
            None if match["window"] is None else int(match["window"]),
            tuple((match["ip"] or "").replace(",", " ").split()),
            self._tcp_options(match["options"], line),
        )

    def _tcp_options(self, text: str | None, line: int) -> TcpOptions:
        if text is None:
            return TcpOptions()
        if text.strip() == "...":
            return TcpOptions(any=True)
        mss = wscale = timestamp = None
        sack, others = False, []
        blocks: list[tuple[int, int]] = []
        for option in (part.strip() for part in text.split(",")):
            if match := re.fullmatch(r"mss (\d{1,10})", option):
                mss = int(match[1])
            elif match := re.fullmatch(r"wscale (\d{1,10})", option):
                wscale = int(match[1])
            elif match := re.fullmatch(r"TS val (\d{1,10}) ecr (\d{1,10})", option):
                timestamp = (int(match[1]), int(match[2]))
            elif re.fullmatch(r"sack( \d{1,10}:\d{1,10})+", option):
                blocks += [(int(a), int(b)) for a, b in re.findall(r"(\d{1,10}):(\d{1,10})", option)]
            elif option == "sackOK":
                sack = True
            elif option not in ("nop", "eol", ""):
                others.append(option)
        wrong = next((f"{a}:{b}" for a, b in blocks if a >= b), None)
        if wrong is not None:
            self._fail(f"sack {wrong}: ends before it begins", line)
        return TcpOptions(mss, wscale, sack, timestamp, tuple(blocks), False, tuple(others))

    def _call(self, line: int, when: When, match: re.Match[str]) -> Call:
        begin = self.at
        self.at = match.end()
        arguments = self._arguments(line)
        result = RESULT.match(self.text, self.at)
        if result is None:
            self._fail(f"{match['name']}: has no result; write = and a number behind it", line)
        self.at = result.end()
        text = " ".join(self.text[begin : self.at].split("//")[0].split())
        number = int(result["result"]) if re.fullmatch(r"-?\d{1,18}", result["result"]) else None
        return Call(line, when, text, match["name"], arguments, number)

    def _arguments(self, line: int) -> tuple[str, ...]:
        """Read up to the closing parenthesis of the call."""
        parts: list[str] = []
        begin, open_ = self.at, [")"]
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == '"':
                match = QUOTED.match(self.text, self.at)
                self.at = match.end() if match else len(self.text)
                continue
            self.at += 1
            if letter in CLOSING:
                open_.append(CLOSING[letter])
            elif letter == open_[-1]:
                open_.pop()
                if not open_:
                    parts.append(self.text[begin : self.at - 1].strip())
                    return tuple(part for part in parts if part)
            elif letter == "," and len(open_) == 1:
                parts.append(self.text[begin : self.at - 1].strip())
                begin = self.at
        return self._fail("a parenthesis is not closed", line)

    def _rest_of_line(self) -> str:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        text = self.text[self.at : end]
        self.at = end
        return re.sub(r"/\*.*?\*/", " ", text.split("//")[0]).strip()

    def _skip(self) -> None:
        """Skip blanks and comments."""
        while match := BLANK.match(self.text, self.at):
            self.at = match.end()
        if self.text.startswith("/*", self.at):
            self._quoted("/*", "*/")
            self._skip()

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _word(self) -> str:
        words = self.text[self.at :].split(maxsplit=1)
        return words[0][:40] if words else "the end of the file"

    def _fail(self, why: str, line: int | None = None) -> NoReturn:
        message = f"{self.path}:{line or self._line()}: {why}"
        raise InputError(message)


def _picoseconds(text: str) -> int:
    return int(min(Decimal(text), Decimal(10**9)) * SECOND)
