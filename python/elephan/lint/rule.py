"""What a lint rule is, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from elephan.catalog import Card
    from elephan.network import FlowGroup, Network


@dataclass(frozen=True)
class LintFinding:
    """Something about a scenario that makes its numbers mean something else than its author thinks.

    Parameters
    ----------
    where : str
        The place in the scenario file, as ``--set`` takes it.
    message : str
        What is wrong there.
    remedy : str
        What would be right.
    """

    where: str
    message: str
    remedy: str


@dataclass(frozen=True)
class LintWarning:
    """A finding and the rule that made it.

    Parameters
    ----------
    rule : str
    severity : str
        ``"warning"``: the run means something, but hardly what was meant.
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

    def to_json(self) -> dict[str, str]:
        """Return the entry of ``warnings`` in a document.

        Returns
        -------
        dict of str to str
        """
        return dict(vars(self))


@dataclass(frozen=True)
class LintSubject:
    """What rules look at.

    Parameters
    ----------
    network : Network
        Of the scenario.
    document : mapping or None
        The document of its run, if there is one.
    """

    network: Network
    document: Mapping[str, Any] | None = None

    def measured(self, group: FlowGroup, quantity: str) -> float | None:
        """Mean of a quantity of a group.

        Parameters
        ----------
        quantity : str
            As the document calls it.

        Returns
        -------
        float or None
            None if nothing was run.
        """
        if self.document is None:
            return None
        mean: float | None = self.document["groups"][group.index][quantity]["mean"]
        return mean


@dataclass(frozen=True)
class LintRule:
    """A rule: what it is called, why it exists, how it looks.

    Parameters
    ----------
    name, title : str
    source : str
        Who found out, or where the effect was measured.
    why : str
        What goes wrong.
    check : callable
        Yields findings. With a document it judges by what was measured where it can.
    """

    name: str
    title: str
    source: str
    why: str
    check: Callable[[LintSubject], Iterable[LintFinding]]

    def card(self) -> Card:
        """Return the rule as `elephan.catalog` shows what exists.

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


class HasRule(Protocol):
    """A module of this package that holds a rule."""

    RULE: LintRule
