"""Measures of the claims of Augé and Roberts 2006.

Source: AugeRoberts2006; the formulas are those of `elephan.theory.elastic`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.metrics.fairness import jain
from elephan.theory import elastic
from elephan_evidence.papers.elastic_regime_fq import packets, regimes_measures
from elephan_evidence.papers.measured import MeasuredQuantity, largest, least
from elephan_evidence.papers.measures import MeasureRegistry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

MEASURES = MeasureRegistry()
MEASURES.update(regimes_measures.MEASURES)

RESIDUAL = 25e6
"""Rate that the background leaves to the flows [bit/s]."""

RATE, PACKET = 50e6, 8000
"""Rate of the link [bit/s], and size of a packet [bit]."""

FIFO, FAIR = "drop-tail", "fq"
ORDER = (20, 100, 625)


# Formulas.


@MEASURES
def more_in_progress(_: ExperimentRuns, *, load: float, flows: int) -> float:
    """Return the probability that more than `flows` flows are in progress."""
    return float(elastic.more_in_progress(load, flows))


@MEASURES
def loss_bound(_: ExperimentRuns, *, load: float, packets: int) -> float:
    """Return the upper bound of the loss of Poisson packets."""
    return float(elastic.loss(load, packets))


@MEASURES
def load_for_loss(_: ExperimentRuns, *, loss: float, packets: int) -> float:
    """Return the load at which the loss ratio is `loss`."""
    return float(elastic.load_for_loss(loss, packets))


@MEASURES
def drain_time(_: ExperimentRuns, *, packets: int, size: float, rate: float) -> float:
    """Return the time to send a number of waiting packets [s]."""
    return float(elastic.drain_time(packets, size, rate))


@MEASURES
def product(_: ExperimentRuns, *, rate: float, rtt: float, size: float = 1.0) -> float:
    """Return the product of rate and round-trip time, in packets of a size."""
    return elastic.mixed(rate, size, rtt, background=0.0).bottlenecked_packets


@MEASURES
def unheld_flows(_: ExperimentRuns, *, rate: float, load: float, per_flow: list[float]) -> float:
    """Return the number of flows in a load, for the smallest or largest rate of a flow; the one farther from 1e5."""
    return max((rate * load / each for each in per_flow), key=lambda flows: abs(np.log(flows / 1e5)))


# One flow.


@MEASURES
def share(runs: ExperimentRuns, *, buffer: int, case: str = "newreno", queue: str = FIFO) -> MeasuredQuantity:
    """Return one flow's share of the residual capacity."""
    return _share(runs["one-flow"].at(buffer=buffer, case=case, queue=queue))


@MEASURES
def utilization(runs: ExperimentRuns, *, buffer: int, case: str = "newreno") -> MeasuredQuantity:
    """Return the utilization of the link with one flow."""
    return used(runs["one-flow"].at(buffer=buffer, case=case, queue=FIFO))


@MEASURES
def rise_with_buffer(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the smallest step of utilization between the paper's buffers."""
    each = [utilization(runs, buffer=buffer) for buffer in ORDER]
    return least(_steps(each, [f"from {a} to {b} packets" for a, b in pairwise(ORDER)]))


@MEASURES
def used_alone(runs: ExperimentRuns, *, buffer: int, jitter: str = "0 s") -> MeasuredQuantity:
    """Return the utilization without background."""
    return used(runs["alone"].at(buffer=buffer, jitter=jitter))


@MEASURES
def highspeed_gain(runs: ExperimentRuns, *, buffers: list[int], queue: str = FIFO) -> MeasuredQuantity:
    """Return the share of one HighSpeed flow minus that of one New Reno flow, the minimum over buffers."""
    gains = []
    for buffer in buffers:
        both = [share(runs, buffer=buffer, case=case, queue=queue) for case in ("highspeed", "newreno")]
        gains.append((both[0] - both[1]).noted(f"at {buffer} packets"))
    return least(gains)


@MEASURES
def fair_gain(runs: ExperimentRuns, *, buffer: int, case: str = "newreno") -> MeasuredQuantity:
    """Return the share of one flow under fair queueing minus that under drop-tail."""
    return share(runs, buffer=buffer, case=case, queue=FAIR) - share(runs, buffer=buffer, case=case)


@MEASURES
def needed(
    runs: ExperimentRuns, *, target: float, case: str = "newreno", buffers: list[int] | None = None
) -> MeasuredQuantity:
    """Return the smallest buffer for a share of the residual with one flow, interpolated [packets].

    If `buffers` are given, the smallest of them without interpolation.
    """
    points = list(runs["one-flow"].where(case=case, queue=FIFO))
    sizes = np.array([float(point.document["links"][0]["buffer_packets"]) for point in points])
    shares = np.maximum.accumulate([_share(point).samples for point in points]).T
    if buffers is not None:
        among = np.isin(sizes, buffers)
        return MeasuredQuantity([_first(sizes[among], one[among] >= target) for one in shares])
    return MeasuredQuantity([float(np.exp(np.interp(target, one, np.log(sizes), right=np.nan))) for one in shares])


def _first(sizes: NDArray[np.float64], enough: NDArray[np.bool_]) -> float:
    return float(sizes[enough][0]) if enough.any() else float("nan")


@MEASURES
def needed_by_highspeed(runs: ExperimentRuns, *, targets: list[float]) -> MeasuredQuantity:
    """Return HighSpeed's smallest buffer over New Reno's, for the target with the largest ratio."""
    ratios = []
    for target in targets:
        highspeed, newreno = (needed(runs, target=target, case=case) for case in ("highspeed", "newreno"))
        note = f"for {target} of the residual: {highspeed.mean:.0f} packets, New Reno {newreno.mean:.0f}"
        ratios.append((highspeed / newreno).noted(note))
    return largest(ratios)


@MEASURES
def loss_events_ratio(runs: ExperimentRuns, *, buffer: int) -> MeasuredQuantity:
    """Return the loss events of one HighSpeed flow over those of one New Reno flow."""
    points = [runs["one-flow"].at(buffer=buffer, case=case, queue=FIFO) for case in ("highspeed", "newreno")]
    events = [MeasuredQuantity(point.flows("loss_events", group="flows").sum(axis=1)) for point in points]
    return events[0] / events[1]


# Packets and windows of one flow at 20 packets.


@MEASURES
def bursts(runs: ExperimentRuns, *, queue: str = FIFO) -> MeasuredQuantity:
    """Return the flow's excess in burstiness over Poisson packets of the same rate, the smallest of three measures.

    The measures are the share of time between bursts, the rate of arrivals during bursts over the link's, and the
    position of losses within their burst, from 0 to 1, compared with random packets of the flow.
    """
    point = runs["bursts"].at(queue=queue)
    flow, chance = packets.of_flow(point, PACKET / RATE), packets.of_poisson(point, PACKET / RATE)
    pairs = (
        ("time between bursts", [one.idle for one in flow], [one.idle for one in chance]),
        ("of the link's rate within bursts", [one.rate for one in flow], [one.rate for one in chance]),
        ("place of losses", [one.place for one in flow], [one.middle for one in flow]),
    )
    both = [(what, MeasuredQuantity(one), MeasuredQuantity(other)) for what, one, other in pairs]
    note = "; ".join(f"{what} {one.mean:.2f}, by chance {other.mean:.2f}" for what, one, other in both)
    return least(one - other for _, one, other in both).noted(note)


@MEASURES
def window_at_loss(runs: ExperimentRuns, *, queue: str = FIFO) -> MeasuredQuantity:
    """Return the mean cwnd before a cut [segments]."""
    point = runs["bursts"].at(queue=queue)
    return MeasuredQuantity([_mean(_peaks_of(windows[0])) for windows, _ in _windows(point, 1)])


# Several flows.


@MEASURES
def rise_with_flows(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the smallest step of utilization from one to two to four New Reno flows at 20 packets."""
    each = [utilization(runs, buffer=20), *(used(several(runs, flows)) for flows in (2, 4))]
    return least(_steps(each, ["from 1 to 2 flows", "from 2 to 4 flows"]))


@MEASURES
def common_losses(
    runs: ExperimentRuns, *, flows: int, buffer: int = 20, case: str = "newreno", queue: str = FIFO
) -> MeasuredQuantity:
    """Return the share of common cuts: instants with a cut at which more than one window is cut."""
    point = several(runs, flows, buffer, case, queue)
    return MeasuredQuantity([_common(windows) for windows, _ in _windows(point, flows)])


@MEASURES
def largest_over_smallest(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the largest goodput over the smallest, for two and four New Reno flows at 20 packets."""
    ratios = []
    for flows in (2, 4):
        rates = several(runs, flows).flows("goodput_bps", group="flows")
        ratios.append(MeasuredQuantity(rates.max(axis=1) / rates.min(axis=1), f"of {flows} flows"))
    return largest(ratios)


@MEASURES
def changes_of_leader(runs: ExperimentRuns, *, queue: str = FIFO) -> MeasuredQuantity:
    """Return the share of 10 s windows in which the leader of four HighSpeed flows changes and has at least 30 %."""
    found = []
    for rates in _ten_seconds(several(runs, 4, 625, "highspeed", queue)):
        leader, leads = rates.argmax(axis=0), rates.max(axis=0) > 0.3 * rates.sum(axis=0)
        found.append(_mean((leader[1:] != leader[:-1]) & leads[1:]))
    return MeasuredQuantity(found)


@MEASURES
def short_term_fairness(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return Jain's index of four HighSpeed flows over 10 s under fair queueing, minus that under drop-tail."""
    both = []
    for queue in (FAIR, FIFO):
        every = _ten_seconds(several(runs, 4, 625, "highspeed", queue))
        both.append(MeasuredQuantity([float(np.mean([jain(one) for one in rates.T])) for rates in every]))
    return (both[0] - both[1]).noted(f"{both[0].mean:.3f} under fair queueing, {both[1].mean:.3f} under drop-tail")


@MEASURES
def helps_small_buffers(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the smallest of four effects of fair queueing, each above 0 if it is as claimed.

    The effects are fewer synchronized losses of four New Reno flows at 20 packets and of two at 625, a lower rate
    within bursts at 20, and a larger gain of one flow at 20 packets than at 625.
    """
    small, large = (fair_gain(runs, buffer=buffer) for buffer in (20, 625))
    return least(
        [
            desynchronised(runs, buffer=20, flows=4, case="newreno"),
            desynchronised(runs, buffer=625, flows=2, case="newreno"),
            paced(runs),
            (small - large).noted(f"gain of one flow {small.mean:.3f} at 20 packets, {large.mean:.3f} at 625"),
        ]
    )


@MEASURES
def desynchronised(runs: ExperimentRuns, *, buffer: int, flows: int, case: str) -> MeasuredQuantity:
    """Return the share of common losses under drop-tail minus that under fair queueing."""
    both = [common_losses(runs, flows=flows, buffer=buffer, case=case, queue=queue) for queue in (FIFO, FAIR)]
    note = f"common losses of {flows} flows at {buffer} packets: {both[0].mean:.2f} under drop-tail, "
    return (both[0] - both[1]).noted(f"{note}{both[1].mean:.2f} under fair queueing")


@MEASURES
def losses_of_several(runs: ExperimentRuns, *, of: str = "dropped") -> MeasuredQuantity:
    """Return the packets that four New Reno flows lose at 20 packets under fair queueing, over those under drop-tail.

    `of` selects loss events, or another column of flows.
    """
    fair, fifo = (
        MeasuredQuantity(several(runs, 4, queue=queue).flows(of, group="flows").sum(axis=1)) for queue in (FAIR, FIFO)
    )
    return fair / fifo


@MEASURES
def fair_gain_of_several(
    runs: ExperimentRuns, *, flows: int, buffer: int = 20, case: str = "newreno"
) -> MeasuredQuantity:
    """Return the utilization with several flows under fair queueing minus that under drop-tail."""
    return used(several(runs, flows, buffer, case, FAIR)) - used(several(runs, flows, buffer, case))


@MEASURES
def paced(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the rate of the flow within its bursts over the link's, under drop-tail minus under fair queueing."""
    points = [runs["bursts"].at(queue=queue) for queue in (FIFO, FAIR)]
    fifo, fair = (MeasuredQuantity([one.own for one in packets.of_flow(point, PACKET / RATE)]) for point in points)
    return (fifo - fair).noted(f"within bursts {fifo.mean:.3f} of the link's rate, {fair.mean:.3f} under fair queueing")


# HighSpeed beside New Reno.


@MEASURES
def advantage(runs: ExperimentRuns, *, queue: str = FIFO, experiment: str = "pair-625") -> MeasuredQuantity:
    """Return the goodput of HighSpeed minus that of New Reno [Mbit/s]."""
    point = runs[experiment].at(queue=queue)
    return (_goodput(point, "highspeed") - _goodput(point, "newreno")) * 1e-6


@MEASURES
def advantage_ratio(runs: ExperimentRuns, *, queue: str = FAIR) -> MeasuredQuantity:
    """Return the goodput of HighSpeed over that of New Reno."""
    point = runs["pair-625"].at(queue=queue)
    return _goodput(point, "highspeed") / _goodput(point, "newreno")


@MEASURES
def nearly_alike(runs: ExperimentRuns) -> MeasuredQuantity:
    """Measure whether HighSpeed is slightly ahead under fair queueing, much less than under drop-tail.

    The result is positive if so. With d the ratio to New Reno minus 1, it is the smallest of d, 0.3 - d, and a quarter
    of d under drop-tail minus the absolute value of d.
    """
    fair, fifo = (advantage_ratio(runs, queue=queue) - 1 for queue in (FAIR, FIFO))
    note = f"{1 + fair.mean:.3f} under fair queueing, {1 + fifo.mean:.2f} under drop-tail"
    return least([fair, -fair + 0.3, abs(fifo) * 0.25 - abs(fair)]).noted(note)


@MEASURES
def variant_ratio(runs: ExperimentRuns, *, case: str) -> MeasuredQuantity:
    """Return the goodput of HighSpeed over that of New Reno under another fair discipline."""
    point = runs["fair-variants"].at(case=case)
    return _goodput(point, "highspeed") / _goodput(point, "newreno")


@MEASURES
def background_rate(runs: ExperimentRuns, *, case: str) -> MeasuredQuantity:
    """Return the background's goodput under another fair discipline [Mbit/s]."""
    return _goodput(runs["fair-variants"].at(case=case), "background") * 1e-6


@MEASURES
def background_delay(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the mean wait of background packets beside HighSpeed and New Reno, fair queueing over drop-tail."""
    fair, fifo = (MeasuredQuantity(packets.waits(runs["pair-625"].at(queue=queue))) for queue in (FAIR, FIFO))
    note = f"{1e3 * fair.mean:.2f} ms under fair queueing, {1e3 * fifo.mean:.1f} ms under drop-tail"
    return (fair / fifo).noted(note)


@MEASURES
def background_lost(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the background packets that fair queueing loses in the panels of Figure 7, the maximum."""
    panels = [
        runs["one-flow"].at(buffer=20, case="newreno", queue=FAIR),
        runs["one-flow"].at(buffer=20, case="highspeed", queue=FAIR),
        runs["pair-625"].at(queue=FAIR),
        several(runs, 4, 625, "highspeed", FAIR),
    ]
    return largest(MeasuredQuantity(point.flows("dropped", group="background").sum(axis=1)) for point in panels)


# A new flow, and the number of flows with waiting packets.


@MEASURES
def existing_losses(runs: ExperimentRuns, *, queue: str = FAIR, cases: list[str] | None = None) -> MeasuredQuantity:
    """Return the packets lost by existing flows within 3 s of a new one's start, minus those under drop-tail; maximum.

    As ``queue``, ``"head"`` is fair queueing that drops the head of the longest queue.
    """
    found = []
    for case in cases or ("newreno", "highspeed"):
        fair = {"case": f"{case}, head"} if queue == "head" else {"case": case, "queue": queue}
        each = [_lost(runs["new-flow"].at(**one)) for one in (fair, {"case": case, "queue": FIFO})]
        (old, background), (old_fifo, background_fifo) = each
        note = f"{case}: the three old flows {old.mean:.0f} and {old_fifo.mean:.0f} under drop-tail"
        note += f", the background {background.mean:.0f} and {background_fifo.mean:.0f}"
        found.append((old + background - old_fifo - background_fifo).noted(note))
    return largest(found)


@MEASURES
def flows_hit(runs: ExperimentRuns, *, queue: str = FAIR) -> MeasuredQuantity:
    """Return the existing flows with a loss within 3 s of a new one's start, minus those under drop-tail; maximum."""
    found = []
    for case in ("newreno", "highspeed"):
        hit, cuts = zip(*(_hit(runs["new-flow"].at(queue=q, case=case)) for q in (queue, FIFO)), strict=True)
        note = f"{case}: {hit[0].mean:.1f} of 53, {hit[1].mean:.1f} under drop-tail"
        found.append((hit[0] - hit[1]).noted(f"{note}; cuts of the three {cuts[0].mean:.1f} and {cuts[1].mean:.1f}"))
    return largest(found)


@MEASURES
def old_cuts(runs: ExperimentRuns, *, case: str, queue: str) -> MeasuredQuantity:
    """Return the loss events of the three old flows within 3 s of a new one's start, minus those under drop-tail."""
    return _hit(runs["new-flow"].at(queue=queue, case=case))[1] - _hit(runs["new-flow"].at(queue=FIFO, case=case))[1]


@MEASURES
def most_waiting(runs: ExperimentRuns, *, queue: str = FAIR) -> MeasuredQuantity:
    """Return the number of flows with waiting packets that 1 of 1000 instants exceed, at the worst capacity."""
    return largest(
        MeasuredQuantity(
            packets.waiting(point), f"at {point.labels['rate']}, with {point.labels['background']} flows besides"
        )
        for point in runs["backlogged"].where(queue=queue)
    )


# The background of finite flows.


@MEASURES
def alike(runs: ExperimentRuns) -> MeasuredQuantity:
    """Return the share of the principal comparisons with the same result beside packets and beside finite flows."""
    every = comparisons(runs)
    unlike = [what for what, (packets, flows) in every.items() if (packets > 0) != (flows > 0)]
    return MeasuredQuantity(
        1 - len(unlike) / len(every), f"{len(every)} comparisons; unlike: {'; '.join(unlike) or 'none'}"
    )


def comparisons(runs: ExperimentRuns) -> dict[str, tuple[float, float]]:
    """Return each principal comparison beside Poisson packets and beside finite flows, as a difference.

    Returns
    -------
    dict of str to tuple of float
        Differences of the link's utilization, or in Mbit/s.
    """
    packets, flows = _beside(runs, "one-flow", "pair-625"), _beside(runs, "finite-flows", "finite-pair")
    return {what: (packets[what], flows[what]) for what in flows}


def _beside(runs: ExperimentRuns, single: str, pair: str) -> dict[str, float]:
    """Return the comparisons beside one background, given the experiments with one flow and with two."""

    def one(buffer: int, case: str = "newreno", queue: str = FIFO) -> float:
        return used(runs[single].at(buffer=buffer, case=case, queue=queue)).mean

    def more(flows: int) -> float:
        if single == "finite-flows":
            return used(runs[single].at(case="several", flows=flows)).mean
        return used(several(runs, flows)).mean

    buffers = [buffer for buffer in ORDER if runs["finite-flows"].where(buffer=buffer).points]
    fifo, fair = (advantage(runs, queue=queue, experiment=pair).mean for queue in (FIFO, FAIR))
    return {
        **{f"New Reno, {b} packets over {a}": one(b) - one(a) for a, b in pairwise(buffers)},
        "20 packets, HighSpeed over New Reno": one(20, "highspeed") - one(20),
        "20 packets, New Reno, fair queueing over drop-tail": one(20, queue=FAIR) - one(20),
        "20 packets, 2 New Reno over 1": more(2) - one(20),
        "20 packets, 4 New Reno over 2": more(4) - more(2),
        "625 packets, HighSpeed over New Reno, drop-tail": fifo,
        "625 packets, HighSpeed over New Reno, fair queueing": fair,
        "625 packets, HighSpeed's lead, drop-tail over fair queueing": fifo - fair,
    }


# Details that the paper leaves open.


@MEASURES
def variant(runs: ExperimentRuns, *, case: str, buffer: int = 20, law: str = "reno") -> MeasuredQuantity:
    """Return the share of one flow under another assumption about an unstated detail."""
    return _share(runs["variants"].at(case=case, buffer=buffer, law=law))


@MEASURES
def variant_gain(runs: ExperimentRuns, *, case: str) -> MeasuredQuantity:
    """Return the share of one HighSpeed flow minus that of one New Reno flow at 20 packets, as in `variant`."""
    return variant(runs, case=case, law="highspeed") - variant(runs, case=case)


@MEASURES
def beside_flows(runs: ExperimentRuns, *, buffer: int, case: str = "newreno") -> MeasuredQuantity:
    """Return the share of one flow beside finite flows instead of Poisson packets."""
    return _share(runs["finite-flows"].at(case=case, buffer=buffer, queue=FIFO))


@MEASURES
def recovered(runs: ExperimentRuns, *, recovery: str, buffer: int, law: str = "reno") -> MeasuredQuantity:
    """Return the share of one flow with another recovery."""
    return _share(runs["recoveries"].at(law=law, recovery=recovery, buffer=buffer))


@MEASURES
def gain_over_plain_reno(runs: ExperimentRuns, *, buffer: int = 20) -> MeasuredQuantity:
    """Return the share of one HighSpeed flow with SACK minus that of a Reno flow without partial acknowledgements."""
    return share(runs, buffer=buffer, case="highspeed") - recovered(runs, recovery="reno", buffer=buffer)


# Parts.


def _goodput(point: ExperimentPoint, group: str) -> MeasuredQuantity:
    return MeasuredQuantity(point.flows("goodput_bps", group=group).sum(axis=1))


def _share(point: ExperimentPoint) -> MeasuredQuantity:
    return _goodput(point, "flows") / RESIDUAL


def used(point: ExperimentPoint) -> MeasuredQuantity:
    """Return the utilization at a point."""
    return MeasuredQuantity(point.link("utilization"))


def several(
    runs: ExperimentRuns, flows: int, buffer: int = 20, case: str = "newreno", queue: str = FIFO
) -> ExperimentPoint:
    """Return the point with several flows of a kind."""
    return runs["several-flows"].at(flows=flows, buffer=buffer, case=case, queue=queue)


def _steps(each: list[MeasuredQuantity], notes: Iterable[str]) -> list[MeasuredQuantity]:
    return [(b - a).noted(note) for a, b, note in zip(each, each[1:], notes, strict=False)]


def _lost(point: ExperimentPoint) -> tuple[MeasuredQuantity, MeasuredQuantity]:
    """Return the packets lost by the old flows and by the background."""
    old, background = (point.flows("dropped", group=group).sum(axis=1) for group in ("old", "background"))
    return MeasuredQuantity(old), MeasuredQuantity(background)


def _hit(point: ExperimentPoint) -> tuple[MeasuredQuantity, MeasuredQuantity]:
    """Return the number of existing flows with losses, and the loss events of the old ones."""
    hit = sum((point.flows("dropped", group=group) > 0).sum(axis=1) for group in ("old", "background"))
    return MeasuredQuantity(hit), MeasuredQuantity(point.flows("loss_events", group="old").sum(axis=1))


def _windows(point: ExperimentPoint, flows: int) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield for each replication the windows [segments] and round-trip times [s], shape (flows, instants)."""
    samples = point.samples("flows")
    mine = (samples["name"] == "flows") & (samples["time_s"] >= point.document["run"]["warmup_s"])
    replication = samples["replication"][mine]
    for one in np.unique(replication):
        rows = replication == one
        columns = (samples[name][mine][rows] for name in ("cwnd_segments", "srtt_s"))
        order = np.lexsort((samples["time_s"][mine][rows], samples["index"][mine][rows]))
        windows, rtts = (np.asarray(column, dtype=float)[order].reshape(flows, -1) for column in columns)
        yield windows, rtts


def _cuts(window: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the instants at which a window has fallen by a quarter or more; falls within two samples are one cut."""
    found = np.flatnonzero(window[1:] < 0.75 * window[:-1])
    return found[np.diff(found, prepend=-10) > 2]


def _peaks_of(window: NDArray[np.float64]) -> NDArray[np.float64]:
    return window[_cuts(window)]


def _common(windows: NDArray[np.float64]) -> float:
    """Return the share of epochs that cut more than one flow; cuts in the same sample or the next are of one epoch."""
    every = np.sort(np.concatenate([_cuts(window) for window in windows]))
    first = np.flatnonzero(np.diff(every, prepend=-10) > 1)
    sizes = np.diff(first, append=every.size)
    return _mean(sizes > 1)


def _mean(values: NDArray[Any]) -> float:
    """Return the mean of the values that are not NaN, if there are any."""
    return float(np.mean(values)) if values.size else float("nan")


def _ten_seconds(point: ExperimentPoint) -> Iterator[NDArray[np.float64]]:
    """Yield for each replication the rates of four flows in 10 s windows, shape (flows, windows)."""
    for windows, rtts in _windows(point, 4):
        rates = windows / rtts
        whole = rates.shape[1] // 50 * 50
        yield rates[:, :whole].reshape(4, -1, 50).mean(axis=2)
