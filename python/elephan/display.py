"""Display of results: small tables as text and HTML, and access to figures.

The HTML is readable in light and dark notebooks and by screen readers, and everything in it is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError, unknown
from elephan.extras import require
from elephan.units import format_measured, format_number, resolution

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure

MOST_ROWS = 24
"""Maximum number of rows of a table; of longer tables the first and the last rows are shown."""

DIGITS = 4
"""Significant digits of a number."""

# Colours are those of the notebook (`currentColor`), so both themes work.
_TABLE = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums"
_CAPTION = "caption-side:top;text-align:left;font-weight:600;padding:.2em .6em .4em 0;color:inherit"
_HEAD = "text-align:{};padding:.15em .8em .15em 0;border-bottom:1px solid currentColor;font-weight:600"
_CELL = "text-align:{};padding:.15em .8em .15em 0;font-weight:{}"
_NUMBER = ";white-space:nowrap"
_SCROLL = "overflow-x:auto"
_NOTE = "margin:.2em 0;opacity:.8"
_TITLE = "margin:.2em 0;font-weight:600"


def cell(value: object, of: str = "") -> str:
    """Format a value for a table: numbers with four digits, measured quantities with their intervals.

    Parameters
    ----------
    value : object
        A mapping ``{"mean", "ci95"}`` is a measured quantity.
    of : str
        Name of the column, whose limits and resolution an interval respects.

    Returns
    -------
    str
        Not escaped; a dash for a missing value.

    Examples
    --------
    >>> cell({"mean": 0.92344, "ci95": 0.00412}), cell(0.1234567), cell(None), cell(1250)
    ('0.923 ± 0.004', '0.1235', '–', '1250')
    >>> cell({"mean": 0.98, "ci95": 0.05}, "utilization")
    '0.98 (0.93 to 1)'
    """
    value = _plain(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, dict) and set(value) == {"mean", "ci95"}:
        if value["mean"] is None:
            return "–"
        half = value["ci95"] if resolution(of) else value["ci95"] or None
        return format_measured({**value, "ci95": half}, 1.0, DIGITS, of=of)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_number(value, DIGITS)
    return str(value)


def table(columns: Mapping[str, Sequence[Any]], caption: str = "", *, most: int = MOST_ROWS) -> str:
    """Return columns as an HTML table; numbers are right-aligned, the first cell of a row is its head.

    Parameters
    ----------
    columns : mapping of str to sequence, shape (rows,)
        Heads and values, see `cell`.
    most : int
        Maximum number of rows shown.

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
    right = [_is_numeric(values) for values in columns.values()]
    shown = columns.items()
    return text_table([*columns], count, lambda i: [cell(v[i], name) for name, v in shown], right, caption, most=most)


def text_table(
    heads: Sequence[str],
    count: int,
    row: Callable[[int], Sequence[str]],
    right: Sequence[bool],
    caption: str = "",
    *,
    most: int = MOST_ROWS,
) -> str:
    """Return texts as an HTML table; the first cell of a row is its head.

    Parameters
    ----------
    count : int
        Number of rows.
    row : callable
        Returns the texts of a row by its index; called only for the rows that are shown.
    right : sequence of bool
        Whether each column is right-aligned, as numbers are.
    most : int
        Maximum number of rows shown.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> "<td" in text_table(["law", "loss [%]"], 1, lambda i: ["reno", "0.1"], [False, True])
    True
    """
    rows = [["…"] * len(heads) if i is None else row(i) for i in _ends(count, most)]
    sides = ["right" if is_right else "left" for is_right in right]
    head = "".join(
        f'<th scope="col" style="{_HEAD.format(side)}">{escape(text)}</th>'
        for text, side in zip(heads, sides, strict=True)
    )
    body = "".join(f"<tr>{_row(texts, sides)}</tr>" for texts in rows)
    caption_html = f'<caption style="{_CAPTION}">{escape(caption)}</caption>' if caption else ""
    inside = f"{caption_html}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    note_ = "" if count <= most else note(f"{count} rows")
    return f'<div style="{_SCROLL}"><table style="{_TABLE}">{inside}</table></div>{note_}'


def _ends(count: int, most: int) -> list[int | None]:
    """Return the indices of the rows to show, with None for the omitted ones."""
    half = most // 2
    return [*range(count)] if count <= most else [*range(half), None, *range(count - half, count)]


def _row(texts: Sequence[str], sides: Sequence[str]) -> str:
    cells = []
    for k, (text, side) in enumerate(zip(texts, sides, strict=True)):
        tag, weight = ('th scope="row"', "600") if k == 0 else ("td", "400")
        style = f"{_CELL.format(side, weight)}{_NUMBER * (side == 'right')}"
        cells.append(f'<{tag} style="{style}">{escape(text)}</{tag.partition(" ")[0]}>')
    return "".join(cells)


def _is_numeric(values: Sequence[Any]) -> bool:
    """Whether a column is right-aligned; long columns are judged by their first value."""
    few = values if isinstance(values, list) else values[:1]
    return all(value is None or isinstance(value, (int, float, dict)) for value in map(_plain, few))


def _plain(value: Any) -> Any:
    """Convert a NumPy or Arrow value to a Python value."""
    for plainly in ("as_py", "item"):
        if hasattr(value, plainly):
            return getattr(value, plainly)()
    return value


def facts(rows: Mapping[str, object], caption: str = "") -> str:
    """Return names and values as an HTML table, one pair per row.

    Parameters
    ----------
    rows : mapping of str to object
        See `cell`.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> "<th scope=" in facts({"buffer": "1250 packets"})
    True
    """
    lines = "".join(f"<tr>{_row([name, cell(value)], ['left', 'left'])}</tr>" for name, value in rows.items())
    caption_html = f'<caption style="{_CAPTION}">{escape(caption)}</caption>' if caption else ""
    return f'<table style="{_TABLE}">{caption_html}<tbody>{lines}</tbody></table>'


def title(text: str) -> str:
    """Return a title as HTML.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> "R&amp;D" in title("R&D")
    True
    """
    return f'<p style="{_TITLE}">{escape(text)}</p>'


def note(text: str) -> str:
    """Return a sentence as HTML, to be placed below a table.

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


def folded(title: str, inside: str) -> str:
    """Return HTML that is shown on a click on its title.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> folded("Rules & models", "<p>a</p>")
    '<details><summary>Rules &amp; models</summary><p>a</p></details>'
    """
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def joined(*parts: str) -> str:
    """Stack HTML parts.

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


CI95 = "_ci95"
"""Suffix of a column that holds the half-width of the 95 % interval of another column."""


class ColumnTable(Mapping[str, Sequence[Any]]):
    """A small table by column; column ``NAME_ci95`` is the half-width of the 95 % interval of column ``NAME``.

    Parameters
    ----------
    columns : mapping of str to sequence, shape (rows,)
        Values that are ``{"mean", "ci95"}`` become two columns.
    caption : str
    shown : sequence of str
        Names of the columns to show; all if empty.

    Examples
    --------
    >>> links = ColumnTable({"name": ["core"], "utilization": [{"mean": 0.9, "ci95": 0.01}]}, "links")
    >>> links["utilization"], links["utilization_ci95"]
    ([0.9], [0.01])
    >>> links
    links
    name  utilization
    core  0.900 ± 0.010
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]], caption: str = "", shown: Sequence[str] = ()) -> None:
        self.caption = caption
        self.shown = tuple(shown)
        self._columns: dict[str, Sequence[Any]] = {}
        for name, values in columns.items():
            if isinstance(values, list) and any(isinstance(value, dict) for value in values):
                self._columns[name] = [value and value["mean"] for value in values]
                self._columns[name + CI95] = [value and value["ci95"] for value in values]
            else:
                self._columns[name] = values

    def __getitem__(self, name: object) -> Sequence[Any]:
        if not isinstance(name, str):
            hint = f"columns have names; write for example table[{next(iter(self))!r}]"
            raise InputError(f"{self.caption or 'table'}: [{name!r}]: {hint}")
        if name not in self._columns:
            raise InputError(unknown("column", name, self._columns))
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._columns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return max((len(values) for values in self._columns.values()), default=0)

    def to_arrow(self) -> Any:
        """Return a `pyarrow.Table`; unknown values are null.

        Raises
        ------
        InputError
            If Arrow is not installed.
        """
        require("to_arrow", "pyarrow")
        import pyarrow as pa  # noqa: PLC0415 (slow to import)

        return pa.table(
            {
                name: pa.array(values, from_pandas=True) if hasattr(values, "dtype") else values
                for name, values in self._columns.items()
            }
        )

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`.

        Raises
        ------
        InputError
            If pandas or Arrow is not installed.
        """
        require("to_pandas", "pandas", "pyarrow")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return a `polars.DataFrame`.

        Raises
        ------
        InputError
            If polars or Arrow is not installed.
        """
        require("to_polars", "polars", "pyarrow")
        import polars as pl  # noqa: PLC0415 (optional)

        return pl.from_arrow(self.to_arrow())

    def _shown(self) -> dict[str, Sequence[Any]]:
        """Columns formatted for display, with their intervals."""
        shown: dict[str, Sequence[Any]] = {}
        for name in [name for name in self.shown if name in self._columns] or self._columns:
            values = self._columns[name]
            if name.endswith(CI95) and name.removesuffix(CI95) in shown:
                continue
            halves = self._columns.get(name + CI95)
            if halves is None:
                shown[name] = values
            else:
                shown[name] = [{"mean": m, "ci95": h} for m, h in zip(values, halves, strict=True)]
        return shown

    def __repr__(self) -> str:
        shown = self._shown()
        rows = [
            ["…" if i is None else cell(values[i], name) for name, values in shown.items()]
            for i in _ends(self.rows, MOST_ROWS)
        ]
        widths = [max(map(len, column)) for column in zip(shown, *rows, strict=True)]
        lines = [
            "  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip() for row in [[*shown], *rows]
        ]
        return "\n".join([self.caption, *lines] if self.caption else lines)

    def _repr_html_(self) -> str:
        return table(self._shown(), self.caption)


_draw: Callable[[object], dict[str, Figure]]
_show: Callable[[object], str]


def draw_with(draw: Callable[[object], dict[str, Figure]]) -> None:
    """Register the function that draws results. `elephan` calls this on import, because figures are in a higher layer.

    Parameters
    ----------
    draw : callable
        Returns the figures of a result by name: `elephan.plots.figures`.
    """
    global _draw
    _draw = draw


def show_with(show: Callable[[object], str]) -> None:
    """Register the function that writes the HTML of results; see `draw_with`.

    Parameters
    ----------
    show : callable
        Returns the HTML of a result: `elephan.reports.notebook.shown`.
    """
    global _show
    _show = show


def page(of: object) -> str:
    """Return the HTML that a notebook shows for a result: the page of `elephan.reports`, without its pictures.

    Parameters
    ----------
    of : object
        A result of one of the kinds that have pages.

    Returns
    -------
    str
        HTML.
    """
    return _show(of)


def figures(of: object) -> dict[str, Figure]:
    """Draw all figures of a result, by name.

    Parameters
    ----------
    of : RunResult, SizeAnswer, SizeComparison or ModelTable

    Returns
    -------
    dict of str to Figure

    Notes
    -----
    Results do not import plots, which is a layer above: `elephan.plots` gives its function to `draw_with`.
    """
    return _draw(of)


def figure(of: object, name: str | None) -> Figure:
    """Draw one of the figures.

    Parameters
    ----------
    of : object
        As in `figures`.
    name : str or None
        None means the first.

    Raises
    ------
    InputError
        If there is no such picture.
    """
    drawn = figures(of)
    if not drawn:
        raise InputError(
            "plot: there is nothing to draw; a run needs its series, run(scenario, series=True), and a sweep numbers"
        )
    if name is not None and name not in drawn:
        raise InputError(f"plot: {unknown('picture', name, drawn)}")
    return drawn[name or next(iter(drawn))]
