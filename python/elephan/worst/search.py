"""The search for a worst case: first random cases, then an evolution strategy (CMA-ES) from the worst of them.

The search is that of `cma` (N. Hansen, The CMA Evolution Strategy: A Tutorial, arXiv:1604.00772). It evaluates complete
generations, so the result is the same for any number of threads. A case is one run: replication 0 of the scenario with
the case's values.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elephan.errors import InputError
from elephan.runs import ReplicationJob, simulate_all
from elephan.runs.outcome import ReplicationOutcome, simulate
from elephan.scenario import Scenario
from elephan.stats.extremes import upper_tail
from elephan.sweeps.lists import Value
from elephan.worst.unknowns import Unknowns

if TYPE_CHECKING:
    from elephan.worst.documents import AttackPart, TailDocument

POPULATION = 25
"""Number of cases in a generation."""

SPREAD = 0.2
"""Standard deviation of the first generation, as a share of each range."""

WORTHLESS = 1e9
"""Cost of a case that cannot be measured: the search needs a number that is larger than the cost of any other case."""

BATCH = 100
"""Number of cases that are submitted to the threads together."""

RANDOM_SHARE = 0.25
"""Share of the runs that are random cases; the search starts at the worst of them."""

FEWEST_RUNS = 2 * POPULATION
"""Minimum number of runs of an attack: a generation of random cases, and one of the search."""

ONE_IN = 10_000
"""Number of random cases whose worst value the extreme-value estimate predicts."""


class SearchState(NamedTuple):
    """Progress of a search: runs done, total runs, and the worst value so far."""

    done: int
    total: int
    worst: float


@dataclass(frozen=True)
class Harm:
    """A quantity of a run, and which direction is worse.

    Parameters
    ----------
    name : str
    measure : callable
        Takes the scenario and the outcome; returns the value.
    unit : str
        ``"1"`` or ``"s"``.
    low_is_worse : bool
    words : str
        Meaning of the quantity, for messages.
    """

    name: str
    measure: Callable[[Scenario, ReplicationOutcome], float]
    unit: str
    low_is_worse: bool
    words: str = ""

    def cost(self, value: float) -> float:
        """Return the number that the search minimises."""
        return value if self.low_is_worse else -value


@dataclass(frozen=True)
class FoundCase:
    """A case that was run.

    Parameters
    ----------
    scenario : Scenario
        Scenario of the case; running it again gives the same value.
    point : tuple of float
        Coordinates in the cube of unknowns; each is from 0 to 1.
    changes : dict of str to value
        Changes to the base scenario by place.
    value : float
        Value of the harm.
    hash : str
        Rolling hash of the run, over every arrival and ACK; empty if it was not computed.
    """

    scenario: Scenario
    point: tuple[float, ...]
    changes: dict[str, Value]
    value: float
    hash: str = ""


@dataclass(frozen=True)
class Attack:
    """Results of random cases and of a search.

    Parameters
    ----------
    harm : Harm
    random : ndarray
        Values of the random cases.
    tail : TailDocument or None
        Estimate of the value that 1 in 10,000 random cases reaches; None for too few cases.
    worst_random, worst : FoundCase
        The worst random case; and the worst of all cases, with its hash.
    runs : int
        Total number of runs, including random cases; cases that occurred twice were run once.
    """

    harm: Harm
    random: NDArray[np.float64]
    tail: TailDocument | None
    worst_random: FoundCase
    worst: FoundCase
    runs: int

    def to_json(self) -> AttackPart:
        """Return the numbers of the attack."""
        return {
            "harm": self.harm.name,
            "random": {
                "cases": len(self.random),
                "mean": float(self.random.mean()),
                "worst": self.worst_random.value,
                # If a share s of cases is worse, n random cases miss it with probability (1 - s)^n; here this is 5 %.
                "worse_share_at_most": 1 - 0.05 ** (1 / len(self.random)),
            },
            "one_in_10000": self.tail,
            "worst": self.worst.value,
            "runs": self.runs,
        }


@dataclass
class WorstSearch:
    """A search for the worst case of a scenario.

    Parameters
    ----------
    scenario : Scenario
        Scenario with a stated warm-up.
    unknowns : Unknowns
    harm : Harm
    workers : int, optional
        Number of threads; the result does not depend on it.
    seed : int
        Seed of the random cases and of the search.
    progress : callable, optional
        Called with a `SearchState` after every run.
    """

    scenario: Scenario
    unknowns: Unknowns
    harm: Harm
    workers: int | None = None
    seed: int = 0
    progress: Callable[[SearchState], None] | None = None
    _known: dict[str, float] = field(default_factory=dict)
    _total: int = 0

    def case(self, changes: dict[str, Value]) -> Scenario:
        """Return the scenario of a case."""
        try:
            return self.scenario.replace(changes, replications=1)
        except InputError as error:
            raise InputError(f"--range: a case within the ranges cannot be run: {error}") from None

    def attack(self, runs: int, also: Iterable[Sequence[float]] = ()) -> Attack:
        """Run random cases, then search.

        Parameters
        ----------
        runs : int
            Maximum number of runs, without those of `also`.
        also : iterable of points
            Further cases from which the search may start.

        Returns
        -------
        Attack
        """
        number = max(POPULATION, round(RANDOM_SHARE * runs))
        points = self.points(number)
        begun = [*map(tuple, also)]
        self._total = max(runs + len(begun), self._total)
        values = self.values(points)
        first = self._found(points, values)
        pool = np.array([*begun, *points]).reshape(-1, self.unknowns.size)
        known = self.values(pool)
        order = np.argsort(self._costs(known), kind="stable")
        tried = self._evolve(pool[order[:POPULATION]], (runs - number) // POPULATION)
        found = self._found(tried, self.values(tried))
        worst = min(first, self._found(pool, known), found, key=lambda case: self.harm.cost(case.value))
        worst = replace(worst, hash=f"{simulate(worst.scenario, 0, with_hash=True).hash:016x}")
        return Attack(self.harm, values, self._tail(values), first, worst, len(self._known))

    def _tail(self, values: NDArray[np.float64]) -> TailDocument | None:
        """Estimate the value that 1 in 10,000 random cases reaches."""
        sign = 1 if self.harm.low_is_worse else -1
        tail = upper_tail(-sign * values, ONE_IN)
        if tail is None:
            return None
        # Neither a share nor a time is below 0.
        level, *ends = (max(-sign * x, 0.0) for x in (tail.level, tail.low, tail.high))
        return {"value": level, "ci95": sorted(ends)}

    def points(self, number: int) -> NDArray[np.float64]:
        """Return random points of the cube; the first points do not depend on `number`."""
        return np.random.default_rng([self.seed, 0]).random((number, self.unknowns.size))

    def values(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Measure the harm of cases; each case is run only once."""
        changes = [self.unknowns.changes(list(map(float, point))) for point in points]
        missing = {repr(each): each for each in changes if repr(each) not in self._known}
        names = iter(missing)

        def keep(job: ReplicationJob, outcome: ReplicationOutcome) -> None:
            self._known[next(names)] = self.harm.measure(job.scenario, outcome)
            if self.progress is not None:
                worst = min(self._known.values(), key=self.harm.cost)
                self.progress(SearchState(len(self._known), max(self._total, len(self._known)), worst))

        wanted = list(missing.values())
        for first in range(0, len(wanted), BATCH):
            # Batches limit the memory: the outcomes of a batch are held until it is complete.
            jobs = [ReplicationJob(self.case(each), 0) for each in wanted[first : first + BATCH]]
            simulate_all(jobs, workers=self.workers, on_outcome=keep, watched=self.progress is not None)
        return np.array([self._known[repr(each)] for each in changes])

    def without(self, case: FoundCase) -> dict[str, float]:
        """Measure a case with one place at a time reset to its value in the file.

        Returns
        -------
        dict of str to float
            Value by place; the place that reduces the harm most comes first.
        """
        found = {}
        for unknown in self.unknowns.all:
            scenario = self.case(self.unknowns.changes(case.point, unknown.place))
            found[unknown.place] = self.harm.measure(scenario, simulate(scenario, 0))
        return dict(sorted(found.items(), key=lambda item: -self.harm.cost(item[1])))

    def _costs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        costs = values if self.harm.low_is_worse else -values
        # A case whose harm cannot be measured, such as the share of flows that send nothing, is not a worst case.
        return np.nan_to_num(costs, nan=np.inf, posinf=np.inf, neginf=-np.inf)

    def _found(self, points: NDArray[np.float64], values: NDArray[np.float64]) -> FoundCase:
        """Return the worst of some cases."""
        at = int(np.argmin(self._costs(values)))
        point = tuple(map(float, points[at]))
        changes = self.unknowns.changes(point)
        return FoundCase(self.case(changes), point, changes, float(values[at]))

    def _evolve(self, population: NDArray[np.float64], generations: int) -> NDArray[np.float64]:
        """Search from the points of a population, which has the worst case first; return all points tried.

        When a search has converged, a new one starts at the next point.
        """
        from cma import CMAEvolutionStrategy  # noqa: PLC0415 (slow to import)

        rng = np.random.default_rng([self.seed, 1])
        options = {
            "popsize": POPULATION,
            "bounds": [0, 1],
            "verbose": -9,
            # By default, cma uses the global random generator of NumPy.
            "seed": np.nan,
            "randn": lambda *shape: rng.standard_normal(shape),
        }
        starts = itertools.cycle(population)
        search = CMAEvolutionStrategy(next(starts), SPREAD, options)
        tried = [population]
        for _ in range(generations):
            if search.stop():
                search = CMAEvolutionStrategy(next(starts), SPREAD, options)
            # Rounding errors of cma's transformation can lead outside of the cube.
            points = np.clip(search.ask(), 0.0, 1.0)
            costs = self._costs(self.values(points))
            search.tell(list(points), np.where(np.isfinite(costs), costs, WORTHLESS))
            tried.append(points)
        return np.concatenate(tried)
