"""Errors of the system and of SQLite, reported in one line: location, problem, remedy."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elephan.errors import InputError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_SHUT = {errno.EACCES, errno.EPERM, errno.EROFS}
_ROOM = 1 << 20
"""Free space below which an I/O error of SQLite is reported as a full disk [bytes].

SQLite maps the pages that it writes into memory, so it does not get the system's error of a full disk.
"""

_CLOSED = "Cannot operate on a closed database."

FULL = "the disk is full; make room and give the same command again: nothing is lost"
REPAIR = "elephan store verify --repair makes it again from the runs"
DAMAGED = f"index.sqlite is damaged; {REPAIR}"


class StoreError(InputError):
    """A store cannot be used as requested."""


class DamageError(StoreError):
    """The index of a store is damaged."""


@contextmanager
def reraise_as_store_error(folder: Path) -> Iterator[None]:
    """Convert errors of the system and of SQLite to one-line errors.

    Parameters
    ----------
    folder : Path
        The store.

    Raises
    ------
    StoreError
        Instead of `OSError` and `sqlite3.Error`.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StoreError(_of_system(folder, error)) from None
    except sqlite3.Error as error:
        if str(error) == _CLOSED:
            raise StoreError(f"store {folder}: is closed; open it again, or ask within the with statement") from None
        name = str(getattr(error, "sqlite_errorname", "") or "")
        if name.startswith("SQLITE_IOERR") and _is_full(folder):
            name = "SQLITE_FULL"
        message = f"store {folder}: {_of_sqlite(name, str(error))}"
        if message.endswith(DAMAGED):
            raise DamageError(message) from None
        if name in {"", "SQLITE_ERROR", "SQLITE_MISUSE"}:
            raise
        raise StoreError(message) from None


def _of_system(folder: Path, error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    if error.errno in _FULL:
        return f"store {folder}: {FULL}"
    if error.errno in _SHUT:
        return f"store {error.filename or folder}: cannot be written ({reason}); give a folder that can, or only read"
    return f"store {error.filename or folder}: {reason}; give a folder that can be read and written"


def _of_sqlite(name: str, reason: str) -> str:
    if name == "SQLITE_FULL":
        return FULL
    if name in {"SQLITE_CORRUPT", "SQLITE_NOTADB"} or "malformed" in reason:
        return DAMAGED
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "another process has kept the index for a minute; try again when it is done"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return f"index.sqlite cannot be written ({reason}); give a folder that can, or only read"
    return f"index.sqlite: {reason}; give a folder that can be read and written"


def _is_full(folder: Path) -> bool:
    try:
        there = os.statvfs(folder)
    except OSError:
        return False
    return there.f_bavail * there.f_frsize < _ROOM
