"""What the models say of each claim of tests/data/model_claims.csv: a number, or whether it is so.

*Source*: each claim's, named in test_model_claims.py; settings of those papers' experiments where a model needs one.
"""

import csv
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from elephan.metrics.fairness import jain_maxmin
from elephan.theory import Response, elastic, fairness, highspeed, hstcp, reno, rules, sawtooth
from elephan.theory.fixed_points import Chain, FixedPoint, Thresholds, droptail, red
from elephan.theory.fluid_queues import Red, with_pole

Judged = Callable[[], float | bool]


def table(path: Path) -> dict[str, dict[str, str]]:
    """Rows of a table by their id."""
    return {row["id"]: row for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())}


ROWS = table(Path(__file__).resolve().parent / "data/model_claims.csv")


class Topology(NamedTuple):
    """1 and 2.5 Gbit/s of 1000-byte packets, ten HSTCP flows, and the buffer that shares are of."""

    rate: float
    full: int
    rtts: NDArray[np.float64]


A = Topology(125_000, 12_500, np.linspace(0.1155, 0.1245, 10))
B = Topology(312_500, 6_250, np.linspace(0.038, 0.142, 10))
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Utilisation in the digest's packet simulations of topology A, without and with jitter.
PACKETS = {0.1: (0.950, 0.908), 0.2: (0.980, 0.957)}
MU, MEAN_RTT = 4000.0, 0.1
# Five RTTs with the quantiles of a Pareto law of shape 1.2, scaled to their mean.
SKEWED = (1 - np.arange(0.1, 1, 0.2)) ** (-1 / 1.2)
SKEWED *= MEAN_RTT / SKEWED.mean()
BUFFERS = (50, 100, 200, 400)


# Fixed points of drop-tail and RED.


def buffered(on: Topology, share: float) -> int:
    return int(on.full * share + 1e-9)


@cache
def tail(rate: float, buffer: int, rtts: tuple[float, ...], law: Callable[..., NDArray[np.float64]]) -> FixedPoint:
    [point] = droptail(law, rate, buffer, rtts)
    return point


def tail_at(on: Topology, share: float) -> FixedPoint:
    return tail(on.rate, buffered(on, share), tuple(on.rtts), hstcp.throughput)


@cache
def red_on(rate: float, k: int, rtts: tuple[float, ...], p_max: float, chain: Chain) -> FixedPoint:
    [point] = red(hstcp.throughput, rate, k, rtts, Thresholds(0.4 * k, k, p_max), chain=chain)
    return point


def red_at(on: Topology, share: float, p_max: float = 0.1, chain: Chain = "thinned") -> FixedPoint:
    return red_on(on.rate, buffered(on, share), tuple(on.rtts), p_max, chain)


def used(on: Topology, share: float) -> float:
    return tail_at(on, share).utilisation


def red_used(on: Topology, share: float) -> float:
    return red_at(on, share).utilisation


def utilisations(at: Callable[[Topology, float], FixedPoint], on: Topology) -> NDArray[np.float64]:
    return np.array([at(on, share).utilisation for share in SHARES])


def distance_to_packets() -> float:
    return max(abs(used(A, share) - seen) for share, both in PACKETS.items() for seen in both)


def over_largest_product(buffer: float, rate: float, largest_rtt: float) -> float:
    return buffer / rules.RULES["max_bdp"].packets(facts(rate, largest_rtt))


def facts(rate: float, rtt: float) -> rules.Facts:
    return rules.Facts(rate, rate * rtt, rtt, rtt, 0.0, 1, 100.0, "drop-tail", ("reno",), False, 0.1)


def two(buffer: int) -> float:
    """Ratio of throughputs of two flows, 40 over 80 ms, at 1 Gbit/s."""
    long, short = tail(125_000, buffer, (0.08, 0.04), hstcp.throughput).rates
    return float(short / long)


def farthest(losses: Iterable[float], claimed: float) -> float:
    return max(losses, key=lambda loss: abs(np.log(loss / claimed)))


def rises_and_saturates(on: Topology) -> bool:
    seen = utilisations(red_at, on)
    return bool((np.diff(seen) > 0).all() and seen[-1] - seen[SHARES.index(0.1)] < 0.11)


def sending_rises() -> bool:
    return bool((np.diff([tail_at(A, share).rates.sum() for share in SHARES]) > 0).all())


def reno_flows(flows: int, buffer: int) -> FixedPoint:
    return tail(MU, buffer, (MEAN_RTT,) * flows, reno().throughput)


def reno_losses(flows: int) -> NDArray[np.float64]:
    return np.array([reno_flows(flows, buffer).loss for buffer in BUFFERS])


def occupancy_by_flows() -> float:
    shares = [[reno_flows(n, buffer).queue / buffer for buffer in BUFFERS] for n in (25, 100, 1000)]
    return float(np.diff(shares, axis=0).min())


def more_flows_use_more() -> float:
    if not (reno_losses(100) > reno_losses(25)).all():
        return -1.0
    return min(reno_flows(100, buffer).utilisation - reno_flows(25, buffer).utilisation for buffer in BUFFERS)


# One HSTCP flow as a fluid.


def period(quantity: str, p: float) -> float:
    found = hstcp.closed_form(p, 0.12)
    return float({"T": found.duration, "N": found.packets, "lam": found.throughput}[quantity])


# Sawtooth and rules for buffers.


def alone(buffer: float, law: Response | None = None, rate: float = MU, flows: int = 1) -> float:
    """Utilisation of flows in step."""
    return float(sawtooth.synchronised(law or reno(), rate, buffer, MEAN_RTT, flows).utilisation)


def in_step(buffer: float, rtts: Iterable[float]) -> float:
    times = np.array(list(rtts))
    return float(sawtooth.partial(reno(), MU, buffer, times, times.size).utilisation)


def smallest_queue(buffer: float, *rtts: float) -> float:
    return float(rules.smallest_queue(MU, list(rtts), buffer))


def never_idle() -> bool:
    return all(in_step(buffer, (0.02, 0.05, 0.1)) > 1 - 1e-9 for buffer in (401, 1000))


def longest_alone_leaves_the_bound() -> bool:
    for buffer in (300.0, 700.0, 1000.0):
        window = MU * 0.15 + buffer
        left = max(window * (1 - float(reno().decrease(window))) - MU * 0.15, 0.0)
        if left != pytest.approx(smallest_queue(buffer, 0.02, 0.1, 0.15), abs=1e-9):
            return False
    return True


def gaussian(target: float) -> NDArray[np.float64]:
    return rules.buffer_for_utilization(MU * MEAN_RTT, target, np.array([5, 10, 25, 50, 100]))


def buffer_in_step(target: float) -> float:
    return float(brentq(lambda b: alone(b, flows=5) - target, 0, 399))


def unequal_idle_less() -> float:
    return min(in_step(b, SKEWED) - in_step(b, [MEAN_RTT] * 5) for b in (50, 200))


# Elastic traffic: 50 Mbit/s of 1000-byte packets, half of it background.


def residual(buffer: float, law: Response | None = None) -> float:
    return alone(buffer, law, 3125)


def link(buffer: float) -> float:
    return 0.5 + 0.5 * residual(buffer)


def out_of_step(flows: int) -> float:
    return float(sawtooth.partial(reno(), 3125, 20, [MEAN_RTT] * flows, 1).utilisation)


# Recovery from synchronised losses.

EXAMPLE = np.array([0.0875, 0.1, 0.1125, 0.125])
RATES = np.geomspace(1e6, 1e10, 60)


def every_four_seconds(rtt: float) -> float:
    return float(fairness.share(fairness.highspeed, 4.0, rtt, method="steps")) / 1e6


def recovery(law: fairness.Law, rate: str, rtt: float) -> float:
    return float(fairness.recovery_time(law, float(rate.rstrip("M")) * 1e6, rtt))


def spread(law: fairness.Law, rates: NDArray[np.float64], rtts: NDArray[np.float64]) -> float:
    times = fairness.recovery_time(law, rates[:, np.newaxis], rtts)
    return float((np.ptp(times, axis=1) / times.mean(axis=1)).max())


def rises_with_rtt() -> bool:
    times = fairness.recovery_time(fairness.highspeed, RATES[:, np.newaxis], EXAMPLE)
    return bool((np.diff(times, axis=1) > 0).all())


def bends() -> bool:
    times = np.log(fairness.recovery_time(fairness.highspeed, np.array([1e6, 2e6, 20e6, 40e6]), 0.1))
    below, above = (times[1] - times[0]) / np.log(2), (times[3] - times[2]) / np.log(2)
    return bool(abs(below - 1) < 1e-6 and above < 1 / 3)


def normal(window: NDArray[np.float64] | float, rtt: float, mss: float = 1500.0) -> tuple[NDArray[np.float64], ...]:
    return fairness.normalised(np.asarray(window, dtype=float), np.asarray(rtt), np.asarray(mss))


def leaves_a_segment(rtt: float) -> float:
    """Rate [Mbit/s] at which NR-HSTCP first adds more than one segment in a round trip, to 0.02 %."""
    rates = np.geomspace(1e4, 1e8, 40001)
    return float(rates[np.argmax(normal(rates * rtt / 12000, rtt)[0] > 1)] / 1e6)


def longer_leaves_earlier() -> bool:
    return leaves_a_segment(0.075) == pytest.approx(11.8, abs=0.05) and leaves_a_segment(0.25) == pytest.approx(
        0.319, abs=5e-4
    )


def short_adds_one() -> bool:
    return bool((normal(np.geomspace(2e5, 11e6, 99) * 0.075 / 12000, 0.075)[0] == 1).all())


def only_normalised_is_even() -> bool:
    rates, rtts = np.geomspace(20e6, 5e9, 25), np.linspace(0.075, 0.25, 8)
    broken = [
        fairness.convergence(law, rates, rtts).violations
        for law in (fairness.normalised, fairness.highspeed, fairness.reno)
    ]
    return broken[0] == 0 and min(broken[1:]) > 0


def growth(rtt: float, mss: float, rate: float = 200e6) -> tuple[float, float]:
    """Bytes per second gained in a second, and share given up, of NR-HSTCP at a rate [bit/s]."""
    a, b = normal(rate * rtt / 8 / mss, rtt, mss)
    return float(a * mss / rtt**2), float(b)


def grows_alike(paths: Iterable[tuple[float, float]]) -> bool:
    first = growth(0.1, 1500.0)
    return all(growth(rtt, mss) == pytest.approx(first, rel=1e-12) for rtt, mss in paths)


def doubling_window(mss: float) -> float:
    """Window [segments] up to which NR-HSTCP with a round trip of 1 s may add as much as it has; to 1e-4."""
    w = np.linspace(2, 30, 280_001)
    return float(w[np.argmax(normal(w, 1.0, mss)[0] < w)])


def bounds_of(which: int) -> tuple[float, float]:
    w = np.geomspace(1, 1e6, 500)
    values = np.array([normal(w, rtt)[which] for rtt in (0.01, 0.1, 1.0)])
    return float(values.min()), float(values.max())


def standard_at_low_rates() -> bool:
    a, b = normal(np.array([1.0, 3.0, 6.0]), 0.1)
    return bool((a == 1).all() and (b == 0.5).all())


def sharper(rtt: float) -> NDArray[np.float64]:
    w = np.geomspace(100, 5e4, 50)
    return np.asarray(normal(w, rtt)[1] - fairness.highspeed(w, np.array(rtt), np.array(1500.0))[1])


def shares(law: fairness.Law) -> NDArray[np.float64]:
    """Rates with losses every 6 s; round trips of 75 ms, and 1.5, 2 and 3.3 times that."""
    return fairness.share(law, 6.0, [0.075, 0.1125, 0.15, 0.25])


def highspeed_curves() -> bool:
    w = np.geomspace(38.1, 83000, 200)
    law = highspeed()
    return bool((np.diff(law.increase(w)) > 0).all() and (np.diff(law.decrease(w)) < 0).all())


def jain_of(first: float, second: float) -> float:
    return jain_maxmin([first] * 5 + [second] * 5, [100.0] * 5 + [400.0] * 5)


COMPUTED: dict[str, Judged] = {
    "hsbuf.dt1g.util10": lambda: used(A, 0.1),
    "hsbuf.dt1g.util20": lambda: used(A, 0.2),
    "hsbuf.dt1g.knee": lambda: used(A, 0.1) - used(A, 0.02),
    "hsbuf.dt1g.marginal": lambda: used(A, 1.0) - used(A, 0.1),
    "hsbuf.dt1g.monotone": lambda: float(np.diff(utilisations(tail_at, A)).min()),
    "hsbuf.dt1g.model": distance_to_packets,
    "hsbuf.dt1g.loss": lambda: tail_at(A, 0.1).loss,
    "hsbuf.dt1g.bdpfrac": lambda: over_largest_product(12_500, A.rate, 0.1245),
    "hsbuf.dt2g.bdpfrac": lambda: over_largest_product(6_250, B.rate, 0.142),
    "hsbuf.dt2g.trend": lambda: used(B, 0.2) - used(B, 0.1),
    "hsbuf.two.rtt": lambda: min(two(250), two(10_000)) - 1,
    "hsbuf.two.buffer": lambda: two(250) - two(10_000),
    "hsbuf.red1g.loss": lambda: farthest((red_at(A, share).loss for share in (0.2, 0.5, 1.0)), 1e-5),
    "hsbuf.red2g.loss": lambda: farthest((red_at(B, share).loss for share in SHARES), 1e-6),
    "hsbuf.red1g.shape": lambda: rises_and_saturates(A),
    "hsbuf.red2g.shape": lambda: rises_and_saturates(B),
    "hsbuf.concl.bdp": lambda: used(A, 0.5),
    "hsbuf.slow": sending_rises,
    "ghstcp.fig1": highspeed_curves,
    "ghstcp.fig2.hstcp": lambda: float(highspeed().window(1e-7)),
    "ghstcp.fig2.reno": lambda: float(reno().window(1e-7)),
    "ghstcp.intro.window": lambda: float(elastic.mixed(10e9, 1500, 0.1, background=0.0).bottlenecked_packets),
    "ghstcp.intro.loss": lambda: float(reno().loss(83_333)),
    "ghstcp.intro.recover": lambda: float(sawtooth.recovery_time(reno(), 83_333, 0.1)) / 0.1,
    "ghstcp.ref.jain1": lambda: jain_of(100, 300),
    "ghstcp.ref.jain2": lambda: jain_of(10, 480),
    "ghstcp.ref.wq": lambda: float(with_pole(Red(2500, 7500), 1.0, 2.5e9 / 12000).weight),
    "nonhom.qmin.500": lambda: smallest_queue(500, 0.1),
    "nonhom.qmin.400": lambda: smallest_queue(400, 0.1),
    "nonhom.qmin.1000": lambda: smallest_queue(1000, 0.02, 0.1, 0.15),
    "nonhom.qmin.suff": never_idle,
    "nonhom.qmin.nec": lambda: alone(390) < 1 - 1e-5 < alone(401),
    "nonhom.qmin.tight": longest_alone_leaves_the_bound,
    "nonhom.qmin.n": lambda: float(np.ptp([smallest_queue(700, *[0.1] * n) for n in (1, 10, 1000)])),
    "nonhom.f2.n5": lambda: buffer_in_step(0.99),
    "nonhom.f2.decr": lambda: float(max(np.diff(gaussian(0.99)).max(), np.diff(gaussian(0.95)).max())),
    "nonhom.f2.order": lambda: float((gaussian(0.99) - gaussian(0.95)).min()),
    "nonhom.f2.bdp": lambda: float(gaussian(0.99)[1]),
    "nonhom.f3.active200": lambda: elastic.engset(200, 2.0, 100.5, MU).active,
    "nonhom.f3.active500": lambda: elastic.engset(500, 2.0, 100.5, MU).active,
    "nonhom.f4.decr": lambda: max(float(np.diff(reno_losses(n)).max()) for n in (25, 100)),
    "nonhom.f4.order": lambda: float((reno_losses(100) - reno_losses(25)).min()),
    "nonhom.f4.contrast": more_flows_use_more,
    "nonhom.f5.order": occupancy_by_flows,
    "nonhom.f5.delay": lambda: min(
        float(np.diff([reno_flows(n, buffer).queue for buffer in BUFFERS]).min()) for n in (25, 100, 1000)
    ),
    "nonhom.mean": lambda: 1 - in_step(401, SKEWED),
    "nonhom.sync": unequal_idle_less,
    "nonhom.setup.bdp": lambda: elastic.mixed(16e6, 500, MEAN_RTT, background=0.0).bottlenecked_packets,
    "nonhom.setup.mbps": lambda: float(elastic.drain_time(MU, 500, 1e6)),
    "nonhom.ref.act200": lambda: elastic.engset(200, 2.0, 100.5, MU).active,
    "nonhom.ref.act500": lambda: elastic.engset(500, 2.0, 100.5, MU).active,
    "elastic.ps.p4": lambda: float(elastic.more_in_progress(0.5, 4)),
    "elastic.loss.100": lambda: float(elastic.loss(0.9, 100)),
    "elastic.loss.20": lambda: float(elastic.load_for_loss(0.01, 20)),
    "elastic.delay.160us": lambda: float(elastic.drain_time(100, 500, 2.5e9)),
    "elastic.rule.1g25": lambda: elastic.mixed(40e9, 1, 0.25, background=0.0).bottlenecked_packets / 1e9,
    "elastic.oc192": lambda: elastic.mixed(10e9, 1500, 0.1, background=0.5).residual_bps / 30e3,
    "elastic.f3.b20": lambda: residual(20),
    "elastic.f3.b100": lambda: residual(100),
    "elastic.f3.b625": lambda: link(625),
    "elastic.f3.order": lambda: float(np.diff([link(20), link(100), link(625)]).min()),
    "elastic.f3.nobg1": lambda: alone(1, rate=6250),
    "elastic.f3.nobg20": lambda: alone(20, rate=6250),
    "elastic.f5.util": lambda: float(np.diff([out_of_step(n) for n in (1, 2, 4)]).min()),
    "elastic.f6.h20": lambda: residual(20, highspeed()) - residual(20),
    "elastic.concl.20": lambda: residual(20),
    "elastic.concl.hstcp": lambda: all(residual(b, highspeed()) > residual(b) for b in (50, 100)),
    "elastic.bdp": lambda: elastic.mixed(50e6, 1000, 0.1, background=0.0).bottlenecked_packets,
    "nr.ex4s.r87": lambda: every_four_seconds(0.0875),
    "nr.ex4s.r100": lambda: every_four_seconds(0.1),
    "nr.ex4s.r112": lambda: every_four_seconds(0.1125),
    "nr.ex4s.r125": lambda: every_four_seconds(0.125),
    "nr.ex4s.ratio": lambda: every_four_seconds(0.0875) / every_four_seconds(0.125),
    "nr.fig1.hs.mono": rises_with_rtt,
    "nr.fig1.hs.noconv": lambda: spread(fairness.highspeed, np.array([1e9]), EXAMPLE),
    "nr.fig1.hs.bend": bends,
    "nr.fig1.nr.conv": lambda: spread(fairness.normalised, RATES[RATES > 20e6], np.linspace(0.075, 0.25, 8)),
    "nr.fig1.nr.early": longer_leaves_earlier,
    "nr.fig1.nr.short": short_adds_one,
    "nr.eq4": only_normalised_is_even,
    "nr.mss": lambda: grows_alike([(0.1, 576.0), (0.1, 9000.0)]),
    "nr.scale": lambda: grows_alike([(0.075, 1500.0), (0.25, 576.0), (0.25, 9000.0)]),
    "nr.limit.1500": lambda: doubling_window(1500.0),
    "nr.limit.576": lambda: doubling_window(576.0),
    "nr.lowrate": standard_at_low_rates,
    "nr.min1": lambda: bounds_of(0)[0] >= 1,
    "nr.floor": lambda: bounds_of(1) == (0.1, 0.5),
    "nr.dec.long": lambda: float(sharper(0.15).min()),
    "nr.dec.short": lambda: float(sharper(0.08).max()),
    "nr.ref.b20000": lambda: float(normal(20_000, 0.25)[1]),
    "nr.ref.a1000.200": lambda: float(normal(1000, 0.2)[0]),
    "nr.f3a.bias": lambda: float((shares(fairness.highspeed)[0] - shares(fairness.highspeed)[1:]).min()),
    "nr.f3b.bias": lambda: float(shares(fairness.normalised)[2] / shares(fairness.normalised)[0]),
    "nr.f3b.level": lambda: bool(np.ptp(shares(fairness.normalised)) < 1e-3 * shares(fairness.normalised)[0]),
}
# Vectors, whose ids end with their parameter.
for name in ROWS:
    if name.startswith("hsbuf.ref."):
        family, _, last = name.removeprefix("hsbuf.ref.").partition(".")
        on, parameter = A if "1g" in family else B, float(last[1:])
        compute = {"f": used, "r": red_used}.get(family[0])
        COMPUTED[name] = partial(compute, on, parameter) if compute else partial(period, family, parameter)
    elif name.startswith("nonhom.ref.fluid."):
        COMPUTED[name] = partial(alone, float(name.split(".B")[1]))
    elif name.startswith("nr.ref.hs100."):
        COMPUTED[name] = partial(recovery, fairness.highspeed, name.split(".")[-1], 0.1)
    elif name.startswith("nr.ref.nr250."):
        COMPUTED[name] = partial(recovery, fairness.normalised, name.split(".")[-1], 0.25)
