"""Opening of a store's index, which is rebuilt from the folders if it is missing or damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from elephan.store import failures, folders
from elephan.store.errors import DAMAGED, DamageError, StoreError
from elephan.store.index import DAMAGED_NAMES, FILE, Index
from elephan.store.locks import LOCK, WriterLock, hold, release
from elephan.store.schema import BUSY_S, VERSION, check_version, connect, quick

VARIABLE, USUAL = "ELEPHAN_STORE", ".elephan"
"""Environment variable with the folder of the store, and the default folder inside the working directory."""

BATCH = 500
"""Number of runs per transaction."""

UNREADABLE = (OSError, ValueError, KeyError, TypeError, OverflowError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
"""Errors of reading a folder without a valid run document, or with values that SQLite cannot store."""


def usual(folder: str | Path | None = None) -> Path:
    """Return the folder of the store: the given one, or the default.

    Returns
    -------
    Path
        ``$ELEPHAN_STORE``, else ``.elephan`` in the working directory, if none is given.
    """
    return Path(folder or os.environ.get(VARIABLE) or USUAL)


def open_to_write(store: Path, writer_lock: WriterLock) -> Index:
    """Open the index of a store for writing, or create it.

    Parameters
    ----------
    writer_lock : WriterLock
        Writer in whose folder the index is built.
    """
    index = _usable(store)
    if index is None:
        with _alone_making(store):
            # Another process may have created the index meanwhile.
            index = _usable(store) or _make(store, writer_lock)
    return index


def make_again(store: Path, writer_lock: WriterLock) -> Index:
    """Rebuild the index of a store from its folders.

    Parameters
    ----------
    writer_lock : WriterLock
        Writer in whose folder the index is built.
    """
    with _alone_making(store):
        return _make(store, writer_lock)


@contextmanager
def _alone_making(store: Path) -> Iterator[None]:
    """Allow only one process at a time to rebuild an index.

    If the process is killed, the lock file counts as a leftover.
    """
    path = store / "tmp" / f"index.{LOCK}"
    lock = hold(path, alone=True)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        if lock is not None:
            release(lock)


def _usable(store: Path) -> Index | None:
    """Return the existing index; None if it is missing or damaged."""
    path = store / FILE
    if not path.exists() or not path.stat().st_size:
        return None
    connection = None
    try:
        connection = connect(path)
        index = Index(connection, path)
        index.rows("SELECT max(run) FROM runs")
    except (StoreError, sqlite3.DatabaseError) as error:
        if connection is not None:
            connection.close()
        if getattr(error, "sqlite_errorname", "") in DAMAGED_NAMES:
            return None
        raise
    return index


def _make(store: Path, writer_lock: WriterLock) -> Index:
    """Build an index under a temporary name and move it to its place.

    If two processes created an index in place, SQLite would fail at once, without waiting: the first change of the
    journal mode of a new file needs exclusive access, which neither gets while the other reads the file.
    """
    path = store / FILE
    with writer_lock.made() as folder:
        index = Index(connect(folder / FILE, is_shared=False), path)
        try:
            add_folders(index, store, folders.all_ids(store))
            failures.add_failures(index, store)
            if not index.is_sound():
                raise DamageError(f"store {store}: {DAMAGED}")
        finally:
            index.connection.close()
        sync(folder / FILE)
        for ending in ("-wal", "-shm"):
            (store / f"{FILE}{ending}").unlink(missing_ok=True)
        (folder / FILE).replace(path)
        sync(store)
    return Index(connect(path), path)


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk (fsync)."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_to_read(store: Path) -> Index:
    """Open the index of a store for reading only.

    Returns
    -------
    Index
        An index in memory, built from the folders, if the existing one cannot be used.

    Raises
    ------
    StoreError
        If the folder is not a store, or is a store of another version.
    """
    path = store / FILE
    check_is_there(store)
    if path.exists():
        for way in (_shared, _copied, _alone):
            connection = None
            try:
                connection = way(path)
                if connection is not None and check_version(connection, path) == VERSION:
                    connection.execute("SELECT max(run) FROM runs").fetchall()
                    return Index(quick(connection), path, readonly=True)
            except (sqlite3.Error, DamageError):
                pass
            except StoreError:
                raise
            if connection is not None:
                connection.close()
    index = Index(sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None), path)
    index.readonly, index.is_substitute = True, path.exists()
    add_folders(index, store, folders.all_ids(store))
    failures.add_failures(index, store)
    return index


def is_there(store: Path) -> bool:
    """Return whether a folder is a store."""
    return any((store / name).exists() for name in (FILE, "runs", "shards"))


def check_is_there(store: Path) -> None:
    """Refuse a folder that is not a store.

    Raises
    ------
    StoreError
    """
    if not is_there(store):
        raise StoreError(f"store {store}: there is none; give the folder of one with --store, or set ELEPHAN_STORE")


def _uri(path: Path, options: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{options}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_S, check_same_thread=False, isolation_level=None)


def _shared(path: Path) -> sqlite3.Connection:
    """Open an index that other processes may write meanwhile; SQLite must be able to write files next to it."""
    return _uri(path, "mode=ro")


def _copied(path: Path) -> sqlite3.Connection | None:
    """Copy an index into memory if a killed process left changes in its write-ahead log; None without such changes."""
    wal = path.with_name(f"{FILE}-wal")
    if not wal.exists() or not wal.stat().st_size:
        return None
    with tempfile.TemporaryDirectory() as folder:
        for source in (path, wal):
            shutil.copy(source, folder)
        copy = sqlite3.connect(Path(folder) / FILE)
        memory = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        copy.backup(memory)
        copy.close()
    return memory


def _alone(path: Path) -> sqlite3.Connection:
    """Open an index that no other process writes meanwhile."""
    return _uri(path, "mode=ro&immutable=1")


def add_folders(index: Index, store: Path, ids: Iterable[str]) -> list[str]:
    """Add folders that are not in the index; skip unreadable ones.

    Returns
    -------
    list of str
        Ids of the added runs.
    """
    added = []
    left = iter(ids)
    while batch := [run_id for run_id, _ in zip(left, range(BATCH), strict=False)]:
        with index.change():
            for run_id in batch:
                place = folders.place(store, run_id)
                try:
                    found = folders.read(place)
                    if found.id == run_id:
                        with index.attempt():
                            index.add(found, folders.read_labels(place))
                        added.append(run_id)
                except UNREADABLE:
                    continue
    return added
