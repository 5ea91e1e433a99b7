"""Nulls in a claim's band, on data with known results; the share of a gap that a variant closes with certainty."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from elephan_evidence.papers import Paper, nulls, reproduction
from elephan_evidence.papers.accept import AcceptedBand
from elephan_evidence.papers.explained import closed, explain
from elephan_evidence.papers.ghstcp_gared import cells
from elephan_evidence.papers.ghstcp_gared.nulls import has_sack, wrong_law, wrong_queue
from elephan_evidence.papers.measured import MeasuredQuantity, largest, least
from elephan_evidence.papers.reproduction import Reproduction, reproduce
from elephan_evidence.papers.runs import ExperimentPoint, ExperimentPoints, ExperimentRuns
from elephan_evidence.papers.verdicts import JudgedClaim, judge, standing
from elephan_evidence.papers.words import WORTH, bands
from elephan_evidence.report.papers import _bands
from toy_paper import toy_paper

GHSTCP = Paper.read("ghstcp-gared")
PRINTED = cells.printed()


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    toy = toy_paper(tmp_path / "toy")
    monkeypatch.setattr(reproduction, "papers", lambda: (toy,))
    return toy


def tables(seeds: int = 2) -> ExperimentRuns:
    """Runs whose cells are exactly the paper's, in each replication."""
    points: dict[str, list[ExperimentPoint]] = {}
    for (case, delay), cell in PRINTED.items():
        rates = np.repeat([cell.s1, cell.s2], 5) * 1e6
        rows = {
            "replication": np.repeat(np.arange(seeds), 10),
            "group": (["S1"] * 5 + ["S2"] * 5) * seeds,
            "goodput_bps": np.tile(rates, seeds),
        }
        stored = SimpleNamespace(read=lambda _name, rows=rows: pa.table(rows))
        labels = {"case": f"{case} Reno", "delay": f"{delay} ms"}
        points.setdefault(f"table{cell.table}", []).append(ExperimentPoint(labels, cast("Any", stored)))
    return ExperimentRuns({name: ExperimentPoints(name, tuple(every)) for name, every in points.items()})


@pytest.fixture(scope="module")
def judged() -> dict[str, JudgedClaim]:
    runs = tables()
    found = {}
    for claim in GHSTCP.claims.values():
        if claim.id.startswith("ghstcp.T"):
            one = judge(GHSTCP, claim, runs, ())
            found[claim.id] = JudgedClaim(
                claim, one.found, one.accept, one.verdict, one.note, one.standing, None, nulls.tried(GHSTCP, one, runs)
            )
    return found


def passing(of: str, other: Any) -> float:
    """Return how many of the 93 cells other cells of the paper pass, counted from its tables; several count in
    parts."""
    count = 0.0
    for (case, delay), cell in PRINTED.items():
        band = GHSTCP.claims[f"ghstcp.T{cell.table}.case{case}.{delay}ms.{of}"].accept.beside(0.0)
        there = [getattr(PRINTED[at], of) for at in other(case, delay)]
        count += sum(band.holds(x) for x in there) / len(there) if there else 0.0
    return count


def test_nulls_of_the_tables_pass_what_the_papers_own_cells_would(judged: dict[str, JudgedClaim]) -> None:
    power, constants = nulls.families(GHSTCP, judged)
    others = {
        "wrong law": lambda case, delay: [(other, delay) for other in wrong_law(case)],
        "wrong queue": lambda case, delay: [(other, delay) for other in wrong_queue(case)],
        "wrong delay": lambda case, delay: [(case, other) for other in cells.DELAYS if other != delay],
    }
    for family, of, ours in zip(power, ("util", "fair"), (90, 93), strict=True):
        assert (family.whole, len(family.claims)) == (True, 93)
        # Throughputs worked out of the tables have one decimal: a cell whose interval is as narrow may be missed.
        assert ours <= family.ours <= 93
        for name, other in others.items():
            assert family.nulls[name] == pytest.approx(passing(of, other), abs=3), (of, name)
        assert family.informative
    assert constants.keys() == {key for key in judged if key.startswith("ghstcp.T")}


def test_the_best_constant_is_that_of_its_column(judged: dict[str, JudgedClaim]) -> None:
    power, constants = nulls.families(GHSTCP, judged)
    count = 0
    for sack in (True, False):
        bands = [
            GHSTCP.claims[f"ghstcp.T{cell.table}.case{case}.{delay}ms.fair"].accept.bounds
            for (case, delay), cell in PRINTED.items()
            if has_sack(case) == sack
        ]
        grid = np.linspace(0, 1.2, 12001)
        count += max(sum(low <= x <= high for low, high in bands) for x in grid)
    assert power[1].nulls["constant"] == count == sum(one[0].passed for key, one in constants.items() if "fair" in key)


def test_a_family_of_which_a_null_passes_as_many_is_uninformative_and_a_part_of_one_tells_nothing(
    judged: dict[str, JudgedClaim],
) -> None:
    power = nulls.NullPower(
        "cells", ("a", "b"), whole=True, ours=2, variant=None, nulls={"constant": 2.0, "wrong law": 0.5}
    )
    assert not power.informative
    assert nulls.NullPower("cells", ("a", "b"), True, 2, None, {"constant": 1.5}).informative
    some = {key: one for key, one in judged.items() if key.startswith("ghstcp.T1")}
    part = nulls.families(GHSTCP, some)[0][0]
    assert (part.whole, part.to_json()["informative"]) == (False, None)


def with_claim(paper: Paper, row: str) -> None:
    path = paper.folder / "claims.csv"
    path.write_text(path.read_text() + row + "\n")
    paper.__dict__.pop("claims", None)


def verdict(found: Reproduction, claim: str) -> tuple[str, list[tuple[str, int, int]]]:
    one = found.judged[claim]
    return one.verdict, [(each.name, each.passed, each.tried) for each in one.nulls]


def test_what_a_flat_curve_passes_is_uninformative(paper: Paper, tmp_path: Path) -> None:
    row = "toy.{},shape,stated,does not fall,{},Figure 1,buffers,rise,{},,noise"
    with_claim(paper, row.format("flat", "", "min -0.01"))
    with_claim(paper, row.format("least", ">= 0", "min -0.01"))
    found = reproduce("toy.flat", "toy.least", "toy.rises", store=tmp_path / "store")
    assert verdict(found, "toy.flat") == ("uninformative", [("flat", 2, 2)])
    assert "passes as well: flat" in found.judged["toy.flat"].note
    # A claim of "no less" holds in a flat world, which therefore is not a null of it.
    assert verdict(found, "toy.least") == ("pass", [])
    assert verdict(found, "toy.rises") == ("pass", [("opposite", 0, 1), ("flat", 0, 2)])


def test_an_ordering_in_a_band_that_takes_the_opposite_sign_is_uninformative(paper: Paper, tmp_path: Path) -> None:
    with_claim(paper, "toy.either,ordering,stated,rises,> 0,Figure 1,buffers,rise,min -5,,wide")
    found = reproduce("toy.either", store=tmp_path / "store")
    assert verdict(found, "toy.either") == ("uninformative", [("opposite", 1, 1), ("flat", 2, 2)])


def test_a_number_is_held_against_those_of_other_points(paper: Paper, tmp_path: Path) -> None:
    row = "toy.{},numeric,stated,is used,{},Figure 1,buffers,used buffer=25,{},,wide"
    with_claim(paper, row.format("any", "1", "abs 0.9"))
    with_claim(paper, row.format("none", "0", "abs 2"))
    found = reproduce("toy.any", "toy.full", "toy.none", store=tmp_path / "store")
    assert verdict(found, "toy.any") == ("uninformative", [("another point", 2, 2)])
    tried = verdict(found, "toy.full")[1]
    assert tried == [("another point", 1, 2)]
    # "None" is what a world says in which nothing matters.
    assert verdict(found, "toy.none") == ("pass", [])


def test_what_looks_at_one_point_has_no_flat_null(paper: Paper, tmp_path: Path) -> None:
    with_claim(paper, "toy.one,shape,stated,is used,,Figure 1,buffers,used buffer=25,min 0.1,,low")
    found = reproduce("toy.one", store=tmp_path / "store")
    assert verdict(found, "toy.one") == ("pass", [])


def test_an_ordering_at_every_delay_is_met_only_if_it_is_at_each() -> None:
    claim = GHSTCP.claims["ghstcp.o.5v2.util"]
    sure, unsure, wrong = (
        MeasuredQuantity([5.0, 5.1, 4.9]),
        MeasuredQuantity([1.0, 9.0, 8.0]),
        MeasuredQuantity([-5.0, -5.1, -4.9]),
    )
    accept = claim.accept
    assert standing(claim, accept, least([sure, sure + 1])) == "met"
    # The least mean is sure, but another delay is not.
    assert standing(claim, accept, least([sure, unsure])) == "undecided"
    assert standing(claim, accept, least([sure, unsure, wrong])) == "contradicted"
    assert standing(claim, accept, largest([-sure, -unsure, -wrong])) == "contradicted"
    assert standing(claim, accept, MeasuredQuantity([5.0])) == "undecided"
    assert standing(claim, accept, MeasuredQuantity([5.0], half=0.0)) == "met"
    assert standing(claim, accept, MeasuredQuantity([float("nan"), 1.0])) == "contradicted"
    # A number is judged by its mean: its band has a reason.
    cell = GHSTCP.claims["ghstcp.T1.case2.25ms.fair"]
    assert standing(cell, cell.accept, MeasuredQuantity([0.8, 1.0])) == "met"


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("sign", "> 0", ("met", "undecided", "undecided", "contradicted")),
        ("min 0.1", "", ("met", "undecided", "undecided", "contradicted")),
        ("in -0.5..0.05", "", ("contradicted", "contradicted", "undecided", "met")),
    ],
)
def test_an_interval_stands_to_a_band_in_one_of_three_ways(text: str, value: str, found: tuple[str, ...]) -> None:
    accept = AcceptedBand.read(text, value)
    each = [(0.4, 0.2), (0.15, 0.09), (0.0, 0.15), (-0.3, 0.1)]
    got = [accept.standing(*one) for one in each]
    if text == "sign":
        assert got == ["met", "met", "undecided", "contradicted"]
    else:
        assert got == list(found)
    # An interval wider than the band and around it tells nothing.
    assert AcceptedBand.read("in -0.1..0.1").standing(0.0, 1.0) == "undecided"


def test_the_papers_interval_is_widened_by_ours() -> None:
    accept = AcceptedBand.read("interval 0.5", "90")
    assert accept.holds(90.5)
    assert not accept.holds(90.6)
    assert accept.beside(0.2).holds(90.7)
    assert str(accept.beside(0.25)) == "within 0.75 of it"
    assert str(accept) == "within 0.5 and our interval of it"


def test_a_share_of_a_gap_has_a_lower_end() -> None:
    ours, value = MeasuredQuantity([8.0, 8.2, 7.8, 8.1, 7.9]), 5.0
    # The gap is closed, but the remainder has an interval of 0.2 of a gap of 3.
    share, lower = closed(ours, MeasuredQuantity([5.1, 5.0, 4.9, 5.05, 4.95]), value)
    assert share == pytest.approx(1.0)
    assert lower is not None
    assert 0.95 < lower < 1.0
    # A variant that overshoots leaves a gap on the other side.
    assert closed(ours, MeasuredQuantity([3.5] * 5), value)[0] == pytest.approx(0.5)
    # A gap that is none for sure has no lower end.
    assert closed(MeasuredQuantity([8.0, 3.0, 6.5, 4.0, 7.0]), MeasuredQuantity([5.2] * 5), value)[1] is None
    # Formulas have no interval.
    share, lower = closed(8.0, 5.3, value)
    assert share == pytest.approx(0.9)
    assert lower is None
    # Orders of magnitude: from a hundred times it to ten times it is a half.
    assert closed(100.0, 10.0, 1.0, logarithmic=True)[0] == pytest.approx(0.5)
    assert closed(ours, MeasuredQuantity([5.0] * 4), value) == (None, None)


def test_the_lower_end_decides_not_the_mean() -> None:
    accept = AcceptedBand.read("abs 0.1", "5")
    ours = MeasuredQuantity([8.0, 8.2, 7.8, 8.1, 7.9])

    def explains(*theirs: float, seeds: int = 5) -> bool:
        found = MeasuredQuantity(theirs)
        return explain(accept, ours, found, met=False, seeds=seeds, valued=True).explains

    assert explains(5.6, 5.7, 5.5, 5.65, 5.55)
    # The same mean, from runs that do not agree.
    assert not explains(4.0, 7.2, 5.0, 6.5, 5.3)
    assert not explains(5.6, 5.7, 5.5, 5.65, 5.55, seeds=4)
    # An ordering has to be met there.
    sign = AcceptedBand.read("sign", "> 0")
    assert explain(sign, -ours, ours, met=True, seeds=5, valued=False).explains
    assert not explain(sign, -ours, -ours, met=False, seeds=5, valued=False).explains


def test_what_bands_are_worth_is_said_on_pages_and_on_a_terminal() -> None:
    made = {"claims": ("a",) * 93, "whole": True, "ours": 3, "variant": 22}
    worse = nulls.NullPower("cells", nulls={"constant": 23.0, "wrong queue": 4.75}, why="Ours is above.", **made)  # type: ignore[arg-type]
    better = nulls.NullPower("indices", nulls={"constant": 2.0}, **made | {"variant": None})  # type: ignore[arg-type]
    page = _bands([worse, better])
    head = "| claims that pass in the same bands | of | ours | its one variant | constant | wrong queue | so ours is |"
    # A plain sentence of why stands before the numbers.
    assert page[: page.index(head)] == [WORTH, "", "Ours is above.", ""]
    assert "| cells | 93 | 3 | 22 | 23 | 4.75 | **uninformative** |" in page
    assert "| indices | 93 | 3 |  | 2 |  | informative |" in page
    assert bands([worse.to_json(), better.to_json()]) == [
        WORTH,
        "Ours is above.",
        "cells: ours 3 of 93, its one variant 22; nulls: constant 23, wrong queue 4.75; uninformative",
        "indices: ours 3 of 93; nulls: constant 2",
    ]
    assert bands([]) == []
    # Nothing is stated about a part of a family.
    assert _bands([nulls.NullPower("cells", ("a",), False, 1, None, {})]) == []
