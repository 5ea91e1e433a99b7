"""Tables of a page as plain data: each cell has its text, and the number or word to sort by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from elephan.pictures.words import number
from elephan.units import format_measured

MOST_ROWS = 1000
"""Maximum number of rows of a table on a page; the rest is in the folder's files."""


LONG, SHORT = 30, 16
"""Maximum length of a cell above which its column counts as sentences, and up to which it stays on one line."""


class Cell(NamedTuple):
    """A cell: the text shown, its sort key (the full number, the text, or nothing), and the sentences in the text."""

    text: str
    value: float | str | None
    sentences: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether the cell is sorted as a number."""
        return isinstance(self.value, float)


@dataclass(frozen=True)
class Table:
    """A table.

    Parameters
    ----------
    heads : tuple of str
        Column heads, with units.
    note : str
        Text below the table.
    keys : tuple of str
        Filter key of each row, one for each word in `filters`; empty if nothing is filtered.
    main : tuple of bool
        Whether notebooks show each column; empty if they show all.
    names : int
        Number of columns at the left that name a row; a terminal that is too narrow for the other columns repeats them.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    keys: tuple[str, ...] = ()
    main: tuple[bool, ...] = ()
    names: int = 1

    @property
    def mains(self) -> list[int]:
        """Indices of the columns that notebooks show."""
        return [i for i in range(len(self.heads)) if not self.main or self.main[i]]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column holds numbers, which are right-aligned."""
        return tuple(any(row[i].is_number for row in self.rows) for i in range(len(self.heads)))

    @property
    def classes(self) -> tuple[str, ...]:
        """CSS class of each column: ``"n"`` right-aligned, ``"w"`` wide for sentences, ``"s"`` on one line."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.heads)
        longest = (max((len(cell.text) for cell in column), default=0) for column in columns)
        return tuple(
            "n" if number else "w" if letters > LONG else "s" if letters <= SHORT else ""
            for number, letters in zip(self.numeric, longest, strict=True)
        )


def cell(value: Any, scale: float = 1.0, digits: int = 4, of: str = "", flows: int = 0) -> Cell:
    """Return the cell of a value of a document.

    Parameters
    ----------
    value : number, str, bool, None, or mapping with ``mean`` and ``ci95``
    scale : float
        Factor for numbers.
    digits : int
        Significant digits of a number without an interval.
    of : str
        Key of the quantity: its interval ends at the limits of its range, and has no digits below its resolution.
    flows : int
        Number of flows over which Jain's index is computed, see `elephan.units.limits`.

    Returns
    -------
    Cell
        Sorted by the number before it was rounded.

    Examples
    --------
    >>> cell({"mean": 0.95123, "ci95": 0.006}, 100)[:2]
    ('95.1 ± 0.6', 95.123)
    >>> cell({"mean": 0.999, "ci95": 0.006}, 100, of="utilization").text
    '99.9 (99.3 to 100)'
    >>> cell({"mean": 0.012345, "ci95": 0.0}, 1e3, of="queueing_delay_p95_s").text
    '12.35 ± 0.19'
    >>> cell(None)[:2], cell("reno")[:2], cell(True)[:2]
    (('–', None), ('reno', 'reno'), ('yes', 'yes'))
    """
    if isinstance(value, dict):
        mean = value["mean"]
        if mean is None:
            return Cell("–", None)
        return Cell(format_measured(value, scale, digits, of=of, flows=flows, thousands=","), float(mean) * scale)
    if isinstance(value, bool):
        return Cell(*(("yes", "yes") if value else ("no", "no")))
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return Cell("–", None)
        return Cell(number(value * scale, digits), float(value) * scale)
    return Cell("–", None) if value is None else Cell(str(value), str(value))


def sentence_cell(sentences: Sequence[str]) -> Cell:
    """Return the cell of sentences; in a terminal, they are below the table."""
    return cell("; ".join(sentences) or None)._replace(sentences=tuple(sentences))


def measured(row: Mapping[str, Any], key: str, scale: float = 1.0, digits: int = 4) -> Cell:
    """Return the cell of a quantity of a row, with the limits of its range."""
    return cell(row[key], scale, digits, of=key)


class Column(NamedTuple):
    """A column of a table: its head, with the unit, and the cell that it makes of a row.

    Parameters
    ----------
    main : bool
        Whether notebooks show it, too, and not only pages and ``--details``.
    """

    head: str
    cell: Callable[[Any], Cell]
    main: bool = True

    def within(self, part: Callable[[Any], Any]) -> Column:
        """Return the column for rows whose part, as `part` returns it, has the column's value."""
        return self._replace(cell=lambda row: self.cell(part(row)))

    def minor(self) -> Column:
        """Return the column for pages and ``--details`` only."""
        return self._replace(main=False)


def fact_column(head: str, key: str) -> Column:
    """Return the column of a fact of each row, such as a name."""
    return Column(head, lambda row: cell(row[key]))


def label_column(name: str) -> Column:
    """Return the column of a label of each row, with the digits that were written."""
    return Column(name, lambda row: cell(row.get(name), digits=6))


def measured_column(head: str, key: str, scale: float = 1.0, digits: int = 4) -> Column:
    """Return the column of a measured quantity of each row, see `cell`."""
    return Column(head, lambda row: measured(row, key, scale, digits))


def tabulated(
    title: str, columns: Iterable[Column], rows: Iterable[Any], note: str = "", *, where: str = "", names: int = 1
) -> Table:
    """Return a table of rows, by the columns that describe it.

    Parameters
    ----------
    names : int
        As in `Table`.
    where : str
        Location of all rows; if it is given, the table has only as many as a page can hold.

    Examples
    --------
    >>> columns = fact_column("link", "name"), measured_column("loss [%]", "loss_ratio", 100)
    >>> table = tabulated("Links", columns, [{"name": "core", "loss_ratio": {"mean": 0.25, "ci95": None}}])
    >>> table.heads, [cell.text for cell in table.rows[0]]
    (('link', 'loss [%]'), ['core', '25'])
    """
    listed = tuple(columns)
    kept = list(rows)
    if where and len(kept) > MOST_ROWS:
        note = f"The first {MOST_ROWS:,} of {len(kept):,} rows; all are in {where}."
        kept = kept[:MOST_ROWS]
    cells = tuple(tuple(column.cell(row) for column in listed) for row in kept)
    heads, main = tuple(column.head for column in listed), tuple(column.main for column in listed)
    return Table(title, heads, cells, note, main=() if all(main) else main, names=names)
