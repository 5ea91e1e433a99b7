"""Order of packets: RFC 4737's arithmetic, the simulator against netem's algorithm, and both against a recorded kernel.

`tests/data/netem_order.json` is of `evidence/netem_record.py` inside a virtual machine; its `about` says which kernel.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from conftest import load_file
from elephan.traffic_control.distributions import QUANTILES

ROOT = Path(__file__).resolve().parent.parent
GAP_NS = 975_610
COUNT = 40_000
WITHIN = 20
"""Datagrams that are sent while one has its 20 ms, of 20.5 gaps."""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_file(ROOT / "evidence" / "netem_order.py")


@pytest.mark.parametrize(
    ("arrived", "extents", "rows"),
    [
        # The three examples of RFC 4737: packet 4 late, 5 and 6 late, and 4, 5 and 6, of which only 4 has a row.
        ([1, 2, 3, 5, 6, 7, 8, 4, 9, 10], {4: 4}, {4: 4}),
        ([1, 2, 3, 4, 7, 5, 6, 8, 9, 10], {5: 1, 6: 2}, {5: 1}),
        ([1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11], {4: 4, 5: 5, 6: 6}, {4: 4}),
        # Losses are no reordering, and all in reverse are as much as can be.
        ([1, 2, 4, 7, 8], {}, {}),
        ([5, 4, 3, 2, 1], {4: 1, 3: 2, 2: 3, 1: 4}, {4: 1, 3: 2, 2: 3, 1: 4}),
    ],
)
def test_extents_and_n_reordering_are_those_of_rfc_4737(
    tool: ModuleType, arrived: list[int], extents: dict[int, int], rows: dict[int, int]
) -> None:
    numbers = np.array(arrived)
    for found, wanted in ((tool.extents(numbers), extents), (tool.n_reordering(numbers), rows)):
        assert {number: each for number, each in zip(arrived, found.tolist(), strict=True) if each} == wanted


def test_displacements_are_those_of_rfc_5236_without_the_lost_packets(tool: ModuleType) -> None:
    assert tool.displacements(np.array([1, 2, 3, 5, 6, 7, 8, 4])).tolist() == [0, 0, 0, -1, -1, -1, -1, 4]
    # 3 is lost: those after it move up.
    assert tool.displacements(np.array([1, 2, 5, 4, 6])).tolist() == [0, 0, -1, 1, 0]
    stream = tool.Stream(np.array([0, 2, 1, 3]), np.zeros(4), 4)
    assert stream.density() == {-1: 0.25, 0: 0.5, 1: 0.25}


def test_a_mean_and_its_error_are_those_of_independent_draws(tool: ModuleType) -> None:
    draws = np.random.default_rng(1).random(20_000)
    value, error = tool.mean((draws < 0.3).astype(float), np.ones(draws.size))
    # The error of 40 batches is known to 11 % (one sigma).
    assert error == pytest.approx((0.3 * 0.7 / 20_000) ** 0.5, rel=0.4)
    assert abs(value - 0.3) < 4.5 * error


def test_a_distance_passes_shifts_of_the_slack_and_nothing_else(tool: ModuleType) -> None:
    one, shifted = {400: 50, 0: 50}, {401: 50, 1: 50}
    assert tool.distance(one, shifted, 0) == 0.5
    assert tool.distance(one, shifted, 1) == 0.0
    assert tool.distance(one, {400: 30, 0: 70}, 1) == pytest.approx(0.2)


def renewal(share: float, gap: int) -> tuple[float, float]:
    """Return the share reordered and the mean extent of what netem's algorithm sends: at once from every gap-th on.

    From one that goes at once to the next are X = gap - 1 + Geometric packets. A late packet that was sent a packets
    after one of them, and m before the next, has P(X = a + m)/E(X). The next one overtakes it if m <= 20; after it, but
    before the late packet, arrive what goes at once in 20 - m, and what was sent late in the 20 - m before it.
    """
    longest = 120 + gap
    gone = [0.0] * gap + [share * (1 - share) ** k for k in range(longest)]  # P(X = index).
    at_once = [1.0]  # P(index packets after one that goes at once is another).
    for k in range(1, WITHIN + 1):
        at_once.append(sum(gone[j] * at_once[k - j] for j in range(1, k + 1)))
    among = np.concatenate([[0.0], np.cumsum(at_once[1:])])
    mean, reordered, places = gap - 1 + 1 / share, 0.0, 0.0
    for m in range(1, WITHIN + 1):
        for a in range(1, longest - m):
            probability, left = gone[a + m] / mean, WITHIN - m
            before = 1 + among[left - a] if a <= left else 0.0
            reordered += probability
            places += probability * (1 + among[left] + left - before)
    return reordered, places / reordered


@pytest.mark.parametrize(("share", "gap"), [(25, 1), (25, 5), (25, 2), (75, 1)])
def test_the_simulator_sends_early_what_netems_algorithm_does(tool: ModuleType, share: int, gap: int) -> None:
    found = tool.simulated(f"delay 20ms reorder {share}% gap {gap}", GAP_NS, COUNT)

    def errors(share: float, gap: int) -> list[float]:
        pairs = [found.statistics[name] for name in ("reordered", "extent")]
        return [abs(pair[0] - each) / pair[1] for pair, each in zip(pairs, renewal(share, gap), strict=True)]

    assert max(errors(share / 100, gap)) < tool.CHANCE
    assert max(errors(share / 100, gap + 1)) > tool.CHANCE, "a null passes"
    assert max(errors(1 - share / 100, gap)) > tool.CHANCE, "a null passes"
    assert set(found.bins) == {0, 400}


def overtaken(quantile: Callable[[float], float]) -> float:
    """Return the share reordered by independent delays of 20 ms and 4 ms of jitter: that a later one arrives before."""
    draws = np.sort(4e-3 * np.array([quantile((i + 0.5) / 2000) for i in range(2000)]))
    ahead = [np.searchsorted(draws, draws - k * GAP_NS * 1e-9) / draws.size for k in range(1, 60)]
    return float(1 - np.mean(prod((1 - each for each in ahead), start=np.ones(draws.size))))


@pytest.mark.parametrize("name", ["uniform", *QUANTILES])
def test_the_simulator_reorders_by_jitter_as_independent_delays_do(tool: ModuleType, name: str) -> None:
    laws: dict[str, Callable[[float], float]] = {"uniform": lambda share: 2 * share - 1, **QUANTILES}
    line = "delay 20ms 4ms" + ("" if name == "uniform" else f" distribution {name}")
    value, error = tool.simulated(line, GAP_NS, COUNT).statistics["reordered"]
    # 200 delays in place of a distribution move it by their spacing over the gap, 0.1 %.
    assert abs(value - overtaken(laws[name])) < tool.CHANCE * error + 0.001
    for other in laws.keys() - {name}:
        assert abs(value - overtaken(laws[other])) > tool.CHANCE * error + 0.001, "a null passes"


@pytest.mark.parametrize("name", QUANTILES)
def test_distributions_are_those_of_tc(name: str) -> None:
    file = next((each for each in Path("/usr").glob(f"lib*/**/tc/{name}.dist")), None)
    if file is None:
        pytest.skip("iproute2 is not installed")
    words = " ".join(row for row in file.read_text().splitlines() if not row.startswith("#")).split()
    table = np.sort(np.array(words, dtype=float)) / 8192
    ours = np.array([QUANTILES[name]((i + 0.5) / table.size) for i in range(table.size)])
    # The tables are rounded and end at four of the jitter: ends differ.
    assert np.quantile(np.abs(table - ours), 0.99) < 0.01
    assert abs(table.mean() - ours.mean()) < 0.002


@pytest.fixture(scope="module")
def kept(tool: ModuleType) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(tool.KEPT.read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
def test_netem_of_the_kernel_orders_and_delays_as_the_simulator_and_no_null_does(
    tool: ModuleType, kept: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams, of_tcp = tool.rows(kept), tool.flow_rows(kept)
    assert len(streams) == 11
    for name, row in streams.items():
        assert tool.worst(row.gaps).excess < 1, (name, row.gaps)
        for null, gap in row.nulls.items():
            assert gap.excess > 1, f"{name}: the null {null} passes"
    assert [name for name, row in of_tcp.items() if not row.holds] == []
    again = tmp_path / "page.md"
    again.write_text(tool.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(tool, "PAGE", again)
    page = tool.PAGE.read_text(encoding="utf-8")
    tool.write_page(tool.tables(kept, streams, of_tcp))
    assert again.read_text(encoding="utf-8") == page


@pytest.mark.slow
def test_netem_of_this_kernel_or_one_line_why_not(tool: ModuleType, tmp_path: Path) -> None:
    script = str(ROOT / "evidence" / "netem_record.py")
    words = ["--datagrams", "2000", "--repeat", "0", "--only", "delay", "gap"]
    done = subprocess.run([sys.executable, script, str(tmp_path), *words], capture_output=True, text=True, check=False)
    if done.returncode == 2:
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    control = tool.recorded(tmp_path / "datagrams delay.json", 0.0)
    base_s = float(np.median(control.delays_s)) - 0.02
    slack_s = float(np.subtract(*np.quantile(control.delays_s, [0.999, 0.001])))
    if slack_s > 1e-3:
        pytest.skip(f"the kernel's timers are {1e3 * slack_s:.1f} ms late")
    line = "delay 20ms reorder 25% gap 5"
    theirs = tool.Kept.of(line, tool.recorded(tmp_path / "datagrams gap.json", base_s))
    assert tool.worst(tool.gaps(theirs, tool.simulated(line, GAP_NS, COUNT), slack_s)).excess < 1
    assert tool.worst(tool.gaps(theirs, tool.simulated("delay 20ms reorder 25%", GAP_NS, COUNT), slack_s)).excess > 1
