"""Buffer rules with their assumptions, and the models from which three of them follow.

Source: bandwidth-delay product (BDP), Villamizar1994; BDP of the largest RTT, and the lower bound of the queue,
Andrew2005; BDP over the square root of the number of flows n, and the Gaussian window, Appenzeller2004; BDP for any
decrease, Spang2021; BDP of twice the link's own delay, Barman2004; very small buffers, Enachescu2006 and
RainaWischik2005; a hundred packets, AugeRoberts2006. Differs from the source: of Spang2021 only the rule for one flow
(or synchronized flows) is here. That paper shows that the rule with the square root of n fails for unfair flows. Here
unequal shares are represented by an effective number of flows, which is ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elephan.errors import InputError, suggest
from elephan.network import BULK, FlowGroup, Network, NetworkLink
from elephan.theory import controls
from elephan.theory.cuts import is_constant, least_cut
from elephan.theory.law_responses import SOURCES


class LinkFacts(NamedTuple):
    """Facts of a link and its flows that the rules use."""

    packets_per_s: float
    """Rate in packets of the mean size [1/s]."""
    bdp_packets: float
    """Rate x mean base RTT [packets]."""
    min_rtt_s: float
    max_rtt_s: float
    delay_s: float
    """One-way delay of the link itself [s]."""
    flows: int
    buffer_packets: float
    """Buffer [packets]; NaN if unknown."""
    discipline: str
    laws: tuple[str, ...]
    """Laws of bulk flows in the form of `controls.write`; empty if unknown."""
    other_traffic: bool
    """Whether traffic other than bulk flows crosses the link."""
    access_ratio: float
    """Largest access rate of a bulk flow over the link's rate; infinite without a limit [1]."""
    comes_one_by_one: bool = False
    """Whether all bulk flows are paced without bursts (QUIC's pacing permits bursts after a pause)."""


def facts(link: NetworkLink, groups: Sequence[FlowGroup] = ()) -> LinkFacts:
    """Collect the facts of a link.

    Parameters
    ----------
    link : NetworkLink
        A link that carries flows.
    groups : sequence of FlowGroup
        The groups that cross it.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> network = Scenario.from_text(EXAMPLE).network
    >>> facts(network.links[0], network.groups).laws
    ('reno',)
    """
    bulk = [group for group in groups if group.is_tcp and group.traffic == BULK]
    rates = [group.access_rate_bps or math.inf for group in bulk]
    buffer = link.buffer_packets if link.buffer_limit_packets is None else float(link.buffer_limit_packets)
    return LinkFacts(
        packets_per_s=link.rate_bps / (8 * link.packet_bytes),
        bdp_packets=link.bdp_packets,
        min_rtt_s=link.min_rtt_s,
        max_rtt_s=link.max_rtt_s,
        delay_s=link.delay_s,
        flows=link.flows,
        buffer_packets=math.nan if buffer is None else buffer,
        discipline=link.discipline,
        laws=tuple(sorted({controls.write(group.control) for group in bulk})),
        other_traffic=bool(link.background_flows) or len(bulk) < len(groups),
        access_ratio=max(rates, default=math.inf) / link.rate_bps,
        # Canonical forms omit keys with default values.
        comes_one_by_one=bool(bulk) and all(group.tcp.get("pacing", "none") not in ("none", "quic") for group in bulk),
    )


def of_link(network: Network, link: int) -> LinkFacts:
    """Collect the facts of a link of a network.

    Parameters
    ----------
    link : int
        Index of a link that carries flows.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> of_link(Scenario.from_text(EXAMPLE).network, 0).laws
    ('reno',)
    """
    return facts(network.links[link], network.crossing(link))


Assumption = Callable[[LinkFacts], str]
"""Function that describes a violated assumption in one line.

The text is empty if the assumption holds, or if the facts do not suffice to check it.
"""


def _reno(f: LinkFacts) -> str:
    others = [law for law in f.laws if law != "reno"]
    return f"assumes Reno, which gives up half its window; here {', '.join(others)}" if others else ""


def _constant_decrease(f: LinkFacts) -> str:
    unknown = [law for law in f.laws if controls.kind(law) not in SOURCES]
    if unknown:
        return f"needs a fixed back-off factor; that of {', '.join(unknown)} varies, so 0.5 was used"
    moving = {law: least_cut(law, *_share(f)) for law in f.laws if not is_constant(law, *_share(f))}
    cuts_text = ", ".join(f"{law} gives up {cut:.2g} there" for law, cut in moving.items())
    return f"needs a fixed back-off factor; {cuts_text}, and otherwise at other windows" if moving else ""


def _drop_tail(f: LinkFacts) -> str:
    return "" if f.discipline == "drop-tail" else f"assumes a drop-tail queue; here {f.discipline}"


def _long_lived(f: LinkFacts) -> str:
    return "assumes long-lived flows alone; here there is other traffic too" if f.other_traffic else ""


def _equal_rtts(f: LinkFacts) -> str:
    # Differences up to 10 % are less than the queueing delay that the buffer of any of these rules adds.
    if f.max_rtt_s <= 1.1 * f.min_rtt_s:
        return ""
    return f"assumes one RTT for all; here {1e3 * f.min_rtt_s:.4g} to {1e3 * f.max_rtt_s:.4g} ms"


def _many(f: LinkFacts) -> str:
    # Appenzeller2004 observed synchronized flows below about a hundred, and hardly ever above 500.
    return f"assumes hundreds of unsynchronized flows; here {f.flows}" if f.flows < 100 else ""


def _unsynchronized(f: LinkFacts) -> str:
    if f.flows < 2 or f.max_rtt_s > 1.1 * f.min_rtt_s:
        return ""
    return "assumes unsynchronized flows; with equal RTTs flows may synchronize"


def _no_timeouts(f: LinkFacts) -> str:
    buffer = 0.0 if math.isnan(f.buffer_packets) else f.buffer_packets
    window = (f.bdp_packets + buffer) / max(f.flows, 1)
    # Fast retransmit needs three segments after the lost one.
    return f"assumes no timeouts; here a flow's share is {window:.2g} segments" if window < 4 else ""


def _slow_access(f: LinkFacts) -> str:
    # Enachescu2006 finds pacing unnecessary if access links have about a tenth of the link's rate or less.
    if f.access_ratio <= 0.1 or f.comes_one_by_one:
        return ""
    return "assumes paced senders or access links far slower than the link; here a flow can send bursts at its rate"


class BufferRule(NamedTuple):
    """A rule for the buffer of a link."""

    title: str
    source: str
    """Key of `citations`."""
    packets: Callable[[LinkFacts], float]
    assumptions: tuple[Assumption, ...]


def _decrease(f: LinkFacts) -> float:
    """Return the largest decrease of the laws; 0.5 for a law that does not respond only to loss, or without laws."""
    known = (least_cut(law, *_share(f)) if controls.kind(law) in SOURCES else 0.5 for law in f.laws)
    return max(known, default=0.5)


def _share(f: LinkFacts) -> tuple[float, float]:
    """Return the BDP of a flow's share of the link [segments], and the mean base RTT [s]."""
    return f.bdp_packets / max(f.flows, 1), f.bdp_packets / f.packets_per_s


_COMMON = (_reno, _drop_tail, _long_lived)

RULES: dict[str, BufferRule] = {
    "bdp": BufferRule("rate x mean base RTT", "Villamizar1994", lambda f: f.bdp_packets, (*_COMMON, _equal_rtts)),
    "bdp_over_sqrt_n": BufferRule(
        "rate x mean base RTT / sqrt(number of flows)",
        "Appenzeller2004",
        lambda f: f.bdp_packets / math.sqrt(f.flows),
        (*_COMMON, _many, _unsynchronized, _no_timeouts),
    ),
    "max_bdp": BufferRule(
        "rate x largest base RTT", "Andrew2005", lambda f: f.packets_per_s * f.max_rtt_s, (*_COMMON, _no_timeouts)
    ),
    "min_bdp": BufferRule(
        "rate x smallest base RTT", "Villamizar1994", lambda f: f.packets_per_s * f.min_rtt_s, (*_COMMON, _equal_rtts)
    ),
    "link_bdp": BufferRule(
        "rate x twice the link's own delay", "Barman2004", lambda f: f.packets_per_s * 2 * f.delay_s, (_drop_tail,)
    ),
    "decrease_bdp": BufferRule(
        "rate x mean base RTT x b / (1 - b), b the share of the window that a loss takes",
        "Spang2021",
        lambda f: float(one_flow_buffer(f.bdp_packets, _decrease(f))),
        (_constant_decrease, _drop_tail, _long_lived, _equal_rtts),
    ),
    "log_window": BufferRule(
        "logarithm of a flow's window, for 90 % of a load of 80 %",
        "Enachescu2006",
        lambda f: float(small_buffer(max(f.bdp_packets / max(f.flows, 1), 1.0))),
        (_reno, _drop_tail, _many, _slow_access),
    ),
    "twenty": BufferRule("20 packets", "RainaWischik2005", lambda _: 20.0, (_reno, _drop_tail, _many, _slow_access)),
    "hundred": BufferRule("100 packets", "AugeRoberts2006", lambda _: 100.0, (_drop_tail,)),
}
"""All rules, by name."""


def buffers(known: LinkFacts) -> dict[str, float]:
    """Compute the buffers of all rules.

    Returns
    -------
    dict of str to float [packets]
        Buffers with the keys of `RULES`; a rule whose buffer is not above 0 is omitted.

    References
    ----------
    Those of `RULES`.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> {name: round(value) for name, value in buffers(facts(Scenario.from_text(EXAMPLE).network.links[0])).items()}
    {'bdp': 100, 'bdp_over_sqrt_n': 71, 'max_bdp': 100, 'min_bdp': 100, 'link_bdp': 50, 'decrease_bdp': 100,
     'log_window': 42, 'twenty': 20, 'hundred': 100}
    """
    values = {name: rule.packets(known) for name, rule in RULES.items()}
    return {name: value for name, value in values.items() if value > 0}


def broken(name: str, known: LinkFacts) -> list[str]:
    """List the assumptions of a rule that are violated.

    Parameters
    ----------
    name : str
        A key of `RULES`.

    Returns
    -------
    list of str
        One line for each; empty if none is known to be violated.

    Raises
    ------
    InputError
        If the rule does not exist.

    References
    ----------
    Those of `RULES`.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> broken("bdp_over_sqrt_n", of_link(Scenario.from_text(EXAMPLE).network, 0))[0]
    'assumes hundreds of unsynchronized flows; here 2'
    """
    if name not in RULES:
        raise InputError(f'rule: there is no "{name}"; {suggest(name, RULES)}')
    return [line for line in (assumption(known) for assumption in RULES[name].assumptions) if line]


def smallest_queue(rate: float, rtts_s: ArrayLike, buffer: ArrayLike) -> NDArray[np.float64]:
    """Lower bound of the queue after the first overflow: (B - mu max tau)^+ / 2, for any number of flows.

    Parameters
    ----------
    rate : float [packets/s]
    rtts_s : array_like [s], shape (n,)
        RTTs without queueing at this link.
    buffer : array_like [packets]

    Returns
    -------
    ndarray of float [packets], shape of `buffer`
        Zero unless the buffer exceeds rate x largest RTT; then the queue never empties.

    Raises
    ------
    InputError
        If `rtts_s` is empty.

    References
    ----------
    Andrew2005, equations (1) and (2): Reno, drop-tail, at most one loss per flow and overflow, no timeouts. The queue
    reaches this bound if all traffic belongs to the flow with the longest RTT.

    Examples
    --------
    >>> smallest_queue(4000, [0.02, 0.1, 0.15], [100, 600, 1000])
    array([  0.,   0., 200.])
    """
    rtts = np.asarray(rtts_s, dtype=float)
    if rtts.size == 0:
        raise InputError("rtts_s: must hold at least one RTT")
    return np.asarray(np.maximum(np.asarray(buffer, dtype=float) - rate * rtts.max(), 0) / 2)


def one_flow_buffer(bdp: ArrayLike, decrease: ArrayLike) -> NDArray[np.float64]:
    """Smallest buffer that does not run empty with one flow, or with synchronized flows: BDP b / (1 - b).

    Parameters
    ----------
    bdp : array_like [packets]
    decrease : array_like [1]
        Share by which a loss reduces the window; broadcast against `bdp`.

    Returns
    -------
    ndarray of float [packets], broadcast shape

    Raises
    ------
    InputError
        If a decrease is not strictly between 0 and 1.

    References
    ----------
    Spang2021; Villamizar1994 for a half. (1 - b)(BDP + B) = BDP.

    Examples
    --------
    >>> one_flow_buffer(1000, [0.5, 0.3, 0.125]).round()
    array([1000.,  429.,  143.])
    """
    b = np.asarray(decrease, dtype=float)
    if np.any(~((b > 0) & (b < 1))):
        raise InputError(f"decrease: {decrease!r} must lie strictly between 0 and 1")
    return np.asarray(np.asarray(bdp, dtype=float) * b / (1 - b))


def small_buffer(window: ArrayLike, load: ArrayLike = 0.8, effective: ArrayLike = 0.9) -> NDArray[np.float64]:
    """Buffer with which paced flows lose few packets: log(W^2 / (2 (1 - theta))) to the base 1/rho.

    Parameters
    ----------
    window : array_like [segments]
        Largest window of a flow, at least 1.
    load : array_like [1]
        Load rho: the flows' demand over the link's rate.
    effective : array_like [1]
        Theta: throughput over the throughput without loss; all three are broadcast.

    Returns
    -------
    ndarray of float [packets], broadcast shape

    Raises
    ------
    InputError
        If a load or an effective utilization is not strictly between 0 and 1.

    References
    ----------
    Enachescu2006, Theorem 1 (Poisson-like arrivals, losses as in rho^B).

    Examples
    --------
    >>> small_buffer([10, 100, 1000]).round()
    array([28., 48., 69.])
    """
    rho, theta = np.asarray(load, dtype=float), np.asarray(effective, dtype=float)
    if np.any(~((rho > 0) & (rho < 1))) or np.any(~((theta > 0) & (theta < 1))):
        raise InputError("load, effective: must lie strictly between 0 and 1")
    return np.asarray(np.log(np.asarray(window, dtype=float) ** 2 / (2 * (1 - theta))) / -np.log(rho))


def window_deviation(bdp: ArrayLike, buffer: ArrayLike, flows: ArrayLike, decrease: float = 0.5) -> NDArray[np.float64]:
    """Standard deviation of the sum of n independent windows, each uniform between its minimum and maximum.

    Parameters
    ----------
    bdp : array_like [packets]
    buffer : array_like [packets]
    flows : array_like
        Number of flows; all three are broadcast. See `effective_flows` for unequal flows.
    decrease : float [1]

    Returns
    -------
    ndarray of float [packets], broadcast shape
        (BDP + B) / sqrt(n) times b / (sqrt(3) (2 - b)), which is 1 / (3 sqrt(3)) for a half.

    Raises
    ------
    InputError
        If the decrease is not strictly between 0 and 1.

    References
    ----------
    Appenzeller2004, Section 3, for b = 1/2; the formula for other decreases is ours.

    Examples
    --------
    >>> round(float(window_deviation(10000, 100, 10000)), 2)
    19.44
    """
    one_flow_buffer(1.0, decrease)
    spread = decrease / (math.sqrt(3) * (2 - decrease))
    total = np.asarray(bdp, dtype=float) + np.asarray(buffer, dtype=float)
    return np.asarray(total / np.sqrt(np.asarray(flows, dtype=float)) * spread)


def effective_flows(shares: ArrayLike) -> NDArray[np.float64]:
    """Number of equal flows whose sum has the same relative deviation as flows with unequal shares: 1 / sum(share^2).

    The windows of all flows have the same relative deviation and are independent. Each flow changes the queue in
    proportion to its rate, so the variances add with the squares of the shares.

    Parameters
    ----------
    shares : array_like, shape (..., n)
        Rates of the flows, in any unit.

    Returns
    -------
    ndarray of float, shape (...)
        Between 1 (one flow has the whole rate) and n (all shares are equal).

    Raises
    ------
    InputError
        If a share is below 0, or all are 0.

    References
    ----------
    Ours. Spang2021 shows that the rule of the square root of n does not hold for unfair flows.

    Examples
    --------
    >>> effective_flows([[1, 1, 1, 1], [5, 1, 1, 1]]).round(2).tolist()
    [4.0, 2.29]
    """
    rates = np.asarray(shares, dtype=float)
    if rates.ndim == 0 or not ((rates >= 0).all() and (rates.sum(-1) > 0).all()):
        raise InputError("shares: must be a list of rates, none below 0 and one above")
    return np.asarray(rates.sum(-1) ** 2 / (rates**2).sum(-1))


# These replace scipy.special.erf and erfc: its import takes half a second, too long for short commands.
_erf, _erfc = (np.vectorize(function, otypes=[float]) for function in (math.erf, math.erfc))


def utilization_bound(
    bdp: ArrayLike, buffer: ArrayLike, flows: ArrayLike, decrease: float = 0.5
) -> NDArray[np.float64]:
    """Lower bound of utilization with many independent flows: erf(B / (2 sqrt(2) sigma)).

    Parameters
    ----------
    bdp : array_like [packets]
    buffer : array_like [packets]
    flows : array_like
        Number of flows; all three are broadcast. See `effective_flows` for unequal flows.
    decrease : float [1]

    Returns
    -------
    ndarray of float [1], broadcast shape
        Probability that the Gaussian sum of windows neither overflows nor empties the queue.

    Raises
    ------
    InputError
        If the decrease is not strictly between 0 and 1.

    References
    ----------
    Appenzeller2004, Section 3: erf((3 sqrt(3) / (2 sqrt(2))) B sqrt(n) / (2 T_p C + B)).

    Examples
    --------
    >>> utilization_bound(1e6, np.array([1.0, 1.5, 2.0]) * 1e4, 10000).round(6)
    array([0.989899, 0.999877, 1.      ])
    """
    sigma = window_deviation(bdp, buffer, flows, decrease)
    return np.asarray(_erf(np.asarray(buffer, dtype=float) / (2 * math.sqrt(2) * sigma)))


def utilization(bdp: ArrayLike, buffer: ArrayLike, flows: ArrayLike, decrease: float = 0.5) -> NDArray[np.float64]:
    """Utilization with many independent flows: mean of the Gaussian sum of windows, limited to the BDP, over the BDP.

    Parameters
    ----------
    bdp : array_like [packets]
    buffer : array_like [packets]
    flows : array_like
        Number of flows; all three are broadcast. See `effective_flows` for unequal flows.
    decrease : float [1]

    Returns
    -------
    ndarray of float [1], broadcast shape
        1 - E(BDP - W)^+ / BDP, where W has the mean BDP + B / 2: more accurate than `utilization_bound`, but no bound.

    Raises
    ------
    InputError
        If the decrease is not strictly between 0 and 1.

    References
    ----------
    The model of Appenzeller2004; it assumes that on average the buffer is half full.

    Examples
    --------
    >>> utilization(1e4, [0, 50, 100], 10000).round(5)
    array([0.99923, 0.99991, 1.     ])
    """
    sigma = window_deviation(bdp, buffer, flows, decrease)
    z = np.asarray(buffer, dtype=float) / (2 * sigma)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(1 - sigma / np.asarray(bdp, dtype=float) * (density - z * _erfc(z / math.sqrt(2)) / 2))


def buffer_for_utilization(
    bdp: ArrayLike, target: ArrayLike, flows: ArrayLike, decrease: float = 0.5
) -> NDArray[np.float64]:
    """Buffer whose lower bound of utilization is a target, with many independent flows.

    Parameters
    ----------
    bdp : array_like [packets]
    target : array_like [1]
        Utilization, strictly between 0 and 1.
    flows : array_like
        Number of flows; all three are broadcast. See `effective_flows` for unequal flows.
    decrease : float [1]

    Returns
    -------
    ndarray of float [packets], broadcast shape
        Infinite if the flows are too few to reach the target in this model.

    Raises
    ------
    InputError
        If a target or the decrease is not strictly between 0 and 1.

    References
    ----------
    Appenzeller2004; `utilization_bound` solved for the buffer.

    Examples
    --------
    >>> float(buffer_for_utilization(1e6, utilization_bound(1e6, 1e4, 10000), 10000).round())
    10000.0
    """
    from scipy.special import erfinv  # noqa: PLC0415 (slow to import)

    goal = np.asarray(target, dtype=float)
    if np.any(~((goal > 0) & (goal < 1))):
        raise InputError(f"target: {target!r} must lie strictly between 0 and 1")
    # B = 2 sqrt(2) x sigma(B), where sigma grows with B itself.
    per_packet = 2 * math.sqrt(2) * erfinv(goal) * window_deviation(1.0, 0.0, flows, decrease)
    with np.errstate(divide="ignore"):
        return np.asarray(
            np.where(per_packet < 1, np.asarray(bdp, dtype=float) * per_packet / np.maximum(1 - per_packet, 0), np.inf)
        )
