"""The second paper's simulator, as inferred: one setting for all six tables, which moves nothing but what it declares."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from elephan.papers import Paper
from elephan.papers.experiments import sweep_of

PAPER = Paper.read("ghstcp-gared")
TABLES = (1, 2, 3, 4, 5, 6)
CUT = ("flows[1].control.high_decrease", 0.1, 0.2)
UDP = ("flows[2].traffic.rate", "50 Mbit/s", "60 Mbit/s")
SPACING = ("links[0].queue.count", "wait", "classic")
FIRST_MAX_P = ("links[0].queue.max_p", 0.1, 0.001)


def different(one: Any, other: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """What differs between two documents, place by place."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from different(one.get(key), other.get(key), f"{place}.{key}" if place else key)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, pair in enumerate(zip(one, other, strict=True)):
            yield from different(*pair, f"{place}[{i}]")
    elif one != other:
        yield place, one, other


@pytest.mark.parametrize("table", TABLES)
def test_profile_has_the_tables_cells_and_changes_only_what_it_declares(table: int) -> None:
    tables, profile = (
        sweep_of(PAPER.experiments[name], quick=False).points() for name in (f"table{table}", f"profile-table{table}")
    )
    assert [point.labels for point in profile] == [point.labels for point in tables]
    for exact, inferred in zip(tables, profile, strict=True):
        found = set(different(json.loads(exact.scenario.canonical), json.loads(inferred.scenario.canonical)))
        declared = {UDP}
        declared |= {CUT} if exact.labels["case"] != "1 Reno, Reno" else set()
        declared |= {SPACING} if table > 2 else set()
        declared |= {FIRST_MAX_P} if table == 6 else set()
        assert {each for each in found if each[0] != "title"} == declared
