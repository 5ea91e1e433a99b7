"""``elephan list``: cards of everything that a scenario can name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from elephan.cli.common import JsonOption, as_text, new_table, print_json, print_tables
from elephan.errors import InputError

if TYPE_CHECKING:
    from elephan.catalog import Card

EXAMPLE = "Example:  elephan list laws"

KINDS = "laws, slow-starts, recoveries, queues, traffic, lints"


def list_(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of {KINDS}.")],
    details: Annotated[bool, typer.Option("--details", help="Parameters, other spellings, differences too.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what exists: name, title and source; parameters with --details or --json."""
    cards = _cards(kind)
    if json:
        print_json(cards)
        return
    table = new_table("name", "title", "source")
    for column in table.columns[1:]:
        column.justify = "left"
    for card in cards:
        table.add_row(card["name"], card["title"], card["source"])
    print_tables(table)
    if not details:
        return
    for card in cards:
        if "why" in card:
            print_tables(f"{card['name']}: {card['why']}", "")
            continue
        rows = new_table("parameter", "default", "unit", "meaning", title=f"{card['name']}: {card['title']}")
        rows.columns[2].justify = rows.columns[3].justify = "left"
        for parameter in card["parameters"]:
            rows.add_row(parameter["name"], as_text(parameter["default"]), parameter["unit"], parameter["meaning"])
        also = f"Also called {', '.join(card['aliases'])}." if card["aliases"] else ""
        others = ", ".join(f"{other} for {name}" for other, name in card["spellings"].items())
        spelt = f"Other spellings: {others}." if others else ""
        print_tables(rows, " ".join(text for text in (also, spelt, card["differs"]) if text), "")


def _cards(kind: str) -> list[Card]:
    """Cards of a kind, from the room that has them; --help does without the extension."""
    from elephan.catalog import KINDS as NATIVE  # noqa: PLC0415
    from elephan.catalog import catalog  # noqa: PLC0415

    if kind in NATIVE:
        return catalog(kind)
    if kind == "lints":
        from elephan.lint import cards  # noqa: PLC0415

        return cards()
    message = f'list: there is no "{kind}"; use {KINDS}'
    raise InputError(message)
