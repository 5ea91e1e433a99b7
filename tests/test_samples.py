"""Samples of output in README, the front page and the guides are the commands' output, and numbers are current."""

import re

import pytest

from conftest import SCENARIOS, Command, load_file
from elephan.catalog import catalog

pytestmark = pytest.mark.slow

ROOT = SCENARIOS.parent

SAMPLES = {
    "docs/guide/choosing-a-queue.md": (
        *("size", SCENARIOS / "share-50m.toml", "--target", "utilization=0.95", "--laws", "reno,highspeed,cubic"),
        *("--queues", "drop-tail,fq,codel", "--set", 'duration="150 s"', "--set", 'warmup="50 s"'),
    ),
}
"""Pages whose first ``text`` block is the output of a command."""


def without_time(line: str) -> str:
    """Return a line without the parts that differ from machine to machine."""
    return re.sub(r", \d+ s([;)])", r", 0 s\1", line)


def sample(page: str) -> list[str]:
    """Return the first block of output of a page."""
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


def test_the_front_pages_have_the_numbers_and_the_picture_of_the_demo() -> None:
    """`tools/front.py` writes what is listed here."""
    front = load_file(ROOT / "tools" / "front.py")
    screen, document, picture = front.measured()
    assert front.differing(screen, document, picture) == {}
    # It is seen where a number is another.
    other = document | {"buffer_packets": document["buffer_packets"] + 1}
    assert list(front.differing(screen, other, picture)) == [front.INDEX]
    assert list(front.differing(screen + "x", document, picture)) == [front.README]
    label = f"{document['buffer_packets']:,} packets"
    assert label in front.drawn(picture)
    assert list(front.differing(screen, document, picture.replace(label, "7 packets"))) == [front.PICTURE]


COUNTED = {
    "congestion controls": lambda: len([card for card in catalog("laws") if card["name"] != "bpf"]),
    "slow starts": lambda: len(catalog("slow-starts")),
    "recoveries": lambda: len(catalog("recoveries")),
    "queue disciplines": lambda: len(catalog("queues")),
}
"""Numbers of things that README counts; an object compiled for the kernel does not count as a control."""

WORDS = {5: "five", 6: "six", 7: "seven", 16: "sixteen", 17: "seventeen", 18: "eighteen", 21: "twenty-one"}
WORDS |= {22: "twenty-two", 23: "twenty-three", 24: "twenty-four", 25: "twenty-five"}


@pytest.mark.parametrize("thing", COUNTED)
def test_readme_counts_what_there_is(thing: str) -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    found = re.search(rf"([\w-]+) {thing}\b", text)
    assert found is not None
    assert found[1].lower() == WORDS[COUNTED[thing]()]
