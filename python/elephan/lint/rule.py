"""Types of the lint rules: rule, subject, finding, warning."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from elephan.catalog import Card
from elephan.network import FlowGroup, Network

if TYPE_CHECKING:
    from elephan.results import MeasuredRun, WarningDocument

_TEXTS = tomllib.loads(files("elephan.lint").joinpath("rules.toml").read_text(encoding="utf-8"))
"""Title, source and reason of each rule."""


GRAVE = frozenset({"short-run", "short-warmup", "unsettled", "ends-in-warm-up"})
"""Rules whose warnings mean that measured numbers are not reliable, because too little time was measured."""


@dataclass(frozen=True)
class LintFinding:
    """A property of a scenario that gives its numbers another meaning than its author intends.

    Parameters
    ----------
    where : str
        The place in the scenario file, as ``--set`` takes it.
    message : str
        Description of the problem.
    remedy : str
        Suggested correction.
    """

    where: str
    message: str
    remedy: str


LintFindings = Iterator[LintFinding]


@dataclass(frozen=True)
class LintWarning:
    """A finding, and the rule that reports it.

    Parameters
    ----------
    rule : str
    severity : str
        Always ``"warning"``: the scenario can be run, but its numbers probably do not answer the author's question.
    where, message, remedy : str
        As in `LintFinding`.

    Examples
    --------
    >>> str(LintWarning("short-warmup", "warning", "warmup", "10 s is short", "make it 60 s"))
    'warning: warmup: 10 s is short; make it 60 s (short-warmup)'
    """

    rule: str
    severity: str
    where: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.where}: {self.message}; {self.remedy} ({self.rule})"

    @property
    def is_grave(self) -> bool:
        """Whether the numbers themselves are unreliable. Otherwise they may describe another thing than intended."""
        return self.rule in GRAVE

    def to_json(self) -> WarningDocument:
        """Return the entry of ``warnings`` in a document.

        Returns
        -------
        dict of str to str
        """
        return {
            "rule": self.rule,
            "severity": self.severity,
            "where": self.where,
            "message": self.message,
            "remedy": self.remedy,
        }


@dataclass(frozen=True)
class LintSubject:
    """Subject of the rules: a scenario, its network, and the results if there are any.

    Parameters
    ----------
    network : Network
        Network of the scenario.
    document : mapping or None
        The document of its run, if there is one.
    changes : mapping of int to (float, float or None)
        Relative change of the goodput between the two halves of the measured time, and the half-width of its 95 %
        interval, by the index of the group; empty if the samples were not kept.
    """

    network: Network
    document: MeasuredRun | None = None
    changes: Mapping[int, tuple[float, float | None]] = field(default_factory=dict)

    def measured(self, group: FlowGroup, quantity: str) -> float | None:
        """Mean of a measured quantity of a group.

        Parameters
        ----------
        quantity : str
            As the document calls it.

        Returns
        -------
        float or None
            None if there is no document.
        """
        if self.document is None:
            return None
        row: Mapping[str, Any] = self.document["groups"][group.index]
        mean: float | None = row[quantity]["mean"]
        return mean


@dataclass(frozen=True)
class LintRule:
    """A lint rule: name, reason and check.

    Parameters
    ----------
    name, title : str
    source : str
        Source of the rule, or of the measurement of the effect.
    why : str
        Reason for the rule.
    check : callable
        Yields findings. If the subject has a document, the check uses measured values where possible.
    """

    name: str
    title: str
    source: str
    why: str
    check: Callable[[LintSubject], LintFindings]

    @classmethod
    def named(cls, name: str, check: Callable[[LintSubject], LintFindings]) -> LintRule:
        """Create a rule from its texts in ``rules.toml`` and its check."""
        return cls(name, **_TEXTS[name], check=check)

    def card(self) -> Card:
        """Return the rule as a card of `elephan.catalog`.

        Returns
        -------
        Card
        """
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "parameters": [],
            "aliases": [],
            "differs": "",
            "spellings": {},
            "needs": [],
            "without": "",
            "why": self.why,
        }
