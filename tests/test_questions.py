"""A verdict of the page of questions is decided by intervals, not by hand; its scenarios use a default host."""

import math
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import load_file

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "python" / "elephan" / "examples" / "operators"
OF_THE_QUESTION = {"ecn", "receive_window", "send_jitter"}
"""Settings that a scenario may have besides the profile: marks for a question, a receive window that an answer names,
and jitter against phase effects."""


@pytest.fixture(scope="module")
def asked() -> ModuleType:
    return load_file(ROOT / "tools" / "questions.py")


def measured(mean: float, ci95: float) -> dict[str, float]:
    return {"mean": mean, "ci95": ci95}


@pytest.mark.parametrize(
    ("left", "sign", "right", "state"),
    [
        (measured(10, 3), "<", measured(15, 3), "holds"),
        (measured(10, 3), ">", measured(15, 3), "does not hold"),
        (measured(10, 4), "<", measured(15, 4), "not decided"),
        (measured(0.97, 0.01), ">", 0.95, "holds"),
        (measured(0.97, 0.03), ">", 0.95, "not decided"),
        ((200, [190, 210]), "<", (240, [215, 250]), "holds"),
        ((200, [190, 235]), "<", (240, [215, 250]), "not decided"),
        ((200, [190, 210]), "<", (math.inf, [math.inf, math.inf]), "holds"),
        (measured(1, 0), "<", measured(1, 0), "not decided"),
    ],
)
def test_a_claim_holds_where_the_interval_of_the_difference_excludes_the_opposite(
    asked: ModuleType, left: Any, sign: str, right: Any, state: str
) -> None:
    assert asked.Claim.of("it is so", left, sign, right).state == state


def test_what_is_not_decided_says_how_long_a_run_would_decide(asked: ModuleType) -> None:
    # Intervals shrink with the root of the time: a difference of 1 in an interval of 3 needs nine times as much.
    question = {
        "answer": "A answers.",
        "claims": [["A is less", "d['a']", "<", "d['b']"]],
        "senders": "s",
        "changes": "c",
    }
    unsure = {"a": measured(10, 3), "b": measured(11, 0)}
    assert asked.sentence(question, unsure) == (
        "**Not decided** whether A is less (about 9 times the simulated time would decide). A answers."
    )
    sure = {"a": measured(10, 0.3), "b": measured(11, 0)}
    assert asked.sentence(question, sure) == "A answers."
    assert "exclude the opposite of: A is less" in asked.lines(question, sure)
    assert asked.differences(question, sure, unsure) == "A is less: holds, then not decided"
    assert asked.differences(question, sure, sure) == "stays"


def test_what_was_sized_stays_where_intervals_overlap(asked: ModuleType) -> None:
    question = {"stays": ["buffer()"]}
    first, near, far = ({"buffer_packets": n, "buffer_interval_packets": [n - 5, n + 5]} for n in (100, 108, 120))
    assert asked.differences(question, first, near) == "stays"
    assert asked.differences(question, first, far) == "100 (95 to 105), then 120 (115 to 125)"


def test_each_question_says_for_whom_its_answer_is_and_how_sure() -> None:
    questions = tomllib.loads((ROOT / "tools" / "questions.toml").read_text(encoding="utf-8"))["questions"]
    assert len(questions) == 20
    for question in questions:
        if "missing" not in question:
            assert question["senders"], question["asked"]
            assert question["changes"], question["asked"]
            assert question.get("claims") or question.get("sure"), question["asked"]


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.toml")), ids=lambda file: file.stem)
def test_senders_are_those_of_a_default_host(file: Path) -> None:
    for flows in tomllib.loads(file.read_text(encoding="utf-8")).get("flows", []):
        if flows.get("traffic", {}).get("kind") == "cbr":
            continue
        tcp = flows["tcp"]
        profile, more = (tcp, set()) if isinstance(tcp, str) else (tcp["profile"], set(tcp) - {"profile"})
        assert profile == "linux"
        assert more <= OF_THE_QUESTION
        assert not {"recovery", "start_threshold"} & set(flows)
