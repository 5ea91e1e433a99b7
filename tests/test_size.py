"""Sizing with real simulations: documents, exit codes, determinism, pictures, and the state after Ctrl-C."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import elephan as package
from conftest import PATIENCE_S, Command
from elephan.cli.size_screen import size_screen
from elephan.plots import draw_size
from elephan.scenario import EXAMPLE
from elephan.sizing import SizeAnswer
from elephan.sizing.pacing import with_pacing

TARGET = "utilization=0.9"


@pytest.fixture(scope="module")
def answer() -> SizeAnswer:
    return package.size(package.Scenario.from_text(EXAMPLE), TARGET, replications=3)


def test_the_document_has_the_promised_shape(answer: SizeAnswer) -> None:
    document = answer.to_json()
    assert {
        "target", "link", "buffer_packets", "buffer_bytes", "buffer_bdp", "buffer_interval_packets", "utilization",
        "loss_ratio", "queueing_delay_s", "rules", "models", "curve", "tc", "wall_s",
    } <= set(document)  # fmt: skip
    assert document["target"] == {"utilization": 0.9}
    assert {"bdp", "bdp_over_sqrt_n", "max_bdp"} <= set(document["rules"])
    assert {"buffer_packets", "utilization", "loss_ratio", "queueing_delay_s"} <= set(document["curve"][0])
    assert {"buffer_packets", "utilization", "off", "silent", "doubts"} <= set(document["models"]["sawtooth"])
    assert document["simulated"]["runs"] == sum(row["replications"] for row in document["curve"])
    json.dumps(document, allow_nan=False)


def test_the_answer_meets_the_target_and_the_buffer_below_does_not(answer: SizeAnswer) -> None:
    document: Any = answer.to_json()
    assert answer.buffer_packets is not None
    assert document["utilization"]["mean"] >= 0.9
    low, high = document["buffer_interval_packets"]
    assert low <= answer.buffer_packets <= high
    assert document["buffer_bytes"] == 1000 * answer.buffer_packets
    assert document["buffer_bdp"] == pytest.approx(answer.buffer_packets / 100)
    assert document["tc"] == f"tc qdisc replace dev eth0 root pfifo limit {answer.buffer_packets}"
    below = [row for row in document["curve"] if row["buffer_packets"] < answer.buffer_packets][-1]
    assert answer.buffer_packets - below["buffer_packets"] <= max(1, 0.05 * answer.buffer_packets)


def test_workers_do_not_change_the_answer(answer: SizeAnswer) -> None:
    other = package.size(package.Scenario.from_text(EXAMPLE), TARGET, replications=3, workers=1)
    first, second = answer.to_json(), other.to_json()
    assert json.dumps(first | {"wall_s": 0.0}) == json.dumps(second | {"wall_s": 0.0})


def test_buffers_in_bytes_stay_in_bytes() -> None:
    scenario = package.Scenario.from_text(EXAMPLE).replace({"links[0].buffer": "25 kB"})
    found = package.size(scenario, TARGET, replications=2)
    assert found.buffer_packets is not None
    assert found.to_json()["tc"] == f"tc qdisc replace dev eth0 root bfifo limit {1000 * found.buffer_packets}"


@pytest.mark.slow
def test_size_writes_its_files_and_prints_a_table(elephan: Command, small: Path, tmp_path: Path) -> None:
    done = elephan("size", small, "--target", TARGET, "--out", tmp_path / "out")
    assert done.code == 0
    assert "Buffer for utilization >= 0.9: " in done.out
    assert "pfifo limit" in done.out
    expected = {"size.json", "size.png", "size.svg", "curve.parquet", "models.parquet", "scenario.toml"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == expected
    document = json.loads((tmp_path / "out" / "size.json").read_text())
    curve = pq.read_table(tmp_path / "out" / "curve.parquet")
    assert curve.column("buffer_packets").to_pylist() == [row["buffer_packets"] for row in document["curve"]]


@pytest.mark.slow
def test_the_same_answer_draws_the_same_picture(answer: SizeAnswer, tmp_path: Path) -> None:
    for name in ("a", "b"):
        answer.write(tmp_path / name)
        draw_size(answer, tmp_path / name)
    for name in ("size.svg", "size.png", "curve.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.slow
def test_a_target_out_of_reach_is_exit_1_and_says_why(elephan: Command, small: Path, tmp_path: Path) -> None:
    words = ["--target", "utilization=0.9,delay=0.1ms", "--out", tmp_path / "out"]
    done = elephan("size", small, *words, "--json", "-q")
    assert done.code == 1
    assert done.err.startswith("target not met: utilization >= 0.9 needs ")
    document = json.loads(done.out)
    assert document["buffer_packets"] is None
    assert document["met"] is False
    assert "delay <= 0.1 ms" in document["note"]
    assert document["curve"]
    assert (tmp_path / "out" / "size.png").exists()


def test_laws_are_compared_row_by_row(elephan: Command, small: Path) -> None:
    done = elephan("size", small, "--target", TARGET, "--laws", "reno,highspeed", "--json", "-q")
    assert done.code in (0, 1)
    assert [row["law"] for row in json.loads(done.out)["variants"]] == ["reno", "highspeed"]


# Long enough that many are left when the first replication is done, which is waited for.
LONG = "replications = 500\n" + EXAMPLE.replace('"4 s"', '"400 s"').replace('"10 Mbit/s"', '"200 Mbit/s"')


@pytest.mark.slow
@pytest.mark.parametrize("verb", [["size", "--target", TARGET], ["run"]])
def test_ctrl_c_leaves_no_file_and_says_what_was_done(tmp_path: Path, verb: list[str]) -> None:
    scenario, out = tmp_path / "long.toml", tmp_path / "out"
    scenario.write_text(LONG)
    words = [verb[0], str(scenario), *verb[1:], "--out", str(out)]
    command = [sys.executable, "-m", "elephan", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        # The first line of progress: it is under way. Before it a long run says what it will cost.
        assert any(" of " in line and " left" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.stdout.read() == ""
        assert process.wait(timeout=PATIENCE_S) == 130
    last = rest.splitlines()[-1]
    assert last.startswith("interrupted")
    assert "nothing" in last
    assert "Traceback" not in rest
    assert not out.exists() or list(out.iterdir()) == []


def test_both_ways_to_pace_are_answered_side_by_side(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bursts that a small buffer cannot hold: three flows whose windows leave as blocks."""
    path = tmp_path / "bursts.toml"
    path.write_text(
        'title = "Bursts"\nduration = "30 s"\nwarmup = "10 s"\nreplications = 2\n'
        '[[links]]\nname = "core"\nrate = "50 Mbit/s"\ndelay = "2 ms"\nbuffer = "1 bdp"\n'
        '[[flows]]\nname = "bulk"\ncount = 3\npath = ["core"]\nrtt = { from = "70 ms", to = "90 ms" }\n'
        'control = "highspeed"\ntcp = { min_rto = "200 ms" }\nstart = { from = "0 s", to = "1 s" }\n'
        '[[flows]]\nname = "noise"\npath = ["core"]\nrtt = "50 ms"\ntraffic = { kind = "poisson", rate = "1 Mbit/s" }\n'
    )
    words = ("size", path, "--target", "utilization=0.85", "-q", "--json")
    both = json.loads(elephan(*words, "--pacing", "both").out)
    alone = {pacing: json.loads(elephan(*words, "--pacing", pacing).out) for pacing in ("none", "linux")}
    assert both["buffer_packets"] == alone["none"]["buffer_packets"]
    assert both["paced"]["buffer_packets"] == alone["linux"]["buffer_packets"]
    assert both["paced"]["buffer_packets"] < 0.7 * both["buffer_packets"], "pacing is what the small buffer needs"
    said = " ".join(elephan(*words[:-1], "--pacing", "both").out.split())
    assert f"Paced as Linux does: {both['paced']['buffer_packets']} packets" in said
    # The sentence takes a line: a buffer of the table goes before a danger does.
    answer = package.size(package.Scenario.from_file(path), "utilization=0.85", pacing="both")
    document = answer.to_json()
    for name in ("dangers", "advice"):
        document[name] = [f"{name} of so many words that they fill a line of the screen, almost"] * 3
    monkeypatch.setattr(SizeAnswer, "to_json", lambda _: document)
    screen = size_screen(answer, answer.scenario.title)
    assert len(screen) <= 15
    assert any(line.startswith("Paced as Linux does: ") for line in screen), screen
    assert sum(line.startswith("  ! ") for line in screen) >= 1
    # The group's settings of TCP are kept, and datagrams are not paced.
    changed = with_pacing(package.Scenario.from_file(path), "quic").resolved["flows"]
    assert (changed[0]["tcp"]["min_rto_ps"], changed[0]["tcp"]["pacing"]) == (200_000_000_000, "quic")
    assert "pacing" not in changed[1]["tcp"]


def test_profiles_keep_their_keys_when_they_are_paced() -> None:
    linux = package.Scenario.from_text(EXAMPLE).replace({"flows[0].tcp": "linux"})
    paced = with_pacing(linux, "linux").resolved["flows"][0]
    assert paced["tcp"] == linux.resolved["flows"][0]["tcp"] | {"pacing": "linux"}
    assert paced["recovery"] == linux.resolved["flows"][0]["recovery"] == "rack"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pacing", "linx"], 'pacing: unknown way to pace "linx"; did you mean "linux"'),
        (["--pacing", "both", "--queues", "red"], "--pacing: both goes without --find, --laws and --queues"),
    ],
)
def test_pacing_that_cannot_be_is_one_line(elephan: Command, small: Path, words: list[str], said: str) -> None:
    done = elephan("size", small, "--target", TARGET, *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
