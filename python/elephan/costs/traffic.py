"""Estimated number of packets that a scenario sends, and of packets in flight at once.

Flows are assumed to get their max-min fair shares, limited by access rate, policer, receive window and offered load. At
its start a flow gets less until its window has grown to the BDP. Losses, and capacity that a law leaves unused, are
ignored; they are part of the error of an estimate (`elephan.costs.FACTORS`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elephan import _native
from elephan.network import HEADER, PS, FlowGroup, Network, NetworkLink
from elephan.units import octets, seconds

MANY_GROUPS = 200
"""Number of groups above which a flow's share is that of its narrowest link: progressive filling has quadratic cost."""

MOST_WRITTEN = _native.MOST_WRITTEN
"""Unacknowledged segments above which an application stops writing, as in the engine."""

OPPORTUNITY = 1504
"""Bytes that one delivery opportunity of a trace carries."""

WAVE = 360
"""Number of steps per period of a sine wave."""

LEAST_WINDOW = 1.0
"""Minimum window of a sender [segments]."""


@dataclass(frozen=True)
class ExpectedTraffic:
    """Expected traffic of one replication.

    Parameters
    ----------
    sent : tuple of float [packets]
        Data packets sent, by group, for all its flows together.
    served : tuple of float [packets]
        Data packets and ACKs served, by link.
    in_flight : tuple of float [packets]
        Data packets in flight at the same time, by group, for all its flows together.
    waiting : tuple of float [packets]
        Longest queue, by link.
    transfers : tuple of float
        Transfers that end, by group.
    held : tuple of float [packets]
        Packets that a link has served but still delays (batches, varying delay) at the same time, by link.
    at_access : tuple of float [packets]
        Longest queues at the senders' own links, summed over all flows, by group.
    writes : tuple of float
        Writes of applications that are stored, because they are pending or are transfers of the result, by group.
    actions : tuple of float
        Actions of applications, including those that do not send data, by group.
    """

    sent: tuple[float, ...]
    served: tuple[float, ...]
    in_flight: tuple[float, ...]
    waiting: tuple[float, ...]
    transfers: tuple[float, ...]
    held: tuple[float, ...]
    at_access: tuple[float, ...]
    writes: tuple[float, ...]
    actions: tuple[float, ...]


def expected_traffic(network: Network) -> ExpectedTraffic:
    """Estimate the traffic of a scenario.

    Examples
    --------
    10 Mbit/s for 4 s in packets of 1000 bytes are 5000 packets; the start of the flows reduces this number.

    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> 4000 < expected_traffic(Scenario.from_text(EXAMPLE).network).sent[0] < 5200
    True
    """
    caps = _caps(network)
    shares = _shares(network, caps)
    sent, in_flight, transfers = [], [], []
    for group, share, cap in zip(network.groups, shares, caps, strict=True):
        packets, ended = _sent(network, group, share, cap)
        sent.append(packets)
        transfers.append(ended)
        in_flight.append(_in_flight(group, share, packets))
    served = [0.0] * len(network.links)
    for group, packets in zip(network.groups, sent, strict=True):
        for link in group.path:
            served[link] += packets
        for link in group.return_path:
            served[link] += packets / group.tcp.get("delayed_ack", 1) if group.is_tcp else 0.0
    # Number of packets that each link can serve in the run.
    capacity = [_capacity(network, link.index) for link in network.links]
    held = _held(network, sent)
    at_access = [_at_access(network, *each) for each in zip(network.groups, shares, sent, strict=True)]
    written = [_written(network, *each) for each in zip(network.groups, transfers, strict=True)]
    return ExpectedTraffic(
        tuple(sent),
        tuple(served),
        tuple(in_flight),
        tuple(_waiting(network, index, served[index], capacity[index], held) for index in range(len(served))),
        tuple(transfers),
        held,
        tuple(at_access),
        tuple(writes for writes, _ in written),
        tuple(actions for _, actions in written),
    )


def _caps(network: Network) -> list[float]:
    """Maximum rate that a flow of each group can use [bit/s]."""
    groups, fair = network.groups, network.fair
    caps = [math.inf if cap is None else float(cap) for cap in fair["caps_bps"]]
    # A cap of 0 marks sessions. Their cap is replaced by the rate that they request (below).
    caps = [cap if cap > 0 else math.inf for cap in caps]
    for i, group in enumerate(groups):
        window = group.receive_window if group.is_tcp else None
        if window is not None and group.rtt_s > 0:
            caps[i] = min(caps[i], 8 * window * group.packet_bytes / group.rtt_s)
        if group.is_tcp and group.sort != "transfer":
            caps[i] = min(caps[i], asked_bps(network.links, group))
        if group.is_tcp:
            caps[i] = min(caps[i], *(_policed_bps(network.links[link], network.duration_s) for link in group.path))
    return caps


def _policed_bps(link: NetworkLink, duration_s: float) -> float:
    """Return the rate that a policer admits for each flow, including the first burst [bit/s]; infinite without one."""
    if link.policer is None:
        return math.inf
    rate_bps = link.policer["rate_bps"] + 8 * link.policer["burst_bytes"] / duration_s
    return float(rate_bps) / link.flows_per_member


def _shares(network: Network, caps: Sequence[float]) -> Sequence[float]:
    """Rate that a flow of each group gets [bit/s]."""
    groups, fair = network.groups, network.fair
    if len(groups) > MANY_GROUPS:
        return [min(cap, group.narrowest.share_bps) for cap, group in zip(caps, groups, strict=True)]
    from elephan.metrics.fairness import maxmin_shares  # noqa: PLC0415 (NumPy)

    shares = maxmin_shares(fair["rates_bps"], fair["paths"], [group.flows for group in groups], caps)
    return [float(share) for share in shares]


def asked_bps(links: Sequence[NetworkLink], group: FlowGroup) -> float:
    """Mean rate that a session or an application would use if the network were infinitely fast [bit/s]."""
    kind = group.kind
    if kind.get("kind") == "elastic" and kind["rate"] == "none":
        # The load refers to all links of an array over which the group's flows are distributed.
        rates = (links[i].rate_bps * min(links[i].members, group.flows) for i in group.path)
        return float(kind["load"]) * float(min(rates)) / float(group.flows)
    if group.offered_bps:
        return float(group.offered_bps / group.flows)
    wire = group.packet_bytes / _payload(group)
    if kind.get("kind") == "engset":
        return 8 * octets(str(kind["size"])) * wire / float(max(seconds(kind["think"]) + 2 * group.rtt_s, 1e-9))
    if kind.get("kind") == "request-response":
        return 8 * octets(str(kind["size"])) * wire / float(max(seconds(kind["think"]) + group.rtt_s, 1e-9))
    if kind.get("kind") == "web":
        page_s = seconds(kind["think"]) + max(kind["objects"] - 1, 0) * seconds(kind["gap"]) + 2 * group.rtt_s
        return 8 * float(kind["objects"]) * octets(str(kind["size"])) * wire / float(max(page_s, 1e-9))
    if kind.get("kind") == "page":
        page = octets(str(kind["document"])) + float(kind["hosts"]) * octets(str(kind["size"]))
        return 8 * page * wire / float(max(seconds(kind["think"]) + 3 * group.rtt_s, 1e-9))
    return math.inf


def _payload(group: FlowGroup) -> float:
    """Payload of a full packet [bytes]."""
    return float(max(group.packet_bytes - group.tcp.get("header_bytes", HEADER), 1))


def _end_s(network: Network, group: FlowGroup) -> float:
    return network.duration_s if group.stop_s is None else min(group.stop_s, network.duration_s)


def _active_s(network: Network, group: FlowGroup) -> float:
    """Mean time between the start and the stop of a flow, within the run [s]."""
    first, last = group.start_s
    end = _end_s(network, group)
    if last <= first:
        return max(0.0, end - first)
    # Starts are assumed to be spread evenly from the first to the last.
    until = min(last, end)
    share = max(0.0, until - first) / (last - first)
    return share * max(0.0, end - (first + until) / 2)


def _sent(network: Network, group: FlowGroup, share_bps: float, cap_bps: float) -> tuple[float, float]:
    """Return the data packets of all flows of a group, and the number of transfers that end."""
    active_s = _active_s(network, group)
    if not group.is_tcp:
        # The first datagram is sent on average half a gap early, which adds half a packet per flow.
        return group.offered_bps * active_s / 8 / group.packet_bytes + group.flows * 0.5 * (active_s > 0), 0.0
    rate = min(share_bps, 1e16) / 8 / group.packet_bytes
    payload = _payload(group)
    kind = group.kind
    if group.sort == "transfer":
        if share_bps < 0.99 * cap_bps:
            # If the links limit the rate, they are full from the first flow on: flows that have started use the shares
            # of flows that have not.
            active_s = max(active_s, _end_s(network, group) - group.start_s[0])
        each = _ramped(group, rate, active_s) + _beyond_the_link(group, rate, active_s)
        size = kind.get("size") if kind.get("kind") == "finite" else None
        if size is not None:
            segments = math.ceil(octets(size) / payload)
            return group.flows * min(each, segments), group.flows * float(each >= segments)
        return group.flows * each, 0.0
    # Sessions and applications send what they request, or what they get. A transfer that is open at the end has not
    # sent all of its data.
    whole = max(1.0, octets(str(kind["size"])) / payload) if "size" in kind else 10.0
    first = float(max(group.tcp.get("initial_window", 2), 1))
    open_s = group.rtt_s * math.log2(1.0 + whole / first)
    if kind.get("kind") == "pausing-bulk":
        active_s *= seconds(kind["on"]) / max(seconds(kind["on"]) + seconds(kind["off"]), 1e-9)
        each = _ramped(group, rate, active_s) + _beyond_the_link(group, rate, active_s)
        return group.flows * each, 0.0
    packets = group.flows * rate * max(active_s - 0.7 * open_s, 0.1 * active_s)
    if kind.get("pages"):
        packets = min(packets, group.flows * kind["pages"] * kind.get("objects", kind.get("hosts")) * whole)
    return packets, packets / whole


def _ramped(group: FlowGroup, rate: float, active_s: float) -> float:
    """Packets of a flow whose window grows from its initial size until the flow has a given rate [packets/s]."""
    window = max(rate * group.rtt_s, LEAST_WINDOW)
    first = float(max(group.tcp.get("initial_window", 2), 1))
    slow = group.control.get("slow_start") or {}
    bound = float(slow.get("max_ssthresh") or math.inf) if slow.get("kind") == "limited" else math.inf
    doubled = min(window, bound)
    doubling_s = group.rtt_s * max(0.0, math.log2(max(doubled, first) / first))
    # Above max_ssthresh, limited slow start adds half of max_ssthresh in each round.
    linear_s = group.rtt_s * max(0.0, window - bound) / (bound / 2) if math.isfinite(bound) else 0.0
    grown_s = min(max(active_s - doubling_s, 0.0), linear_s)
    grown = grown_s * (doubled / group.rtt_s + grown_s / 2 * (rate / linear_s)) if linear_s else 0.0
    return min(doubled, rate * active_s) + grown + rate * max(active_s - doubling_s - linear_s, 0.0)


def _beyond_the_link(group: FlowGroup, rate: float, active_s: float) -> float:
    """Packets of a flow that its link does not serve: those in the buffer, and drops of the initial window."""
    link = group.narrowest
    first = float(max(group.tcp.get("initial_window", 2), 1))
    dropped = max(0.0, min(first, first * active_s / group.rtt_s) - rate * group.rtt_s)
    window = group.receive_window
    limit = link.most_waiting if link.discipline == "drop-tail" else 0.0
    waiting = math.inf if limit is None else limit / link.flows_per_member
    if group.is_held_by_access:
        waiting = math.inf if group.access_buffer is None else float(group.access_buffer)
    if window is not None:
        waiting = min(waiting, max(0.0, window - rate * group.rtt_s))
    return dropped + min(waiting, rate * active_s)


def _in_flight(group: FlowGroup, share_bps: float, sent: float) -> float:
    """Data packets of a group in flight at the same time."""
    rate = min(share_bps, 1e16) / 8 / group.packet_bytes
    each = max(rate * group.rtt_s, LEAST_WINDOW)
    if group.sort != "transfer" and group.is_tcp:
        # Few transfers are open at the same time.
        each = min(each, rate * group.rtt_s + 2)
    return min(group.flows * each, max(sent, 1.0))


def _held(network: Network, sent: Sequence[float]) -> tuple[float, ...]:
    """Number of packets that each link has served but still delays, at the same time."""
    held = [0.0] * len(network.links)
    for group, packets in zip(network.groups, sent, strict=True):
        rate = packets / max(_active_s(network, group), 1e-12)
        # Datagrams that have left their last link are counted but not stored.
        for link in (*group.path, *group.return_path) if group.is_tcp else group.path[:-1]:
            held_s = network.links[link].held_s
            most = packets
            if group.is_tcp and held_s > 0:
                # A window doubles at most once per round trip, which on average includes half of the added delay.
                rounds = _active_s(network, group) / (group.rtt_s + held_s / 2)
                first = float(max(group.tcp.get("initial_window", 2), 1))
                most = min(most, group.flows * first * 2.0 ** min(rounds, 100.0))
                if group.receive_window is not None:
                    most = min(most, float(group.flows * group.receive_window))
            held[link] += min(rate * held_s, most)
    return tuple(held)


def _capacity(network: Network, index: int) -> float:
    """Number of packets that a link, or an array, can serve in a run."""
    link = network.links[index]
    size = link.packet_bytes if link.packet_bytes == link.packet_bytes else 1000.0
    return link.members * link.rate_bps * network.duration_s / 8 / size


def _waiting(network: Network, index: int, served: float, capacity: float, handed_over: Sequence[float]) -> float:
    """Maximum queue of a link, or of an array in total [packets]."""
    link = network.links[index]
    limit = link.most_waiting
    if limit is not None:
        return min(link.members * limit, served)
    # At an unlimited buffer slow start does not end (unless the receive window limits it): every ACK adds a packet to
    # the queue.
    held = _behind_schedule(link, network.duration_s)
    for group in network.groups:
        if index in group.path:
            window = group.receive_window if group.is_tcp else None
            if not group.is_tcp:
                # Packets that an earlier link has delayed can arrive at the same time.
                before = group.path[: group.path.index(index)]
                held += max(0.0, served - capacity) + sum(handed_over[link] for link in before)
            else:
                held += math.inf if window is None else group.flows * window
    return min(held, served)


def _behind_schedule(link: NetworkLink, duration_s: float) -> float:
    """Maximum queue of datagrams, over all members, while the rate of a link is below the offered rate [packets]."""
    offered = link.datagrams_bps / link.members
    if not isinstance(link.rate, dict) or not offered:
        return 0.0
    if (turns := link.rate.get("markov")) is not None:
        (low, low_s), (_, high_s) = sorted(zip(turns["rates"], (time * PS for time in turns["times"]), strict=True))
        # Expected maximum of several exponential times.
        longest_s = low_s * (1.0 + math.log1p(duration_s / (low_s + high_s)))
        bits = max(0.0, offered - low) * min(longest_s, duration_s)
    else:
        bits = _longest_bits(link.rate, offered, duration_s)
    size = link.packet_bytes if link.packet_bytes == link.packet_bytes else 1000.0
    return float(link.members * bits / 8 / size)


def _longest_bits(rate: Mapping[str, Any], offered_bps: float, duration_s: float) -> float:
    """Maximum queue of a constant load at a link with steps, a wave or opportunities, within two periods [bits]."""
    import numpy as np  # noqa: PLC0415 (loads for a second; few links have a schedule)

    if (times := rate.get("opportunities")) is not None:
        pairs = [word.partition("x") for word in times.split()]
        ends_s = np.array([int(time) for time, _, _ in pairs]) * 1e-3
        passed = np.array([int(count or 1) for _, _, count in pairs]) * 8.0 * OPPORTUNITY
        lengths = np.diff(ends_s, prepend=0.0)
    elif (wave := rate.get("sine")) is not None:
        lengths = np.full(WAVE, wave["period_ps"] * PS / WAVE)
        angles = (np.arange(WAVE) + 0.5) * 2 * math.pi / WAVE
        passed = (wave["mean_bps"] + wave["amplitude_bps"] * np.sin(angles)) * lengths
    elif (steps := rate.get("steps")) is not None:
        period_s = rate["period_ps"] * PS if rate.get("period_ps") else duration_s
        starts_s = np.minimum([at * PS for at, _ in steps], min(period_s, duration_s))
        lengths = np.diff(starts_s, append=min(period_s, duration_s))
        passed = np.array([bps for _, bps in steps], dtype=float) * lengths
    else:
        return 0.0
    # The queue is the arrived less the served amount, minus the minimum of this difference so far. Data that arrives
    # before an opportunity waits until then, so the queue is evaluated just before the opportunities.
    come, gone = (np.cumsum(np.tile(part, 2)) for part in (offered_bps * lengths, passed))
    until = np.concatenate(([0.0], gone[:-1])) if times is not None else gone
    least = np.minimum.accumulate(np.concatenate(([0.0], come - gone)))[:-1]
    return float(np.max(come - until - least))


def _at_access(network: Network, group: FlowGroup, share_bps: float, sent: float) -> float:
    """Maximum number of packets queued at the senders' own links."""
    access = group.access_rate_bps
    if access is None:
        return 0.0
    active_s, size = _active_s(network, group), 8 * group.packet_bytes
    if not group.is_tcp:
        most = max(0.0, group.offered_bps / group.flows - access) * active_s / size
    elif access > share_bps:
        return 0.0
    else:
        # With an unlimited access buffer nothing is dropped: each ACK releases two packets, one of which waits.
        most = access * active_s / size
        if group.receive_window is not None:
            most = min(most, max(0.0, group.receive_window - access * group.rtt_s / size))
    if group.access_buffer is not None:
        most = min(most, float(group.access_buffer))
    return min(group.flows * most, sent)


def _written(network: Network, group: FlowGroup, ended: float) -> tuple[float, float]:
    """Return the number of stored writes of a group's applications, and of their actions."""
    kind, active_s = group.kind, group.flows * _active_s(network, group)
    if group.traffic == "pausing-bulk":
        return 0.0, 2 * active_s / (seconds(kind["on"]) + seconds(kind["off"]))
    if group.traffic != "video":
        return (ended, 0.0) if group.sort == "application" else (0.0, 0.0)
    segments = max(1.0, octets(str(kind["size"])) / _payload(group))
    acts = active_s / seconds(kind["every"])
    kept = min(acts, ended + group.flows * MOST_WRITTEN / segments)
    return kept, kept


def recorded(network: Network, traffic: ExpectedTraffic) -> dict[str, float]:
    """Return the number of records other than samples: rows of traced flows, and of recorded packets.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> network = Scenario.from_text(EXAMPLE).network
    >>> recorded(network, expected_traffic(network))["trace"]
    0.0
    """
    record = network.record
    names = {group.name: i for i, group in enumerate(network.groups)}
    trace = 0.0
    for row in record.get("trace", []):
        i = names.get(row.partition("[")[0], 0)
        trace += traffic.sent[i] / network.groups[i].flows
    packets = 0.0
    for row in record.get("packets", []):
        link = next((i for i, link in enumerate(network.links) if link.name == row["link"].partition("[")[0]), 0)
        share = min(1.0, (row["to_ps"] - row["from_ps"]) * PS / network.duration_s)
        packets += traffic.served[link] / network.links[link].members * share
    return {"trace": trace, "packets": packets}
