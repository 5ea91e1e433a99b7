"""Ctrl-C and SIGTERM: every verb that can take long ends at once, with the shell's code, without partial files."""

import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

import elephan
from conftest import PATIENCE_S
from elephan import _native
from elephan.lint import sawtooth
from elephan.runs.threads import SimulationThreads
from elephan.scenario import Scenario

# A replication takes minutes of processor time, so that what waits for its end is far beyond the bound on any machine.
LONG = """
duration = "100000 s"
warmup = "5 s"
replications = 4
[[links]]
name = "core"
rate = "10 Gbit/s"
delay = "20 ms"
buffer = "1000 packets"
[[flows]]
path = ["core"]
rtt = { from = "90 ms", to = "110 ms" }
count = 20
control = { law = "cubic" }
"""
SWEEP = 'base = "long.toml"\n[over]\n"links[0].buffer" = ["100 packets", "200 packets"]\n'
PYTHON = "import elephan; print('ready', flush=True); elephan.run('long.toml', workers={workers})"

READY = """
from elephan.cli import main, signals
signals.heed_signals()
print("ready", flush=True)
main()
"""
"""The command line, which prints a word once it handles signals, as Python's start may take any time."""

BOUND_S = 3.0
"""Limit of CPU time from the signal to the end, independent of other load: 0.01 to 0.06 s were measured, and a machine
may be fifty times as slow."""

FINITE = ("conform",)
"""Verbs that a fast machine may have ended before the signal."""

VERBS = {
    "run": "run long.toml -q",
    "run one worker": "run long.toml -q --workers 1",
    "run reference": "run long.toml -q --engine reference",
    "run into a folder": "run long.toml -q --out out",
    "sweep": "sweep sweep.toml -q --store store",
    "size": "size long.toml -q --target utilization=0.9",
    "bench": "bench -q",
    "reproduce": "reproduce --store store",
    "conform": "conform bbr",
    "compare": "compare long.toml --no-testbed",
    "web": "web --no-browser --store store",
}


def started(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    (folder / "long.toml").write_text(LONG, encoding="utf-8")
    (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )


def ended(process: subprocess.Popen[bytes], number: signal.Signals) -> tuple[int, str]:
    # Before the signal, the time of the process itself; at its end, that of all ended processes.
    is_running = process.poll() is None
    before = _of_children()
    if is_running:
        before += sum(psutil.Process(process.pid).cpu_times()[:4])
        process.send_signal(number)
    try:
        _, said = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    took = _of_children() - before
    assert took < BOUND_S, f"{took:.1f} s"
    return process.returncode, said.decode()


def _of_children() -> float:
    """Return the CPU time of all ended child processes [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "after_s"), [*((verb, 0.5) for verb in VERBS), *((verb, 2.0) for verb in ("run", "sweep", "size"))]
)
def test_every_verb_ends_at_once(tmp_path: Path, verb: str, after_s: float) -> None:
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = started(tmp_path, "-c", READY, *VERBS[verb].split())
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(after_s)
        is_over = (0,) if verb in FINITE else ()
        assert process.poll() in (None, *is_over), process.stderr and process.stderr.read()
        returned, said = ended(process, number)
        assert returned in (code, *is_over), said
        assert "Traceback" not in said
        assert not list(tmp_path.rglob("*.tmp*"))
        assert not (tmp_path / "out").exists()


SIGNAL_WHILE_VERBS_LOAD = """
import os, signal, sys
from elephan.__main__ import main

class Finder:
    def find_spec(self, name, *_):
        if name == "elephan.cli":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
main()
"""


def test_a_signal_while_the_command_line_is_loaded_ends_it_at_once(tmp_path: Path) -> None:
    process = started(tmp_path, "-c", SIGNAL_WHILE_VERBS_LOAD, "run", "long.toml")
    _, said = process.communicate(timeout=PATIENCE_S)
    # The shell reports it as any other interrupt.
    assert (process.returncode, said) == (-signal.SIGINT, b"")


SIGNAL_WHILE_ARRAYS_LOAD = """
import os, signal
import numpy.lib
import elephan

begin = numpy.lib.NumpyVersion.__init__

def interrupted(self, text):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        begin(self, text)

numpy.lib.NumpyVersion.__init__ = interrupted
elephan.run('long.toml', replications=1, workers=1)
"""


def test_a_signal_may_come_while_numpy_s_functions_are_loaded(tmp_path: Path) -> None:
    """The binding loads NumPy's functions with the first array, and takes an exception from a handler for a broken
    NumPy."""
    process = started(tmp_path, "-c", SIGNAL_WHILE_ARRAYS_LOAD)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGINT, said
    assert b"panicked" not in said
    assert b"KeyboardInterrupt" in said


@pytest.mark.parametrize("workers", [1, 2])
def test_a_script_ends_at_once(tmp_path: Path, workers: int) -> None:
    process = started(tmp_path, "-c", PYTHON.format(workers=workers))
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    returned, said = ended(process, signal.SIGINT)
    assert returned == -signal.SIGINT, said
    assert "KeyboardInterrupt" in said


def test_who_stops_waiting_for_threads_ends_what_they_run() -> None:
    scenario = Scenario.from_text(LONG)
    threads = SimulationThreads(1)
    running = threads.submit(lambda: elephan_run(scenario))
    while not any(threads.shares):
        time.sleep(0.01)
    threads.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(KeyboardInterrupt):
        running.result(timeout=PATIENCE_S)


def elephan_run(scenario: Scenario) -> object:
    return elephan.run(scenario, replications=1)


def test_a_monitor_ends_only_its_own_run() -> None:
    short = Scenario.from_text(LONG).replace(duration="6 s", replications=1)
    stopped = _native.RunMonitor()
    stopped.stop()
    with pytest.raises(KeyboardInterrupt, match="stopped"):
        _native.simulate(short.canonical, 0, monitor=stopped)
    other = _native.RunMonitor()
    thread = threading.Thread(target=_native.simulate, args=(short.canonical, 0), kwargs={"monitor": other})
    thread.start()
    thread.join()
    assert other.share > 0.95


@pytest.mark.parametrize("law", ["cubic", "highspeed", "illinois", "htcp", "scalable"])
@pytest.mark.parametrize("window", [1e4, 3e5, 3e7, 4e9])
def test_a_law_is_asked_for_no_more_acks_than_were_agreed(
    monkeypatch: pytest.MonkeyPatch, law: str, window: float
) -> None:
    """The buffer of a file sets the window, and with it the work before any run."""
    rounds, asked = _native.law_rounds, []

    def counted(control: str, *, count: int, **given: object) -> object:
        asked.append(count * window)
        return rounds(control, count=count, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(_native, "law_rounds", counted)
    period = sawtooth.recovery_s.__wrapped__(f'{{ law = "{law}" }}', window, 0.1, 1e5)
    # Each time twice as many rounds as before, the last time from below the limit.
    assert sum(asked) <= 4 * sawtooth.MOST_ACKS
    assert period >= 0.1 * max(1.0, window / 1e5)


LOSES = """
import sys, time
from elephan.cli import signals
signals.heed_signals()
class Dropped:
    def __del__(self):
        print("ready", flush=True)
        time.sleep(30)
def clear_up():
    try:
        if {says}:
            print("ready", flush=True)
        time.sleep(30)
    finally:
        for _ in range(5):
            time.sleep(0.1)
        print("cleared", flush=True)
{do}
try:
    clear_up()
except KeyboardInterrupt:
    sys.exit(signals.exit_code())
"""


@pytest.mark.parametrize("do", ["Dropped()", ""], ids=["dropped", "heard"])
def test_a_signal_that_python_drops_comes_again_and_none_disturbs_the_clearing_up(do: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LOSES.format(do=do, says=not do)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=PATIENCE_S)[0] == "cleared\n"
    assert process.returncode == 130


WRITING = """
import sys, time
from pathlib import Path
from elephan.runs.files import atomic, whole_folder
with whole_folder(Path(sys.argv[1]) / "new") as folder:
    (folder / "half").write_text("half")
    with atomic(Path(sys.argv[1]) / "a.txt") as temporary:
        temporary.write_text("half")
        print("writing", flush=True)
        time.sleep(600)
"""


def test_what_a_killed_process_leaves_half_written_the_next_run_removes(tmp_path: Path) -> None:
    (tmp_path / ".mine-0123").write_text("no name that elephan gives")
    command = [sys.executable, "-c", WRITING, str(tmp_path)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"writing\n"
        writers[0].kill()
        writers[0].wait()
        left = {path.name for path in tmp_path.iterdir()}
        assert len(left) == 5
        done = subprocess.run(
            [sys.executable, "-c", WRITING.replace("time.sleep(600)", ""), str(tmp_path)],
            capture_output=True,
            check=True,
        )
        assert done.stdout == b"writing\n"
        names = {path.name for path in tmp_path.iterdir()}
        # Files of a living process are still there, and so are files with other names.
        assert names >= {"a.txt", "new", ".mine-0123"}
        kept = names - {"a.txt", "new", ".mine-0123"}
        assert len(kept) == 2
        assert kept < left
        assert all(f"{writers[1].pid:08x}" in name for name in kept)
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
