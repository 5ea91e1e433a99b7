"""What a probe finds, and how a system installs what is missing."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

OK, LIMITED, MISSING, ELSEWHERE = "ok", "limited", "missing", "not applicable"
"""What a probe can say: as it should be; works with less; not there; this system has no such thing."""


@dataclass(frozen=True)
class ProbeFinding:
    """What a probe says.

    Parameters
    ----------
    status : str
        `OK`, `LIMITED`, `MISSING` or `ELSEWHERE`.
    found : str
        What is there, in a few words.
    mend : str
        The command that mends it; empty if there is nothing to mend, or no command does.
    """

    status: str
    found: str
    mend: str = ""


@dataclass(frozen=True)
class Probe:
    """One thing to look at.

    Parameters
    ----------
    group : str
    name : str
    purpose : str
        What it is for.
    look : callable
        Takes nothing, returns a `ProbeFinding`, changes nothing.
    needed : bool
        Whether nothing works without it.
    """

    group: str
    name: str
    purpose: str
    look: Callable[[], ProbeFinding]
    needed: bool = False


@dataclass(frozen=True)
class ProbeResult:
    """A probe with what it found.

    Parameters
    ----------
    group, name, purpose : str
    needed : bool
    status, found, mend : str
        As in `ProbeFinding`.
    """

    group: str
    name: str
    purpose: str
    needed: bool
    status: str
    found: str
    mend: str

    def to_json(self) -> dict[str, str | bool]:
        """Return the row as the document of ``elephan doctor --json`` has it.

        Returns
        -------
        dict
        """
        return asdict(self)


MANAGERS: dict[str, str] = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "zypper": "zypper install",
    "pacman": "pacman -S",
    "apk": "apk add",
    "brew": "brew install",
}
"""Package managers and how they install, the first that is there counts."""


def install(packages: dict[str, str]) -> str:
    """Say how the system's package manager installs something.

    Parameters
    ----------
    packages : dict of str to str
        Name of the package by manager; under ``""`` that of all others. Empty where a manager has none.

    Returns
    -------
    str
        Empty where no manager has it.
    """
    manager = next((name for name in MANAGERS if shutil.which(name)), None)
    package = packages.get(manager, packages.get("", "")) if manager else ""
    if not manager or not package:
        return ""
    sudo = "" if manager == "brew" or (hasattr(os, "geteuid") and os.geteuid() == 0) else "sudo "
    return f"{sudo}{MANAGERS[manager]} {package}"


def pip(*packages: str) -> str:
    """Say how this Python installs packages."""
    return f"{sys.executable} -m pip install {' '.join(packages)}"


def gigabytes(size: float) -> str:
    """Write a size as disks and memories are sold.

    Parameters
    ----------
    size : float [bytes]

    Examples
    --------
    >>> gigabytes(25.3e9), gigabytes(0.25e9)
    ('25 GB', '0.25 GB')
    """
    return f"{size / 1e9:.2g} GB" if size < 10e9 else f"{size / 1e9:.0f} GB"
