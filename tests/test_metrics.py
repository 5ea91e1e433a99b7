"""Fairness and fair shares in closed form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elephan.metrics import jain, jain_maxmin, maxmin_shares, ratio


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
