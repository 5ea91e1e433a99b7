"""Locks of a store and its writers. The system releases a lock when its process ends, however it ends.

A lock belongs to whatever has its file open, and a forked process has all that its parent had: it would keep the locks
of a parent that is killed. So those that Python forks let go of them at once. Other programs do so as they start, which
takes them a moment: none is started from here while a lock is held.
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
"""Handles of the locks that this process holds."""


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
        Until it can be had.

    Returns
    -------
    int or None
        An open file, the lock with it, for `release`; None if it cannot be had.

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
        # While this one waited, the folder was absorbed or cleaned away.
        os.close(handle)


def release(handle: int) -> None:
    """Release a lock.

    Parameters
    ----------
    handle : int
        Handle that `hold` returned.
    """
    _held.discard(handle)
    os.close(handle)


def is_held(path: Path) -> bool:
    """Return whether some process holds a lock.

    Returns
    -------
    bool
        Also true where files cannot be locked.
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
        # A process that has opened the file meanwhile notices, once it has the lock, that the file is gone.
        path.unlink(missing_ok=True)
        release(handle)


class WriterLock:
    """Locks of a process that writes into a store: a share of the store's lock, and a temporary folder of its own.

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
        # The lock comes first: a folder without one is a dead process's.
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
            Folder that `made` or `named` returned.
        replace : bool
            Whether to replace an existing folder; otherwise it stays.

        Returns
        -------
        bool
            Whether the folder is in its place.
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
            Leave nothing behind.
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
