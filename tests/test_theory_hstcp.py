"""The fluid model of one HighSpeed flow: its published vectors, and the closed form against its own equation."""

import numpy as np
import pytest

from elephan.errors import InputError
from elephan.theory import highspeed, hstcp

RTT = 0.12
# hstcp-buffer-model, section 2.6: throughput and period of the exact equation.
VECTORS = {
    5e-4: (422.91, 3.2908),
    1e-4: (1708.27, 4.3131),
    1.5e-5: (8809.32, 5.9428),
    1e-5: (12500.26, 6.3653),
    1e-6: (90862.0, 9.4097),
    1e-7: (656921, 13.9241),
}
P = np.array(list(VECTORS))


@pytest.mark.parametrize(("p", "vector"), VECTORS.items())
def test_the_exact_equation_has_the_published_vectors(p: float, vector: tuple[float, ...]) -> None:
    found = hstcp.exact(p, RTT).period
    assert found.throughput == pytest.approx(vector[0], rel=1.5e-5)
    assert found.duration == pytest.approx(vector[1], rel=1.5e-5)


@pytest.mark.parametrize("p", P)
def test_the_closed_form_solves_the_equation_with_the_least_b(p: float) -> None:
    closed, integrated = hstcp.closed_form(p, RTT), hstcp.exact(p, RTT, least=True)
    # The integrator's relative error, 1e-11 a step.
    assert integrated.period.duration == pytest.approx(closed.duration, rel=1e-8)
    assert integrated.period.packets == pytest.approx(closed.packets, rel=1e-8)
    assert integrated.window == pytest.approx(hstcp.window(integrated.t, p, RTT), rel=1e-8)


def test_the_closed_form_is_good_for_throughput_only() -> None:
    exact = [hstcp.exact(p, RTT).period for p in P]
    closed = hstcp.closed_form(P, RTT)
    # hsbuf.ref.lam.*: "exact ODE within 0.5%", always below it.
    low = 1 - closed.throughput / np.array([float(e.throughput) for e in exact])
    assert (low > 0).all()
    assert (low < 0.005).all()
    # While the period is up to 6.1 times too long, and N p, which one loss a period makes 1, is not.
    long = closed.duration / np.array([float(e.duration) for e in exact])
    assert long.max() == pytest.approx(6.1, abs=0.05)
    assert (closed.packets * P)[[0, 2, 5]] == pytest.approx([4.2, 2.9, 0.94], abs=0.05)


def test_the_throughput_is_the_peak_less_half_the_cut() -> None:
    top, b = hstcp.peak(P)
    # The window grows faster than a line and slower than an exponential: its mean lies between those of the two.
    mean = hstcp.throughput(P, RTT) * RTT
    assert (mean < top * (1 - b / 2)).all()
    assert (mean > top * b / -np.log(1 - b)).all()
    # And so it lies below the RFC's, whose w(p) is the mean: by 0.84 at p = 1.5e-5.
    assert hstcp.throughput(1.5e-5, RTT) / highspeed().throughput(1.5e-5, RTT) == pytest.approx(0.84, abs=0.01)
    # The mean window at the largest p of the RFC is 0.9493 of its 83000.
    assert hstcp.throughput(1e-7, RTT) * RTT / 83_000 == pytest.approx(0.9493, abs=5e-5)


def test_above_one_in_a_thousand_it_is_reno() -> None:
    found = hstcp.closed_form(4e-3, 0.1)
    assert found.peak == pytest.approx(19.0)
    assert found.decrease == pytest.approx(0.5)
    assert found.throughput == pytest.approx(0.75 * 19 / 0.1)


def test_beyond_the_table_of_the_rfc_the_cut_goes_on_falling_and_stays_positive() -> None:
    b = hstcp.peak([1e-8, 1e-12, 1e-20])[1]
    assert b[0] == pytest.approx(0.0, abs=0.1)
    assert (b[1:] == 0.01).all()


def test_it_grows_with_the_rate_and_not_with_the_delay() -> None:
    rates = hstcp.throughput(1e-5, [0.06, 0.12, 0.24])
    assert rates * np.array([0.06, 0.12, 0.24]) == pytest.approx(rates[1] * 0.12)


def test_bad_input_is_said_in_a_line() -> None:
    with pytest.raises(InputError, match="hstcp: rtt must be above 0"):
        hstcp.throughput(1e-5, 0.0)
    with pytest.raises(InputError, match=r"hstcp: at p = 0\.01 the window stays in Reno's range"):
        hstcp.exact(0.01, 0.1)
