"""Reproduced figures of papers for the requested claims, with the paper's own points if they are printed there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elephan.pictures.figure import Figure
from elephan.plots.pictures import draw
from elephan.plots.style import save
from elephan_evidence.papers.runs import NotRunError

if TYPE_CHECKING:
    from pathlib import Path

    from elephan_evidence.papers import Paper, Reproduction


def draw_exhibits(found: Reproduction, folder: Path) -> tuple[list[Path], list[str]]:
    """Draw the figures that support claims, each as PNG and SVG.

    Parameters
    ----------
    found : Reproduction
    folder : Path
        Made if missing. Each file appears whole or not at all.

    Returns
    -------
    list of Path, list of str
        The files; and one line for each figure that could not be drawn, naming the runs that it needs.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    written: list[Path] = []
    missing: list[str] = []
    for paper in found.papers:
        places = {judged.claim.figure for judged in found.judged.values() if judged.claim.paper == paper.name}
        for exhibit in (each for each in paper.figures if each.place in places):
            lacks = sorted(set(exhibit.experiments) - found.ran[paper.name].keys())
            if lacks:
                missing.append(_lacking(paper, exhibit.place, lacks))
                continue
            try:
                made = exhibit.make(found.runs[paper.name].only(exhibit.experiments))
            except NotRunError as error:
                missing.append(f"{paper.name}, {exhibit.place}: not drawn: {error}")
                continue
            for figure in (each for each in made if isinstance(each, Figure)):
                written += save(draw(figure), folder, f"{paper.prefix}-{figure.name}")
    return written, missing


def _lacking(paper: Paper, place: str, experiments: list[str]) -> str:
    return f"{paper.name}, {place}: not drawn, needs the runs of {', '.join(experiments)} too: reproduce {paper.name}"
