"""Locks that let several processes share one sweep: each point is run by one process only.

A claim is a lock on one byte of a file of the store, at a place that the point's key gives. The system takes it back
when its process ends, however it ends. Where files cannot be locked every process runs all that is missing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

FILE = "claims"

PLACES = 2**62
"""Number of bytes of the file that can be locked; the file stays empty."""


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
            Its identity.

        Returns
        -------
        bool
            Whether this process may run it: no other process has claimed it, or the file system has no locks.
        """
        try:
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            # No locks on this file system.
            return True
        return True

    def release(self, key: str) -> None:
        """Release a point: it is in the store now, or has failed."""
        with contextlib.suppress(OSError):
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, _place(key))

    def close(self) -> None:
        """Release all claims."""
        os.close(self._handle)


def _place(key: str) -> int:
    return int(key[:16], 16) % PLACES
