"""Screen of ``elephan size --find …``: what the existing buffer is sufficient for, or the thresholds that RED needs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from elephan.cli.columns import LINES, Column, command_lines, table_lines, wrapped
from elephan.cli.size_screen import decided_by, group_columns, link_columns, with_decisive
from elephan.sizing.inverse import LimitAnswer
from elephan.units import count

if TYPE_CHECKING:
    from elephan.sizing.documents import LimitDocument, LimitRow, ValueRow

HEADS = {
    "rtt": ("mean RTT", ""),
    "rate": ("rate", ""),
    "flows": ("flows", ""),
    "red": ("min_th", "packets"),
    "pool": ("pool", ""),
    "alpha": ("alpha", ""),
}


def limit_screen(answer: LimitAnswer, title: str) -> list[str]:
    """Return the screen of an answer, with the amounts nearest to it.

    Returns
    -------
    list of str
        At most `LINES` lines, unless the terminal has fewer than 80 columns.
    """
    from elephan.sizing.limit_words import limit_sentence  # noqa: PLC0415 (--help does without NumPy)

    document = answer.to_json()
    head = [*wrapped(title), *wrapped(limit_sentence(document))]
    # If windows of receivers limit the flows, the answer is not about the buffer: this is always shown.
    dangers = [f"{document['note']}."] if document["note"] else []
    dangers += [
        f"{warned['where']}: {warned['message']}; {warned['remedy']}."
        for warned in document["warnings"]
        if warned["rule"] == "receiver-limited"
    ]
    notes = [line for danger in dangers for line in wrapped(danger, mark="  ! ")]
    tc = command_lines(document["tc"], "Linux: ") if document["tc"] else []
    warned = f"{count(len(document['warnings']), 'warning')}, " if document["warnings"] else ""
    ran = f"{count(len(document['rows']), 'amount')}, {count(document['simulated']['runs'], 'run')}"
    last = wrapped(f"({ran}, {document['wall_s']:.0f} s; {warned}all of them: --details)")
    rows = document["rows"]
    # Lines of heads, and one for drop-tail.
    above = len(table_lines(limit_columns(document, rows))) - len(rows)
    room = LINES - len(head) - len(notes) - len(tc) - len(last) - above
    rows = _nearest(rows, document["amount"], max(room, 3))
    table = with_decisive(lambda keys: limit_columns(document, rows, keys), decided_by(answer.targets))
    return [*head, *notes, *table, *tc, *last]


def limit_columns(document: LimitDocument, rows: Sequence[LimitRow], decisive: Collection[str] = ()) -> list[Column]:
    """Return the columns of the table, with a value per row; for RED a drop-tail queue follows below.

    Parameters
    ----------
    decisive : collection of str
        As in `link_columns`.
    """
    from elephan.sizing.limit_words import said  # noqa: PLC0415 (--help does without NumPy)

    beside = document["drop_tail"]
    amounts = [said(document["find"], row["amount"]) for row in rows]
    if document["find"] in ("flows", "red"):
        amounts = [amount.split()[0] for amount in amounts]
    marks = ["<- answer" if row["amount"] == document["amount"] else "" for row in rows]
    measured: list[ValueRow] = [*rows]
    if beside is not None:
        measured.append(beside)
        amounts.append("drop-tail")
        marks.append("same buffer")
    head, unit = HEADS[document["find"]]
    return [
        Column(head, unit, tuple(amounts)),
        *link_columns(measured, decisive),
        *group_columns(measured, decisive),
        Column("", "", tuple(marks), is_text=True),
    ]


def _nearest(rows: Sequence[LimitRow], amount: float | None, most: int) -> list[LimitRow]:
    """Return as many rows around the answer as fit."""
    place = next((i for i, row in enumerate(rows) if row["amount"] == amount), len(rows) - 1)
    first = min(max(0, place - most // 2), max(0, len(rows) - most))
    return list(rows[first : first + most])
