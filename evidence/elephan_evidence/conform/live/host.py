"""A host of the running kernel behind a TUN device, in a network namespace of its own.

*Source*: Linux, ``Documentation/networking/tuntap.rst``; tcp(7) and ``include/uapi/linux/tcp.h`` for ``tcp_info``.
"""

from __future__ import annotations

import ctypes
import os
import platform
import select
import socket
import struct
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from elephan.errors import InputError
from elephan.testbed.hosts import NetworkHost
from elephan_evidence.conform.live.wire import Segment, build, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TUN = Path("/dev/net/tun")
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
MONOTONIC_COARSE = 6
FIRST = -20
"""Priority of the process: before all others."""


NAME = "tun0"
LOCAL, REMOTE = "192.0.2.1", "192.0.2.2"
"""Addresses of the kernel's host and of the far end (RFC 5737)."""

INFO_BYTES = struct.Struct("=8B24I")
INFO_FIELDS = (
    "ca_state", "retransmits", "backoff", "rto", "snd_mss", "unacked", "sacked", "lost", "retrans", "rtt", "rttvar",
    "snd_ssthresh", "snd_cwnd", "reordering", "total_retrans",
)  # fmt: skip
"""The fields that are read, without their prefix ``tcpi_``."""

INFO_PLACES = (1, 2, 4, 8, 10, 12, 13, 14, 15, 23, 24, 25, 26, 28, 31)
"""Place of each among the numbers of `INFO_BYTES`."""

LATER_FIELDS = {"min_rtt": 148, "reord_seen": 220}
"""Offsets of fields of newer kernels [bytes]."""

QUIET = {
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_tso_win_divisor": "100",
}
"""Settings of the namespace: no other packets, no memory of earlier connections, no segment that waits for others."""


class LiveHost:
    """The kernel's host; a context manager.

    Parameters
    ----------
    settings : mapping of str
        Further values of ``/proc/sys``, by path: ``{"net/ipv4/tcp_congestion_control": "reno"}``.
    """

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._settings = QUIET | dict(settings or {})
        self._stack = ExitStack()

    def __enter__(self) -> LiveHost:
        why = missing()
        if why is not None:
            raise InputError(why)
        # What it reads late seems to have left late.
        usual = os.getpriority(os.PRIO_PROCESS, 0)
        self._stack.callback(os.setpriority, os.PRIO_PROCESS, 0, usual)
        try:
            os.setpriority(os.PRIO_PROCESS, 0, FIRST)
            self._host = self._stack.enter_context(NetworkHost("the kernel's host"))
            with self.entered():
                self.tun = self._device()
                self._stack.callback(os.close, self.tun)
                for path, value in self._settings.items():
                    self.set(path, value)
            self._host.do(["ip", "link", "set", NAME, "mtu", "1500", "gso_max_segs", "1", "txqueuelen", "10000", "up"])
            self.queue("noqueue")
            self._host.do(["ip", "address", "add", f"{LOCAL}/24", "dev", NAME])
        except OSError as error:
            self._stack.close()
            message = f"no TUN device in a network namespace: {error.strerror}"
            raise InputError(message) from None
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Put this thread into the namespace: what it opens there stays there."""
        with Path("/proc/thread-self/ns/net").open("rb") as here, self._host.namespace.open("rb") as there:
            _set_namespace(there.fileno())
            try:
                yield
            finally:
                _set_namespace(here.fileno())

    @staticmethod
    def set(path: str, value: str) -> None:
        """Write a setting of the namespace that this thread is in.

        Raises
        ------
        InputError
            If the kernel refuses it.
        """
        try:
            (Path("/proc/sys") / path).write_text(value, encoding="ascii")
        except OSError as error:
            message = f"the kernel refuses {path.replace('/', '.')}={value}: {error.strerror}"
            raise InputError(message) from None

    def queue(self, name: str) -> None:
        """Replace the queue of the device."""
        self._host.do(["tc", "qdisc", "replace", "dev", NAME, "root", name])

    @staticmethod
    def _device() -> int:
        import fcntl  # noqa: PLC0415 (not on every system, and `missing` is)

        device = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", NAME.encode(), IFF_TUN | IFF_NO_PI))
        return device

    def socket(self) -> socket.socket:
        """Open a TCP socket on the host that does not block."""
        with self.entered():
            one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setblocking(False)
        return one

    def read(self) -> Segment | None:
        """Return the next segment that the kernel has sent; None if there is none now."""
        while True:
            try:
                packet = os.read(self.tun, 65535)
            except BlockingIOError:
                return None
            segment = parse(packet)
            if segment is not None:
                return segment

    def write(self, segment: Segment) -> None:
        """Deliver a segment to the kernel, which has processed it when this returns."""
        os.write(self.tun, build(segment, (REMOTE, LOCAL)))

    def wait(self, seconds: float) -> None:
        """Wait until the kernel sends something, or for a time."""
        select.select([self.tun], [], [], max(0.0, seconds))


def tcp_info(one: socket.socket) -> dict[str, int]:
    """Read the state of a connection.

    Returns
    -------
    dict of str to int
        Fields of ``tcp_info`` by name, without the prefix ``tcpi_``; times in microseconds.
    """
    data = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    numbers = INFO_BYTES.unpack_from(data)
    found = {name: numbers[place] for name, place in zip(INFO_FIELDS, INFO_PLACES, strict=True)}
    for name, offset in LATER_FIELDS.items():
        if len(data) >= offset + 4:
            found[name] = struct.unpack_from("=I", data, offset)[0]
    return found


def kernel_version() -> str:
    """Return the version of the running kernel, such as ``6.18.44``."""
    return platform.release().partition("-")[0]


def ticks_per_second() -> int:
    """Return the kernel's HZ: its coarse clocks advance with each tick."""
    return round(1 / time.clock_getres(MONOTONIC_COARSE))


def missing() -> str | None:
    """Return why this machine cannot do it, or None."""
    if platform.system() != "Linux":
        return "a running Linux is needed, and this is another system"
    if os.geteuid() != 0:
        return "root is needed, for a TUN device and a network namespace"
    if not TUN.exists():
        return f"{TUN} does not exist: load the module tun (modprobe tun)"
    return None


def _set_namespace(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
