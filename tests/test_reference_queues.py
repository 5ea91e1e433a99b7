"""The independent queues compared with numbers that follow from their sources by hand."""

import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Iterable

import pytest

from reference.queues import (
    SECOND,
    Ared,
    Arrival,
    Blue,
    Codel,
    Discipline,
    DropHead,
    DropTail,
    Drr,
    DualPi2,
    Fate,
    Fq,
    FqCodel,
    Gared,
    Header,
    Link,
    Packet,
    PdRed,
    Pie,
    PriorityFq,
    Red,
    Rem,
    Sfq,
    Xcp,
)
from reference.queues.codel import Controller

MS = SECOND // 1000
GBIT = 10**9
SLOW = 12_000  # bit/s: a packet of 1500 bytes takes a second


def burst(*flows: int, size: int = 1500, time: int = 0) -> list[Arrival]:
    return [Arrival(time, f, size) for f in flows]


def run(
    discipline: Discipline, arrivals: list[Arrival], draws: Iterable[float] = (), rate: int = SLOW
) -> tuple[list[Fate], Link]:
    link = Link(rate, discipline, draws)
    return link.run(arrivals), link


def served(fates: list[Fate], arrivals: list[Arrival]) -> list[int]:
    """Return the flows in the order of service."""
    left = sorted((fate[1], a.flow) for fate, a in zip(fates, arrivals, strict=True) if fate[0] == "left")
    return [flow for _, flow in left]


def packet(size: int = 1500, time: int = 0, ect: bool = False, flow: int = 0, index: int = 0) -> Packet:
    return Packet(index, time, flow, size, ect, False, None)


# Common parts.


@pytest.mark.parametrize(("rate", "service"), [(GBIT, 12_000_000), (2_500_000_000, 4_800_000), (7 * GBIT, 1_714_286)])
def test_a_service_takes_the_time_of_its_bits(rate: int, service: int) -> None:
    assert Link(rate, DropTail()).service(1500) == service


def test_the_buffer_leaves_the_packet_in_service_out_and_an_end_comes_before_an_arrival() -> None:
    arrivals = [*burst(0, 0, 0), *burst(0, time=SECOND)]
    fates, link = run(DropTail(1), arrivals)
    assert fates == [
        ("left", 0, False),
        ("left", SECOND, False),
        ("dropped", 0, "overflow"),
        ("left", 2 * SECOND, False),
    ]
    assert [numbers["waiting"] for numbers in link.trace] == [0, 1, 1, 1]


def test_the_oldest_waiting_packet_makes_room_for_an_arrival() -> None:
    fates, _ = run(DropHead(1), burst(0, 1, 2))
    assert fates == [("left", 0, False), ("dropped", 0, "overflow"), ("left", SECOND, False)]
    # Two packets leave for one of their size together; one that is larger than the buffer is lost with them.
    fates, _ = run(DropHead(1500, "bytes"), [*burst(0), *burst(1, 2, size=700), *burst(3, size=1400)])
    assert [fate[0] for fate in fates] == ["left", "dropped", "dropped", "left"]
    fates, _ = run(DropHead(1500, "bytes"), [*burst(0), *burst(1, size=700), *burst(2, size=1501)])
    assert [fate[0] for fate in fates] == ["left", "dropped", "dropped"]


def test_a_packet_at_the_idle_server_needs_no_room() -> None:
    fates, _ = run(DropTail(0), burst(0, 0))
    assert fates == [("left", 0, False), ("dropped", 0, "overflow")]
    fates, _ = run(DropTail(1500, "bytes"), [*burst(0), *burst(0, size=1501), *burst(0)])
    assert [fate[0] for fate in fates] == ["left", "dropped", "left"]


DISCIPLINES: dict[str, Callable[[], Discipline]] = {
    "drop_tail": lambda: DropTail(20),
    "drop_tail bytes": lambda: DropTail(20_000, "bytes"),
    "red": lambda: Red(20, 3, 9, w_q=0.1),
    "red wait": lambda: Red(20, 3, 9, w_q=0.1, wait=True, ecn=True),
    "red bytes": lambda: Red(20_000, 3000, 9000, w_q=0.1, unit="bytes", mean_packet=1000),
    "ared": lambda: Ared(20, interval=0.01, w_q=0.1),
    "gared": lambda: Gared(20, interval=0.01, w_q=0.1),
    "pd_red": lambda: PdRed(20, 3, 9, w_q=0.1),
    "blue": lambda: Blue(20, freeze_time=0.001, level=15),
    "rem": lambda: Rem(20, gamma=0.1, phi=1.1, target=5),
    "pie": lambda: Pie(20, target=0.001, alpha=125.0, beta=1250.0, max_burst=0.015, ecn=True),
    "pie bare": lambda: Pie(
        20_000, target=0.001, alpha=12.5, max_burst=0.0, unit="bytes", on_off=False, derandomize=False
    ),
    "codel": lambda: Codel(20, target=0.001, interval=0.01),
    "codel ecn": lambda: Codel(20, target=0.001, interval=0.01, ecn=True),
    "fq_codel": lambda: FqCodel(20, target=0.001, interval=0.01, flows=4),
    "drr": lambda: Drr(500, flow_limit=6),
    "drr lingers": lambda: Drr(500, limit=20, lingers=True),
    "fq": lambda: Fq(20),
    "fq head": lambda: Fq(20, victim="head", measure="packets", lingers=True),
    "fq stfq": lambda: Fq(20_000, "stfq", "head", unit="bytes"),
    "sfq": lambda: Sfq(20, queues=3),
    "priority_fq": lambda: PriorityFq(20),
    "priority_fq charged": lambda: PriorityFq(20, victim="head", charged=True, lingers=True),
    "dualpi2": lambda: DualPi2(20_000, target=0.001),
    "dualpi2 strict": lambda: DualPi2(20, "packets", target=0.001, scheduler="strict", recur=False),
    "dualpi2 ts_fifo": lambda: DualPi2(20_000, target=0.001, scheduler="ts_fifo"),
    "xcp": lambda: Xcp(20, interval=0.01),
}


def noise(seed: int, count: int = 1000) -> list[Arrival]:
    """Bursts and pauses at about the rate of 10 Mbit/s, four flows."""
    rng, now, arrivals = random.Random(seed), 0, []
    for _ in range(count):
        now += round(rng.expovariate(1.0) * MS) if rng.random() < 0.5 else 0
        l4s = rng.random() < 0.4
        header = Header(rng.uniform(0.01, 0.1), rng.uniform(3000, 30000), rng.uniform(-1500, 3000))
        arrivals.append(
            Arrival(now, rng.randrange(4), rng.choice((64, 576, 1500)), l4s or rng.random() < 0.5, l4s, header)
        )
    return arrivals


@pytest.mark.parametrize("name", DISCIPLINES)
@pytest.mark.parametrize("rate", [10**7, 4 * 10**6])
def test_packets_are_conserved_in_order_and_the_server_never_rests_beside_a_backlog(name: str, rate: int) -> None:
    arrivals, discipline, rng = noise(7), DISCIPLINES[name](), random.Random(11)
    fates, link = run(discipline, arrivals, iter(rng.random, 2.0), rate)
    assert len(fates) == len(arrivals)
    assert (discipline.waiting, discipline.waiting_bytes) == (0, 0)
    capacity = discipline.limit + (discipline.limit == math.inf)
    assert all(t["waiting" if discipline.unit == "packets" else "waiting_bytes"] <= capacity for t in link.trace)
    left = sorted((fate[1], i) for i, fate in enumerate(fates) if fate[0] == "left")
    for (start, i), (after, _) in itertools.pairwise(left):
        assert after >= start + link.service(arrivals[i].size)
    for flow in range(4):
        for l4s in (False, True):
            mine = [i for _, i in left if arrivals[i].flow == flow and arrivals[i].l4s == l4s]
            assert mine == sorted(mine)
    # From a start to the next one there is no pause, unless all that came until then had left.
    done: set[int] = set()
    for (start, i), (after, _) in itertools.pairwise(left):
        done.add(i)
        end = start + link.service(arrivals[i].size)
        if after > end:
            gone = {j for j, f in enumerate(fates) if f[0] == "dropped" and (f[1] <= end or f[1] == arrivals[j].time)}
            assert all(j in done or j in gone for j, a in enumerate(arrivals) if a.time < after)
    assert all(arrivals[i].ect for i, fate in enumerate(fates) if fate[0] == "left" and fate[2])


# RED and its kin.


def test_red_spreads_drops_evenly() -> None:
    # 1993, section 7: X uniform on 1..1/p_b; ns-2's wait: on 1/p_b..2/p_b. The first packet has count 0.
    for wait, support in ((False, range(10)), (True, range(10, 20))):
        red = Red(99, 1, 2, wait=wait)
        survives = 1.0
        for red.count in range(20):
            p_a = red.spread(0.1)
            assert survives * p_a == pytest.approx(0.1 if red.count in support else 0.0, abs=1e-9)
            survives *= 1.0 - p_a


def test_red_by_hand() -> None:
    # w_q = 1: the average is what waits: none for the first two, one for the third. The last one's count p_b is 0.8 and
    # leaves no choice. The fourth, fifth and sixth draw.
    draws = iter([0.5, 0.1, 0.9])
    fates, link = run(Red(99, 1, 3, w_q=1.0, gentle=True), burst(*[0] * 7), draws)
    assert [t["avg"] for t in link.trace] == [0, 0, 1, 2, 3, 3, 4]
    assert [t["count"] for t in link.trace] == [-1, -1, 0, 1, 0, 1, 0]
    assert [fate[0] for fate in fates] == [*["left"] * 4, "dropped", "left", "dropped"]
    assert next(draws, None) is None
    p_a = [0.0, 0.0, 0.0, 0.05 / 0.95, 0.1 / 0.8, 0.1 / 0.9, 0.4 / 0.2]
    assert [t["p_a"] for t in link.trace] == pytest.approx(p_a)


def test_red_is_gentle_between_max_th_and_twice_max_th_or_forces_the_drop() -> None:
    red = Red(99, 1, 3)
    bases = []
    for red.avg in (1.0, 2.0, 3.0, 4.5):
        bases.append(red.base())
    assert bases == pytest.approx([0.0, 0.05, 0.1, 0.55])
    for gentle, room in ((True, 6), (False, 3)):
        fates, _ = run(Red(99, 1, 3, w_q=1.0, gentle=gentle), burst(*[0] * 8), itertools.repeat(0.999999))
        causes = [fate[2] for fate in fates if fate[0] == "dropped"]
        assert causes.count("forced") == (0 if gentle else 8 - room - 1)


def test_red_forgets_with_the_time_of_mean_packets() -> None:
    # 12 ms at 1 Gbit/s are 1000 packets of 1500 bytes.
    red = Red(99, 50, 150, w_q=0.002)
    Link(GBIT, red)
    red.avg = 100.0
    assert red.average(12 * MS) == pytest.approx(100.0 * 0.998**1000)
    assert red.average(12 * MS) == pytest.approx(13.5065, abs=1e-4)
    red.rule(packet(), 12 * MS)
    assert red.avg == pytest.approx(100.0 * 0.998**1001)
    assert red.average(12 * MS) == red.avg


def test_red_in_bytes_weighs_the_packet() -> None:
    red = Red(10**6, 1000, 3000, w_q=1.0, unit="bytes", mean_packet=1000)
    Link(GBIT, red, itertools.repeat(0.99))
    red.waiting_bytes, red.idle_since = 2000, None
    red.rule(packet(500), 0)
    assert red.p_a == pytest.approx(0.025)  # half of 0.05, count 0
    red.rule(packet(2000), 0)
    assert red.p_a == pytest.approx(0.1 / 0.9)


def test_red_marks_what_can_be_marked_but_not_by_force() -> None:
    arrivals = [Arrival(0, 0, 1500, True) for _ in range(9)]
    fates, _ = run(Red(99, 1, 3, w_q=1.0, gentle=False, max_p=1.0, ecn=True), arrivals, itertools.repeat(0.0))
    # Waiting: -, 0, 1 (p_b 0), 2 (p_b 1/2: marked), 3 and more: forced
    assert [fate[2] for fate in fates] == [False, False, False, True, *["forced"] * 5]


def test_ared_sets_itself_up_and_moves_once_an_interval() -> None:
    ared = Ared(10000, 2500)
    Link(2_500_000_000, ared)
    assert ared.w_q == pytest.approx(4.8e-6, rel=1e-3)  # 208,333 packets/s
    assert (ared.target(0.4), ared.target(0.6)) == (4500.0, 5500.0)
    automatic = Ared(10000)
    Link(GBIT, automatic)
    assert (automatic.min_th, automatic.max_th) == pytest.approx((208.3333, 625.0), rel=1e-6)  # 5 ms of 83333/s, halved
    steps = []
    for avg in (5501.0, 5000.0, 4499.0):
        ared.adapt(avg)
        steps.append(ared.max_p)
    assert steps == pytest.approx([0.11, 0.11, 0.099])
    ared.max_p = 0.02
    ared.adapt(6000.0)
    assert ared.max_p == pytest.approx(0.025)
    _, link = run(Ared(99, w_q=0.5), [a for t in (499, 500, 1000) for a in burst(0, time=t * MS)], rate=GBIT)
    assert [t["max_p"] for t in link.trace] == pytest.approx([0.1, 0.09, 0.081])


def test_ared_stays_within_its_bounds() -> None:
    ared = Ared(10000, 2500)
    Link(GBIT, ared)
    for _ in range(60):
        ared.adapt(6000.0)
    assert ared.max_p == 0.5
    for _ in range(60):
        ared.adapt(4000.0)
    assert ared.max_p == 0.01
    loose = Ared(10000, 2500, clamp=False)
    Link(GBIT, loose)
    loose.max_p = 0.495
    loose.adapt(6000.0)
    assert loose.max_p == pytest.approx(0.505)


def test_gared_goes_up_only_while_the_average_rises_and_down_only_while_it_falls() -> None:
    gared = Gared(10000, 2500, 7500)
    Link(GBIT, gared)
    seen = []
    for avg in (6000.0, 5900.0, 4400.0, 4450.0, 4300.0, 2400.0):
        gared.adapt(avg)
        seen.append(gared.max_p)
    assert seen == pytest.approx([0.11, 0.11, 0.099, 0.099, 0.0891, 0.0891])
    gared.max_p, gared.old_avg = 1e-6, 0.0
    for i in range(25):
        gared.adapt(6000.0 + i)
    assert gared.max_p == pytest.approx(2.6e-4, rel=0.03)  # 25 steps of a quarter: 12.5 s


def test_pd_red_adds_proportion_and_change() -> None:
    red = PdRed(100, 5, 15, w_q=1.0)
    red.idle_since, red.avg = None, 20.0
    red.on_timer(0)
    assert red.max_p == pytest.approx(0.1 + 0.001 * 0.1 + 0.05 * 0.1)
    red.on_timer(0)
    assert red.max_p == pytest.approx(0.1051 + 0.0001)


def test_blue_goes_up_with_losses_and_down_with_idleness_but_not_while_frozen() -> None:
    times = [0, 0, 0, 1 * SECOND, 1 * SECOND, 1 * SECOND + MS]
    # 0: one in service, one waits, one lost while frozen. 1 s: one room, one loss counts, the next is frozen.
    fates, link = run(Blue(1), [Arrival(t, 0, 1500) for t in times], itertools.repeat(0.99))
    assert [fate[0] for fate in fates] == ["left", "left", "dropped", "left", "dropped", "dropped"]
    assert [t["p_m"] for t in link.trace] == [0, 0, 0, 0, 0.02, 0.02]
    assert link.discipline.numbers()["p_m"] == pytest.approx(0.018)  # idle after 3 s


def test_blue_goes_down_as_long_as_the_server_is_idle() -> None:
    blue = Blue(1)
    blue.p_m, blue.last_update, blue.idle_since = 1.0, 0, 0
    blue.attach(1e6, itertools.repeat(0.0))
    # At 0.1, 0.2, ... 9.9 s; at 10 s the freeze has not ended. What is dropped ends no idle period.
    for now, p_m in ((10 * SECOND, 1 - 99 * 0.002), (10 * SECOND + 1, 0.8), (100 * SECOND, 0.0)):
        blue.arrive(packet(time=now), now)
        assert blue.p_m == pytest.approx(p_m)
    # Down to 0 at 50 s, and no further: a loss at once is not frozen.
    assert 50 * SECOND <= blue.last_update <= 50.1 * SECOND


def test_rem_prices_backlog_and_mismatch() -> None:
    rem = Rem(99)
    rem.waiting = 30
    rem.on_timer(0)
    assert rem.price == pytest.approx(0.001 * (30.0 - 0.1 * 20.0))
    rem.on_timer(0)
    assert rem.price == pytest.approx(0.028 + 0.001 * 0.1 * (30.0 - 20.0))
    rem.price = 1000.0
    assert rem.probability() == pytest.approx(1.0 - 1.001**-1000) == pytest.approx(0.6319, abs=1e-4)
    rem.price, rem.waiting, rem.backlog = 0.001, 0, 30.0
    rem.on_timer(0)
    assert rem.price == 0.0


# Delay.


def test_pie_scales_its_steps() -> None:
    pie = Pie(999, on_off=False)
    Link(10**8, pie)
    pie.waiting_bytes = 375_000  # 30 ms
    pie.on_timer(0)
    first = (0.125 * 0.015 + 1.25 * 0.03) / 2048
    assert pie.drop_prob == pytest.approx(first) == pytest.approx(1.92261e-5, rel=1e-5)
    pie.on_timer(0)
    assert pie.drop_prob == pytest.approx(first + 0.125 * 0.015 / 128)
    pie.drop_prob, pie.qdelay_old = 0.1, 0.0
    pie.on_timer(0)
    assert pie.drop_prob == pytest.approx(0.12)  # capped: 0.039375
    pie.waiting_bytes, pie.qdelay_old, pie.drop_prob = 0, 0.0, 0.5
    pie.on_timer(0)
    assert pie.drop_prob == pytest.approx((0.5 - 0.125 * 0.015) * 0.98)


def test_pie_lets_a_burst_pass_and_drops_with_regularity() -> None:
    pie = Pie(999, on_off=False)
    Link(10**8, pie, [0.9, 0.9, 0.2])
    pie.waiting_bytes = 375_000
    for _ in range(9):
        pie.on_timer(0)
    assert pie.burst_allowance == 15 * MS
    pie.on_timer(0)
    assert pie.burst_allowance == 0
    pie.drop_prob = 0.3
    # 0.3 and 0.6: too early to draw; 0.9, 1.2, 1.5: one draw each
    assert [pie.drop_early() for _ in range(5)] == [False, False, False, False, True]
    pie.accu_prob = 8.2
    assert pie.drop_early()
    assert pie.accu_prob == 0.0
    pie.qdelay_old, pie.drop_prob = 0.007, 0.19
    assert not pie.drop_early()
    pie.waiting_bytes, pie.qdelay_old = 3000, 0.1
    assert not pie.drop_early()


def test_pie_wakes_at_a_third_of_the_buffer() -> None:
    _, link = run(Pie(9), burst(*[0] * 5))
    assert [t["active"] for t in link.trace] == [False, False, False, True, True]  # the fourth makes three wait


def codel_drops(controller: Controller, times: Iterable[int]) -> list[int]:
    """Return the times of a controller's drops [ms] if asked at these times [ms] with a long and old queue."""
    queue = deque(packet(time=-SECOND) for _ in range(5000))
    drops: list[int] = []
    for t in times:
        controller.deque(queue, t * MS, queue.popleft, lambda _p, now: drops.append(now // MS))
    return drops


def test_codel_drops_at_the_times_of_its_control_law() -> None:
    # 100 ms above, then 100, 100/sqrt 2, 100/sqrt 3, ... later; looked at every millisecond.
    due = itertools.accumulate((100.0 / math.sqrt(n) for n in range(1, 8)), initial=100.0)
    controller = Controller(0.005, 0.1, 1500, ecn=False)
    assert (
        codel_drops(controller, range(440)) == [math.ceil(t) for t in due if t < 440] == [100, 200, 271, 329, 379, 424]
    )
    assert (controller.count, controller.lastcount) == (6, 1)


def test_codel_comes_back_at_the_rate_it_left_with() -> None:
    controller = Controller(0.005, 0.1, 1500, ecn=False)
    codel_drops(controller, range(440))
    fresh = deque([packet(time=440 * MS)] * 3)
    controller.deque(fresh, 440 * MS, fresh.popleft, lambda _p, _now: None)
    assert not controller.dropping
    assert codel_drops(controller, range(450, 551)) == [550]
    assert (controller.count, controller.lastcount) == (5, 5)
    assert controller.drop_next == 550 * MS + round(100 * MS / math.sqrt(5))


def test_codel_leaves_the_last_packet_alone_and_marks_instead_if_it_may() -> None:
    arrivals = [Arrival(0, 0, 1500, True) for _ in range(3)]
    fates, _ = run(Codel(99), arrivals)
    assert [fate[0] for fate in fates] == ["left"] * 3  # a single packet is left behind the second
    arrivals = [Arrival(0, 0, 1500, True) for _ in range(6)]
    fates, _ = run(Codel(99), arrivals)
    # 1 s: above since; 2 s: the third goes, the fourth leaves; 3 s: due for a second, but one packet is left: leave
    assert [fate[2] for fate in fates] == [False, False, "sojourn", False, False, False]
    fates, _ = run(Codel(99, ecn=True), arrivals)
    assert [fate[2] for fate in fates] == [False, False, True, True, False, False]


def test_fq_codel_serves_the_new_queue_first_and_halves_the_fattest() -> None:
    arrivals = [*burst(0, 0, 0, 0), *burst(1, time=SECOND // 2)]
    fates, _ = run(FqCodel(interval=100.0), arrivals)
    # Queue 0 has 14 credits left after its first packet, so that it is served again and then owes.
    assert served(fates, arrivals) == [0, 0, 1, 0, 0]
    arrivals = burst(*[0] * 6, 1, 1)
    fates, _ = run(FqCodel(6, interval=100.0), arrivals)
    # One in service; five and one make six; the seventh is too many: two of five go from the head.
    assert [i for i, fate in enumerate(fates) if fate[0] == "dropped"] == [1, 2]


# Fair shares.


def test_drr_by_the_example_of_its_paper() -> None:
    # Quantum 500; a packet of another flow keeps the server busy until all have come.
    sizes = {1: (200, 750, 20), 2: (500, 500), 3: (200, 600, 100), 4: (50, 700, 180)}
    arrivals = [Arrival(0, 9, 100), *(Arrival(0, f, s) for f, mine in sizes.items() for s in mine)]
    fates, _ = run(Drr(500), arrivals)
    assert served(fates, arrivals) == [9, 1, 2, 3, 4, 1, 1, 2, 3, 3, 4, 4]
    assert [fate[0] for fate in run(Drr(500, flow_limit=2), arrivals)[0]].count("dropped") == 3


def test_drr_turns_end_at_the_next_request() -> None:
    arrivals = [*burst(1, 1, 1), *burst(2, time=SECOND // 2)]
    fates, _ = run(Drr(1500), arrivals)
    # 1 left the list with its first packet, then came back, and 2 behind it
    assert served(fates, arrivals) == [1, 1, 2, 1]
    fates, _ = run(Drr(1500, lingers=True), arrivals)
    assert served(fates, arrivals) == [1, 2, 1, 1]
    arrivals = [*burst(1), *burst(1, time=1), *burst(2, time=SECOND // 2)]
    assert served(run(Drr(3000, lingers=True), arrivals)[0], arrivals) == [1, 1, 2]


def test_fq_takes_from_the_longest() -> None:
    arrivals = burst(9, 1, 1, 1, 2, 2)
    fates, _ = run(Fq(4), arrivals)
    assert [i for i, fate in enumerate(fates) if fate[0] == "dropped"] == [3]
    fates, _ = run(Fq(4, victim="head"), arrivals)
    assert [i for i, fate in enumerate(fates) if fate[0] == "dropped"] == [1]
    for u, lost in ((0.49, 2), (0.5, 4)):  # two and two: a draw, flows in order
        fates, _ = run(Fq(3), burst(9, 1, 1, 2, 2), [u])
        assert [i for i, fate in enumerate(fates) if fate[0] == "dropped"] == [lost]
    small = [*burst(9, 1), *burst(2, 2, size=500)]
    for measure, lost in (("bytes", 1), ("packets", 3)):
        fates, _ = run(Fq(2, measure=measure), small)  # type: ignore[arg-type]
        assert [i for i, fate in enumerate(fates) if fate[0] == "dropped"] == [lost]


def test_start_time_fair_queueing_by_hand() -> None:
    # Served by start tags: 1: 0, 1500, 3000; 2: 0, 500, 1000, 1500 (came later than 1's); 9: 0
    arrivals = [*burst(9), *burst(1, 1, 1), *burst(2, 2, 2, 2, size=500)]
    fates, _ = run(Fq(99, "stfq"), arrivals)
    assert served(fates, arrivals) == [9, 1, 2, 2, 2, 1, 2, 1]


def test_sfq_hashes_and_serves_packets_in_turn() -> None:
    arrivals = [*burst(9), *burst(0, 0, 3, size=100), *burst(1, 1)]
    fates, _ = run(Sfq(99, queues=3), arrivals)
    assert served(fates, arrivals) == [9, 0, 1, 0, 1, 3]
    fates, _ = run(Sfq(4, queues=3), arrivals)
    assert [i for i, fate in enumerate(fates) if fate[0] == "dropped"] == [3]


def test_priority_fq_serves_a_new_flow_first_for_one_quantum() -> None:
    arrivals = [*burst(1, 1, 1), *burst(2, 2, time=SECOND // 2), *burst(3, 3, 3, size=600, time=SECOND // 2)]
    fates, _ = run(PriorityFq(99), arrivals)
    # 1 (used its quantum), then 2 and twice 3 before the rest, which goes in turn
    assert served(fates, arrivals) == [1, 2, 3, 3, 1, 2, 3, 1]


# Two queues, and explicit rates.


def test_dualpi2_has_the_constants_of_appendix_a() -> None:
    dual = DualPi2()
    Link(10**8, dual)
    assert (dual.alpha, dual.beta, dual.p_cmax) == pytest.approx((0.15, 3.0, 0.25))
    assert (dual.t_update, dual.limit) == (15 * MS, 3_125_000)
    assert [dual.laqm(q) for q in (0.0008, 0.001, 0.0012, 1.0)] == pytest.approx([0.0, 0.5, 1.0, 1.0])
    assert [i for i in range(12) if dual.recur(0, 0.25)] == [4, 8]
    dual.idle_since = None
    dual.arrive(packet(time=0), 0)
    dual.on_timer(30 * MS)
    assert dual.p == pytest.approx(0.15 * 0.015 + 3.0 * 0.03)
    assert (dual.p_cl, dual.p_c) == pytest.approx((2 * dual.p, dual.p**2))
    dual.on_timer(30 * MS)
    assert dual.p == pytest.approx(0.09225 + 0.15 * 0.015)


def test_dualpi2_marks_or_drops_by_the_square_and_drops_all_kinds_in_overload() -> None:
    dual = DualPi2(recur=False)
    Link(10**8, dual, itertools.repeat(0.0))
    dual.p_c = 0.1
    assert [dual.drops_c(packet(ect=ect)) for ect in (False, True)] == [True, False]
    dual.p_c, dual.p_cl = 0.25, 1.0
    assert [dual.drops_c(packet(ect=ect)) for ect in (False, True)] == [True, True]
    assert dual.drops_l(packet(ect=True), 0)
    for scheduler, order in (("strict", [9, 1, 1, 0, 0]), ("ts_fifo", [9, 1, 1, 0, 0]), ("wrr", [9, 0, 1, 1, 0])):
        arrivals = [*burst(9), *burst(0, 0), *(Arrival(0, 1, 1500, True, True) for _ in range(2))]
        fates, _ = run(DualPi2(10**6, scheduler=scheduler), arrivals, rate=10**9)  # type: ignore[arg-type]
        assert served(fates, arrivals) == order


def test_xcp_gives_away_what_is_spare() -> None:
    # 10^7 bytes/s, 0.1 s, ten packets of 1000 bytes of a window of 10000: spare are 9.9 10^6, phi 0.4 0.1 of it.
    xcp = Xcp(99)
    link = Link(80_000_000, xcp)
    arrivals = [Arrival(t * 9 * MS, 0, 1000, header=Header(0.1, 10_000.0, 1e9)) for t in range(10)]
    arrivals += [Arrival(101 * MS + t * MS, 0, 1000, header=Header(0.1, 10_000.0, 1e9)) for t in range(10)]
    link.run(arrivals)
    feedback = [p.header.feedback for p in link.packets if p.header is not None]
    assert feedback[:10] == [0.0] * 10
    assert xcp.phi == pytest.approx(396_000.0)
    assert feedback[10:] == pytest.approx([39_600.0] * 10)
    assert sum(feedback) == pytest.approx(xcp.phi)


def test_xcp_takes_back_what_is_too_much_and_shuffles() -> None:
    xcp = Xcp(99, interval=0.1)
    Link(800_000, xcp)  # 10^5 bytes/s
    for _ in range(12):
        xcp.input_traffic += 1000.0
        xcp.sum_rtt_by_cwnd += 0.1 * 1000 / 12_000
        xcp.sum_rtt_square_by_cwnd += 0.01 * 1000 / 12_000
    xcp.control(0)
    # 1.2 10^5 come, a fifth too many: phi = 0.4 0.1 -2 10^4 = -800; shuffled: 1200 - 800
    assert xcp.phi == pytest.approx(-800.0)
    header = Header(0.1, 12_000.0, 500.0)
    xcp.write(header, 1000)
    assert header.feedback == pytest.approx((400.0 - 1200.0) / 12.0)
    header = Header(0.1, 12_000.0, -500.0)
    residue = xcp.residue_neg
    xcp.write(header, 1000)
    assert header.feedback == -500.0  # another router gave less
    assert xcp.residue_neg == pytest.approx(residue - 5000.0)
    assert xcp.xi_n == pytest.approx(1.0)
    xcp.write(Header(0.1, 12_000.0, -601.0), 1000)
    assert xcp.xi_n == 0.0  # all is taken back
