"""Cards of all metrics: name, title, unit, one sentence, source, and the function that computes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from elephan.citations import cite, short
from elephan.metrics.quantity import path, places

DISTRIBUTION = "distribution"
"""Name of the metric that is a curve; results contain histograms for it."""

F = TypeVar("F", bound="Callable[..., Any]")


@dataclass(frozen=True)
class Metric:
    """A metric.

    Parameters
    ----------
    name : str
    title : str
    unit : str
        Empty for a ratio.
    definition : str
        One sentence.
    source : str
        Key of the citation.
    function : callable
        Computes it from arrays.
    meanings : dict of str to str
        Meanings of the function's options.
    """

    name: str
    title: str
    unit: str
    definition: str
    source: str
    function: Callable[..., Any]
    meanings: dict[str, str]

    @property
    def found(self) -> str:
        """Place of the metric in results; empty for metrics that are only computed on request."""
        if self.name == DISTRIBUTION:
            return "histograms of an outcome"
        kept = places(self.name)
        keys = dict.fromkeys(path(quantity) for _, quantities in kept for quantity in quantities)
        return f"{', '.join(part for part, _ in kept)}: {', '.join(keys)}" if kept else ""

    def to_json(self) -> dict[str, Any]:
        """Return the card in the form of ``elephan list metrics --json``.

        Returns
        -------
        dict

        Examples
        --------
        >>> from elephan.metrics import METRICS
        >>> METRICS["jain"].to_json()["function"]
        'elephan.metrics.jain'
        """
        known = inspect.signature(self.function).parameters
        return {
            "name": self.name,
            "title": self.title,
            "source": short(self.source),
            "parameters": [
                {"name": name, "default": known[name].default, "unit": "", "meaning": meaning}
                for name, meaning in self.meanings.items()
            ],
            "aliases": [],
            "differs": "",
            "spellings": {},
            "unit": self.unit,
            "definition": self.definition,
            "found": self.found,
            "citation": cite(self.source),
            "function": f"elephan.metrics.{self.function.__name__}",
        }


METRICS: dict[str, Metric] = {}
"""Every metric by its name, in the order of the catalogue."""


def metric(name: str, title: str, *, unit: str = "", definition: str, source: str, **meanings: str) -> Callable[[F], F]:
    """Register the function that computes a metric.

    Parameters
    ----------
    name, title, unit, definition, source : str
        See `Metric`.
    **meanings : str
        Meanings of the function's options.

    Returns
    -------
    callable
        A decorator that registers the function and returns it unchanged.
    """

    def register(function: F) -> F:
        METRICS[name] = Metric(name, title, unit, definition, source, function, meanings)
        return function

    return register


def cards() -> list[dict[str, Any]]:
    """Return the cards of all metrics.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> [card["name"] for card in cards()][:2]
    ['utilization', 'idle_fraction']
    """
    return [entry.to_json() for entry in METRICS.values()]
