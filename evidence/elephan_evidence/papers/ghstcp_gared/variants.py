"""Tables 1 to 6 in the paper's own simulator, as inferred from them: the variant for every claim about the tables.

This is the one variant of all six tables: ``experiments/profile.toml`` declares its settings and their origin.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from elephan_evidence.papers.paper import Paper
from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns

if TYPE_CHECKING:
    from elephan_evidence.papers.paper import Claim

PROFILE = "profile-"
"""Prefix of the names of the variant's experiments; the rest is the table's name."""


@cache
def claims() -> dict[str, Claim]:
    """Return the paper's claims by id."""
    return Paper.read("ghstcp-gared").claims


def profiled(runs: ExperimentRuns, needed: tuple[str, ...]) -> ExperimentRuns:
    """Return the tables with all cells of the profile instead of their own.

    Parameters
    ----------
    runs : ExperimentRuns
        Runs of the profile.
    needed : tuple of str
        Names of the tables' experiments.

    Raises
    ------
    NotRunError
        If the profile of a table was not run.
    """
    tables = {name: runs[f"{PROFILE}{name}"] for name in needed}
    return ExperimentRuns({name: ExperimentPoints(name, points.points) for name, points in tables.items()}, runs.quick)
