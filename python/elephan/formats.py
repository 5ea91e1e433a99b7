"""Version of JSON documents: every document states it, and a document of another version is refused.

What may change between versions is in docs/reference/compatibility.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elephan.errors import InputError

FORMAT = 1
"""Version of documents that are written; raised when a key changes its meaning or is removed, not when one is added."""

KEY = "format"


def stamped(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with its version as the first key.

    Examples
    --------
    >>> stamped({"links": []})
    {'format': 1, 'links': []}
    """
    return {KEY: FORMAT, **document}


def unstamped(document: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Check the version of a document, and return the document without it.

    Parameters
    ----------
    where : str
        Name of the file, for messages.

    Returns
    -------
    dict
        The document as it was before `stamped`.

    Raises
    ------
    InputError
        If the document has no version, or another one than `FORMAT`.

    Examples
    --------
    >>> unstamped({"format": 1, "links": []}, "run.json")
    {'links': []}
    """
    # The document of a run in a store states it in its part "store".
    stating = document if KEY in document else document.get("store")
    if not isinstance(stating, dict) or KEY not in stating:
        raise InputError(f'{where}: has no "{KEY}", which every document of elephan has; write it again')
    version = stating[KEY]
    if not isinstance(version, int) or isinstance(version, bool) or version != FORMAT:
        raise InputError(f"{where}: is of format {version}; this elephan reads {FORMAT}")
    return {key: value for key, value in document.items() if key != KEY}
