"""Pages for the terminal: what ``--details`` prints."""

from __future__ import annotations

import re
from collections.abc import Iterable

from elephan.cli.columns import command_lines, wrapped
from elephan.cli.tables import whole_table
from elephan.pictures.table import Table, cell
from elephan.reports.page import WRITER, ReportPage

SIGNS = {" \N{PLUS-MINUS SIGN} ": "\N{PLUS-MINUS SIGN}", "\N{MINUS SIGN}": "-"}
"""Signs of pages, and those for them in a terminal."""

IDENTITY = re.compile(r"(?<=\b[0-9a-f]{12})[0-9a-f]{52}\b")
"""End of the identity of a run."""

JOINT = "\N{NO-BREAK SPACE}"
"""Blank at which no line is broken."""

NOTHING = cell(None).text


def page_lines(page: ReportPage) -> list[str]:
    """Write a page for the terminal: everything but its pictures, in lines that fit.

    Parameters
    ----------
    page : ReportPage
        Its warnings are on stderr already, and its question is the command line.

    Examples
    --------
    >>> from elephan.reports.page import ReportPage
    >>> page_lines(ReportPage("Run", "Two flows", ("Why?", "A link."), "5", "It is five.", notes=("Or six.",)))
    ['Two flows', 'A link.', '', 'It is five.', '  > Or six.']
    """
    lines = [*_sentences((page.title, *page.question[1:])), "", *_sentences((page.sentence,))]
    lines += [line for text in page.notes for line in wrapped(in_terminal(text), mark="  > ")]
    for part in page.parts:
        tables = [table for table in part.tables if table.rows]
        lines += ["", *_sentences(part.lead)] if part.lead and tables else []
        for table in tables:
            lines += ["", *table_text(table)]
    lines += [""] * bool(page.commands)
    for command in page.commands:
        lines += [*wrapped(f"{in_terminal(command.says).removesuffix('.')}:"), *command_lines(command.line, "  ")]
    # The first letters of an identity are enough for every command.
    about = "; ".join(f"{name} {IDENTITY.sub('', value)}" for name, value in page.provenance if name != WRITER)
    lines += [*([""] if about else []), *_sentences((about,))]
    return [line.replace(JOINT, " ") for line in lines]


def table_text(table: Table) -> list[str]:
    """Write a table with its title and its note."""
    return [*_sentences((table.title,)), *table_rows(table), *_sentences((table.note,))]


def table_rows(table: Table, *, main: bool = False) -> list[str]:
    """Write the heads and rows of a table.

    Parameters
    ----------
    main : bool
        Only the columns that notebooks show, too.
    """
    columns = table.mains if main else range(len(table.heads))
    rows = [[in_terminal(row[i].text) for i in columns] for row in table.rows]
    heads, numbers = [in_terminal(table.heads[i]) for i in columns], [table.numeric[i] for i in columns]
    return whole_table(heads, rows, numbers, names=table.names)


def in_terminal(text: str) -> str:
    """Return a text of a page with the signs that a terminal has."""
    for sign, plain in SIGNS.items():
        text = text.replace(sign, plain)
    return "-" if text == NOTHING else text


def _sentences(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in wrapped(in_terminal(text))]
