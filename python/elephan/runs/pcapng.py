"""Recorded packets of links as pcapng, which Wireshark, tshark and tcptrace read.

A capture holds what arrives at a link in the spans of ``record.packets``, with headers only: Ethernet, IPv4, TCP (UDP
for datagrams), as tcpdump with a snapshot length keeps them. Packets that the queue drops are on a second interface,
"LINK (dropped)". ACKs are those of the flows of ``record.trace``, at the time at which they reach the sender, so that
Wireshark's round-trip times are those of the sender where nothing lies between it and the link.

Source: draft-ietf-opsawg-pcapng (section header, interface description and enhanced packet blocks, nanoseconds).
Differs from a capture of real hosts: sequence numbers count from 1 without a handshake; there are no SACK blocks, no
timestamps and no ECN marks, which the engine does not record.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan import _native
from elephan.results.files import atomic
from elephan.runs.files import HEADER_B, file_names, link_name, of_replication, payload_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from elephan.runs.result import RunResult

ROWS = 1 << 16
"""Packets that are encoded at once, which bounds the memory."""

SENDERS, RECEIVERS = 0xC6120000, 0xC6130000
"""Networks 198.18.0.0/16 and 198.19.0.0/16, which RFC 2544 keeps for benchmarks."""

FIRST_PORT, PORT = 40_000, 5201

_TCP, _UDP, _ACK, _PSH_ACK = 6, 17, 0x10, 0x18

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
        ("padding", "V2"),
        ("again", "<u4"),
    ]
)
"""Enhanced packet block of a frame with Ethernet, IPv4 and TCP headers: 54 bytes and two of padding."""

_ETHERNET = bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0])
"""Locally administered addresses, and the type of IPv4."""

_CAPTURED = 54


def write_pcapng(result: RunResult, folder: Path) -> list[Path]:
    """Write a file ``LINK.pcapng`` for each link with recorded packets, with ``-rN`` if there are several replications.

    Parameters
    ----------
    folder : Path
        Made if missing. Each file appears whole or not at all.
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
        Which run, and which of the links whose packets it recorded.
    """
    outcome = result.outcomes[replication]
    packets = outcome.packets[recorded]
    name = link_name(result.scenario.links, packets)
    yield _section()
    yield _interface(name)
    yield _interface(f"{name} (dropped)")
    frames = [_data(result, replication, packets)]
    if packets["time_s"].size:
        frames += [_acks(result, replication, trace, packets) for trace in outcome.traces]
    times = np.concatenate([time_s for time_s, _ in frames])
    # `numpy.concatenate` would give the fields the byte order of the machine.
    rows = np.concatenate([each.view(np.dtype((np.void, _FRAME.itemsize))) for _, each in frames]).view(_FRAME)
    order = np.argsort(times, kind="stable")
    for at in range(0, order.size, ROWS):
        chosen = order[at : at + ROWS]
        encoded = rows[chosen]
        stamp = np.round(times[chosen] * 1e9).astype(np.uint64)
        encoded["high"], encoded["low"] = stamp >> np.uint64(32), stamp & np.uint64(0xFFFFFFFF)
        encoded["checksum"] = _checksums(encoded)
        yield encoded.tobytes()


def _section() -> bytes:
    options = _option(4, f"elephan {_native.version()}") + b"\0\0\0\0"
    body = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + options
    return _block(0x0A0D0D0A, body)


def _interface(name: str) -> bytes:
    # if_name, and if_tsresol: nanoseconds.
    options = _option(2, name) + struct.pack("<HHB3x", 9, 1, 9) + b"\0\0\0\0"
    return _block(1, struct.pack("<HHI", 1, 0, _CAPTURED) + options)


def _option(code: int, text: str) -> bytes:
    value = text.encode()[:200]
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    total = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + total + body + total


def _frames(count: int, protocol: NDArray[Any] | int) -> NDArray[Any]:
    frames = np.zeros(count, _FRAME)
    frames["type"], frames["total"], frames["again"] = 6, _FRAME.itemsize, _FRAME.itemsize
    frames["captured"] = _CAPTURED
    frames["ethernet"] = _ETHERNET
    frames["version"], frames["ttl"], frames["protocol"] = 0x45, 64, protocol
    frames["fragment"] = 0x4000
    frames["offset"], frames["window"] = 0x50, 0xFFFF
    return frames


def _data(result: RunResult, replication: int, packets: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the times and frames of the data packets that arrived at a link."""
    groups = result.outcomes[replication].flows["group"]
    facts = result.scenario.groups
    size = np.array([int(one["packet_bytes"]) for one in facts])
    payload = np.array(payload_bytes(result.scenario))
    is_tcp = np.array([one["law"] is not None for one in facts])
    flow = packets["flow"].astype(np.int64)
    of = groups[flow]
    frames = _frames(flow.size, np.where(is_tcp[of], _TCP, _UDP))
    frames["interface"] = packets["dropped"]
    frames["original"] = 14 + size[of]
    frames["length"] = np.minimum(size[of], 0xFFFF)
    frames["id"] = np.arange(flow.size) & 0xFFFF
    frames["source"], frames["destination"] = SENDERS + 1 + (flow >> 14), RECEIVERS + 1 + (flow >> 14)
    frames["source_port"], frames["destination_port"] = FIRST_PORT + (flow & 0x3FFF), PORT
    frames["seq"] = (1 + packets["segment"].astype(np.int64) * payload[of]) & 0xFFFFFFFF
    frames["ack"], frames["flags"] = 1, _PSH_ACK
    datagrams = ~is_tcp[of]
    if datagrams.any():
        # The header of UDP is that of TCP up to the ports: length and checksum lie where the number is.
        frames["seq"] = np.where(datagrams, (size[of] - 20) << 16, frames["seq"])
        for name in ("ack", "flags", "offset", "window"):
            frames[name] = np.where(datagrams, 0, frames[name])
    return packets["time_s"], frames


def _acks(
    result: RunResult, replication: int, trace: dict[str, Any], packets: dict[str, Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the times and frames of the ACKs of a traced flow within the time of the recorded packets."""
    flow = int(trace["flow"])
    group = int(result.outcomes[replication].flows["group"][flow])
    mss = payload_bytes(result.scenario)[group]
    time_s = trace["time_s"]
    inside = (time_s >= packets["time_s"][0]) & (time_s <= packets["time_s"][-1]) & ~trace["timeout"]
    frames = _frames(int(inside.sum()), _TCP)
    frames["original"], frames["length"] = _CAPTURED, HEADER_B
    frames["source"], frames["destination"] = RECEIVERS + 1 + (flow >> 14), SENDERS + 1 + (flow >> 14)
    frames["source_port"], frames["destination_port"] = PORT, FIRST_PORT + (flow & 0x3FFF)
    frames["seq"], frames["flags"] = 1, _ACK
    frames["ack"] = (1 + trace["una"][inside].astype(np.int64) * mss) & 0xFFFFFFFF
    return time_s[inside], frames


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
