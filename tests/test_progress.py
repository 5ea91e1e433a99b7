"""Progress within one long replication, while it runs."""

import re
import sys
import threading
from pathlib import Path

import pytest

from conftest import PATIENCE_S, Command
from elephan import Scenario, own_laws
from elephan.cli import common, estimate, progress
from elephan.runs.outcome import simulate
from elephan.runs.threads import SimulationThreads, running_shares

LONG = """
duration = "60 s"

[[links]]
name   = "core"
rate   = "1 Gbit/s"
buffer = "1000 packets"

[[flows]]
count  = 10
path   = ["core"]
rtt    = "50 ms"
packet = "1000 B"
"""
"""Some seven million packets."""

ONE = LONG.replace("count  = 10", 'count  = 1\ncontrol = "reno"')


class Gate:
    """A place where a law in Python waits until the test has looked, so that the speed of the machine does not
    matter."""

    def __init__(self) -> None:
        self.reached, self.passed = threading.Event(), threading.Event()

    def wait(self) -> None:
        """Wait until the test has looked."""
        self.reached.set()
        assert self.passed.wait(PATIENCE_S)
        self.passed.clear()

    def go_on(self) -> None:
        """Let the law continue."""
        self.reached.clear()
        self.passed.set()


GATE = Gate()


class Waits:
    """A law that waits at the gate after every given number of round trips."""

    version = "1"
    rounds = 0

    def __init__(self) -> None:
        self.cwnd = 10.0

    def on_rtt_round(self, _round: object) -> None:
        self.rounds += 1
        if self.rounds % 300 == 0:
            sys.modules["test_progress"].GATE.wait()


def test_shares_rise_with_simulated_time_and_end_with_the_run() -> None:
    with own_laws.declared({"waits": Waits}):
        scenario = Scenario.from_text(ONE.replace("reno", "waits"))
    seen = running_shares()
    with SimulationThreads(1) as threads:
        done = threads.submit(simulate, scenario, 0)
        # 60 s are 1200 round trips of 50 ms.
        for _ in range(3):
            assert GATE.reached.wait(PATIENCE_S)
            seen += running_shares()
            GATE.go_on()
        done.add_done_callback(lambda _: GATE.reached.set())
        while not done.done():
            assert GATE.reached.wait(PATIENCE_S)
            GATE.go_on()
    GATE.passed.clear()
    # Windows of the engine are a round trip and shorter, and the first round trips are counted as they end.
    assert seen == pytest.approx([0.25, 0.5, 0.75], abs=0.02)
    assert running_shares() == []


def test_a_thread_begins_each_run_at_nothing() -> None:
    scenario = Scenario.from_text(LONG.replace("60 s", "5 s"))
    with SimulationThreads(1) as threads:
        threads.submit(simulate, scenario, 0).result()
        assert threads.submit(running_shares).result() == [0.0]


@pytest.mark.parametrize("words", [["run", "{file}"], ["sweep", "{file}", "--over", "seed=1,2"]], ids=["run", "sweep"])
def test_a_log_says_how_far_a_replication_is_and_what_is_left(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(progress, "FIRST_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    monkeypatch.setattr(progress, "LOOK_S", 0.01)
    # Whatever the speed of this machine, the run counts as long, and waits until a line has been said of it.
    monkeypatch.setattr(estimate, "LONG_S", 1e-9)

    def say(line: str) -> None:
        common.say(line)
        if " running (" in line and GATE.reached.is_set():
            GATE.go_on()

    monkeypatch.setattr(progress, "say", say)
    monkeypatch.setenv("ELEPHAN_STORE", str(tmp_path / "store"))
    file = tmp_path / "long.toml"
    file.write_text(ONE, encoding="utf-8")
    words = [*(word.format(file=file) for word in words), "--workers", "1"]
    own = ["--law", f"waits={__file__}:Waits", "--set", "flows.0.control=waits"]
    done = elephan(*words, *own)
    GATE.passed.clear()
    assert done.code == 0
    shares = [
        int(share) for share in re.findall(r": 0 of \d \w+, \d running \((\d+)%.* done\), about \d+ s left", done.err)
    ]
    # A line each at a quarter, a half and three quarters of the run.
    assert len(set(shares)) > 2
    assert max(shares) >= 74
    assert "million packets" in done.err or words[0] == "sweep"
    quiet = elephan(*words, "--quiet")
    assert " running (" not in quiet.err
