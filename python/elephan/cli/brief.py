"""Short labels of points that differ in tables, such as queues and laws with parameters."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

LONG = 24
"""Number of characters from which a label of a table omits keys that are not needed to distinguish the points."""


def brief(texts: Sequence[str]) -> list[str]:
    """Shorten labels that are tables to their kind and the keys in which they differ.

    Parameters
    ----------
    texts : sequence of str
        Values of one label; tables as a line of TOML.

    Examples
    --------
    >>> brief(['{ discipline = "red", min_th = "5 packets" }', '{ discipline = "red", min_th = "9 packets" }', "codel"])
    ['red, min_th 5 packets', 'red, min_th 9 packets', 'codel']
    """
    tables = [_read(text) for text in texts]
    known = [table for table in tables if table is not None]
    if not known:
        return list(texts)
    keys = list(dict.fromkeys(key for table in known for key in table))
    differ = [key for key in keys if len({str(table.get(key)) for table in known}) > 1]
    names = [key for key in ("discipline", "law", "kind", "name") if key in keys]

    def write(keys: Sequence[str]) -> list[str]:
        return [
            text
            if table is None
            else ", ".join(
                [*(str(table[key]) for key in names if key in table)]
                + [f"{key} {_plain(table[key])}" for key in keys if key in table and key not in names]
            )
            for text, table in zip(texts, tables, strict=True)
        ]

    best = write(differ)
    # Keep only as many keys as are needed to distinguish the points.
    for number in range(len(differ)):
        fewer = write(differ[:number])
        if max(map(len, best)) > LONG and len(set(fewer)) == len(set(texts)) and "" not in fewer:
            return fewer
    return best if len(set(best)) == len(set(texts)) and "" not in best else list(texts)


def _read(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        return dict(tomllib.loads(f"value = {text}")["value"])
    except tomllib.TOMLDecodeError:
        return None


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {_plain(part)}" for key, part in value.items())
    if isinstance(value, list):
        return " ".join(map(_plain, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
