"""Memory check before a simulation: a run that would not fit is refused."""

from __future__ import annotations

from collections.abc import Mapping

from elephan.costs.available import AvailableMemory, available_memory
from elephan.costs.memory import PROCESS, ExpectedMemory, expected_memory
from elephan.costs.traffic import expected_traffic
from elephan.errors import InputError
from elephan.network import Network
from elephan.scenario import Scenario
from elephan.units import format_bytes
from elephan.workers import default_workers


def memory_of(network: Network, *, workers: int | None = None, series: bool = False) -> tuple[float, dict[str, float]]:
    """Return the estimated peak memory of a run and its parts, without measuring the machine's speed [bytes].

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> memory_of(Scenario.from_text(EXAMPLE).network, workers=1)[0] < 1e9
    True
    """
    memory = expected_memory(network, expected_traffic(network), series=series)
    at_once = min(workers or default_workers(), network.replications)
    runs = network.replications
    return PROCESS + of_runs(memory, runs, at_once), parts_of(memory, runs, at_once)


def check_memory(
    scenario: Scenario, *, workers: int | None = None, series: bool = False, copies: int = 1, force: bool = False
) -> None:
    """Refuse a run that needs more memory than is available.

    Parameters
    ----------
    copies : int
        Number of such scenarios that run at the same time.
    force : bool
        Whether to skip the check.

    Raises
    ------
    InputError
        The message states the memory needed, the memory available, and the main component.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> check_memory(Scenario.from_text(EXAMPLE))
    """
    if force:
        return
    peak, parts = memory_of(scenario.network, workers=workers, series=series)
    reason = too_much(PROCESS + copies * (peak - PROCESS), available_memory(), parts)
    if reason:
        raise InputError(f"{scenario.origin}: {reason}; --force runs it anyway")


def too_much(needed: float, room: AvailableMemory | None, parts: Mapping[str, float]) -> str:
    """Return why a run needs more memory than is available, and its largest component; empty if the run fits.

    Examples
    --------
    >>> too_much(8e9, AvailableMemory(2_000_000_000, "ulimit -v"), {"flows": 7e9, "links": 1e9})
    'needs about 8 GB of memory, 7 GB of them for flows, and there are 2 GB (ulimit -v)'
    """
    if room is None or needed <= room.size_bytes:
        return ""
    most = max(parts, key=lambda name: parts[name])
    return (
        f"needs about {format_bytes(needed)} of memory, {format_bytes(parts[most])} of them for {most}, and there are "
        f"{format_bytes(room.size_bytes)} ({room.limit})"
    )


def of_runs(memory: ExpectedMemory, runs: int, at_once: int) -> float:
    """Memory of the replications that run at the same time, and of the results of all replications [bytes]."""
    return at_once * memory.peak + runs * memory.result


def parts_of(memory: ExpectedMemory, runs: int, at_once: int) -> dict[str, float]:
    """Return the memory of `of_runs` by component [bytes]."""
    return {
        "flows": at_once * memory.flows,
        "links": at_once * memory.links,
        "packets in flight": at_once * memory.packets,
        "samples": at_once * memory.series,
        "traces": at_once * memory.recorded,
        "writes": at_once * memory.writes,
        "results": runs * memory.result,
    }
