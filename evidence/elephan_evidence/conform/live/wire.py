"""Segments of TCP over IPv4 as bytes: what a TUN device carries.

*Source*: RFC 791, 9293, 7323 and 2018 for the headers and options; RFC 1071 for the checksum.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elephan_evidence.conform.packetdrill.script import Packet

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
LETTERS = {FIN: "F", SYN: "S", RST: "R", PSH: "P", URG: "U", ECE: "E", CWR: "W", ACK: "."}
"""Flags in packetdrill's notation."""

LIMIT = 2**32
"""Sequence numbers and timestamps are modulo this."""


@dataclass(frozen=True)
class Segment:
    """A TCP segment.

    Parameters
    ----------
    ports : tuple of int
        Of the sender and the receiver of this segment.
    seq, ack : int
        As in the header, modulo 2^32.
    flags : int
    window : int
        Unscaled, as in the header.
    length : int [bytes]
        Size of the payload.
    mss, wscale : int, optional
    sack : bool
        Whether it permits SACK.
    timestamp : tuple of int, optional
        Value and echo reply.
    blocks : tuple of (int, int)
        SACK blocks.
    ecn : int
        The two ECN bits of the IP header.
    """

    ports: tuple[int, int]
    seq: int
    ack: int
    flags: int
    window: int
    length: int = 0
    mss: int | None = None
    wscale: int | None = None
    sack: bool = False
    timestamp: tuple[int, int] | None = None
    blocks: tuple[tuple[int, int], ...] = ()
    ecn: int = 0

    @classmethod
    def from_script(cls, packet: Packet, ports: tuple[int, int], initial: tuple[int, int]) -> Segment:
        """Return the segment of a line of a script; `initial` are both sides' first numbers on the wire."""
        options = packet.options
        by_letter = {letter: bit for bit, letter in LETTERS.items()}
        blocks = tuple(((a + initial[1]) % LIMIT, (b + initial[1]) % LIMIT) for a, b in options.blocks)
        return cls(
            ports,
            (packet.start + initial[0]) % LIMIT,
            0 if packet.ack is None else (packet.ack + initial[1]) % LIMIT,
            sum(by_letter[letter] for letter in packet.flags if letter in by_letter),
            65_535 if packet.window is None else packet.window,
            packet.end - packet.start,
            options.mss,
            options.wscale,
            options.sack,
            options.timestamp,
            blocks,
            {"ect0": 2, "ect1": 1, "ce": 3}.get(next(iter(packet.ip), ""), 0),
        )

    def shown_flags(self) -> str:
        """Return the flags in packetdrill's notation."""
        return "".join(letter for bit, letter in LETTERS.items() if self.flags & bit) or "-"

    def after(self, initial: int, initial_of_other: int) -> Segment:
        """Return it with numbers relative to the two initial sequence numbers, as in scripts."""
        ack = (self.ack - initial_of_other) % LIMIT if self.flags & ACK else 0
        blocks = tuple(((a - initial_of_other) % LIMIT, (b - initial_of_other) % LIMIT) for a, b in self.blocks)
        return replace(self, seq=(self.seq - initial) % LIMIT, ack=ack, blocks=blocks)


def parse(packet: bytes) -> Segment | None:
    """Read a packet; None if it is not TCP over IPv4."""
    if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
        return None
    header = (packet[0] & 15) * 4
    total = struct.unpack_from("!H", packet, 2)[0]
    source, target, seq, ack, offset, flags, window = struct.unpack_from("!HHIIBBH", packet, header)
    size = (offset >> 4) * 4
    options = _options(packet[header + 20 : header + size])
    return Segment((source, target), seq, ack, flags, window, total - header - size, ecn=packet[1] & 3, **options)


def _options(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {}
    at = 0
    while at < len(data) and data[at]:
        if data[at] == 1:
            at += 1
            continue
        kind, size = data[at], max(2, data[at + 1] if at + 1 < len(data) else 2)
        value = data[at + 2 : at + size]
        if kind == 2 and len(value) == 2:
            found["mss"] = int.from_bytes(value, "big")
        elif kind == 3 and value:
            found["wscale"] = value[0]
        elif kind == 4:
            found["sack"] = True
        elif kind == 5:
            found["blocks"] = tuple(struct.iter_unpack("!II", value[: len(value) // 8 * 8]))
        elif kind == 8 and len(value) == 8:
            found["timestamp"] = struct.unpack("!II", value)
        at += size
    return found


def build(segment: Segment, addresses: tuple[str, str]) -> bytes:
    """Return the packet of a segment, with zeros as payload."""
    options = b""
    if segment.mss is not None:
        options += struct.pack("!BBH", 2, 4, segment.mss)
    if segment.sack:
        options += b"\x01\x01\x04\x02"
    if segment.timestamp is not None:
        options += b"\x01\x01" + struct.pack("!BBII", 8, 10, *segment.timestamp)
    if segment.wscale is not None:
        options += struct.pack("!BBBB", 1, 3, 3, segment.wscale)
    if segment.blocks:
        options += struct.pack("!BBBB", 1, 1, 5, 2 + 8 * len(segment.blocks))
        options += b"".join(struct.pack("!II", *block) for block in segment.blocks)
    size = 20 + len(options)
    tcp = struct.pack(
        "!HHIIBBHHH", *segment.ports, segment.seq, segment.ack, size // 4 << 4, segment.flags, segment.window, 0, 0
    )
    tcp += options + bytes(segment.length)
    source, target = (socket.inet_aton(address) for address in addresses)
    pseudo = source + target + struct.pack("!HH", socket.IPPROTO_TCP, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", _checksum(pseudo + tcp)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, segment.ecn, 20 + len(tcp), 0, 0x4000, 64, socket.IPPROTO_TCP, 0)
    ip += source + target
    return ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:] + tcp


def _checksum(data: bytes) -> int:
    if len(data) % 2:
        data += b"\0"
    total = sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
