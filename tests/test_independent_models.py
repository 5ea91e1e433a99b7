"""Models compared with second implementations from their papers, which share no code and use other methods."""

import numpy as np
import pytest

from elephan.theory import droptail, fairness, highspeed, hstcp, nr_hstcp, red, sawtooth
from elephan.theory.fixed_points import RedThresholds
from reference.models import fixed_points as second
from reference.models import recovery

# Rate [segments/s] and RTTs [s]: the two topologies of Barman2004, and a slow link of three flows.
LINKS = {
    "1 Gbit/s": (125_000.0, np.linspace(0.1155, 0.1245, 10)),
    "2.5 Gbit/s": (312_500.0, np.linspace(0.038, 0.142, 10)),
    "100 Mbit/s": (12_500.0, np.array([0.05, 0.1, 0.2])),
}


@pytest.mark.parametrize("p", [9.9e-4, 1e-4, 1e-5, 1e-7])
def test_the_rate_of_a_highspeed_flow_is_that_of_the_second_reading(p: float) -> None:
    assert float(hstcp.throughput(p, 0.12)) == pytest.approx(second.hstcp_rate(p, 0.12), rel=1e-12)


@pytest.mark.parametrize("buffer", [6, 125, 1250])
@pytest.mark.parametrize("link", LINKS)
def test_the_droptail_fixed_point_is_that_of_plain_halving(link: str, buffer: int) -> None:
    rate, rtts = LINKS[link]
    queue = second.drop_tail(buffer)
    load = second.halve(queue, rate, rtts.tolist(), 0.05, 1.2)
    p, mean = queue(load)
    [point] = droptail(hstcp.throughput, rate, buffer, rtts)
    # Rounding, times K where the loss follows the load.
    assert point.load == pytest.approx(load, rel=1e-11)
    assert (point.loss, point.queue, point.utilisation) == pytest.approx((p, mean, load * (1 - p)), rel=1e-8)


@pytest.mark.parametrize("p_max", [0.1, 1.0])
@pytest.mark.parametrize("link", LINKS)
def test_the_red_fixed_point_is_that_of_the_solved_chain(link: str, p_max: float) -> None:
    rate, rtts = LINKS[link]
    queue = second.red(40, 16, 40, p_max)
    load = second.scan(queue, rate, rtts.tolist(), 0.3, 1.1)
    p, mean = queue(load)
    [point] = red(hstcp.throughput, rate, 40, rtts, RedThresholds(16, 40, p_max))
    # The scan ends at 1e-9; loss follows the load with a power of at most K = 40.
    assert point.load == pytest.approx(load, abs=2e-9)
    assert point.utilisation == pytest.approx(load * (1 - p), abs=2e-9)  # what enters is served
    assert (point.loss, point.queue) == pytest.approx((p, mean), rel=1e-6)


@pytest.mark.parametrize("rtt", [0.075, 0.0875, 0.1, 0.1125, 0.125, 0.15, 0.25])
@pytest.mark.parametrize("mbit", [1, 5, 10, 20, 50, 100, 500, 1000, 10_000])
def test_recovery_takes_as_long_as_by_quadrature(mbit: float, rtt: float) -> None:
    window = mbit * 1e6 * rtt / 8 / 1500
    plain = recovery.recovery_time(recovery.highspeed, window, rtt)
    # a jumps by 4.7 % at 38 segments: half a cell of 1/1024 of the way, and twice that as low windows take longer.
    assert float(fairness.recovery_time(fairness.highspeed, mbit * 1e6, rtt)) == pytest.approx(plain, rel=5e-5)
    normal = recovery.recovery_time(recovery.normalised(rtt, 1500.0), window, rtt)
    # No step, only bends.
    assert float(fairness.recovery_time(fairness.normalised, mbit * 1e6, rtt)) == pytest.approx(normal, rel=1e-6)
    if window <= 83_000:  # beyond, one of the two holds b at a tenth
        assert float(sawtooth.recovery_time(highspeed("rfc"), window, rtt)) == pytest.approx(plain, rel=5e-5)
        assert float(sawtooth.recovery_time(nr_hstcp(), window, rtt)) == pytest.approx(normal, rel=1e-6)
