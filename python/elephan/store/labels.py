"""Labels of runs: names and values that state the purpose of a run. A run may have several sets of labels."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from typing import TypeAlias

from elephan.errors import InputError
from elephan.input_files import inline_toml, parse_toml
from elephan.results.axes import short as short

Label: TypeAlias = "str | int | float | bool"
Labels: TypeAlias = "dict[str, Label]"

LARGEST = 2**63 - 1
"""Largest absolute value of a whole number that is stored as a number: the index has 64-bit integers."""

RESERVED = ("point", "run", "labels")
"""Names of the index's own columns, which labels cannot have."""

_LINE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def as_labels(labels: Mapping[str, object] | None) -> Labels:
    """Normalize labels: sorted by name; texts, numbers and booleans.

    Parameters
    ----------
    labels : mapping of str to value, optional
        Tables and lists become one line of TOML.

    Raises
    ------
    InputError
        If a name is empty or reserved, or if TOML cannot represent a value or the value is not finite.

    Examples
    --------
    >>> as_labels({"flows[0].count": 2, "links[0].queue": {"discipline": "red"}})
    {'flows[0].count': 2, 'links[0].queue': '{ discipline = "red" }'}
    """
    return {name: _value(_name(name), value) for name, value in sorted((labels or {}).items())}


def as_value(label: Label) -> object:
    """Return the value of a label; tables and lists are parsed from one line of TOML.

    Examples
    --------
    >>> as_value('{ discipline = "red" }'), as_value("1 bdp")
    ({'discipline': 'red'}, '1 bdp')
    """
    if isinstance(label, str) and label.startswith(("{", "[")):
        try:
            return parse_toml(f"value = {label}")["value"]
        except tomllib.TOMLDecodeError:
            return label
    return label


def as_line(labels: Labels) -> str:
    """Write a set of labels as one line of JSON; equal sets give equal lines.

    Examples
    --------
    >>> as_line(as_labels({"b": 2, "a": True}))
    '{"a":true,"b":2}'
    """
    return _LINE.encode(labels)


def _name(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise InputError(f'labels: "{name}" is no name; write for example links[0].buffer')
    if name.lower() in RESERVED:
        raise InputError(f'labels: "{name}" is what the store itself calls a column; choose another name')
    return name


def _value(name: str, value: object) -> Label:
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= LARGEST else str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"labels: {name}: {value} cannot be a label; give a finite number or a text")
        return value + 0.0  # -0.0 and 0.0 are the same label.
    if value is None:
        raise InputError(f"labels: {name}: has no value; leave it out, or give a text")
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        return _value(name, value.item())  # A number of NumPy.
    try:
        return inline_toml(value)
    except TypeError as error:
        raise InputError(f"labels: {name}: {error} cannot be a label; give a text, a number, true or false") from None
