"""Choice of the buffer to deploy, which may be larger than the smallest that meets the targets; and its dangers.

The smallest buffer that keeps a link busy may hold less than a packet of each flow, leave one group of flows with a
fraction of what others get, or have no utilization target at all. Sources: a packet for each flow, Morris1997 and
DhamdhereDovrolis2006; shares by Jain's index, Jain1984.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elephan.network import FlowGroup, Network, NetworkLink
from elephan.sizing.caveats import SERVES_IN_TURN, UNFAIR
from elephan.sizing.curve import BufferCurve
from elephan.sizing.limits import held_by_windows, held_elsewhere
from elephan.sizing.targets import Target
from elephan.stats import estimate
from elephan.units import format_packets, format_rate, format_time

if TYPE_CHECKING:
    from elephan.sizing.documents import SuggestionPart

LEAST_UTILIZATION = 0.95
"""Target utilization of a suggested buffer if no target states one."""

STARVED = 1 / 3
"""Ratio of goodputs per flow of two groups below which one is starved: Jain's index of two such flows is 0.8."""

LOSSY = 0.01
"""Loss ratio above which other traffic on the link suffers: video telephony needs less (ITU-T G.1010, Table I.1)."""

TIMEOUTS = 0.05
"""Loss ratio above which no `tc` line is given: windows of sqrt(1.5/p), 5.5 segments, are repaired by timeouts."""

FLAT = 0.02
"""Range of utilization that counts as flat: within it, utilization does not decide between buffers."""

ANSWER, PER_FLOW, SMALL, BDP, SUGGESTED = "smallest", "1 per flow", "BDP/sqrt(n)", "BDP", "suggested"
"""Roles of the buffers in the short table."""


@dataclass(frozen=True)
class BufferSuggestion:
    """Buffer to deploy, and the reasons.

    Parameters
    ----------
    buffer_packets : int or None [packets]
        None if no buffer can be recommended.
    why : str
        Why it is not the smallest that meets the targets; empty if it is.
    dangers : tuple of str
        Unmet targets and dangers, each a clause without a full stop.
    advice : tuple of str
        Advice on these dangers, in the same form.
    rows : dict of int to tuple of str
        Buffers of the short table [packets], rising, and why each is there.
    """

    buffer_packets: int | None
    why: str
    dangers: tuple[str, ...]
    advice: tuple[str, ...]
    rows: dict[int, tuple[str, ...]]

    def to_json(self) -> SuggestionPart:
        """Return the parts ``suggested_packets``, ``why_suggested``, ``dangers`` and ``advice`` of the document."""
        return {
            "suggested_packets": self.buffer_packets,
            "why_suggested": self.why,
            "dangers": list(self.dangers),
            "advice": list(self.advice),
        }


def standard_buffers(link: NetworkLink) -> dict[str, int]:
    """Return the buffers that an answer is compared with.

    Parameters
    ----------
    link : NetworkLink
        A link that flows cross.

    Returns
    -------
    dict of str to int [packets]

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> standard_buffers(Scenario.from_text(EXAMPLE).network.links[0])
    {'1 per flow': 2, 'BDP/sqrt(n)': 71, 'BDP': 100}
    """
    bdp = link.bdp_packets
    return {
        PER_FLOW: link.flows_per_member,
        SMALL: max(1, round(bdp / math.sqrt(link.flows))),
        BDP: max(1, round(bdp)),
    }


def suggest(
    curve: BufferCurve, targets: Sequence[Target], found: int | None, network: Network, link: int
) -> BufferSuggestion:
    """Choose the buffer to deploy among those measured.

    Parameters
    ----------
    curve : BufferCurve
        Curve that contains the standard buffers.
    found : int or None [packets]
        The smallest buffer that meets all targets.
    link : int

    Returns
    -------
    BufferSuggestion
        The smallest measured buffer that holds a packet of each flow, is not smaller than the one found, meets every
        target itself, and keeps the link busy even if no target requires it; None if there is no such buffer.
    """
    facts = network.links[link]
    standard = standard_buffers(facts)
    chosen, why = _choose(curve, targets, found, standard[PER_FLOW])
    if capped := held_elsewhere(network, link):
        # Without an answer, its note already contains the first limit.
        said = tuple(limit.text for limit in (capped[1:] if found is None else capped))
        return BufferSuggestion(None, "", said, (), _rows(standard, found, None, curve))
    at = chosen or found or _largest_utilization(curve)
    dangers, advice = _shares(curve, targets, at, network, link)
    below = _below(curve, targets, found, chosen, standard[PER_FLOW])
    dangers = [*below, *_undecided(curve, targets, chosen), *dangers, *heavy_losses(curve, targets, at)]
    dangers += _turning(curve, targets, at)
    advice = [*advice, *_flat(curve, at, standard[BDP])]
    if found is not None:
        advice = [*(limit.text for limit in held_by_windows(network, link)), *advice]
    return BufferSuggestion(chosen, why, tuple(dangers), tuple(advice), _rows(standard, found, chosen, curve))


def _choose(curve: BufferCurve, targets: Sequence[Target], found: int | None, flows: int) -> tuple[int | None, str]:
    if found is None:
        return None, ""
    busy = _least_busy(curve, targets)
    for buffer in (b for b in curve.buffers if b >= max(found, flows)):
        used = curve.estimate(buffer, "utilization").mean
        if used >= busy and all(t.meets(curve.estimate(buffer, t.metric).mean) for t in targets):
            if buffer == found:
                return buffer, ""
            if found < flows:
                return buffer, less_than_one_each(found, flows)
            return buffer, f"with {format_packets(found)} the link is {_percent(curve, found)} busy"
    return None, ""


def less_than_one_each(packets: int, flows: int) -> str:
    """Say that a buffer does not hold a packet of each flow.

    Examples
    --------
    >>> less_than_one_each(1, 2), less_than_one_each(13, 1000)
    ('1 packet is less than one for each of the 2 flows', '13 packets are less than one for each of the 1,000 flows')
    """
    return f"{format_packets(packets)} {'is' if packets == 1 else 'are'} less than one for each of the {flows:,} flows"


def _least_busy(curve: BufferCurve, targets: Sequence[Target]) -> float:
    """Required utilization if no target states one: nearly the highest of all measured buffers."""
    if any(target.metric == "utilization" for target in targets):
        return 0.0
    best = max(curve.estimate(b, "utilization").mean for b in curve.buffers)
    return min(LEAST_UTILIZATION, best - 0.01)


def _below(
    curve: BufferCurve, targets: Sequence[Target], found: int | None, chosen: int | None, flows: int
) -> list[str]:
    """Explain why the smallest buffer is not suggested, or none is."""
    if found is None or chosen == found:
        return []
    if found < flows:
        lines = [less_than_one_each(found, flows)]
    else:
        lines = [
            f"{format_packets(found)} {'keeps' if found == 1 else 'keep'} the link only {_percent(curve, found)} busy"
        ]
    if chosen is None:
        larger = [b for b in curve.buffers if b >= max(found, flows)]
        missed = [t for b in larger[:1] for t in targets if not t.meets(curve.estimate(b, t.metric).mean)]
        if missed:
            lines.append(f"with {format_packets(larger[0])} {' and '.join(map(str, missed))} is not met")
    return lines


def dangers_at(
    curve: BufferCurve, targets: Sequence[Target], at: int, network: Network, link: int
) -> tuple[list[str], list[str]]:
    """List the dangers of one buffer.

    Parameters
    ----------
    at : int [packets]
        A measured buffer.
    link : int

    Returns
    -------
    tuple of list of str
        Serious dangers (heavy loss), which rank a variant behind others; and all others, unequal shares first.
    """
    shares, _ = _shares(curve, targets, at, network, link)
    return heavy_losses(curve, targets, at), [*shares, *_turning(curve, targets, at)]


def heavy_losses(curve: BufferCurve, targets: Sequence[Target], at: int, above: float = LOSSY) -> list[str]:
    """Return a warning about a loss ratio above a limit, unless a target states the acceptable loss."""
    lost = curve.estimate(at, "loss_ratio").mean
    if not lost > above or any(target.metric == "loss_ratio" for target in targets):
        return []
    return [f"{100 * lost:.2g} % of the packets are lost with {format_packets(at)} of buffer"]


def _undecided(curve: BufferCurve, targets: Sequence[Target], chosen: int | None) -> list[str]:
    """Return a warning if the interval of a target's metric at the suggested buffer includes values that miss it."""
    if chosen is None:
        return []
    missed = [(t, end) for t in targets if (end := _worst(curve, t, chosen)) is not None and not t.meets(end)]
    if not missed:
        return []
    target, end = missed[0]
    held = [b for b in curve.buffers if b > chosen and all(_is_held(curve, each, b) for each in targets)]
    value = format_time(end) if target.is_time else f"{end:.2g}" if target.metric == "jain" else f"{100 * end:.3g} %"
    far = f"may be as {'low' if target.at_least else 'high'} as {value}"
    held_by = f"; not so with {format_packets(held[0])}" if held else ""
    return [f"{target.name} {far} (95 % interval){held_by}"]


def _worst(curve: BufferCurve, target: Target, buffer: int) -> float | None:
    """Return the end of the interval of a metric that is nearer to a miss; None without an interval."""
    mean, half = curve.estimate(buffer, target.metric)
    return None if half is None else mean - half if target.at_least else mean + half


def _is_held(curve: BufferCurve, target: Target, buffer: int) -> bool:
    end = _worst(curve, target, buffer)
    return end is not None and target.meets(end)


def _turning(curve: BufferCurve, targets: Sequence[Target], at: int) -> list[str]:
    """Return a warning if larger buffers reduce utilization, significantly and by more than one percentage point."""
    mean, half = curve.estimate(at, "utilization")
    for buffer in reversed(curve.buffers):
        if buffer <= at:
            break
        other, width = curve.estimate(buffer, "utilization")
        if mean - other > max(0.01, half or 0.0, width or 0.0):
            missed = any(t.metric == "utilization" and not t.meets(other) for t in targets)
            text = f"larger buffers keep the link less busy: {_percent(curve, buffer)} with {format_packets(buffer)}"
            return [text + (", below the target" if missed else "")]
    return []


def _flat(curve: BufferCurve, at: int, bdp: int) -> list[str]:
    """Return a remark if larger buffers add delay but no utilization."""
    range_ = [b for b in curve.buffers if at <= b <= bdp]
    if len(range_) < 2 or range_[-1] < 3 * at:
        return []
    used = [curve.estimate(b, "utilization").mean for b in range_]
    waits = [curve.estimate(b, "queueing_delay_s").mean for b in (range_[0], range_[-1])]
    if max(used) - min(used) > FLAT or not waits[1] > 2 * waits[0]:
        return []
    ends = list(dict.fromkeys(f"{100 * end:.3g}" for end in (min(used), max(used))))
    return [
        f"larger buffers add delay ({format_time(waits[0])} to {format_time(waits[1])}), not utilization "
        f"({' to '.join(ends)} %)"
    ]


def compared_groups(network: Network, link: int) -> list[tuple[int, FlowGroup]]:
    """Return the groups whose shares of a link are compared, each with its position among those that cross it.

    Parameters
    ----------
    link : int

    Returns
    -------
    list of tuple of int and FlowGroup
        Those that count for fairness and that neither their access links nor their receivers limit to less.
    """
    counted = network.counted(link)
    return [
        (i, group)
        for i, group in enumerate(network.crossing(link))
        if counted[group.index] and not group.is_held_by_access and not group.is_held_by_receiver
    ]


def _shares(
    curve: BufferCurve, targets: Sequence[Target], at: int, network: Network, link: int
) -> tuple[list[str], list[str]]:
    """Return warnings about very unequal shares, and advice: whether a buffer or a queue can change them."""
    groups = compared_groups(network, link)
    jain = curve.estimate(at, "jain").mean
    ratio = _ratio(curve, at, groups)
    # Jain's index also counts flows that are limited elsewhere and cannot take more.
    counted = sum(network.counted(link))
    if ratio >= STARVED and (not jain < UNFAIR or len(groups) < counted):
        return [], []
    if ratio < STARVED:
        text = _who(curve, at, groups)
    else:
        text = "flows of one kind get unequal shares" if len(groups) < 2 else "flows get unequal shares"
    dangers = [f"{text} (Jain's index {jain:.2f})"]
    usable = [
        b
        for b in curve.buffers
        if all(t.metric == "jain" or t.meets(curve.estimate(b, t.metric).mean) for t in targets)
    ]
    better = [b for b in usable if _is_fair(curve, b, groups)]
    if better:
        return dangers, [
            f"with {format_packets(better[0])} shares are nearer to equal: {_who(curve, better[0], groups)}"
        ]
    queue = network.links[link].discipline
    if queue in SERVES_IN_TURN or len(usable) < 2:
        return dangers, []
    return dangers, [f"none of these buffers changes that: try --queues {queue},fq-codel"]


def _is_fair(curve: BufferCurve, buffer: int, groups: Sequence[tuple[int, FlowGroup]]) -> bool:
    return _ratio(curve, buffer, groups) >= STARVED and not curve.estimate(buffer, "jain").mean < UNFAIR


def _ratio(curve: BufferCurve, buffer: int, groups: Sequence[tuple[int, FlowGroup]]) -> float:
    """Goodput per flow of the poorest group over that of the richest; 1 for a single group."""
    rates = _rates(curve, buffer, groups)
    return min(rates) / max(rates) if len(rates) > 1 and max(rates) > 0 else 1.0


def _rates(curve: BufferCurve, buffer: int, groups: Sequence[tuple[int, FlowGroup]]) -> list[float]:
    if not all(sample.groups for sample in curve.samples(buffer)):
        return []
    return [curve.group(buffer, i, "goodput_per_flow_bps").mean for i, _ in groups]


def _who(curve: BufferCurve, buffer: int, groups: Sequence[tuple[int, FlowGroup]]) -> str:
    """Describe the goodput per flow of the poorest and of the richest group."""
    rates = _rates(curve, buffer, groups)
    if len(rates) < 2:
        return f"Jain's index {curve.estimate(buffer, 'jain').mean:.2f}"
    low, high = rates.index(min(rates)), rates.index(max(rates))
    names = [groups[i][1].name for i in (low, high)]
    return f"{names[0]} gets {format_rate(rates[low])} per flow, {names[1]} {format_rate(rates[high])}"


def _rows(
    standard: dict[str, int], found: int | None, chosen: int | None, curve: BufferCurve
) -> dict[int, tuple[str, ...]]:
    """Return the buffers of the short table with their roles; buffers that nearly coincide share a row."""
    rows: dict[int, list[str]] = {}
    for role, buffer in ((ANSWER, found), (SUGGESTED, chosen), *standard.items()):
        if buffer is None or not curve.replications(buffer):
            continue
        same = next((b for b in rows if b == buffer or abs(b - buffer) < 0.02 * b), buffer)
        rows.setdefault(same, []).append(role)
    return {buffer: tuple(rows[buffer]) for buffer in sorted(rows)}


def _largest_utilization(curve: BufferCurve) -> int:
    return max(curve.buffers, key=lambda b: estimate([s.utilization for s in curve.samples(b)]).mean)


def _percent(curve: BufferCurve, buffer: int) -> str:
    return f"{100 * curve.estimate(buffer, 'utilization').mean:.3g} %"
