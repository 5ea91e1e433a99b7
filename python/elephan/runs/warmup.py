"""``warmup = "auto"``: a pilot determines the end of the initial transient.

Source: MSER-5 (`elephan.stats.mser5`) on the sampled series of a pilot without warm-up: backlog of each link, cwnd and
sending rate (cwnd over srtt) of each group. Each series is averaged over the replications of the pilot at each instant,
since White1997's rule is for one series, and noise would hide the transient. The warm-up is the latest of all cuts.
Constant series are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elephan.errors import ScenarioError
from elephan.runs.outcome import ReplicationOutcome
from elephan.runs.parallel import ReplicationJob, simulate_all
from elephan.scenario import AUTO, Scenario
from elephan.stats import mser5

PILOT = 5
"""Replications of the pilot: the first ones of the run itself, so that the result depends on nothing else."""

SAMPLES = 50
"""Minimum number of samples for MSER-5."""

STEPS = (1, 2, 5, 10)
"""Warm-ups are rounded up to a multiple of one of these times a power of ten, about 1 % of the duration."""


def settle_warmup(
    scenario: Scenario, workers: int | None = None, on_done: Callable[[ReplicationJob], None] | None = None
) -> Scenario:
    """Return the scenario with an explicit warm-up.

    Parameters
    ----------
    scenario : Scenario
        Returned as it is unless its file says ``warmup = "auto"``.
    workers : int, optional
        Threads; the answer does not depend on it.
    on_done : callable, optional
        Called after each replication of the pilot.

    Returns
    -------
    Scenario
        Its `warmup_rule` names the rule by which the time was found.

    Raises
    ------
    ScenarioError
        If the scenario records too few samples, or does not settle in the first half of its duration.

    References
    ----------
    White1997, WhiteCobbSpratt2000.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> scenario = Scenario.from_text(EXAMPLE).replace({"warmup": "auto", "duration": "40 s"})
    >>> settled = settle_warmup(scenario)
    >>> settled.facts["warmup_s"] < 20, settled.warmup_rule
    (True, 'MSER-5 on a pilot of 5 replications')
    """
    if scenario.warmup_rule != AUTO:
        return scenario
    every_s = scenario.facts["every_s"]
    duration_s = scenario.network.duration_s
    if every_s is None or duration_s / every_s < SAMPLES:
        raise ScenarioError(
            f'{scenario.origin}: warmup: "auto" needs {SAMPLES} samples or more; '
            f'give record.every = "{duration_s / (4 * SAMPLES):.2g} s" or less, or a time'
        )
    pilot = scenario.replace({"warmup": "0 s"})
    outcomes = simulate_all(
        [ReplicationJob(pilot, replication) for replication in range(PILOT)],
        workers=workers,
        on_done=on_done,
        series=True,
    )
    cut = 0
    for name, series in _series(pilot, outcomes):
        found = mser5(series)
        if found is None:
            raise ScenarioError(
                f'{scenario.origin}: warmup: "auto" found none: by MSER-5 the {name} does not settle in the first half '
                f"of {duration_s:g} s; give a longer duration, or a time"
            )
        cut = max(cut, found)
    warmup_s = _round_up(cut * every_s, duration_s)
    settled = scenario.replace({"warmup": f"{warmup_s:.12g} s"})
    return replace(settled, warmup_rule=f"MSER-5 on a pilot of {PILOT} replications")


def _series(scenario: Scenario, outcomes: Sequence[ReplicationOutcome]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each series with its description, averaged over replications, shape (samples,)."""
    network = scenario.network
    for link in network.links:
        backlog = np.mean([outcome.samples["backlog_packets"][link.index] for outcome in outcomes], axis=0)
        if np.ptp(backlog) > 0:
            yield f"backlog of {link.name}", backlog
    for group in network.groups:
        if not group.is_tcp:
            continue
        cwnd, rate = [], []
        for outcome in outcomes:
            mine = outcome.flows["group"] == group.index
            window, srtt = (outcome.samples[name][mine] for name in ("cwnd_segments", "srtt_s"))
            cwnd.append(np.nansum(window, axis=0))
            # Before its first sample of the round-trip time a flow sends very little.
            rate.append(np.nansum(np.where(srtt > 0, window / np.where(srtt > 0, srtt, 1.0), 0.0), axis=0))
        for what, rows in (("cwnd", cwnd), ("sending rate", rate)):
            mean = np.mean(rows, axis=0)
            if np.ptp(mean) > 0:
                yield f"{what} of {group.name}", mean


def _round_up(warmup_s: float, duration_s: float) -> float:
    """Round up a warm-up; the result is less than the duration, since a cut is at most half of it."""
    least = duration_s / 100
    power = 10.0 ** math.floor(math.log10(least))
    step = next(s * power for s in STEPS if s * power >= least * (1 - 1e-9))
    return math.ceil(warmup_s / step - 1e-9) * step
