"""Recorded packets of links as pcapng, which Wireshark, tshark and tcptrace read.

A capture holds what arrives at a link in the spans of ``record.packets``, with headers only: Ethernet, IPv4, TCP (UDP
for datagrams), as tcpdump with a snapshot length keeps them. Packets that the queue drops are on a second interface,
"LINK (dropped)"; a packet that the queue marks has the code point CE. ACKs are those of the flows of ``record.trace``,
at the time at which they reach the sender, with their SACK blocks, so that Wireshark's round-trip times are those of
the sender if nothing is between it and the link.

Source: draft-ietf-opsawg-pcapng (section header, interface description and enhanced packet blocks, nanoseconds);
RFC 2018 and RFC 2883 (SACK), RFC 7323 (timestamps), RFC 3168 (ECN), for the options and flags.
Differs from a capture of real hosts: sequence numbers count from 1 without a handshake. Timestamps are milliseconds of
the capture, not of the hosts' clocks; segments have them if ``tcp.timestamps`` is on and ``tcp.header`` has room (52
bytes). ACKs echo the first copy of a segment that this link did not drop, segments the last ACK.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elephan import _native
from elephan.results.files import atomic
from elephan.runs.files import HEADER_B, file_names, link_name, of_replication, payload_bytes
from elephan.scenario import Scenario

if TYPE_CHECKING:
    from elephan.runs.result import RunResult

ROWS = 1 << 14
"""Packets that are encoded at once, which bounds the memory."""

SENDERS, RECEIVERS = 0xC6120000, 0xC6130000
"""Networks 198.18.0.0/16 and 198.19.0.0/16, which RFC 2544 keeps for benchmarks."""

FIRST_PORT, PORT = 40_000, 5201

_TCP, _UDP, _ACK, _PSH_ACK, _ECE, _CWR, _CE = 6, 17, 0x10, 0x18, 0x40, 0x80, 3

_NOP, _SACK, _TIMESTAMPS = 1, 5, 8
"""Kinds of TCP options."""

_MOST_OPTIONS, _TIMESTAMPS_B, _BLOCKS = 40, 12, 3
"""Maximum bytes of options; bytes of timestamps with two paddings; maximum number of SACK blocks beside them."""

_FRAME = np.dtype(
    [
        ("type", "<u4"),
        ("total", "<u4"),
        ("interface", "<u4"),
        ("high", "<u4"),
        ("low", "<u4"),
        ("captured", "<u4"),
        ("original", "<u4"),
        ("ethernet", "S14"),
        ("version", "u1"),
        ("tos", "u1"),
        ("length", ">u2"),
        ("id", ">u2"),
        ("fragment", ">u2"),
        ("ttl", "u1"),
        ("protocol", "u1"),
        ("checksum", ">u2"),
        ("source", ">u4"),
        ("destination", ">u4"),
        ("source_port", ">u2"),
        ("destination_port", ">u2"),
        ("seq", ">u4"),
        ("ack", ">u4"),
        ("offset", "u1"),
        ("flags", "u1"),
        ("window", ">u2"),
        ("tcp_checksum", ">u2"),
        ("urgent", ">u2"),
    ]
)
"""Start of an enhanced packet block of a frame with Ethernet, IPv4 and TCP headers, before the options of TCP."""

_ETHERNET = bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0])
"""Locally administered addresses, and the type of IPv4."""

_CAPTURED = 54


def write_pcapng(result: RunResult, folder: Path) -> list[Path]:
    """Write a file ``LINK.pcapng`` for each link with recorded packets, with ``-rN`` if there are several replications.

    Parameters
    ----------
    folder : Path
        Created if missing. Each file is written completely or not at all.
    """
    written = []
    for replication, outcome in enumerate(result.outcomes):
        names = file_names([link_name(result.scenario.links, one) for one in outcome.packets])
        for i, name in enumerate(names):
            path = folder / f"{name}{of_replication(result, replication)}.pcapng"
            with atomic(path) as temporary, temporary.open("wb") as file:
                file.writelines(blocks(result, replication, i))
            written.append(path)
    return written


def blocks(result: RunResult, replication: int = 0, recorded: int = 0) -> Iterator[bytes]:
    """Yield the blocks of a capture.

    Parameters
    ----------
    replication, recorded : int
        Index of the replication, and of the link among those with recorded packets.
    """
    outcome = result.outcomes[replication]
    packets = outcome.packets[recorded]
    name = link_name(result.scenario.links, packets)
    yield _section()
    yield _interface(name)
    yield _interface(f"{name} (dropped)")
    acks = [_Acks(result, replication, trace, packets) for trace in outcome.traces if packets["time_s"].size]
    sources: list[_Data | _Acks] = [_Data(result, replication, packets, acks), *acks]
    times = np.concatenate([source.time_s for source in sources])
    begins = np.cumsum([0, *(source.time_s.size for source in sources)])
    order = np.argsort(times, kind="stable")
    for at in range(0, order.size, ROWS):
        chosen = order[at : at + ROWS]
        frames, options = np.zeros(chosen.size, _FRAME), np.full((chosen.size, _MOST_OPTIONS), _NOP, np.uint8)
        for source, begin, end in zip(sources, begins[:-1], begins[1:], strict=True):
            mine = np.flatnonzero((chosen >= begin) & (chosen < end))
            frames[mine], options[mine] = source.encode(chosen[mine] - begin)
        stamp = np.round(times[chosen] * 1e9).astype(np.uint64)
        frames["high"], frames["low"] = stamp >> np.uint64(32), stamp & np.uint64(0xFFFFFFFF)
        frames["checksum"] = _checksums(frames)
        yield _joined(frames, options)


def _joined(frames: NDArray[Any], options: NDArray[np.uint8]) -> bytes:
    """Return the blocks of frames, each with the options that its header announces."""
    size = np.where(frames["protocol"] == _TCP, (frames["offset"] >> 4) * 4 - 20, 0).astype(np.int64)
    frames["captured"] = _CAPTURED + size
    total = 12 + 20 + -(-(_CAPTURED + size) // 4) * 4
    frames["total"] = total
    begins = np.cumsum(total) - total
    found = np.zeros(int(total.sum()), np.uint8)
    head = _FRAME.itemsize
    for each in np.unique(size).tolist():
        mine = np.flatnonzero(size == each)
        length = int(total[mine[0]])
        block = np.zeros((mine.size, length), np.uint8)
        block[:, :head] = frames[mine].view(np.uint8).reshape(mine.size, head)
        block[:, head : head + each] = options[mine, :each]
        block[:, -4:] = np.frombuffer(struct.pack("<I", length), np.uint8)
        found[begins[mine, np.newaxis] + np.arange(length)] = block
    return found.tobytes()


def _section() -> bytes:
    options = _option(4, f"elephan {_native.version()}") + b"\0\0\0\0"
    body = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + options
    return _block(0x0A0D0D0A, body)


def _interface(name: str) -> bytes:
    # if_name, and if_tsresol: nanoseconds.
    options = _option(2, name) + struct.pack("<HHB3x", 9, 1, 9) + b"\0\0\0\0"
    return _block(1, struct.pack("<HHI", 1, 0, _CAPTURED + _MOST_OPTIONS) + options)


def _option(code: int, text: str) -> bytes:
    value = text.encode()[:200]
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    total = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + total + body + total


def _frames(count: int, protocol: NDArray[Any] | int) -> NDArray[Any]:
    frames = np.zeros(count, _FRAME)
    frames["type"] = 6
    frames["ethernet"] = _ETHERNET
    frames["version"], frames["ttl"], frames["protocol"] = 0x45, 64, protocol
    frames["fragment"] = 0x4000
    frames["offset"], frames["window"] = 0x50, 0xFFFF
    return frames


def _option_bytes(scenario: Scenario) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the bytes of options in a segment of each group, and whether they hold timestamps."""
    tcp = [one.get("tcp", {}) for one in scenario.resolved["flows"]]
    room = [min((int(one.get("header_bytes", HEADER_B)) - HEADER_B) // 4 * 4, _MOST_OPTIONS) for one in tcp]
    size = np.maximum(np.array(room, np.int64), 0)
    return size, np.array([bool(one.get("timestamps", False)) for one in tcp]) & (size >= _TIMESTAMPS_B)


def _clock(time_s: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return timestamps [ms]; they are above zero, as zero means that there is no echo."""
    return 1 + np.floor(time_s * 1e3 + 1e-6).astype(np.int64)


def _put_timestamps(options: NDArray[np.uint8], value: NDArray[np.int64], echo: NDArray[np.int64]) -> None:
    options[:, 2], options[:, 3] = _TIMESTAMPS, 10
    _put_words(options, 4, value)
    _put_words(options, 8, echo)


def _put_words(options: NDArray[np.uint8], at: int, words: NDArray[np.int64]) -> None:
    options[:, at : at + 4] = (words & 0xFFFFFFFF).astype(">u4").view(np.uint8).reshape(-1, 4)


class _Data:
    """Data packets that arrived at a link."""

    def __init__(self, result: RunResult, replication: int, packets: dict[str, Any], acks: list[_Acks]) -> None:
        facts = result.scenario.groups
        self.packets, self.acks = packets, {one.flow: one for one in acks}
        self.groups = result.outcomes[replication].flows["group"]
        self.size = np.array([int(one["packet_bytes"]) for one in facts])
        self.payload = np.array(payload_bytes(result.scenario))
        self.is_tcp = np.array([one["law"] is not None for one in facts])
        self.options, self.stamped = _option_bytes(result.scenario)
        self.time_s: NDArray[np.float64] = packets["time_s"]

    def encode(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """Return frames and options of some rows."""
        chosen = {name: self.packets[name][rows] for name in ("flow", "segment", "dropped", "marked", "ecn", "cwr")}
        flow = chosen["flow"].astype(np.int64)
        of = self.groups[flow]
        size, is_tcp = self.size[of], self.is_tcp[of]
        frames = _frames(flow.size, np.where(is_tcp, _TCP, _UDP))
        frames["interface"] = chosen["dropped"]
        frames["original"] = 14 + size
        frames["length"] = np.minimum(size, 0xFFFF)
        frames["id"] = rows & 0xFFFF
        frames["tos"] = np.where(chosen["marked"], _CE, chosen["ecn"])
        frames["source"], frames["destination"] = SENDERS + 1 + (flow >> 14), RECEIVERS + 1 + (flow >> 14)
        frames["source_port"], frames["destination_port"] = FIRST_PORT + (flow & 0x3FFF), PORT
        frames["seq"] = (1 + chosen["segment"].astype(np.int64) * self.payload[of]) & 0xFFFFFFFF
        frames["ack"], frames["flags"] = 1, _PSH_ACK | np.where(chosen["cwr"], _CWR, 0)
        frames["offset"] = (20 + self.options[of]) // 4 << 4
        options = np.full((flow.size, _MOST_OPTIONS), _NOP, np.uint8)
        stamped = np.flatnonzero(self.stamped[of])
        if stamped.size:
            time_s, echo = self.time_s[rows[stamped]], np.zeros(stamped.size, np.int64)
            for number, acks in self.acks.items():
                mine = flow[stamped] == number
                echo[mine] = acks.last_before(time_s[mine])
            written = options[stamped]
            _put_timestamps(written, _clock(time_s), echo)
            options[stamped] = written
        datagrams = ~is_tcp
        if datagrams.any():
            # Up to the ports the header of UDP is that of TCP; length and checksum replace the sequence number.
            frames["seq"] = np.where(datagrams, (size - 20) << 16, frames["seq"])
            for name in ("ack", "flags", "offset", "window"):
                frames[name] = np.where(datagrams, 0, frames[name])
        return frames, options


class _Acks:
    """ACKs of a traced flow within the time of the recorded packets."""

    def __init__(self, result: RunResult, replication: int, trace: dict[str, Any], packets: dict[str, Any]) -> None:
        self.flow = int(trace["flow"])
        group = int(result.outcomes[replication].flows["group"][self.flow])
        self.mss = payload_bytes(result.scenario)[group]
        self.trace, time_s = trace, trace["time_s"]
        inside = (time_s >= packets["time_s"][0]) & (time_s <= packets["time_s"][-1]) & ~trace["timeout"]
        self.rows = np.flatnonzero(inside)
        self.time_s: NDArray[np.float64] = time_s[self.rows]
        self.stamped = bool(_option_bytes(result.scenario)[1][group])
        self.echo = self._echoes(packets) if self.stamped else np.zeros(0, np.int64)

    def _echoes(self, packets: dict[str, Any]) -> NDArray[np.int64]:
        """Return the echo of each ACK: the time of the first segment after the last ACK (RFC 7323, Section 4.3)."""
        mine = (packets["flow"] == self.flow) & ~packets["dropped"]
        segments, first = np.unique(packets["segment"][mine], return_index=True)
        if not segments.size:
            return np.zeros(self.rows.size, np.int64)
        sent = _clock(packets["time_s"][mine][first])
        una = self.trace["una"].astype(np.int64)
        before = np.concatenate([[0], una[:-1]])[self.rows]
        at = np.minimum(np.searchsorted(segments, before), segments.size - 1)
        is_new = (una[self.rows] > before) & (segments[at] == before)
        last = np.maximum.accumulate(np.where(is_new, np.arange(before.size), -1))
        return np.where(last >= 0, sent[at[np.maximum(last, 0)]], 0)

    def last_before(self, time_s: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the timestamps of the last ACKs before some instants, 0 before the first."""
        at = np.searchsorted(self.time_s, time_s, side="right") - 1
        return np.where(at >= 0, _clock(self.time_s[np.maximum(at, 0)]), 0) if self.rows.size else at * 0

    def encode(self, chosen: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """Return frames and options of some ACKs."""
        rows = self.rows[chosen]
        frames, options = _frames(rows.size, _TCP), np.full((rows.size, _MOST_OPTIONS), _NOP, np.uint8)
        begin = 0
        if self.stamped:
            _put_timestamps(options, _clock(self.time_s[chosen]), self.echo[chosen])
            begin = _TIMESTAMPS_B
        of = self.trace["sack_row"].astype(np.int64)
        first, end = np.searchsorted(of, rows), np.searchsorted(of, rows, side="right")
        count = np.minimum(end - first, _BLOCKS)
        for blocks in range(1, _BLOCKS + 1):
            mine = np.flatnonzero(count == blocks)
            written = options[mine]
            written[:, begin + 2], written[:, begin + 3] = _SACK, 2 + 8 * blocks
            for k in range(blocks):
                for name, place in (("sack_start", 4 + 8 * k), ("sack_end", 8 + 8 * k)):
                    edge = 1 + self.trace[name][first[mine] + k].astype(np.int64) * self.mss
                    _put_words(written, begin + place, edge)
            options[mine] = written
        size = begin + np.where(count > 0, 4 + 8 * count, 0)
        frames["original"], frames["length"] = _CAPTURED + size, HEADER_B + size
        frames["offset"] = (20 + size) // 4 << 4
        frames["source"], frames["destination"] = (
            RECEIVERS + 1 + (self.flow >> 14),
            SENDERS + 1 + (self.flow >> 14),
        )
        frames["source_port"], frames["destination_port"] = PORT, FIRST_PORT + (self.flow & 0x3FFF)
        frames["seq"], frames["flags"] = 1, _ACK | np.where(self.trace["ece"][rows], _ECE, 0)
        frames["ack"] = (1 + self.trace["una"][rows].astype(np.int64) * self.mss) & 0xFFFFFFFF
        return frames, options


def _checksums(frames: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the checksums of the IPv4 headers (RFC 1071)."""
    total = np.zeros(frames.size, np.uint64)
    total += (frames["version"].astype(np.uint64) << np.uint64(8)) + frames["tos"]
    total += (frames["ttl"].astype(np.uint64) << np.uint64(8)) + frames["protocol"]
    for name in ("length", "id", "fragment"):
        total += frames[name].astype(np.uint64)
    for name in ("source", "destination"):
        words = frames[name].astype(np.uint64)
        total += (words >> np.uint64(16)) + (words & np.uint64(0xFFFF))
    for _ in range(2):
        total = (total & np.uint64(0xFFFF)) + (total >> np.uint64(16))
    return (~total & np.uint64(0xFFFF)).astype(np.uint32)
