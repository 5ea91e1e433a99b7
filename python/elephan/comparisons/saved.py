"""Comparisons read from folders that ``elephan compare --out`` wrote."""

from __future__ import annotations

from pathlib import Path

from elephan.comparisons.comparison import ComparedQuantity, ScenarioComparison
from elephan.comparisons.several import PointComparison, SweepComparison
from elephan.runs.saved import SavedRun, of_this_version, read_document
from elephan.scenario import Scenario
from elephan.testbed import read_testbed

DOCUMENT, POINTS = "compare.json", "points.json"


def read_comparison(folder: Path | str) -> ScenarioComparison:
    """Read the comparison of one scenario.

    Parameters
    ----------
    folder : Path or str
        Folder with ``compare.json``, and a folder of each result.

    Returns
    -------
    ScenarioComparison

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    path = Path(folder) / DOCUMENT
    document = read_document(path, ("scenario", "rows", "simulation", "testbed"))
    with of_this_version(f"{path}: rows", verb="have"):
        keys = ("name", "unit", "model", "simulation", "testbed", "against")
        rows = tuple(
            ComparedQuantity(**{key: row[key] for key in keys}, relative=row["gap_is"] == "relative")
            for row in document["rows"]
        )
    tested = None if document["testbed"] is None else read_testbed(path.parent / "testbed")
    scenario = Scenario.from_text(document["scenario"], f"{path}: scenario")
    return ScenarioComparison(scenario, rows, SavedRun(path.parent / "simulation"), tested)


def read_comparisons(folder: Path | str) -> SweepComparison:
    """Read the comparisons of the points of a sweep.

    Parameters
    ----------
    folder : Path or str
        Folder with ``points.json``, and a folder of each point.

    Returns
    -------
    SweepComparison

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    path = Path(folder) / POINTS
    points = read_document(path, ("points",))["points"]
    with of_this_version(f"{path}: points", verb="have"):
        found = [(dict(point["labels"]), point["folder"]) for point in points]
    return SweepComparison(
        tuple(PointComparison(i, labels, read_comparison(path.parent / name)) for i, (labels, name) in enumerate(found))
    )
