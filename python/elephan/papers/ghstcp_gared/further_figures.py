"""What is drawn beside the tables: Scalable TCP, XCP and Vegas, other thresholds of Z, unequal round-trip times.

*Source*: Zhang2005 for what is compared; it has no figure of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.papers.exhibits import Figures
from elephan.papers.ghstcp_gared import cells
from elephan.papers.ghstcp_gared.cells import DELAYS, OF, measured
from elephan.papers.ghstcp_gared.further_measures import AT, LAWS, other_law, unequal
from elephan.papers.runs import leading
from elephan.pictures.figure import Axis, Figure, Mark, Series, colour
from elephan.pictures.table import Table
from elephan.pictures.table import cell as entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elephan.papers.exhibits import Made
    from elephan.papers.measured import Measured
    from elephan.papers.runs import Runs

FIGURES = Figures()

INDEX = Axis("max-min index")
HEADS = ("TCP's share of the link [%]", "max-min index", "S1 [Mbit/s]", "S2 [Mbit/s]")


@FIGURES(
    "Other laws",
    "Scalable TCP, XCP and Vegas",
    paper="The paper names them, and says that Scalable TCP is less fair than HighSpeed TCP. Its sentences on XCP and "
    "Vegas are not in what we have of it; what is judged here is what each is known for.",
    experiments=("table1", "table2", "other-laws", "vegas"),
)
def other_laws(runs: Runs) -> Made:
    """Draw the index of case 4 with each law, and tell the throughputs."""
    delays = [delay for delay in DELAYS if runs["other-laws"].where(delay=delay).points]
    rows = {
        "HighSpeed TCP (case 4)": [{of: measured(runs, of, 4, delay) for of in OF} for delay in delays],
        "gentle HighSpeed TCP (case 7)": [{of: measured(runs, of, 7, delay) for of in OF} for delay in delays],
        **{law: [{of: OF[of](other_law(runs, law, delay)) for of in OF} for delay in delays] for law in LAWS},
    }
    series = tuple(
        _points(name, i, len(rows), [one["fair"] for one in each]) for i, (name, each) in enumerate(rows.items())
    )
    least = {name: min(one["fair"].mean for one in each) for name, each in rows.items()}
    picture = Figure(
        "other-laws",
        "Case 4 of Table 1 with other laws",
        f"The least index: {', '.join(f'{name} {x:.2f}' for name, x in least.items())}.",
        Axis("delay one way [ms]", scale="names", names=tuple(str(delay) for delay in delays)),
        INDEX,
        series,
        note="XCP: all ten flows, at a router that speaks it. The others share a drop-tail queue with the Reno of S1.",
    )
    table = [
        (entry(name), entry(delay), *(entry(one[of].to_json()) for of in ("util", "fair", "s1", "s2")))
        for name, each in rows.items()
        for delay, one in zip(delays, each, strict=True)
    ]
    return (picture, Table("With other laws", ("law", "delay [ms]", *HEADS), tuple(table)), _vegas(runs))


def _vegas(runs: Runs) -> Table:
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
def thresholds(runs: Runs) -> Made:
    """Draw the index and the throughput of S1 against the threshold."""
    points = runs["z-threshold"].points
    z = np.array([leading(point.labels["z"]) for point in points])
    made = []
    for of, name, axis in (("fair", "index", INDEX), ("s1", "s1", Axis("throughput of a flow of S1", "Mbit/s"))):
        every = [OF[of](point) for point in points]
        mean, half = (np.array(part) for part in zip(*((m.mean, m.ci95 or 0.0) for m in every), strict=True))
        plain = measured(runs, of, 4, AT)
        made.append(
            Figure(
                f"z-{name}",
                f"{axis.label[0].upper()}{axis.label[1:]}",
                f"{mean[0]:.3g} at {z[0]:g}, {mean[-1]:.3g} at {z[-1]:g}; HighSpeed TCP has {plain.mean:.3g}.",
                Axis("threshold of Z", scale="log"),
                axis,
                (Series("gentle HighSpeed TCP", z, mean, mean - half, mean + half, kind="both"),),
                (Mark(3.09, "3.09, the paper's", "x", "wanted"), Mark(plain.mean, "HighSpeed TCP (case 4)", "y")),
                link="z",
                height=280,
            )
        )
    return tuple(made)


@FIGURES(
    "Unequal delays",
    "The tables' comparisons with unequal round-trip times",
    paper="Its round-trip times are homogeneous. What it finds of laws and routers there is looked at here with the "
    "flows of each group between 50 and 200 ms.",
    experiments=("table1", "table2", "table5", "table6", "unequal-delays"),
)
def unequal_delays(runs: Runs) -> Made:
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


def _points(name: str, which: int, of: int, each: Sequence[Measured]) -> Series:
    """Points side by side at the places 0, 1, 2 and so on."""
    x = np.arange(len(each), dtype=np.float64) + 0.18 * (which - (of - 1) / 2)
    mean, half = (np.array(part) for part in zip(*((one.mean, one.ci95 or 0.0) for one in each), strict=True))
    return Series(name, x, mean, mean - half, mean + half, colour=colour(which), kind="points")
