"""A command parses its scenario few times and checks it once: what it computes, it keeps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import elephan
import elephan.lint
from elephan import _native
from elephan.cli import main
from elephan.lint.rule import LintSubject
from elephan.scenario import Scenario

FOLDER = Path(__file__).resolve().parent.parent / "scenarios"
SCENARIOS = [file for file in sorted(FOLDER.glob("**/*.toml")) if "\nbase " not in file.read_text(encoding="utf-8")]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the parses of scenarios and the checks by lint rules."""
    found: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def call(*given: Any) -> Any:
            found[name] += 1
            return function(*given)

        return call

    monkeypatch.setattr(_native, "resolve", counted("parses", _native.resolve))
    monkeypatch.setattr(elephan.lint, "LintSubject", counted("lint", LintSubject))
    return found


def run(*words: str) -> None:
    with pytest.raises(SystemExit) as done:
        main(words)
    assert done.value.code in (0, None)


def test_size_parses_at_most_three_times(calls: Counter[str], tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(elephan.EXAMPLE, encoding="utf-8")
    options = ("--target", "utilization=0.8", "--replications", "2", "--set", "duration=3 s", "--seed", "7")
    run("size", str(file), *options, "--json", "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "size.json").exists()
    # The file, the file with other settings, and the run of the survey with which the link's settings are compared.
    assert calls["parses"] <= 3


def test_run_parses_twice_and_checks_once(calls: Counter[str], tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(elephan.EXAMPLE, encoding="utf-8")
    run("run", str(file), "--replications", "2", "--json", "--out", str(tmp_path / "out"))
    assert calls == {"parses": 2, "lint": 1}


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_another_buffer_is_the_same_as_in_the_file(file: Path) -> None:
    scenario = Scenario.from_file(file)
    for link, facts in enumerate(scenario.links):
        unit = "B" if facts["buffer_limit_bytes"] is not None else "packets"
        for packets in (1, 7, 123_456):
            amount = round(packets * facts["packet_bytes"]) if unit == "B" else packets
            try:
                expected = scenario.replace({f"links[{link}].buffer": f"{amount} {unit}"})
            except elephan.ScenarioError:
                continue
            changed = scenario.with_buffer(link, packets)
            assert (changed.text, changed.canonical, changed.id) == (expected.text, expected.canonical, expected.id)
            assert changed.described == expected.described
            assert changed.warmup_rule == expected.warmup_rule


def test_a_document_is_computed_once(calls: Counter[str]) -> None:
    scenario = Scenario.from_text(elephan.EXAMPLE)
    answer = elephan.size(scenario, "utilization=0.8", replications=2)
    first = answer.to_json()
    before = calls["parses"]
    assert answer.to_json() == first
    assert answer.short()["buffer_packets"] == first["buffer_packets"]
    assert calls["parses"] == before
