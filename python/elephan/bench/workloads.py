"""The speed workloads W1 to W10: their scenarios, their durations, and the CPU time of the native call.

Source: the project's own limits; W1 is the long link of Barman2004. W1 to W5 have the senders of papers, the others
have Linux's TCP with CUBIC and BBR.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files

from elephan import _native
from elephan.errors import InputError
from elephan.scenario import Scenario


@dataclass(frozen=True)
class Workload:
    """A speed workload.

    Parameters
    ----------
    name : str
    reference_s : float [s]
        Simulated time under the reference engine, which is slow.
    quick_s : float [s]
        Simulated time under all engines in a quick bench.
    must, extreme : float or None [1]
        CPU time per delivered packet over that of the memory floor: the required and the desired ratio. None if no
        ratio is required.
    ns2 : str
        ``windowOption_`` and ``max_ssthresh_`` of the same flows in ns-2; empty if ns-2 is not run.
    base : str
        Workload whose scenario is used, with `changes`; by default the workload has a scenario of its own.
    changes : mapping
        Changed values, by their place in the scenario.
    is_asked : bool
        Whether it is measured only on request, because it needs minutes or gigabytes, or differs little from another.
    """

    name: str
    reference_s: float
    quick_s: float
    must: float | None = None
    extreme: float | None = None
    ns2: str = ""
    base: str = ""
    changes: Mapping[str, object] = field(default_factory=dict)
    is_asked: bool = False

    def scenario(self, duration_s: float | None = None) -> Scenario:
        """Read the workload's scenario.

        Parameters
        ----------
        duration_s : float [s], optional
            Duration instead of the file's.

        Returns
        -------
        Scenario

        Examples
        --------
        >>> WORKLOADS["W1"].scenario().links[0]["flows"]
        10
        """
        file = f"{self.base or self.name}.toml"
        text = files("elephan.bench").joinpath("scenarios", file).read_text(encoding="utf-8")
        scenario = Scenario.from_text(text, file)
        changes = dict(self.changes) if duration_s is None else {**self.changes, "duration": f"{duration_s:g} s"}
        return scenario.replace(changes) if changes else scenario


WORKLOADS = {
    name: Workload(name, **about)
    for name, about in tomllib.loads(files("elephan.bench").joinpath("workloads.toml").read_text("utf-8")).items()
}
"""Workloads by name, in their order."""


def select(names: str | None) -> list[Workload]:
    """Read a list of workloads.

    Parameters
    ----------
    names : str or None
        ``"W1,W3"``, or ``"all"``; None for all but those measured only on request.

    Returns
    -------
    list of Workload

    Raises
    ------
    InputError
        If one does not exist.

    Examples
    --------
    >>> [workload.name for workload in select("w1, W3")]
    ['W1', 'W3']
    """
    if names is None:
        return [workload for workload in WORKLOADS.values() if not workload.is_asked]
    if names.strip().lower() == "all":
        return list(WORKLOADS.values())
    known = {name.lower(): workload for name, workload in WORKLOADS.items()}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name.lower() not in known]
    if unknown or not wanted:
        raise InputError(f'--workloads: there is no "{", ".join(unknown)}"; use all, or some of {",".join(WORKLOADS)}')
    return list({known[name.lower()].name: known[name.lower()] for name in wanted}.values())


def cpu_ns_per_packet(scenario: Scenario, engine: str) -> tuple[float, int]:
    """Measure one replication, network building included.

    Parameters
    ----------
    engine : str
        ``"window"`` or ``"reference"``.

    Returns
    -------
    tuple of float [ns/packet] and int
        CPU time of this thread per delivered data packet, and the number of delivered packets.
    """
    begun = time.thread_time()
    outcome = _native.simulate(scenario.canonical, 0, engine=engine)
    cpu_s = time.thread_time() - begun
    delivered = outcome["balance"]["delivered"]
    return cpu_s * 1e9 / max(1, delivered), delivered
