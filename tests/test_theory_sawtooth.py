"""The fluid sawtooth compared with closed forms for Reno, and its two methods with each other."""

import numpy as np
import pytest

from elephan.errors import InputError
from elephan.theory import Response, aimd, highspeed, reno, response
from elephan.theory.sawtooth import partial, recovery_time, synchronised


def reno_utilisation(buffer: np.ndarray) -> np.ndarray:
    """One Reno flow, buffer in bandwidth-delay products, by integrating w / RTT over its period."""
    return np.asarray(0.75 * (1 + buffer) ** 2 / (1 + buffer + buffer**2))


def test_one_reno_flow_has_the_utilisation_of_the_closed_form() -> None:
    buffer = np.linspace(0, 1, 11)
    found = synchronised(reno(), 4000, 400 * buffer, 0.1)
    # 4000 midpoints.
    assert found.utilisation == pytest.approx(reno_utilisation(buffer), rel=1e-6)
    assert found.utilisation[[0, -1]] == pytest.approx([0.75, 1.0], rel=1e-6)


def test_without_a_buffer_reno_has_its_period_and_its_loss_law() -> None:
    found = synchronised(reno(), 4000, 0, 0.1)
    # Half a window of round trips; then three eighths of its square a period.
    assert found.period == pytest.approx(200 * 0.1)
    assert 1 / found.events == pytest.approx(3 / 8 * 400**2)
    assert reno().loss(300) == pytest.approx(float(found.events))
    assert found.queue == 0
    assert found.dropped == found.events


def test_a_buffer_above_the_product_keeps_a_queue() -> None:
    # The queue falls to (B - C tau) / 2, Q_min of Andrew et al. 2005, and rises to B.
    found = synchronised(reno(), 4000, 1000, 0.1)
    # Time per window is proportional to the window: mean of w - 400 weighted by w, from 700 to 1400.
    mean = 2 / 3 * (1400**3 - 700**3) / (1400**2 - 700**2) - 400
    assert found.queue == pytest.approx(mean, rel=1e-6)
    assert found.utilisation == pytest.approx(1.0)


@pytest.mark.parametrize("flows", [1, 2, 4, 8])
def test_staggered_reno_flows_without_a_buffer_lose_one_part_in_three_n_plus_one(flows: int) -> None:
    # Windows w (1 + i/n) before an overflow, n w (1 + (1 + 1/n) / 2) in all; 3 n w / 2 on average.
    found = partial(reno(), 4000, 0, [0.1] * flows, 1)
    assert found.utilisation == pytest.approx(3 * flows / (3 * flows + 1), rel=1e-4)
    assert found.rates == pytest.approx(np.full(flows, found.rates[0]), rel=1e-3)


@pytest.mark.parametrize("law", [reno(), highspeed(), aimd(32, 0.125)])
def test_following_all_windows_agrees_with_the_integral(law: Response) -> None:
    followed = partial(law, 12_500, 300, [0.1] * 3, 3)
    integral = synchronised(law, 12_500, 300, 0.1, 3)
    # Forty steps of the midpoint rule a period: (1/40)^2 of what bends.
    for name in ("utilisation", "period", "queue", "rates", "events", "dropped"):
        assert getattr(followed, name) == pytest.approx(getattr(integral, name), rel=1e-3)


def test_ten_synchronised_highspeed_flows_have_the_published_utilisation() -> None:
    # hstcp-buffer-model, section 3.1: topologies A and B, equal RTTs. Three digits.
    a = synchronised(highspeed(), 125_000, 12_500 * np.array([0.01, 0.05, 0.1, 0.2, 0.5]), 0.12, 10)
    assert a.utilisation == pytest.approx([0.847, 0.873, 0.904, 0.950, 1.0], abs=1.1e-3)
    b = synchronised(highspeed(), 312_500, 6_250 * np.array([0.1, 0.2, 0.5, 1.0]), 0.09, 10)
    assert b.utilisation == pytest.approx([0.877, 0.894, 0.938, 0.984], abs=1.1e-3)


@pytest.mark.parametrize(("share", "half"), [(0.1, 0.978), (0.2, 0.999)])
def test_half_of_the_highspeed_flows_cut_is_nearly_enough(share: float, half: float) -> None:
    found = partial(highspeed(), 125_000, 12_500 * share, [0.12] * 10, 5, turns=4)
    # The same section. Which half is cut is not said there.
    assert found.utilisation == pytest.approx(half, abs=0.004)


def test_one_highspeed_flow_cut_at_a_time_is_enough_at_a_tenth() -> None:
    # The same section: 0.9998.
    assert partial(highspeed(), 125_000, 1250, [0.12] * 10, 1, turns=3).utilisation > 0.9995


def test_many_buffers_at_once_are_what_each_is_alone() -> None:
    rtts = [0.05, 0.1, 0.12]
    together = partial(highspeed(), 12_500, [10, 100, 3000], rtts, 1, turns=2)
    assert together.rates.shape == (3, 3)
    for i, buffer in enumerate((10, 100, 3000)):
        alone = partial(highspeed(), 12_500, buffer, rtts, 1, turns=2)
        # Overflows are met to 1e-7, and the delay by as many steps of Newton as the slowest row needs.
        for name in ("utilisation", "period", "queue", "rates", "events", "dropped"):
            assert getattr(together, name)[i] == pytest.approx(getattr(alone, name), rel=1e-5)


def test_synchronised_reno_flows_share_by_the_square_of_their_rtt_without_a_queue() -> None:
    # Lakshman and Madhow 1997: equal numbers of cuts in equal time, 1/RTT growth, windows as 1/RTT, rates as 1/RTT^2.
    rates = partial(reno(), 4000, 0, [0.05, 0.1], 2).rates
    # Above it by nothing but the integration.
    assert rates[0] / rates[1] == pytest.approx(4.0, rel=1e-3)


def test_bad_input_is_said_in_a_line() -> None:
    with pytest.raises(InputError, match="cubic: its growth is not a function of the window"):
        recovery_time(response("cubic"), 400, 0.1)
    with pytest.raises(InputError, match="sawtooth: rate and rtt must be above 0, the buffer not below"):
        synchronised(reno(), 4000, -1, 0.1)
    with pytest.raises(InputError, match="sawtooth: cut is 3; give a number of flows from 1 to 2"):
        partial(reno(), 4000, 100, [0.1, 0.1], 3)
