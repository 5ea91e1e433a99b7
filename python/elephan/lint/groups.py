"""What the rules want to know of bulk flows: where they are held back, and how large their window is there.

A flow is taken to get an equal share of each link of its path, after the datagrams; its narrowest link is the one with
the smallest share. That is coarse (RTTs differ, other flows may want less), but the rules ask for factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elephan.scenario import Scenario

PS = 1e-12

FULL_UNTIL_IT_DROPS = "drop-tail"
"""The discipline that lets its buffer fill; the others act long before."""


@dataclass(frozen=True)
class Link:
    """A link as bulk flows see it: ``queue_s`` is how long a full buffer takes to drain, None without limit."""

    index: int
    name: str
    rate_bps: float
    flows: int
    share_bps: float
    discipline: str
    buffer_packets: float | None
    queue_s: float | None
    background: frozenset[str]


@dataclass(frozen=True)
class Group:
    """A group of bulk flows. What comes from the file is as in the canonical form, in seconds and packets."""

    index: int
    name: str
    flows: int
    link: Link
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

    @property
    def rtt_s(self) -> float:
        """Middle of its base RTTs."""
        return (min(self.rtts_s) + max(self.rtts_s)) / 2

    @property
    def bdp(self) -> float:
        """Segments of a flow that fill its share of its narrowest link."""
        return self.link.share_bps * self.rtt_s / 8 / self.packet_bytes

    @property
    def window(self) -> float | None:
        """Segments in flight when the link drops: pipe and buffer full; None if its buffer has no limit.

        Of a discipline that acts before the buffer is full only the pipe is counted.
        """
        if self.link.queue_s is None:
            return None
        waiting = self.link.queue_s if self.link.discipline == FULL_UNTIL_IT_DROPS else 0.0
        return self.link.share_bps * (self.rtt_s + waiting) / 8 / self.packet_bytes

    @property
    def is_held_by_access(self) -> bool:
        """Whether its own access is no faster than its share of the link."""
        return self.access_rate_bps is not None and self.access_rate_bps <= self.link.share_bps

    @property
    def is_held_by_receiver(self) -> bool:
        """Whether the receive window is below what it takes to make the link drop."""
        limit, window = self.tcp["receive_window"], self.window
        return limit is not None and (window is None or limit < window)


def bulk_groups(scenario: Scenario) -> tuple[Group, ...]:
    """Groups of TCP flows that always have something to send.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    tuple of Group

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
        rtts, drawn = _rtts(form["rtt"], int(fact["flows"]), float(scenario.links[link.index]["mean_rtt_s"]))
        stop = form["stop_ps"]
        found.append(
            Group(
                index=index,
                name=fact["name"],
                flows=int(fact["flows"]),
                link=link,
                law=fact["law"],
                control=form["control"],
                packet_bytes=int(fact["packet_bytes"]),
                rtts_s=rtts,
                rtts_are_drawn=drawn,
                start_s=(form["start_ps"][0] * PS, form["start_ps"][1] * PS),
                stop_s=None if stop is None else stop * PS,
                access_rate_bps=fact["access_rate_bps"],
                access_buffer=form["access"].get("buffer_packets"),
                tcp=form["tcp"],
            )
        )
    return tuple(found)


def _link(scenario: Scenario, index: int) -> Link:
    fact = scenario.links[index]
    beside = [group for group in scenario.groups if group["law"] is None and index in group["path"]]
    datagrams = sum(group["flows"] * (group["offered_bps"] or 0.0) for group in beside)
    flows = int(fact["flows"])
    packet = fact["packet_bytes"] or 1000.0
    limit = fact["buffer_limit_bytes"]
    if limit is None and fact["buffer_limit_packets"] is not None:
        limit = fact["buffer_limit_packets"] * packet
    return Link(
        index=index,
        name=fact["name"],
        rate_bps=float(fact["rate_bps"]),
        flows=flows,
        # What datagrams leave; at least a hundredth, for where they offer too much TCP still gets something.
        share_bps=max(fact["rate_bps"] - datagrams, 0.01 * fact["rate_bps"]) / max(1, flows),
        discipline=fact["discipline"],
        buffer_packets=None if limit is None else limit / packet,
        queue_s=None if limit is None else 8 * limit / fact["rate_bps"],
        background=frozenset(group["traffic"] for group in beside),
    )


def _rtts(form: dict[str, Any], count: int, mean_rtt_s: float) -> tuple[tuple[float, ...], bool]:
    """Base RTTs [s] of a group, and whether each flow draws its own between or from them."""
    if "constant_ps" in form:
        return (form["constant_ps"] * PS,) * count, False
    if "list_ps" in form:
        return tuple(rtt * PS for rtt in form["list_ps"]), len(form["list_ps"]) != count
    if "spread_ps" in form:
        low, high = form["spread_ps"]
        step = (high - low) / max(1, count - 1)
        return tuple(round(low + i * step) * PS for i in range(count)), False
    if "uniform_ps" in form:
        low, high = form["uniform_ps"]
        return (low * PS, high * PS), True
    return (mean_rtt_s,), True
