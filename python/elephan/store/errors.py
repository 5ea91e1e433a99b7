"""What the system or the index refuses, said in one line: what, where, what to do."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from elephan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT}
_SHUT = {errno.EACCES, errno.EPERM, errno.EROFS}


class StoreError(InputError):
    """A store that cannot be used as asked."""


class DamageError(StoreError):
    """A run or an index that is not what was written."""


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """Turn what the system or SQLite refuses into one line.

    Parameters
    ----------
    folder : Path
        The store.

    Yields
    ------
    None

    Raises
    ------
    StoreError
        Instead of `OSError` and `sqlite3.Error`.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(_of_system(folder, error)) from None
    except sqlite3.Error as error:
        message = _of_sqlite(str(error))
        if message is None:
            raise
        kind = DamageError if isinstance(error, sqlite3.DatabaseError) and "damaged" in message else StoreError
        raise kind(f"store {folder}: {message}") from None


def _of_system(folder: Path, error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    where = f"store {error.filename or folder}"
    if error.errno in _FULL:
        return (
            f"store {folder}: the disk is full ({reason}); make room and give the same command again: nothing is lost"
        )
    if error.errno in _SHUT:
        return f"{where}: cannot be written ({reason}); give a folder that can, or only read"
    return f"{where}: {reason}; give a folder that can be read and written"


def _of_sqlite(reason: str) -> str | None:
    """What to say; None for a defect of elephan."""
    if "full" in reason:
        return "the disk is full; make room and give the same command again: nothing is lost"
    if "locked" in reason or "busy" in reason:
        return "another process has kept the index for a minute; try again when it is done"
    if "readonly" in reason or "unable to open" in reason:
        return "index.sqlite cannot be written; give a folder that can, or only read"
    if "malformed" in reason or "not a database" in reason or "disk I/O" in reason:
        return "index.sqlite is damaged; mend it with elephan store verify --repair"
    return None
