"""Intervals, stopping rules, percentiles and monotone regression, compared with SciPy and their definitions."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import stdtrit

from elephan.errors import InputError
from elephan.stats import (
    bootstrap_quantile,
    ecdf,
    estimate,
    estimates,
    histogram_quantile,
    is_precise,
    isotonic,
    replications_needed,
    sample_until,
    t_quantile,
    weighted_quantile,
)
from elephan.stats.interval import T_QUANTILES

values = st.floats(-1e6, 1e6)


def test_the_half_width_is_that_of_the_t_test() -> None:
    x = [0.91, 0.93, 0.92, 0.95, 0.90]
    interval = scipy.stats.ttest_1samp(x, 0.0).confidence_interval(0.95)
    mean, ci95 = estimate(x)
    assert ci95 is not None
    assert mean - ci95 == pytest.approx(interval.low)
    assert mean + ci95 == pytest.approx(interval.high)


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_many_estimates_at_once_have_the_digits_of_each_alone(replications: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.lognormal(0.0, 9.0, (12, replications))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    means, halves = estimates(rows)
    alone = [(e.mean, np.nan if e.ci95 is None else e.ci95) for e in map(estimate, rows)]
    np.testing.assert_array_equal(np.column_stack([means, halves]), alone)


def test_one_value_has_no_interval_and_no_value_no_mean() -> None:
    assert estimate([2.0]) == (2.0, None)
    assert estimate([np.nan]).to_json() == {"mean": None, "ci95": None}
    assert estimate([1.0, np.nan, 3.0]).mean == 2.0


def test_quantiles_are_students() -> None:
    assert t_quantile(1) == pytest.approx(12.7062, abs=1e-4)
    assert t_quantile(4, 0.99) == pytest.approx(4.6041, abs=1e-4)
    # Those that are written down are SciPy's, to the last bit.
    assert list(T_QUANTILES) == [float(stdtrit(dof, 0.975)) for dof in range(1, len(T_QUANTILES) + 1)]
    beyond = len(T_QUANTILES) + 1
    assert t_quantile(beyond - 1) > t_quantile(beyond) == float(stdtrit(beyond, 0.975))


def pooled(y: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pooling of adjacent violators, implemented a second time, as an oracle."""
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(y.tolist(), weights.tolist(), strict=True):
        mean, mass, size = value, weight, 1
        while blocks and blocks[-1][0] >= mean:
            before, its_mass, its_size = blocks.pop()
            mean = (before * its_mass + mean * mass) / (its_mass + mass)
            mass, size = mass + its_mass, size + its_size
        blocks.append((mean, mass, size))
    return np.repeat([b[0] for b in blocks], [b[2] for b in blocks])


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.1, 10)), min_size=1, max_size=30))
def test_the_fit_pools_adjacent_violators(rows: list[tuple[float, float]]) -> None:
    y, weights = np.array(rows).T
    np.testing.assert_allclose(isotonic(y, weights), pooled(y, weights), rtol=0, atol=1e-12)
    np.testing.assert_allclose(isotonic(y, weights, increasing=False), -pooled(-y, weights), rtol=0, atol=1e-12)


@given(st.lists(st.tuples(values, st.floats(0.1, 10)), min_size=1, max_size=30), values)
def test_where_a_fit_first_reaches_a_level_the_value_does_too(rows: list[tuple[float, float]], level: float) -> None:
    y, weights = np.array(rows).T
    reached = np.flatnonzero(isotonic(y, weights) >= level)
    if reached.size:
        # Pooling rounds: the mean of a block may exceed its first value by some units in the last place.
        assert y[reached[0]] >= level - 1e-9 * max(1.0, abs(level))


def test_t_intervals_of_five_normal_values_cover_as_often_as_they_say() -> None:
    rows = np.random.default_rng(1).normal(7, 2, (4000, 5))
    found = [estimate(row) for row in rows]
    covered = np.mean([abs(f.mean - 7) <= (f.ci95 or 0) for f in found])
    # Three binomial standard errors of 4000 tries.
    assert covered == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 4000))


def stop_at(relative: float, first: int, step: int) -> tuple[float, float]:
    """Return the coverage of normal means (10 +- 1) and the mean number of values over 800 sequential samples."""
    rng = np.random.default_rng(2)
    covered, sizes = [], []
    for _ in range(800):
        rows, met = sample_until(
            lambda numbers: rng.normal(10, 1, (len(numbers), 1)), relative=relative, first=first, step=step, most=500
        )
        found = estimate(rows[:, 0])
        assert met
        assert is_precise(found, relative=relative)
        covered.append(abs(found.mean - 10) <= (found.ci95 or 0))
        sizes.append(len(rows))
    return float(np.mean(covered)), float(np.mean(sizes))


def test_stopping_at_a_precision_takes_what_chow_and_robbins_say_and_covers_almost_as_often() -> None:
    covered, size = stop_at(0.025, first=5, step=5)
    # (1.96 x 10 % / 2.5 %)^2 = 61 values in the end; t instead of the normal adds 2, whole batches 2.5 on average.
    assert size == pytest.approx(65.5, rel=0.05)
    # At most the 2 % that the module's head admits below 95 %, then three binomial standard errors of 800 tries.
    assert 0.93 - 0.027 < covered < 0.95 + 0.023


def test_looking_after_every_replication_from_two_on_stops_too_early() -> None:
    # 11 values on average, where two of them may agree by chance: the interval misses twice as often as it says.
    assert stop_at(0.06, first=2, step=1)[0] < 0.93 - 0.027


def test_every_metric_must_be_precise_and_the_most_is_the_most() -> None:
    rng = np.random.default_rng(3)
    asked: list[range] = []

    def measure(numbers: range) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        asked.append(numbers)
        return rng.normal([10, 10], [0.1, 10], (len(numbers), 2))

    rows, met = sample_until(measure, relative=0.01, first=4, step=3, most=12)
    assert (rows.shape, met) == ((12, 2), False)
    assert asked == [range(4), range(4, 7), range(7, 10), range(10, 12)]
    assert sample_until(measure, relative=[0.1, np.inf], first=5)[1]
    assert sample_until(lambda numbers: np.full((len(numbers), 1), np.nan), relative=0.01)[1]
    assert not sample_until(lambda numbers: np.ones((len(numbers), 1)), relative=0.01, most=1)[1]


def test_replications_needed_are_the_fewest_that_reach_the_half_width() -> None:
    found = estimate([9.0, 10.0, 11.0, 10.5, 9.5])
    needed = replications_needed(found, 5, 0.2)
    spread = np.std([9.0, 10.0, 11.0, 10.5, 9.5], ddof=1)
    assert t_quantile(needed - 1) * spread / np.sqrt(needed) <= 0.2
    assert t_quantile(needed - 2) * spread / np.sqrt(needed - 1) > 0.2
    with pytest.raises(InputError, match="replications: must be at least 2"):
        replications_needed(estimate([1.0]), 1, 0.1)
    with pytest.raises(InputError, match="half_width: must be above 0"):
        replications_needed(found, 5, 0.0)


def test_the_bootstrap_of_a_median_is_where_the_binomial_puts_it() -> None:
    x = np.sort(np.random.default_rng(4).exponential(1.0, 99))
    found = bootstrap_quantile(x, 0.5, resamples=20_000)
    # A resample's median is at most the k-th value if 50 or more of 99 draws are: binomial with share k / 99.
    below = scipy.stats.binom.sf(49, 99, np.arange(1, 100) / 99)
    low, high = (int(np.searchsorted(below, p)) for p in (0.025, 0.975))
    # 20,000 resamples know these shares to 0.1 %, and one place is worth 1 % or more there.
    assert x[low - 1] <= found.low <= x[low + 1]
    assert x[high - 1] <= found.high <= x[high + 1]
    assert found.value == np.median(x)


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.5, 0.9])
def test_bootstrap_intervals_cover_the_percentiles_of_an_exponential(q: float) -> None:
    rows = np.random.default_rng(5).exponential(1.0, (200, 200))
    found = [bootstrap_quantile(row, q, resamples=200) for row in rows]
    covered = np.mean([f.low <= -np.log(1 - q) <= f.high for f in found])
    # 200 resamples cut the tails at 2.5 +- 1.1 %, which costs 1 % of coverage, the discreteness of 200 values as much;
    # then three binomial standard errors of 200 tries.
    assert 0.95 - 0.02 - 0.046 < covered < 0.95 + 0.046


def test_the_bootstrap_repeats_itself_and_draws_replications_whole() -> None:
    rng = np.random.default_rng(6)
    # 20 replications of 50 values that differ only between replications: 20 values, not 1000.
    levels = rng.normal(0, 1, 20)
    whole = bootstrap_quantile([np.full(50, level) for level in levels], 0.5)
    assert whole == bootstrap_quantile([np.full(50, level) for level in levels], 0.5)
    apart = bootstrap_quantile(np.repeat(levels, 50), 0.5)
    assert whole.high - whole.low > 2 * (apart.high - apart.low)
    with pytest.raises(InputError, match="two values or more"):
        bootstrap_quantile([1.0], 0.5)


@given(st.lists(st.tuples(values, st.integers(0, 5)), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_weights_are_repetitions(rows: list[tuple[float, int]], q: float) -> None:
    x, weights = zip(*rows, strict=True)
    repeated = np.repeat(x, weights)
    found = weighted_quantile(x, weights, q)
    if repeated.size == 0:
        assert np.isnan(found)
    # If q meets a step exactly, rounding may choose either of its ends.
    elif abs(q * repeated.size - round(q * repeated.size)) > 1e-6:
        assert found == np.quantile(repeated, q, method="inverted_cdf")


def test_quantiles_of_a_histogram_lie_in_the_bin_of_the_truth() -> None:
    x = np.random.default_rng(7).exponential(1.0, 10_000)
    counts, edges = np.histogram(x, bins=np.concatenate([[0.0], 2.0 ** np.arange(-6, 5)]))
    q = np.array([0.01, 0.25, 0.5, 0.9, 0.99, 0.999])
    found, truth = histogram_quantile(counts, edges, q), np.quantile(x, q)
    np.testing.assert_array_equal(np.searchsorted(edges, found), np.searchsorted(edges, truth))
    even = histogram_quantile([10, 0, 30], [0.0, 1.0, 2.0, 3.0], [0.0, 0.125, 0.5, 1.0])
    np.testing.assert_allclose(even, [0.0, 0.5, 2 + 1 / 3, 3.0])
    assert np.isnan(histogram_quantile([0, 0], [0, 1, 2], 0.5))


def test_the_empirical_distribution_counts_what_is_not_above() -> None:
    x = np.random.default_rng(8).integers(0, 20, 200)
    reached, share = ecdf(x)
    assert reached.tolist() == sorted(set(x.tolist()))
    np.testing.assert_allclose(share, [(x <= value).mean() for value in reached], rtol=0, atol=1e-12)
    assert [column.tolist() for column in ecdf([])] == [[], []]
