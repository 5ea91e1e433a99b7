"""The fourth paper as data: formulas against the list of claims, measures on made-up windows and packets."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from elephan.papers import Paper
from elephan.papers.elastic_regime_fq import measures
from elephan.papers.elastic_regime_fq.figures import FIGURES
from elephan.papers.experiments import run
from elephan.papers.judged import judge, see
from elephan.papers.runs import Points, Runs
from elephan.pictures.figure import Figure
from elephan.pictures.table import Table
from elephan.store import Store

PAPER = Paper.read("elastic-regime-fq")


class Fake(SimpleNamespace):
    """A point with columns of its own."""

    def link(self, column: str) -> Any:
        return np.asarray(self.columns[column], dtype=float)

    def flows(self, column: str, group: str) -> Any:
        return np.asarray(self.columns[f"{group}.{column}"], dtype=float)


def runs_of(name: str, *points: Fake) -> Runs:
    return Runs({name: Points(name, points)})  # type: ignore[arg-type]


def packets(times: list[float], lost: list[float] | None = None, flow: int = 0, waited: float = 0.0) -> dict[str, Any]:
    """Packets of one flow in one replication."""
    n = len(times)
    return {
        "replication": np.zeros(n, dtype=int),
        "time_s": np.array(times),
        "flow": np.full(n, flow),
        "waited_s": np.full(n, waited),
        "dropped": np.isin(times, lost or []),
    }


def test_formulas_give_the_papers_numbers_but_for_a_misprint() -> None:
    without = [claim for claim in PAPER.claims.values() if not claim.experiments]
    verdicts = {claim.id: judge(PAPER, claim, Runs(), ()).verdict for claim in without}
    assert len(verdicts) == 7
    assert [name for name, verdict in verdicts.items() if verdict != "pass"] == ["elastic.loss.20"]
    [misprint] = [each for each in PAPER.deviations if "elastic.loss.20" in each.claims]
    assert all(see(PAPER, shown, Runs()).holds for shown in misprint.shown)


def test_a_cut_is_a_window_that_falls_by_a_quarter() -> None:
    window = np.array([100.0, 101.0, 52.0, 26.0, 27.0, 28.0, 29.0, 24.0])
    # What falls again within two samples is the same cut; a sixth less is none.
    assert measures._cuts(window).tolist() == [1]
    assert measures._peaks_of(window).tolist() == [101.0]


def test_losses_are_common_if_they_come_within_a_sample() -> None:
    def cut(*at: int) -> Any:
        window = np.full(60, 10.0)
        for i in at:
            window[i + 1] = 5.0
        return window

    assert measures._common(np.array([cut(10, 30), cut(10, 50)])) == pytest.approx(1 / 3)
    assert measures._common(np.array([cut(10, 30), cut(11, 31)])) == 1.0
    assert measures._common(np.array([cut(10, 30), cut(20, 40)])) == 0.0
    assert np.isnan(measures._common(np.full((2, 60), 10.0)))


def test_the_rate_within_a_burst_and_the_place_of_a_loss_are_those_of_packets() -> None:
    # Ten packets at the link's rate each 100 ms; the last of the second burst is lost.
    burst = np.arange(10) * measures.PACKET / measures.RATE
    times = np.concatenate([burst, 0.1 + burst])
    point = Fake(packets=packets(times.tolist(), lost=[times[-1]]))
    # Ten in a span that has room for 12.5.
    assert measures.peaks(point) == [pytest.approx(0.8)]  # type: ignore[arg-type]
    assert measures.places(point) == [1.0]  # type: ignore[arg-type]


def test_flows_wait_while_their_packets_do() -> None:
    of = [
        packets(np.linspace(0, 1, 50).tolist(), flow=flow, waited=wait) for flow, wait in ((0, 1.0), (1, 1.0), (2, 0.0))
    ]
    both = {name: np.concatenate([one[name] for one in of]) for name in of[0]}
    order = np.argsort(both["time_s"], kind="stable")
    point = Fake(packets={name: column[order] for name, column in both.items()})
    assert measures._waiting(point) == [2.0]  # type: ignore[arg-type]


def test_a_needed_buffer_lies_between_the_simulated_ones() -> None:
    shares = {20: 0.4, 50: 0.7, 100: 0.8, 625: 1.0}
    points = [
        Fake(
            labels={"buffer": f"{b} packets", "case": "newreno", "queue": "drop-tail"},
            columns={"flows.goodput_bps": [[measures.RESIDUAL * share]] * 2},
            document={"links": [{"buffer_packets": b}]},
        )
        for b, share in shares.items()
    ]
    found = measures.MEASURES("needed target=0.75", runs_of("one-flow", *points))
    assert found.samples == pytest.approx([np.sqrt(50 * 100)] * 2)


def test_who_is_hit_by_a_new_flow_is_counted_by_flows() -> None:
    def point(queue: str, case: str, lost: int) -> Fake:
        columns = {
            "old.dropped": [[lost, 0, 0]],
            "old.loss_events": [[1, 1, 0]],
            "background.dropped": [[lost] * 10 + [0] * 40],
        }
        return Fake(labels={"queue": queue, "case": case}, columns=columns)

    points = [
        point(queue, case, lost) for case in ("newreno", "highspeed") for queue, lost in (("drop-tail", 3), ("fq", 0))
    ]
    found = measures.MEASURES("flows_hit", runs_of("new-flow", *points))
    assert found.mean == -11.0


TINY: dict[str, dict[str, Any]] = {
    "bursts": {"record.packets": [{"link": "bottleneck", "from": "1 s", "to": "3 s"}]},
    "pair-625": {"record.packets": [{"link": "bottleneck", "from": "1 s", "to": "3 s"}], "flows[1].start": "0 s"},
    "finite-pair": {"flows[1].start": "0 s"},
    "several-flows": {"flows[0].start": "0 s"},
    "finite-flows": {"flows[0].start": "0 s"},
}


def test_every_figure_is_drawn_from_its_experiments(tmp_path: Path) -> None:
    wanted = {name for exhibit in FIGURES for name in exhibit.experiments}
    tiny = [
        replace(each, replications=1, changes={"duration": "3 s", "warmup": "1 s", **TINY.get(name, {})}, only={})
        for name, each in PAPER.experiments.items()
        if name in wanted
    ]
    with Store(tmp_path) as store:
        runs = Runs({ran.experiment.name: ran.points for ran in run(tiny, store, quick=True)}, quick=True)
    assert [exhibit.place for exhibit in FIGURES] == [*(f"Figure {i}" for i in range(3, 8)), "Section 4"]
    for exhibit in FIGURES:
        for picture in exhibit.make(runs.only(exhibit.experiments)):
            assert isinstance(picture, Figure | Table)
            if isinstance(picture, Figure):
                assert all(series.x.size == series.y.size for series in picture.series), picture.name
