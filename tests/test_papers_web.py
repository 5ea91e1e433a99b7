"""Web traffic in the second paper: what its measures see in small runs of its experiments.

*Source*: Zhang2005, cases 32 to 35.
"""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elephan.papers import experiments
from elephan.papers.ghstcp_gared.web_figures import FIGURES
from elephan.papers.ghstcp_gared.web_measures import MEASURES, loss
from elephan.papers.paper import Experiment
from elephan.papers.runs import Runs
from elephan.store import Store

FOLDER = Path(__file__).resolve().parent.parent / "python/elephan/papers/ghstcp_gared"
NAMES = {
    "rate": "links[bottleneck].rate",
    "buffer": "links[bottleneck].buffer",
    "count": "flows[high-speed].count",
    "law": "flows[high-speed].control.law",
}
# A tenth of the web, a few seconds: what is seen is how measures read runs, not what the paper says.
SMALL: dict[str, Any] = {
    "duration": "6 s",
    "warmup": "2 s",
    "links[server].count": 20,
    "links[client].count": 100,
    "flows[web].count": 100,
}
SMALL |= {"flows[web].start": "0 s"}


def experiment(name: str, *, series: bool = False) -> Experiment:
    """One of the web's, small."""
    return Experiment(
        name=name,
        title=name,
        paper="ghstcp-gared",
        file=FOLDER / f"experiments/{name}.toml",
        names=NAMES,
        series=series,
        replications=2,
        changes=SMALL,
        only={},
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    asked = [
        experiment("web-responses", series=True),
        replace(experiment("web-loss"), only={"count": [5, 10]}),
        # With so little buffer that everything is lost often.
        replace(
            experiment("web-choices"),
            only={"case": ["as chosen"]},
            changes=SMALL | {"links[bottleneck].buffer": "500 packets"},
        ),
    ]
    with Store(tmp_path_factory.mktemp("web")) as store:
        every = experiments.run(asked, store, quick=True, workers=1)
    assert not any(ran.points.failed for ran in every)
    # The responses' runs are those of case 32 with ten flows: they are not made twice.
    assert every[1].reused == 2
    return Runs({ran.experiment.name: ran.points for ran in every}, quick=True)


def test_a_difference_of_losses_is_paired_by_replication(runs: Runs) -> None:
    gentle, hstcp = (loss(runs, 1000, 500, 10, law).samples for law in ("ghstcp", "highspeed"))
    assert gentle.shape == (2,)
    found = MEASURES("web_gentle_loses rate=1000 buffer=500 count=10", runs)
    np.testing.assert_array_equal(found.samples, gentle - hstcp)


def test_responses_are_those_of_the_group_s_transfers(runs: Runs) -> None:
    points = runs["web-responses"]
    for law in ("highspeed", "ghstcp"):
        point = points.at(law=law)
        every = point.transfers("duration_s", "web")
        [web] = [group for group in point.document["groups"] if group["name"] == "web"]
        said = web["transfers"]
        assert np.mean([times.size for times in every]) == said["completed"]["mean"]
        # The document divides a sum of picoseconds.
        assert np.mean([times.mean() for times in every]) == pytest.approx(said["completion_time_s"]["mean"], rel=1e-9)


def test_mean_and_median_are_compared_by_replication(runs: Runs) -> None:
    hstcp, gentle = (
        runs["web-responses"].at(law=law).transfers("duration_s", "web") for law in ("highspeed", "ghstcp")
    )
    found = MEASURES("web_faster of=median", runs)
    assert found.samples.tolist() == [np.median(a) - np.median(b) for a, b in zip(hstcp, gentle, strict=True)]


def test_choices_are_compared_by_their_losses(runs: Runs) -> None:
    points = runs["web-choices"].where(case="as chosen")
    hstcp, gentle = (points.at(law=law).link("loss_ratio", "bottleneck") for law in ("highspeed", "ghstcp"))
    assert (hstcp > 0).all()
    np.testing.assert_array_equal(MEASURES("web_loss_with case='as chosen'", runs).samples, gentle / hstcp)
    assert isinstance(MEASURES("web_response_with case='as chosen'", runs), float)


def test_the_distribution_of_responses_rises_to_one(runs: Runs) -> None:
    [exhibit] = [each for each in FIGURES if each.place == "Figure 12"]
    figure, table = exhibit.make(runs)
    for series in figure.series:  # type: ignore[union-attr]
        assert (np.diff(series.y) >= 0).all()
        assert series.y[-1] > 0.95
    assert len(table.rows) == 2  # type: ignore[union-attr]


def test_claims_of_the_web_name_measures_and_experiments_that_there_are() -> None:
    rows = list(csv.DictReader((FOLDER / "web_claims.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 16
    for row in rows:
        assert row["measure"].split()[0] in MEASURES
        assert (FOLDER / f"experiments/{row['experiments']}.toml").exists()
