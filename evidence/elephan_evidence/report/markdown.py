"""Markdown tables, and texts escaped for their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[bool] = ()) -> list[str]:
    r"""Return the lines of a table, and an empty line.

    Parameters
    ----------
    numeric : sequence of bool
        Which columns stand to the right; none by default.

    Returns
    -------
    list of str
        Lines.

    Examples
    --------
    >>> table(["queue", "drops"], [["a | b", "3"]], [False, True])
    ['| queue | drops |', '| --- | --: |', '| a \\| b | 3 |', '']
    """
    aligned = ["--:" if right else "---" for right in numeric or [False] * len(heads)]
    return ["| " + " | ".join(cell(text) for text in row) + " |" for row in (heads, aligned, *rows)] + [""]


def cell(text: str) -> str:
    """Escape a text for a table cell."""
    return line(text).replace("|", "\\|")


def line(text: str) -> str:
    """Join the lines of a text."""
    return " ".join(text.split())


def code(text: str) -> str:
    """Format a text as code; an empty text stays empty."""
    return f"`{text}`" if text else ""
