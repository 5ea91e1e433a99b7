"""``--metric``: any metric of the catalogue, read from the results or computed from their columns.

Source: the cards and functions of `elephan.metrics`. Differs from the sources: the rate of a flow over time is its
sampled window over its smoothed round-trip time, as goodputs are not sampled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elephan.display import ColumnTable
from elephan.errors import InputError, suggest
from elephan.metrics import (
    METRICS,
    completion_times,
    convergence_time,
    loss_synchronization,
    recovery_times,
    response_time_cdf,
    throughput_by_rtt,
)
from elephan.metrics.quantity import FAIRNESS, QUANTITIES, path, places, unit
from elephan.runs.fairness import fair_shares
from elephan.runs.outcome import ReplicationOutcome
from elephan.scenario import Scenario
from elephan.stats import estimate

if TYPE_CHECKING:
    from elephan.results import MeasuredRun, MetricDocument, Quantity

Values = dict[str, list[float]]

WINDOW_RTTS = 10.0
"""Averaging time of shares for the convergence time, in round-trip times."""

RTT_BINS = 3
"""Number of ranges of base round-trip times over which flows are averaged."""

SHARES = (0.5, 0.95)
"""Quantiles of the response times that are reported."""

SERIES, TRACE = "series", "trace"
"""Data that a metric may need: the sampled series, or flows traced ACK by ACK."""

_ASKED = re.compile(r"\s*(?P<name>[\w-]+)\s*(?:\((?P<options>[^()]*)\))?\s*")


class AskedMetric(NamedTuple):
    """A requested metric.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    options : tuple of tuple of str and float
        Options of the metric's function.
    """

    name: str
    options: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        inside = "; ".join(f"{key}={value:g}" for key, value in self.options)
        return f"{self.name}({inside})" if inside else self.name


@dataclass(frozen=True)
class MetricMeasure:
    """Computation of a metric that the results do not contain.

    Parameters
    ----------
    of : str
        Kind of thing that a value belongs to: ``link``, ``group``, ``flow`` or ``run``.
    compute : callable
        Takes the scenario, the outcomes and the options; returns the values of the replications by quantity and thing,
        NaN if there is none.
    absent : callable
        Takes the scenario; returns the reason why it has no value there, or an empty string.
    needs : str
        `SERIES`, `TRACE` or empty.
    """

    of: str
    compute: Callable[[Scenario, Sequence[ReplicationOutcome], Mapping[str, float]], dict[str, Values]]
    absent: Callable[[Scenario], str] = field(default=lambda _: "")
    needs: str = ""


def parse_metrics(asked: str | Iterable[str]) -> tuple[AskedMetric, ...]:
    """Parse the requested metrics.

    Parameters
    ----------
    asked : str or iterable of str
        Names in the catalogue, with options if needed: ``"convergence_time(delta=0.2)"``.

    Returns
    -------
    tuple of AskedMetric
        Each once.

    Raises
    ------
    InputError
        If one cannot be read, there is no such metric or option, or it is a curve, not a number.

    Examples
    --------
    >>> [str(metric) for metric in parse_metrics(["jain", "convergence_time(delta=0.2)"])]
    ['jain', 'convergence_time(delta=0.2)']
    """
    return tuple(dict.fromkeys(_parse(text) for text in ([asked] if isinstance(asked, str) else asked)))


def _parse(text: str) -> AskedMetric:
    match = _ASKED.fullmatch(text)
    if match is None:
        raise InputError(f'metric: "{text}" cannot be read; write for example jain or convergence_time(delta=0.2)')
    name = match["name"].replace("-", "_")
    if name not in METRICS and name not in counts():
        known = [*METRICS, *counts()]
        message = f'metric: there is no "{match["name"]}"; {suggest(name, known, "elephan list metrics shows all")}'
        raise InputError(message)
    if name not in numbers():
        raise InputError(
            f"metric: {name}: is a curve, not a number; elephan.metrics.{METRICS[name].function.__name__} computes it"
        )
    options = [_option(name, part) for part in (match["options"] or "").replace(",", ";").split(";") if part.strip()]
    return AskedMetric(name, tuple(sorted(dict(options).items())))


def numbers() -> list[str]:
    """Return the metrics that ``--metric`` accepts: numbers, not curves, and `counts`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "convergence_time" in numbers(), "distribution" in numbers()
    (True, False)
    """
    return [*(name for name in METRICS if name in MEASURES or places(name)), *counts()]


def counts() -> dict[str, str]:
    """Return counts of results that have their names from the screen of a run, and no card, with their titles.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> list(counts())
    ['timeouts', 'cuts']
    """
    return {each.metric: each.title for each in QUANTITIES.values() if each.metric and each.metric not in METRICS}


def row_name(metric: str, quantity: str) -> str:
    """Return the name of a measured quantity on screens: without its unit, which is beside it.

    Examples
    --------
    >>> row_name("goodput", "goodput_per_flow_bps"), row_name("cuts", "loss_events")
    ('goodput_per_flow', 'cuts')
    """
    return metric if metric in counts() else _OF_UNIT.sub("", quantity)


_OF_UNIT = re.compile("_(bps|s|packets|segments|bytes)$")


def _option(name: str, text: str) -> tuple[str, float]:
    key, _, value = (part.strip() for part in text.partition("="))
    known = METRICS[name].meanings if name in METRICS else {}
    if key not in known:
        message = f'metric: {name}: there is no option "{key}"; {suggest(key, known, None if known else "it has none")}'
        raise InputError(message)
    try:
        return key, float(value)
    except ValueError:
        message = f'metric: {name}: {key}: "{value}" is not a number; write for example {name}({key}=0.2)'
        raise InputError(message) from None


def needs_series(asked: Iterable[AskedMetric]) -> bool:
    """Return whether a metric is computed from the sampled series.

    Parameters
    ----------
    asked : iterable of AskedMetric

    Examples
    --------
    >>> needs_series(parse_metrics("convergence_time")), needs_series(parse_metrics("jain"))
    (True, False)
    """
    return any(metric.name in MEASURES and MEASURES[metric.name].needs == SERIES for metric in asked)


def check_metrics(asked: Iterable[AskedMetric], scenario: Scenario) -> None:
    """Refuse metrics that are not defined for a scenario.

    Raises
    ------
    InputError
        The message names the metric, the reason and a remedy.
    """
    for metric in asked:
        if why := absent(metric, scenario):
            raise InputError(f"metric: {metric.name}: {why}")


def absent(metric: AskedMetric, scenario: Scenario) -> str:
    """Explain why a metric is not defined for a scenario; empty if it is defined.

    Returns
    -------
    str
    """
    return MEASURES[metric.name].absent(scenario) if metric.name in MEASURES else ""


def measure(
    asked: Iterable[AskedMetric],
    scenario: Scenario,
    outcomes: Callable[[], Sequence[ReplicationOutcome]],
    document: MeasuredRun,
) -> list[MetricDocument]:
    """Compute metrics.

    Parameters
    ----------
    asked : iterable of AskedMetric
    scenario : Scenario
    outcomes : callable
        Returns those of all replications; called only if a metric needs them.
    document : mapping
        Document of ``elephan run --json``.

    Returns
    -------
    list of dict
        ``metric``, ``quantity``, ``unit``, ``of`` (``link``, ``group``, ``flow`` or ``run``), ``name`` (of that),
        ``value`` (``mean`` and ``ci95``) and ``replications`` (number with a value). A metric that is `absent` has
        no row.

    Raises
    ------
    InputError
        If the series or traces that a metric needs were not kept.
    """
    rows: list[MetricDocument] = []
    for metric in asked:
        if metric.name not in MEASURES:
            rows += _in_document(metric, document)
        elif not absent(metric, scenario):
            rows += _computed(metric, scenario, outcomes())
    return rows


def as_table(rows: Sequence[Mapping[str, Any]]) -> ColumnTable:
    """Return measured metrics as a table.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of `measure`; labels may precede their keys.

    Returns
    -------
    ColumnTable
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return ColumnTable({name: [row.get(name) for row in rows] for name in names}, "Metrics")


def _in_document(metric: AskedMetric, document: MeasuredRun) -> list[MetricDocument]:
    """Read a metric from a document."""
    rows: list[MetricDocument] = []
    count, parts = document["run"]["replications"], dict[str, Any](document)
    for part, of_part in places(metric.name):
        things = [("", parts[part])] if part == FAIRNESS else [(row["name"], row) for row in parts[part]]
        of = "run" if part == FAIRNESS else part.removesuffix("s")
        for name, thing in things:
            for each in of_part:
                quantity = _deep(thing, path(each))
                if quantity is not None:
                    known = 0 if quantity["mean"] is None else count
                    rows.append(_row(metric, each.name, of, name, quantity, known))
    return rows


def _deep(thing: Any, key: str) -> Any:
    """Return the value at a dotted key; None if it is missing."""
    for part in key.split("."):
        thing = thing.get(part) if thing else None
    return thing


def _computed(metric: AskedMetric, scenario: Scenario, outcomes: Sequence[ReplicationOutcome]) -> list[MetricDocument]:
    how = MEASURES[metric.name]
    if how.needs == SERIES and not outcomes[0].samples["cwnd_segments"].size:
        message = f"metric: {metric.name}: is computed from the samples, which were not kept; run with series=True"
        raise InputError(message)
    rows = []
    for quantity, things in how.compute(scenario, outcomes, dict(metric.options)).items():
        for name, values in things.items():
            found = estimate(values)
            value: Quantity = {"mean": found.mean if np.isfinite(found.mean) else None, "ci95": found.ci95}
            rows.append(_row(metric, quantity, how.of, name, value, int(np.isfinite(values).sum())))
    return rows


def _row(metric: AskedMetric, quantity: str, of: str, name: str, value: Quantity, known: int) -> MetricDocument:
    return {
        "metric": str(metric),
        "quantity": quantity,
        "unit": unit(quantity),
        "of": of,
        "name": name,
        "value": value,
        "replications": known,
    }


def _loss_synchronization(
    scenario: Scenario, outcomes: Sequence[ReplicationOutcome], _: Mapping[str, float]
) -> dict[str, Values]:
    return {
        "loss_synchronization": {
            link.name: [
                loss_synchronization(o.links["flows_hit"][i], o.links["loss_events"][i], link.flows) for o in outcomes
            ]
            for i, link in enumerate(scenario.network.links)
            if link.flows
        }
    }


def _maxmin_share(scenario: Scenario, _: Sequence[ReplicationOutcome], __: Mapping[str, float]) -> dict[str, Values]:
    # A fact of the network, the same in all replications.
    shares = fair_shares(scenario).tolist()
    return {"maxmin_share_bps": {g.name: [share] for g, share in zip(scenario.network.groups, shares, strict=True)}}


def _throughput_by_rtt(
    _: Scenario, outcomes: Sequence[ReplicationOutcome], __: Mapping[str, float]
) -> dict[str, Values]:
    rtts = np.concatenate([outcome.flows["base_rtt_s"] for outcome in outcomes])
    low, high = float(np.nanmin(rtts)), float(np.nanmax(rtts))
    edges = np.linspace(low, high, RTT_BINS + 1) if high > low else np.array([low, np.nextafter(low, np.inf)])
    bins = [throughput_by_rtt(o.flows["goodput_bps"], o.flows["base_rtt_s"], edges) for o in outcomes]
    names = [f"RTT {1e3 * a:.4g} to {1e3 * b:.4g} ms" for a, b in pairwise(edges)]
    if len(names) == 1:
        names = [f"RTT {1e3 * low:.4g} ms"]
    return {
        "throughput_by_rtt_bps": {name: [float(one[k]) for one in bins] for k, name in enumerate(names)},
    }


def _convergence_time(
    scenario: Scenario, outcomes: Sequence[ReplicationOutcome], options: Mapping[str, float]
) -> dict[str, Values]:
    return {"convergence_time_s": {"": [_converged(scenario, outcome, options) for outcome in outcomes]}}


def _converged(scenario: Scenario, outcome: ReplicationOutcome, options: Mapping[str, float]) -> float:
    tcp = np.array([group.is_tcp for group in scenario.network.groups])[outcome.flows["group"]]
    time_s, srtt = outcome.samples["time_s"], outcome.samples["srtt_s"][tcp]
    rates = np.divide(outcome.samples["cwnd_segments"][tcp], srtt, out=np.zeros(srtt.shape), where=srtt > 0)
    every = float(time_s[1] - time_s[0]) if time_s.size > 1 else 1.0
    step = max(1, round(WINDOW_RTTS * float(outcome.flows["base_rtt_s"][tcp].max()) / every))
    whole = time_s.size // step * step
    if not whole:
        return float("nan")
    means = np.nan_to_num(rates[:, :whole]).reshape(2, -1, step).mean(axis=2)
    return convergence_time(time_s[:whole:step], means, float(outcome.flows["start_s"][tcp].max()), **options)


def _is_not_two(scenario: Scenario) -> str:
    flows = sum(group.flows for group in scenario.network.groups if group.is_tcp)
    return (
        "" if flows == 2 else f"is defined for two TCP flows, and the scenario has {flows}; write a scenario with two"
    )


def _recovery_time(
    scenario: Scenario, outcomes: Sequence[ReplicationOutcome], _: Mapping[str, float]
) -> dict[str, Values]:
    warmup_s = scenario.facts["warmup_s"]
    found: Values = {}
    for k, outcome in enumerate(outcomes):
        for trace in outcome.traces:
            group = scenario.groups[int(outcome.flows["group"][trace["flow"]])]["name"]
            name = f"{group}[{int(outcome.flows['index'][trace['flow']])}]"
            measured = trace["time_s"] >= warmup_s
            columns = (trace[column][measured] for column in ("time_s", "cwnd_segments", "ssthresh_segments"))
            found.setdefault(name, [float("nan")] * len(outcomes))[k] = _mean(recovery_times(*columns))
    if not found:
        message = 'metric: recovery_time: no flow was recorded ACK by ACK; set record.trace, such as ["bulk[0]"]'
        raise InputError(message)
    return {"recovery_time_s": found}


def _is_not_traced(scenario: Scenario) -> str:
    if scenario.resolved.get("record", {}).get("trace"):
        return ""
    first = scenario.groups[0]["name"]
    return f'is measured for flows that are recorded ACK by ACK; give --set record.trace=["{first}[0]"]'


def _response_time(
    scenario: Scenario, outcomes: Sequence[ReplicationOutcome], _: Mapping[str, float]
) -> dict[str, Values]:
    found: dict[str, Values] = {f"response_time_p{100 * share:.0f}_s": {} for share in SHARES}
    for g, group in enumerate(scenario.groups):
        if group["traffic"] != FINITE:
            continue
        for share, things in zip(SHARES, found.values(), strict=True):
            things[group["name"]] = [_quantile(outcome, g, share) for outcome in outcomes]
    return found


FINITE = "finite"
"""Traffic whose flows carry one transfer each."""


def _quantile(outcome: ReplicationOutcome, group: int, share: float) -> float:
    """Return the time within which a share of the transfers begun was complete; NaN if fewer ever completed."""
    mine = outcome.flows["group"] == group
    times, reached = response_time_cdf(
        completion_times(outcome.flows["start_s"][mine], outcome.flows["finished_s"][mine])
    )
    first = int(np.searchsorted(reached, share - 1e-12))
    return float(times[first]) if first < times.size else float("nan")


def _has_none_finite(scenario: Scenario) -> str:
    if any(group["traffic"] == FINITE for group in scenario.groups):
        return ""
    return 'is defined for groups with "finite" traffic, and there is none; for sessions use completion_time'


def _mean(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


MEASURES: dict[str, MetricMeasure] = {
    "loss_synchronization": MetricMeasure("link", _loss_synchronization),
    "throughput_by_rtt": MetricMeasure("run", _throughput_by_rtt),
    "convergence_time": MetricMeasure("run", _convergence_time, _is_not_two, SERIES),
    "recovery_time": MetricMeasure("flow", _recovery_time, _is_not_traced, TRACE),
    "response_time_cdf": MetricMeasure("group", _response_time, _has_none_finite),
    "maxmin_share": MetricMeasure("group", _maxmin_share),
}
"""Metrics that are computed on request; the others are in every document, or are curves."""
