"""Cards of everything that a scenario can name: name, title, source, parameters.

The cards are defined in Rust, beside the code that they describe.
"""

import json
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from elephan import _native
from elephan.errors import InputError, suggest

KINDS: tuple[str, ...] = ("laws", "slow-starts", "recoveries", "queues", "traffic")
"""Kinds of things that a scenario can name."""

KEYS = {"laws": "law", "slow-starts": "kind", "queues": "discipline", "traffic": "kind"}
"""Key of a scenario file's table that holds the name; a recovery has no table, only its name."""


class Need(TypedDict):
    """A condition under which a parameter, or the subject of a card, has an effect.

    ``kind`` is ``is``, ``not`` or ``open`` if the key or parameter ``name`` must have the value ``value``, must have
    another value, or must be left open, so that elephan determines it. Otherwise ``kind`` names a property that the
    network must have. ``text`` is the condition in words.
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
    """Metadata of one law, slow start, recovery, queue or kind of traffic.

    ``needs`` lists the conditions under which it works as intended, ``without`` is its behaviour otherwise. Only lint
    rules have
    ``why``. Only laws have ``remembers`` (growth depends on more than the current window and round-trip times) and
    ``response`` (the citation of the response function of a law that responds to loss alone).
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
    """Describe in a sentence a card's conditions, and its behaviour without them.

    Parameters
    ----------
    card : Card

    Returns
    -------
    str
        Empty if it has no conditions.

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
        raise InputError(f'list: there is no "{kind}"; {suggest(kind, KINDS)}')
    cards: Any = json.loads(_native.catalog(kind))
    return list(cards)
