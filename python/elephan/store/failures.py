"""Failed points: a small file for each, from which the index can be rebuilt, and a row in the index."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from elephan import _native
from elephan.runs.files import write_json
from elephan.store.index import Index

FOLDER = "failures"

NAMES = ("key", "labels", "scenario", "error", "written")
"""Fields of a failure, as text; labels as one line of JSON."""


def keep(index: Index, store: Path, values: dict[str, str]) -> None:
    """Record a failure.

    Parameters
    ----------
    values : dict of str to str
        `NAMES`.
    """
    with index.change():
        write_json(_path(store, values["key"], values["labels"]), values)
        index.fail(**values)


def forgive(index: Index, store: Path, keys: Iterable[str]) -> None:
    """Remove failures of points that have succeeded; call within `Index.change`."""
    if not index.rows("SELECT 1 FROM failures LIMIT 1"):
        return
    for key in keys:
        for (line,) in index.rows("SELECT labels FROM failures WHERE key = ?", (key,)):
            _path(store, key, line).unlink(missing_ok=True)
            index.rows("DELETE FROM failures WHERE key = ? AND labels = ?", (key, line))


def forget(index: Index, store: Path) -> None:
    """Remove all failures."""
    with index.change():
        for path in (store / FOLDER).glob("*.json"):
            path.unlink(missing_ok=True)
        index.rows("DELETE FROM failures")


def known(index: Index) -> list[dict[str, Any]]:
    """List the failed points that have no run.

    Returns
    -------
    list of dict
        `NAMES`, sorted by labels, which are a dict.
    """
    sql = f"SELECT {', '.join(NAMES)} FROM failures WHERE key NOT IN (SELECT id FROM runs) ORDER BY labels, key"
    rows = [dict(zip(NAMES, row, strict=True)) for row in index.rows(sql)]
    return [row | {"labels": json.loads(row["labels"])} for row in rows]


def add_failures(index: Index, store: Path) -> None:
    """Add the failure files of a store to its index."""
    with index.change():
        for values in read(store):
            index.fail(**values)


def read(store: Path) -> list[dict[str, str]]:
    """Read the failure files of a store.

    Returns
    -------
    list of dict of str to str
        `NAMES`.
    """
    found = []
    for path in sorted((store / FOLDER).glob("*.json")):
        try:
            values = json.loads(path.read_bytes())
            found.append({name: str(values[name]) for name in NAMES})
        except (OSError, ValueError, KeyError, TypeError):
            continue  # Without the file the point is run again.
    return found


def _path(store: Path, key: str, line: str) -> Path:
    return store / FOLDER / f"{_native.digest(key + line)[:32]}.json"
