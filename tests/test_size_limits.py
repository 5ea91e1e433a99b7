"""Limits that `size` names if the buffer is not the limit: bounds computed by hand, and a run's measurements."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import pytest

import elephan as package
from elephan.sizing.limits import held_elsewhere, limits, too_short, why_not
from elephan.sizing.targets import parse_targets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conftest import Command

BASE = """
title = "Two groups"
duration = "12 s"
warmup = "4 s"
replications = 2

[[links]]
name = "core"
rate = "40 Mbit/s"
buffer = "bdp"

[[links]]
name = "edge"
rate = "90 Mbit/s"
buffer = "200 packets"

[[flows]]
name = "left"
count = 2
path = ["core"]
packet = "1250 B"
rtt = ["20 ms", "25 ms"]

[[flows]]
name = "right"
count = 3
path = ["core"]
packet = "1250 B"
rtt = "40 ms"
control = "cubic"
"""
BUSY = parse_targets("utilization=0.9")


def scenario(changes: Mapping[str, object]) -> package.Scenario:
    return package.Scenario.from_text(BASE).replace(dict(changes))


def found(changes: Mapping[str, object], target: str = "utilization=0.9") -> list[tuple[str, float | None]]:
    named = why_not(scenario(changes).network, 0, parse_targets(target))
    return [(limit.what, None if limit.rate_bps is None else round(limit.rate_bps)) for limit in named]


POLICER = {"links[0].policer": {"rate": "6 Mbit/s", "burst": "50 kB"}}
SLOW = {"flows[0].access": {"rate": "2 Mbit/s"}, "flows[1].access": {"rate": "3 Mbit/s"}}
BOTH = {f"flows[{i}].path": ["edge", "core"] for i in (0, 1)}
WINDOWS = {"flows[0].tcp": {"receive_window": 5}, "flows[1].tcp": {"receive_window": 8}}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        (POLICER, [("policer", 6_000_000)]),
        # At or above the rate of the link it limits nothing, nor does one whose burst is longer than the run.
        ({"links[0].policer": {"rate": "40 Mbit/s", "burst": "50 kB"}}, []),
        ({"links[0].policer": {"rate": "6 Mbit/s", "burst": "10 MB"}}, []),
        # 2 x 2 + 3 x 3.
        (SLOW, [("access", 13_000_000)]),
        # The others fill the link.
        ({"flows[0].access": {"rate": "2 Mbit/s"}}, []),
        # Two at once, the tighter first.
        ({**SLOW, **POLICER}, [("policer", 6_000_000), ("access", 13_000_000)]),
        (
            {**SLOW, "links[0].policer": {"rate": "20 Mbit/s", "burst": "50 kB"}},
            [("access", 13_000_000), ("policer", 20_000_000)],
        ),
        # 10,000 bits: five in 20 ms and in 25 ms, and three times eight in 40 ms.
        (WINDOWS, [("receive-window", 10_500_000)]),
        ({"flows[0].tcp": {"receive_window": 5}}, []),
        # Windows grow to far more: 6 MiB.
        ({"flows[0].tcp": {"receive_window": "linux"}, "flows[1].tcp": {"receive_window": "linux"}}, []),
        # Each group by its own: 4 and 6 Mbit/s.
        ({"flows[0].access": {"rate": "2 Mbit/s"}, "flows[1].tcp": {"receive_window": 8}}, [("several", 10_000_000)]),
        # All cross another link of a quarter; two groups of which one does; a policer there.
        ({"links[1].rate": "10 Mbit/s", **BOTH}, [("other-link", 10_000_000)]),
        ({"links[1].rate": "10 Mbit/s", "flows[0].path": ["edge", "core"]}, []),
        (
            {"links[1].policer": {"rate": "7 Mbit/s", "burst": "50 kB"}, **BOTH},
            [("policer", 7_000_000)],
        ),
        # A shaper is the link's own rate.
        ({"links[0].shaper": {"rate": "10 Mbit/s", "burst": "20 kB"}}, []),
    ],
)
def test_what_limits_is_named_with_its_rate(changes: Mapping[str, object], expected: list[tuple[str, float]]) -> None:
    assert found(changes) == expected


def test_windows_grow_to_what_linux_lets_them_and_may_still_be_too_small() -> None:
    # 10 Gbit/s over 40 ms are 40,000 segments; 6 MiB, of which a half is window, are fewer.
    far: dict[str, object] = {
        "links[0].rate": "10 Gbit/s",
        **{f"flows[{i}].tcp": {"receive_window": "linux"} for i in (0, 1)},
    }
    far |= {"flows[0].rtt": "40 ms", "flows[0].count": 1, "flows[1].count": 1}
    network = scenario(far).network
    segments = network.groups[0].receive_window
    assert segments is not None
    assert found(far) == [("receive-window", round(2 * segments * 10_000 / 0.04))]
    # Bursts of a window still want room: no verdict on the buffer.
    assert held_elsewhere(network, 0) == ()


def test_datagrams_offer_what_they_offer_and_only_a_target_above_it_is_out_of_reach() -> None:
    # 5 and 6 Mbit/s, the first for half of the time.
    half = {"kind": "on-off", "rate": "10 Mbit/s", "on": "1 s", "off": "1 s"}
    on_off = {"name": "a", "path": ["core"], "rtt": "20 ms", "traffic": half}
    steady = {**on_off, "name": "b", "traffic": {"kind": "cbr", "rate": "6 Mbit/s"}}
    few = {"flows": [on_off, steady]}
    assert found(few) == [("offered-load", 11_000_000)]
    assert found(few, "utilization=0.25") == []
    assert found(few, "loss=0.1%") == []
    # TCP that always has data fills what they leave.
    tcp = {"name": "c", "path": ["core"], "rtt": "20 ms"}
    assert found({"flows": [on_off, tcp]}) == []


def test_random_loss_is_named_with_the_formula_of_the_law() -> None:
    # Mathis et al. 1997: sqrt(3 / (2 p)) segments of 10,000 bits in each round trip.
    reno = {"links[0].rate": "1 Gbit/s", "links[0].loss": {"random": 0.01}, "flows[1].control": "reno"}
    rounds = 1 / 0.02 + 1 / 0.025 + 3 / 0.04
    (named,) = limits(scenario(reno).network, 0)
    assert (named.what, named.is_certain) == ("random-loss", False)
    # The law that runs has it to a thousandth.
    assert named.rate_bps == pytest.approx(1e4 * math.sqrt(1.5 / 0.01) * rounds, rel=1e-3)
    assert "random loss of 1 %" in named.text
    assert "Mathis et al. 1997" in named.text
    # One in a hundred, and the same in bursts of four.
    for loss in ({"every": 100}, {"bursts": {"mean": 0.04, "length": 4}}):
        (same,) = limits(scenario({**reno, "links[0].loss": loss}).network, 0)
        assert same.rate_bps == pytest.approx(named.rate_bps, rel=0.01)
    mixed = limits(scenario({**reno, "flows[1].control": "cubic"}).network, 0)[0]
    assert "RFC 9438" in mixed.text
    # BBR has no such function, and loss that is not always there no such rate.
    assert limits(scenario({**reno, "flows[0].control": "bbr"}).network, 0) == ()
    seldom = {"random": 0.01, "during": [["5 s", "6 s"]]}
    assert limits(scenario({**reno, "links[0].loss": seldom}).network, 0) == ()


def test_the_rate_that_random_loss_allows_is_what_a_run_measures() -> None:
    lossy = scenario({"links[0].rate": "1 Gbit/s", "links[0].loss": {"random": 0.001}, "flows[1].control": "reno"})
    (named,) = limits(lossy.network, 0)
    measured = 1e9 * package.run(lossy.replace({"duration": "40 s"})).links["utilization"][0]
    # No timeouts and no bursts in the formula: "a few per cent off at 0.01", fewer here; five flows for 36 s.
    assert measured == pytest.approx(named.rate_bps, rel=0.1)


def test_loss_that_exceeds_a_target_by_itself_is_named() -> None:
    lossy = {"links[0].loss": {"random": 0.02}}
    assert ("random-loss", None) in found(lossy, "loss=1%")
    assert ("random-loss", None) not in found(lossy, "loss=3%")


def test_a_run_that_ends_within_its_start_up_is_named() -> None:
    # The last starts at 5 s.
    late = {"duration": "3 s", "warmup": "1 s", "flows[0].start": {"from": "0 s", "to": "5 s"}}
    (named,) = why_not(scenario(late).network, 0, BUSY)
    assert named.what == "start-up"
    assert "the last flow starting at 5 s, and the run measures from 1 s to 3 s" in named.text
    assert found({**late, "duration": "60 s", "warmup": "6 s"}) == []
    # Slow start alone: 10 Gbit/s over 200 ms take 15 doublings of a segment.
    slow = {"links[0].rate": "10 Gbit/s", "duration": "3 s", "warmup": "1 s", "flows[1].rtt": "200 ms"}
    assert [what for what, _ in found(slow)] == ["start-up"]


def test_a_run_too_short_for_an_answer_says_so(elephan: Command, tmp_path: Path) -> None:
    # Past its start-up, but with two seconds of a sawtooth that takes several: what is lost is the start's.
    far = {"flows[0].rtt": "80 ms", "flows[1].rtt": "80 ms", "flows[1].count": 9, "links[0].rate": "80 Mbit/s"}
    made = scenario({"duration": "3 s", "warmup": "1 s", **far})
    assert why_not(made.network, 0, parse_targets("loss=0.001%")) == ()
    document = package.size(made, "loss=0.001%", precision=0.5).to_json()
    assert (document["met"], document["limited_by"]) == (False, ["too-short"])
    path = tmp_path / "short.toml"
    path.write_text(made.text)
    done = elephan("size", path, "--target", "loss=0.001%", "--precision", "50%", "-q")
    said = " ".join(line.strip() for line in done.out.splitlines())
    assert done.code == 1
    assert "No answer for loss <= 1e-05: the run may be too short to say: 2 s of measured time are less than 5" in said
    assert re.search(r"give [\d.]+ s or more as duration", said)
    assert len(done.out.splitlines()) <= 15
    assert too_short(made.replace({"duration": "300 s", "warmup": "60 s"}).network) == ()


@pytest.mark.parametrize(
    ("changes", "words", "what"),
    [
        (POLICER, "the policer lets 6 Mbit/s through, 15 % of the 40 Mbit/s", ["policer"]),
        (SLOW, "the senders' own links carry 13 Mbit/s together", ["access"]),
        (WINDOWS, "the receive windows allow 10.5 Mbit/s together", ["receive-window"]),
    ],
)
def test_the_screen_and_the_document_say_it_first(
    elephan: Command, tmp_path: Path, changes: Mapping[str, object], words: str, what: list[str]
) -> None:
    made = scenario(changes)
    answer = package.size(made, "utilization=0.9", precision=0.5)
    document: Any = answer.to_json()
    assert (document["limited_by"], document["tc"], document["suggested_packets"]) == (what, None, None)
    assert document["limits"][0].startswith(words)
    # The measured rate is at most the bound.
    assert max(row["utilization"]["mean"] for row in document["curve"]) * 40e6 <= 1.01 * document["limited_to_bps"]
    path = tmp_path / "limited.toml"
    path.write_text(made.text)
    done = elephan("size", path, "--target", "utilization=0.9", "--precision", "50%", "-q")
    lines = done.out.splitlines()
    assert done.code == 1
    assert f"No answer for utilization >= 0.9: {words}" in " ".join(line.strip() for line in lines)
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 80


def test_senders_that_lose_nothing_are_what_limits() -> None:
    # A response of 20 kB and a pause: what it offers is nowhere stated.
    answers = {"kind": "request-response", "size": "20 kB"}
    made = scenario({"flows[0].traffic": answers, "flows[1].traffic": answers})
    answer = package.size(made, "utilization=0.9", precision=0.5)
    document: Any = answer.to_json()
    assert document["limited_by"] == ["senders"]
    assert document["limits"][0] in document["note"]
    assert "lose nothing" in document["note"]
    assert 0 < document["limited_to_bps"] < 0.9 * 40e6


def test_an_answer_that_nothing_else_limits_says_null() -> None:
    document = package.size(scenario({}), "utilization=0.8", precision=0.5).to_json()
    assert (document["limited_by"], document["limited_to_bps"], document["limits"]) == (None, None, None)
    assert document["suggested_packets"] is not None


def test_models_alone_and_inverse_questions_name_it_too() -> None:
    policed = scenario(POLICER)
    try:
        note = package.size(policed, "utilization=0.9", model_only=True).note
    except package.InputError as error:
        note = str(error)
    assert "the policer lets 6 Mbit/s through" in note
    inverse = package.size_limit(policed, "utilization=0.9", "flows", precision=0.5)
    assert inverse.count is None
    assert inverse.note.startswith("the policer lets 6 Mbit/s through")
