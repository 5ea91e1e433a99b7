"""Content of a page as plain data: the same parts in the same order for every kind of result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from elephan.pictures.figure import Figure
    from elephan.pictures.table import Table
    from elephan.results import WarningDocument


WRITER = "elephan that wrote this page"
"""Name of an entry in a page's provenance: the version of elephan that wrote the page."""

CHANGING = ("run", "elephan that ran it", WRITER, "engine", "time taken")
"""Names in a page's provenance whose values are different in each version or run; notebooks omit them."""


class HeadlineNumber(NamedTuple):
    """A number on which the answer rests: its title, its value, and a remark."""

    label: str
    value: str
    detail: str = ""


class TerminalCommand(NamedTuple):
    """A line for a terminal, and a description of its effect."""

    line: str
    says: str


class RowFilter(NamedTuple):
    """A filter for the rows of the tables: its position in the rows' keys, and its values."""

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
        Filters of its tables.
    explorer : dict or None
        Data of the picture that the reader configures; see `elephan.reports.explorer`.
    folded : bool
        Whether a notebook shows it only on a click.
    """

    title: str
    lead: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    filters: tuple[RowFilter, ...] = ()
    explorer: dict[str, Any] | None = None
    folded: bool = False


@dataclass(frozen=True)
class ReportPage:
    """A whole page.

    Parameters
    ----------
    kind : str
        Subject of the page, such as ``"Size of a buffer"``.
    question : tuple of str
        Paragraphs: the question, and the scenario it is about.
    is_asked : bool
        Whether notebooks and terminals repeat the question, since it says more than the kind of result.
    headline : str
        The answer in a few words.
    sentence : str
        The answer in a sentence.
    tone : str
        ``"bad"`` if the target was not met.
    notes : tuple of str
        Caveats beside the answer, dangers first.
    dangers : int
        Number of notes that are dangers.
    commands : tuple of TerminalCommand
        Commands that follow from the answer, such as one that sets the buffer.
    warnings : tuple of mapping
        Warnings in the form of documents; None if nothing was checked.
    scenario : str
        The scenario file; may be empty.
    resolved : str
        The scenario with all defaults filled in; may be empty.
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
    warnings: tuple[WarningDocument, ...] | None = ()
    scenario: str = ""
    resolved: str = ""
    reproduce: tuple[TerminalCommand, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
    is_asked: bool = False
    dangers: int = 0
