"""Comparison of a model, the simulation and a testbed, for one scenario or for every point of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import overload

from elephan.comparisons.comparison import ComparedQuantity, ScenarioComparison, compare_scenario
from elephan.comparisons.sawtooth import SawtoothStatistics, sawtooth_statistics
from elephan.comparisons.several import PointComparison, SweepComparison, compare_points
from elephan.own_laws import LawSource, check_used, declared
from elephan.scenario import Scenario
from elephan.sweeps.document import Sweep
from elephan.testbed import ATTEMPTS

__all__ = [
    "ComparedQuantity",
    "PointComparison",
    "SawtoothStatistics",
    "ScenarioComparison",
    "SweepComparison",
    "compare",
    "compare_points",
    "compare_scenario",
    "sawtooth_statistics",
]


@overload
def compare(
    scenario: Scenario,
    replications: int | None = None,
    seed: int | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    real: bool = True,
    attempts: int = ATTEMPTS,
    laws: Mapping[str, LawSource] | None = None,
) -> ScenarioComparison: ...


@overload
def compare(
    scenario: Sweep,
    replications: int | None = None,
    seed: int | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    real: bool = True,
    attempts: int = ATTEMPTS,
    laws: Mapping[str, LawSource] | None = None,
) -> SweepComparison: ...


@overload
def compare(
    scenario: Path | str,
    replications: int | None = None,
    seed: int | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    real: bool = True,
    attempts: int = ATTEMPTS,
    laws: Mapping[str, LawSource] | None = None,
) -> ScenarioComparison | SweepComparison: ...


def compare(
    scenario: Scenario | Sweep | Path | str,
    replications: int | None = None,
    seed: int | None = None,
    progress: Callable[[str], None] | None = None,
    *,
    real: bool = True,
    attempts: int = ATTEMPTS,
    laws: Mapping[str, LawSource] | None = None,
) -> ScenarioComparison | SweepComparison:
    """Compare a model, the simulator and the kernel, as ``elephan compare`` does.

    Parameters
    ----------
    scenario : Scenario, Sweep or path
        A scenario that `elephan.testbed.plan` accepts, or a sweep of such scenarios, whose points are compared one by
        one.
    replications, seed : int, optional
        Replace those of the file.
    progress : callable, optional
        Called with a description of the current step.
    real : bool
        Whether to run the testbed, too, which needs root; without it the rest is the same.
    attempts : int
        As in `elephan.testbed.run`.
    laws : mapping of str to class or path, optional
        Laws in Python, as in `elephan.run`.

    Returns
    -------
    ScenarioComparison or SweepComparison

    Raises
    ------
    InputError
        As in `elephan.testbed.run`.

    Examples
    --------
    >>> import elephan
    >>> found = elephan.compare(elephan.Scenario.from_text(elephan.EXAMPLE), replications=1, real=False)
    >>> found.links["source"]
    ['model', 'simulation']
    """
    with declared(laws):
        if isinstance(scenario, (str, Path)):
            read = Sweep.from_file(scenario)
            scenario = read if read.axes else read.base
        elif isinstance(scenario, Scenario):
            scenario = Scenario.from_any(scenario)
    if laws:
        check_used(laws, scenario.own_laws() if isinstance(scenario, Sweep) else [scenario.own_laws])
    if not isinstance(scenario, Sweep):
        return compare_scenario(scenario, replications, seed, progress, real=real, attempts=attempts)
    asked = scenario.asking(replications=replications, seed=seed)
    return SweepComparison(tuple(compare_points(asked, progress, real=real, attempts=attempts)))
