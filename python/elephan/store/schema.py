"""Tables of the index and the version of their schema."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from elephan.store.errors import REPAIR, DamageError, StoreError
from elephan.store.summary import GROUP, LINK, RUN

VERSION = 1
"""Version of the schema, in ``PRAGMA user_version``."""

APPLICATION = 0x656C6570
"""Value of ``PRAGMA application_id``: "elep"."""

BUSY_S = 60.0
"""Maximum time that a process waits while another one writes [s]."""

ROWS = 1 << 40
"""The key of a row of ``links`` or ``groups`` is the number of the link or group times this factor, plus the number of
the run, so that the rows of one link are adjacent. A join over a million runs then takes 0.13 s, instead of 0.4 s with
the key (run, name)."""


def _columns(names: tuple[str, ...]) -> str:
    """Return column definitions without types, so that values keep their own types."""
    return ", ".join(f'"{name}"' for name in names)


def _rows_of(table: str, columns: tuple[str, ...]) -> str:
    return (
        f"CREATE TABLE {table} (row INTEGER PRIMARY KEY, run INTEGER NOT NULL, name TEXT NOT NULL, "
        f"position INTEGER NOT NULL, {_columns(columns)})"
    )


TABLES = (
    f"CREATE TABLE runs (run INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, {_columns(RUN)}, scenario_id TEXT, "
    "title TEXT, engine TEXT, engine_version TEXT, warmup_rule TEXT, wall_s REAL, written TEXT, "
    "sha256 TEXT NOT NULL, sizes TEXT NOT NULL)",
    "CREATE INDEX other_ids ON runs (scenario_id) WHERE scenario_id IS NOT NULL",
    _rows_of("links", LINK),
    _rows_of("groups", GROUP),
    "CREATE TABLE points (point INTEGER PRIMARY KEY, run INTEGER NOT NULL, labels TEXT NOT NULL)",
    "CREATE INDEX points_of_runs ON points (run)",
    "CREATE TABLE names (kind TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL, "
    "PRIMARY KEY (kind, name)) WITHOUT ROWID",
    "CREATE TABLE failures (key TEXT NOT NULL, labels TEXT NOT NULL, scenario TEXT NOT NULL, error TEXT NOT NULL, "
    "written TEXT, PRIMARY KEY (key, labels)) WITHOUT ROWID",
)
"""Statements that create the tables. ``points`` gets a column for each label; a run without labels also has a row in
it. ``names`` lists labels, links and groups; ``position`` is the first position of a link or group in a scenario; for a
label it is 1 if the label is boolean."""

NAMES = frozenset(statement.split()[2] for statement in TABLES if statement.startswith("CREATE TABLE"))
"""Names of the tables."""


def connect(path: Path, *, is_shared: bool = True) -> sqlite3.Connection:
    """Open an index for writing.

    Parameters
    ----------
    is_shared : bool
        Whether other processes may use the index meanwhile. If not (while the index is built), all data are in its
        main file after each commit, so only this file needs to be moved.
    """
    connection = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False, isolation_level=None)
    try:
        check_version(connection, path)  # Check before any change: the file may belong to another program.
        connection.execute("PRAGMA page_size = 8192")
        connection.execute(f"PRAGMA journal_mode = {'WAL' if is_shared else 'MEMORY'}")
        connection.execute(f"PRAGMA synchronous = {'NORMAL' if is_shared else 'OFF'}")
    except (sqlite3.Error, StoreError):
        connection.close()
        raise
    return quick(connection)


def quick(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Let SQLite read through a memory map of the file, without copies."""
    connection.execute("PRAGMA mmap_size = 64000000000")
    return connection


def create_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Create the tables in an empty index.

    Raises
    ------
    StoreError
        If the index is of another version.
    """
    if check_version(connection, path) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have created them meanwhile.
        if check_version(connection, path) != VERSION:
            for statement in TABLES:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute("COMMIT")
    except BaseException:
        # If the disk is full, SQLite has rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """Read the version of an index; refuse another version, an incomplete index, or the file of another program.

    Returns
    -------
    int
        `VERSION`, or 0 for an empty file.

    Raises
    ------
    StoreError
        If the index has another version, or the file belongs to another program.
    DamageError
        If the version or a table is missing.
    """
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if mark != APPLICATION and (mark or tables):
        raise StoreError(f"store {path}: is the file of another program; give another folder")
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version not in {0, VERSION}:
        message = f"store {path}: was written by another elephan (schema {version}; this one reads schema {VERSION})"
        raise StoreError(message)
    lost = ""
    if version == 0 and (tables or mark == APPLICATION):
        lost = "its version (user_version is 0)"
    elif version == VERSION and (missing := sorted(NAMES - tables)):
        lost = f"its table {missing[0]}" if len(missing) == 1 else f"its tables {', '.join(missing)}"
    if lost:
        raise DamageError(f"store {path.parent}: {path.name} has lost {lost}; {REPAIR}")
    return version
