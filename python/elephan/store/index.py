"""The index: SQLite rows of what the folders hold. It can be made again from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.store.labels import as_line
from elephan.store.schema import connect, migrate
from elephan.store.summary import summarize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from elephan.store.labels import Labels

FILE = "index.sqlite"

RESERVED = ("point", "run", "labels")
"""Names of columns of ``points`` that no label can have."""

_ABOUT = ("title", "engine", "engine_version", "warmup_rule", "written")


def quoted(name: str) -> str:
    """Write a name as SQL has it.

    Parameters
    ----------
    name : str

    Returns
    -------
    str

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
    folder : Path
        The store.
    readonly : bool
    """

    def __init__(self, folder: Path, *, readonly: bool) -> None:
        self.path = folder / FILE
        self.connection = connect(self.path, readonly=readonly)
        if not readonly:
            migrate(self.connection, self.path)
        self._known: dict[str, set[str]] = {}
        self._inserts: dict[tuple[str, ...], str] = {}

    def close(self) -> None:
        """Close it."""
        self.connection.close()

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Ask.

        Parameters
        ----------
        sql : str
        values : sequence

        Returns
        -------
        list of tuple
        """
        return self.connection.execute(sql, values).fetchall()

    def add(self, full: Mapping[str, Any], sha256: str, sizes: Mapping[str, int], sets: Iterable[Labels]) -> int:
        """Add a run, or put what it is now in the place of what it was.

        Parameters
        ----------
        full : mapping
            What ``run.json`` holds.
        sha256 : str
            Of ``run.json``.
        sizes : mapping of str to int
            Of its files.
        sets : iterable of dict
            Its labels.

        Returns
        -------
        int
            Number of the run in the index.
        """
        summary = summarize(full)
        where = full["provenance"]
        row = {name: value for name, value in summary.run.items() if name not in ("id", "scenario")}
        run_id = full["id"]
        row |= {"id": run_id, "title": full["run"]["scenario"], "sha256": sha256, "sizes": json.dumps(sizes)}
        row |= {"written": where.get("written"), "wall_s": where.get("wall_s")}
        row["scenario_id"] = full["run"]["id"] if full["run"]["id"] != run_id else None
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            known = self.number(run_id)
            if known is not None:
                self._forget(known)
                row["run"] = known
            number = self._insert("runs", row)
            for table, rows in (("links", summary.links), ("groups", summary.groups)):
                for position, each in enumerate(rows):
                    self._insert(table, {"run": number, "position": position, **each})
                    self._meet(table, each["name"], position)
            for labels in sets:
                self._label(number, labels)
            self.connection.execute("DELETE FROM failures WHERE key = ?", (run_id,))
        return number

    def label(self, number: int, labels: Labels) -> None:
        """Add a set of labels to a run.

        Parameters
        ----------
        number : int
        labels : dict
        """
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self._label(number, labels)

    def number(self, run_id: str) -> int | None:
        """Find a run's number in the index.

        Parameters
        ----------
        run_id : str

        Returns
        -------
        int or None
        """
        found = self.connection.execute("SELECT run FROM runs WHERE id = ?", (run_id,)).fetchone()
        return None if found is None else int(found[0])

    def forget(self, number: int) -> None:
        """Take a run out of the index.

        Parameters
        ----------
        number : int
        """
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self._forget(number)

    def sets(self, number: int) -> list[Labels]:
        """Return the sets of labels of a run, sorted.

        Parameters
        ----------
        number : int

        Returns
        -------
        list of dict
        """
        rows = self.rows("SELECT labels FROM points WHERE run = ? ORDER BY labels", (number,))
        return [json.loads(line) for (line,) in rows]

    def names(self, kind: str) -> list[str]:
        """Return the names of labels, links or groups there are.

        Parameters
        ----------
        kind : str
            ``"labels"``, ``"links"`` or ``"groups"``.

        Returns
        -------
        list of str
            Labels by name, the others by their position.
        """
        rows = self.rows("SELECT name FROM names WHERE kind = ? ORDER BY position, name", (kind,))
        return [name for (name,) in rows]

    def _forget(self, number: int) -> None:
        for table in ("runs", "links", "groups", "points"):
            self.connection.execute(f"DELETE FROM {table} WHERE run = ?", (number,))

    def _label(self, number: int, labels: Labels) -> None:
        if not labels:
            return
        line = as_line(labels)
        if (line,) in self.rows("SELECT labels FROM points WHERE run = ?", (number,)):
            return
        self._insert("points", {"run": number, "labels": line, **labels})
        for name in labels:
            self._meet("labels", name, None)

    def _insert(self, table: str, row: Mapping[str, Any]) -> int:
        names = (table, *row)
        if names not in self._inserts:
            self._widen(table, row)
            marks = ", ".join("?" * len(row))
            self._inserts[names] = f"INSERT INTO {table} ({', '.join(map(quoted, row))}) VALUES ({marks})"
        return int(self.connection.execute(self._inserts[names], tuple(row.values())).lastrowid or 0)

    def _widen(self, table: str, names: Iterable[str]) -> None:
        """Give a table the columns it lacks: labels, and what is measured since its schema was made."""
        there = {name.lower(): name for name in self.columns(table)}
        for name in names:
            if name not in there.values():
                if name.lower() in there:
                    message = f'labels: "{name}": the store has "{there[name.lower()]}" already; write it the same'
                    raise InputError(message)
                self.connection.execute(f"ALTER TABLE {table} ADD COLUMN {quoted(name)}")
                there[name.lower()] = name

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns.

        Parameters
        ----------
        table : str

        Returns
        -------
        list of str
        """
        return [row[1] for row in self.rows(f"PRAGMA table_info({table})")]

    def _meet(self, kind: str, name: str, position: int | None) -> None:
        """Remember the name of a label, link or group."""
        known = self._known.setdefault(kind, set())
        if name not in known:
            sql = "INSERT INTO names VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET position = min(position, excluded.position)"
            self.connection.execute(sql, (kind, name, position))
            known.add(name)

    def failures(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield key, labels, scenario and error of each failed point."""
        yield from self.rows("SELECT key, labels, scenario, error FROM failures ORDER BY key, labels")
