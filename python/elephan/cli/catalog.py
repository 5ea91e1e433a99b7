"""``elephan list``: cards of everything that a scenario can name, and of all metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from elephan.catalog import KINDS as NATIVE
from elephan.catalog import catalog, needed
from elephan.catalog.elsewhere import HOW_TO_GET, PROGRAM, Elsewhere, as_cards, laws_elsewhere
from elephan.cli import options
from elephan.cli.columns import LINES, wrapped
from elephan.cli.common import print_json, print_lines, print_parts
from elephan.cli.options import argument, option
from elephan.cli.tables import cut_table, text_table, whole_table
from elephan.errors import InputError, suggest
from elephan.input_files import as_text
from elephan.units import count

EXAMPLE = """Example:  elephan list laws
elephan list queues --details"""

_ASKED = {
    "columns": "elephan sweep --columns NAME,NAME[LINK],...; other metrics: elephan list metrics.",
    "metrics": "elephan run (or sweep) --metric NAME; options: --details; columns of tables: elephan list columns.",
}
"""Option that accepts the listed names, by kind."""

LEAST = 5
"""Minimum number of lines of a list, whatever follows it."""

KINDS = "laws, slow-starts, recoveries, queues, traffic, profiles, models, metrics, columns, lints, experiments"


def list_(
    kind: Annotated[str, argument("KIND", f"One of {KINDS}.")],
    details: Annotated[bool, option("--details", "Parameters, other spellings, differences too.")] = False,
    json: options.Json = False,
) -> None:
    """Show what exists: name, title and source; parameters with --details or --json."""
    cards = _cards(kind)
    elsewhere = laws_elsewhere() if kind == "laws" else Elsewhere()
    if json:
        print_json(cards + as_cards(elsewhere))
        return
    below = [*_elsewhere(elsewhere, kind, details=details), *_profiles(kind, details=details)]
    asked = wrapped(_ASKED[kind]) if kind in _ASKED and not details else []
    room = LINES - len(asked) - sum(max(len(wrapped(part)), 1) for part in below if isinstance(part, str))
    print_lines(*_listed(cards, kind, None if details else max(room, LEAST)))
    print_parts(*below)
    print_lines(*asked)
    if details and kind != "columns":
        for card in cards:
            print_parts("", *_details(kind, card))


def _listed(cards: Sequence[dict[str, Any]], kind: str, room: int | None) -> list[str]:
    """A line for each card, or more where titles are long; sources, and all titles, where there is room for them."""
    if kind == "experiments":
        lines = [line for n, group in enumerate(_by_paper(cards).items()) for line in _of_paper(*group, more=n > 0)]
        if room is None or len(lines) <= room:
            return lines
        there = lines[: room - 1]
        left = len(cards) - sum(line.startswith("  ") and not line.startswith("   ") for line in there)
        papers = sum(all(line not in there for line in wrapped(source)) for source in _by_paper(cards))
        of = f", most of {count(papers, 'other paper')}" if papers else ""
        return [*there, f"({left} more{of}: --details)"]
    names = [(card["name"], card["title"], card["source"]) for card in cards]
    heads = ("name", "title", "asked for as" if kind == "columns" else "source")
    full = text_table(heads, names)
    if room is None or len(full) <= room:
        return full
    short = text_table(heads[:2], [row[:2] for row in names])
    if len(short) < room:
        return [*short, "(sources: --details)"]
    return cut_table(heads[:2], [row[:2] for row in names], room, "with titles and sources: --details")


def _by_paper(cards: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Experiments by the paper that they are from."""
    papers: dict[str, list[dict[str, Any]]] = {}
    for card in cards:
        papers.setdefault(card["source"], []).append(card)
    return papers


def _of_paper(source: str, cards: Sequence[dict[str, Any]], *, more: bool) -> list[str]:
    rows = [(f"  {card['name']}", card["title"]) for card in cards]
    return [*([""] if more else []), *wrapped(source), *text_table((), rows)]


def _details(kind: str, card: dict[str, Any]) -> list[Any]:
    """Return everything on a card."""
    if "claims" in card:
        return [f"{card['name']}: {', '.join(card['claims'])}"]
    if "why" in card:
        return [f"{card['name']}: {card['why']}"]
    if "definition" in card:
        return _definition(card)
    if "columns" in card:
        return _model(card)
    if kind == "profiles":
        return _profile(card)
    rows = [[p["name"], as_text(p["default"]), p["unit"], p["meaning"]] for p in card["parameters"]]
    table = whole_table(["parameter", "default", "unit", "meaning"], rows, [False, True, False, False])
    also = f"Also called {', '.join(card['aliases'])}." if card["aliases"] else ""
    others = ", ".join(f"{other} for {name}" for other, name in card["spellings"].items())
    spelt = f"Other spellings: {others}." if others else ""
    notes = " ".join(text for text in (also, spelt, needed(card), card["differs"]) if text)
    return [f"{card['name']}: {card['title']}", *([table] if rows else []), *([notes] if notes else [])]


def _elsewhere(found: Elsewhere, kind: str, *, details: bool) -> list[Any]:
    """Return the entries that other programs run, or with details how to get them."""
    if kind != "laws":
        return []
    if not found.cards:
        said = found.problem or (HOW_TO_GET if details else "")
        return ["", said] if said else []
    title = f"By {PROGRAM} {found.version}: {PROGRAM} run SCENARIO --law NAME"
    heads = ["name", "version", "title", "source"]
    table = whole_table(heads, [[card[head] for head in heads] for card in found.cards], [False] * 4)
    lines = [f"{card['name']} ({card['package']}): {card['differs']}" for card in found.cards] if details else []
    return ["", title, table, *lines]


def _profiles(kind: str, *, details: bool) -> list[Any]:
    """Return remarks on the limits of profiles, and on how to see their values."""
    if kind != "profiles":
        return []
    from elephan.profiles import NOT_MODELLED  # noqa: PLC0415 (with the engine; start-up does without)

    hint = [] if details else ["Each value with its file and function in Linux: --details."]
    return ["", f"Not modelled: {NOT_MODELLED}.", *hint]


def _profile(card: dict[str, Any]) -> list[Any]:
    """Return each value of a profile with its source."""
    rows = [[row["name"], as_text(row["default"]), row["source"]] for row in card["parameters"]]
    table = whole_table(["key", "value", "source"], rows, [False] * 3)
    differs = [card["differs"]] if card["differs"] else []
    return [f"{card['name']}: {card['title']}. Source: {card['source']}.", table, *differs]


def _cards(kind: str) -> list[Any]:
    """Return the cards of a kind, from the package that defines them."""
    if kind in NATIVE:
        return list(catalog(kind))
    if kind == "profiles":
        from elephan.profiles import profiles  # noqa: PLC0415 (the engine; start-up does without)

        return profiles()
    if kind == "lints":
        from elephan import lint  # noqa: PLC0415 (a dozen modules; start-up does without)

        return list(lint.cards())
    if kind == "models":
        from elephan.theory.models import MODELS  # noqa: PLC0415 (NumPy; start-up does without)

        return [model.to_json() for model in MODELS.values()]
    if kind == "metrics":
        from elephan import metrics  # noqa: PLC0415 (NumPy; start-up does without)

        return metrics.cards()
    if kind == "columns":
        from elephan.sweeps.columns import cards  # noqa: PLC0415 (NumPy; start-up does without)

        return cards()
    if kind == "experiments":
        from elephan.plugins import hook  # noqa: PLC0415 (reads the metadata of all packages; start-up does without)

        return list(hook("list.experiments", "list experiments:")())
    raise InputError(f'list: there is no "{kind}"; {suggest(kind, KINDS.split(", "))}')


def _definition(card: dict[str, Any]) -> list[str]:
    """Return a metric's definition, its place in results, and the function that computes it."""
    lines = [f"{card['name']} [{card['unit'] or '1'}]: {card['definition']}"]
    lines += [f"  option {p['name']} = {p['default']}: {p['meaning']}" for p in card["parameters"]]
    return [*lines, f"  {card['found']}; {card['function']}" if card["found"] else f"  {card['function']}"]


def _model(card: dict[str, Any]) -> list[Any]:
    """Return a model's output, inputs and limits."""
    inputs = [
        [p["name"], p["default"].replace(",", ", "), p["unit"].replace("1", "-") or "word", p["meaning"]]
        for p in card["parameters"]
    ]
    outputs = [[c["name"], c["unit"].replace("1", "-") or "word", c["meaning"]] for c in card["columns"]]
    link = "Also for a link of a scenario: --scenario FILE." if card["reads_links"] else ""
    return [
        f"{card['name']}: {card['title']}",
        " ".join(text for text in (card["says"], link, card["citation"]) if text),
        whole_table(["parameter", "default", "unit", "meaning"], inputs, [False] * 4),
        whole_table(["column", "unit", "meaning"], outputs, [False] * 3),
        *(f"* {line}" for line in card["fails"]),
    ]
