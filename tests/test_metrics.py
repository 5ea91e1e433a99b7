"""Metrics in closed form: fair shares of networks worked by hand, histograms, synchronization, times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elephan.citations import CITATIONS
from elephan.metrics import (
    METRICS,
    bin_lowers,
    bin_middles,
    cards,
    convergence_time,
    distribution,
    jain,
    jain_maxmin,
    loss_synchronization,
    maxmin_shares,
    mean_backlog,
    percentile,
    percentiles,
    ratio,
    recovery_times,
    response_time_cdf,
    rtt_ratio,
    slowdown,
    throughput_by_rtt,
    utilization_series,
)


@given(st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=50))
def test_jains_index_lies_between_one_over_n_and_one(x: list[float]) -> None:
    assert 1 / len(x) - 1e-9 <= jain(x) <= 1 + 1e-9
    assert jain(x) == pytest.approx(jain([10 * value for value in x]))


def test_nobody_got_anything() -> None:
    assert np.isnan(jain([0.0, 0.0]))
    assert ratio(0, 0) == 0.0


def test_shares_of_the_parking_lot() -> None:
    shares = maxmin_shares([10.0, 10.0], [[0, 1], [0], [1]], [1, 1, 4], [np.inf] * 3)
    np.testing.assert_allclose(shares, [2.0, 8.0, 2.0])
    assert jain_maxmin([2.0, 8.0, 2.0, 2.0, 2.0, 2.0], shares[[0, 1, 2, 2, 2, 2]]) == pytest.approx(1.0)


def test_slow_access_leaves_more_to_the_others() -> None:
    np.testing.assert_allclose(maxmin_shares([10.0], [[0], [0]], [1, 1], [1.0, np.inf]), [1.0, 9.0])


@given(
    st.lists(st.floats(1, 100), min_size=3, max_size=3),
    st.lists(
        st.tuples(st.sets(st.integers(0, 2), min_size=1), st.integers(1, 5), st.floats(0.1, 200)),
        min_size=1,
        max_size=6,
    ),
)
def test_no_link_is_overfull_and_every_flow_is_held_back_by_something(
    rates: list[float], groups: list[tuple[set[int], int, float]]
) -> None:
    paths = [sorted(links) for links, _, _ in groups]
    counts, caps = [n for _, n, _ in groups], [cap for _, _, cap in groups]
    shares = maxmin_shares(rates, paths, counts, caps)
    load = [sum(n * s for p, n, s in zip(paths, counts, shares, strict=True) if i in p) for i in range(3)]
    for i in range(3):
        assert load[i] <= rates[i] * (1 + 1e-9)
    for path, share, cap in zip(paths, shares, caps, strict=True):
        assert share >= cap * (1 - 1e-9) or any(load[i] >= rates[i] * (1 - 1e-9) for i in path)


def test_shares_of_networks_worked_by_hand() -> None:
    # Three hops of 9, 6 and 12: the long flow and two of the narrow hop get 2 each; hop 1 leaves 7 to one, hop 3 leaves
    # 10 to five.
    shares = maxmin_shares([9.0, 6.0, 12.0], [[0, 1, 2], [0], [1], [2]], [1, 1, 2, 5], [np.inf] * 4)
    np.testing.assert_allclose(shares, [2.0, 7.0, 2.0, 2.0])
    # A triangle: the link of 8 fills first, at 4 for both of its flows; the link of 10 leaves 6 to the third.
    shares = maxmin_shares([10.0, 20.0, 8.0], [[0, 1], [0, 2], [1, 2]], [1, 1, 1], [np.inf] * 3)
    np.testing.assert_allclose(shares, [6.0, 4.0, 4.0])
    # The fifth paper's two hops of 1000: one flow over both, ten and five beside it; the second hop has more left.
    shares = maxmin_shares([1000.0, 1000.0], [[0, 1], [0], [1]], [1, 9, 4], [np.inf] * 3)
    np.testing.assert_allclose(shares, [100.0, 100.0, 225.0])
    # A source that offers 30 of 100 leaves 70 to two others.
    np.testing.assert_allclose(maxmin_shares([100.0], [[0], [0]], [1, 2], [30.0, np.inf]), [30.0, 35.0])


@given(
    st.lists(st.floats(1, 100), min_size=4, max_size=4),
    st.lists(
        st.tuples(st.sets(st.integers(0, 3), min_size=1), st.integers(1, 4), st.floats(0.1, 200)),
        min_size=1,
        max_size=7,
    ),
)
def test_no_flow_can_get_more_without_a_smaller_or_equal_one_getting_less(
    rates: list[float], groups: list[tuple[set[int], int, float]]
) -> None:
    # The bottleneck criterion of Bertsekas and Gallager 1992, 6.5.2: a full link on the path where no flow gets more.
    paths = [sorted(links) for links, _, _ in groups]
    counts, caps = [n for _, n, _ in groups], [cap for _, _, cap in groups]
    shares = maxmin_shares(rates, paths, counts, caps)
    on = [[g for g, path in enumerate(paths) if i in path] for i in range(4)]
    full = [sum(counts[g] * shares[g] for g in on[i]) >= rates[i] * (1 - 1e-9) for i in range(4)]
    for g, path in enumerate(paths):
        largest_there = [full[i] and all(shares[g] >= shares[other] * (1 - 1e-9) for other in on[i]) for i in path]
        assert shares[g] >= caps[g] * (1 - 1e-9) or any(largest_there)


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=200), st.floats(0.01, 1.0))
def test_percentiles_of_a_histogram_are_those_of_its_values_to_a_64th(values: list[int], share: float) -> None:
    lowers = bin_lowers(1920)
    counts = np.bincount(np.searchsorted(lowers, values, side="right") - 1)
    exact = float(np.sort(values)[max(int(np.ceil(share * len(values) - 1e-9)), 1) - 1])
    assert percentile(counts, share) == pytest.approx(exact, rel=1 / 64)
    # Half of a bin of 1/32, of every value.
    assert mean_backlog(counts) == pytest.approx(np.mean(values), rel=1 / 64)
    value, cumulated = distribution(counts)
    assert cumulated[-1] == pytest.approx(1.0)
    assert (np.diff(value) > 0).all()
    assert value[-1] >= max(values)


@given(st.lists(st.lists(st.integers(0, 3), max_size=90), min_size=1, max_size=9), st.floats(0.01, 1.0))
def test_percentiles_of_many_histograms_are_those_of_each_alone(histograms: list[list[int]], share: float) -> None:
    found = percentiles([np.array(counts, dtype=np.uint64) for counts in histograms], [0.5, share])
    for counts, row in zip(histograms, found, strict=True):
        values = np.sort(np.repeat(bin_middles(len(counts)), counts))
        ranks = [max(1, int(np.ceil(q * values.size - 1e-9))) for q in (0.5, share)]
        np.testing.assert_array_equal(row, values[np.array(ranks) - 1] if values.size else [np.nan, np.nan])


def test_a_histogram_of_nothing_has_no_percentile() -> None:
    assert np.isnan(percentile([], 0.5))
    assert np.isnan(mean_backlog([]))
    assert distribution([])[0].size == 0


def test_losses_that_hit_everybody_are_synchronized() -> None:
    assert loss_synchronization(hit=40, events=4, flows=10) == 1.0
    assert np.isnan(loss_synchronization(hit=0, events=0, flows=10))


def test_bins_of_a_utilization_are_made_of_whole_samples() -> None:
    time = np.arange(11) * 0.1
    # Half used, then fully: 1 Mbit/s carries 12500 B in 0.1 s.
    begun = np.concatenate([np.arange(6) * 6250, 5 * 6250 + np.arange(1, 6) * 12500])
    begin, used = utilization_series(time, begun, 1e6)
    np.testing.assert_allclose(used, [0.5] * 5 + [1.0] * 5)
    begin, used = utilization_series(time, begun, 1e6, bin_s=0.25)
    np.testing.assert_allclose(begin, [0.0, 0.3, 0.6])
    np.testing.assert_allclose(used, [0.5, (0.5 + 0.5 + 1.0) / 3, 1.0])


def test_flows_at_the_border_of_a_third_count_in_it() -> None:
    assert rtt_ratio([8.0, 6.0, 4.0, 2.0], [0.1, 0.1, 0.2, 0.2]) == pytest.approx(7 / 3)
    assert np.isnan(rtt_ratio([1.0, 2.0], [0.1, 0.1]))
    # Throughput as 1/RTT: a ratio of RTTs.
    rtt = np.array([0.01, 0.05, 0.1])
    assert rtt_ratio(1 / rtt, rtt) == pytest.approx(10.0)


def test_bins_of_rtt_without_flows_have_no_throughput() -> None:
    np.testing.assert_array_equal(throughput_by_rtt([4.0], [0.3], [0.0, 0.1, 0.2, 0.3]), [np.nan, np.nan, 4.0])


def test_fairness_that_does_not_last_is_no_convergence() -> None:
    time = np.arange(6.0)
    rates = np.array([[10, 5, 9, 6, 5, 5], [0, 5, 1, 4, 5, 5]])
    assert convergence_time(time, rates, 0.0, delta=0.2) == 3.0
    assert convergence_time(time, rates, 0.0, delta=0.1) == 4.0
    # Counted from the start of the second flow, not before.
    assert convergence_time(time, rates, 2.5, delta=0.2) == 0.5
    assert convergence_time(time, rates, 3.0, delta=0.2) == 0.0
    assert np.isnan(convergence_time(time[:3], rates[:, :3], 0.0))


def test_the_recovery_of_reno_takes_half_its_window_of_round_trips() -> None:
    # 100 to 50 and back, one segment in each 0.1 s: 50 round trips after the cut.
    saw = np.concatenate([[100.0], np.arange(50.0, 101.0)])
    time = np.concatenate([[0.0], 0.1 * np.arange(1, 52)])
    threshold = np.concatenate([[200.0], np.full(51, 50.0)])
    np.testing.assert_allclose(recovery_times(time, saw, threshold), [5.0])


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 3)), min_size=2, max_size=60))
def test_recovery_times_are_those_that_looking_ahead_row_by_row_finds(rows: list[tuple[int, int]]) -> None:
    cwnd, threshold = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    expected = []
    for i in range(1, cwnd.size):
        if cwnd[i] < cwnd[i - 1] and threshold[i] != threshold[i - 1]:
            later = [j for j in range(i, cwnd.size) if cwnd[j] >= cwnd[i - 1]]
            expected.append(float(later[0] - i) if later else np.nan)
    np.testing.assert_array_equal(recovery_times(np.arange(cwnd.size), cwnd, threshold), expected)


def test_unfinished_transfers_are_longer_than_all_others() -> None:
    time, share = response_time_cdf([np.nan, 2.0, 1.0, np.nan])
    assert (time.tolist(), share.tolist()) == ([1.0, 2.0], [0.25, 0.5])


def test_a_transfer_alone_has_no_slowdown() -> None:
    assert slowdown([0.18], [0.18])[0] == pytest.approx(1.0)


def test_every_metric_has_a_card_with_unit_definition_and_source() -> None:
    for card, metric in zip(cards(), METRICS.values(), strict=True):
        assert metric.source in CITATIONS
        assert card["definition"].endswith(".")
        assert card["title"][0].isupper()
        assert callable(metric.function)
        assert set(metric.meanings) <= set(metric.function.__annotations__)
