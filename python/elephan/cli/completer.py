"""Tab completion. Shells run this file directly; it uses the standard library only, so that it answers quickly.

    python -I -S completer.py SHELL WORD…       words after `elephan`, the last one as far as it is typed
    python -I -S completer.py bash POINT LINE   the same of a line that bash has not split

What there is to offer comes in as JSON on standard input: see `elephan.cli.completion`, which makes it.
"""

from __future__ import annotations

import json
import os
import re
import sys

TYPE_CHECKING = False
"""Replacement for `typing.TYPE_CHECKING`: importing `typing` takes longer than everything else."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

Offer = tuple[str, str]
"""A word and its description."""


def offers(table: dict[str, Any], words: Sequence[str]) -> list[Offer]:
    """List the completions of the last word.

    Parameters
    ----------
    table : dict
        As `elephan.cli.completion.table` makes it.
    words : sequence of str
        Those after the program's name, the last one as far as it is typed.

    Examples
    --------
    >>> table = {"verbs": {"run": {"help": "Run it.", "options": [], "arguments": []}}}
    >>> offers(table, ["r"])
    [('run', 'Run it.')]
    """
    *before, typed = words or [""]
    verb, rest = table, list(before)
    while "verbs" in verb:
        name = next((word for word in rest if not word.startswith("-")), None)
        if name is None:
            found = [(name, each["help"]) for name, each in verb["verbs"].items()]
            return _begun(typed, found if not typed.startswith("-") else _options(verb, rest))
        if name not in verb["verbs"]:
            return []
        rest = rest[rest.index(name) + 1 :]
        verb = verb["verbs"][name]
    source, plain = _expected(verb, rest)
    if source is not None:
        return _of(source, typed, table, plain)
    if typed.startswith("-"):
        return _begun(typed, _options(verb, rest))
    sources = verb["arguments"]
    if len(plain) < len(sources):
        return _of(sources[len(plain)], typed, table, plain, _after("--store", rest))
    if sources and verb.get("more"):
        return _of(sources[-1], typed, table, plain)
    return _begun(typed, _options(verb, rest))


def _begun(typed: str, found: Iterable[Offer]) -> list[Offer]:
    return [offer for offer in found if offer[0].startswith(typed)]


def _options(verb: dict[str, Any], given: Sequence[str]) -> list[Offer]:
    """Return the options that can still be given, by their long names."""
    free = [option for option in verb.get("options", []) if option["more"] or not set(option["names"]) & set(given)]
    return [(max(option["names"], key=len), option["help"]) for option in free]


def _expected(verb: dict[str, Any], words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the kind of value that the next word is, if an option needs one; and the words that are not options."""
    values = {name: option["value"] for option in verb["options"] for name in option["names"]}
    plain: list[str] = []
    waiting: str | None = None
    for word in words:
        if waiting is not None:
            waiting = None
        elif values.get(word) is not None:
            waiting = values[word]
        elif not word.startswith("-"):
            plain.append(word)
    return waiting, plain


def _after(option: str, words: Sequence[str]) -> str:
    """Return the value of an option on the line; empty if it is missing."""
    at = [i for i, word in enumerate(words[:-1]) if word == option]
    return words[at[-1] + 1] if at else ""


def _of(source: str, typed: str, table: dict[str, Any], plain: Sequence[str], store: str = "") -> list[Offer]:
    """List the words of a kind: ``names laws``, ``several laws``, ``assigned targets``, files, places, links."""
    kind, _, which = source.partition(" ")
    if kind in ("toml", "file", "folder"):
        return list(_paths(typed, kind))
    names: dict[str, str] = table.get("names", {}).get(which, {})
    found: Iterable[Offer] = ()
    if kind == "names":
        found = names.items()
    elif kind == "several":
        done, comma, _ = typed.rpartition(",")
        given = done.split(",")
        found = ((f"{done}{comma}{name}", about) for name, about in names.items() if name not in given)
    elif kind in ("assigned", "parameters"):
        assigned = names if kind == "assigned" else table["parameters"].get(_first(plain), {})
        found = ((f"{name}=", about) for name, about in assigned.items())
    elif kind == "places":
        found = _places(typed, table, _first(plain))
    elif kind == "links":
        found = ((name, "") for name in _names(_scenario(_first(plain)), "links"))
    elif kind == "runs":
        found = ((name, "") for name in _runs(store))
    return _begun(typed, found)


def _first(words: Sequence[str]) -> str:
    return words[0] if words else ""


def _paths(typed: str, kind: str) -> Iterator[Offer]:
    """Yield folders, and files if wanted; hidden ones only after a dot was typed."""
    shown, name = os.path.split(typed)
    folder = os.path.expanduser(shown) or "."  # noqa: PTH111 (a Path loses what was typed, and takes time to import)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(name) or (entry.name.startswith(".") and not name.startswith(".")):
            continue
        whole = typed[: len(typed) - len(name)] + entry.name
        if entry.is_dir():
            yield f"{whole}/", ""
        elif kind == "file" or (kind == "toml" and entry.name.endswith(".toml")):
            yield whole, ""


def _scenario(path: str) -> dict[str, Any]:
    """Return the file on the command line; empty if there is none, or it is not TOML."""
    import tomllib  # noqa: PLC0415 (only places and links need it)

    try:
        with open(os.path.expanduser(path), "rb") as file:  # noqa: PTH111, PTH123 (as above)
            found = tomllib.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    base = found.get("base")
    if isinstance(base, dict):
        return base
    # A sweep: its places are those of the scenario that it varies.
    return _scenario(os.path.join(os.path.dirname(path), base)) if isinstance(base, str) and base != path else found  # noqa: PTH118, PTH120


def _names(scenario: dict[str, Any], kind: str) -> list[str]:
    """Return the names of links or groups; numbers for those without."""
    tables = scenario.get(kind, [])
    listed = tables if isinstance(tables, list) else []
    return [str(each.get("name", i)) for i, each in enumerate(listed) if isinstance(each, dict)]


def _places(typed: str, table: dict[str, Any], path: str) -> Iterator[Offer]:
    """Yield places of a scenario step by step: keys and ``links[core].``, then the link's keys, then named values."""
    keys: dict[str, dict[str, str]] = table["keys"]
    place, equals, _ = typed.partition("=")
    if equals:
        named = table["values"].get(re.split(r"[.\]]", place)[-1])
        yield from ((f"{place}={name}", about) for name, about in table["names"].get(named, {}).items())
        return
    match = re.match(r"(pools|links|flows)\[([^\[\]]*)\]\.(?:(\w+)\.)?", typed)
    if match is not None:
        inner = _inner(match, table, path) if match[3] else keys[match[1]]
        yield from ((f"{match[0]}{key}=", about) for key, about in inner.items())
        yield from ((f"{match[0]}{key}.", "") for key in inner if not match[3] and key in ("tcp", "queue", "control"))
    elif typed.startswith("record."):
        yield from ((f"record.{key}=", about) for key, about in keys["record"].items())
    else:
        yield from (
            (f"{key}=", about) for key, about in keys[""].items() if key not in ("pools", "links", "flows", "record")
        )
        scenario = _scenario(path)
        yield from ((f"{kind}[{name}].", "") for kind in ("pools", "links", "flows") for name in _names(scenario, kind))
        yield "record.", "What is recorded"


def _inner(match: re.Match[str], table: dict[str, Any], path: str) -> dict[str, str]:
    """Return the keys of ``tcp``, or the parameters of the queue or law that the file has there."""
    kind, name, key = match.groups()
    if key == "tcp":
        return dict(table["keys"]["tcp"])
    each: dict[str, Any] = next(
        (t for i, t in enumerate(_scenario(path).get(kind, [])) if name in (t.get("name"), str(i))), {}
    )
    choice = each.get(key, {})
    if isinstance(choice, dict):
        choice = choice.get("discipline" if key == "queue" else "law", "")
    asked = f"{key} {choice}"
    return dict(table["parameters"].get(table["aliases"].get(asked, asked), {}))


def _runs(store: str) -> list[str]:
    """Return shortened ids of the runs in a store, or in the default one, long enough to be unique."""
    root = f"{os.path.expanduser(store) or os.environ.get('ELEPHAN_STORE') or '.elephan'}/runs"  # noqa: PTH111 (as above)
    try:
        return sorted(run.name[:12] for shelf in os.scandir(root) if shelf.is_dir() for run in os.scandir(shelf))
    except OSError:
        return []


def split(line: str) -> list[str]:
    """Split a line into words as a shell does; the last one is being typed, and may be empty.

    Examples
    --------
    >>> split("elephan run 'my file.toml' "), split('elephan run "my fi')
    (['elephan', 'run', 'my file.toml', ''], ['elephan', 'run', 'my fi'])
    """
    words, quote, word = [], "", None
    letters = iter(line)
    for letter in letters:
        if letter == "\\" and quote != "'":
            word = (word or "") + next(letters, "")
        elif quote:
            word, quote = (word, "") if letter == quote else ((word or "") + letter, quote)
        elif letter in "'\"":
            word, quote = word or "", letter
        elif not letter.isspace():
            word = (word or "") + letter
        elif word is not None:
            words.append(word)
            word = None
    return [*words, word or ""]


def for_bash(table: dict[str, Any], line: str) -> list[str]:
    """Return completions for bash, which replaces only the part after the last ``=`` or ``:``.

    Parameters
    ----------
    line : str
        Up to where the cursor is.
    """
    words = split(line)[1:]
    behind = max(words[-1].rfind("="), words[-1].rfind(":")) + 1 if words else 0
    return [re.sub(r"([^\w@%+=:,./\[\]~*-])", r"\\\1", word[behind:]) for word, _ in offers(table, words)]


def main(arguments: Sequence[str]) -> None:
    """Print the completions, one per line; for zsh and fish with a description after a tab."""
    shell, *words = arguments
    table = json.load(sys.stdin)
    if shell == "bash":
        point, line = words
        lines = for_bash(table, line[: int(point)])
    else:
        lines = [f"{word}\t{about}" if about else word for word, about in offers(table, words)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main(sys.argv[1:])
