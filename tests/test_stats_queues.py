"""Statistics of output with known true values from queueing theory and time series: M/M/1, M/D/1, M/M/1/K, AR(1).

Coverage is a count of successes, so it may miss its share by three binomial standard errors: once in 370 seeds.
"""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from elephan.stats import autocorrelation, batch_means, effective_size, estimate, mser5, paired

Array = NDArray[np.float64]
PHI = 0.9
"""Memory of the AR(1) processes below; their noise has standard deviation 1."""


def binomial_slack(share: float, tries: int) -> float:
    return 3 * math.sqrt(share * (1 - share) / tries)


def waits(gaps: Array, services: Array, first: Array | float = 0.0) -> Array:
    """Return waiting times of customers by Lindley's recursion, W' = max(0, W + S - A), one replication per row."""
    walk = np.cumsum(services - gaps, axis=1)
    lowest = np.minimum.accumulate(np.minimum(walk, 0.0), axis=1)
    return np.maximum(walk - lowest, np.reshape(first, (-1, 1)) + walk)


def mm1(rho: float, customers: int, replications: int, seed: int) -> Array:
    """Return the waits of a stationary M/M/1 queue with service rate 1: the first is 0 or exponential with rate 1 -
    rho."""
    rng = np.random.default_rng(seed)
    shape = (replications, customers)
    first = rng.exponential(1 / (1 - rho), replications) * (rng.random(replications) < rho)
    return waits(rng.exponential(1 / rho, shape), rng.exponential(1.0, shape), first)


def ar1(length: int, replications: int, seed: int, start: float | None = None, phi: float = PHI) -> Array:
    """AR(1) with mean 0; stationary from its first value unless `start` is given."""
    rng = np.random.default_rng(seed)
    x = np.empty((replications, length))
    now = rng.normal(0, 1 / math.sqrt(1 - phi**2), replications) if start is None else np.full(replications, start)
    for i in range(length):
        now = phi * now + rng.normal(0, 1, replications)
        x[:, i] = now
    return x


def test_the_mean_wait_of_m_m_1_is_rho_over_one_minus_rho() -> None:
    mean, ci95 = estimate(mm1(0.8, 5000, 200, seed=1).mean(axis=1))
    # 0.8 / (1 - 0.8). Twice the half-width is four standard errors: 6 in 100,000 seeds miss that.
    assert ci95 is not None
    assert abs(mean - 4.0) < 2 * ci95
    # The variance of the mean of n waits is rho (2 + 5 rho - 4 rho^2 + rho^3) / (n (1 - rho)^4) for long series (Daley
    # 1968); the variance of 200 replications is known to 10 %, so the half-width to 5 %: four times that.
    rho = 0.8
    sd = math.sqrt(rho * (2 + 5 * rho - 4 * rho**2 + rho**3) / (5000 * (1 - rho) ** 4))
    assert ci95 == pytest.approx(1.972 * sd / math.sqrt(200), rel=0.2)


def test_batch_means_cover_the_mean_wait_of_m_m_1_as_often_as_they_say() -> None:
    # Waits at rho = 0.5 forget within tens of customers, a batch has hundreds.
    found = [batch_means(series) for series in mm1(0.5, 10_000, 400, seed=2)]
    covered = np.mean([abs(f.mean - 1.0) <= f.ci95 for f in found])
    assert covered == pytest.approx(0.95, abs=binomial_slack(0.95, 400))


def test_the_mean_wait_of_m_d_1_is_half_that_of_m_m_1() -> None:
    rng = np.random.default_rng(3)
    # From an empty queue; the first 1000 of 6000 customers are left out, and at rho = 0.7 it forgets within a hundred.
    series = waits(rng.exponential(1 / 0.7, (200, 6000)), np.ones((200, 6000)))[:, 1000:]
    mean, ci95 = estimate(series.mean(axis=1))
    assert ci95 is not None
    # Pollaczek and Khinchine: rho / (2 (1 - rho)); four standard errors, as above.
    assert abs(mean - 0.7 / 0.6) < 2 * ci95


def test_m_m_1_k_blocks_as_erlang_says_and_batch_means_cover_it() -> None:
    rho, room, arrivals, replications = 0.9, 5, 6000, 400
    rng = np.random.default_rng(4)
    # Customers met by an arrival: K or fewer; the stationary distribution is geometric.
    states = rho ** np.arange(room + 1) * (1 - rho) / (1 - rho ** (room + 1))
    inside = rng.choice(room + 1, replications, p=states)
    blocked = np.empty((replications, arrivals))
    for i in range(arrivals):
        blocked[:, i] = inside == room
        inside = np.minimum(inside + 1, room)
        # Between arrivals the served customers are a Poisson process, limited by the queue.
        inside = np.maximum(inside - rng.poisson(rng.exponential(1 / rho, replications)), 0)
    mean, ci95 = estimate(blocked.mean(axis=1))
    assert ci95 is not None
    assert abs(mean - states[room]) < 2 * ci95
    found = [batch_means(series, 20) for series in blocked]
    covered = np.mean([abs(f.mean - states[room]) <= f.ci95 for f in found])
    assert covered == pytest.approx(0.95, abs=binomial_slack(0.95, replications))


def test_batch_means_know_the_variance_of_the_mean_of_ar1() -> None:
    length = 6000
    found = [batch_means(series, 20) for series in ar1(length, 300, seed=5)]
    # sigma^2 / (n (1 - phi)^2) for long series. t with 19 degrees of freedom; the mean of 300 half-widths, each known
    # to 1 / sqrt(2 x 19) = 16 %, is known to 1 %; a batch of 300 misses phi / ((1 - phi^2) m) ~ 1.6 % of its variance.
    truth = 2.093 / ((1 - PHI) * math.sqrt(length))
    assert np.mean([f.ci95 for f in found]) == pytest.approx(truth, rel=0.04)
    covered = np.mean([abs(f.mean) <= f.ci95 for f in found])
    assert covered == pytest.approx(0.95, abs=binomial_slack(0.95, 300))


def test_a_series_too_short_for_its_memory_is_not_settled() -> None:
    # Batches of 6 at phi = 0.99: neighbouring means have correlation 0.95, of which 30 batches show
    # 0.95 - (1 + 4 x 0.95) / 30 = 0.79 on average (Kendall's bias), with standard deviation 0.1, where 0.27 is allowed.
    series = ar1(180, 100, seed=6, phi=0.99)
    assert np.mean([batch_means(x, 30).is_settled for x in series]) < 0.05
    found = [batch_means(x) for x in series]
    assert all(f.batches == 10 for f in found if not f.is_settled)
    # And what has no memory is taken in the most batches, but for the 5 % that look as if they had one.
    apart = [batch_means(series).batches for series in np.random.default_rng(7).normal(0, 1, (400, 600))]
    assert np.mean(np.array(apart) == 30) == pytest.approx(0.95, abs=binomial_slack(0.95, 400))


def test_autocorrelation_and_effective_size_of_ar1() -> None:
    series = ar1(20_000, 20, seed=8)
    rho = np.mean([autocorrelation(x, 10) for x in series], axis=0)
    # Bartlett's standard error at long lags is sqrt((1 + phi^2) / (1 - phi^2) / n) = 0.022; over 20 series 0.005.
    np.testing.assert_allclose(rho, PHI ** np.arange(11), atol=0.02)
    # n (1 - phi) / (1 + phi) = 1053; Geyer's cut scatters by about 10 % in a series, 2 % in the mean of 20.
    assert np.mean([effective_size(x) for x in series]) == pytest.approx(1053, rel=0.08)
    assert effective_size(np.ones(50)) == 50


def test_mser5_cuts_the_start_of_ar1_far_from_its_mean() -> None:
    start, length = 100.0, 2000
    series = ar1(length, 200, seed=9, start=start)
    cuts = np.array([mser5(x) or 0 for x in series])
    # To cut a batch helps while it is further from the mean than sqrt(2) standard deviations (2.29): on the falling
    # mean until 100 x 0.9^d = 3.2, d = 33. Three standard deviations of noise move that to 10.1, d = 22: batch 20.
    assert (cuts >= 20).all()
    # Half of the series see their first harmless batch by then or the next, and few go on for long.
    assert np.median(cuts) <= 45
    # Uncut, the mean is off by about start phi / ((1 - phi) n) = 0.45; cut, by less than four standard errors.
    assert series.mean() == pytest.approx(0.45, abs=4 * 0.0158)
    kept = estimate([x[cut:].mean() for x, cut in zip(series, cuts, strict=True)])
    assert kept.ci95 is not None
    assert abs(kept.mean) < 2 * kept.ci95


def test_mser5_is_the_smallest_squared_error_by_its_definition() -> None:
    for series in ar1(300, 50, seed=13, start=20.0):
        means = series.reshape(60, 5).mean(axis=1)
        # Every cut that leaves a tenth, 6 batches of 60.
        error = [np.sum((means[d:] - means[d:].mean()) ** 2) / (60 - d) ** 2 for d in range(55)]
        best = int(np.argmin(error))
        assert mser5(series) == (5 * best if best <= 30 else None)


def test_mser5_cuts_little_of_what_is_settled_from_its_start() -> None:
    cuts = [mser5(x) for x in ar1(2000, 200, seed=12)]
    assert None not in cuts
    # No batch has to be cut, and half of the series lose no more than the memory of the process, twice 19 values.
    assert np.median(np.array(cuts, dtype=float)) <= 38


def test_mser5_says_when_there_is_no_settled_part() -> None:
    assert mser5(np.linspace(0, 1, 400)) is None
    assert mser5(np.ones(49)) is None
    assert mser5(np.ones(50)) == 0
    # A rise that ends at 60 %: what is settled lies in the second half, where minima do not count.
    late = np.concatenate([np.linspace(0, 30, 600), np.random.default_rng(10).normal(30, 1, 400)])
    assert mser5(late) is None


def test_pairing_two_m_m_1_queues_under_the_same_draws_cancels_what_they_share() -> None:
    rng = np.random.default_rng(11)
    gaps, services = rng.exponential(1 / 0.8, (50, 5000)), rng.exponential(1.0, (50, 5000))
    slow = waits(gaps, services)[:, 500:].mean(axis=1)
    fast = waits(gaps, 0.95 * services)[:, 500:].mean(axis=1)
    found = paired(slow, fast)
    # Waits scale with the service time s: lambda s^2 / (1 - lambda s), at s = 1 and 0.95; four standard errors.
    truth = 0.8 / 0.2 - 0.8 * 0.95**2 / (1 - 0.8 * 0.95)
    assert found.difference.ci95 is not None
    assert abs(found.difference.mean - truth) < 2 * found.difference.ci95
    # Customers wait for the same reasons in both; independent pairs give a correlation of 0 +- 1/7 and no reduction.
    assert found.correlation > 0.9
    assert found.variance_reduction > 3
    other = waits(rng.exponential(1 / 0.8, (50, 5000)), 0.95 * rng.exponential(1.0, (50, 5000)))[:, 500:].mean(axis=1)
    apart = paired(slow, other)
    assert abs(apart.correlation) < 3 / 7
    assert apart.variance_reduction == pytest.approx(1.0, abs=3 / 7)
