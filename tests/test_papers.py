"""Papers as data: acceptance, calls of measures, and verdicts; on a paper made up here."""

import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elephan
from elephan.pictures.figure import Axis, Figure, Mark, Series
from elephan.pictures.table import Table, cell
from elephan.sweeps import tasks
from elephan_evidence.papers import Paper, reproduction
from elephan_evidence.papers.accept import AcceptedBand
from elephan_evidence.papers.exhibits import PaperExhibits
from elephan_evidence.papers.measured import MeasuredQuantity, largest, least
from elephan_evidence.papers.measures import parse
from elephan_evidence.papers.reproduction import Reproduction, reproduce
from elephan_evidence.papers.runs import ExperimentRuns, NotRunError
from elephan_evidence.report.papers import write_pages
from toy_paper import CLAIMS, MEASURES, toy_paper


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    toy = toy_paper(tmp_path / "toy")
    monkeypatch.setattr(reproduction, "papers", lambda: (toy,))
    return toy


def test_where_a_claim_is_from_is_one_of_four(paper: Paper) -> None:
    assert {key: claim.origin for key, claim in paper.claims.items()}["toy.bound"] == "formula"
    path = paper.folder / "claims.csv"
    path.write_text(path.read_text().replace(",stated,utilization at 5", ",guessed,utilization at 5"))
    with pytest.raises(ValueError, match=r"toy\.half: origin 'guessed'; must be stated, derived, formula, misprint"):
        _ = Paper(paper.folder, paper.about).claims


def verdicts(found: Reproduction) -> dict[str, str]:
    return {key: judged.verdict for key, judged in found.judged.items()}


def test_claims_are_judged_from_their_experiments(paper: Paper, tmp_path: Path) -> None:
    found = reproduce(store=tmp_path / "store")
    assert verdicts(found) == {
        "toy.rises": "pass",
        "toy.full": "pass",
        "toy.half": "deviation",
        "toy.wrong": "fail",
        "toy.bound": "pass",
        # A claim sees only the experiments that it names.
        "toy.elsewhere": "not_run",
    }
    document = found.to_json()
    none = {"undecided": 0, "uninformative": 0, "ran": 0}
    assert document["summary"] == {"toy": {"pass": 3, "deviation": 1, "fail": 1, "not_run": 1} | none}
    # Claims decided by a formula are counted apart from the paper's statements judged from packets.
    assert document["origins"]["formula"]["pass"] == 1
    assert sum(document["origins"]["stated"].values()) == 5
    [half] = [claim for claim in document["claims"] if claim["id"] == "toy.half"]
    assert half["note"] == "it is not so small"
    assert half["measured"].keys() == {"mean", "ci95"}
    assert half["variant"]["seeds"] == 5
    assert 0.7 < half["variant"]["share_lower"] <= half["variant"]["share"] == pytest.approx(0.95)
    [ran] = document["experiments"]
    assert (ran["points"], ran["reused"]) == (2, 0)
    # The store has everything now.
    assert reproduce(store=tmp_path / "store").ran["toy"]["buffers"].reused == 2
    assert paper.claims.keys() == found.judged.keys()


def test_an_explanation_that_is_not_shown_does_not_count(paper: Paper, tmp_path: Path) -> None:
    path = paper.folder / "deviations.toml"
    text = path.read_text()
    path.write_text(text.replace("min 0.3", "min 1.3"))
    half = reproduce("toy.half", store=tmp_path / "store").judged["toy.half"]
    assert half.verdict == "fail"
    assert "not explained: the measurement contradicts this reason: it is above 0.3" in half.note
    # Neither does one without a variant, whatever else is so.
    path.write_text(text.partition("[deviations.variant]")[0])
    paper.__dict__.pop("deviations")
    [found] = reproduce("toy.half", store=tmp_path / "store").to_json()["claims"]
    assert (found["verdict"], found["note"], found["variant"]) == ("fail", "not explained", None)


@pytest.mark.parametrize(("share", "seeds", "verdict"), [(0.8, 5, "deviation"), (0.65, 5, "fail"), (0.95, 4, "fail")])
def test_a_variant_must_close_seven_tenths_of_the_gap_with_five_seeds(
    paper: Paper, tmp_path: Path, share: float, seeds: int, verdict: str
) -> None:
    for path, old, new in (
        (paper.folder / "deviations.toml", "{claim}", f"{{claim}} share={share}"),
        (paper.folder / "experiments/buffers.toml", "replications = 5", f"replications = {seeds}"),
    ):
        path.write_text(path.read_text().replace(old, new))
    half = reproduce("toy.half", store=tmp_path / "store").judged["toy.half"]
    assert half.verdict == verdict
    said = {0.65: "less than 70 % of the gap for sure", 0.95: "4 seeds, of 5 that are needed"}.get(
        share, "not so small"
    )
    assert said in half.note


@pytest.mark.usefixtures("paper")
def test_shortened_runs_keep_only_some_points_and_say_ran_where_they_cannot_tell(tmp_path: Path) -> None:
    found = reproduce(quick=True, store=tmp_path / "store")
    [point] = found.ran["toy"]["buffers"].points
    run = point.document["run"]
    assert (point.labels, run["replications"], run["duration_s"]) == ({"buffer": "25 packets"}, 1, 2.0)
    assert verdicts(found)["toy.half"] == "not_run"
    # Its interval is not known, and its measure says so.
    assert found.to_json()["claims"][1]["measured"]["ci95"] is None


def test_a_wider_band_of_shortened_runs_has_no_power(paper: Paper, tmp_path: Path) -> None:
    quick = ("toy.full", "toy.bound")
    assert verdicts(reproduce(*quick, quick=True, store=tmp_path / "store")) == dict.fromkeys(quick, "pass")
    path = paper.folder / "claims.csv"
    path.write_text(path.read_text().replace("abs 0.2,,", "abs 0.001,abs 0.2,"))
    paper.__dict__.pop("claims")
    found = reproduce(*quick, quick=True, store=tmp_path / "store")
    # Claims decided by a formula are judged as before.
    assert verdicts(found) == {"toy.full": "ran", "toy.bound": "pass"}
    [full, _] = found.to_json()["claims"]
    bands = ("within 0.2 of it", "within 0.001 of it")
    assert (full["tolerance"], full["full_tolerance"], full["full_holds"]) == (*bands, False)
    # The wider band is for shortened runs.
    whole = reproduce("toy.full", store=tmp_path / "store")
    assert verdicts(whole) == {"toy.full": "fail"}


def test_shortened_runs_that_miss_what_full_ones_met_fail(paper: Paper, tmp_path: Path) -> None:
    path = paper.folder / "claims.csv"
    path.write_text(path.read_text().replace("abs 0.2,,", "abs 0.2,abs 0.0001,"))
    ask = {"quick": True, "store": tmp_path / "store"}
    assert verdicts(reproduce("toy.full", **ask)) == {"toy.full": "ran"}  # type: ignore[arg-type]
    for known, verdict in (("pass", "fail"), ("fail", "ran")):
        (paper.folder / "verdicts.csv").write_text(f"id,verdict,quick\ntoy.full,{known},\n")
        assert verdicts(reproduce("toy.full", **ask)) == {"toy.full": verdict}  # type: ignore[arg-type]


@pytest.mark.usefixtures("paper")
@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("toy.bound", ["toy.bound"]),
        ("toy:section 2", ["toy.bound", "toy.elsewhere"]),
        ("toy", [row.partition(",")[0] for row in CLAIMS]),
    ],
)
def test_a_claim_is_asked_for_by_its_id_its_paper_or_its_place(text: str, claims: list[str], tmp_path: Path) -> None:
    assert list(reproduce(text, store=tmp_path / "store").judged) == claims


@pytest.mark.usefixtures("paper")
def test_what_no_claim_is_called_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(elephan.InputError, match=r'no claim, paper or figure "toy.bond".*toy\.bound'):
        reproduce("toy.bond", store=tmp_path / "store")


def test_only_what_a_claim_needs_is_run(paper: Paper) -> None:
    wanted = reproduction.select([paper], ["toy.bound"])
    assert reproduction.needs(paper, wanted) == []
    wanted = reproduction.select([paper], ["toy.half"])
    assert [each.name for each in reproduction.needs(paper, wanted)] == ["buffers"]


@pytest.mark.parametrize(
    ("found", "value", "accept"),
    [
        (1.3, "1.2", "abs 0.05"),
        (0.0, "> 0", "sign"),
        (0.1, "< 0", "sign"),
        (0.0, "", "sign < 0"),
        (1.0, "", "so"),
        (9.0, "1", "factor 8"),
        (0.1, "", "min 0.2"),
        (0.3, "", "max 0.2"),
        (0.3, "", "in 0.1..0.2"),
        (1.2, "1", "rel 0.1"),
        (float("nan"), "1", "abs 1000"),
        (float("nan"), "", "min 0"),
    ],
)
def test_a_claim_can_fail(found: float, value: str, accept: str) -> None:
    assert not AcceptedBand.read(accept, value).holds(found)


def test_a_number_on_the_edge_of_its_rounding_is_accepted() -> None:
    assert AcceptedBand.read("abs 0.05", "1.2").holds(1.25)
    assert AcceptedBand.read("abs 0.005", "0.985").holds(0.99)


@pytest.mark.parametrize(
    ("text", "value"),
    [("near 3", "1"), ("abs 3", "big"), ("sign", "0"), ("sign", ""), ("sign < 0", "> 0"), ("in 3", ""), ("", "")],
)
def test_what_cannot_be_accepted_is_refused(text: str, value: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (whichever number cannot be read)
        AcceptedBand.read(text, value)


def test_arguments_of_measures_are_numbers_words_and_texts() -> None:
    arguments = {"case": 1, "delay": "25 ms", "law": "reno", "share": 0.1, "every": [1, 2], "on": True}
    assert parse("cell case=1 delay='25 ms' law=reno share=0.1 every=[1, 2] on=true") == ("cell", arguments)
    with pytest.raises(ValueError, match=r"cannot read 'share 0\.1'"):
        parse("cell share 0.1")
    with pytest.raises(ValueError, match="no measure 'cell'; there are used, rise, nearer, product"):
        MEASURES("cell case=1", None)


def test_differences_are_paired() -> None:
    first, second = MeasuredQuantity([0.90, 0.95, 1.0]), MeasuredQuantity([0.91, 0.96, 1.01])
    assert (second - first).ci95 == pytest.approx(0.0, abs=1e-12)  # rounding only
    assert least([first, second]).samples is first.samples
    assert largest([first, second]).samples is second.samples
    # NaN decides, at any position; and quantities that cannot be paired are not paired.
    unknown = MeasuredQuantity([float("nan")])
    assert np.isnan(least([first, unknown]).mean)
    assert np.isnan(largest([first, unknown]).mean)
    with pytest.raises(ValueError, match="3 replications cannot be paired with 1"):
        _ = first - unknown


def test_one_replication_without_a_number_leaves_none_as_the_verdict_has_it() -> None:
    assert MeasuredQuantity([0.5, float("nan"), 0.7]).to_json() == {"mean": None, "ci95": None}
    assert MeasuredQuantity([0.5, 0.7]).to_json() == {
        "mean": pytest.approx(0.6),
        "ci95": pytest.approx(12.706 * 0.1, rel=1e-4),
    }
    assert MeasuredQuantity([0.5]).to_json() == {"mean": 0.5, "ci95": None}


def test_a_point_is_found_by_what_its_label_begins_with(paper: Paper, tmp_path: Path) -> None:
    points = reproduce("toy.full", store=tmp_path / "store").runs[paper.name]["buffers"]
    assert points.at(buffer=25).labels == points.at(buffer="25 packets").labels
    with pytest.raises(NotRunError, match="0 points with buffer=2"):
        points.at(buffer=2)
    with pytest.raises(NotRunError, match="2 points with no labels"):
        points.at()
    flows = points.at(buffer=25).flows("goodput_bps", group="bulk")
    assert flows.shape == (points.at(buffer=25).document["run"]["replications"], 2)


def test_a_point_that_failed_leaves_its_claims_unjudged_and_no_others(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = paper.folder / "experiments/buffers.toml"
    path.write_text(path.read_text().replace('["5 packets", ', '["5 packets", "7 packets", '))

    def run(scenario: elephan.Scenario, **rest: Any) -> Any:
        if scenario.source["links"][0]["buffer"] == "7 packets":
            message = "out of order"
            raise RuntimeError(message)
        return elephan.run(scenario, **rest)

    def run_several(scenarios: Sequence[elephan.Scenario], **rest: Any) -> Any:
        return [run(scenario, **rest) for scenario in scenarios]

    monkeypatch.setattr(tasks, "run", run)
    monkeypatch.setattr(tasks, "run_several", run_several)
    found = reproduce(store=tmp_path / "store")
    assert [key for key, verdict in verdicts(found).items() if verdict != "not_run"] == ["toy.bound"]
    assert "1 points failed" in found.judged["toy.full"].note


def test_a_page_is_of_a_whole_paper(paper: Paper, tmp_path: Path) -> None:
    with pytest.raises(elephan.InputError, match="ask for toy instead of some of its claims"):
        write_pages(reproduce("toy.bound", store=tmp_path / "store"), tmp_path / "pages")
    assert not (tmp_path / "pages").exists()
    assert paper.name == "toy"


@pytest.fixture
def drawn(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> Paper:
    """The paper with a figure, which needs both of its points."""
    figures = PaperExhibits()

    @figures("Figure 1", "Use | and buffer", paper="It rises.", experiments=("buffers",))
    def figure1(runs: ExperimentRuns) -> tuple[Figure | Table, ...]:
        x = np.array([5.0, 25.0])
        y = np.array([runs["buffers"].at(buffer=buffer).link("utilization").mean() for buffer in x])
        line = Series("simulated", x, y, low=y - 0.01, high=y + 0.01)
        table = Table("Use", ("buffer", "use"), ((cell(5), cell(0.5)),))
        axes = Axis("buffer", "packets"), Axis("utilization", scale="share")
        return Figure("use", "Use", "It rises.", *axes, (line,), (Mark(0.9, "wanted", "y"),)), table

    paper.__dict__["figures"] = figures
    paper.about["cite"] = "Barman2004"  # type: ignore[index]
    paper.about["title"] = "A toy"  # type: ignore[index]
    paper.about["counts"] = [{"says": "twice as many", "measure": "product rate=4000"}]  # type: ignore[index]
    monkeypatch.setattr(import_module("elephan_evidence.report.papers"), "PAPERS", ("toy",))
    return paper


def test_pages_lead_from_a_figure_to_its_verdicts_and_from_those_to_the_argument(drawn: Paper, tmp_path: Path) -> None:
    path = drawn.folder / "deviations.toml"
    path.write_text(path.read_text().replace('["toy.half"]', '["toy.half", "toy.wrong"]'))
    index, page = write_pages(reproduce(store=tmp_path / "store"), tmp_path / "pages")
    text = index.read_text()
    assert "[A toy](toy.md) | 5 | 2 | 2 | 1 | 1 |" in text
    assert "**5 statements: 2 met, 2 explained by one variant and 1 not run.**" in text
    assert "Counted apart: 1 statement that a formula alone decides (1 met)." in text
    text = page.read_text()
    # First what came of it, then what was counted, then where to find the rest.
    leading = ["# A toy", "**5 statements: 2 met, ", "* twice as many: 400", "| in the paper |", "## Figure 1"]
    places = [text.index(each) for each in leading]
    assert places == sorted(places)
    assert "| [Figure 1](#figure-1-use--and-buffer) | Use \\| and buffer | 2 met and 2 explained by one" in text
    assert (tmp_path / "pages" / re.search(r"\((pictures/.*svg)\)", text)[1]).stat().st_size > 1000  # type: ignore[index]
    assert "[**deviation**](#1-it-is-not-so-small)" in text
    assert "### 1. it is not so small" in text
    assert "Explains `toy.half` and `toy.wrong`." in text
    assert re.search(r"`toy\.half`.* \(closes 95 %, 9\d % for sure\) \|", text)
    assert re.search(r"`toy\.bound`.*\| pass \(formula\) \|", text)
    assert "| it is above 0.3 |" in text
    # Claims without a figure are not lost.
    assert all(f"`{row.partition(',')[0]}`" in text for row in CLAIMS)


def test_pages_of_shortened_runs_say_that_they_ran(drawn: Paper, tmp_path: Path) -> None:
    path = drawn.folder / "claims.csv"
    path.write_text(path.read_text().replace("abs 0.2,,", "abs 0.001,abs 0.2,"))
    index, page = write_pages(reproduce(quick=True, store=tmp_path / "store"), tmp_path / "pages")
    assert "they say that every measure runs, not that the paper holds" in index.read_text()
    for each in (index, page):
        assert "**5 statements: 1 ran and 4 not run.**" in each.read_text()
    assert re.search(r"`toy\.full`.*\| ran \|", page.read_text())
