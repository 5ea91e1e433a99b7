"""The speed workloads W1 to W5: scenarios, and how long the slow comparisons run.

Source: the project's own limits; W1 is the long link of Barman2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from elephan.errors import InputError
from elephan.scenario import Scenario


@dataclass(frozen=True)
class Workload:
    """A speed workload.

    Parameters
    ----------
    name : str
    must_ns, extreme_ns : float [ns/packet]
        What is required, and what is hoped for.
    reference_s : float [s]
        Simulated time under the reference engine, which is slow.
    quick_s : float [s]
        Simulated time of everything in a quick bench.
    ns2 : str
        ``windowOption_`` and ``max_ssthresh_`` of the same flows in ns-2; empty where ns-2 is not asked.
    """

    name: str
    must_ns: float
    extreme_ns: float
    reference_s: float
    quick_s: float
    ns2: str = ""

    def scenario(self, duration_s: float | None = None) -> Scenario:
        """Read the workload's scenario.

        Parameters
        ----------
        duration_s : float [s], optional
            Instead of the file's.

        Returns
        -------
        Scenario

        Examples
        --------
        >>> WORKLOADS["W1"].scenario().links[0]["flows"]
        10
        """
        text = files("elephan.bench").joinpath("scenarios", f"{self.name}.toml").read_text(encoding="utf-8")
        scenario = Scenario.from_text(text, f"{self.name}.toml")
        return scenario if duration_s is None else scenario.replace(duration=f"{duration_s:g} s")


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("W1", 10, 6, reference_s=60, quick_s=10, ns2="8 100"),
        Workload("W2", 12, 7, reference_s=60, quick_s=10, ns2="1 0"),
        Workload("W3", 10, 6, reference_s=20, quick_s=10),
        Workload("W4", 20, 12, reference_s=4, quick_s=3),
        Workload("W5", 40, 25, reference_s=2, quick_s=2),
    )
}
"""By name, in their order."""


def select(names: str | None) -> list[Workload]:
    """Read a list of workloads.

    Parameters
    ----------
    names : str or None
        ``"W1,W3"``; None for all.

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
        return list(WORKLOADS.values())
    wanted = [name.strip().upper() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in WORKLOADS]
    if unknown or not wanted:
        message = f'--workloads: there is no "{", ".join(unknown)}"; use {",".join(WORKLOADS)}'
        raise InputError(message)
    return [WORKLOADS[name] for name in dict.fromkeys(wanted)]
