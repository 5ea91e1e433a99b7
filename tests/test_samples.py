"""Samples of output in README and the guides are what the commands print."""

import re
from pathlib import Path

import pytest

from conftest import SCENARIOS, Command

pytestmark = pytest.mark.slow

ROOT = SCENARIOS.parent

SAMPLES = {
    "README.md": ("size", SCENARIOS / "hstcp-1g.toml", "--target", "utilization=0.95"),
    "docs/guide/choosing-a-queue.md": (
        *("size", SCENARIOS / "share-50m.toml", "--target", "utilization=0.95", "--laws", "reno,highspeed,cubic"),
        *("--queues", "drop-tail,fq,codel"),
    ),
}
"""Pages whose first ``text`` block is the output of a command."""


def without_time(line: str) -> str:
    """A line without what differs from one machine to another."""
    return re.sub(r", \d+ s([;)])", r", 0 s\1", line)


def sample(page: str) -> list[str]:
    """The first block of output of a page."""
    found = re.search(
        r"^```text\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    assert found is not None, page
    return found[1].splitlines()


@pytest.mark.parametrize("page", SAMPLES)
def test_a_sample_is_what_the_command_prints(elephan: Command, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = elephan(*SAMPLES[page], "-q")
    assert list(map(without_time, done.out.splitlines())) == list(map(without_time, sample(page)))


def test_the_questions_are_twenty_and_name_what_is_there() -> None:
    page = (ROOT / "docs" / "guide" / "questions.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"^\| \[?\d", line)]
    assert len(rows) == 20
    for file in re.findall(r"scenarios/[\w/.-]+\.toml", page):
        assert (ROOT / file).exists(), file
    screens = re.findall(r"^```text\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert len(screens) == sum("*Missing:*" not in row for row in rows)
    for screen in screens:
        lines = screen.splitlines()
        assert len(lines) <= 15, screen
        assert max(len(line) for line in lines if not line.startswith("Linux: ")) <= 80
    # A time limit for each: a minute on two cores, but for what the table says.
    assert not Path(ROOT / "runs").exists()
