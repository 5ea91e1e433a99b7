"""A scenario's links and groups of flows in numbers: their formats, derived values, and complete reading."""

import math
import pickle
import time
from typing import Any

import pytest

import elephan
from elephan import _native
from elephan import scenario as scenarios
from elephan.lint import lint
from elephan.network import FlowGroup, Network, read_network
from elephan.scenario import Scenario
from elephan.sizing.rules import rules

TEXT = """
duration = "20 s"
warmup   = "5 s"

[[links]]
name   = "edge"
rate   = "20 Mbit/s"
delay  = "5 ms"
buffer = "30 packets"

[[links]]
name   = "core"
rate   = "10 Mbit/s"
delay  = "20 ms"
buffer = "50 kB"
queue  = { discipline = "red" }

[[flows]]
name   = "bulk"
count  = 4
path   = ["edge", "core"]
rtt    = "80 ms"
packet = "1000 B"

[[flows]]
name    = "noise"
count   = 2
path    = ["core"]
rtt     = "60 ms"
packet  = "500 B"
traffic = { kind = "cbr", rate = "1 Mbit/s" }
"""


def network(**changes: object) -> Network:
    return Scenario.from_text(TEXT).replace({f"flows[bulk].{key}": value for key, value in changes.items()}).network


def bulk(**changes: object) -> FlowGroup:
    (group,) = network(**changes).bulk
    return group


def test_a_link_is_as_the_file_has_it_in_base_units() -> None:
    edge, core = network().links
    assert (edge.index, edge.name, edge.members, edge.rate_bps, edge.delay_s) == (0, "edge", 1, 20e6, 0.005)
    assert (core.discipline, "max_th" in core.queue) == ("red", True)
    assert (edge.flows, edge.background_flows, core.flows, core.background_flows) == (4, 0, 4, 2)
    assert (core.packet_bytes, core.bdp_packets) == pytest.approx((1000.0, 100.0))
    assert (core.min_rtt_s, core.mean_rtt_s, core.max_rtt_s) == (0.08, 0.08, 0.08)
    assert [sorted(link.traffic) for link in (edge, core)] == [["bulk"], ["bulk", "cbr"]]


def test_a_buffer_is_known_in_packets_and_in_time_whatever_its_unit() -> None:
    edge, core = network().links
    assert (edge.buffer_packets, core.buffer_packets) == (30.0, 50.0)
    # 30 packets of 1000 B at 20 Mbit/s, 50 kB at 10 Mbit/s.
    assert (edge.drain_s, core.drain_s) == pytest.approx((0.012, 0.04))
    (link,) = Scenario.from_text(scenarios.EXAMPLE).replace({"links[0].buffer": "unlimited"}).network.links
    assert (link.buffer_packets, link.drain_s) == (None, None)


def test_a_link_that_nothing_crosses_has_no_packet_and_no_rtt() -> None:
    edge = network(path=["core"]).links[0]
    assert (edge.flows, edge.flows_per_member, edge.buffer_packets) == (0, 1, 30.0)
    assert all(map(math.isnan, (edge.packet_bytes, edge.min_rtt_s, edge.bdp_packets)))


def test_the_narrowest_link_is_the_one_with_the_smallest_share() -> None:
    # Datagrams leave 8 of 10 Mbit/s for four flows; the edge has 20 for the same four.
    group = bulk()
    assert (group.narrowest.name, group.narrowest.datagrams_bps, group.narrowest.share_bps) == ("core", 2e6, 2e6)
    assert group.bdp == pytest.approx(2e6 * 0.08 / 8 / 1000)
    # RED acts before the buffer is full, drop-tail does not.
    assert group.window == group.bdp
    tail = Scenario.from_text(TEXT).replace({"links[core].queue": "drop-tail"}).network.bulk[0]
    assert tail.window == pytest.approx(2e6 * (0.08 + 0.04) / 8 / 1000)


def test_too_many_datagrams_leave_a_hundredth() -> None:
    flood = Scenario.from_text(TEXT).replace({"flows[noise].traffic.rate": "9 Mbit/s"}).network.links[1]
    assert flood.datagrams_bps == 18e6
    assert flood.share_bps == pytest.approx(0.01 * 10e6 / 4)


def test_flows_share_an_array_evenly() -> None:
    array = Scenario.from_text(TEXT).replace({"links[core].count": 3, "flows[bulk].path": ["edge", "core[*]"],
                                               "flows[noise].path": ["core[*]"]})  # fmt: skip
    core = array.network.links[1]
    assert (core.members, core.flows, core.flows_per_member) == (3, 4, 2)
    assert core.share_bps == pytest.approx((10e6 - 2e6 / 3) / 2)


PARETO = {"pareto": {"mean": "80 ms", "shape": 1.5, "max": "200 ms"}}


@pytest.mark.parametrize(
    ("rtt", "rtts_s", "drawn"),
    [
        ("80 ms", [0.08] * 4, False),
        (["40 ms", "60 ms", "70 ms", "50 ms"], [0.04, 0.06, 0.07, 0.05], False),
        ({"from": "50 ms", "to": "80 ms"}, [0.05, 0.06, 0.07, 0.08], False),
        ({"uniform": ["50 ms", "80 ms"]}, [0.05, 0.08], True),
        (PARETO, [0.08], True),
        # Twice the delays of both links.
        ("auto", [0.05] * 4, False),
    ],
)
def test_base_rtts_are_those_of_the_flows_or_of_what_they_draw(
    rtt: object, rtts_s: list[float], *, drawn: bool
) -> None:
    group = bulk(rtt=rtt)
    assert group.rtts_s == pytest.approx(tuple(rtts_s))
    assert group.rtts_are_drawn is drawn
    assert group.rtt_s == pytest.approx((min(rtts_s) + max(rtts_s)) / 2)


def test_an_rtt_from_the_links_counts_access_and_is_drawn_where_they_are() -> None:
    fixed = bulk(rtt="auto", access={"rate": "1 Gbit/s", "delay": "3 ms"})
    assert (fixed.rtts_s[0], fixed.rtts_are_drawn) == pytest.approx((0.056, False))
    varied = bulk(rtt="auto", access={"rate": "1 Gbit/s", "delay": {"uniform": ["1 ms", "5 ms"]}})
    assert (varied.rtts_s[0], varied.rtts_are_drawn) == pytest.approx((0.05, True))


@pytest.mark.parametrize(
    ("start", "start_s"),
    [
        ("2 s", (2.0, 2.0)),
        ({"from": "1 s", "to": "3 s"}, (1.0, 3.0)),
        ({"from": "1 s", "every": "2 s"}, (1.0, 7.0)),
        (["4 s", "1 s", "2 s", "3 s"], (1.0, 4.0)),
    ],
)
def test_starts_are_known_from_the_first_to_the_last(start: object, start_s: tuple[float, float]) -> None:
    assert bulk(start=start).start_s == pytest.approx(start_s)


@pytest.mark.parametrize(
    ("stop", "stop_s"),
    [("10 s", 10.0), ({"from": "8 s", "to": "12 s"}, 12.0), ({"after": "5 s"}, None), ("none", None)],
)
def test_a_stop_is_when_all_are_gone(stop: object, stop_s: float | None) -> None:
    changes = {} if stop == "none" else {"stop": stop}
    assert bulk(**changes).stop_s == stop_s


def test_who_holds_a_flow_back_is_told_from_its_share() -> None:
    # A share is 2 Mbit/s, and 20 segments.
    assert [bulk(access={"rate": rate}).is_held_by_access for rate in ("2 Mbit/s", "3 Mbit/s")] == [True, False]
    assert [bulk(tcp={"receive_window": n}).is_held_by_receiver for n in (19, 21)] == [True, False]
    tuned = [{"initial": "4096 B", "max": f"{n} B"} for n in (2 * 960 * 20 - 1, 2 * 960 * 21)]
    assert [bulk(tcp={"receive_window": window}).receive_window for window in tuned] == [19, 21]
    assert [bulk(tcp={"receive_window": window}).is_held_by_receiver for window in tuned] == [True, False]
    assert bulk().receive_window is None
    assert not bulk().is_held_by_access
    assert not bulk().is_held_by_receiver


@pytest.mark.parametrize(
    ("traffic", "bps"),
    [
        ({"kind": "elastic", "size": "50 kB", "rate": "1 Mbit/s"}, 4e6),
        # The limit of the slowest link of the path.
        ({"kind": "elastic", "size": "50 kB", "load": 0.3}, 3e6),
        ({"kind": "finite", "size": "50 kB"}, 0.0),
    ],
)
def test_transfers_that_arrive_offer_what_the_file_states(traffic: dict[str, Any], bps: float) -> None:
    seen = network(traffic=traffic)
    assert seen.bulk == ()
    assert seen.groups[0].offered_bps == pytest.approx(bps)
    assert [link.arriving_bps for link in seen.links] == pytest.approx([bps, bps])
    assert [link.datagrams_bps for link in seen.links] == [0.0, 2e6]


def test_datagrams_have_no_law() -> None:
    noise = network().groups[1]
    assert (noise.is_tcp, noise.law, noise.recovery, noise.control, noise.offered_bps) == (False, "", "", {}, 2e6)


def test_who_counts_is_asked_of_all_or_of_a_link() -> None:
    seen = network(path=["edge"])
    assert (seen.counted(), seen.counted(0), seen.counted(1)) == ((True, False), (True, False), (False, True))
    assert [group.name for group in seen.crossing(1)] == ["noise"]


def test_a_disciplines_parameters_follow_another_buffer() -> None:
    derived = {"links[core].queue": {"discipline": "red", "max_th": "0.5 buffer"}}
    seen = Scenario.from_text(TEXT).replace(derived).network
    small, large = (seen.queue_with(1, packets) for packets in (20, 200.4))
    assert (small["max_th"], large["max_th"]) == ("10 packets", "100 packets")


def test_a_warm_up_that_was_found_is_not_stated() -> None:
    assert network().warmup_is_stated
    assert not Scenario.from_text(TEXT).replace({"warmup": "auto"}).network.warmup_is_stated


@pytest.mark.slow
def test_a_scenario_is_read_once_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counting(*args: Any, **kwargs: Any) -> Network:
        read.append(args[2])
        return read_network(*args, **kwargs)

    monkeypatch.setattr(scenarios, "read_network", counting)
    scenario = Scenario.from_text(scenarios.EXAMPLE, "once.toml")
    lint(scenario)
    rules(scenario.network, 0)
    lint(scenario)
    assert read == ["once.toml"]
    # Another with the buffer of the answer, for the warnings; what `accuracy` asks about its own links is kept there.
    answer = elephan.size(scenario, "utilization=0.95", model_only=True)
    answer.to_json()
    assert read.count("once.toml") == 2


def test_a_scenario_that_was_read_can_be_sent_elsewhere() -> None:
    scenario = Scenario.from_text(TEXT)
    copy = pickle.loads(pickle.dumps((scenario, scenario.network)))[0]
    assert copy.network == scenario.network
    assert copy.network.queue_with(1, 20) == scenario.network.queue_with(1, 20)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["flows", "path"])
def test_a_network_of_many_links_is_read_in_linear_time(shape: str) -> None:
    def cost(links: int) -> float:
        text = 'duration = "1 s"\n'
        text += "".join(f'[[links]]\nname = "l{i}"\nrate = "1 Mbit/s"\nbuffer = "1 bdp"\n' for i in range(links))
        paths = [[f"l{i}"] for i in range(links)] if shape == "flows" else [[f"l{i}" for i in range(links)]]
        text += "".join(f'[[flows]]\nname = "f{i}"\npath = {path}\nrtt = "20 ms"\n' for i, path in enumerate(paths))
        costs = []
        for _ in range(3):
            begun = time.thread_time()
            _native.describe(_native.resolve(text)[0])
            costs.append(time.thread_time() - begun)
        return min(costs)

    # Eight times; with a look at all flows for each link 64 times: between the two, far from both.
    assert cost(4000) / cost(500) < 24
