"""Locks of a store and its writers (flock). The system releases a lock when its process ends, even if it is killed.

A lock belongs to the open file description, which a forked process shares with its parent. The child would keep the
locks of a parent that is killed. Processes that Python forks therefore close the lock files at once. Other programs
close them when they are executed, which is a moment after the fork. A store therefore does not start programs while it
holds a lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = "lock"

_held: set[int] = set()
"""File descriptors of the locks that this process holds."""


def _leave_to_parent() -> None:
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_leave_to_parent)


def hold(path: Path, *, alone: bool = False, wait: bool = True) -> int | None:
    """Lock a file, which is created if it is missing.

    Parameters
    ----------
    alone : bool
        Take an exclusive lock; by default the lock is shared.
    wait : bool
        Whether to wait until the lock is available.

    Returns
    -------
    int or None
        File descriptor of the locked file, for `release`; None if the lock is not available.

    Raises
    ------
    OSError
        If the file cannot be opened.
    """
    way = (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | (0 if wait else fcntl.LOCK_NB)
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, way)
        except OSError:
            os.close(handle)
            return None
        try:
            if os.path.samestat(os.fstat(handle), path.stat()):
                _held.add(handle)
                return handle
        except FileNotFoundError:
            pass
        # While this process waited, another one merged or removed the folder and the lock file.
        os.close(handle)


def release(handle: int) -> None:
    """Release a lock.

    Parameters
    ----------
    handle : int
        File descriptor that `hold` returned.
    """
    _held.discard(handle)
    os.close(handle)


def is_held(path: Path) -> bool:
    """Return whether a process holds a lock.

    Returns
    -------
    bool
        Also true if the file system does not support locks.
    """
    handle = _lock_alone(path)
    if handle is not None:
        release(handle)
    return handle is None and path.exists()


def _lock_alone(path: Path) -> int | None:
    """Take an exclusive lock on an existing file; None if it does not exist, or cannot be locked."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    _held.add(handle)
    return handle


def discard(path: Path) -> None:
    """Remove a lock file that no process holds."""
    handle = _lock_alone(path)
    if handle is not None:
        # If another process has opened the file meanwhile, `hold` detects that the file was removed and tries again.
        path.unlink(missing_ok=True)
        release(handle)


class WriterLock:
    """Locks of a process that writes into a store: a shared lock of the store, and a lock of its own temporary folder.

    Raises
    ------
    OSError
        If the store cannot be written.
    """

    def __init__(self, store: Path) -> None:
        self._count, self._process = 0, os.getpid()
        self._lock: int | None = None
        self._store_lock = hold(store / LOCK)
        name = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}"
        self.folder = store / "tmp" / name
        # Take the lock before creating the folder: a folder without a lock counts as a leftover of a dead process.
        self._lock_path = store / "tmp" / f"{name}.{LOCK}"
        try:
            self._lock = hold(self._lock_path, alone=True)
            self.folder.mkdir()
        except OSError:
            self.end()
            raise

    @contextmanager
    def made(self) -> Iterator[Path]:
        """Create a temporary folder, removed at the end of the block unless it was moved away."""
        with self.named() as folder:
            folder.mkdir()
            yield folder

    @contextmanager
    def named(self) -> Iterator[Path]:
        """Yield the path of a temporary folder that does not exist yet; otherwise like `made`."""
        self._count += 1
        folder = Path(f"{self.folder}/{self._count}")
        try:
            yield folder
        finally:
            if os.path.exists(folder):  # noqa: PTH110 (a third of the time, once for each run)
                shutil.rmtree(folder, ignore_errors=True)

    def move_into_place(self, folder: Path, place: Path, *, replace: bool = True) -> bool:
        """Move a folder to its place atomically.

        Parameters
        ----------
        folder : Path
            Folder that `made` or `named` yielded.
        replace : bool
            Whether to replace an existing folder; otherwise the existing folder stays.

        Returns
        -------
        bool
            Whether the folder was moved.
        """
        try:
            os.rename(folder, place)  # noqa: PTH104 (as above)
        except FileNotFoundError:
            place.parent.mkdir(parents=True, exist_ok=True)
            return self.move_into_place(folder, place, replace=replace)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
            if not replace:
                return False
            with self.made() as old:
                place.rename(old)
                folder.rename(place)
        return True

    def end(self, *, clean: bool = True) -> None:
        """Release the locks; a forked child does not release those of its parent.

        Parameters
        ----------
        clean : bool
            Whether to remove the temporary folder and its lock file.
        """
        if os.getpid() != self._process:
            return
        if clean:
            shutil.rmtree(self.folder, ignore_errors=True)
            self._lock_path.unlink(missing_ok=True)
        for handle in (self._lock, self._store_lock):
            if handle is not None:
                release(handle)
        self._lock = self._store_lock = None


def leftovers(store: Path) -> list[Path]:
    """List the temporary files of dead processes in ``tmp/``."""
    try:
        names = sorted(path.name for path in (store / "tmp").iterdir())
    except FileNotFoundError:
        return []
    owners = {name.removesuffix(f".{LOCK}") for name in names}
    dead = {owner for owner in owners if not is_held(store / "tmp" / f"{owner}.{LOCK}")}
    return [store / "tmp" / name for name in names if name.removesuffix(f".{LOCK}") in dead]
