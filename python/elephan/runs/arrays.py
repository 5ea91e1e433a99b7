"""Results of all replications of a run, stacked in arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elephan.metrics.quantity import FAIRNESS, quantities
from elephan.metrics.values import buffer_packets
from elephan.results.parts import FlowName, RunArrays
from elephan.runs.fairness import fairness_values
from elephan.runs.files import flow_samples
from elephan.runs.outcome import ReplicationOutcome
from elephan.scenario import Scenario

Arrays = dict[str, NDArray[Any]]


def run_arrays(scenario: Scenario, outcomes: Sequence[ReplicationOutcome]) -> RunArrays:
    """Stack the columns of all replications.

    Parameters
    ----------
    scenario : Scenario
    outcomes : sequence of ReplicationOutcome

    Returns
    -------
    RunArrays

    Examples
    --------
    >>> from elephan.runs.outcome import simulate
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> small = Scenario.from_text(EXAMPLE)
    >>> run_arrays(small, [simulate(small, 0)]).of_flows["goodput_bps"].shape
    (1, 2)
    """
    first, links = outcomes[0], scenario.links
    groups = [group["name"] for group in scenario.groups]
    flows = tuple(
        FlowName(groups[g], i)
        for g, i in zip(first.flows["group"].tolist(), first.flows["index"].tolist(), strict=True)
    )
    facts = {
        "rate_bps": np.array([link["rate_bps"] for link in links], dtype=float),
        "buffer_packets": _known(map(buffer_packets, links)),
        "mean_rtt_s": _known(link["mean_rtt_s"] for link in links),
    }
    of_links = {name: np.stack([o.links[name] for o in outcomes]) for name in first.links}
    of_links |= {name: np.stack([o.derived[name] for o in outcomes]) for name in first.derived}
    fair = fairness_values(scenario, outcomes)
    own = [name for name in first.flows if name not in ("group", "index")]
    return RunArrays(
        tuple(link["name"] for link in links),
        flows,
        facts,
        {each.name: np.array(each.values(fair)) for each in quantities(FAIRNESS) if each.reported},
        of_links,
        {name: np.stack([o.flows[name] for o in outcomes]) for name in own},
        first.samples["time_s"] if first.has_series else np.empty(0),
        _link_samples(outcomes, len(links)),
        _flow_samples(outcomes),
    )


def _known(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _link_samples(outcomes: Sequence[ReplicationOutcome], links: int) -> Arrays:
    if not outcomes[0].samples["backlog_packets"].size:
        return {}
    found = {name: np.stack([o.samples[name] for o in outcomes]) for name in ("backlog_packets", "begun_bytes")}
    absent = np.full(outcomes[0].samples["time_s"].size, np.nan)
    for name in sorted({name for outcome in outcomes for shown in outcome.queue_gauges for name in shown}):
        rows = [[outcome.queue_gauges[i].get(name, absent) for i in range(links)] for outcome in outcomes]
        # Single precision, as in files.
        found[f"queue_{name}"] = np.array(rows, dtype=np.float32)
    return found


def _flow_samples(outcomes: Sequence[ReplicationOutcome]) -> Arrays:
    if not outcomes[0].samples["cwnd_segments"].size:
        return {}
    found = [flow_samples(outcome) for outcome in outcomes]
    return {name: np.stack([np.ma.filled(each[name], _missing(each[name])) for each in found]) for name in found[0]}


def _missing(values: NDArray[Any]) -> float:
    """Value of an unknown sample: NaN, or 0 for a counter."""
    return math.nan if values.dtype.kind == "f" else 0
