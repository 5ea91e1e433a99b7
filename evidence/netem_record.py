"""Records numbered datagrams and flows of TCP through Linux's netem: delays, order, and the sender's counters.

    sudo python evidence/netem_record.py FOLDER      # about six minutes
    sudo python evidence/netem_record.py FOLDER --datagrams 2000 --seconds 5 --repeat 1

It needs root, iproute2 and a kernel with `sch_netem`, and nothing besides Python's standard library, so that it also
runs inside a virtual machine whose kernel has it. `evidence/netem_order.py` compares the recording with the simulator.
Without KVM, QEMU keeps time with `-icount shift=1,sleep=off`, whatever else its host does.

Hosts are network namespaces in a row, which end with this process. Datagrams cross one in the middle, whose device has
the line of tc. Flows of TCP cross two: a queue with a rate, which is not the sender's own, since Linux holds back what
its own queue has not sent (TCP small queues), then the line. Delays are from just before `send` to the kernel's time
stamp of the arrival (`SO_TIMESTAMPNS`).
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import platform
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

GAP_NS = 975_610
"""Time from a datagram to the next [ns]: 20 ms are 20.5 of them, so that a late one never ties with an early one."""

PAYLOAD = 1472
"""Bytes of a datagram: 1514 with the headers that a device counts."""

CONTROL = "delay 20ms"
LINES = {
    "delay": CONTROL,
    "gap": "delay 20ms reorder 25% gap 5",
    "reorder": "delay 20ms reorder 25%",
    "gap 2": "delay 20ms reorder 25% gap 2",
    "opposite": "delay 20ms reorder 75%",
    "uniform": "delay 20ms 4ms",
    "normal": "delay 20ms 4ms distribution normal",
    "pareto": "delay 20ms 4ms distribution pareto",
    "paretonormal": "delay 20ms 4ms distribution paretonormal",
    "rate": "delay 20ms 4ms rate 20mbit",
    "limit": "delay 20ms limit 10",
}
"""Options of netem by case, for datagrams."""

FLOWS = {
    "delay": CONTROL,
    "gap": LINES["gap"],
    "reorder": LINES["reorder"],
    "uniform": LINES["uniform"],
    "normal": LINES["normal"],
    "pareto": LINES["pareto"],
}
"""The same for flows of TCP."""

BOTTLENECK = "rate 10mbit limit 50"
"""The queue in front of the line, for TCP."""

BACK = "delay 30ms"
"""The way back, for TCP: without it the smallest round-trip time, by which RACK waits, would be that of the machine."""

NETWORKS = ("192.0.2", "198.51.100", "203.0.113")
"""For documents: RFC 5737."""

RCVBUFFORCE, TIMESTAMPNS = 33, 35
"""Options of sockets that Python does not name."""

CONGESTION = b"cubic"
COUNTERS = (
    "TCPDSACKRecv",
    "TCPDSACKUndo",
    "TCPFullUndo",
    "TCPPartialUndo",
    "TCPLossUndo",
    "TCPSackRecovery",
    "TCPSACKReorder",
    "TCPTSReorder",
    "TCPFastRetrans",
    "TCPTimeouts",
    "TCPSpuriousRTOs",
    "TCPLossProbes",
)
"""Counters of /proc/net/netstat that are recorded."""

TCP_INFO = {"reordering": 88, "retransmitted": 100, "segments_out": 136, "dsack_dups": 216, "reord_seen": 220}
"""Offsets in struct tcp_info, which only grows at its end."""


def hindered() -> str:
    """Return in one line what keeps this machine from recording; empty if nothing does."""
    if not sys.platform.startswith("linux"):
        return "netem is a part of Linux"
    if missing := [name for name in ("ip", "tc", "sysctl", "unshare", "nsenter") if shutil.which(name) is None]:
        return f"{', '.join(missing)}: not installed (iproute2, procps, util-linux)"
    if os.geteuid() != 0:
        return "network namespaces need root"
    try:
        with Host() as host:
            host.do("ip link set lo up")
            host.do("tc qdisc add dev lo root netem delay 1ms")
    except OSError as error:
        return f"the kernel has no sch_netem ({str(error).strip().splitlines()[-1]})"
    return ""


class Host:
    """A network namespace, held by a process that ends with this one."""

    def __enter__(self) -> Host:
        self.holder = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.namespace = f"/proc/{self.holder.pid}/ns/net"
        until = time.monotonic() + 5
        while Path(self.namespace).readlink() == Path("/proc/self/ns/net").readlink():
            if self.holder.poll() is not None or time.monotonic() > until:
                raise OSError("no network namespace")
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.holder.stdin is not None
        self.holder.stdin.close()
        self.holder.wait()

    def do(self, command: str) -> str:
        """Run a command on this host; raise `OSError` with its message if it fails."""
        words = ["nsenter", f"--net={self.namespace}", "--", *command.split()]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OSError(f"{command}: {done.stderr.strip()}")
        return done.stdout

    def socket(self, kind: socket.SocketKind) -> socket.socket:
        """Open a socket on this host: a thread of its own enters the namespace, which a socket keeps."""
        made: list[socket.socket] = []

        def enter() -> None:
            with Path(self.namespace).open("rb") as file:
                if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0) != 0:
                    return
            made.append(socket.socket(socket.AF_INET, kind))

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        if not made:
            raise OSError("setns failed")
        return made[0]

    def counters(self) -> dict[str, int]:
        """Return the counters of TCP."""
        rows = Path(f"/proc/{self.holder.pid}/net/netstat").read_text().splitlines()
        found: dict[str, int] = {}
        for names, values in zip(rows[::2], rows[1::2], strict=True):
            found |= dict(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
        return {name: found.get(name, 0) for name in COUNTERS}


class Hosts:
    """Hosts in a row, with options of netem for the device to the next one, and for that of the last one back."""

    def __init__(self, lines: tuple[str, ...], back: str = "") -> None:
        self.lines, self.back = lines, back

    def __enter__(self) -> Hosts:
        self.stack = ExitStack()
        try:
            self._connect()
        except BaseException:
            self.stack.close()
            raise
        return self

    def _connect(self) -> None:
        hosts = [self.stack.enter_context(Host()) for _ in range(len(self.lines) + 1)]
        self.sender, self.receiver = hosts[0], hosts[-1]
        for at, (left, right) in enumerate(itertools.pairwise(hosts)):
            left.do(f"ip link add right type veth peer name left netns {right.holder.pid}")
            for host, device, number in ((left, "right", 1), (right, "left", 2)):
                # A segment at a time: netem would delay 64 kB of them as one packet.
                host.do(f"ip link set {device} mtu 1500 gso_max_segs 1 up")
                host.do(f"ip address add {NETWORKS[at]}.{number}/24 dev {device}")
            left.do(f"ip route add default via {NETWORKS[at]}.2")
            for before in NETWORKS[:at]:
                right.do(f"ip route add {before}.0/24 via {NETWORKS[at]}.1")
            right.do("sysctl -qw net.ipv4.ip_forward=1")
        self.addresses = (f"{NETWORKS[0]}.1", f"{NETWORKS[len(self.lines) - 1]}.2")
        self._resolve()
        for host, line in zip(hosts, self.lines, strict=False):
            if line:
                host.do(f"tc qdisc add dev right root netem {line}")
        if self.back:
            self.receiver.do(f"tc qdisc add dev left root netem {self.back}")

    def _resolve(self) -> None:
        """Exchange a datagram each way, so that none waits later for addresses of the link layer."""
        with self.sender.socket(socket.SOCK_DGRAM) as one, self.receiver.socket(socket.SOCK_DGRAM) as other:
            for each, address in zip((one, other), self.addresses, strict=True):
                each.bind((address, 9))
            for here, there, to in ((one, other, self.addresses[1]), (other, one, self.addresses[0])):
                here.sendto(b"", (to, 9))
                select.select([there], [], [], 2)

    def __exit__(self, *_: object) -> None:
        self.stack.close()


def datagrams(line: str, count: int, gap_ns: int = GAP_NS) -> dict[str, list[int]]:
    """Send numbered datagrams through a line of tc at equal gaps; return times sent, and arrivals in their order."""
    numbers: list[int] = []
    arrived: list[int] = []
    sent: list[int] = []
    with (
        Hosts(("", line)) as path,
        path.sender.socket(socket.SOCK_DGRAM) as out,
        path.receiver.socket(socket.SOCK_DGRAM) as into,
    ):
        # All are read at the end, with the kernel's times, so that nothing is done beside sending.
        into.setsockopt(socket.SOL_SOCKET, RCVBUFFORCE, 1 << 28)
        into.setsockopt(socket.SOL_SOCKET, TIMESTAMPNS, 1)
        into.bind((path.addresses[1], 5000))
        out.connect((path.addresses[1], 5000))
        filler = bytes(PAYLOAD - 4)
        next_ns = time.monotonic_ns() + 10_000_000
        for number in range(count):
            if (left := next_ns - time.monotonic_ns()) > 0:
                time.sleep(left * 1e-9)
            message = struct.pack("I", number) + filler
            sent.append(time.time_ns())
            out.send(message)
            next_ns += gap_ns
        while select.select([into], [], [], 0.5)[0]:
            data, extra, _, _ = into.recvmsg(64, 64)
            seconds, part = struct.unpack("qq", extra[0][2][:16])
            numbers.append(struct.unpack("I", data[:4])[0])
            arrived.append(seconds * 10**9 + part)
    return {"sent_ns": sent, "number": numbers, "arrived_ns": arrived}


def flow(line: str, seconds: float) -> dict[str, float]:
    """Send by CUBIC for a time through the bottleneck and a line of tc; return goodput and the sender's counters."""
    with Hosts(("", BOTTLENECK, line), BACK) as path:
        sender, receiver = path.sender, path.receiver
        with receiver.socket(socket.SOCK_STREAM) as listening:
            listening.bind((path.addresses[1], 5001))
            listening.listen(1)
            with sender.socket(socket.SOCK_STREAM) as out:
                out.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CONGESTION)
                out.connect((path.addresses[1], 5001))
                into, _ = listening.accept()
                with into:
                    return _transfer(out, into, seconds, sender.counters)


def _transfer(
    out: socket.socket, into: socket.socket, seconds: float, counters: Callable[[], dict[str, int]]
) -> dict[str, float]:
    """Send for a time; goodput and counters leave out the first fifth, but for those that end in `_start`."""

    def state() -> dict[str, int]:
        info = out.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return {name: struct.unpack_from("I", info, at)[0] for name, at in TCP_INFO.items()} | counters()

    out.setblocking(False)
    block, had, began = bytes(1 << 16), 0, time.monotonic()
    before: dict[str, int] = {}
    warm = since = began + seconds / 5
    while (now := time.monotonic()) < began + seconds:
        if now >= warm and not before:
            since, had, before = now, 0, state()
        readable, writable, _ = select.select([into], [out], [], 0.1)
        if writable:
            with suppress(BlockingIOError):
                out.send(block)
        if readable:
            had += len(into.recv(1 << 20))
    after, took = state(), time.monotonic() - since
    found = {name: after[name] - before[name] for name in after if name != "reordering"}
    start = {f"{name}_start": before[name] for name in ("retransmitted", "dsack_dups")}
    return {"goodput_bps": 8 * had / took, "reordering": after["reordering"], **found, **start}


def main() -> int:
    """Record every case; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of the recording")
    parser.add_argument("--datagrams", type=int, default=20_000, help="of each line; 0 for none")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of a flow of TCP")
    parser.add_argument("--repeat", type=int, default=3, help="flows of each line; 0 for none")
    parser.add_argument(
        "--only", nargs="+", default=[*LINES], choices=LINES, metavar="CASE", help="some of: " + ", ".join(LINES)
    )
    parser.add_argument("--how", default="", help="a sentence on the machine, to be kept with the recording")
    asked = parser.parse_args()
    if why := hindered():
        sys.stderr.write(f"netem_record: {why}\n")
        return 2
    asked.folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(["tc", "-V"], capture_output=True, text=True, check=True).stdout.strip()
    about = {"kernel": platform.release(), "tc": version, "how": asked.how, "gap_ns": GAP_NS, "seconds": asked.seconds}
    (asked.folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
    for name in asked.only if asked.datagrams else ():
        line = LINES[name]
        found = datagrams(line, asked.datagrams)
        _write(asked.folder / f"datagrams {name}.json", {"line": line, **found})
    for name in [each for each in asked.only if each in FLOWS] if asked.repeat else ():
        line = FLOWS[name]
        runs = [flow(line, asked.seconds) for _ in range(asked.repeat)]
        _write(asked.folder / f"flow {name}.json", {"line": line, "runs": runs})
    return 0


def _write(file: Path, found: dict[str, object]) -> None:
    file.write_text(json.dumps(found), encoding="utf-8")
    sys.stderr.write(f"{file.name}: {found['line']}\n")


if __name__ == "__main__":
    sys.exit(main())
