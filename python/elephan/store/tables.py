"""Tables of the index with one row per run and label set, in an order independent of the order of insertion."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from elephan.store.errors import StoreError
from elephan.store.index import KINDS, Index, quoted
from elephan.store.labels import Labels
from elephan.store.query import as_arrow, as_column, hint
from elephan.store.schema import ROWS
from elephan.store.summary import GROUP, LINK, RUN, shown_as

LABELS, SUMMARY = "labels", "summary"

_RUNS = "LEFT JOIN runs AS r ON r.run = p.run"

_CORE = {"links": LINK, "groups": GROUP}


def condition(index: Index, labels: Labels) -> tuple[str, tuple[object, ...]]:
    """Return the SQL condition that points have given labels.

    Returns
    -------
    str
        Condition on the table of points with the alias ``p``.
    tuple
        Values of the condition's placeholders.

    Raises
    ------
    StoreError
        If no run has a label of that name, and the store is not empty.
    """
    known = index.names("labels")
    for name in labels:
        if name not in known:
            if not index.rows("SELECT 1 FROM runs LIMIT 1"):
                return "0", ()
            raise StoreError(f'labels: there is no "{name}"; {hint(name, known, "labels")}')
    return " AND ".join(f"p.{quoted(name)} = ?" for name in labels) or "1", tuple(labels.values())


def runs(index: Index, labels: Labels) -> list[str]:
    """List the runs with given labels.

    Returns
    -------
    list of str
        Ids, sorted.

    Raises
    ------
    StoreError
        For the reason of `condition`.
    """
    where, values = condition(index, labels)
    sql = f"SELECT DISTINCT r.id FROM points AS p JOIN runs AS r USING (run) WHERE {where} ORDER BY r.id"
    return [run_id for (run_id,) in index.rows(sql, values)]


def lay_out(index: Index, labels: Labels, columns: Sequence[str]) -> Any:
    """Return runs and their labels as one table.

    Parameters
    ----------
    labels : dict
        Return only points with these labels.
    columns : sequence of str
        Names of columns, which may include ``"labels"`` and ``"summary"``.

    Raises
    ------
    StoreError
        If a column or label does not exist.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    index.rows("BEGIN")
    try:
        layout = _Layout(index, condition(index, labels), columns)
        found, order = layout.columns(), layout.order()
    finally:
        index.rows("COMMIT")
    return pa.table(found).take(order) if found else pa.table({"run": order}).select([])


class _Layout:
    """Columns of the selected points, in the order of the index."""

    def __init__(self, index: Index, where: tuple[str, tuple[object, ...]], wanted: Sequence[str]) -> None:
        self.index, self.where, self.wanted = index, where, wanted
        self.labels = {name: column for name, column in self._labels().items() if column.null_count < len(column)}
        self.own = {"run": "r.id"} | {name: f"r.{quoted(name)}" for name in RUN}
        self.places = self._places()

    def columns(self) -> dict[str, Any]:
        """Return the requested columns, in the requested order."""
        names = self._names()
        own = self._fetch({name: source for name, source in self.own.items() if name in names}, _RUNS)
        # A label replaces a column of the summary with the same name; runs without the label keep their own value.
        found = {
            name: _first(self.labels.get(name), own.get(name)) for name in names if name in self.labels or name in own
        }
        for kind in KINDS:
            for name, number in self.index.names(kind).items():
                found |= self._measured(kind, name, number, names)
        return {name: found[name] for name in names if name in found}

    def order(self) -> Any:
        """Return the order of the points in the output."""
        return _order(list(self.labels.values()), self._ids, self.length)

    def _names(self) -> dict[str, None]:
        """Return the names of the requested columns."""
        summary = {**self.own, **self.places}
        names: dict[str, None] = {}
        for name in self.wanted:
            if name == LABELS:
                names |= dict.fromkeys(self.labels)
            elif name == SUMMARY:
                names |= dict.fromkeys(summary)
            elif name in self.labels or name in summary:
                names[name] = None
            elif name not in self.index.names("labels"):
                known = [LABELS, SUMMARY, *self.labels, *summary]
                raise StoreError(f'columns: there is no "{name}"; {hint(name, known)}')
        return names

    def _measured(self, kind: str, place: str, number: int, names: Mapping[str, None]) -> dict[str, Any]:
        """Return the columns of one link or group; columns of nulls that were not requested by name are omitted."""
        columns = {name: column for name, (at, column) in self.places.items() if at == (kind, place) and name in names}
        if not columns:
            return {}
        sources = {name: f"m.{quoted(column)}" for name, column in columns.items()}
        if SUMMARY in self.wanted:
            sources[""] = "m.row"
        got = self._fetch(sources, f"LEFT JOIN {kind} AS m ON m.row = {number * ROWS} + p.run")
        is_there = "" in got and got.pop("").null_count < self.length
        return {
            name: column
            for name, column in got.items()
            if name in self.wanted or (is_there and (columns[name] in _CORE[kind] or column.null_count < self.length))
        }

    def _labels(self) -> dict[str, Any]:
        """Return the columns of labels, with booleans restored from the integers of SQLite."""
        found = self._fetch({name: f"p.{quoted(name)}" for name in self.index.names("labels")}, "")
        flags = {name for (name,) in self.index.rows("SELECT name FROM names WHERE kind = 'labels' AND position = 1")}
        if flags:
            lines = [json.loads(line) for line in self._fetch({"": "p.labels"}, "")[""].to_pylist()]
            for name in flags:
                found[name] = as_column([line.get(name) for line in lines])
        return found

    def _places(self) -> dict[str, tuple[tuple[str, str], str]]:
        """Return the columns of links and groups: by shown name, the kind, the link or group, and its column."""
        found: dict[str, tuple[tuple[str, str], str]] = {}
        links = self.index.names("links")
        for kind in KINDS:
            there = set(self.index.columns(kind)) - {"row", "run", "name", "position"}
            measured = [*_CORE[kind], *sorted(there - set(_CORE[kind]))]
            for place in self.index.names(kind):
                shown = shown_as(kind, place, links)
                found |= {f"{shown}.{column}": ((kind, place), column) for column in measured}
        return found

    def _ids(self) -> Any:
        return self._fetch({"run": "r.id"}, _RUNS)["run"]

    @cached_property
    def length(self) -> int:
        """Number of points."""
        return int(self.index.rows(f"SELECT count(*) FROM points AS p WHERE {self.where[0]}", self.where[1])[0][0])

    def _fetch(self, sources: Mapping[str, str], join: str) -> dict[str, Any]:
        if not sources:
            return {}
        sql = f"SELECT {', '.join(sources.values())} FROM points AS p {join} WHERE {self.where[0]} ORDER BY p.point"
        table = as_arrow(list(sources), self.index.connection.execute(sql, self.where[1]))
        return dict(zip(sources, table.columns, strict=True))


def _first(label: Any, own: Any) -> Any:
    """Return a label's column, with the run's own value where the label is null."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    import pyarrow.compute as pc  # noqa: PLC0415 (as above)

    if label is None or own is None:
        return own if label is None else label
    if label.type != own.type:
        kind = pa.string() if pa.string() in (label.type, own.type) else pa.float64()
        label, own = label.cast(kind), own.cast(kind)
    return pc.coalesce(label, own)


def _order(labels: Sequence[Any], ids: Callable[[], Any], length: int) -> Any:
    """Return the order of rows by their labels (null, then numbers, then texts), and then by id."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    ranks = np.zeros(length, dtype=np.int64)
    for column in labels:
        found = _ranks(column)
        # Both ranks are at most the number of rows, so their product fits into 64 bits.
        ranks = np.unique(ranks * (int(found.max(initial=0)) + 1) + found, return_inverse=True)[1]
    order = np.argsort(ranks, kind="stable")
    equal = np.flatnonzero(np.diff(ranks[order]) == 0)
    if equal.size:
        places = np.unique(np.concatenate([equal, equal + 1]))
        rows = order[places]
        names = np.array(ids().take(pa.array(rows)).to_pylist(), dtype="S64")
        order[places] = rows[np.lexsort((names, ranks[rows]))]
    return pa.array(order)


def _ranks(column: Any) -> Any:
    """Return the ranks of a column's values, 0 for null."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    coded = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    values = coded.dictionary.to_pylist()
    place = np.zeros(len(values) + 1, dtype=np.int64)
    for rank, code in enumerate(sorted(range(len(values)), key=lambda at: values[at]), start=1):
        place[code] = rank
    codes = coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return place[codes]
