"""Fairness of a run, per replication, over the flows that count for fairness."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.metrics import jain, jain_maxmin, maxmin_shares, rtt_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elephan.runs.outcome import ReplicationOutcome
    from elephan.scenario import Scenario

_shares = lru_cache(maxsize=16)(maxmin_shares)
"""Cached `maxmin_shares`: most points of a sweep have the same shares."""


def fairness(scenario: Scenario, outcomes: Sequence[ReplicationOutcome]) -> dict[str, list[float]]:
    """Compute the part ``fairness`` of a run's document.

    Parameters
    ----------
    scenario : Scenario
    outcomes : sequence of ReplicationOutcome

    Returns
    -------
    dict of str to list of float
        ``jain``, ``jain_maxmin``, ``rtt_ratio`` of each replication [1]; NaN where there is none.

    Examples
    --------
    >>> from elephan.runs.outcome import simulate
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> small = Scenario.from_text(EXAMPLE)
    >>> list(fairness(small, [simulate(small, 0)]))
    ['jain', 'jain_maxmin', 'rtt_ratio']
    """
    # The group of each flow is the same in all replications and in the scenario's order.
    groups = outcomes[0].flows["group"]
    mine = np.array(scenario.network.counted())[groups]
    shares = fair_shares(scenario)[groups][mine]
    goodputs = [outcome.flows["goodput_bps"][mine] for outcome in outcomes]
    rtts = [outcome.flows["base_rtt_s"][mine] for outcome in outcomes]
    return {
        "jain": [jain(x) for x in goodputs],
        "jain_maxmin": [jain_maxmin(x, shares) for x in goodputs],
        "rtt_ratio": list(map(rtt_ratio, goodputs, rtts)),
    }


def fair_shares(scenario: Scenario) -> NDArray[np.float64]:
    """Max-min fair rate of a flow of each group; the demand of datagrams is their offered rate.

    Returns
    -------
    ndarray, shape (groups,) [bit/s]
    """
    fair: dict[str, Any] = scenario.facts["fair"]
    counts = tuple(group["flows"] for group in scenario.groups)
    caps = tuple(np.inf if cap is None else cap for cap in fair["caps_bps"])
    return _shares(tuple(fair["rates_bps"]), tuple(map(tuple, fair["paths"])), counts, caps)
