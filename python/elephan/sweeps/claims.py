"""Locks that let several processes share one sweep: each point is run by one process only.

A claim is a lock on one byte of a file in the store, at an offset that follows from the point's key. The system
releases a claim when its process ends, even if it is killed. If the file system does not support locks, each process
runs all missing points.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

FILE = "claims"

PLACES = 2**62
"""Number of bytes that can be locked; locks may lie beyond the end of the file, which stays empty."""


class PointClaims:
    """Claims of this process on the points of a store.

    Parameters
    ----------
    folder : Path
        Folder of the store.
    """

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def claim(self, key: str) -> bool:
        """Claim a point.

        Parameters
        ----------
        key : str
            Key of the point.

        Returns
        -------
        bool
            Whether this process may run the point: no other process has claimed it, or the file system has no locks.
        """
        try:
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            # The file system does not support locks.
            return True
        return True

    def release(self, key: str) -> None:
        """Release a point, when it is in the store or has failed."""
        with contextlib.suppress(OSError):
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, _place(key))

    def close(self) -> None:
        """Release all claims."""
        os.close(self._handle)


def _place(key: str) -> int:
    return int(key[:16], 16) % PLACES
