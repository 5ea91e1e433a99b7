"""The inverse question: the load for which a buffer is sufficient, and RED's thresholds; against sizing and a closed
form."""

import json
from pathlib import Path

import pytest

import elephan as package
from conftest import Command
from elephan.scenario import EXAMPLE
from elephan.sizing.quantities import FAR, PARTS, quantity
from elephan.sizing.targets import BufferSample, GroupSample
from elephan.theory import reno, synchronised

pytestmark = pytest.mark.slow

SMALL = package.Scenario.from_text(EXAMPLE)
"""Two Reno flows on 10 Mbit/s and 80 ms, a BDP of 100 packets of 1000 B; 25 packets of buffer."""


def used(scenario: package.Scenario) -> float:
    mean: float = package.run(scenario).to_json()["links"][0]["utilization"]["mean"]
    return mean


@pytest.mark.parametrize("find", ["rtt", "rate", "flows"])
def test_what_is_found_meets_the_target_and_a_step_beyond_does_not(find: str) -> None:
    found = package.size_limit(SMALL, "utilization=0.9", find, replications=3)
    assert found.count is not None
    assert used(found.at) >= 0.9
    # Five per cent is the precision; twice as far is beyond noise.
    beyond = found.quantity.make(max(found.quantity.least, round(found.count / 2)))
    assert used(beyond.replace(replications=3)) < 0.9 or found.count == found.quantity.least


def test_the_longest_path_of_a_buffer_is_the_path_whose_buffer_it_is() -> None:
    sized = package.size(SMALL, "utilization=0.9", replications=3)
    there = SMALL.replace({"links[0].buffer": f"{sized.buffer_packets} packets"})
    found = package.size_limit(there, "utilization=0.9", "rtt", replications=3)
    assert found.amount is not None
    # Both searches stop within 5 %, and the path moves utilization less than the buffer does.
    assert found.amount == pytest.approx(0.08, rel=0.25)


def test_the_longest_path_is_near_that_of_the_sawtooth() -> None:
    # One flow, so that nothing is drawn: the window swings between half and all of BDP and buffer.
    one = SMALL.replace({"flows[0].count": 1}, duration="200 s", warmup="50 s")
    found = package.size_limit(one, "utilization=0.9", "rtt", replications=1)
    assert found.amount is not None

    def sawtooth(rtt_s: float) -> float:
        return float(synchronised(reno(), 1250, 25, rtt_s, 1).utilisation)

    assert sawtooth(0.87 * found.amount) > 0.9 > sawtooth(1.15 * found.amount)


def test_propagation_of_links_and_every_form_of_rtt_are_stretched_alike() -> None:
    for rtt in ("40 ms", {"from": "40 ms", "to": "60 ms"}, {"uniform": ["40 ms", "60 ms"]}, ["40 ms", "60 ms"]):
        base = SMALL.replace({"flows[0].rtt": rtt})
        path = quantity("rtt", base, 0)
        own, twice = base.network.links[0], path.make(path.own // 2).network.links[0]
        assert twice.mean_rtt_s == pytest.approx(2 * own.mean_rtt_s)
        assert twice.delay_s == pytest.approx(2 * own.delay_s)
        assert twice.buffer_packets == own.buffer_packets


def test_a_buffer_in_bdp_does_not_follow_the_path() -> None:
    path = quantity("rtt", SMALL.replace({"links[0].buffer": "0.5 bdp"}), 0)
    buffers = {path.make(count).network.links[0].buffer_packets for count in (path.own // 4, path.own, 4 * path.own)}
    assert buffers == {50}


def test_flows_keep_their_proportion_and_their_sum() -> None:
    two = EXAMPLE + '[[flows]]\nname = "more"\ncount = 6\npath = ["core"]\nrtt = "80 ms"\n'
    flows = quantity("flows", package.Scenario.from_text(two), 0)
    assert flows.own == 8
    assert [group["flows"] for group in flows.make(80).groups] == [20, 60]
    for count in (2, 3, 5, 7, 100, 8 * FAR):
        assert sum(group["flows"] for group in flows.make(count).groups) == count


def test_red_gets_thresholds_that_linux_can_have_and_stands_beside_drop_tail() -> None:
    large = SMALL.replace({"links[0].buffer": "1 bdp", "flows[0].count": 10})
    found = package.size_limit(large, "utilization=0.9", "red", replications=3)
    document = found.to_json()
    queue = found.at.links[0]["queue"]
    assert found.count is not None
    assert queue["max_th"] == f"{3 * found.count} packets"
    assert document["tc"] is not None
    assert f"min {1000 * found.count} max {3000 * found.count}" in document["tc"]
    # The point of RED: less delay than drop-tail with the same buffer.
    [row] = [row for row in document["rows"] if row["amount"] == document["amount"]]
    assert document["drop_tail"] is not None
    assert row["queueing_delay_s"]["mean"] < 0.5 * document["drop_tail"]["queueing_delay_s"]["mean"]


def test_other_targets_are_checked_where_utilization_is_met() -> None:
    found = package.size_limit(SMALL, "utilization=0.9,delay=1us", "rtt", replications=2)
    assert found.note.startswith("there delay <= 0.001 ms is not met")


def test_the_verb_says_it_on_one_screen_and_writes_it(elephan: Command, small: Path, tmp_path: Path) -> None:
    done = elephan("size", small, "--target", "utilization=0.9", "--find", "rtt", "-q", "--out", tmp_path / "out")
    assert done.code == 0
    assert "packets are enough for utilization >= 0.9 up to a mean base RTT of" in " ".join(done.out.split())
    assert len(done.out.splitlines()) <= 15
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"limit.json", "limit.parquet", "scenario.toml"}
    document = json.loads((tmp_path / "out" / "limit.json").read_text())
    again = package.Scenario.from_file(tmp_path / "out" / "scenario.toml")
    assert again.links[0]["mean_rtt_s"] == pytest.approx(document["amount"], rel=1e-3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--find", "rtg"), '--find: unknown quantity "rtg"; did you mean "rtt"?'),
        (("--find", "rtt", "--laws", "reno"), "--find: goes without --laws, --queues, --model-only and --whole-curve"),
        (("--find", "rtt", "--model-only"), "--find: goes without --laws, --queues, --model-only and --whole-curve"),
    ],
)
def test_what_cannot_be_asked_is_one_line(elephan: Command, small: Path, words: tuple[str, ...], message: str) -> None:
    done = elephan("size", small, "--target", "utilization=0.9", *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(message)


def test_a_target_that_decides_is_needed_and_a_buffer(elephan: Command, small: Path) -> None:
    done = elephan("size", small, "--target", "loss=1%", "--find", "rtt")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith("target: --find needs utilization")
    words = ("--set", 'links[0].buffer="unlimited"')
    done = elephan("size", small, "--target", "utilization=0.9", "--find", "rtt", *words)
    assert done.code == 2
    assert "links[0].buffer: is unlimited; give the buffer that you have" in done.err


def test_a_receive_window_that_limits_is_said_where_it_may_be_the_answer(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    linux = SMALL.replace({"flows[0].tcp": {"profile": "linux", "receive_window": 20}})
    file = tmp_path / "limited.toml"
    file.write_text(linux.text)
    done = elephan("size", file, "--target", "utilization=0.5", "--find", "rtt", "-q", "--replications", "2")
    assert "receive_window" in done.out
    assert len(done.out.splitlines()) <= 15


def test_a_shorter_path_that_misses_the_target_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search assumes that utilization falls with the RTT; where it does not, the answer says so."""

    class Dented:
        """Measures 0.97 between half and a third of the file's path, 0.99 on other paths up to it and 0.5 beyond."""

        packets = 0

        def __init__(self, *_: object, **__: object) -> None: ...

        def __call__(self, pairs: list[tuple[int, int]], _: object) -> list[BufferSample]:
            used = [0.97 if 2 * PARTS <= c < 3 * PARTS else 0.99 if c >= PARTS else 0.5 for c, _ in pairs]
            groups = (GroupSample(1e6, 0.0),)
            return [BufferSample(each, 0.0, 0.01, groups=groups) for each in used]

    monkeypatch.setattr("elephan.sizing.inverse.LinkSimulations", Dented)
    found = package.size_limit(SMALL, "utilization=0.98", "rtt", replications=2)
    assert found.amount == pytest.approx(0.08, rel=0.05)
    assert "a shorter path can miss the target: with 40 ms the link is 97 % busy" in found.note
