"""Commented scenario files to start from, one TOML file each; complete scenarios are in ``examples``.

``$names`` in a file are replaced by the choices; lines between ``#: for each hop`` and ``#: end`` are repeated, with
``$i`` for the number of the hop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

from elephan.errors import InputError, UnitError, suggest
from elephan.units import bits_per_second

DEFAULTS: dict[str, dict[str, str | int]] = {
    "dumbbell": {"rate": "100 Mbit/s", "rtt": "80 ms", "flows": 10, "buffer": "0.5 bdp"},
    "two-way": {"rate": "100 Mbit/s", "rtt": "80 ms", "flows": 5, "buffer": "0.5 bdp"},
    "parking-lot": {"rate": "100 Mbit/s", "flows": 2, "hops": 3, "buffer": "250 packets"},
    "two-hops": {"rate": "1 Gbit/s", "flows": 2, "buffer": "500 packets"},
    "web": {"rate": "1 Gbit/s", "flows": 5, "buffer": "5000 packets"},
    "rrul": {"rate": "50 Mbit/s", "rtt": "40 ms", "flows": 4, "buffer": "1000 packets"},
    "bufferbloat": {"rate": "10 Mbit/s", "rtt": "30 ms", "flows": 1, "buffer": "1000 packets"},
    "sawtooth": {"rate": "10 Mbit/s", "rtt": "100 ms", "flows": 1, "buffer": "1 bdp"},
    "rtt-fair": {"rate": "100 Mbit/s", "flows": 1, "buffer": "0.25 bdp"},
}
"""Choices of each kind of template, with their defaults."""


def examples() -> dict[str, str]:
    """Return the complete scenarios that come with elephan, and the sweeps over them.

    Returns
    -------
    dict of str to str
        Titles by name, such as ``"hstcp-1g"`` or ``"transit-mix"``.

    Examples
    --------
    >>> examples()["hstcp-1g"]
    'Ten HighSpeed flows on 1 Gbit/s, 120 ms'
    """
    titles = ((path.stem, _TITLE.search(path.read_text(encoding="utf-8"))) for path in _example_files())
    return {name: title[1] if title else "" for name, title in titles}


def example_path(name: str) -> Path:
    """Return the path of a scenario file that comes with elephan.

    Parameters
    ----------
    name : str
        One of `examples`.

    Raises
    ------
    InputError
        If there is no scenario of this name.
    """
    paths = {path.stem: path for path in _example_files()}
    if name not in paths:
        there = f"there are {', '.join(paths)}"
        raise InputError(f'there is no scenario "{name}"; {suggest(name, paths, there)}')
    return paths[name]


def _example_files() -> list[Path]:
    """List the scenario files, those of operators' questions last; sweeps, which need their base file, are left out."""
    folder = Path(str(files("elephan") / "examples"))
    found = [*sorted(folder.glob("*.toml")), *sorted((folder / "operators").glob("*.toml"))]
    return [path for path in found if _BASE.search(path.read_text(encoding="utf-8")) is None]


USERS_PER_BPS, FEWEST_USERS, MOST_USERS = 5e-7, 10, 5000
"""Web users per bit/s (500 ask for half of 1 Gbit/s), the fewest that mix, and the most, to keep a run short."""


def _users(rate: str) -> int:
    """Return the number of users who ask for about half of a link, rounded to two digits."""
    try:
        wanted = USERS_PER_BPS * bits_per_second(rate)
    except UnitError as error:
        raise InputError(f"--rate: {error}") from None
    return int(min(max(float(f"{wanted:.2g}"), FEWEST_USERS), MOST_USERS))


_BASE = re.compile(r"^base\s*=", re.MULTILINE)
_TITLE = re.compile(r'^title\s*=\s*"(.*)"', re.MULTILINE)
_EACH_HOP = re.compile(r"^#: for each hop\n(.*?)^#: end\n", re.MULTILINE | re.DOTALL)


def template(kind: str, choices: Mapping[str, str | int | None]) -> str:
    """Return the text of a scenario file.

    Parameters
    ----------
    kind : str
        One of `DEFAULTS`.
    choices : mapping of str to str, int or None
        What the file should hold for ``rate``, ``rtt``, ``buffer`` (texts with their units), ``flows`` and ``hops``
        (numbers); None means the default.

    Returns
    -------
    str
        TOML with comments.

    Raises
    ------
    InputError
        If there is no such kind, or the kind does not have one of the choices.

    Examples
    --------
    >>> text = template("dumbbell", {"rate": "2.5 Gbit/s", "flows": None})
    >>> [line for line in text.splitlines() if line.startswith(("rate", "count"))]
    ['rate   = "2.5 Gbit/s"', 'count    = 10']
    """
    if kind not in DEFAULTS:
        hint = suggest(kind, DEFAULTS, f"kinds: {', '.join(DEFAULTS)}")
        raise InputError(f'there is no kind "{kind}"; {hint}')
    chosen = {name: value for name, value in choices.items() if value is not None}
    for name, value in chosen.items():
        if name not in DEFAULTS[kind]:
            known = ", ".join(f"--{known}" for known in DEFAULTS[kind])
            raise InputError(f"--{name}: {kind} has no such choice; it has {known}")
        if isinstance(value, str) and (not value.isprintable() or '"' in value or "\\" in value):
            raise InputError(f"--{name}: must be a number with its unit, such as {DEFAULTS[kind][name]}")
    words = DEFAULTS[kind] | chosen
    if kind == "web":
        words["users"] = _users(str(words["rate"]))
    numbers = range(1, int(words.get("hops", 0)) + 1)
    raw = files("elephan.templates").joinpath(f"{kind}.toml").read_text(encoding="utf-8")
    whole = _EACH_HOP.sub(lambda part: "".join(part[1].replace("$i", str(i)) for i in numbers), raw)
    path = ", ".join(f'"hop{i}"' for i in numbers)
    return Template(whole).substitute(words, path=path)
