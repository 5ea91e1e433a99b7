"""The version of JSON documents: which every one of them states, and how far back and forward they are read.

What may change between versions is in docs/reference/compatibility.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
"""Of documents that are written: it grows when a key changes its meaning or goes, not when one is added."""

KEY = "format"


def stamped(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with its version in front.

    Examples
    --------
    >>> stamped({"links": []})
    {'format': 1, 'links': []}
    """
    return {KEY: FORMAT, **document}


def unstamped(document: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Check the version of a document that was read, and take it off.

    Parameters
    ----------
    where : str
        The file, for the message.

    Returns
    -------
    dict
        As it was before `stamped`; documents from before there was a version are of the first.

    Raises
    ------
    InputError
        If it was written by a newer elephan.

    Examples
    --------
    >>> unstamped({"links": []}, "run.json"), unstamped({"format": 1, "links": []}, "run.json")
    ({'links': []}, {'links': []})
    """
    version = document.get(KEY, 1)
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= FORMAT:
        message = f"{where}: is of format {version}; this elephan reads up to {FORMAT}, take a newer one"
        raise InputError(message)
    return {key: value for key, value in document.items() if key != KEY}
