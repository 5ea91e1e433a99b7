"""Packet captures (pcap, pcapng) of one TCP flow, taken at the sender of the data.

dpkt reads files and packets. The file is read twice, packet by packet: first to find the flow with the most data, then
for the series of this flow. Only one row per interval and the segments in flight are held in memory.

*Source*: RFC 6298 for the smoothing, with a sample of every ACK as in Linux (`tcp_rtt_estimator`); RFC 7323 for
timestamps. Packets do not contain the congestion window; the largest number of bytes in flight in each interval
replaces it.
"""

from __future__ import annotations

import math
import struct
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from elephan.extras import require
from elephan.input_files import open_regular
from elephan.measurements.series import MOST_ROWS, Measurement, flow_of, shortened

MAGICS = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x0a\x0d\x0d\x0a")
"""First bytes of captures."""

EVERY_S = 0.1
"""Length of the intervals [s]."""

MOST_BLOCK = 1_000_000
"""Largest number of bytes that one read may ask for; a packet has at most 256 KiB."""

MOST_FLOWS, MOST_IN_FLIGHT = 100_000, 200_000
"""Maximum number of flows that are counted, and of segments in flight."""

ETHERNET, RAW = 14, 0
_HEADERS = {0: 4, 1: ETHERNET, 108: 4, 113: 16, 276: 20} | dict.fromkeys((12, 14, 101, 228, 229), RAW)
"""Supported link types, and the lengths of their headers [bytes]; VLAN tags lengthen the header of Ethernet."""

Key = tuple[bytes, int, bytes, int]


class _Bounded:
    """A file whose reads are bounded, so that a damaged length does not allocate much memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.name = "capture"

    def read(self, size: int = -1) -> bytes:
        """Read some bytes; refuse more than `MOST_BLOCK`."""
        if size < 0 or size > MOST_BLOCK:
            raise ValueError(f"a length of {size:,} bytes")
        return self._file.read(size)

    def seek(self, at: int, whence: int = 0) -> int:
        """Move to a position."""
        return self._file.seek(at, whence)

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()


@dataclass(slots=True)
class _Segment:
    """A TCP segment."""

    time_s: float
    key: Key
    seq: int
    ack: int
    flags: int
    payload: int
    window: int
    stamps: tuple[int, int] | None
    sacked: bool
    ce: bool
    options: bytes


def read(path: Path) -> Measurement:
    """Read a capture.

    Raises
    ------
    InputError
        If dpkt is not installed.
    ValueError
        If the file is damaged before the first packet, has no TCP flow with data, or was captured at the receiver.
    """
    require("a packet capture", "dpkt")
    volumes: dict[Key, int] = {}
    for segment in _segments(path, []):
        if segment.payload and (segment.key in volumes or len(volumes) < MOST_FLOWS):
            volumes[segment.key] = volumes.get(segment.key, 0) + segment.payload
    if not volumes:
        raise ValueError("has no TCP segment with data over IPv4 or IPv6")
    chosen = max(volumes, key=lambda key: volumes[key])
    problems: list[str] = []
    sender = _Sender(chosen)
    for segment in _segments(path, problems):
        sender.take(segment)
    return sender.measurement(path, tuple(problems), len(volumes))


def _segments(path: Path, problems: list[str]) -> Iterator[_Segment]:
    """Yield the TCP segments of a file; a damaged file is read up to the damage."""
    import dpkt  # noqa: PLC0415 (an optional package)

    with open_regular(path, "packet capture") as file:
        bounded = _Bounded(file)
        damage = (ValueError, dpkt.Error, struct.error, IndexError, KeyError, AttributeError, TypeError)
        try:
            reader = dpkt.pcap.UniversalReader(bounded)
            header = _HEADERS.get(reader.datalink())
        except damage as error:
            raise _damaged(error) from None
        if header is None:
            raise ValueError(f"has link type {reader.datalink()}; Ethernet, raw IP and Linux cooked captures are read")
        packets = iter(reader)
        count = 0
        while True:
            try:
                time_s, raw = next(packets)
            except StopIteration:
                return
            except damage as error:
                if not count:
                    raise _damaged(error) from None
                problems.append(f"the file is damaged after {count:,} packets; what follows is left out")
                return
            count += 1
            segment = _parse(float(time_s), raw, header)
            if segment is not None:
                yield segment


def _damaged(error: Exception) -> ValueError:
    return ValueError(f"is a damaged packet capture ({shortened(str(error) or type(error).__name__)})")


def _network(raw: bytes, header: int) -> bytes:
    """Return the IP packet in a frame, without the link's header; empty if the frame has none."""
    if header != ETHERNET:
        return raw[header:]
    at, kind = 14, raw[12:14]
    while kind in (b"\x81\x00", b"\x88\xa8"):
        kind, at = raw[at + 2 : at + 4], at + 4
    return raw[at:] if kind in (b"\x08\x00", b"\x86\xdd") else b""


def _parse(time_s: float, raw: bytes, header: int) -> _Segment | None:
    """Return the TCP segment in a frame; None for everything else. Captures may be cut after the headers."""
    import dpkt  # noqa: PLC0415 (an optional package)

    data = _network(raw, header)
    if len(data) < 40:
        return None
    try:
        if data[0] >> 4 == 4:
            ihl = 4 * (data[0] & 15)
            if data[9] != 6 or (data[6] & 0x1F) or data[7]:
                return None
            length, addresses, ecn = int.from_bytes(data[2:4], "big"), (data[12:16], data[16:20]), data[1] & 3
            # With segmentation offload, the length field of a large packet may be zero.
            length = length or len(data)
        elif data[0] >> 4 == 6:
            ihl = 40
            if data[6] != 6:
                return None
            length = int.from_bytes(data[4:6], "big") + 40
            addresses, ecn = (data[8:24], data[24:40]), (data[1] >> 4) & 3
            length = length if length > 40 else len(data)
        else:
            return None
        body = data[ihl:]
        tcp = dpkt.tcp.TCP(body[:60]) if len(body) >= 20 else None
        if tcp is None:
            return None
        options = tcp.opts
        found = list(_options(options))
        stamps = next((struct.unpack(">II", value) for kind, value in found if kind == 8 and len(value) == 8), None)
        sacked = any(kind == 5 for kind, _ in found)
    except (dpkt.Error, struct.error, IndexError, ValueError):
        return None
    payload = length - ihl - 4 * tcp.off
    key = (addresses[0], int(tcp.sport), addresses[1], int(tcp.dport))
    return _Segment(
        time_s, key, int(tcp.seq), int(tcp.ack), int(tcp.flags), max(payload, 0), int(tcp.win), stamps, sacked,
        ecn == 3, options,
    )  # fmt: skip


def _options(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kinds and values of the TCP options of a segment, up to the first damaged one."""
    at = 0
    while at < len(raw) and raw[at] != 0:
        if raw[at] == 1:
            at += 1
            continue
        length = raw[at + 1] if at + 1 < len(raw) else 0
        if length < 2:
            return
        yield raw[at], raw[at + 2 : at + length]
        at += length


def _after(a: int, b: int) -> int:
    """Return the signed distance from sequence number b to a, modulo 2^32."""
    return (a - b + 2**31) % 2**32 - 2**31


@dataclass(slots=True)
class _Row:
    """Sums and last values of one interval."""

    bytes: float = 0.0
    retransmits: float = 0.0
    flight: float = 0.0
    window: float = math.nan
    rtt: float = math.nan
    least: float = math.nan


@dataclass
class _Sender:
    """State and series of the sender of one direction of a connection."""

    key: Key
    begun_s: float | None = None
    una: int | None = None
    high: int | None = None
    sent: OrderedDict[int, tuple[float, bool]] = field(default_factory=OrderedDict)
    rows: list[_Row] = field(default_factory=list)
    srtt: float = math.nan
    least: float = math.nan
    mss: int = 0
    scale: int | None = None
    syn_s: float = math.nan
    accepted_s: float = math.nan
    base_s: float = math.nan
    answered_s: float = math.nan
    from_client: bool = True
    sacks: int = 0
    marks: int = 0
    acks: int = 0

    def take(self, segment: _Segment) -> None:
        """Take the next segment of the file."""
        back = (self.key[2], self.key[3], self.key[0], self.key[1])
        if segment.key not in (self.key, back):
            return
        forward = segment.key == self.key
        if segment.flags & 0x02:
            self._handshake(segment, forward=forward)
            return
        if math.isfinite(self.accepted_s) and not math.isfinite(self.answered_s) and segment.flags & 0x10:
            self.answered_s = segment.time_s - self.accepted_s
        if forward and segment.payload:
            self._data(segment)
        elif not forward and segment.flags & 0x10 and self.una is not None:
            self._ack(segment)

    def _handshake(self, segment: _Segment, *, forward: bool) -> None:
        if not segment.flags & 0x10:
            self.syn_s, self.from_client = segment.time_s, forward
        elif math.isfinite(self.syn_s):
            self.accepted_s = segment.time_s
            self.base_s = segment.time_s - self.syn_s
        if not forward:
            self.scale = next(
                (min(value[0], 14) for kind, value in _options(segment.options) if kind == 3 and value), None
            )

    def _row(self, time_s: float) -> _Row | None:
        """Return the interval of a time; None before the first and beyond the last."""
        if self.begun_s is None:
            self.begun_s = time_s
        number = int((time_s - self.begun_s) / EVERY_S) if abs(time_s - self.begun_s) < 1e9 else -1
        if not 0 <= number < min(MOST_ROWS, len(self.rows) + 100_000):
            return None
        while len(self.rows) <= number:
            # A new interval begins with the last values of the one before.
            last = self.rows[-1] if self.rows else _Row()
            self.rows.append(_Row(window=last.window, rtt=last.rtt, least=last.least))
        return self.rows[number]

    def _data(self, segment: _Segment) -> None:
        row = self._row(segment.time_s)
        if row is None:
            return
        self.marks += segment.ce
        end = (segment.seq + segment.payload) % 2**32
        if self.una is None or self.high is None:
            self.una, self.high = segment.seq, segment.seq
        self.mss = max(self.mss, min(segment.payload, 9000)) if segment.payload <= 9000 else self.mss
        if _after(end, self.high) <= 0:
            row.retransmits += math.ceil(segment.payload / max(self.mss, 536))
            for known in self.sent:
                if _after(known, segment.seq) > 0 and _after(known, end) <= 0:
                    self.sent[known] = (segment.time_s, True)
        else:
            self.high = end
            if len(self.sent) < MOST_IN_FLIGHT:
                self.sent[end] = (segment.time_s, False)
        row.flight = max(row.flight, float(_after(self.high, self.una)))

    def _ack(self, segment: _Segment) -> None:
        row = self._row(segment.time_s)
        if row is None or self.una is None or self.high is None:
            return
        self.sacks += segment.sacked
        self.acks += 1
        row.window = float(segment.window << (self.scale or 0)) if self.scale is not None else row.window
        advance = _after(segment.ack, self.una)
        if advance <= 0 or _after(segment.ack, self.high) > 0:
            return
        self.una = segment.ack
        row.bytes += advance
        sample = math.nan
        while self.sent:
            end, (at, again) = next(iter(self.sent.items()))
            if _after(end, segment.ack) > 0:
                break
            del self.sent[end]
            # Karn's algorithm: the ACK of a retransmitted segment may acknowledge its first copy.
            if not again:
                sample = segment.time_s - at
        if sample >= 0:
            self.srtt = self.srtt + (sample - self.srtt) / 8 if math.isfinite(self.srtt) else sample
            self.least = min(self.least, sample) if math.isfinite(self.least) else sample
        row.rtt, row.least = self.srtt, self.least

    def measurement(self, path: Path, problems: tuple[str, ...], flows: int) -> Measurement:
        """Return the measurement."""
        handshake = self.base_s if self.from_client else self.answered_s
        other = self.answered_s if self.from_client else self.base_s
        if math.isfinite(handshake) and math.isfinite(other) and handshake < 0.2 * other and other > 0.002:
            message = (
                "was taken at the receiver, where round-trip times are not seen; take it at the sender of the data"
            )
            raise ValueError(message)
        rows = self.rows[:-1] if len(self.rows) > 3 else self.rows
        if not self.acks or len(rows) < 3:
            raise ValueError("has less than 0.3 s of a flow with data and ACKs")
        columns = {
            "bytes": [row.bytes for row in rows],
            "retransmits": [row.retransmits for row in rows],
            "cwnd_bytes": [row.flight if row.flight else math.nan for row in rows],
            "srtt_s": [row.rtt for row in rows],
            "min_rtt_s": [row.least for row in rows],
            "rwnd_bytes": [row.window for row in rows],
        }
        mss = float(self.mss) if self.mss else math.nan
        flow = flow_of(_name(self.key), [EVERY_S * (i + 1) for i in range(len(rows))], columns, mss_bytes=mss)
        notes = ["the congestion window is not in packets: bytes in flight stand for it", *problems]
        if flows > 1:
            notes.append(f"the flow with the most data of {flows:,}")
        if not self.sacks:
            notes.append("no ACK has SACK blocks")
        if self.marks:
            notes.append(f"{self.marks:,} data packets were marked with CE")
        return Measurement(path, "packet capture", (flow,), tuple(notes), base_rtt_s=handshake)


def _name(key: Key) -> str:
    import ipaddress  # noqa: PLC0415 (used once per file)

    def host(raw: bytes) -> str:
        address = ipaddress.ip_address(raw)
        return f"[{address}]" if len(raw) == 16 else str(address)

    return f"{host(key[0])}:{key[1]} > {host(key[2])}:{key[3]}"
