"""Who runs a point: processes that sweep into one store share the points between them, and none runs what another does.

A claim is a lock on one byte of a file of the store, at a place that the point's key gives. The system takes it back
when its process ends, however it ends. Where files cannot be locked every process runs all that is missing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILE = "claims"

PLACES = 2**62
"""Bytes of the file that can be locked; it stays empty."""


class PointClaims:
    """The claims of this process on points of a store.

    Parameters
    ----------
    folder : Path
        Of the store.
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
            Whether it is this process's to run: nobody else has claimed it, or claims cannot be made here.
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
        """Give a point back: it is in the store now, or has failed."""
        with contextlib.suppress(OSError):
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, _place(key))

    def close(self) -> None:
        """Give back what is left."""
        os.close(self._handle)


def _place(key: str) -> int:
    return int(key[:16], 16) % PLACES
