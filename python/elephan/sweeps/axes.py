"""Axes of a sweep: lists (product), lists that vary together (zip), and cases, which may have their own axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elephan.assignments import usual_place
from elephan.errors import InputError, suggest
from elephan.store.labels import Labels, as_labels
from elephan.sweeps.lists import Value, read_list

KEYS = ("over", "zip", "cases")
"""Keys of axes in a sweep file, at its top and in each case."""

CASE = "case"
"""Label that holds the name of a case; names of nested cases are joined by a slash."""

MOST_POINTS = 1_000_000
"""Maximum number of points in a sweep."""

Combination = tuple[Labels, dict[str, Value]]
"""Labels of a point, and its changes to the base scenario by place."""


@dataclass(frozen=True)
class SweepAxis:
    """One list, or several lists of equal length that vary together.

    Parameters
    ----------
    places : tuple of str
        Places in the scenario that vary.
    rows : tuple of tuple of values
        Each row has a value for each place.
    where : str
        Key of the axis in the file, for messages.

    Examples
    --------
    >>> [labels for labels, _ in SweepAxis(("links[0].buffer",), (("1 bdp",), ("2 bdp",))).combinations()]
    [{'links[0].buffer': '1 bdp'}, {'links[0].buffer': '2 bdp'}]
    """

    places: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    where: str = "over"

    def __len__(self) -> int:
        return len(self.rows)

    def combinations(self) -> Iterator[Combination]:
        """Yield labels and changes of each row, in order."""
        for row in self.rows:
            changes = dict(zip(self.places, row, strict=True))
            yield _labels(changes), changes

    def to_json(self) -> dict[str, Any]:
        """Return the axis in the form of the sweep's document."""
        rows = [_labels(dict(zip(self.places, row, strict=True))) for row in self.rows]
        return {"places": list(self.places), "values": [list(row.values()) for row in rows]}


@dataclass(frozen=True)
class SweepCase:
    """A named set of changes, with its own axes.

    Parameters
    ----------
    where : str
        Key of the case in the file, for messages.
    """

    name: str
    changes: dict[str, Value]
    axes: tuple[SweepAxis | SweepCases, ...]
    where: str


@dataclass(frozen=True)
class SweepCases:
    """Alternative cases: an axis whose values have names."""

    cases: tuple[SweepCase, ...]

    def __len__(self) -> int:
        return sum(size(case.axes) for case in self.cases)

    def combinations(self) -> Iterator[Combination]:
        """Yield labels and changes of each case and of each combination of its own axes, in order."""
        for case in self.cases:
            for labels, changes in combinations(case.axes):
                inner = labels.get(CASE)
                name = case.name if inner is None else f"{case.name}/{inner}"
                yield {**labels, CASE: name}, {**case.changes, **changes}

    def to_json(self) -> dict[str, Any]:
        """Return the cases in the form of the sweep's document."""
        return {
            "cases": [
                {
                    "name": case.name,
                    "set": _labels(case.changes),
                    "axes": [axis.to_json() for axis in case.axes],
                }
                for case in self.cases
            ]
        }


def _labels(changes: Mapping[str, Value]) -> Labels:
    """Return the labels of some changes, in the order of the changes."""
    made = as_labels(changes)
    return {place: made[place] for place in changes}


def key_of(axes: Sequence[SweepAxis | SweepCases], place: str) -> str | None:
    """Return the key of the sweep file that varies a place.

    Parameters
    ----------
    axes : sequence of SweepAxis or SweepCases
    place : str

    Returns
    -------
    str or None
        The first such key; None if the place does not vary.
    """
    for axis in axes:
        if isinstance(axis, SweepAxis):
            if place in axis.places:
                return axis.where
            continue
        for case in axis.cases:
            found = case.where if place in case.changes else key_of(case.axes, place)
            if found is not None:
                return found
    return None


def places_of(axes: Sequence[SweepAxis | SweepCases]) -> Iterator[str]:
    """Yield the places that vary, in order."""
    for axis in axes:
        if isinstance(axis, SweepAxis):
            yield from axis.places
        else:
            for case in axis.cases:
                yield from case.changes
                yield from places_of(case.axes)


def size(axes: Sequence[SweepAxis | SweepCases]) -> int:
    """Return the number of points that axes span.

    Parameters
    ----------
    axes : sequence of SweepAxis or SweepCases

    Returns
    -------
    int
    """
    return math.prod(len(axis) for axis in axes)


def combinations(axes: Sequence[SweepAxis | SweepCases]) -> Iterator[Combination]:
    """Yield every combination; the last axis varies fastest.

    Examples
    --------
    >>> axes = read_axes({"over": {"seed": [1, 2], "links[0].buffer": ["1 bdp", "2 bdp"]}})
    >>> [tuple(labels.values()) for labels, _ in combinations(axes)]
    [(1, '1 bdp'), (1, '2 bdp'), (2, '1 bdp'), (2, '2 bdp')]
    """
    if not axes:
        yield {}, {}
        return
    for labels, changes in axes[0].combinations():
        for more_labels, more_changes in combinations(axes[1:]):
            yield {**labels, **more_labels}, {**changes, **more_changes}


def read_axes(
    mapping: Mapping[str, Any], where: str = "", taken: Sequence[str] = ()
) -> tuple[SweepAxis | SweepCases, ...]:
    """Read the axes of a sweep.

    Parameters
    ----------
    mapping : mapping
        Mapping with any of ``over``, ``zip`` and ``cases``; its order is the order of the axes.
    where : str
        Put in front of the keys in messages.
    taken : sequence of str
        Places that outer axes vary.

    Raises
    ------
    InputError
        If an axis is invalid; the message names the key.
    """
    seen = list(taken)
    parts: dict[str, Sequence[SweepAxis | SweepCases]] = {}
    for key, read in (("over", _over), ("zip", _zips)):
        if key in mapping:
            found = read(mapping[key], f"{where}{key}")
            for place in (place for axis in found for place in axis.places):
                _check_new(place, f"{where}{key}", seen)
            parts[key] = found
    if "cases" in mapping:
        # Read the cases after the other keys, whatever their order: cases must not set a place that an axis varies.
        parts["cases"] = [_cases(mapping["cases"], f"{where}cases", seen)]
    axes = tuple(axis for key in mapping if key in parts for axis in parts[key])
    if (points := size(axes)) > MOST_POINTS:
        raise InputError(f"{where}over: the lists multiply to {points} points; give no more than {MOST_POINTS}")
    return axes


def _check_new(place: str, where: str, seen: list[str]) -> None:
    if place in seen:
        raise InputError(f'{where}: "{place}" varies twice; give it one list')
    seen.append(place)


def _over(given: object, where: str) -> list[SweepAxis]:
    if not isinstance(given, dict):
        raise InputError(f'{where}: must be a table of lists, such as "links[0].buffer" = ["0.1 bdp", "1 bdp"]')
    lists = [(place, read_list(f'{where}."{place}"', values)) for place, values in _flat(given)]
    for place, values in lists:
        _check_once(f'{where}."{place}"', values)
    return [SweepAxis((place,), tuple((value,) for value in values), where) for place, values in lists]


def _check_once(where: str, values: Sequence[Value | tuple[Value, ...]]) -> None:
    """Refuse a value that occurs twice, because its points would be equal."""
    seen: set[str] = set()
    for value in values:
        written = repr(value)
        if written in seen:
            what = ", ".join(map(str, value)) if isinstance(value, tuple) else value
            raise InputError(f"{where}: has {what} twice; give each value once")
        seen.add(written)


def _flat(given: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield places and their lists; in TOML, ``record.every`` without quotes is a nested table."""
    for key, values in given.items():
        if isinstance(values, dict):
            yield from _flat(values, f"{before}{key}.")
        else:
            yield usual_place(f"{before}{key}"), values


def _zips(given: object, where: str) -> list[SweepAxis]:
    tables = [given] if isinstance(given, dict) else given
    if not isinstance(tables, list | tuple) or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{where}: must be tables [[{where}]] of lists that go together")
    return [_zip(table, where if len(tables) == 1 else f"{where}[{i}]") for i, table in enumerate(tables)]


def _zip(table: Mapping[str, Any], where: str) -> SweepAxis:
    lists = {place: read_list(f'{where}."{place}"', values) for place, values in _flat(table)}
    if not lists:
        raise InputError(f"{where}: has no lists; give two or more of one length")
    if len({len(values) for values in lists.values()}) > 1:
        lengths = ", ".join(f'"{place}" {len(values)}' for place, values in lists.items())
        raise InputError(f"{where}: lists that go together have one length; here {lengths}")
    rows = tuple(zip(*lists.values(), strict=True))
    _check_once(where, rows)
    return SweepAxis(tuple(lists), rows, where)


def _cases(given: object, where: str, taken: Sequence[str]) -> SweepCases:
    if not isinstance(given, list | tuple) or not given or not all(isinstance(case, dict) for case in given):
        message = f"{where}: must be tables [[{where}]] with a name each, and set, over, zip or cases of their own"
        raise InputError(message)
    cases = tuple(_case(case, f"{where}[{i}]", taken) for i, case in enumerate(given))
    names = [case.name for case in cases]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f'{where}: two are called "{twice}"; names tell cases apart')
    return SweepCases(cases)


def _case(given: Mapping[str, Any], where: str, taken: Sequence[str]) -> SweepCase:
    check_keys(given, ("name", "set", *KEYS), where)
    name = given.get("name")
    if not isinstance(name, str) or not name:
        raise InputError(f'{where}.name: must be text such as "small"; it is the label of the case')
    changes = given.get("set", {})
    if not isinstance(changes, dict):
        raise InputError(f'{where}.set: must be a table such as {{ "links[0].buffer" = "1 bdp" }}')
    seen = list(taken)
    changes = {usual_place(place): value for place, value in changes.items()}
    for place in changes:
        _check_new(place, f"{where}.set", seen)
    return SweepCase(name, changes, read_axes(given, f"{where}.", seen), f"{where}.set")


def check_keys(given: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Refuse an unknown key; the message suggests the nearest known one.

    Parameters
    ----------
    where : str
        Put in front of the key.

    Raises
    ------
    InputError
        If there is an unknown key.

    Examples
    --------
    >>> check_keys({"ovr": {}}, ["base", "over"], "sweep.toml")
    Traceback (most recent call last):
    elephan.errors.InputError: sweep.toml: unknown key `ovr`; did you mean `over`?
    """
    for key in given:
        if key not in known:
            hint = suggest(key, known, f"known: {', '.join(known)}", "`")
            raise InputError(f"{where}: unknown key `{key}`; {hint}")
