"""A Dask cluster as an executor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

PATIENCE = "10s"
"""Timeout of the connection to a scheduler."""


@contextmanager
def connected(where: str) -> Iterator[Executor]:
    """Connect to the scheduler of a cluster.

    Parameters
    ----------
    where : str
        Address (``tcp://host:8786``), or the file that the scheduler wrote (its option ``--scheduler-file``).

    Raises
    ------
    InputError
        If `distributed` is not installed, or no scheduler answers.
    """
    try:
        import distributed  # noqa: PLC0415 (optional, and slow to import)
    except ImportError:
        message = "--scheduler: needs the library distributed; pip install 'elephan[cluster]', or leave it out"
        raise InputError(message) from None
    library: Any = distributed
    given = {"scheduler_file": where} if Path(where).is_file() else {"address": where}
    try:
        client: Any = library.Client(**given, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"--scheduler {where}: no scheduler answers ({reason}); start one with: dask scheduler"
        raise InputError(message) from None
    with client:
        if not client.nthreads():
            raise InputError(f"--scheduler {where}: has no workers; start one with: dask worker {where}")
        yield client.get_executor()
