"""The measures of traces by name, and the syntax with which cases call them: ``at_exit state=Startup gauge=bw``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from elephan_evidence.papers.measures import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from elephan_evidence.conform.lawtrace import LawTrace

Found = float | bool | None
"""Value of a measure; None if the measured event did not occur."""

Measure = TypeVar("Measure", bound="Callable[..., Found]")


class TraceMeasures:
    """Functions by which observations are judged; each takes a trace and keyword arguments."""

    def __init__(self) -> None:
        self._named: dict[str, Callable[..., Found]] = {}

    def __call__(self, measure: Measure) -> Measure:
        """Register a function."""
        self._named[measure.__name__] = measure
        return measure

    def __contains__(self, name: object) -> bool:
        return name in self._named

    def update(self, other: TraceMeasures) -> None:
        """Add another file's measures."""
        self._named.update(other._named)

    def of(self, text: str, trace: LawTrace) -> Found:
        """Evaluate a measure given as text.

        Raises
        ------
        ValueError
            If the text cannot be parsed or names an unknown measure.
        """
        name, arguments = parse(text)
        if name not in self._named:
            message = f"{text!r}: no measure {name!r}; there are {', '.join(self._named)}"
            raise ValueError(message)
        return self._named[name](trace, **arguments)
