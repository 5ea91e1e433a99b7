"""Sawtooths of laws that remember their last loss against closed forms, small steps, and one way against the other."""

from dataclasses import replace

import numpy as np
import pytest

from elephan.theory import Response, response
from elephan.theory.laws import bic, compound, cubic, htcp
from elephan.theory.response import Climb
from elephan.theory.sawtooth import partial, synchronised

REMEMBERING = [bic(), compound(), cubic(), htcp()]
# Forty steps in which something changes by its own size, the midpoint rule: (1/40)^2 of what bends, some of it more
# than once.
STEPS = 2e-3


def named(law: Response) -> str:
    return law.name


def test_cubic_aims_at_its_peak_and_below_it_by_turns() -> None:
    # No queue, far above Reno: all in real time. With W the window at overflow and o the growth of one round trip:
    c, beta, rtt, w = 0.4, 0.7, 0.01, 10_000.0
    # from beta P to W on the way to aim P = W + o, then from beta P' by way of (1 + beta) / 2 P' to W, P' = W + o'.
    high = low = w
    for _ in range(20):
        first_k, first = np.cbrt((1 - beta) * high / c), np.cbrt((1 - beta) * high / c) - np.cbrt((high - w) / c)
        low = w + 3 * c * (first - first_k) ** 2 * rtt
        aim = (1 + beta) / 2 * low
        second_k = np.cbrt((aim - beta * low) / c)
        second = second_k + np.cbrt((w - aim) / c)
        high = w + 3 * c * (second - second_k) ** 2 * rtt
    area = high * first + c / 4 * ((first - first_k) ** 4 - first_k**4)
    area += aim * second + c / 4 * ((second - second_k) ** 4 - second_k**4)
    found = synchronised(cubic(), w / rtt, 0, rtt)
    assert found.period == pytest.approx((first + second) / 2, rel=STEPS)
    assert found.utilisation == pytest.approx(area / (first + second) / w, rel=STEPS)


def test_cubic_without_fast_convergence_has_the_windows_of_its_rfc() -> None:
    law = cubic()
    assert law.climb
    stubborn = replace(law, climb=replace(law.climb, aim=lambda peak, _: peak))
    # RFC 9438, Section 5.1: a mean window of 33,325 at p = 1e-7 and 100 ms; the peak that belongs to it overflows.
    p, rtt = 1e-7, 0.1
    peak = float(law.window(p, rtt)) / (3 + 0.7) * 4
    found = synchronised(stubborn, peak / rtt, 0, rtt)
    # It returns to its peak after K = cbrt(0.3 W / C). On the plateau a segment more or less takes cbrt(1 / C) = 1.4 s
    # of these 30 s; the mean window hardly changes there.
    assert found.period == pytest.approx(np.cbrt(0.3 * peak / 0.4), abs=1.4)
    assert found.utilisation * peak == pytest.approx(float(law.window(p, rtt)), rel=0.01)
    assert found.events == pytest.approx(p, rel=1.4 / 30)


def test_cubic_on_a_short_path_is_reno_with_its_average() -> None:
    # 50 segments at 10 ms: from 35 at 9/17 a round trip. alpha = 3 (1 - beta) / (1 + beta).
    found = synchronised(cubic(), 5000, 0, 0.01)
    alpha = 9 / 17
    rounds = (50 - 0.7 * (50 + alpha)) / alpha
    assert found.period == pytest.approx(rounds * 0.01, rel=STEPS)
    assert found.utilisation == pytest.approx((1 + 0.7 * (50 + alpha) / 50) / 2, rel=STEPS)


def test_bic_searches_and_probes_by_turns() -> None:
    # No queue, W = 4000. It probes at 32 segments per round trip when it overflows, so aims 32 above W; from there it
    # grows by half of 32, and then aims at 15/16 of that.
    w, rtt = 4000.0, 0.05
    high, low = w + 32, w + 16
    searching = (high - 0.875 * high - 64) / 32 + 2 * np.log(64 / 32)
    aim = 0.9375 * low
    # To the aim until the step is below 0.01; five round trips for 31 segments beyond it; then 32 each.
    probing = (aim - 0.875 * low - 64) / 32 + 2 * np.log(64 / 0.02) + 5 + (w - aim - 31) / 32
    found = synchronised(bic(), w / rtt, 0, rtt)
    # Doublings on the way are met by steps of half a round trip: up to a quarter of one each, of some 30.
    assert found.period == pytest.approx((searching + probing) / 2 * rtt, rel=1e-2)


def test_htcp_takes_the_time_in_which_its_growth_adds_up() -> None:
    w, rtt = 2000.0, 0.05
    # Without a queue it keeps 0.8, and alpha is 0.4 (1 + 10 x + (x/2)^2), x = t - 1.
    times = np.linspace(1, 10, 900_001)
    late = times - 1
    lost = w - 0.8 * (w + 0.4 * (1 + 10 * late + late**2 / 4))
    period = times[np.argmax(0.4 * (times + 5 * late**2 + late**3 / 12) / rtt > lost)]
    assert synchronised(htcp(), w / rtt, 0, rtt).period == pytest.approx(period, rel=STEPS)


def test_htcp_gives_up_what_waits_and_no_more_than_half() -> None:
    buffer = np.array([400, 1000, 1500])
    found = synchronised(htcp(), 10_000, buffer, 0.1)
    # From 1/0.8 of the product on the queue only just empties: the link is always busy.
    assert found.utilisation == pytest.approx(np.ones(3), abs=1e-6)
    # Windows from w to 2 w above the product on average: between 500 and 1000 of 1500 wait.
    assert 500 < found.queue[2] < 1000


def test_compound_grows_by_a_power_of_its_window_where_nothing_waits() -> None:
    w, rtt = 2000.0, 0.05
    start = 0.5 * (w + 0.125 * w**0.75)
    # dw/dn = alpha w^k: n = 4 (W^(1/4) - start^(1/4)) / alpha.
    period = 4 * (w**0.25 - start**0.25) / 0.125 * rtt
    assert synchronised(compound(), w / rtt, 0, rtt).period == pytest.approx(period, rel=STEPS)


def test_compound_with_room_for_its_target_waits_for_its_loss_window() -> None:
    # Far above gamma the period is Reno's: from half the window by one a round trip.
    w, product = 1500.0, 1000.0
    found = synchronised(compound(), 10_000, 500, 0.1)
    rounds = w - 0.5 * (w + 1)
    assert 1 / found.events == pytest.approx(float(found.period) * 10_000 * float(found.utilisation))
    # Until the loss window is there the window rests at 1030, from then on round trips last w / 1000 of 0.1 s.
    resting = 1030 - 0.5 * (w + 1)
    # The climb from 750 to 1030, at 20 a round trip, is 280 round trips' worth of resting at less than 0.1 s more.
    period = 0.103 * resting + (w**2 - 1030**2) / 2 / product * 0.1
    assert rounds * 0.1 < period
    assert found.period == pytest.approx(period, rel=0.01)


@pytest.mark.parametrize("buffer", [0, 20, 100])
def test_cubic_agrees_with_small_steps_of_its_own_function(buffer: float) -> None:
    # The window as RFC 9438 has it, a function of time and of round trips, in steps of a hundredth of a round trip.
    c, beta, tau, rate = 0.4, 0.7, 0.02, 6000.0
    top, alpha = rate * tau + buffer, 9 / 17
    aim = peak = start = top
    time = rounds = total = sent = 0.0
    cuts: list[tuple[float, float]] = []
    while len(cuts) < 8:
        k = np.cbrt(max(aim - start, 0) / c)
        w = max(aim + c * (time - k) ** 3, start + alpha * rounds)
        if w >= top:
            leads = start + alpha * rounds > aim + c * (time - k) ** 3
            peak = w + (alpha if leads else 3 * c * (time - k) ** 2 * (tau + buffer / rate))
            aim = peak * (1 + beta) / 2 if peak < aim * (1 - 1e-6) else peak
            start = beta * peak
            cuts.append((total, sent))
            time = rounds = 0.0
            continue
        rtt = max(tau, w / rate)
        dt = rtt / 100
        time, rounds, total, sent = time + dt, rounds + 0.01, total + dt, sent + w * 0.01
    span, segments = (end - begin for end, begin in zip(cuts[7], cuts[5], strict=True))
    found = synchronised(cubic(), rate, buffer, tau)
    assert found.period == pytest.approx(span / 2, rel=5e-3)  # what leads may change within a step of either
    assert found.utilisation == pytest.approx(segments / span / rate, rel=STEPS)


@pytest.mark.parametrize("law", REMEMBERING, ids=named)
def test_flows_that_are_all_cut_are_synchronised(law: Response) -> None:
    together = synchronised(law, 12_500, 200, 0.1, 3)
    followed = partial(law, 12_500, 200, [0.1] * 3, 3)
    # The same steps, of one flow and of three; H-TCP's peak, higher by its growth, settles by a tenth a cut.
    for name in ("utilisation", "period", "queue", "rates", "events", "dropped"):
        assert getattr(followed, name) == pytest.approx(getattr(together, name), rel=1e-3)


@pytest.mark.parametrize("law", REMEMBERING, ids=named)
def test_flows_cut_one_at_a_time_use_more_and_share_alike(law: Response) -> None:
    staggered = partial(law, 12_500, 20, [0.1] * 4, 1, turns=6)
    assert staggered.utilisation > synchronised(law, 12_500, 20, 0.1, 4).utilisation
    # Equal laws and round-trip times take turns; six of each, one more or less.
    assert staggered.rates == pytest.approx(np.full(4, 12_500 * staggered.utilisation / 4), rel=1 / 6)


@pytest.mark.parametrize("name", ["highspeed", "scalable", "reno"])
def test_a_climb_that_forgets_is_the_law_without(name: str) -> None:
    law = response(name)
    climb = Climb(lambda s: law.increase(s.window), lambda w, _, __: law.decrease(w), lambda peak, _: peak)
    followed = synchronised(replace(law, climb=climb), 12_500, [0, 300, 2000], 0.1)
    whole = synchronised(law, 12_500, [0, 300, 2000], 0.1)
    # It learns of a loss a round trip later: cuts come from a window that is higher by its growth, below 1 % here.
    assert followed.utilisation == pytest.approx(whole.utilisation, abs=0.01)


def test_all_links_of_an_array_are_those_computed_alone() -> None:
    buffers = [0.0, 400.0]
    for law in REMEMBERING:
        together = synchronised(law, 12_500, buffers, 0.1, [1, 4])
        for i, (buffer, flows) in enumerate(zip(buffers, (1, 4), strict=True)):
            alone = synchronised(law, 12_500, buffer, 0.1, flows)
            assert together.utilisation[i] == pytest.approx(float(alone.utilisation), rel=1e-9)
            assert together.queue[i] == pytest.approx(float(alone.queue), rel=1e-9)
