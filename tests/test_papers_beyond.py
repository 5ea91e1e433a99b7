"""Cases that papers name and do not simulate: fixed points, regimes and fairness, on made-up curves and packets."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from elephan.theory import hstcp
from elephan_evidence.papers.elastic_regime_fq import regimes_measures as regimes
from elephan_evidence.papers.hstcp_buffer_model import fixed_point_measures as fixed
from elephan_evidence.papers.measured import MeasuredQuantity
from elephan_evidence.papers.nr_hstcp import fairness_measures as fairness
from elephan_evidence.papers.runs import ExperimentPoints, ExperimentRuns

FEW = (
    fixed.LinkSetting("1g", 10, 1, None),
    fixed.LinkSetting("1g", 10, 125, None),
    fixed.LinkSetting("2g5", 1, 62, 0.1),
)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three settings, without cached results of other tests' laws."""
    monkeypatch.setattr(fixed, "settings", lambda: FEW)
    fixed.offered.cache_clear()
    yield
    fixed.offered.cache_clear()


@pytest.mark.usefixtures("few")
def test_flows_that_heed_loss_have_one_fixed_point() -> None:
    assert fixed.fewest_fixed_points(ExperimentRuns()) == fixed.most_fixed_points(ExperimentRuns()) == 1
    assert fixed.least_fall(ExperimentRuns()) > 0


@pytest.mark.usefixtures("few")
def test_flows_that_send_more_the_more_they_lose_break_every_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    # More than any link has as soon as anything is lost: what is offered rises and never meets the load.
    monkeypatch.setattr(hstcp, "throughput", lambda p, rtt: 1e9 * (1 + p) + 0 * rtt)
    assert fixed.least_fall(ExperimentRuns()) < 0
    assert fixed.fewest_fixed_points(ExperimentRuns()) == 0


def test_substitution_draws_nearer_with_one_packet_and_not_with_two() -> None:
    assert abs(fixed.slope("1g", 1)) < 1 < abs(fixed.slope("1g", 2))
    assert fixed.largest_contracting(ExperimentRuns()) == 1


def test_a_cut_is_the_first_sample_of_a_fall() -> None:
    assert fairness.cut_at(np.array([100.0, 101.0, 71.0, 60.0, 72.0, 73.0, 60.0])).tolist() == [2, 6]
    assert fairness.cut_at(np.array([100.0, 99.0, 98.0])).size == 0


def windows(*cuts: tuple[str, list[float]]) -> Any:
    """A point whose flows have sawteeth that fall at some times."""
    time = np.round(np.arange(0, 20, fairness.STEP_S), 3)
    columns: dict[str, list[Any]] = {"time_s": [], "name": [], "cwnd_segments": [], "replication": []}
    for name, falls in cuts:
        fallen = (time >= np.array(falls)[:, np.newaxis]).sum(axis=0)
        columns["time_s"] += time.tolist()
        columns["name"] += [name] * time.size
        columns["cwnd_segments"] += (1000 * 0.7**fallen).tolist()
        columns["replication"] += [0] * time.size
    arrays = {name: np.array(column) for name, column in columns.items()}
    return SimpleNamespace(samples=lambda _kind: arrays, document={"run": {"warmup_s": 2.0}})


def test_cuts_are_common_if_they_come_within_a_round_trip() -> None:
    both = windows(("short", [5.0, 9.0]), ("long", [5.2, 9.0]))
    assert fairness.together(both).mean == 1.0
    half = windows(("short", [5.0, 9.0]), ("long", [5.0, 14.0]))
    assert fairness.together(half).mean == 0.5
    # Cuts before the end of the warm-up do not count.
    none = windows(("short", [1.0, 5.0]), ("long", [1.0, 9.0]))
    assert fairness.together(none).mean == 0.0


def test_half_is_as_far_from_alike_as_twice() -> None:
    assert fairness.farthest([MeasuredQuantity(1.6), MeasuredQuantity(0.5)]).mean == 0.5
    assert fairness.farthest([MeasuredQuantity(0.7), MeasuredQuantity(3.0)]).mean == 3.0


def flows_of(short: float, long: float, **labels: str) -> Any:
    got = {"short": short, "long": long}
    return SimpleNamespace(labels=labels, flows=lambda _column, group: np.array([[got[group]]]))


def test_the_flow_of_larger_segments_is_the_one_on_top() -> None:
    smaller = flows_of(100.0, 50.0, packet="576 B", buffer="750 kB")
    larger = flows_of(100.0, 50.0, packet="9000 B", buffer="750 kB")
    assert fairness.larger_over_smaller(smaller).mean == 2.0
    assert fairness.larger_over_smaller(larger).mean == 0.5


def test_a_law_that_is_as_biased_is_not_less_biased() -> None:
    points = [
        flows_of(short, 100.0, case="drop-tail", law=law, rtt="150 ms")
        for law, short in (("highspeed", 800.0), ("nr-hstcp", 110.0), ("bic", 800.0))
    ]
    runs = ExperimentRuns({"laws": ExperimentPoints("laws", tuple(points))})
    assert fairness.less_biased(runs, law="nr-hstcp", than="highspeed").mean > 0  # type: ignore[union-attr]
    assert fairness.less_biased(runs, law="bic", than="highspeed").mean == 0  # type: ignore[union-attr]


def test_lost_background_counts_within_bursts_only() -> None:
    # A burst of the flow from 0 to 3 ms and one from 100 ms on; background in between.
    flow = [0.0, 0.001, 0.002, 0.003, 0.1, 0.101, 0.102]
    background = [0.0015, 0.05, 0.06, 0.1015]
    time = np.array(flow + background)
    order = np.argsort(time)
    packets = {
        "replication": np.zeros(time.size, dtype=int),
        "time_s": time[order],
        "flow": np.array([0] * len(flow) + [1] * len(background))[order],
        "dropped": np.isin(time[order], [0.0015, 0.1015]),
    }
    [(lost, share)] = regimes.within_bursts(SimpleNamespace(packets=packets))  # type: ignore[arg-type]
    assert lost.tolist() == [True, True]
    assert share == 0.5


def test_exact_loss_counts_the_packet_in_service() -> None:
    # M/M/1/K with K = 1 waiting and one in service at half a load: 1/7.
    assert regimes.exact_loss(25.0, 1) == pytest.approx(1 / 7)
