"""The third paper as data: formulas against the list of claims, measures on made-up curves, settings of its sweeps."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from elephan.pictures.figure import Figure
from elephan.pictures.table import Table
from elephan.store import Store
from elephan_evidence.papers import Paper
from elephan_evidence.papers.experiments import run
from elephan_evidence.papers.nonhomogeneous_buffers import measures
from elephan_evidence.papers.nonhomogeneous_buffers.figures import FIGURES
from elephan_evidence.papers.nonhomogeneous_buffers.patterns import left, patterns
from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns
from elephan_evidence.papers.verdicts import judge

PAPER = Paper.read("nonhomogeneous-buffers")


class Fake(SimpleNamespace):
    """A point with columns of its own."""

    def link(self, column: str) -> Any:
        return np.asarray(self.columns[column], dtype=float)

    def flows(self, column: str) -> Any:
        return np.asarray(self.columns[column], dtype=float)

    def samples(self, _: str) -> dict[str, Any]:
        return {name: np.asarray(values) for name, values in self.columns.items()}

    @property
    def document(self) -> dict[str, Any]:
        return {"run": {"warmup_s": 0.0}}


def curve(name: str, idle: dict[int, list[float]], **labels: object) -> list[Fake]:
    """Points whose links are idle for these shares, by buffer and replication."""
    return [
        Fake(labels={"buffer": f"{b} packets", **labels}, columns={"utilization": [1 - one for one in of]}, name=name)
        for b, of in idle.items()
    ]


def runs_of(name: str, points: list[Fake]) -> ExperimentRuns:
    return ExperimentRuns({name: ExperimentPoints(name, tuple(points))})  # type: ignore[arg-type]


def test_formulas_give_every_number_without_a_run() -> None:
    without = [claim for claim in PAPER.claims.values() if not claim.experiments]
    assert len(without) == 19
    for claim in without:
        assert judge(PAPER, claim, ExperimentRuns(), ()).verdict == "pass", claim.id


def verdict(claim: str, runs: ExperimentRuns) -> str:
    return judge(PAPER, PAPER.claims[claim], runs, ()).verdict


def test_queues_that_patterns_leave_tell_the_bound_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = measures._bound
    # A tenth more than the bound, and the bound by the mean of the round-trip times: some pattern leaves less.
    for wrong in (lambda b, r: 1.1 * bound(b, r), lambda b, r: bound(b, [sum(r) / len(r)])):
        monkeypatch.setattr(measures, "_bound", wrong)
        assert verdict("nonhom.qmin.suff", ExperimentRuns()) == "fail"
    # No pattern breaks a tenth less, but none attains it either.
    monkeypatch.setattr(measures, "_bound", lambda b, r: 0.9 * bound(b, r))
    assert verdict("nonhom.qmin.suff", ExperimentRuns()) == "pass"
    assert verdict("nonhom.qmin.tight", ExperimentRuns()) == "fail"


def test_a_queue_that_a_pattern_empties_above_the_product_breaks_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "_bound", lambda *_: 0.0)
    monkeypatch.setattr(measures, "patterns", lambda _: [([0.1], 500.0, 0.0), ([0.1], 500.0, 50.0)])
    assert verdict("nonhom.qmin.suff", ExperimentRuns()) == "fail"


def test_below_the_product_patterns_empty_the_queue() -> None:
    found = [queue for _, _, queue in patterns((0.3, 0.9))]
    # Not all do: the pattern must be bad enough.
    assert 50 < sum(queue == 0 for queue in found) < 250
    assert left([0.1], 500, [1.0], [True]) == pytest.approx(50)
    assert left([0.1, 0.02], 500, [0.5, 0.5], [False, False]) == pytest.approx(500)


def occupied(low: tuple[float, ...]) -> ExperimentRuns:
    """Backlogs below a tenth of the buffer for these shares of the time."""
    many = 100
    made = [
        Fake(
            labels={},
            columns={
                "time_s": np.tile(np.arange(1, many + 1), 2),
                "replication": np.repeat([0, 1], many),
                "backlog_packets": np.tile(np.where(np.arange(many) < share * many, 5, 50), 2),
            },
        )
        for share in low
    ]
    return runs_of("occupancy", made)


def test_a_tail_that_stays_is_not_lighter() -> None:
    assert verdict("nonhom.tail", occupied((0.3, 0.2, 0.1))) == "pass"
    assert verdict("nonhom.tail", occupied((0.3, 0.2, 0.2))) == "fail"
    assert verdict("nonhom.tail", occupied((0.2, 0.3, 0.1))) == "fail"


def test_one_run_that_idles_above_its_product_breaks_the_rule_of_the_mean() -> None:
    def runs(idle: list[float], rtts: list[float]) -> ExperimentRuns:
        [point] = curve("long-lived", {420: idle}, flows=2, case="drawn")
        point.columns["base_rtt_s"] = [[rtt, rtt] for rtt in rtts]
        return runs_of("long-lived", [point])

    assert verdict("nonhom.mean", runs([0.0, 0.0005], [0.1, 0.1])) == "pass"
    assert verdict("nonhom.mean", runs([0.0, 0.002], [0.1, 0.1])) == "fail"
    # The product of a draw with a mean of 200 ms is larger than the buffer: nothing is said of it.
    assert verdict("nonhom.mean", runs([0.0, 0.2], [0.1, 0.2])) == "pass"


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


def test_a_draw_that_no_buffer_suits_is_told_and_does_not_vanish() -> None:
    idle = {10: [0.05, 0.05, 0.05], 100: [0.009, 0.005, 0.02]}
    points = runs_of("variants", curve("variants", idle, flows=5, case="plain Reno"))
    found = measures.MEASURES("typical_variant case='plain Reno'", points)
    assert found.mean == pytest.approx(95, abs=0.5)
    assert found.note == "from 77, 1 of 3 draws need more than the largest buffer"


def test_users_are_compared_only_while_the_link_idles() -> None:
    few = curve("sessions", {10: [0.1], 40: [0.02], 400: [0.0]}, users=200, case="sack")
    many = curve("sessions", {10: [0.05], 40: [0.03], 400: [0.0]}, users=500, case="sack")
    found = measures.MEASURES("idle_order", runs_of("sessions", few + many))
    assert (round(found.mean, 9), found.note) == (0.01, "40 packets")
    steps = measures.MEASURES("idle_step", runs_of("sessions", few + many))
    assert steps.mean == pytest.approx(-0.02)


@pytest.mark.slow
def test_every_figure_is_drawn_from_its_experiments(tmp_path: Path) -> None:
    wanted = {name for exhibit in FIGURES for name in exhibit.experiments}
    tiny = [
        replace(each, replications=1, changes={"duration": "3 s", "warmup": "1 s", "flows[0].start": "0 s"})
        for name, each in PAPER.experiments.items()
        if name in wanted
    ]
    with Store(tmp_path) as store:
        runs = ExperimentRuns({ran.experiment.name: ran.points for ran in run(tiny, store, quick=True)}, quick=True)
    assert [exhibit.place for exhibit in FIGURES] == [f"Figure {i}" for i in range(1, 6)]
    for exhibit in FIGURES:
        for picture in exhibit.make(runs.only(exhibit.experiments)):
            assert isinstance(picture, Figure | Table)
            if isinstance(picture, Figure):
                assert all(series.x.size == series.y.size for series in picture.series), picture.name
