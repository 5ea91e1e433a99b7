"""Tables of the index for SQL queries, with the meaning of each column: from the schema, and from an open store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from elephan.display import CI95
from elephan.metrics.quantity import FAIRNESS, GROUPS, LINK_FACTS, LINKS, TRANSFERS, long_names, unit
from elephan.store.index import KINDS, Index
from elephan.store.schema import TABLES
from elephan.store.summary import shown_as

_TITLES = {
    "results": "a row for each run and set of labels, with the columns of export: NAME.utilization of a link or group",
    "runs": "a row for each run",
    "links": "a row for each run and link",
    "groups": "a row for each run and group of flows",
    "points": "a row for each set of labels of a run; a column for each label",
    "failures": "a row for each point that failed",
    "names": "a row for the name of each label, link and group",
}
"""Contents of each table, in the order of display."""

LABEL = "label"
"""Meaning of a column of a label."""

_KEYS = {
    "run": "number of the run in this store; joins runs, links, groups and points",
    "name": "name in the scenario",
    "position": "place in the scenario, from 0 on",
    "row": "number of the row",
}

_MEANINGS: dict[str, dict[str, str]] = {
    "runs": {
        "id": "id of the run, as elephan store show takes it: the hash of scenario, seed and version",
        "seed": "seed of the run",
        "replications": "number of replications, of which measured columns are means",
        "duration_s": "simulated time, warm-up included",
        "warmup_s": "simulated time that is not measured",
        "packets_delivered": "packets delivered in all replications",
        "scenario_id": "hash of the scenario, if it differs from the id",
        "title": "title of the scenario",
        "engine": "engine that ran the scenario",
        "engine_version": "version of the engine",
        "warmup_rule": "stated, or the rule that determined the warm-up",
        "wall_s": "seconds that the run took",
        "written": "time at which the run was stored",
        "sha256": "checksums of the files of the run's folder, for verify",
        "sizes": "sizes of these files",
        **long_names(FAIRNESS),
    },
    "links": {
        "discipline": "queue discipline",
        **long_names(LINK_FACTS, LINKS),
    },
    "groups": {
        "law": "congestion control; empty for datagrams",
        "recovery": "loss recovery",
        "flows": "number of flows",
        **long_names(GROUPS, TRANSFERS),
    },
    "points": {"point": "number of the point", "labels": "the set of labels, as JSON"},
    "failures": {
        "key": "identity of the point",
        "labels": "labels of the point, as JSON",
        "scenario": "text of the point's scenario",
        "error": "error message",
        "written": "time of the failure",
    },
    "names": {
        "kind": "labels, links or groups",
        "number": "number of the name in this store",
        "position": "first position of a link or group; for a label, 1 if it ever had a boolean value",
    },
}


class DescribedColumn(NamedTuple):
    """A column; its unit is empty if it has none, its meaning if a run of a later version added the column."""

    name: str
    unit: str
    meaning: str


class DescribedTable(NamedTuple):
    """A table, the meaning of its rows, and its columns; half-widths of intervals are omitted."""

    name: str
    title: str
    columns: tuple[DescribedColumn, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {"name": self.name, "title": self.title, "columns": [column._asdict() for column in self.columns]}


def described(index: Index | None = None) -> list[DescribedTable]:
    """Describe the tables.

    Parameters
    ----------
    index : Index, optional
        Open store, whose labels and additional quantities are included; without it only the schema is described.

    Returns
    -------
    list of DescribedTable

    Examples
    --------
    >>> [table.name for table in described()]
    ['runs', 'links', 'groups', 'points', 'failures', 'names']
    >>> next(column for column in described()[1].columns if column.name == "utilization")
    DescribedColumn(name='utilization', unit='', meaning='bits that began service over what the link could carry')
    """
    if index is not None:
        columns = {name: index.columns(name) for name in _TITLES if name != "results"}
        results = _table("results", list(index.results()[0]), _kinds(index))
        return [results, *(_table(name, columns[name]) for name in columns)]
    connection = sqlite3.connect(":memory:")
    try:
        for statement in TABLES:
            connection.execute(statement)
        rows = {name: connection.execute(f"PRAGMA table_info({name})").fetchall() for name in _TITLES}
    finally:
        connection.close()
    return [_table(name, [row[1] for row in found]) for name, found in rows.items() if found]


def gathered(columns: Iterable[DescribedColumn], index: Index) -> tuple[list[DescribedColumn], dict[str, list[str]]]:
    """Merge the columns of ``results`` of all links, and those of all groups, into one such as LINK.utilization.

    Returns
    -------
    columns : list of DescribedColumn
    names : dict of str to list of str
        Names of the links and groups for which LINK and GROUP stand.
    """
    kinds = _kinds(index)
    found: dict[DescribedColumn, None] = {}
    names: dict[str, list[str]] = {}
    for column in columns:
        before, _, own = column.name.rpartition(".")
        if before not in kinds or column.meaning == LABEL:
            found[column] = None
            continue
        place = {"links": "LINK", "groups": "GROUP"}[kinds[before]]
        found[column._replace(name=f"{place}.{own}")] = None
        if before not in names.setdefault(place, []):
            names[place].append(before)
    return list(found), names


def _kinds(index: Index) -> dict[str, str]:
    """Return the kind, links or groups, of each name that is before the dot of a column of ``results``."""
    links = index.names("links")
    return {shown_as(kind, name, links): kind for kind in KINDS for name in index.names(kind)}


def _table(name: str, columns: list[str], kinds: Mapping[str, str] = MappingProxyType({})) -> DescribedTable:
    shown = (column for column in columns if not (column.endswith(CI95) and column.removesuffix(CI95) in columns))
    return DescribedTable(name, _TITLES[name], tuple(_column(name, column, kinds) for column in shown))


def _column(table: str, name: str, kinds: Mapping[str, str]) -> DescribedColumn:
    """Describe a column; those of ``results`` are NAME.COLUMN for links and groups, columns of runs, and labels."""
    before, _, own = name.rpartition(".")
    places = (table,) if table != "results" else (kinds[before],) if before in kinds else ("runs",)
    known = (_MEANINGS[place].get(own) for place in places)
    is_label = table in ("points", "results") and "." not in name.replace("].", "")
    meaning = next(filter(None, known), None) or _KEYS.get(own, "")
    if table == "results" and name == "run":
        meaning = _MEANINGS["runs"]["id"]
    units = unit(own) if meaning else ""
    return DescribedColumn(name, "" if units == "1" else units, meaning or (LABEL if is_label else ""))
