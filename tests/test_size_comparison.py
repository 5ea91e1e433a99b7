"""Laws and queues compared: the recommendation on made-up variants, and the verb on a small link."""

import itertools
import json
import math
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import elephan as package
from conftest import Command
from elephan.metrics import jain
from elephan.plots.comparison import _up_to_one
from elephan.scenario import EXAMPLE
from elephan.sizing import SizeComparison, _judge, size_variants
from elephan.sizing.caveats import caveats
from elephan.sizing.curve import BufferCurve
from elephan.sizing.recommend import CRITERIA, Candidate, is_better, misses, nearest, recommend
from elephan.sizing.targets import BufferSample, parse_targets, targets_json

pytestmark = pytest.mark.slow

TARGETS = parse_targets("utilization=0.9")
SMALL = package.Scenario.from_text("replications = 2\n" + EXAMPLE)
NOISE = (-0.01, 0.0, 0.01)


def variant(
    name: str,
    *,
    delay: float = 0.01,
    loss: float = 0.001,
    fair: float = 0.9,
    buffer: int = 100,
    used: float = 0.95,
    meets: bool = True,
    noise: tuple[float, ...] = NOISE,
) -> Candidate:
    """A made-up variant whose replications have the same relative deviations as those of all variants."""
    samples = tuple(BufferSample(used, loss * (1 + n), delay * (1 + n), fair) for n in noise)
    return Candidate("reno", name, buffer, meets, (0.9 * buffer, 1.1 * buffer), samples)


# --- the rule


def test_the_lowest_delay_wins_and_the_reason_has_the_numbers() -> None:
    found = recommend([variant("slow", delay=0.02), variant("fast", delay=0.01, loss=0.002)], TARGETS)
    assert found.chosen.queue == "fast"
    assert found.runner_up is not None
    assert found.runner_up.queue == "slow"
    assert found.reason == (
        "reno with fast meets utilization >= 0.9 with 100 packets (delay 10 ms, loss 0.2 %, Jain's index 0.9); "
        "against reno with slow, the runner-up, it has less delay (10 ms against 20 ms); it costs more loss (0.2 % "
        "against 0.1 %)"
    )
    assert found.otherwise == "reno with slow if the loss counts most (0.1 % against 0.2 %)"


def test_only_variants_that_meet_the_targets_count() -> None:
    found = recommend([variant("fast", delay=0.001, meets=False), variant("slow", delay=0.1)], TARGETS)
    assert found.chosen.queue == "slow"
    assert found.runner_up is None
    assert "is the only one of 2 that does" in found.reason


def test_what_misses_by_noise_alone_is_still_none_of_those_that_meet() -> None:
    # Half a per cent below the target, well within what its replications differ by.
    near = replace(variant("near", delay=0.001, used=0.8955, meets=False), dangers=())
    found = recommend([near, variant("slow", delay=0.1), variant("slower", delay=0.2)], TARGETS)
    assert found.chosen.queue == "slow"
    assert "with the lowest delay" not in found.reason
    assert "near" not in found.reason + found.otherwise


def test_a_variant_with_a_danger_comes_after_all_without_and_is_said_where_it_would_win() -> None:
    lossy = replace(variant("lossy", delay=0.001, loss=0.04), dangers=("4 % of the packets are lost with 3 packets",))
    found = recommend([lossy, variant("slow", delay=0.02), variant("slower", delay=0.03)], TARGETS)
    assert found.chosen.queue == "slow"
    assert found.runner_up is not None
    assert found.runner_up.queue == "slower"
    # Its delay is not the lowest of those that meet the target, and no text claims so.
    assert "with the lowest delay" not in found.reason
    assert "reno with lossy if the delay counts most (1 ms against 20 ms, but 4 % of the packets are lost" in (
        found.otherwise
    )
    # If every variant has one, the rule is unchanged.
    both = [lossy, replace(variant("slow", delay=0.02, loss=0.05), dangers=("5 % of the packets are lost",))]
    assert recommend(both, TARGETS).chosen is lossy


def test_what_nobody_should_deploy_is_no_answer_and_the_reason_says_why() -> None:
    refused = replace(variant("tiny", meets=False), refused="3 packets are less than one for each of the 9 flows")
    found = recommend([refused], TARGETS)
    assert not found.meets
    assert found.reason == (
        "reno with tiny does not meet utilization >= 0.9 with a buffer to deploy: 3 packets are less than one for each "
        "of the 9 flows"
    )
    policed = [replace(variant(name, used=0.1, meets=False), refused="the policer lets 1 % through") for name in "ab"]
    assert recommend(policed, TARGETS).reason == (
        "none of 2 variants meets utilization >= 0.9: the policer lets 1 % through"
    )


def test_what_is_worse_in_something_and_better_in_nothing_is_not_even_runner_up() -> None:
    dominated = variant("dominated", delay=0.012, loss=0.01)
    found = recommend([dominated, variant("fast", delay=0.011), variant("lossless", delay=0.02, loss=1e-5)], TARGETS)
    assert found.chosen.queue == "fast"
    # Without the first, the dominated one has the lower delay and nothing dominates it any more.
    assert found.runner_up is dominated
    assert "lossless if the loss counts most" in found.otherwise


@pytest.mark.parametrize(
    ("better", "decides"),
    [
        ({"loss": 0.0005}, "about the same delay and less loss (0.05 % against 0.1 %)"),
        ({"fair": 0.99}, "about the same delay and loss and fairer shares (Jain's index 0.99 against 0.9)"),
        ({"buffer": 50}, "about the same delay and loss and fairness and less buffer (50 packets against 100 packets)"),
    ],
)
def test_a_tie_in_delay_is_decided_by_loss_then_fairness_then_buffer(better: dict[str, Any], decides: str) -> None:
    # 1 % of delay is less than matters: it does not decide.
    found = recommend([variant("first", delay=0.0099), variant("second", **better)], TARGETS)
    assert found.chosen.queue == "second"
    assert f"it has {decides}" in found.reason


def test_what_noise_alone_tells_apart_is_a_tie() -> None:
    # Half the delay, but one replication out of three says the opposite: t(2) = 4.3 standard errors are not reached.
    wild = Candidate(
        "reno", "wild", 100, True, None, tuple(BufferSample(0.95, 1e-3, d, 0.9) for d in (0.001, 0.012, 0.002))
    )
    calm = Candidate(
        "reno", "calm", 100, True, None, tuple(BufferSample(0.95, 9e-4, d, 0.9) for d in (0.01, 0.01, 0.01))
    )
    assert not is_better(wild, calm, "queueing_delay_s")
    assert recommend([wild, calm], TARGETS).chosen is calm  # its loss is 10 % lower in every replication


def test_pairs_are_told_apart_where_intervals_overlap() -> None:
    # Replications spread by a factor of two, the same for both: only the pairs show the 20 %.
    wide = (-0.4, 0.0, 0.4)
    low, high = variant("low", delay=0.008, noise=wide), variant("high", delay=0.01, noise=wide)
    assert is_better(low, high, "queueing_delay_s")
    assert not is_better(high, low, "queueing_delay_s")


def test_delays_that_no_round_trip_feels_are_a_tie() -> None:
    # 2 ms and 2.5 ms beside 100 ms: half a per cent of the round trip. Beside 10 ms it is 5 %.
    for rtt_s, felt in ((0.1, False), (0.01, True)):
        low, high = (replace(variant("q", delay=delay), rtt_s=rtt_s) for delay in (0.002, 0.0025))
        assert is_better(low, high, "queueing_delay_s") is felt


def test_losses_rarer_than_corruption_are_a_tie() -> None:
    assert not is_better(variant("none", loss=0.0), variant("rare", loss=5e-7), "loss_ratio")
    assert is_better(variant("none", loss=0.0), variant("some", loss=5e-6), "loss_ratio")


def test_one_replication_is_judged_by_its_means() -> None:
    low, high = variant("low", delay=0.008, noise=(0.0,)), variant("high", delay=0.01, noise=(0.0,))
    assert is_better(low, high, "queueing_delay_s")


def test_buffers_differ_where_their_intervals_do() -> None:
    assert is_better(variant("small", buffer=50), variant("large", buffer=100), "buffer")
    assert not is_better(variant("small", buffer=90), variant("large", buffer=100), "buffer")


def test_fairness_counts_by_the_spread_of_the_shares() -> None:
    # Two flows of which one gets 1.5 times the other have 0.96, at 1.05 times 0.9994: only 4 % apart in the index.
    near, far = (jain([1.0, ratio]) for ratio in (1.05, 1.5))
    assert is_better(variant("near", fair=near), variant("far", fair=far), "jain")
    assert not is_better(variant("equal", fair=1.0), variant("near", fair=near), "jain")


def test_what_nobody_measured_makes_no_difference() -> None:
    unknown = variant("unknown", fair=math.nan, loss=math.nan)
    known = variant("known")
    for criterion in CRITERIA:
        assert not is_better(unknown, known, criterion)
        assert not is_better(known, unknown, criterion)
    assert "nan" not in recommend([unknown], TARGETS).reason


def test_what_nobody_measured_is_not_called_the_same() -> None:
    # A model's result for a variant has no fairness.
    small, large = variant("a", buffer=50, fair=math.nan), variant("b", buffer=100, fair=math.nan)
    reason = recommend([small, large], TARGETS).reason
    assert "it has about the same delay and loss and less buffer (50 packets against 100 packets)" in reason


def test_equals_go_by_the_mean_delay_and_nothing_would_change_it() -> None:
    found = recommend([variant("first", delay=0.0102), variant("second", delay=0.01)], TARGETS)
    assert found.chosen.queue == "second"
    assert (
        "it does not differ significantly from reno with first, the runner-up (10 ms against 10.2 ms)" in found.reason
    )
    assert found.otherwise == ""


def test_the_choice_does_not_depend_on_the_order() -> None:
    several = [variant(f"q{i}", delay=0.01 * (1 + i % 2), loss=0.001 * (3 - i), fair=0.9 + 0.02 * i) for i in range(4)]
    chosen = {recommend(order, TARGETS).chosen.queue for order in itertools.permutations(several)}
    assert len(chosen) == 1


def test_if_none_meets_the_targets_the_nearest_is_named_with_its_miss() -> None:
    targets = parse_targets("utilization=0.9,loss=0.1%")
    both = variant("both", used=0.89, loss=0.0011, meets=False)
    one = variant("one", used=0.5, loss=0.0005, meets=False)
    found = recommend([both, one], targets)
    assert not found.meets
    assert found.chosen is one  # one target missed, however far, before two
    assert found.reason == (
        "none of 2 variants meets utilization >= 0.9 and loss <= 0.001; reno with one comes nearest, with 100 packets: "
        "utilization 0.5 where utilization >= 0.9 is wanted"
    )
    assert found.to_json()["met"] is False


def test_a_miss_is_a_share_of_its_level_and_the_unknown_is_the_farthest() -> None:
    targets = parse_targets("utilization=0.8,loss=1%")
    missed, worst = misses([BufferSample(0.6, 0.011, 0.0)], targets)
    assert (missed, round(worst, 9)) == (2, 0.25)
    assert misses([BufferSample(0.9, math.nan, 0.0)], targets) == (1, math.inf)


# --- fairness


def test_fairness_is_a_target_that_is_checked_and_decides_no_buffer() -> None:
    (used, fair) = parse_targets("utilization=0.9,fairness=95%")
    assert (str(fair), fair.is_floor, fair.is_ceiling) == ("fairness >= 0.95", False, False)
    assert targets_json([used, fair]) == {"utilization": 0.9, "fairness": 0.95}
    with pytest.raises(package.TargetError, match="fairness decides no buffer"):
        parse_targets("fairness=0.9,delay=10ms")


def test_unfair_shares_at_the_buffer_found_are_no_answer_and_larger_buffers_are_looked_at() -> None:
    targets = parse_targets("utilization=0.9,fairness=0.95")
    curve = BufferCurve()
    for buffer, used, fair in ((10, 0.8, 0.99), (20, 0.92, 0.9), (40, 0.95, 0.97)):
        curve.add(buffer, 0, BufferSample(used, 0.0, 0.001, fair))
    found, note = _judge(curve, targets, 20)
    assert found is None
    assert note == (
        "utilization >= 0.9 needs 20 packets, where fairness 0.9 falls short of 0.95; of the larger buffers measured, "
        "that of 40 packets is the fairest: fairness 0.97"
    )
    assert nearest(curve, targets) == 40
    assert _judge(curve, targets, 40) == (40, "")


def test_a_buffer_that_meets_everything_though_larger_ones_do_not_is_mentioned() -> None:
    targets = parse_targets("utilization=0.9,loss=0.5%")
    curve = BufferCurve()
    for buffer, loss in ((10, 0.003), (20, 0.009)):
        curve.add(buffer, 0, BufferSample(0.95, loss, 0.001))
    assert "; but 10 packets of buffer would meet the targets" in _judge(curve, targets, None)[1]


def test_fairness_is_jains_index_over_the_tcp_flows_of_the_link() -> None:
    # Two groups on the link, one elsewhere, and datagrams: what counts is what `run` shows of the two.
    datagrams = '[[flows]]\nname = "udp"\npath = ["core"]\nrtt = "80 ms"\n'
    text = (
        EXAMPLE
        + '[[links]]\nname = "aside"\nrate = "2 Mbit/s"\ndelay = "1 ms"\nbuffer = "20 packets"\n'
        + '[[flows]]\nname = "away"\npath = ["aside"]\nrtt = "20 ms"\n'
        + datagrams
        + 'traffic = { kind = "cbr", rate = "1 Mbit/s" }\n'
    )
    scenario = package.Scenario.from_text(text)
    answer = package.size(scenario, "utilization=0.5", replications=2)
    assert answer.buffer_packets is not None
    outcomes = package.run(scenario.replace({"links[0].buffer": f"{answer.buffer_packets} packets"}), 2).outcomes
    indices = [jain(outcome.flows["goodput_bps"][:2]) for outcome in outcomes]
    assert answer.at(answer.buffer_packets)["jain"]["mean"] == pytest.approx(np.mean(indices), rel=1e-12)


def test_one_flow_is_fair_to_itself() -> None:
    alone = package.Scenario.from_text(EXAMPLE).replace({"flows[0].count": 1})
    document = package.size(alone, "utilization=0.5", replications=2).to_json()
    assert document["jain"] == {"mean": 1.0, "ci95": 0.0}
    assert document["curve"][0]["jain"]["mean"] == 1.0


# --- what to know before it is deployed


@pytest.mark.parametrize(
    ("law", "queue", "says"),
    [
        ("dctcp", "codel", "dctcp reads marks, and codel with these parameters makes none"),
        ("packet-pair", "drop-tail", "packet-pair reads its rate off a queue that serves flows in turn"),
        ("xcp", "fq", "xcp needs routers that send it its rate"),
        ("reno", "xcp", "to it reno is load like any other"),
        ("reno", "pie", "pie drops or marks before the buffer is full"),
    ],
)
def test_laws_and_queues_that_need_each_other_are_said(law: str, queue: str, says: str) -> None:
    scenario = SMALL.replace({"flows[0].control": law, "links[0].queue": queue})
    chosen = Candidate(law, queue, 10, True, None, variant("x").samples)
    assert any(says in line for line in caveats(scenario.network, 0, 0, chosen, 3))


def test_a_fitting_pair_needs_no_word() -> None:
    for law, queue in (("prague", "dualpi2"), ("dctcp", "pie"), ("packet-pair", "drr"), ("xcp", "xcp")):
        scenario = SMALL.replace({"flows[0].control": law, "links[0].queue": queue})
        chosen = Candidate(law, queue, 10, True, None, variant("x").samples)
        assert not any(law in line for line in caveats(scenario.network, 0, 0, chosen, 3))


def test_starving_flows_other_groups_and_few_replications_are_said() -> None:
    other = '[[flows]]\nname = "beside"\npath = ["core"]\nrtt = "80 ms"\ncontrol = { law = "cubic" }\n'
    scenario = package.Scenario.from_text(EXAMPLE + other)
    # Two flows, one with all: 1/2.
    chosen = variant("drop-tail", fair=0.5, noise=(0.0,))
    assert caveats(scenario.network, 0, 0, chosen, 1) == (
        "Jain's index is 0.50: some flows get far less than others",
        'only the flows of "bulk" run reno; those of "beside" keep cubic',
        "one replication has no interval: the choice goes by single runs",
    )


MANY = """
title = "Twelve on a short path"
duration = "8 s"
warmup = "3 s"
replications = 2

[[links]]
name = "core"
rate = "60 Mbit/s"
buffer = "bdp"

[[flows]]
name = "some"
count = 12
path = ["core"]
rtt = { from = "14 ms", to = "26 ms" }
start = { from = "0 s", to = "1 s" }
tcp = "linux"
"""


def test_laws_are_compared_at_the_buffer_that_size_suggests_for_each(elephan: Command, tmp_path: Path) -> None:
    few = {"flows[0].count": 4, "flows[0].rtt": {"from": "38 ms", "to": "44 ms"}}
    scenario = package.Scenario.from_text(MANY).replace(few)
    found = size_variants(scenario, ["cubic", "bbr1"], [], "utilization=0.9", precision=0.3)
    cubic, bbr = found.variants
    # BBR fills the link from less than a packet of each flow, and by losing several per cent.
    assert bbr.answer.buffer_packets is not None
    assert bbr.answer.buffer_packets < 4
    assert bbr.deployed_packets == bbr.answer.suggestion.buffer_packets
    assert bbr.deployed_packets is not None
    assert bbr.deployed_packets >= 4
    assert bbr.candidate.mean("loss_ratio") > 0.03
    assert bbr.candidate.mean("queueing_delay_s") < cubic.candidate.mean("queueing_delay_s")
    assert any("% of the packets are lost" in text for text in bbr.candidate.dangers)
    assert found.recommended() is cubic
    reason = found.recommendation.reason
    assert "with the lowest delay" not in reason
    for part in ("delay", "loss", "Jain's index"):
        assert part in reason[: reason.index(";")]
    # Both rows stand at their own buffer.
    path = tmp_path / "many.toml"
    path.write_text(scenario.text)
    words = ("--target", "utilization=0.9", "--laws", "cubic,bbr1", "--precision", "30%", "-q")
    rows = {row[0]: row for row in map(str.split, elephan("size", path, *words).out.splitlines()) if row}
    assert rows["bbr1"][2] == str(bbr.answer.buffer_packets)
    assert str(bbr.deployed_packets) in rows["bbr1"][3:6]


def test_a_danger_of_what_is_recommended_is_said() -> None:
    found = size_variants(package.Scenario.from_text(MANY), ["bbr1"], [], "utilization=0.9", precision=0.3)
    assert found.is_met
    assert "% of the packets are lost with " in found.recommendation.caveats[0]
    # A target that allows for it leaves nothing to warn of.
    asked = size_variants(package.Scenario.from_text(MANY), ["bbr1"], [], "utilization=0.9,loss=20%", precision=0.3)
    assert not any("packets are lost" in text for text in asked.recommendation.caveats)


def test_no_buffer_with_a_packet_of_each_flow_is_no_recommendation() -> None:
    # Twelve packets of 1500 bytes take 2.4 ms at 60 Mbit/s: a buffer for one of each flow breaks the delay.
    targets = "utilization=0.5,delay=0.6ms"
    found = size_variants(package.Scenario.from_text(MANY), ["reno"], [], targets, precision=0.3)
    (variant,) = found.variants
    assert variant.answer.is_met
    assert variant.answer.suggestion.buffer_packets is None
    assert not found.is_met
    assert variant.tc is None
    assert "with a buffer to deploy: " in found.recommendation.reason
    assert "less than one for each of the 12 flows" in found.recommendation.reason


def test_codel_is_compared_with_the_target_of_a_slow_link() -> None:
    made: list[package.Scenario] = []

    def stop(changed: package.Scenario) -> Any:
        made.append(changed)
        message = "enough"
        raise package.ScenarioError(message)

    for rate, queue, target in (
        ("1 Mbit/s", "codel", "8 ms"),
        ("900 kbit/s", "fq-codel", "8.889 ms"),
        ("2 Mbit/s", "codel", "5 ms"),
    ):
        with pytest.raises(package.ScenarioError, match="enough"):
            size_variants(SMALL.replace({"links[0].rate": rate}), [], [queue], stop)
        link = made[-1].links[0]
        # 1000 bytes of a packet, in whole microseconds.
        assert link["queue"]["target"] == target
        said = f" target {round(1000 * float(target.split()[0]))}us"
        # Five milliseconds are Linux's own.
        assert (said in link["tc"]) == (target != "5 ms")


# --- the whole thing


@pytest.fixture(scope="module")
def compared() -> SizeComparison:
    sized = partial(package.size, target="utilization=0.8", precision=0.2)
    return size_variants(SMALL, ["reno", "cubic"], ["drop-tail", "fq"], sized)


def test_variants_are_the_product_in_the_order_asked_for(compared: SizeComparison) -> None:
    pairs = [(row["law"], row["queue"]) for row in compared.to_json()["variants"]]
    assert pairs == [("reno", "drop-tail"), ("reno", "fq"), ("cubic", "drop-tail"), ("cubic", "fq")]
    for (law, queue), found in zip(pairs, compared.variants, strict=True):
        assert found.answer.scenario.groups[0]["law"] == law
        assert found.answer.scenario.links[0]["discipline"] == queue


def test_a_variant_is_what_sizing_the_changed_scenario_gives(compared: SizeComparison) -> None:
    changed = SMALL.replace({"flows[0].control": "cubic", "links[0].queue": "fq"})
    alone = package.size(changed, "utilization=0.8", precision=0.2).to_json()
    row: Any = compared.variants[3].to_json()
    assert {key: row[key] for key in alone if key not in {"wall_s", "run"}} == {
        key: value for key, value in alone.items() if key not in {"wall_s", "run"}
    }
    assert row["run"]["id"] == alone["run"]["id"]


def test_the_slow_start_stays_and_other_parameters_go() -> None:
    control = {"law": "highspeed", "slow_start": "limited", "low_window": 50}
    scenario = SMALL.replace({"flows[0].control": control, "links[0].queue": {"discipline": "red", "max_p": 0.5}})
    made: list[package.Scenario] = []

    def stop(changed: package.Scenario) -> Any:
        made.append(changed)
        message = "enough"
        raise package.ScenarioError(message)

    with pytest.raises(package.ScenarioError, match=r"enough \(variant highspeed with red\)"):
        size_variants(scenario, ["highspeed"], ["red"], stop)
    assert made[0].source["flows"][0]["control"] == {"law": "highspeed", "slow_start": "limited"}
    assert made[0].links[0]["queue"]["max_p"] == 0.1
    with pytest.raises(package.ScenarioError, match="enough"):
        size_variants(scenario, [], [], stop)
    assert made[1] == scenario


WORDS = ("--target", "utilization=0.8", "--precision", "20%")


def test_the_verb_prints_a_row_each_and_one_recommendation(elephan: Command, small: Path) -> None:
    done = elephan("size", small, *WORDS, "--laws", "reno,cubic", "--queues", "drop-tail,fq", "-q")
    assert done.code == 0
    assert done.err == ""
    rows = [row for row in map(str.split, done.out.splitlines()) if {"drop-tail", "fq"} & set(row[1:3]) and "%" in row]
    assert [row[0] for row in rows] == ["reno", "reno", "cubic", "cubic"]
    assert sum("*" in row for row in rows) == 1
    # Variants are ranked by their delay, which has its interval.
    assert all(re.search(r"(±|\(<)\S+ (us|ms)\b", " ".join(row)) for row in rows)
    assert "Recommended for utilization >= 0.8: " in done.out
    assert len(done.out.splitlines()) <= 15
    # Only the line for Linux is longer: it is for copying.
    assert max(len(line) for line in done.out.splitlines() if not line.startswith("Linux: ")) <= 80


def test_a_comparison_says_which_links_stay_as_they_are(elephan: Command, small: Path) -> None:
    link = '[[links]]\nname = "back"\nrate = "50 Mbit/s"\nbuffer = "90 packets"\n[[flows]]'
    small.write_text(small.read_text().replace("[[flows]]", link, 1))
    text = elephan("size", small, *WORDS, "--link", "core", "--queues", "drop-tail,fq", "-q").out
    assert "  ! only core is changed; back keeps its queue, where ACKs and datagrams may" in text
    assert len(text.splitlines()) <= 15


@pytest.mark.parametrize(("mean", "bar"), [(0.9, [[0.2], [0.1]]), (1.0, [[0.2], [0.0]]), (1.0000004, [[0.2], [0.0]])])
def test_the_bar_of_a_link_that_is_a_packet_more_than_busy_is_no_error(mean: float, bar: list[list[float]]) -> None:
    assert _up_to_one(mean, 0.2) == [bar[0], pytest.approx(bar[1])]


def test_the_document_has_the_promised_shape_and_files_are_written(
    elephan: Command, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = elephan("size", small, *WORDS, "--queues", "drop-tail,fq", "--json", "-q", "--out", out)
    assert done.code == 0
    document = json.loads(done.out)
    assert set(document) == {"format", "variants", "recommendation", "wall_s"}
    assert {"law", "queue", "reason", "runner_up", "otherwise", "caveats", "met"} == set(document["recommendation"])
    for row in document["variants"]:
        assert row["law"] == "reno"
        assert row["jain"]["mean"] <= 1.0
        assert row["curve"][0]["jain"]["ci95"] is not None
    names = {path.name for path in out.iterdir()}
    pictures = {"comparison.png", "comparison.svg"}
    assert names == {"reno-drop-tail", "reno-fq", "comparison.json", "comparison.parquet", *pictures}
    assert {"size.json", "size.png", "curve.parquet"} <= {path.name for path in (out / "reno-fq").iterdir()}
    assert json.loads((out / "comparison.json").read_text()) == document
    table = pq.read_table(out / "comparison.parquet").to_pydict()
    assert table["queue"] == ["drop-tail", "fq"]
    assert sum(table["recommended"]) == 1
    assert table["jain"] == [row["jain"]["mean"] for row in document["variants"]]


def test_the_same_comparison_draws_the_same_picture_and_another_a_different_one(
    compared: SizeComparison, tmp_path: Path
) -> None:
    fewer = replace(compared, variants=compared.variants[2:])
    for name, comparison in (("a", compared), ("b", compared), ("c", fewer)):
        assert all(path.exists() for path in package.plots.draw_comparison(comparison, tmp_path / name))
    first, again, other = ((tmp_path / name / "comparison.svg").read_bytes() for name in "abc")
    assert first == again
    assert first != other


def test_a_comparison_that_nothing_meets_is_exit_1_and_says_what_comes_nearest(elephan: Command, small: Path) -> None:
    words = ("--target", "utilization=0.9,delay=0.1ms", "--laws", "reno,cubic", "--precision", "50%")
    done = elephan("size", small, *words, "--json", "-q")
    assert done.code == 1
    assert [line.split(":")[0] for line in done.err.splitlines()] == [
        "target not met under reno with drop-tail",
        "target not met under cubic with drop-tail",
    ]
    document = json.loads(done.out)
    assert document["recommendation"]["reason"].startswith("none of 2 variants meets ")
    assert all(row["nearest"]["buffer_packets"] for row in document["variants"])


def test_one_variant_that_meets_the_targets_is_enough_for_exit_0(elephan: Command, small: Path) -> None:
    # CUBIC keeps 0.7 of its window after a loss and Reno half, so Reno needs the larger buffer, and the delay with it.
    words = ("--target", "utilization=0.9,delay=3ms", "--laws", "reno,cubic", "--queues", "drop-tail")
    done = elephan("size", small, *words, "--json", "-q")
    found = json.loads(done.out)
    assert done.code == 0
    assert [row["met"] for row in found["variants"]] == [False, True]
    assert found["recommendation"]["law"] == "cubic"
    assert "is the only one of 2 that does" in found["recommendation"]["reason"]


def test_models_alone_can_be_compared_and_nothing_is_made_up(elephan: Command, small: Path, tmp_path: Path) -> None:
    words = ("--target", "utilization=0.9,fairness=0.9", "--laws", "reno,highspeed", "--model-only")
    done = elephan("size", small, *words, "--json", "-q")
    document = json.loads(done.out)
    assert (
        "nothing was simulated: the numbers are a model's, without intervals" in document["recommendation"]["caveats"]
    )
    assert [row["buffer_packets"] is None for row in document["variants"]] == [False, True]
    assert all(row["jain"] is None or row["jain"]["mean"] is None for row in document["variants"])
    assert done.err.count("it does not predict fairness >= 0.9") == 1
    found = size_variants(SMALL, ["reno"], [], partial(package.size, target="utilization=0.9", model_only=True))
    assert all(path.exists() for path in package.plots.draw_comparison(found, tmp_path))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--queues", ","), "--queues: none given; write for example --queues drop-tail,fq"),
        (("--laws", ""), "--laws: none given; write for example --laws reno,highspeed"),
        (
            ("--laws", "reno,cubik"),
            '{}: flows[0].control.law: unknown law "cubik"; did you mean "cubic"? (variant cubik)',
        ),
        (
            ("--queues", "fq,codl", "--laws", "cubic"),
            '{}: links[0].queue.discipline: unknown discipline "codl"; did you mean "codel"? (variant cubic with codl)',
        ),
        (("--laws", "hstcp,highspeed"), "highspeed with drop-tail is given twice; give each law and each queue once"),
        (("--laws", "reno", "--link", "cor"), '{}: there is no link "cor"; did you mean "core"?'),
    ],
)
def test_wrong_lists_are_refused_in_one_line_before_anything_is_run(
    elephan: Command, small: Path, words: tuple[str, ...], message: str
) -> None:
    done = elephan("size", small, "--target", "utilization=0.8", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err == message.format(small) + "\n"
