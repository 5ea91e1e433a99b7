"""Comparison of a model with simulations: a scenario for each row of its table, and the compared measure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elephan.runs import ReplicationJob, simulate_all
from elephan.stats import estimate
from elephan.theory.models import ModelColumn, ModelPicture, ModelTable
from elephan.theory.models.card import CI95

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from elephan.runs.outcome import ReplicationOutcome
    from elephan.scenario import Scenario
    from elephan.theory.response import Floats

Row = dict[str, Any]
"""Parameters and columns of one row: numbers in base units, or text."""


class ExtraColumn(NamedTuple):
    """A further column of theory for this comparison."""

    column: ModelColumn
    compute: Callable[[ModelTable], Floats]
    """Function of the model's table that returns an array of shape (rows,)."""


@dataclass(frozen=True)
class ModelTest:
    """Comparison of one model with packets.

    Parameters
    ----------
    model : str
    line : str
        Column of the model that is compared.
    says : str
        Description of the simulation, and of its agreement with the model.
    scenario : callable
        Function of a `Row` that returns a scenario, or None if a simulation would show nothing; rows with the same
        scenario share its runs.
    measure : callable
        Function of a `ReplicationOutcome` and a row that returns the measured value; the outcome's series begin at the
        end of the warm-up, at 0 s.
    picture : ModelPicture
        Picture of the model's lines, over which the points are drawn.
    given : mapping of str to str
        Default parameters.
    beside : mapping of str to ExtraColumn
        Columns of theory that the model's own table lacks.
    meanings : mapping of str to str
        Descriptions of the model's columns for a common legend, if they differ from the model's own.
    points : int
        Maximum number of simulated points of each curve, spread evenly, both ends included.
    replications : int
        Number of replications; one gives no interval.
    called : str
        Name of the measured quantity, if the column is named after a method.
    """

    model: str
    line: str
    says: str
    scenario: Callable[[Row], Scenario | None]
    measure: Callable[[ReplicationOutcome, Row], float]
    picture: ModelPicture
    given: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, ExtraColumn] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    points: int = 5
    replications: int = 3
    called: str = ""

    @property
    def column(self) -> str:
        """Name of the column with the measured values."""
        return f"simulated_{self.called or self.line}"

    def simulate(
        self, table: ModelTable, progress: Callable[[int, int], None] | None = None, workers: int | None = None
    ) -> ModelTable:
        """Add the measurements from simulations of some rows.

        Parameters
        ----------
        table : ModelTable
            Table of this model.
        progress : callable, optional
            Called with (runs done, total runs) after each.
        workers : int, optional
            Number of threads; the results do not depend on it.

        Returns
        -------
        ModelTable
            The table with the columns of `beside`, with `column`, and with `column` plus ``_ci95``: NaN in rows that
            were not simulated, or have no interval.

        Raises
        ------
        ScenarioError
            If a row's parameters do not give a valid scenario.

        Examples
        --------
        >>> from elephan_evidence.against import AGAINST
        >>> from elephan.theory.models import MODELS
        >>> table = MODELS["sawtooth"].table(AGAINST["sawtooth"].given | {"law": "reno", "buffer": "100"})
        >>> AGAINST["sawtooth"].simulate(table).columns["simulated_utilization"].round(2).tolist()
        [0.89]
        """
        theory = {name: np.asarray(beside.compute(table)) for name, beside in self.beside.items()}
        columns = {**table.columns, **theory}
        everything = {**table.values, **columns}
        chosen = spread(table, self.picture.x, self.points)
        rows = [{name: column[i].item() for name, column in everything.items()} for i in chosen]
        scenarios = [self.scenario(row) for row in rows]
        runs = self._runs([scenario for scenario in scenarios if scenario is not None], progress, workers)
        mean, half = (np.full(len(next(iter(table.columns.values()))), np.nan) for _ in range(2))
        for i, row, scenario in zip(chosen, rows, scenarios, strict=True):
            if scenario is None:
                continue
            found = estimate([self.measure(outcome, row) for outcome in runs[scenario.id]])
            mean[i], half[i] = found.mean, np.nan if found.ci95 is None else found.ci95
        measured = table.model.columns[self.line]
        model = replace(
            table.model,
            columns={
                **table.model.columns,
                **{key: replace(table.model.columns[key], meaning=text) for key, text in self.meanings.items()},
                **{key: beside.column for key, beside in self.beside.items()},
                self.column: ModelColumn(measured.unit, "simulated"),
                self.column + CI95: ModelColumn(measured.unit, "half of its 95 % interval"),
            },
            picture=replace(self.picture, points=self.column),
        )
        return ModelTable(model, table.values, {**columns, self.column: mean, self.column + CI95: half})

    def _runs(
        self, scenarios: list[Scenario], progress: Callable[[int, int], None] | None, workers: int | None
    ) -> dict[str, list[ReplicationOutcome]]:
        """Run all replications of each different scenario once; return them by the scenario's identity."""
        different = {scenario.id: scenario for scenario in scenarios}
        jobs = [ReplicationJob(scenario, k) for scenario in different.values() for k in range(self.replications)]
        done = 0

        def on_done(_: ReplicationJob) -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress(done, len(jobs))

        outcomes = simulate_all(jobs, workers=workers, on_done=on_done, series=True)
        runs: dict[str, list[ReplicationOutcome]] = {}
        for job, outcome in zip(jobs, outcomes, strict=True):
            runs.setdefault(job.scenario.id, []).append(_measured(outcome, job.scenario.facts["warmup_s"]))
        return runs

    def to_json(self) -> dict[str, Any]:
        """Return the description of the simulation for ``elephan model NAME --simulate --json``.

        Returns
        -------
        dict
        """
        return {"column": self.column, "beside": self.line, "says": self.says, "replications": self.replications}


def simulated(table: ModelTable) -> ModelTable:
    """Keep the rows that were simulated.

    Parameters
    ----------
    table : ModelTable
        Table returned by `ModelTest.simulate`.

    Returns
    -------
    ModelTable

    Raises
    ------
    ValueError
        If it is another table.
    """
    if table.model.picture is None or not table.model.picture.points:
        message = f"{table.model.name}: nothing of this table was simulated"
        raise ValueError(message)
    kept = np.isfinite(table.columns[table.model.picture.points])
    values, columns = ({k: v[kept] for k, v in part.items()} for part in (table.values, table.columns))
    return ModelTable(table.model, values, columns)


def _measured(outcome: ReplicationOutcome, warmup_s: float) -> ReplicationOutcome:
    """Remove the warm-up from the series."""
    time = outcome.samples["time_s"]
    kept = time >= warmup_s
    # Without TCP flows there is no cwnd series.
    samples = {name: column[..., kept] if column.size else column for name, column in outcome.samples.items()}
    return replace(outcome, samples=samples | {"time_s": time[kept] - warmup_s})


def spread(table: ModelTable, x: str, most: int) -> list[int]:
    """Choose a few rows of each curve, evenly spaced, both ends included.

    Parameters
    ----------
    table : ModelTable
    x : str
        The only parameter in which the rows of a curve differ.
    most : int
        Maximum number of rows per curve.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from elephan.theory.models import MODELS
    >>> spread(MODELS["sawtooth"].table({"buffer": "1,2,3,4,5,6,7", "flows": "1,2"}), "buffer", 3)
    [0, 6, 12, 1, 7, 13]
    """
    others = [column.tolist() for name, column in table.values.items() if name != x]
    curves: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(zip(*others, strict=True) if others else [()] * len(table.values[x])):
        curves.setdefault(key, []).append(i)
    chosen: list[int] = []
    for rows in curves.values():
        order = sorted(rows, key=lambda i: table.values[x][i])
        places: NDArray[np.float64] = np.linspace(0, len(order) - 1, min(most, len(order)))
        chosen += [order[round(place)] for place in places]
    return chosen
