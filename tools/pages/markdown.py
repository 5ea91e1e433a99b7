"""Pieces of Markdown that the generated parts share."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False) -> list[str]:
    """Write a table, of words or of numbers with a name in front, and an empty line after it."""
    lines = [head, ["---", *["--:" if numbers else "---"] * (len(head) - 1)], *rows]
    return ["| " + " | ".join(cell(text) for text in line) + " |" for line in lines] + [""]


def cell(text: str) -> str:
    """Write a text so that it stays in its cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Write a text as code; nothing for nothing."""
    return f"`{text}`" if text else ""
