"""Figures 10 to 12 of the gHSTCP and gARED paper, reproduced: web traffic beside high-speed flows.

*Source*: Zhang2005. The paper gives no numbers of its bars; each exhibit describes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Series
from elephan.pictures.table import Table, cell
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.ghstcp_gared.web_measures import BUFFERS, COUNTS, LAWS, RATES, loss, responses
from elephan_evidence.papers.measured import MeasuredQuantity

if TYPE_CHECKING:
    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.runs import ExperimentRuns

FIGURES = PaperExhibits()
NAMES = {"highspeed": "HSTCP", "ghstcp": "gHSTCP"}
CASES = {(1000, 5000): 32, (1000, 500): 33, (500, 5000): 34, (500, 500): 35}


@FIGURES(
    "Figures 10 and 11",
    "Packets lost at the bottleneck",
    paper="gHSTCP loses less than HSTCP in each of the four cases with 5, 10 and 20 flows. Less buffer and less "
    "bandwidth lose more, less buffer especially under HSTCP.",
    experiments=("web-loss",),
)
def figures10and11(runs: ExperimentRuns) -> Made:
    """Draw the losses of all cases, a picture for each bandwidth."""
    return (*(_losses(runs, rate) for rate in RATES), _table(runs))


def _losses(runs: ExperimentRuns, rate: int) -> Figure:
    places = [(buffer, count) for buffer in BUFFERS for count in COUNTS]
    series = []
    for law, colour in zip(LAWS, ("blue", "vermilion"), strict=True):
        each = [loss(runs, rate, buffer, count, law) * 1e6 for buffer, count in places]
        mean = np.array([one.mean for one in each])
        half = np.array([one.ci95 or 0.0 for one in each])
        at = np.arange(len(places), dtype=float)
        series.append(Series(NAMES[law], at, mean, mean - half, mean + half, colour=colour, kind="bars"))
    least, most = min(one.y.min() for one in series), max(one.y.max() for one in series)
    return Figure(
        f"web-loss-{rate}",
        f"{rate} Mbit/s",
        f"HSTCP beside gHSTCP, six settings: between {least:.0f} and {most:.0f} lost in a million, more under HSTCP.",
        Axis("packets of buffer, flows", scale="names", names=tuple(f"{buffer}, {count}" for buffer, count in places)),
        Axis("lost at the bottleneck", "10^-6", low=0.0),
        tuple(series),
    )


def _table(runs: ExperimentRuns) -> Table:
    rows = []
    for rate, buffer in CASES:
        for count in COUNTS:
            hstcp, gentle = (loss(runs, rate, buffer, count, law) for law in LAWS)
            less = gentle / hstcp
            labels = (cell(CASES[rate, buffer]), cell(rate), cell(buffer), cell(count))
            numbers = (cell((one * 1e6).to_json()) for one in (hstcp, gentle))
            rows.append((*labels, *numbers, cell(less.to_json())))
    heads = ("case", "Mbit/s", "buffer", "flows", "HSTCP [10^-6]", "gHSTCP [10^-6]", "ratio")
    return Table("Packets lost at the bottleneck", heads, tuple(rows))


@FIGURES(
    "Figure 12",
    "Response times of web objects, case 32 with ten flows",
    paper="The distribution under gHSTCP lies slightly left of that under HSTCP.",
    experiments=("web-responses",),
)
def figure12(runs: ExperimentRuns) -> Made:
    """Draw the distributions of all replications together, and list their numbers."""
    found = {law: responses(runs, law) for law in LAWS}
    at = np.geomspace(0.05, 10, 120)
    series = []
    for law, colour in zip(LAWS, ("blue", "vermilion"), strict=True):
        every = np.sort(np.concatenate(found[law]))
        series.append(Series(NAMES[law], at, np.searchsorted(every, at, side="right") / every.size, colour=colour))
    late = [100 * np.mean(np.concatenate(found[law]) > 1.0) for law in LAWS]
    return (
        Figure(
            "web-responses",
            "Distribution",
            f"Two curves close together; {late[0]:.1f} % of the responses take more than 1 s under HSTCP, "
            f"{late[1]:.1f} % under gHSTCP.",
            Axis("response time", "s", "log"),
            Axis("share of responses", low=0.0, high=1.0),
            tuple(series),
        ),
        Table(
            "Response times",
            ("law", "responses", "mean [s]", "median [s]", "95 % [s]", "99 % [s]", "later than 1 s [%]"),
            tuple(
                (
                    cell(NAMES[law]),
                    cell(sum(times.size for times in found[law])),
                    cell(MeasuredQuantity([times.mean() for times in found[law]]).to_json()),
                    *(
                        cell(MeasuredQuantity([np.quantile(times, q) for times in found[law]]).to_json())
                        for q in (0.5, 0.95, 0.99)
                    ),
                    cell(MeasuredQuantity([np.mean(times > 1.0) for times in found[law]]).to_json(), 100),
                )
                for law in LAWS
            ),
        ),
    )
