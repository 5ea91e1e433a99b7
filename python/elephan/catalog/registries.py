"""Registries of everything that a scenario can name.

The types for editors' completion are in ``registries.pyi``, which `tools/stubs.py` writes from the same cards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from elephan.catalog import KEYS, catalog
from elephan.catalog.entry import ParameterizedEntry, Registry, RegistryEntry

ALSO: dict[str, Mapping[str, str]] = {
    "laws": {"slow_start": "Slow start of the law: a name, or an entry of `elephan.slow_starts`; classic by default."},
    "queues": {
        "limit": "Buffer, if the link itself states none.",
        "profile": 'Defaults of the parameters that are not given: "linux" for those of Linux.',
    },
}
"""Keys that a table accepts in addition to the parameters of the card."""


def _table(key: str, entry: RegistryEntry, given: dict[str, Any]) -> dict[str, Any]:
    return {key: entry.name, **{name: plain(value) for name, value in given.items()}}


def _name(entry: RegistryEntry, _: dict[str, Any]) -> str:
    return entry.name


def plain(value: Any) -> Any:
    """Return the name of an entry that was not called, as scenario files write it; return anything else unchanged.

    Examples
    --------
    >>> plain(queues.codel), plain("50 packets")
    ('codel', '50 packets')
    """
    return value.name if isinstance(value, ParameterizedEntry) else value


def _registry(kind: str) -> Registry[ParameterizedEntry]:
    make: Callable[[RegistryEntry, dict[str, Any]], Any] = partial(_table, KEYS[kind]) if kind in KEYS else _name

    def load() -> Iterable[ParameterizedEntry]:
        return [ParameterizedEntry(kind, card, ALSO.get(kind, {}), make) for card in catalog(kind)]

    return Registry(kind, load)


laws = _registry("laws")
slow_starts = _registry("slow-starts")
recoveries = _registry("recoveries")
queues = _registry("queues")
traffic = _registry("traffic")
