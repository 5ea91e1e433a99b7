"""Rows of a run in the index: the document of ``elephan run --json`` as one row, one per link, and one per group."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any, NamedTuple

from elephan.display import CI95
from elephan.metrics.quantity import FAIRNESS, GROUPS, LINKS, tabled
from elephan.results.tables import group_row, link_row, measured

if TYPE_CHECKING:
    from elephan.results import MeasuredRun


def _with_intervals(kind: str) -> tuple[str, ...]:
    """Return the columns of the quantities that every link, group or run has."""
    names = (each.key for each in tabled(kind) if each.applies is None)
    return tuple(full for name in names for full in (name, name + CI95))


RUN = (
    "seed",
    "replications",
    "duration_s",
    "warmup_s",
    "packets_delivered",
    *_with_intervals(FAIRNESS),
)
"""Columns of every run, in the order of display."""

LINK = ("rate_bps", "discipline", "buffer_packets", *_with_intervals(LINKS))
"""Columns of every link."""

GROUP = ("law", "recovery", "flows", *_with_intervals(GROUPS))
"""Columns of every group of flows; groups with transfers have further columns."""


class RunSummary(NamedTuple):
    """Rows of a run, as columns and their values."""

    run: dict[str, Any]
    links: list[dict[str, Any]]
    groups: list[dict[str, Any]]


def shown_as(kind: str, name: str, links: Container[str]) -> str:
    """Return the prefix of a link's or group's columns; a group with the name of a link gets a different one.

    Parameters
    ----------
    kind : str
        ``"links"`` or ``"groups"``.
    links : container of str
        Names of all links.

    Examples
    --------
    >>> shown_as("groups", "bulk", ["core"]), shown_as("groups", "core", ["core"])
    ('bulk', 'flows[core]')
    """
    return f"flows[{name}]" if kind == "groups" and name in links else name


def summarize(document: MeasuredRun) -> RunSummary:
    """Flatten a document into rows.

    Parameters
    ----------
    document : mapping
        Document of ``elephan run --json``.

    Returns
    -------
    RunSummary
        A measured quantity ``x`` becomes the columns ``x`` and ``x_ci95``; names of nested keys are joined with ``_``.

    Examples
    --------
    >>> import elephan
    >>> result = elephan.run(elephan.Scenario.from_text(elephan.EXAMPLE), replications=2)
    >>> summary = summarize(result.to_json())
    >>> summary.run["replications"], summary.links[0]["buffer_packets"], "drops_overflow" in summary.links[0]
    (2, 25, True)
    """
    run = {name: value for name, value in document["run"].items() if not isinstance(value, dict)}
    rows = [*map(link_row, document["links"])], [*map(group_row, document["groups"])]
    return RunSummary(measured(document["fairness"], run), *rows)
