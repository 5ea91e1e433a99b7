"""Limit on the number of threads, in a module that the command line can import without NumPy."""

from __future__ import annotations

import os

from elephan.errors import InputError

MOST_WORKERS = 1024
"""Maximum number of threads. It is above the number of cores of any machine; a larger number is a typing error."""


def check_workers(workers: int | None) -> None:
    """Refuse a number of threads that is out of range.

    Raises
    ------
    InputError
        If the number is below 1 or above `MOST_WORKERS`.
    """
    if workers is None or 1 <= workers <= MOST_WORKERS:
        return
    raise InputError(f"workers: {workers} is out of range; give 1 to {MOST_WORKERS}, or omit it to use all cores")


def default_workers() -> int:
    """Return the number of cores that this process may use.

    Returns
    -------
    int

    Examples
    --------
    >>> default_workers() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
