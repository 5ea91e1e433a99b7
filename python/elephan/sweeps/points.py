"""Points of a sweep: their changes, labels, keys in the store, and expected work."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from elephan import _native
from elephan.errors import InputError
from elephan.runs.precision import FIRST
from elephan.runs.warmup import PILOT
from elephan.scenario import AUTO, Scenario
from elephan.store import Store
from elephan.store.labels import Labels

if TYPE_CHECKING:
    from elephan.sweeps.axes import Combination
    from elephan.sweeps.lists import Value

OVERHEAD = 20_000
"""Packets that could be simulated in the time of a replication's fixed overhead."""

KEPT = 64_000_000
"""Maximum characters of scenarios kept between planning and running; further ones are resolved again."""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One combination of the axes' values.

    For most points only the differences from the base are kept, which allows very many points.

    Parameters
    ----------
    index : int
        Position in the sweep, from 0.
    labels : dict of str to value
        Values by place, as they are written; ``case`` is the name of a case.
    changes : dict of str to value
        Changes of the base, by place.
    base : Scenario
    key : str
        Identity of the run, as `elephan.store.Store.key` computes it.
    cost : float [packets]
        Expected work over all replications; 0 if the point cannot be run.
    error : str or None
        Reason why the point is not a valid scenario.
    made : Scenario or None
        The resolved scenario, if it was kept.
    """

    index: int
    labels: Labels
    changes: dict[str, Value]
    base: Scenario
    key: str
    cost: float
    error: str | None
    made: Scenario | None

    @property
    def scenario(self) -> Scenario:
        """The point's scenario.

        Raises
        ------
        ScenarioError
            If the point is not a valid scenario.
        """
        return change(self.base, self.changes) if self.made is None else _bare(self.made)

    @property
    def text(self) -> str:
        """Text that identifies a failed point: the base and the point's changes."""
        return f"{self.base.text}\n" + "".join(f"# {place} = {value!r}\n" for place, value in self.changes.items())

    def culprit(self) -> tuple[str | None, str]:
        """Find the first change that makes the point fail.

        Returns
        -------
        str or None
            Its place; None if no single change is the cause.
        str
            The error.
        """
        taken: dict[str, Value] = {}
        for place, value in ordered(self.changes):
            taken[place] = value
            try:
                change(self.base, taken)
            except InputError as error:
                return place, str(error)
        return None, self.error or ""


def plan(
    base: Scenario, combinations: Iterable[Combination], precision: Sequence[str] = (), max_replications: int = 100
) -> list[SweepPoint]:
    """Resolve every combination once.

    Parameters
    ----------
    base : Scenario
    combinations : iterable of Combination
    precision : sequence of str
    max_replications : int

    Returns
    -------
    list of SweepPoint
    """
    points: list[SweepPoint] = []
    left = KEPT
    for index, (labels, changes) in enumerate(combinations):
        error, cost, made = None, 0.0, None
        try:
            scenario = change(base, changes)
            key = Store.key(scenario, precision=precision or None, max_replications=max_replications)
            cost = expected_packets(scenario.facts, auto=scenario.warmup_rule == AUTO, precise=bool(precision))
            left -= len(scenario.text) + len(scenario.canonical) + len(scenario.described)
            made = _bare(scenario) if left > 0 else None
        except InputError as found:
            error = str(found)
            key = _native.digest(json.dumps([base.id, changes], sort_keys=True, default=str))
        points.append(SweepPoint(index, labels, changes, base, key, cost, error, made))
    return points


def _bare(scenario: Scenario) -> Scenario:
    """Return a copy without cached properties, so that they do not accumulate."""
    return replace(scenario)._with_cached_facts(scenario.id, scenario.described)


def change(base: Scenario, changes: Mapping[str, Value]) -> Scenario:
    """Return the base with the changes of a point.

    Raises
    ------
    ScenarioError
        If the result is not a valid scenario.
    """
    return base.replace(dict(ordered(changes))) if changes else base


def ordered(changes: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Sort changes so that a table is set before the keys in it.

    Examples
    --------
    >>> [place for place, _ in ordered({"links[0].queue.target": "5 ms", "links[0].queue": {"discipline": "codel"}})]
    ['links[0].queue', 'links[0].queue.target']
    """
    return sorted(changes.items(), key=lambda item: item[0].count(".") + item[0].count("["))


def expected_packets(facts: Mapping[str, Any], *, auto: bool = False, precise: bool = False) -> float:
    """Estimate the packets that all links serve in all replications, plus the fixed overhead in packets.

    Parameters
    ----------
    facts : mapping
        `Scenario.facts`.
    auto : bool
        Whether a pilot determines the warm-up.
    precise : bool
        Whether a precision is required.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> expected_packets(Scenario.from_text(EXAMPLE).facts)  # 10 Mbit/s, 4 s, 1000 B
    25000.0
    """
    load = [0.0] * len(facts["links"])
    for group in facts["groups"]:
        each = group["offered_bps"] or group["access_rate_bps"] or float("inf")
        # At most the rate of its narrowest link, because the rate of some traffic is unknown.
        narrowest = min((_rate_bps(facts["links"][link]) for link in group["path"]), default=0.0)
        for link in group["path"]:
            load[link] += min(group["flows"] * each, narrowest)
    packets = OVERHEAD + sum(
        min(_rate_bps(link), offered) * facts["duration_s"] / (8 * link["packet_bytes"])
        for link, offered in zip(facts["links"], load, strict=True)
        if offered and link["packet_bytes"]
    )
    replications = max(facts["replications"], FIRST) if precise else facts["replications"]
    return float(packets * (replications + PILOT * auto))


def _rate_bps(link: Mapping[str, Any]) -> float:
    """Rate of all links of an array together."""
    return float(link["rate_bps"] * link["count"])
