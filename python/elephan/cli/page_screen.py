"""Pages for the terminal: what ``--details`` prints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from elephan.cli.columns import broken, command_lines, terminal_width, wrapped
from elephan.cli.tables import whole_table
from elephan.pictures.table import Table, cell
from elephan.pictures.words import capital
from elephan.reports.page import WRITER, ReportPage

SIGNS = {" \N{PLUS-MINUS SIGN} ": "\N{PLUS-MINUS SIGN}", "\N{MINUS SIGN}": "-"}
"""Signs of pages, and their replacements in a terminal."""

IDENTITY = re.compile(r"(?<=\b[0-9a-f]{12})[0-9a-f]{52}\b")
"""End of the identity of a run."""

JOINT = "\N{NO-BREAK SPACE}"
"""Blank at which no line is broken."""

NOTHING = cell(None).text
"""Text of an unknown value on pages."""


def page_lines(page: ReportPage) -> list[str]:
    """Write a page for the terminal: everything but its pictures, in lines that fit.

    Parameters
    ----------
    page : ReportPage
        Page to write, without its warnings, which are on stderr already.

    Examples
    --------
    >>> from elephan.reports.page import ReportPage
    >>> page_lines(ReportPage("Run", "Two flows", ("Why?", "A link."), "5", "It is five.", notes=("Or six.",)))
    ['Two flows', 'A link.', '', 'It is five.', '  > Or six.']
    """
    question = page.question if page.is_asked else page.question[1:]
    lines = [*_sentences((page.title, *question)), "", *_sentences((page.sentence,))]
    for number, text in enumerate(page.notes):
        lines += wrapped(in_terminal(text), mark="  ! " if number < page.dangers else "  > ")
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


def details(result: object, title: str) -> list[str]:
    """Return the lines of ``--details`` for a result, below a title.

    Parameters
    ----------
    result : object
        As for `elephan.reports.notebook.described`.
    """
    from elephan.reports.notebook import described  # noqa: PLC0415 (pages of all kinds; a single page does without)

    return page_lines(replace(described(result), title=title))


def table_text(table: Table) -> list[str]:
    """Write a table with its title and its note; columns of sentences follow as lines, each sentence once.

    Columns in which nothing is known are left out.
    """
    told = [i for i in range(len(table.heads)) if any(row[i].sentences for row in table.rows)]
    known = [i for i in range(len(table.heads)) if any(row[i].text != NOTHING for row in table.rows)]
    kept = [i for i in known if i not in told]
    rows = tuple(tuple(row[i] for i in kept) for row in table.rows)
    lines = [
        *_sentences((table.title,)),
        *table_rows(replace(table, heads=tuple(table.heads[i] for i in kept), rows=rows)),
    ]
    for i in told:
        names: dict[str, list[str]] = {}
        for row in table.rows:
            for text in row[i].sentences:
                names.setdefault(text, []).append(row[0].text)
        texts = [in_terminal(f"{', '.join(own)}: {text}") for text, own in names.items()]
        lines += [f"{capital(table.heads[i])}:"]
        lines += [line for text in texts for line in broken(text, terminal_width(), "  ", "    ")]
    return [*lines, *_sentences((table.note,))]


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
