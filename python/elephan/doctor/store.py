"""Probes of the store of runs: whether it can be read, and whether locks work on its disk."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from elephan.doctor.finding import ELSEWHERE, LIMITED, OK, ProbeFinding
from elephan.doctor.machine import free_space, nearest_folder, read
from elephan.units import count

NETWORKS = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "lustre", "glusterfs", "ceph", "beegfs")
)
"""File systems shared by several machines: SQLite's write-ahead log needs memory shared by all its users."""


def folder() -> Path:
    """Return the folder of the store that commands use by default."""
    from elephan.store.opening import usual  # noqa: PLC0415 (loads Arrow, which may be what is broken)

    return usual()


def disk() -> ProbeFinding:
    """Report the free space of the store's disk."""
    return free_space(folder())


def state() -> ProbeFinding:
    """Check whether the index can be read; its runs are not verified."""
    from elephan.store.errors import DamageError, StoreError  # noqa: PLC0415 (as above)
    from elephan.store.index import FILE  # noqa: PLC0415 (as above)
    from elephan.store.schema import check_version  # noqa: PLC0415 (as above)

    index = folder() / FILE
    if not index.exists():
        return ProbeFinding(OK, f"{folder()}: none yet; the first sweep makes it")
    try:
        connection = sqlite3.connect(f"{index.absolute().as_uri()}?{_way(index)}", uri=True, timeout=2)
        try:
            version = check_version(connection, index)
            runs = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
        finally:
            connection.close()
    except (sqlite3.Error, DamageError) as error:
        return ProbeFinding(LIMITED, f"{index}: {error}", "elephan store verify --repair")
    except StoreError as error:
        return ProbeFinding(LIMITED, str(error), "set ELEPHAN_STORE to another folder")
    return ProbeFinding(OK, f"{folder()}: {count(runs, 'run')}, format {version}; elephan store verify checks them")


def _way(index: Path) -> str:
    """Return the URI options that open the index without writing beside it; only an existing log has to be read."""
    log = index.with_name(f"{index.name}-wal")
    return "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"


def locks() -> ProbeFinding:
    """Check whether the store's disk supports the file locks that SQLite needs."""
    mounts = read(Path("/proc/self/mountinfo"))
    if not mounts:
        return ProbeFinding(ELSEWHERE, "this system does not say which file system it is")
    kind = file_system(nearest_folder(folder()).resolve(), mounts)
    if kind in NETWORKS:
        local = Path.home() / ".elephan"
        return ProbeFinding(
            LIMITED, f"on {kind}, a network: several machines must not write it", f"export ELEPHAN_STORE={local}"
        )
    return ProbeFinding(OK, f"on {kind}")


def file_system(path: Path, mounts: str) -> str:
    r"""Find the kind of file system that a path is on.

    Parameters
    ----------
    path : Path
        Absolute path without symbolic links.
    mounts : str
        Text of ``/proc/self/mountinfo``.

    Returns
    -------
    str
        Type of the mount with the longest matching path; of two equal ones, the later.

    Examples
    --------
    >>> lines = "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:5 / /home rw shared:1 - nfs4 host:/ rw"
    >>> file_system(Path("/home/me"), lines), file_system(Path("/homes"), lines)
    ('nfs4', 'ext4')
    """
    found, kind = Path("/"), "unknown"
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        # Spaces in names are written as octal escapes.
        point = Path(fields.split()[4].replace("\\040", " "))
        if path.is_relative_to(point) and len(point.parts) >= len(found.parts):
            found, kind = point, rest.split()[0]
    return kind
