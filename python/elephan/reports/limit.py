"""The page of the inverse question: the load for which a buffer is sufficient, and the RED thresholds it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.pictures.table import Table, cell, measured
from elephan.reports.page import PageSection, ReportPage, TerminalCommand
from elephan.reports.size import group_cell, group_head, wanted
from elephan.reports.sources import origin, set_up
from elephan.sizing.limit_words import limit_sentence, said
from elephan.sizing.saved import SavedLimit
from elephan.sizing.targets import asked_of
from elephan.units import count, format_time

if TYPE_CHECKING:
    from pathlib import Path

Document = dict[str, Any]

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
    document, scenario = saved.to_json(), saved.scenario
    facts = scenario.links[scenario.link_index(document["link"])]
    parts = [PageSection("Everything measured", (), (), (rows_table(document),))]
    figures = saved.pictures()
    if figures:
        parts.insert(0, PageSection("Pictures", (), figures))
    found, note = document["amount"], document["note"]
    asked = f"Link {document['link']}: {wanted(document['target'])}."
    return ReportPage(
        kind="What a buffer is enough for",
        title=scenario.title,
        question=(QUESTIONS[document["find"]], asked, set_up(scenario, facts)),
        headline="No answer" if found is None else said(document["find"], found),
        sentence=limit_sentence(document),
        tone="good" if document["met"] else "bad",
        notes=(f"{note[:1].upper()}{note[1:]}.",) if note else (),
        commands=(TerminalCommand(document["tc"], "Sets RED on Linux."),) if document["tc"] else (),
        parts=tuple(parts),
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


def rows_table(document: Document) -> Table:
    """List every measured value of the searched quantity; for RED, with a drop-tail queue beside it."""
    groups = [group["name"] for group in document["rows"][0]["groups"]] if document["rows"] else []
    keys = [asked_of(of) for of in zip(*(row["groups"] for row in document["rows"]), strict=True)]
    listed = [(said(document["find"], row["amount"]), row["amount"], row) for row in document["rows"]]
    if document["drop_tail"] is not None:
        listed.append(("drop-tail, same buffer", None, document["drop_tail"]))
    rows = tuple(
        (
            cell(text),
            cell("answer" if amount is not None and amount == document["amount"] else ""),
            measured(row, "utilization", 100),
            measured(row, "queueing_delay_s", 1e3),
            measured(row, "queueing_delay_p95_s", 1e3),
            measured(row, "loss_ratio", 100),
            *(group_cell(group, key) for group, key in zip(row["groups"], keys, strict=True)),
            measured(row, "jain"),
            cell(row["replications"]),
        )
        for text, amount, row in listed
    )
    heads = (
        document["find"],
        "",
        "utilization [%]",
        "delay [ms]",
        "95 % wait at most [ms]",
        "loss [%]",
        *(group_head(name, key) for name, key in zip(groups, keys, strict=True)),
        "Jain's index",
        "replications",
    )
    return Table("Measured, with 95 % intervals", heads, rows)
