"""Worst cases: ranges, the search, the buffer that survives it, attacks on laws, and the replay of what was found."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import elephan as package
from conftest import Command
from elephan.errors import InputError
from elephan.runs.outcome import simulate
from elephan.scenario import EXAMPLE, Scenario
from elephan.stats.extremes import upper_tail
from elephan.worst import WorstSearch, read_unknowns, usual_unknowns
from elephan.worst.laws import HARMS

SMALL = Scenario.from_text(EXAMPLE)
"""Two Reno flows on 10 Mbit/s and 80 ms, a BDP of 100 packets of 1000 B; 25 packets of buffer."""

RANGES = ["flows[0].rtt=40..160 ms", "flows[0].start=0..2 s"]


def search(workers: int | None = None, seed: int = 1) -> WorstSearch:
    return WorstSearch(SMALL, read_unknowns(SMALL, RANGES), HARMS["utilization"], workers, seed)


def test_each_flow_of_a_small_group_has_a_value_of_its_own() -> None:
    unknowns = read_unknowns(SMALL, [*RANGES, "links[0].queue=drop-tail,codel", "seed=3..5"])
    assert unknowns.size == 6
    assert unknowns.changes([0, 1, 0, 0.5, 0.9, 0.5]) == {
        "flows[0].rtt": ["40 ms", "160 ms"],
        "flows[0].start": ["0 s", "1 s"],
        "links[0].queue": "codel",
        "seed": 4,
    }
    # Of many flows two ends vary, in their order; of a group whose size varies one value.
    many = SMALL.replace({"flows[0].count": 40})
    assert read_unknowns(many, RANGES[:1]).changes([0.5, 0]) == {"flows[0].rtt": {"from": "40 ms", "to": "80 ms"}}
    assert read_unknowns(SMALL, [RANGES[0], "flows[0].count=1..4"]).changes([1, 0.99]) == {
        "flows[0].rtt": "160 ms",
        "flows[0].count": 4,
    }


def test_what_is_taken_as_unknown_can_be_run_at_its_ends() -> None:
    unknowns = usual_unknowns(SMALL, 0)
    assert [each.place for each in unknowns.all] == ["flows[0].rtt", "flows[0].start", "seed"]
    for share in (0.0, 1.0):
        SMALL.replace(unknowns.changes([share] * unknowns.size))
    # No round trip is shorter than what the links propagate.
    far = SMALL.replace({"links[0].delay": "79 ms", "flows[0].rtt": "80 ms"})
    assert str(usual_unknowns(far, 0).all[0]) == "flows[0].rtt 79..100 ms each"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("flows[0].rtt", '--range: "flows[0].rtt" is not of the form PLACE=LOW..HIGH'),
        ("flows[0].rtt=20 ms", "--range flows[0].rtt: 20 ms is one value"),
        ("flows[0].rtt=20..10 ms", "--range flows[0].rtt: 20..10 ms is not a range: its first end is above its last"),
        ("flows[0].rtt=20...30 ms", '--range flows[0].rtt: "20...30 ms" has three dots'),
        ("flows[1].rtt=20..30 ms", "--range flows[1].rtt: scenario: flows[1]: there is one, flows[0]"),
    ],
)
def test_a_wrong_range_is_named(given: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_unknowns(SMALL, [given])
    assert str(error.value).startswith(message)


def test_the_same_seed_finds_the_same_case_on_any_number_of_threads() -> None:
    one, two, other = search(1).attack(75), search(2).attack(75), search(1, seed=2).attack(75)
    assert (one.worst.changes, one.worst.value, one.runs) == (two.worst.changes, two.worst.value, two.runs)
    assert list(one.random) == list(two.random) != list(other.random)
    assert one.worst.value <= one.worst_random.value == one.random.min()


def test_the_search_finds_the_minimum_of_a_function_that_random_points_miss() -> None:
    attacked = search()
    middle = np.array([0.2, 0.7, 0.4, 0.9])
    # Instead of runs: the distance from a point. Of 1000 random points the nearest is about 0.1 away.
    attacked.values = lambda points: np.sqrt(((points - middle) ** 2).sum(1))  # type: ignore[method-assign]
    assert attacked.attack(500).worst.value < 0.02 < attacked.values(attacked.points(1000)).min()


def test_a_harm_that_cannot_be_measured_is_no_worst_case() -> None:
    attacked = search()
    attacked.values = lambda points: np.where(points[:, 0] < 0.5, math.nan, points[:, 0])  # type: ignore[method-assign]
    assert 0.5 <= attacked.attack(100).worst.value < 0.6


def test_the_tail_of_known_distributions_is_found() -> None:
    random = np.random.default_rng(1)
    # 1 in 10,000 of a uniform draw is above 0.9999, of an exponential one above ln 10,000 = 9.21. With 1000 draws the
    # shape has a standard error of about 0.08, which moves the second by a fifth.
    uniform, exponential = upper_tail(random.random(1000), 1e4), upper_tail(random.exponential(size=1000), 1e4)
    assert uniform is not None
    assert exponential is not None
    assert uniform.level == pytest.approx(1, abs=0.03)
    assert uniform.end == pytest.approx(1, abs=0.05)
    assert exponential.low < math.log(1e4) < exponential.high
    assert upper_tail([1.0] * 100, 1e4) is None
    assert upper_tail(random.random(20), 1e4) is None


def test_the_buffer_that_survives_is_larger_and_what_beat_the_smaller_one_replays(tmp_path: Path) -> None:
    # Long enough that no buffer of the search is still filled by slow start.
    longer = SMALL.replace(duration="60 s", warmup="20 s", replications=2)
    found = package.size_worst(longer, "utilization=0.9", RANGES, runs=75, precision=0.2)
    nominal = found.nominal.buffer_packets
    assert found.buffer_packets is not None
    assert nominal is not None
    assert nominal < found.buffer_packets
    assert found.rounds[0].attack.worst.value < 0.9 <= found.rounds[-1].attack.worst.value
    assert [path.name for path in found.write(tmp_path)] == ["worst-case.toml", "worst-at-answer.toml", "worst.json"]
    document = json.loads((tmp_path / "worst.json").read_text())
    for name, case in document["counterexamples"].items():
        again = Scenario.from_file(tmp_path / f"{name}.toml")
        outcome = simulate(again, 0, with_hash=True)
        assert f"{outcome.hash:016x}" == case["hash"]
        assert outcome.links["utilization"][0] == case["value"]
        assert package.run(again).to_json()["links"][0]["utilization"]["mean"] == case["value"]


def test_without_a_buffer_that_is_enough_there_is_no_attack() -> None:
    held = SMALL.replace({"flows[0].tcp": {"receive_window": 10}})
    found = package.size_worst(held, "utilization=0.9", RANGES, runs=50, precision=0.5)
    assert (found.buffer_packets, found.rounds, found.is_met) == (None, (), False)
    assert found.note


@pytest.mark.parametrize(
    ("target", "ranges", "message"),
    [
        ("delay=10ms", RANGES, "--worst-case: takes one target that a larger buffer meets"),
        ("utilization=0.9,loss=1%", RANGES, "--worst-case: takes one target that a larger buffer meets"),
        ("utilization=0.9", ["links[core].buffer=1..9 packets"], "--range links[core].buffer: is the buffer that"),
    ],
)
def test_a_worst_case_that_cannot_be_asked_is_refused(target: str, ranges: list[str], message: str) -> None:
    with pytest.raises(InputError) as error:
        package.size_worst(SMALL, target, ranges)
    assert str(error.value).startswith(message)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "is_starved"),
    [
        # Vegas takes the queue that it finds for propagation: who comes late takes the link (Mo et al. 1999).
        ("vegas", lambda groups: groups[0]["goodput_per_flow_bps"] < groups[1]["goodput_per_flow_bps"]),
        # CUBIC's and BBR's shares depend on round-trip times: CUBIC starves the longer, BBR the shorter one.
        ("cubic", lambda groups: max(groups, key=lambda g: g["rtt_s"]) is min(groups, key=_goodput)),
        ("bbr1", lambda groups: min(groups, key=lambda g: g["rtt_s"]) is min(groups, key=_goodput)),
    ],
    ids=["vegas", "cubic", "bbr1"],
)
def test_known_starvation_is_found_without_being_told(law: str, is_starved: object) -> None:
    # With random loss in its range 200 runs of Vegas end at another fault: the far flow starves.
    found = package.attack(law, "starvation", ["links[0].loss.random=0,0"] if law == "vegas" else (), runs=200)
    assert found.attack.worst.value < 0.4 < found.usual
    assert is_starved(found.groups)  # type: ignore[operator]


def _goodput(group: dict[str, float]) -> float:
    return group["goodput_per_flow_bps"]


def test_the_command_says_what_it_found_and_how_to_replay_it(elephan: Command, tmp_path: Path) -> None:
    short = ["--range", "flows.1.start=0..1 s", "--range", "links.0.loss.random=0,0.01", "--runs", "50", "-q"]
    done = elephan("attack", "reno", "--harm", "utilization", *short, "--out", str(tmp_path))
    assert done.code == 0
    assert done.out.startswith("reno: utilization of the link ")
    assert "no proof" in done.out
    replay = done.out.rpartition("Replay: elephan ")[2].replace("\\\n", " ").split()
    assert elephan(*replay, "-q").code == 0
    value = json.loads((tmp_path / "attack.json").read_text())["worst"]
    assert f"utilization {value:.6g}" in (tmp_path / "worst-case.toml").read_text()
