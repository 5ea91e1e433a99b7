"""Pictures of ``elephan reproduce ID --out``: the figure of the claim, with the paper's points beside our line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from elephan_evidence.papers import reproduce
from elephan_evidence.report import exhibits

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command


def test_the_papers_points_are_points_beside_our_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, Any] = {}

    def keep(figure: Any) -> Any:
        drawn[figure.name] = figure
        return figure

    monkeypatch.setattr(exhibits, "draw", keep)
    monkeypatch.setattr(exhibits, "save", lambda _, folder, name: [folder / name])
    found = reproduce("hsbuf.dt1g.util10", quick=True, store=tmp_path / "store")
    written, missing = exhibits.draw_exhibits(found, tmp_path)
    assert missing == []
    assert [path.name for path in written] == [f"hsbuf-{name}" for name in drawn]
    series = {one.name: one for one in drawn["utilization-droptail-1g"].series}
    # Barman and others 2004, Figure 3: 90 % at a tenth of the bandwidth-delay product, 98 % at a fifth.
    paper, ours = series["paper"], series["simulated"]
    assert (paper.kind, paper.x.tolist(), paper.y.tolist()) == ("points", [0.1, 0.2], [0.9, 0.98])
    judged: Any = found.judged["hsbuf.dt1g.util10"].found
    at_a_tenth = ours.y[np.isclose(ours.x, 0.1)]
    assert ours.kind in ("line", "both")
    assert at_a_tenth.tolist() == pytest.approx([judged.mean])


def test_a_figure_that_needs_more_runs_says_which(tmp_path: Path) -> None:
    found = reproduce("hsbuf.dt1g.util10", quick=True, store=tmp_path / "store")
    name = found.papers[0].name
    found = replace(found, ran={**found.ran, name: {}})
    written, missing = exhibits.draw_exhibits(found, tmp_path)
    assert written == []
    assert len(missing) == 1
    assert "Figure 3: not drawn, needs the runs of droptail-1g too: reproduce" in missing[0]


def test_files_are_written_and_said(elephan: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = elephan("reproduce", "hsbuf.dt1g.util10", "--quick", "--out", out, "--store", tmp_path / "store", "-q")
    assert done.code == 0
    names = {path.name for path in out.iterdir()}
    assert {"reproduce.json", "hsbuf-utilization-droptail-1g.png", "hsbuf-utilization-droptail-1g.svg"} <= names
    assert f"wrote {out}: reproduce.json, " in done.err
