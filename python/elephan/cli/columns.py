"""Short tables for the terminal: numbers are never cut; if there is no room, the least important columns are omitted.

Tables that show everything are in `elephan.cli.tables`; these are for the screen with the answer.
"""

from __future__ import annotations

import math
import re
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

LINES = 15
"""Maximum number of lines that a command prints by default."""

GAP = "  "

GAP_HEAD = "gap"
"""Head of a column that belongs to the one before it."""

NAMED = 4
"""Maximum number of omitted columns that are listed by name."""


@dataclass(frozen=True)
class Column:
    """A column of a short table.

    Parameters
    ----------
    head, unit : str
        Lines above the cells; the head may have several lines.
    cells : tuple of str
    rank : int
        Columns of rank 0 are always shown; if there is no room, those with the highest rank are omitted first.
    is_text : bool
        Whether the cells are left-aligned.
    """

    head: str
    unit: str
    cells: tuple[str, ...]
    rank: int = 0
    is_text: bool = False

    @property
    def width(self) -> int:
        """Number of characters of its widest cell; cells may have several lines."""
        return max(len(line) for text in (*self.heads, *self.cells) for line in text.split("\n"))

    @property
    def heads(self) -> list[str]:
        """Lines above the cells."""
        return [*self.head.split("\n"), self.unit]


def terminal_width() -> int:
    """Return the width of the terminal in columns."""
    return shutil.get_terminal_size().columns


def line_width(columns: Sequence[Column]) -> int:
    """Return the number of characters of a line of a table."""
    return sum(column.width + len(GAP) for column in columns) - len(GAP)


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """Omit columns until the others fit.

    Parameters
    ----------
    width : int
        Characters per line.

    Returns
    -------
    list of Column
        Columns of rank 0 are always included, even if they do not fit.

    Examples
    --------
    >>> wide = [Column("a", "", ("1" * 9,)), Column("b", "", ("2" * 9,), 2), Column("c", "", ("3" * 9,), 1)]
    >>> [column.head for column in fitting(wide, 25)]
    ['a', 'c']
    """
    left = list(columns)
    while len(left) > 1 and line_width(left) > width:
        last = max(reversed(left), key=lambda c: c.rank)
        if last.rank == 0:
            break
        left.remove(last)
    return left


def left_out(columns: Sequence[Column], width: int) -> list[str]:
    """Return the names of the columns that do not fit.

    Parameters
    ----------
    width : int
        Characters per line.

    Returns
    -------
    list of str
        Of more than `NAMED` names the first ones, and the number of the others. A column with the head `GAP_HEAD`
        belongs to the one before it and is not named.

    Examples
    --------
    >>> left_out([Column(name, "", ("1" * 9,), 1) for name in "abcdefg"], 12)
    ['b', 'c', '4 more columns']
    """
    there = {id(column) for column in fitting(columns, width)}
    names = [c.head.replace("\n", " ") for c in columns if id(c) not in there and c.head != GAP_HEAD]
    return names if len(names) <= NAMED else [*names[: NAMED - 2], f"{len(names) - NAMED + 2} more columns"]


def with_intervals(full: Sequence[Column], bare: Sequence[Column], width: int) -> tuple[list[Column], list[str]]:
    """Choose the columns that fit: numbers keep their intervals, and columns of a high rank are omitted.

    Parameters
    ----------
    full, bare : sequence of Column
        The same columns with intervals and without.
    width : int
        Characters per line.

    Returns
    -------
    columns, left : list of Column, list of str
        The columns that fit, without intervals if those of rank 0 do not fit with them; and names of what is omitted.
    """
    kept = fitting(full, width)
    if line_width(kept) <= width:
        return kept, left_out(full, width)
    intervals = ["intervals"] if any("±" in text or "(" in text for column in full for text in column.cells) else []
    return fitting(bare, width), [*intervals, *left_out(bare, width)]


def table_lines(columns: Sequence[Column], width: int | None = None) -> list[str]:
    r"""Format a table: heads, units, and a line for each row.

    Parameters
    ----------
    width : int, optional
        Characters per line; by default those of the terminal.

    Returns
    -------
    list of str

    Examples
    --------
    >>> print("\n".join(table_lines([Column("buffer", "packets", ("13", "500")), Column("", "", ("", "suggested"),
    ...                              is_text=True)], 40)))
     buffer
    packets
         13
        500  suggested
    """
    shown = fitting(columns, terminal_width() if width is None else width)
    most = max(len(c.heads) for c in shown)
    padded = [[""] * (most - len(c.heads)) + c.heads for c in shown]
    heads = [list(line) for line in zip(*padded, strict=True)]
    rows = [line for line in heads if any(line)]
    for row in zip(*(c.cells for c in shown), strict=True):
        rows += [list(line) for line in zip_longest(*(text.split("\n") for text in row), fillvalue="")]
    return [
        GAP.join(
            text.ljust(c.width) if c.is_text else text.rjust(c.width) for text, c in zip(row, shown, strict=True)
        ).rstrip()
        for row in rows
    ]


def narrowed(columns: Sequence[Column], width: int) -> list[Column]:
    r"""Wrap texts beside numbers, such as labels of points, until they take at most half of a line.

    Parameters
    ----------
    width : int
        Characters per line.

    Returns
    -------
    list of Column
        The same columns if all of them fit, or if their texts take less than half of a line.

    Examples
    --------
    >>> wide = [Column("queue", "", ("red, min_th 5 packets",), is_text=True), Column("used", "%", ("99.1±0.2",))]
    >>> print("\n".join(table_lines(narrowed(wide, 28))))
    queue             used
                         %
    red, min_th   99.1±0.2
    5 packets
    """
    # Texts of other ranks are not wrapped: they are omitted if there is no room.
    texts = [column for column in columns if column.is_text and not column.rank]
    room = width // 2 - len(GAP) * len(texts)
    if line_width(columns) <= width or sum(c.width for c in texts) <= room:
        return list(columns)
    widths = [column.width for column in texts]
    while sum(widths) > max(room, len(widths)):
        widths[widths.index(max(widths))] -= 1
    found = dict(zip(map(id, texts), widths, strict=True))

    def wrap(text: str, most: int) -> str:
        lines = (textwrap.wrap(line, most, break_on_hyphens=False) or [""] for line in text.split("\n"))
        return "\n".join(line for part in lines for line in part)

    return [
        replace(c, head=wrap(c.head, found[id(c)]), cells=tuple(wrap(text, found[id(c)]) for text in c.cells))
        if id(c) in found
        else c
        for c in columns
    ]


def blocks(columns: Sequence[Column], width: int | None = None) -> list[str]:
    r"""Format a table with all columns: those that do not fit follow below, beside the texts again.

    Parameters
    ----------
    width : int, optional
        Characters per line; by default those of the terminal.

    Examples
    --------
    >>> wide = [Column("law", "", ("reno",), is_text=True), Column("a", "", ("1" * 9,)), Column("b", "", ("2" * 9,))]
    >>> print("\n".join(blocks(wide, 20)))
    law           a
    reno  111111111
    law           b
    reno  222222222
    """
    width = terminal_width() if width is None else width
    names = [column for column in columns if column.is_text]
    found: list[list[Column]] = [names]
    for column in columns:
        if column.is_text:
            continue
        tried = [*found[-1], column]
        if len(found[-1]) > len(names) and line_width(tried) > width:
            found.append([*names, column])
        else:
            found[-1] = tried
    # Rank 0, so that no column is omitted.
    return [line for block in found for line in table_lines([replace(c, rank=0) for c in block], width)]


def command_lines(command: str, mark: str = "", width: int | None = None) -> list[str]:
    r"""Break a command of the shell into lines that can be copied together: all but the last end with a backslash.

    Words in quotes stay whole, unless one is longer than a line: then it becomes several, which the shell joins.

    Parameters
    ----------
    mark : str
        Text before the first line.
    width : int, optional
        Characters per line; by default those of the terminal.

    Examples
    --------
    >>> print("\n".join(command_lines("tc qdisc replace dev eth0 root pfifo limit 60", "Linux: ", 40)))
    Linux: tc qdisc replace dev eth0 root \
      pfifo limit 60
    >>> print("\n".join(command_lines("elephan sweep x.toml --over 'seed=1, 2'", width=33)))
    elephan sweep x.toml --over \
      'seed=1, 2'
    """
    width = terminal_width() if width is None else width
    if len(mark) + len(command) <= width:
        return [f"{mark}{command}"]
    # A null character, which no command contains, replaces each blank in quotes.
    whole = re.sub(r"'[^']*'|\"[^\"]*\"", lambda quoted: quoted[0].replace(" ", "\0"), command)
    wrapper = textwrap.TextWrapper(width - 2, mark, "  ", break_long_words=False, break_on_hyphens=False)
    lines = [line.replace("\0", " ") for line in wrapper.wrap(whole)]
    lines = [*(f"{line} \\" for line in lines[:-1]), lines[-1]]
    return [part for line in lines for part in _joined_quotes(line, width)]


def _joined_quotes(line: str, width: int) -> list[str]:
    """Break a line that is one word in quotes after commas and semicolons; the shell joins the parts again."""
    found = re.fullmatch(r"(\s*)'([^']*)'( \\)?", line)
    if found is None or len(line) <= width:
        return [line]
    lead, inside, end = found[1], found[2], found[3] or ""
    lines = [""]
    for part in re.findall(r"[^,;]*[,;]?", inside):
        # Room for the quotes, and for the backslash after them or the end.
        if lines[-1] and len(lead if len(lines) == 1 else "") + len(lines[-1]) + len(part) + 4 > width:
            lines.append("")
        lines[-1] += part
    quoted = [f"'{part}'" for part in lines]
    quoted[0] = lead + quoted[0]
    return [*(f"{part}\\" for part in quoted[:-1]), quoted[-1] + end]


def deciding(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], most: int, together: Sequence[object] = ()
) -> list[int]:
    """Choose the rows that differ most: the first, and then repeatedly the one farthest from all chosen ones.

    An omitted row is thus similar to a chosen one. Distances are shares of the spread of a column; a column whose
    spread is within its intervals does not count.

    Parameters
    ----------
    rows : sequence of mapping
        Measured quantities, ``{"mean", "ci95"}``, by name.
    names : sequence of str
        Names of the quantities that are compared.
    most : int
        Maximum number of rows.
    together : sequence, optional
        For each row, a value that it shares with the rows that it is compared with. Of such rows all or none are
        chosen, so there may be fewer than `most`. If the rows that share the first value do not fit, it has no effect.

    Returns
    -------
    list of int
        Indices in ascending order.

    Examples
    --------
    >>> rows = [{"x": {"mean": mean, "ci95": 0.1}} for mean in (1.0, 1.0, 1.1, 1.0, 9.0, 5.0)]
    >>> deciding(rows, ["x"], 3)
    [0, 4, 5]
    >>> deciding(rows, ["x"], 5, together="abcabc")
    [0, 1, 3, 4]
    """
    places: list[list[float]] = [[] for _ in rows]
    for name in names:
        means = [row[name]["mean"] for row in rows]
        known = [mean for mean in means if mean is not None]
        spread = max(known) - min(known) if known else 0.0
        if spread > 2 * min(row[name]["ci95"] or 0.0 for row in rows):
            for place, mean in zip(places, means, strict=True):
                # A row without a value is far from all that have one.
                place.append(-1.0 if mean is None else (mean - min(known)) / spread)
    units = list(together) or list(range(len(rows)))
    if units.count(units[0]) > most:
        units = list(range(len(rows)))
    chosen: list[int] = []
    left, apart = list(range(len(rows))), [math.inf] * len(rows)
    while left:
        farthest = max(left, key=lambda i: (apart[i], -i))
        unit = [i for i in left if units[i] == units[farthest]]
        left = [i for i in left if i not in unit]
        if chosen and len(chosen) + len(unit) > most:
            continue
        chosen += unit
        for i in unit:
            apart = [min(old, _apart(place, places[i])) for old, place in zip(apart, places, strict=True)]
    return sorted(chosen)


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    return max((abs(x - y) for x, y in zip(one, other, strict=True)), default=0.0)


def wrapped(text: str, width: int | None = None, mark: str = "") -> list[str]:
    """Break a sentence into lines; lines after the first are indented by the length of the mark.

    Parameters
    ----------
    width : int, optional
        Characters per line; by default those of the terminal.
    mark : str
        Text before the first line.

    Examples
    --------
    >>> wrapped("below one packet per flow", 20, "! ")
    ['! below one packet', '  per flow']
    """
    return broken(text, terminal_width() if width is None else width, mark, " " * len(mark))


def broken(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    """Break a text between words, which stay whole; a number keeps its per cent sign.

    Parameters
    ----------
    first, others : str
        Text before the first line, and before each of the others.

    Examples
    --------
    >>> broken("On average 3 % wait", 12)
    ['On average', '3 % wait']
    """
    # `textwrap` does not break lines at a no-break space.
    joined = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)
    lines = textwrap.wrap(
        joined,
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\N{NO-BREAK SPACE}%", " %") for line in lines]
