"""Rule: keys, parameters, laws, disciplines and links that have no effect where they are.

What each needs is declared beside it, in Rust (`base::Need`): the keys' needs come with the schema, those of parameters
and of what is named with the catalogue. This rule only asks whether the needs of what a file says are met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from elephan.catalog import KEYS, Card, CardParameter, Need, catalog
from elephan.lint.rule import LintFinding, LintFindings, LintRule, LintSubject
from elephan.schema import schema

AUTO = "auto"
"""Value of a key that leaves the choice to elephan."""

OFF = (False, None, "off", "none", "0 packets", "0 s", 0.0)
"""Defaults that switch something off: stating them explicitly is harmless."""

NAMED = {"queue": "queues", "control": "laws", "slow_start": "slow-starts", "traffic": "traffic"}
"""Keys that name an entry of the catalogue, and its kind."""


@dataclass(frozen=True)
class _Place:
    """A table of a scenario.

    Parameters
    ----------
    where : str
        As ``--set`` takes it; empty for the top of the file.
    written, resolved : mapping
        The table as written and as resolved, with all enclosing tables for names that it lacks.
    met : sequence of str
        The kinds of needs that the network meets for it.
    """

    where: str
    written: Mapping[str, Any]
    resolved: Mapping[str, Any]
    met: Sequence[str] = ()

    def at(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def inside(self, key: str, written: object) -> _Place:
        """Return the table at a key."""
        found = self.resolved.get(key)
        inner: Mapping[str, Any] = found if isinstance(found, dict) else {}
        resolved = {**self.resolved, **inner}
        return replace(
            self, where=self.at(key), written=written if isinstance(written, dict) else {}, resolved=resolved
        )

    def lacks(self, needs: Sequence[Need]) -> list[str]:
        """Return the unmet needs, in readable form."""
        return [need["text"] for need in needs if not self._is_met(need)]

    def _is_met(self, need: Need) -> bool:
        name = need["name"]
        if need["kind"] in ("is", "not"):
            return (_text(self.resolved.get(name)) == need["value"]) == (need["kind"] == "is")
        if need["kind"] == "open":
            return bool(self.written.get(name, AUTO) == AUTO)
        return need["kind"] in self.met


def _text(value: object) -> str:
    """Format a value of a canonical form as in needs."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def _cards(kind: str) -> dict[str, Card]:
    return {card["name"]: card for card in catalog(kind)}


@cache
def _tables(name: str) -> dict[str, tuple[str, tuple[Need, ...]]]:
    """Return, by key, the nested table's name (empty if none) and the needs of the key.

    Parameters
    ----------
    name : str
        Name of a table in the schema; empty for the file itself.
    """
    whole = schema()
    defs = whole["$defs"]
    table = defs[name] if name else whole

    def inner(part: Mapping[str, Any]) -> str:
        forms = [part, part.get("items", {}), *part.get("anyOf", ())]
        named = [str(form["$ref"]).rpartition("/")[2] for form in forms if "$ref" in form]
        found = (one if "properties" in defs[one] else inner(defs[one]) for one in named)
        return next((table for table in found if table), "")

    properties = table["properties"].items()
    return {key: (inner(part), tuple(part.get("needs", ()))) for key, part in properties}


def _check(subject: LintSubject) -> LintFindings:
    tables = subject.network.tables()
    written, resolved, met = tables.written, tables.resolved, tables.met
    top = _Place("", written, resolved)
    pools = [()] * len(resolved.get("pools", []))
    for key, kinds in (("pools", pools), ("links", met["links"]), ("flows", met["groups"])):
        name, needs = _tables("")[key]
        listed = written.get(key, [])
        for i, form in enumerate(resolved.get(key, [])):
            given = listed[i] if i < len(listed) else {}
            place = _Place(f"{key}[{form['name']}]", given, {**resolved, **form}, kinds[i])
            lacking = place.lacks(needs)
            if lacking:
                yield _finding(place.where, lacking)
            else:
                yield from _keys(place, name)
    yield from (found for key in ("record",) for found in _keys(top.inside(key, written.get(key)), _tables("")[key][0]))


def _keys(place: _Place, table: str) -> LintFindings:
    """Check the keys of a table of the schema."""
    for key, value in place.written.items():
        inner, needs = _tables(table).get(key, ("", ()))
        # For keys with needs, only words switch off: `limited_transmit = false` is a request.
        lacking = [] if place.resolved.get(key, key) in (None, "off") else place.lacks(needs)
        if lacking:
            yield _finding(place.at(key), lacking)
        elif key in NAMED:
            yield from _named(place.inside(key, value), key)
        elif inner:
            yield from _keys(place.inside(key, value), inner)


def _named(place: _Place, key: str) -> LintFindings:
    """Check an entry of the catalogue and its parameters."""
    kind = NAMED[key]
    name = place.resolved.get(KEYS[kind])
    card = _cards(kind).get(str(name))
    if card is None:
        return
    lacking = place.lacks(card["needs"])
    if lacking:
        yield _finding(place.where, lacking, f"{name} behaves as {card['without']} here" if card["without"] else "")
        return
    rows = {row["name"]: row for row in card["parameters"]}
    for spelled, value in place.written.items():
        row = rows.get(card["spellings"].get(spelled, spelled))
        lacking = [] if row is None or _is_off(row, place) else place.lacks(row["needs"])
        if lacking:
            yield _finding(place.at(spelled), lacking)
        elif spelled in NAMED:
            yield from _named(place.inside(spelled, value), spelled)


def _is_off(row: CardParameter, place: _Place) -> bool:
    """Whether a parameter has a default that switches it off."""
    return row["default"] in OFF and place.resolved.get(row["name"]) == row["default"]


def _finding(where: str, lacking: Sequence[str], instead: str = "") -> LintFinding:
    return LintFinding(
        where,
        f"{instead or 'has no effect'}, since it needs {', and '.join(lacking)}",
        "give what it needs, or leave it out",
    )


RULE = LintRule.named("no-effect", _check)
