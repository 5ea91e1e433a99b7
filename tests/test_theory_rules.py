"""Buffer rules: the numbers of their papers, violated assumptions, and bounds that must not be crossed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from elephan.citations import CITATIONS
from elephan.errors import InputError
from elephan.network import NetworkLink
from elephan.scenario import EXAMPLE, Scenario
from elephan.theory import rules


def known(**changes: object) -> rules.LinkFacts:
    """Facts of a link on which every assumption holds."""
    base = rules.LinkFacts(
        packets_per_s=1e6,
        bdp_packets=1e5,
        min_rtt_s=0.1,
        max_rtt_s=0.1,
        delay_s=0.02,
        flows=1000,
        buffer_packets=1e4,
        discipline="drop-tail",
        laws=("reno",),
        other_traffic=False,
        access_ratio=0.01,
    )
    return base._replace(**changes)  # type: ignore[arg-type]


def queue_after(rate: float, rtts: np.ndarray, windows: np.ndarray) -> float:
    """Return the queue at which these windows just keep the link busy, 0 if they do not."""
    if (windows / rtts).sum() <= rate:
        return 0.0
    return float(brentq(lambda q: (windows / (rtts + q / rate)).sum() - rate, 0, windows.sum()))


@given(
    st.lists(st.tuples(st.floats(0.01, 0.3), st.floats(0.01, 1), st.booleans()), min_size=1, max_size=8),
    st.floats(10, 3000),
)
def test_no_pattern_of_losses_goes_below(flows: list[tuple[float, float, bool]], buffer: float) -> None:
    # nonhom.qmin.suff: windows that fill the buffer, any of them halved.
    rtts, shares, lost = (np.array(column) for column in zip(*flows, strict=True))
    windows = 4000 * shares / shares.sum() * (rtts + buffer / 4000)
    after = queue_after(4000, rtts, np.where(lost, windows / 2, windows))
    assert after >= float(rules.smallest_queue(4000, rtts, buffer)) - 1e-6 * buffer


def test_the_bound_is_reached_if_the_longest_has_all() -> None:
    # nonhom.qmin.tight, nonhom.qmin.nec
    rtts = np.array([0.02, 0.1, 0.15])
    for buffer in (1000.0, 700.0, 600.0, 300.0):
        windows = np.array([0.0, 0.0, 4000 * 0.15 + buffer])
        expected = float(rules.smallest_queue(4000, rtts, buffer))
        assert queue_after(4000, rtts, windows / 2) == pytest.approx(expected, abs=1e-6)
        assert (expected > 0) == (buffer > rules.RULES["max_bdp"].packets(known(packets_per_s=4e3, max_rtt_s=0.15)))


def test_utilization_of_the_gaussian_window() -> None:
    # Appenzeller2004, Section 3, 10000 flows: 98.99 % with BDP / sqrt(n), 99.99997 % with twice that.
    for factor, printed, last_place in ((1, 0.9899, 1e-4), (2, 0.9999997, 1e-7)):
        bound = float(rules.utilization_bound(1e6, factor * 1e4, 10000))
        assert bound == pytest.approx(printed, abs=0.6 * last_place)


def test_the_bound_in_the_papers_own_form() -> None:
    bdp, buffer, n = 2083.0, 300.0, 150
    expected = math.erf(3 * math.sqrt(3) / (2 * math.sqrt(2)) * buffer / ((bdp + buffer) / math.sqrt(n)))
    assert float(rules.utilization_bound(bdp, buffer, n)) == pytest.approx(expected, rel=1e-12)


def test_deviation_of_windows_that_are_drawn() -> None:
    rng, n, b = np.random.default_rng(3), 50, 0.3
    top = 1100 / n / (1 - b / 2)  # windows uniform on [(1 - b) top, top], 1100 in all on average
    sums = rng.uniform((1 - b) * top, top, (20000, n)).sum(axis=1)
    # A standard deviation of 20000 draws has a relative standard error of 1/200; four of them.
    assert float(rules.window_deviation(1000, 100, n, b)) == pytest.approx(sums.std(), rel=0.02)


def test_equal_flows_count_as_they_are_and_one_that_has_all_as_one() -> None:
    assert float(rules.effective_flows([1, 0, 0])) == 1
    assert float(rules.effective_flows(np.ones(7))) == pytest.approx(7)


def test_the_sum_of_unequal_windows_deviates_as_that_of_the_effective_number() -> None:
    # Windows uniform between half and full, with means by shares; 900 in all on average.
    rng, shares = np.random.default_rng(6), np.array([8.0, 4.0, 2.0, 1.0, 1.0, 1.0]) / 17
    sums = (rng.uniform(0.5, 1.0, (20000, 6)) * 900 * shares / 0.75).sum(axis=1)
    n = float(rules.effective_flows(shares))
    # As above: a relative standard error of 1/200, four of them.
    assert float(rules.window_deviation(900, 0, n)) == pytest.approx(sums.std(), rel=0.02)


def test_a_queue_behind_unequal_flows_varies_as_behind_the_effective_number() -> None:
    # Windows uniform between half and full, drawn; the queue at which sum of w / (T + q/C) is C, solved for each draw.
    rng, rate = np.random.default_rng(5), 10_000.0
    rtts = np.repeat([0.02, 0.2], [10, 40])
    weight = rng.uniform(0.5, 1.0, (4000, rtts.size))
    # So much that a queue always stands; Reno, one mean window for all.
    windows = weight * (1.3 * rate / (0.75 / rtts).sum())
    low, high = np.zeros(4000), np.full(4000, 10.0)
    for _ in range(60):
        middle = (low + high) / 2
        more = (windows / (rtts + middle[:, None])).sum(-1) > rate
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    assert low.min() > 0
    delay = low.mean()
    over = rtts + delay
    shares = (1 / over) / (1 / over).sum()
    # A window deviates by 1/(3 sqrt 3) of its mean, and the queue moves by C over the rate-weighted mean of 1/RTT.
    slope = float(shares @ (1 / over))
    expected = 1 / (3 * math.sqrt(3)) / slope / math.sqrt(float(rules.effective_flows(shares)))
    # 4000 draws: a standard error of 1.1 %; linear in deviations of a hundredth.
    assert low.std() == pytest.approx(expected, rel=0.05)
    # Fifty equal flows would vary far less.
    assert expected > 1.15 / (3 * math.sqrt(3)) / slope / math.sqrt(50)


def test_shares_must_be_rates() -> None:
    with pytest.raises(InputError, match=r"^shares: "):
        rules.effective_flows([0, 0])


def test_utilization_against_drawn_sums() -> None:
    rng, bdp, buffer, n = np.random.default_rng(4), 1000.0, 20.0, 100
    sigma = float(rules.window_deviation(bdp, buffer, n))
    short = np.maximum(bdp - rng.normal(bdp + buffer / 2, sigma, 400_000), 0) / bdp
    error = 4 * short.std() / math.sqrt(short.size)
    assert float(rules.utilization(bdp, buffer, n)) == pytest.approx(1 - short.mean(), abs=error)


@given(st.floats(100, 1e6), st.floats(0.001, 2), st.integers(20, 10**5), st.floats(0.1, 0.6))
def test_the_bound_is_a_bound(bdp: float, share: float, n: int, b: float) -> None:
    buffer = share * bdp / math.sqrt(n)
    assert float(rules.utilization_bound(bdp, buffer, n, b)) <= float(rules.utilization(bdp, buffer, n, b)) + 1e-12


@given(st.floats(0.01, 0.9999), st.integers(1, 10**5))
def test_the_buffer_for_a_target_gives_the_target(target: float, n: int) -> None:
    buffer = float(rules.buffer_for_utilization(1000.0, target, n))
    if math.isinf(buffer):  # as the buffer grows the bound tends to erf(k sqrt(n)), k = 3 sqrt(3) / (2 sqrt(2))
        assert math.erf(3 * math.sqrt(3 * n / 8)) <= target + 1e-12
    else:
        assert float(rules.utilization_bound(1000.0, buffer, n)) == pytest.approx(target, rel=1e-9)


def test_one_flow_of_any_decrease_just_does_not_empty_the_queue() -> None:
    for b in (0.5, 0.3, 0.125):
        buffer = float(rules.one_flow_buffer(400.0, b))
        assert (1 - b) * (400 + buffer) == pytest.approx(400)


def test_small_buffer_loses_what_its_theorem_allows() -> None:
    # rho^B W^2 / 2 is the share of throughput that is lost.
    buffer = float(rules.small_buffer(64, load=0.7, effective=0.95))
    assert 0.7**buffer * 64**2 / 2 == pytest.approx(0.05)


def test_rules_of_the_third_papers_link() -> None:
    # nonhom.setup.bdp, nonhom.setup.mbps: 4000 packets/s of 500 bytes are 16 Mbit/s, 400 packets at 100 ms.
    link = NetworkLink(
        index=0, name="link", members=1, rate_bps=16e6, delay_s=0.005, discipline="drop-tail", queue={},
        buffer_limit_packets=None, buffer_limit_bytes=100_000, flows=25, background_flows=0, packet_bytes=500,
        min_rtt_s=0.02, mean_rtt_s=0.1, max_rtt_s=0.15, bdp_packets=400.0,
    )  # fmt: skip
    got = rules.facts(link)
    assert (got.packets_per_s, got.buffer_packets) == (4000, 200)
    values = rules.buffers(got)
    assert (values["bdp"], values["max_bdp"], values["min_bdp"]) == (400, 600, 80)
    assert values["bdp_over_sqrt_n"] == 80
    assert values["twenty"] == 20


def test_nothing_is_said_where_all_holds() -> None:
    spread = known(min_rtt_s=0.02, max_rtt_s=0.18)
    for name in rules.RULES:
        fits = spread if name == "bdp_over_sqrt_n" else known()
        assert rules.broken(name, fits) == []


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("bdp", {"laws": ("cubic", "reno")}, "assumes Reno, which gives up half its window; here cubic"),
        ("bdp", {"discipline": "red"}, "assumes a drop-tail queue; here red"),
        ("bdp", {"max_rtt_s": 0.3}, "assumes one RTT for all; here 100 to 300 ms"),
        ("bdp", {"other_traffic": True}, "assumes long-lived flows alone; here there is other traffic too"),
        ("bdp_over_sqrt_n", {"flows": 4, "max_rtt_s": 0.3}, "assumes hundreds of unsynchronized flows; here 4"),
        ("bdp_over_sqrt_n", {}, "assumes unsynchronized flows; with equal RTTs flows may synchronize"),
        ("max_bdp", {"flows": 50_000}, "assumes no timeouts; here a flow's share is 2.2 segments"),
        (
            "decrease_bdp",
            {"laws": ("highspeed",)},
            "needs a fixed back-off factor; highspeed gives up 0.42 there, and otherwise at other windows",
        ),
        (
            "twenty",
            {"access_ratio": 1.0},
            "assumes paced senders or access links far slower than the link; here a flow can send bursts at its rate",
        ),
    ],
)
def test_what_does_not_hold_is_said(name: str, changes: dict[str, object], says: str) -> None:
    assert rules.broken(name, known(**changes)) == [says]


def test_facts_come_from_a_scenario() -> None:
    scenario = Scenario.from_text(EXAMPLE)
    got = rules.of_link(scenario.network, 0)
    assert (got.flows, got.buffer_packets, got.laws, got.access_ratio) == (2, 25, ("reno",), math.inf)
    assert rules.broken("bdp", got) == []


@pytest.mark.parametrize(("pacing", "bursts"), [("none", True), ("linux", False), ("quic", True)])
def test_of_senders_that_pace_no_rule_says_that_they_send_bursts(pacing: str, bursts: bool) -> None:
    got = rules.of_link(Scenario.from_text(EXAMPLE).replace({"flows[0].tcp.pacing": pacing}).network, 0)
    assert any("can send bursts" in line for line in rules.broken("twenty", got)) == bursts


def test_every_rule_has_a_source() -> None:
    assert all(rule.source in CITATIONS for rule in rules.RULES.values())


def test_what_means_nothing_is_refused() -> None:
    with pytest.raises(InputError, match=r'^rule: there is no "bpd"; did you mean "bdp"'):
        rules.broken("bpd", known())
    with pytest.raises(InputError, match=r"^decrease"):
        rules.one_flow_buffer(100, 1.0)
    with pytest.raises(InputError, match=r"^target"):
        rules.buffer_for_utilization(100, 1.0, 4)
    with pytest.raises(InputError, match=r"^rtts_s"):
        rules.smallest_queue(100, [], 4)
    with pytest.raises(InputError, match=r"^load"):
        rules.small_buffer(100, 1.0)
