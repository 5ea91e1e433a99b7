"""Small HTML tables for notebooks: readable in light and dark, by screen readers too, with everything escaped."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from elephan.units import format_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_ROWS = 24
"""Of a table; of longer ones the first and the last are shown."""

DIGITS = 4
"""Of a number."""

# Colours are the notebook's own: what is set here is taken from `currentColor`, so both themes work.
_TABLE = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums"
_CAPTION = "caption-side:top;text-align:left;font-weight:600;padding:.2em .6em .4em 0;color:inherit"
_HEAD = "text-align:{};padding:.15em .8em .15em 0;border-bottom:1px solid currentColor;font-weight:600"
_CELL = "text-align:{};padding:.15em .8em .15em 0;font-weight:{}"
_NOTE = "margin:.2em 0;opacity:.8"


def cell(value: object) -> str:
    """Write a value as a table shows it: numbers with four digits, what is measured with its interval.

    Parameters
    ----------
    value : object
        ``{"mean", "ci95"}`` is a measured quantity.

    Returns
    -------
    str
        Not escaped; a dash for what is not there.

    Examples
    --------
    >>> cell({"mean": 0.92344, "ci95": 0.00412}), cell(0.1234567), cell(None), cell(1250)
    ('0.9234 ± 0.0041', '0.1235', '–', '1250')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, dict) and set(value) == {"mean", "ci95"}:
        return _measured(value["mean"], value["ci95"])
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_number(value, DIGITS)
    return str(value)


def _measured(mean: float | None, half: float | None) -> str:
    """A mean with as many decimals as its interval has with two digits."""
    if mean is None:
        return "–"
    if not half:
        return format_number(mean, DIGITS)
    decimals = 1 - math.floor(math.log10(half))
    if not 0 <= decimals <= 6:
        return f"{format_number(mean, DIGITS)} ± {format_number(half, 2)}"
    return f"{mean:.{decimals}f} ± {half:.{decimals}f}"


def table(columns: Mapping[str, Sequence[Any]], caption: str = "", *, most: int = MOST_ROWS) -> str:
    """Write columns as an HTML table; numbers to the right, a row's first cell as its head.

    Parameters
    ----------
    columns : mapping of str to sequence, shape (rows,)
        Heads and values, see `cell`.
    caption : str
    most : int
        Rows that are shown.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> html = table({"law": ["reno", "<b>"], "utilization": [0.9, 1.0]}, "Laws & more")
    >>> "&lt;b&gt;" in html, "Laws &amp; more" in html, 'scope="col"' in html
    (True, True, True)
    """
    count = max((len(values) for values in columns.values()), default=0)
    shown: list[int | None] = list(range(count))
    if count > most:
        half = most // 2
        shown = [*range(half), None, *range(count - half, count)]
    sides = ["right" if _is_numeric(values) else "left" for values in columns.values()]
    heads = "".join(
        f'<th scope="col" style="{_HEAD.format(side)}">{escape(head)}</th>'
        for head, side in zip(columns, sides, strict=True)
    )
    rows = "".join(f"<tr>{_row(list(columns.values()), sides, i)}</tr>" for i in shown)
    said = f'<caption style="{_CAPTION}">{escape(caption)}</caption>' if caption else ""
    note_ = "" if count <= most else note(f"{count} rows")
    return f'<table style="{_TABLE}">{said}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{note_}'


def _row(columns: Sequence[Sequence[Any]], sides: Sequence[str], i: int | None) -> str:
    cells = []
    for k, (values, side) in enumerate(zip(columns, sides, strict=True)):
        text = "…" if i is None else escape(cell(values[i]))
        tag, weight = ('th scope="row"', "600") if k == 0 else ("td", "400")
        cells.append(f'<{tag} style="{_CELL.format(side, weight)}">{text}</{tag.partition(" ")[0]}>')
    return "".join(cells)


def _is_numeric(values: Iterable[Any]) -> bool:
    return all(value is None or isinstance(value, (int, float, dict)) or hasattr(value, "dtype") for value in values)


def facts(rows: Mapping[str, object], caption: str = "") -> str:
    """Write names and values below each other, the names as heads.

    Parameters
    ----------
    rows : mapping of str to object
        See `cell`.
    caption : str

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> "<th scope=" in facts({"buffer": "1250 packets"})
    True
    """
    lines = "".join(
        f'<tr><th scope="row" style="{_CELL.format("left", "600")}">{escape(name)}</th>'
        f'<td style="{_CELL.format("left", "400")}">{escape(cell(value))}</td></tr>'
        for name, value in rows.items()
    )
    said = f'<caption style="{_CAPTION}">{escape(caption)}</caption>' if caption else ""
    return f'<table style="{_TABLE}">{said}<tbody>{lines}</tbody></table>'


def note(text: str) -> str:
    """Write a sentence below a table.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> "5 &lt; 6" in note("5 < 6")
    True
    """
    return f'<p style="{_NOTE}">{escape(text)}</p>'


def joined(*parts: str) -> str:
    """Put parts below each other.

    Parameters
    ----------
    *parts : str
        HTML; empty ones are left out.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> joined("<p>a</p>", "", "<p>b</p>")
    '<div><p>a</p><p>b</p></div>'
    """
    return f"<div>{''.join(part for part in parts if part)}</div>"
