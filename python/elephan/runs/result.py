"""Result of a scenario over all replications, with confidence intervals: the document of ``elephan run --json``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from elephan import _native
from elephan.display import cell
from elephan.lint import lint
from elephan.metrics import flows_hit_per_loss_event, idle_fraction, loss_ratio, occupancy, percentiles
from elephan.results import ResultPart, ResultTables, RunDocument
from elephan.runs import notebook
from elephan.runs.arrays import buffer_packets as buffer_packets
from elephan.runs.arrays import run_arrays
from elephan.runs.fairness import fairness
from elephan.runs.measures import as_table, check_metrics, measure, parse_metrics
from elephan.runs.outcome import CAUSES, ReplicationOutcome
from elephan.runs.pools import pool_documents, share_document
from elephan.stats import estimates, t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from elephan.display import ColumnTable
    from elephan.lint import LintWarning
    from elephan.runs.measures import AskedMetric
    from elephan.runs.precision import PrecisionReached
    from elephan.scenario import Scenario

PERCENTILES = (50, 95, 99)
"""Percentiles reported for backlog and queueing delay of links, and for completion times of transfers."""

PROPAGATION = ("propagation_s", "propagation_min_s", "propagation_max_s")
"""Columns of links whose propagation delay varies between packets."""

OF_FLOWS = ("goodput_bps", "dropped", "sent", "timeouts", "loss_events", "cwnd_segments", "srtt_s")
"""Columns of flows that are summarized per group."""

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
        return lint(self.scenario, self._document)

    def to_json(self) -> RunDocument:
        """Return the document of ``elephan run --json``.

        Returns
        -------
        dict
            ``run``, ``links``, ``groups``, ``fairness``, ``warnings``; measured quantities as ``{"mean", "ci95"}``.
            ``precision`` and ``metrics`` if they were requested.
        """
        document = self._document | {"warnings": [warned.to_json() for warned in self.warnings]}
        if self.metrics:
            document |= {"metrics": measure(self.metrics, self.scenario, lambda: self.outcomes, document)}
        found = document if self.precision is None else document | {"precision": self.precision.to_json()}
        return cast("RunDocument", found)

    @cached_property
    def _document(self) -> dict[str, Any]:
        """The document, without warnings."""
        facts = self.scenario.facts
        over = _Estimates()
        document = {
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
            **({"pools": list(pool_documents(self.scenario, self.outcomes, over))} if self.scenario.pools else {}),
            "links": list(self._links(over)),
            "groups": list(self._groups(over)),
            "fairness": self._fairness(over),
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
            As ``elephan run --metric`` takes them: ``"convergence_time(delta=0.2)"``.

        Returns
        -------
        ColumnTable
            A row per quantity and what it is of; see `elephan.runs.measures.measure`.

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

    @property
    def _title(self) -> str:
        return self.scenario.title

    def __repr__(self) -> str:
        used = ", ".join(f"{row['name']} {cell(row['utilization'])}" for row in self._document["links"][:3])
        return f"<Result of {self.scenario.title!r}: {len(self.outcomes)} replications, utilization {used}>"

    def _repr_html_(self) -> str:
        return notebook.page(self.to_json())

    def write(self, folder: Path | str) -> list[Path]:
        """Write ``run.json``, ``flows.parquet``, ``links.parquet`` and, if kept, ``samples.parquet`` and more.

        Parameters
        ----------
        folder : Path or str
            Made if missing. Each file appears whole or not at all.

        Returns
        -------
        list of Path

        Raises
        ------
        OSError
            If the folder cannot be written.
        """
        from elephan.runs.files import write_result  # noqa: PLC0415 (Arrow is slow to import)

        return write_result(self, Path(folder))

    def _links(self, over: _Estimates) -> Iterator[dict[str, Any]]:
        outcomes, facts = self.outcomes, self.scenario.links
        # Columns by name, link and replication, as plain numbers, since there are mostly few.
        plain = {name: _by_link([o.links[name] for o in outcomes]) for name in outcomes[0].links}
        lost = _by_link([o.loss_ratios for o in outcomes])
        backlogs = _percentiles([[o.histograms["backlog_packets"][i] for o in outcomes] for i in range(len(facts))])
        delays = _percentiles([[o.delay_histogram(i) for o in outcomes] for i in range(len(facts))], 1e-12)
        for i, fact in enumerate(facts):
            buffer = buffer_packets(fact)
            hit, events, waiting = (plain[name][i] for name in ("flows_hit", "loss_events", "backlog_packets"))
            yield {
                "name": fact["name"],
                "rate_bps": fact["rate_bps"],
                **({"capacity_bps": over(plain["capacity_bps"][i])} if fact["rate_changes"] else {}),
                **({name: over(plain[name][i]) for name in PROPAGATION} if fact["delay_varies"] else {}),
                "queue": {"discipline": fact["discipline"]} | fact["queue"],
                "tc": fact["tc"],
                "buffer_packets": buffer,
                "utilization": over(plain["utilization"][i]),
                "loss_ratio": over(lost[i]),
                "backlog_packets": over(waiting),
                "backlog_max_packets": over(plain["backlog_max_packets"][i]),
                **{f"backlog_p{p}_packets": over(x) for p, x in zip(PERCENTILES, backlogs[i], strict=True)},
                "occupancy": over([occupancy(x, buffer) for x in waiting]),
                "queueing_delay_s": over(plain["queueing_delay_s"][i]),
                **{f"queueing_delay_p{p}_s": over(x) for p, x in zip(PERCENTILES, delays[i], strict=True)},
                "idle_fraction": over(list(map(idle_fraction, plain["utilization"][i]))),
                "empty_fraction": over(plain["empty_fraction"][i]),
                "drops": {cause: over(plain[f"drops_{cause}"][i]) for cause in CAUSES},
                "marks": over([sum(each) for each in zip(*(plain[f"marks_{c}"][i] for c in CAUSES), strict=True)]),
                "loss_events": over(events),
                "flows_hit_per_loss_event": over(list(map(flows_hit_per_loss_event, hit, events))),
                **({} if fact["pool"] is None else {"pool": share_document(self.scenario, i, outcomes, over)}),
            }

    def _groups(self, over: _Estimates) -> Iterator[dict[str, Any]]:
        # Shape (replications, columns, flows).
        columns = np.array([[o.flows[name] for name in OF_FLOWS] for o in self.outcomes], dtype=float)
        begins = self._flow_groups.searchsorted(range(len(self.scenario.groups) + 1)).tolist()
        for g, fact in enumerate(self.scenario.groups):
            mine = columns[:, :, begins[g] : begins[g + 1]]
            sums = mine.sum(axis=2)
            total, mean = (dict(zip(OF_FLOWS, x.T.tolist(), strict=True)) for x in (sums, _means(mine, sums)))
            # Datagrams cannot time out: that is not the same as none that did.
            never = [np.nan] * len(self.outcomes) if fact["law"] is None else None
            yield {
                "name": fact["name"],
                "law": fact["law"],
                "recovery": fact["recovery"],
                "flows": fact["flows"],
                "goodput_bps": over(total["goodput_bps"]),
                "goodput_per_flow_bps": over(mean["goodput_bps"]),
                "loss_ratio": over(list(map(loss_ratio, total["dropped"], total["sent"]))),
                "cwnd_segments": over(mean["cwnd_segments"]),
                "srtt_s": over(mean["srtt_s"]),
                **_delays(DELAYS.get(fact["traffic"]), self.outcomes, (g, begins[g], begins[g + 1]), over),
                "timeouts": over(total["timeouts"] if never is None else never),
                "loss_events": over(total["loss_events"] if never is None else never),
                "transfers": _transfers([o.transfers[g] for o in self.outcomes], over),
            }

    def _fairness(self, over: _Estimates) -> dict[str, Any]:
        """Fairness over the flows that count for it."""
        return {name: over(values) for name, values in fairness(self.scenario, self.outcomes).items()}

    @property
    def _flow_groups(self) -> NDArray[Any]:
        """Group of each flow, the same in all replications and in the scenario's order."""
        return self.outcomes[0].flows["group"]


def _by_link(columns: Sequence[NDArray[Any]]) -> list[tuple[Any, ...]]:
    """Transpose columns per replication into tuples of replications per link."""
    return list(zip(*(column.tolist() for column in columns), strict=True))


FEW = 8
"""Number of values below which NumPy adds sequentially, so that plain Python gives the same digits faster."""


class _Estimates:
    """Estimates over replications: immediate for few values, in one batch at the end for many, which is faster."""

    def __init__(self) -> None:
        self.rows: list[Sequence[float]] = []
        self.places: list[dict[str, float | None]] = []

    def __call__(self, values: Sequence[float]) -> dict[str, float | None]:
        """Take the values of the replications and return their estimate; non-finite ones become null."""
        if len(values) < FEW:
            return _of_few(values)
        self.rows.append(values)
        self.places.append({"mean": None, "ci95": None})
        return self.places[-1]

    def fill(self) -> None:
        """Compute the estimates that were postponed."""
        if not self.rows:
            return
        for key, numbers in zip(("mean", "ci95"), estimates(np.array(self.rows, dtype=float)), strict=True):
            for place, number in zip(self.places, numbers.tolist(), strict=True):
                if isfinite(number):
                    place[key] = number


def _of_few(values: Sequence[float]) -> dict[str, float | None]:
    """Do as `estimate` does for few values, with the same digits."""
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


def _percentiles(histograms: Sequence[Sequence[ArrayLike]], scale: float = 1.0) -> list[list[tuple[float, ...]]]:
    """Return `PERCENTILES` of histograms per item and replication, as a tuple of replications for each."""
    shares = [p / 100 for p in PERCENTILES]
    found = scale * percentiles([counts for each in histograms for counts in each], shares)
    rows = iter(found.tolist())
    return [list(zip(*(next(rows) for _ in each), strict=True)) for each in histograms]


def _delays(
    name: str | None, outcomes: Sequence[ReplicationOutcome], place: tuple[int, int, int], over: _Estimates
) -> dict[str, Any]:
    """Summarize a group's datagram delays; place is (group, first flow, end): mean of flows, percentiles over all."""
    # Real stacks do not say when a datagram was sent.
    if name is None or any("delay_s" not in outcome.flows for outcome in outcomes):
        return {}
    group, first, end = place
    (found,) = _percentiles([[outcome.histograms["datagram_delay_ps"][group] for outcome in outcomes]], 1e-12)
    own = np.array([outcome.flows["delay_s"][first:end] for outcome in outcomes])
    return {
        f"{name}_s": over(_means(own, own.sum(axis=1)).tolist()),
        **{f"{name}_p{p}_s": over(column) for p, column in zip(PERCENTILES, found, strict=True)},
    }


def _transfers(replications: Sequence[dict[str, Any] | None], over: _Estimates) -> dict[str, Any] | None:
    """Summarize the transfers and pages of a group; None if it has no transfers that end."""
    known = [one for one in replications if one is not None]
    if len(known) < len(replications):
        return None

    def of(name: str) -> dict[str, float | None]:
        return over([one[name] for one in known])

    def mean(total: str, count: str) -> dict[str, float | None]:
        return over([one[total] / one[count] if one[count] else np.nan for one in known])

    def spread(name: str, counts: str, scale: float) -> dict[str, dict[str, float | None]]:
        (found,) = _percentiles([[one[counts] for one in known]], scale)
        return {name.format(p): over(column) for p, column in zip(PERCENTILES, found, strict=True)}

    document: dict[str, Any] = {
        "opened": of("opened"),
        "completed": of("completed"),
        "refused": of("refused"),
        "open": of("open_mean"),
        "completion_time_s": mean("duration_sum_s", "completed"),
        **spread("completion_time_p{}_s", "duration_ps", 1e-12),
        "slowdown": mean("slowdown_sum", "completed"),
        **spread("slowdown_p{}", "slowdown_1024", 1 / 1024),
    }
    if any(one["pages"] for one in known):
        document |= {
            "pages": of("pages"),
            "page_time_s": mean("page_sum_s", "pages"),
            **spread("page_time_p{}_s", "page_ps", 1e-12),
        }
    return document


def _means(x: NDArray[np.float64], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means along the last axis of `x`, given its sums; ignores NaN."""
    means: NDArray[np.float64] = sums / max(x.shape[-1], 1)
    unknown = ~np.isfinite(sums)
    for at in zip(*np.nonzero(unknown), strict=True) if unknown.any() else ():
        known = x[at][np.isfinite(x[at])]
        means[at] = known.mean() if known.size else np.nan
    return means
