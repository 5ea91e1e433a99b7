"""Results of probes, and the commands with which systems install missing packages."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

OK, LIMITED, MISSING, ELSEWHERE = "ok", "limited", "missing", "not applicable"
"""Statuses of a probe: as it should be; works with limits; missing; does not apply to this system."""


@dataclass(frozen=True)
class ProbeFinding:
    """Finding of a probe.

    Parameters
    ----------
    status : str
        `OK`, `LIMITED`, `MISSING` or `ELSEWHERE`.
    found : str
        What the probe found, in a few words.
    mend : str
        Command that fixes the problem; empty if there is none to fix, or no command fixes it.
    """

    status: str
    found: str
    mend: str = ""


@dataclass(frozen=True)
class Probe:
    """One check of the machine.

    Parameters
    ----------
    group : str
    name : str
    purpose : str
        What the checked thing is needed for.
    look : callable
        Function without arguments that returns a `ProbeFinding` and changes nothing.
    needed : bool
        Whether elephan does not work at all without it.
    """

    group: str
    name: str
    purpose: str
    look: Callable[[], ProbeFinding]
    needed: bool = False


@dataclass(frozen=True)
class ProbeResult:
    """A probe with its finding.

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
"""Package managers and their install commands; the first one on the system is used."""


def install(packages: dict[str, str]) -> str:
    """Return the command with which the system's package manager installs something.

    Parameters
    ----------
    packages : dict of str to str
        Name of the package by manager; the key ``""`` stands for all others. Empty if a manager lacks it.

    Returns
    -------
    str
        Empty if no manager has the package.
    """
    manager = next((name for name in MANAGERS if shutil.which(name)), None)
    package = packages.get(manager, packages.get("", "")) if manager else ""
    if not manager or not package:
        return ""
    sudo = "" if manager == "brew" or (hasattr(os, "geteuid") and os.geteuid() == 0) else "sudo "
    return f"{sudo}{MANAGERS[manager]} {package}"


def pip(*packages: str) -> str:
    """Return the command with which this Python installs packages."""
    return f"{sys.executable} -m pip install {' '.join(packages)}"


def gigabytes(size: float) -> str:
    """Format a size in decimal gigabytes, as disks and memories are sold.

    Parameters
    ----------
    size : float [bytes]

    Examples
    --------
    >>> gigabytes(25.3e9), gigabytes(0.25e9)
    ('25 GB', '0.25 GB')
    """
    return f"{size / 1e9:.2g} GB" if size < 10e9 else f"{size / 1e9:.0f} GB"
