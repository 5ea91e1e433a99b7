"""Probes of Linux, for TCP laws in its kernel and for testbeds; they only read, and open or change nothing.

Source: kernel.org documentation of BPF struct_ops and TUN; capabilities(7), namespaces(7).
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path

from elephan import _native
from elephan.doctor.finding import ELSEWHERE, LIMITED, MISSING, OK, ProbeFinding, install
from elephan.doctor.installed import is_checkout
from elephan.doctor.machine import read
from elephan.errors import InputError

LINKED = (6, 4)
"""First Linux version in which a BPF congestion control can be unloaded together with its loader."""

TYPES = (b"bpf_struct_ops_tcp_congestion_ops", b"bpf_struct_ops_link")
"""Type names in the kernel's BTF that show support for such programs."""

CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21, "CAP_SYS_NICE": 23, "CAP_BPF": 39}
"""Capabilities that the kernel part needs, and their numbers."""

BTF = Path("/sys/kernel/btf/vmlinux")
SYSCTLS = Path("/proc/sys")
TUN = Path("/dev/net/tun")

NOT_LINUX = ProbeFinding(ELSEWHERE, f"{platform.system()} is not Linux")


def is_linux() -> bool:
    """Return whether this is Linux."""
    return sys.platform.startswith("linux")


def on_linux(look: Callable[[], ProbeFinding]) -> Callable[[], ProbeFinding]:
    """Let a probe look on Linux only."""
    return wraps(look)(lambda: look() if is_linux() else NOT_LINUX)


@on_linux
def kernel() -> ProbeFinding:
    """Check whether the kernel is recent enough."""
    release = platform.release()
    match = re.match(r"(\d+)\.(\d+)", release)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if version < LINKED:
        return ProbeFinding(
            LIMITED, f"{release}; laws need Linux 6.4 or newer, or a distribution that has added what they need"
        )
    return ProbeFinding(OK, release)


@on_linux
def struct_ops() -> ProbeFinding:
    """Check whether the kernel's types support a congestion control as a BPF program."""
    if not BTF.exists():
        return ProbeFinding(MISSING, f"no {BTF}: the kernel was built without its types (CONFIG_DEBUG_INFO_BTF)")
    try:
        types = BTF.read_bytes()
    except OSError as error:
        return ProbeFinding(LIMITED, f"{BTF}: {error.strerror}")
    if all(name in types for name in TYPES):
        return ProbeFinding(OK, "TCP laws can be BPF programs, which leave with their loader")
    return ProbeFinding(MISSING, "TCP laws as BPF programs cannot leave with their loader, as they do since Linux 6.4")


@on_linux
def laws() -> ProbeFinding:
    """Check whether this elephan was built with kernel laws, and what prevents loading them now."""
    if not _native.kernel_built():
        packages = install({"": "libelf-devel zlib-devel", "apt-get": "pkg-config libelf-dev zlib1g-dev"})
        # A wheel never has them; a checkout lacks them if the kernel headers were missing.
        if not is_checkout():
            return ProbeFinding(MISSING, "a wheel has no loader for them; build elephan from its source")
        return ProbeFinding(
            MISSING, "built without a loader for them, as libelf or zlib was missing", f"{packages} && make build"
        )
    try:
        _native.kernel_check()
    except InputError as error:
        return ProbeFinding(LIMITED, str(error))
    there = [called for _, called, offered, _ in _native.kernel_laws() if offered]
    return ProbeFinding(OK, f"can be loaded; loaded now: {' '.join(there) or 'none'}")


@on_linux
def tools() -> ProbeFinding:
    """Check for the small programs of util-linux and procps that a testbed calls."""
    missing = [name for name in ("setpriv", "nsenter", "unshare", "chrt", "sysctl") if shutil.which(name) is None]
    if missing:
        return ProbeFinding(MISSING, f"not installed: {', '.join(missing)}", install({"": "util-linux procps"}))
    return ProbeFinding(OK, "installed, as are unshare, chrt and sysctl")


@on_linux
def controls() -> ProbeFinding:
    """List the kernel's congestion controls, and those that any user may choose."""
    ipv4 = SYSCTLS / "net" / "ipv4"
    available, allowed, usual = (
        read(ipv4 / f"tcp_{name}congestion_control") for name in ("available_", "allowed_", "")
    )
    if not available:
        return ProbeFinding(LIMITED, f"{ipv4} does not say")
    return ProbeFinding(OK, f"{available}; for any user {allowed}; default {usual}")


@on_linux
def tun() -> ProbeFinding:
    """Check whether a bottleneck in user space can have TUN devices."""
    if not TUN.exists():
        return ProbeFinding(MISSING, f"no {TUN}", "modprobe tun")
    if not os.access(TUN, os.R_OK | os.W_OK):
        return ProbeFinding(LIMITED, f"{TUN} cannot be opened by this user", f"sudo chmod 0666 {TUN}")
    return ProbeFinding(OK, str(TUN))


@on_linux
def namespaces() -> ProbeFinding:
    """Check whether senders and receivers can have network stacks of their own."""
    if not Path("/proc/self/ns/net").exists():
        return ProbeFinding(MISSING, "the kernel has no network namespaces")
    if "CAP_SYS_ADMIN" in held(read(Path("/proc/self/status"))):
        return ProbeFinding(OK, "network namespaces")
    users = read(SYSCTLS / "user" / "max_user_namespaces")
    if users == "0" or read(SYSCTLS / "kernel" / "unprivileged_userns_clone") == "0":
        return ProbeFinding(LIMITED, "only for root", "sudo sysctl kernel.unprivileged_userns_clone=1")
    return ProbeFinding(OK, "network namespaces, in a user namespace")


@on_linux
def privileges() -> ProbeFinding:
    """Report the privileges of this process."""
    has = held(read(Path("/proc/self/status")))
    lacking = [name for name in CAPABILITIES if name not in has]
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    if not lacking:
        return ProbeFinding(OK, f"{who}, with {', '.join(CAPABILITIES)}")
    return ProbeFinding(LIMITED, f"{who}, without {', '.join(lacking)}", "" if who == "root" else "sudo -E elephan …")


def held(status: str) -> list[str]:
    r"""Read the capabilities that are in effect.

    Parameters
    ----------
    status : str
        Text of ``/proc/self/status``.

    Examples
    --------
    >>> held("CapEff:\t0000000000201000")
    ['CAP_NET_ADMIN', 'CAP_SYS_ADMIN']
    """
    match = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    bits = int(match[1], 16) if match else 0
    return [name for name, bit in CAPABILITIES.items() if bits >> bit & 1]
