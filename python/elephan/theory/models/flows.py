"""Common functions of flow models: RTTs of rows, throughput of mixed laws, grouping of rows, checks of assumptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from elephan.errors import InputError
from elephan.theory import controls, hstcp
from elephan.theory.fixed_points import Throughput
from elephan.theory.law_responses import SOURCES
from elephan.theory.laws import response
from elephan.theory.models.bottleneck import UNPACED, Bottleneck
from elephan.theory.models.card import Compute, Values
from elephan.theory.response import Floats

ANSWERING = ("barman", *SOURCES)
"""Laws that respond only to loss: ``barman`` is lambda(p) of HighSpeed in Barman2004, the others the engine's laws."""

MOST_FLOWS = 100_000


def spread(v: Values) -> Floats:
    """RTTs of flows, equally spaced between two limits.

    Parameters
    ----------
    v : mapping
        Rows with equal ``flows``, ``rtt_min`` [s] and ``rtt_max`` [s].

    Returns
    -------
    ndarray [s], shape (flows,)

    Raises
    ------
    InputError
        If the number of flows is not an integer from 1 to 100000, or the RTTs are not a range.

    Examples
    --------
    >>> spread({"flows": np.array([3.0]), "rtt_min": np.array([0.1]), "rtt_max": np.array([0.2])}).round(3).tolist()
    [0.1, 0.15, 0.2]
    """
    flows, low, high = (float(v[name][0]) for name in ("flows", "rtt_min", "rtt_max"))
    if not (flows == int(flows) and 1 <= flows <= MOST_FLOWS):
        raise InputError(f"flows: {flows:g} is no number of flows; give a whole number from 1 to {MOST_FLOWS}")
    if not 0 < low <= high:
        raise InputError(f"rtt_min, rtt_max: {low:g} s to {high:g} s is no range of times above 0")
    return np.linspace(low, high, int(flows)) if flows > 1 else np.array([(low + high) / 2])


def packet_rate(v: Values) -> float:
    """Return the rate of the link [packets/s].

    Parameters
    ----------
    v : mapping
        Rows with equal ``rate`` [bit/s] and ``packet`` [bytes].

    Returns
    -------
    float [packets/s]

    Examples
    --------
    >>> packet_rate({"rate": np.array([1e9]), "packet": np.array([1000.0])})
    125000.0
    """
    return float(v["rate"][0]) / 8 / float(v["packet"][0])


def vectorized_over(*names: str) -> Callable[[Compute], Compute]:
    """Decorate a function that can compute several rows together only if they differ in the given parameters alone.

    Parameters
    ----------
    *names : str
        Parameters that may differ among the rows of a call.

    Returns
    -------
    callable
        Decorator. The decorated function takes any rows and groups them; it returns columns of numbers.

    Examples
    --------
    >>> @vectorized_over("buffer")
    ... def share(v):
    ...     return {"share": v["buffer"] / v["flows"][0]}
    >>> share({"flows": np.array([1, 1, 2]), "buffer": np.array([5.0, 6.0, 5.0])})["share"].tolist()
    [5.0, 6.0, 2.5]
    """

    def decorated(compute: Compute) -> Compute:
        def computed(v: Values) -> Mapping[str, Any]:
            fixed = list(zip(*(column.tolist() for name, column in v.items() if name not in names), strict=True))
            groups: dict[tuple[object, ...], list[int]] = {}
            for row, key in enumerate(fixed):
                groups.setdefault(key, []).append(row)
            table: dict[str, Floats] = {}
            for rows in groups.values():
                for name, column in compute({name: column[rows] for name, column in v.items()}).items():
                    table.setdefault(name, np.empty(len(fixed)))[rows] = column
            return table

        return computed

    return decorated


def throughput(law: str) -> Throughput:
    """Return the rate of a flow as a function of loss rate and round-trip time.

    Parameters
    ----------
    law : str
        One of `ANSWERING`, followed by its parameters.

    Examples
    --------
    >>> float(throughput("reno")(np.array(1.5e-4), np.array(0.1)).round(2))
    1000.0
    """
    return hstcp.throughput if law == "barman" else response(law).throughput


def mixed(laws: Sequence[str]) -> Throughput:
    """Return the rates of flows with different laws as a function of their common loss rate.

    Parameters
    ----------
    laws : sequence of str, shape (n,)
        Laws, each as in `throughput`.

    Returns
    -------
    callable
        Function of loss rates (..., 1) and round-trip times (..., n).

    Examples
    --------
    >>> mixed(["reno", "reno(decrease=0.2)"])(np.array([1.5e-4]), np.array([0.1, 0.1])).round().tolist()
    [1000.0, 1732.0]
    """
    if len(set(laws)) == 1:
        return throughput(laws[0])
    own = np.array(laws)

    def rates(p: Floats, rtt: Floats) -> Floats:
        found = np.empty(np.broadcast_shapes(p.shape, rtt.shape))
        for law in dict.fromkeys(laws):
            found[..., own == law] = throughput(law)(p, rtt[..., own == law])
        return found

    return rates


def no_capacity_left(link: Bottleneck) -> str:
    """Return a message if a link's background leaves no capacity.

    Returns
    -------
    str
        Empty if capacity is left.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> no_capacity_left(bottleneck(Scenario.from_text(EXAMPLE).network, 0))
    ''
    """
    return "datagrams ask for all of its rate" if link.background >= 1 else ""


def mixed_laws(link: Bottleneck) -> str:
    """Return a message if the flows of a link have different laws.

    Returns
    -------
    str
        Empty if all have the same law.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> mixed_laws(bottleneck(Scenario.from_text(EXAMPLE).network, 0))
    ''
    """
    if link.law:
        return ""
    shown = [controls.kind(law) if law.startswith(controls.TABULATED) else law for law in sorted(set(link.laws))]
    return f"flows have different laws: {', '.join(shown)}"


def other_signals(link: Bottleneck) -> str:
    """Return a message if laws of a link respond to other signals than loss, or if no capacity is left; else empty.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> other_signals(bottleneck(Scenario.from_text(EXAMPLE).network, 0))
    ''
    """
    if reason := no_capacity_left(link):
        return reason
    others = sorted({controls.kind(law) for law in link.laws} - set(SOURCES))
    return f"{', '.join(others)} does not answer to loss alone" if others else ""


def other_traffic(link: Bottleneck) -> list[str]:
    """Describe the traffic on a link besides its long flows.

    Returns
    -------
    list of str
        One line, or none.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> other_traffic(bottleneck(Scenario.from_text(EXAMPLE).network, 0))
    []
    """
    if not (link.others or link.background):
        return []
    return ["takes long-lived flows alone; of datagrams only the rate counts"]


def bursts(link: Bottleneck) -> str:
    """Return a message if packets of a flow can arrive in bursts, for a model that assumes that they do not.

    Returns
    -------
    str
        Empty if they arrive one by one: from paced senders, or over access links below about a tenth of the link's
        rate, for which Enachescu2006 finds pacing unnecessary.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> paced = {"flows[0].tcp.pacing": "linux"}
    >>> example = Scenario.from_text(EXAMPLE)
    >>> [bursts(bottleneck(one.network, 0)) for one in (example, example.replace(paced))]
    ['a flow can send bursts at a tenth of the rate and more, and does not pace', '']
    """
    if link.access_bps <= ENOUGH * link.rate_bps:
        return ""
    if UNPACED in link.pacings:
        return "a flow can send bursts at a tenth of the rate and more, and does not pace"
    # RFC 9002, Section 7.7.
    return "up to ten packets of a flow come at once after a pause (quic)" if "quic" in link.pacings else ""


ENOUGH = 0.1
"""Ratio of the access rate to the link's rate up to which the access link spaces packets sufficiently [1]."""


def few_segments(link: Bottleneck) -> list[str]:
    """Return a message if windows are so small that timeouts repair losses.

    Returns
    -------
    list of str
        One line, or none.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> few_segments(bottleneck(Scenario.from_text(EXAMPLE).replace({"flows[0].count": 40}).network, 0))
    ["assumes no timeouts; here a flow's share is 2.5 segments"]
    """
    window = link.bdp / link.flows
    # Fast retransmit needs three segments after the lost one.
    return [f"assumes no timeouts; here a flow's share is {window:.2g} segments"] if window < 4 else []


def used(link: Bottleneck, share: Floats) -> Floats:
    """Return the utilization of a link whose flows use a share of the capacity that datagrams leave.

    Parameters
    ----------
    share : ndarray [1]

    Returns
    -------
    ndarray [1]

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> from elephan.theory.models import bottleneck
    >>> float(used(bottleneck(Scenario.from_text(EXAMPLE).network, 0), np.array(0.9)))
    0.9
    """
    return np.asarray(link.background + (1 - link.background) * share)
