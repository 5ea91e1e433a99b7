"""The three regimes of a link, and packet-pair: Figures 1 and 2 in our terms, and Section 2 from our runs.

Source: AugeRoberts2006. *Differs from the source*: our digest of the paper does not describe its two sketches, which
have no numbers; these are pictures of the regimes that it distinguishes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series, colour
from elephan.pictures.table import Table, cell
from elephan.theory import elastic
from elephan_evidence.papers.elastic_regime_fq import regimes_measures as measures
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.measured import MeasuredQuantity
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

FIGURES = PaperExhibits()
CONTROLS = PaperExhibits()
"""Exhibits that follow the paper's own figures."""
PACKETS_BEFORE_S, PACKETS_AFTER_S = 3.0, 9.0
"""Time before and after the first loss that is drawn of Figure 4 [s]."""
ROUND_S = 0.10016
"""Base round trip plus service time [s], so that a stripe of packets without waiting is horizontal."""


@FIGURES(
    "Figures 1 and 2",
    "The regimes of a link",
    paper="Sketches without a number: a link is transparent while the flows on it, each held back elsewhere, ask for "
    "less than it has; elastic while it holds back a few flows on a background; overloaded when it is asked for more "
    "than it has.",
)
def regimes(_: ExperimentRuns) -> Made:
    """Draw the offered load of flows and the number in progress, against their share of the link."""
    load = np.linspace(0.02, 0.98, 97)
    found = np.asarray(elastic.mean_in_progress(load))
    more = np.asarray(elastic.more_in_progress(load, 4))
    capped = load / 0.02
    return (
        Figure(
            "regimes",
            "Flows in progress",
            f"At half of the link {np.interp(0.5, load, found):.0f} flow is in progress on average where nothing but "
            f"the link holds it back, and 25 where each may have a fiftieth. The former grow without bound towards 1.",
            Axis("load of what the link may hold back", low=0.0, high=1.2),
            Axis("flows in progress", scale="log", low=0.02, high=200.0),
            (
                Series("elastic: held back by the link alone", load, found, colour="vermilion"),
                Series("transparent: a fiftieth each", load, capped, colour="blue"),
                Series("chance of more than four [%]", load, 100 * more, colour="muted", dashed=True),
            ),
            (Mark(None, "overload", role="shade", low=1.0, high=1.2),),
            note="Transparent: each sends what it likes, and a short queue is all that is needed. Elastic: few are in "
            "progress, and how they share matters. Overload: their number has no law, and only fewer flows help.",
        ),
    )


@FIGURES(
    "Section 2",
    "Transparent, elastic, overloaded",
    paper="While no flow is held back, packets are lost as rho^n, 1/30000 with 100 packets at a load of 0.9, and first "
    "come first served is enough. In the elastic regime scheduling is useful. Overload needs a control of its own.",
    experiments=("transparent-packets", "transparent", "overload"),
)
def section2(runs: ExperimentRuns) -> Made:
    """Compare losses with the formulas, completion times under both disciplines, and flows in progress in overload."""
    return _losses(runs), _completions(runs), _overload(runs)


def _losses(runs: ExperimentRuns) -> Table:
    rows = []
    for point in runs["transparent-packets"]:
        rate, buffer = (leading(point.labels[name]) for name in ("rate", "buffer"))
        load = rate / measures.LINK_MBPS
        lost = MeasuredQuantity(point.link("loss_ratio"))
        bound = float(elastic.loss(load, buffer))
        rows.append(
            (
                cell(load, digits=3),
                cell(buffer),
                cell(lost.to_json(), 1e6),
                cell(measures.exact_loss(rate, buffer), 1e6, 3),
                cell(bound, 1e6, 3),
            )
        )
    heads = ("load", "buffer [packets]", "lost [1e-6]", "M/M/1/K", "rho^n")
    note = "Poisson packets of exponential sizes; a buffer of n packets waits beside the one in service, K = n + 1."
    return Table("Transparent: packets lost", heads, tuple(rows), note)


def _completions(runs: ExperimentRuns) -> Table:
    rows = []
    for access, words in (
        (measures.CAPPED, "transparent: at most 1 Mbit/s each"),
        (measures.FREE, "elastic: no limit"),
    ):
        times = [_times(runs["transparent"].at(queue=queue, access=access)) for queue in (measures.FIFO, measures.FAIR)]
        rows.append((cell(words), *(cell(one.to_json(), 1e3) for one in times), cell((times[1] / times[0]).to_json())))
    heads = ("flows of 50 kB for 0.7 of the link, 20 packets", "drop-tail [ms]", "fair queueing [ms]", "ratio")
    return Table("Mean completion times", heads, tuple(rows))


def _times(point: ExperimentPoint) -> MeasuredQuantity:
    return MeasuredQuantity([times.mean() for times in point.transfers("duration_s", "flows")])


def _overload(runs: ExperimentRuns) -> Table:
    rows = []
    for case in runs["overload"].labels("case"):
        for queue in (measures.FIFO, measures.FAIR):
            short, long = (
                runs["overload"].at(case=case, queue=queue, duration=d).document["groups"][0]["transfers"]
                for d in (70, 220)
            )
            rows.append(
                (
                    cell(case),
                    cell(queue),
                    cell(short["open"]),
                    cell(long["open"]),
                    cell(long["refused"]["mean"] / (long["opened"]["mean"] + long["refused"]["mean"]), 100, 3),
                    cell(long["completion_time_s"]),
                )
            )
    heads = (
        "flows of 50 kB",
        "discipline",
        "in progress, 20 to 70 s",
        "20 to 220 s",
        "refused [%]",
        "completion time [s]",
    )
    note = "Completion times are of flows that were over by the end, which overload keeps the long ones from."
    return Table("Overload: flows in progress", heads, tuple(rows), note)


@CONTROLS(
    "Packet-pair",
    "Packet-pair rate control under both disciplines",
    paper="Named as a control that fair queueing makes possible: two packets that leave back to back tell a flow its "
    "own share. No number.",
    experiments=("packet-pair", "packet-pair-alone", "one-flow"),
)
def packet_pair(runs: ExperimentRuns) -> Made:
    """Compare the goodput of a packet-pair flow alone, beside New Reno and beside another packet-pair flow."""
    rows = []
    for queue, words in ((measures.FIFO, "drop-tail"), (measures.FAIR, "fair queueing")):
        pairs = [runs["packet-pair"].at(case=case, queue=queue) for case in ("newreno", "packet-pair")]
        rates = [
            MeasuredQuantity(point.flows("goodput_bps", group=group).sum(axis=1) / 1e6)
            for point in pairs
            for group in ("highspeed", "newreno")
        ]
        lost = measures.pair_background_lost(runs, queue=queue)
        rows.append((cell(words), *(cell(rate.to_json()) for rate in rates), cell(lost.to_json(), 100)))
    heads = (
        "100 packets",
        "packet-pair [Mbit/s]",
        "New Reno beside it",
        "first of two packet-pair",
        "second",
        "background lost at most [%]",
    )
    return _alone(runs), Table("Two flows", heads, tuple(rows))


def _alone(runs: ExperimentRuns) -> Figure:
    named = ("drop-tail, 20", "drop-tail, 100", "fair, 20", "fair, 100")
    places = [(queue, buffer) for queue in (measures.FIFO, measures.FAIR) for buffer in (20, 100)]
    at = np.arange(float(len(places)))
    series = []
    for i, (word, points) in enumerate(
        (
            ("packet-pair", [runs["packet-pair-alone"].at(queue=q, buffer=b) for q, b in places]),
            ("New Reno", [runs["one-flow"].at(queue=q, buffer=b, case="newreno") for q, b in places]),
        )
    ):
        found = [
            MeasuredQuantity(p.flows("goodput_bps", group="flows").sum(axis=1) / (1e6 * measures.RESIDUAL_MBPS))
            for p in points
        ]
        mean = np.array([one.mean for one in found])
        half = np.array([one.ci95 or 0.0 for one in found])
        series.append(Series(word, at, mean, mean - half, mean + half, colour(i), "bars"))
    values = ", ".join(f"{y:.2f} with {name}" for name, y in zip(named, series[0].y, strict=True))
    return Figure(
        "packet-pair",
        "One flow: share of the residual",
        f"Packet-pair gets {values} packets.",
        Axis("discipline and buffer [packets]", scale="names", names=named),
        Axis("share of the residual", low=0.0, high=1.15),
        tuple(series),
        (Mark(1.0, "all of it", axis="y"),),
        note="Above 1 it takes from the background, which loses packets then.",
    )


def background_stripes(runs: ExperimentRuns) -> Figure:
    """Draw the background's half of Figure 4: the same seconds, packets of the background."""
    arrived = runs["bursts"].at(queue=measures.FIFO).packets
    first = arrived["replication"] == 0
    time, flow, dropped = (arrived[name][first] for name in ("time_s", "flow", "dropped"))
    own = flow == 0
    lost_own = time[own & dropped]
    begin = (lost_own[0] if lost_own.size else time[0]) - PACKETS_BEFORE_S
    near = ~own & (time > begin) & (time < begin + PACKETS_BEFORE_S + PACKETS_AFTER_S)
    # The same origin as that of the flow's picture.
    of_flow = time[own]
    origin = of_flow[of_flow > begin][0]
    at, lost = time[near], dropped[near]
    within = 1e3 * ((at - origin) % ROUND_S)
    every = slice(None, None, 5)
    values = measures.background_hit(runs).note
    alt = (
        f"Packets of the background lie evenly over the round trip; {int(lost.sum())} of them are dropped in these "
        f"seconds. Within the flow's bursts come, of the background: {values}."
    )
    return Figure(
        "figure-4-background",
        "Packets of the background at the bottleneck",
        alt,
        Axis("time", "s"),
        Axis("within the round trip", "ms", low=0.0, high=100.0),
        (
            Series("arrived", at[~lost][every], within[~lost][every], kind="points", faint=True),
            Series("dropped", at[lost], within[lost], colour="vermilion", kind="points"),
        ),
        note=f"{alt} Every fifth packet is drawn, and every dropped one.",
    )
