"""Places in a scenario file, such as ``links[0].buffer`` or ``links[core].buffer``, and assignments to them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from elephan.errors import ScenarioError, suggest
from elephan.input_files import inline_toml, parse_toml
from elephan.units import count

_STEP = re.compile(r"(?P<key>[A-Za-z_][\w-]*)(?P<indices>(?:\[[^\[\]]+\])*)(?:\.|$)")

_DOTTED = re.compile(r"\.(\d+)(?=[.\[]|$)")


def usual_place(place: str) -> str:
    """Write a place with its numbers in brackets. Users may write ``links.0``, which needs no quotes in a shell.

    Examples
    --------
    >>> usual_place("links.0.buffer"), usual_place("links[core].schedule.rates.2")
    ('links[0].buffer', 'links[core].schedule.rates[2]')
    """
    return _DOTTED.sub(r"[\1]", place.strip())


def parse_assignments(texts: Iterable[str] | None, **more: object) -> dict[str, object]:
    """Parse assignments, and add values of options that set places.

    Parameters
    ----------
    texts : iterable of str, optional
        As `parse_assignment` takes them.
    **more : object
        Values of options, which replace those of `texts`; None means that the option was not given.

    Returns
    -------
    dict of str to value
        As `Scenario.replace` takes it.

    Raises
    ------
    ScenarioError
        As `parse_assignment`.

    Examples
    --------
    >>> parse_assignments(["seed=3", "duration=9 s"], seed=7, replications=None)
    {'seed': 7, 'duration': '9 s'}
    """
    given = {name: value for name, value in more.items() if value is not None}
    return dict(parse_assignment(text) for text in texts or ()) | given


def parse_assignment(text: str) -> tuple[str, object]:
    """Parse ``place=value`` from a command line.

    Parameters
    ----------
    text : str
        The value is TOML. A value that is not TOML is taken as text, so quotes may be omitted. ``links.0`` is
        ``links[0]``.

    Raises
    ------
    ScenarioError
        If there is no ``=``, or if the value begins like an inline table but is not valid.

    Examples
    --------
    >>> parse_assignment("links[0].buffer=0.1 bdp")
    ('links[0].buffer', '0.1 bdp')
    >>> parse_assignment('flows.0.control={law = "reno"}')
    ('flows[0].control', {'law': 'reno'})
    """
    place, equals, value = text.partition("=")
    if not equals or not place.strip():
        raise ScenarioError(f'--set: "{text}" is not of the form place=value, such as links[0].buffer="0.1 bdp"')
    place = usual_place(place)
    try:
        return place, parse_toml(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        if value.lstrip().startswith("{"):
            end = "" if value.rstrip().endswith("}") else ", which ends with }"
            example = 'queue={ discipline = "red", limit = 100 }'
            raise ScenarioError(
                f"--set {place}: not an inline table of TOML{end} ({error}); write for example {example}"
            ) from None
        return place, value.strip()


def labelled(labels: Mapping[str, object]) -> str:
    """Format the labels that distinguish a point of a sweep.

    Examples
    --------
    >>> labelled({"links[0].buffer": "1 bdp", "seed": 7, "ecn": True})
    'links[0].buffer = 1 bdp, seed = 7, ecn = true'
    >>> labelled({"links[0].queue": {"discipline": "codel", "ecn": True}})
    'links[0].queue = { discipline = "codel", ecn = true }'
    """
    return ", ".join(
        f"{name} = {inline_toml(value) if isinstance(value, bool | dict | list) else value}"
        for name, value in labels.items()
    )


def changed_title(title: str, changes: Mapping[str, object], most: int = 2) -> str:
    """Return a title with the changes of a scenario, because the title of the file describes the unchanged values.

    Parameters
    ----------
    changes : mapping of str to value
        As `parse_assignments` returns them.
    most : int
        Maximum number of changes beside the title.

    Examples
    --------
    >>> changed_title("A buffer of one BDP", {"links[0].buffer": "50 packets"})
    'A buffer of one BDP, but links[0].buffer = 50 packets'
    >>> changed_title("Two flows", {"seed": 1, "links[0].rate": "1 Gbit/s", "flows[0].count": 2, "duration": "9 s"})
    'Two flows, but seed = 1, links[0].rate = 1 Gbit/s and 2 more places set'
    """
    if not changes or "title" in changes:
        return str(changes.get("title", title))
    first = dict(list(changes.items())[:most])
    more = len(changes) - len(first)
    places = f"{count(more, 'more place')} set"
    return f"{title}, but {labelled(first)}{f' and {places}' if more else ''}"


def top_keys(places: Iterable[str]) -> set[str]:
    """Return the top-level keys that places begin with.

    Examples
    --------
    >>> sorted(top_keys(["links[0].buffer", "links[1].rate", "seed"]))
    ['links', 'seed']
    """
    return {step["key"] for place in places if (step := _STEP.match(place))}


SHORT = {"tcp": "profile", "control": "law", "queue": "discipline", "traffic": "kind", "slow_start": "kind"}
"""Key of a table whose value may be written instead of the table: ``tcp = "linux"`` means ``{ profile = "linux" }``."""


def assign(mapping: dict[str, Any], place: str, value: object) -> None:
    """Set a value at a place of a scenario file.

    Parameters
    ----------
    mapping : dict
        The file as TOML gives it; changed in place.
    place : str
        Such as ``links[0].buffer``, ``links.0.buffer`` or ``flows[bulk].control.law``. Missing tables on the way are
        created, and values of `SHORT` are replaced by tables.

    Raises
    ------
    ScenarioError
        If there is no such place.

    Examples
    --------
    >>> file = {"links": [{"name": "core"}]}
    >>> assign(file, "links[core].buffer", "0.1 bdp")
    >>> file["links"]
    [{'name': 'core', 'buffer': '0.1 bdp'}]
    >>> file = {"flows": [{"tcp": "linux"}]}
    >>> assign(file, "flows[0].tcp.receive_window", "none")
    >>> file["flows"]
    [{'tcp': {'profile': 'linux', 'receive_window': 'none'}}]
    """
    steps = _steps(usual_place(place))
    here: Any = mapping
    so_far = ""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if isinstance(step, str) and not step.startswith("["):
            if not isinstance(here, dict):
                names = [one.get("name") for one in here if isinstance(one, dict)] if isinstance(here, list) else []
                right = f"{so_far}[{step}]" if step in names else f"{so_far}[0].{step}"
                instead = f"; write {right}" if isinstance(here, list) else ""
                raise ScenarioError(f"{so_far}: is not a table, so it has no {step}{instead}")
            if not so_far and following is not None and step not in here and step != "record":
                # Of the optional top-level keys, only the table `record` can be created here.
                raise ScenarioError(f"{step}: unknown key; {_known_key(step, here)}")
            so_far = f"{so_far}.{step}" if so_far else step
            key: str | int = step
            if following is not None and step not in here:
                here[step] = {}
            elif isinstance(following, str) and step in SHORT and isinstance(here[step], str):
                here[step] = {SHORT[step]: here[step]}
        else:
            key = _position(here, step, so_far)
            so_far = f"{so_far}[{str(step).strip('[]')}]"
        if following is None:
            here[key] = value
        else:
            here = here[key]


def _steps(place: str) -> list[str | int]:
    """Split ``links[0].buffer`` into ``["links", 0, "buffer"]``; names in brackets stay text."""
    steps: list[str | int] = []
    end = 0
    for match in _STEP.finditer(place):
        if match.start() != end:
            break
        end = match.end()
        steps.append(match["key"])
        steps += [int(i) if i.isdecimal() else f"[{i}]" for i in re.findall(r"\[([^\[\]]+)\]", match["indices"])]
    if end != len(place) or not steps or place.endswith("."):
        raise ScenarioError(f'"{place}" is not a place in a scenario file; write for example links[0].buffer')
    return steps


def _known_key(word: str, table: Mapping[str, object]) -> str:
    """Suggest a top-level table for an unknown name, with the parser's wording."""
    known = dict.fromkeys([*(key for key, value in table.items() if isinstance(value, dict | list)), "record"])
    return suggest(word, known, f"known here: {', '.join(known)}", "`")


def _position(here: object, step: str | int, so_far: str) -> int:
    """Return the index of a list element, given by number or by its name."""
    if not isinstance(here, list):
        raise ScenarioError(f"{so_far}: is not a list, so it has no [{str(step).strip('[]')}]")
    if isinstance(step, int):
        if step < len(here):
            return step
        last = f"{so_far}[{len(here) - 1}]"
        there = f"the last one is {last}" if len(here) > 1 else f"there is one, {last}" if here else "there is none"
        raise ScenarioError(f"{so_far}[{step}]: {there}")
    names = [item.get("name") if isinstance(item, dict) else None for item in here]
    name = step.strip("[]")
    if name in names:
        return names.index(name)
    known = [str(n) for n in names if n]
    hint = suggest(name, known, f"known: {', '.join(known)}")
    raise ScenarioError(f"{so_far}[{name}]: there is none of this name; {hint}")
