"""The fourth paper as data: formulas against the list of claims, measures on made-up windows and packets."""

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
from elephan_evidence.papers.elastic_regime_fq import measures
from elephan_evidence.papers.elastic_regime_fq import packets as arrivals
from elephan_evidence.papers.elastic_regime_fq.figures import FIGURES
from elephan_evidence.papers.experiments import run
from elephan_evidence.papers.measured import MeasuredQuantity, number
from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns
from elephan_evidence.papers.verdicts import judge, see

PAPER = Paper.read("elastic-regime-fq")


class Fake(SimpleNamespace):
    """A point with columns of its own."""

    def link(self, column: str) -> Any:
        return np.asarray(self.columns[column], dtype=float)

    def flows(self, column: str, group: str) -> Any:
        return np.asarray(self.columns[f"{group}.{column}"], dtype=float)


def holds(claim: str, runs: ExperimentRuns) -> bool:
    """Whether the value of a claim's measure is accepted."""
    asked = PAPER.claims[claim]
    return asked.accept.holds(number(PAPER.measures(asked.measure, runs)))


def runs_of(name: str, *points: Fake) -> ExperimentRuns:
    return ExperimentRuns({name: ExperimentPoints(name, points)})  # type: ignore[arg-type]


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
    verdicts = {claim.id: judge(PAPER, claim, ExperimentRuns(), ()).verdict for claim in without}
    assert len(verdicts) == 7
    assert [name for name, verdict in verdicts.items() if verdict != "pass"] == ["elastic.loss.20"]
    [misprint] = [each for each in PAPER.deviations if "elastic.loss.20" in each.claims]
    assert all(see(PAPER, shown, ExperimentRuns()).holds for shown in misprint.shown)


def test_a_cut_is_a_window_that_falls_by_a_quarter() -> None:
    window = np.array([100.0, 101.0, 52.0, 26.0, 27.0, 28.0, 29.0, 24.0])
    # Falls within two samples are one cut; a fall by a sixth is not a cut.
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


SERVICE = measures.PACKET / measures.RATE


def arrived(*streams: tuple[Any, list[float]]) -> dict[str, Any]:
    """Return the packets of flows in the order of their arrival, with the times of each flow and of losses."""
    each = [packets(np.sort(times).tolist(), lost, flow) for flow, (times, lost) in enumerate(streams)]
    order = np.argsort(np.concatenate([one["time_s"] for one in each]), kind="stable")
    return {name: np.concatenate([one[name] for one in each])[order] for name in each[0]}


def test_bursts_have_gaps_between_them_a_rate_and_a_place_of_losses() -> None:
    # Ten packets each 100 ms, every other one of another flow, at the rate of the link; the last one of all is lost.
    burst = 2 * np.arange(10) * SERVICE
    times = np.concatenate([burst, 0.1 + burst])
    point = Fake(packets=arrived((times, [times[-1]]), (times + SERVICE, [])))
    [seen] = arrivals.of_flow(point, SERVICE)  # type: ignore[arg-type]
    assert (seen.rate, seen.own, seen.place, seen.middle) == pytest.approx((1.0, 0.5, 1.0, 0.5))
    # Two bursts of 18 packet times in 100 ms, 18 packet times and the other flow's last packet.
    assert seen.idle == pytest.approx(1 - 36 * SERVICE / (0.1 + 19 * SERVICE))


def test_bursts_are_found_only_where_packets_are_not_as_poisson_packets_and_losses_are_late() -> None:
    random = np.random.default_rng(1)
    background: list[tuple[Any, list[float]]] = [(random.uniform(0, 10, 600), []) for _ in range(50)]
    trips = np.arange(0, 10, 0.1)[:, None]
    # Thirty packets a round trip, every other packet time.
    striped = (trips + 2 * np.arange(30) * SERVICE).ravel()
    spread = random.uniform(0, 10, 3000)

    def point(times: Any, lost: Any) -> ExperimentRuns:
        return runs_of("bursts", Fake(labels={"queue": "drop-tail"}, packets=arrived((times, lost), *background)))

    assert holds("elastic.f4", point(striped, striped[29::300].tolist()))
    assert not holds("elastic.f4", point(striped, striped[15::300].tolist()))  # in the middle of bursts
    assert not holds("elastic.f4", point(striped, []))  # nowhere
    assert not holds("elastic.f4", point(spread, spread[::300].tolist()))


def test_flows_wait_while_their_packets_do() -> None:
    point = Fake(packets=waiting_flows(2))
    assert arrivals.waiting(point) == [2.0]  # type: ignore[arg-type]


def waiting_flows(flows: int) -> dict[str, Any]:
    """Return a number of flows whose packets wait all the time, and one whose packets do not."""
    each = [packets(np.linspace(0, 1, 3).tolist(), flow=flow, waited=2.0) for flow in range(flows)]
    each.append(packets(np.linspace(0, 1, 3).tolist(), flow=flows))
    order = np.argsort(np.concatenate([one["time_s"] for one in each]), kind="stable")
    return {name: np.concatenate([one[name] for one in each])[order] for name in each[0]}


def test_hundreds_of_waiting_flows_are_not_thousands() -> None:
    def runs(flows: int, other: int) -> ExperimentRuns:
        labels = {"queue": "fq", "rate": "2 Gbit/s", "background": 1600}
        few = Fake(labels=labels | {"rate": "50 Mbit/s"}, packets=waiting_flows(30))
        many = Fake(labels=labels, packets=waiting_flows(flows))
        fifo = Fake(labels=labels | {"queue": "drop-tail"}, packets=waiting_flows(other))
        return runs_of("backlogged", few, many, fifo)

    assert holds("elastic.concl.fqn", runs(300, 1200))
    assert not holds("elastic.concl.fqn", runs(1200, 300))


def one_flow(**shares: dict[int, float]) -> ExperimentRuns:
    """Shares of the residual by case and buffer, two replications, drop-tail."""
    points = [
        Fake(
            labels={"buffer": f"{b} packets", "case": case, "queue": "drop-tail"},
            columns={"flows.goodput_bps": [[measures.RESIDUAL * share]] * 2},
            document={"links": [{"buffer_packets": b}]},
        )
        for case, by_buffer in shares.items()
        for b, share in by_buffer.items()
    ]
    return runs_of("one-flow", *points)


def test_a_needed_buffer_lies_between_the_simulated_ones() -> None:
    runs = one_flow(newreno={20: 0.4, 50: 0.7, 100: 0.8, 625: 1.0})
    assert measures.MEASURES("needed target=0.75", runs).samples == pytest.approx([np.sqrt(50 * 100)] * 2)
    assert measures.MEASURES("needed target=0.75 buffers=[20, 100, 625]", runs).samples.tolist() == [100, 100]
    assert np.isnan(measures.MEASURES("needed target=0.99", one_flow(newreno={20: 0.4, 625: 0.9})).mean)
    assert not holds("elastic.concl.100", runs)
    assert holds("elastic.concl.100", one_flow(newreno={20: 0.4, 100: 0.7, 200: 0.8}))


def test_highspeed_needs_less_only_if_it_does_for_every_target() -> None:
    reno = {20: 0.4, 100: 0.75, 625: 1.0}
    assert holds("elastic.concl.hstcp", one_flow(newreno=reno, highspeed={20: 0.4, 50: 0.75, 100: 0.9, 625: 1.0}))
    assert not holds("elastic.concl.hstcp", one_flow(newreno=reno, highspeed={20: 0.4, 50: 0.75, 625: 0.95}))
    assert not holds("elastic.concl.hstcp", one_flow(newreno=reno, highspeed=reno))


@pytest.mark.parametrize(
    ("fair", "fifo", "met"),
    [(1.02, 3.5, True), (1.0, 3.5, False), (0.9, 3.5, False), (1.25, 1.3, False), (1.4, 4.0, False)],
)
def test_highspeed_is_slightly_ahead_and_nearer_than_before(fair: float, fifo: float, *, met: bool) -> None:
    points = [
        Fake(
            labels={"queue": queue},
            columns={"highspeed.goodput_bps": [[1e7 * ratio]] * 2, "newreno.goodput_bps": [[1e7]] * 2},
        )
        for queue, ratio in (("fq", fair), ("drop-tail", fifo))
    ]
    assert holds("elastic.f7.hr", runs_of("pair-625", *points)) == met


@pytest.mark.parametrize(("wait", "met"), [(0.5e-3, True), (20e-3, False)])
def test_a_delay_is_far_below_only_if_it_is_a_tenth(wait: float, *, met: bool) -> None:
    points = [
        Fake(labels={"queue": queue}, packets=packets([0.0, 1.0], flow=2, waited=waited))
        for queue, waited in (("fq", wait), ("drop-tail", 60e-3))
    ]
    assert holds("elastic.f7.bgdelay", runs_of("pair-625", *points)) == met


def test_a_load_consists_of_hundreds_of_thousands_of_flows_at_its_rate_alone() -> None:
    assert holds("elastic.oc192", ExperimentRuns())
    accept = PAPER.claims["elastic.oc192"].accept
    for rate in (2.5e9, 40e9):
        found = PAPER.measures(f"unheld_flows rate={rate} load=0.5 per_flow=[20e3, 50e3]", ExperimentRuns())
        assert not accept.holds(number(found))


@pytest.mark.parametrize(
    ("common", "paced", "small", "met"),
    [(0.2, 0.05, 0.04, True), (-0.1, 0.05, 0.04, False), (0.2, 0.0, 0.04, False), (0.2, 0.05, 0.01, False)],
)
def test_fair_queueing_helps_small_buffers_only_if_it_does_in_every_part(
    monkeypatch: pytest.MonkeyPatch, common: float, paced: float, small: float, *, met: bool
) -> None:
    monkeypatch.setattr(measures, "desynchronised", lambda _, **__: MeasuredQuantity(common))
    monkeypatch.setattr(measures, "paced", lambda _: MeasuredQuantity(paced))
    monkeypatch.setattr(measures, "fair_gain", lambda _, buffer: MeasuredQuantity(small if buffer == 20 else 0.01))
    assert holds("elastic.f7.desync", ExperimentRuns()) == met


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
    "packet-pair": {"flows[1].start": "0 s"},
    # It has durations of its own.
    "overload": {"links[0].rate": "2 Mbit/s"},
}


@pytest.mark.slow
def test_every_figure_is_drawn_from_its_experiments(tmp_path: Path) -> None:
    wanted = {name for exhibit in FIGURES for name in exhibit.experiments}
    tiny = [
        replace(each, replications=1, changes={"duration": "3 s", "warmup": "1 s", **TINY.get(name, {})}, only={})
        for name, each in PAPER.experiments.items()
        if name in wanted
    ]
    with Store(tmp_path) as store:
        runs = ExperimentRuns({ran.experiment.name: ran.points for ran in run(tiny, store, quick=True)}, quick=True)
    before, after = ["Figures 1 and 2", "Section 2"], ["Section 4", "Packet-pair"]
    assert [exhibit.place for exhibit in FIGURES] == [*before, *(f"Figure {i}" for i in range(3, 8)), *after]
    for exhibit in FIGURES:
        for picture in exhibit.make(runs.only(exhibit.experiments)):
            assert isinstance(picture, Figure | Table)
            if isinstance(picture, Figure):
                assert all(series.x.size == series.y.size for series in picture.series), picture.name
