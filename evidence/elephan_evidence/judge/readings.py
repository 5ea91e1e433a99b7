"""Quantities of a run and of a row of measurements, by name: ``backlog_quantile share=0.5 plus=2``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from elephan.metrics.links import percentile
from elephan.stats.interval import t_quantile
from elephan_evidence.judge import windows
from elephan_evidence.papers.measured import MeasuredQuantity
from elephan_evidence.papers.measures import MeasureRegistry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan.runs.result import RunResult
    from elephan_evidence.judge.cell import MeasuredCell

READINGS = MeasureRegistry()
"""Quantities of a run; each gives a value per replication."""

MEASURED = MeasureRegistry()
"""Quantities of a row; each gives its value, with a half-width if the row has the spread of trials."""


@READINGS
def backlog_quantile(
    run: RunResult, *, share: float, plus: float = 0.0, least: float = 0.0, link: int = 0
) -> MeasuredQuantity:
    """Quantile of the waiting packets at the samples, as a meter shows it: `plus` more, and at least `least`."""
    found = [percentile(outcome.histograms["backlog_packets"][link], share) for outcome in run.outcomes]
    return MeasuredQuantity(np.maximum(np.array(found) + plus, least))


@READINGS
def depth_quantile(run: RunResult, *, share: float, cells: float, cell: float, packet: float) -> MeasuredQuantity:
    """Quantile over packets of the queue that a switch reports as each leaves it, in packets of `packet` bytes.

    The queue is the packet and those that wait behind it, `cells` memory cells of `cell` bytes each, rounded up to
    packets. A packet that is dropped finds the buffer full. The run must record the packets of one link, from some
    time before the end of the warm-up.
    """
    begin = float(run.scenario.facts["warmup_s"])
    found = []
    for outcome in run.outcomes:
        rows = outcome.packets[0]
        arrived, left = rows["time_s"], rows["time_s"] + rows["waited_s"]
        counted = left >= begin
        served = left[counted & ~rows["dropped"]]
        waiting = np.searchsorted(np.sort(arrived), served, "right") - np.searchsorted(np.sort(left), served, "right")
        full = np.full(np.count_nonzero(counted & rows["dropped"]), rows["backlog_packets"].max(initial=0))
        depths = np.ceil((np.concatenate([waiting, full]) + 1) * cells * cell / packet)
        found.append(np.quantile(depths, share))
    return MeasuredQuantity(found)


@READINGS
def link(run: RunResult, *, name: str, scale: float = 1.0, index: int = 0) -> MeasuredQuantity:
    """Column of a link such as ``utilization`` or ``queueing_delay_s``, times `scale`."""
    return MeasuredQuantity([scale * float(outcome.links[name][index]) for outcome in run.outcomes])


@READINGS
def share(run: RunResult, *, group: int = 0) -> MeasuredQuantity:
    """Share of a group in the goodput of all groups."""
    every = np.array([_goodputs(run, n) for n in range(len(run.scenario.groups))])
    return MeasuredQuantity(every[group] / every.sum(axis=0))


@READINGS
def ratio(run: RunResult, *, group: int = 0, to: int = 1) -> MeasuredQuantity:
    """Goodput of a group over that of another; NaN if that one got nothing."""
    return MeasuredQuantity(_goodputs(run, group)) / MeasuredQuantity(_goodputs(run, to))


@READINGS
def in_flight(run: RunResult) -> MeasuredQuantity:
    """Mean of the traced flow's packets in flight after the warm-up."""
    return MeasuredQuantity([each.mean() for each in _windows(run)])


@READINGS
def cut_ratio(run: RunResult) -> MeasuredQuantity:
    """Median of the window after a cut over the window before it, of the traced flow."""
    return MeasuredQuantity([windows.cuts(each).ratio for each in _windows(run)])


@READINGS
def period(run: RunResult) -> MeasuredQuantity:
    """Median time between cuts of the traced flow [s]."""
    return MeasuredQuantity([windows.cuts(each).period for each in _windows(run)])


@READINGS
def payload_mbps(run: RunResult, *, payload: float, packet: float, group: int = 0) -> MeasuredQuantity:
    """Payload of a group that arrived in order [Mbit/s], from goodput, which counts whole packets."""
    return MeasuredQuantity(_goodputs(run, group) * payload / packet / 1e6)


@READINGS
def gauge(run: RunResult, *, name: str) -> MeasuredQuantity:
    """Mean of what the traced flow's law shows of itself, over its ACKs after the warm-up."""
    begin = float(run.scenario.facts["warmup_s"])
    traces = [outcome.traces[0] for outcome in run.outcomes]
    return MeasuredQuantity([each["gauges"][name][each["time_s"] >= begin].mean() for each in traces])


@READINGS
def window_peak(run: RunResult) -> MeasuredQuantity:
    """Median of the traced flow's congestion window before a cut [segments]."""
    return MeasuredQuantity([windows.peaks(*each)[0] for each in _cwnd(run)])


@READINGS
def peak_spacing(run: RunResult) -> MeasuredQuantity:
    """Median time between cuts of the traced flow's congestion window [s]."""
    return MeasuredQuantity([windows.peaks(*each)[1] for each in _cwnd(run)])


@READINGS
def last_window(run: RunResult, *, plus: float = 0.0) -> MeasuredQuantity:
    """Congestion window of the traced flow after its last ACK [segments], and `plus` more."""
    return MeasuredQuantity([float(windows_[-1]) + plus for _, windows_ in _cwnd(run)])


@MEASURED
def interval(cell: MeasuredCell, *, low: str, high: str) -> MeasuredQuantity:
    """Middle of a stated interval, with its half-width."""
    ends = cell.number(low), cell.number(high)
    return MeasuredQuantity(sum(ends) / 2, half=(ends[1] - ends[0]) / 2)


@MEASURED
def column(cell: MeasuredCell, *, name: str, sd: str = "", trials: str = "") -> MeasuredQuantity:
    """Number of a column, with the half-width that standard deviation and number of trials give."""
    return MeasuredQuantity(cell.number(name), half=_half(cell, sd, trials))


@MEASURED
def share_of(cell: MeasuredCell, *, of: str, beside: str, sd: str = "", trials: str = "") -> MeasuredQuantity:
    """Share of a column in the sum of two, with the half-width that the spread of the first gives."""
    total = cell.number(of) + cell.number(beside)
    half = _half(cell, sd, trials)
    return MeasuredQuantity(cell.number(of) / total, half=None if half is None else half / total)


@MEASURED
def ratio_of(cell: MeasuredCell, *, of: str, to: str) -> MeasuredQuantity:
    """Number of a column over that of another."""
    return MeasuredQuantity(cell.number(of) / cell.number(to))


def _half(cell: MeasuredCell, sd: str, trials: str) -> float | None:
    """Return the half-width of the 95 % interval of a mean over trials (Student 1908); None without spread."""
    if not sd:
        return None
    n = cell.number(trials)
    if not n > 1:
        return None
    return t_quantile(round(n) - 1) * cell.number(sd) / math.sqrt(n)


def _goodputs(run: RunResult, group: int) -> NDArray[np.float64]:
    """Return the goodput of a group [bit/s], shape (replications,)."""
    found = [o.flows["goodput_bps"][np.asarray(o.flows["group"]) == group].sum() for o in run.outcomes]
    return np.asarray(found, dtype=float)


def _cwnd(run: RunResult) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return time and congestion window of the traced flow at its ACKs, one per replication, after the warm-up."""
    begin = float(run.scenario.facts["warmup_s"])
    traces = [outcome.traces[0] for outcome in run.outcomes]
    late = [each["time_s"] >= begin for each in traces]
    return [(each["time_s"][of], each["cwnd_segments"][of]) for each, of in zip(traces, late, strict=True)]


def _windows(run: RunResult) -> list[windows.Window]:
    """Return the packets in flight of the traced flow over time, one per replication, after the warm-up."""
    begin, end = float(run.scenario.facts["warmup_s"]), float(run.scenario.facts["duration_s"])
    traces = [outcome.traces[0] for outcome in run.outcomes]
    return [
        windows.resampled(each["time_s"], np.asarray(each["in_flight_segments"], dtype=float), begin, end)
        for each in traces
    ]
