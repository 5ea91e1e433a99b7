"""Verbs and hooks that other distributions add through entry points; their modules are imported only when used.

An entry of the group ``elephan.commands`` names a verb, and a function or a `typer.Typer` that runs it. Entries of
``elephan.hooks`` are for distributions of this project: they implement parts of elephan's own verbs.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

from elephan.errors import InputError
from elephan.extras import of_error

COMMANDS = "elephan.commands"
"""Group of entry points whose names are verbs."""

HOOKS = "elephan.hooks"
"""Group of entry points that implement options and pages of elephan's own verbs."""

EVIDENCE = "elephan-evidence"
"""Distribution with the papers, the test cases and the comparisons of models with packets."""


class Verbs(NamedTuple):
    """Verbs of other distributions.

    Parameters
    ----------
    found : dict of str to EntryPoint
        Entry points by verb.
    refused : dict of str to str
        Messages by verb, for verbs that elephan or a second distribution has too.
    """

    found: dict[str, EntryPoint]
    refused: dict[str, str]


def verbs(own: Collection[str]) -> Verbs:
    """Find the verbs of other distributions without importing a module of theirs.

    Parameters
    ----------
    own : collection of str
        Verbs of elephan, which no distribution may replace.
    """
    found: dict[str, EntryPoint] = {}
    refused: dict[str, str] = {}
    for entry in sorted(entry_points(group=COMMANDS), key=source):
        if entry.name in own:
            refused[entry.name] = f"{entry.name}: {source(entry)} adds a verb that elephan has; uninstall it"
        elif entry.name in found:
            both = f"{source(found[entry.name])} and {source(entry)}"
            refused[entry.name] = f"{entry.name}: both {both} add this verb; uninstall one of them"
        else:
            found[entry.name] = entry
    return Verbs({name: entry for name, entry in found.items() if name not in refused}, refused)


def hook(name: str, what: str) -> Any:
    """Import a part of one of elephan's verbs that is in `EVIDENCE`.

    Parameters
    ----------
    name : str
        Name in the group `HOOKS`.
    what : str
        Beginning of the message if the distribution is not installed.

    Raises
    ------
    InputError
        If it is not installed, or cannot be imported.
    """
    for entry in entry_points(group=HOOKS, name=name):
        return load(entry)
    raise InputError(absent(what))


def optional_hook(name: str) -> Any:
    """Import a part of one of elephan's verbs that may be absent; None if no distribution has it."""
    return next((load(entry) for entry in entry_points(group=HOOKS, name=name)), None)


def absent(what: str) -> str:
    """Return the message about something that is in `EVIDENCE`, if that is not installed.

    Examples
    --------
    >>> absent("reproduce:")
    'reproduce: comes with elephan-evidence; pip install elephan-evidence'
    """
    return f"{what} comes with {EVIDENCE}; pip install {EVIDENCE}"


def load(entry: EntryPoint) -> Any:
    """Import the object of an entry point.

    Raises
    ------
    InputError
        If that fails.
    """
    try:
        return entry.load()
    except Exception as error:
        lacking = of_error(error) if isinstance(error, ModuleNotFoundError) else None
        reason = f"{type(error).__name__}: {error}"
        message = f"{entry.name}: {source(entry)} cannot be imported ({reason}); update it or uninstall it"
        raise lacking or InputError(message) from error


def source(entry: EntryPoint) -> str:
    """Return name and version of the distribution of an entry point."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value
