"""Result of a scenario over all replications, with confidence intervals: the document of ``elephan run --json``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from elephan import _native
from elephan.display import ColumnTable, cell, page
from elephan.lint import LintWarning, lint
from elephan.metrics.quantity import FAIRNESS, GROUPS, LINKS, TRANSFERS, quantities, report
from elephan.metrics.values import GroupValues, LinkValues, TransferValues, buffer_packets, histogram_percentiles
from elephan.results import ResultPart, ResultTables
from elephan.runs.arrays import run_arrays
from elephan.runs.fairness import fairness_values
from elephan.runs.files import run_files
from elephan.runs.halves import changes
from elephan.runs.measures import AskedMetric, as_table, check_metrics, measure, parse_metrics
from elephan.runs.outcome import ReplicationOutcome
from elephan.runs.pools import pool_documents, share_document
from elephan.scenario import Scenario
from elephan.stats import estimates, t_quantile
from elephan.units import count

if TYPE_CHECKING:
    from elephan.results import MeasuredRun, PoolsPart, Quantity, RunDocument
    from elephan.runs.precision import PrecisionReached

DELAYS = {"cbr": "delay", "ping": "rtt"}
"""Kinds of traffic with timed datagrams, and prefix of their delay columns: one way, or round trip."""


@dataclass(frozen=True, repr=False)
class RunResult(ResultTables):
    """The result of `run`.

    Parameters
    ----------
    scenario : Scenario
        As it was run, replications and seed included.
    outcomes : tuple of ReplicationOutcome
        One per replication.
    engine : str
    wall_s : float [s]
    precision : PrecisionReached or None
        The required precision and whether it was reached; None without ``--precision``.
    metrics : tuple of AskedMetric
        Additional metrics that were requested.

    Examples
    --------
    >>> from elephan.runs import run
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> result = run(Scenario.from_text(EXAMPLE), replications=2)
    >>> sorted(result.to_json())
    ['fairness', 'groups', 'links', 'run', 'warnings']
    >>> result.links["utilization"] == [result.to_json()["links"][0]["utilization"]["mean"]]
    True
    """

    scenario: Scenario
    outcomes: tuple[ReplicationOutcome, ...]
    engine: str
    wall_s: float
    precision: PrecisionReached | None = None
    metrics: tuple[AskedMetric, ...] = ()

    @cached_property
    def warnings(self) -> list[LintWarning]:
        """Lint warnings about the scenario and its results."""
        halves = changes(self.scenario, self.outcomes)
        return lint(self.scenario, self._document, halves)

    def to_json(self) -> RunDocument:
        """Return the document of ``elephan run --json``.

        Returns
        -------
        dict
            ``run``, ``links``, ``groups``, ``fairness``, ``warnings``; measured quantities as ``{"mean", "ci95"}``.
            ``precision`` and ``metrics`` if they were requested.
        """
        return self._whole.copy()

    @cached_property
    def _whole(self) -> RunDocument:
        """The document with warnings, and with the metrics and the precision that were requested."""
        warnings = [warned.to_json() for warned in self.warnings]
        document = cast("RunDocument", {**self._document, "warnings": warnings})
        if self.metrics:
            document["metrics"] = measure(self.metrics, self.scenario, lambda: self.outcomes, document)
        if self.precision is not None:
            document["precision"] = self.precision.to_json()
        return document

    @cached_property
    def _document(self) -> MeasuredRun:
        """The document, without warnings."""
        facts, over = self.scenario.facts, _Estimates()
        shares = fairness_values(self.scenario, self.outcomes)
        pools: PoolsPart = {}
        if self.scenario.pools:
            pools["pools"] = list(pool_documents(self.scenario, self.outcomes, over))
        document: MeasuredRun = {
            "run": {
                "id": self.scenario.id,
                "scenario": self.scenario.title,
                "engine": self.engine,
                "engine_version": _native.version(),
                "seed": self.scenario.seed,
                "replications": len(self.outcomes),
                "duration_s": facts["duration_s"],
                "warmup_s": facts["warmup_s"],
                "warmup_rule": self.scenario.warmup_rule,
                "wall_s": self.wall_s,
                "packets_delivered": sum(outcome.balance["delivered"] for outcome in self.outcomes),
            },
            **pools,
            "links": list(self._links(over)),
            "groups": list(self._groups(over)),
            "fairness": report(quantities(FAIRNESS), shares, over),
        }
        over.fill()
        return document

    @property
    def parts(self) -> list[ResultPart]:
        """The run as a single part."""
        return [ResultPart({}, self._document, lambda: run_arrays(self.scenario, self.outcomes))]

    def measure(self, metrics: str | Sequence[str]) -> ColumnTable:
        """Compute metrics of the catalogue.

        Parameters
        ----------
        metrics : str or sequence of str
            As in ``elephan run --metric``: ``"convergence_time(delta=0.2)"``.

        Returns
        -------
        ColumnTable
            A row per quantity and link, group or flow; see `elephan.runs.measures.measure`.

        Raises
        ------
        InputError
            If there is no such metric, it has no value in this scenario, or the series that it needs were not kept.

        Examples
        --------
        >>> from elephan.runs import run
        >>> from elephan.scenario import EXAMPLE, Scenario
        >>> run(Scenario.from_text(EXAMPLE)).measure("maxmin_share")["value"]
        [5000000.0]
        """
        asked = parse_metrics(metrics)
        check_metrics(asked, self.scenario)
        return as_table(measure(asked, self.scenario, lambda: self.outcomes, self._document))

    def __repr__(self) -> str:
        used = ", ".join(f"{row['name']} {cell(row['utilization'])}" for row in self._document["links"][:3])
        return f"<Result of {self.scenario.title!r}: {count(len(self.outcomes), 'replication')}, utilization {used}>"

    def _repr_html_(self) -> str:
        return page(self)

    def files(self) -> Iterator[tuple[str, Any]]:
        """Yield ``flows``, ``links`` and, if kept, ``samples`` and more, ``scenario.toml`` and ``run.json``."""
        return run_files(self, self.to_json())

    def _links(self, over: _Estimates) -> Iterator[Any]:
        outcomes, facts = self.outcomes, self.scenario.links
        # Columns by name, link and replication, as plain numbers, since there are mostly few.
        plain = {name: _by_link([o.links[name] for o in outcomes]) for name in outcomes[0].links}
        plain |= {name: _by_link([o.derived[name] for o in outcomes]) for name in outcomes[0].derived}
        backlogs, delays = (
            histogram_percentiles([[read(o, i) for o in outcomes] for i in range(len(facts))], scale)
            for read, scale in ((_backlogs, 1.0), (ReplicationOutcome.delay_histogram, 1e-12))
        )
        always, sometimes = (
            [each for each in quantities(LINKS) if (each.applies is None) == is_always] for is_always in (True, False)
        )
        for i, fact in enumerate(facts):
            buffer = buffer_packets(fact)
            columns = {name: values[i] for name, values in plain.items()}
            link = LinkValues(columns, buffer, backlogs[i], delays[i], fact["rate_changes"], fact["delay_varies"])
            yield {
                "name": fact["name"],
                "rate_bps": fact["rate_bps"],
                **report(sometimes, link, over),
                "queue": {"discipline": fact["discipline"]} | fact["queue"],
                "tc": fact["tc"],
                "buffer_packets": buffer,
                **report(always, link, over),
                **({} if fact["pool"] is None else {"pool": share_document(self.scenario, i, outcomes, over)}),
            }

    def _groups(self, over: _Estimates) -> Iterator[Any]:
        of_groups, of_transfers = quantities(GROUPS), quantities(TRANSFERS)
        names = list(dict.fromkeys(name for each in of_groups if each.reported for name in each.needs))
        names = [name for name in names if name in self.outcomes[0].flows]
        # Shape (replications, columns, flows).
        columns = np.array([[o.flows[name] for name in names] for o in self.outcomes], dtype=float)
        begins = self._flow_groups.searchsorted(range(len(self.scenario.groups) + 1)).tolist()
        for g, fact in enumerate(self.scenario.groups):
            # Runs of real stacks have no sending times of datagrams.
            timed = DELAYS.get(fact["traffic"], "") if "delay_s" in names else ""
            histograms = [o.histograms["datagram_delay_ps"][g] for o in self.outcomes] if timed else []
            group = GroupValues(
                names,
                columns[:, :, begins[g] : begins[g + 1]],
                is_tcp=fact["law"] is not None,
                timed=timed,
                delays=histogram_percentiles([histograms], 1e-12)[0] if timed else (),
            )
            ended = [each for each in (o.transfers[g] for o in self.outcomes) if each is not None]
            has_transfers = len(ended) == len(self.outcomes)
            yield {
                "name": fact["name"],
                "law": fact["law"],
                "recovery": fact["recovery"],
                "flows": fact["flows"],
                **report(of_groups, group, over),
                "transfers": report(of_transfers, TransferValues(ended), over) if has_transfers else None,
            }

    @property
    def _flow_groups(self) -> NDArray[Any]:
        """Group of each flow, the same in all replications and in the scenario's order."""
        return self.outcomes[0].flows["group"]


def _backlogs(outcome: ReplicationOutcome, link: int) -> NDArray[Any]:
    histogram: NDArray[Any] = outcome.histograms["backlog_packets"][link]
    return histogram


def _by_link(columns: Sequence[NDArray[Any]]) -> list[tuple[Any, ...]]:
    """Transpose columns per replication into tuples of replications per link."""
    return list(zip(*(column.tolist() for column in columns), strict=True))


FEW = 8
"""Number of values below which NumPy adds sequentially, so that plain Python gives the same digits faster."""


class _Estimates:
    """Estimates over replications: immediate for few values, in one batch at the end for many, which is faster."""

    def __init__(self) -> None:
        self.rows: list[Sequence[float]] = []
        self.places: list[Quantity] = []

    def __call__(self, values: Sequence[float]) -> Quantity:
        """Take the values of the replications and return their estimate; non-finite ones become null."""
        if len(values) < FEW:
            return _of_few(values)
        self.rows.append(values)
        self.places.append({"mean": None, "ci95": None})
        return self.places[-1]

    def fill(self) -> None:
        """Compute the postponed estimates."""
        if not self.rows:
            return
        means, halves = (numbers.tolist() for numbers in estimates(np.array(self.rows, dtype=float)))
        for place, mean, half in zip(self.places, means, halves, strict=True):
            place["mean"], place["ci95"] = (number if isfinite(number) else None for number in (mean, half))


def _of_few(values: Sequence[float]) -> Quantity:
    """Return the result of `estimate` for few values, with the same digits."""
    known = [float(x) for x in values if isfinite(x)]
    count = len(known)
    if count < 2:
        return {"mean": known[0] if known else None, "ci95": None}
    mean = _added(known) / count
    spread = sqrt(_added([(x - mean) * (x - mean) for x in known]) / (count - 1))
    return {"mean": mean, "ci95": t_quantile(count - 1) * spread / sqrt(count)}


def _added(values: Sequence[float]) -> float:
    """Add values from left to right; since Python 3.12 `sum` compensates for rounding."""
    total = 0.0
    for x in values:
        total += x
    return total
