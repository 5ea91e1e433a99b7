"""Unknowns of a scenario: ranges of values at places of its file. A point of the unit cube gives a case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from elephan.assignments import usual_place
from elephan.errors import InputError
from elephan.network import FlowGroup
from elephan.scenario import Scenario
from elephan.sweeps.lists import DIGITS, RangeEnds, Value, read_ends, read_words, write_number

MOST_EACH = 16
"""Largest group in which each flow has an unknown value of its own. In larger groups the two ends of a range are
unknown."""

FACTOR = 1.25
"""Round-trip times are known within this factor, if no range is given."""

STARTS_S = 5.0
"""Flows start within this time [s], or within half of the warm-up, if no range is given."""

SEEDS = 999
"""Largest seed, if no range is given."""

_GROUP = re.compile(r"flows\[([^\]]+)\]\.(rtt|start)")


@dataclass(frozen=True)
class Unknown:
    """A place of the scenario, and the values that it may have.

    Parameters
    ----------
    place : str
    written : str
        The range or list as the user wrote it.
    ends : RangeEnds or None
        None for a list.
    choices : tuple of values
        Values of a list; empty for a range.
    each : int
        Number of flows that have a value of their own; 0 if the place has one value, -1 for two ends ``{ from, to }``.
    """

    place: str
    written: str
    ends: RangeEnds | None
    choices: tuple[Value, ...] = ()
    each: int = 0

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return 2 if self.each < 0 else max(self.each, 1)

    def value(self, shares: Sequence[float]) -> Value:
        """Return the value at shares of the range, each from 0 to 1."""
        if self.ends is None:
            return self.choices[min(int(shares[0] * len(self.choices)), len(self.choices) - 1)]
        if self.each < 0:
            low, high = sorted(shares)
            return {"from": self._one(low), "to": self._one(high)}
        return [self._one(share) for share in shares] if self.each else self._one(shares[0])

    def _one(self, share: float) -> Value:
        assert self.ends is not None
        first, last, unit, whole, written = self.ends
        if first > 0 and last > 0 and written.spacing != "lin":
            number = first * (last / first) ** share
        else:
            number = first + (last - first) * share
        if whole:
            # Each whole number has an equal share of the range, and so have the ends.
            number = min(int(first + (last - first + 1) * share), last) if written.spacing != "log" else number
        return write_number(number, unit, DIGITS, whole=whole)

    def __str__(self) -> str:
        of = {0: "", -1: " (from, to)"}.get(self.each, " each")
        return f"{self.place} {self.written}{of}"


@dataclass(frozen=True)
class Unknowns:
    """All unknowns of a scenario; each point of the unit cube is a case.

    Parameters
    ----------
    all : tuple of Unknown

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> unknowns = read_unknowns(Scenario.from_text(EXAMPLE), ["flows[0].rtt=40..160 ms", "seed=0..9"])
    >>> unknowns.changes([0.0, 0.5, 0.99])
    {'flows[0].rtt': ['40 ms', '80 ms'], 'seed': 9}
    """

    all: tuple[Unknown, ...]

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return sum(unknown.size for unknown in self.all)

    def changes(self, point: Sequence[float], without: str | None = None) -> dict[str, Value]:
        """Return the changes of the scenario at a point of the cube; omit the place `without`."""
        found, first = {}, 0
        for unknown in self.all:
            if unknown.place != without:
                found[unknown.place] = unknown.value(point[first : first + unknown.size])
            first += unknown.size
        return found

    def __str__(self) -> str:
        return ", ".join(map(str, self.all))


def read_unknowns(
    scenario: Scenario, given: Iterable[str] | Mapping[str, str], fixed: Iterable[Unknown] = ()
) -> Unknowns:
    """Read ranges and lists, which are written as in a sweep.

    Parameters
    ----------
    given : iterable of str, or mapping of str to str
        ``"flows[0].rtt=20..200 ms"``, ``"flows[0].count=1..10"``, ``"flows[0].control=reno,cubic"``.
    fixed : iterable of Unknown
        Unknowns of other places. One is ignored if `given` has a range for its place.

    Raises
    ------
    InputError
        If a text is not a range or list, or if the scenario has no such place.
    """
    texts = [f"{place}={values}" for place, values in given.items()] if isinstance(given, Mapping) else given
    found: dict[str, str] = {}
    for text in texts:
        place, equals, values = (part.strip() for part in text.partition("="))
        if not (equals and place and values):
            raise InputError(f'--range: "{text}" is not of the form PLACE=LOW..HIGH, such as flows[0].rtt=20..200 ms')
        place = usual_place(place)
        if place in found:
            raise InputError(f'--range: "{place}" is given twice; give it one range')
        found[place] = values
    counts = {place for place in found if place.endswith(".count")}
    unknowns = [_read(scenario, place, values, counts) for place, values in found.items()]
    kept = [unknown for unknown in fixed if unknown.place not in found]
    return Unknowns((*kept, *unknowns))


def _read(scenario: Scenario, place: str, values: str, counts: set[str]) -> Unknown:
    where = f"--range {place}"
    ends = read_ends(where, values) if ".." in values and "," not in values else None
    if ends is None:
        choices = tuple(read_words(where, values))
        if len(choices) < 2:
            raise InputError(f"{where}: {values} is one value; give a range LOW..HIGH or a list")
        return Unknown(place, values, None, choices)
    if ends.first > ends.last:
        raise InputError(f"{where}: {values} is not a range: its first end is above its last")
    unknown = Unknown(place, values, ends, each=_each(scenario, place, counts))
    try:
        scenario.replace({place: unknown.value([0.5] * unknown.size)})
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return unknown


def _each(scenario: Scenario, place: str, counts: set[str]) -> int:
    """Return the number of flows that have a value of their own at a place, as `Unknown.each` does."""
    match = _GROUP.fullmatch(place)
    if match is None:
        return 0
    groups = [g for g in scenario.network.groups if match[1] in (g.name, str(g.index))]
    if not groups or groups[0].flows == 1 or f"flows[{match[1]}].count" in counts:
        return 0
    return groups[0].flows if groups[0].flows <= MOST_EACH else -1


def usual_unknowns(scenario: Scenario, link: int) -> Unknowns:
    """Return the default unknowns: round-trip times, start times and the seed.

    Parameters
    ----------
    link : int
        Index of the link. Only the groups of TCP flows that cross it have unknowns.
    """
    given = []
    warmup = scenario.network.warmup_s
    for group in scenario.network.crossing(link):
        if not group.is_tcp:
            continue
        low, high = _rtts(scenario, group)
        given.append(f"flows[{group.index}].rtt={1e3 * low:.4g}..{1e3 * high:.4g} ms")
        latest = min(max(STARTS_S, group.start_s[1]), warmup / 2)
        if group.stop_s is None and latest > group.start_s[0]:
            given.append(f"flows[{group.index}].start={group.start_s[0]:.4g}..{latest:.4g} s")
    return read_unknowns(scenario, [*given, f"seed=0..{SEEDS}"])


def _rtts(scenario: Scenario, group: FlowGroup) -> tuple[float, float]:
    """Return the shortest and longest round-trip time of a group [s], not below the propagation delay of its links."""
    links = scenario.network.links
    least = sum(links[i].delay_s for i in (*group.path, *group.return_path))
    return max(min(group.rtts_s) / FACTOR, least), max(max(group.rtts_s) * FACTOR, least)
