"""A store survives kills, full disks, folders that cannot be written, and damaged files."""

import contextlib
import dataclasses
import errno
import json
import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import elephan
from conftest import PATIENCE_S, Command
from elephan import _native
from elephan.errors import InputError
from elephan.runs.result import RunResult
from elephan.store import Store, folders, provenance, upkeep
from elephan.store.index import FILE
from elephan.store.locks import LOCK, hold, is_held, leftovers, release

SHORT = elephan.Scenario.from_text(elephan.EXAMPLE).replace({"duration": "0.2 s", "warmup": "0.1 s"})

WRITER = """
import pickle, sys
from elephan.store import Store
packed = pickle.loads(sys.stdin.buffer.read(int(sys.argv[2])))
print("ready", flush=True)
first = int(sys.stdin.buffer.readline())
with Store(sys.argv[1]) as store:
    print("open", flush=True)
    for i in range(first, first + int(sys.argv[3])):
        # What makes runs differ is not what is tested here.
        store.put(packed, key=f"{i:064x}", labels={"i": i})
"""


@pytest.fixture(scope="module")
def result() -> RunResult:
    return elephan.run(SHORT)


class Writer:
    """A process that puts runs into a store on command."""

    def __init__(self, folder: Path, result: RunResult, count: int) -> None:
        packed = pickle.dumps(folders.pack(result))
        command = [sys.executable, "-c", WRITER, str(folder), str(len(packed)), str(count)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send(packed)

    def send(self, content: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def expect(self, word: bytes) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == word + b"\n"

    def end(self, kill: bool = False) -> int:
        if kill:
            self.process.kill()
        with self.process as process:
            return process.wait()


Start = Callable[[int, int], list[Writer]]


@pytest.fixture
def start(tmp_path: Path, result: RunResult) -> Iterator[Start]:
    """Start writers, each of a number of runs; none outlives its test, however that ends."""
    with contextlib.ExitStack() as stack:

        def started(writers: int, runs: int) -> list[Writer]:
            made = []
            for _ in range(writers):
                made.append(Writer(tmp_path, result, runs))
                stack.callback(made[-1].end, kill=True)
            return made

        yield started


@contextlib.contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    """Mount something at a folder, or skip."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_killed_writer_leaves_whole_runs_and_no_others(tmp_path: Path, start: Start) -> None:
    reached = 0
    for writer, more in zip(start(3, 50_000), (0, 1, 30), strict=True):
        writer.expect(b"ready")
        writer.send(b"%d\n" % reached)
        writer.expect(b"open")
        while len(list(folders.all_ids(tmp_path))) < reached + more:
            time.sleep(0.001)
        assert writer.end(kill=True) == -signal.SIGKILL
        with Store(tmp_path) as store:
            assert store.verify() == []
            runs = store.table(columns=["labels", "run"]).arrow
            # Every run that is there carries its label: both came at once.
            assert [int(run, 16) for run in runs["run"].to_pylist()] == (runs["i"].to_pylist() if runs.num_rows else [])
            assert [path.name for path in (tmp_path / "tmp").iterdir() if path.is_dir()] == [
                store.writing().folder.name
            ]
            assert runs.num_rows == len(list(folders.all_ids(tmp_path)))
            reached = runs.num_rows
    assert reached > 0


FORKED = """
import os, sys, time
from elephan.store import Store
with Store(sys.argv[1]) as store:
    if os.fork() == 0:
        store.writing().end()
        print("open", flush=True)
        time.sleep(600)
    time.sleep(600)
"""


def test_a_process_that_a_killed_writer_had_forked_keeps_no_lock_of_it(tmp_path: Path) -> None:
    # As the workers of a pool do: they outlive the process that has the store.
    command = [sys.executable, "-c", FORKED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as writer:
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"open\n"
            # The child's `end` must not release the parent's lock.
            assert len(leftovers(tmp_path)) == 0 < len(list((tmp_path / "tmp").iterdir()))
            writer.kill()
            writer.wait()
            with Store(tmp_path) as store:
                assert leftovers(tmp_path) == []
                names = {store.writing().folder.name, f"{store.writing().folder.name}.lock"}
                assert {path.name for path in (tmp_path / "tmp").iterdir()} == names
            assert not is_held(tmp_path / LOCK)
        finally:
            os.killpg(writer.pid, signal.SIGKILL)


def test_no_program_is_started_while_a_lock_is_held(
    tmp_path: Path, result: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A child inherits the locks until it closes them: if the writer is killed then, it still seems to be alive.
    held: list[list[Path]] = []
    monkeypatch.setattr("elephan.store.provenance._commit", lambda _: held.append(list(tmp_path.rglob("*lock"))))
    provenance.of_process.cache_clear()
    try:
        with Store(tmp_path) as store:
            store.put(result)
    finally:
        provenance.of_process.cache_clear()
    assert held == [[]]


@pytest.mark.slow
def test_a_run_that_another_process_puts_meanwhile_is_not_replaced(tmp_path: Path, result: RunResult) -> None:
    with Store(tmp_path) as one, Store(tmp_path) as other:
        known = one._known

        def late(*words: Any) -> Any:
            found = known(*words)
            one._known = known  # type: ignore[method-assign]
            other._flushed = time.monotonic()  # its row waits for others
            other.put(dataclasses.replace(result, wall_s=9.0), key="a" * 64)
            return found

        one._known = late  # type: ignore[method-assign,assignment]
        one.put(result, key="a" * 64)
        one.flush()  # the row of the other is the last
    with Store(tmp_path) as store:
        assert store.verify() == []


def test_two_processes_write_at_the_same_time(tmp_path: Path, start: Start) -> None:
    # Each some runs that the other has too.
    writers = start(2, 120)
    for writer in writers:
        writer.expect(b"ready")
    for writer, first in zip(writers, (0, 60), strict=True):
        writer.send(b"%d\n" % first)
    for writer in writers:
        writer.expect(b"open")
    assert [writer.end() for writer in writers] == [0, 0]
    with Store(tmp_path) as store:
        assert store.table(columns=["i"]).arrow["i"].to_pylist() == list(range(180))
        assert store.verify() == []
    assert list((tmp_path / "tmp").iterdir()) == []


TOGETHER = """
import os, sys
from pathlib import Path
from elephan.store import Store, provenance
from elephan.store.index import FILE

provenance.of_process()  # It starts Git, which takes longer than what is to be met here.
for i in range(24):
    folder = Path(sys.argv[1], str(i))
    folder.mkdir()
    if i % 3:
        (folder / FILE).write_bytes(b"no index " * 1000 * (i % 3 - 1))
    gate, opened = os.pipe()
    children = []
    for _ in range(2 + i % 2):
        if child := os.fork():
            children.append(child)
            continue
        os.close(opened)
        os.read(gate, 1)
        with Store(folder) as store:
            store.fail(str(os.getpid()), "", {}, "went wrong")
        os._exit(0)
    os.close(gate)
    os.close(opened)
    # Each ends by itself: one that was refused would have printed why.
    ended = [os.waitpid(child, 0)[1] for child in children]
    with Store(folder) as store:
        kept = sorted(int(failure["key"]) for failure in store.failures())
        assert (ended, kept, store.verify()) == ([0] * len(children), sorted(children), []), (i, ended, kept)
    assert list((folder / "tmp").iterdir()) == []
"""


@pytest.mark.slow
def test_processes_that_make_an_index_at_the_same_time_share_it(tmp_path: Path) -> None:
    # SQLite refuses one of two at once, without waiting, where both make the file in place.
    command = [sys.executable, "-c", TOGETHER, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(tmp_path.iterdir())) == 24


def test_leftovers_of_the_dead_go_and_those_of_the_living_stay(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        dead = tmp_path / "tmp" / "host-1-abc"
        (dead / "1").mkdir(parents=True)
        (dead / "1" / "flows.parquet").write_bytes(b"half")
        with Store(tmp_path / ".." / tmp_path.name) as other, other.writing().made() as living:
            assert not dead.exists()
            dead.mkdir()
            (dead / "x").write_bytes(b"half")
            assert store.gc(dry_run=True).leftovers == 1
            assert store.gc().bytes == 4
            assert living.exists()
        assert not dead.exists()


def test_a_process_that_begins_while_leftovers_are_removed_keeps_its_lock(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        lock = tmp_path / "tmp" / "host-1-abc.lock"
        lock.touch()
        found = leftovers(tmp_path)
        assert found == [lock]
        handle = hold(lock, alone=True)
        assert handle is not None
        upkeep.delete_leftovers(found)
        assert lock.exists()
        release(handle)
        assert store.gc().leftovers == 1
        assert not lock.exists()


def test_a_folder_without_a_row_is_adopted(tmp_path: Path, result: RunResult) -> None:
    with Store(tmp_path) as store:
        run = store.put(result, labels={"a": 1})
        store.flush()
        with store.index.change():
            store.index.forget(store.index.number(run.id) or 0)
        assert store.runs() == []
        found = store.find(run.id)
        assert found is not None
        assert found.labels == [{"a": 1}]


def test_labels_survive_on_either_side_alone(tmp_path: Path, result: RunResult) -> None:
    with Store(tmp_path) as store:
        run = store.put(result, labels={"a": 1})
        folders.append_labels(run.folder, {"a": 2})
        with store.index.change():
            store.index.label(1, {"a": 3})
        with (run.folder / folders.JOURNAL).open("a") as journal:
            journal.write('{"a":')  # A writer was killed here.
        assert store.verify() == []
        assert run.labels == [{"a": 1}, {"a": 2}, {"a": 3}]
        assert folders.read_labels(run.folder) == [{"a": 1}, {"a": 2}, {"a": 3}]


@pytest.mark.parametrize("harm", ["truncated", "altered", "missing", "document", "folder"])
def test_damage_is_named_and_the_run_is_made_again(tmp_path: Path, result: RunResult, harm: str) -> None:
    with Store(tmp_path) as store:
        run = store.put(result, labels={"a": 1})
        other = store.put(elephan.run(SHORT, seed=9))
        expected = store.export()
        file = run.folder / ("run.json" if harm == "document" else "flows.parquet")
        content = file.read_bytes()
        if harm == "truncated":
            file.write_bytes(content[:-7])
        elif harm == "altered":
            file.write_bytes(content[:99] + bytes([content[99] ^ 1]) + content[100:])
        elif harm == "missing":
            file.unlink()
        elif harm == "document":
            file.write_bytes(content[:100])
        else:
            shutil.rmtree(run.folder)
        problems = store.verify()
        assert {problem.run for problem in problems} == {run.id}
        assert problems[0].file == ("run.json" if harm == "folder" else file.name)
        # Damage that shows in the sizes is found without a request.
        assert (store.find(run.id) is None) == (harm != "altered")
        if harm in ("truncated", "missing"):
            with pytest.raises(InputError, match="verify --repair"):
                run.flows()
        assert store.verify(repair=True) == problems
        assert store.verify() == []
        assert [each.id for each in store.runs()] == [other.id]
        store.run(SHORT, labels={"a": 1})
        assert store.export() == expected


def test_a_truncated_file_is_mended_by_running_again(tmp_path: Path, result: RunResult) -> None:
    with Store(tmp_path) as store:
        run = store.put(result, labels={"a": 1})
        expected = store.export()
        (run.folder / "links.parquet").write_bytes(b"PAR1")
        again = store.run(SHORT)
        assert again.labels == [{"a": 1}]
        assert store.verify() == []
        assert store.export() == expected


@pytest.mark.parametrize("harm", ["missing", "no database", "malformed"])
def test_an_index_that_is_lost_is_made_again(tmp_path: Path, result: RunResult, harm: str) -> None:
    with Store(tmp_path) as store:
        store.put(result, labels={"a": 1})
        store.fail("k", "text", {"a": 2}, "went wrong")
        expected = store.export()
    index = tmp_path / FILE
    if harm == "missing":
        index.unlink()
    elif harm == "no database":
        index.write_bytes(b"this is no database" * 1000)
    else:
        content = bytearray(index.read_bytes())
        content[8192:] = b"\xff" * (len(content) - 8192)
        index.write_bytes(content)
    with Store(tmp_path, readonly=True) as store:
        assert store.export() == expected
        assert [problem.file for problem in store.verify()] == ([] if harm == "missing" else [FILE])
    with Store(tmp_path) as store:
        assert store.export() == expected
        assert len(store.failures()) == 1
        assert store.verify() == []


def test_a_full_disk_says_so_and_leaves_nothing_half_written(tmp_path: Path, result: RunResult) -> None:
    disk = tmp_path / "disk"
    with mounted(disk, "-t", "tmpfs", "-o", "size=600k", "tmpfs"):
        packed = folders.pack(result)

        def fill() -> None:
            with Store(disk) as store:
                for i in range(200):
                    store.put(packed, key=f"{i:064x}", labels={"i": i})

        with pytest.raises(InputError, match="the disk is full; make room") as raised:
            fill()
        assert "\n" not in str(raised.value)
        with Store(disk, readonly=True) as store:
            assert store.verify() == []
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        with Store(disk) as store:
            # Rows for which the index had no room are there, too.
            there = len(list(folders.all_ids(disk)))
            assert len(store.runs()) == there > 0
        fill()
        with Store(disk) as store:
            assert store.verify() == []
            assert store.table(columns=["i"]).arrow["i"].to_pylist() == list(range(200))


def test_a_disk_that_fills_while_a_file_is_written_leaves_no_run(
    tmp_path: Path, result: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Store(tmp_path) as store:
        with monkeypatch.context() as patched:
            patched.setattr(_native, "write_folder", full)
            with pytest.raises(InputError, match="the disk is full"):
                store.put(result, labels={"a": 1})
        assert list(folders.all_ids(tmp_path)) == []
        assert list(store.writing().folder.iterdir()) == []
        store.put(result, labels={"a": 1})
        assert store.verify() == []


@pytest.mark.parametrize("left", [False, True])
def test_a_folder_that_cannot_be_written_can_be_read(tmp_path: Path, result: RunResult, left: bool) -> None:
    there, shown = tmp_path / "there", tmp_path / "shown"
    with Store(there) as store:
        store.put(result, labels={"a": 1})
        expected = store.export()
        if left:
            # As a killed process leaves it: the rows are beside the index, not in it.
            shutil.copytree(there, tmp_path / "copy")
    if left:
        there = tmp_path / "copy"
        (there / f"{FILE}-shm").unlink()
        assert (there / f"{FILE}-wal").stat().st_size > 0
    with mounted(shown, "--bind", str(there)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(shown)], check=True)
        with pytest.raises(InputError, match="cannot be written") as raised:
            Store(shown)
        assert "\n" not in str(raised.value)
        with Store(shown, readonly=True) as store:
            assert store.export() == expected
            assert store.verify() == []
            assert len(store.query("SELECT id FROM runs")) == 1
            assert store.find(store.key(SHORT)) is not None
            with pytest.raises(InputError, match="read only"):
                store.put(result)


def test_a_store_that_was_opened_to_be_read_is_not_written(tmp_path: Path, result: RunResult) -> None:
    with pytest.raises(InputError, match="there is none"):
        Store(tmp_path / "none", readonly=True)
    with Store(tmp_path / "a") as store:
        store.put(result)
    before = sorted(
        (path, path.stat().st_mtime_ns) for path in (tmp_path / "a").rglob("*") if path.name[:5] != FILE[:5]
    )
    with Store(tmp_path / "a", readonly=True) as store:
        for change in (
            lambda: store.put(result),
            lambda: store.label(result.scenario.id, {"a": 1}),
            lambda: store.fail("k", "", {}, ""),
            lambda: store.gc(),
            lambda: store.merge(tmp_path / "a"),
            lambda: store.verify(repair=True),
        ):
            with pytest.raises(InputError, match="read only"):
                change()
        assert len(store.query("SELECT * FROM results")) == 1
    assert before == sorted(
        (path, path.stat().st_mtime_ns) for path in (tmp_path / "a").rglob("*") if path.name[:5] != FILE[:5]
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_index_agrees_with_the_folder_when_two_processes_write_the_same_run(
    tmp_path: Path, result: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first row goes into the index at once; the next one waits, as under load.
    monkeypatch.setattr("elephan.store.store.LONGEST_S", 1e9)
    write = folders.write
    with Store(tmp_path) as quicker, Store(tmp_path) as slower:
        first = quicker.put(result, key=f"{0:064x}")

        def overtaken(*given: Any) -> folders.RunFolder:
            monkeypatch.setattr(folders, "write", write)
            quicker.put(result, labels={"by": "the quicker"})
            return write(*given)

        monkeypatch.setattr(folders, "write", overtaken)
        slower.put(result, labels={"by": "the slower"})
        slower.flush()
        quicker.flush()
    with Store(tmp_path) as store:
        assert store.verify() == []
        runs = [run for run in store.runs() if run.id != first.id]
        assert [run.labels for run in runs] == [[{"by": "the quicker"}, {"by": "the slower"}]]


def test_a_run_that_is_looked_for_while_it_is_removed_leaves_no_row(
    tmp_path: Path, result: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    size_of = upkeep.size_of
    with Store(tmp_path) as store, Store(tmp_path) as other:
        run = store.put(result)

        def looked_for(path: Path) -> int:
            assert other.find(run.id) is not None
            monkeypatch.setattr(upkeep, "size_of", size_of)
            return size_of(path)

        monkeypatch.setattr(upkeep, "size_of", looked_for)
        assert store.gc(unlabelled=True).runs == 1
        assert store.runs() == other.runs() == []
        assert store.verify() == []


def test_a_document_that_lacks_something_is_named_and_keeps_nobody_out(tmp_path: Path, result: RunResult) -> None:
    with Store(tmp_path) as store:
        run = store.put(result)
    document = json.loads((run.folder / "run.json").read_text())
    del document["provenance"]["wall_s"]
    (run.folder / "run.json").write_text(json.dumps(document))
    (tmp_path / FILE).unlink()
    with Store(tmp_path) as store:
        assert [str(problem) for problem in store.verify()] == [f"run {run.id}: run.json: is not the document of a run"]
        store.verify(repair=True)
        assert store.verify() == []
        assert store.put(result).id == run.id


LOST = {
    "version": ("PRAGMA user_version = 0", "its version (user_version is 0)"),
    "points": ("DROP VIEW IF EXISTS results; DROP TABLE points", "its table points"),
    "two": ("DROP TABLE names; DROP TABLE failures", "its tables failures, names"),
}
"""Damage to an index by a faulty script, and the resulting message."""


@pytest.mark.parametrize("lost", LOST)
def test_an_index_that_lost_a_part_says_so_and_how_to_repair_it(
    elephan: Command, tmp_path: Path, result: RunResult, lost: str
) -> None:
    with Store(tmp_path) as store:
        store.put(result, labels={"a": 1})
        expected = store.export()
    harm, said = LOST[lost]
    connection = sqlite3.connect(tmp_path / FILE)
    connection.executescript(harm)
    connection.close()
    line = f"store {tmp_path}: index.sqlite has lost {said}; elephan store verify --repair makes it again from the runs"
    with pytest.raises(InputError) as refused:
        Store(tmp_path)
    assert str(refused.value) == line
    # A reader gets the data of the runs.
    for words in (("ls",), ("export",), ("query", "SELECT * FROM results"), ("show", SHORT.id[:12])):
        done = elephan("store", *words, "--store", tmp_path)
        assert (done.code, done.err.splitlines()[0]) == (0, f"{line}; answered from the runs themselves")
    assert elephan("store", "verify", "--store", tmp_path).code == 1
    repaired = elephan("store", "verify", "--repair", "--store", tmp_path)
    assert (repaired.code, repaired.err) == (0, "")
    assert repaired.out.endswith("1 run whole, 0 damaged\n")
    with Store(tmp_path) as store:
        assert store.export() == expected
        assert store.verify() == []


@pytest.mark.parametrize(
    ("place", "value"),
    [(("run", "seed"), 2**63), (("run", "seed"), [1]), (("groups", 0, "flows"), 2**64), (("links",), 7)],
)
def test_a_run_that_the_index_cannot_hold_hides_no_other(
    elephan: Command, tmp_path: Path, result: RunResult, place: tuple[Any, ...], value: object
) -> None:
    # Such as seeds from 2^63 on, which were accepted once: the folder was written, and its row was not.
    with Store(tmp_path) as store:
        expected = store.put(result, labels={"a": 1}).id
        odd = store.put(result, key="f" * 64, labels={"b": 2})
        whole = store.export()
    path = odd.folder / folders.DOCUMENT
    document = json.loads(path.read_text())
    part = document
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    path.write_text(json.dumps(document))
    (tmp_path / FILE).unlink()
    for words in (("ls",), ("export",), ("query", "SELECT run FROM runs")):
        done = elephan("store", *words, "--store", tmp_path)
        assert (done.code, "internal" in done.err) == (0, False), done.err
    with Store(tmp_path) as store:
        assert store.table(columns=["run"]).arrow["run"].to_pylist() == [expected]
        # Neither a row nor a name of it is left.
        assert set(store.index.names("labels")) == {"a"}
    found = elephan("store", "verify", "--store", tmp_path)
    assert found.code == 1
    assert f"run {'f' * 64}: run.json: " in found.out
    assert found.out.endswith("1 run whole, 1 damaged\n")
    assert elephan("store", "verify", "--repair", "--store", tmp_path).out.endswith("1 run whole, 0 damaged\n")
    with Store(tmp_path) as store:
        store.put(result, key="f" * 64, labels={"b": 2})
        assert store.export() == whole
