"""JSON Schema of scenario and sweep files, with which editors complete keys and mark errors.

That of a scenario is made from the types that the parser reads; that of a sweep is in
``sweep.schema.json``, around it: its own keys, and those of axes, which a case has too.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from elephan import _native
from elephan.errors import InputError, suggest

KINDS: tuple[str, ...] = ("scenario", "sweep")
"""Kinds of files that have a schema."""


@cache
def _text(kind: str) -> str:
    scenario: dict[str, Any] = json.loads(_native.schema())
    if kind == "scenario":
        return json.dumps(scenario, indent=1)
    own: dict[str, Any] = json.loads(files("elephan").joinpath("sweep.schema.json").read_text(encoding="utf-8"))
    own["$defs"]["Case"]["properties"] |= own["axes"]
    draft, parts = scenario.pop("$schema"), scenario.pop("$defs")
    sweep = {
        "$schema": draft,
        "title": "elephan sweep",
        "description": "A scenario and lists of what varies in it.",
        "type": "object",
        "properties": own["properties"] | own["axes"],
        "required": ["base"],
        "additionalProperties": False,
        "$defs": parts | {"Scenario": scenario} | own["$defs"],
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
        raise InputError(f'schema: there is no "{kind}"; {suggest(kind, KINDS)}')
    return dict(json.loads(_text(kind)))
