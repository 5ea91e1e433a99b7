"""Change of the goodput of each group of flows from the first half of the measured time to the second."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elephan.runs.outcome import ReplicationOutcome
from elephan.scenario import Scenario
from elephan.stats import estimate

SAMPLES = 20
"""Minimum number of samples of the measured time, so that its middle is between two of them within 5 %."""

MOST_VALUES = 2_000_000
"""Maximum number of samples, over flows and replications, that are kept only to compare the halves: about 64 MB."""


def is_cheap(scenario: Scenario) -> bool:
    """Whether the samples of a run are few enough to be kept only to compare its halves."""
    every_s, flows = scenario.facts["every_s"], sum(group["flows"] for group in scenario.groups)
    if every_s is None or scenario.replications < 2:
        return False
    return bool(flows * scenario.replications * scenario.network.duration_s / every_s <= MOST_VALUES)


def changes(scenario: Scenario, outcomes: Sequence[ReplicationOutcome]) -> dict[int, tuple[float, float | None]]:
    """Return the relative change of each group's delivered segments from the first half to the second.

    Returns
    -------
    dict of int to (float, float or None)
        By index of the group: mean over replications, and half-width of its 95 % interval; nothing for groups whose
        samples were not kept.

    Examples
    --------
    >>> from elephan.runs import run
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> result = run(Scenario.from_text(EXAMPLE), series=True, replications=3)
    >>> change, half = changes(result.scenario, result.outcomes)[0]
    >>> abs(change) < 0.5, half > 0
    (True, True)
    """
    if not outcomes or not outcomes[0].has_series:
        return {}
    # Samples of a testbed may lack this column.
    counted = outcomes[0].samples.get("delivered_segments")
    if counted is None or not counted.size:
        return {}
    times = outcomes[0].samples["time_s"]
    begin, end = int(np.searchsorted(times, scenario.network.warmup_s)), len(times) - 1
    if end - begin < SAMPLES:
        return {}
    middle = (begin + end) // 2
    # With an odd number of intervals the second half is longer by one.
    lengths = times[middle] - times[begin], times[end] - times[middle]
    found = {}
    for group in scenario.network.bulk:
        relative = []
        for outcome in outcomes:
            counts = outcome.samples["delivered_segments"][outcome.flows["group"] == group.index]
            sums = counts[:, [begin, middle, end]].astype(float).sum(axis=0)
            first, second = (sums[1] - sums[0]) / lengths[0], (sums[2] - sums[1]) / lengths[1]
            relative.append(2 * (second - first) / (first + second) if first + second > 0 else 0.0)
        measured = estimate(relative)
        found[group.index] = (measured.mean, measured.ci95)
    return found
