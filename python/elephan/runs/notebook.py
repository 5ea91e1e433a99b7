"""Notebook display of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elephan import display
from elephan.metrics.quantity import GROUPS, LINKS, shown
from elephan.units import count

if TYPE_CHECKING:
    from elephan.results import RunDocument, WarningDocument


def page(document: RunDocument) -> str:
    """Return the HTML that a notebook shows for a run.

    Parameters
    ----------
    document : mapping
        Document of ``elephan run --json``.

    Returns
    -------
    str
        HTML.
    """
    run, fairness = document["run"], document["fairness"]
    of_links: dict[str, Sequence[Any]] = {
        "link": [row["name"] for row in document["links"]],
        "queue": [row["queue"]["discipline"] for row in document["links"]],
        "buffer [packets]": [row["buffer_packets"] or "unlimited" for row in document["links"]],
        **_columns(document["links"], LINKS),
    }
    of_groups: dict[str, Sequence[Any]] = {
        "flows": [f"{row['name']}: {row['flows']} {row['law'] or 'datagrams'}" for row in document["groups"]],
        **_columns(document["groups"], GROUPS),
        **{
            head: _scaled([{key: {}} | row for row in document["groups"]], key, 1e3)
            for key, head in (("rtt_s", "rtt of pings [ms]"), ("delay_s", "delay [ms]"))
            if any(key in row for row in document["groups"])
        },
    }
    how = (
        f"{count(run['replications'], 'replication')} of {run['duration_s']:g} s, {run['warmup_s']:g} s of it warm-up; "
        f"seed {run['seed']}; Jain's index {display.cell(fairness['jain'])}; ± is half of a 95 % interval"
    )
    return display.joined(
        display.table(of_links, run["scenario"]),
        display.table(of_groups),
        display.note(how),
        warned(document["warnings"]),
    )


def _columns(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, Sequence[Any]]:
    return {
        each.page_head: _scaled([{each.name: {}} | dict(row) for row in rows], each.name, each.shown_unit[1])
        for each in shown(kind)
        if each.shown is not None and each.shown.has_values(each.name, rows)
    }


def warned(warnings: Iterable[WarningDocument]) -> str:
    """Return the HTML of the warnings of a document.

    Returns
    -------
    str
        HTML.
    """
    return "".join(
        display.note(f"Warning: {row['where']}: {row['message']}; {row['remedy']} ({row['rule']})") for row in warnings
    )


def _scaled(rows: Sequence[Mapping[str, Any]], name: str, factor: float) -> list[dict[str, float | None]]:
    """Return a measured quantity of every row, converted to another unit."""
    return [{key: None if value is None else factor * value for key, value in row[name].items()} for row in rows]
