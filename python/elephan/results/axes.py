"""Axes of many runs: their labels as numbers with units, and the position of each run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from elephan.errors import UnitError
from elephan.metrics.quantity import FAIRNESS, QUANTITIES
from elephan.units import bits_per_second, number_and_unit, octets, seconds

POINT = "point"
"""Axis of runs that do not form a grid: each run has a position of its own."""

TAKEN = frozenset(
    (
        *("replication", "link", "flow", "group", "index", "time", POINT),
        *(each.name for each in QUANTITIES.values() if each.compared or each.of == FAIRNESS),
    )
)
"""Names of other variables and dimensions of a dataset."""

SPARSE = 4
"""Maximum positions per run in a grid; a sparser one becomes a list of points."""

_READERS: tuple[tuple[Callable[[str], float], str], ...] = (
    (seconds, "s"),
    (bits_per_second, "bit/s"),
    (octets, "byte"),
)
_PLAIN = {"packet": "packets", "packets": "packets", "segment": "segments", "segments": "segments", "bdp": "bdp"}
"""Units of amounts that need no conversion."""


@dataclass(frozen=True)
class AxisValues:
    """Values of a label as numbers.

    Parameters
    ----------
    values : tuple
        Numbers where all have a common unit or none; otherwise as they are written.
    unit : str
        Unit of numbers, ``1`` if they have none; empty for words.
    """

    values: tuple[Any, ...]
    unit: str


@dataclass(frozen=True)
class ResultAxis:
    """An axis of a dataset.

    Parameters
    ----------
    name : str
        Name of the dimension: the last part of the label, if that is unique and not in ``TAKEN``.
    place : str
        The whole label, such as ``links[0].buffer``.
    coordinate : AxisValues
    beside : dict of str to AxisValues
        Other labels that this axis determines; all labels if the axis is `POINT`.
    """

    name: str
    place: str
    coordinate: AxisValues
    beside: dict[str, AxisValues] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.coordinate.values)


def short(names: Sequence[str]) -> dict[str, str]:
    """Shorten labels to their last parts, where these are unique.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> short(["links[0].buffer", "flows[0].count", "flows[1].count"])
    {'links[0].buffer': 'buffer', 'flows[0].count': 'flows[0].count', 'flows[1].count': 'flows[1].count'}
    """
    ends = [name.rpartition(".")[2] for name in names]
    return {name: end if ends.count(end) == 1 else name for name, end in zip(names, ends, strict=True)}


def run_names(labels: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name runs by the labels in which they differ.

    Parameters
    ----------
    labels : sequence of mapping
        Labels of each run.

    Returns
    -------
    list of str
        A unique name for each run; equal ones are numbered.

    Examples
    --------
    >>> run_names([{"links[0].buffer": "1 bdp", "seed": 1}, {"links[0].buffer": "2 bdp", "seed": 1}])
    ['buffer 1 bdp', 'buffer 2 bdp']
    """
    places = list(dict.fromkeys(place for own in labels for place in own))
    varied = [place for place in places if len({str(own.get(place)) for own in labels}) > 1]
    names = short(varied)
    found = [", ".join(f"{names[place]} {own[place]}" for place in varied if place in own) for own in labels]
    return [name if name and found.count(name) == 1 else f"{name or 'run'} ({i})" for i, name in enumerate(found, 1)]


def as_numbers(values: Sequence[Any]) -> AxisValues:
    """Convert values to numbers of one unit, if possible.

    Parameters
    ----------
    values : sequence of str, float, int, bool or None

    Returns
    -------
    AxisValues

    Examples
    --------
    >>> as_numbers(["10 ms", "1 s"])
    AxisValues(values=(0.01, 1.0), unit='s')
    >>> as_numbers(["0.1 bdp", "1 bdp"]), as_numbers(["reno", "cubic"]).unit
    (AxisValues(values=(0.1, 1.0), unit='bdp'), '')
    """
    if values and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return AxisValues(tuple(values), "1")
    if values and all(isinstance(value, str) for value in values):
        split = [number_and_unit(value) for value in values]
        known = [one for one in split if one is not None]
        units = {_PLAIN.get(unit) for _, unit in known}
        if len(known) == len(values) and len(units) == 1 and None not in units:
            return AxisValues(tuple(number for number, _ in known), str(units.pop()))
        for reader, unit in _READERS:
            try:
                return AxisValues(tuple(reader(value) for value in values), unit)
            except UnitError:
                continue
    return AxisValues(tuple("" if value is None else value for value in values), "")


def link_at(place: str, links: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the link to which a label such as ``links[core].buffer`` belongs; an empty mapping if there is none."""
    which = place.removeprefix("links[").partition("]")[0]
    return next((link for i, link in enumerate(links) if which in (str(i), link["name"])), {})


def result_axes(
    labels: Sequence[Mapping[str, Any]], resolved: Callable[[str, int], float | None] = lambda _name, _run: None
) -> tuple[list[ResultAxis], list[tuple[int, ...]]]:
    """Arrange runs on axes.

    Parameters
    ----------
    labels : sequence of mapping
        Labels of each run.
    resolved : callable, optional
        Function of the name of a label and the number of a run: the size of that buffer in that run [packets], or None
        if it is unknown. Used for buffers that are written in different units.

    Returns
    -------
    list of ResultAxis
        Empty for a single run without labels.
    list of tuple of int
        Position of each run on the axes.

    Examples
    --------
    >>> found, places = result_axes([{"links[0].buffer": "1 bdp"}, {"links[0].buffer": "2 bdp"}])
    >>> found[0].name, found[0].coordinate.values, places
    ('buffer', (1.0, 2.0), [(0,), (1,)])
    """
    names = list(dict.fromkeys(name for one in labels for name in one))
    if not names and len(labels) == 1:
        return [], [()]
    shown = {name: _free(end, name) for name, end in short(names).items()}
    rows = [tuple(one.get(name) for name in names) for one in labels]
    leading, following = _independent(names, rows)
    distinct = {name: list(dict.fromkeys(row[names.index(name)] for row in rows)) for name in leading}
    is_grid = len(set(rows)) == len(rows) and math.prod(map(len, distinct.values())) <= SPARSE * len(rows)

    def read(name: str, positions: Iterable[int]) -> AxisValues:
        return _read(name, labels, [labels[i].get(name) for i in positions], resolved)

    every = range(len(labels))
    if not names or not is_grid:
        beside = {shown[name]: read(name, every) for name in names}
        return [ResultAxis(POINT, POINT, AxisValues(tuple(every), "1"), beside)], [(i,) for i in every]
    axes = []
    for name in leading:
        firsts = [next(i for i in every if labels[i].get(name) == value) for value in distinct[name]]
        beside = {shown[other]: read(other, firsts) for other, leader in following.items() if leader == name}
        axes.append(ResultAxis(shown[name], name, read(name, firsts), beside))
    places = [tuple(distinct[name].index(row[names.index(name)]) for name in leading) for row in rows]
    return axes, places


def _free(end: str, name: str) -> str:
    """Return a name for an axis that no other variable of a dataset has."""
    return f"{end} of the point" if end in TAKEN and end == name else name if end in TAKEN else end


def _independent(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> tuple[list[str], dict[str, str]]:
    """Return the labels that form axes, and those determined by one of them, as in a sweep over pairs of values."""
    leading: list[str] = []
    following: dict[str, str] = {}
    for k, name in enumerate(names):
        leader = next((own for own in leading if _follows(rows, names.index(own), k)), None)
        if leader is None:
            leading.append(name)
        else:
            following[name] = leader
    return leading, following


def _follows(rows: Iterable[tuple[Any, ...]], first: int, then: int) -> bool:
    """Whether the values of two labels correspond one to one; a label with a single value does not count."""
    pairs = {(row[first], row[then]) for row in rows}
    return len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs}) > 1


def _read(
    name: str,
    labels: Sequence[Mapping[str, Any]],
    values: Sequence[Any],
    resolved: Callable[[str, int], float | None],
) -> AxisValues:
    """Convert values to numbers: by their unit, or for a buffer, by its resolved size."""
    found = as_numbers(values)
    if found.unit or not name.endswith(".buffer"):
        return found
    packets = [{resolved(name, i) for i, own in enumerate(labels) if own.get(name) == value} for value in values]
    # A value can be a position on an axis only if it is the same number of packets in all of its runs.
    if any(len(one) != 1 or None in one for one in packets):
        return found
    return AxisValues(tuple(one.pop() for one in packets), "packets")
