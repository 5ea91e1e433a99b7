"""Figures 1 and 3 of the paper on NR-HSTCP, reproduced.

*Source*: PhillipsHu2006.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from elephan.pictures.figure import Axis, Figure, Mark, Series
from elephan.pictures.table import Table, cell
from elephan.theory import fairness
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.measured import MeasuredQuantity
from elephan_evidence.papers.nr_hstcp import fairness_figures
from elephan_evidence.papers.nr_hstcp.measures import EXAMPLE_S, SHORT_S, across, protocol, total
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns

FIGURES = PaperExhibits()
RATES_BPS = np.geomspace(1e5, 1e10, 101)
PAPER_MBPS = np.array([96.0, 43.0, 22.0, 13.0])
"""Rates that the paper reads off its own curves at 4 s."""
NS2 = Path(__file__).with_name("ns2.csv")


@FIGURES(
    "Figure 1a",
    "Recovery time of HSTCP against the rate",
    paper="Curves for round-trip times of 87.5, 100, 112.5 and 125 ms never meet: the longer way recovers later at any "
    "rate. They bend between 2 and 20 Mbit/s, where standard TCP ends. With a loss every 4 s the four flows would have "
    "96, 43, 22 and 13 Mbit/s.",
)
def figure1a(_: ExperimentRuns) -> Made:
    """Draw HSTCP's curves, and the paper's example on them."""
    example = Series("paper, losses every 4 s", PAPER_MBPS, np.full(4, 4.0), colour="ink", kind="points")
    ours = fairness.share(fairness.highspeed, 4.0, EXAMPLE_S, method="steps") / 1e6
    values = ", ".join(f"{rate:.1f}" for rate in ours)
    return (
        Figure(
            "recovery-hstcp",
            "Recovery time, HSTCP",
            "Four curves that rise with the rate and stay apart; 6.3 to 9.7 s at 1 Gbit/s.",
            Axis("rate", "Mbit/s", "log"),
            Axis("recovery time", "s", "log"),
            (*_curves(fairness.highspeed, EXAMPLE_S), example),
            (Mark(4.0, "a loss every 4 s", "y"),),
            note=f"By whole round trips we find {values} Mbit/s at 4 s.",
        ),
    )


@FIGURES(
    "Figure 1b",
    "Recovery time of NR-HSTCP against the rate",
    paper="The curves of all round-trip times merge into one. The longer the time, the lower the rate at which a flow "
    "begins to add more than a segment in a round trip; a short one stays with a segment until it has a high rate.",
)
def figure1b(_: ExperimentRuns) -> Made:
    """Draw NR-HSTCP's curves."""
    rtts = np.array([0.075, 0.1, 0.15, 0.25])
    return (
        Figure(
            "recovery-nr-hstcp",
            "Recovery time, NR-HSTCP",
            "Four curves that are one above 12 Mbit/s; 7.4 s at 1 Gbit/s.",
            Axis("rate", "Mbit/s", "log"),
            Axis("recovery time", "s", "log"),
            _curves(fairness.normalised, rtts),
        ),
    )


def _curves(law: fairness.Law, rtts: NDArray[np.float64]) -> tuple[Series, ...]:
    colours = ("blue", "vermilion", "green", "purple")
    return tuple(
        Series(f"{1e3 * rtt:g} ms", RATES_BPS / 1e6, fairness.recovery_time(law, RATES_BPS, rtt), colour=colour)
        for rtt, colour in zip(rtts, colours, strict=True)
    )


FIGURES.update(fairness_figures.NETWORK)


@FIGURES(
    "Figure 3a",
    "Throughputs under HSTCP against the ratio of the round-trip times",
    paper="Above a ratio of 1.5 the flow of 75 ms clearly has the better of the other, and the standard flows get "
    "more, too, than the HSTCP flow of the longer way.",
    experiments=("two-hops", "early"),
)
def figure3a(runs: ExperimentRuns) -> Made:
    """Draw HSTCP's runs, with the prediction for synchronized losses."""
    points = protocol(runs, "highspeed")
    note = (
        "Above a ratio of 2 the long flow has more than the model of equal loss times gives it: it is not hit in every "
        "overflow of the queue."
    )
    return (
        _scatter("two-hops-hstcp", "Throughputs, HSTCP", points, fairness.highspeed, note),
        *fairness_figures.by_hop(runs, "highspeed"),
        _table("HSTCP: means by the ratio of the round-trip times", points),
        _beside_ns2(runs),
    )


@FIGURES(
    "Figure 3b",
    "Throughputs under NR-HSTCP against the ratio of the round-trip times",
    paper="The bias is gone: both flows have the same level whatever the ratio, and together no less than under HSTCP.",
    experiments=("two-hops",),
)
def figure3b(runs: ExperimentRuns) -> Made:
    """Draw NR-HSTCP's runs, with the prediction for synchronized losses."""
    points = protocol(runs, "nr-hstcp")
    return (
        _scatter("two-hops-nr-hstcp", "Throughputs, NR-HSTCP", points, fairness.normalised, ""),
        *fairness_figures.by_hop(runs, "nr-hstcp"),
        _table("NR-HSTCP: means by the ratio of the round-trip times", points),
    )


GROUPS = (
    ("short", "75 ms", "blue"),
    ("long", "75 to 250 ms", "vermilion"),
    ("cross1", "standard flow, first hop", "green"),
    ("cross2", "standard flow, second hop", "orange"),
)


def _scatter(name: str, title: str, points: ExperimentPoints, law: fairness.Law, note: str) -> Figure:
    ratio = _ratios(points)
    measured = tuple(
        Series(label, ratio, across(points, group).samples, colour=colour, kind="points")
        for group, label, colour in GROUPS
    )
    near, far = int(ratio.argmin()), int(ratio.argmax())
    values = "; ".join(f"{one.name} from {one.y[near]:.0f} to {one.y[far]:.0f}" for one in measured)
    return Figure(
        name,
        title,
        f"{len(points)} runs, from a ratio of {ratio.min():.2f} to {ratio.max():.2f}: {values} Mbit/s.",
        Axis("ratio of the round-trip times"),
        Axis("throughput of a flow", "Mbit/s", low=0.0),
        (*measured, *_equal_loss_times(points, law)),
        note=note,
    )


def _equal_loss_times(points: ExperimentPoints, law: fairness.Law) -> tuple[Series, Series]:
    """Divide the sum of both rates for losses that hit both flows, so that both recover in the same time."""
    both = (across(points, "short") + across(points, "long")).mean * 1e6
    ratio = np.linspace(1.0, 250 / 75, 15)
    first, second = np.array([_shares(law, both, SHORT_S * np.array([1.0, each])) for each in ratio]).T / 1e6
    return (
        Series("model, equal loss times", ratio, first, colour="blue", dashed=True),
        Series("model, equal loss times", ratio, second, colour="vermilion", dashed=True),
    )


def _shares(law: fairness.Law, both: float, rtts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rates of two flows with equal recovery times and a given sum [bit/s]."""

    def at(period: float) -> NDArray[np.float64]:
        return fairness.share(law, period, rtts, bounds_bps=(1e3, 1e10))

    # The flow that recovers first has at least half of the sum, and at most all of it.
    low, high = (float(fairness.recovery_time(law, rate, rtts).min()) for rate in (both / 2, both))
    return at(float(brentq(lambda period: at(period).sum() - both, 0.99 * low, 1.01 * high)))


def _ratios(points: ExperimentPoints) -> NDArray[np.float64]:
    return np.array([leading(point.labels["rtt"]) for point in points]) / (1e3 * SHORT_S)


BINS = ((1.0, 1.5), (1.5, 2.0), (2.0, 2.5), (2.5, 3.0), (3.0, 3.4))


def _table(title: str, points: ExperimentPoints) -> Table:
    rows = []
    for low, high in BINS:
        mine = tuple(point for point, ratio in zip(points, _ratios(points), strict=True) if low <= ratio < high)
        if not mine:
            continue
        got = [across(mine, group).to_json() for group, _, _ in GROUPS]
        hops = [
            MeasuredQuantity([point.link("utilization", hop).mean() for point in mine]).to_json()
            for hop in ("hop1", "hop2")
        ]
        cells = [cell(f"{low:g} to {high:g}"), cell(len(mine)), *map(cell, got), *(cell(hop, 100) for hop in hops)]
        rows.append(tuple(cells))
    heads = ("ratio", "runs", *(f"{label} [Mbit/s]" for _, label, _ in GROUPS), "first hop used [%]", "second [%]")
    note = f"All flows over both hops: {cell(total(points).to_json()).text} Mbit/s."
    return Table(title, heads, tuple(rows), note)


def _beside_ns2(runs: ExperimentRuns) -> Table:
    """List our runs of the same duration as ns-2's, and its rows."""
    rows = []
    for row in csv.DictReader(NS2.read_text(encoding="utf-8").splitlines()):
        point = runs["early"].at(rtt=float(row["rtt_ms"]))
        standard = np.hstack([point.flows("goodput_bps", group) for group in ("cross1", "cross2")])
        goodputs = (point.flows("goodput_bps", "short"), point.flows("goodput_bps", "long"), standard)
        ours = [cell(MeasuredQuantity(got.mean(axis=1) / 1e6).to_json()) for got in goodputs]
        used = [cell(MeasuredQuantity(point.link("utilization", hop)).to_json(), 100) for hop in ("hop1", "hop2")]
        theirs = [cell(float(row[name])) for name in ("short_mbps", "long_mbps", "standard_mbps")]
        their_hops = [cell(float(row[name]), 100) for name in ("hop1_used", "hop2_used")]
        rows += [
            (cell(float(row["rtt_ms"])), cell("elephan"), *ours, *used),
            (cell(float(row["rtt_ms"])), cell("ns-2 2.35"), *theirs, *their_hops),
        ]
    flows = ("75 ms [Mbit/s]", "the other [Mbit/s]", "a standard flow [Mbit/s]")
    heads = ("RTT of the other [ms]", "simulator", *flows, "first hop used [%]", "second [%]")
    note = "One run of ns-2 beside ours; the long flow is still falling from what slow start gave it."
    return Table("HSTCP in ns-2 and here, from 70 to 150 s", heads, tuple(rows), note)


FIGURES.update(fairness_figures.FIGURES)
