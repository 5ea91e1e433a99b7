"""Probes of the machine: cores, memory, disks, terminal.

The probes respect the limits of containers: control groups (versions 1 and 2) and CPU affinity.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from pathlib import Path

from elephan.doctor.finding import ELSEWHERE, LIMITED, OK, ProbeFinding, gigabytes

LEAST_FREE = 1e9
"""Minimum free space of a disk [bytes]: a sweep of 10 000 short runs takes about half of it."""

LEAST_MEMORY = 1e9
"""Minimum memory [bytes]: a run with a million packets in flight takes some hundred megabytes."""

LEAST_COLUMNS = 80
"""Minimum width of a terminal [columns]: narrower ones wrap tables."""

CGROUPS = Path("/sys/fs/cgroup")


def cores() -> ProbeFinding:
    """Report the number of cores that replications can use."""
    there = os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else there
    quota = cpu_quota(CGROUPS)
    usable = min(allowed, quota)
    if usable >= there:
        return ProbeFinding(OK, f"{there}")
    why = "the CPU affinity" if allowed < there else "the quota of the control group"
    return ProbeFinding(LIMITED, f"{usable:.3g} of {there}, limited by {why}")


def cpu_quota(folder: Path) -> float:
    """Read the number of cores that a control group may use.

    Parameters
    ----------
    folder : Path
        Mount point of control groups.

    Returns
    -------
    float [cores]
        Infinite if nothing limits them.
    """
    older = (read(folder / "cpu" / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    quota, _, period = (read(folder / "cpu.max") or " ".join(older)).partition(" ")
    if not quota.isdecimal() or not period.isdecimal() or int(period) == 0:
        return math.inf
    return int(quota) / int(period)


def memory() -> ProbeFinding:
    """Report the memory available to runs."""
    available = available_memory(Path("/proc/meminfo"))
    if available is None:
        return ProbeFinding(ELSEWHERE, "unknown on this system")
    limit = memory_limit(CGROUPS)
    memory = min(available, limit)
    found = f"{gigabytes(memory)} available" + (", the limit of the control group" if limit < available else "")
    return ProbeFinding(OK if memory >= LEAST_MEMORY else LIMITED, found)


def available_memory(meminfo: Path) -> float | None:
    """Read the memory available without swapping.

    Returns
    -------
    float or None [bytes]
    """
    lines = dict(line.split(":", 1) for line in read(meminfo).splitlines() if ":" in line)
    words = lines.get("MemAvailable", "").split()
    return float(words[0]) * 1024 if words else None


def memory_limit(folder: Path) -> float:
    """Read the memory limit of a control group.

    Returns
    -------
    float [bytes]
        Infinite if nothing limits it.
    """
    text = read(folder / "memory.max") or read(folder / "memory/memory.limit_in_bytes")
    return float(text) if text.isdecimal() else math.inf


def read(path: Path) -> str:
    """Read a small system file.

    Returns
    -------
    str
        Empty if it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def nearest_folder(path: Path) -> Path:
    """Return the folder, or the nearest existing folder above it."""
    whole = path.absolute()
    return next(each for each in (whole, *whole.parents) if each.is_dir())


def free_space(path: Path) -> ProbeFinding:
    """Report the free space of a disk.

    Parameters
    ----------
    path : Path
        A folder, which need not exist yet.
    """
    folder = nearest_folder(path)
    free = shutil.disk_usage(folder).free
    if not os.access(folder, os.W_OK):
        return ProbeFinding(LIMITED, f"{folder} cannot be written")
    return ProbeFinding(OK if free >= LEAST_FREE else LIMITED, f"{gigabytes(free)} free at {folder}")


def temporary() -> ProbeFinding:
    """Report the free space for temporary files."""
    return free_space(Path(tempfile.gettempdir()))


def terminal() -> ProbeFinding:
    """Report the terminal's colour, width and encoding."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    columns = shutil.get_terminal_size().columns
    if not sys.stdout.isatty():
        colour = "not a terminal"
    elif os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        colour = "no colour"
    else:
        colour = "colour"
    found = f"{colour}, {columns} columns, {encoding or 'unknown encoding'}"
    if encoding != "utf8":
        return ProbeFinding(LIMITED, f"{found}: lines of tables may be wrong", "export PYTHONUTF8=1")
    if columns < LEAST_COLUMNS:
        return ProbeFinding(LIMITED, f"{found}; tables are made for {LEAST_COLUMNS} columns or more")
    return ProbeFinding(OK, found)
