"""Numbers of the papers' models that are not claims: losses beside utilizations, and numbers where ours differ.

*Source*: a digest of Barman2004, Andrew2005, AugeRoberts2006 and PhillipsHu2006 with restored equations and numbers
computed from them; what has an id there is a claim in `elephan_evidence.papers`.
"""

from decimal import Decimal

import numpy as np
import pytest

from elephan.theory import elastic, highspeed, hstcp, sawtooth
from elephan.theory.fixed_points import blocking, droptail, occupancy
from elephan_evidence.papers.hstcp_buffer_model.links import LINKS, red_at, tail_at
from elephan_evidence.papers.nr_hstcp.measures import doubling_window
from elephan_evidence.papers.runs import ExperimentRuns

# Factor by which rounding may exceed a tolerance: "1.25" for "1.2" is half of its last digit.
EDGE = 1 + 1e-9
A = LINKS["1g"]


def agrees(found: float, printed: str) -> bool:
    """Whether a number rounds to the given digits."""
    unit = 10.0 ** int(Decimal(printed).as_tuple().exponent)
    return abs(found - float(printed)) <= 0.5 * unit * EDGE


# Numbers that stand in the digests without an id, and where ours differ.

# Section 3.1 of the digest of Barman2004: loss at the drop-tail fixed point by share, topologies A and B.
LOSSES = {
    0.001: (2.61e-5, 3.97e-5),
    0.005: (1.19e-5, 8.63e-6),
    0.01: (1.08e-5, 7.04e-6),
    0.02: (1.03e-5, 6.37e-6),
    0.05: (1.00e-5, 6.02e-6),
    0.1: (9.89e-6, 5.90e-6),
    0.2: (9.67e-6, 5.82e-6),
    0.5: (9.04e-6, 5.68e-6),
    1.0: (8.02e-6, 5.47e-6),
}
# Section 4: loss under RED, and utilisation of A with p_max = 1.
RED_LOSSES = {
    0.01: (1.16e-5, 8.06e-6, 0.8514),
    0.05: (1.03e-5, 6.23e-6, 0.9712),
    0.1: (1.01e-5, 6.02e-6, 0.9866),
    0.2: (9.91e-6, 5.91e-6, 0.9939),
    0.5: (9.63e-6, 5.81e-6, 0.9979),
    1.0: (9.19e-6, 5.71e-6, 0.9991),
}


@pytest.mark.parametrize(("share", "losses"), LOSSES.items())
def test_the_loss_beside_each_utilisation_is_the_published_one(share: float, losses: tuple[float, float]) -> None:
    for on, loss in zip(LINKS, losses, strict=True):
        found = tail_at(on, share)
        assert found.loss == pytest.approx(loss, rel=5e-3)  # three digits are given
        # Flows offer what the queue was asked about.
        assert found.rates.sum() == pytest.approx(found.load * LINKS[on].rate, rel=1e-9)


@pytest.mark.parametrize(("share", "row"), RED_LOSSES.items())
def test_the_loss_under_red_is_the_published_one(share: float, row: tuple[float, float, float]) -> None:
    for on, loss in zip(LINKS, row[:2], strict=True):
        # Three digits, of which one row's last differs by one (below).
        assert red_at(on, share).loss == pytest.approx(loss, rel=6e-3)
    assert red_at("1g", share, 1.0).utilisation == pytest.approx(row[2], abs=2e-4)  # that of the claims beside it


def test_where_ours_is_not_the_digests() -> None:
    # Ninety per cent are passed at 87 packets, 0.7 %; the digest says about 83.
    found = {k: droptail(hstcp.throughput, A.rate, k, A.rtts)[0].utilisation for k in range(80, 95)}
    first = next(k for k, used in found.items() if used >= 0.9)
    assert first == 87
    # RED at a share of 0.05: 1.03e-5 there.
    assert agrees(red_at("1g", 0.05).loss, "1.025e-5")
    # Without thinning "at most 0.5 point" lower for shares of at least 0.05 and p_max at most 1: 0.61 in that corner.
    assert agrees(
        100 * (red_at("1g", 0.05, 1.0).utilisation - red_at("1g", 0.05, 1.0, "unthinned").utilisation), "0.61"
    )
    # The slope of plain substitution at a tenth: -870 there, from the power of p alone.
    load, step = tail_at("1g", 0.1).load, 1e-7

    def offered(rho: float) -> float:
        over = np.array(A.rtts) + float(occupancy(rho, 1249)) / A.rate
        return float(hstcp.throughput(blocking(rho, 1250), over).sum()) / A.rate

    assert agrees((offered(load + step) - offered(load - step)) / (2 * step), "-911")


def test_below_a_tenth_model_and_packets_are_far_apart() -> None:
    # The digest's packet simulations at a share of 0.02: 0.464 without jitter.
    assert agrees(tail_at("1g", 0.02).utilisation - 0.464, "0.50")
    # Flows in step do not show the fall either, by a(w) and b(w) alone.
    assert agrees(alone_in_step(0.02), "0.854")
    # But they have the claimed ninety per cent at a tenth, and 95 at a fifth.
    assert agrees(alone_in_step(0.1), "0.904")
    assert agrees(alone_in_step(0.2), "0.950")


def alone_in_step(share: float) -> float:
    return float(sawtooth.synchronised(highspeed(), A.rate, A.full * share, 0.12, 10).utilisation)


def test_misprints_fit_other_numbers() -> None:
    # 6250 packets are 0.35 of the product at 1 Gbit/s; 0.71 is the load for a loss of 0.001.
    assert pytest.approx(0.352, abs=5e-4) == 6_250 / (125_000 * 0.142)
    assert float(elastic.loss(0.71, 20)) == pytest.approx(1.06e-3, rel=5e-3)
    assert float(elastic.load_for_loss(0.001, 20)) == pytest.approx(0.708, abs=5e-4)
    # 0.9^100 is a bound; M/M/1/K loses a tenth of it.
    assert float(elastic.loss(0.9, 100, "M/M/1/K")) == pytest.approx(2.66e-6, rel=2e-3)
    # Windows that double, 5.32 segments of 1500 bytes and 13.85 of 576, are the same 7.98 kB.
    assert doubling_window(ExperimentRuns(), 576.0) * 576 == pytest.approx(
        doubling_window(ExperimentRuns(), 1500.0) * 1500, rel=1e-3
    )
