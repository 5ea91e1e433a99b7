"""Figures beside the tables: Scalable TCP, XCP and Vegas, other thresholds of Z, unequal round-trip times.

*Source*: Zhang2005 for the compared laws; the paper has no figure of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Mark, Series, colour
from elephan.pictures.table import Table
from elephan.pictures.table import cell as entry
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.ghstcp_gared import cells
from elephan_evidence.papers.ghstcp_gared.cells import DELAYS, OF, measured
from elephan_evidence.papers.ghstcp_gared.further_measures import (
    AT,
    LAWS,
    PAPERS,
    delays,
    other_law,
    threshold,
    unequal,
)
from elephan_evidence.papers.runs import leading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elephan_evidence.papers.exhibits import Made
    from elephan_evidence.papers.measured import MeasuredQuantity
    from elephan_evidence.papers.runs import ExperimentRuns

    Floats = NDArray[np.float64]

FIGURES = PaperExhibits()

INDEX = Axis("max-min index")
HEADS = ("TCP's share of the link [%]", "max-min index", "S1 [Mbit/s]", "S2 [Mbit/s]")


@FIGURES(
    "Other laws",
    "Scalable TCP, XCP and Vegas",
    paper="The paper names them, and says that Scalable TCP is less fair than HighSpeed TCP. Its sentences on XCP and "
    "Vegas are not in what we have of it; what is judged here is what each is known for.",
    experiments=("table1", "table2", "scalable", "xcp", "vegas"),
)
def other_laws(runs: ExperimentRuns) -> Made:
    """Draw the index of case 4 with each law, and list the throughputs."""
    every = delays(runs, "scalable")
    rows = {
        "HighSpeed TCP (case 4)": [{of: measured(runs, of, 4, delay) for of in OF} for delay in every],
        "gentle HighSpeed TCP (case 7)": [{of: measured(runs, of, 7, delay) for of in OF} for delay in every],
        **{
            name: [{of: OF[of](other_law(runs, law, delay)) for of in OF} for delay in every]
            for law, name in LAWS.items()
        },
    }
    series = tuple(
        _points(name, i, len(rows), [one["fair"] for one in each]) for i, (name, each) in enumerate(rows.items())
    )
    least = {name: min(one["fair"].mean for one in each) for name, each in rows.items()}
    picture = Figure(
        "other-laws",
        "The index with other laws",
        f"The least index: {', '.join(f'{name} {x:.2f}' for name, x in least.items())}.",
        Axis("delay one way [ms]", scale="names", low=-0.5, high=len(every) - 0.5, names=tuple(map(str, every))),
        INDEX,
        series,
        note="XCP: all ten flows, at queues that implement it. The others share a drop-tail queue with the Reno of S1.",
    )
    table = [
        (entry(name), entry(delay), *(entry(one[of].to_json()) for of in ("util", "fair", "s1", "s2")))
        for name, each in rows.items()
        for delay, one in zip(every, each, strict=True)
    ]
    return (picture, Table("With other laws", ("law", "delay [ms]", *HEADS), tuple(table)), _vegas(runs))


def _vegas(runs: ExperimentRuns) -> Table:
    rows = []
    for case in ("Reno, Reno", "Reno, Vegas", "Vegas, Vegas"):
        point = runs["vegas"].at(case=case)
        of = (cells.util(point), cells.s1(point), cells.s2(point))
        rows.append((entry(case), *(entry(one.to_json()) for one in of)))
    heads = ("both on 1 Gbit/s, 50 ms", "TCP's share of the link [%]", "first five [Mbit/s]", "last five [Mbit/s]")
    return Table("Vegas beside Reno", heads, tuple(rows))


@FIGURES(
    "The threshold of Z",
    "Case 7 with other thresholds",
    paper="Round-trip times rise if Z is above 3.09, which independent samples pass in one test of a thousand.",
    experiments=("table1", "table2", "z-threshold"),
)
def thresholds(runs: ExperimentRuns) -> Made:
    """Draw the index and the throughput of S1 against the threshold."""
    own = {leading(point.labels["z"]): point for point in runs["z-threshold"].points} | {
        PAPERS: threshold(runs, PAPERS)
    }
    z = np.array(sorted(own))
    ends = np.array([z[0], z[-1]])
    made = []
    for of, axis in (("fair", INDEX), ("s1", Axis("throughput of S1", "Mbit/s"))):
        gentle, plain = _line([OF[of](own[x]) for x in z]), _line([measured(runs, of, 4, AT)] * 2)
        made.append(
            Figure(
                f"z-{of}",
                f"Case 7 at {AT} ms: {axis.label}",
                f"{gentle[0][0]:.3g} with a threshold of {z[0]:g}, {gentle[0][-1]:.3g} with {z[-1]:g}; "
                f"HighSpeed TCP has {plain[0][0]:.3g}.",
                Axis("threshold of Z", scale="log"),
                axis,
                (
                    Series("gentle HighSpeed TCP", z, *gentle, kind="both"),
                    Series("HighSpeed TCP (case 4)", ends, *plain, colour="vermilion", dashed=True),
                ),
                link="z",
                height=280,
                note=f"Lines and band: 95 %. The threshold of the paper is {PAPERS}." if of == "fair" else "",
            )
        )
    return tuple(made)


def _line(each: Sequence[MeasuredQuantity]) -> tuple[Floats, Floats, Floats]:
    """Return the means, and both ends of their intervals."""
    mean = np.array([one.mean for one in each])
    half = np.array([one.ci95 or 0.0 for one in each])
    return mean, mean - half, mean + half


@FIGURES(
    "Unequal delays",
    "The tables' comparisons with unequal round-trip times",
    paper="Its round-trip times are homogeneous. What it finds of laws and routers there is looked at here with the "
    "flows of each group between 50 and 200 ms.",
    experiments=("table1", "table2", "table5", "table6", "unequal-delays"),
)
def unequal_delays(runs: ExperimentRuns) -> Made:
    """Draw utilization and index with equal and with unequal round-trip times."""
    labels = [str(label) for label in runs["unequal-delays"].labels("case")]
    cases = [int(leading(label)) for label in labels]
    names = tuple(
        f"case {case}\n{label.partition(' ')[2].replace(', ', chr(10))}"
        for case, label in zip(cases, labels, strict=True)
    )
    made = []
    for of, name, axis in (("util", "utilization", Axis("TCP's share of the link", "%")), ("fair", "index", INDEX)):
        every = {"unequal": [unequal(runs, of, case) for case in cases]}
        every |= {f"{delay} ms": [measured(runs, of, case, delay) for case in cases] for delay in DELAYS}
        series = tuple(_points(kind, i, len(every), each) for i, (kind, each) in enumerate(every.items()))
        means = [one.mean for one in every["unequal"]]
        made.append(
            Figure(
                f"unequal-{name}",
                f"Unequal round-trip times: {name}",
                f"Between {min(means):.3g} and {max(means):.3g} with unequal round-trip times.",
                Axis("", scale="names", low=-0.5, high=len(cases) - 0.5, names=names),
                axis,
                series,
                tuple(Mark(None, "", "x", "shade", i - 0.5, i + 0.5) for i in range(1, len(cases), 2)),
                link="unequal",
                height=330,
            )
        )
    return tuple(made)


def _points(name: str, which: int, of: int, each: Sequence[MeasuredQuantity]) -> Series:
    """Make a series of points side by side at the places 0, 1, 2 and so on."""
    x = np.arange(len(each), dtype=np.float64) + 0.18 * (which - (of - 1) / 2)
    return Series(name, x, *_line(each), colour=colour(which), kind="points")
