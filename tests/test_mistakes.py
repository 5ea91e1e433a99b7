"""Typical mistakes at the command line, and the advice that each must give: one line, exit code 2."""

import shlex
from pathlib import Path

import pytest

from conftest import Command
from elephan.templates import template

pytestmark = pytest.mark.slow

LINES = (Path(__file__).parent / "data" / "mistakes.txt").read_text(encoding="utf-8").splitlines()[1:]
MISTAKES = [
    (line.removeprefix("elephan "), advice.strip()) for line, advice in zip(LINES[::2], LINES[1::2], strict=True)
]


@pytest.mark.parametrize(("line", "advice"), MISTAKES)
def test_a_mistake_gets_one_line_with_advice(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, advice: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(template("dumbbell", {}))
    done = elephan(*shlex.split(line))
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1, done.err
    assert advice in done.err
