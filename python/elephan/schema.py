"""JSON Schema of scenario and sweep files, with which editors complete keys and mark errors.

That of a scenario is made from the types that the parser reads; that of a sweep is written here, around it.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from elephan import _native
from elephan.errors import InputError, suggest

KINDS: tuple[str, ...] = ("scenario", "sweep")
"""Kinds of files that have a schema."""

_LIST = {
    "description": 'Values, or a range such as "100..15000 packets:12log"; a list may hold ranges too.',
    "anyOf": [{"type": "array", "minItems": 1}, {"type": "string", "pattern": r"\.\."}],
}
_LISTS = {
    "description": 'Lists by place: "links[0].buffer" = ["0.1 bdp", "1 bdp"]; places stand in quotes.',
    "type": "object",
    "additionalProperties": {"anyOf": [{"$ref": "#/$defs/List"}, {"$ref": "#/$defs/Lists"}]},
}
_ZIPS = {
    "description": "Lists of one length that go together, an axis for each table.",
    "anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Lists"}}, {"$ref": "#/$defs/Lists"}],
}
_AXES = {
    "over": {"description": "Lists whose every combination is run.", "$ref": "#/$defs/Lists"},
    "zip": {"description": "Lists of one length that go together, an axis for each table.", "$ref": "#/$defs/Zips"},
    "cases": {
        "description": "Variants, each with what it sets and with lists of its own.",
        "type": "array",
        "minItems": 1,
        "items": {"$ref": "#/$defs/Case"},
    },
}
_SET = {"description": 'What changes, by place: { "links[0].queue" = "red" }.', "type": "object"}
_CASE = {
    "description": "One variant.",
    "type": "object",
    "properties": {
        "name": {"description": "Its label in results.", "type": "string", "minLength": 1},
        "set": _SET,
        **_AXES,
    },
    "required": ["name"],
    "additionalProperties": False,
}
_SWEEP = {
    "format": {
        "description": "Version of this file's form, for readers to come. Default: 1.",
        "type": "integer",
        "minimum": 1,
        "maximum": 1,
    },
    "title": {"description": "One line about it. Default: the base's.", "type": "string"},
    "base": {
        "description": "The scenario that is varied: the name of its file, relative to this one, or itself as a table.",
        "anyOf": [{"type": "string"}, {"$ref": "#/$defs/Scenario"}],
    },
    "set": _SET,
    "replications": {
        "description": "Independent runs of each point. Default: the base's.",
        "type": "integer",
        "minimum": 1,
        "maximum": 10_000,
    },
    "seed": {
        "description": "Seed of all points. Default: the base's.",
        "type": "integer",
        "minimum": 0,
        "maximum": 2**63 - 1,
    },
    "precision": {
        "description": 'More replications of a point until it is known so well: "1%", "goodput=2%", or a list of such.',
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    },
    "max_replications": {
        "description": "Maximum replications of a point for its precision. Default: 100.",
        "type": "integer",
        "minimum": 2,
    },
    **_AXES,
}


@cache
def _text(kind: str) -> str:
    scenario: dict[str, Any] = json.loads(_native.schema())
    if kind == "scenario":
        return json.dumps(scenario, indent=1)
    draft, parts = scenario.pop("$schema"), scenario.pop("$defs")
    own = {"Scenario": scenario, "List": _LIST, "Lists": _LISTS, "Zips": _ZIPS, "Case": _CASE}
    sweep = {
        "$schema": draft,
        "title": "elephan sweep",
        "description": "A scenario and lists of what varies in it.",
        "type": "object",
        "properties": _SWEEP,
        "required": ["base"],
        "additionalProperties": False,
        "$defs": parts | own,
    }
    return json.dumps(sweep, indent=1)


def schema(kind: str = "scenario") -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a kind of file, without external references.

    Parameters
    ----------
    kind : str
        One of `KINDS`.

    Raises
    ------
    InputError
        If there is no such kind.

    Examples
    --------
    >>> sorted(schema()["required"])
    ['duration', 'flows', 'links']
    >>> schema("sweep")["properties"]["seed"]["type"]
    'integer'
    """
    if kind not in KINDS:
        message = f'schema: there is no "{kind}"; {suggest(kind, KINDS)}'
        raise InputError(message)
    return dict(json.loads(_text(kind)))
