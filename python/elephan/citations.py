"""Publications that code and results cite, by key.

Docstrings cite a key; reports print the sentence behind it, which is in ``citations.toml``.
"""

import re
import tomllib
from importlib.resources import files

CITATIONS: dict[str, str] = tomllib.loads(files("elephan").joinpath("citations.toml").read_text(encoding="utf-8"))


def cite(key: str) -> str:
    """Return the publication of a key.

    Raises
    ------
    KeyError
        If there is no such key.

    Examples
    --------
    >>> cite("Villamizar1994")[:13]
    'C. Villamizar'
    """
    return CITATIONS[key]


def short(key: str) -> str:
    """Format the key of a citation for tables.

    Examples
    --------
    >>> short("HassayounRos2008"), short("RFC5166")
    ('Hassayoun and Ros 2008', 'RFC 5166')
    """
    number = re.sub(r"\D", "", key)
    return " ".join([*" and ".join(re.findall("[A-Z]+(?![a-z])|[A-Z][a-z]+", key)).split(), number])
