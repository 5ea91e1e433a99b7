"""Probes of the place where runs are kept: whether it can be read, and whether locks work on its disk."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from elephan.doctor.finding import ELSEWHERE, LIMITED, OK, Finding
from elephan.doctor.machine import nearest_folder, read, room

NETWORKS = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "lustre", "glusterfs", "ceph", "beegfs")
)
"""File systems that several machines see: SQLite's write-ahead log needs memory that all its users share."""


def folder() -> Path:
    """Return the folder of the store that commands use by default.

    Returns
    -------
    Path
    """
    return Path(os.environ.get("ELEPHAN_STORE") or ".elephan")


def disk() -> Finding:
    """How much room the store has."""
    return room(folder())


def state() -> Finding:
    """Whether the index can be read; its runs are not verified."""
    index = folder() / "index.sqlite"
    if not index.exists():
        return Finding(OK, f"{folder()}: none yet; the first sweep makes it")
    try:
        connection = sqlite3.connect(f"{index.absolute().as_uri()}?mode=ro", uri=True, timeout=2)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.Error as error:
        return Finding(LIMITED, f"{index}: {error}", "elephan store verify --repair")
    if not tables:
        return Finding(LIMITED, f"{index} is empty", "elephan store verify --repair")
    return Finding(OK, f"{folder()}: schema {version}; elephan store verify looks at its runs")


def locks() -> Finding:
    """Whether the disk of the store locks files as SQLite needs it."""
    mounts = read(Path("/proc/self/mountinfo"))
    if not mounts:
        return Finding(ELSEWHERE, "this system does not say which file system it is")
    kind = file_system(nearest_folder(folder()).resolve(), mounts)
    if kind in NETWORKS:
        local = Path.home() / ".elephan"
        return Finding(
            LIMITED, f"on {kind}, a network: several machines must not write it", f"export ELEPHAN_STORE={local}"
        )
    return Finding(OK, f"on {kind}")


def file_system(path: Path, mounts: str) -> str:
    r"""Find the kind of file system that a path is on.

    Parameters
    ----------
    path : Path
        Absolute, links followed.
    mounts : str
        As ``/proc/self/mountinfo`` has it.

    Returns
    -------
    str
        Of the mount with the longest name that the path is in; the later of two.

    Examples
    --------
    >>> lines = "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:5 / /home rw shared:1 - nfs4 host:/ rw"
    >>> file_system(Path("/home/me"), lines), file_system(Path("/homes"), lines)
    ('nfs4', 'ext4')
    """
    found, kind = Path("/"), "unknown"
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        # Spaces in names are written as octal numbers.
        point = Path(fields.split()[4].replace("\\040", " "))
        if path.is_relative_to(point) and len(point.parts) >= len(found.parts):
            found, kind = point, rest.split()[0]
    return kind
