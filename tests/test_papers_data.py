"""The papers' folders are whole: every claim of the list is there, everything that is named exists and can be run."""

import csv
import re
from pathlib import Path

import pytest

from elephan.papers import PAPERS, Paper, papers
from elephan.papers.experiments import sweep_of
from elephan.papers.measured import number
from elephan.papers.measures import parse
from elephan.papers.runs import NotRunError, Runs

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reproduction"
# The list that ids and values were copied from lies beside a checkout, where there is one.
LIST = next(filter(Path.exists, (up / "shared/papers/claims.csv" for up in Path(__file__).resolve().parents)), None)

EVERY = {paper.name: paper for paper in papers()}
EXPERIMENTS = [(name, each) for name, paper in EVERY.items() for each in paper.experiments]
MANY = 4
"""Claims that one argument may be about without being shown of each: more would be told from a few cells."""


def shown(paper: Paper) -> list[tuple[str, tuple[str, ...], str]]:
    """Everything that is measured besides claims: where it stands, its experiments, its measure."""
    found = [(f"count {each.says}", each.experiments, each.measure) for each in paper.counts]
    found += [(f"open {one.id}", each.experiments, each.measure) for one in paper.open for each in one.shown]
    found += [(one.title, each.experiments, each.measure) for one in paper.deviations for each in one.shown]
    return found + [
        (key, each.of(paper.claims[key]).experiments, each.of(paper.claims[key]).measure)
        for one in paper.deviations
        for key in one.claims
        for each in one.each
    ]


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
    # What was found to be missing from the list since stands in files of its own.
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
                paper.measures(measure, Runs())
    # Each claim says where it stands and why so much is accepted.
    assert [claim.id for claim in paper.claims.values() if not (claim.figure and claim.reason)] == []


@pytest.mark.parametrize("name", EVERY)
def test_every_experiment_is_needed(name: str) -> None:
    paper = EVERY[name]
    used = {each for claim in paper.claims.values() for each in claim.experiments}
    used |= {each for _, experiments, _ in shown(paper) for each in experiments}
    used |= {each for exhibit in paper.figures for each in exhibit.experiments}
    assert paper.experiments.keys() ^ used == set()


@pytest.mark.parametrize("name", EVERY)
def test_deviations_speak_of_claims_and_rest_on_something(name: str) -> None:
    paper = EVERY[name]
    for deviation in paper.deviations:
        assert set(deviation.claims) <= paper.claims.keys(), deviation.title
        assert deviation.claims
        assert deviation.why
        assert deviation.needs
        # A number that must be so, not one that is only looked at.
        assert any(each.accept is not None for each in deviation.shown), deviation.title
        # What is shown of each claim differs from claim to claim, and can fail.
        for each in deviation.each:
            assert "{claim}" in each.measure, deviation.title
            assert each.as_claimed or each.accept is not None, deviation.title
        assert deviation.each or len(deviation.claims) <= MANY, deviation.title
    spoken = [claim for deviation in paper.deviations for claim in deviation.claims]
    assert sorted(spoken) == sorted(set(spoken))


@pytest.mark.parametrize("name", EVERY)
def test_what_formulas_decide_holds_or_is_explained(name: str) -> None:
    paper = EVERY[name]
    explained = {claim for deviation in paper.deviations for claim in deviation.claims}
    found = {
        claim.id: claim.accept.holds(number(paper.measures(claim.measure, Runs())))
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
def test_pages_have_every_claim_and_no_failure(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert "--quick" not in text  # shortened runs say that nothing is broken, not that a paper holds
    rows = dict(re.findall(r"^\| `([a-z]+\.[^`]+)` \|.*\| ([^|]+) \|$", text, flags=re.MULTILINE))
    assert rows.keys() == EVERY[name].claims.keys()
    assert {row.partition("]")[0].strip("[*") for row in rows.values()} <= {"pass", "deviation"}
