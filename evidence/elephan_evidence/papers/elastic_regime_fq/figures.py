"""Figures 3 to 7 of Augé and Roberts 2006 from our runs.

Source: AugeRoberts2006.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elephan.metrics.links import utilization_series
from elephan.pictures.figure import Axis, Figure, Mark, Series, colour
from elephan.pictures.table import Table, cell
from elephan.stats import estimate
from elephan.theory import reno, sawtooth
from elephan_evidence.papers.elastic_regime_fq import measures, packets, regimes_figures
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elephan_evidence.papers.measured import MeasuredQuantity
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

FIGURES = PaperExhibits()
FIGURES.update(regimes_figures.FIGURES)

SPAN = 100.0
"""Time span of the traces from the end of the warm-up on, as in the paper [s]."""

TIME = Axis("time", "s")
USED = Axis("utilization of each round trip", low=0.0, high=1.05)
CWND = Axis("cwnd", "segments", low=0.0)
BDP = Mark(625.0, "BDP", axis="y")
LAWS = {"newreno": "New Reno", "highspeed": "HighSpeed"}


class TimeTrace(NamedTuple):
    """A line over time."""

    name: str
    time_s: NDArray[np.float64]
    values: NDArray[np.float64]


@FIGURES(
    "Figure 3",
    "One New Reno flow, buffers of 20, 100 and 625 packets",
    paper="One New Reno flow beside 25 Mbit/s of Poisson packets on 50 Mbit/s. With 20 packets it uses about 40 % of "
    "what is left, with 100 most of it, with 625 all. Without background the link is 75 % used with a buffer of one "
    "packet, about 80 % with 20.",
    experiments=("one-flow", "alone", "traces"),
)
def figure3(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Utilization and cwnd over time, and the share against the buffer beside the paper's numbers."""
    points = [runs["traces"].at(case="newreno", buffer=buffer) for buffer in measures.ORDER]
    named = [(f"{buffer} packets", point) for buffer, point in zip(measures.ORDER, points, strict=True)]
    return (
        _used("figure-3-utilization", "Utilization with one New Reno flow", named),
        _cwnd(
            "figure-3-cwnd", "cwnd of one New Reno flow", [t for name, p in named for t in _traces(p, ["flows"], name)]
        ),
        _shares(runs),
        _alone(runs),
    )


@FIGURES(
    "Figure 4",
    "Packets of one New Reno flow at 20 packets",
    paper="Packets of the flow appear as stripes: bursts at the rate of the link, one each round trip. Losses come at "
    "the end of bursts, while the window is far below the BDP.",
    experiments=("bursts",),
)
def figure4(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw each packet at its arrival time and its phase in the round trip."""
    arrived = runs["bursts"].at(queue=measures.FIFO).packets
    mine = (arrived["replication"] == 0) & (arrived["flow"] == 0)
    time, lost = arrived["time_s"][mine], arrived["dropped"][mine]
    # Three seconds before the first loss, and nine after it.
    begin = (time[lost][0] if lost.any() else time[0]) - 3
    near = (time > begin) & (time < begin + 12)
    time, lost = time[near], lost[near]
    # A base round trip plus the service time, so that a stripe of packets without waiting is horizontal.
    within = 1e3 * ((time - time[0]) % 0.10016)
    every = slice(None, None, 5)
    series = (
        Series("arrived", time[~lost][every], within[~lost][every], kind="points", faint=True),
        Series("dropped", time[lost], within[lost], colour="vermilion", kind="points"),
    )
    window, found = measures.window_at_loss(runs).mean, measures.bursts(runs).note
    alt = (
        "One stripe of packets each round trip that widens until packets are lost, beside Poisson packets of the same "
        f"rate: {found}. Mean cwnd at losses: {window:.0f} segments."
    )
    return (
        Figure(
            "figure-4",
            "Packets of the flow at the bottleneck",
            alt,
            Axis("time", "s"),
            Axis("within the round trip", "ms", low=0.0, high=100.0),
            series,
            note=f"{alt} Every fifth packet is drawn, and every dropped one.",
        ),
        regimes_figures.background_stripes(runs),
    )


@FIGURES(
    "Figure 5",
    "One, two and four New Reno flows at 20 packets",
    paper="Utilization grows with the number of flows. They seldom lose together, and share about fairly.",
    experiments=("traces", "several-flows", "one-flow"),
)
def figure5(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw cwnd over time, and the flows' goodput."""
    pictures = [
        _cwnd(
            "figure-5-1",
            "cwnd of one New Reno flow, 20 packets",
            _traces(runs["traces"].at(case="newreno", buffer=20), ["flows"]),
        )
    ]
    rows: list[tuple[str, MeasuredQuantity, Any, Any]] = [("1", measures.utilization(runs, buffer=20), None, None)]
    for flows in (2, 4):
        point = measures.several(runs, flows)
        pictures.append(
            _cwnd(
                f"figure-5-{flows}",
                f"cwnd of {flows} New Reno flows, 20 packets",
                _traces(point, ["flows"]),
                table=False,
            )
        )
        rates = point.flows("goodput_bps", group="flows")
        ratio = estimate(rates.max(axis=1) / rates.min(axis=1)).to_json()
        common = measures.common_losses(runs, flows=flows).to_json()
        rows.append((str(flows), measures.used(point), common, ratio))
    heads = ("flows", "utilization", "common losses", "largest over smallest goodput")
    cells = tuple((cell(n), cell(used.to_json()), cell(common), cell(ratio)) for n, used, common, ratio in rows)
    return (*pictures, Table("Utilization, losses in step, and shares", heads, cells))


@FIGURES(
    "Figure 6",
    "HighSpeed flows, drop-tail",
    paper="Left: one HighSpeed flow with 20 packets uses the link better than one New Reno flow. Middle: HighSpeed "
    "beside New Reno with 625 packets takes most of the link. Right: four HighSpeed flows with 625 packets take turns "
    "without order.",
    experiments=("traces", "one-flow", "pair-625", "several-flows", "recoveries"),
)
def figure6(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Cwnd over time in three panels, and HighSpeed against New Reno by buffer."""
    return (*_panels(runs, "figure-6", measures.FIFO, "highspeed"), _gain(runs))


@FIGURES(
    "Figure 7",
    "HighSpeed flows, fair queueing",
    paper="The same three under fair queueing that drops from the longest queue. Left: hardly better with 20 packets, "
    "but the background loses nothing (the panel says HighSpeed, caption and text New Reno). Middle: HighSpeed only "
    "slightly ahead. Right: order.",
    experiments=("traces", "one-flow", "pair-625", "several-flows"),
)
def figure7(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Cwnd over time in three panels, and both disciplines side by side."""
    left = runs["traces"].at(case="newreno, fair")
    newreno = _cwnd("figure-7-newreno", "One New Reno flow, 20 packets, fair queueing", _traces(left, ["flows"]))
    return (newreno, *_panels(runs, "figure-7", measures.FAIR, "highspeed, fair"), _disciplines(runs))


@FIGURES(
    "Section 4",
    "The background of finite flows",
    paper="The Poisson process of packets stands for finite flows of at most 1 Mbit/s each; the authors say that the "
    "principal comparisons come out alike beside these.",
    experiments=("one-flow", "several-flows", "pair-625", "finite-flows", "finite-pair"),
)
def finite(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Compare each quantity beside both backgrounds."""
    rows = tuple(
        (
            cell(what),
            cell(packets, digits=3),
            cell(flows, digits=3),
            cell("yes" if (packets > 0) == (flows > 0) else "no"),
        )
        for what, (packets, flows) in measures.comparisons(runs).items()
    )
    heads = ("comparison", "beside packets", "beside finite flows", "alike")
    note = "Differences of the link's utilization; with 625 packets, of the goodputs in Mbit/s."
    return (Table("Principal comparisons beside both backgrounds", heads, rows, note),)


def _panels(runs: ExperimentRuns, name: str, queue: str, left: str) -> Iterable[Figure]:
    words = "drop-tail" if queue == measures.FIFO else "fair queueing"
    alone = _traces(runs["traces"].at(case=left), ["flows"])
    yield _cwnd(f"{name}-left", f"One HighSpeed flow, 20 packets, {words}", alone)
    pair = _traces(runs["pair-625"].at(queue=queue), ["highspeed", "newreno"])
    yield _cwnd(f"{name}-middle", f"HighSpeed and New Reno, 625 packets, {words}", pair)
    four = _traces(measures.several(runs, 4, 625, "highspeed", queue), ["flows"])
    yield _cwnd(f"{name}-right", f"Four HighSpeed flows, 625 packets, {words}", four, table=False)


def _traces(point: ExperimentPoint, groups: list[str], name: str = "") -> list[TimeTrace]:
    """Return cwnd of the flows of groups in the first replication."""
    samples = point.samples("flows", replication=0)
    shown = _shown(point, samples["time_s"])
    found = []
    for group in groups:
        mine = shown & (samples["name"] == group)
        indices = np.unique(samples["index"][mine])
        for index in indices:
            rows = mine & (samples["index"] == index)
            word = name or (LAWS.get(group) or (f"flow {index + 1}" if indices.size > 1 else "cwnd"))
            found.append(TimeTrace(word, samples["time_s"][rows], samples["cwnd_segments"][rows].astype(float)))
    return found


def _shown(point: ExperimentPoint, time_s: NDArray[np.float64]) -> NDArray[np.bool_]:
    begin = float(point.document["run"]["warmup_s"])
    return np.asarray((time_s >= begin) & (time_s <= begin + SPAN))


def _cwnd(name: str, title: str, traces: list[TimeTrace], *, table: bool = True) -> Figure:
    series = tuple(Series(t.name, t.time_s, t.values, colour=colour(i)) for i, t in enumerate(traces))
    names = [f"{trace.name} " if len(traces) > 1 else "" for trace in traces]
    means = ", ".join(f"{name}{t.values.mean():.0f}" for name, t in zip(names, traces, strict=True))
    bdp = (BDP,) if max(trace.values.max() for trace in traces) > 400 else ()
    alt = f"{title}, 100 s; mean cwnd in segments: {means}."
    return Figure(name, title, alt, TIME, CWND, series, bdp, None if table else _means(title, traces))


def _means(title: str, traces: list[TimeTrace]) -> Table:
    rows = tuple((cell(t.name), cell(float(t.values.mean())), cell(float(t.values.max()))) for t in traces)
    return Table(title, ("flow", "mean cwnd [segments]", "largest"), rows)


def _used(name: str, title: str, points: list[tuple[str, ExperimentPoint]]) -> Figure:
    series = []
    for i, (word, point) in enumerate(points):
        samples = point.samples("links", replication=0)
        time, used = utilization_series(samples["time_s"], samples["begun_bytes"], measures.RATE, bin_s=0.1)
        shown = _shown(point, time)
        series.append(Series(word, time[shown], used[shown], colour=colour(i), kind="step"))
    means = ", ".join(f"{one.y.mean():.2f} with {one.name}" for one in series)
    return Figure(name, title, f"{title}, 100 s: on average {means}.", TIME, USED, tuple(series))


def _shares(runs: ExperimentRuns) -> Figure:
    """Draw the share of the residual against the buffer: packets, the fluid, the paper's numbers."""
    buffers = np.array([leading(label) for label in runs["one-flow"].labels("buffer")])
    series = [
        _against("New Reno", buffers, [measures.share(runs, buffer=int(b)) for b in buffers], "blue"),
        _against(
            "HighSpeed", buffers, [measures.share(runs, buffer=int(b), case="highspeed") for b in buffers], "green"
        ),
    ]
    fluid = [float(sawtooth.synchronised(reno(), 3125, b, 0.1, 1).utilisation) for b in buffers]
    series.append(Series("fluid, New Reno without background", buffers, np.array(fluid), colour="muted", dashed=True))
    paper = Series("paper", np.array([20.0, 625.0]), np.array([0.4, 1.0]), colour="ink", kind="points")
    return Figure(
        "figure-3-shares",
        "Share of the residual",
        f"New Reno gets {series[0].y[0]:.2f} of the residual with 20 packets and {series[0].y[-1]:.2f} with 625; "
        "the paper says 0.40 and 1.",
        Axis("buffer", "packets", scale="log"),
        Axis("share of the residual", low=0.0, high=1.05),
        (*series, paper),
        note="With 100 packets the paper names a reasonable compromise, without a number.",
    )


def _against(name: str, x: NDArray[np.float64], found: list[MeasuredQuantity], colour_: str) -> Series:
    mean = np.array([one.mean for one in found])
    half = np.array([one.ci95 or 0.0 for one in found])
    return Series(name, x, mean, mean - half, mean + half, colour=colour_, kind="both")


def _alone(runs: ExperimentRuns) -> Table:
    rows = []
    for buffer, paper in ((1, "75 %"), (20, "around 80 %")):
        ours = measures.used_alone(runs, buffer=buffer)
        fluid = float(sawtooth.synchronised(reno(), 6250, buffer, 0.1, 1).utilisation)
        rows.append((cell(buffer), cell(ours.to_json(), 100), cell(100 * fluid, digits=3), cell(paper)))
    heads = ("buffer [packets]", "packets [%]", "fluid [%]", "paper")
    return Table("Utilization without background", heads, tuple(rows))


def _gain(runs: ExperimentRuns) -> Figure:
    """Draw the share of HighSpeed minus that of New Reno, by buffer."""
    buffers = np.array([leading(label) for label in runs["one-flow"].labels("buffer")])
    gains = [measures.highspeed_gain(runs, buffers=[int(b)]) for b in buffers]
    plain = [leading(label) for label in runs["recoveries"].labels("buffer")]
    over = [measures.gain_over_plain_reno(runs, buffer=int(b)) for b in plain]
    series = (
        _against("over New Reno", buffers, gains, "blue"),
        _against("over Reno without partial acknowledgements", np.array(plain), over, "orange"),
    )
    return Figure(
        "figure-6-gain",
        "HighSpeed less Reno",
        f"HighSpeed gets {gains[0].mean:+.3f} of the residual more than New Reno with 20 packets; the paper says more.",
        Axis("buffer", "packets", scale="log"),
        Axis("difference of shares of the residual"),
        series,
        (Mark(0.0, "alike", axis="y"),),
        note="The paper: above 0 at 20 packets.",
    )


def _disciplines(runs: ExperimentRuns) -> Table:
    rows = []
    for queue, words in ((measures.FIFO, "drop-tail"), (measures.FAIR, "fair queueing")):
        pair = runs["pair-625"].at(queue=queue)
        rows.append(
            (
                cell(words),
                *(cell(measures.share(runs, buffer=20, case=case, queue=queue).to_json()) for case in LAWS),
                cell(measures.advantage_ratio(runs, queue=queue).to_json()),
                cell(estimate(pair.flows("dropped", group="background").sum(axis=1)).to_json()),
                cell(estimate(packets.waits(pair)).to_json(), 1e3),
                cell(measures.changes_of_leader(runs, queue=queue).to_json(), 100),
            )
        )
    heads = (
        "discipline",
        "one New Reno at 20: share",
        "one HighSpeed at 20: share",
        "HighSpeed over New Reno",
        "background packets lost beside both",
        "their wait [ms]",
        "four HighSpeed: 10 s with another flow well ahead [%]",
    )
    return Table("Drop-tail and fair queueing", heads, tuple(rows))


FIGURES.update(regimes_figures.CONTROLS)
