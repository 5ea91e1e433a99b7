"""How an index is opened: made again from the folders where it is missing or damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from elephan.store import failures, folders
from elephan.store.errors import DAMAGED, DamageError, StoreError
from elephan.store.index import DAMAGED_NAMES, FILE, Index
from elephan.store.locks import LOCK, hold, release
from elephan.store.schema import BUSY_S, VERSION, check_version, connect, quick

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from elephan.store.locks import WriterLock

VARIABLE, USUAL = "ELEPHAN_STORE", ".elephan"
"""Where a store is unless said: what the environment names, else this in the working directory."""

BATCH = 500
"""Runs of one transaction."""

UNREADABLE = (OSError, ValueError, KeyError, TypeError, OverflowError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
"""Errors of a folder that does not hold the document of a run, or holds values for which SQLite has no type."""


def usual(folder: str | Path | None = None) -> Path:
    """Say which folder is meant.

    Returns
    -------
    Path
        ``$ELEPHAN_STORE``, else ``.elephan`` in the working directory, if none is given.
    """
    return Path(folder or os.environ.get(VARIABLE) or USUAL)


def open_to_write(store: Path, writer_lock: WriterLock) -> Index:
    """Open the index of a store, or make it.

    Parameters
    ----------
    writer_lock : WriterLock
        Where it is made.
    """
    index = _usable(store)
    if index is None:
        with _alone_making(store):
            # Another process may have made it meanwhile.
            index = _usable(store) or _make(store, writer_lock)
    return index


def make_again(store: Path, writer_lock: WriterLock) -> Index:
    """Make the index of a store from its folders, whatever is there.

    Parameters
    ----------
    writer_lock : WriterLock
        Where it is made.
    """
    with _alone_making(store):
        return _make(store, writer_lock)


@contextmanager
def _alone_making(store: Path) -> Iterator[None]:
    """Let one process at a time make an index; one that is killed leaves a file that goes with its other leftovers."""
    path = store / "tmp" / f"index.{LOCK}"
    lock = hold(path, alone=True)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        if lock is not None:
            release(lock)


def _usable(store: Path) -> Index | None:
    """The index that is there; None if there is none, or it cannot be used."""
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
    """Make an index beside its place and put it there whole.

    SQLite refuses at once, without waiting, where two processes make one in place: neither can have the file alone,
    as a new one's first change of its journal needs, while the other reads it.
    """
    path = store / FILE
    with writer_lock.made() as folder:
        index = Index(connect(folder / FILE, is_shared=False), path)
        try:
            add_folders(index, store, folders.all_ids(store))
            failures.add_failures(index, store)
            if not index.is_sound():
                message = f"store {store}: {DAMAGED}"
                raise DamageError(message)
        finally:
            index.connection.close()
        sync(folder / FILE)
        for ending in ("-wal", "-shm"):
            (store / f"{FILE}{ending}").unlink(missing_ok=True)
        (folder / FILE).replace(path)
        sync(store)
    return Index(connect(path), path)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_to_read(store: Path) -> Index:
    """Open the index of a store that is not to be written, or cannot be.

    Returns
    -------
    Index
        In memory, made from the folders, if the one that is there cannot be used.

    Raises
    ------
    StoreError
        If there is no store, or it is of another version.
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
    """Refuse a folder that is no store.

    Raises
    ------
    StoreError
    """
    if not is_there(store):
        message = f"store {store}: there is none; give the folder of one with --store, or set ELEPHAN_STORE"
        raise StoreError(message)


def _uri(path: Path, options: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{options}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_S, check_same_thread=False, isolation_level=None)


def _shared(path: Path) -> sqlite3.Connection:
    """With others that may write meanwhile; SQLite must be able to write beside the index for that."""
    return _uri(path, "mode=ro")


def _copied(path: Path) -> sqlite3.Connection | None:
    """Where a killed process has left its last changes beside the index, in memory."""
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
    """As a file that nobody writes."""
    return _uri(path, "mode=ro&immutable=1")


def add_folders(index: Index, store: Path, ids: Iterable[str]) -> list[str]:
    """Add folders that are not in the index; those that cannot be read stay out.

    Returns
    -------
    list of str
        What was added.
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
