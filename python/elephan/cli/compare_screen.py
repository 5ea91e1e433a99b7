"""Screens of ``elephan compare``: the quantities of one scenario, or the points of a sweep with the largest gaps."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from elephan.cli.brief import brief
from elephan.cli.columns import GAP_HEAD, LINES, Column, line_width, narrowed, table_lines, terminal_width, wrapped
from elephan.cli.tables import LONG_HEAD, whole_table
from elephan.comparisons import ComparedQuantity, ScenarioComparison
from elephan.comparisons.several import SHOWN, PointComparison
from elephan.reports.model_sim_testbed import QUANTITY_FORMATS, half_of_gap, measured
from elephan.results.axes import short
from elephan.scenario import Scenario
from elephan.units import count, format_interval, format_measured

MODEL = "sawtooth"
"""Name of the model, as `elephan model` has it."""


def scenario_screen(compared: ScenarioComparison, title: str, *, real: bool) -> list[str]:
    """Return a row for each quantity of one scenario, and the reason if there is no model; `real`: with a testbed."""
    no_model, rows = compared.no_model, compared.rows
    if sum(group["flows"] for group in compared.scenario.groups) == 1:
        # The index of a single flow is always 1.
        rows = tuple(row for row in rows if row.name != "jain")
    sources = [*([] if no_model else ["model"]), "simulation", *(["testbed"] if real else [])]
    columns = [Column("", "", tuple(_named(row.name) for row in rows), is_text=True)]
    known = measured(compared.to_json())
    for one in sources:
        cells = tuple(_number(row, one, known.get(one, {})) for row in rows)
        columns.append(Column(f"model\n{MODEL}" if one == "model" else one, "", cells))
    if len(sources) > 1:
        # Last column: the difference of the two columns before it. If it does not fit with its interval, without it.
        other, against = sources[-2:]
        for of in (known, {}):
            gap = Column(f"{other} minus\n{against}", "", tuple(_gap(row, other, of) for row in rows))
            if line_width(with_gap := [*columns, gap]) <= terminal_width():
                break
        columns = with_gap
    if line_width(columns) > terminal_width():
        # Windows are in segments everywhere, and every delay here is a mean.
        cells = tuple(cell.removesuffix(" [segments]").removeprefix("mean ") for cell in columns[0].cells)
        columns[0] = replace(columns[0], cells=cells)
    said = wrapped(f"No model: the {MODEL} does not apply: {no_model}.") if no_model else []
    return [*wrapped(_of_link(title, compared.scenario)), *table_lines(columns), *said]


def _of_link(title: str, scenario: Scenario) -> str:
    """Return the title with the link that the quantities are of, if there are several."""
    links = scenario.links
    return title if len(links) == 1 else f"{title} (link {links[0]['name']})"


def points_table(
    found: Sequence[PointComparison], base: Scenario, title: str, *, real: bool, details: bool
) -> list[str]:
    """Return a row for each point of a sweep, or for those that fit on a screen, below the title."""
    names = list(dict.fromkeys(name for one in found for name in one.labels))
    other, against = compared_sources(real=real)
    labels = {name: brief([str(one.labels.get(name, "")) for one in found]) for name in names}
    cells = []
    for i, one in enumerate(found):
        rows, known = {row.name: row for row in one.comparison.rows}, measured(one.comparison.to_json())
        cells.append([labels[name][i] for name in names])
        for name in SHOWN:
            # Units are in the heads.
            gap = _gap(rows[name], other, known).partition(" ")[0]
            cells[-1] += [_number(rows[name], against, known.get(against, {})), gap]
    in_points = {row.name for one in found for row in one.comparison.rows if not row.relative}
    heads = list(short(names).values())
    for name in SHOWN:
        heads += [_named(name), f"{GAP_HEAD} [{'% points' if name in in_points else '%'}]"]
    if not any(row[-1] for row in cells) and all(not text for row in cells for text in row[len(names) + 1 :: 2]):
        # No point has a gap, as none has a model.
        keep = [*range(len(names)), *range(len(names), len(heads), 2)]
        heads, cells = [heads[i] for i in keep], [[row[i] for i in keep] for row in cells]
    head = wrapped(_of_link(title, base))
    if details:
        return [*head, *whole_table(heads, cells, [i >= len(names) for i in range(len(heads))], names=len(names))]
    gaps = [max((abs(row.gap(other) or 0.0) for row in one.comparison.rows), default=0.0) for one in found]
    return [*head, *_screen(heads, cells, len(names), gaps, LINES - len(head))]


def compared_sources(*, real: bool) -> tuple[str, str]:
    """Return the source whose gap a table of points shows, and the one that it is compared with."""
    return ("simulation", "testbed") if real else ("model", "simulation")


def points_notes(found: Sequence[PointComparison], *, real: bool) -> list[str]:
    """Return the notes below the table: reasons for missing models, the source of the values, and those of each gap."""
    reasons = [one.comparison.no_model for one in found] if not real else []
    other, against = compared_sources(real=real)
    notes = [
        f"no model at {reasons.count(why)} of {count(len(found), 'point')}: the {MODEL} does not apply: {why}"
        for why in dict.fromkeys(filter(None, reasons))
    ]
    of_model = f" (the {MODEL})" if other == "model" else ""
    return [*notes, f"values of the {against}; gap: {other}{of_model} minus {against}"]


def _screen(heads: list[str], cells: list[list[str]], labels: int, gaps: list[float], lines: int) -> list[str]:
    """Return a table of the points with the largest gaps. If it is too wide, the last quantities are omitted."""
    width = terminal_width()
    # Three lines are kept for the heads of the columns, and two for the note about omitted points and quantities.
    most = lines - 5
    largest = sorted(sorted(range(len(cells)), key=lambda i: -gaps[i])[:most])
    columns = []
    for i, head in enumerate(heads):
        name, _, unit = head.partition(" [")
        own = tuple(cells[row][i] for row in largest)
        if i < labels:
            columns.append(Column(head, "", own, is_text=True))
        else:
            columns.append(Column("\n".join(textwrap.wrap(name, LONG_HEAD)), unit.rstrip("]"), own))
    columns = narrowed(columns, width)
    # A quantity and its gap go together.
    group = 2 if any(column.head == GAP_HEAD for column in columns) else 1
    kept = len(columns)
    while kept > labels + group and line_width(columns[:kept]) > width:
        kept -= group
    left = [column.head.replace("\n", " ") for column in columns[kept::group]]
    left += [f"{len(cells) - most} more points, with smaller gaps"] if len(cells) > most else []
    return [*table_lines(columns[:kept]), *(wrapped(f"({', '.join(left)}: --details)") if left else [])]


def _named(name: str) -> str:
    """Return the name of a quantity as on pages, with its unit."""
    form = QUANTITY_FORMATS[name]
    return f"{form.title} [{form.unit}]" if form.unit else form.title


def _number(row: ComparedQuantity, source: str, intervals: Mapping[str, Any] = MappingProxyType({})) -> str:
    value, quantity = getattr(row, source), intervals.get(row.name)
    if value is None:
        return ""
    # Runs that all agree, as where only starts are random, have no interval to show.
    if quantity is not None and quantity["ci95"]:
        return format_measured(quantity, QUANTITY_FORMATS[row.name].scale, of=row.name, joint="±")
    return f"{value * QUANTITY_FORMATS[row.name].scale:.4g}"


def _gap(row: ComparedQuantity, other: str, known: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> str:
    """Format a gap; with its 95 % interval if `known` (by source and quantity) has intervals of measured values."""
    gap = row.gap(other)
    if gap is None:
        return ""
    form = QUANTITY_FORMATS[row.name]
    scale, unit = (100.0, " %") if row.relative else (form.scale, " points" if form.unit == "%" else "")
    half = half_of_gap(row.to_json(), other, known) * scale
    if half:
        text = format_interval(abs(gap) * scale, half, joint="±")
        return f"{'-' if gap < 0 and not text.startswith('0±') else '+'}{text}{unit}"
    text = f"{gap * scale:+.{1 if row.relative else 2 if unit else 4}f}{unit}"
    return text.replace("-0.00 ", "+0.00 ")
