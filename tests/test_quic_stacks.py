"""The page of QUIC stacks follows tests/data/quic_stacks.json, and its sentences hold for these numbers."""

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import load_file

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guide" / "quic-stacks.md"
FOUND: dict[str, Any] = json.loads((ROOT / "tests" / "data" / "quic_stacks.json").read_text(encoding="utf-8"))
ACKS = ("an ACK for every packet", "for every second")
KERNEL: dict[str, Any] = json.loads((ROOT / "tests" / "data" / "real_stacks.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_file(ROOT / "evidence" / "quic_stacks.py")


def one(tool: ModuleType, place: str, name: str, flows: int, buffer: int) -> dict[str, float]:
    """Return the means of a system in a table, by its name there."""
    systems = {**tool.SYSTEMS, **tool.EXPERIMENTS}[place]
    system = next(each for each in systems if each.name == name)
    row = tool.mean(FOUND, tool.Cell(system, flows, buffer))
    assert row is not None, f"{name}, {flows} behind {buffer}: was not run"
    found: dict[str, float] = row
    return found


def test_the_tables_are_those_of_the_numbers_kept(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = tmp_path / "page.md"
    again.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(tool, "PAGE", again)
    tool.write_page(FOUND)
    assert again.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
    assert {cell.key(i) for cell in tool.cells() for i in range(cell.runs)} == FOUND.keys()


def test_numbers_are_of_the_versions_that_are_built() -> None:
    manifest = (ROOT / "adapters" / "quic" / "Cargo.toml").read_text(encoding="utf-8")
    built = dict(re.findall(r'^(quinn|noq|s2n)-(?:proto|quic-core) = .*?"=([\d.]+)"', manifest, flags=re.MULTILINE))
    ran = {key.partition("/")[0]: run["version"] for key, run in FOUND.items() if "/" in key.partition(" |")[0]}
    assert ran == built


def test_reno_is_reno_in_every_stack(tool: ModuleType) -> None:
    # One flow: the closed form, 3/8 (133 + buffer + 1)^2 / 3333, holds where the buffer is a path or more.
    for name in ("quinn", "noq", "elephan, as QUIC", "elephan, as Linux"):
        for buffer in (167, 333):
            window = 40e6 * 0.04 / 12_000 + buffer + 1
            period = one(tool, "reno", name, 1, buffer)["period_s"]
            # Samples of the window are 0.1 s apart, and the reduction is to half of it or up to three segments more.
            assert period == pytest.approx(0.375 * window**2 * 12_000 / 40e6, rel=0.05)
    # The null: CUBIC's is another.
    assert one(tool, "cubic", "quinn", 1, 333)["period_s"] < 0.5 * one(tool, "reno", "quinn", 1, 333)["period_s"]


def test_cubics_differ_by_their_law_and_not_by_the_transport(tool: ModuleType) -> None:
    kernel = KERNEL["cubic, bursts, 1, 33"]
    inside = one(tool, "law", "elephan's CUBIC of Linux in noq", 1, 33)
    own = one(tool, "law", "noq's CUBIC", 1, 33)
    # Two runs of the kernel differ by 5.6 % of the period; what is to be told apart is 37 %.
    assert inside["period_s"] == pytest.approx(kernel["period_s"], rel=0.06)
    assert abs(inside["utilization"] - kernel["utilization"]) < 0.002
    assert own["period_s"] > 1.3 * kernel["period_s"]
    assert own["utilization"] < kernel["utilization"] - 0.005


def test_renos_of_four_flows_differ_by_how_often_receivers_acknowledge(tool: ModuleType) -> None:
    kernel = KERNEL["reno, bursts, 4, 33"]["utilization"]
    every, second = (one(tool, "acks", f"noq's NewReno, {n}", 4, 33)["utilization"] for n in ACKS)
    # Seeds differ by less than a point.
    assert abs(every - kernel) < 0.01
    assert second - kernel > 0.025


def test_quinns_bbr_has_two_paths_in_flight_whatever_is_lost(tool: ModuleType) -> None:
    # 271 datagrams in flight where the path, the buffer and the server hold 133 + 33 + 1: the rest is lost.
    assert one(tool, "bbr", "quinn (version 1)", 1, 33)["loss_ratio"] == pytest.approx(1 - (133 + 34) / 271, abs=0.02)
    assert KERNEL["bbr, bursts, 1, 33"]["loss_ratio"] < 0.02
    for buffer in (33, 167, 333):
        assert one(tool, "bbr", "quinn (version 1)", 4, buffer)["loss_ratio"] > 0.4


def test_noqs_bbr_leaves_alone_what_ours_of_that_version_uses(tool: ModuleType) -> None:
    for buffer in (33, 167, 333):
        noq, ours = (one(tool, "bbr", name, 1, buffer) for name in ("noq (version 3)", "elephan, version 3"))
        assert noq["utilization"] < 0.9 < 0.96 < ours["utilization"]
