"""Tables of the index, and how an index of an older version becomes one of this."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from elephan.errors import InputError
from elephan.store.summary import GROUP, LINK, RUN

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
"""Of the schema, in ``PRAGMA user_version``."""

BUSY_S = 60.0
"""How long one process waits while another writes."""


def _columns(names: tuple[str, ...]) -> str:
    """Without types, so that a value stays what it is."""
    return ", ".join(f'"{name}"' for name in names)


TABLES = f"""
CREATE TABLE runs (
  run INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, {_columns(RUN)},
  scenario_id TEXT, title TEXT, engine TEXT, engine_version TEXT, warmup_rule TEXT, wall_s REAL, written TEXT,
  sha256 TEXT NOT NULL, sizes TEXT NOT NULL
);
CREATE INDEX other_ids ON runs (scenario_id) WHERE scenario_id IS NOT NULL;
CREATE TABLE links (run INTEGER NOT NULL, name TEXT NOT NULL, position INTEGER, {_columns(LINK)}, PRIMARY KEY (run, name))
  WITHOUT ROWID;
CREATE TABLE groups (run INTEGER NOT NULL, name TEXT NOT NULL, position INTEGER, {_columns(GROUP)}, PRIMARY KEY (run, name))
  WITHOUT ROWID;
CREATE TABLE points (point INTEGER PRIMARY KEY, run INTEGER NOT NULL, labels TEXT NOT NULL);
CREATE INDEX points_of_runs ON points (run);
CREATE TABLE names (kind TEXT NOT NULL, name TEXT NOT NULL, position INTEGER, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE failures (
  key TEXT NOT NULL, labels TEXT NOT NULL, scenario TEXT NOT NULL, error TEXT NOT NULL, written TEXT,
  PRIMARY KEY (key, labels)
) WITHOUT ROWID;
"""
"""``points`` gets a column for each label, ``names`` says which there are and which links and groups."""


def connect(path: Path, *, readonly: bool) -> sqlite3.Connection:
    """Open an index.

    Parameters
    ----------
    path : Path
    readonly : bool

    Returns
    -------
    sqlite3.Connection
    """
    if readonly:
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S, check_same_thread=False)
    connection = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables, or bring those of an older version up to this one.

    Parameters
    ----------
    connection : sqlite3.Connection
    path : Path

    Raises
    ------
    InputError
        If the index is of a newer version.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == VERSION:
        return
    if version > VERSION:
        message = (
            f"store {path}: was written by a newer elephan (schema {version}, this one knows {VERSION}); update elephan"
        )
        raise InputError(message)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] < VERSION:
            for statement in TABLES.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
