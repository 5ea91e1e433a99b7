"""`elephan.models`: every analytic model as a function of its parameters that returns its table.

>>> from elephan import models
>>> table = models.hstcp(p=[1e-5, 1e-6], rtt="120 ms")
>>> table.columns["closed_packets_per_s"].round().tolist()
[12474.0, 90756.0]

The types for editors' completion are in ``registry.pyi``, which `tools/stubs.py` writes from the models' cards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from elephan.catalog.entry import ParameterizedEntry, Registry, RegistryEntry
from elephan.theory.controls import write
from elephan.theory.models import MODELS
from elephan.theory.models.card import ModelTable

BASE = {"s": " s", "bit/s": " bit/s", "B": " B"}
"""Units that are added to numbers without a unit, by the unit of the parameter."""


def _text(value: Any, unit: str) -> str:
    """Format a parameter for `Model.table`: several values as a list, a number without a unit in the base unit."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return write(value)
    if isinstance(value, RegistryEntry):
        return value.name
    if isinstance(value, (int, float)) or not hasattr(value, "__iter__"):
        return f"{value}{BASE.get(unit, '')}"
    return ",".join(_text(item, unit) for item in value)


def _compute(entry: RegistryEntry, given: dict[str, Any]) -> ModelTable:
    parameters = entry.parameters
    return MODELS[entry.name].table({name: _text(value, parameters[name]["unit"]) for name, value in given.items()})


def _load() -> Iterable[ParameterizedEntry]:
    return [ParameterizedEntry("models", model.to_json(), make=_compute) for model in MODELS.values()]


models = Registry("models", _load)
