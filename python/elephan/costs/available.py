"""Memory available to this process: the minimum over its cgroups, its address-space limit and the machine's memory.

Source: Linux, Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst, filesystems/proc.rst; setrlimit(2).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")

V1 = ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
V2 = ("", "memory.max", "memory.current", "inactive_file")
"""For versions 1 and 2 of cgroups: folder below /sys/fs/cgroup, file of the limit, file of the usage, and key of the
reclaimable file cache in ``memory.stat``."""

NO_LIMIT = 1 << 60
"""Values from this one on mean that there is no limit: cgroups of version 1 then report about 2^63 [bytes]."""


@dataclass(frozen=True)
class AvailableMemory:
    """Memory that can still be allocated under one limit.

    Parameters
    ----------
    size_bytes : int [bytes]
    limit : str
        Description of the limit.
    """

    size_bytes: int
    limit: str


def available_memory(root: Path = ROOT) -> AvailableMemory | None:
    """Return the memory available under all known limits.

    Parameters
    ----------
    root : Path
        Folder that contains ``proc`` and ``sys``, for tests.

    Returns
    -------
    AvailableMemory or None
        The minimum over all limits; None if the system does not report any.

    Examples
    --------
    >>> found = available_memory()
    >>> found is None or found.size_bytes > 0
    True
    """
    return min(_limits(root), key=lambda found: found.size_bytes, default=None)


def _limits(root: Path) -> Iterator[AvailableMemory]:
    yield from _of_machine(root)
    yield from _of_address_space(root)
    yield from _of_cgroups(root)


def _of_machine(root: Path) -> Iterator[AvailableMemory]:
    """Yield the memory that the kernel considers available without swapping."""
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield AvailableMemory(int(line.split()[1]) * 1024, "free memory of the machine")
            return
    if root == ROOT and not (root / "proc/meminfo").exists():
        with suppress(ValueError, OSError):
            size_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            yield AvailableMemory(size_bytes, "memory of the machine")


def _of_address_space(root: Path) -> Iterator[AvailableMemory]:
    """Yield the memory left under `ulimit -v`."""
    for line in _lines(root / "proc/self/limits"):
        words = line.removeprefix("Max address space").split()
        if line.startswith("Max address space") and words[0].isdecimal():
            used = next((int(one.split()[0]) for one in _lines(root / "proc/self/statm")), 0) * os.sysconf(
                "SC_PAGE_SIZE"
            )
            yield AvailableMemory(max(0, int(words[0]) - used), "ulimit -v")


def _of_cgroups(root: Path) -> Iterator[AvailableMemory]:
    """Yield the memory left in each cgroup of this process; reclaimable file cache counts as free."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        mount, limit, usage, cache = V1 if controllers else V2
        top = root / "sys/fs/cgroup" / mount
        folder = top / path.strip("/")
        # In a container the path may be the one outside of the container, while the mount point is the cgroup itself.
        for each in dict.fromkeys([folder, *folder.parents, top]):
            if not each.is_relative_to(top):
                continue
            most, used = _number(each / limit), _number(each / usage)
            if most is not None and used is not None and most < NO_LIMIT:
                stat = dict(one.split(None, 1) for one in _lines(each / "memory.stat"))
                yield AvailableMemory(max(0, most - used + int(stat.get(cache, 0))), "memory limit of the cgroup")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def _number(path: Path) -> int | None:
    """Return the number in a file; None if the file does not have one, such as ``max``."""
    words = _lines(path)
    return int(words[0]) if words and words[0].isdecimal() else None
