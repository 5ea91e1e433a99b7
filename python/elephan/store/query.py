"""Read-only SQL with suggestions for misspelt names; rows are returned as Arrow columns."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from elephan.errors import suggest
from elephan.store.errors import StoreError
from elephan.store.index import Index

CHUNK = 2000
"""Number of rows that are held as Python objects at a time. They fit into the processor's cache, which halves the time.
"""

_LISTED = 8
"""Maximum number of columns or tables that a message names."""

_TOKENS = re.compile(r"""'(?:[^']|'')*' | --[^\n]* | /\*.*?\*/ | "(?P<name>(?:[^"]|"")*)" """, re.VERBOSE | re.DOTALL)
_READING_PRAGMAS = {"table_info", "table_xinfo", "table_list", "index_list", "index_info"}
"""Pragmas that take an argument but only read."""

_NUMBERED = ("runs", "links", "groups")
"""Tables that can be joined by the number of the run."""

_READ_TABLE = re.compile(r"\b(?:from|join)\s+(\w+)", re.IGNORECASE)
_QUALIFIED = re.compile(r"\w+\.(?P<name>\w+)")
_ID_JOINED = re.compile(
    r"\b(?:from\s+results(?:\s+(?:as\s+)?\w+)?\s+(?:left\s+|inner\s+)?join\s+\w+|join\s+results)"
    r"(?:\s+(?:as\s+)?(?!using\b)\w+)?\s+using\s*\(\s*run\s*\)",
    re.IGNORECASE,
)
"""Patterns in a statement: a table that is read; a column with the name of its table; and a wrong join of ``results``,
which contains ids of runs, with a table that contains numbers of runs."""

_MISSING = re.compile(r"no such (?P<what>table|column): (?P<name>.+)")


def ask(index: Index, sql: str) -> Any:
    """Run a query on the index.

    Raises
    ------
    StoreError
        If the statement is invalid, or would change the index.
    """
    if not sql.strip():
        raise StoreError('query: empty; write for example SELECT * FROM results WHERE "core.utilization" > 0.95')
    if _ID_JOINED.search(_without_texts(sql)):
        message = "query: results has ids in its column run, and no other table has; JOIN points USING (run) for labels"
        raise StoreError(message)
    connection = index.connection
    attached = connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute(f"CREATE TEMP VIEW {index.view(sql)}")
    connection.execute("PRAGMA query_only = ON")
    connection.set_authorizer(_allow)
    try:
        cursor = connection.execute(_named(sql))
        if cursor.description is None:
            raise StoreError("query: gives no rows; it can only read: write a SELECT")
        return as_arrow(_distinct(column[0] for column in cursor.description), cursor)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise StoreError(_explained(index, sql, error)) from None
    finally:
        connection.set_authorizer(None)
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, attached)
        connection.execute("PRAGMA query_only = OFF")
        connection.execute("DROP VIEW temp.results")


def _allow(action: int, name: str | None, value: str | None, *_: object) -> int:
    """Refuse statements that change settings of the connection or the file, which SQLite counts as reading."""
    is_set = action == sqlite3.SQLITE_PRAGMA and value is not None and name not in _READING_PRAGMAS
    return sqlite3.SQLITE_DENY if is_set else sqlite3.SQLITE_OK


def as_arrow(names: Sequence[str], cursor: sqlite3.Cursor) -> Any:
    """Fetch all rows as Arrow columns.

    Returns
    -------
    pyarrow.Table
        Integers stay integers unless the column has other types, too; a column with any text becomes texts.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    parts: list[list[Any]] = [[] for _ in names]
    while rows := cursor.fetchmany(CHUNK):
        for part, values in zip(parts, zip(*rows, strict=True), strict=True):
            part.append(_array(values))
    return pa.table([_joined(part) for part in parts], names=list(names))


def as_column(values: Sequence[Any]) -> Any:
    """Return a column of a single type.

    Parameters
    ----------
    values : sequence
        If booleans occur together with other types, they become texts as in TOML.

    Examples
    --------
    >>> as_column([True, None]).to_pylist(), as_column([True, 2]).to_pylist(), as_column([1, 2.5]).to_pylist()
    ([True, None], ['true', '2'], [1.0, 2.5])
    """
    kinds = {type(value) for value in values if value is not None}
    if bool in kinds and len(kinds) > 1:
        values = [str(value).lower() if isinstance(value, bool) else value for value in values]
    return _joined([_array(values)])


def hint(name: str, known: Iterable[str], what: str = "columns") -> str:
    """Suggest the nearest known name, or list the known names.

    Parameters
    ----------
    what : str
        Noun for the names, in the plural.

    Examples
    --------
    >>> hint("core.utilisation", ["core.utilization", "run"])
    'did you mean "core.utilization"?'
    """
    there = list(known)
    more = f", … ({len(there)} {what}: elephan store tables)" if len(there) > _LISTED else ""
    shown = ", ".join(there[:_LISTED]) + more
    return suggest(name, there, f"there are {shown}" if there else "there is none yet")


def _array(values: Sequence[Any]) -> Any:
    """Return values as an Arrow array."""
    import pyarrow as pa  # noqa: PLC0415 (as above)

    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        if any(isinstance(value, str | bytes) for value in values):
            return pa.array([None if value is None else _text(value) for value in values], type=pa.string())
        return pa.array([None if value is None else float(value) for value in values], type=pa.float64())


def _joined(parts: list[Any]) -> Any:
    """Concatenate parts of a column as one type."""
    import pyarrow as pa  # noqa: PLC0415 (as above)

    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if not kinds:
        return pa.chunked_array(parts, type=pa.null()) if parts else pa.chunked_array([], type=pa.null())
    if len(kinds) == 1:
        kind = kinds.pop()
    else:
        kind = pa.float64() if all(not pa.types.is_string(each) for each in kinds) else pa.string()
    return pa.chunked_array([_as_kind(part, kind) for part in parts], type=kind)


def _as_kind(part: Any, kind: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (as above)

    if part.type == kind or not pa.types.is_string(kind):
        return part.cast(kind)
    return pa.array([None if value is None else _text(value) for value in part.to_pylist()], type=kind)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)  # Equal numbers give equal texts, whether they are integers or not.
    return value if isinstance(value, str) else repr(value)


def _distinct(names: Iterable[str]) -> list[str]:
    """Number columns that have the same name."""
    found: list[str] = []
    for name in names:
        count, new = 1, name
        while new in found:
            count += 1
            new = f"{name}_{count}"
        found.append(new)
    return found


def _known(index: Index) -> dict[str, list[str]]:
    """Return tables and views with their columns."""
    rows = index.rows("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name <> 'results', name")
    tables = {name: index.columns(name) for (name,) in rows if not name.startswith("sqlite_")}
    return {"results": list(index.results()[0])} | {name: names for name, names in tables.items() if name != "results"}


def _named(sql: str) -> str:
    """Quote names in backticks, so that they cannot be read as strings.

    If a table has no column x, SQLite reads "x" as the text x (and avg("x") is 0), but it refuses `x`.
    """

    def name_only(match: re.Match[str]) -> str:
        if match["name"] is None:
            return match[0]
        return "`" + match["name"].replace('""', '"').replace("`", "``") + "`"

    return _TOKENS.sub(name_only, sql)


def _without_texts(sql: str) -> str:
    """Return a statement without its texts, comments and quoted names."""
    return _TOKENS.sub(" ", sql)


def _explained(index: Index, sql: str, error: Exception) -> str:
    """Explain the error of a statement."""
    reason = str(error)
    if match := _MISSING.match(reason):
        known = _known(index)
        name = match["name"].strip('"')
        if match["what"] == "table":
            return f'query: there is no table "{name}"; {hint(name, known, "tables")}'
        columns = dict.fromkeys(column for columns in known.values() for column in columns)
        quoted = {match["name"].replace('""', '"') for match in _TOKENS.finditer(sql) if match["name"] is not None}
        if name in quoted and name not in columns:
            return f"query: there is no column \"{name}\"; {hint(name, columns)} (texts stand in 'single quotes')"
        if name not in columns and (alone := _QUALIFIED.fullmatch(name)) is not None:
            name = alone["name"]
        asked = [table for table in _READ_TABLE.findall(_without_texts(sql)) if table in known]
        elsewhere = [table for table, names in known.items() if name in names]
        others = {match["name"] for match in _TOKENS.finditer(sql)} | set(re.findall(r"\w+", _without_texts(sql)))
        others &= columns.keys()
        whole = [table for table in elsewhere if others <= set(known[table])]
        if whole:
            return f'query: what is asked has no column "{name}"; write FROM {whole[0]}, which has it'
        # Of the tables that can be joined, find one that has the column, or a label that ends with the name.
        joined = [
            (table, column)
            for ends in ("", ".")
            for table in ("points", *_NUMBERED)
            for column in known.get(table, ())
            if (column.endswith(f".{name}") if ends else column == name)
        ]
        if joined and asked and asked[0] in _NUMBERED:
            table, column = joined[0]
            how = f"write FROM {asked[0]} JOIN {table} USING (run)"
            return f'query: {asked[0]} has no column "{name}"; {table} has "{column}": {how}'
        alike = [column for column in columns if column.endswith(f".{name}")]
        if alike:
            return f'query: what is asked has no column "{name}"; there is "{alike[0]}"'
        if elsewhere:
            return f'query: what is asked has no column "{name}"; JOIN {elsewhere[0]}, which has it, by run'
        return f'query: there is no column "{name}"; {hint(name.rpartition(".")[2], columns)}'
    if (
        "not authorized" in reason
        or "readonly" in reason
        or "attached" in reason
        or "cannot modify" in reason
        or "query_only" in reason
    ):
        return "query: would change the index; it can only read: write a SELECT"
    if "one statement" in reason:
        return "query: has several statements; write one SELECT"
    if "syntax error" in reason or "incomplete" in reason or "unrecognized token" in reason:
        return f"query: {reason}; the tables and their columns: elephan store tables"
    return f"query: {reason}"
