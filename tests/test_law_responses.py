"""Responses of the laws that run, compared with the publications' closed forms, small steps and each other."""

import numpy as np
import pytest

from elephan import _native
from elephan.catalog import catalog
from elephan.citations import CITATIONS
from elephan.errors import InputError
from elephan.theory import published, response
from elephan.theory.fairness import law as fairness_law
from elephan.theory.fairness import normalised
from elephan.theory.law_responses import SOURCES, LawResponses, law_responses
from elephan.theory.laws import compound, cubic, htcp, nr_hstcp
from elephan.theory.sawtooth import partial, synchronised

REMEMBERING = ["bic", "compound", "cubic", "htcp"]
COUNTING = sorted(set(SOURCES) - set(REMEMBERING))
# ACKs come sixteen times a round trip, and a thousand times while a sawtooth grows by its own length; what is detected
# at the next of them is late by half a step on average.
STEPS = 1e-2


@pytest.mark.parametrize("name", SOURCES)
def test_every_law_that_answers_to_loss_is_of_the_catalogue_and_has_a_source(name: str) -> None:
    assert name in {card["name"] for card in catalog("laws")}
    assert response(name).source in CITATIONS


@pytest.mark.parametrize("name", COUNTING)
def test_growth_and_cut_are_those_that_were_published(name: str) -> None:
    # The same formulas, written twice. Just above 38 segments HighSpeed's law gains one a round trip for 0.96.
    w, rtt = np.meshgrid([5.0, 10.0, 60.0, 500.0, 83_000.0], [0.01, 0.1, 0.3])
    law, curve = response(name), published(name)
    grown = curve.increase(w, rtt)
    # As in ns-2, Constant-Rate grows by no more than a segment an ACK.
    assert law.increase(w, rtt) == pytest.approx(np.minimum(grown, w) if name == "constant-rate" else grown, rel=1e-9)
    assert law.decrease(w, rtt) == pytest.approx(curve.decrease(w, rtt), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("reno", 1e-3),
        ("constant-rate", 1e-3),
        ("hybla", 1e-3),
        ("tabulated", 1e-3),
        # w(p) belongs to the mean window of a period of straight lines; HighSpeed's a(w) rises within it.
        ("highspeed", 0.03),
        ("nr-hstcp", 0.03),
        # Kelly leaves out the (2 - b) / 2 of the mean: 6 %.
        ("scalable", 0.07),
        # Without fast convergence, a loss detected a round trip late: 1.4 s of K = 7 to 30 s on the plateau.
        ("cubic(fast_convergence=false)", 0.02),
        # It rounds no number of round trips, and searches a half slower as its target moves with every ACK.
        ("bic(fast_convergence=false)", 0.06),
        # It does not grow for two round trips, until it knows its round-trip time.
        ("compound", 0.05),
    ],
)
def test_the_response_function_is_the_published_one(name: str, tolerance: float) -> None:
    p = np.array([1e-5, 1e-6, 1e-7])
    curve = cubic() if name.startswith("cubic") else published(name.partition("(")[0])
    assert response(name).window(p, 0.1) == pytest.approx(curve.window(p, 0.1), rel=tolerance)


def test_htcp_on_an_even_path_keeps_four_fifths() -> None:
    # Its round-trip time never changes, so it keeps 0.8; a loss detected a round trip late.
    p = np.array([1e-5, 1e-6, 1e-7])
    assert response("htcp").window(p, 0.1) == pytest.approx(htcp(0.8).window(p, 0.1), rel=STEPS)
    kept = response("htcp(adaptive_backoff=false)")
    assert kept.window(p, 0.1) == pytest.approx(htcp(0.5).window(p, 0.1), rel=STEPS)


@pytest.mark.parametrize("name", SOURCES)
def test_every_inverse_leads_back(name: str) -> None:
    law = response(name)
    w, rtt = np.meshgrid(np.geomspace(30.0, 1e6, 61), [0.01, 0.1, 0.3])
    p = law.loss(w, rtt)
    assert (np.diff(p, axis=1) <= 0).all()
    # Straight lines between lines of RTT do not quite lead back over a kink.
    assert law.window(p, rtt) == pytest.approx(w, rel=0.05)


@pytest.mark.parametrize("name", SOURCES)
def test_what_lies_between_the_windows_asked_for_is_a_straight_line(name: str) -> None:
    law = law_responses(name)
    windows = np.array([37.0, 370.0, 3700.0, 37_000.0])
    packets, rounds = law.periods(windows, 0.13)
    # Laws that remember are evaluated at three windows per octave, the others at sixteen; some kinks lie between them.
    assert law.window(1 / packets, 0.13) == pytest.approx(packets / rounds, rel=0.03 if law.remembers else 0.015)


@pytest.mark.parametrize("name", ["highspeed", "nr-hstcp", "scalable", "htcp"])
def test_the_kernels_numbers_are_asked_as_real_ones(name: str) -> None:
    here, there = law_responses(f"{name}(arithmetic=kernel)"), law_responses(name)
    assert here.decrease(1000, 0.1) == there.decrease(1000, 0.1)
    assert here.periods(1000, 0.1)[0] == there.periods(1000, 0.1)[0]


def test_a_law_hears_its_own_parameters() -> None:
    assert law_responses("reno(increase=2; decrease=0.2)").increase(100) == 2
    assert law_responses("reno(decrease=0.2)").decrease(100) == pytest.approx(0.2)
    assert law_responses("cubic(beta=0.3)").decrease(1000, 0.1) == pytest.approx(0.7)
    assert law_responses("nr-hstcp(mss=9000)").increase(3000, 0.25) == pytest.approx(
        nr_hstcp(9000).increase(3000, 0.25)
    )
    # A sawtooth of AIMD from (1 - b) W to W: (1 - b/2) b W^2 / a packets.
    packets, rounds = law_responses("reno(increase=2; decrease=0.2)").periods(1000, 0.1)
    assert packets == pytest.approx(0.9 * 0.2 * 1e6 / 2)
    assert rounds == pytest.approx(100)


def test_recovery_times_are_those_of_the_law_with_the_flows_segments() -> None:
    w, rtt, mss = (np.asarray(x, dtype=float) for x in (3000.0, 0.25, 9000.0))
    assert fairness_law("nr-hstcp")(w, rtt, mss) == pytest.approx(normalised(w, rtt, mss))
    a, b = fairness_law("nr-hstcp(mss=1500)")(w, rtt, mss)
    assert (a, b) != pytest.approx(normalised(w, rtt, mss))


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
    found = synchronised(response("cubic"), w / rtt, 0, rtt)
    assert found.period == pytest.approx((first + second) / 2, rel=STEPS)
    assert found.utilisation == pytest.approx(area / (first + second) / w, rel=STEPS)


def test_cubic_without_fast_convergence_has_the_windows_of_its_rfc() -> None:
    # RFC 9438, Section 5.1: a mean window of 33,325 at p = 1e-7 and 100 ms; the peak that belongs to it overflows.
    p, rtt = 1e-7, 0.1
    peak = float(cubic().window(p, rtt)) / (3 + 0.7) * 4
    found = synchronised(response("cubic(fast_convergence=false)"), peak / rtt, 0, rtt)
    # It returns to its peak after K = cbrt(0.3 W / C). On the plateau a segment more or less takes cbrt(1 / C) = 1.4 s
    # of these 30 s; the mean window hardly changes there.
    assert found.period == pytest.approx(np.cbrt(0.3 * peak / 0.4), abs=1.4)
    assert found.utilisation * peak == pytest.approx(float(cubic().window(p, rtt)), rel=0.01)
    assert found.events == pytest.approx(p, rel=1.4 / 30)


def test_cubic_on_a_short_path_is_reno_with_its_average() -> None:
    # 50 segments at 10 ms: from 35 at 9/17 a round trip. alpha = 3 (1 - beta) / (1 + beta). The law looks ahead by a
    # round trip, which is worth C (t + RTT - K)^3: nothing here. One round trip more until the loss is detected is in
    # the window at which it is, one until it is repaired is not.
    found = synchronised(response("cubic"), 5000, 0, 0.01)
    alpha = 9 / 17
    rounds = (50 - 0.7 * (50 + alpha)) / alpha
    assert found.period == pytest.approx(
        (rounds + 2) * 0.01, rel=0.03
    )  # a step of a sixteenth of a round trip at each end


def test_bic_searches_and_probes_by_turns() -> None:
    # No queue, W = 4000. It probes at 32 segments per round trip when it overflows, so aims 32 above W; from there it
    # grows by half of 32, and then aims at 15/16 of that.
    w, rtt = 4000.0, 0.05
    high, low = w + 32, w + 16
    searching = (high - 0.875 * high - 64) / 32 + 2 * np.log(64 / 32)
    aim = 0.9375 * low
    # To the aim until the step is below 0.01; five round trips for 31 segments beyond it; then 32 each.
    probing = (aim - 0.875 * low - 64) / 32 + 2 * np.log(64 / 0.02) + 5 + (w - aim - 31) / 32
    found = synchronised(response("bic"), w / rtt, 0, rtt)
    # And the round trips in which the loss is detected and repaired, of some 30.
    assert found.period == pytest.approx(((searching + probing) / 2 + 2) * rtt, rel=0.05)


def test_htcp_gives_up_what_waits_and_no_more_than_half() -> None:
    buffer = np.array([400, 1000, 1500])
    found = synchronised(response("htcp"), 10_000, buffer, 0.1)
    # From 1/0.8 of the product on the queue only just empties: the link is always busy.
    assert found.utilisation == pytest.approx(np.ones(3), abs=1e-2)
    # Windows from w to 2 w above the product on average: between 500 and 1000 of 1500 wait.
    assert 500 < found.queue[2] < 1000


def test_compound_grows_by_a_power_of_its_window_where_nothing_waits() -> None:
    w, rtt = 2000.0, 0.05
    start = 0.5 * (w + 0.125 * w**0.75)
    # dw/dn = alpha w^k: n = 4 (W^(1/4) - start^(1/4)) / alpha, and the round trips before it knows its round-trip time,
    # and those of a loss.
    rounds = 4 * (w**0.25 - start**0.25) / 0.125
    found = synchronised(response("compound"), w / rtt, 0, rtt).period / rtt
    assert rounds < found < rounds + 5
    assert compound().increase(w) == pytest.approx(0.125 * w**0.75)


@pytest.mark.parametrize("buffer", [0, 20, 100])
def test_cubic_agrees_with_small_steps_of_its_own_function(buffer: float) -> None:
    # The window as RFC 9438 has it, a function of time and of round trips, in steps of a hundredth of a round trip; a
    # loss is detected a round trip later, and the window stands still for another.
    c, beta, tau, rate = 0.4, 0.7, 0.02, 6000.0
    top, alpha = rate * tau + buffer, 9 / 17
    full = top / rate
    aim = start = top
    time = rounds = total = sent = 0.0
    cuts: list[tuple[float, float]] = []
    while len(cuts) < 12:
        k = np.cbrt(max(aim - start, 0) / c)
        w = max(aim + c * (time - k) ** 3, start + alpha * rounds)
        if w >= top:
            leads = start + alpha * rounds > aim + c * (time - k) ** 3
            peak = w + (alpha if leads else 3 * c * (time - k) ** 2 * full)
            aim = peak * (1 + beta) / 2 if peak < aim * (1 - 1e-6) else peak
            start = beta * peak
            # Detected with the link full; repaired with the window that is left.
            total, sent = total + full + max(tau, start / rate), sent + rate * full + start
            cuts.append((total, sent))
            time = rounds = 0.0
            continue
        rtt = max(tau, w / rate)
        dt = rtt / 100
        time, rounds, total, sent = time + dt, rounds + 0.01, total + dt, sent + w * 0.01
    span, segments = (end - begin for end, begin in zip(cuts[11], cuts[7], strict=True))
    found = synchronised(response("cubic"), rate, buffer, tau)
    # It looks ahead by a round trip, of about a hundred, and what leads may change within a step of either.
    assert found.period == pytest.approx(span / 4, rel=0.03)
    assert found.utilisation == pytest.approx(segments / span / rate, abs=STEPS)


@pytest.mark.parametrize("name", REMEMBERING)
def test_flows_that_are_all_cut_are_synchronised(name: str) -> None:
    together = synchronised(response(name), 12_500, 200, 0.1, 3)
    followed = partial(response(name), 12_500, 200, [0.1] * 3, 3)
    # BIC's two sawteeth settle slowly: what one of them remembers of the other is left.
    for what in ("utilisation", "period", "queue", "rates", "events"):
        assert getattr(followed, what) == pytest.approx(getattr(together, what), rel=3 * STEPS)


@pytest.mark.parametrize("name", REMEMBERING)
def test_flows_cut_one_at_a_time_use_more_and_share_alike(name: str) -> None:
    staggered = partial(response(name), 12_500, 20, [0.1] * 4, 1, turns=6)
    assert staggered.utilisation > synchronised(response(name), 12_500, 20, 0.1, 4).utilisation
    # Equal laws and round-trip times take turns; six of each, one more or less.
    assert staggered.rates == pytest.approx(np.full(4, 12_500 * staggered.utilisation / 4), rel=1 / 6)


@pytest.mark.parametrize("name", COUNTING)
def test_a_law_that_forgets_is_followed_as_it_is_integrated(name: str) -> None:
    law = law_responses(name)
    buffers = [20.0, 300.0, 2000.0]
    followed = law.alone(12_500, buffers, 0.1)[:, 0]
    whole = synchronised(law, 12_500, buffers, 0.1)
    # It learns of a loss a round trip later and repairs it in another: Hybla's sawtooth has some forty, others more.
    assert followed == pytest.approx(whole.utilisation, abs=0.02)


def test_all_links_of_an_array_are_those_computed_alone() -> None:
    buffers = [0.0, 400.0]
    for name in REMEMBERING:
        together = synchronised(response(name), 12_500, buffers, 0.1, [1, 4])
        for i, (buffer, flows) in enumerate(zip(buffers, (1, 4), strict=True)):
            alone = synchronised(response(name), 12_500, buffer, 0.1, flows)
            assert together.utilisation[i] == pytest.approx(float(alone.utilisation), rel=1e-9)
            assert together.queue[i] == pytest.approx(float(alone.queue), rel=1e-9)


def test_one_round_of_the_engine_is_the_growth_that_is_asked_for() -> None:
    for name in COUNTING:
        law: LawResponses = law_responses(name)
        rows = _native.law_rounds(
            f'{{ law = "{name}" }}', base_rtt_s=0.1, bdp=1e6, losses=[0], timeouts=[], count=6, initial_window=300
        )
        w, then = rows[4, 1], rows[5, 1]
        # First order in a/w, and whole ACKs.
        assert then - w == pytest.approx(float(law.increase(w, 0.1)), rel=0.06, abs=0.01)


def test_what_cannot_be_asked_is_said_in_a_line() -> None:
    with pytest.raises(InputError, match='response: there is none to loss alone for "vegas"'):
        response("vegas")
    with pytest.raises(InputError, match="law: bbr3 rules its window by itself"):
        _native.LawEvaluator('{ law = "bbr" }')
    with pytest.raises(InputError, match="cubic: its growth is not a function of the window"):
        response("cubic").increase(100, 0.1)
    with pytest.raises(InputError, match="hybla: its response depends on the round-trip time; give rtt"):
        response("hybla").increase(100)
    with pytest.raises(InputError, match="reno: window and rtt must be above 0"):
        response("reno").decrease(0.0)
    with pytest.raises(InputError, match=r'law: "cubic\(beta\)" is not of the form cubic\(c=…; …\)'):
        response("cubic(beta)")
