"""Web traffic in the second paper: its measures on small runs of its experiments.

*Source*: Zhang2005, cases 32 to 35.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from elephan.store import Store
from elephan_evidence.papers import Paper, experiments
from elephan_evidence.papers.ghstcp_gared.web_figures import FIGURES
from elephan_evidence.papers.ghstcp_gared.web_measures import MEASURES, loss
from elephan_evidence.papers.measures import parse
from elephan_evidence.papers.paper import Experiment
from elephan_evidence.papers.runs import ExperimentRuns

PAPER = Paper.read("ghstcp-gared")
# A tenth of the web, a few seconds: what is seen is how measures read runs, not what the paper says.
SMALL: dict[str, Any] = {
    "duration": "6 s",
    "warmup": "2 s",
    "links[server].count": 20,
    "links[client].count": 100,
    "flows[web].count": 100,
}
SMALL |= {"flows[web].start": "0 s"}


def experiment(name: str, **changed: Any) -> Experiment:
    """One of the web experiments, reduced in size."""
    return replace(PAPER.experiments[name], replications=2, **({"changes": SMALL, "only": {}} | changed))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRuns:
    # With so little buffer that packets are lost in seconds.
    lossy = SMALL | {"links[bottleneck].buffer": "500 packets"}
    asked = [
        experiment("web-responses"),
        experiment("web-loss", only={"count": [5, 10]}),
        experiment("web-choices", only={"case": ["as chosen"]}, changes=lossy),
    ]
    with Store(tmp_path_factory.mktemp("web")) as store:
        every = experiments.run(asked, store, quick=True, workers=1)
    assert not any(ran.points.failed for ran in every)
    # The responses' runs are those of case 32 with ten flows: they are not made twice.
    folders = [{point.stored.folder for point in ran.points} for ran in every]
    assert len(folders[0] & folders[1]) == len(folders[0]) == 2
    return ExperimentRuns({ran.experiment.name: ran.points for ran in every}, quick=True)


def test_a_difference_of_losses_is_paired_by_replication(runs: ExperimentRuns) -> None:
    gentle, hstcp = (loss(runs, 1000, 500, 10, law).samples for law in ("ghstcp", "highspeed"))
    assert gentle.shape == (2,)
    found = MEASURES("web_gentle_loses rate=1000 buffer=500 count=10", runs)
    np.testing.assert_array_equal(found.samples, gentle - hstcp)


def test_responses_are_those_of_the_group_s_transfers(runs: ExperimentRuns) -> None:
    points = runs["web-responses"]
    for law in ("highspeed", "ghstcp"):
        point = points.at(law=law)
        every = point.transfers("duration_s", "web")
        [web] = [group for group in point.document["groups"] if group["name"] == "web"]
        said = web["transfers"]
        assert np.mean([times.size for times in every]) == said["completed"]["mean"]
        # The document divides a sum of picoseconds.
        assert np.mean([times.mean() for times in every]) == pytest.approx(said["completion_time_s"]["mean"], rel=1e-9)


def test_mean_and_median_are_compared_by_replication(runs: ExperimentRuns) -> None:
    hstcp, gentle = (
        runs["web-responses"].at(law=law).transfers("duration_s", "web") for law in ("highspeed", "ghstcp")
    )
    found = MEASURES("web_faster q=0.5", runs)
    assert found.samples.tolist() == [np.median(a) - np.median(b) for a, b in zip(hstcp, gentle, strict=True)]
    found = MEASURES("web_faster", runs)
    assert found.samples.tolist() == [a.mean() - b.mean() for a, b in zip(hstcp, gentle, strict=True)]


def test_choices_are_compared_by_their_losses(runs: ExperimentRuns) -> None:
    points = runs["web-choices"].where(case="as chosen")
    hstcp, gentle = (points.at(law=law).link("loss_ratio", "bottleneck") for law in ("highspeed", "ghstcp"))
    assert (hstcp > 0).all()
    np.testing.assert_array_equal(MEASURES("web_loss_with case='as chosen'", runs).samples, gentle / hstcp)
    assert isinstance(MEASURES("web_response_with case='as chosen'", runs), float)


def test_the_distribution_of_responses_rises_to_one(runs: ExperimentRuns) -> None:
    [exhibit] = [each for each in FIGURES if each.place == "Figure 12"]
    figure, table = exhibit.make(runs)
    for series in figure.series:  # type: ignore[union-attr]
        assert (np.diff(series.y) >= 0).all()
        assert series.y[-1] > 0.95
    assert len(table.rows) == 2  # type: ignore[union-attr]


def test_every_claim_of_the_web_names_a_measure_and_an_experiment() -> None:
    web = [claim for claim in PAPER.claims.values() if claim.id.startswith("ghstcp.web.")]
    assert len(web) == 16
    for claim in web:
        assert parse(claim.measure)[0] in MEASURES
        assert set(claim.experiments) <= PAPER.experiments.keys()


def test_what_is_shown_of_open_points_names_measures_and_cases() -> None:
    cases = {
        str(point.labels["case"])
        for point in experiments.sweep_of(PAPER.experiments["web-choices"], quick=False).points()
    }
    for each in PAPER.open:
        for shown in each.shown if each.id.startswith("web-") else ():
            name, arguments = parse(shown.measure)
            assert name in MEASURES
            assert arguments.get("case", "as chosen") in cases


def test_the_work_of_clusters_is_expected_to_be_what_the_bottleneck_lets_through() -> None:
    point = experiments.sweep_of(PAPER.experiments["web-responses"], quick=False).points()[0]
    # Five times 800 s of 1 Gbit/s in packets of 1500 bytes cross the bottleneck, no more the links of the clusters.
    assert point.cost < 3.01 * 5 * 800 * 1e9 / 12000
