"""Quantities of each buffer of a link, in the form of JSON documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from elephan.scenario import Scenario
from elephan.sizing.curve import BufferCurve

if TYPE_CHECKING:
    from elephan.results import PartDocument
    from elephan.sizing.documents import BufferRow, CountedGroupRow, LinkQuantities, ValueRow

PREDICTED = ("utilization", "loss_ratio", "queueing_delay_s")
METRICS = (*PREDICTED, "jain")
"""Metrics that are measured and compared; models predict the first three."""

MEASURED = (*METRICS, "queueing_delay_p95_s")
"""Metrics that are shown for every buffer."""


def measured_rows(scenario: Scenario, link: int, curve: BufferCurve) -> dict[int, BufferRow]:
    """Return the measurements with each buffer, of the link and of groups of flows, as in JSON.

    Parameters
    ----------
    scenario : Scenario
    link : int
    curve : BufferCurve

    Returns
    -------
    dict of int to dict
        By buffer [packets], rising; groups in the order of `Network.crossing`.
    """
    crossing = scenario.network.crossing(link)
    rows = {}
    for buffer in curve.buffers:
        groups: list[CountedGroupRow] = [
            {
                "name": group.name,
                "law": group.law or None,
                "flows": group.flows,
                **curve.group_quantities(buffer, i),
            }
            for i, group in enumerate(crossing)
        ]
        quantities: Any = {metric: curve.estimate(buffer, metric).to_json() for metric in MEASURED}
        rows[buffer] = buffer_row(scenario.links[link], buffer, curve.replications(buffer), quantities, groups)
    return rows


def buffer_row(
    facts: Mapping[str, Any],
    buffer: int,
    replications: int,
    quantities: LinkQuantities,
    groups: list[CountedGroupRow],
) -> BufferRow:
    """Return the row of a buffer [packets] of a link with these facts."""
    return {
        "buffer_packets": buffer,
        "buffer_bytes": round(buffer * facts["packet_bytes"]),
        "buffer_bdp": buffer / facts["bdp_packets"],
        "replications": replications,
        **quantities,
        "groups": groups,
    }


def row_document(scenario: Scenario, link: int, buffer: float | None, row: BufferRow | ValueRow) -> PartDocument:
    """Format the measurements with one buffer, or one value of the searched quantity, like the document of a run.

    Parameters
    ----------
    scenario : Scenario
    link : int
    buffer : int or None [packets]
    row : mapping
        As in documents of sizings: quantities of the link, Jain's index and ``groups``.

    Returns
    -------
    dict
        ``links``, ``groups`` and ``fairness``.
    """
    facts = scenario.links[link]
    measured: Mapping[str, Any] = row
    shown: Any = {
        "name": facts["name"],
        "rate_bps": facts["rate_bps"],
        "queue": {"discipline": facts["discipline"]},
        "buffer_packets": buffer,
        **{name: measured[name] for name in MEASURED if name != "jain"},
    }
    recoveries = [group.recovery or None for group in scenario.network.crossing(link)]
    groups: list[Any] = [
        {"flows": None, **group, "recovery": recovery}
        for group, recovery in zip(row["groups"], recoveries, strict=True)
    ]
    return {"links": [shown], "groups": groups, "fairness": {"jain": row["jain"]}}
