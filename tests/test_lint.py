"""Lint rules: each fires where it should and nowhere else; their measures; the commands that show them."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import elephan
from conftest import SCENARIOS, Command
from elephan.lint import RULES, cards, lint
from elephan.lint.rule import LintSubject
from elephan.lint.sawtooth import period_s, recovery_s
from elephan.sweeps import Sweep

ROOT = SCENARIOS.parent
FILES = [*SCENARIOS.rglob("*.toml"), *(ROOT / "evidence/elephan_evidence/papers").glob("*/experiments/*.toml")]
FILES += (ROOT / "python/elephan/bench/scenarios").glob("*.toml")

CLEAN = """
duration = "300 s"
warmup   = "50 s"

[[links]]
name   = "core"
rate   = "10 Mbit/s"
delay  = "20 ms"
buffer = "50 packets"

[[flows]]
name   = "bulk"
count  = 2
path   = ["core"]
rtt    = { from = "70 ms", to = "90 ms" }
packet = "1000 B"
start  = { from = "0 s", to = "0.1 s" }
"""
"""Two Reno flows with windows up to 75 segments: a sawtooth takes 38 round trips, about 4 s."""

PHASES = """
duration     = "60 s"
warmup       = "20 s"
replications = 5

[[links]]
name   = "core"
rate   = "10 Mbit/s"
buffer = "0.5 bdp"

[[flows]]
name   = "near"
path   = ["core"]
rtt    = "40 ms"
packet = "1500 B"
start  = { from = "0 s", to = "2 s" }

[[flows]]
name   = "far"
path   = ["core"]
rtt    = "100 ms"
packet = "1500 B"
start  = { from = "0 s", to = "2 s" }
"""
"""Two Reno flows of Floyd and Jacobson 1991: one each of two RTTs."""

Changes = Mapping[str, object]


def rules(changes: Changes, document: Any = None) -> list[str]:
    return [warned.rule for warned in lint(elephan.Scenario.from_text(CLEAN).replace(changes), document)]


def queue(**parameters: object) -> Changes:
    return {"links[core].queue": parameters}


def also(rate: str) -> Changes:
    """The link, and a second one."""
    return {"links": [*tomllib.loads(CLEAN)["links"], {"name": "other", "rate": rate, "buffer": "90 packets"}]}


def with_another(flows: Mapping[str, object]) -> Changes:
    """The group and another with longer RTTs."""
    (group,) = tomllib.loads(CLEAN)["flows"]
    return {"flows": [group, group | {"name": "other", "rtt": {"from": "100 ms", "to": "120 ms"}} | flows]}


ARRAY: Changes = {"links[core].count": 2, "flows[bulk].path": ["core[*]"]}

TEN: Changes = {"links[core].rate": "100 Mbit/s", "links[core].buffer": "20 packets", "flows[bulk].count": 10}

FIRES: dict[str, list[Changes]] = {
    # Share of pipe and buffer: (100 + 50) / 2 = 75 segments.
    "receiver-limited": [
        {"flows[bulk].tcp": {"receive_window": 74}},
        # 74 segments of 960 bytes in half of the buffer.
        {"flows[bulk].tcp": {"receive_window": {"initial": "4096 B", "max": "143 kB"}}},
    ],
    "short-warmup": [{"warmup": "2 s"}, {"flows[bulk].control": {"law": "highspeed"}, "warmup": "1 s"}],
    "short-run": [
        {"duration": "60 s"},
        {"flows[bulk].stop": "60 s"},
        {"flows[bulk].stop": {"from": "50 s", "to": "60 s"}},
    ],
    "phase-locked": [
        {"flows[bulk].rtt": "80 ms"},
        {"flows[bulk].rtt": "auto", "links[core].delay": "40 ms"},
        {"flows[bulk].rtt": ["80 ms", "80 ms"]},
        # Flows 0 and 2 of four meet on the first link of two.
        {**ARRAY, "flows[bulk].rtt": "80 ms", "flows[bulk].count": 4},
        {**ARRAY, "flows[bulk].rtt": "auto", "flows[bulk].count": 4, "links[core].delay": "40 ms"},
    ],
    "phase-effects": [
        with_another({}),
        with_another({"tcp": "linux", "control": "cubic"}),
        with_another({"tcp": {"pacing": "linux"}}),
    ],
    "buffer-under-burst": [
        {"links[core].buffer": "8 packets", "flows[bulk].tcp": {"initial_window": 10}},
        {"links[core].buffer": "1 packets"},
    ],
    # Pipe and buffer of ten flows: (1000 + 20) / 10 = 102 segments, a quarter of which is 25.5.
    "unpaced-bursts": [
        TEN,
        {**TEN, "links[core].buffer": "25 packets"},
        {**TEN, "flows[bulk].control": "cubic"},
        {**TEN, "flows[bulk].access": {"rate": "20 Mbit/s"}},
    ],
    "few-duplicates": [{"links[core].reorder": {"late": 0.01, "by": "2.5 ms"}}],
    "thresholds": [
        queue(discipline="red", min_th="20 packets", max_th="60 packets"),
        {**queue(discipline="drop-tail", ecn_threshold="51 packets"), "flows[bulk].tcp": {"ecn": "on"}},
        queue(discipline="pie", target="41 ms"),
        queue(discipline="blue", threshold="51 packets"),
        # 1000 B take 0.8 ms.
        queue(discipline="codel", target="0.79 ms"),
        queue(discipline="fq-codel", target="0.79 ms"),
    ],
    "nic-queue": [
        {"flows[bulk].access": {"rate": "4 Mbit/s"}},
        {"flows[bulk].access": {"rate": "10 Mbit/s"}},
        {"flows[bulk].access": {"rate": "9 Mbit/s"}, "flows[bulk].start": {"from": "0 s", "to": "20 s"}},
    ],
    # Each need by itself is tried in test_no_effect.py.
    "no-effect": [
        queue(discipline="red", burst=20, w_q=0.002),
        queue(discipline="fq", scheduler="start-time", quantum="2 packets"),
        queue(discipline="dualpi2"),
        queue(discipline="codel", ecn=True),
        queue(discipline="xcp"),
        {"flows[bulk].control": "xcp"},
        {"flows[bulk].control": "dctcp"},
        {"flows[bulk].control": {"law": "htcp", "reference_rtt": "50 ms"}},
        {"flows[bulk].tcp": {"ecn": "on"}},
        {"flows[bulk].tcp": {"delayed_ack_timeout": "50 ms"}},
        {"flows[bulk].traffic": {"kind": "elastic", "shape": 1.5}},
        also("10 Mbit/s"),
    ],
    "overload": [
        {"flows[bulk].traffic": {"kind": "cbr", "rate": "5.1 Mbit/s"}},
        {"flows[bulk].traffic": {"kind": "elastic", "load": 1.01}},
        {"flows[bulk].traffic": {"kind": "elastic", "rate": "5.1 Mbit/s"}},
        {"flows[bulk].traffic": {"kind": "cbr", "rate": "3 Mbit/s"}, "flows[bulk].access": {"rate": "2 Mbit/s"}},
        # 2,652 kB for each of two users every 3 s are 14 Mbit/s.
        {"flows[bulk].traffic": {"kind": "page", "think": "3 s"}},
    ],
    "unlimited-buffer": [
        {"links[core].buffer": "unlimited"},
        {"links[core].buffer": "unlimited", "links[core].queue": "fq"},
        {"links[core].buffer": "unlimited", "flows[bulk].control": "cubic"},
    ],
    "ends-in-warm-up": [
        {"flows[bulk].traffic": {"kind": "finite", "size": "1 MB"}},
        {"flows[bulk].traffic": {"kind": "replay", "flows": "0 s 100 kB; 20 s 300 kB"}},
        {"flows[bulk].traffic": {"kind": "cbr"}, "flows[bulk].stop": "50 s"},
        {"flows[bulk].traffic": {"kind": "cbr"}, "flows[bulk].stop": {"from": "20 s", "to": "30 s"}},
    ],
}
"""Changes that make each rule fire, and no other one."""

DOES_NOT_FIRE: dict[str, list[Changes]] = {
    "receiver-limited": [
        {"flows[bulk].tcp": {"receive_window": 76}},
        {"flows[bulk].tcp": {"receive_window": {"initial": "4096 B", "max": "146 kB"}}},
        {"flows[bulk].tcp": {"receive_window": "linux"}},
        # A share of 25 segments in the pipe, and of 5 in the burst.
        {"flows[bulk].tcp": {"receive_window": 31}, "links[core].policer": {"rate": "5 Mbit/s", "burst": "10 kB"}},
    ],
    "short-warmup": [{"warmup": "5 s"}, {"warmup": "1 s", "flows[bulk].control": {"law": "vegas"}}],
    "short-run": [
        {"flows[bulk].stop": {"after": {"exponential": "100 s"}}},
        {"flows[bulk].start": {"from": "0 s", "every": "10 s"}},
        {"duration": "75 s"},
        {"duration": "60 s", "links[core].buffer": "unlimited"},
    ],
    "phase-locked": [
        {"flows[bulk].rtt": "80 ms", "flows[bulk].tcp": {"send_jitter": "0.8 ms"}},
        {"flows[bulk].rtt": "80 ms", "flows[bulk].count": 1},
        {"flows[bulk].rtt": "80 ms", **queue(discipline="codel")},
        {"flows[bulk].rtt": {"uniform": ["70 ms", "90 ms"]}},
        {**ARRAY, "flows[bulk].rtt": "80 ms"},
        {
            **ARRAY,
            "flows[bulk].rtt": "auto",
            "flows[bulk].count": 4,
            "links[core].delay": {"uniform": ["30 ms", "40 ms"]},
        },
        {"flows[bulk].rtt": {"pareto": {"mean": "80 ms", "shape": 1.5, "max": "200 ms"}}},
    ],
    "phase-effects": [
        with_another({"tcp": {"send_jitter": "0.8 ms"}}),
        with_another({"control": "bbr"}),
        with_another({"control": "vegas"}),
        with_another({"rtt": {"uniform": ["100 ms", "120 ms"]}}),
        with_another({"tcp": {"receive_window": 5}}),
        {**with_another({}), **queue(discipline="codel")},
        {**with_another({}), "links[core].jitter": "1 ms"},
    ],
    "buffer-under-burst": [
        {"links[core].buffer": "9 packets", "flows[bulk].tcp": {"initial_window": 10}},
        {"links[core].buffer": "2 packets"},
    ],
    "unpaced-bursts": [
        {**TEN, "links[core].buffer": "26 packets"},
        {**TEN, "flows[bulk].tcp": {"pacing": "linux"}},
        {**TEN, "flows[bulk].tcp": {"pacing": "quic"}},
        {**TEN, "flows[bulk].count": 9},
        {**TEN, "flows[bulk].control": "vegas"},
        {**TEN, "flows[bulk].access": {"rate": "10 Mbit/s"}},
        {**TEN, "flows[bulk].tcp": {"receive_window": 90}},
        {**TEN, "links[core].buffer": "1 packets"},
        {**TEN, **queue(discipline="codel")},
    ],
    "few-duplicates": [{"links[core].reorder": {"late": 0.01, "by": "2.3 ms"}}],
    "thresholds": [
        queue(discipline="red"),
        queue(discipline="red", min_th="20 packets", max_th="50 packets"),
        # 50 packets of 1000 B drain in 40 ms.
        queue(discipline="pie", target="39 ms"),
        queue(discipline="codel"),
        queue(discipline="codel", target="0.8 ms"),
        # PIE has no such advice.
        queue(discipline="pie", target="0.79 ms"),
    ],
    "nic-queue": [
        {"flows[bulk].access": {"rate": "4 Mbit/s", "buffer": "20 packets"}},
        {"flows[bulk].access": {"rate": "4 Mbit/s"}, "flows[bulk].tcp": {"receive_window": 76}},
        {"flows[bulk].access": {"rate": "9 Mbit/s"}},
        {"flows[bulk].access": {"rate": "10 Mbit/s"}, "flows[bulk].tcp": {"initial_ssthresh": 40.0}},
        {"flows[bulk].access": {"rate": "11 Mbit/s"}, "flows[bulk].start": {"from": "0 s", "to": "20 s"}},
    ],
    "no-effect": [
        queue(discipline="red", burst=20),
        queue(discipline="fq", quantum="2 packets"),
        # A key with its default value, or off, has no effect to warn of.
        queue(discipline="red", burst=0, w_q=0.002, ecn=False),
        queue(discipline="drop-tail", ecn_threshold="0 packets"),
        {"flows[bulk].tcp": {"ecn": "off", "initial_ssthresh": "none"}, "flows[bulk].control": "bbr"},
        {"flows[bulk].tcp": "linux"},
        {"flows[bulk].tcp": {"ecn": "l4s"}, **queue(discipline="dualpi2", step_threshold="2 ms")},
        {"flows[bulk].tcp": {"ecn": "on"}, **queue(discipline="codel", ecn=True)},
        {"flows[bulk].control": "dctcp", **queue(discipline="drop-tail", ecn_threshold="20 packets")},
        {"flows[bulk].control": "xcp", **queue(discipline="xcp", alpha=0.3)},
        {"flows[bulk].control": {"law": "htcp", "reference_rtt": "50 ms", "rtt_scaling": True}},
        # A link of ACKs is used.
        {**also("10 Mbit/s"), "flows[bulk].return": ["other"]},
    ],
    "overload": [
        {"flows[bulk].traffic": {"kind": "cbr", "rate": "5 Mbit/s"}},
        {"flows[bulk].traffic": {"kind": "elastic", "load": 1.0}},
        {"flows[bulk].traffic": {"kind": "on-off", "rate": "9 Mbit/s"}},
        {"flows[bulk].traffic": {"kind": "page", "think": "20 s"}},
        # A burst that ends may be what is studied.
        {"flows[bulk].traffic": {"kind": "cbr", "rate": "9 Mbit/s"}, "flows[bulk].stop": "100 s"},
    ],
    "unlimited-buffer": [
        {"links[core].buffer": "unlimited", "links[core].queue": "codel"},
        {"links[core].buffer": "unlimited", "links[core].loss": {"random": 0.001}},
        {"links[core].buffer": "unlimited", "flows[bulk].control": "vegas"},
        {"links[core].buffer": "unlimited", "flows[bulk].tcp": {"receive_window": 100}},
        {"links[core].buffer": "unlimited", "flows[bulk].access": {"rate": "5 Mbit/s"}},
        {"links[core].buffer": "unlimited", "flows[bulk].traffic": {"kind": "poisson"}},
        {"links[core].buffer": "unlimited", "flows[bulk].traffic": "elastic"},
    ],
    "ends-in-warm-up": [
        {"flows[bulk].traffic": {"kind": "finite", "size": "10 MB"}},
        {"flows[bulk].traffic": {"kind": "finite", "size": "1 MB"}, "flows[bulk].start": "45 s"},
        {"flows[bulk].traffic": {"kind": "replay", "flows": "0 s 100 kB; 60 s 300 kB"}},
        {"flows[bulk].traffic": {"kind": "cbr"}, "flows[bulk].stop": {"from": "20 s", "to": "51 s"}},
        {"flows[bulk].traffic": {"kind": "finite", "size": "1 MB"}, "warmup": "0 s"},
    ],
}


def pairs(table: dict[str, list[Changes]]) -> list[Any]:
    return [pytest.param(rule, changes, id=f"{rule}-{i}") for rule in table for i, changes in enumerate(table[rule])]


def test_an_ordinary_scenario_has_no_warnings() -> None:
    assert rules({}) == []


@pytest.mark.parametrize(("rule", "changes"), pairs(FIRES))
def test_a_rule_fires_alone(rule: str, changes: Changes) -> None:
    assert rules(changes) == [rule]


@pytest.mark.parametrize(("rule", "changes"), pairs(DOES_NOT_FIRE))
def test_a_rule_does_not_fire_next_to_where_it_fires(rule: str, changes: Changes) -> None:
    assert rule not in rules(changes)


@pytest.mark.parametrize(("packets", "fires"), [(20, True), (110, False)])
def test_where_unpaced_bursts_are_warned_of_paced_flows_use_far_more_and_elsewhere_they_do_not(
    packets: int, fires: bool
) -> None:
    """Pacing gained at least 22 points in the survey where the rule fires, and at most 5 from a flow's window on."""
    short = {**TEN, "links[core].buffer": f"{packets} packets", "duration": "60 s", "warmup": "20 s"}
    unpaced = elephan.Scenario.from_text(CLEAN).replace(short)
    paced = unpaced.replace({"flows[bulk].tcp": {"pacing": "linux"}})
    used, more = (float(elephan.run(one).links["utilization"][0]) for one in (unpaced, paced))
    assert ("unpaced-bursts" in [warned.rule for warned in lint(unpaced)]) == fires
    assert (more - used > 0.2) == fires, f"{used:.3f} unpaced, {more:.3f} paced"
    assert fires or more - used < 0.05


@pytest.mark.parametrize(("rate", "target"), [("1 Mbit/s", "8 ms"), ("0.9 Mbit/s", "8.89 ms")])
def test_the_target_that_is_advised_for_a_slow_link_is_enough(rate: str, target: str) -> None:
    slow = {"links[core].rate": rate, "links[core].queue": "codel"}
    (found,) = [
        warned for warned in lint(elephan.Scenario.from_text(CLEAN).replace(slow)) if warned.rule == "thresholds"
    ]
    assert (found.where, found.remedy) == (
        "links[core].queue.target",
        f'give at least "{target}", as in the tc line for this link',
    )
    assert "thresholds" not in rules({**slow, **queue(discipline="codel", target=target)})


def test_every_rule_is_tried_both_ways() -> None:
    # Rules that need a run are tested below, and those that depend on the machine in `test_estimate.py`.
    assert (
        {rule.name for rule in RULES}
        - {"deterministic-replications", "little-goodput", "much-memory", "unfinished-transfers", "unsettled"}
        == set(FIRES)
        == set(DOES_NOT_FIRE)
    )


def test_groups_that_share_a_link_are_held_against_each_other() -> None:
    changed = elephan.Scenario.from_text(CLEAN + CLEAN[CLEAN.index("[[flows]]") :].replace("bulk", "more"))
    apart = changed.replace(
        {"flows[more].rtt": {"from": "71 ms", "to": "91 ms"}, "flows[more].tcp.send_jitter": "1 ms"}
    )
    (warned,) = lint(changed)
    assert warned.rule == "phase-locked"
    assert warned.where == "flows[more].tcp.send_jitter"
    assert "it and bulk" in warned.message
    assert lint(apart) == []


def test_flows_that_start_after_the_end_leave_no_time_below_zero() -> None:
    late = {"flows[bulk].start": {"from": "0 s", "to": "1000 s"}}
    (warned,) = lint(elephan.Scenario.from_text(CLEAN).replace(late))
    assert warned.rule == "short-run"
    assert warned.message.startswith("0 s of measured time")
    (warned,) = lint(elephan.Scenario.from_text(CLEAN).replace(late), document(loss_events=2.2))
    assert warned.message == "a flow of bulk lost 1.1 times"


def test_random_datagrams_break_the_step_and_regular_ones_do_not() -> None:
    stream = '\n[[flows]]\nname = "noise"\npath = ["core"]\nrtt = "80 ms"\npacket = "1000 B"\n'
    stream += 'traffic = { kind = "KIND", rate = "1 Mbit/s" }\n'
    locked = CLEAN.replace('{ from = "70 ms", to = "90 ms" }', '"80 ms"')
    assert not lint(elephan.Scenario.from_text(locked + stream.replace("KIND", "poisson")))
    assert [w.rule for w in lint(elephan.Scenario.from_text(locked + stream.replace("KIND", "cbr")))] == [
        "phase-locked"
    ]


def test_slow_access_is_harmless_where_others_fill_the_link() -> None:
    second = CLEAN[CLEAN.index("[[flows]]") :].replace("bulk", "fast").replace('"70 ms"', '"71 ms"')
    both = elephan.Scenario.from_text(CLEAN + second).replace({"flows[bulk].access": {"rate": "1 Mbit/s"}})
    assert lint(both) == []
    slow = both.replace({"flows[fast].access": {"rate": "4 Mbit/s"}})
    assert [warned.rule for warned in lint(slow)] == ["nic-queue", "nic-queue"]
    # A flow that comes later finds others there.
    late = {"flows[fast].access": {"rate": "10 Mbit/s"}, "flows[fast].start": {"from": "10 s", "to": "30 s"}}
    assert lint(both.replace(late)) == []


def document(**means: float) -> Any:
    return {
        "run": {"replications": 1},
        "links": [{"utilization": {"mean": None, "ci95": None}}],
        "groups": [{name: {"mean": mean, "ci95": None} for name, mean in ({"goodput_bps": None} | means).items()}],
    }


def test_what_was_measured_overrules_what_was_expected() -> None:
    # Two flows: 10 losses are 5 each.
    few, enough = document(loss_events=9.0, cwnd_segments=50.0), document(loss_events=10.0, cwnd_segments=50.0)
    assert rules({}, few) == ["short-run"]
    assert rules({"duration": "60 s"}, enough) == []
    held = {"flows[bulk].tcp": {"receive_window": 200}}
    assert rules(held, document(loss_events=0.0, cwnd_segments=195.0))[0] == "receiver-limited"
    assert "receiver-limited" not in rules(held, enough)


def test_a_link_is_asked_for_no_more_than_those_before_it_let_through() -> None:
    stream = {"flows[bulk].path": ["core", "other"], "flows[bulk].traffic": {"kind": "cbr", "rate": "6 Mbit/s"}}
    for rate, where in (("11 Mbit/s", ["links[core].rate"]), ("9 Mbit/s", ["links[core].rate", "links[other].rate"])):
        found = lint(elephan.Scenario.from_text(CLEAN).replace({**also(rate), **stream}))
        assert [warned.where for warned in found if warned.rule == "overload"] == where


def test_what_was_delivered_overrules_when_it_should_have_ended() -> None:
    once = {"flows[bulk].traffic": {"kind": "finite", "size": "10 MB"}}
    assert rules(once, document(goodput_bps=0.0)) == ["ends-in-warm-up"]
    assert rules({"flows[bulk].traffic": {"kind": "finite", "size": "1 MB"}}, document(goodput_bps=1e5)) == []


def test_a_queue_without_limit_says_how_long_packets_waited() -> None:
    found = document(loss_events=0.0, cwnd_segments=5e4)
    found["links"][0]["queueing_delay_s"] = {"mean": 38.2, "ci95": None}
    endless = elephan.Scenario.from_text(CLEAN).replace({"links[core].buffer": "unlimited"})
    (message,) = [warned.message for warned in lint(endless, found) if warned.rule == "unlimited-buffer"]
    assert "waited 38.2 s on average" in message
    # A law that answers delay, and a window large enough for such a queue, are no excuse for what was measured; 0.8 s,
    # ten round trips, are.
    other = endless.replace({"flows[bulk].control": "vegas", "flows[bulk].tcp": {"receive_window": 50_000}})
    assert "unlimited-buffer" in [warned.rule for warned in lint(other, found)]
    found["links"][0]["queueing_delay_s"]["mean"] = 0.79
    assert "unlimited-buffer" not in [warned.rule for warned in lint(other, found)]


STATED = {"overload.toml": "overload", "shared-memory.toml": "overload", "queues-untouched-all.toml": "no-effect"}
"""Files that trigger a rule's warning because they study its subject: DualPI2 without L4S is in the last one."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_shipped_files_do_nothing_in_vain_nor_ask_for_too_much(path: Path) -> None:
    mapping = tomllib.loads(path.read_text(encoding="utf-8"))
    if "flows" in mapping:
        scenarios = [elephan.Scenario.from_file(path)]
    else:
        scenarios = [point.scenario for point in Sweep.from_file(path).points()]
    new = {"no-effect", "overload", "unlimited-buffer", "ends-in-warm-up"}
    looked = [rule for rule in RULES if rule.name in new]
    found = {rule.name for rule in looked for one in scenarios if list(rule.check(LintSubject(one.network)))}
    assert found == ({STATED[path.name]} if path.name in STATED else set())


def test_replications_without_chance_are_seen_in_their_results() -> None:
    short = elephan.Scenario.from_text(CLEAN).replace({"duration": "6 s", "warmup": "2 s", "replications": 3})
    fixed = short.replace({"flows[bulk].start": "0 s"})
    assert elephan.run(fixed).warnings[-1].rule == "deterministic-replications"
    for other in (short, fixed.replace(replications=1), fixed.replace({"flows[bulk].tcp": {"send_jitter": "0.8 ms"}})):
        assert "deterministic-replications" not in [warned.rule for warned in elephan.run(other).warnings]


@pytest.mark.parametrize(
    ("utilization", "goodput_bps", "warns"),
    # Rates out of 10 Mbit/s. The first is that of a flooding sender: a full link, a fiftieth of it useful.
    [(1.0, 0.2e6, True), (1.0, 6.9e6, True), (1.0, 7.1e6, False), (0.5, 3.6e6, False), (0.1, 0.0, False)],
)
def test_a_busy_link_that_delivers_little_is_seen(utilization: float, goodput_bps: float, *, warns: bool) -> None:
    found = document(loss_events=100.0, cwnd_segments=50.0, goodput_bps=goodput_bps)
    found["links"] = [{"utilization": {"mean": utilization, "ci95": None}}]
    assert ("little-goodput" in rules({}, found)) is warns


def test_where_acks_or_later_drops_count_nothing_is_said_of_goodput() -> None:
    found = document(loss_events=100.0, cwnd_segments=50.0, goodput_bps=0.0)
    found["links"] = 2 * [{"utilization": {"mean": 1.0, "ci95": None}}]
    more = '[[links]]\nname = "last"\nrate = "10 Mbit/s"\nbuffer = "5 packets"\n\n[[flows]]'
    two = elephan.Scenario.from_text(CLEAN.replace("[[flows]]", more))
    in_a_row = two.replace({"flows[bulk].path": ["core", "last"]})
    other = CLEAN[CLEAN.index("[[flows]]") :].replace("bulk", "back").replace('["core"]', '["last"]\nreturn = ["core"]')
    opposite = elephan.Scenario.from_text(CLEAN.replace("[[flows]]", more) + other)
    found["groups"] *= 2
    for scenario in (in_a_row, opposite):
        where = [each.where for each in lint(scenario, found) if each.rule == "little-goodput"]
        assert where == ["links[last]"]


def test_the_sawtooth_of_reno_takes_half_a_window_of_round_trips() -> None:
    (group,) = elephan.Scenario.from_text(CLEAN).network.bulk
    # Share 5 Mbit/s, 80 ms: BDP 50; buffer 25 more. From 37.5 to 50 at 80 ms, from 50 to 75 at 80 to 120 ms.
    assert period_s(group) == pytest.approx(12.5 * 0.08 + 25 * 0.1)
    asked = recovery_s('{ law = "reno" }', 75.0, 0.08, 50.0)
    # The law moves in whole rounds and is done at 99 %: two or three rounds less of 37.
    assert asked == pytest.approx(12.5 * 0.08 + 25 * 0.1, rel=0.09)


@pytest.mark.parametrize(
    ("law", "mbps", "rtt_s", "seconds"),
    # Recovery times from the fluid form, integral of dx / a(x) from (1 - b) w to w, for 1500 B.
    [
        ("highspeed", 100, 0.1, 4.617),
        ("highspeed", 1000, 0.1, 7.407),
        ("highspeed", 1000, 0.125, 9.694),
        ("nr-hstcp", 1000, 0.1, 7.407),
        ("nr-hstcp", 1000, 0.25, 7.407),
    ],
)
def test_recovery_times_are_those_of_the_fluid_form(law: str, mbps: float, rtt_s: float, seconds: float) -> None:
    window = mbps * 1e6 * rtt_s / 8 / 1500
    # Done at 99 % of the window instead of 100 %, which are 1 / 20 to 1 / 35 of the climb; whole rounds.
    assert recovery_s(f'{{ law = "{law}" }}', window, rtt_s, window) == pytest.approx(seconds, rel=0.07)


def test_a_law_that_takes_long_is_asked_for_a_lower_bound_only() -> None:
    # 10 Gbit/s and 87.5 ms: 10.13 s by the fluid form, in 72,917 segments.
    assert 1.0 < recovery_s('{ law = "highspeed" }', 72917.0, 0.0875, 72917.0) < 10.13


KERNELS = {"testbed-rtts.toml": ["phase-effects"]}
"""Warnings of scenarios that are compared with a kernel, to which no jitter is added."""


@pytest.mark.parametrize("name", sorted(path.name for path in SCENARIOS.glob("*.toml")))
def test_shipped_scenarios_are_clean(name: str) -> None:
    found = lint(elephan.Scenario.from_file(SCENARIOS / name))
    assert [warned.rule for warned in found] == KERNELS.get(name, [])


@pytest.mark.parametrize("name", sorted(path.name for path in SCENARIOS.glob("operators/*.toml")))
def test_scenarios_of_questions_have_no_phase_effects(name: str) -> None:
    if "\nbase" not in (text := (SCENARIOS / "operators" / name).read_text()):
        assert "phase-effects" not in [
            w.rule for w in lint(elephan.Scenario.from_text(text, name, SCENARIOS / "operators"))
        ]


@pytest.mark.parametrize("jitter", ["0 s", "1.2 ms"])
def test_where_phase_effects_are_warned_of_a_fraction_of_a_packet_moves_shares(jitter: str) -> None:
    """RTTs moved by fractions of a packet's time, 1.2 ms: without jitter shares move far beyond the spread of seeds."""
    base = elephan.Scenario.from_text(PHASES).replace(
        {f"flows[{name}].tcp.send_jitter": jitter for name in ("near", "far")}
    )
    shares = []
    for part in (0.0, 0.3, 0.6, 0.9):
        moved = base.replace({"flows[far].rtt": f"{100 + 1.2 * part} ms"})
        group = elephan.run(moved, workers=1).to_json()["groups"][0]["goodput_bps"]
        shares.append((group["mean"], group["ci95"]))
    spread = max(mean for mean, _ in shares) - min(mean for mean, _ in shares)
    fires = "phase-effects" in [warned.rule for warned in lint(base)]
    assert fires == (jitter == "0 s")
    # Of four means with one expectation the extremes lie within four half-widths nearly always.
    assert (spread > 4 * max(half for _, half in shares)) == fires, shares


@pytest.mark.parametrize("kind", ["dumbbell", "two-way", "parking-lot", "two-hops", "web", "rtt-fair"])
def test_scenarios_to_start_from_are_clean(elephan: Command, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "new.toml"
    assert elephan("new", kind, "--out", file).code == 0
    assert elephan("lint", file).out == "nothing to warn about\n"


def test_lint_says_each_warning_in_a_line(elephan: Command, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    done = elephan("lint", small)
    assert (done.code, done.err) == (0, "")
    assert [line.rpartition("(")[2] for line in done.out.splitlines()] == [
        "short-warmup)", "short-run)", "phase-locked)",
    ]  # fmt: skip
    # On a narrower terminal what follows the first line of a warning is moved in.
    monkeypatch.setenv("COLUMNS", "60")
    assert elephan("lint", small).out.replace("\n  ", " ") == done.out
    found = json.loads(elephan("lint", small, "--json").out)["warnings"]
    assert all(set(entry) == {"rule", "severity", "where", "message", "remedy"} for entry in found)
    strict = elephan("lint", small, "--strict")
    assert (strict.code, strict.out) == (2, "")
    assert all(line.startswith("error: ") for line in strict.err.splitlines())
    assert len(strict.err.splitlines()) == len(found) == 3
    assert elephan("lint", SCENARIOS / "hstcp-1g.toml").out == "nothing to warn about\n"


def test_run_and_size_warn_once_and_strict_stops_before_the_run(elephan: Command, small: Path) -> None:
    done = elephan("run", small, "--json")
    warnings = json.loads(done.out)["warnings"]
    assert len(done.err.splitlines()) == len(warnings) == 3
    assert done.err.count("phase-locked") == 1
    strict = elephan("run", small, "--strict", "--json")
    assert (strict.code, strict.out) == (2, "")
    sized = elephan("size", small, "--target", "utilization=0.8", "--laws", "reno,highspeed", "--json")
    assert sized.code == 0
    assert sized.err.count("phase-locked") == 1
    assert {w["rule"] for row in json.loads(sized.out)["variants"] for w in row["warnings"]} >= {"phase-locked"}


def test_rules_are_listed_with_their_reasons(elephan: Command) -> None:
    assert [card["name"] for card in cards()] == [rule.name for rule in RULES]
    done = elephan("list", "lints", "--details")
    assert "ACKs arrive at the same phase" in " ".join(done.out.split())
