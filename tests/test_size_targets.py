"""Targets in their written form."""

import re

import pytest

import elephan
from elephan import InputError, TargetError
from elephan.sizing.inverse import size_limit
from elephan.sizing.targets import parse_targets, targets_json
from test_screens import PING

FORMS = "utilization=0.95, loss=0.1%, delay=10ms, fairness=0.9, delay_p95=20ms, rtt_p95[ping]=50ms"


def test_all_spellings_say_the_same() -> None:
    expected = parse_targets("utilization=0.95,loss=0.001,delay=10ms")
    assert parse_targets(["utilization=95%", "loss=0.1%", "delay=10 ms"]) == expected
    assert parse_targets({"utilization": 0.95, "loss": "0.1%", "delay": 0.01}) == expected
    assert parse_targets("Utilisation = 0.95 , loss=.001, delay=10000us") == expected
    assert targets_json(expected) == {"utilization": 0.95, "loss": 0.001, "delay_s": 0.01}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"target: none given; write for example {FORMS}"),
        ("utilization", f'target: "utilization" has no value; write for example {FORMS}'),
        (
            "speed=3",
            f'target: there is no "speed"; write for example {FORMS}',
        ),
        (
            "utilization=95",
            "target: utilization: 95 is out of range; it lies above 0 and below 1, or below 100 %: write 95%",
        ),
        (
            "utilization=2",
            "target: utilization: 2 is out of range; it lies above 0 and below 1; write for example "
            "utilization=0.95 or 95%",
        ),
        ("loss=2", "target: loss: 2 is out of range; it lies above 0 and below 1, or below 100 %: write 2%"),
        (
            "loss=100",
            "target: loss: 100 is out of range; it lies above 0 and below 1; write for example loss=0.001 or 0.1%",
        ),
        ("utilization=nan", "target: utilization: nan is out of range; it lies above 0 and below 1"),
        ("loss=0", "target: loss: 0 is out of range; it lies above 0 and below 1"),
        ("delay=0s", "target: delay: 0s is out of range; it lies above 0 s"),
        ("utilization=high", 'target: utilization: "high" is not a share; write for example 0.95 or 95%'),
        ("utilization=0.9,utilization=0.8", "target: utilization is given twice"),
    ],
)
def test_wrong_targets_are_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(TargetError) as error:
        parse_targets(text)
    assert str(error.value) == message


def test_delays_at_95_per_cent_are_of_the_link_or_of_a_group() -> None:
    found = parse_targets("Delay_P95=20ms, RTT_p95[My, pings]=0.05 s, delay_p95[voice]=10ms")
    assert targets_json(found) == {"delay_p95_s": 0.02, "rtt_p95_s[My, pings]": 0.05, "delay_p95_s[voice]": 0.01}
    assert [str(target) for target in found] == [
        "delay_p95 <= 20 ms",
        "rtt_p95[My, pings] <= 50 ms",
        "delay_p95[voice] <= 10 ms",
    ]
    assert all(target.is_ceiling for target in found)


GROUPS = elephan.Scenario.from_text(PING).replace(replications=2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rtt_p95[pong]=3ms", 'no group "pong" crosses link link; write rtt_p95[ping] or delay_p95[voice]'),
        (
            "rtt_p95[voice]=3ms",
            "pings have an rtt_p95, there and back, and cbr has a delay_p95, one way; write rtt_p95",
        ),
        (
            "delay_p95[bulk]=3ms",
            "only datagrams of ping and cbr are timed, and bulk sends bulk; write rtt_p95[ping] or",
        ),
        ("rtt_p95=3ms", "belongs to a group of pings; write for example rtt_p95[ping]=50ms"),
        ("loss[ping]=3%", f'target: there is no "loss[ping]"; write for example {FORMS}'),
        ("ping.delay_p95=3ms", f'target: there is no "ping.delay_p95"; write for example {FORMS}'),
    ],
)
def test_targets_of_groups_that_are_not_measured_are_refused(text: str, message: str) -> None:
    for find in (
        lambda target: elephan.size(GROUPS, target),
        lambda target: size_limit(GROUPS, f"utilization=0.5,{target}", "rtt"),
    ):
        with pytest.raises(InputError, match=r"^target: [^\n]*" + re.escape(message.removeprefix("target: "))):
            find(text)


def test_a_target_on_the_round_trip_of_pings_is_checked_against_the_pings() -> None:
    free, tight = (elephan.size(GROUPS, f"utilization=0.9,rtt_p95[ping]={ms}ms") for ms in (200, 21))
    assert free.buffer_packets is not None
    row = free.rows[free.buffer_packets]["groups"][1]
    assert row["rtt_p95_s"]["mean"] == pytest.approx(
        elephan.run(GROUPS.replace({"links[0].buffer": f"{free.buffer_packets} packets"})).to_json()["groups"][1][
            "rtt_p95_s"
        ]["mean"]
    )
    # Through an empty queue a ping takes 20 ms: with 90 % of use 95 % of them cannot take 1 ms more.
    assert tight.buffer_packets is None
    assert f"(rtt_p95[ping] {1e3 * row['rtt_p95_s']['mean']:.3g} ms), but " in tight.note
    one_way = elephan.size(GROUPS, "utilization=0.9,delay_p95[voice]=11ms")
    assert "(delay_p95[voice] " in one_way.note
    assert "(delay_p95 " in elephan.size(GROUPS, "utilization=0.9,delay_p95=1ms").note


def test_a_delay_needs_its_unit() -> None:
    with pytest.raises(TargetError, match=r"^target: delay: .*10"):
        parse_targets("delay=10")
