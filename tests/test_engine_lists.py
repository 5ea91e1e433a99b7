"""Lists of laws and disciplines in Python, compared with what the crates register and declare."""

import re
from pathlib import Path

import pytest

from elephan.catalog import catalog
from elephan.costs.memory import DELIVERIES, DISCIPLINE, EVERY_RTT, FIFO
from elephan.lint.sawtooth import ASKED
from elephan.sizing.caveats import FULL_FIRST, SERVES_IN_TURN

CRATES = Path(__file__).resolve().parent.parent / "crates"


def needing(*needs: str) -> set[str]:
    """Return the laws whose `needs()` has one of `needs`, whatever their parameters.

    A law's variants in folders (`cubic/linux.rs`) have no card of their own and are left out.
    """
    found = set()
    for path in (CRATES / "law" / "src").glob("*.rs"):
        text = path.read_text(encoding="utf-8")
        card = re.search(r'const CARD: Card = Card \{\s*name: "([^"]+)"', text)
        declared = re.search(r"fn needs\(&self\) -> Needs \{\s*Needs \{([^}]*)\}", text)
        if card and declared and any(f"{need}: true" in declared[1] for need in needs):
            found.add(card[1])
    return found


def registered(section: str) -> set[str]:
    """Return the disciplines of a section of the registry."""
    text = (CRATES / "queue" / "src" / "lib.rs").read_text(encoding="utf-8")
    block = re.search(rf"    {section} \{{(.*?)\}}", text, re.DOTALL)
    assert block is not None
    return {name.replace("_", "-") for name in re.findall(r"= (\w+),", block[1])}


def test_laws_that_measure_are_those_whose_needs_say_so() -> None:
    assert needing("deliveries") == DELIVERIES
    assert needing("every_rtt", "deliveries", "headers") == EVERY_RTT


def test_disciplines_that_only_refuse_packets_are_those_registered_as_admissions() -> None:
    assert registered("admissions") == FIFO
    assert registered("admissions") | registered("disciplines") == {card["name"] for card in catalog("queues")}


@pytest.mark.parametrize("listed", [FIFO, DISCIPLINE, FULL_FIRST, SERVES_IN_TURN])
def test_listed_disciplines_exist(listed: frozenset[str] | dict[str, int]) -> None:
    assert set(listed) <= {card["name"] for card in catalog("queues")}


@pytest.mark.parametrize("listed", [EVERY_RTT, DELIVERIES, ASKED])
def test_listed_laws_exist(listed: frozenset[str] | tuple[str, ...]) -> None:
    assert set(listed) <= {card["name"] for card in catalog("laws")}
