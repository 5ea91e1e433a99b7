"""The independent laws compared with numbers printed in their sources."""

import itertools
import math
from dataclasses import replace

import pytest

from reference.laws import LAWS, Bic, Cubic, Event, Fast, Ghstcp, Highspeed, Htcp, NrHstcp, Scalable, Sender, Vegas
from reference.laws.ghstcp import correlation, fisher_z


def ack(
    now: float = 0.0,
    acked: float = 1.0,
    rtt: float | None = 0.1,
    srtt: float = 0.1,
    min_rtt: float = 0.1,
    delivered: float = 0.0,
    round_start: bool = False,
    cwnd_limited: bool = True,
) -> Event:
    return Event("ack", now, acked, 0.0, rtt, srtt, min_rtt, 0.0, delivered, round_start, cwnd_limited)


def sign(kind: str, now: float = 0.0, delivered: float = 0.0, srtt: float = 0.1, min_rtt: float = 0.1) -> Event:
    return Event(kind, now, 0.0, 0.0, None, srtt, min_rtt, 0.0, delivered, False, True)


def avoiding(law: Sender, cwnd: float) -> Sender:
    """Return the law in congestion avoidance at this window."""
    law.cwnd, law.ssthresh = cwnd, 2.0
    return law


def path_of(law: Sender, bdp: float, rounds: int, steps: int = 20) -> list[float]:
    """Return the windows, round by round, of a law alone on a path with an endless buffer and a base RTT of 0.1 s."""
    windows, now, delivered = [], 0.0, 0.0
    for _, step in itertools.product(range(rounds), range(steps)):
        rtt = 0.1 * max(1.0, law.cwnd / bdp)
        acked = law.cwnd / steps
        now += rtt / steps
        delivered += acked
        law.on_ack(ack(now, acked, rtt, rtt, 0.1, delivered, round_start=step == 0))
        if step == steps - 1:
            windows.append(law.cwnd)
    return windows


# Common parts.


@pytest.mark.parametrize("name", LAWS)
def test_slow_start_gains_what_is_acknowledged_but_two_at_most_and_stops_at_ssthresh(name: str) -> None:
    law = LAWS[name]()
    assert (law.cwnd, law.ssthresh) == (2.0, math.inf)
    law.on_ack(ack(acked=1.0))
    law.on_ack(ack(acked=2.0))
    law.on_ack(ack(acked=5.0))
    assert law.cwnd == 7.0
    law.on_ack(ack(acked=2.0, cwnd_limited=False))
    assert law.cwnd == 7.0
    law.ssthresh = 8.5
    law.on_ack(ack(acked=2.0))
    assert law.cwnd == 8.5


@pytest.mark.parametrize("name", LAWS)
def test_a_loss_leaves_two_segments_and_a_timeout_one(name: str) -> None:
    law = LAWS[name]()
    law.on_congestion(sign("loss"))
    assert (law.cwnd, law.ssthresh) == (2.0, 2.0)
    law.on_congestion(sign("timeout"))
    assert (law.cwnd, law.ssthresh) == (1.0, 2.0)


@pytest.mark.parametrize("name", LAWS)
def test_a_window_that_is_not_the_limit_stays_as_it_is(name: str) -> None:
    law = avoiding(LAWS[name](), 100.0)
    for i in range(300):
        law.on_ack(ack(0.001 * i, rtt=0.5, srtt=0.5, round_start=i % 100 == 0, cwnd_limited=False))
    assert law.cwnd == 100.0


# HighSpeed TCP: RFC 3649, Appendix B, columns w, a(w), b(w).

APPENDIX_B = [
    (38, 1, 0.50),
    (118, 2, 0.44),
    (221, 3, 0.41),
    (347, 4, 0.38),
    (495, 5, 0.37),
    (663, 6, 0.35),
    (851, 7, 0.34),
    (1058, 8, 0.33),
    (1284, 9, 0.32),
    (1529, 10, 0.31),
    (12834, 33, 0.20),
    (84035, 71, 0.10),
    (89053, 72, 0.10),
    (94717, 73, 0.09),
]


@pytest.mark.parametrize(("w", "a", "b"), APPENDIX_B)
def test_highspeed_is_near_the_rows_of_the_rfcs_table(w: int, a: float, b: float) -> None:
    law = Highspeed()
    # The table has 0.078125/w^1.2 and thresholds that accumulate; the exact line lies up to 2.5 % above it.
    assert a * 0.999 <= law.a(w) <= a * 1.025
    assert law.b(w) == pytest.approx(b, abs=0.005)  # printed with two digits


@pytest.mark.parametrize(("w", "a"), [(118, 2.0276), (221, 3.0422), (1058, 8.1361), (12834, 33.699), (83000, 72.516)])
def test_highspeed_has_the_exact_response_function(w: float, a: float) -> None:
    assert Highspeed().a(w) == pytest.approx(a, rel=2e-5)  # five digits


def test_highspeed_response_function_passes_through_the_rfcs_two_points() -> None:
    law = Highspeed()
    assert law.p(38.0) == pytest.approx(1e-3)
    assert law.p(83000.0) == pytest.approx(1e-7)
    # The RFC's response table, w = 0.12/p^0.835: its rounded constants put all of it 83981/83000 too high.
    for p, w in [(1e-4, 263.0), (1e-5, 1795.0), (1e-6, 12279.0), (1e-7, 83981.0)]:
        assert law.p(w * 83000 / 83981) == pytest.approx(p, rel=2e-3)


def test_highspeed_below_38_is_reno() -> None:
    law = avoiding(Highspeed(), 20.0)
    law.on_ack(ack(acked=2.0))
    assert law.cwnd == pytest.approx(20.1)
    law.on_congestion(sign("loss"))
    assert law.cwnd == pytest.approx(10.05)
    assert Highspeed().a(38.001) == 1.0
    assert Highspeed().b(1e30) == 0.01


def test_highspeed_gains_a_of_w_in_one_window_of_acknowledgements() -> None:
    law = avoiding(Highspeed(), 1000.0)
    for _ in range(1000):
        law.on_ack(ack())
    # a(w)/w falls a little while w grows by 0.8 %.
    assert law.cwnd - 1000.0 == pytest.approx(Highspeed().a(1000.0), rel=0.005)
    law.on_congestion(sign("timeout"))
    assert law.ssthresh == pytest.approx(504.0, abs=1.0)


# gHSTCP.


@pytest.mark.parametrize(
    ("r", "n", "z"), [(0.1, 1000, 3.168), (0.0975, 1000, 3.088), (0.3, 100, 3.048), (0.5, 38, 3.250)]
)
def test_ghstcp_z_statistic(r: float, n: int, z: float) -> None:
    assert fisher_z(r, n) == pytest.approx(z, abs=6e-4)  # three decimals


@pytest.mark.parametrize(("n", "r"), [(38, 0.480), (100, 0.304), (417, 0.151), (1000, 0.0976), (10000, 0.0309)])
def test_ghstcp_threshold_correlation(n: int, r: float) -> None:
    # printed to the last digit
    unit = 0.001 if r > 0.15 else 0.0001
    assert fisher_z(r - unit, n) < 3.09 < fisher_z(r + unit, n)


def test_ghstcp_correlation_of_lines_and_of_constants() -> None:
    rising = [(0.1 * i, 1.0 + i) for i in range(20)]
    assert correlation(rising) == pytest.approx(1.0)
    assert correlation([(d, -t) for d, t in rising]) == pytest.approx(-1.0)
    assert correlation([(d, 0.25) for d, _ in rising]) == 0.0
    assert math.isfinite(fisher_z(1.0, 20))


def test_ghstcp_grows_like_reno_from_the_end_of_a_batch_in_which_the_round_trip_time_rose_until_the_next_cut() -> None:
    law, plain = Ghstcp(), Highspeed()
    avoiding(law, 1000.0)
    avoiding(plain, 1000.0)
    for i in range(999):
        event = ack(i * 1e-4, rtt=0.1 + i * 1e-5)
        law.on_ack(event)
        plain.on_ack(event)
    assert law.cwnd == plain.cwnd
    early = law.reno_mode
    assert not early
    law.on_ack(ack(0.0999, rtt=0.12))  # the thousandth
    assert law.reno_mode
    assert law.cwnd == plain.cwnd + 1.0 / plain.cwnd
    kept = (1.0 - plain.b(law.cwnd)) * law.cwnd
    law.on_congestion(sign("loss"))
    after = law.reno_mode
    assert (law.cwnd, after) == (kept, False)


def test_ghstcp_grows_like_highspeed_while_the_round_trip_time_falls() -> None:
    law = Ghstcp()
    avoiding(law, 50.0)
    for i in range(100):
        law.on_ack(ack(i * 1e-3, rtt=0.2 - i * 1e-4))
    assert not law.reno_mode


# NR-HSTCP: cwnd, RTT in ms, MSS; normalised window, a_used, b_used.

NR_VECTORS = [
    (1000, 100, 1500, 1000, 7.7398, 0.3299),
    (1000, 200, 1500, 500, 20.160, 0.3659),
    (1000, 50, 1500, 2000, 2.9373, 0.2938),
    (20, 250, 1500, 8, 2.1073, 0.5),
    (10, 100, 1500, 10, 1.0, 0.5),
    (3000, 250, 9000, 7200, 25.376, 0.2272),
    (500, 100, 576, 192, 7.1518, 0.4157),
    (16, 1000, 576, 0.6144, 15.295, 0.5),
    (5, 1000, 1500, 0.5, 5.0, 0.5),
    (20000, 250, 1500, 8000, 161.15, 0.2217),
]


@pytest.mark.parametrize(("w", "rtt", "mss", "nc", "a", "b"), NR_VECTORS)
def test_nr_hstcp_vectors(w: float, rtt: float, mss: float, nc: float, a: float, b: float) -> None:
    law = NrHstcp(mss=mss)
    assert law.normalised(w, rtt / 1000) == pytest.approx(nc)
    assert law.a(w, rtt / 1000) == pytest.approx(a, rel=5e-5)  # five digits
    assert law.b(w, rtt / 1000) == pytest.approx(b, abs=6e-5)  # four decimals
    avoiding(law, w)
    law.on_ack(ack(srtt=rtt / 1000))
    assert law.cwnd - w == pytest.approx(a / w, rel=1e-4)


def recovery_time(law: Highspeed | NrHstcp, megabits: float, rtt: float, steps: int = 2000) -> float:
    """Return the time from (1 - b) w back to w in congestion avoidance: RTT times the integral of dx/a(x), by
    midpoints."""
    w = megabits * 1e6 * rtt / 12_000

    def a(x: float) -> float:
        return law.a(x, rtt) if isinstance(law, NrHstcp) else law.a(x)

    b = law.b(w, rtt) if isinstance(law, NrHstcp) else law.b(w)
    h = b * w / steps
    return rtt * math.fsum(h / a(w * (1.0 - b) + (i + 0.5) * h) for i in range(steps))


RECOVERY_TIMES: dict[
    float, tuple[tuple[float, ...], tuple[float, ...]]
] = {  # rate in Mbit/s: HighSpeed TCP at 87.5, 100, 112.5, 125 ms; NR-HSTCP at 75, 100, 150, 250 ms
    1: ((0.319, 0.417, 0.527, 0.651), (0.234, 0.417, 0.938, 1.492)),
    5: ((1.595, 2.069, 2.555, 3.044), (1.161, 2.063, 2.507, 2.507)),
    10: ((2.457, 2.886, 3.325, 3.774), (2.152, 2.886, 2.886, 2.886)),
    50: ((3.411, 4.006, 4.617, 5.241), (4.006, 4.006, 4.006, 4.006)),
    1000: ((6.306, 7.407, 8.538, 9.694), (7.407, 7.407, 7.407, 7.407)),
    10000: ((10.13, 11.93, 14.66, 17.69), (11.93, 11.93, 11.93, 11.93)),
}


@pytest.mark.parametrize("rate", RECOVERY_TIMES)
def test_nr_hstcp_recovers_in_the_time_that_the_rate_gives(rate: float) -> None:
    for rtt, seconds in zip((0.075, 0.1, 0.15, 0.25), RECOVERY_TIMES[rate][1], strict=True):
        assert recovery_time(NrHstcp(), rate, rtt) == pytest.approx(seconds, rel=5e-4, abs=6e-4)  # three or four digits


@pytest.mark.parametrize("rate", [1, 5, 10, 50, 1000])
def test_highspeed_recovers_more_slowly_the_longer_the_round_trip(rate: float) -> None:
    # The figures have 0.078/w^1.2, of which the exact line is up to 2.5 % above, so that recovery is that much faster.
    # 10 Gbit/s is left out: there the figures hold b at 0.1 above 83000 segments, this law does not.
    for rtt, seconds in zip((0.0875, 0.1, 0.1125, 0.125), RECOVERY_TIMES[rate][0], strict=True):
        assert seconds * 0.974 <= recovery_time(Highspeed(), rate, rtt) <= seconds * 1.002


@pytest.mark.parametrize(("rtt", "w"), [(0.075, 73.5), (0.1, 40.8), (0.15, 18.1), (0.25, 6.65), (0.5, 1.76)])
def test_nr_hstcp_leaves_one_segment_per_round_trip_at_lower_windows_the_longer_the_round_trip(
    rtt: float, w: float
) -> None:
    law = NrHstcp()
    assert law.a0(law.normalised(w * 0.99, rtt)) * (rtt / 0.1) ** 2 < 1.0
    assert law.a0(law.normalised(w * 1.01, rtt)) * (rtt / 0.1) ** 2 > 1.0


def test_nr_hstcp_limit_at_one_second_is_reached_at_the_papers_few_kilobytes() -> None:
    for mss, limit in [(1500.0, 5.32), (576.0, 13.85)]:
        law = NrHstcp(mss=mss)
        assert law.a(limit * 0.99, 1.0) == limit * 0.99
        assert law.a(limit * 1.01, 1.0) < limit * 1.01


# Scalable TCP.


def test_scalable_recovers_in_13_42_round_trips_at_any_window() -> None:
    for before in (100.0, 83000.0):
        law = avoiding(Scalable(), before)
        law.on_congestion(sign("loss"))
        assert law.cwnd == 0.875 * before
        windows = [law.cwnd]
        while windows[-1] < before:
            law.on_ack(ack(acked=law.cwnd))
            windows.append(law.cwnd)
        last = math.log(before / windows[-2]) / math.log(windows[-1] / windows[-2])
        assert len(windows) - 2 + last == pytest.approx(13.42, abs=0.005)


def test_scalable_at_its_legacy_window_is_reno() -> None:
    law = avoiding(Scalable(), 16.0)
    law.on_congestion(sign("loss"))
    assert law.cwnd == 8.0
    law.on_ack(ack())
    assert law.cwnd == 8.125


# H-TCP.


@pytest.mark.parametrize(
    ("delta", "alpha"), [(0.0, 1.0), (1.0, 1.0), (2.0, 11.25), (3.0, 22.0), (5.0, 45.0), (11.0, 126.0)]
)
def test_htcp_alpha(delta: float, alpha: float) -> None:
    law = Htcp()
    assert law.alpha_at(delta, 0.1) == alpha
    law.beta = 0.8
    assert law.alpha_at(delta, 0.1) == pytest.approx(0.4 * alpha)


def test_htcp_scales_with_the_round_trip_time_above_delta_l_only_if_asked() -> None:
    assert Htcp(rtt_scaling=True).alpha_at(2.0, 0.25) == 2.5 * 11.25
    assert Htcp(rtt_scaling=True).alpha_at(1.0, 0.25) == 1.0


def cut_after(throughput: float, rtt_max: float, min_rtt: float = 0.1) -> float:
    """Return the share kept at a second cut, after rounds with 1000 segments per second up to the first."""
    law = Htcp()
    law.on_ack(ack(0.0, round_start=True))
    law.on_ack(ack(10.0, delivered=10_000.0, round_start=True))
    law.on_congestion(sign("loss", 10.0, 10_000.0))
    law.on_ack(ack(11.0, rtt=rtt_max, delivered=15_000.0, round_start=True))
    law.on_ack(ack(13.0, delivered=15_000.0 + 2.0 * throughput, round_start=True))
    law.on_ack(ack(13.5, delivered=30_000.0))  # in a round that the cut breaks off
    avoiding(law, 1000.0)
    law.on_congestion(sign("loss", 14.0, 30_000.0, min_rtt=min_rtt))
    return law.cwnd / 1000.0


def test_htcp_keeps_the_ratio_of_round_trip_times_unless_the_throughput_has_changed_by_a_fifth() -> None:
    assert cut_after(1000.0, 0.15) == pytest.approx(0.1 / 0.15)
    assert cut_after(1190.0, 0.15) == pytest.approx(0.1 / 0.15)
    assert cut_after(1210.0, 0.15) == 0.5
    assert cut_after(790.0, 0.15) == 0.5
    assert cut_after(1000.0, 0.11) == 0.8
    assert cut_after(1000.0, 0.5) == 0.5


def test_htcp_gains_the_integral_of_alpha_in_an_epoch() -> None:
    law = avoiding(Htcp(), 10_000.0)
    law.on_congestion(sign("loss"))
    seconds = 9.0
    for i in range(round(seconds / 0.1)):
        law.on_ack(ack(0.1 * i, acked=law.cwnd, round_start=True))
    # 1 s at one per round trip, then 10 round trips per second of alpha: x + 5 x^2 + x^3/12 over 8 s.
    gained = 10.0 * (1.0 + 8.0 + 5.0 * 64.0 + 512.0 / 12.0)
    # One acknowledgement per round, at its start: half of alpha's whole rise of 96 is missing, its curvature below 0.1.
    assert law.cwnd - 5000.0 == pytest.approx(gained - 48.0, abs=0.1)


# BIC.


def test_bic_climbs_in_a_straight_line_then_ever_more_slowly_and_beyond_the_maximum_ever_faster() -> None:
    law = Bic()
    avoiding(law, 1000.0)
    law.on_congestion(sign("loss"))
    assert law.cwnd == 875.0
    windows = [law.cwnd]
    for _ in range(40):
        law.on_ack(ack(acked=law.cwnd))
        windows.append(law.cwnd)
    steps = [b - a for a, b in itertools.pairwise(windows)]
    top = next(i for i, w in enumerate(windows) if w >= 1000.0)
    # The midpoint is 62.5 away at first and within 32 after two steps; each later one is half of what remains.
    assert steps[:2] == [32.0, 32.0]
    assert all(b == pytest.approx(a / 2) for a, b in itertools.pairwise(steps[2:12]))
    assert steps[top : top + 7] == pytest.approx([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0])


def test_bic_fast_convergence_puts_a_falling_maximum_at_the_midpoint() -> None:
    law = Bic()
    avoiding(law, 1000.0)
    law.on_congestion(sign("loss"))
    assert law.max_win == 1000.0
    avoiding(law, 960.0)
    law.on_congestion(sign("loss"))
    assert law.max_win == (960.0 + 840.0) / 2.0
    avoiding(law, 950.0)  # above the last maximum
    law.on_congestion(sign("loss"))
    assert law.max_win == 950.0


def test_bic_in_the_pseudo_code_takes_each_cut_after_probing_for_a_downward_trend() -> None:
    law = Bic(forgets_maximum=True)
    avoiding(law, 1000.0)
    law.on_congestion(sign("loss"))
    assert law.max_win == 937.5


def test_bic_below_14_segments_is_reno() -> None:
    law = avoiding(Bic(), 13.0)
    law.on_ack(ack())
    assert law.cwnd == 13.0 + 1.0 / 13.0
    law.on_congestion(sign("loss"))
    assert law.cwnd == pytest.approx(6.5, abs=0.04)


# CUBIC: RFC 9438.


def test_cubic_is_back_at_its_maximum_after_k_seconds() -> None:
    law = Cubic()
    avoiding(law, 1000.0)
    law.on_congestion(sign("loss"))
    assert (law.cwnd, law.w_max) == (700.0, 1000.0)
    law.on_ack(ack(5.0, acked=0.001))
    assert law.k == pytest.approx((300.0 / 0.4) ** (1.0 / 3.0))
    assert law.w_cubic(0.0) == pytest.approx(700.0)
    assert law.w_cubic(law.k) == 1000.0
    assert law.w_cubic(law.k + 5.0) == pytest.approx(1050.0)
    for i in range(1, round(law.k / 0.005) + 1):
        law.on_ack(ack(5.0 + 0.005 * i, acked=law.cwnd / 20))
    # The window follows the curve with a lag of less than the round trip that its target looks ahead.
    assert law.cwnd == pytest.approx(1000.0, abs=0.1)


def test_cubic_fast_convergence_lowers_a_falling_maximum() -> None:
    law = Cubic()
    avoiding(law, 1000.0)
    law.on_congestion(sign("loss"))
    avoiding(law, 900.0)
    law.on_congestion(sign("loss"))
    assert law.w_max == pytest.approx(0.85 * 900.0)


def test_cubic_takes_its_plateau_from_where_it_stands_after_a_timeout() -> None:
    law = Cubic()
    avoiding(law, 100.0)
    law.on_congestion(sign("timeout"))
    assert (law.cwnd, law.ssthresh) == (1.0, 70.0)
    for _ in range(69):
        law.on_ack(ack())
    law.on_ack(ack(3.0))
    assert (law.k, law.w_max) == (0.0, 70.0)


def test_cubic_never_jumps_by_more_than_half_a_window_per_round_trip() -> None:
    law = Cubic()
    avoiding(law, 10.0)
    law.on_congestion(sign("loss"))
    law.on_ack(ack(0.0))
    before = law.cwnd
    law.on_ack(ack(100.0))
    assert law.cwnd == pytest.approx(before + 0.5)


def test_cubic_in_the_reno_friendly_region_gains_nine_seventeenths_per_round_until_it_is_back_and_then_one() -> None:
    law = Cubic()
    avoiding(law, 10.0)
    law.on_congestion(sign("loss"))
    windows = [law.cwnd]
    for i in range(20):  # round trips of 1 ms: the cubic function has no time to rise
        law.on_ack(ack(0.001 * i, acked=law.cwnd, srtt=0.001))
        windows.append(law.cwnd)
    steps = [b - a for a, b in itertools.pairwise(windows)]
    back = next(i for i, w in enumerate(windows) if w >= 10.0)
    assert steps[:back] == pytest.approx([9.0 / 17.0] * back)
    assert steps[back:] == pytest.approx([1.0] * (20 - back))


def test_cubics_clock_stands_still_while_the_application_is_the_limit() -> None:
    law = Cubic()
    avoiding(law, 1000.0)
    law.on_congestion(sign("loss"))
    law.on_ack(ack(0.0))
    law.on_ack(ack(1.0))
    law.on_ack(ack(40.0, cwnd_limited=False))
    assert law.epoch == 39.0


def mean_window(law: Sender, start: float, p: float, rtt: float, cuts: int = 30, steps: int = 40) -> float:
    """Return the mean window with a loss every 1/p segments, per segment's round trip over the second half of the
    epochs."""
    now = segments = rounds = 0.0
    avoiding(law, start)
    law.on_congestion(sign("loss"))
    for cut in range(cuts):
        left = 1.0 / p
        while left > 1e-6:
            share = min(1.0 / steps, left / law.cwnd)
            left -= share * law.cwnd
            now += share * rtt
            if cut >= cuts // 2:
                segments += share * law.cwnd
                rounds += share
            law.on_ack(ack(now, acked=share * law.cwnd, rtt=rtt, srtt=rtt, min_rtt=rtt))
        law.on_congestion(sign("loss", now))
    return segments / rounds


@pytest.mark.parametrize(("p", "rtt", "window"), [(1e-4, 0.1, 187), (1e-5, 0.1, 1054), (1e-6, 0.1, 5926)])
def test_cubic_mean_window_is_that_of_the_rfcs_table(p: float, rtt: float, window: float) -> None:
    # Without fast convergence and started at its fixed point, as equation (6) has it: there each loss comes when the
    # window is back at its maximum (mean/0.925). Printed without decimals.
    law = Cubic(fast_convergence=False)
    assert mean_window(law, window / 0.925, p, rtt) == pytest.approx(window, rel=1e-3, abs=0.5)


@pytest.mark.parametrize(("p", "window"), [(1e-4, 120), (1e-5, 379)])
def test_cubic_mean_window_is_renos_where_round_trips_are_short(p: float, window: float) -> None:
    # 3 (1 - beta)/(1 + beta) is a fit, not exact (section 4.3): 3 %.
    assert mean_window(Cubic(), window / 0.925, p, 0.01) == pytest.approx(window, rel=0.03)


# FAST and Vegas.


@pytest.mark.parametrize("bdp", [500.0, 8333.0])
def test_fast_keeps_alpha_segments_queued(bdp: float) -> None:
    windows = path_of(avoiding(Fast(), 100.0), bdp, 400)
    # 100 segments every other round until a queue forms, then half of the distance, as far as the average of the
    # round-trip times has followed: its weight is 3/w per acknowledgement, of which a round here has 20.
    assert windows[-1] == pytest.approx(bdp + 200.0, rel=0.02)


def test_fast_moves_half_of_the_way_and_no_more_than_doubles() -> None:
    law = Fast()
    assert law.update(1000.0, 0.5) == 0.5 * 1000.0 + 0.5 * (0.5 * 1000.0 + 200.0)
    assert law.update(10.0, 1.0) == 20.0


def test_fast_spreads_a_move_over_one_round_and_rests_in_the_next() -> None:
    law = avoiding(Fast(), 1000.0)
    windows = []
    for i in range(40):
        law.on_ack(ack(acked=100.0, round_start=i % 10 == 0))
        windows.append(law.cwnd)
    first, second = [1000.0 + 10.0 * i for i in range(1, 11)], [1100.0 + 100.0 / 11.0 * i for i in range(1, 11)]
    assert windows == pytest.approx([*first, *[1100.0] * 10, *second, *[1100.0 + 1000.0 / 11.0] * 10])


def test_fast_weighs_a_round_trip_time_with_three_over_the_window_or_a_quarter() -> None:
    for flight, weight in [(6.0, 0.25), (300.0, 0.01)]:
        law = Fast()
        for rtt in (0.1, 0.2):
            law.on_ack(replace(ack(rtt=rtt), in_flight=flight))
        assert law.rtt == pytest.approx(0.1 + 0.1 * weight)


@pytest.mark.parametrize("start", [20.0, 140.0])
def test_vegas_settles_with_one_to_three_segments_queued(start: float) -> None:
    windows = path_of(avoiding(Vegas(), start), 100.0, 150)
    assert windows[-1] == windows[-20]
    assert 100.0 + 1.0 <= windows[-1] <= 100.0 + 3.0


def test_vegas_moves_by_one_segment_per_round_once_it_has_measured_one() -> None:
    windows = path_of(avoiding(Vegas(), 50.0), 100.0, 30)
    # The acknowledged segments of a round follow the changing window here: 1 %.
    steps = [b - a for a, b in itertools.pairwise(windows)]
    assert steps == pytest.approx([1.0] * 29, rel=0.01)
    down = path_of(avoiding(Vegas(), 140.0), 100.0, 20)
    assert [b - a for a, b in itertools.pairwise(down)] == pytest.approx([-1.0] * 19, rel=0.01)


def test_vegas_forgets_at_a_cut_what_it_has_measured() -> None:
    law = Vegas()
    path_of(avoiding(law, 140.0), 100.0, 5)
    law.on_congestion(sign("loss"))
    kept = law.cwnd
    law.on_ack(ack(rtt=0.3, round_start=True))
    law.on_ack(ack(rtt=0.3))
    assert law.cwnd == kept
    law.on_ack(ack(rtt=0.3, round_start=True))
    assert law.cwnd == kept - 1.0 / kept


@pytest.mark.parametrize("name", ["fast", "vegas"])
def test_a_law_that_shrinks_stays_out_of_slow_start(name: str) -> None:
    law = LAWS[name]()
    law.cwnd = law.ssthresh = 1000.0
    for i in range(400):
        law.on_ack(ack(0.05 * i, acked=law.cwnd / 4, rtt=0.5, round_start=i % 4 == 0))
        assert law.ssthresh <= law.cwnd
    assert law.cwnd < 990.0
