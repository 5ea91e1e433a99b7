"""Saved results of ``elephan size --out`` are read back: the same numbers, tables and pictures as of the answer
itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import elephan
from elephan.errors import InputError
from elephan.sizing.pictures import brief
from elephan.sizing.saved import SavedLimit, SavedSize, SavedSizeComparison

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

SMALL = elephan.Scenario.from_text(elephan.EXAMPLE)


def test_a_picture_by_itself_shows_the_answer_the_curve_and_two_rules() -> None:
    answer = elephan.size(SMALL, "utilization=0.8", replications=2)
    document = answer.to_json()
    whole, short = answer.pictures(), brief(answer.pictures(), document)
    assert len({series.name for series in whole[0].series}) > 2, "models are on the page"
    assert sum(mark.role == "rule" for mark in whole[0].marks) > 2
    for figure in short:
        assert {series.label for series in figure.series} == {"measured"}
        rules = [mark.at for mark in figure.marks if mark.role == "rule"]
        assert set(rules) == {document["rules"][name] for name in ("bdp", "bdp_over_sqrt_n")}
        assert len(rules) == 2
        assert [mark.at for mark in figure.marks if mark.role == "answer"] == [document["buffer_packets"]]
    assert [mark.label for mark in short[0].marks if mark.role == "rule"] == ["BDP", "BDP/√n"]
    # With models alone, the trusted model gives the curve.
    alone = elephan.size(SMALL, "utilization=0.8", model_only=True)
    (name,) = {series.label for figure in brief(alone.pictures(), alone.to_json()) for series in figure.series}
    assert name == f"model {alone.to_json()['trusted_model']}"


def test_an_answer_comes_back_as_it_was(tmp_path: Path) -> None:
    answer = elephan.size(SMALL, "utilization=0.8,loss=5%", replications=2)
    answer.write(tmp_path)
    saved = elephan.load(tmp_path)
    assert isinstance(saved, SavedSize)
    assert saved.to_json() == json.loads(json.dumps(answer.to_json()))
    assert (saved.buffer_packets, saved.suggested_packets) == (answer.buffer_packets, answer.suggestion.buffer_packets)
    assert (saved.is_met, saved.tc) == (answer.is_met, answer.tc)
    assert saved.table().to_pandas().equals(answer.table().to_pandas())
    assert saved.scenario.canonical == answer.scenario.canonical
    for table in ("links", "groups", "fairness"):
        assert saved.to_pandas(table).equals(answer.to_pandas(table)), table
    # The same picture, to the last number: described once.
    ours, theirs = saved.pictures(), answer.pictures()
    assert [figure.title for figure in ours] == [figure.title for figure in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert (one.marks, one.alt, one.x, one.y) == (other.marks, other.alt, other.x, other.y)
        for line, same in zip(one.series, other.series, strict=True):
            assert (line.name, line.faint, line.dashed) == (same.name, same.faint, same.dashed)
            assert np.array_equal(line.y, same.y, equal_nan=True)
    assert saved.plot().axes[0].get_ylabel() == "utilization"


def test_variants_come_back_with_the_recommendation(tmp_path: Path) -> None:
    found = elephan.size_variants(SMALL, controls=["reno", "cubic"], target="utilization=0.8", replications=2)
    found.write(tmp_path)
    saved = elephan.load(tmp_path)
    assert isinstance(saved, SavedSizeComparison)
    assert saved.to_json() == json.loads(json.dumps(found.to_json()))
    chosen = found.recommended()
    assert (saved.recommended, saved.is_met) == ((chosen.law, chosen.queue), found.is_met)
    assert {key: one.buffer_packets for key, one in saved.variants.items()} == {
        (one.law, one.queue): one.answer.buffer_packets for one in found.variants
    }
    assert saved.table() == found.table()
    assert saved.to_pandas("links").equals(found.to_pandas("links"))
    legend = saved.plot().axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["reno, drop-tail", "cubic, drop-tail"]


def test_the_inverse_question_comes_back(tmp_path: Path) -> None:
    found = elephan.size_limit(SMALL, "utilization=0.9", "rtt", replications=2)
    found.write(tmp_path)
    saved = elephan.load(tmp_path)
    assert isinstance(saved, SavedLimit)
    assert (saved.amount, saved.find, saved.unit) == (found.amount, "rtt", found.quantity.unit)
    assert saved.table() == found.table()
    assert saved.to_json() == json.loads(json.dumps(found.to_json()))
    assert list(saved.links["utilization"]) == list(found.table()["utilization"])
    # An inverse sizing may vary the number of flows.
    assert set(saved.groups["flows"]) == {None}
    assert saved.plot().axes[-1].get_xlabel() == f"rtt [{saved.unit}]"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 99}, r"format"),
        ({"curve": None}, r'size.json: has no "curve"; write the folder again'),
    ],
)
def test_what_is_damaged_or_newer_is_refused_in_one_line(tmp_path: Path, change: dict[str, object], said: str) -> None:
    elephan.size(SMALL, "utilization=0.8", model_only=True).write(tmp_path)
    path = tmp_path / "size.json"
    document = json.loads(path.read_text()) | change
    path.write_text(json.dumps({key: value for key, value in document.items() if value is not None}))
    with pytest.raises(InputError, match=said) as caught:
        _ = elephan.load(tmp_path).links
    assert "\n" not in str(caught.value)


def test_the_page_of_an_inverse_question(elephan_: Command, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(elephan.EXAMPLE)
    words = ("--target", "utilization=0.9", "--find", "rtt", "--replications", 2)
    done = elephan_("size", path, *words, "--out", tmp_path / "out", "-q")
    assert done.code == 0, done.err
    assert elephan_("report", tmp_path / "out").code == 0
    html = (tmp_path / "out" / "report.html").read_text()
    document = json.loads((tmp_path / "out" / "limit.json").read_text())
    assert f"{1e3 * document['amount']:.3g}" in html
    assert "How long a path is this buffer enough for?" in html
    assert "<figure" in html


@pytest.fixture
def elephan_(elephan: Command) -> Command:
    """Under another name than the package's."""
    return elephan
