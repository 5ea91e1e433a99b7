"""Number of threads that may be asked for; command-line options need it before anything of a run is loaded."""

from __future__ import annotations

from elephan.errors import InputError

MOST_WORKERS = 1024
"""Threads that may be asked for: more than any machine has cores for, and a mistyped number."""


def check_workers(workers: int | None) -> None:
    """Refuse a number of threads that cannot be meant.

    Raises
    ------
    InputError
        If there are none, or more than `MOST_WORKERS`.
    """
    if workers is None or 1 <= workers <= MOST_WORKERS:
        return
    many = "run nothing" if workers < 1 else "are more than any machine has cores for"
    message = f"workers: {workers} {many}; give 1 to {MOST_WORKERS}, or leave it out for as many as there are cores"
    raise InputError(message)
