"""Pages as HTML for notebooks: the answer and short tables, without pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elephan import display
from elephan.comparisons import ScenarioComparison
from elephan.pictures.table import Table
from elephan.reports import comparison, limit, model, model_sim_testbed, run, size, sweep
from elephan.reports.page import CHANGING, PageSection, ReportPage
from elephan.runs.result import RunResult
from elephan.runs.saved import FolderRun
from elephan.sizing.answer import SizeAnswer
from elephan.sizing.comparison import SizeComparison
from elephan.sizing.inverse import LimitAnswer
from elephan.sizing.saved import SavedLimit, SavedSize, SavedSizeComparison
from elephan.sweeps.result import SweepResult
from elephan.testbed import TestbedResult
from elephan.theory.models.card import ModelTable

CONTENTS: tuple[tuple[type | tuple[type, ...], Callable[[Any], ReportPage]], ...] = (
    ((RunResult, FolderRun, TestbedResult), lambda made: run.content(made.to_json(), made.scenario)),
    (ScenarioComparison, lambda made: model_sim_testbed.content(made.to_json(), made.scenario)),
    (SweepResult, lambda made: sweep.content(made.to_json(), made.sweep.base)),
    ((SizeAnswer, SavedSize), lambda made: size.content(made.to_json(), made.scenario, made.model_curves())),
    (SizeComparison, lambda made: comparison.content(made.to_json(), made.recommended().answer.scenario)),
    (SavedSizeComparison, lambda made: comparison.content(made.to_json(), made.variants[made.recommended].scenario)),
    (LimitAnswer, lambda made: limit.content(made.to_json(), made.at)),
    (SavedLimit, lambda made: limit.content(made.to_json(), made.scenario)),
    (ModelTable, lambda made: model.content(made.to_json())),
)
"""Page of each kind of result, without pictures."""


def described(of: object) -> ReportPage:
    """Return the page of a result, without pictures.

    Parameters
    ----------
    of : object
        A result of one of the kinds of `CONTENTS`.
    """
    return next(content(of) for kind, content in CONTENTS if isinstance(of, kind))


def shown(of: object) -> str:
    """Return the HTML that a notebook shows for a result.

    Parameters
    ----------
    of : object
        A result, as for `described`.
    """
    return html(described(of))


def html(page: ReportPage) -> str:
    """Write a page as HTML for a notebook: without pictures, and with the main columns of its tables only.

    Examples
    --------
    >>> from elephan.reports.page import ReportPage
    >>> html(ReportPage("Run", "Two <flows>", ("Why?",), "5", "It is five.")).count("&lt;flows&gt;")
    1
    """
    return display.joined(
        display.title(f"{page.title}: {page.headline}"),
        *([display.note(page.question[0])] if page.is_asked else []),
        display.note(page.sentence),
        *map(display.note, page.notes),
        *map(_section, page.parts),
        *(display.note(f"{command.says.removesuffix('.')}: {command.line}") for command in page.commands),
        *(
            display.note(f"Warning: {row['where']}: {row['message']}; {row['remedy']} ({row['rule']})")
            for row in page.warnings or ()
        ),
        display.note(
            "; ".join(f"{name} {value}" for name, value in page.provenance if name.partition(",")[0] not in CHANGING)
        ),
    )


def _section(section: PageSection) -> str:
    tables = [_table(table) for table in section.tables if table.rows and table.mains]
    if not tables:
        return ""
    inside = "".join((*map(display.note, section.lead), *tables))
    return display.folded(section.title, inside) if section.folded else inside


def _table(table: Table) -> str:
    def row(i: int) -> list[str]:
        return [table.rows[i][k].text for k in table.mains]

    heads, right = [table.heads[k] for k in table.mains], [table.numeric[k] for k in table.mains]
    note = display.note(table.note) if table.note else ""
    return display.text_table(heads, len(table.rows), row, right, table.title) + note
