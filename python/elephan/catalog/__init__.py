"""Cards of everything that exists: name, title, source, parameters.

The cards themselves stand beside what they describe, in Rust.
"""

import json
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from elephan import _native
from elephan.errors import InputError, suggest

KINDS: tuple[str, ...] = ("laws", "slow-starts", "recoveries", "queues", "traffic")
"""Kinds of things that a scenario can name."""

KEYS = {"laws": "law", "slow-starts": "kind", "queues": "discipline", "traffic": "kind"}
"""Where the name stands in a scenario file's table; a recovery is its name alone."""


class Need(TypedDict):
    """One thing that a parameter, or what a card describes, needs to have an effect.

    ``kind`` is ``is``, ``not`` or ``open`` where another key or parameter called ``name`` must have a ``value``, have
    another, or be left to be found; otherwise it names what the network must have. ``text`` says it for people.
    """

    kind: str
    name: str
    value: str
    text: str


class CardParameter(TypedDict):
    """One parameter of a card."""

    name: str
    default: bool | float | str | list[list[float]]
    unit: str
    meaning: str
    needs: list[Need]


class Card(TypedDict):
    """What is known about one law, slow start, recovery, queue or kind of traffic.

    ``needs`` is what it needs to do what it is for, ``without`` what it behaves as where that is not there. ``why`` is
    a lint rule's. A law's are ``remembers`` (growth depends on more than the window and the round-trip times of the
    moment) and ``response`` (the citation of its response function, if it answers loss alone).
    """

    name: str
    title: str
    source: str
    parameters: list[CardParameter]
    aliases: list[str]
    differs: str
    spellings: dict[str, str]
    needs: list[Need]
    without: str
    why: NotRequired[str]
    remembers: NotRequired[bool]
    response: NotRequired[str | None]


def needed(card: Mapping[str, Any]) -> str:
    """Say in a sentence what a card needs, and what it behaves as without.

    Parameters
    ----------
    card : Card

    Returns
    -------
    str
        Empty if it needs nothing.

    Examples
    --------
    >>> needed(next(card for card in catalog("laws") if card["name"] == "dctcp"))
    'Needs a queue on the path that marks; behaves as reno without.'
    """
    needs = ", and ".join(need["text"] for need in card["needs"])
    without = f"; behaves as {card['without']} without" if card["without"] else ""
    return f"Needs {needs}{without}." if needs else ""


def catalog(kind: str) -> list[Card]:
    """Return the cards of a kind, in the registry's order.

    Parameters
    ----------
    kind : str
        One of `KINDS`.

    Returns
    -------
    list of Card

    Raises
    ------
    InputError
        If there is no such kind.

    Examples
    --------
    >>> [card["name"] for card in catalog("recoveries")]
    ['tahoe', 'reno', 'newreno', 'sack', 'prr', 'rack']
    """
    if kind not in KINDS:
        message = f'list: there is no "{kind}"; {suggest(kind, KINDS)}'
        raise InputError(message)
    cards: Any = json.loads(_native.catalog(kind))
    return list(cards)
