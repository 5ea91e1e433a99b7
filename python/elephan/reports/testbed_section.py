"""A page's sections about a testbed: the verdict in words, the relay's records, and Linux's counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.pictures.table import Column, Table, cell, fact_column, tabulated
from elephan.pictures.words import plain
from elephan.reports.page import PageSection
from elephan.units import count, format_time

if TYPE_CHECKING:
    from elephan.results import TestbedRecord

ACKS = {"sent": "segments sent", "received": "ACKs received", "merged": "of these merged"}
COUNTS = {name: name for name in ("connections", "losses", "timeouts", "tests", "rising", "strays")}
"""Keys of the kernel's counters in a document, and their names in the table."""


def verdict(known: TestbedRecord) -> str:
    """State whether a testbed's run is valid, and why.

    Parameters
    ----------
    known : mapping
        Part ``testbed`` of a document.

    Examples
    --------
    >>> verdict({"valid": True, "objections": [], "punctuality": [{"p99_us": 64}, {"p99_us": 32}]})
    'The testbed was punctual in all 2 replications, 99 % of the packets less than 64 us late: its numbers are valid.'
    >>> verdict({"valid": False, "objections": ["replication 0: a device refused 3 packets"], "punctuality": [{}]})
    'Invalid run, its numbers mean nothing: replication 0: a device refused 3 packets.'
    """
    if not known["valid"]:
        return f"Invalid run, its numbers mean nothing: {'; '.join(known['objections'])}."
    records = known["punctuality"]
    often = "" if len(records) == 1 else f" in all {count(len(records), 'replication')}"
    late = format_time(1e-6 * max(record["p99_us"] for record in records))
    return f"The testbed was punctual{often}, 99 % of the packets less than {late} late: its numbers are valid."


def parts(known: TestbedRecord) -> list[PageSection]:
    """Make the sections about a testbed.

    Parameters
    ----------
    known : mapping
        Part ``testbed`` of a document.
    """
    return [part for part in (punctuality(known), counted(known)) if part is not None]


def punctuality(known: TestbedRecord) -> PageSection:
    """Make the section about the relay's punctuality.

    Parameters
    ----------
    known : mapping
        Part ``testbed`` of a document.
    """
    records = known["punctuality"]
    objected = tuple(objection.partition(":")[0] for objection in known["objections"])
    columns = (
        fact_column("replication", "number"),
        Column("valid", lambda record: cell(f"replication {record['number']}" not in objected)),
        fact_column("attempts", "attempts"),
        fact_column("50 % within [us]", "p50_us"),
        fact_column("99 % within [us]", "p99_us"),
        Column("latest [ms]", lambda record: cell(record["latest_s"], 1e3)),
        Column("longest pause [ms]", lambda record: cell(record["gap_s"], 1e3)),
        Column("late [%]", lambda record: cell(record["later"], 100)),
        *(fact_column(name, name) for name in ("drops", "suspect", "refused")),
        fact_column("priority", "hurried"),
    )
    rows = ({"number": number, **record} for number, record in enumerate(records))
    limit = plain(max(record["limit_s"] for record in records), "s")
    lead = "If the relay forwards packets late, or pauses and then reads many at once, it does not act like a router. "
    lead += "It records this. An affected replication is repeated; if that fails, too, the testbed is not valid."
    note = f"Late: by more than {limit}. Suspect: drops right after a pause of more than that. Refused: packets that a "
    note += "device did not take. Priority: whether the relay ran before all processes without priority. Replications "
    note += "count from 0, as in the files; of several attempts the last one counts."
    table = tabulated("Punctuality of the testbed", columns, rows, note)
    return PageSection("Punctuality", (lead,), tables=(table,), folded=True)


def counted(known: TestbedRecord) -> PageSection | None:
    """Make the section about the kernel's counters, and about what Linux did differently from the scenario.

    Parameters
    ----------
    known : mapping
        Part ``testbed`` of a document.

    Returns
    -------
    PageSection or None
        None if the kernel has no counts and did not differ from the scenario.
    """
    sentences = tuple(f"Not as the scenario says: {one}." for one in known["differences"])
    acks, laws = known["acks"], known["laws"]
    rows = [
        (cell(number), cell("all senders"), *(cell(record[name]) for name in ACKS), *[cell(None)] * len(COUNTS))
        for number, record in enumerate(acks)
    ]
    rows += [
        (cell(number), cell(law), *[cell(None)] * len(ACKS), *(cell(found.get(name)) for name in COUNTS))
        for number, record in enumerate(laws)
        for law, found in record.items()
    ]
    if not rows and not sentences:
        return None
    note = "Merged: ACKs that came while the kernel was busy sending, so that laws got several as one. Losses: those "
    note += "that reduced a window, timeouts included. Tests: gHSTCP's tests of round-trip times; rising: those after "
    note += "which it acted as Reno. Strays: thresholds beyond twice the highest window, which no law set."
    heads = ("replication", "of", *ACKS.values(), *COUNTS.values())
    table = Table("Counted by the kernel", heads, tuple(rows), note)
    return PageSection("What the kernel counted", sentences, tables=(table,), folded=True)
