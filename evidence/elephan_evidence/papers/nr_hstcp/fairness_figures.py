"""The network of Figure 2, Figure 3 hop by hop, and pictures of segment sizes, RED, other laws and slow links.

*Source*: PhillipsHu2006, Section IV; everything beyond its Figure 3 is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series, colour
from elephan.pictures.table import Table, cell
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.measured import MeasuredQuantity
from elephan_evidence.papers.nr_hstcp import fairness_measures as measures
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns

FIGURES = PaperExhibits()
NETWORK = PaperExhibits()
"""The exhibit of the network, which comes before Figure 3."""
NODES = ("sources", "R1", "R2", "R3", "sinks")
WORDS = {"highspeed": "HSTCP", "nr-hstcp": "NR-HSTCP", "bic": "BIC", "fast": "FAST", "reno": "standard TCP"}
RATIO = Axis("75 ms over the other", scale="log", low=0.8, high=100.0)


@NETWORK(
    "Figure 2",
    "The network of the simulations",
    paper="Two hops of 1 Gbit/s with 500 packets of drop-tail each; S1 and S2 send over both, and two pairs of "
    "standard TCP over each, behind 100 Mbit/s. 75 ms for S1, 75 to 250 ms for S2.",
)
def network(_: ExperimentRuns) -> Made:
    """Draw the senders and the hops that they use."""
    paths = (
        ("S1 to D1, 75 ms", (0, 4), "blue"),
        ("S2 to D2, 75 to 250 ms", (0, 4), "vermilion"),
        ("standard TCP, first hop", (1, 2), "green"),
        ("standard TCP, first hop", (1, 2), "green"),
        ("standard TCP, second hop", (2, 3), "orange"),
        ("standard TCP, second hop", (2, 3), "orange"),
    )
    rows = ("r2d", "r2c", "r1b", "r1a", "S2", "S1")
    series = tuple(
        Series(name, np.array(ends, dtype=float), np.full(2, float(len(rows) - 1 - i)), colour=shade, kind="both")
        for i, (name, ends, shade) in enumerate(paths)
    )
    return (
        Figure(
            "network",
            "Senders",
            "S1 and S2 cross both hops, from R1 over R2 to R3; two standard flows cross the first, two the second.",
            Axis("", scale="names", names=NODES, low=-0.3, high=4.3),
            Axis("", scale="names", names=rows, low=-0.6, high=5.6),
            series,
            (Mark(None, "hops of 1 Gbit/s, 500 packets", role="shade", low=1.0, high=3.0),),
        ),
    )


def by_hop(runs: ExperimentRuns, law: str) -> tuple[Figure, ...]:
    """Draw the rates of S1, of S2 and of the standard flows together at each hop, as in the paper's Figure 3.

    Parameters
    ----------
    law : str
        Law of S1 and S2.

    Returns
    -------
    tuple of Figure
        One per hop.
    """
    points = list(runs["two-hops"].where(law=law))
    times = np.array([leading(point.labels["rtt"]) for point in points]) / 75.0
    found = []
    for i, word in enumerate(("first", "second"), 1):
        named = (("S1, 75 ms", "short", 1), ("S2", "long", 1), (f"standard TCP, {word} hop", f"cross{i}", 2))
        series = []
        for j, (name, group, count) in enumerate(named):
            rates = [count * float(point.flows("goodput_bps", group).mean()) / 1e6 for point in points]
            series.append(Series(name, times, np.array(rates), colour=colour(j), kind="points"))
        far = int(times.argmax())
        values = ", ".join(f"{one.name} {one.y[far]:.0f}" for one in series)
        found.append(
            Figure(
                f"hop-{i}-{law}",
                f"{WORDS[law]}: the {word} hop",
                f"At a ratio of {times[far]:.2f}, in Mbit/s: {values}.",
                Axis("ratio of the round-trip times"),
                Axis("throughput", "Mbit/s", low=0.0),
                tuple(series),
                note="The two standard flows of the hop together; S1 and S2 are the same in both pictures.",
            )
        )
    return tuple(found)


@FIGURES(
    "Segment sizes",
    "Flows of equal round trips and of segments of two sizes",
    paper="High-bandwidth flows converge to the same rate whatever their segment size; shown by the equations, and not "
    "simulated.",
    experiments=("segments",),
)
def segments(runs: ExperimentRuns) -> Made:
    """Compare the goodput of two flows behind queues that count packets or bytes."""
    rows = []
    for point in runs["segments"]:
        first, second = (MeasuredQuantity(point.flows("goodput_bps", g).mean(axis=1) / 1e6) for g in ("short", "long"))
        events = [MeasuredQuantity(point.flows("loss_events", g).sum(axis=1)) for g in ("short", "long")]
        labels = (point.labels["buffer"], WORDS[point.labels["case"]], leading(point.labels["packet"]))
        rows.append((*map(cell, labels), *(cell(one.to_json()) for one in (first, second, *events))))
    heads = (
        "each queue",
        "law",
        "second's segments [bytes]",
        "first, 1500 bytes [Mbit/s]",
        "second [Mbit/s]",
        "losses of the first",
        "of the second",
    )
    note = (
        "Where a queue counts packets, the flow of smaller segments needs more places in it for its rate and is hit "
        "the oftener: the proof, for which losses come at equal times, says nothing then. Where it counts bytes both "
        "are hit about alike."
    )
    return (Table("What flows of two segment sizes get", heads, tuple(rows), note),)


@FIGURES(
    "RED",
    "Behind RED",
    paper="Its analysis is of losses at equal times; RED and losses that are synchronised in part are named, and not "
    "simulated.",
    experiments=("laws",),
)
def red(runs: ExperimentRuns) -> Made:
    """Draw the bias, the share of common cuts, and the utilization of the hops, behind both queues."""
    rows = []
    for law in ("highspeed", "nr-hstcp"):
        for queue in ("drop-tail", "red"):
            for point in measures.of_law(runs, law, queue):
                shared = measures.together(point)
                used = MeasuredQuantity(point.link("utilization", "hop1"))
                rows.append(
                    (
                        *map(cell, (WORDS[law], queue, leading(point.labels["rtt"]))),
                        cell(measures.ratio(point).to_json()),
                        cell(shared.to_json(), 100),
                        cell(used.to_json(), 100),
                    )
                )
    heads = (
        "law",
        "queue",
        "longer round trip [ms]",
        "75 ms over the other",
        "cuts in common [%]",
        "first hop used [%]",
    )
    bias = {
        queue: ", ".join(f"{measures.ratio(point).mean:.1f}" for point in measures.of_law(runs, "highspeed", queue))
        for queue in ("drop-tail", "red")
    }
    note = (
        f"HSTCP's bias is {bias['drop-tail']} behind drop-tail and {bias['red']} behind RED. A flow that adds ten "
        "segments and more in a round trip makes RED drop in clumps, so that cuts stay common."
    )
    return (Table("Behind drop-tail and RED", heads, tuple(rows), note),)


@FIGURES(
    "Other laws",
    "HSTCP, NR-HSTCP, BIC and FAST",
    paper="BIC and FAST are named as other laws for fast networks; no number.",
    experiments=("laws",),
)
def laws(runs: ExperimentRuns) -> Made:
    """Draw the bias of each law."""
    names = tuple(WORDS[law] for law in measures.LAWS)
    series = []
    for i, rtt in enumerate(runs["laws"].labels("rtt")):
        of = [measures.ratio(measures.of_law(runs, law).at(rtt=rtt)) for law in measures.LAWS]
        series.append(_bars(f"75 and {rtt}", of, i))
    values = "; ".join(
        f"{one.name}: " + ", ".join(f"{y:.1f} with {n}" for n, y in zip(names, one.y, strict=True)) for one in series
    )
    return (
        Figure(
            "laws",
            "Throughput of the flow of 75 ms over that of the other",
            f"{values}.",
            Axis("", scale="names", names=names),
            RATIO,
            tuple(series),
            (Mark(1.0, "alike", axis="y"),),
        ),
        _rates(runs["laws"].where(case="drop-tail")),
    )


def _bars(name: str, of: Sequence[MeasuredQuantity], i: int) -> Series:
    mean = np.array([one.mean for one in of])
    half = np.array([one.ci95 or 0.0 for one in of])
    low = np.maximum(mean - half, 0.1)
    return Series(name, np.arange(float(mean.size)), mean, low, mean + half, colour(i), "points")


def _rates(points: ExperimentPoints) -> Table:
    rows = []
    for point in points:
        rates = [
            MeasuredQuantity(point.flows("goodput_bps", g).mean(axis=1) / 1e6)
            for g in ("short", "long", "cross1", "cross2")
        ]
        labels = (WORDS[point.labels["law"]], leading(point.labels["rtt"]))
        rows.append((*map(cell, labels), *(cell(rate.to_json()) for rate in rates)))
    heads = (
        "law of both",
        "longer round trip [ms]",
        "75 ms [Mbit/s]",
        "the other",
        "standard flow, first hop",
        "second hop",
    )
    return Table("What flows get, drop-tail", heads, tuple(rows))


@FIGURES(
    "Slow links",
    "Standard TCP, HSTCP and NR-HSTCP where losses are not rare",
    paper="At low bandwidth and with moderate loss it is no less fair between round-trip times than standard TCP, and "
    "keeps its friendliness; no number.",
    experiments=("slow-link",),
)
def slow_links(runs: ExperimentRuns) -> Made:
    """Draw the bias of each law among its own flows, and its rate beside standard TCP."""
    points = runs["slow-link"]
    rows = []
    for rate in points.labels("rate"):
        for law in ("reno", "highspeed", "nr-hstcp"):
            among = points.where(case="among themselves", rate=rate, law=law)
            ratios = [measures.ratio(among.at(rtt=rtt)) for rtt in (150, 225)]
            lost = MeasuredQuantity(among.at(rtt=150).link("loss_ratio"))
            beside = points.where(case="beside standard TCP", rate=rate, law=law)
            friendly = measures.ratio(beside.points[0]).to_json() if len(beside) else None
            rows.append(
                (
                    *map(cell, (leading(rate), WORDS[law])),
                    cell(lost.to_json(), 1e3),
                    *(cell(one.to_json()) for one in ratios),
                    cell(friendly),
                )
            )
    heads = (
        "link [Mbit/s]",
        "law",
        "lost [1e-3]",
        "75 ms over 150 ms",
        "75 ms over 225 ms",
        "over standard TCP beside it, 100 ms",
    )
    return (Table("Ten flows behind RED", heads, tuple(rows)),)
