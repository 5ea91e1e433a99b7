"""The page of the inverse question: the load for which a buffer is sufficient, and the RED thresholds it needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elephan.pictures.table import Column, Table, cell, fact_column, tabulated
from elephan.pictures.words import capital
from elephan.reports.page import PageSection, ReportPage, TerminalCommand
from elephan.reports.size import cost_columns, wanted
from elephan.reports.sources import origin, set_up
from elephan.scenario import Scenario
from elephan.sizing.limit_words import limit_sentence, said
from elephan.sizing.saved import SavedLimit
from elephan.units import count, format_time

if TYPE_CHECKING:
    from elephan.sizing.documents import LimitDocument, ValueRow

QUESTIONS = {
    "rtt": "How long a path is this buffer enough for?",
    "rate": "How fast a link is this buffer enough for?",
    "flows": "From how many flows on is this buffer enough?",
    "red": "Which thresholds does RED need with this buffer?",
    "pool": "How much shared memory is enough?",
    "alpha": "Which alpha does the link need with this memory?",
}


def page(folder: Path) -> ReportPage:
    """Make the page of a folder that ``elephan size --find … --out`` wrote.

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    saved = SavedLimit(folder)
    figures = saved.pictures()
    return content(saved.to_json(), saved.scenario, (PageSection("Pictures", figures=figures),) if figures else ())


def content(document: LimitDocument, scenario: Scenario, pictures: Sequence[PageSection] = ()) -> ReportPage:
    """Describe what a buffer is enough for.

    Parameters
    ----------
    document : mapping
        Document of ``elephan size --find … --json``.
    scenario : Scenario
        Scenario with the value found.
    pictures : sequence of PageSection
        Sections with pictures.
    """
    facts = scenario.links[scenario.link_index(document["link"])]
    found, note = document["amount"], document["note"]
    asked = f"Link {document['link']}: {wanted(document['target'])}."
    return ReportPage(
        kind="What a buffer is enough for",
        title=scenario.title,
        question=(QUESTIONS[document["find"]], asked, set_up(scenario, facts)),
        headline="No answer" if found is None else said(document["find"], found),
        is_asked=True,
        dangers=1,
        sentence=limit_sentence(document),
        tone="good" if document["met"] else "bad",
        notes=(f"{capital(note)}.",) if note else (),
        commands=(TerminalCommand(document["tc"], "Sets RED on Linux."),) if document["tc"] else (),
        parts=(*pictures, PageSection("Everything measured", tables=(rows_table(document),))),
        warnings=tuple(document["warnings"]),
        scenario=scenario.text,
        resolved=scenario.canonical,
        provenance=(
            *origin(document["run"]),
            ("replications", str(document["replications"])),
            (
                "simulated",
                f"{count(document['simulated']['runs'], 'run')}, {count(document['simulated']['packets'], 'packet')}",
            ),
            ("time taken", format_time(document["wall_s"])),
        ),
    )


def rows_table(document: LimitDocument) -> Table:
    """List every measured value of the searched quantity; for RED, with a drop-tail queue beside it."""
    rows, drop_tail = document["rows"], document["drop_tail"]
    shown: list[ValueRow] = [*rows] if drop_tail is None else [*rows, drop_tail]
    columns = (
        Column(
            document["find"],
            lambda row: cell("drop-tail, same buffer" if row is drop_tail else said(document["find"], row["amount"])),
        ),
        Column("", lambda row: cell("answer" if row is not drop_tail and row["amount"] == document["amount"] else "")),
        *cost_columns(rows, group_losses=False),
        fact_column("replications", "replications"),
    )
    return tabulated("Measured, with 95 % intervals", columns, shown)
