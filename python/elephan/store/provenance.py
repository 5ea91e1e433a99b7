"""Provenance of a result: host, versions and time; the results do not depend on these."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from elephan.runs.files import provenance


def here() -> dict[str, object]:
    """Return the provenance of a result computed here and now.

    Returns
    -------
    dict
        Versions, kind of machine, host, ``commit`` if elephan runs from its own checkout, and the time ``written``.

    Examples
    --------
    >>> here()["written"]
    '...Z'
    """
    return {"written": now(), **of_process()}


def now() -> str:
    """Return the current time as text, in the format of `stamp`."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """Format a time as text whose alphabetical order is the order in time, with milliseconds.

    Examples
    --------
    >>> stamp(datetime(2026, 11, 22, 4, 58, tzinfo=UTC))
    '2026-11-22T04:58:00.000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@cache
def of_process() -> dict[str, object]:
    """Return the provenance that all runs of this process share.

    This function runs Git to find the commit. Until Git has started, its process holds the locks of this process (see
    `elephan.store.locks`), so a store calls this function before it takes a lock.
    """
    found: dict[str, object] = {**provenance(), "host": platform.node(), "cores": os.cpu_count()}
    commit = _commit(Path(__file__).resolve().parents[3])
    return found if commit is None else found | {"commit": commit}


def _commit(root: Path) -> str | None:
    """Return the commit of elephan's own checkout, with ``-dirty`` if it has changes."""
    if not ((root / ".git").exists() and (root / "crates" / "py" / "Cargo.toml").exists()):
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
