"""Limit on the number of threads, in a module that the command line can import without NumPy."""

from __future__ import annotations

import os

from elephan.errors import InputError

MOST_WORKERS = 1024
"""Maximum number of threads: more than any machine has cores, so that a larger number is a typing error."""


def check_workers(workers: int | None) -> None:
    """Refuse a number of threads that is out of range.

    Raises
    ------
    InputError
        If there are none, or more than `MOST_WORKERS`.
    """
    if workers is None or 1 <= workers <= MOST_WORKERS:
        return
    many = "run nothing" if workers < 1 else "are more than any machine has cores for"
    raise InputError(
        f"workers: {workers} {many}; give 1 to {MOST_WORKERS}, or leave it out for as many as there are cores"
    )


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
