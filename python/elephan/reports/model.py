"""The page of a model's table, as ``elephan model NAME --out`` writes it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.display import CI95
from elephan.errors import InputError
from elephan.pictures.figure import COLOURS, Axis, Figure, Series, colour, extent
from elephan.pictures.numbers import span
from elephan.pictures.table import Column, Table, cell, tabulated
from elephan.pictures.words import capital, number
from elephan.reports.page import PageSection, ReportPage, TerminalCommand
from elephan.reports.sources import made_by
from elephan.runs.saved import read_document
from elephan.units import count, format_quantity, scaled

if TYPE_CHECKING:
    from elephan.results import ModelDocument

KEYS = {"model", "title", "units", "rows"}
"""Keys of a model's table; no other document has all of them."""

DECADE = 8.0
"""Values that span more than this factor are shown on a logarithmic axis."""


def document_of(folder: Path) -> ModelDocument | None:
    """Find the document of a model's table.

    Returns
    -------
    dict or None
        The first one if there are several.
    """
    for path in sorted(folder.glob("*.json")):
        try:
            document: ModelDocument = read_document(path)
        except InputError:
            continue
        if set(document) >= KEYS and document["rows"]:
            return document
    return None


def page(folder: Path) -> ReportPage:
    """Make the page of a folder that ``elephan model NAME --out`` wrote.

    Raises
    ------
    InputError
        If the folder holds no table.
    """
    document = document_of(folder)
    if document is None:
        raise InputError(f"{folder}: holds no model's table; write it with elephan model NAME --out")
    return content(document, drawn=True, where="the Parquet file")


def content(document: ModelDocument, *, drawn: bool = False, where: str = "") -> ReportPage:
    """Describe the table of a model.

    Parameters
    ----------
    document : mapping
        Document of ``elephan model --json``.
    drawn : bool
        Whether the page has pictures.
    where : str
        Location of all rows; if it is given, the table has only as many as a page can hold.
    """
    from elephan.theory.models import MODELS  # noqa: PLC0415 (SciPy)

    rows, units = document["rows"], document["units"]
    known = MODELS.get(document["model"])
    given = [name for name in rows[0] if name in known.parameters] if known is not None else _given(rows)
    varied = [name for name in given if len({str(row[name]) for row in rows}) > 1]
    computed = [name for name in rows[0] if name not in given]
    fixed = [
        f"{name.replace('_', ' ')} {_value_text(rows[0][name], units[name])}" for name in given if name not in varied
    ]
    x = known.picture.x if known is not None and known.picture is not None else None
    x = x if x in varied else next((name for name in varied if not isinstance(rows[0][name], str)), None)
    titles = {name: column.meaning for name, column in known.columns.items()} if known is not None else {}
    figures = _figures(document, x, varied, computed, titles) if drawn and x is not None else ()
    parts = [PageSection("Pictures", figures=figures)] if figures else []
    parts.append(PageSection("Table", tables=(_table(rows, units, [*varied, *computed], where),)))
    simulated = document.get("simulation")
    notes = (f"Simulated beside it: {simulated['says']}",) if simulated else ()
    return ReportPage(
        kind="Analytic model",
        title=document["title"],
        question=(f"What does the model {document['model']} say for {', '.join(fixed) or 'these parameters'}?",),
        headline=f"{count(len(rows), 'row')} of {document['model']}",
        is_asked=True,
        sentence=_sentence(rows, units, computed),
        notes=(*notes, *(f"What it does not predict: {line}" for line in document.get("fails", ()))),
        parts=tuple(parts),
        warnings=None,
        reproduce=(TerminalCommand(_command(document, given), "The same table."),),
        provenance=(("model", document["model"]), ("source", document.get("source", "unknown")), made_by()),
    )


def _given(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Guess the parameters of a model unknown to this version: columns of words, and the first column of numbers."""
    words = [name for name, value in rows[0].items() if isinstance(value, str)]
    first = next((name for name in rows[0] if name not in words), None)
    return [*words, first] if first is not None else words


def _value_text(value: Any, unit: str) -> str:
    return value if isinstance(value, str) else format_quantity(value, unit)


def _sentence(rows: Sequence[Mapping[str, Any]], units: Mapping[str, str], computed: Sequence[str]) -> str:
    phrases = []
    for name in computed[:4]:
        values = [row[name] for row in rows if isinstance(row[name], int | float)]
        if values and not name.endswith(CI95):
            low, high = _value_text(min(values), units[name]), _value_text(max(values), units[name])
            words = _bare(name)
            phrases.append(f"{words} {low}" if low == high else f"{words} from {low} to {high}")
    return f"It says: {'; '.join(phrases)}." if phrases else "It predicts nothing here."


def _bare(name: str) -> str:
    """Strip the unit from a column's name; it is shown beside the name."""
    for ending in ("_packets_per_s", "_packets", "_segments", "_bps", "_s"):
        if name.endswith(ending) and name != ending[1:]:
            return name.removesuffix(ending).replace("_", " ")
    return name.replace("_", " ")


def _figures(
    document: ModelDocument, x: str, varied: Sequence[str], computed: Sequence[str], titles: dict[str, str]
) -> tuple[Figure, ...]:
    """Draw each column against one parameter, with a line for each combination of the others."""
    rows, units = document["rows"], document["units"]
    others = [name for name in varied if name != x]
    labels = [", ".join(f"{name} {_value_text(row[name], units[name])}" for name in others) for row in rows]
    factor, unit = scaled(units[x], [row[x] for row in rows])
    along = np.array([row[x] for row in rows], dtype=float) / factor
    axis = Axis(x.replace("_", " "), "" if unit == "1" else unit, _scale(along))
    found = []
    for name in computed:
        if name.endswith(CI95) or isinstance(rows[0][name], str):
            continue
        values = np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=float)
        scale, written = scaled(units[name], values[np.isfinite(values)].tolist())
        values = values / scale
        half = np.array([row.get(name + CI95) or 0.0 for row in rows]) / scale if name + CI95 in rows[0] else None
        series = []
        for k, label in enumerate(dict.fromkeys(labels)):
            own = np.flatnonzero(np.array([text == label for text in labels]) & np.isfinite(values))
            own = own[np.argsort(along[own], kind="stable")]
            if own.size:
                low, high = (None, None) if half is None else (values[own] - half[own], values[own] + half[own])
                kind: Any = "line" if half is None else "points"
                words, dashed = label or name.replace("_", " "), k >= len(COLOURS)
                line = Series(words, along[own], values[own], low, high, colour(k), kind, dashed=dashed)
                series.append(line)
        if series:
            y = Axis(_bare(name), "" if written == "1" else written, _scale(values))
            phrases = ". ".join(f"{s.name}: {span(s, y.unit)}" for s in series[:6])
            ends = f"{number(float(along.min()))} to {number(float(along.max()))} {axis.unit}".strip()
            title = capital(titles.get(name, y.label))
            alt = f"{title} for {axis.label} from {ends}. {phrases}."
            found.append(Figure(name.replace("_", "-"), title, alt, axis, y, tuple(series), link="x", height=280))
    return tuple(found)


def _scale(values: Any) -> Any:
    low, high = extent([values])
    return "log" if low > 0 and high / low >= DECADE else "linear"


def _table(rows: Sequence[Mapping[str, Any]], units: Mapping[str, str], names: Sequence[str], where: str) -> Table:
    def of(name: str) -> Column:
        numbers = [row[name] for row in rows if isinstance(row[name], int | float)]
        scale, unit = scaled(units[name], numbers) if numbers else (1.0, "")
        head = _bare(name) + (f" [{unit}]" if unit not in ("", "1") else "")
        return Column(head, lambda row: cell(row[name], 1 / scale))

    return tabulated("Every row", map(of, names), rows, where=where)


def _command(document: ModelDocument, given: Sequence[str]) -> str:
    rows, units = document["rows"], document["units"]
    words = []
    for name in given:
        values = list(dict.fromkeys(_written(row[name], units[name]) for row in rows))
        words.append(f"--set {shlex.quote(name + '=' + ','.join(values))}")
    simulate = " --simulate" if "simulation" in document else ""
    return f"elephan model {document['model']} {' '.join(words)}{simulate} --out model/"


def _written(value: Any, unit: str) -> str:
    """Format a value as ``--set`` takes it."""
    if isinstance(value, str):
        return value
    return f"{value:.12g}" + (f" {unit}" if unit not in ("", "1") else "")
