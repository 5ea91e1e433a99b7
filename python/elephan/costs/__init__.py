"""Estimated cost of a run, before it starts: packets, processor time, peak memory, bytes written.

The estimate is computed from the scenario and the machine's measured speed; the scenario is not simulated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan.costs.available import AvailableMemory, available_memory
from elephan.costs.check import check_memory, memory_of, of_runs, parts_of, too_much
from elephan.costs.machine import ns_per_packet
from elephan.costs.memory import PROCESS, expected_memory
from elephan.costs.traffic import ExpectedTraffic, expected_traffic, recorded
from elephan.costs.work import expected_work
from elephan.network import Network
from elephan.scenario import AUTO, Scenario
from elephan.units import format_bytes, format_long_time, format_number
from elephan.workers import default_workers

__all__ = [
    "FACTORS",
    "AvailableMemory",
    "RunEstimate",
    "SweepEstimate",
    "available_memory",
    "check_memory",
    "estimate",
    "estimate_points",
    "memory_of",
]

FACTORS = {"packets": 2.5, "cpu_s": 3.5, "memory_bytes": 1.25}
"""Factors within which 95 % of the estimates were right for the scenarios that `tools/estimate_check.py` runs:
the speed workloads, `scenarios/`, and random ones of all laws, recoveries, disciplines and kinds of traffic."""

PILOT = 1
"""Number of replications that are added for the pilot, which determines an automatic warm-up."""


@dataclass(frozen=True)
class RunEstimate:
    """Estimated cost of a run.

    Parameters
    ----------
    title : str
    replications, workers : int
        Number of replications, and how many of them run at the same time.
    packets : float [packets]
        Data packets sent in all replications together.
    cpu_s : float [s]
        Processor time of all replications together.
    wall_s : float [s]
        Elapsed time, if each worker has its own core.
    memory_bytes : float [bytes]
        Peak memory, including the interpreter.
    parts_bytes : mapping of str to float [bytes]
        Memory by component.
    written_bytes : float [bytes]
        Size of the files in the folder of ``--out``, without figures. It is a rough estimate, because columns are
        compressed.
    available : AvailableMemory or None
        Available memory; None if the system does not report it.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> found = estimate(Scenario.from_text(EXAMPLE), workers=1)
    >>> found.packets > 4000, found.memory_bytes < 1e9, found.refusal()
    (True, True, '')
    """

    title: str
    replications: int
    workers: int
    packets: float
    cpu_s: float
    wall_s: float
    memory_bytes: float
    parts_bytes: Mapping[str, float]
    written_bytes: float
    available: AvailableMemory | None

    def refusal(self) -> str:
        """Reason why the run does not fit into the available memory, in one line; empty if it fits."""
        return too_much(self.memory_bytes, self.available, self.parts_bytes)

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``elephan estimate --json``."""
        return _document(self, {"scenario": self.title, "replications": self.replications})


def estimate(
    scenario: Scenario | Path | str,
    *,
    replications: int | None = None,
    workers: int | None = None,
    series: bool = False,
) -> RunEstimate:
    """Estimate the packets, processor time, memory and bytes written of a run. The scenario is not simulated.

    Parameters
    ----------
    scenario : Scenario or path
    replications : int, optional
        Number of replications, instead of the file's.
    workers : int, optional
        Number of replications that run at the same time; by default the number of cores.
    series : bool
        Whether samples of cwnd, srtt and backlog are kept, as with ``--out``.

    Returns
    -------
    RunEstimate
        Mostly right within the factors of `FACTORS`.

    Raises
    ------
    ScenarioError
        If the scenario cannot be read.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> estimate(Scenario.from_text(EXAMPLE), replications=3).replications
    3
    """
    read = Scenario.from_any(scenario).replace(replications=replications)
    network = read.network
    traffic = expected_traffic(network)
    memory = expected_memory(network, traffic, series=series)
    runs = network.replications + PILOT * (read.warmup_rule == AUTO)
    at_once = min(workers or default_workers(), runs)
    cpu_s = runs * expected_work(network, traffic, memory) * ns_per_packet() * 1e-9
    return RunEstimate(
        title=read.title,
        replications=network.replications,
        workers=at_once,
        packets=runs * sum(traffic.sent),
        cpu_s=cpu_s,
        wall_s=cpu_s * math.ceil(runs / at_once) / runs,
        memory_bytes=PROCESS + of_runs(memory, runs, at_once),
        parts_bytes=parts_of(memory, runs, at_once),
        written_bytes=_written(network, traffic, network.replications),
        available=available_memory(),
    )


@dataclass(frozen=True)
class SweepEstimate:
    """Estimated total cost of the points of a sweep, with the same fields as `RunEstimate`.

    Parameters
    ----------
    title : str
    points, workers : int
        Number of points, and how many of them run at the same time.
    packets, cpu_s, wall_s, memory_bytes, parts_bytes, written_bytes, available
        As for `RunEstimate`. Memory is that of the largest points that run at the same time.
    """

    title: str
    points: int
    workers: int
    packets: float
    cpu_s: float
    wall_s: float
    memory_bytes: float
    parts_bytes: Mapping[str, float]
    written_bytes: float
    available: AvailableMemory | None

    def refusal(self) -> str:
        """Reason why the points do not fit into the available memory, in one line; empty if they fit."""
        return too_much(self.memory_bytes, self.available, self.parts_bytes)

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``elephan estimate --json``."""
        return _document(self, {"sweep": self.title, "points": self.points})


def estimate_points(
    title: str, scenarios: Iterable[Scenario], *, workers: int | None = None, series: bool = False
) -> SweepEstimate:
    """Estimate the cost of several scenarios run as a sweep: each in one thread, several at the same time.

    Parameters
    ----------
    title : str
    scenarios : iterable of Scenario
    workers : int, optional
        Number of points that run at the same time; by default the number of cores.
    series : bool
        Whether samples of cwnd, srtt and backlog are kept.

    Returns
    -------
    SweepEstimate

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> base = Scenario.from_text(EXAMPLE)
    >>> found = estimate_points("two", [base, base.replace(seed=2)], workers=1)
    >>> found.points, found.packets == 2 * estimate(base).packets
    (2, True)
    """
    each = [estimate(scenario, workers=1, series=series) for scenario in scenarios]
    at_once = max(1, min(workers or default_workers(), len(each)))
    largest = sorted(each, key=lambda found: -found.memory_bytes)[:at_once]
    parts: dict[str, float] = {}
    for found in largest:
        for name, size in found.parts_bytes.items():
            parts[name] = parts.get(name, 0.0) + size
    cpu_s = sum(found.cpu_s for found in each)
    longest_s = max((found.cpu_s for found in each), default=0.0)
    return SweepEstimate(
        title=title,
        points=len(each),
        workers=at_once,
        packets=sum(found.packets for found in each),
        cpu_s=cpu_s,
        wall_s=max(cpu_s / at_once, longest_s),
        memory_bytes=PROCESS + sum(found.memory_bytes - PROCESS for found in largest),
        parts_bytes=parts,
        written_bytes=sum(found.written_bytes for found in each),
        available=available_memory(),
    )


def _document(found: RunEstimate | SweepEstimate, head: dict[str, Any]) -> dict[str, Any]:
    room = found.available
    return head | {
        **{key: getattr(found, key) for key in ("workers", "packets", "cpu_s", "wall_s", "memory_bytes")},
        "memory_parts_bytes": dict(found.parts_bytes),
        "written_bytes": found.written_bytes,
        "available_bytes": None if room is None else room.size_bytes,
        "available_by": None if room is None else room.limit,
        "fits": not found.refusal(),
        "factors": dict(FACTORS),
    }


def in_words(found: RunEstimate | SweepEstimate) -> str:
    """Format an estimate as one line.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE
    >>> in_words(estimate(Scenario.from_text(EXAMPLE)))[:6]
    'about '
    """
    return (
        f"about {format_number(found.packets / 1e6, 3)} million packets, {format_long_time(found.cpu_s)} of processor, "
        f"{format_bytes(found.memory_bytes)} of memory"
    )


def _written(network: Network, traffic: ExpectedTraffic, runs: int) -> float:
    """Size of a run's files: documents and compressed columns; samples are those of the first replication [bytes]."""
    flows = sum(group.flows for group in network.groups)
    samples = 0.0 if network.every_s is None else network.duration_s / network.every_s
    document = 1500.0 + 1900.0 * len(network.links) + 1000.0 * len(network.groups)
    rows = runs * flows
    columns = 5800.0 + 60.0 * min(rows, 50) + 8.0 * rows + 60.0 * runs * len(network.links)
    # Samples take about a byte per value after compression. Windows take less if they hardly change, and three bytes
    # for fast flows. A flow has six values; growing counters take two bytes, constant ones none.
    series = 3400.0 + samples * (4.5 * flows + 2.0 * len(network.links))
    return document + columns + series + 10.0 * sum(recorded(network, traffic).values())
