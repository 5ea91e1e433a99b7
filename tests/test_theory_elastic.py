"""Elastic traffic: the numbers printed in the papers, and queues with otherwise known results."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elephan.errors import InputError
from elephan.theory import elastic, laws
from elephan.theory.fixed_points import blocking, occupancy


def test_processor_sharing_keeps_few_flows_in_progress() -> None:
    chances = elastic.in_progress(0.5, np.arange(200))
    assert chances.sum() == pytest.approx(1)
    assert chances[5:].sum() == pytest.approx(0.03125)
    assert chances @ np.arange(200) == pytest.approx(float(elastic.mean_in_progress(0.5)))


def test_mean_response_is_littles_law() -> None:
    arrivals_per_s = 0.7 * 10e6 / (8 * 50e3)
    assert float(elastic.mean_response(50e3, 10e6, 0.7)) * arrivals_per_s == pytest.approx(
        float(elastic.mean_in_progress(0.7))
    )


def test_a_link_of_625_packets_leaves_half_its_product() -> None:
    # Trap 7 of the digest of AugeRoberts2006: the residual's product is 312.
    full = elastic.mixed(50e6, 1000, 0.1, background=0.0)
    half = elastic.mixed(50e6, 1000, 0.1, background=0.5, offered=0.25)
    assert full.bottlenecked_packets == 625
    assert half.bottlenecked_packets == 312.5
    assert half.load == pytest.approx(0.5)
    assert float(elastic.more_in_progress(half.load, half.flows)) <= 0.05  # "N > 4 is again rare"
    assert half.flows == 4


def test_regimes_of_a_mixed_link() -> None:
    def regime(offered: float) -> str:
        return elastic.mixed(1e9, 1500, 0.1, background=0.5, offered=offered).regime

    assert [regime(offered) for offered in (0.0, 0.2, 0.5)] == ["transparent", "elastic", "overload"]


def test_equal_packets_in_a_full_link_of_two_places() -> None:
    # M/D/1/2 by hand: pi_0 = e^-rho, so the loss is 1 - 1/(e^-rho + rho).
    for rho in (0.3, 1.0, 1.7):
        assert float(elastic.loss(rho, 2, "M/D/1/K")) == pytest.approx(1 - 1 / (np.exp(-rho) + rho), rel=1e-12)


def test_one_place_loses_as_erlang_says() -> None:
    for model in ("M/M/1/K", "M/D/1/K"):
        assert float(elastic.loss(0.8, 1, model)) == pytest.approx(0.8 / 1.8)


@pytest.mark.parametrize("places", [1, 2, 100, 4096])
@pytest.mark.parametrize("load", [1.5, 20.0, 1000.0])
def test_far_above_full_load_what_cannot_be_sent_is_lost(load: float, places: int) -> None:
    # 1 - 1/(pi_0 + load), pi_0 the share of departures that leave the system empty: all with one place, exp(-load)
    # with two; with a hundred it is below rounding.
    empty = {1: 1.0, 2: math.exp(-load)}.get(places, 0.0)
    assert float(elastic.loss(load, places, "M/D/1/K")) == pytest.approx(1 - 1 / (empty + load), rel=1e-12)


def test_users_who_hardly_ever_send_still_have_a_throughput() -> None:
    # A session of 1e-15 packets every 1000 s: users do not wait for each other, so each sends just that.
    found = elastic.engset(20, 1000.0, 1e-15, 4000.0)
    assert found.throughput == pytest.approx(20 * 1e-15 / 1000, rel=1e-9)


def test_equal_packets_against_a_simulated_queue() -> None:
    rng, rho, places, arrivals = np.random.default_rng(1), 0.9, 5, 200_000
    gaps = rng.exponential(1 / rho, arrivals)
    work, lost = 0.0, 0
    for gap in gaps.tolist():  # work in units of a service; places taken = ceil(work)
        work = max(0.0, work - gap)
        if work > places - 1:
            lost += 1
        else:
            work += 1
    # Losses come in clumps: the index of dispersion is below 3 here, hence 4 standard errors of sqrt(3) binomial ones.
    error = 4 * np.sqrt(3 * lost) / arrivals
    assert float(elastic.loss(rho, places, "M/D/1/K")) == pytest.approx(lost / arrivals, abs=error)


@given(st.floats(0.05, 0.99), st.integers(1, 60))
def test_the_bound_is_a_bound_and_equal_packets_lose_least(rho: float, places: int) -> None:
    equal, exponential, bound = (float(elastic.loss(rho, places, m)) for m in ("M/D/1/K", "M/M/1/K", "bound"))
    assert 0 < equal * (1 - 1e-9) <= exponential <= bound


def test_small_and_large_losses_meet_without_a_step() -> None:
    # Near 1e-6, where the form of the M/D/1/K loss changes, the loss is log-linear in the buffer.
    losses = np.log(elastic.loss(0.6, np.arange(5, 40), "M/D/1/K"))
    slopes = np.diff(losses)
    # The decay root: e^(rho (z - 1)) = z, loss ratio 1/z per place.
    from scipy.optimize import brentq  # noqa: PLC0415  # SciPy only here

    root = brentq(lambda z: 0.6 * (z - 1) - np.log(z), 1.2, 20)
    np.testing.assert_allclose(slopes[5:], -np.log(root), rtol=1e-4)  # direct form: cancellation leaves 1e-10/1e-6


@pytest.mark.parametrize("arrivals", ["bound", "M/M/1/K", "M/D/1/K"])
def test_the_buffer_for_a_loss_is_the_smallest(arrivals: elastic.Arrivals) -> None:
    packets = elastic.buffer_for_loss(1e-4, 0.85, arrivals)
    assert float(elastic.loss(0.85, packets, arrivals)) <= 1e-4 < float(elastic.loss(0.85, packets - 1, arrivals))


def test_engsets_balance() -> None:
    for users in (200, 500):
        model = elastic.engset(users, 2.0, 100.5, 4000.0)
        # The link never idles.
        assert model.active == pytest.approx(float(elastic.active_by_balance(users, 2.0, 100.5, 4000)), abs=0.005)
        assert model.throughput == pytest.approx(4000)
        assert model.distribution.sum() == pytest.approx(1)


def test_few_users_leave_the_link_idle() -> None:
    # One user: S/mu seconds of service per cycle.
    model = elastic.engset(1, 2.0, 100.5, 4000.0)
    service = 100.5 / 4000
    assert model.idle == pytest.approx(2 / (2 + service))
    few = elastic.engset(30, 2.0, 100.5, 4000.0)
    assert few.active == pytest.approx(float(elastic.active_by_balance(30, 2.0, 100.5, few.throughput)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: elastic.in_progress(1.0, 3),
        lambda: elastic.loss(0.5, 0),
        lambda: elastic.loss(1.0, 5),
        lambda: elastic.load_for_loss(1.0, 5),
        lambda: elastic.buffer_for_loss(1e-12, 0.999, "M/M/1/K", limit=64),
        lambda: elastic.engset(0, 1.0, 1.0, 1.0),
    ],
)
def test_what_means_nothing_is_refused(call: object) -> None:
    with pytest.raises(InputError, match=r"must|no buffer"):
        call()  # type: ignore[operator]


def test_the_load_of_the_elastic_regime_is_what_its_flows_send_at_its_loss() -> None:
    law, rate, rtt, buffer = laws.reno(), 6250.0, 0.1, 50
    used = elastic.utilization(law, rate, rtt, 0.5, 4, buffer)
    # Loss and carried load of the M/M/1/K queue at that load, by its own formulas.
    p = float(blocking(used, buffer + 1))
    delay = float(occupancy(used, buffer + 1)) / rate
    sent = 0.5 + 4 * math.sqrt(1.5 / p) / (rate * (rtt + delay))
    assert sent * (1 - p) == pytest.approx(used, rel=0.01)  # at the carried load instead of the offered one, 0.1 % more


@settings(max_examples=10)  # each takes five roots
@given(st.integers(1, 20), st.integers(5, 300), st.floats(0, 0.9))
def test_the_elastic_regime_fills_more_with_flows_buffers_and_regular_packets(
    flows: int, buffer: int, background: float
) -> None:
    def used(flows: int, buffer: int, arrivals: elastic.Arrivals = "M/M/1/K") -> float:
        return elastic.utilization(laws.reno(), 6250.0, 0.1, background, flows, buffer, arrivals)

    # The background loses packets, too.
    alone = background * (1 - float(blocking(max(background, 1e-9), buffer + 1)))
    assert alone < used(flows, buffer) <= 1
    assert used(flows, buffer) <= used(flows + 1, buffer) + 1e-9
    assert used(flows, buffer) <= used(flows, buffer + 1) + 1e-9
    assert used(flows, buffer, "bound") <= used(flows, buffer) + 1e-9 <= used(flows, buffer, "M/D/1/K") + 2e-9


def test_the_elastic_regime_needs_flows_and_a_buffer() -> None:
    for wrong in ((0.0, 0.1, 0.5, 1, 20), (6250.0, 0.1, 0.5, 0, 20), (6250.0, 0.1, 0.5, 1, 0)):
        with pytest.raises(InputError, match="must be above 0"):
            elastic.utilization(laws.reno(), *wrong)
    with pytest.raises(InputError, match="load"):
        elastic.utilization(laws.reno(), 6250.0, 0.1, 1.0, 1, 20)
