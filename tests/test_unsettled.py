"""The rule `unsettled`: halves of the measured time that differ; and rules about runs that are too short, with -q."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import elephan as package
from conftest import SCENARIOS, Command
from elephan.lint import RULES, lint
from elephan.lint.rule import GRAVE
from elephan.runs.halves import changes, is_cheap
from elephan.scenario import EXAMPLE, Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

POLICER = Scenario.from_file(SCENARIOS / "operators" / "policer.toml")
SMALL = Scenario.from_text(EXAMPLE).replace({"duration": "60 s", "warmup": "20 s", "replications": 3})


def fires(scenario: Scenario, measured: Mapping[int, tuple[float, float | None]]) -> bool:
    return "unsettled" in [warned.rule for warned in lint(scenario, None, measured)]


@pytest.mark.parametrize(
    ("change", "half", "warns"),
    [
        (0.20, 0.05, True),
        (-0.20, 0.05, True),
        # Within twice its interval: chance.
        (0.20, 0.11, False),
        # Certain, but too small to matter.
        (0.04, 0.001, False),
        # One replication has no interval.
        (0.50, None, False),
    ],
)
def test_a_change_is_seen_if_it_is_certain_and_large(change: float, half: float | None, *, warns: bool) -> None:
    assert fires(SMALL, {0: (change, half)}) == warns


@pytest.mark.parametrize(
    "place",
    [
        {"flows[0].start": "25 s"},
        {"flows[0].stop": "50 s"},
        {"links[0].rate": {"sine": {"mean": "10 Mbit/s", "amplitude": "2 Mbit/s", "period": "90 s"}}},
    ],
)
def test_flows_that_come_and_go_and_links_that_change_have_no_steady_state(place: dict[str, Any]) -> None:
    assert not fires(SMALL.replace(place), {0: (0.5, 0.01)})


class Samples:
    """Samples of a group of two flows, with a rate in each half of the measured time [segments/s]."""

    has_series = True

    def __init__(self, scenario: Scenario, first: float, second: float) -> None:
        times = np.arange(0.0, scenario.network.duration_s + 1e-9, 0.1)
        middle = (scenario.network.warmup_s + scenario.network.duration_s) / 2
        # Whatever happens in the warm-up does not count.
        counts = np.where(times < middle, first * times, first * middle + second * (times - middle))
        self.flows = {"group": np.zeros(2, dtype=int)}
        self.samples = {"time_s": times, "delivered_segments": np.array([counts, counts])}


def of(rates: Sequence[tuple[float, float]]) -> tuple[float, float | None]:
    return changes(SMALL, [Samples(SMALL, *each) for each in rates])[0]  # type: ignore[misc]


def test_the_change_is_the_difference_of_the_halves_over_their_mean() -> None:
    change, half = of([(100.0, 120.0)] * 3)
    assert change == pytest.approx(20 / 110)
    assert half == pytest.approx(0.0, abs=1e-12)
    change, half = of([(100.0, 100.0), (90.0, 110.0), (110.0, 90.0)])
    assert change == pytest.approx(0.0, abs=1e-12)
    # Student's t with two degrees of freedom, of -0.2, 0 and 0.2.
    assert half == pytest.approx(4.302653 * 0.2 / math.sqrt(3), rel=1e-6)
    assert of([(100.0, 120.0)])[1] is None


def test_a_warm_up_that_is_too_short_for_a_policer_is_seen_in_the_results(elephan: Command) -> None:
    path = SCENARIOS / "operators" / "policer.toml"
    short = elephan("run", path, "--set", "warmup=20 s", "--set", "duration=100 s", "--json")
    found = [warned for warned in json.loads(short.out)["warnings"] if warned["rule"] == "unsettled"]
    assert [warned["where"] for warned in found] == ["warmup"]
    assert "sender gets" in found[0]["message"]
    assert "more in the second half" in found[0]["message"]
    # The published warm-up is long enough.
    stated = elephan("run", path, "--json")
    assert "unsettled" not in [warned["rule"] for warned in json.loads(stated.out)["warnings"]]


def test_a_run_says_the_same_with_and_without_files(elephan: Command, tmp_path: Path) -> None:
    words = ("run", SCENARIOS / "operators" / "policer.toml", "--set", "warmup=20 s", "--set", "duration=60 s", "-q")
    printed = json.loads(elephan(*words, "--json").out)
    elephan(*words, "--out", tmp_path / "run")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["warnings"] == printed["warnings"]


def test_samples_that_are_many_are_not_kept_for_this_alone() -> None:
    assert is_cheap(POLICER)
    assert not is_cheap(POLICER.replace({"flows[0].count": 10_000}))
    assert not is_cheap(POLICER.replace(replications=1))
    # Without samples nothing is said.
    assert "unsettled" not in [warned.rule for warned in package.run(SMALL.replace(duration="30 s")).warnings]


def test_that_a_result_is_not_valid_is_said_with_quiet_too(elephan: Command, small: Path, tmp_path: Path) -> None:
    def rules(*words: object) -> list[str]:
        said = " ".join(elephan(*words).err.split())
        return re.findall(r"\(([a-z]+-[a-z-]+)(?:, \d of \d points)?\)", said)

    assert rules("run", small) == ["short-warmup", "short-run", "phase-locked"]
    assert rules("run", small, "-q") == ["short-warmup", "short-run"]
    for verb in ("run", "sweep", "size", "store show"):
        assert "warnings only about too short runs." in " ".join(elephan(*verb.split(), "--help").out.split())
    # Documents have all of them.
    assert rules("run", small, "-q", "--json") == []
    swept = ("sweep", small, "--over", "links[0].buffer=40 packets,50 packets", "--store", tmp_path, "-q")
    assert {*rules(*swept)} == {"short-warmup", "short-run"}
    assert rules(*swept, "--json") == []
    grave = {warned.rule for warned in lint(Scenario.from_file(small)) if warned.is_grave}
    assert grave == {"short-warmup", "short-run"}
    assert {rule.name for rule in RULES} >= GRAVE
