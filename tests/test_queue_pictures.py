"""The catalogue page of queue disciplines: its pictures, the numbers below them, and the output of the command line."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from conftest import Command, load_file
from elephan.catalog import catalog

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "catalog"
queues = load_file(ROOT / "tools" / "queue_pictures.py")
QUEUES = [card["name"] for card in catalog("queues")]


def test_the_catalogue_has_a_picture_of_every_queue() -> None:
    page = (FOLDER / "queues.md").read_text(encoding="utf-8")
    drawn = {folder: set(re.findall(rf"\({folder}/(.*)\.svg\)", page)) for folder in ("backlogs", "curves")}
    assert drawn["backlogs"] == set(QUEUES)
    assert drawn["curves"] == {name for name in QUEUES if queues.curves(name, np.array([1.0]))}
    assert {"red", "ared", "gared", "pd-red"} <= drawn["curves"]


@pytest.mark.parametrize("name", ["drop-tail", "red", "codel"])
def test_the_same_numbers_give_the_same_bytes(tmp_path: Path, name: str) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
        queues.draw_backlog(name, folder)
        assert (queues.draw_curve(name, folder) is None) == (name != "red")
    first, second = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders)
    assert first == second


@pytest.mark.parametrize("name", QUEUES)
def test_every_discipline_keeps_the_link_busy_and_says_why_it_drops(name: str) -> None:
    found = queues.numbers(name)
    # The flows begin within the first second of thirty, and a buffer of one BDP is there to be used.
    assert 0.75 < found.utilization <= 1.0
    assert 0.0 < found.queueing_delay_s <= 1.1 * queues.BUFFER_PACKETS * queues.PACKET_BYTES * 8 / queues.RATE_BPS
    assert 0.25 <= found.jain <= 1.0
    # XCP tells its senders in time.
    assert (sum(found.drops.values()) > 0) == (queues.own_law(name) is None)
    assert found.drops["injected"] == 0


def test_drop_tail_drops_only_what_does_not_fit_and_marks_nothing() -> None:
    found = queues.numbers("drop-tail")
    assert [cause for cause, count in found.drops.items() if count] == ["overflow"]
    assert not any(found.marks.values())


def test_the_curve_of_red_rises_to_max_p_and_then_gently_or_at_once() -> None:
    found = queues.curves("red", np.array([5.0, 10.0, 15.0, 22.5, 30.0]))
    # 10 Mbit/s are 1250 packets/s: min_th is the least there is, 5 packets, max_th three times that; max_p is 0.1.
    assert found["gentle = true"] == pytest.approx([0.0, 0.05, 0.1, 0.55, 1.0])
    assert found["gentle = false"][1:] == pytest.approx([0.05, 1.0, 1.0, 1.0])


def test_a_discipline_that_moves_max_p_has_a_curve_for_each_end_of_its_range() -> None:
    assert list(queues.curves("ared", np.array([1.0]))) == ["max_p = 0.01", "max_p = 0.1", "max_p = 0.5"]


@pytest.mark.parametrize("name", QUEUES)
def test_a_tc_line_is_that_of_its_setting(name: str) -> None:
    if found := queues.linux(name):
        setting, line = found
        assert line == queues.scenario(name, setting).links[0]["tc"]
        assert line.startswith("tc qdisc replace dev ")
    assert found or name not in {"drop-tail", "red", "ared", "sfq", "codel", "fq-codel", "pie"}


def test_run_shows_what_the_queue_resolved_to_and_the_same_for_linux(elephan: Command, small: Path) -> None:
    queue = 'links[0].queue={discipline = "red", gentle = false, count = "classic"}'
    words = ("run", small, "--replications", 1, "--set", queue)
    text = elephan(*words, "--details").out
    (link,) = json.loads(elephan(*words, "--json").out)["links"]
    assert link["queue"]["min_th"] == "5 packets"
    assert "min_th = 5 packets, max_th = 15 packets, " in " ".join(text.split())
    for shown in (text, elephan(*words).out):
        # A terminal breaks the command with backslashes.
        assert f"Linux: {link['tc']}" in " ".join(shown.replace("\\\n", " ").split())


def test_list_tells_other_spellings_of_parameters(elephan: Command) -> None:
    cards = {card["name"]: card for card in json.loads(elephan("list", "queues", "--json").out)}
    assert cards["red"]["spellings"]["probability"] == "max_p"
    assert "probability for max_p" in " ".join(elephan("list", "queues", "--details").out.split())
    for card in catalog("queues"):
        assert set(card["spellings"].values()) <= {row["name"] for row in card["parameters"]}
