"""Metrics as pure functions on arrays, their cards (`METRICS`), and the numbers of results (`QUANTITIES`)."""

from elephan.metrics.cards import METRICS, Metric, cards, metric
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

# isort: split
from elephan.metrics import flow_quantities as flow_quantities
from elephan.metrics import link_quantities as link_quantities
from elephan.metrics.quantity import QUANTITIES, Quantity, Shown, declare

__all__ = [
    "METRICS",
    "QUANTITIES",
    "Metric",
    "Quantity",
    "Shown",
    "bin_lowers",
    "bin_middles",
    "cards",
    "completion_times",
    "convergence_time",
    "declare",
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
    "metric",
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
