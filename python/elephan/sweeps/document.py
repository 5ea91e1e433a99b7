"""Sweeps as data: a base scenario and its axes, read from a file or a mapping, or built in Python."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elephan import flow_files
from elephan.errors import InputError, ScenarioError
from elephan.formats import stamped, unstamped
from elephan.input_files import parse_toml, read_text
from elephan.runs.precision import MOST
from elephan.scenario import Scenario
from elephan.sweeps.axes import (
    KEYS,
    SweepAxis,
    SweepCases,
    check_keys,
    combinations,
    key_of,
    places_of,
    read_axes,
    size,
)
from elephan.sweeps.points import SweepPoint, plan
from elephan.units import count

_SETTINGS = ("replications", "seed")
_KEYS = ("format", "base", "set", "title", *_SETTINGS, "precision", "max_replications", *KEYS)


@dataclass(frozen=True)
class Sweep:
    """A base scenario and the axes that vary it.

    Parameters
    ----------
    base : Scenario
    axes : tuple of SweepAxis or SweepCases
    title : str
        Title of the sweep; that of the base if the sweep does not have one.
    origin : str
        Name of the sweep's file, for messages.
    precision : tuple of str
        Precision of each point, as for `elephan.run`; empty for the replications of the file.
    max_replications : int
        Maximum replications of a point for its precision.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> sweep = Sweep.of(Scenario.from_text(EXAMPLE), over={"links[0].buffer": ["0.1 bdp", "1 bdp"]})
    >>> [(point.labels, point.scenario.links[0]["buffer_limit_packets"]) for point in sweep.points()]
    [({'links[0].buffer': '0.1 bdp'}, 10), ({'links[0].buffer': '1 bdp'}, 100)]
    """

    base: Scenario
    axes: tuple[SweepAxis | SweepCases, ...]
    title: str
    origin: str
    precision: tuple[str, ...] = ()
    max_replications: int = MOST

    @classmethod
    def from_file(cls, path: str | Path) -> Sweep:
        """Read a sweep file, or a scenario file as a sweep without axes.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Sweep

        Raises
        ------
        InputError
            If the file is invalid; the message names file and key.
        """
        path = Path(path)
        text = read_text(path, "scenario or sweep file (TOML)")
        try:
            mapping = parse_toml(text)
        except tomllib.TOMLDecodeError as error:
            hint = '; places stand in quotes: "links[0].buffer" = ["0.1 bdp", "1 bdp"]' if "[over" in text else ""
            raise InputError(f"{path}: not TOML: {error}{hint}") from None
        if "links" in mapping and "base" not in mapping and not any(key in mapping for key in KEYS):
            return cls.of(Scenario.from_file(path))
        return cls.from_mapping(mapping, str(path), path.parent)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], origin: str = "sweep", folder: str | Path = "") -> Sweep:
        """Read a sweep from a mapping with the keys of the file.

        Parameters
        ----------
        mapping : mapping
        origin : str
            Put in front of messages.
        folder : str or Path
            Folder for relative paths of the base.

        Returns
        -------
        Sweep

        Raises
        ------
        InputError
            If the mapping is invalid; the message names the key.

        Examples
        --------
        >>> import tomllib
        >>> from elephan.scenario import EXAMPLE
        >>> sweep = Sweep.from_mapping({"base": tomllib.loads(EXAMPLE), "over": {"flows[0].count": "1..3:3lin"}})
        >>> len(sweep)
        3
        """
        check_keys(mapping, _KEYS, origin)
        unstamped(stamped(mapping), origin)  # a file need not state its version
        base = _base(mapping.get("base"), origin, Path(folder))
        settings = mapping.get("set", {})
        if not isinstance(settings, dict):
            raise InputError(f'{origin}: set: must be a table such as {{ "links[0].buffer" = "1 bdp" }}')
        settings = {**settings, **{key: mapping[key] for key in _SETTINGS if key in mapping}}
        if settings:
            base = replace(base, origin=origin).replace(settings)
        title = mapping.get("title", base.title)
        if not isinstance(title, str):
            raise InputError(f"{origin}: title: must be text")
        try:
            axes = read_axes(mapping)
        except InputError as error:
            raise InputError(f"{origin}: {error}") from None
        precision, most = mapping.get("precision", []), mapping.get("max_replications", MOST)
        asked = [precision] if isinstance(precision, str) else precision
        if not isinstance(asked, list | tuple) or not all(isinstance(text, str) for text in asked):
            raise InputError(f'{origin}: precision: must be text such as "1%" or "goodput=2%", or a list of such')
        if isinstance(most, bool) or not isinstance(most, int) or most < 2:
            raise InputError(f"{origin}: max_replications: must be a whole number, 2 or more")
        return cls(base, axes, title, origin, tuple(asked), most)

    @classmethod
    def of(
        cls,
        base: Scenario,
        over: Mapping[str, Any] | None = None,
        zip: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,  # noqa: A002 (the file's word)
        cases: Sequence[Mapping[str, Any]] | None = None,
    ) -> Sweep:
        """Build a sweep from a scenario and axes.

        Parameters
        ----------
        base : Scenario
        over : mapping of str to list or range, optional
            Places and their values; all combinations are run.
        zip : sequence of mapping, optional
            Each mapping is one axis: lists of equal length that vary together.
        cases : sequence of mapping, optional
            Cases with a ``name``, a ``set``, and their own ``over``, ``zip`` and ``cases``.

        Returns
        -------
        Sweep

        Raises
        ------
        InputError
            If an axis is invalid; the message names the key.
        """
        return cls(base, (), base.title, base.origin).extended(over, zip, cases)

    def extended(
        self,
        over: Mapping[str, Any] | None = None,
        zip: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,  # noqa: A002 (the file's word)
        cases: Sequence[Mapping[str, Any]] | None = None,
    ) -> Sweep:
        """Return a copy with more axes, nested inside the existing ones.

        Parameters
        ----------
        over, zip, cases
            As in `of`.

        Returns
        -------
        Sweep

        Raises
        ------
        InputError
            If an axis is invalid; the message names the key.
        """
        given = {"over": over, "zip": zip, "cases": cases}
        if cases and any(isinstance(axis, SweepCases) for axis in self.axes):
            message = "cases: the sweep has cases already, and a point one name of a case; nest the new ones in those"
            raise InputError(message)
        taken = list(places_of(self.axes))
        axes = read_axes({key: value for key, value in given.items() if value}, taken=taken)
        return replace(self, axes=(*self.axes, *axes))

    def asking(
        self,
        precision: str | Sequence[str] | None = None,
        max_replications: int | None = None,
        replications: int | None = None,
        seed: int | None = None,
    ) -> Sweep:
        """Return a copy with other replications, seed or precision of its points.

        Parameters
        ----------
        precision, max_replications, replications, seed
            As in `elephan.run`; None keeps the value of the sweep.

        Returns
        -------
        Sweep

        Raises
        ------
        ScenarioError
            If a value is invalid for the base scenario.
        """
        changes = {"replications": replications, "seed": seed}
        found = self.changed({key: value for key, value in changes.items() if value is not None})
        if precision:
            found = replace(found, precision=(precision,) if isinstance(precision, str) else tuple(precision))
        return found if max_replications is None else replace(found, max_replications=max_replications)

    def changed(self, changes: Mapping[str, object]) -> Sweep:
        """Return a copy with a changed base scenario.

        Parameters
        ----------
        changes : mapping of str to value
            As for `Scenario.replace`.

        Returns
        -------
        Sweep

        Raises
        ------
        ScenarioError
            If the result is not a valid scenario.
        """
        return replace(self, base=self.base.replace(changes)) if changes else self

    def __len__(self) -> int:
        return size(self.axes)

    def points(self) -> list[SweepPoint]:
        """Resolve every point; the last axis varies fastest.

        Returns
        -------
        list of SweepPoint

        Raises
        ------
        InputError
            If no point is a valid scenario. Then the sweep itself is wrong, and the message names its key.
        """
        points = plan(self.base, combinations(self.axes), self.precision, self.max_replications)
        if all(point.error is not None for point in points):
            self.check(points)
        return points

    def own_laws(self) -> Iterator[Iterable[str]]:
        """Yield the users' laws that the base names, then those of each point (if there are axes).

        Raises
        ------
        InputError
            At the end, if a point is not a valid scenario: it might be the point that uses a declared law.
        """
        yield self.base.own_laws
        if self.axes:
            points = self.points()
            yield from (point.scenario.own_laws for point in points if point.error is None)
            self.check(points)

    def check(self, points: Sequence[SweepPoint]) -> None:
        """Refuse points that are not valid scenarios, before any point is run.

        Parameters
        ----------
        points : sequence of SweepPoint
            Points of this sweep.

        Raises
        ------
        InputError
            If a point is invalid; the message has the first error and the number of invalid points.
        """
        wrong = [point for point in points if point.error is not None]
        if not wrong:
            return
        message = self._mistake(wrong)
        if len(wrong) < len(points):
            message += f" ({len(wrong)} of {count(len(points), 'point')} cannot be read, so none is run)"
        raise InputError(message)

    def _mistake(self, points: Sequence[SweepPoint]) -> str:
        """Describe the error of the first invalid point."""
        place, error = points[0].culprit()
        message = error.removeprefix(f"{self.base.origin}: ")
        where = key_of(self.axes, place) if place is not None else None
        prefix = f"{where}: " if where else ""
        if place is not None and not place.startswith(message.partition(":")[0]):
            prefix += f'"{place}": '
        return f"{self.origin}: {prefix}{message}"

    def to_json(self) -> list[dict[str, Any]]:
        """Return the axes in the form of the sweep's document."""
        return [axis.to_json() for axis in self.axes]


def _base(given: object, origin: str, folder: Path) -> Scenario:
    if isinstance(given, str):
        try:
            return Scenario.from_file(folder / given)
        except ScenarioError as error:
            raise ScenarioError(f"{origin}: base: {error}") from None
    if isinstance(given, dict):
        return Scenario.from_text(flow_files.dumps(given), f"{origin}: base", folder)
    what = "missing" if given is None else "must be a file or a table"
    raise InputError(f'{origin}: base: {what}; write base = "scenario.toml", or a table [base]')
