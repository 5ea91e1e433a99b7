"""Measures of the claims about the three regimes of a link, packet-pair, and the background's packets.

Source: AugeRoberts2006: transparent, elastic and overloaded links (Section 2), packet-pair as a control that fair
queueing makes possible, and the packets of Figure 4. *Differs from the source*: the paper simulates only the packets of
the figure; loads, sizes and durations are chosen here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.theory import elastic
from elephan_evidence.papers.elastic_regime_fq.packets import GAP
from elephan_evidence.papers.measured import MeasuredQuantity, largest, least
from elephan_evidence.papers.measures import MeasureRegistry
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan_evidence.papers.measured import Found
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

MEASURES = MeasureRegistry()

LINK_MBPS = 50.0
RESIDUAL_MBPS = 25.0
"""Rate that the background leaves to the flows [Mbit/s]."""

FIFO, FAIR = "drop-tail", "fq"
CAPPED, FREE = "1 Mbit/s", "1 Gbit/s"
"""Maximum rate of flows in the transparent regime, and of flows that only the link limits."""


# Transparent.


@MEASURES
def simulated_loss(runs: ExperimentRuns, *, rate: float, buffer: int) -> Found:
    """Return the loss of Poisson packets of exponential sizes at a rate [Mbit/s], noting that for 5 % more load."""
    points = runs["transparent-packets"]
    found = MeasuredQuantity(points.at(rate=rate, buffer=buffer).link("loss_ratio"))
    more = points.where(rate=47.5, buffer=buffer)
    if rate == 47.5 or not len(more):
        return found
    beyond = MeasuredQuantity(more.points[0].link("loss_ratio"))
    return found.noted(f"M/M/1/K: {exact_loss(rate, buffer):.2g}; at 95 % of the link {beyond.mean:.2g}")


@MEASURES
def off_exact(runs: ExperimentRuns) -> Found:
    """Return the largest relative difference between losses and M/M/1/K with one packet in service.

    Only points with thousands of lost packets count, which excludes 100 packets at 90 %.
    """
    found = []
    for point in runs["transparent-packets"]:
        rate, buffer = (leading(point.labels[name]) for name in ("rate", "buffer"))
        if (rate, buffer) == (45.0, 100.0):
            continue
        exact, bound = exact_loss(rate, buffer), float(elastic.loss(rate / LINK_MBPS, buffer))
        lost = MeasuredQuantity(point.link("loss_ratio"))
        note = f"{rate:g} Mbit/s, {buffer:.0f} packets: {lost.mean:.2g}, M/M/1/K {exact:.2g}, rho^n {bound:.2g}"
        found.append((lost / exact - 1.0).noted(note))
    return max(found, key=lambda one: abs(one.mean))


def exact_loss(rate: float, buffer: float) -> float:
    """Return the loss of M/M/1/K at a rate [Mbit/s]; the buffer's packets wait in addition to the one in service."""
    return float(elastic.loss(rate / LINK_MBPS, buffer + 1, "M/M/1/K"))


@MEASURES
def transparent_gain(runs: ExperimentRuns) -> Found:
    """Return fair queueing's gain for flows of at most 1 Mbit/s over its gain for flows that the link limits.

    Gains are shares of the mean completion time under drop-tail. The result is NaN if there is no gain for either.
    """
    capped, free = (-(_completion_ratio(runs, access) - 1.0) for access in (CAPPED, FREE))
    return (capped / free).noted(f"{100 * capped.mean:.2g} % and {100 * free.mean:.2g} %")


@MEASURES
def scheduling_helps(runs: ExperimentRuns) -> Found:
    """Return the relative reduction of the mean completion time of flows that the link limits by fair queueing [1]."""
    return -(_completion_ratio(runs, FREE) - 1.0)


def _completion_ratio(runs: ExperimentRuns, access: str) -> MeasuredQuantity:
    fair, fifo = (
        MeasuredQuantity([times.mean() for times in point.transfers("duration_s", "flows")])
        for point in (runs["transparent"].at(queue=queue, access=access) for queue in (FAIR, FIFO))
    )
    return fair / fifo


# Overload.


@MEASURES
def grows(runs: ExperimentRuns) -> Found:
    """Return the growth of flows in progress at a load of 1.2 minus that at 0.8, the smaller of both disciplines.

    Growth is the mean number from 20 to 220 s over that from 20 to 70 s: 2.7 for linear growth from the start, 1 for a
    stationary number.
    """
    found = []
    for queue in (FIFO, FAIR):
        numbers = [
            _open(runs["overload"].at(case=case, queue=queue, duration=duration))
            for case in ("load 1.2", "load 0.8")
            for duration in (220, 70)
        ]
        late, early, later, earlier = numbers
        note = f"{queue}: from {early:.0f} to {late:.0f} flows, and from {earlier:.0f} to {later:.0f}"
        found.append(MeasuredQuantity((late / early) / (later / earlier), note))
    return least(found).noted("; ".join(one.note for one in found))


@MEASURES
def growth_over_fluid(runs: ExperimentRuns) -> Found:
    """Return the growth of flows in progress in overload, over that of a fluid without losses, first come first served.

    The fluid's growth is the arrival rate minus the link's rate, in flows of the mean size.
    """
    point = runs["overload"].at(case="load 1.2", queue=FIFO, duration=220)
    run, flows = point.document["run"], point.document["groups"][0]["transfers"]
    measured = run["duration_s"] - run["warmup_s"]
    # The number grows from the start, so its mean is the value at the middle of the measured time.
    per_second = _open(point) / (run["warmup_s"] + measured / 2)
    fluid = flows["opened"]["mean"] / measured * (1 - 1 / 1.2)
    return MeasuredQuantity(per_second / fluid, f"{per_second:.1f} and {fluid:.1f} flows a second")


@MEASURES
def refused(runs: ExperimentRuns) -> Found:
    """Return the share of flows refused with a limit of 100; for the discipline farther from the excess load."""
    found = []
    for queue in (FIFO, FAIR):
        flows = runs["overload"].at(case="load 1.2, 100 places", queue=queue, duration=220).document["groups"][0]
        opened, turned = (flows["transfers"][name]["mean"] for name in ("opened", "refused"))
        found.append(MeasuredQuantity(turned / (opened + turned), queue))
    return max(found, key=lambda one: abs(one.mean - (1 - 1 / 1.2)))


@MEASURES
def admitted_take(runs: ExperimentRuns) -> Found:
    """Return the mean completion time of flows admitted with a limit of 100, over that without, maximum of both."""
    found = []
    for queue in (FIFO, FAIR):
        limited, free = (
            _completion(runs["overload"].at(case=case, queue=queue, duration=220))
            for case in ("load 1.2, 100 places", "load 1.2")
        )
        found.append((limited / free).noted(f"{queue}: {limited.mean:.2f} and {free.mean:.1f} s"))
    return largest(found)


def _open(point: ExperimentPoint) -> float:
    """Return the number of flows in progress, mean over time and replications."""
    return float(point.document["groups"][0]["transfers"]["open"]["mean"])


def _completion(point: ExperimentPoint) -> MeasuredQuantity:
    """Return the mean time from the opening of a flow to its end [s]; the document has only its mean and interval."""
    return MeasuredQuantity(point.document["groups"][0]["transfers"]["completion_time_s"]["mean"])


# Packet-pair.


@MEASURES
def pair_over_newreno(runs: ExperimentRuns, *, queue: str) -> MeasuredQuantity:
    """Return the goodput of a packet-pair flow over that of a New Reno flow beside it, 100 packets."""
    point = runs["packet-pair"].at(case="newreno", queue=queue)
    first, second = (MeasuredQuantity(point.flows("goodput_bps", group=group).sum(axis=1)) for group in _PAIR)
    return (first / second).noted(f"{first.mean / 1e6:.1f} and {second.mean / 1e6:.1f} Mbit/s")


@MEASURES
def fair_queueing_tames(runs: ExperimentRuns) -> Found:
    """Return the logarithm of that ratio under drop-tail minus under fair queueing."""
    fifo, fair = (pair_over_newreno(runs, queue=queue) for queue in (FIFO, FAIR))
    return MeasuredQuantity(np.log(fifo.samples) - np.log(fair.samples), f"{fifo.mean:.0f} and {fair.mean:.2f} times")


@MEASURES
def pair_of_pairs(runs: ExperimentRuns, *, queue: str) -> Found:
    """Return the larger over the smaller goodput of two packet-pair flows, 100 packets."""
    point = runs["packet-pair"].at(case="packet-pair", queue=queue)
    both = np.array([point.flows("goodput_bps", group=group).sum(axis=1) for group in _PAIR])
    return MeasuredQuantity(both.max(axis=0) / both.min(axis=0))


@MEASURES
def pair_gain(runs: ExperimentRuns, *, buffer: int, queue: str = FAIR) -> Found:
    """Return the share of the residual of one packet-pair flow minus that of one New Reno flow under fair queueing."""
    pair, newreno = (
        MeasuredQuantity(point.flows("goodput_bps", group="flows").sum(axis=1) / (1e6 * RESIDUAL_MBPS))
        for point in (
            runs["packet-pair-alone"].at(buffer=buffer, queue=queue),
            runs["one-flow"].at(buffer=buffer, queue=queue, case="newreno"),
        )
    )
    return (pair - newreno).noted(f"{pair.mean:.2f} and {newreno.mean:.2f} of the residual")


@MEASURES
def pair_background_lost(runs: ExperimentRuns, *, queue: str) -> MeasuredQuantity:
    """Return the share of background packets dropped beside packet-pair, the maximum of all runs."""
    every = [*runs["packet-pair"].where(queue=queue), *runs["packet-pair-alone"].where(queue=queue)]
    return largest(
        MeasuredQuantity(
            point.flows("dropped", group="background").sum(axis=1) / point.flows("sent", group="background").sum(axis=1)
        )
        for point in every
    )


_PAIR = ("highspeed", "newreno")
"""Names of the groups in pair.toml, whatever laws they have here."""


# The background's packets of Figure 4.


@MEASURES
def background_hit(runs: ExperimentRuns, *, queue: str = FIFO) -> MeasuredQuantity:
    """Return the share of lost background packets within the flow's bursts, minus the share of all background packets.

    It is 0 if losses are random.
    """
    every = within_bursts(runs["bursts"].at(queue=queue))
    # A replication without background losses does not count.
    losing = [(lost, kept) for lost, kept in every if lost.size]
    count = sum(lost.size for lost, _ in losing)
    note = f"{np.concatenate([lost for lost, _ in losing]).mean():.2f} of {count} lost" if losing else "none lost"
    within = f"{np.mean([share for _, share in every]):.2f} of all"
    return MeasuredQuantity([lost.mean() - share for lost, share in losing] or [np.nan], f"{note}, {within}")


def within_bursts(point: ExperimentPoint) -> list[tuple[NDArray[np.bool_], float]]:
    """Return whether each lost background packet arrived within a burst of the flow, and the share of all that did.

    Parameters
    ----------
    point : ExperimentPoint
        A point with recorded packets.

    Returns
    -------
    list of tuple of ndarray of bool and float
        For each replication, its lost packets one by one, and the share of all.
    """
    packets, found = point.packets, []
    for one in np.unique(packets["replication"]):
        mine = packets["replication"] == one
        time, flow, dropped = (packets[name][mine] for name in ("time_s", "flow", "dropped"))
        of_flow, background = time[flow == 0], flow > 0
        after = np.searchsorted(of_flow, time)
        inside = (after > 0) & (after < of_flow.size)
        nearest = np.where(inside, of_flow[np.clip(after, 0, of_flow.size - 1)], np.inf)
        before = np.where(inside, of_flow[np.maximum(after - 1, 0)], -np.inf)
        # Between two packets of one burst.
        within = nearest - before <= GAP
        found.append((within[background & dropped], float(within[background].mean())))
    return found
