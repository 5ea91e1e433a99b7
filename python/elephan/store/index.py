"""Index of a store: a SQLite database with rows about the folders of runs. It can be rebuilt from the folders."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from elephan.store.errors import StoreError
from elephan.store.folders import RunFolder
from elephan.store.labels import Labels, as_line
from elephan.store.schema import ROWS, create_tables
from elephan.store.summary import RUN, shown_as, summarize

FILE = "index.sqlite"

KINDS = ("links", "groups")

DAMAGED_NAMES = frozenset({"SQLITE_NOTADB", "SQLITE_CORRUPT"})
"""SQLite error codes of a damaged database file."""

VIEWED = 60
"""Maximum number of joins in the view `results`: links, groups and ``runs``. SQLite joins at most 64 tables."""

WIDEST = 1900
"""Maximum number of columns of the view and of the table ``points``: SQLite has 2000 at most."""


def quoted(name: str) -> str:
    """Quote a name for SQL.

    Examples
    --------
    >>> quoted("links[0].buffer")
    '"links[0].buffer"'
    """
    return '"' + name.replace('"', '""') + '"'


class Index:
    """Rows of runs, their labels and their failures.

    Parameters
    ----------
    path : Path
        Path of the index, used in messages.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, *, readonly: bool = False) -> None:
        self.connection, self.path, self.readonly = connection, path, readonly
        self.is_substitute = False
        if not readonly:
            create_tables(connection, path)
        self._clear_caches()

    def _clear_caches(self) -> None:
        self._numbers: dict[tuple[str, str], tuple[int, int]] = {}
        self._inserts: dict[tuple[str, ...], str] = {}
        self._columns: set[str] = set()
        self._is_new = False

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Run a statement and return its rows."""
        return self.connection.execute(sql, values).fetchall()

    def is_sound(self) -> bool:
        """Return whether SQLite finds the index intact."""
        try:
            return not self.is_substitute and self.rows("PRAGMA integrity_check(1)") == [("ok",)]
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "") in DAMAGED_NAMES or "malformed" in str(error):
                return False
            raise

    def shrink(self) -> None:
        """Free the space of deleted rows, if there is much of it and no other process uses the index."""
        (pages,), (free,) = (self.rows(f"PRAGMA {name}")[0] for name in ("page_count", "freelist_count"))
        if free > pages / 2:
            with suppress(sqlite3.OperationalError):
                self.rows("VACUUM")

    @contextmanager
    def change(self) -> Iterator[None]:
        """Make all changes of a block in one transaction."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            if self._is_new:
                self.rows("DROP VIEW IF EXISTS results")
                self.rows(f"CREATE VIEW {self.view()}")
                self._is_new = False
            self.connection.execute("COMMIT")
        except BaseException:
            self._clear_caches()
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Undo the changes of a block if it fails, and keep earlier ones; call within `change`."""
        self.rows("SAVEPOINT attempt")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:
                self.rows("ROLLBACK TO attempt")
            # Cached columns and names may have been rolled back. The view is still rebuilt if that was due before.
            is_new = self._is_new
            self._clear_caches()
            self._is_new = is_new
            raise
        finally:
            if self.connection.in_transaction:
                self.rows("RELEASE attempt")

    def check(self, labels: Labels) -> None:
        """Refuse labels that cannot be stored as columns.

        Raises
        ------
        StoreError
            If a name differs from that of another label only in case, or if there are too many labels.
        """
        if not labels.keys() <= self._columns:
            there = self._columns = set(self.columns("points"))
            lower = {name.lower(): name for name in there}
            for name in sorted(labels.keys() - there):
                if name.lower() in lower:
                    message = f'labels: "{name}": the store calls it "{lower[name.lower()]}" already; write it the same'
                    raise StoreError(message)
            if len(there | labels.keys()) > WIDEST:
                raise StoreError(f"labels: the store would have more than {WIDEST} different ones; use another store")

    def add(self, folder: RunFolder, sets: Iterable[Labels]) -> None:
        """Add a run, or update its row; call within `change`.

        Parameters
        ----------
        sets : iterable of dict
            Sets of labels of the run. A set that `check` refuses, because another process has added a conflicting
            label, is not indexed but stays in the folder.
        """
        run_id, where = folder.id, folder.full["provenance"]
        summary = summarize(folder.full)
        run = {name: value for name, value in summary.run.items() if name not in ("id", "scenario")}
        run |= {"id": run_id, "title": folder.full["run"]["scenario"]}
        if folder.full["run"]["id"] != run_id:
            run["scenario_id"] = folder.full["run"]["id"]
        run |= {"wall_s": where["wall_s"], "written": where["written"]}
        run |= {"sha256": folder.sha256, "sizes": json.dumps(folder.sizes)}
        kept: list[Labels] = []
        known = self.number(run_id)
        if known is not None:
            kept = self.sets(known)
            self.forget(known)
            run["run"] = known
        number = self._insert("runs", run)
        for kind, rows in zip(KINDS, (summary.links, summary.groups), strict=True):
            for position, row in enumerate(rows):
                slot = self._intern_name(kind, row["name"], position)
                self._insert(kind, {"row": slot * ROWS + number, "run": number, "position": position, **row})
        there: set[str] = set()
        for labels in (*kept, *sets):
            with suppress(StoreError):
                self._point(number, labels, there)
        if not there:
            self._insert("points", {"run": number, "labels": "{}"})

    def label(self, number: int, labels: Labels) -> None:
        """Add a set of labels to a run; call within `change`.

        Raises
        ------
        StoreError
            See `check`.
        """
        there = {each for (each,) in self.rows("SELECT labels FROM points WHERE run = ?", (number,))}
        if self._point(number, labels, there) and "{}" in there:
            self.rows("DELETE FROM points WHERE run = ? AND labels = '{}'", (number,))

    def _point(self, number: int, labels: Labels, there: set[str]) -> bool:
        """Add a row for a set of labels if it is missing; return whether it was added."""
        self.check(labels)
        line = as_line(labels)
        if not labels or line in there:
            return False
        self._insert("points", {"run": number, "labels": line, **labels})
        for name, value in labels.items():
            self._intern_name("labels", name, int(isinstance(value, bool)))
        there.add(line)
        return True

    def fail(self, key: str, labels: str, scenario: str, error: str, written: str) -> None:
        """Add a failed point; call within `change`."""
        self.rows("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)", (key, labels, scenario, error, written))

    def number(self, run_id: str) -> int | None:
        """Return a run's number in the index; None if the index lacks the run."""
        found = self.rows("SELECT run FROM runs WHERE id = ?", (run_id,))
        return int(found[0][0]) if found else None

    def begins(self, prefix: str) -> list[str]:
        """Return the runs whose id begins with a prefix; if there are none, those whose scenario id does.

        Returns
        -------
        list of str
            Ids; five at most.
        """
        found: list[str] = []
        for column in ("id", "scenario_id"):
            # Ids are hexadecimal: every id with this prefix is below the prefix followed by "g".
            sql = f"SELECT id FROM runs WHERE {column} >= ?1 AND {column} < ?1 || 'g' ORDER BY id LIMIT 5"
            found = found or [run_id for (run_id,) in self.rows(sql, (prefix.lower(),))]
        return found

    def forget(self, number: int) -> None:
        """Remove a run from the index; call within `change`."""
        for table in ("runs", "points"):
            self.rows(f"DELETE FROM {table} WHERE run = ?", (number,))
        for kind in KINDS:
            sql = f"DELETE FROM {kind} WHERE row IN (SELECT number * {ROWS} + ? FROM names WHERE kind = ?)"
            self.rows(sql, (number, kind))

    def sets(self, number: int) -> list[Labels]:
        """Return the sets of labels of a run, sorted."""
        rows = self.rows("SELECT labels FROM points WHERE run = ? ORDER BY labels", (number,))
        return [json.loads(line) for (line,) in rows if line != "{}"]

    def names(self, kind: str) -> dict[str, int]:
        """Return all names of labels, links or groups, with their numbers.

        Parameters
        ----------
        kind : str
            ``"labels"``, ``"links"`` or ``"groups"``.

        Returns
        -------
        dict of str to int
            Number of each name. Labels are sorted by name, links and groups by their first position, then by name.
        """
        by = "name" if kind == "labels" else "position, name"
        return dict(self.rows(f"SELECT name, number FROM names WHERE kind = ? ORDER BY {by}", (kind,)))

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns."""
        return [row[1] for row in self.rows(f"PRAGMA table_info({quoted(table)})")]

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        names = (table, *row)
        if (sql := self._inserts.get(names)) is None:
            self._widen(table, row)
            marks = ", ".join("?" * len(row))
            sql = f"INSERT INTO {table} ({', '.join(map(quoted, row))}) VALUES ({marks})"
            self._inserts[names] = sql
        return int(self.connection.execute(sql, tuple(row.values())).lastrowid or 0)

    def _widen(self, table: str, names: Iterable[str]) -> None:
        """Add missing columns to a table: labels, and quantities newer than its schema."""
        for name in sorted(set(names) - set(self.columns(table))):
            self.rows(f"ALTER TABLE {table} ADD COLUMN {quoted(name)}")
            self._is_new = True

    def _intern_name(self, kind: str, name: str, position: int) -> int:
        """Return the number of a label's, link's or group's name, adding the name if it is new.

        `position` is the position of a link or group in the scenario; for a label it is 1 if its value is boolean.
        """
        is_label = kind == "labels"
        known = self._numbers.get((kind, name))
        if known is not None and (known[1] >= position if is_label else known[1] <= position):
            return known[0]
        better = "max" if is_label else "min"
        sql = (
            "INSERT INTO names SELECT ?1, ?2, 1 + coalesce(max(number), 0), ?3 FROM names WHERE kind = ?1 "
            f"ON CONFLICT DO UPDATE SET position = {better}(position, excluded.position)"
        )
        self.rows(sql, (kind, name, position))
        found = self.rows("SELECT number, position FROM names WHERE kind = ? AND name = ?", (kind, name))[0]
        self._numbers[kind, name] = found
        self._is_new = self._is_new or not is_label
        return int(found[0])

    def view(self, sql: str | None = None) -> str:
        """Return the SQL of the view ``results``: a row per run and label set, columns as in `Store.table`.

        Parameters
        ----------
        sql : str, optional
            A query of the view. Only links and groups that the query names are joined, because SQLite also joins tables
            that it does not need.

        Returns
        -------
        str
            SQL from the name of the view on, with at most as many links and groups as SQLite can join.
        """
        columns, joins = self.results()
        if sql is not None and "*" not in sql.replace("count(*)", ""):
            asked = sql.lower()
            columns = {name: source for name, source in columns.items() if name.lower() in asked} or {"run": "NULL"}
        used: list[str] = []
        chosen: list[str] = []
        for name, source in columns.items():
            join = next((join for alias, join in joins.items() if alias in source), None)
            new = [join] if join is not None and join not in used else []
            if len(used) + len(new) <= VIEWED and len(chosen) < WIDEST:
                used += new
                chosen.append(f"{source} AS {quoted(name)}")
        return f"results AS SELECT {', '.join(chosen)} FROM points AS p {' '.join(used)}"

    def results(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the columns of ``results`` with their sources, and the joins of these sources with ``points AS p``.

        Returns
        -------
        dict of str to str
            Sources by column.
        dict of str to str
            Joins, by the alias with which a source begins.
        """
        columns = {name: f"p.{quoted(name)}" for name in self.names("labels")} | {"run": "r.id"}
        for name in (*RUN, "title", "engine_version"):
            own = f"r.{quoted(name)}"
            columns[name] = f"coalesce({columns[name]}, {own})" if name in columns else own
        joins = {"r.": "LEFT JOIN runs AS r ON r.run = p.run"}
        links = self.names("links")
        for kind in KINDS:
            measured = [name for name in self.columns(kind) if name not in ("row", "run", "name", "position")]
            for name, number in self.names(kind).items():
                shown = shown_as(kind, name, links)
                alias = f"{kind[0]}{number}_"
                joins[f"{alias}."] = f"LEFT JOIN {kind} AS {alias} ON {alias}.row = {number * ROWS} + p.run"
                columns |= {f"{shown}.{column}": f"{alias}.{quoted(column)}" for column in measured}
        return columns, joins
