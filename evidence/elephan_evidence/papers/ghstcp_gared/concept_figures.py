"""Figures 3, 8 and 9: the two networks, drawn from the scenarios, and the changes of max_p by gentle adaptive RED.

*Source*: Zhang2005. Our copy of the paper does not describe these three figures; their content is inferred from their
places between the others (Figures 1, 2, 4 to 7 and 10 to 12 are known) and from the text around it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series
from elephan.scenario import Scenario
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.ghstcp_gared import traces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.ghstcp_gared.traces import Floats
    from elephan_evidence.papers.runs import ExperimentPoint, ExperimentRuns

FIGURE_3, FIGURE_8, FIGURE_9 = PaperExhibits(), PaperExhibits(), PaperExhibits()
"""Exhibits that are inserted at their places among the paper's."""

PLACES = ("senders", "R1", "R2", "receivers")
COLOURS = ("blue", "vermilion", "green")
MOST = 12
"""Maximum number of lines of a cluster; more would look like one surface."""

TARGET = (4500.0, 5500.0)
"""Limits of the target of both disciplines: 0.4 and 0.6 of the way from min_th to max_th [packets]."""

LOOK = 10
"""Samples between two updates of max_p: 0.5 s in samples of 50 ms."""


@FIGURE_3(
    "Figure 3",
    "The network of the tables",
    paper="Not described in what we have of the paper; by its place, the network of the tables, which its text gives.",
)
def figure3(_: ExperimentRuns) -> Made:
    """Draw the dumbbell."""
    of = _scenario("dumbbell")
    [link] = of["links"]
    ends = [(_sender(group), int(group.get("count", 1)), "both") for group in of["flows"]]
    return (_network("dumbbell", "The dumbbell", link, ends),)


@FIGURE_9(
    "Figure 9",
    "The network of the web traffic",
    paper="Not described in what we have of the paper; by its place, that of cases 32 to 35, which its text gives.",
)
def figure9(_: ExperimentRuns) -> Made:
    """Draw the clusters."""
    of = _scenario("web-scenario")
    link, server, client = of["links"]
    fast = of["flows"][0]
    ends = [
        (_sender(fast), int(fast["count"]), "both"),
        (f"{server['count']} servers, {server['rate']}", int(server["count"]), "left"),
        (f"{client['count']} clients, {_span(client['rate'])}", int(client["count"]), "right"),
    ]
    return (_network("clusters", "Web clusters", link, ends),)


@FIGURE_8(
    "Figure 8",
    "When gentle adaptive RED moves max_p",
    paper="Not described in what we have of the paper; by its place, the rule of gentle adaptive RED: max_p rises "
    "only while the average is above its target and rising, and falls only while it is below and falling.",
    experiments=("surges",),
)
def figure8(runs: ExperimentRuns) -> Made:
    """Draw the points at which both disciplines raise and lower max_p."""
    colours = {"raised": "vermilion", "lowered": "blue"}
    names = ("adaptive RED", "gentle adaptive RED")
    return tuple(_moves(runs["surges"].at(case=name), name, i, colours) for i, name in enumerate(names))


def _scenario(name: str) -> dict[str, Any]:
    return dict(Scenario.from_file(Path(__file__).parent / "experiments" / f"{name}.toml").source)


def _sender(group: Mapping[str, Any]) -> str:
    """Describe a group for the legend: the number of flows, and their limits."""
    if "access" in group:
        return f"{group['name']}: {group['count']} x {group['access']['rate']}"
    return f"{group['name']}: {group['traffic']['rate']}"


def _span(rate: Any) -> str:
    """Format a rate, or the range from which it is drawn, with the unit once."""
    if not isinstance(rate, dict):
        return str(rate)
    low, high = rate["uniform"]
    return f"{low.split()[0]} to {high}"


def _network(name: str, title: str, link: Mapping[str, Any], ends: Sequence[tuple[str, int, str]]) -> Figure:
    """Draw a bottleneck between two routers, and its senders."""
    lefts, rights = (
        [(label, n, colour) for (label, n, side), colour in zip(ends, COLOURS, strict=False) if side != other]
        for other in ("right", "left")
    )
    height = max(sum(min(n, MOST) for _, n, _ in side) for side in (lefts, rights))
    lines: dict[str, list[tuple[Floats, Floats]]] = {}
    for at, every in ((0, lefts), (2, rights)):
        top = float(height)
        for label, n, _ in every:
            rows = min(n, MOST)
            lines.setdefault(label, []).append(
                _fan(at, np.arange(rows, dtype=np.float64) - rows + top + 0.5, height / 2)
            )
            top -= rows
    colours = {label: colour for label, _, colour in (*lefts, *rights)}
    series = []
    for label, own in lines.items():
        x, y = (np.concatenate([line[axis] for line in own]) for axis in (0, 1))
        series.append(Series(label, x, y, colour=colours[label], kind="both"))
    between = f"{link['rate']}, {link['delay']}, {link['buffer']}"
    series.append(Series(between, np.array([1.0, 2.0]), np.full(2, height / 2), colour="ink", kind="both"))
    many = any(n > MOST for _, n, _ in ends)
    return Figure(
        name,
        title,
        f"{'; '.join(label for label, _, _ in ends)}; between the routers {between}.",
        Axis("", scale="names", low=-0.1, high=3.1, names=PLACES),
        Axis("", scale="names", low=-0.5, high=height + 0.5),
        tuple(series),
        height=260,
        note=f"Of a cluster {MOST} are drawn." if many else "",
    )


def _fan(at: int, y: Floats, middle: float) -> tuple[Floats, Floats]:
    """Return the lines between one router and each of its ends: ``at`` 0 to its left, 2 to its right."""
    edge, router = (0.0, 1.0) if at == 0 else (3.0, 2.0)
    x = np.tile([edge, router, np.nan], y.size)
    return x, np.column_stack([y, np.full(y.size, middle), np.full(y.size, np.nan)]).ravel()


def _moves(point: ExperimentPoint, name: str, which: int, colours: dict[str, str]) -> Figure:
    series = []
    for of, paint in colours.items():
        average, rise = (np.concatenate(part) for part in zip(*_changed(point, of), strict=True))
        series.append(Series(f"max_p {of}", average, rise, colour=paint, kind="points"))
    raised = series[0]
    late = int(np.sum(raised.y < 0))
    return Figure(
        f"moves-{'gared' if which else 'ared'}",
        f"{name[0].upper()}{name[1:]}",
        f"{name} raised max_p {raised.x.size} times, {late} of them while the average was falling.",
        Axis("average queue", "packets", low=0.0, high=10000.0),
        Axis("its change in 0.5 s", "packets"),
        tuple(series),
        (Mark(TARGET[0], "target", "x"), Mark(TARGET[1], "", "x"), Mark(0.0, "", "y")),
        link="moves",
        height=260,
        note="In the surges of Figure 7, both looking twice a second by a clock." if which else "",
    )


def _changed(point: ExperimentPoint, of: str) -> Iterator[tuple[Floats, Floats]]:
    """Find the changes of max_p in each replication: the average, and its change since the update before."""
    rows = point.samples("links")
    for one in np.unique(rows["replication"]):
        mine = (rows["replication"] == one) & (rows["time_s"] > traces.START - LOOK)
        average, max_p = (np.asarray(rows[column][mine], dtype=float) for column in ("queue_avg", "queue_max_p"))
        step = np.diff(max_p)
        at = np.flatnonzero(step > 0 if of == "raised" else step < 0) + 1
        at = at[at >= LOOK]
        yield average[at], average[at] - average[at - LOOK]
