"""Intervals and monotone regression, against SciPy and against what they promise."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from elephan.stats import estimate, isotonic, t_quantile

values = st.floats(-1e6, 1e6)


def test_the_half_width_is_that_of_the_t_test() -> None:
    x = [0.91, 0.93, 0.92, 0.95, 0.90]
    interval = scipy.stats.ttest_1samp(x, 0.0).confidence_interval(0.95)
    mean, ci95 = estimate(x)
    assert ci95 is not None
    assert mean - ci95 == pytest.approx(interval.low)
    assert mean + ci95 == pytest.approx(interval.high)


def test_one_value_has_no_interval_and_no_value_no_mean() -> None:
    assert estimate([2.0]) == (2.0, None)
    assert estimate([np.nan]).to_json() == {"mean": None, "ci95": None}
    assert estimate([1.0, np.nan, 3.0]).mean == 2.0


def test_quantiles_are_students() -> None:
    assert t_quantile(1) == pytest.approx(12.7062, abs=1e-4)
    assert t_quantile(4, 0.99) == pytest.approx(4.6041, abs=1e-4)


@given(st.lists(st.tuples(values, st.floats(0.1, 10)), min_size=1, max_size=30))
def test_the_fit_is_scipys(rows: list[tuple[float, float]]) -> None:
    y, weights = np.array(rows).T
    np.testing.assert_allclose(isotonic(y, weights), isotonic_regression(y, weights=weights).x, atol=1e-6)
    falling = isotonic_regression(y, weights=weights, increasing=False).x
    np.testing.assert_allclose(isotonic(y, weights, increasing=False), falling, atol=1e-6)


@given(st.lists(st.tuples(values, st.floats(0.1, 10)), min_size=1, max_size=30), values)
def test_where_a_fit_first_reaches_a_level_the_value_does_too(rows: list[tuple[float, float]], level: float) -> None:
    y, weights = np.array(rows).T
    reached = np.flatnonzero(isotonic(y, weights) >= level)
    if reached.size:
        # Pooling rounds: the mean of a block may exceed its first value by some units in the last place.
        assert y[reached[0]] >= level - 1e-9 * max(1.0, abs(level))
