"""Response functions: RFC tables, published vectors, and every inverse."""

import numpy as np
import pytest

from elephan.catalog import catalog
from elephan.citations import CITATIONS
from elephan.errors import InputError
from elephan.theory import RESPONSES, aimd, highspeed, nr_hstcp, published, reno
from elephan.theory.laws import Variant, bic, compound, cubic, htcp, scalable

# hstcp-buffer-model, section 1: a(w) in the three roundings; at 38 the limit from above.
INCREASES = {
    38: (0.9627, 0.9546, 1.0000),
    118: (2.0276, 2.0058, 2.0945),
    221: (3.0422, 3.0054, 3.1328),
    1058: (8.1361, 8.0108, 8.3137),
    12834: (33.699, 33.003, 34.012),
    83000: (72.516, 70.735, 72.516),
}
# RFC 3649, Table 2: packet drop rate and congestion window of HighSpeed TCP.
RFC3649_WINDOWS = {1e-4: 263, 1e-5: 1795, 1e-6: 12279, 1e-7: 83981}
# RFC 9438, Table 1 (RTT 0.1 s) and Table 2 (0.01 s): Reno's window, CUBIC's with C = 0.04, 0.4, 4.
RFC9438_WINDOWS = {
    (1e-4, 0.1): (120, 120, 187, 333),
    (1e-6, 0.1): (1200, 3332, 5926, 10538),
    (1e-8, 0.1): (12000, 105383, 187400, 333250),
    (1e-5, 0.01): (379, 379, 379, 379),
    (1e-8, 0.01): (12000, 18740, 33325, 59261),
}


@pytest.mark.parametrize(("column", "variant"), list(enumerate(("log", "rfc", "ns2"))))
def test_the_three_roundings_of_highspeed_grow_as_published(column: int, variant: Variant) -> None:
    windows = np.nextafter(np.array(list(INCREASES), dtype=float), np.inf)
    published = [row[column] for row in INCREASES.values()]
    # Five or four digits are given.
    assert highspeed(variant).increase(windows) == pytest.approx(published, rel=5e-5, abs=5e-5)


def test_highspeed_has_the_windows_of_the_rfc() -> None:
    # The RFC's column is 0.12 / p^0.835: exponent rounded by 0.0002 and factor by 1 %.
    found = highspeed().window(list(RFC3649_WINDOWS))
    assert found == pytest.approx(list(RFC3649_WINDOWS.values()), rel=0.013)


def test_the_table_of_the_rfc_follows_from_its_rounded_function() -> None:
    # Appendix B of RFC 3649: its first rows and its last, with 1/12.8 for 0.078 and a row whenever a grew by one.
    windows = np.arange(39.0, 95_000.0)
    grows = highspeed("rfc").increase(windows) / (0.078 * 12.8)
    rows, last = [38], 1.0
    for w, a in zip(windows, grows, strict=True):
        if a > last + 1:
            rows.append(int(w))
            last = a
    assert rows[:9] == [38, 118, 221, 347, 495, 663, 851, 1058, 1284]
    assert rows[-3:] == [84035, 89053, 94717]
    assert np.round(highspeed("rfc").decrease(rows[1:9]), 2).tolist() == [
        0.44,
        0.41,
        0.38,
        0.37,
        0.35,
        0.34,
        0.33,
        0.32,
    ]


@pytest.mark.parametrize(("at", "windows"), RFC9438_WINDOWS.items())
def test_cubic_has_the_windows_of_its_rfc(at: tuple[float, float], windows: tuple[int, ...]) -> None:
    p, rtt = at
    found = np.array([float(law.window(p, rtt)) for law in (reno(), cubic(0.04), cubic(), cubic(4.0))])
    # The RFC rounds Reno's factor, sqrt(1.5), to 1.2; its windows are whole, and CUBIC's factor has four digits.
    exact = np.where(np.equal(windows, windows[0]), np.sqrt(1.5) / 1.2, 1.0) * windows
    assert (np.abs(found - exact) < 1.1 + 2e-4 * exact).all()


def test_reno_meets_the_inverse_square_root_law() -> None:
    # Mathis et al. 1997, Table 1: C = 1.22 for an ACK per segment, 0.87 for every other, periodic losses.
    assert reno().window(1e-4) / 100 == pytest.approx(1.22, abs=0.005)
    assert reno(2).window(1e-4) / 100 == pytest.approx(0.87, abs=0.005)


def test_scalable_holds_eight_hundredths_over_p() -> None:
    # Kelly 2003: a / (b p).
    assert scalable().window(1e-6) == pytest.approx(80_000)


def test_bic_is_additive_at_large_windows_and_a_search_at_small_ones() -> None:
    # Xu et al. 2004: with beta W >> 2 S_max the law of AIMD(S_max, beta). The search near the top
    # adds log2(2 S_max / S_min) = 13 rounds to beta W / S_max, 2100 of them at p = 1e-9.
    assert bic().window(1e-9) == pytest.approx(aimd(32, 0.125).window(1e-9), rel=0.02)
    # Then at small windows it is the search alone: w = top (1 - 2 beta / N), 1/p = N w.
    top = 200.0
    rounds = np.log2(0.125 * top / 0.01) + 2
    packets = top * rounds - 2 * 0.125 * top + 0.01
    assert bic().window(1 / packets) == pytest.approx(packets / rounds)


def test_htcp_is_reno_within_its_first_second_and_gains_beyond() -> None:
    p = np.array([1e-2, 1e-3])
    # An epoch of 2/3 of a window's round trips: at 10 ms and p = 1e-3 it lasts 0.26 s.
    assert htcp().window(p, 0.01) == pytest.approx(reno().window(p))
    assert (htcp().window([1e-6, 1e-8], 0.1) > 3 * reno().window([1e-6, 1e-8])).all()


def test_htcp_agrees_with_a_step_by_step_period() -> None:
    rtt, dt, period = 0.1, 1e-4, 10.0
    t = np.arange(0.0, period, dt) + dt / 2
    late = np.maximum(t - 1, 0)
    rise = np.cumsum(1 + 10 * late + (late / 2) ** 2) * dt / rtt
    w = rise + rise[-1]
    # Midpoints: the error is of order dt / period.
    assert htcp().window(rtt / (w.sum() * dt), rtt) == pytest.approx(w.mean(), rel=1e-4)


def test_compound_agrees_with_a_step_by_step_period() -> None:
    w, packets, rounds, step = 5000.0, 0.0, 0.0, 0.01
    while w < 10_000:
        w += 0.125 * w**0.75 * step
        packets += w * step
        rounds += step
    # Euler steps of a hundredth of a round.
    assert compound().window(1 / packets) == pytest.approx(packets / rounds, rel=1e-3)


# nr-hstcp, section 1: cwnd, RTT [s], MSS -> a, b.
@pytest.mark.parametrize(
    ("w", "rtt", "mss", "a", "b"),
    [
        (1000, 0.1, 1500, 7.7398, 0.3299),
        (1000, 0.2, 1500, 20.160, 0.3659),  # nr.ref.a1000.200
        (1000, 0.05, 1500, 2.9373, 0.2938),
        (20, 0.25, 1500, 2.1073, 0.5),
        (10, 0.1, 1500, 1.0, 0.5),
        (3000, 0.25, 9000, 25.376, 0.2272),
        (500, 0.1, 576, 7.1518, 0.4157),
        (16, 1.0, 576, 15.295, 0.5),
        (5, 1.0, 1500, 5.0, 0.5),
        (20_000, 0.25, 1500, 161.15, 0.2217),  # nr.ref.b20000
    ],
)
def test_nr_hstcp_has_the_published_vectors(w: float, rtt: float, mss: float, a: float, b: float) -> None:
    law = nr_hstcp(mss)
    # Five digits are given.
    assert law.increase(w, rtt) == pytest.approx(a, rel=5e-5)
    assert law.decrease(w, rtt) == pytest.approx(b, abs=5e-5)


def test_the_rate_of_nr_hstcp_depends_on_loss_alone_where_it_scales() -> None:
    rtts = np.array([0.1, 0.15, 0.25])
    rates = nr_hstcp().throughput(1e-5, rtts)
    # The increase per second and the decrease depend on the rate alone: losses per second then, not per segment, do.
    assert rates == pytest.approx(rates[0])


@pytest.mark.parametrize("name", RESPONSES)
def test_every_inverse_leads_back(name: str) -> None:
    law = published(name)
    w, rtt = np.meshgrid(np.geomspace(1.0, 1e6, 61), [0.01, 0.1, 0.3])
    p = law.loss(w, rtt)
    assert (np.diff(p, axis=1) < 0).all()
    # Rounding error of the bisection.
    assert law.window(p, rtt) == pytest.approx(w, rel=1e-9)


@pytest.mark.parametrize("name", RESPONSES)
def test_every_response_belongs_to_a_law_of_the_catalogue_and_has_a_source(name: str) -> None:
    assert name in {card["name"] for card in catalog("laws")}
    assert published(name).source in CITATIONS


@pytest.mark.parametrize("name", ["highspeed", "scalable", "nr-hstcp", "reno", "hybla", "constant-rate"])
def test_a_and_b_balance_the_response(name: str) -> None:
    law = published(name)
    w = np.array([50.0, 1e3, 1e5])
    a, b = law.increase(w, 0.1), law.decrease(w, 0.1)
    # p = a (2 - b) / (2 b w^2); Kelly leaves out the (2 - b) / 2, 6 %.
    assert law.loss(w, 0.1) == pytest.approx(a * (2 - b) / (2 * b * w**2), rel=0.07 if name == "scalable" else 1e-9)


def test_what_cannot_be_answered_is_said_in_a_line() -> None:
    with pytest.raises(InputError, match="cubic: its response depends on the round-trip time; give rtt"):
        cubic().window(1e-3)
    with pytest.raises(InputError, match="cubic: its growth is not a function of the window"):
        cubic().increase(100, 0.1)
    with pytest.raises(InputError, match="reno: p and rtt must be above 0"):
        reno().window(0.0)
    with pytest.raises(InputError, match='response: none is published for "vegas"'):
        published("vegas")
