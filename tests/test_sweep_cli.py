"""`elephan sweep`: tables, documents, files, exit codes, and lines that tell how to continue."""

import errno
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SCENARIOS, Command
from elephan.store import folders
from elephan.sweeps import Sweep

OVER = ("--over", "links[0].buffer=0.1 bdp,1 bdp", "--over", "seed=1..2:2lin")


def test_points_are_a_table_and_a_line_sums_them_up(elephan: Command, small: Path, tmp_path: Path) -> None:
    done = elephan("sweep", small, *OVER, "--store", tmp_path / "store")
    assert done.code == 0
    rows = [line for line in done.out.splitlines() if "bdp" in line]
    assert [row.split()[:3] for row in rows] == [
        ["0.1", "bdp", "1"],
        ["0.1", "bdp", "2"],
        ["1", "bdp", "1"],
        ["1", "bdp", "2"],
    ]
    assert "4 points: 4 run, 0 from the store, 0 failed" in done.err
    again = elephan("sweep", small, *OVER, "--store", tmp_path / "store")
    assert "4 points: 0 run, 4 from the store, 0 failed" in again.err
    assert again.out == done.out


def test_lists_that_go_together_and_the_base_come_from_the_command_line(
    elephan: Command, small: Path, tmp_path: Path
) -> None:
    words = ("--zip", 'seed=1,2; "links[0].buffer"=1,2')
    done = elephan("sweep", small, *words, "--set", "duration=2 s", "--store", tmp_path, "--json", "--seed", 5)
    assert done.code == 2  # a place has no quotes here
    words = ("--zip", "seed=1,2; links[0].buffer=20 packets,30 packets")
    done = elephan("sweep", small, *words, "--set", "duration=2 s", "--store", tmp_path, "--json")
    document = json.loads(done.out)
    assert [point["labels"] for point in document["points"]] == [
        {"seed": 1, "links[0].buffer": "20 packets"},
        {"seed": 2, "links[0].buffer": "30 packets"},
    ]
    assert {point["duration_s"] for point in document["points"]} == {2.0}
    assert {point["replications"] for point in document["points"]} == {3}


def test_what_lint_says_of_points_is_said_once(elephan: Command, small: Path, tmp_path: Path) -> None:
    # Without a range of starts the run is deterministic, so the interval is empty whatever the buffer.
    words = (*OVER[:2], "--set", "flows[0].start=0 s", "--set", "flows[0].rtt=80 ms", "--store", tmp_path)
    done = elephan("sweep", small, *words)
    (line,) = [line for line in done.err.splitlines() if "deterministic-replications" in line]
    assert line.startswith("warning: replications: all 3 are the same")
    assert line.endswith("(deterministic-replications, 2 of 2 points)")
    # Of those about the validity of results nothing is left out.
    assert "deterministic-replications" not in elephan("sweep", small, *words, "--quiet").err
    document = json.loads(elephan("sweep", small, *words, "--json").out)
    assert {w["rule"]: w["points"] for w in document["warnings"]}["deterministic-replications"] == 2


def test_the_head_says_how_many_replications_a_precision_took(elephan: Command, small: Path, tmp_path: Path) -> None:
    done = elephan("sweep", small, *OVER[:2], "--precision", "0.01%", "--max-replications", 5, "--store", tmp_path)
    assert " 5 replications, seed" in done.out.splitlines()[0]


def test_a_failed_point_is_a_line_and_exit_code_1(elephan: Command, small: Path, tmp_path: Path) -> None:
    law = tmp_path / "late.py"
    law.write_text("class Late:\n    cwnd = 90.0\n    def on_loss(self, event):\n        raise ValueError('no more')\n")
    over = 'flows[0].control="late","reno"'
    done = elephan(
        "sweep",
        small,
        "--set",
        "links[0].buffer=5 packets",
        "--law",
        f"late={law}:Late",
        "--over",
        over,
        "--store",
        tmp_path / "store",
    )
    assert done.code == 1
    (line,) = [line for line in done.err.splitlines() if line.startswith("failed:")]
    assert line.startswith("failed: flows[0].control = late: ")
    assert "no more" in line
    assert "reno" in done.out


def test_a_unit_at_the_end_of_a_list_holds_for_all_of_it(elephan: Command, small: Path, tmp_path: Path) -> None:
    words = ("sweep", small, "--store", tmp_path / "store", "--json", "-q", "--replications", 1)
    done = elephan(*words, "--over", "links[0].buffer=4,5..6:2,8 packets")
    buffers = [point["labels"]["links[0].buffer"] for point in json.loads(done.out)["points"]]
    assert buffers == ["4 packets", "5 packets", "6 packets", "8 packets"]


@pytest.mark.parametrize(
    ("over", "said"),
    [
        (
            "links[0].buffer=10...100 packets:3",
            '"10...100 packets:3" has three dots; a range has two: 10..100 packets:3',
        ),
        ("links[0].buffer=0.1..9 packets:3", "packets must be whole numbers"),
        ("links[0].buffer=4,5 kB,8 packets", "(1 of 3 points cannot be read, so none is run)"),
        ("links[0].buffer=1 bdp,1 bpd", 'unknown unit "bpd" in "1 bpd"'),
        ("links[0].queue=red,codle", 'unknown discipline "codle"; did you mean "codel"?'),
    ],
)
def test_a_list_that_cannot_be_read_runs_nothing(
    elephan: Command, small: Path, tmp_path: Path, over: str, said: str
) -> None:
    done = elephan("sweep", small, "--over", over, "--store", tmp_path / "store")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
def test_files_and_a_picture_are_written(elephan: Command, small: Path, tmp_path: Path) -> None:
    done = elephan("sweep", small, *OVER, "--store", tmp_path / "store", "--out", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "points.parquet",
        "sweep.json",
        "sweep.png",
        "sweep.svg",
    ]
    assert f"wrote {tmp_path / 'out'}: points.parquet, sweep.json, sweep.png, sweep.svg" in done.err
    picture = (tmp_path / "out" / "sweep.svg").read_text()
    document = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert len(document["points"]) == 4
    assert "<svg" in picture


@pytest.mark.parametrize("json_", [False, True])
def test_a_dry_run_lists_points_and_writes_nothing(
    elephan: Command, small: Path, tmp_path: Path, *, json_: bool
) -> None:
    store = tmp_path / "store"
    words = ("sweep", small, "--over", "duration=2 s,4 s", "--store", store, "--dry-run", *(["--json"] * json_))
    done = elephan(*words)
    assert done.code == 0
    assert not store.exists()
    elephan("sweep", small, "--over", "duration=4 s", "--store", store)
    after = elephan(*words)
    if json_:
        points = json.loads(after.out)["points"]
        assert [(point["labels"]["duration"], point["stored"]) for point in points] == [("4 s", True), ("2 s", False)]
        # 10 Mbit/s in packets of 1000 B, and 20000 besides, in each of three replications.
        assert [point["cost_packets"] for point in points] == [75_000, 67_500]
    else:
        said = r"2 points, 1 in the store; to run: about [\d.]+ million packets, "
        assert re.search(said, " ".join(after.out.split())), after.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{small}"], "{small}: nothing varies in it; give lists with --over"),
        (["{small}", "--over", "links[0].bufer=1 bdp"], "{small}: over: links[0].bufer: unknown key; did you mean `b"),
        (["{small}", "--over", "links[0].buffer"], '--over: "links[0].buffer" is not of the form PLACE=VALUES'),
        (["{small}", "--over", "seed=1", "--over", "seed=2"], '--over: "seed" is given twice'),
        (["{small}", "--over", 'seed=["1"'], '--over seed: ["1" is not a list in TOML'),
        (["{small}", "--over", "seed=1,2", "--shard", "3/2"], 'shard: "3/2" is not a part'),
        (["{small}", "--over", "seed=1,2", "--store", "{small}"], "store {small}"),
        (["{small}", "--over", "seed=1,2", "--precision", "goodputt=1%"], 'precision: there is no "goodputt"'),
        (["{small}", "--over", "seed=1,2", "--out", "{small}"], "--out {small}: "),
        (["nothing.toml"], "nothing.toml: no such file or directory; give the path of a scenario or sweep file"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    elephan: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.setenv("ELEPHAN_STORE", str(tmp_path / "store"))
    done = elephan("sweep", *(word.format(small=small) for word in words))
    assert done.code == 2
    assert message.format(small=small) in done.err
    assert done.err.count("\n") == 1


def test_places_in_a_sweep_file_must_be_quoted_and_that_is_said(elephan: Command, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text("[over]\nlinks[0].buffer = ['1 bdp']\n")
    done = elephan("sweep", file)
    assert done.code == 2
    assert "places stand in quotes" in done.err


STOPPED = """
import sys
from elephan.sweeps import execution
from elephan.cli import main

real, calls = execution.wait, []

def wait(*words, **rest):
    calls.append(1)
    if len(calls) == 2:
        raise {error}
    return real(*words, **rest)

execution.wait = wait
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_an_interrupted_sweep_says_what_is_kept_and_how_to_go_on(elephan: Command, small: Path, tmp_path: Path) -> None:
    words = ["sweep", str(small), "--over", "seed=1..40:40lin", "--store", str(tmp_path / "store"), "--workers", "1"]
    script = STOPPED.format(error="KeyboardInterrupt")
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    line = done.stderr.splitlines()[-1]
    assert line.startswith("interrupted: ")
    assert line.endswith("of 40 points kept; the same command goes on from there")
    kept = int(line.split()[1])
    assert 1 <= kept < 40
    assert f"{40 - kept} run, {kept} from the store" in elephan(*words).err


def test_a_full_disk_is_one_line_and_the_same_command_goes_on(
    elephan: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = folders.write
    written: list[int] = []

    def write(*words: object) -> object:
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(1)
        return real(*words)  # type: ignore[arg-type]

    words = ("sweep", small, "--over", "seed=1..8:8lin", "--store", tmp_path / "store", "--quiet")
    monkeypatch.setattr(folders, "write", write)
    done = elephan(*words)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "the disk is full" in done.err
    assert "3 of 8 points kept" in done.err
    monkeypatch.undo()
    assert "5 run, 3 from the store" in elephan(*words).err


def test_a_missing_library_or_scheduler_is_one_line(
    elephan: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("sweep", small, "--over", "seed=1,2", "--store", tmp_path, "--scheduler", "tcp://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = elephan(*words)
    assert done.code == 2
    assert done.err.startswith("--scheduler: needs the library distributed; pip install 'elephan[cluster]'")


def test_the_example_has_eighteen_points_and_a_numeric_axis() -> None:
    sweep = Sweep.from_file(SCENARIOS / "sweeps" / "buffers.toml")
    points = sweep.points()
    assert len(points) == 18
    assert points[0].scenario.links[0]["bdp_packets"] == 1500
    assert [point.labels["links[0].buffer"] for point in points[::8]] == ["0.01 bdp", "1 bdp", "0.5623 bdp"]
