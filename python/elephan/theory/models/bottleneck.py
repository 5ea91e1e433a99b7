"""The models' view of a link: rate, round-trip times and laws of the long flows that it limits, and other traffic.

The view is derived from a scenario's network, never from a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from elephan.network import BULK, DROP_TAIL, FlowGroup, Network
from elephan.theory import controls

UNEQUAL = 2
"""Maximum window of one of several flows, in equal shares of path and buffer."""

UNPACED = "none"
"""Value of ``tcp.pacing`` for senders without pacing."""


@dataclass(frozen=True)
class Bottleneck:
    """One link and the long TCP flows that it limits.

    Parameters
    ----------
    name : str
    rate_bps : float [bit/s]
    packet_bytes : float [bytes]
        Mean packet size of the long flows.
    rtts_s : tuple of float [s], shape (flows,)
        Base RTTs; random RTTs are represented by values spread evenly over the range.
    laws : tuple of str, shape (flows,)
        Names followed by the parameters that differ from their defaults, in the form of `elephan.theory.controls`.
    senders : tuple of mapping
        Other settings of each group of senders: ``slow_start``, ``recovery`` and the keys of ``tcp``, as resolved.
        ``receive_window`` [segments] is None if it does not limit the window at any buffer up to the scenario's.
    discipline : str
    queue : callable
        Function of a buffer [packets] that returns the discipline's resolved parameters, with amounts as text.
    buffer_packets : float or None [packets]
        Buffer of the scenario; None if unlimited.
    background : float [1]
        Share of the rate offered by datagrams and by transfers that arrive at a given load.
    others : tuple of str
        Kinds of other TCP traffic on the link: traffic that is not bulk, and bulk flows that another link limits.
    access_bps : float [bit/s]
        Access rate of the fastest flow; infinite if unlimited.
    rtts_are_drawn : bool
        Whether base RTTs are random.
    held_from : float [packets]
        Smallest buffer at which a receive window prevents a flow from filling BDP and buffer; infinite if none does.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> link = bottleneck(Scenario.from_text(EXAMPLE).network, 0)
    >>> link.flows, link.law, link.rate, link.bdp
    (2, 'reno', 1250.0, 100.0)
    """

    name: str
    rate_bps: float
    packet_bytes: float
    rtts_s: tuple[float, ...]
    laws: tuple[str, ...]
    senders: tuple[Mapping[str, Any], ...]
    discipline: str
    queue: Callable[[float], Mapping[str, Any]]
    buffer_packets: float | None
    background: float
    others: tuple[str, ...]
    access_bps: float
    rtts_are_drawn: bool
    held_from: float = math.inf

    @property
    def flows(self) -> int:
        """Number of long flows."""
        return len(self.rtts_s)

    @property
    def rate(self) -> float:
        """Rate that the background leaves to the flows [packets/s]."""
        return max(1 - self.background, 0.0) * self.rate_bps / 8 / self.packet_bytes

    @property
    def mean_rtt_s(self) -> float:
        """Mean base RTT [s]."""
        return sum(self.rtts_s) / self.flows

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product: rate that the background leaves x mean base RTT [packets]."""
        return self.rate * self.mean_rtt_s

    @property
    def law(self) -> str:
        """The law of all flows, as in `laws`; empty if they differ."""
        return self.laws[0] if len(set(self.laws)) == 1 else ""

    @property
    def pacings(self) -> tuple[Any, ...]:
        """The distinct values of ``tcp.pacing`` of the senders; ``("none",)`` if no sender paces."""
        # Canonical forms omit keys with default values.
        ways = [sender.get("pacing", UNPACED) for sender in self.senders]
        return tuple(way for i, way in enumerate(ways) if way not in ways[:i])

    @property
    def is_paced(self) -> bool:
        """Whether any sender paces."""
        return self.pacings != (UNPACED,)

    @property
    def law_name(self) -> str:
        """Name of the law of all flows in the catalogue."""
        return controls.kind(self.law)


def bottleneck(network: Network, link: int) -> Bottleneck | None:
    """Convert a link of a network into the models' view.

    Parameters
    ----------
    network : Network
        As returned by `Scenario.network`.
    link : int
        Index of a single link.

    Returns
    -------
    Bottleneck or None
        None if the link does not limit any long flow.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> bottleneck(Scenario.from_text(EXAMPLE).network, 0).mean_rtt_s
    0.08
    """
    facts = network.links[link]
    crossing = [group for group in network.bulk if link in group.path]
    limited = [group for group in crossing if group.narrowest.index == link]
    if not limited:
        return None
    flows = sum(group.flows for group in limited)
    kinds = {group.traffic for group in network.crossing(link) if group.is_tcp} - {BULK}
    elsewhere = ["bulk limited elsewhere"] if len(limited) < len(crossing) else []
    octets = sum(group.packet_bytes * group.flows for group in limited) / flows
    held = [_held_from(group, flows) for group in limited]
    return Bottleneck(
        name=facts.name,
        rate_bps=facts.rate_bps,
        packet_bytes=octets,
        rtts_s=tuple(rtt for group in limited for rtt in _spread(group.rtts_s, group.flows)),
        laws=tuple(law for group in limited for law in [controls.write(group.control)] * group.flows),
        senders=tuple(_sender(*one, facts.buffer_packets) for one in zip(limited, held, strict=True)),
        discipline=facts.discipline,
        queue=cache(partial(network.queue_with, link)),
        buffer_packets=facts.buffer_packets,
        background=(facts.datagrams_bps + facts.arriving_bps) / facts.rate_bps,
        others=(*sorted(kinds), *elsewhere),
        access_bps=max(group.access_rate_bps or float("inf") for group in limited),
        rtts_are_drawn=any(group.rtts_are_drawn for group in limited),
        held_from=min(held),
    )


def _held_from(group: FlowGroup, flows: int) -> float:
    """Return the smallest buffer at which the receive window of a group may limit it [packets]; infinite if none."""
    if group.receive_window is None:
        return math.inf
    # Shares are not equal at all times: each of several flows may temporarily have twice its share in flight.
    room = group.receive_window / min(UNEQUAL, flows) - group.bdp * max(group.rtts_s) / group.rtt_s
    if group.narrowest.discipline != DROP_TAIL:
        return math.inf if room >= 0 else 0.0
    # A flow's share of the buffer is assumed to equal its share of the rate.
    return max(0.0, room * group.narrowest.rate_bps / group.narrowest.share_bps)


def _sender(group: FlowGroup, held_from: float, buffer: float | None) -> Mapping[str, Any]:
    """Return the settings of a group's senders besides their law."""
    window = group.receive_window if held_from < (math.inf if buffer is None else buffer) else None
    # A user's own law has no separate slow start, and no model.
    start = group.control.get("slow_start")
    return {"slow_start": start, "recovery": group.recovery, **group.tcp, "receive_window": window}


def _spread(rtts: tuple[float, ...], flows: int) -> list[float]:
    """Return one RTT for each flow: the given ones, or values spread evenly over the range of random ones."""
    if len(rtts) == flows:
        return list(rtts)
    low, high = min(rtts), max(rtts)
    return [low + (high - low) * (i + 0.5) / flows for i in range(flows)]
