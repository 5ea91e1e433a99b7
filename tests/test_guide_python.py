"""The output in docs/guide/python.md is the actual output."""

import doctest
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elephan

pytestmark = pytest.mark.slow

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "guide"
PAGE = (GUIDE / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ELEPHAN_STORE", str(tmp_path / "store"))
    (tmp_path / "scenarios").symlink_to(GUIDE.parent.parent / "scenarios")


def test_every_block_gives_what_it_shows() -> None:
    text = "\n".join(block for block in BLOCKS if block.startswith(">>>"))
    test = doctest.DocTestParser().get_doctest(text, {}, "python.md", "python.md", 0)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    said: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
    assert tried > 30
    assert not failed, "".join(said)


def test_the_first_figure_stands_on_the_page_as_in_its_file_and_has_ten_lines() -> None:
    program = (GUIDE / "first_figure.py").read_text(encoding="utf-8")
    assert program in BLOCKS
    assert len([line for line in program.splitlines() if line]) <= 10


def test_the_first_figure_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Shorter runs than the page's, which take 22 s: here it is the program that is tested, not its numbers.
    whole = elephan.sweep

    def shorter(scenario: elephan.Scenario, **given: Any) -> Any:
        return whole(scenario.replace({"duration": "8 s", "warmup": "4 s"}), **given)

    monkeypatch.setattr(elephan, "sweep", shorter)
    left = runpy.run_path(str(GUIDE / "first_figure.py"))
    labels = [text.get_text() for text in left["figure"].legends[0].get_texts()]
    assert labels == ["1 Gbit/s", "2.5 Gbit/s", "model droptail-fixed-point", "model sawtooth"]
    assert [len(swept.points) for swept in left["swept"].values()] == [8, 8]
    assert (tmp_path / "first-figure.png").stat().st_size > 10_000


def test_the_figure_of_a_small_buffer_has_paced_flows_on_the_models_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Shorter than the page's run, which gives 1.5 points; the last half point comes from the length."""
    whole = elephan.sweep

    def shorter(scenario: elephan.Scenario, **given: Any) -> Any:
        over = {**given["over"], "links[0].buffer": ["5 packets", "10 packets", "20 packets"]}
        return whole(scenario.replace({"duration": "40 s", "warmup": "20 s"}, replications=1), over=over)

    monkeypatch.setattr(elephan, "sweep", shorter)
    left = runpy.run_path(str(GUIDE / "small_buffer_figure.py"))
    (axes,) = left["figure"].axes
    # One line for the model, which says the same of all three; points with bars for what was measured.
    (line,) = [one for one in axes.get_lines() if one.get_gid() == "model"]
    used = {tuple(point.labels.values()): float(point.links["utilization"][0]) for point in left["swept"].points}
    buffers = [5, 10, 20]
    said = np.interp(buffers, *np.asarray(line.get_xydata()).T)
    linux, none = ([used[f"{b} packets", pacing] for b in buffers] for pacing in ("linux", "none"))
    assert np.abs(said - linux).max() < 0.02
    assert (said - none).min() > 0.2
    # No constant does as well: the best is off by half of the range.
    assert np.ptp(linux) / 2 > 0.1
    assert (tmp_path / "small-buffer.png").stat().st_size > 10_000


def test_the_figure_of_pacing_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Shorter than the page's 85 s; paced flows still use far more of the smallest buffer."""
    whole = elephan.sweep

    def shorter(scenario: str, **given: Any) -> Any:
        changed = elephan.Scenario.from_file(scenario).replace({"duration": "80 s", "warmup": "60 s"})
        buffers = given["over"]["links[0].buffer"][:2]
        return whole(changed, **{**given, "over": {**given["over"], "links[0].buffer": buffers}, "replications": 1})

    monkeypatch.setattr(elephan, "sweep", shorter)
    left = runpy.run_path(str(GUIDE / "pacing_figure.py"))
    labels = [text.get_text() for text in left["figure"].legends[0].get_texts()]
    assert labels == list(left["senders"])
    used = {tuple(point.labels.values()): point.links["utilization"][0] for point in left["swept"].points}
    none, bursts, linux, paced_bursts, quic = (used["25 packets", senders] for senders in labels)
    assert min(linux, quic) > 3 * none > 2 * bursts
    # A burst of a millisecond is half of this buffer: what pace wins is between.
    assert 2 * none < paced_bursts < 0.8 * linux
    assert (tmp_path / "pacing.png").stat().st_size > 10_000
