"""Conversion of a run on real stacks to the outcome of a simulation, for the same documents, columns and figures.

*Source*: the definitions of `elephan.metrics`. *Differs from a simulation*: windows and round-trip times are iperf3's,
ten times per second, with the kernel's own smoothing; timeouts are not counted separately; the loss events of a flow
are estimated from its drops, not counted by its sender.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elephan.metrics import bin_lowers, goodput, mean_srtt, utilization
from elephan.runs.outcome import CAUSES, ReplicationOutcome
from elephan.testbed.plan import TestbedPlan
from elephan.testbed.traffic import Iperf3Report

Floats = NDArray[np.float64]


def outcome(
    plan: TestbedPlan, recorded: dict[str, Any], reports: Sequence[Iperf3Report], begun_s: Sequence[float]
) -> ReplicationOutcome:
    """Convert the records of a replication into an outcome.

    Parameters
    ----------
    recorded : dict
        Records of the bottleneck.
    reports : sequence of Iperf3Report
        Report of each flow.
    begun_s : sequence of float
        Start of each flow's transfer [s].
    """
    facts = plan.scenario.facts
    warmup_s, span_s = facts["warmup_s"], plan.duration_s - facts["warmup_s"]
    grid = _grid(plan)
    names = ("cwnd_segments", "srtt_s", "rttvar_s", "retransmitted")
    cwnd, srtt, rttvar, again = (_sampled(grid, reports, begun_s, name) for name in names)
    links, samples, histograms = _links(plan, recorded, grid, span_s)
    measured = grid >= warmup_s
    flows: dict[str, NDArray[Any]] = {
        "group": np.array([flow.group for flow in plan.flows], dtype=np.uint32),
        "index": np.array([flow.index for flow in plan.flows], dtype=np.uint32),
        "base_rtt_s": np.array([flow.rtt_s for flow in plan.flows]),
        "start_s": np.array(begun_s, dtype=float),
        "goodput_bps": np.array(
            [_goodput(one, at, plan, warmup_s) for one, at in zip(reports, begun_s, strict=True)], dtype=float
        ),
        "sent": _column(recorded["flows"], "arrived"),
        "retransmitted": np.array(
            [
                _within(one.time_s + at, one.retransmitted, warmup_s, plan.duration_s)
                for one, at in zip(reports, begun_s, strict=True)
            ]
        ).astype(np.uint64),
        "dropped": np.array([sum(flow["drops"]) for flow in recorded["flows"]], dtype=np.uint64),
        "timeouts": np.full(len(plan.flows), np.nan),
        "loss_events": _loss_events(plan, recorded, warmup_s),
        "cwnd_segments": _mean(cwnd[:, measured]),
        "srtt_s": np.array([mean_srtt(row) for row in srtt[:, measured]]),
        "finished_s": np.full(len(plan.flows), np.nan),
    }
    link = recorded["link"]
    dropped = int(sum(link["drops"]))
    balance = {
        "sent": int(link["arrived"]),
        "delivered": int(link["begun"]),
        "dropped": dropped,
        "in_flight": int(link["arrived"]) - int(link["begun"]) - dropped,
    }
    shown: dict[str, NDArray[Any]] = {
        "time_s": grid,
        "cwnd_segments": cwnd.astype(np.float32),
        "srtt_s": srtt.astype(np.float32),
        "rttvar_s": rttvar.astype(np.float32),
        "retrans_segments": np.nan_to_num(again).astype(np.uint32),
        **samples,
    }
    none: list[dict[str, Any] | None] = [None] * len(plan.scenario.groups)
    return ReplicationOutcome(links, flows, shown, histograms, [{}], balance, [], [], none, 0)


def _grid(plan: TestbedPlan) -> Floats:
    every = plan.scenario.facts["every_s"] or 0.1
    return np.arange(0.0, plan.duration_s, every)


def _sampled(grid: Floats, reports: Sequence[Iperf3Report], begun_s: Sequence[float], name: str) -> Floats:
    """Sample a quantity of each flow at the grid's instants, shape (flows, samples); NaN before a flow starts.

    Retransmissions are counted from the start, as in samples of simulations, over the intervals that have ended.
    """
    rows = []
    for one, at in zip(reports, begun_s, strict=True):
        if name == "retransmitted":
            ended = np.searchsorted(one.time_s + at, grid, side="right")
            values = np.concatenate([[0.0], np.cumsum(one.retransmitted)])[ended]
        else:
            place = np.searchsorted(one.time_s + at, grid, side="left")
            values = np.append(getattr(one, name), np.nan)[np.minimum(place, one.time_s.size)]
        rows.append(np.where(grid >= at, values, np.nan))
    return np.array(rows)


def _links(
    plan: TestbedPlan, recorded: dict[str, Any], grid: Floats, span_s: float
) -> tuple[dict[str, NDArray[Any]], dict[str, Any], dict[str, list[Any]]]:
    link, sampled = recorded["link"], recorded["samples"]
    time_s, backlog = sampled["time_s"], sampled["backlog_packets"]
    fact = plan.scenario.links[0]
    measured = time_s >= plan.scenario.facts["warmup_s"]
    waiting = backlog[measured]
    events, hit = _clusters(plan, recorded)
    served = max(int(link["begun"]), 1)
    found = {
        "arrived": link["arrived"],
        **{f"drops_{cause}": drops for cause, drops in zip(CAUSES, link["drops"], strict=True)},
        **{f"marks_{cause}": link["marked"] if cause == "early" else 0 for cause in CAUSES},
        "utilization": utilization(link["begun_bytes"], fact["rate_bps"], span_s),
        "backlog_packets": float(waiting.mean()) if waiting.size else 0.0,
        "backlog_max_packets": link["most_packets"],
        "queueing_delay_s": link["waited_s"] / served,
        "empty_fraction": float((waiting == 0).mean()) if waiting.size else 1.0,
        "loss_events": events,
        "flows_hit": hit,
    }
    columns = {name: np.array([value]) for name, value in found.items()}
    place = np.searchsorted(time_s, grid + 1e-9, side="right") - 1
    place = np.clip(place, 0, max(time_s.size - 1, 0))
    at_grid = {
        "backlog_packets": backlog[place].astype(np.uint32)[np.newaxis],
        "begun_bytes": sampled["begun_bytes"][place].astype(np.uint64)[np.newaxis],
    }
    packet_ps = 8e12 * plan.packet / fact["rate_bps"]
    histograms: dict[str, list[Any]] = {
        "backlog_packets": [_histogram(waiting)],
        "drain_ps": [_histogram(np.rint(waiting * packet_ps))],
        "delay_ps": [np.zeros(0, dtype=np.uint64)],
        "group_delay_ps": [[]],
    }
    return columns, at_grid, histograms


def _histogram(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Count values in the engine's bins."""
    if not values.size:
        return np.zeros(0, dtype=np.uint64)
    lowers, count = bin_lowers(64), 64
    while lowers[-1] <= values.max():
        count += 32
        lowers = bin_lowers(count)
    bins = np.searchsorted(lowers, values, side="right") - 1
    return np.bincount(bins).astype(np.uint64)


def _clusters(plan: TestbedPlan, recorded: dict[str, Any]) -> tuple[int, int]:
    """Return the number of the link's loss events, and the number of flows hit, summed over the events."""
    warmup_s, gap = plan.scenario.facts["warmup_s"], plan.scenario.links[0]["mean_rtt_s"]
    time_s, flow = recorded["drops"]["time_s"], recorded["drops"]["flow"]
    keep = (time_s >= warmup_s) & (time_s < plan.duration_s)
    time_s, flow = time_s[keep], flow[keep]
    if not time_s.size:
        return 0, 0
    # As in the engine: drops less than a gap apart, one from the next, are one event.
    events = np.concatenate([[0], np.cumsum(np.diff(time_s) >= gap)])
    return int(events[-1]) + 1, len(set(zip(events.tolist(), flow.tolist(), strict=True)))


def _recoveries(time_s: Floats, length_s: float) -> int:
    """Count the recoveries that drops cause; a recovery begins with a drop and covers those within its length."""
    count, began = 0, -np.inf
    for at in time_s.tolist():
        if at >= began + length_s:
            began, count = at, count + 1
    return count


def _loss_events(plan: TestbedPlan, recorded: dict[str, Any], warmup_s: float) -> NDArray[np.uint64]:
    """Count the loss events of each flow; drops within a round-trip time (with the mean queue) are one event."""
    time_s, flow = recorded["drops"]["time_s"], recorded["drops"]["flow"]
    queue_s = recorded["link"]["waited_s"] / max(recorded["link"]["begun"], 1)
    found = []
    for number, one in enumerate(plan.flows):
        mine = time_s[(flow == number) & (time_s >= warmup_s) & (time_s < plan.duration_s)]
        found.append(_recoveries(mine, one.rtt_s + queue_s))
    return np.array(found, dtype=np.uint64)


def _goodput(report: Iperf3Report, begun_s: float, plan: TestbedPlan, warmup_s: float) -> float:
    """Return the rate of in-order data, in wire sizes, over the measured time [bit/s]."""
    came = _within(report.received_s + begun_s, report.received_bytes, warmup_s, plan.duration_s)
    return float(goodput(came / report.mss, plan.packet, plan.duration_s - warmup_s))


def _within(ends_s: Floats, amounts: Floats, since_s: float, until_s: float) -> float:
    """Sum the amounts of intervals (which end at `ends_s`) over a span; intervals at its limits count partially."""
    if not ends_s.size:
        return 0.0
    begins = np.concatenate([[2 * ends_s[0] - ends_s[1] if ends_s.size > 1 else ends_s[0] - 0.1], ends_s[:-1]])
    length = np.maximum(ends_s - begins, 1e-9)
    inside = np.clip(np.minimum(ends_s, until_s) - np.maximum(begins, since_s), 0.0, None)
    return float((amounts * inside / length).sum())


def _column(rows: Sequence[dict[str, Any]], name: str) -> NDArray[np.uint64]:
    return np.array([row[name] for row in rows], dtype=np.uint64)


def _mean(rows: Floats) -> Floats:
    """Return the mean of each row's known values."""
    known = np.isfinite(rows)
    total: Floats = np.where(known, rows, 0.0).sum(axis=1)
    found: Floats = np.divide(total, known.sum(axis=1), out=np.full(len(rows), np.nan), where=known.any(axis=1))
    return found
