"""The reference of the scenario file: every key with what it takes, its default and its meaning.

Keys, meanings and limits come from the JSON Schema of the parser; defaults from there or, where it is silent, from what
a scenario with nothing but the required keys resolves to.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from elephan import _native
from elephan.units import format_number, format_time
from pages.markdown import code, table

Schema = Mapping[str, Any]

SMALLEST = """
duration = "1 s"
[[links]]
name = "core"
rate = "1 Mbit/s"
buffer = "unlimited"
[[flows]]
path = ["core"]
rtt = "1 s"
"""
"""Every key that is not here has its default."""

CHOICES = {
    "control": ("Control", "law", "laws", "Congestion-control law"),
    "slow_start": ("SlowStart", "kind", "slow-starts", "Slow start"),
    "queue": ("Queue", "discipline", "queues", "Queue discipline"),
    "traffic": ("Traffic", "kind", "traffic", "Traffic"),
}
"""Keys that name one of many kinds with keys of their own: which key says the kind, and its catalogue."""

SECTIONS = (
    ("Top level", "", None),
    ("`[[links]]`", "links", "Link"),
    ("`[[flows]]`", "flows", "Flows"),
    ("`access`", "access", "Access"),
    ("`tcp`", "tcp", "TcpTable"),
    ("`[record]`", "record", "Record"),
    ("`record.packets`", "", "Packets"),
)
FORMS = (
    ("`rtt`", "RttTable", "Pareto"),
    ("`start`", "StartTable"),
    ("`stop`", "StopTable", "AfterTable"),
    ("`access.rate`, `access.delay`", "ValuesTable"),
    ("`rate`, `delay` of links", "Range"),
    ("`loss`", "LossTable"),
)
"""Keys that take a table in place of one value."""

UNITS = {"_ps": (1e-12, "s"), "_bytes": (1, "B"), "_bps": (1, "bit/s"), "_packets": (1, "packets"), "": (1, "")}
LEFT_OUT = {"count": "1"}
"""Defaults that a resolved scenario does not spell out."""
UNIT = re.compile(r" \[([^\]]+)\]$")


@cache
def schema() -> dict[str, Any]:
    """Read the schema once."""
    found: dict[str, Any] = json.loads(_native.schema())
    return found


def reference() -> str:
    """Write all sections."""
    lines: list[str] = []
    known = json.loads(_native.resolve(SMALLEST))
    flow = known["flows"][0]
    resolved = {
        "": known,
        "links": known["links"][0],
        "flows": flow,
        "access": flow["access"],
        "tcp": flow["tcp"],
        "record": known["record"],
    }
    for title, place, name in SECTIONS:
        inside = schema() if name is None else schema()["$defs"][name]
        lines += [f"## {title}", "", said(inside) if name else "", ""]
        lines += keys(inside, resolved[place] if title != "`record.packets`" else {})
    lines += ["## One value, or one of several forms", ""]
    for title, *names in FORMS:
        lines += [f"### {title}", ""]
        for name in names:
            inside = schema()["$defs"][name]
            lines += [said(inside), "", *keys(inside, {})]
    for key, (_, discriminator, catalogue, title) in CHOICES.items():
        lines += [f"## `{key}`", "", f"{title}: a name, or a table with `{discriminator}` and keys of its own.", ""]
        lines += [f"Sources, differences and pictures are in the [catalogue](../catalog/{catalogue}.md).", ""]
        lines += variants(key, discriminator)
    return "\n".join(lines)


def keys(inside: Schema, resolved: Mapping[str, Any]) -> list[str]:
    """Write the table of one table's keys, those that must be there first."""
    required = inside.get("required", [])
    if "buffer" in inside["properties"] and "discipline" not in resolved and "queue" in inside["properties"]:
        required = [*required, "buffer"]
    names = sorted(inside["properties"], key=lambda name: (name not in required, name))
    rows = []
    for name in names:
        about = inside["properties"][name]
        default = "required" if name in required else default_of(name, about, resolved)
        rows.append([code(name), takes(name, about), default, said(about)])
    return table(["key", "takes", "default", "meaning"], rows)


def variants(key: str, discriminator: str) -> list[str]:
    """Write the keys of all kinds that a key can name."""
    rows = []
    for kind in kinds(key):
        about = kind["properties"]
        names = about[discriminator]["enum"]
        rows.append([f"**{code(names[0])}**", "", "", about[discriminator]["description"]])
        for name, own in about.items():
            if name in (discriminator, "slow_start"):
                continue
            unit = UNIT.search(own["description"])
            default = code(plain(own["default"])) if "default" in own else ""
            rows.append([code(name), default, unit[1] if unit else "", UNIT.sub("", said(own))])
    return table(["key", "default", "unit", "meaning"], rows)


def kinds(key: str) -> Iterator[Schema]:
    """Find the tables of all kinds that a key can name."""
    if key == "slow_start":
        choices: Sequence[Schema] = next(kinds("control"))["properties"]["slow_start"]["anyOf"]
    else:
        choices = schema()["$defs"][CHOICES[key][0]]["anyOf"]
    yield from (choice for choice in choices if "properties" in choice)


def said(about: Schema) -> str:
    """Write the description on one line."""
    return " ".join(about.get("description", "").split())


def takes(name: str, about: Schema) -> str:
    """Say which values a key takes."""
    if name in CHOICES:
        return f"[a name or a table](#{name})"
    if "$ref" in about:
        inner = schema()["$defs"][about["$ref"].rpartition("/")[2]]
        return takes(name, {k: v for k, v in inner.items() if k != "description"})
    if "const" in about:
        return code(json.dumps(about["const"]))
    if "enum" in about:
        return ", ".join(code(word) for word in about["enum"])
    for joined in ("anyOf", "oneOf"):
        if joined in about:
            return ", ".join(dict.fromkeys(takes(name, choice) for choice in about[joined]))
    kind = about.get("type", "")
    if kind == "array":
        item = about["items"]
        return f"list of {'tables' if '$ref' in item else 'texts'}"
    words = {"string": "text", "integer": "integer", "number": "number", "boolean": "true or false", "object": "table"}
    return words.get(kind, str(kind)) + limits(about)


def limits(about: Schema) -> str:
    """Say between which values a number must lie."""
    low, high = about.get("minimum"), about.get("maximum")
    if low is None and high is None:
        return ""
    if high is None:
        return f" from {low}"
    return f" up to {high}" if low is None else f" from {low} to {high}"


def default_of(name: str, about: Schema, resolved: Mapping[str, Any]) -> str:
    """Say what a key has if the file does not."""
    if "default" in about:
        return code(plain(about["default"]))
    for suffix, (scale, unit) in UNITS.items():
        if name + suffix in resolved:
            value = resolved[name + suffix]
            if value is None:
                return code("unlimited" if "unlimited" in said(about) else "none")
            return code(written(value, scale, unit))
    return code(LEFT_OUT.get(name, ""))


def written(value: Any, scale: float, unit: str) -> str:
    """Write a resolved value as a file would; nothing for tables without a name."""
    if isinstance(value, dict):
        return str(value.get("law") or value.get("discipline") or value.get("kind") or "")
    if isinstance(value, list) and len(set(value)) == 1:
        return written(value[0], scale, unit)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return plain(value)
    if unit == "s":
        return format_time(value * scale)
    return f"{format_number(value * scale, 6)} {unit}".strip()


def plain(value: Any) -> str:
    """Write a value of JSON without what only JSON needs: quotes, and the point of a whole number."""
    if isinstance(value, float):
        return f"{value:.12g}"
    return value if isinstance(value, str) else json.dumps(value)
