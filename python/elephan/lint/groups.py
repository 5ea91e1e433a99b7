"""What the rules want to know of bulk flows: where they are held back, and how large their window is there.

A flow is taken to get an equal share of each link of its path, after the datagrams; its narrowest link is the one with
the smallest share. That is coarse (RTTs differ, other flows may want less), but the rules ask for factors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elephan.scenario import Scenario

PS = 1e-12

FULL_UNTIL_IT_DROPS = "drop-tail"
"""The discipline that lets its buffer fill; the others act long before."""


@dataclass(frozen=True)
class BulkLink:
    """A link as bulk flows see it, one of an array if there are several.

    ``flows`` of TCP that cross it; ``queue_s`` is how long a full buffer takes to drain, None without limit;
    ``members`` of an array; ``traffic`` has the kinds of all that crosses it.
    """

    index: int
    name: str
    members: int
    rate_bps: float
    flows: int
    share_bps: float
    discipline: str
    buffer_packets: float | None
    queue_s: float | None
    traffic: frozenset[str]


@dataclass(frozen=True)
class BulkGroup:
    """A group of bulk flows. What comes from the file is as in the canonical form, in seconds and packets."""

    index: int
    name: str
    flows: int
    path: tuple[int, ...]
    link: BulkLink
    law: str
    control: dict[str, Any]
    packet_bytes: int
    rtts_s: tuple[float, ...]
    rtts_are_drawn: bool
    start_s: tuple[float, float]
    stop_s: float | None
    access_rate_bps: float | None
    access_buffer: int | None
    tcp: dict[str, Any]

    @cached_property
    def rtt_s(self) -> float:
        """Middle of its base RTTs."""
        return (min(self.rtts_s) + max(self.rtts_s)) / 2

    @cached_property
    def bdp(self) -> float:
        """Segments of a flow that fill its share of its narrowest link."""
        return self.link.share_bps * self.rtt_s / 8 / self.packet_bytes

    @cached_property
    def window(self) -> float | None:
        """Segments in flight when the link drops: pipe and buffer full; None if its buffer has no limit.

        Of a discipline that acts before the buffer is full only the pipe is counted.
        """
        if self.link.queue_s is None:
            return None
        waiting = self.link.queue_s if self.link.discipline == FULL_UNTIL_IT_DROPS else 0.0
        return self.link.share_bps * (self.rtt_s + waiting) / 8 / self.packet_bytes

    @cached_property
    def is_held_by_access(self) -> bool:
        """Whether its own access is no faster than its share of the link."""
        return self.access_rate_bps is not None and self.access_rate_bps <= self.link.share_bps

    @cached_property
    def is_held_by_receiver(self) -> bool:
        """Whether the receive window is below what it takes to make the link drop."""
        limit, window = self.tcp["receive_window"], self.window
        return limit is not None and (window is None or limit < window)


def bulk_groups(scenario: Scenario) -> tuple[BulkGroup, ...]:
    """Groups of TCP flows that always have something to send.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    tuple of BulkGroup

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> (group,) = bulk_groups(Scenario.from_text(EXAMPLE))
    >>> group.bdp, group.window
    (50.0, 62.5)
    """
    links = [_link(scenario, i) for i in range(len(scenario.links))]
    found = []
    for index, (fact, form) in enumerate(zip(scenario.groups, scenario.resolved["flows"], strict=True)):
        if fact["law"] is None or fact["traffic"] != "bulk":
            continue
        link = min((links[i] for i in fact["path"]), key=lambda link: link.share_bps)
        rtts, drawn = _rtts(scenario, fact, form)
        found.append(
            BulkGroup(
                index=index,
                name=fact["name"],
                flows=int(fact["flows"]),
                path=tuple(fact["path"]),
                link=link,
                law=fact["law"],
                control=form["control"],
                packet_bytes=int(fact["packet_bytes"]),
                rtts_s=rtts,
                rtts_are_drawn=drawn,
                start_s=_start(form["start_ps"], int(fact["flows"])),
                stop_s=_stop(form["stop_ps"]),
                access_rate_bps=fact["access_rate_bps"],
                access_buffer=form["access"].get("buffer_packets"),
                tcp=form["tcp"],
            )
        )
    return tuple(found)


def datagrams_bps(scenario: Scenario, link: int) -> float:
    """Add up what datagrams offer to a link, or to an array of them.

    Parameters
    ----------
    scenario : Scenario
    link : int

    Returns
    -------
    float [bit/s]

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> datagrams_bps(Scenario.from_text(EXAMPLE), 0)
    0.0
    """
    senders = (group for group in scenario.groups if link in group["path"] and group["law"] is None)
    return float(sum(group["flows"] * (group["offered_bps"] or 0.0) for group in senders))


def _link(scenario: Scenario, index: int) -> BulkLink:
    fact = scenario.links[index]
    crossing = [group for group in scenario.groups if index in group["path"]]
    members = int(fact["count"])
    flows = max(1, math.ceil(fact["flows"] / members))
    packet = fact["packet_bytes"] or 1000.0
    limit = fact["buffer_limit_bytes"]
    if limit is None and fact["buffer_limit_packets"] is not None:
        limit = fact["buffer_limit_packets"] * packet
    return BulkLink(
        index=index,
        name=fact["name"],
        members=members,
        rate_bps=float(fact["rate_bps"]),
        flows=flows,
        # What datagrams leave; at least a hundredth, for where they offer too much TCP still gets something.
        share_bps=max(fact["rate_bps"] - datagrams_bps(scenario, index) / members, 0.01 * fact["rate_bps"]) / flows,
        discipline=fact["discipline"],
        buffer_packets=None if limit is None else limit / packet,
        queue_s=None if limit is None else 8 * limit / fact["rate_bps"],
        traffic=frozenset(group["traffic"] for group in crossing),
    )


def _rtts(scenario: Scenario, fact: Mapping[str, Any], form: Mapping[str, Any]) -> tuple[tuple[float, ...], bool]:
    """Base RTTs [s] of a group, and whether its flows draw theirs."""
    rtt, count = form["rtt"], int(fact["flows"])
    if rtt == "auto":
        links = scenario.links
        there = sum(links[i]["delay_s"] for i in fact["path"])
        back = sum(links[i]["delay_s"] for i in fact["return"]) if fact["return"] else there
        access = form["access"].get("delay_ps", 0)
        crossed = [scenario.resolved["links"][i] for i in (*fact["path"], *fact["return"])]
        # Serialisation is part of a round trip too.
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
    """Earliest and latest start [s]."""
    if isinstance(form, list):
        return form[0] * PS, form[1] * PS
    if "every" in form:
        first, every = form["every"]["from_ps"], form["every"]["every_ps"]
        return first * PS, (first + (count - 1) * every) * PS
    return min(form["list"]) * PS, max(form["list"]) * PS


def _stop(form: Any) -> float | None:
    """When all are gone [s]; None if they stay, or each for a time of its own."""
    if isinstance(form, dict):
        return float(form["between"][1] * PS) if "between" in form else None
    return None if form is None else float(form * PS)
