"""Results of one replication: NumPy columns with a row per link or flow, units in their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elephan import _native
from elephan.errors import ScenarioError
from elephan.metrics.link_quantities import CAUSES as CAUSES
from elephan.metrics.quantity import derived
from elephan.own_laws import check_state, class_state
from elephan.runs.threads import monitor_of_thread
from elephan.scenario import AUTO, Scenario


@dataclass(frozen=True)
class ReplicationOutcome:
    """Results of one replication.

    Parameters
    ----------
    links : dict of str to ndarray, shape (links,)
        Counters and means per link, in the scenario's order. If any link draws on a pool, ``pool_held`` and
        ``pool_held_max`` (mean and maximum of the memory that it held, NaN for other links) and ``pool_drops``.
    flows : dict of str to ndarray, shape (flows,)
        Counters and means per flow, groups in the scenario's order.
    samples : dict of str to ndarray
        ``time_s`` with shape (samples,); if the series were kept, ``cwnd_segments`` and ``srtt_s`` with shape
        (flows, samples), NaN for datagrams; for simulated TCP also, as in ``ss``, ``rttvar_s``, ``min_rtt_s``,
        the counters ``delivered_segments`` and ``retrans_segments`` since the start, ``delivery_rate_bps`` (NaN for
        laws without rate samples) and ``pacing_rate_bps`` (NaN without pacing and bursts); whether each cause limits
        the sender at that instant, 0 or 1: ``cwnd_limited``, ``rwnd_limited``, ``app_limited``, ``pacing_limited``; and
        ``backlog_packets`` and ``begun_bytes`` (bytes that began service since the start) with shape (links,
        samples). Without any TCP flow the first two have shape (flows, 0).
    histograms : dict of str to list of ndarray
        Per link, in the bins of `elephan.metrics.bin_lowers`: ``backlog_packets`` and ``drain_ps`` (time
        that a first-in first-out link would need to serve the backlog) at the samples, ``delay_ps`` of every packet
        served, empty unless the scenario records delays; ``group_delay_ps`` the same for the data of each group of
        flows, a list up to the last group with any. Per group ``datagram_delay_ps``, of each datagram that arrived, for
        traffic with equal gaps.
    queue_gauges : list of dict
        Per link: gauges of the discipline by name, with shape (samples,), if the series were kept.
    balance : dict of str to int
        Data packets of the whole run: ``sent``, ``delivered``, ``dropped``, ``in_flight``.
    traces : list of dict
        Flows recorded event by event; ``gauges`` holds the gauges of the law by name, with shape (rows,).
        ``drop_*``, ``retransmit_*`` (time and number of each segment sent again) and ``sack_*`` (row, first segment and
        end of each SACK block) have shapes of their own. ``events`` are the losses, states of recovery, timers and
        undone reductions, with shape (events,): ``time_s``, ``event``, ``reason``, ``segment`` (lost, or sent as a
        probe; otherwise the first that is not acknowledged), ``ca_state`` after it, ``cwnd_before_segments``,
        ``cwnd_segments``, ``ssthresh_before_segments``, ``ssthresh_segments``, ``rto_s`` (of an ``rto`` event, the
        expired one) and ``backoff`` (timeouts in a row).
    packets : list of dict
        Links at which packets were recorded: ``link``, ``member`` of an array, and with shape (packets,) ``time_s``,
        ``flow``, ``segment``, ``backlog_packets`` (found waiting), ``waited_s`` (until served or dropped; NaN at
        the end of the run), ``dropped``, ``marked`` (by this link), ``retransmission``, ``ecn`` (the IP field on
        arrival) and ``cwr``.
    transfers : list of dict or None
        Per group with transfers that end (else None), for those opened after the warm-up: counts ``opened``,
        ``completed``, ``refused``, ``pages``; sums ``segments``, ``duration_sum_s``, ``slowdown_sum``, ``page_sum_s``;
        histograms in the bins of `elephan.metrics.bin_lowers` ``duration_ps``, ``slowdown_1024``, ``page_ps``;
        transfers open at their senders: ``open_mean``, ``open_histogram`` (samples with 0, 1, 2, ... of them),
        ``open_samples``; if the series were kept, each complete transfer in ``rows`` (``flow``, ``opened_s``,
        ``duration_s``, ``ideal_s``, ``segments``) and page in ``page_rows``.
    hash : int
        Rolling hash over every arrival and ACK; 0 unless requested.
    pools : dict of str to ndarray, shape (pools,)
        ``used`` and ``used_max``: mean and maximum of the memory that all links of each pool held together, in packets
        or bytes, like the size of the pool.
    """

    links: dict[str, NDArray[Any]]
    flows: dict[str, NDArray[Any]]
    samples: dict[str, NDArray[Any]]
    histograms: dict[str, list[Any]]
    queue_gauges: list[dict[str, NDArray[np.float64]]]
    balance: dict[str, int]
    traces: list[dict[str, Any]]
    packets: list[dict[str, Any]]
    transfers: list[dict[str, Any] | None]
    hash: int
    pools: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def has_series(self) -> bool:
        """Whether the sampled series were kept."""
        return bool(self.samples["cwnd_segments"].size or self.samples["backlog_packets"].size)

    def loss_ratio(self, link: int) -> float:
        """Packets dropped at a link over packets arrived there.

        Parameters
        ----------
        link : int

        Returns
        -------
        float [1]
        """
        return float(self.derived["loss_ratio"][link])

    @cached_property
    def derived(self) -> dict[str, NDArray[Any]]:
        """Columns of links that are derived from the counters, by name, shape (links,)."""
        return derived(self.links)

    def delay_histogram(self, link: int) -> NDArray[np.uint64]:
        """Histogram of the queueing delay at a link, of every packet if recorded, otherwise of samples.

        Parameters
        ----------
        link : int

        Returns
        -------
        ndarray, shape (bins,)
            Bins of `elephan.metrics.bin_lowers`, in picoseconds.
        """
        every: NDArray[np.uint64] = self.histograms["delay_ps"][link]
        sampled: NDArray[np.uint64] = self.histograms["drain_ps"][link]
        return every if every.size else sampled


def simulate(
    scenario: Scenario,
    replication: int,
    *,
    engine: str = "window",
    series: bool = False,
    with_hash: bool = False,
    threads: int = 1,
) -> ReplicationOutcome:
    """Run one replication in this thread, without the interpreter's lock; on the main thread a signal stops it.

    Parameters
    ----------
    replication : int
        Number of the replication, from 0; with the seed it determines the random streams.
    with_hash : bool
        Compute the rolling hash (slower).
    threads : int
        Threads that the flows of a large network may run on, this one included; the result does not depend on it. A
        run in `elephan.runs.threads.SimulationThreads` gets more threads while others are idle.

    Raises
    ------
    ScenarioError
        If the scenario is too large for the engine, its warm-up is unresolved, or it names a law that has not been
        declared.
    LawError
        If a law in Python fails.
    ValueError
        If there is no such engine.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> sorted(simulate(Scenario.from_text(EXAMPLE), 0).balance)
    ['delivered', 'dropped', 'in_flight', 'sent']
    """
    if scenario.warmup_rule == AUTO:
        message = f'{scenario.origin}: warmup: "auto" is determined by elephan.run and elephan.size; give a time here'
        raise ScenarioError(message)
    laws = scenario.own_laws
    before = class_state(laws)
    raw = _native.simulate(
        scenario.canonical,
        replication,
        engine=engine,
        series=series,
        hash=with_hash,
        monitor=monitor_of_thread(),
        threads=threads,
        laws=laws or None,
    )
    check_state(laws, before)
    return ReplicationOutcome(**raw)


def simulate_several(
    jobs: Sequence[tuple[Scenario, int]], *, series: bool = False
) -> list[tuple[ReplicationOutcome | ScenarioError, float]]:
    """Run replications one after the other in this thread, releasing the interpreter's lock once for all of them.

    Parameters
    ----------
    jobs : sequence of tuple of Scenario and int
        Scenarios and replication numbers. Jobs of one scenario should be adjacent.

    Returns
    -------
    list of tuple of ReplicationOutcome or ScenarioError, and float
        Outcome or error of each job, and the time it took [s].

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> scenario = Scenario.from_text(EXAMPLE)
    >>> [(outcome, _)] = simulate_several([(scenario, 1)])
    >>> outcome.balance == simulate(scenario, 1).balance
    True
    """
    rows = _native.simulate_several(
        [(scenario.canonical, number) for scenario, number in jobs], series=series, monitor=monitor_of_thread()
    )
    return [
        (ScenarioError(error or "") if raw is None else ReplicationOutcome(**raw), took_s)
        for raw, error, took_s in rows
    ]
