"""M/M/1/K and the fixed points of drop-tail and RED: published values, and effects that these models do not predict."""

from typing import NamedTuple

import numpy as np
import pytest

from elephan.errors import InputError
from elephan.theory import highspeed, hstcp, reno
from elephan.theory.fixed_points import (
    Delay,
    FixedPoint,
    Loss,
    RedThresholds,
    Throughput,
    blocking,
    droptail,
    droptail_each,
    occupancy,
    red,
    red_each,
)
from elephan.theory.law_responses import SOURCES
from elephan.theory.laws import cubic, response


class Topology(NamedTuple):
    rate: float
    full: int
    rtts: np.ndarray


# hstcp-buffer-model, section 3.1: 1 and 2.5 Gbit/s of 1000-byte packets; the buffer that the shares are of.
A = Topology(125_000, 12_500, np.linspace(0.1155, 0.1245, 10))
B = Topology(312_500, 6_250, np.linspace(0.038, 0.142, 10))


def buffered(on: Topology, share: float) -> int:
    return int(on.full * share + 1e-9)


def droptail_at(
    on: Topology,
    share: float,
    law: Throughput = hstcp.throughput,
    delay: Delay = "accepted",
    loss: Loss = "blocking",
) -> FixedPoint:
    [point] = droptail(law, on.rate, buffered(on, share), on.rtts, delay=delay, loss=loss)
    return point


def red_at(on: Topology, share: float, p_max: float = 0.1) -> FixedPoint:
    k = buffered(on, share)
    [point] = red(hstcp.throughput, on.rate, k, on.rtts, RedThresholds(0.4 * k, k, p_max))
    return point


def test_the_finite_queue_has_the_published_values() -> None:
    # hstcp-buffer-model, section 3: (rho, K) = (.5, 5), (.9, 10), (.95, 50); six digits.
    load, k = np.array([0.5, 0.9, 0.95]), np.array([5, 10, 50])
    assert blocking(load, k) == pytest.approx([0.015873, 0.0508137, 0.00415065], rel=3e-5)
    assert occupancy(load, k) == pytest.approx([0.90476, 3.96944, 14.9780], rel=1e-5)
    assert occupancy(load, k - 1) == pytest.approx([0.83871, 3.64660, 14.8320], rel=1e-5)


@pytest.mark.parametrize("load", [1e-3, 0.5, 1 - 1e-9, 1.0, 1 + 1e-9, 1.00001, 1.5, 40.0])
def test_the_finite_queue_agrees_with_the_sum_over_its_states(load: float) -> None:
    for k in (1, 7, 300):
        law = np.exp(np.arange(k + 1) * np.log(load) - max(k * np.log(load), 0.0))
        law /= law.sum()
        assert blocking(load, k) == pytest.approx(law[-1], rel=1e-10)
        # The series about full load is cut at its second term: (1e-4)^3 of the buffer.
        assert occupancy(load, k) == pytest.approx(law @ np.arange(k + 1), rel=1e-9)


def test_a_far_overloaded_or_idle_queue_neither_overflows_nor_warns() -> None:
    assert blocking([1e-9, 1e9], 20_000) == pytest.approx([0.0, 1.0])
    assert occupancy([1e-9, 1e9], 20_000) == pytest.approx([1e-9, 20_000])


def test_no_reading_of_the_paper_gives_its_ninety_per_cent() -> None:
    # hstcp-buffer-model, section 3.1: the readings tried at a share of 0.1, topologies A and B.
    for on, base, tail, mean in ((A, 0.9950, 0.9908, 0.9952), (B, 0.9879, 0.9809, 0.9882)):
        assert droptail_at(on, 0.1, delay="occupancy").utilisation == pytest.approx(base, abs=1.5e-4)
        assert droptail_at(on, 0.1, delay="none").utilisation == pytest.approx(base, abs=1.5e-4)
        assert droptail_at(on, 0.1, loss="tail").utilisation == pytest.approx(tail, abs=1e-4)
        assert droptail_at(on, 0.1, highspeed("rfc").throughput).utilisation == pytest.approx(mean, abs=1e-4)


@pytest.mark.parametrize(
    ("share", "p_max", "points"), [(0.05, 0.1, 0.005), (0.2, 0.1, 0.005), (0.1, 1.0, 0.005), (0.05, 1.0, 0.0065)]
)
def test_the_chain_without_thinning_is_lower_by_half_a_point(share: float, p_max: float, points: float) -> None:
    # hstcp-buffer-model, section 4: "at most 0.5 point for shares of at least 0.05, p_max at most 1"; it is 0.61 in the
    # corner of the two.
    k = buffered(A, share)
    [bare] = red(hstcp.throughput, A.rate, k, A.rtts, RedThresholds(0.4 * k, k, p_max), chain="unthinned")
    assert 0 < red_at(A, share, p_max).utilisation - bare.utilisation < points


def test_red_that_never_drops_is_droptail() -> None:
    never = RedThresholds(99, 100, 0.0)
    [a] = red(hstcp.throughput, 10_000, 100, [0.05, 0.1], never)
    [b] = droptail(hstcp.throughput, 10_000, 100, [0.05, 0.1])
    # 1 - pi(0) = rho (1 - p) in M/M/1/K.
    assert (a.load, a.loss, a.utilisation, a.queue) == pytest.approx((b.load, b.loss, b.utilisation, b.queue), rel=1e-9)


def test_plain_substitution_runs_away_from_the_fixed_point() -> None:
    point = droptail_at(A, 0.1)

    def offered(load: float) -> float:
        over = A.rtts + float(occupancy(load, 1249)) / A.rate
        return float(hstcp.throughput(blocking(load, 1250), over).sum()) / A.rate

    step = 1e-7
    slope = (offered(point.load + step) - offered(point.load - step)) / (2 * step)
    # hstcp-buffer-model, section 3: about -0.835 (K - 1 / (1 - rho)), -870. This takes throughput for a power of p
    # alone; b falls as w grows, which adds 3 % to the power, and the delay rises with the load, 0.3 %.
    assert slope == pytest.approx(-0.835 * (1250 - 1 / (1 - point.load)), rel=0.05)
    # Plain substitution needs a slope between -1 and 1.
    assert slope < -800


@pytest.mark.parametrize("name", SOURCES)
def test_every_law_has_one_fixed_point_and_fills_a_large_buffer(name: str) -> None:
    law = response(name)
    points = droptail(law.throughput, 10_000, 500, [0.05, 0.1, 0.1])
    assert len(points) == 1
    assert points[0].utilisation > 0.9
    # A step of the law is named; the others are met.
    assert points[0].residual < 1e-9


def test_a_law_that_sends_more_after_loss_has_all_its_fixed_points_listed() -> None:
    def contrary(p: np.ndarray, rtt: np.ndarray) -> np.ndarray:
        # About p = 1e-3 a window that rises from 40 to 160 segments: loads 0.2 to 0.8, crossing twice more.
        windows = 100 + 60 * np.tanh(20 * np.log10(p / 1e-3)) + 1e-3 / np.sqrt(p)
        return np.asarray(windows / rtt)

    points = droptail(contrary, 1000, 10, [0.2], delay="none")
    assert len(points) == 3
    for point in points:
        assert contrary(blocking(point.load, 10), np.array([0.2])).sum() == pytest.approx(point.load * 1000)


def test_a_shorter_round_trip_gets_more_by_its_ratio() -> None:
    # Equal loss for all: rates as 1 / RTT for Reno, as RTT^-1/4 for CUBIC where it is not Reno-friendly.
    [point] = droptail(reno().throughput, 10_000, 200, [0.05, 0.1], delay="none")
    assert point.rates[0] / point.rates[1] == pytest.approx(2.0)
    [point] = droptail(cubic().throughput, 100_000, 2000, [0.1, 0.2], delay="none")
    assert point.rates[0] / point.rates[1] == pytest.approx(2**0.25)


def test_many_buffers_at_once_are_what_each_is_alone() -> None:
    buffers = [12, 125, 1250]
    curves = [RedThresholds(0.4 * k, k) for k in buffers]
    together = droptail_each(hstcp.throughput, A.rate, buffers, A.rtts, loss="tail")
    thinned = red_each(hstcp.throughput, A.rate, buffers, A.rtts, curves)
    for k, curve, [a], [b] in zip(buffers, curves, together, thinned, strict=True):
        [c] = droptail(hstcp.throughput, A.rate, k, A.rtts, loss="tail")
        [d] = red(hstcp.throughput, A.rate, k, A.rtts, curve)
        # Arrays of other lengths round otherwise, and loss has a slope of up to K in the logarithm of the load.
        for at_once, alone in ((a, c), (b, d)):
            assert at_once.load == pytest.approx(alone.load, rel=1e-13)
            assert at_once.loss == pytest.approx(alone.loss, rel=1e-10)
            np.testing.assert_allclose(at_once.rates, alone.rates, rtol=1e-10)


def test_bad_input_is_said_in_a_line() -> None:
    with pytest.raises(InputError, match="fixed point: the rate must be above 0 and the buffer at least one segment"):
        droptail(hstcp.throughput, 1000, 0, [0.1])
    with pytest.raises(InputError, match="fixed point: rtts must be a list of times above 0"):
        droptail(hstcp.throughput, 1000, 10, [])
    with pytest.raises(InputError, match='fixed point: delay is "all"; write accepted, occupancy, none'):
        droptail(hstcp.throughput, 1000, 10, [0.1], delay="all")  # type: ignore[arg-type]
