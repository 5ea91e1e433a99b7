"""Quantities other than the buffer that an inverse sizing varies: path, rate, flows, thresholds, pools.

The search uses counts: a larger count keeps the link busier, as a larger buffer does. For a path or a rate, the file's
own value has the count `PARTS`, and the value is inversely proportional to the count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from elephan.errors import InputError, ScenarioError, UnitError, unknown
from elephan.scenario import Scenario
from elephan.units import count, seconds

PARTS = 4096
"""Count of the scenario's own path or rate; at a 64th of it, a step of the count is 1.6 %."""

FAR = 64
"""Largest factor by which the search changes the scenario's own value, up or down."""

RED_BELOW = 3
"""``max_th`` over ``min_th``, as Floyd1997 recommends."""


LINUX_RED: dict[str, object] = {"discipline": "red", "gentle": False, "count": "classic"}
"""Linux's settings of RED, so that the thresholds found can be set there; the scenario's own settings override them."""


@dataclass(frozen=True)
class LinkQuantity:
    """A quantity that is searched, and how to set it in a scenario.

    Parameters
    ----------
    name : str
        Name of the quantity, as given by the user.
    unit : str
    own : int
        Count of the file's own amount.
    least, most : int
        Smallest and largest count that is tried.
    amount : callable
        From a count to the amount [unit].
    make : callable
        From a count to the scenario with it.
    """

    name: str
    unit: str
    own: int
    least: int
    most: int
    amount: Callable[[float], float]
    make: Callable[[int], Scenario]


def quantity(name: str, scenario: Scenario, link: int) -> LinkQuantity:
    """Return a quantity by name.

    Parameters
    ----------
    name : str
        ``rtt``, ``rate``, ``flows``, ``red``, ``pool`` or ``alpha``.
    link : int

    Raises
    ------
    InputError
        If there is no such quantity, or the scenario cannot be changed in this way.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> path = quantity("rtt", Scenario.from_text(EXAMPLE), 0)
    >>> path.amount(path.own), path.make(path.own // 2).links[0]["mean_rtt_s"]
    (0.08, 0.16)
    """
    if name not in QUANTITIES:
        raise InputError(f"--find: {unknown('quantity', name, list(QUANTITIES))}")
    return QUANTITIES[name](scenario, link)


def _fixed(scenario: Scenario, link: int) -> Scenario:
    """Return the scenario with its buffer in packets or bytes, so that it stays fixed; pools need no change."""
    if scenario.links[link]["pool"] is not None and scenario.network.links[link].buffer_packets is None:
        return scenario
    packets = scenario.network.links[link].buffer_packets
    if packets is None:
        raise InputError(f"{scenario.origin}: links[{link}].buffer: is unlimited; give the buffer that you have")
    return scenario.with_buffer(link, max(1, round(packets)))


def _path(scenario: Scenario, link: int) -> LinkQuantity:
    fixed = _fixed(scenario, link)
    own_s = scenario.network.links[link].mean_rtt_s

    def make(count: int) -> Scenario:
        return fixed.replace(_stretched(fixed, PARTS / count))

    return LinkQuantity("rtt", "s", PARTS, PARTS // FAR, PARTS * FAR, lambda count: own_s * PARTS / count, make)


def _stretched(scenario: Scenario, factor: float) -> dict[str, object]:
    """Return all propagation delays and round-trip times times a factor, as edits of the scenario."""
    changes: dict[str, object] = {}
    for table, key in (("links", "delay"), ("flows", "rtt")):
        for i, one in enumerate(scenario.source.get(table, [])):
            if key in one:
                changes[f"{table}[{i}].{key}"] = _times(one[key], factor, f"{scenario.origin}: {table}[{i}].{key}")
    return changes


def _times(value: Any, factor: float, where: str) -> Any:
    """Multiply a time, a range, a distribution or a list of times by a factor."""
    if isinstance(value, str):
        try:
            return f"{round(seconds(value) * factor * 1e9)} ns"
        except UnitError as error:
            raise ScenarioError(f"{where}: {error}") from None
    if isinstance(value, list):
        return [_times(one, factor, where) for one in value]
    if isinstance(value, dict):
        return {key: _times(one, factor, where) if isinstance(one, str | list) else one for key, one in value.items()}
    return value


def _rate(scenario: Scenario, link: int) -> LinkQuantity:
    fixed = _fixed(scenario, link)
    own_bps = scenario.network.links[link].rate_bps

    def make(count: int) -> Scenario:
        return fixed.replace({f"links[{link}].rate": f"{round(own_bps * PARTS / count)} bit/s"})

    return LinkQuantity("rate", "bit/s", PARTS, PARTS // FAR, PARTS * FAR, lambda count: own_bps * PARTS / count, make)


def _flows(scenario: Scenario, link: int) -> LinkQuantity:
    fixed = _fixed(scenario, link)
    groups = [group for group in scenario.network.bulk if link in group.path]
    own = sum(group.flows for group in groups)
    if not own:
        raise InputError(f"{scenario.origin}: no long-lived TCP flow crosses links[{link}]; --find flows counts these")

    def make(count: int) -> Scenario:
        counts = [max(1, round(group.flows * count / own)) for group in groups]
        # The largest group takes the difference that rounding leaves.
        largest = counts.index(max(counts))
        counts[largest] = max(1, counts[largest] + count - sum(counts))
        return fixed.replace({f"flows[{g.index}].count": n for g, n in zip(groups, counts, strict=True)})

    return LinkQuantity("flows", "flows", own, len(groups), FAR * own, float, make)


def _red(scenario: Scenario, link: int) -> LinkQuantity:
    fixed = _fixed(scenario, link)
    buffer = max(1, round(scenario.network.links[link].buffer_packets or 1))
    most = buffer // RED_BELOW
    if most < 1:
        message = f"{scenario.origin}: links[{link}].buffer: no room for RED's thresholds in {count(buffer, 'packet')}"
        raise InputError(message)
    queue = scenario.source["links"][link].get("queue", {})
    kept = LINUX_RED | (queue if isinstance(queue, dict) and queue.get("discipline") == "red" else {})

    def make(count: int) -> Scenario:
        thresholds = {"min_th": f"{count} packets", "max_th": f"{RED_BELOW * count} packets"}
        return fixed.replace({f"links[{link}].queue": {**kept, **thresholds}})

    own = max(1, most // 4)
    return LinkQuantity("red", "packets", own, 1, most, float, make)


def _pool_of(find: str, scenario: Scenario, link: int) -> int:
    index = scenario.links[link]["pool"]
    if index is None:
        raise InputError(f"{scenario.origin}: links[{link}] draws on no pool; --find {find} is for links with one")
    return int(index)


def _pool(scenario: Scenario, link: int) -> LinkQuantity:
    index = _pool_of("pool", scenario, link)
    facts = scenario.pools[index]
    packet = round(scenario.network.links[link].packet_bytes)
    own = round(facts["size_packets"] if facts["size_bytes"] is None else facts["size_bytes"] / packet)

    def make(count: int) -> Scenario:
        return scenario.replace({f"pools[{index}].size": f"{count * packet} B"})

    return LinkQuantity("pool", "B", max(1, own), 1, FAR * max(1, own), lambda count: packet * count, make)


def _alpha(scenario: Scenario, link: int) -> LinkQuantity:
    index = _pool_of("alpha", scenario, link)
    facts = scenario.pools[index]
    if facts["alpha"] is None:
        raise InputError(
            f'{scenario.origin}: pools[{index}].sharing: is {facts["sharing"]}; --find alpha is for "dynamic", as only '
            "its thresholds have one"
        )
    place = f"links[{link}].alpha" if "alpha" in scenario.source["links"][link] else f"pools[{index}].alpha"
    own = float(scenario.source["links"][link].get("alpha", facts["alpha"]))

    def amount(count: float) -> float:
        return own * count / PARTS

    return LinkQuantity(
        "alpha", "", PARTS, PARTS // FAR, PARTS * FAR, amount, lambda n: scenario.replace({place: amount(n)})
    )


def drop_tail(scenario: Scenario, link: int) -> Scenario:
    """Return the scenario with a drop-tail queue and the same buffer.

    Parameters
    ----------
    link : int
    """
    return _fixed(scenario, link).replace({f"links[{link}].queue": {"discipline": "drop-tail"}})


QUANTITIES: dict[str, Callable[[Scenario, int], LinkQuantity]] = {
    "rtt": _path,
    "rate": _rate,
    "flows": _flows,
    "red": _red,
    "pool": _pool,
    "alpha": _alpha,
}
"""Functions that build each quantity from a scenario and a link index, by name."""
