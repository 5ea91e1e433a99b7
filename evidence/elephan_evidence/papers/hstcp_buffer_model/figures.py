"""Figures 3 to 8 of the first paper: our runs, the models beside them, ns-2's results, and the paper's numbers.

*Source*: Barman2004.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import WARMUP, Axis, Figure, Mark, Series
from elephan.pictures.table import Table, cell
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.hstcp_buffer_model import concept_figures, mixed_figures
from elephan_evidence.papers.hstcp_buffer_model.links import LINKS, SHARES, in_step, modelled, two_in_step
from elephan_evidence.papers.hstcp_buffer_model.measures import loss_events
from elephan_evidence.papers.measured import MeasuredQuantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from elephan.pictures.table import Cell
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

FIGURES = PaperExhibits()
FIGURES.update(concept_figures.FIGURES)
SPEEDS = {"1g": "1 Gbit/s", "2g5": "2.5 Gbit/s"}
QUEUES = {"droptail": "drop-tail", "ared": "Adaptive RED"}


@cache
def ns2() -> tuple[dict[str, str], ...]:
    """Return the results of ns-2."""
    text = Path(__file__).with_name("ns2.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def _packets(point: ExperimentPoint) -> int:
    return int(point.labels["buffer"].split()[0])


def _measured(
    name: str,
    link: str,
    points: Iterable[ExperimentPoint],
    what: Callable[[ExperimentPoint], MeasuredQuantity],
    colour: str,
) -> Series:
    """Make a line through the measurements at each buffer, with their intervals."""
    found = [(_packets(point) / LINKS[link].full, what(point)) for point in points]
    x, y = np.array([share for share, _ in found]), np.array([one.mean for _, one in found])
    within = np.array([one.ci95 or 0.0 for _, one in found])
    return Series(name, x, y, y - within, y + within, colour, "both")


def _utilization(point: ExperimentPoint) -> MeasuredQuantity:
    return MeasuredQuantity(point.link("utilization"))


def _loss(point: ExperimentPoint) -> MeasuredQuantity:
    return MeasuredQuantity(point.link("loss_ratio"))


def _by_ns2(link: str, case: str, column: str) -> list[Series]:
    rows = [row for row in ns2() if row["case"] in (case, f"{case}-limit")]
    if not rows:
        return []
    x, y = (np.array([float(row[name]) for row in rows]) for name in ("buffer_packets", column))
    return [Series(f"ns-2, {_while(rows[0])} s", x / LINKS[link].full, y, colour="ink", kind="points")]


def _of_model(queue: str, link: str, name: str, what: str) -> Series:
    y = np.array([getattr(modelled(queue, link, share), what) for share in SHARES])
    return Series(name, np.array(SHARES), y, colour="vermilion", dashed=True)


def _share(link: str) -> Axis:
    return Axis(f"buffer / {LINKS[link].full:,} packets", scale="log", low=0.9 * min(SHARES), high=1.1)


def _used(
    queue: str, link: str, runs: ExperimentRuns, more: tuple[Series, ...] = (), note: str = ""
) -> tuple[Figure, Figure]:
    """Draw utilization against the buffer: on linear axes that end at a share of 1, as the paper's, and on ours."""
    logarithmic = _on_log_axes(queue, link, runs, more, note)
    linear = replace(
        logarithmic,
        name=f"{logarithmic.name}-linear",
        x=Axis(logarithmic.x.label, low=0.0, high=1.03),
        y=Axis(logarithmic.y.label, low=0.0, high=1.03),
        link="",
        note="On linear axes, for the paper's curves. The next picture has the same with a logarithmic axis of buffers "
        "and one of utilizations that tells 0.9, 0.95 and 0.99 apart.",
    )
    return linear, logarithmic


def _on_log_axes(queue: str, link: str, runs: ExperimentRuns, more: tuple[Series, ...], note: str) -> Figure:
    """Draw utilization against the buffer with small buffers and full links both spread out."""
    model = "model: M/M/1/K" if queue == "droptail" else "model: RED"
    points = [point for point in runs[f"{queue}-{link}"] if _packets(point) / LINKS[link].full >= min(SHARES) * 0.9]
    ours = _measured("simulated", link, points, _utilization, "blue")
    series = [
        ours,
        _of_model(queue, link, model, "utilisation"),
        *_by_ns2(link, f"{queue}-{link}", "utilization"),
        *more,
    ]
    tenth, whole = (float(np.interp(np.log(at), np.log(ours.x), ours.y)) for at in (0.1, 1.0))
    return Figure(
        f"utilization-{queue}-{link}",
        f"Utilization, {SPEEDS[link]}, {QUEUES[queue]}",
        f"Simulated utilization rises from {ours.y[0]:.2f} at the smallest buffer to {tenth:.2f} at a tenth and "
        f"{whole:.2f} at the whole; the model has {modelled(queue, link, 0.1).utilisation:.3f} at a tenth.",
        _share(link),
        Axis("utilization", scale="share", low=0.0, high=1.003),
        tuple(series),
        link=f"{queue}-{link}",
        note=note,
    )


def _lost(queue: str, link: str, runs: ExperimentRuns, printed: float | None = None) -> Figure:
    """Draw the loss against the buffer: lost packets, and loss events, beside the paper's value if there is one."""
    points = [point for point in runs[f"{queue}-{link}"] if _packets(point) / LINKS[link].full >= min(SHARES) * 0.9]
    packets = _measured("lost packets", link, points, _loss, "blue")
    events = _measured("loss events", link, points, loss_events, "green")
    return Figure(
        f"loss-{queue}-{link}",
        f"Loss, {SPEEDS[link]}, {QUEUES[queue]}",
        f"Of a packet that arrives {packets.y[0]:.1e} are lost at the smallest buffer and {packets.y[-1]:.1e} at the "
        f"whole; flows notice a loss {events.y[-1]:.1e} times a packet there."
        + (f" The paper prints {printed:g}." if printed else ""),
        _share(link),
        Axis("losses per packet", scale="log"),
        (packets, events, _of_model(queue, link, "model", "loss"), *_by_ns2(link, f"{queue}-{link}", "loss_ratio")),
        (Mark(printed, f"paper: {printed:g}", axis="y", role="wanted"),) if printed else (),
        link=f"{queue}-{link}",
    )


def _step(link: str) -> Series:
    return Series("sawtooth, all flows in step", np.array(SHARES), in_step(link), colour="green", dashed=True)


@FIGURES(
    "Figure 3",
    "Utilization against the buffer, 1 Gbit/s, drop-tail",
    paper="Ten HighSpeed flows with round trips of 115.5 to 124.5 ms. At a tenth of 12,500 packets the link is used to "
    "at least 90 %, at a fifth to about 98 %; below a tenth utilization falls significantly, beyond it gains are "
    "marginal. The model is quite close; its differences are put down to M/M/1/K and the closed form.",
    experiments=("droptail-1g",),
)
def figure3(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Utilization and loss on the first link."""
    paper = Series("paper", np.array([0.1, 0.2]), np.array([0.90, 0.98]), colour="purple", kind="points")
    note = (
        "The model has no knee: it passes 90 % at 87 packets, a share of 0.007. A sawtooth whose flows are all cut "
        "whenever the buffer is full follows the runs from a share of 0.05; below it bursts overflow the buffer long "
        "before the link is full."
    )
    return *_used("droptail", "1g", runs, (_step("1g"), paper), note), _lost("droptail", "1g", runs, 1e-3)


@FIGURES(
    "Figure 4",
    "Utilization against the buffer, 2.5 Gbit/s, drop-tail",
    paper="Ten HighSpeed flows with round trips of 38 to 142 ms; shares are of 6250 packets. The same trends as in "
    "Figure 3, and model and simulation similar; no number is given.",
    experiments=("droptail-2g5",),
)
def figure4(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Utilization and loss on the second link."""
    return *_used("droptail", "2g5", runs, (_step("2g5"),)), _lost("droptail", "2g5", runs)


def _trace(point: ExperimentPoint, kind: str, column: str, index: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    samples = point.samples(kind, replication=0)
    mine = np.ones(len(samples["time_s"]), dtype=bool) if index is None else samples["index"] == index
    return samples["time_s"][mine].astype(float), samples[column][mine].astype(float)


def _traces(runs: ExperimentRuns, buffer: int, word: str) -> tuple[Figure | Table, ...]:
    """Draw windows and queue of two flows over time."""
    point = runs["two-flows"].at(buffer=buffer)
    first, second = (MeasuredQuantity(each) for each in (point.flows("goodput_bps") / 1e6).T)
    names = ("80 ms", "40 ms")
    windows = [
        Series(f"round trip {name}", *_trace(point, "flows", "cwnd_segments", i), colour=shade)
        for i, (name, shade) in enumerate(zip(names, ("blue", "vermilion"), strict=True))
    ]
    queue = Series("queue", *_trace(point, "links", "backlog_packets"), colour="ink")
    warmup = Mark(None, WARMUP, role="shade", low=0.0, high=point.document["run"]["warmup_s"])
    time, name = Axis("time", "s"), f"two-{buffer}"
    rates = f"The flow of 80 ms has {first.mean:.0f} Mbit/s, that of 40 ms {second.mean:.0f}."
    return (
        Figure(
            f"windows-{buffer}",
            f"Windows, {word}: {buffer:,} packets",
            f"{rates} Their windows reach {np.nanmax(windows[0].y):.0f} and {np.nanmax(windows[1].y):.0f} segments.",
            time,
            Axis("cwnd", "segments"),
            tuple(windows),
            (warmup,),
            link=name,
            note=f"The first replication. {rates}",
        ),
        Figure(
            f"queue-{buffer}",
            f"Queue, {word}: {buffer:,} packets",
            f"The queue is {float(point.link('backlog_packets').mean()):.0f} packets long on average, and empty "
            f"{100 * float(point.link('empty_fraction').mean()):.0f} % of the time.",
            time,
            Axis("waiting", "packets"),
            (queue,),
            (warmup,),
            link=name,
        ),
    )


@FIGURES(
    "Figure 5",
    "Windows and queue of two flows, under-buffered",
    paper="Windows of two HighSpeed flows and the queue, over time. The round trip of the first is about twice that of "
    "the second, which has the larger window and throughput. No number is given.",
    experiments=("two-flows",),
)
def figure5(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Traces with 250 packets."""
    return _traces(runs, 250, "under-buffered")


@FIGURES(
    "Figure 6",
    "Windows and queue of two flows, over-buffered",
    paper="The same two flows with an over-sized buffer: the second is ahead by less. No number is given.",
    experiments=("two-flows", "as-ns2"),
)
def figure6(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Draw traces with 10,000 packets, and list ns-2's results for both buffers."""
    return (*_traces(runs, 10_000, "over-buffered"), _two_by_ns2(runs))


def _two_by_ns2(runs: ExperimentRuns) -> Table:
    """List the rates of two flows in ns-2, a run per row, and ours with its settings."""
    rows = []
    for row in ns2():
        point = _as_ns2(row, runs) if row["first_mbps"] else None
        if point is None:
            continue
        first, second = (MeasuredQuantity(each) for each in (point.flows("goodput_bps") / 1e6).T)
        ahead = f"{(second.samples > first.samples).sum()} of {first.samples.size}"
        pairs = (
            each
            for name, ours in (("first_mbps", first), ("second_mbps", second))
            for each in (cell(float(row[name])), cell(ours.to_json()))
        )
        rows.append((cell(int(row["buffer_packets"])), cell(_while(row)), cell(int(row["seed"])), *pairs, cell(ahead)))
    heads = ("buffer [packets]", "measured [s]", "ns-2's seed", "80 ms, ns-2 [Mbit/s]", "ours", "40 ms, ns-2", "ours")
    first, second = (8e-3 * rate for rate in two_in_step(10_000))
    note = (
        "With 10,000 packets both flows are cut at each overflow and shares move slowly: who leaves slow start ahead "
        "stays there for a minute or two. A sawtooth of flows that are cut together, which has no start, has "
        f"{first:.0f} and {second:.0f} Mbit/s."
    )
    return Table("Two flows in ns-2 and here", (*heads, "our runs with 40 ms ahead"), tuple(rows), note)


def _other(runs: ExperimentRuns, experiment: str, link: str, name: str, colour: str) -> Series:
    return _measured(name, link, runs[experiment].where(case=link), _utilization, colour)


def _adaptive(runs: ExperimentRuns, link: str, printed: float) -> tuple[Figure | Table, ...]:
    more = (
        _other(runs, "ared-bottom", link, "max_p may fall as in ns-2.35", "green"),
        _other(runs, "ared-thresholds", link, "thresholds 0.4 and 1 of the buffer", "orange"),
    )
    return *_used("ared", link, runs, more), _lost("ared", link, runs, printed)


@FIGURES(
    "Figure 7",
    "Utilization against the buffer, 1 Gbit/s, Adaptive RED",
    paper="Adaptive RED, whose thresholds adjust themselves, beside the RED model with thresholds at 0.4 of the buffer "
    "and at the buffer: close agreement. Loss is 1e-5 for shares above 0.1.",
    experiments=("ared-1g", "ared-bottom", "ared-thresholds"),
)
def figure7(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Adaptive RED on the first link."""
    return _adaptive(runs, "1g", 1e-5)


@FIGURES(
    "Figure 8",
    "Utilization against the buffer, 2.5 Gbit/s, Adaptive RED",
    paper="As Figure 7 on the second link; loss is around 1e-6.",
    experiments=("ared-2g5", "ared-bottom", "ared-thresholds"),
)
def figure8(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """Adaptive RED on the second link."""
    return _adaptive(runs, "2g5", 1e-6)


def _as_ns2(row: dict[str, str], runs: ExperimentRuns) -> ExperimentPoint | None:
    """Return our point with the settings of a row, if a case has them all; None if it was not run."""
    of = runs["as-ns2"].where(case=row["case"], buffer=int(row["buffer_packets"]))
    return of.points[0] if len(of) else None


def _while(row: dict[str, str]) -> str:
    return f"{row['warmup_s']} to {row['duration_s']}"


def _beside(row: dict[str, str], runs: ExperimentRuns) -> tuple[Cell, ...]:
    """Return a row of ns-2 and ours with its settings."""
    point = _as_ns2(row, runs)
    if point is None:
        return ()
    every = (
        MeasuredQuantity(point.link("utilization")),
        MeasuredQuantity(point.link("loss_ratio")),
        loss_events(point),
    )
    ours = [cell(one.to_json(), scale) for one, scale in zip(every, (100.0, 1e6, 1e6), strict=True)]
    theirs = [
        cell(float(row[name]) if row[name] else None, scale)
        for name, scale in (("utilization", 100.0), ("loss_ratio", 1e6), ("cuts_per_packet", 1e6))
    ]
    pairs = [each for both in zip(theirs, ours, strict=True) for each in both]
    settings = ", ".join(
        filter(None, (f"max_p >= {row['bottom']}" if row["bottom"] else "", f"minrto_ {row['min_rto_s']} s"))
    )
    all_settings = "; ".join(filter(None, (settings, row["settings"])))
    return (cell(row["case"]), cell(int(row["buffer_packets"])), cell(_while(row)), cell(all_settings), *pairs)


@FIGURES(
    "ns-2",
    "The same settings in ns-2 2.35",
    paper="Nothing: it names no version and no settings. These runs of ours tell what is ns-2's from what is "
    "elephan's, one a row; intervals are those of elephan's replications.",
    experiments=("as-ns2",),
)
def beside_ns2(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
    """List one run of ns-2 per row, and ours with intervals."""
    both = [(f"{what}, ns-2", "ours") for what in ("utilization [%]", "lost [1e-6]", "loss events [1e-6]")]
    heads = ("case", "buffer [packets]", "measured [s]", "ns-2's settings", *(head for pair in both for head in pair))
    rows = tuple(filter(None, (_beside(row, runs) for row in ns2())))
    return (Table("ns-2 and elephan on the same settings", heads, rows),)


FIGURES.update(mixed_figures.FIGURES)
