"""The page of a store: all of its runs with their labels, and any quantity against any label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elephan.display import CI95
from elephan.pictures.table import Column, Table, cell, fact_column, label_column, tabulated
from elephan.reports.explorer import explorer, quantity
from elephan.reports.page import PageSection, ReportPage, TerminalCommand
from elephan.reports.sources import made_by
from elephan.store import Store, StoreError
from elephan.units import count

FIRST = ("utilization", "queueing_delay_s", "loss_ratio", "goodput_bps", "jain")
"""Most important quantities, by the suffix of their column's name; they come first."""

COLUMNS = ("utilization", "loss_ratio", "queueing_delay_s", "goodput_bps", "jain")
"""Quantities that have a column in the table of runs."""

MOST_SHOWN = 3000
"""Maximum number of rows that are drawn; a sweep of more has a page of its own."""


def page(folder: Path) -> ReportPage:
    """Make the page of a store.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    with _opened(folder) as store:
        labels = store.table(columns=("labels",)).columns
        rows: list[dict[str, Any]] = store.table(columns=("labels", "summary")).arrow.to_pylist()
        failures: list[dict[str, Any]] = list(store.failures())
    names = [name for name in labels if name != "run"]
    runs = len({row["run"] for row in rows})
    parts = []
    if len(rows) <= MOST_SHOWN:
        labelled = [{name: row[name] for name in names} for row in rows]
        parts += explorer(labelled, _quantities(rows, names), "which label")
    parts.append(PageSection("Runs", tables=(_table(rows, names),)))
    if failures:
        parts.append(PageSection("Failed points", tables=(_failures(failures),)))
    return ReportPage(
        kind="Store",
        title=f"Store {folder.resolve().name}",
        question=("Which runs are kept here?",),
        headline=count(runs, "run"),
        sentence=f"{count(len(rows), 'row')}: one for each run and set of labels"
        + (f"; {count(len(failures), 'point')} failed." if failures else "."),
        parts=tuple(parts),
        warnings=None,
        reproduce=(
            TerminalCommand(
                "elephan store export --store STORE --columns labels,summary", "The rows with all columns."
            ),
        ),
        provenance=(made_by(),),
    )


def _opened(folder: Path) -> Store:
    """Open a store; a writable one first merges the results of shards."""
    try:
        return Store(folder)
    except StoreError:
        return Store(folder, readonly=True)


def _quantities(rows: Sequence[dict[str, Any]], labels: Sequence[str]) -> list[Any]:
    """Return the numeric columns that are not labels, the most important ones first."""
    columns = [name for name in (rows[0] if rows else {}) if name not in labels and not name.endswith(CI95)]
    numbers = [
        name
        for name in columns
        if name != "run" and any(isinstance(row[name], float) for row in rows) and f"{name}{CI95}" in rows[0]
    ]
    numbers.sort(key=lambda name: next((i for i, end in enumerate(FIRST) if name.endswith(end)), len(FIRST)))
    found = []
    for name in numbers:
        unit = "bit/s" if name.endswith("_bps") else "s" if name.endswith("_s") else ""
        unit = "%" if name.endswith(("utilization", "loss_ratio")) else unit
        title = name.removesuffix("_bps").removesuffix("_s").replace("_", " ")
        found.append(quantity(title, unit, [_measured(row, name) for row in rows]))
    return found


def _table(rows: Sequence[dict[str, Any]], labels: Sequence[str]) -> Table:
    def of(name: str) -> Column:
        return Column(name.replace("_", " "), lambda row: cell(_measured(row, name)))

    shown = [name for name in (rows[0] if rows else {}) if name.endswith(COLUMNS)]
    run = Column("run", lambda row: cell(str(row["run"])[:12]))
    columns = (*map(label_column, labels), *map(of, shown), run)
    return tabulated("Runs, with 95 % intervals", columns, rows, where="the store")


def _measured(row: dict[str, Any], name: str) -> dict[str, float | None]:
    return {"mean": row[name], "ci95": row.get(f"{name}{CI95}")}


def _failures(failures: Sequence[dict[str, Any]]) -> Table:
    labels = Column("labels", lambda row: cell(", ".join(f"{name} = {value}" for name, value in row["labels"].items())))
    return tabulated("Points that failed", (labels, fact_column("error", "error")), failures, where="the store")
