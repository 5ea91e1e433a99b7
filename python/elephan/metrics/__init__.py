"""Metrics as pure functions on arrays, and their cards (`METRICS`, `cards`)."""

from elephan.metrics.cards import METRICS, Metric, cards
from elephan.metrics.links import (
    bin_lowers,
    bin_middles,
    distribution,
    empty_fraction,
    flows_hit_per_loss_event,
    idle_fraction,
    loss_ratio,
    loss_synchronization,
    mean_backlog,
    occupancy,
    percentile,
    percentiles,
    queueing_delay,
    ratio,
    utilization,
    utilization_series,
)

# isort: split
from elephan.metrics.flows import (
    completion_times,
    convergence_time,
    goodput,
    mean_srtt,
    recovery_times,
    response_time_cdf,
    rtt_ratio,
    slowdown,
    throughput_by_rtt,
)

# isort: split
from elephan.metrics.fairness import jain, jain_maxmin, maxmin_shares

__all__ = [
    "METRICS",
    "Metric",
    "bin_lowers",
    "bin_middles",
    "cards",
    "completion_times",
    "convergence_time",
    "distribution",
    "empty_fraction",
    "flows_hit_per_loss_event",
    "goodput",
    "idle_fraction",
    "jain",
    "jain_maxmin",
    "loss_ratio",
    "loss_synchronization",
    "maxmin_shares",
    "mean_backlog",
    "mean_srtt",
    "occupancy",
    "percentile",
    "percentiles",
    "queueing_delay",
    "ratio",
    "recovery_times",
    "response_time_cdf",
    "rtt_ratio",
    "slowdown",
    "throughput_by_rtt",
    "utilization",
    "utilization_series",
]
