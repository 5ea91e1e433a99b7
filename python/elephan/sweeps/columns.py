"""Columns of a sweep's table: of links, of groups of flows, of all flows; and paired differences between points.

Source of the pairing: LawKelton2000, Section 11.2; points that keep their seed share their draws.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.errors import InputError, suggest
from elephan.metrics import jain
from elephan.stats import estimate, paired
from elephan.units import resolved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan.network import Network
    from elephan.sweeps.result import PointResult

Quantity = dict[str, float | None]
"""A measured quantity: ``mean`` and ``ci95``."""

OF_LINKS = {
    "utilization": "utilization",
    "loss": "loss_ratio",
    "delay": "queueing_delay_s",
    "delay_p50": "queueing_delay_p50_s",
    "delay_p95": "queueing_delay_p95_s",
    "delay_p99": "queueing_delay_p99_s",
    "backlog": "backlog_packets",
    "backlog_p95": "backlog_p95_packets",
    "marks": "marks",
}
"""Keys of a link in a run's document, by column name."""

OF_GROUPS = {
    "goodput": "goodput_per_flow_bps",
    "loss": "loss_ratio",
    "srtt": "srtt_s",
    "delay": "delay_s",
    "delay_p50": "delay_p50_s",
    "delay_p95": "delay_p95_s",
    "delay_p99": "delay_p99_s",
    "rtt": "rtt_s",
    "rtt_p50": "rtt_p50_s",
    "rtt_p95": "rtt_p95_s",
    "rtt_p99": "rtt_p99_s",
    "cwnd": "cwnd_segments",
    "timeouts": "timeouts",
    "page_time": "page_time_s",
    "page_time_p50": "page_time_p50_s",
    "page_time_p95": "page_time_p95_s",
    "completion_time": "completion_time_s",
    "completion_time_p50": "completion_time_p50_s",
    "completion_time_p95": "completion_time_p95_s",
    "slowdown": "slowdown",
    "slowdown_p95": "slowdown_p95",
    "completed": "completed",
}
"""Keys of a group of flows, or of its transfers, by column name; ``delay`` and ``rtt`` are those of timed datagrams."""

WITHIN = {"goodput_p5": 5, "goodput_p50": 50, "goodput_p95": 95}
"""Percentiles over the flows of a group, by column name; the mean over replications is shown."""

OF_ALL = ("jain", "jain_maxmin", "rtt_ratio", "total")
"""Columns about all flows; ``total`` is the sum of their goodputs."""

NAMES = tuple(dict.fromkeys((*OF_LINKS, *OF_GROUPS, *WITHIN, *OF_ALL)))
"""All column names."""

MEANINGS = {
    "utilization": "bits that began service over what the link could carry",
    "loss": "packets dropped over packets arrived, of a link; over packets sent, of a group",
    "delay": "waiting time at the link, mean over packets, own service excluded; of cbr from sending on",
    "delay_p50": "the same, median",
    "delay_p95": "the same, 95 %",
    "delay_p99": "the same, 99 %",
    "backlog": "packets waiting at the link, mean over time",
    "backlog_p95": "the same, 95 %",
    "marks": "packets marked at the link",
    "goodput": "what a flow got in order, mean over the flows of the group",
    "srtt": "smoothed round-trip time, mean over the flows of the group",
    "rtt": "from a ping until its answer is back, mean over the flows of the group",
    "rtt_p50": "the same, median over the pings",
    "rtt_p95": "the same, 95 %",
    "rtt_p99": "the same, 99 %",
    "cwnd": "congestion window, mean over the flows of the group",
    "timeouts": "retransmission timeouts of a flow",
    "page_time": "from the opening of a page to its last byte, mean",
    "page_time_p50": "the same, median",
    "page_time_p95": "the same, 95 %",
    "completion_time": "from the opening of a transfer to its last byte, mean",
    "completion_time_p50": "the same, median",
    "completion_time_p95": "the same, 95 %",
    "slowdown": "completion time over the least that the transfer can take, mean",
    "slowdown_p95": "the same, 95 %",
    "completed": "transfers completed",
    "goodput_p5": "goodput that 5 % of the flows of the group stay below",
    "goodput_p50": "the same, median",
    "goodput_p95": "the same, 95 %",
    "jain": "Jain's index of the goodputs of all flows that do not end",
    "jain_maxmin": "the same over their max-min fair shares",
    "rtt_ratio": "goodput of the third with the shortest round-trip times over that of the third with the longest",
    "total": "goodput of all flows together",
}
"""Meanings of the columns."""

_ANSWERS = {"web": "page_time_p95", "page": "page_time_p95", "ping": "rtt_p95"}
"""Default columns of traffic whose main quantity is not its goodput."""

_OF_FLOWS = {name: OF_GROUPS[name] for name in ("srtt", "cwnd", "timeouts")} | {"delay": "delay_s", "rtt": "delay_s"}
"""Keys of flows whose mean over a group is in the document; the delay of a ping is a round trip."""

_FORM = re.compile(r"(?P<name>\w+)(?:\[(?P<of>[^\[\]]+)\])?")
_RATES = {"goodput", *WITHIN, "total"}
_TIMES = {name for name in (*OF_LINKS, *OF_GROUPS) if name.startswith(("delay", "rtt", "srtt", "page", "completion"))}


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
        The name of that; empty of all flows.
    counted : tuple of int
        Groups whose flows count where it is of all.
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
    def key(self) -> str:
        """Key of the quantity in the document of a run."""
        return (OF_LINKS if self.link is not None else OF_GROUPS).get(self.name, self.name)

    @property
    def unit(self) -> str:
        """Unit: ``bit/s``, ``s``, ``%`` (of a share) or empty."""
        if self.name in _RATES:
            return "bit/s"
        return "s" if self.name in _TIMES else "%" if self.name == "loss" else ""

    def measured(self, point: PointResult, document: Mapping[str, Any]) -> Quantity:
        """Read the column at a point.

        Parameters
        ----------
        document : mapping
            Document of the point.

        Returns
        -------
        dict
            ``mean`` and ``ci95``; null where the point has nothing of the kind.
        """
        nothing: Quantity = {"mean": None, "ci95": None}
        if self.name in WITHIN or self.name == "total":
            values = self.by_replication(point)
            return nothing if values is None else estimate(values).to_json()
        if self.link is not None:
            links = document["links"]
            return links[self.link][OF_LINKS[self.name]] if self.link < len(links) else nothing
        if self.group is None:
            return dict(document["fairness"][self.name])
        if self.group >= len(document["groups"]):
            return nothing
        group = document["groups"][self.group]
        return dict(group.get(OF_GROUPS[self.name]) or (group["transfers"] or {}).get(OF_GROUPS[self.name]) or nothing)

    def by_replication(self, point: PointResult) -> list[float] | None:
        """Read the column per replication; None if the store keeps only the mean.

        Returns
        -------
        list of float
            Values in the order of the replications.
        """
        if self.link is not None:
            return _of_link(_table(point, "links"), self.link, OF_LINKS[self.name])
        return _of_flows(_table(point, "flows"), self.name, self.group, self.counted)


def _table(point: PointResult, name: str) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 (slow to import)

    return pq.read_table(point.folder / f"{name}.parquet")


def _of_link(table: Any, link: int, key: str) -> list[float] | None:
    if key not in table.column_names:
        return None
    names = table["link"].to_pylist()
    wanted = list(dict.fromkeys(names))[link]
    return [float(x) for name, x in zip(names, table[key].to_pylist(), strict=True) if name == wanted]


def _of_flows(table: Any, name: str, group: int | None, counted: tuple[int, ...]) -> list[float] | None:
    """Return a value per replication from the rows of flows."""
    columns = {key: np.asarray(table[key]) for key in ("replication", "goodput_bps", "sent", "dropped")}
    groups = table["group"].to_pylist()
    order = list(dict.fromkeys(groups))
    wanted = {order[i] for i in ((group,) if group is not None else counted) if i < len(order)}
    mine = np.array([each in wanted for each in groups], dtype=bool)
    values = []
    for replication in np.unique(columns["replication"]):
        rows = mine & (columns["replication"] == replication)
        goodput = columns["goodput_bps"][rows]
        if name in WITHIN:
            values.append(float(np.percentile(goodput, WITHIN[name])))
        elif name == "goodput":
            values.append(float(goodput.mean()))
        elif name == "total":
            values.append(float(goodput.sum()))
        elif name == "jain":
            values.append(jain(goodput))
        elif name == "loss":
            values.append(float(columns["dropped"][rows].sum() / max(columns["sent"][rows].sum(), 1)))
        elif (column := _OF_FLOWS.get(name)) in table.column_names:
            values.append(float(np.asarray(table[column], dtype=float)[rows].mean()))
        else:
            return None
    return values


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
        of = ["LINK"] * (name in OF_LINKS) + ["GROUP"] * (name in OF_GROUPS or name in WITHIN)
        asked = " or ".join(f"{name}[{each}]" for each in of) or name
        unit = SweepColumn(name, None, None, "").unit
        found.append({"name": name, "title": MEANINGS[name], "unit": unit, "source": asked, "parameters": []})
    return found


def parse_columns(text: str, network: Network) -> list[SweepColumn]:
    """Parse ``--columns``.

    Parameters
    ----------
    text : str
        Names with commas between them, each with a link or a group in brackets where there are several.

    Raises
    ------
    InputError
        If there is no such column, link or group.

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
        if match is None or match["name"] not in NAMES:
            asked = match["name"] if match else word
            there = "elephan list columns says which there are"
            message = f'--columns: there is no "{asked}"; {suggest(asked, NAMES, there)}'
            raise InputError(message)
        found.append(_column(match["name"], match["of"], network))
    return found


def _column(name: str, of: str | None, network: Network) -> SweepColumn:
    links, groups = [link.name for link in network.links], [group.name for group in network.groups]
    if name in OF_ALL:
        if of is not None:
            message = f"--columns: {name} is of all flows; leave out [{of}]"
            raise InputError(message)
        fair = tuple(i for i, counts in enumerate(network.counted()) if counts)
        return SweepColumn(name, None, None, "", fair if name != "total" else tuple(range(len(groups))))
    if of is not None and name in OF_LINKS and of in links:
        return SweepColumn(name, links.index(of), None, of)
    if of is not None and (name in OF_GROUPS or name in WITHIN) and of in groups:
        return SweepColumn(name, None, groups.index(of), of)
    if of is None and name in OF_LINKS:
        return SweepColumn(name, network.first_link, None, links[network.first_link])
    if of is None and len(groups) == 1:
        return SweepColumn(name, None, 0, groups[0])
    known = [*(links if name in OF_LINKS else []), *(groups if name in OF_GROUPS or name in WITHIN else [])]
    wrong = f'there is no "{of}"' if of is not None else "of which group"
    message = f"--columns: {name}: {wrong}; write {' or '.join(f'{name}[{each}]' for each in known)}"
    raise InputError(message)


def default_columns(network: Network) -> list[SweepColumn]:
    """Return the columns that are shown by default.

    With several groups, each has its goodput, or its page times if it has pages; pings have their round trip.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> [column.label for column in default_columns(Scenario.from_text(EXAMPLE).network)]
    ['utilization[core]', 'loss[core]', 'delay[core]', 'total', 'jain']
    """
    found = [_column(name, None, network) for name in ("utilization", "loss", "delay")]
    if len(network.groups) == 1:
        found.append(_column("total", None, network))
    else:
        found += [_column(_ANSWERS.get(group.traffic, "goodput"), group.name, network) for group in network.groups]
    return [*found, _column("jain", None, network)]


def difference(column: SweepColumn, point: PointResult, first: PointResult) -> Quantity:
    """Return the difference of a point from the first one, paired by replication.

    Returns
    -------
    dict
        ``mean`` and ``ci95``. For a column without `is_paired`, the interval is that of two independent means,
        which is wider where replications share their random numbers; a quantile is known to its bin at best.
    """
    ours, theirs = column.by_replication(point), column.by_replication(first)
    if ours is None or theirs is None:
        one, other = (resolved(column.measured(each, each.document), column.key) for each in (point, first))
        if one["mean"] is None or other["mean"] is None:
            return {"mean": None, "ci95": None}
        halves = (one["ci95"], other["ci95"])
        # Student's t of either has fewer degrees of freedom than that of the difference: the interval holds at least.
        half = None if halves[0] is None or halves[1] is None else math.hypot(halves[0], halves[1])
        return {"mean": one["mean"] - other["mean"], "ci95": half}
    both = min(len(ours), len(theirs))
    return paired(ours[:both], theirs[:both]).difference.to_json()


def is_paired(column: SweepColumn, point: PointResult) -> bool:
    """Return whether the store keeps a column per replication; it does not keep percentiles and transfers."""
    return column.by_replication(point) is not None


def column_rows(
    columns: Sequence[SweepColumn], points: Sequence[PointResult], *, differences: bool = False
) -> list[dict[str, Quantity]]:
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
