"""The runs of data sets: each cell under the declared reading of its testbed, and under variants of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elephan.errors import InputError
from elephan.runs import default_workers, run
from elephan.runs.threads import SimulationThreads
from elephan_evidence.judge.cell import matches
from elephan_evidence.judge.readings import READINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from elephan_evidence.judge.cell import MeasuredCell
    from elephan_evidence.judge.dataset import DataSet, Variant
    from elephan_evidence.papers.measured import MeasuredQuantity

DECLARED = ""
"""Name of the declared reading of a testbed, among the names of variants."""

VARIANT_REPLICATIONS = 1
"""Replications of a cell under a variant: variants are compared over many cells, where one run each decides."""


@dataclass(frozen=True)
class CellJob:
    """A run to be made.

    Parameters
    ----------
    variant : Variant or None
        The variant whose changes it has.
    readers : tuple of Variant
        Variants that only read the run in another way.
    """

    data: DataSet
    cell: MeasuredCell
    variant: Variant | None = None
    readers: tuple[Variant, ...] = ()


Found = dict[tuple[str, str, str], dict[str, "MeasuredQuantity"]]
"""Quantities by set, variant and cell."""


def simulate(
    jobs: Sequence[CellJob],
    *,
    quick: bool = False,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    total: int | None = None,
    done: int = 0,
) -> Found:
    """Make runs and read their quantities.

    Parameters
    ----------
    quick : bool
        Whether to apply the sets' changes of shortened runs.
    workers : int, optional
        Number of threads; the result does not depend on it.
    progress : callable, optional
        Called with (runs done, total runs) after each.
    total, done : int, optional
        Number of all runs, and of those before these, for `progress`.

    Raises
    ------
    InputError
        If a cell's scenario cannot be built; the message names the cell.
    """
    found: Found = {}
    with SimulationThreads(workers or default_workers()) as threads:
        for n, each in enumerate([threads.submit(_read, job, quick=quick) for job in jobs], 1):
            found |= each.result()
            if progress is not None:
                progress(done + n, total or len(jobs))
    return found


def _read(job: CellJob, *, quick: bool) -> Found:
    data, cell = job.data, job.cell
    try:
        scenario = data.scenario(cell, job.variant, quick=quick)
        several = None if job.variant is None else VARIANT_REPLICATIONS
        made = run(scenario, replications=several, workers=0)
    except InputError as error:
        message = f"{data.name}: {cell.id}: {error}"
        raise InputError(message) from None
    found: Found = {}
    for variant in (job.variant, *job.readers):
        readings = variant.readings if variant is not None else {}
        found[data.name, variant.name if variant is not None else DECLARED, cell.id] = {
            quantity.name: READINGS(readings.get(quantity.name, quantity.reading), made)
            for quantity in data.quantities
            if matches(cell, quantity.where or {})
        }
    return found


def declared(data: DataSet, cells: Iterable[MeasuredCell]) -> list[CellJob]:
    """Return the jobs of the declared reading, with the variants that only read."""
    readers = [value for unknown in data.unknowns for value in unknown.values if not value.changes]
    return [CellJob(data, cell, None, tuple(r for r in readers if matches(cell, r.where))) for cell in cells]


def varied(data: DataSet, cells: Iterable[MeasuredCell]) -> list[CellJob]:
    """Return the jobs of the variants of unknowns and of nulls that need runs."""
    values = [value for unknown in data.unknowns for value in unknown.values if value.changes]
    values += [null.variant for null in data.nulls if null.variant is not None]
    every = list(cells)
    return [CellJob(data, cell, value) for value in values for cell in every if matches(cell, value.where)]
