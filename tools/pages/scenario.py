"""The reference of the scenario file: every key with its values, its default and its meaning.

Everything comes from the JSON Schema of the parser, where a description ends with the default.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from elephan import _native
from elephan_evidence.report.markdown import code, table

Schema = Mapping[str, Any]

CHOICES = {
    "control": ("Control", "law", "laws", "Congestion-control law"),
    "slow_start": ("SlowStart", "kind", "slow-starts", "Slow start"),
    "queue": ("Queue", "discipline", "queues", "Queue discipline"),
    "traffic": ("Traffic", "kind", "traffic", "Traffic"),
}
"""Keys whose table has one of many kinds, each with its own keys: the discriminating key, and its catalogue."""

SECTIONS = (
    ("Top level", None),
    ("`[[pools]]`", "Pool"),
    ("`[[links]]`", "Link"),
    ("`[[flows]]`", "Flows"),
    ("`access`", "Access"),
    ("`tcp`", "TcpTable"),
    ("`[record]`", "Record"),
    ("`record.packets`", "Packets"),
)
FORMS = (
    ("`rtt`", "RttTable", "Pareto"),
    ("`start`", "StartTable"),
    ("`stop`", "StopTable", "AfterTable"),
    ("`access.rate`, `access.delay`", "RateValuesTable"),
    ("`rate` of links", "RateTable", "Sine", "Markov"),
    ("`delay` of links", "DelayTable"),
    ("`jitter`", "JitterTable"),
    ("`loss`", "LossTable", "Gilbert", "Bursts"),
    ("`policer`, `shaper`", "Bucket"),
    ("`tcp.receive_window`", "Autotuning"),
)
"""Keys that accept a table instead of one value."""

UNIT = re.compile(r" \[([^\]]+)\]$")
DEFAULT = re.compile(r" ?Default: (.*?)\.?$")


@cache
def schema() -> dict[str, Any]:
    """Read the schema once."""
    found: dict[str, Any] = json.loads(_native.schema())
    return found


def reference() -> str:
    """Write all sections."""
    lines: list[str] = []
    for title, name in SECTIONS:
        inside = schema() if name is None else schema()["$defs"][name]
        lines += [f"## {title}", "", said(inside) if name else "", "", *keys(inside)]
    lines += ["## One value, or one of several forms", ""]
    for title, *names in FORMS:
        lines += [f"### {title}", ""]
        for name in names:
            inside = schema()["$defs"][name]
            lines += [said(inside), "", *keys(inside)]
    for key, (_, discriminator, catalogue, title) in CHOICES.items():
        lines += [f"## `{key}`", "", f"{title}: a name, or a table with `{discriminator}` and keys of its own.", ""]
        lines += [f"Sources, differences and pictures are in the [catalogue](../catalog/{catalogue}.md).", ""]
        lines += variants(key, discriminator)
    return "\n".join(lines)


def keys(inside: Schema) -> list[str]:
    """Write the table of one table's keys, the required ones first."""
    required = inside.get("required", [])
    names = sorted(inside["properties"], key=lambda name: (name not in required, name))
    rows = []
    for name in names:
        about = inside["properties"][name]
        rows.append([code(name), takes(name, about), "required" if name in required else default(about), said(about)])
    return table(["key", "takes", "default", "meaning"], rows)


def variants(key: str, discriminator: str) -> list[str]:
    """Write the keys of all kinds that a key can have."""
    rows = []
    for kind in kinds(key):
        about = kind["properties"]
        if "enum" in about[discriminator]:
            rows.append([f"**{code(about[discriminator]['enum'][0])}**", "", "", about[discriminator]["description"]])
        else:
            # A user's own law, of any name.
            rows.append(["*a name of your own*", "", "", kind["description"]])
        for name, own in about.items():
            if name in (discriminator, "slow_start"):
                continue
            unit = UNIT.search(said(own))
            rows.append([code(name), default(own), unit[1] if unit else "", UNIT.sub("", said(own))])
    return table(["key", "default", "unit", "meaning"], rows)


def kinds(key: str) -> Iterator[Schema]:
    """Find the tables of all kinds that a key can have."""
    choices: Sequence[Schema] = schema()["$defs"][CHOICES[key][0]]["anyOf"]
    yield from (choice for choice in choices if "properties" in choice)


def said(about: Schema) -> str:
    """Return the description on one line, without the default at its end."""
    return DEFAULT.sub("", whole(about))


def default(about: Schema) -> str:
    """Return a key's default: in the form of a file, or in words."""
    found = DEFAULT.search(whole(about))
    if found is None:
        return ""
    text = found[1]
    return text if " " in text and not text.startswith(('"', "{", "[")) else code(text)


def whole(about: Schema) -> str:
    """Return the description on one line."""
    return " ".join(about.get("description", "").split())


def takes(name: str, about: Schema) -> str:
    """Describe the values of a key."""
    if name in CHOICES:
        return f"[a name or a table](#{name})"
    if "$ref" in about:
        inner = schema()["$defs"][about["$ref"].rpartition("/")[2]]
        return takes(name, {k: v for k, v in inner.items() if k != "description"})
    if "const" in about:
        return code(json.dumps(about["const"]))
    if "enum" in about:
        return ", ".join(code(word if isinstance(word, str) else json.dumps(word)) for word in about["enum"])
    for joined in ("anyOf", "oneOf"):
        if joined in about:
            return ", ".join(dict.fromkeys(takes(name, choice) for choice in about[joined]))
    kind = about.get("type", "")
    if kind == "array" and "prefixItems" in about:
        return f"[{', '.join(takes(name, each) for each in about['prefixItems'])}]"
    if kind == "array":
        return f"list of {takes(name, about['items'])}s"
    words = {"string": "text", "integer": "integer", "number": "number", "boolean": "true or false", "object": "table"}
    return words.get(kind, str(kind)) + limits(about)


def limits(about: Schema) -> str:
    """Describe the range of a number."""
    low, high = about.get("minimum"), about.get("maximum")
    if low is None and high is None:
        return ""
    if high is None:
        return f" from {low}"
    return f" up to {high}" if low is None else f" from {low} to {high}"
