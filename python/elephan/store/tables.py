"""One row per run and label set, from the index, in an order that does not depend on how the runs came."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from elephan.store.errors import StoreError
from elephan.store.index import KINDS, quoted
from elephan.store.query import as_arrow, nearest
from elephan.store.schema import ROWS
from elephan.store.summary import GROUP, LINK, RUN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan.store.index import Index
    from elephan.store.labels import Labels

LABELS, SUMMARY = "labels", "summary"

FORMATS = ("csv", "parquet", "json")

_CORE = {"links": LINK, "groups": GROUP}


def condition(index: Index, labels: Labels) -> tuple[str, tuple[object, ...]]:
    """Say in SQL that points carry labels.

    Parameters
    ----------
    index : Index
    labels : dict

    Returns
    -------
    str
        For points called ``p``.
    tuple
        Its values.

    Raises
    ------
    StoreError
        If there is no label of a name, though there are runs.
    """
    known = index.names("labels")
    for name in labels:
        if name not in known:
            if not index.rows("SELECT 1 FROM runs LIMIT 1"):
                return "0", ()
            message = f'labels: there is no "{name}"; {nearest(name, known)}'
            raise StoreError(message)
    return " AND ".join(f"p.{quoted(name)} = ?" for name in labels) or "1", tuple(labels.values())


def lay_out(index: Index, labels: Labels, columns: Sequence[str]) -> Any:
    """Lay runs and their labels out in one table.

    Parameters
    ----------
    index : Index
    labels : dict
        Only points with these.
    columns : sequence of str
        Names of columns, ``"labels"`` and ``"summary"`` among them.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    StoreError
        If there is no such column or label.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    index.rows("BEGIN")
    try:
        found = _columns(index, condition(index, labels), columns)
    finally:
        index.rows("COMMIT")
    order = found.pop("")
    table = pa.table(found) if found else pa.table({"run": order}).select([])
    return table.take(order)


def encode(table: Any, kind: str) -> bytes:
    """Write a table as the bytes of a file.

    Parameters
    ----------
    table : pyarrow.Table
    kind : str
        One of `FORMATS`.

    Returns
    -------
    bytes

    Raises
    ------
    StoreError
        If there is no such format.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    sink = pa.BufferOutputStream()
    if kind == "csv":
        import pyarrow.csv  # noqa: PLC0415

        pa.csv.write_csv(table, sink, pa.csv.WriteOptions(quoting_style="needed"))
    elif kind == "parquet":
        import pyarrow.parquet  # noqa: PLC0415

        pa.parquet.write_table(table, sink, compression="zstd")
    elif kind == "json":
        lines = ",\n".join(f" {json.dumps(row, ensure_ascii=False, allow_nan=False)}" for row in table.to_pylist())
        return f"[\n{lines}\n]\n".encode() if lines else b"[]\n"
    else:
        message = f'format: there is no "{kind}"; {nearest(kind, FORMATS)}; use {", ".join(FORMATS)}'
        raise StoreError(message)
    return bytes(sink.getvalue())


def _columns(index: Index, where: tuple[str, tuple[object, ...]], wanted: Sequence[str]) -> dict[str, Any]:
    """Fetch columns in the order of the points, and under no name the order in which they are shown."""
    import pyarrow.compute as pc  # noqa: PLC0415 (slow to import)

    def fetch(sources: Mapping[str, str], joins: str) -> dict[str, Any]:
        chosen = ", ".join(sources.values())
        sql = f"SELECT {chosen} FROM points AS p {joins} WHERE {where[0]} ORDER BY p.point"
        table = as_arrow(list(sources), index.connection.execute(sql, where[1]))
        return dict(zip(sources, table.columns, strict=True))

    labels = {name: column for name, column in _labels(index, fetch).items() if column.null_count < len(column)}
    about = {"run": "r.id"} | {name: f"r.{quoted(name)}" for name in RUN}
    places = _places(index)
    everything = {**dict.fromkeys(labels, LABELS), **dict.fromkeys((*about, *places), SUMMARY)}
    names: dict[str, None] = {}
    for name in wanted:
        if name not in (LABELS, SUMMARY, *everything):
            message = f'columns: there is no "{name}"; {nearest(name, [LABELS, SUMMARY, *everything])}'
            raise StoreError(message)
        names |= dict.fromkeys([name] if name in everything else [n for n, part in everything.items() if part == name])
        if name == SUMMARY:
            names |= dict.fromkeys((*about, *places))

    join = "LEFT JOIN runs AS r ON r.run = p.run"
    runs = {name: source for name, source in about.items() if name in names}
    own = fetch(runs, join) if runs else {}
    # A label stands where a column of the summary would: runs without it show their own value.
    found = {name: _first(labels.get(name), own.get(name)) for name in names if name in labels or name in own}
    for kind in KINDS:
        for place, number in index.names(kind).items():
            sources = {
                name: f"m.{quoted(column)}"
                for name, (at, column) in places.items()
                if at == (kind, place) and name in names
            }
            if sources:
                got = fetch({"": "m.row", **sources}, f"LEFT JOIN {kind} AS m ON m.row = {number * ROWS} + p.run")
                rows = got.pop("")
                core = {f"{place}.{column}" for column in _CORE[kind]}
                asked = set(wanted)
                found |= {
                    name: column
                    for name, column in got.items()
                    if name in asked or (rows.null_count < len(rows) and (name in core or column.null_count < len(column)))
                }
    ordered = {name: found[name] for name in names if name in found}
    ids = (lambda: own["run"]) if "run" in own else (lambda: fetch({"run": "r.id"}, join)["run"])
    some = next(iter(labels.values()), None)
    length = len(some) if some is not None else len(ids())
    del pc
    return ordered | {"": _order(list(labels.values()), ids, length)}


def _labels(index: Index, fetch: Any) -> dict[str, Any]:
    """Columns of labels; booleans, which SQLite has not, are made of numbers again."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    sources = {name: f"p.{quoted(name)}" for name in index.names("labels")}
    found = fetch(sources, "") if sources else {}
    flags = {name for (name,) in index.rows("SELECT name FROM names WHERE kind = 'labels' AND position = 1")}
    if flags & found.keys():
        lines = [json.loads(line) for line in fetch({"labels": "p.labels"}, "")["labels"].to_pylist()]
        for name in flags & found.keys():
            values = [line.get(name) for line in lines]
            if all(value is None or isinstance(value, bool) for value in values):
                found[name] = pa.chunked_array([pa.array(values, type=pa.bool_())])
            elif any(isinstance(value, bool) for value in values):
                texts = [None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values]
                found[name] = pa.chunked_array([pa.array(texts, type=pa.string())])
    return found


def _places(index: Index) -> dict[str, tuple[tuple[str, str], str]]:
    """Columns of links and groups: of which, and what it is called there."""
    found: dict[str, tuple[tuple[str, str], str]] = {}
    links = index.names("links")
    for kind in KINDS:
        there = set(index.columns(kind)) - {"row", "run", "name", "position"}
        measured = [*_CORE[kind], *sorted(there - set(_CORE[kind]))]
        for place in index.names(kind):
            # A group called like a link is told apart.
            shown = f"flows[{place}]" if kind == "groups" and place in links else place
            found |= {f"{shown}.{column}": ((kind, place), column) for column in measured}
    return found


def _first(label: Any, own: Any) -> Any:
    """A label's column, and where it says nothing the run's own."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)
    import pyarrow.compute as pc  # noqa: PLC0415

    if label is None or own is None:
        return own if label is None else label
    if label.type != own.type:
        kind = pa.string() if pa.string() in (label.type, own.type) else pa.float64()
        label, own = label.cast(kind), own.cast(kind)
    return pc.coalesce(label, own)


def _order(labels: list[Any], ids: Any, length: int) -> Any:
    """Rows by their labels, nothing before numbers before texts, and then by id."""
    import numpy as np  # noqa: PLC0415 (with Arrow)
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    ranks = np.zeros(length, dtype=np.int64)
    for column in labels:
        found = _ranks(column)
        # Both are below the number of rows, so this fits.
        joint = ranks * (int(found.max(initial=0)) + 1) + found
        ranks = np.unique(joint, return_inverse=True)[1]
    order = np.argsort(ranks, kind="stable")
    tied = np.flatnonzero(np.diff(ranks[order]) == 0)
    if tied.size:
        names = np.array(ids().to_pylist(), dtype="S64") if len(labels) == 0 or tied.size * 4 > length else None
        if names is not None:
            order = np.lexsort((names, ranks))
        else:
            column = ids().combine_chunks()
            rows = np.unique(np.concatenate([tied, tied + 1]))
            some = np.array(column.take(pa.array(order[rows])).to_pylist(), dtype="S64")
            order[rows] = order[rows][np.lexsort((some, ranks[order[rows]]))]
    return pa.array(order)


def _ranks(column: Any) -> Any:
    """Places of a column's values in their order, 0 for none."""
    import numpy as np  # noqa: PLC0415 (with Arrow)
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
