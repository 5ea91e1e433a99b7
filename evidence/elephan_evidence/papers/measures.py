"""The measures of a paper by name, and the syntax of calls in its data: ``utilization share=0.1 law='reno'``."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from elephan.input_files import parse_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from elephan_evidence.papers.measured import Found

Measure = TypeVar("Measure", bound="Callable[..., Found]")

_ARGUMENT = re.compile(r"""\s*([a-z_][a-z_0-9]*)=('[^']*'|"[^"]*"|\[[^\]]*\]|[^\s'"\[]+)""")


class MeasureRegistry:
    """Functions by which claims are judged; each takes the runs and keyword arguments.

    Examples
    --------
    >>> measures = MeasureRegistry()
    >>> @measures
    ... def product(runs, *, rate, rtt=0.1):
    ...     return rate * rtt
    >>> measures("product rate=4000", None)
    400.0
    """

    def __init__(self) -> None:
        self._named: dict[str, Callable[..., Found]] = {}

    @overload
    def __call__(self, named: Measure) -> Measure: ...

    @overload
    def __call__(self, named: str, runs: object) -> Any: ...

    def __call__(self, named: Any, runs: object = None) -> Any:
        """Register a function, or evaluate a measure given as text.

        Raises
        ------
        ValueError
            If the text cannot be parsed or names an unknown measure.
        """
        if callable(named):
            self._named[named.__name__] = named
            return named
        name, arguments = parse(named)
        if name not in self._named:
            message = f"{named!r}: no measure {name!r}; there are {', '.join(self._named)}"
            raise ValueError(message)
        found = self._named[name](runs, **arguments)
        return found.item() if isinstance(found, np.generic) else found

    def __contains__(self, name: object) -> bool:
        return name in self._named

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def update(self, other: MeasureRegistry) -> None:
        """Add another file's measures."""
        self._named.update(other._named)


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Parse a measure and its arguments.

    Returns
    -------
    tuple of str and dict
        Name and arguments; values are parsed as TOML, a bare word is text.

    Raises
    ------
    ValueError
        If it cannot be parsed.

    Examples
    --------
    >>> parse("cell case=1 delay='25 ms' which=util")
    ('cell', {'case': 1, 'delay': '25 ms', 'which': 'util'})
    """
    name, _, rest = text.strip().partition(" ")
    arguments, at = {}, 0
    while at < len(rest.rstrip()):
        found = _ARGUMENT.match(rest, at)
        if found is None:
            message = f"{text!r}: cannot read {rest[at:].strip()!r}; arguments are key=value, text in quotes"
            raise ValueError(message)
        arguments[found[1]] = _value(found[2])
        at = found.end()
    return name, arguments


def _value(text: str) -> Any:
    try:
        return parse_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
