"""Columns of a sweep's table: of links, of groups of flows, of all flows; and paired differences between points.

Source of the pairing: LawKelton2000, Section 11.2; points with the same seed use the same random numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.errors import InputError, suggest
from elephan.metrics.quantity import ALWAYS, FAIRNESS, GROUPS, LINKS, SPELT, TRANSFERS, Quantity, quantities
from elephan.metrics.values import FairnessValues, GroupValues
from elephan.network import Network
from elephan.runs.measures import AskedMetric, row_name
from elephan.stats import estimate, paired
from elephan.units import resolved

if TYPE_CHECKING:
    from elephan.results import MetricDocument, RunDocument
    from elephan.results import Quantity as Measured
    from elephan.sweeps.result import PointResult

_ALL_LINKS, _ALL_GROUPS, _ALL_FLOWS = (
    {each.column: each for each in quantities(*kinds) if each.column}
    for kinds in ((LINKS,), (GROUPS, TRANSFERS), (FAIRNESS,))
)
"""Quantities of links, of groups of flows or their transfers, and of all flows, by the name of their column."""

NAMES = tuple(dict.fromkeys((*_ALL_LINKS, *_ALL_GROUPS, *_ALL_FLOWS)))
"""All column names; ``total`` is the sum of the goodputs of all flows."""

_ANSWERS = {"web": "page_time_p95", "page": "page_time_p95", "ping": "rtt_p95"}
"""Default columns for traffic whose main quantity is not goodput, by kind of traffic."""

_FORM = re.compile(r"(?P<name>\w+)(?:\[(?P<of>[^\[\]]+)\])?")


@dataclass(frozen=True)
class SweepColumn:
    """A column of a sweep's table.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    link, group : int or None
        Index of the link or the group; both are None for columns about all flows.
    of : str
        Name of the link or group; empty for columns about all flows.
    counted : tuple of int
        For columns about all flows: groups whose flows count.
    """

    name: str
    link: int | None
    group: int | None
    of: str
    counted: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """Name of the column as it is requested."""
        return f"{self.name}[{self.of}]" if self.of else self.name

    @property
    def quantity(self) -> Quantity:
        """The quantity that the column shows."""
        if self.link is not None:
            return _ALL_LINKS[self.name]
        return (_ALL_FLOWS if self.group is None else _ALL_GROUPS)[self.name]

    @property
    def key(self) -> str:
        """Key of the quantity in documents of runs, or name of the column if documents do not contain it."""
        return self.quantity.name if self.quantity.reported else self.name

    @property
    def unit(self) -> str:
        """Unit: ``bit/s``, ``s``, ``%`` (for a share) or empty."""
        return _unit(self.quantity)

    def measured(self, point: PointResult, document: RunDocument) -> Measured:
        """Read the column at a point.

        Parameters
        ----------
        document : mapping
            Document of the point.

        Returns
        -------
        dict
            ``mean`` and ``ci95``; null if the point does not have the quantity.
        """
        nothing: Measured = {"mean": None, "ci95": None}
        if not self.quantity.reported:
            values = self.by_replication(point)
            return nothing if values is None else estimate(values).to_json()
        read: Mapping[str, Any] = document
        part, index = (self.quantity.of, 0) if self.link is None else (LINKS, self.link)
        if part == FAIRNESS:
            fair: Measured = read[part][self.key]
            return {**fair}
        if self.group is not None:
            part, index = GROUPS, self.group
        row = read[part][index] if index < len(read[part]) else {}
        found: Measured = (row if self.quantity.of != TRANSFERS else row.get(TRANSFERS) or {}).get(self.key) or nothing
        return {**found}

    def by_replication(self, point: PointResult) -> list[float] | None:
        """Read the values of the column per replication; None if the store has only their mean.

        Returns
        -------
        list of float
            Values in the order of the replications.
        """
        if self.link is not None:
            return _of_link(_table(point, "links"), self.link, self.key)
        return _of_flows(_table(point, "flows"), self.quantity, self.counted if self.group is None else (self.group,))


@dataclass(frozen=True)
class MetricColumn:
    """A column of a sweep's table for a quantity of ``--metric``.

    Parameters
    ----------
    name : str
        Name of the quantity, with the options of its metric.
    of : str
        Name of the link, group or flow; empty for a property of the run.
    key : str
        Key of the quantity in documents.
    unit : str
        As in `SweepColumn`.
    rows : mapping of str to mapping
        Row of `elephan.runs.measures.measure` at each point that has one, by the id of its run.
    alike : SweepColumn or None
        Column of the same quantity, which may have values per replication.
    """

    name: str
    of: str
    key: str
    unit: str
    rows: Mapping[str, MetricDocument]
    alike: SweepColumn | None

    link: None = None
    group: None = None

    @property
    def label(self) -> str:
        """Name of the column; it differs from the name of the `SweepColumn` of the same quantity."""
        return f"--metric {self.name}[{self.of}]"

    @property
    def counted(self) -> tuple[int, ...]:
        """Groups whose flows count."""
        return () if self.alike is None else self.alike.counted

    def measured(self, point: PointResult, document: RunDocument) -> Measured:  # noqa: ARG002 (as `SweepColumn`)
        """Return the value at a point; null if the point has none."""
        row = self.rows.get(point.run)
        return {"mean": None, "ci95": None} if row is None else row["value"]

    def known(self, point: PointResult, replications: int) -> str:
        """Return the number of replications that have a value, in brackets; empty if all have one."""
        number = self.rows[point.run]["replications"] if point.run in self.rows else replications
        # Properties of the network are the same in all replications.
        return "" if number in (replications, 1) else f" ({number} of {replications})"

    def by_replication(self, point: PointResult) -> list[float] | None:
        """Return the values by replication, see `SweepColumn.by_replication`."""
        return None if self.alike is None else self.alike.by_replication(point)


AnyColumn = SweepColumn | MetricColumn
"""A column of a sweep's table."""


def metric_columns(asked: Sequence[AskedMetric], points: Sequence[PointResult], network: Network) -> list[MetricColumn]:
    """Compute metrics at all points.

    Returns
    -------
    list of MetricColumn
        A column for each quantity of each link, group, flow or run.
    """
    found: dict[tuple[str, str, str], dict[str, MetricDocument]] = {}
    for point in points if asked else ():
        for row in point.stored.measured(asked):
            found.setdefault((row["metric"], row["quantity"], row["name"]), {})[point.run] = row
    columns = []
    for (metric, key, of), rows in found.items():
        row = next(iter(rows.values()))
        alike = _alike(key, row["of"], of, network)
        unit = alike.unit if alike is not None else row["unit"].removesuffix("1")
        name = row_name(metric, key) + metric[metric.find("(") :] * ("(" in metric)
        columns.append(MetricColumn(name, of, key, unit, rows, alike))
    return columns


def _alike(key: str, kind: str, of: str, network: Network) -> SweepColumn | None:
    """Return the column that shows the same quantity of the same link, group or run, if there is one."""
    every = {"link": _ALL_LINKS, "group": _ALL_GROUPS, "run": _ALL_FLOWS}.get(kind, {})
    name = next((column for column, quantity in every.items() if quantity.reported and quantity.name == key), None)
    names = [each.name for each in (network.links if kind == "link" else network.groups)]
    if name is None or (of and of not in names):
        return None
    return _column(name, of or None, network)


def _unit(quantity: Quantity) -> str:
    if quantity.percent == ALWAYS:
        return "%"
    return quantity.unit if quantity.unit in ("bit/s", "s") else ""


def _table(point: PointResult, name: str) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 (slow to import)

    return pq.read_table(point.folder / f"{name}.parquet")


def _of_link(table: Any, link: int, key: str) -> list[float] | None:
    if key not in table.column_names:
        return None
    names = table["link"].to_pylist()
    wanted = list(dict.fromkeys(names))[link]
    return [float(x) for name, x in zip(names, table[key].to_pylist(), strict=True) if name == wanted]


def _of_flows(table: Any, quantity: Quantity, chosen: tuple[int, ...]) -> list[float] | None:
    """Compute a quantity per replication from the rows of flows of some groups; None if it needs other columns."""
    if not quantity.needs or not set(quantity.needs) <= set(table.column_names):
        return None
    groups = table["group"].to_pylist()
    order = list(dict.fromkeys(groups))
    wanted = {order[i] for i in chosen if i < len(order)}
    mine = np.array([each in wanted for each in groups], dtype=bool)
    replications = np.asarray(table["replication"])[mine]
    columns = [np.asarray(table[name], dtype=float)[mine] for name in quantity.needs]
    flows = [np.array([column[replications == k] for column in columns]) for k in np.unique(table["replication"])]
    if quantity.of == FAIRNESS:
        return list(quantity.values(FairnessValues([each[0] for each in flows], (), np.empty(0))))
    return list(quantity.values(GroupValues(quantity.needs, np.array(flows))))


def cards() -> list[dict[str, Any]]:
    """Return the cards of all columns, as ``elephan list columns`` shows them.

    Returns
    -------
    list of dict
        ``name``, ``title`` (meaning), ``unit``, ``source`` (how to request it) and ``parameters`` (always empty).

    Examples
    --------
    >>> {card["name"]: card["source"] for card in cards()}["delay_p95"]
    'delay_p95[LINK] or delay_p95[GROUP]'
    """
    found = []
    for name in NAMES:
        of = ["LINK"] * (name in _ALL_LINKS) + ["GROUP"] * (name in _ALL_GROUPS)
        asked = " or ".join(f"{name}[{each}]" for each in of) or name
        known = [every[name] for every in (_ALL_LINKS, _ALL_GROUPS, _ALL_FLOWS) if name in every]
        meaning, unit = "; of a group ".join(each.meaning for each in known), _unit(known[0])
        found.append({"name": name, "title": meaning, "unit": unit, "source": asked, "parameters": []})
    return found


def parse_columns(text: str, network: Network) -> list[SweepColumn]:
    """Parse ``--columns``.

    Parameters
    ----------
    text : str
        Names separated by commas, each with a link or a group in brackets if there are several.

    Raises
    ------
    InputError
        If a column, link or group does not exist.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> found = parse_columns("utilization,goodput[bulk],jain", Scenario.from_text(EXAMPLE).network)
    >>> [column.label for column in found]
    ['utilization[core]', 'goodput[bulk]', 'jain']
    """
    found = []
    for word in (part.strip() for part in re.split(r",(?![^\[]*\])", text)):
        match = _FORM.fullmatch(word)
        asked = SPELT.get(match["name"], match["name"]) if match else word
        if match is None or asked not in NAMES:
            there = "elephan list columns says which there are"
            raise InputError(f'--columns: there is no "{asked}"; {suggest(asked, NAMES, there)}')
        found.append(_column(asked, match["of"], network))
    return found


def _column(name: str, of: str | None, network: Network) -> SweepColumn:
    links, groups = [link.name for link in network.links], [group.name for group in network.groups]
    if name in _ALL_FLOWS:
        if of is not None:
            raise InputError(f"--columns: {name} is of all flows; leave out [{of}]")
        fair = tuple(i for i, counts in enumerate(network.counted()) if counts)
        return SweepColumn(name, None, None, "", fair if name != "total" else tuple(range(len(groups))))
    if of is not None and name in _ALL_LINKS and of in links:
        return SweepColumn(name, links.index(of), None, of)
    if of is not None and name in _ALL_GROUPS and of in groups:
        return SweepColumn(name, None, groups.index(of), of)
    if of is None and name in _ALL_LINKS:
        return SweepColumn(name, network.first_link, None, links[network.first_link])
    if of is None and len(groups) == 1:
        return SweepColumn(name, None, 0, groups[0])
    known = [*(links if name in _ALL_LINKS else []), *(groups if name in _ALL_GROUPS else [])]
    wrong = f'there is no "{of}"' if of is not None else "of which group"
    raise InputError(f"--columns: {name}: {wrong}; write {' or '.join(f'{name}[{each}]' for each in known)}")


def varied_link(network: Network, places: Iterable[str]) -> int:
    """Return the index of the link for a sweep's default columns: the only link whose keys vary, else the default link.

    Parameters
    ----------
    places : iterable of str
        Places in the scenario file, such as ``links[1].buffer`` or ``links[core].rate``.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> varied_link(Scenario.from_text(EXAMPLE).network, ["links[core].buffer", "flows[0].rtt"])
    0
    """
    named = {found[1] for place in places if (found := re.match(r"links\[([^\]]+)\]", place))}
    varied = {link.index for link in network.links if link.flows and named & {link.name, str(link.index)}}
    return varied.pop() if len(varied) == 1 else network.first_link


def default_columns(network: Network, link: int | None = None) -> list[SweepColumn]:
    """Return the columns that are shown by default.

    With several groups, each group has a column: goodput, or page times for pages, or round-trip times for pings.

    Parameters
    ----------
    link : int, optional
        Index of the link; by default `Network.first_link`.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> [column.label for column in default_columns(Scenario.from_text(EXAMPLE).network)]
    ['utilization[core]', 'loss[core]', 'delay[core]', 'total', 'jain']
    """
    of = None if link is None else network.links[link].name
    found = [_column(name, of, network) for name in ("utilization", "loss", "delay")]
    if len(network.groups) == 1:
        found.append(_column("total", None, network))
    else:
        found += [_column(_ANSWERS.get(group.traffic, "goodput"), group.name, network) for group in network.groups]
    return [*found, _column("jain", None, network)]


def difference(column: AnyColumn, point: PointResult, first: PointResult) -> Measured:
    """Return the difference of a point from the first one, paired by replication.

    Returns
    -------
    dict
        ``mean`` and ``ci95``. If `is_paired` is false for the column, the interval is that of two independent means. It
        is wider than a paired one if replications share their random numbers. The precision of quantiles is limited by
        the bins of histograms.
    """
    ours, theirs = column.by_replication(point), column.by_replication(first)
    if ours is None or theirs is None:
        one, other = (resolved(column.measured(each, each.document), column.key) for each in (point, first))
        if one["mean"] is None or other["mean"] is None:
            return {"mean": None, "ci95": None}
        halves = (one["ci95"], other["ci95"])
        # Each half-width uses Student's t with fewer degrees of freedom than the difference has, so the coverage of the
        # combined interval is at least 95 %.
        half = None if halves[0] is None or halves[1] is None else math.hypot(halves[0], halves[1])
        return {"mean": one["mean"] - other["mean"], "ci95": half}
    both = min(len(ours), len(theirs))
    return paired(ours[:both], theirs[:both]).difference.to_json()


def is_paired(column: AnyColumn, point: PointResult) -> bool:
    """Return whether the store has a column's values per replication; it has none for percentiles and transfers."""
    return column.by_replication(point) is not None


def column_rows(
    columns: Sequence[AnyColumn], points: Sequence[PointResult], *, differences: bool = False
) -> list[dict[str, Measured]]:
    """Read the columns at all points.

    Parameters
    ----------
    differences : bool
        Whether points other than the first show their differences from it.

    Returns
    -------
    list of dict
        Values by the label of the column.
    """
    rows = []
    for point in points:
        if differences and point is not points[0]:
            rows.append({column.label: difference(column, point, points[0]) for column in columns})
        else:
            document = point.document
            rows.append({column.label: column.measured(point, document) for column in columns})
    return rows
