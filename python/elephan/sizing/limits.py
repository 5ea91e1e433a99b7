"""Limits other than the buffer on what a link carries: bounds of what its flows can send over it.

Rates are of packets on the wire, from the scenario alone. Sources: a receive window per round trip, RFC 9293, Section
3.8; a token bucket, RFC 2697; random loss, the response function of the law that runs: Mathis1997 for Reno, RFC9438,
Section 5.1, for CUBIC.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elephan.errors import InputError
from elephan.lint import short_run, short_warmup
from elephan.lint.rule import LintSubject
from elephan.lint.sawtooth import slowest
from elephan.network import FlowGroup, Network
from elephan.sizing.targets import Target
from elephan.units import format_rate, format_time, octets

POLICER, OTHER_LINK, ACCESS, WINDOW = "policer", "other-link", "access", "receive-window"
OFFERED, LOSS, START_UP, SEVERAL, SENDERS = "offered-load", "random-loss", "start-up", "several", "senders"
TOO_SHORT = "too-short"

BELOW = 1 - 1e-9
"""Share of a rate below which a sum of rates counts as smaller than it, despite rounding."""

LEAST_OF_RUN = 0.05
"""Minimum share of the measured time that a start-up must take to count as a limit, whatever the target."""

NO_BOTTLENECK = "it is not a bottleneck, and this says nothing about its buffer"


@dataclass(frozen=True)
class LinkLimit:
    """A limit other than the buffer on what a link carries.

    Parameters
    ----------
    what : str
        ``"policer"``, ``"other-link"``, ``"access"``, ``"receive-window"``, ``"offered-load"``, ``"random-loss"``,
        ``"start-up"``, ``"too-short"``; ``"several"`` if groups of flows have different limits;
        ``"senders"`` if a run shows that they lose nothing, for an unknown reason.
    rate_bps : float or None [bit/s]
        Largest rate that it allows over the link; None if the limit is not a rate.
    text : str
        A sentence without a full stop.
    is_certain : bool
        Whether it holds whatever the senders do, so that no lasting queue forms at the link.
    """

    what: str
    rate_bps: float | None
    text: str
    is_certain: bool


def limits(network: Network, link: int) -> tuple[LinkLimit, ...]:
    """Return the limits below the rate of a link, the lowest first.

    Parameters
    ----------
    link : int

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> policed = {"links[0].policer": {"rate": "2 Mbit/s", "burst": "20 kB"}}
    >>> limits(Scenario.from_text(EXAMPLE).replace(policed).network, 0)[0].text
    'the policer lets 2 Mbit/s through, 20 % of the 10 Mbit/s of this link: the link is not a bottleneck, and this says
    nothing about its buffer'
    >>> limits(Scenario.from_text(EXAMPLE).network, 0)
    ()
    """
    found = [*_of_senders(network, link), *_of_links(network, link)]
    return tuple(sorted(found, key=lambda limit: limit.rate_bps or 0.0))


def held_by_windows(network: Network, link: int) -> tuple[LinkLimit, ...]:
    """Return the limit of receive windows, with which a buffer holds only bursts.

    Parameters
    ----------
    link : int
    """
    return tuple(limit for limit in limits(network, link) if limit.what == WINDOW)


def held_elsewhere(network: Network, link: int) -> tuple[LinkLimit, ...]:
    """Return the limits because of which a link is not a bottleneck, the lowest first.

    Parameters
    ----------
    link : int
    """
    return tuple(limit for limit in limits(network, link) if limit.is_certain)


def full_beside(network: Network, link: int) -> tuple[str, ...]:
    """Name the other links that long flows fill: their buffers stay as the scenario has them while one is sized.

    Parameters
    ----------
    link : int
        The one that is sized.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> full_beside(Scenario.from_text(EXAMPLE).network, 0)
    ()
    """
    filled = {group.narrowest.index for group in network.bulk} - {link}
    return tuple(network.links[i].name for i in sorted(filled) if not held_elsewhere(network, i))


def why_not(network: Network, link: int, missed: Sequence[Target]) -> tuple[LinkLimit, ...]:
    """Return the limits to report if no buffer meets the targets: certain ones first, then the lowest.

    Parameters
    ----------
    link : int
    missed : sequence of Target
    """
    rate_bps = network.links[link].rate_bps
    used = max((target.level for target in missed if target.metric == "utilization"), default=0.0)
    # Limits above the missed utilization do not explain it; the bound by random loss is not sharp, so it is kept.
    possible = [
        limit
        for limit in limits(network, link)
        if not limit.is_certain and (limit.what == LOSS or (limit.rate_bps or 0.0) < BELOW * used * rate_bps)
    ]
    lost = [*_lost_anyway(network, link, missed)]
    return (
        *held_elsewhere(network, link),
        *lost,
        *_start_up(network, link, 1 - used if used else LEAST_OF_RUN),
        *possible,
    )


# --- limits of groups of flows


def _of_senders(network: Network, link: int) -> Iterator[LinkLimit]:
    """Yield the senders' limits on a link, one per kind; if no kind alone is a limit, all kinds combined."""
    groups, rate_bps = network.crossing(link), network.links[link].rate_bps
    caps = {what: [cap(network, group) for group in groups] for what, cap in _CAPS.items()}
    for what, each in caps.items():
        if (total := sum(each)) < BELOW * rate_bps:
            # Windows, transfers and datagrams may come in bursts, which access links do not let through.
            yield _limit(what, total, rate_bps, _said(network, groups, what, total), is_certain=what == ACCESS)
    least = [min((each[i], what) for what, each in caps.items()) for i in range(len(groups))]
    total = sum(cap for cap, _ in least)
    if total < BELOW * rate_bps and len({what for _, what in least}) > 1:
        parts = [f"{g.name} {format_rate(cap)} ({_WORDS[what]})" for g, (cap, what) in zip(groups, least, strict=True)]
        text = f"the senders reach {format_rate(total)} together, {', '.join(parts)}"
        yield _limit(SEVERAL, total, rate_bps, text, is_certain=False)


def _limit(what: str, least_bps: float, rate_bps: float, text: str, *, is_certain: bool) -> LinkLimit:
    then = NO_BOTTLENECK if is_certain else "no buffer changes that"
    return LinkLimit(what, least_bps, f"{text}, less than the {format_rate(rate_bps)} of this link: {then}", is_certain)


def _access(_network: Network, group: FlowGroup) -> float:
    return math.inf if group.access_rate_bps is None else group.flows * group.access_rate_bps


def _window(_network: Network, group: FlowGroup) -> float:
    if not group.is_tcp or group.receive_window is None:
        return math.inf
    return group.receive_window * _per_round(group)


def _per_round(group: FlowGroup) -> float:
    """Rate of a group that sends one segment per flow and base RTT [bit/s]."""
    rounds = [1 / rtt_s if rtt_s > 0 else math.inf for rtt_s in group.rtts_s]
    return 8.0 * group.packet_bytes * group.flows * sum(rounds) / len(rounds)


def _offered(network: Network, group: FlowGroup) -> float:
    if group.kind.get("kind") == "finite":
        measured_s = network.duration_s - network.warmup_s
        return 8 * group.flows * octets(group.kind["size"]) / measured_s
    return group.offered_bps or math.inf


def _lossy(network: Network, group: FlowGroup) -> float:
    events = _loss_events(network, group)
    if not events or not group.is_tcp or min(group.rtts_s) <= 0:
        return math.inf
    from elephan.theory import controls  # noqa: PLC0415 (NumPy; --help does without)
    from elephan.theory.law_responses import SOURCES, law_responses  # noqa: PLC0415 (as above)

    if group.law not in SOURCES:
        return math.inf
    try:
        windows = law_responses(controls.write(group.control)).window([events] * len(group.rtts_s), group.rtts_s)
    except InputError:
        return math.inf
    rates = [float(window) / rtt_s for window, rtt_s in zip(windows, group.rtts_s, strict=True)]
    return 8.0 * group.packet_bytes * group.flows * sum(rates) / len(rates)


_CAPS = {ACCESS: _access, WINDOW: _window, OFFERED: _offered, LOSS: _lossy}

_WORDS = {ACCESS: "access links", WINDOW: "receive windows", OFFERED: "what is offered", LOSS: "random loss"}


def _said(network: Network, groups: Sequence[FlowGroup], what: str, total: float) -> str:
    """Describe a limit of all groups."""
    rate = format_rate(total)
    if what == ACCESS:
        return f"the senders' own links carry {rate} together"
    if what == OFFERED:
        return f"the sources offer {rate} together"
    if what == WINDOW:
        windows = {f"{group.receive_window:,} segments in {format_time(group.rtt_s)}" for group in groups}
        return f"the receive windows allow {rate} together" + (f" ({windows.pop()} each)" if len(windows) == 1 else "")
    shares = {_loss_events(network, group) for group in groups}
    share = f" of {100 * max(shares):.2g} %" if len(shares) == 1 else ""
    sources = {_source(group) for group in groups}
    return f"random loss{share} allows about {rate} together ({'; '.join(sorted(sources))})"


def _source(group: FlowGroup) -> str:
    """Return the source of the response function of a group's law."""
    from elephan.theory import controls  # noqa: PLC0415 (NumPy; --help does without)

    if controls.write(group.control) == "reno":
        return "sqrt(3/(2 p)) segments per round trip, Mathis et al. 1997"
    return "CUBIC's response function, RFC 9438, Section 5.1" if group.law == "cubic" else f"response of {group.law}"


# --- limits of links


def _of_links(network: Network, link: int) -> Iterator[LinkLimit]:
    """Yield the limits by policers, and by other links on the paths of a link's flows."""
    groups, facts = network.crossing(link), network.links[link]
    own = [min(cap(network, group) for cap in _CAPS.values()) for group in groups]
    for other in network.links:
        passing = [_passes(group, link, other.index) for group in groups]
        beside = sum(cap for cap, passes in zip(own, passing, strict=True) if not passes)
        if math.isinf(beside) or not any(passing):
            continue
        # Packets that arrive at the rate of an earlier link form no queue here.
        before = (
            all(group.path.index(other.index) <= group.path.index(link) for group in groups) if not beside else False
        )
        carried = other.rate_bps * other.members + beside
        if other.index != link and carried < BELOW * facts.rate_bps:
            text = f"link {other.name} lets {format_rate(carried)} through"
            yield _limit(OTHER_LINK, carried, facts.rate_bps, text, is_certain=before)
        let = _policed(network, other.index) * other.members + beside
        if let < BELOW * facts.rate_bps:
            which = "the policer" if other.index == link else f"the policer of link {other.name}"
            share = f"{100 * let / facts.rate_bps:.3g} % of the {format_rate(facts.rate_bps)} of this link"
            then = f"the link {NO_BOTTLENECK.removeprefix('it ')}" if before else "no buffer changes that"
            yield LinkLimit(POLICER, let, f"{which} lets {format_rate(let)} through, {share}: {then}", before)


def _passes(group: FlowGroup, link: int, other: int) -> bool:
    """Whether another link bounds what a group sends over a link; a link behind it bounds only TCP."""
    if other not in group.path:
        return False
    return group.is_tcp or group.path.index(other) <= group.path.index(link)


def _policed(network: Network, link: int) -> float:
    """Mean rate that the policer of a link admits over a run [bit/s], its first burst included."""
    policer = network.links[link].policer
    if policer is None:
        return math.inf
    burst_bps = 8 * policer["burst_bytes"] / network.duration_s
    # With a burst as long as the run the policer has no effect.
    return math.inf if burst_bps > policer["rate_bps"] else float(policer["rate_bps"])


def _loss_events(network: Network, group: FlowGroup) -> float:
    """Loss events per segment by the random loss of all links of a group's path."""
    forms = network.tables().resolved["links"]
    return 1 - math.prod(1 - _events(forms[index].get("loss")) for index in dict.fromkeys(group.path))


def _events(loss: Mapping[str, Any] | None) -> float:
    """Mean loss events per packet of a link; a burst of losses counts as one event."""
    if loss is None or "during" in loss:
        return 0.0
    if chain := loss.get("gilbert"):
        if not chain["enter"] + chain["leave"]:
            return float(chain["good"])
        bad = chain["enter"] / (chain["enter"] + chain["leave"])
        return float(min(bad * chain["leave"], bad * chain["bad"]) + (1 - bad) * chain["good"])
    return float(loss.get("random") or 1 / loss["every"])


def _lost(loss: Mapping[str, Any] | None) -> float:
    """Mean share of packets that a link loses at random."""
    if loss is None or "during" in loss or "gilbert" not in loss:
        return _events(loss)
    chain = loss["gilbert"]
    bad = chain["enter"] / max(chain["enter"] + chain["leave"], 1e-300)
    return float(bad * chain["bad"] + (1 - bad) * chain["good"])


def _lost_anyway(network: Network, link: int, missed: Sequence[Target]) -> Iterator[LinkLimit]:
    share = _lost(network.tables().resolved["links"][link].get("loss"))
    for target in missed:
        if target.metric == "loss_ratio" and share > target.level:
            text = f"random loss on this link takes {100 * share:.2g} % of the packets, whatever the buffer"
            yield LinkLimit(LOSS, None, text, is_certain=False)


# --- limits of the run


def _start_up(network: Network, link: int, share: float) -> Iterator[LinkLimit]:
    """Yield the start-up of the flows as a limit if it takes more than a share of the measured time."""
    groups = [group for group in network.crossing(link) if group.is_tcp and group.sort == "transfer"]
    if not groups:
        return
    started = max(groups, key=_opened_s)
    opened_s, measured_s = _opened_s(started), network.duration_s - network.warmup_s
    if opened_s - network.warmup_s <= max(share, LEAST_OF_RUN) * measured_s:
        return
    begin, end = format_time(network.warmup_s), format_time(network.duration_s)
    last = f", the last flow starting at {format_time(started.start_s[1])}" if started.start_s[1] > 0 else ""
    yield LinkLimit(
        START_UP,
        None,
        f"the start-up lasts until about {format_time(opened_s)}{last}, and the run measures from {begin} to {end}: it "
        f"is too short; give a warmup of {format_time(opened_s)} or more, and a duration of several times that",
        is_certain=False,
    )


def too_short(network: Network) -> tuple[LinkLimit, ...]:
    """Return the lint warnings about a run that is too short to judge buffers, as one limit.

    Parameters
    ----------
    network : Network
    """
    findings = [found for module in (short_run, short_warmup) for found in module.RULE.check(LintSubject(network))]
    if not findings:
        return ()
    slow = slowest(network.bulk)
    # A run that is long enough for the slowest law is long enough for the others.
    found = next((each for each in findings if slow is not None and f" {slow[0].name} (" in each.message), findings[0])
    text = f"the run may be too short to say: {found.message}; {found.remedy} as {found.where}"
    return (LinkLimit(TOO_SHORT, None, text, is_certain=False),)


def _opened_s(group: FlowGroup) -> float:
    """Time when the last flow of a group has opened its window in slow start [s], doubling it in each round trip."""
    window = min(group.bdp, group.receive_window or math.inf)
    rounds = math.log2(max(1.0, window / float(group.tcp.get("initial_window") or 1)))
    return group.start_s[1] + group.rtt_s * rounds
