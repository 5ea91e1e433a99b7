"""Links of a scenario and the groups of flows on them, in numbers, as input of lint rules and models.

Each flow is assumed to get an equal share of each link of its path, after subtraction of datagrams. Its narrowest link
is the link with the smallest share. This assumption is coarse (RTTs differ, other flows may need less). It is used in
rules of thumb, and to determine which link limits which flow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from elephan.units import bits_per_second

PS = 1e-12
"""A picosecond [s]: the unit of times in the canonical form."""

DROP_TAIL = "drop-tail"
"""Discipline that drops only when its buffer is full; the others drop or mark earlier."""

BULK = "bulk"
"""Kind of traffic with unlimited data."""

SORTS = ("transfer", "application", "session", "datagrams")
"""Sorts of traffic in order of precedence: if there are several, only flows of the first one count for fairness."""


def counted_flows(facts: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of flows that count for fairness, by the rule of `Network.counted`.

    Parameters
    ----------
    facts : sequence of mapping
        Facts of groups, as in `Scenario.groups`.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> counted_flows(Scenario.from_text(EXAMPLE).groups)
    2
    """
    first = _first(fact["sort"] for fact in facts)
    return sum(fact["flows"] for fact in facts if fact["sort"] == first)


def _first(sorts: Iterable[str]) -> str:
    return min(sorts, key=SORTS.index)


HEADER = 40
"""Default size of a packet's headers [bytes]."""

ANY_PACKET = 1000.0
"""Packet size of a link that no flow crosses [bytes]."""


LINK_FACTS = (
    *("name", "delay_s", "discipline", "queue", "buffer_limit_packets", "buffer_limit_bytes"),
    *("flows", "background_flows"),
)
"""Facts of a link that become attributes of `NetworkLink`."""

FLOW_FACTS = ("packet_bytes", "min_rtt_s", "mean_rtt_s", "max_rtt_s", "bdp_packets")
"""Facts of a link's flows that become attributes of `NetworkLink`; NaN if the link has no flows."""


@dataclass(frozen=True)
class NetworkLink:
    """A link, or an array of equal links.

    Parameters
    ----------
    index : int
        Position in the file.
    name : str
    members : int
        Number of links of the array; 1 for a single link.
    rate_bps : float [bit/s]
        Rate of each member.
    delay_s : float [s]
        Propagation, one way.
    discipline : str
    queue : mapping
        The discipline's parameters as resolved, amounts as text.
    buffer_limit_packets : int or None [packets]
    buffer_limit_bytes : int or None [bytes]
        None if the buffer is not limited in this unit.
    flows : int
        Number of flows that a buffer is sized for, over all members: those of the first of `SORTS` on the link.
    background_flows : int
        Number of all other flows.
    packet_bytes : float [bytes]
        Mean over ``flows``. This and the next four values are NaN if ``flows`` is 0.
    min_rtt_s, mean_rtt_s, max_rtt_s : float [s]
        Base RTTs of ``flows``.
    bdp_packets : float [packets]
        Rate x mean base RTT.
    datagrams_bps : float [bit/s]
        Offered load of datagrams, over all members.
    arriving_bps : float [bit/s]
        Offered load of transfers that arrive at a stated rate or load, over all members.
    traffic : frozenset of str
        Kinds of all traffic that crosses the link.
    pool_bytes : float or None [bytes]
        Capacity of the link's pool (memory that several links share); None for a link without pool.
    held_s : float [s]
        Maximum delay of served packets in addition to the mean delay: batches, steps, jitter, reordering.
    rate : int or mapping, optional
        Rate as resolved: a number [bit/s], or a schedule.
    policer, reorder : mapping, str or None
        ``rate_bps`` and ``burst_bytes`` of the token bucket before each member's queue; how packets overtake others.
    """

    index: int
    name: str
    members: int
    rate_bps: float
    delay_s: float
    discipline: str
    queue: Mapping[str, Any]
    buffer_limit_packets: int | None
    buffer_limit_bytes: int | None
    flows: int
    background_flows: int
    packet_bytes: float
    min_rtt_s: float
    mean_rtt_s: float
    max_rtt_s: float
    bdp_packets: float
    datagrams_bps: float = 0.0
    arriving_bps: float = 0.0
    traffic: frozenset[str] = frozenset()
    pool_bytes: float | None = None
    held_s: float = 0.0
    rate: Any = None
    policer: Mapping[str, Any] | None = None
    reorder: Mapping[str, Any] | str | None = None

    @property
    def flows_per_member(self) -> int:
        """Number of TCP flows on each link of the array, at least one."""
        return max(1, math.ceil(self.flows / self.members))

    @cached_property
    def share_bps(self) -> float:
        """Rate of a TCP flow on one link of the array if all get equal shares of the rate left by datagrams [bit/s]."""
        # At least a hundredth of the rate: TCP gets a small share even if datagrams exceed the rate.
        left = max(self.rate_bps - self.datagrams_bps / self.members, 0.01 * self.rate_bps)
        return left / self.flows_per_member

    @cached_property
    def buffer_packets(self) -> float | None:
        """Buffer in packets of the flows' mean size; None if unlimited."""
        limit = self._buffer_bytes
        return None if limit is None else limit / self._packet_bytes

    @cached_property
    def most_waiting(self) -> float | None:
        """Maximum number of waiting packets of the flows' mean size, in buffer or pool; None if unlimited."""
        if self.buffer_packets is not None or self.pool_bytes is None:
            return self.buffer_packets
        return self.pool_bytes / self._packet_bytes

    @cached_property
    def drain_s(self) -> float | None:
        """Time to drain a full buffer [s]; None if it is unlimited."""
        limit = self._buffer_bytes
        return None if limit is None else 8 * limit / self.rate_bps

    @property
    def _buffer_bytes(self) -> float | None:
        if self.buffer_limit_bytes is None and self.buffer_limit_packets is not None:
            return self.buffer_limit_packets * self._packet_bytes
        return self.buffer_limit_bytes

    @property
    def _packet_bytes(self) -> float:
        return ANY_PACKET if math.isnan(self.packet_bytes) else self.packet_bytes


@dataclass(frozen=True)
class FlowGroup:
    """A group of flows.

    Parameters
    ----------
    index : int
        Position in the file.
    name : str
    flows : int
    path, return_path : tuple of int
        Indices of the links that data crosses, and of those that ACKs cross; empty if nothing can delay an ACK.
    narrowest : NetworkLink
        The link of the path where a flow's share is smallest.
    traffic : str
        Kind of the traffic, such as ``"bulk"``.
    sort : str
        One of `SORTS`.
    offered_bps : float [bit/s]
        Offered load of all its flows, if they are datagrams or transfers that arrive at a stated rate or load; else 0.
    law, recovery : str
        Names; empty for datagrams.
    control : mapping
        The law with all its parameters and its ``slow_start``, as resolved. Empty for datagrams.
    tcp : mapping
        The keys of ``tcp``, as resolved.
    packet_bytes : int [bytes]
    rtts_s : tuple of float [s]
        Base RTTs: one for each flow; if they are random, the limits of the range, the listed values, or the mean.
    rtts_are_drawn : bool
    start_s : tuple of float [s]
        Earliest and latest start.
    stop_s : float or None [s]
        Time when all flows have stopped; None if they do not stop, or if each has its own lifetime.
    access_rate_bps : float or None [bit/s]
        Rate of the sender's own link; None if unlimited.
    access_buffer : int or None [packets]
        Buffer of the sender's own link; None if unlimited.
    """

    index: int
    name: str
    flows: int
    path: tuple[int, ...]
    return_path: tuple[int, ...]
    narrowest: NetworkLink
    traffic: str
    sort: str
    offered_bps: float
    law: str
    recovery: str
    control: Mapping[str, Any]
    tcp: Mapping[str, Any]
    packet_bytes: int
    rtts_s: tuple[float, ...]
    rtts_are_drawn: bool
    start_s: tuple[float, float]
    stop_s: float | None
    access_rate_bps: float | None
    access_buffer: int | None
    places: int = 1
    """Senders per flow: for a session the maximum number of open transfers, otherwise one."""
    kind: Mapping[str, Any] = field(default_factory=dict)
    """The traffic with all its parameters, as resolved."""

    @property
    def is_tcp(self) -> bool:
        """Whether the flows use TCP, and not datagrams without congestion control."""
        return bool(self.law)

    @cached_property
    def rtt_s(self) -> float:
        """Middle of the range of base RTTs [s]."""
        return (min(self.rtts_s) + max(self.rtts_s)) / 2

    @cached_property
    def bdp(self) -> float:
        """Window with which a flow uses its share of its narrowest link, without a queue [segments]."""
        return self.narrowest.share_bps * self.rtt_s / 8 / self.packet_bytes

    @cached_property
    def window(self) -> float | None:
        """Window of a flow that fills BDP and buffer, so that the link drops [segments]; None if unlimited.

        For a discipline that drops before the buffer is full, only the BDP is counted. For a policer that is slower
        than the link, the BDP is that of its rate, and its burst replaces the buffer.
        """
        policer = self.narrowest.policer
        if policer is not None and policer["rate_bps"] < self.narrowest.rate_bps:
            bits = policer["rate_bps"] * self.rtt_s + 8 * policer["burst_bytes"]
            return float(bits / self.narrowest.flows_per_member / 8 / self.packet_bytes)
        drain_s = self.narrowest.drain_s
        if drain_s is None:
            return None
        waiting = drain_s if self.narrowest.discipline == DROP_TAIL else 0.0
        return self.narrowest.share_bps * (self.rtt_s + waiting) / 8 / self.packet_bytes

    @property
    def is_held_by_access(self) -> bool:
        """Whether the access rate limits a flow: it does not exceed the flow's share of the narrowest link."""
        return self.access_rate_bps is not None and self.access_rate_bps <= self.narrowest.share_bps

    @property
    def receive_window(self) -> int | None:
        """Maximum receive window [segments], after any growth; None if unlimited."""
        window = self.tcp.get("receive_window")
        if window is None or isinstance(window, int):
            return window
        payload = max(self.packet_bytes - self.tcp.get("header_bytes", HEADER), 1)
        return max(int(window["share"] * window["max_bytes"] / payload), 1)

    @property
    def is_held_by_receiver(self) -> bool:
        """Whether the receive window limits a flow: it is smaller than the window at which the link drops."""
        limit, window = self.receive_window, self.window
        return limit is not None and (window is None or limit < window)


@dataclass(frozen=True)
class ScenarioTables:
    """Keys of a scenario as written in its file and as resolved.

    Parameters
    ----------
    written : mapping
        Keys of the file, without defaults; empty if Python cannot parse the file (TOML newer than 1.0).
    resolved : mapping
        The canonical form.
    met : mapping
        Kinds of needs (requirements of keys and parameters) that are met, for each entry of ``links`` and ``groups``.
    """

    written: Mapping[str, Any]
    resolved: Mapping[str, Any]
    met: Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Network:
    """The links of a scenario and the groups of flows on them; `Scenario.network` reads it.

    Parameters
    ----------
    title, origin : str
        Title for users, and origin for messages.
    duration_s, warmup_s : float [s]
    warmup_is_stated : bool
        Whether the file states the length of the warm-up; otherwise a pilot determines it.
    links : tuple of NetworkLink
    groups : tuple of FlowGroup
        Links and groups, both in the file's order.
    queue_with : callable
        Takes the index of a link and another buffer [packets]; returns its discipline's parameters with this buffer.
    tables : callable
        Returns the keys of the scenario.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> network = Scenario.from_text(EXAMPLE).network
    >>> (group,) = network.bulk
    >>> group.narrowest.name, group.bdp, group.window
    ('core', 50.0, 62.5)
    """

    title: str
    origin: str
    duration_s: float
    warmup_s: float
    warmup_is_stated: bool
    links: tuple[NetworkLink, ...]
    groups: tuple[FlowGroup, ...]
    queue_with: Callable[[int, float], Mapping[str, Any]] = field(compare=False, repr=False)
    tables: Callable[[], ScenarioTables] = field(compare=False, repr=False)
    replications: int = 1
    """Number of independent replications."""
    every_s: float | None = None
    """Interval between samples [s]; None without samples."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """Records other than samples, as resolved."""
    fair: Mapping[str, Any] = field(default_factory=dict)
    """Input of max-min fairness: ``rates_bps``, ``paths``, ``caps_bps``."""

    @cached_property
    def bulk(self) -> tuple[FlowGroup, ...]:
        """Groups of TCP flows with unlimited data."""
        return tuple(group for group in self.groups if group.is_tcp and group.traffic == BULK)

    @property
    def first_link(self) -> int:
        """Index of the default link: the first one with data that is not an array, or else the first with data."""
        loaded = sorted((link for link in self.links if link.flows), key=lambda link: link.members > 1)
        return loaded[0].index if loaded else 0

    def crossing(self, link: int) -> tuple[FlowGroup, ...]:
        """Return the groups that send data over a link.

        Parameters
        ----------
        link : int

        Returns
        -------
        tuple of FlowGroup

        Examples
        --------
        >>> from elephan.scenario import EXAMPLE, Scenario
        >>> [group.name for group in Scenario.from_text(EXAMPLE).network.crossing(0)]
        ['bulk']
        """
        return tuple(group for group in self.groups if link in group.path)

    def counted(self, link: int | None = None) -> tuple[bool, ...]:
        """Return which groups count for fairness: those of the first of `SORTS` that occurs.

        Parameters
        ----------
        link : int, optional
            Consider only groups that send data over this link; at least one must exist.

        Returns
        -------
        tuple of bool
            One value for each group.

        Examples
        --------
        >>> from elephan.scenario import EXAMPLE, Scenario
        >>> Scenario.from_text(EXAMPLE).network.counted()
        (True,)
        """
        asked = self.groups if link is None else self.crossing(link)
        first = _first(group.sort for group in asked)
        return tuple(group.sort == first and (link is None or link in group.path) for group in self.groups)


def read_network(
    facts: Mapping[str, Any],
    resolved: Mapping[str, Any],
    origin: str,
    *,
    warmup_is_stated: bool,
    queue_with: Callable[[int, float], Mapping[str, Any]],
    tables: Callable[[], ScenarioTables],
) -> Network:
    """Build the network of a scenario from its facts.

    Parameters
    ----------
    facts, resolved : mapping
        Contents of `Scenario.facts` and `Scenario.resolved`.
    queue_with, tables : callable
        As in `Network`.
    """
    groups, forms = facts["groups"], resolved["flows"]
    offered = [_offered_bps(facts["links"], group, form) for group, form in zip(groups, forms, strict=True)]
    crossing: list[list[int]] = [[] for _ in facts["links"]]
    for index, group in enumerate(groups):
        for link in dict.fromkeys(group["path"]):
            crossing[link].append(index)
    links = tuple(
        _link(index, fact, [(groups[i], offered[i]) for i in crossing[index]], facts["pools"], resolved["links"][index])
        for index, fact in enumerate(facts["links"])
    )
    return Network(
        title=str(facts["title"]) or origin,
        origin=origin,
        duration_s=float(facts["duration_s"]),
        warmup_s=float(facts["warmup_s"]),
        warmup_is_stated=warmup_is_stated,
        links=links,
        groups=tuple(
            _group(index, group, form, offered[index], links, resolved["links"])
            for index, (group, form) in enumerate(zip(groups, forms, strict=True))
        ),
        queue_with=queue_with,
        tables=tables,
        replications=int(facts["replications"]),
        every_s=facts["every_s"],
        record=resolved["record"],
        fair=facts["fair"],
    )


def _link(
    index: int,
    fact: Mapping[str, Any],
    crossing: Sequence[tuple[Mapping[str, Any], float]],
    pools: Sequence[Mapping[str, Any]],
    form: Mapping[str, Any],
) -> NetworkLink:
    """Build a link from its facts and canonical form, and from its groups with their offered loads [bit/s]."""
    plain: dict[str, Any] = {name: fact[name] for name in LINK_FACTS}
    return NetworkLink(
        **plain | {name: _known(fact[name]) for name in FLOW_FACTS},
        index=index,
        members=int(fact["count"]),
        rate_bps=float(fact["rate_bps"]),
        datagrams_bps=float(sum(bps for group, bps in crossing if group["law"] is None)),
        arriving_bps=float(sum(bps for group, bps in crossing if group["law"] is not None)),
        traffic=frozenset(group["traffic"] for group, _ in crossing),
        pool_bytes=None if fact["pool"] is None else _pool_bytes(pools[fact["pool"]], _known(fact["packet_bytes"])),
        held_s=float(fact["held_s"]),
        rate=form["rate_bps"],
        policer=form.get("policer"),
        reorder=form.get("reorder"),
    )


def _pool_bytes(pool: Mapping[str, Any], packet_bytes: float) -> float:
    """Size of a pool [bytes]; a size in packets is converted with the given packet size."""
    if pool["size_bytes"] is not None:
        return float(pool["size_bytes"])
    return float(pool["size_packets"]) * (ANY_PACKET if math.isnan(packet_bytes) else packet_bytes)


def _known(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _group(
    index: int,
    fact: Mapping[str, Any],
    form: Mapping[str, Any],
    offered_bps: float,
    links: Sequence[NetworkLink],
    link_forms: Sequence[Mapping[str, Any]],
) -> FlowGroup:
    """Build a group from its facts and canonical form, and the links with their canonical forms."""
    rtts_s, drawn = _rtts(fact, form, links, link_forms)
    return FlowGroup(
        index=index,
        name=fact["name"],
        flows=int(fact["flows"]),
        path=tuple(fact["path"]),
        return_path=tuple(fact["return"]),
        narrowest=min((links[i] for i in fact["path"]), key=lambda link: link.share_bps),
        traffic=fact["traffic"],
        sort=fact["sort"],
        offered_bps=offered_bps,
        law=fact["law"] or "",
        recovery=fact["recovery"] or "",
        control=form["control"] or {},
        tcp=form["tcp"],
        packet_bytes=int(fact["packet_bytes"]),
        rtts_s=rtts_s,
        rtts_are_drawn=drawn,
        start_s=_start(form["start_ps"], int(fact["flows"])),
        stop_s=_stop(form["stop_ps"]),
        access_rate_bps=fact["access_rate_bps"],
        access_buffer=form["access"].get("buffer_packets"),
        places=int(form["traffic"].get("places") or form["traffic"].get("connections") or 1),
        kind=form["traffic"],
    )


def _offered_bps(links: Sequence[Mapping[str, Any]], fact: Mapping[str, Any], form: Mapping[str, Any]) -> float:
    """Offered load of a group, which does not depend on the state of the network [bit/s]; 0 for other traffic."""
    traffic = form["traffic"]
    if fact["offered_bps"] is not None or fact["law"] is None:
        return float(fact["flows"] * (fact["offered_bps"] or 0.0))
    if traffic["kind"] != "elastic":
        return 0.0
    if traffic["rate"] != "none":
        return float(fact["flows"]) * bits_per_second(traffic["rate"])
    return float(traffic["load"]) * min(float(links[i]["rate_bps"]) for i in fact["path"])


def _rtts(
    fact: Mapping[str, Any],
    form: Mapping[str, Any],
    links: Sequence[NetworkLink],
    link_forms: Sequence[Mapping[str, Any]],
) -> tuple[tuple[float, ...], bool]:
    """Return the base RTTs of a group as in `FlowGroup` [s], and whether they are random."""
    rtt, count = form["rtt"], int(fact["flows"])
    if rtt == "auto":
        there = sum(links[i].delay_s for i in fact["path"])
        back = sum(links[i].delay_s for i in fact["return"]) if fact["return"] else there
        access = form["access"].get("delay_ps", 0)
        crossed = [link_forms[i] for i in (*fact["path"], *fact["return"])]
        # A variable rate changes the serialisation time, which is part of the RTT too.
        is_drawn = any(isinstance(link[key], dict) for link in crossed for key in ("delay_ps", "rate_bps"))
        varies = isinstance(access, dict) or is_drawn
        return (there + back + (0.0 if varies else 2 * access * PS),) * count, varies
    if "constant_ps" in rtt:
        return (rtt["constant_ps"] * PS,) * count, False
    if "list_ps" in rtt:
        return tuple(one * PS for one in rtt["list_ps"]), len(rtt["list_ps"]) != count
    if "spread_ps" in rtt:
        low, high = rtt["spread_ps"]
        step = (high - low) / max(1, count - 1)
        return tuple(round(low + i * step) * PS for i in range(count)), False
    if "uniform_ps" in rtt:
        return tuple(end * PS for end in rtt["uniform_ps"]), True
    return (rtt["pareto"]["mean_ps"] * PS,), True


def _start(form: Any, count: int) -> tuple[float, float]:
    """Return the earliest and the latest start [s]."""
    if isinstance(form, list):
        return form[0] * PS, form[1] * PS
    if "every" in form:
        first, every = form["every"]["from_ps"], form["every"]["every_ps"]
        return first * PS, (first + (count - 1) * every) * PS
    return min(form["list"]) * PS, max(form["list"]) * PS


def _stop(form: Any) -> float | None:
    """Time when all flows have stopped [s]; None if they do not stop, or if each has its own lifetime."""
    if isinstance(form, dict):
        return float(form["between"][1] * PS) if "between" in form else None
    return None if form is None else float(form * PS)
