"""Causes of a link's idle time: each part of it is charged to one cause, by counterfactual replay.

Drops and marks at the link that follow each other closely are a loss event. The engine forks the run just before each
event; in the fork the link drops and marks nothing. The idle time that the fork does not have is charged to the event.
The idle time that is left without any drops is charged to the limits of the senders: slow start, an application, a
receive window.
"""

from __future__ import annotations

import json
from pathlib import Path

from elephan import _native
from elephan.causes.answer import LIMITS, Charge, IdleCauses, Period
from elephan.causes.sources import check_same, check_scenario, find
from elephan.runs.saved import ReplicatedRun
from elephan.runs.threads import monitor_of_thread
from elephan.scenario import Scenario

__all__ = ["FORKS", "LIMITS", "Charge", "IdleCauses", "Period", "why"]

FORKS = 8
"""Maximum number of events to which the idle time between two events is charged."""


def why(
    run: Scenario | ReplicatedRun | str | Path,
    link: str | None = None,
    replication: int = 1,
    *,
    forks: int = FORKS,
    store: str | Path | None = None,
) -> IdleCauses:
    """Find the causes of the idle time of a link, and what its packets waited for.

    Parameters
    ----------
    run : Scenario, run, or path
        A scenario or its file; a run, or the folder that it was written to; or the id of a run in a store. A run is
        simulated again, and must have as many arrivals and drops as before.
    link : str, optional
        Name of the link; by default the first that carries data.
    replication : int
        Number of the replication, from 1.
    forks : int
        Maximum number of events to which the idle time between two events is charged: the latest ones. The rest is
        charged to the limits of the senders, see `IdleCauses.cut_ps`.
    store : path, optional
        Folder of the store, if `run` is an id.

    Returns
    -------
    IdleCauses

    Raises
    ------
    InputError
        If there is no such run, link or replication; if the scenario has laws that are not elephan's, or the link is an
        array, shares memory or is one of XCP; or if a saved run differs from the new one.

    Notes
    -----
    In a fork, a link under a discipline that decides at departure or chooses among flows (CoDel, FQ-CoDel, DRR) becomes
    first-in first-out.

    Examples
    --------
    >>> import elephan
    >>> causes = why(elephan.Scenario.from_text(elephan.EXAMPLE))
    >>> sum(charge.idle_ps for charge in causes.charges) == causes.idle_ps
    True
    """
    asked = find(run, store)
    scenario = asked if isinstance(asked, Scenario) else asked.scenario
    index = scenario.link_index(link)
    check_scenario(scenario, index, replication)
    text = _native.idle_causes(scenario.canonical, replication - 1, index, forks=forks, monitor=monitor_of_thread())
    found = json.loads(text)
    if not isinstance(asked, Scenario):
        check_same(asked, index, replication, (found["arrived"], found["dropped"]))
    return IdleCauses(scenario, str(scenario.links[index]["name"]), replication, found)
