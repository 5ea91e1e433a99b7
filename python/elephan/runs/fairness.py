"""Fairness of a run, per replication, over the flows that count for fairness."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elephan.metrics import maxmin_shares
from elephan.metrics.values import FairnessValues
from elephan.runs.outcome import ReplicationOutcome
from elephan.scenario import Scenario

_shares = lru_cache(maxsize=16)(maxmin_shares)
"""Cached `maxmin_shares`: most points of a sweep have the same shares."""


def fairness_values(scenario: Scenario, outcomes: Sequence[ReplicationOutcome]) -> FairnessValues:
    """Return the values of the flows that count for fairness.

    Parameters
    ----------
    scenario : Scenario
    outcomes : sequence of ReplicationOutcome

    Returns
    -------
    FairnessValues

    Examples
    --------
    >>> from elephan.runs.outcome import simulate
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> small = Scenario.from_text(EXAMPLE)
    >>> fairness_values(small, [simulate(small, 0)]).shares.tolist()
    [5000000.0, 5000000.0]
    """
    # The group of each flow is the same in all replications and in the scenario's order.
    groups = outcomes[0].flows["group"]
    mine = np.array(scenario.network.counted())[groups]
    return FairnessValues(
        [outcome.flows["goodput_bps"][mine] for outcome in outcomes],
        [outcome.flows["base_rtt_s"][mine] for outcome in outcomes],
        fair_shares(scenario)[groups][mine],
    )


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
