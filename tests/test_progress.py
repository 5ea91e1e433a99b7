"""How far one long replication is, while it runs."""

import re
import time
from pathlib import Path

import pytest

from conftest import Command
from elephan import Scenario
from elephan.cli import estimate, progress
from elephan.run.outcome import simulate
from elephan.run.threads import SimulationThreads, running_shares

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


def test_shares_rise_with_simulated_time_and_end_with_the_run() -> None:
    scenario, seen = Scenario.from_text(LONG), []
    with SimulationThreads(1) as threads:
        done = threads.submit(simulate, scenario, 0)
        while not done.done():
            seen += running_shares()
            time.sleep(0.002)
    assert seen == sorted(seen)
    # A step is two milliseconds of some tens at the least, and a busy machine may skip most.
    assert seen[-1] - seen[0] > 0.2
    assert running_shares() == []


def test_a_thread_begins_each_run_at_nothing() -> None:
    scenario = Scenario.from_text(LONG.replace("60 s", "5 s"))
    with SimulationThreads(1) as threads:
        threads.submit(simulate, scenario, 0).result()
        assert threads.submit(running_shares).result() == [0.0]


@pytest.mark.parametrize("words", [["run", "{file}", "--workers", "1"], ["sweep", "{file}", "--over", "seed=1,2"]])
def test_a_log_says_how_far_a_replication_is_and_what_is_left(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(progress, "FIRST_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.02)
    monkeypatch.setattr(progress, "LOOK_S", 0.01)
    # Whatever the speed of this machine, the run counts as long.
    monkeypatch.setattr(estimate, "LONG_S", 1e-6)
    monkeypatch.setenv("ELEPHAN_STORE", str(tmp_path / "store"))
    file = tmp_path / "long.toml"
    file.write_text(LONG, encoding="utf-8")
    done = elephan(*[word.format(file=file) for word in words])
    assert done.code == 0
    shares = [int(share) for share in re.findall(r": 0 of \d \w+, (\d+)%.* of the next, about \d+ s left", done.err)]
    assert len(set(shares)) > 1
    assert shares[-1] > shares[0]
    assert "million packets" in done.err or words[0] == "sweep"
    quiet = elephan(*[word.format(file=file) for word in words], "--quiet")
    assert "of the next" not in quiet.err
