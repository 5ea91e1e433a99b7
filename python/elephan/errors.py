"""Exceptions: errors of the user's input, and everything else.

An `InputError` reports an error of the caller. Its message is one line that names the place first and says what would
be right. The command line exits with code 2 after an `InputError`; any other exception is a defect of elephan (exit
code 70). For an unknown name the message suggests the nearest known one (`suggest`).
"""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 0.65
"""Minimum similarity at which a word counts as a misspelling: twice the common letters over the letters of both."""

BEGUN = 3
"""Minimum number of letters from which a unique prefix counts as the name."""


class ElephanError(Exception):
    """Base class of all exceptions that elephan raises on purpose."""


class InputError(ElephanError, ValueError):
    r"""Invalid input; the message says where and what would be right.

    Parameters
    ----------
    message : str
        Line breaks in it are replaced by blanks.

    Examples
    --------
    >>> str(InputError("place: what\nis wrong"))
    'place: what is wrong'
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class UnknownNameError(InputError, AttributeError):
    """Unknown name in the catalogue; also an `AttributeError`, for access by attribute."""


class ScenarioError(InputError):
    """Scenario that cannot be read or built."""


class LawError(InputError):
    """Error in a law written in Python; the message names the law, method and line."""


class UnitError(InputError):
    """Quantity without a unit, or with an unsuitable unit."""


class TargetError(InputError):
    """Target that cannot be parsed."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the name that was probably meant.

    Parameters
    ----------
    word : str
    known : iterable of str

    Returns
    -------
    str or None
        The most similar name, the first of several; None if no name is similar enough.

    Examples
    --------
    >>> nearest("siez", ["run", "size"]), nearest("util", ["loss", "utilization"]), nearest("fly", ["run", "size"])
    ('size', 'utilization', None)
    """
    from difflib import get_close_matches  # noqa: PLC0415 (slow to import, and needed only after an error)

    plain = {_bare(name): name for name in reversed(list(known))}
    bare = _bare(word)
    begun = [name for name in plain if name.startswith(bare)] if len(bare) >= BEGUN else []
    found = begun if len(begun) == 1 else get_close_matches(bare, reversed(plain), 3, ALIKE)
    # Swapped letters are the most frequent error, but the similarity does not prefer them.
    found.sort(key=lambda name: sorted(name) != sorted(bare))
    return plain[found[0]] if found else None


def _bare(name: str) -> str:
    """Normalize a name: lower case, without dashes and underscores."""
    return name.lower().replace("-", "").replace("_", "")


def suggest(word: str, known: Iterable[str], otherwise: str | None = None, mark: str = '"') -> str:
    """Suggest the right name in place of an unknown one.

    Parameters
    ----------
    word : str
    known : iterable of str
    otherwise : str, optional
        Text used if no known name is similar; by default, the list of all names.
    mark : str
        Quotation mark on both sides of the name.

    Returns
    -------
    str

    Examples
    --------
    >>> suggest("lwas", ["laws", "queues"]), suggest("birds", ["laws", "queues"])
    ('did you mean "laws"?', 'use laws, queues')
    """
    names = list(known)
    near = nearest(word, names)
    if near is not None:
        return f"did you mean {mark}{near}{mark}?"
    return f"use {', '.join(names)}" if otherwise is None else otherwise


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message about an unknown name, with a suggestion.

    Parameters
    ----------
    what : str
        Kind of the name, such as "law".
    name : str
    known : iterable of str
        All valid names.

    Returns
    -------
    str

    Examples
    --------
    >>> unknown("law", "hihgspeed", ["reno", "highspeed"])
    'unknown law "hihgspeed"; did you mean "highspeed"?'
    >>> unknown("parameter", "x", [])
    'unknown parameter "x"; there is none'
    """
    names = list(known)
    return f'unknown {what} "{name}"; {suggest(name, names, None if names else "there is none")}'


def percent_advice(number: float) -> str:
    """Return the end of a message about a share above 1: how to write it in percent; empty if it is not 1 to 100.

    Examples
    --------
    >>> percent_advice(5.0), percent_advice(500.0)
    (', or below 100 %: write 5%', '')
    """
    return f", or below 100 %: write {number:g}%" if 1 <= number < 100 else ""
