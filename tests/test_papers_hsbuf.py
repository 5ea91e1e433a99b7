"""The first paper as data: formulas against the list of claims, measures on made-up points, settings of its sweeps."""

import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from elephan.papers import Paper
from elephan.papers.experiments import run, sweep_of
from elephan.papers.hstcp_buffer_model.figures import FIGURES, ns2
from elephan.papers.hstcp_buffer_model.links import LINKS, SHARES, in_step, modelled
from elephan.papers.hstcp_buffer_model.measures import BELOW, MEASURES
from elephan.papers.judged import judge, see
from elephan.papers.runs import Points, Runs, leading
from elephan.pictures.figure import Figure
from elephan.pictures.table import Table
from elephan.store import Store

PAPER = Paper.read("hstcp-buffer-model")


class Fake(SimpleNamespace):
    """A point with columns of its own."""

    def link(self, column: str) -> NDArray[np.float64]:
        return np.asarray(self.columns[column], dtype=float)

    def flows(self, column: str) -> NDArray[np.float64]:
        return np.asarray(self.columns[column], dtype=float)

    @property
    def document(self) -> dict[str, Any]:
        return {"run": {"warmup_s": 1.0}}

    def samples(self, _: str) -> dict[str, NDArray[Any]]:
        return {name: np.asarray(values) for name, values in self.columns.items()}


def points(name: str, columns: dict[float, dict[str, Any]], **labels: str) -> Runs:
    """Runs of one experiment: by share what its points hold."""
    link = LINKS[labels.get("case") or name.split("-", 1)[1]]
    made = [
        Fake(labels={"buffer": f"{link.packets(share)} packets", **labels}, columns=of) for share, of in columns.items()
    ]
    return Runs({name: Points(name, tuple(made))})  # type: ignore[arg-type]


def used(name: str, curve: dict[float, float]) -> Runs:
    return points(name, {share: {"utilization": [u - 0.001, u + 0.001]} for share, u in curve.items()})


def test_formulas_give_every_derived_number() -> None:
    nothing = Runs()
    derived = [claim for claim in PAPER.claims.values() if claim.figure == "derived"]
    assert len(derived) == 48
    for claim in derived:
        assert judge(PAPER, claim, nothing, ()).verdict == "pass", claim.id


def test_the_misprint_is_shown_without_a_run() -> None:
    [misprint] = [each for each in PAPER.deviations if "hsbuf.dt2g.bdpfrac" in each.claims]
    assert all(see(PAPER, shown, Runs()).holds for shown in misprint.shown)
    assert judge(PAPER, PAPER.claims["hsbuf.dt2g.bdpfrac"], Runs(), ()).verdict == "fail"


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("queue", ["droptail", "ared"])
def test_buffers_of_a_sweep_are_the_shares_of_the_figures(queue: str, link: str) -> None:
    sweep = sweep_of(PAPER.experiments[f"{queue}-{link}"], quick=False)
    buffers = [leading(point.labels["links[0].buffer"]) for point in sweep.points()]
    assert buffers[-len(SHARES) :] == [LINKS[link].packets(share) for share in SHARES]
    base = tomllib.loads((PAPER.folder / f"link-{link}.toml").read_text(encoding="utf-8"))
    rate = float(base["links"][0]["rate"].split()[0]) * 1e9 / 8000
    delay = float(base["links"][0]["delay"].split()[0]) / 1e3
    # Shares are of what the link holds there and back, not of the flows' longer round trips.
    assert (rate, 2 * rate * delay) == (LINKS[link].rate, LINKS[link].full)


def test_shortened_runs_keep_what_claims_need() -> None:
    for experiment in PAPER.experiments.values():
        whole, short = sweep_of(experiment, quick=False), sweep_of(experiment, quick=True)
        assert 0 < len(short) <= len(whole)
    kept = {leading(p.labels["links[0].buffer"]) for p in sweep_of(PAPER.experiments["ared-2g5"], quick=True).points()}
    assert {LINKS["2g5"].packets(share) for share in (0.1, 0.2, 0.5, 1.0)} <= kept


def test_a_curve_with_a_knee_is_told_from_one_without() -> None:
    ask = "rises_to_saturation experiment='droptail-2g5' knee=[0.1, 0.2]"
    knee = {0.02: 0.1, 0.1: 0.5, 0.2: 0.9, 1.0: 0.99}
    assert MEASURES(ask, used("droptail-2g5", knee)) is True
    for wrong in ({0.1: 0.8}, {0.2: 0.75}, {0.02: 0.6}):
        assert MEASURES(ask, used("droptail-2g5", knee | wrong)) is False
    # Shortened runs have 0.03 more of each.
    short = replace(used("droptail-2g5", knee | {0.2: 0.86}), quick=True)
    assert MEASURES(ask, short) is True


def test_the_model_is_compared_where_it_is_farthest() -> None:
    model = {share: modelled("droptail", "1g", share).utilisation for share in (0.05, 0.1, 0.5)}
    runs = used("droptail-1g", model | {0.05: 0.2, 0.1: model[0.1] - 0.06})
    found = MEASURES("distance experiment='droptail-1g' least_share=0.1", runs)
    assert found.mean == pytest.approx(0.06, abs=1e-9)
    assert found.note == "1g at a share of 0.1"


def test_the_farthest_loss_is_so_in_ratio() -> None:
    lost = {0.1: 9e-1, 0.2: 4e-6, 0.5: 1.5e-5, 1.0: 1e-5}
    runs = points("ared-1g", {share: {"loss_ratio": [p, p]} for share, p in lost.items()})
    found = MEASURES("farthest_loss experiment='ared-1g' claimed=1e-5 above=0.1", runs)
    assert found.mean == 4e-6
    case = points("ared-bottom", {share: {"loss_ratio": [p]} for share, p in lost.items()}, case="1g")
    assert MEASURES("farthest_loss experiment='ared-bottom' case='1g' claimed=1e-5 above=0.2", case).mean == 1.5e-5


def test_what_it_mostly_is_does_not_depend_on_the_smallest_buffers() -> None:
    runs = points("droptail-1g", {s: {"loss_ratio": [1e-2 if s < 0.05 else 1e-4] * 2} for s in SHARES})
    assert MEASURES("usual_loss experiment='droptail-1g'", runs).samples.tolist() == [1e-4, 1e-4]


def test_time_near_reno_is_counted_after_the_warm_up() -> None:
    windows = {0.1: [10.0, 50.0, 60.0], 0.005: [99.0, 30.0, 60.0], 0.001: [99.0, 30.0, 20.0]}
    of = {
        share: {"time_s": [0.0, 1.0, 2.0] * 2, "replication": [0] * 3 + [1] * 3, "cwnd_segments": cwnd * 2}
        for share, cwnd in windows.items()
    }
    assert set(of) == set(BELOW)
    found = MEASURES("towards_reno experiment='droptail-1g'", points("droptail-1g", of))
    assert found.samples.tolist() == [0.5, 0.5]
    assert found.note == "below 38 segments: 0 % at 0.1, 50 % at 0.005, 1e+02 % at 0.001"


def test_two_flows_are_compared_within_a_replication() -> None:
    rates = {250: [[1e8, 4e8], [2e8, 6e8]], 10_000: [[4e8, 5e8], [3e8, 6e8]]}
    made = [Fake(labels={"buffer": f"{b} packets"}, columns={"goodput_bps": of}) for b, of in rates.items()]
    runs = Runs({"two-flows": Points("two-flows", tuple(made))})  # type: ignore[arg-type]
    assert MEASURES("fairer_with_more", runs).samples.tolist() == [4 - 1.25, 3 - 2]
    assert MEASURES("shorter_gains", runs).samples.tolist() == [100.0, 300.0]


def test_flows_in_step_need_a_tenth_for_ninety_percent() -> None:
    # The digest of the paper has 0.904 and 0.950 for equal round trips; 0.01 for unequal ones.
    tenth, fifth = in_step("1g", (0.1, 0.2))
    assert tenth == pytest.approx(0.904, abs=0.01)
    assert fifth == pytest.approx(0.950, abs=0.01)


def test_rows_of_ns2_have_a_point_of_ours_on_the_same_settings() -> None:
    there = {
        (point.labels["case"], leading(point.labels["links[0].buffer"]))
        for point in sweep_of(PAPER.experiments["as-ns2"], quick=False).points()
    }
    assert {(row["case"], float(row["buffer_packets"])) for row in ns2()} <= there
    for row in ns2():
        if row["link"]:
            assert LINKS[row["link"]].packets(float(row["share"])) == int(row["buffer_packets"])


def test_every_figure_is_drawn_from_its_experiments(tmp_path: Path) -> None:
    tiny = [
        replace(each, replications=1, changes={"duration": "1 s", "warmup": "0.5 s"})
        for each in PAPER.experiments.values()
        if not each.name.startswith("senders")
    ]
    with Store(tmp_path) as store:
        runs = Runs({ran.experiment.name: ran.points for ran in run(tiny, store, quick=True)}, quick=True)
    assert [exhibit.place for exhibit in FIGURES] == [*(f"Figure {i}" for i in range(3, 9)), "ns-2"]
    for exhibit in FIGURES:
        pictures = exhibit.make(runs.only(exhibit.experiments))
        for picture in pictures:
            assert isinstance(picture, Figure | Table)
            if isinstance(picture, Figure):
                assert all(np.isfinite(series.y).any() for series in picture.series), picture.name
