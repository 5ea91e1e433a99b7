"""Samples of a run: windows and round-trip times of flows, backlog and bytes of links, at common instants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from elephan.runs.saved import ReplicatedRun


@dataclass(frozen=True)
class SampledRun:
    """First replication over time, and the backlog of all replications.

    Parameters
    ----------
    time_s : ndarray, shape (samples,) [s]
    flows : ndarray of str, shape (flows,)
        The group of each flow.
    cwnd_segments, srtt_s : ndarray, shape (flows, samples)
        NaN if there is none.
    backlog_packets, begun_bytes : ndarray, shape (links, samples)
    backlogs : dict of str to ndarray
        Backlogs of each link, over all replications after the warm-up.
    """

    time_s: NDArray[np.float64]
    flows: NDArray[Any]
    cwnd_segments: NDArray[np.float64]
    srtt_s: NDArray[np.float64]
    links: list[str]
    backlog_packets: NDArray[np.float64]
    begun_bytes: NDArray[np.float64]
    backlogs: dict[str, NDArray[np.float64]]

    def distribution(self, link: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the cumulative distribution of the backlog of a link over the samples.

        Parameters
        ----------
        link : str

        Returns
        -------
        values, share : ndarray
        """
        values, counts = np.unique(self.backlogs.get(link, np.empty(0)), return_counts=True)
        return values, np.cumsum(counts) / max(1, counts.sum())


def sampled(run: ReplicatedRun) -> SampledRun:
    """Return the samples of a run in memory.

    Parameters
    ----------
    run : RunResult or another run with a scenario and outcomes
        It must have sampled series.

    Returns
    -------
    SampledRun

    Examples
    --------
    >>> from elephan.runs import run
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> sampled(run(Scenario.from_text(EXAMPLE), replications=1, series=True)).backlog_packets.shape
    (1, 40)
    """
    first, names = run.outcomes[0], [link["name"] for link in run.scenario.links]
    groups = np.array([group["name"] for group in run.scenario.groups], dtype=object)
    series = {name: np.asarray(values, dtype=float) for name, values in first.samples.items()}
    has_flows, has_links = series["cwnd_segments"].size > 0, series["backlog_packets"].size > 0
    late = series["time_s"] >= run.scenario.facts["warmup_s"]
    every = [outcome.samples["backlog_packets"] for outcome in run.outcomes] if has_links else []
    return SampledRun(
        series["time_s"],
        groups[first.flows["group"]] if has_flows else groups[:0],
        series["cwnd_segments"],
        np.where(series["srtt_s"] > 0, series["srtt_s"], np.nan),
        names if has_links else [],
        series["backlog_packets"],
        series["begun_bytes"],
        {name: np.concatenate([backlog[i, late] for backlog in every]) for i, name in enumerate(names) if every},
    )
