"""The third paper as data: formulas against the list of claims, measures on made-up curves, settings of its sweeps."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from elephan.papers import Paper
from elephan.papers.experiments import run
from elephan.papers.judged import judge
from elephan.papers.nonhomogeneous_buffers import measures
from elephan.papers.nonhomogeneous_buffers.figures import FIGURES
from elephan.papers.runs import Points, Runs
from elephan.pictures.figure import Figure
from elephan.pictures.table import Table
from elephan.store import Store

PAPER = Paper.read("nonhomogeneous-buffers")


class Fake(SimpleNamespace):
    """A point with columns of its own."""

    def link(self, column: str) -> Any:
        return np.asarray(self.columns[column], dtype=float)


def curve(name: str, idle: dict[int, list[float]], **labels: object) -> list[Fake]:
    """Points whose links idle for so much, by buffer and replication."""
    return [
        Fake(labels={"buffer": f"{b} packets", **labels}, columns={"utilization": [1 - one for one in of]}, name=name)
        for b, of in idle.items()
    ]


def runs_of(name: str, points: list[Fake]) -> Runs:
    return Runs({name: Points(name, tuple(points))})  # type: ignore[arg-type]


def test_formulas_give_every_number_without_a_run() -> None:
    without = [claim for claim in PAPER.claims.values() if not claim.experiments]
    assert len(without) == 19
    for claim in without:
        assert judge(PAPER, claim, Runs(), ()).verdict == "pass", claim.id


def test_the_buffer_is_that_from_which_on_the_link_idles_no_longer() -> None:
    # Phase effects make the first curve rise before it falls: what counts is where it falls for good.
    idle = {10: [0.005, 0.2], 40: [0.03, 0.1], 160: [0.01, 0.02], 420: [0.0, 0.02]}
    points = runs_of("long-lived", curve("long-lived", idle, flows=5, case="quantiles"))
    found = measures.MEASURES("buffer_for flows=5 case=quantiles", points)
    first, second = found.samples
    assert first == pytest.approx(160.0)
    assert np.isnan(second), "420 packets are not enough, and no larger buffer was simulated"
    half = measures.MEASURES("buffer_for flows=5 case=quantiles idle=0.06", points)
    # Half of the way from 0.1 to 0.02, on the logarithmic scale of the buffers.
    assert half.samples == pytest.approx([10.0, 80.0])


def test_of_draws_the_median_is_told() -> None:
    idle = {10: [0.05] * 3, 100: [0.009, 0.005, 0.0]}
    points = runs_of("long-lived", curve("long-lived", idle, flows=5, case="drawn"))
    assert measures.MEASURES("buffer_for flows=5", points).note.startswith("median 77, from 63 to 95")


def test_users_are_compared_only_while_the_link_idles() -> None:
    few = curve("sessions", {10: [0.1], 40: [0.02], 400: [0.0]}, users=200, case="sack")
    many = curve("sessions", {10: [0.05], 40: [0.03], 400: [0.0]}, users=500, case="sack")
    found = measures.MEASURES("idle_order", runs_of("sessions", few + many))
    assert (round(found.mean, 9), found.note) == (0.01, "40 packets")
    steps = measures.MEASURES("idle_step", runs_of("sessions", few + many))
    assert steps.mean == pytest.approx(-0.02)


def test_every_figure_is_drawn_from_its_experiments(tmp_path: Path) -> None:
    wanted = {name for exhibit in FIGURES for name in exhibit.experiments}
    tiny = [
        replace(each, replications=1, changes={"duration": "3 s", "warmup": "1 s", "flows[0].start": "0 s"})
        for name, each in PAPER.experiments.items()
        if name in wanted
    ]
    with Store(tmp_path) as store:
        runs = Runs({ran.experiment.name: ran.points for ran in run(tiny, store, quick=True)}, quick=True)
    assert [exhibit.place for exhibit in FIGURES] == [f"Figure {i}" for i in range(2, 6)]
    for exhibit in FIGURES:
        for picture in exhibit.make(runs.only(exhibit.experiments)):
            assert isinstance(picture, Figure | Table)
            if isinstance(picture, Figure):
                assert all(series.x.size == series.y.size for series in picture.series), picture.name
