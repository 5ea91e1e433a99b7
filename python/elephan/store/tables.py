"""One row per run and label set, from the index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.store.index import Index, quoted
from elephan.store.summary import GROUP, LINK, RUN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def rows_of(index: Index, labels: Mapping[str, object], columns: Sequence[str]) -> Any:
    """Lay runs and their labels out in one table.

    Parameters
    ----------
    index : Index
    labels : mapping
        Only points with these.
    columns : sequence of str
        Names of columns, ``"labels"`` and ``"summary"`` among them.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    sources = _sources(index)
    chosen: dict[str, str] = {}
    for column in columns:
        if column in ("labels", "summary"):
            wanted = {n: s for n, s in sources.items() if (s.startswith("p.")) == (column == "labels")}
        elif column in sources:
            wanted = {column: sources[column]}
        else:
            message = f'columns: there is no "{column}"; columns: labels, summary, {", ".join(sources)}'
            raise InputError(message)
        chosen |= wanted
    joins = {source.split(".")[0] for source in chosen.values()}
    tables = [text for name, text in _joins(index).items() if name in joins]
    where = " AND ".join(f"p.{quoted(name)} = ?" for name in labels) or "1"
    order = ", ".join([f"p.{quoted(name)}" for name in index.names("labels")] + ["r.id"])
    sql = (
        f"SELECT {', '.join(chosen.values())} FROM runs AS r LEFT JOIN points AS p ON p.run = r.run "
        f"{' '.join(tables)} WHERE {where} ORDER BY {order}"
    )
    rows = index.rows(sql, tuple(labels.values()))
    parts = list(zip(*rows, strict=True)) or [()] * len(chosen)
    return pa.table({name: as_column(values) for name, values in zip(chosen, parts, strict=True)})


def _joins(index: Index) -> dict[str, str]:
    found = {}
    for kind, letter in (("links", "l"), ("groups", "g")):
        for i, name in enumerate(index.names(kind)):
            text = name.replace("'", "''")
            found[f"{letter}{i}"] = (
                f"LEFT JOIN {kind} AS {letter}{i} ON {letter}{i}.run = r.run AND {letter}{i}.name = '{text}'"
            )
    return found


def _sources(index: Index) -> dict[str, str]:
    """Where each column comes from, in the order in which they are shown."""
    found = {name: f"p.{quoted(name)}" for name in index.names("labels")}
    found |= {"run": "r.id"} | {name: f"r.{name}" for name in RUN if name not in found}
    for kind, letter, known in (("links", "l", LINK), ("groups", "g", GROUP)):
        more = sorted(set(index.columns(kind)) - {"run", "name", "position", *known})
        for i, name in enumerate(index.names(kind)):
            found |= {f"{name}.{column}": f"{letter}{i}.{quoted(column)}" for column in (*known, *more)}
    return found


def as_column(values: Sequence[Any]) -> Any:
    """Make a column of one type; what is mixed becomes text.

    Parameters
    ----------
    values : sequence

    Returns
    -------
    pyarrow.Array
    """
    import pyarrow as pa  # noqa: PLC0415 (as above)

    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pa.array(values, type=pa.float64())
    if len(kinds) > 1:
        return pa.array([None if value is None else str(value) for value in values])
    return pa.array(values, type=None if kinds else pa.float64())
