"""Several processes sweep into one store: each point is run by one of them, and all end with all points."""

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import PATIENCE_S
from elephan.scenario import EXAMPLE, Scenario
from elephan.store import Store
from elephan.sweeps import sweep
from elephan.sweeps.claims import PointClaims
from stored_bytes import table

BASE = Scenario.from_text(EXAMPLE, "base.toml").replace({"duration": "20 s", "warmup": "1 s", "replications": 1})
OVER: dict[str, Any] = {"seed": list(range(1, 25))}
KEY = "ab" * 32


def _sweep(folder: Path, out: Any) -> None:
    done = sweep(BASE, over=OVER, store=folder, workers=1)
    out.put((len(done.points), done.reused))


def _claim(folder: Path, out: Any, until_s: float) -> None:
    claims = PointClaims(folder)
    out.put(claims.claim(KEY))
    time.sleep(until_s)


@pytest.mark.slow
def test_two_processes_share_the_points_of_a_sweep(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    out = spawn.Queue()
    Store(tmp_path / "shared").close()
    both = [spawn.Process(target=_sweep, args=(tmp_path / "shared", out)) for _ in range(2)]
    for process in both:
        process.start()
    replies = [out.get(timeout=PATIENCE_S) for _ in both]
    for process in both:
        process.join()
    # Each has every point; what one ran the other found. Without claims both would run all of them.
    assert [points for points, _ in replies] == [24, 24]
    assert sum(reused for _, reused in replies) == 24
    sweep(BASE, over=OVER, store=tmp_path / "alone", workers=1)
    assert table(tmp_path / "shared") == table(tmp_path / "alone")


def test_a_claim_ends_with_its_process_however_it_ends(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    out = spawn.Queue()
    other = spawn.Process(target=_claim, args=(tmp_path, out, 60.0))
    other.start()
    assert out.get(timeout=PATIENCE_S)
    mine = PointClaims(tmp_path)
    assert not mine.claim(KEY)
    assert mine.claim("cd" * 32)
    assert other.pid is not None
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    assert mine.claim(KEY)
    assert mine.claim(KEY)
    mine.close()


def test_what_is_given_back_others_may_claim(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    out = spawn.Queue()
    mine = PointClaims(tmp_path)
    assert mine.claim(KEY)
    for expected in (False, True):
        other = spawn.Process(target=_claim, args=(tmp_path, out, 0.0))
        other.start()
        assert out.get(timeout=PATIENCE_S) is expected
        other.join()
        mine.release(KEY)
    mine.close()
