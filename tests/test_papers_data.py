"""The papers' folders are complete: every claim of the list is there, every named thing exists and can be run."""

import csv
import re
from pathlib import Path

import pytest

from elephan_evidence.papers import PAPERS, Paper, committed, papers
from elephan_evidence.papers.experiments import sweep_of
from elephan_evidence.papers.measured import number
from elephan_evidence.papers.measures import parse
from elephan_evidence.papers.runs import ExperimentRuns, NotRunError

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reproduction"
# The list that ids and values were copied from lies beside a checkout, where there is one.
LIST = next(filter(Path.exists, (up / "shared/papers/claims.csv" for up in Path(__file__).resolve().parents)), None)

EVERY = {paper.name: paper for paper in papers()}
EXPERIMENTS = [(name, each) for name, paper in EVERY.items() for each in paper.experiments]


def shown(paper: Paper) -> list[tuple[str, tuple[str, ...], str]]:
    """Return every measure besides claims: its place, its experiments, its measure."""
    found = [(f"count {each.says}", each.experiments, each.measure) for each in paper.counts]
    found += [(f"open {one.id}", each.experiments, each.measure) for one in paper.open for each in one.shown]
    found += [(one.title, each.experiments, each.measure) for one in paper.deviations for each in one.shown]
    every = [(key, one.variant) for one in paper.deviations for key in one.claims if one.variant is not None]
    return found + [(key, *variant.of(paper.claims[key])[::-1]) for key, variant in every]


def test_all_papers_are_there() -> None:
    assert tuple(EVERY) == PAPERS


@pytest.mark.skipif(LIST is None, reason="no list of claims beside this checkout")
def test_claims_are_those_of_the_list_and_none_is_missing() -> None:
    assert LIST is not None
    with LIST.open(encoding="utf-8", newline="") as file:
        listed = {
            row["id"]: (row["paper"], row["kind"], row["statement"], row["value"]) for row in csv.DictReader(file)
        }
    ours = {
        claim.id: (claim.paper, claim.kind, claim.statement, claim.value)
        for paper in EVERY.values()
        for claim in paper.claims.values()
    }
    # Claims missing from the list, found later, are in files of their own.
    assert listed.keys() - ours.keys() == set()
    assert {key for key in listed if ours[key] != listed[key]} == set()
    # In the order of the list, paper by paper; the web's have a file of their own, which comes after.
    by_file = sorted(listed, key=lambda key: (PAPERS.index(listed[key][0]), key.startswith("ghstcp.web.")))
    assert [key for key in ours if key in listed] == by_file


@pytest.mark.parametrize("name", EVERY)
def test_what_no_packet_decides_is_not_taken_for_the_papers_word(name: str) -> None:
    for claim in EVERY[name].claims.values():
        if claim.figure == "derived":
            assert claim.origin == "derived", claim.id
        elif not claim.experiments:
            assert claim.origin in ("formula", "misprint"), claim.id


@pytest.mark.parametrize("name", EVERY)
def test_claims_name_measures_and_experiments_that_exist(name: str) -> None:
    paper = EVERY[name]
    used = [(claim.id, claim.experiments, claim.measure) for claim in paper.claims.values()] + shown(paper)
    for where, experiments, measure in used:
        assert set(experiments) <= paper.experiments.keys(), where
        assert parse(measure)[0] in paper.measures, where
        # Without its runs it is not judged, rather than in error.
        if experiments:
            with pytest.raises(NotRunError):
                paper.measures(measure, ExperimentRuns())
    # Each claim has its place, and a justification of its band.
    assert [claim.id for claim in paper.claims.values() if not (claim.figure and claim.reason)] == []


@pytest.mark.parametrize("name", EVERY)
def test_every_experiment_is_needed(name: str) -> None:
    paper = EVERY[name]
    used = {each for claim in paper.claims.values() for each in claim.experiments}
    used |= {each for _, experiments, _ in shown(paper) for each in experiments}
    used |= {each for exhibit in paper.figures for each in exhibit.experiments}
    assert paper.experiments.keys() ^ used == set()


@pytest.mark.parametrize("name", EVERY)
def test_deviations_speak_of_claims_and_a_figure_has_one_variant(name: str) -> None:
    paper = EVERY[name]
    variants: dict[str, set[str]] = {}
    for deviation in paper.deviations:
        assert set(deviation.claims) <= paper.claims.keys(), deviation.title
        assert deviation.claims
        assert deviation.why
        assert deviation.needs
        for key in deviation.claims:
            if deviation.variant is not None:
                variants.setdefault(paper.claims[key].figure, set()).add(deviation.variant.says)
    # One for a whole table or figure; sections and conclusions are about several figures, each misprint of its own.
    assert {place: said for place, said in variants.items() if len(said) > 1} == {}
    spoken = [claim for deviation in paper.deviations for claim in deviation.claims]
    assert sorted(spoken) == sorted(set(spoken))


@pytest.mark.parametrize("name", EVERY)
def test_families_are_of_claims_that_exist_and_name_nulls_that_do(name: str) -> None:
    paper = EVERY[name]
    spoken = [claim for family in paper.families for claim in family.claims]
    assert sorted(spoken) == sorted(set(spoken))
    for family in paper.families:
        assert set(family.nulls) <= {"constant", *paper.alternatives}
        for claim in (paper.claims[key] for key in family.claims):
            measures = [measure for of in paper.alternatives.values() for measure in of(claim)]
            assert measures
            for measure in measures:
                assert parse(measure)[0] in paper.measures
                assert measure != claim.measure


@pytest.mark.parametrize("name", EVERY)
def test_verdicts_that_runs_are_held_against_are_of_every_claim(name: str) -> None:
    known = committed.read(EVERY[name])
    if not known:
        pytest.skip("no full reproduction has been blessed yet")
    assert list(known) == list(EVERY[name].claims)
    assert {one.full for one in known.values()} <= {"pass", "deviation", "fail", "undecided", "uninformative"}
    assert {one.quick for one in known.values()} <= {"pass", "deviation", "fail", "ran", "not_run"}


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_what_formulas_decide_holds_or_something_is_known_of_it(name: str) -> None:
    paper = EVERY[name]
    explained = {claim for deviation in paper.deviations for claim in deviation.claims}
    found = {
        claim.id: claim.accept.holds(number(paper.measures(claim.measure, ExperimentRuns())))
        for claim in paper.claims.values()
        if not claim.experiments
    }
    assert {key for key, holds in found.items() if not holds} <= explained


@pytest.mark.parametrize(("name", "experiment"), EXPERIMENTS)
@pytest.mark.parametrize("quick", [False, True])
def test_experiments_can_be_run(name: str, experiment: str, quick: bool) -> None:
    paper = EVERY[name]
    whole, sweep = (sweep_of(paper.experiments[experiment], quick=short) for short in (False, quick))
    points = sweep.points()
    assert 0 < len(points) == len(sweep) <= len(whole)
    assert [point.error for point in points if point.error] == []


@pytest.mark.skipif(not (PAGES / "README.md").exists(), reason="no full reproduction has been written yet")
@pytest.mark.parametrize("name", EVERY)
def test_pages_have_the_verdict_of_every_claim(name: str) -> None:
    known = committed.read(EVERY[name])
    if not known:
        pytest.skip("no full reproduction has been blessed yet")
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert "--quick" not in text  # shortened runs say that every measure runs, not that a paper holds
    rows = dict(re.findall(r"^\| `([a-z]+\.[^`]+)` \|.*\| ([^|]+) \|$", text, flags=re.MULTILINE))
    said = {
        key: row.partition("]")[0].partition(" (")[0].strip("[*").lower().replace(" ", "_") for key, row in rows.items()
    }
    assert said == {key: one.full for key, one in known.items()}
