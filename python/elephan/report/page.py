"""What a page says, as plain data: the same parts in the same order whatever it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from elephan.pictures.figure import Figure
    from elephan.pictures.table import Table


class HeadlineNumber(NamedTuple):
    """One number that the answer stands on: what it is, the number, what belongs to it."""

    label: str
    value: str
    detail: str = ""


class TerminalCommand(NamedTuple):
    """A line for a terminal, and what it does."""

    line: str
    says: str


class RowFilter(NamedTuple):
    """What the rows of the tables can be filtered by: its place in their keys, and its values."""

    label: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class PageSection:
    """A headed part of a page with pictures and tables.

    Parameters
    ----------
    lead : tuple of str
        Paragraphs.
    filters : tuple of RowFilter
        Of the tables in it.
    explorer : dict or None
        What a picture that the reader chooses is made of; see `elephan.report.sweep`.
    """

    title: str
    lead: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    filters: tuple[RowFilter, ...] = ()
    explorer: dict[str, Any] | None = None


@dataclass(frozen=True)
class ReportPage:
    """A whole page.

    Parameters
    ----------
    kind : str
        What it is about, such as ``"Size of a buffer"``.
    question : tuple of str
        Paragraphs: what was asked, and of what.
    headline : str
        The answer in a few words.
    sentence : str
        The answer in a sentence.
    tone : str
        ``"bad"`` if what was wanted was not met.
    notes : tuple of str
        Caveats beside the answer.
    commands : tuple of TerminalCommand
        Lines that follow from the answer, such as what sets the buffer.
    warnings : tuple of mapping
        As documents have them; None where nothing was checked.
    scenario : str
        The file, or empty.
    resolved : str
        With all defaults filled, or empty.
    """

    kind: str
    title: str
    question: tuple[str, ...]
    headline: str
    sentence: str
    tone: Literal["good", "bad", "plain"] = "plain"
    tiles: tuple[HeadlineNumber, ...] = ()
    notes: tuple[str, ...] = ()
    commands: tuple[TerminalCommand, ...] = ()
    parts: tuple[PageSection, ...] = ()
    warnings: tuple[dict[str, str], ...] | None = ()
    scenario: str = ""
    resolved: str = ""
    reproduce: tuple[TerminalCommand, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
