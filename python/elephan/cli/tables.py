"""Tables for the terminal that show everything: numbers stay whole, words wrap, and nothing is left out."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from elephan.cli.columns import GAP, Column, blocks, broken, table_lines, terminal_width, wrapped

LONG_HEAD = 13
"""Number of characters from which the head of a column is wrapped."""

WORDS = re.compile(r"^\s*\S+|\S+")
"""Words of a cell."""

MOST_OF_A_ROW = 12
"""Maximum number of lines for the single row of a table in blocks; a longer one has each cell on a line of its own."""


def whole_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[bool],
    width: int | None = None,
    *,
    names: int = 1,
) -> list[str]:
    r"""Write a table with all of its cells: long heads and texts are wrapped, numbers are not.

    What still does not fit is written in blocks of columns, or with each cell on a line of its own.

    Parameters
    ----------
    heads : sequence of str
        A unit in brackets at the end has a line of its own.
    numbers : sequence of bool
        For each column, whether it is right-aligned and not wrapped.
    width : int, optional
        Characters per line; by default those of the terminal.
    names : int
        Number of columns at the left that are in every block.

    Examples
    --------
    >>> heads, row = ["law", "goodput [Mbit/s]", "source"], ["reno", "9.3", "RFC 5681, Section 3.1"]
    >>> print("\n".join(whole_table(heads, [row], [False, True, False], 30)))
    law   goodput  source
           Mbit/s
    reno      9.3  RFC 5681,
                   Section 3.1
    >>> print("\n".join(whole_table(heads, [row], [False, True, False], 21)))
    law      reno
    goodput  9.3 Mbit/s
    source   RFC 5681,
             Section 3.1
    """
    width = terminal_width() if width is None else width
    cells = zip(*rows, strict=True) if rows else ((),) * len(heads)
    columns = [_WholeColumn(*column) for column in zip(heads, cells, numbers, strict=True)]
    room = width - len(GAP) * (len(columns) - 1)
    sizes = [[column.natural for column in columns], [column.snug for column in columns], [c.least for c in columns]]
    # Long texts are wrapped first, then short ones.
    for natural, least in pairwise(sizes):
        if sum(least) <= room:
            widths = shared_widths(natural, least, room - sum(least))
            return table_lines([column.within(each) for column, each in zip(columns, widths, strict=True)], width)
    # Only the names of the rows are in every block; they take half of a line at most if they can be wrapped.
    own = columns[:names]
    room = max(0, width // 2 - sum(column.least + len(GAP) for column in own))
    widths = shared_widths([column.natural for column in own], [column.least for column in own], room)
    first = [_justified(column.within(each)) for column, each in zip(own, widths, strict=True)]
    most = width - sum(column.width + len(GAP) for column in first)
    others = [_justified(column.within(min(column.natural, max(column.least, most)))) for column in columns[names:]]
    lines = blocks([*(replace(c, is_text=True) for c in first), *(replace(c, is_text=False) for c in others)], width)
    records = _records(columns, width)
    most = len(records) if len(rows) > 1 else min(len(records), MOST_OF_A_ROW)
    return lines if len(lines) <= most and max(map(len, lines)) <= width else records


@dataclass(frozen=True)
class _WholeColumn:
    """A column of `whole_table`."""

    head: str
    cells: Sequence[str]
    is_number: bool

    @property
    def parts(self) -> tuple[str, str]:
        """Head and unit."""
        found = re.fullmatch(r"(.+) \[([^\[\]]+)\]", self.head, flags=re.DOTALL)
        return (found[1], found[2]) if found else (self.head, "")

    @property
    def natural(self) -> int:
        """Width without wrapped cells; long heads are wrapped all the same."""
        return self.within(max([LONG_HEAD, *map(len, self.cells)])).width

    @property
    def snug(self) -> int:
        """Width below which a short text would be broken."""
        return max([self.least, *(len(text) for text in self.cells if len(text) <= LONG_HEAD)])

    @property
    def least(self) -> int:
        """Width below which a word or a number would be broken; a long name in a head is broken behind its hyphens."""
        words = [part for text in self.parts for word in text.split() for part in _parts(word)]
        # Blanks before a text stay before it.
        words += self.cells if self.is_number else [word for text in self.cells for word in WORDS.findall(text)]
        return max(map(len, words), default=0)

    def within(self, width: int) -> Column:
        """Return the column with its wider heads and texts wrapped."""
        head, unit = self.parts
        cells = self.cells if self.is_number else [_wrapped_cell(text, width) for text in self.cells]
        return Column("\n".join(_head_lines(head, width)), unit, tuple(cells), is_text=not self.is_number)


def _parts(word: str) -> list[str]:
    """Return the parts between which a long word of a head may be broken."""
    return re.split(r"(?<=-)|(?<=\]\.)", word) if len(word) > LONG_HEAD else [word]


def _head_lines(head: str, width: int) -> list[str]:
    lines = [""]
    for word in head.split():
        for k, part in enumerate(_parts(word)):
            added = f" {part}" if k == 0 and lines[-1] else part
            if lines[-1] and len(lines[-1] + added) > width:
                lines.append(part)
            else:
                lines[-1] += added
    return lines


def _wrapped_cell(text: str, width: int) -> str:
    lines = (broken(line, width) or [""] for line in text.split("\n"))
    return "\n".join(line for part in lines for line in part)


def _justified(column: Column) -> Column:
    """Return a column whose texts are filled with blanks to its width."""

    def fill(text: str) -> str:
        lines = text.split("\n")
        return "\n".join(line.ljust(column.width) if column.is_text else line.rjust(column.width) for line in lines)

    return replace(column, head=fill(column.head), cells=tuple(map(fill, column.cells)))


def _records(columns: Sequence[_WholeColumn], width: int) -> list[str]:
    """Write each cell of a table on a line of its own, with its head before it."""
    names = [" ".join(column.parts[0].split()) for column in columns]
    room = min(max(map(len, names)), width // 3)
    lines: list[str] = []
    for row in zip(*(column.cells for column in columns), strict=True):
        lines += [""] if lines else []
        for name, column, text in zip(names, columns, row, strict=True):
            if text:
                lines += _entry(name, f"{text} {column.parts[1]}".rstrip() if column.is_number else text, room, width)
    return lines


def _entry(name: str, text: str, room: int, width: int) -> list[str]:
    """Return the lines of a cell after its name; a long name has a line of its own."""
    inside = " " * (room + len(GAP))
    # A long word, such as an identity, is broken rather than wider than the terminal.
    found = textwrap.wrap(text, width, initial_indent=inside, subsequent_indent=inside, break_on_hyphens=False)
    if len(name) > room:
        return [*broken(name, width), *found]
    return [f"{name:<{room}}{GAP}{found[0].strip()}", *found[1:]]


def shared_widths(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns that wrap where there is no room.

    Parameters
    ----------
    natural, least : sequence of int
        Width of each column without wrapping, and of its longest word.
    room : int
        Characters of a line beyond the least widths.
    """
    if room >= sum(natural) - sum(least):
        return list(natural)
    widths = list(least)
    for _ in range(max(room, 0)):
        # The column with the most lines gets the next character.
        lines = [full / now for full, now in zip(natural, widths, strict=True)]
        widths[lines.index(max(lines))] += 1
    return widths


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    r"""Write a table of words, with heads or without, see `whole_table`.

    Parameters
    ----------
    heads : sequence of str
        May be empty.
    width : int, optional
        Characters per line; by default those of the terminal.

    Examples
    --------
    >>> print("\n".join(text_table(("name", "title"), [("reno", "Reno (standard TCP)"), ("bic", "BIC")], 20)))
    name  title
    reno  Reno (standard
          TCP)
    bic   BIC
    """
    width = terminal_width() if width is None else width
    if not (rows or heads):
        return []
    if not heads and max(len(row[0]) for row in rows) > width // 2:
        # A long name has a line of its own.
        pairs = ((wrapped(row[0], width), wrapped(" ".join(row[1:]), width, mark="    ")) for row in rows)
        return [line for name, rest in pairs for line in (*name, *rest)]
    heads = heads or [""] * len(rows[0])
    return whole_table(heads, rows, [False] * len(heads), width)


def cut_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], room: int, rest: str, width: int | None = None
) -> list[str]:
    r"""Write a table of words in at most `room` lines: omitted rows are named, or at least counted.

    Parameters
    ----------
    room : int
        Maximum number of lines.
    rest : str
        How to see the other rows.
    width : int, optional
        Characters per line; by default those of the terminal.

    Examples
    --------
    >>> rows = [("reno", "standard TCP"), ("bic", "binary increase"), ("cubic", "a cubic"), ("vegas", "by delay")]
    >>> print("\n".join(cut_table(("name", "title"), rows, 4, "--details", 60)))
    name   title
    reno   standard TCP
    bic    binary increase
    (also cubic, vegas: --details)
    """
    width = terminal_width() if width is None else width
    full = text_table(heads, rows, width)
    if len(full) <= room:
        return full
    # If the names of the others leave no room for `FEW_ROWS` rows, they are only counted.
    for named in (True, False):
        for kept in range(len(rows) - 1, FEW_ROWS - 1 if named else -1, -1):
            others = ", ".join(row[0] for row in rows[kept:])
            said = wrapped(f"(also {others}: {rest})" if named else f"({len(rows) - kept} more: {rest})", width)
            lines = [*text_table(heads, rows[:kept], width), *said]
            if len(lines) <= room:
                return lines
    return lines


FEW_ROWS = 2
"""Minimum number of rows of a cut table whose other rows are named."""
