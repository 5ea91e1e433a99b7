"""Fuzzing: earlier failures stay fixed, new inputs of every kind are tried briefly, and a planted fault is found."""

import multiprocessing
import os
import signal
import time
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from elephan import flow_files
from elephan.lint import lint
from fuzz import campaign, kinds
from fuzz.campaign import KINDS
from fuzz.kinds import CORPUS

SOME = {"scenario": 150, "sweep": 60, "flows": 200, "measured": 100, "command": 20, "store": 2, "web": 2000, "worst": 1}
"""Inputs of each kind; they differ from day to day, as the day is their seed."""

FOUND = sorted(CORPUS.glob("*/*"))


@pytest.fixture(autouse=True)
def _exits_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr("elephan.cli.leave", leave)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_was_found_stays_mended(path: Path) -> None:
    assert campaign.attempt(KINDS[path.parent.name], path.read_bytes()) is None


@pytest.mark.parametrize("name", KINDS)
def test_new_inputs_are_refused_or_taken(name: str) -> None:
    if name == "web":
        pytest.importorskip("starlette", reason="starlette is not installed: the extra web")
    if name == "measured":
        pytest.importorskip("dpkt", reason="dpkt is not installed: the extra captures")
    day = int(os.environ.get("ELEPHAN_FUZZ_SEED", time.time() // 86400))
    kind = KINDS[name]
    for number in range(SOME[name]):
        wrong = campaign.attempt(kind, kind.of(day, number))
        assert wrong is None, f"{name}, ELEPHAN_FUZZ_SEED={day}, input {number}: {wrong}"


def test_the_same_number_gives_the_same_input() -> None:
    for kind in kinds.KINDS.values():
        assert kind.of(7, 3) == kind.of(7, 3) != kind.of(7, 4)


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*given: object) -> object:
        if "bdp" in str(given[0].text):  # type: ignore[attr-defined]
            raise KeyError("bdp")
        return lint(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(kinds, "lint", faulty)
    kind = KINDS["scenario"]
    wrong = [campaign.attempt(kind, kind.of(1, number)) for number in range(100)]
    assert any(line and line.startswith("KeyError") for line in wrong)


def test_a_planted_fault_of_the_page_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("starlette", reason="starlette is not installed: the extra web")
    monkeypatch.setattr("elephan.web.app.lint", lambda _: [][0])
    wrong = [campaign.attempt(KINDS["web"], KINDS["web"].of(1, number)) for number in range(60)]
    assert any(line and "IndexError" in line for line in wrong)


def test_an_input_that_takes_too_long_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "LONGEST_S", 0.2)
    monkeypatch.setattr(flow_files, "read", lambda _: time.sleep(20))
    assert "takes more than 0.2 s" in str(campaign.attempt(KINDS["flows"], b"c"))


class StoppedProcess(SpawnProcess):
    """A process that stops, on machines of any speed."""

    def start(self) -> None:
        super().start()
        assert self.pid is not None
        os.kill(self.pid, signal.SIGSTOP)


def test_a_process_that_hears_no_signal_is_ended_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "STATE", tmp_path)
    monkeypatch.setattr(campaign, "LONGEST_S", 0.01)
    monkeypatch.setattr(multiprocessing.get_context("spawn"), "Process", StoppedProcess)
    assert campaign.run("flows", 1, 0, 2) == (2, [(n, "its process ended with -9") for n in range(2)])
