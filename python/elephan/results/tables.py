"""Tables of results: a row per link, group of flows or run, from the parts' documents."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.display import CI95, ColumnTable
from elephan.errors import InputError, unknown
from elephan.metrics.quantity import GROUPS, LINKS, TRANSFERS, tabled
from elephan.results.parts import ResultPart, RunArrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan.results.documents import MeasuredRun, PartDocument, PartGroup, PartLink

SAMPLED = {"links": "link", "flows": "flow"}
"""Kinds of samples, and the column that names the link or flow of a row."""


def measured(values: Mapping[str, Any], row: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Add every measured quantity in a part of a document to a row, at any depth.

    Parameters
    ----------
    values : mapping
        Quantities are ``{"mean", "ci95"}``.
    row : dict
        Changed, and returned.
    before : str
        Prefix of the names.

    Returns
    -------
    dict
        A quantity ``x`` becomes ``x`` and ``x_ci95``; what lies deeper is joined with ``_``.

    Examples
    --------
    >>> measured({"drops": {"early": {"mean": 2.0, "ci95": None}}, "rate": 5}, {})
    {'drops_early': 2.0, 'drops_early_ci95': None}
    """
    for name, value in values.items():
        if type(value) is not dict:
            continue
        full = before + name
        if "mean" in value:
            row[full] = value["mean"]
            row[full + CI95] = value["ci95"]
        else:
            measured(value, row, full + "_")
    return row


def links_table(parts: Sequence[ResultPart]) -> ColumnTable:
    """Return a row per part and link."""
    listed = _listed(("name", "rate_bps", "discipline", "buffer_packets"), LINKS)
    return _table("Links", listed, parts, lambda document: map(link_row, document["links"]))


def groups_table(parts: Sequence[ResultPart]) -> ColumnTable:
    """Return a row per part and group of flows."""
    listed = _listed(("name", "law", "recovery", "flows"), GROUPS, TRANSFERS)
    return _table("Groups of flows", listed, parts, lambda document: map(group_row, document["groups"]))


def fairness_table(parts: Sequence[ResultPart]) -> ColumnTable:
    """Return a row per part."""
    return _table("Fairness", (), parts, lambda document: iter([measured(document["fairness"], {})]))


def _listed(facts: Sequence[str], *kinds: str) -> tuple[str, ...]:
    """Return the columns that are shown by default; the table has all."""
    return (*facts, *(each.key for each in tabled(*kinds) if each.listed))


def link_row(link: PartLink) -> dict[str, Any]:
    """Return the facts and quantities of a link of a document as a row."""
    queue = {"discipline": link["queue"]["discipline"], "buffer_packets": link["buffer_packets"]}
    return measured(link, {"name": link["name"], "rate_bps": link["rate_bps"]} | queue)


def group_row(group: PartGroup) -> dict[str, Any]:
    """Return the facts and quantities of a group of flows of a document as a row."""
    return measured(group, {name: group[name] for name in ("name", "law", "recovery", "flows")})


def _table(
    caption: str,
    shown: Sequence[str],
    parts: Sequence[ResultPart],
    rows_of: Callable[[MeasuredRun | PartDocument], Iterator[dict[str, Any]]],
) -> ColumnTable:
    found = [(part.labels, row) for part in parts for row in rows_of(part.document)]
    # In the order of the fullest: a model says less than a run.
    names = dict.fromkeys(name for _, row in sorted(found, key=lambda one: -len(one[1])) for name in row)
    heads = _heads((part.labels for part in parts), names)
    columns = {head: _alike([labels.get(name) for labels, _ in found]) for name, head in heads.items()}
    columns |= {name: _alike([row.get(name) for _, row in found]) for name in names}
    return ColumnTable(columns, caption, (*heads.values(), *shown) if shown else ())


def _alike(values: list[Any]) -> list[Any]:
    """Convert values to one type: to strings if some are strings, as data frames require."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds <= {int, float}:
        return values
    return [value if value is None or isinstance(value, str) else str(value).lower() for value in values]


def _heads(labels: Iterable[Mapping[str, Any]], columns: Container[str]) -> dict[str, str]:
    """Return column names for labels; a label with the name of a result column is renamed."""
    names = dict.fromkeys(name for one in labels for name in one)
    return {name: f"label {name}" if name in columns else name for name in names}


def joined(parts: Sequence[ResultPart], columns_of: Callable[[RunArrays], dict[str, Any]], caption: str) -> ColumnTable:
    """Concatenate long columns of several parts, preceded by their labels.

    Parameters
    ----------
    parts : sequence of ResultPart
    columns_of : callable
        From the arrays of a part to columns of one length.
    caption : str

    Returns
    -------
    ColumnTable
        Missing values are NaN, or empty for words.
    """
    own = [part for part in parts if part.arrays is not None]
    read = [columns_of(part.arrays()) for part in own if part.arrays is not None]
    heads = _heads((part.labels for part in own), {name for columns in read for name in columns})
    labels = {head: _alike([part.labels.get(name) for part in own]) for name, head in heads.items()}
    blocks: list[dict[str, Any]] = []
    for i, columns in enumerate(read):
        length = max((len(values) for values in columns.values()), default=0)
        blocks.append({head: _repeated(values[i], length) for head, values in labels.items()} | columns)
    names = dict.fromkeys(name for block in blocks for name in block)
    if len(blocks) == 1:
        return ColumnTable(blocks[0], caption)
    together: dict[str, Any] = {}
    for name in names:
        is_text = any(block[name].dtype == object for block in blocks if name in block)
        absent = _repeated(None if is_text else np.nan, 1)
        parts_of = (block.get(name, absent.repeat(max(map(len, block.values()), default=0))) for block in blocks)
        together[name] = np.concatenate(list(parts_of))
    return ColumnTable(together, caption)


def _repeated(value: Any, length: int) -> Any:
    kind = object if value is None or isinstance(value, str) else None
    return np.full(length, value, dtype=kind)


def _long(
    arrays: RunArrays, kind: str, values: Mapping[str, NDArray[Any]], time_s: NDArray[Any] | None = None
) -> dict[str, Any]:
    """Return values of links or flows as columns: a row per replication, link or flow, and instant if there are any."""
    named = [(name, i) for i, name in enumerate(arrays.links)] if kind == "links" else list(arrays.flows)
    names, places = [name for name, _ in named], [i for _, i in named]
    count, instants = arrays.replications, 1 if time_s is None else len(time_s)
    found = {"replication": np.repeat(np.arange(count, dtype=np.uint32), len(named) * instants)}
    if time_s is not None:
        found["time_s"] = np.tile(time_s, count * len(named))
    found["name"] = np.tile(np.repeat(np.array(names, dtype=object), instants), count)
    found["index"] = np.tile(np.repeat(np.array(places, dtype=np.uint32), instants), count)
    return found | {name: column.reshape(-1) for name, column in values.items()}


def _samples(arrays: RunArrays, kind: str) -> dict[str, Any]:
    """Return samples over time as columns, see `_long`."""
    if not arrays.time_s.size:
        raise InputError("samples: none were kept; run with series=True")
    return _long(arrays, kind, arrays.link_samples if kind == "links" else arrays.flow_samples, arrays.time_s)


TABLES: dict[str, Callable[[Sequence[ResultPart]], ColumnTable]] = {
    "links": links_table,
    "groups": groups_table,
    "fairness": fairness_table,
    "link_replications": lambda parts: joined(parts, lambda a: _long(a, "links", a.of_links), "Links"),
    "flow_replications": lambda parts: joined(parts, lambda a: _long(a, "flows", a.of_flows), "Flows"),
    "link_samples": lambda parts: joined(parts, lambda a: _samples(a, "links"), "Samples of links"),
    "flow_samples": lambda parts: joined(parts, lambda a: _samples(a, "flows"), "Samples of flows"),
}
"""Tables that every result has, by the name that `to_pandas` and `to_polars` take."""


def table(parts: Sequence[ResultPart], name: str) -> ColumnTable:
    """Return one of the `TABLES`.

    Raises
    ------
    InputError
        If there is none of this name, or it needs series that were not kept.
    """
    if name not in TABLES:
        raise InputError(f"table: {unknown('table', name, TABLES)}")
    return TABLES[name](parts)
