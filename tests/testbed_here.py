"""The parts of a testbed that this machine supports."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from elephan import _native
from elephan.errors import InputError
from elephan.testbed.hosts import lacking
from elephan.testbed.plan import AVAILABLE, PROGRAMS


def hindered() -> str:
    """Return what prevents a testbed on this machine; empty if nothing does."""
    if not sys.platform.startswith("linux"):
        return "no Linux"
    if missing := lacking(PROGRAMS):
        return f"not installed: {' '.join(missing)}"
    if os.geteuid() != 0:
        return "no root"
    return "" if Path("/dev/net/tun").exists() else "no /dev/net/tun"


def lawless() -> str:
    """Return what prevents loading laws; empty if nothing does."""
    try:
        _native.kernel_check()
    except InputError as error:
        return str(error)
    return ""


def available() -> list[str]:
    """Return the laws that sockets can choose now, by the kernel's names."""
    return AVAILABLE.read_text().split()


def real(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that needs a testbed: skipped without one, and never two at once."""
    skipped = pytest.mark.skipif(bool(hindered()), reason=f"a testbed needs root and Linux: {hindered()}")(test)
    marked: Callable[..., None] = pytest.mark.usefixtures("turn")(skipped)
    return marked
