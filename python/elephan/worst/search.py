"""The search for a worst case: random cases first, then an evolution strategy (CMA-ES) from the worst of them.

The search is that of `cma` (N. Hansen, The CMA Evolution Strategy: A Tutorial, arXiv:1604.00772), with whole
generations, so that it is the same for any number of threads. A case is one run: replication 0 of the scenario with
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
"""Cases of a generation."""

SPREAD = 0.2
"""Standard deviation of the first generation, as a share of each range."""

WORTHLESS = 1e9
"""Cost of a case that cannot be measured: the search needs a number, larger than any harm."""

BATCH = 100
"""Cases that are handed to the threads at once."""

RANDOM_SHARE = 0.25
"""Share of the runs that are random cases; the search begins at the worst of them."""

FEWEST_RUNS = 2 * POPULATION
"""Fewest runs of an attack: a generation of random cases, and one of the search."""

ONE_IN = 10_000
"""Number of random cases of which the extreme-value estimate is the worst."""


class SearchState(NamedTuple):
    """Progress of a search: runs done, runs in all, and the worst value until now."""

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
        From the scenario and the outcome to the value.
    unit : str
        ``"1"`` or ``"s"``.
    low_is_worse : bool
    words : str
        Its meaning, for messages.
    """

    name: str
    measure: Callable[[Scenario, ReplicationOutcome], float]
    unit: str
    low_is_worse: bool
    words: str = ""

    def cost(self, value: float) -> float:
        """Return what the search minimises."""
        return value if self.low_is_worse else -value


@dataclass(frozen=True)
class FoundCase:
    """A case that was run.

    Parameters
    ----------
    scenario : Scenario
        Replaying it gives the same value.
    point : tuple of float
        Its coordinates in the cube of unknowns.
    changes : dict of str to value
    value : float
        Of the harm.
    hash : str
        Rolling hash of its run, over every arrival and ACK; empty where it was not asked for.
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
        The worst random case, and the worst of all, with its hash.
    runs : int
        Runs in all, random ones included; cases that were tried twice count once.
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
                # With 95 % confidence no larger share of cases is worse than the worst of so many.
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
        With a stated warm-up.
    unknowns : Unknowns
    harm : Harm
    workers : int, optional
        Threads; the result does not depend on it.
    seed : int
        Of the random cases and of the search.
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
            At most, without those of `also`.
        also : iterable of points
            Cases that the search begins with, too.

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
        """Return random points of the cube; the first of them do not depend on how many there are."""
        return np.random.default_rng([self.seed, 0]).random((number, self.unknowns.size))

    def values(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Measure the harm of cases, each once."""
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
            # In batches: the outcomes of one are held until its end.
            jobs = [ReplicationJob(self.case(each), 0) for each in wanted[first : first + BATCH]]
            simulate_all(jobs, workers=self.workers, on_outcome=keep, watched=self.progress is not None)
        return np.array([self._known[repr(each)] for each in changes])

    def without(self, case: FoundCase) -> dict[str, float]:
        """Measure a case with one place at a time as the file has it.

        Returns
        -------
        dict of str to float
            Value by place, those that matter most first.
        """
        found = {}
        for unknown in self.unknowns.all:
            scenario = self.case(self.unknowns.changes(case.point, unknown.place))
            found[unknown.place] = self.harm.measure(scenario, simulate(scenario, 0))
        return dict(sorted(found.items(), key=lambda item: -self.harm.cost(item[1])))

    def _costs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        costs = values if self.harm.low_is_worse else -values
        # What cannot be measured, such as the share of flows that send nothing, is no worst case.
        return np.nan_to_num(costs, nan=np.inf, posinf=np.inf, neginf=-np.inf)

    def _found(self, points: NDArray[np.float64], values: NDArray[np.float64]) -> FoundCase:
        """Return the worst of some cases."""
        at = int(np.argmin(self._costs(values)))
        point = tuple(map(float, points[at]))
        changes = self.unknowns.changes(point)
        return FoundCase(self.case(changes), point, changes, float(values[at]))

    def _evolve(self, population: NDArray[np.float64], generations: int) -> NDArray[np.float64]:
        """Search from the points of a population, the worst case first; return the points tried.

        A search that has converged begins again at the next point.
        """
        from cma import CMAEvolutionStrategy  # noqa: PLC0415 (slow to import)

        rng = np.random.default_rng([self.seed, 1])
        options = {
            "popsize": POPULATION,
            "bounds": [0, 1],
            "verbose": -9,
            # Its own generator would be the global one of NumPy.
            "seed": np.nan,
            "randn": lambda *shape: rng.standard_normal(shape),
        }
        starts = itertools.cycle(population)
        search = CMAEvolutionStrategy(next(starts), SPREAD, options)
        tried = [population]
        for _ in range(generations):
            if search.stop():
                search = CMAEvolutionStrategy(next(starts), SPREAD, options)
            # Its transformation can leave the cube by a rounding error.
            points = np.clip(search.ask(), 0.0, 1.0)
            costs = self._costs(self.values(points))
            search.tell(list(points), np.where(np.isfinite(costs), costs, WORTHLESS))
            tried.append(points)
        return np.concatenate(tried)
