"""Profiles of ``tcp`` and of queues: the keys that each sets, with their sources in Linux.

*Source*: Linux 6.12 for the profile ``linux``, 6.18 for DualPI2; ip-sysctl and tcp(7). The values of
``tcp`` are read from a scenario that names the profile, those of queues are defined with the disciplines, in Rust.
"""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from typing import Any

from elephan import _native

_KNOWN: dict[str, dict[str, Any]] = tomllib.loads(files("elephan").joinpath("profiles.toml").read_text("utf-8"))

VERSION = "6.12"

PROFILES: dict[str, dict[str, str]] = _KNOWN["profiles"]
"""Title, source and deviations from the source, for each profile."""

SOURCES: dict[str, str] = _KNOWN["sources"]
"""Source in Linux of each key that the profile sets or that is related: file and function, or sysctl."""

NOT_MODELLED = "BQL, driver rings, TSQ; undo of cuts (F-RTO, DSACK, Eifel) but on links with reorder"
"""Behaviour of a Linux host that a scenario cannot express."""

TIME, SIZE = "_ps", "_bytes"
"""Suffixes of keys of canonical forms: times in picoseconds, sizes in bytes."""


def profiles() -> list[dict[str, Any]]:
    """Return a card of each profile: of ``tcp``, then of the queues that have one.

    Returns
    -------
    list of dict
        As cards of the catalogue: ``parameters`` are the keys that it sets, with the value as ``default`` and the
        ``source`` of each.

    Examples
    --------
    >>> {key["name"]: key["default"] for key in profiles()[0]["parameters"]}["min_rto"]
    '200 ms'
    >>> [card["name"] for card in profiles()][:3]
    ['linux', 'red/linux', 'pie/linux']
    """
    return [*_of_tcp(), *_of_queues()]


def profiled_queues() -> list[str]:
    """List the disciplines that have a profile.

    Returns
    -------
    list of str

    Examples
    --------
    >>> profiled_queues()
    ['red', 'pie', 'sfq', 'codel', 'fq-codel', 'dualpi2']
    """
    return [each["discipline"] for each in json.loads(_native.catalog("queue-profiles"))]


def _of_tcp() -> list[dict[str, Any]]:
    from elephan.scenario import EXAMPLE, Scenario  # noqa: PLC0415 (the engine; start-up does without)
    from elephan.schema import schema  # noqa: PLC0415 (as before)

    tables = schema()["$defs"]
    meanings = tables["TcpTable"]["properties"]
    recovery = tables["Flows"]["properties"]["recovery"]["description"].partition(" Default:")[0]
    plain = Scenario.from_text(EXAMPLE)
    before = plain.resolved["flows"][0]
    cards = []
    for name, about in PROFILES.items():
        flow = plain.replace({"flows[0].tcp": name}).resolved["flows"][0]
        rows = [
            _row(_key(key), _said(key, value), meanings[_key(key)].get("description", ""), SOURCES.get(_key(key), ""))
            for key, value in sorted(flow["tcp"].items())
            if key not in before["tcp"] or before["tcp"][key] != value
        ]
        rows.append(_row("recovery", flow["recovery"], recovery, SOURCES["recovery"]))
        law = flow["control"]
        default = f"{law['law']}, {law['variant']}, {law['slow_start']['kind']}"
        meaning = "Law without further settings, its variant, and its slow start."
        rows.append(_row("control", default, meaning, SOURCES["control"]))
        cards.append(_card(name, **about, rows=rows))
    return cards


def _of_queues() -> list[dict[str, Any]]:
    from elephan.catalog import catalog  # noqa: PLC0415 (the engine; start-up does without)

    cards = []
    queues = {card["name"]: card for card in catalog("queues")}
    for profile in json.loads(_native.catalog("queue-profiles")):
        name = profile["discipline"]
        meanings = {row["name"]: row["meaning"] for row in queues[name]["parameters"]}
        meanings["limit"] = "The link's buffer, where neither the link nor the table says it."
        rows = [_row(row["name"], row["default"], meanings[row["name"]], row["source"]) for row in profile["settings"]]
        title = f'A queue: profile = "{profile["name"]}"'
        source = f"Linux {profile['version']}"
        cards.append(_card(f"{name}/{profile['name']}", title, source, profile["differs"], rows))
    return cards


def _card(name: str, title: str, source: str, differs: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    card = {"name": name, "aliases": [], "spellings": {}, "title": title, "source": source, "differs": differs}
    return card | {"parameters": rows, "needs": [], "without": ""}


def _said(key: str, value: Any) -> Any:
    from elephan.units import format_time  # noqa: PLC0415 (as above)

    if value is None:
        return "none"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {json.dumps(_said(name, one))}" for name, one in value.items()) + " }"
    return format_time(value / 1e12) if key.endswith(TIME) else f"{value} B" if key.endswith(SIZE) else value


def _row(name: str, default: Any, meaning: str, source: str) -> dict[str, Any]:
    return {"name": name, "default": default, "unit": "", "meaning": meaning, "needs": [], "source": source}


def _key(canonical: str) -> str:
    """Return the scenario file's key for a key of the canonical form."""
    return canonical.removesuffix(TIME).removesuffix(SIZE)
