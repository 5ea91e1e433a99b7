"""Papers as data: what is accepted, how measures are called, what a verdict rests on; on a paper made up here."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import elephan
from elephan.papers import Paper, reproduction
from elephan.papers.accept import Accept
from elephan.papers.exhibits import Figures
from elephan.papers.measured import Found, Measured, largest, least
from elephan.papers.measures import parse
from elephan.papers.reproduction import Reproduction, reproduce
from elephan.papers.runs import NotRunError, Runs
from elephan.pictures.figure import Axis, Figure, Mark, Series
from elephan.pictures.table import Table, cell
from elephan.report.papers import write_pages
from toy_paper import CLAIMS, MEASURES, toy_paper

EACH = '[[deviations.each]]\nsays = "{}"\nmeasure = "named claim={{claim}} {}"\naccept = "{}"\n'


@MEASURES
def named(runs: Runs, claim: str, half: float = -1.0, wrong: float = -1.0) -> Found:
    assert "buffers" in runs
    return {"toy.half": half, "toy.wrong": wrong}[claim]


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
    assert not found.holds
    document = found.to_json()
    assert document["summary"] == {"toy": {"pass": 3, "deviation": 1, "fail": 1, "not_run": 1}}
    [half] = [claim for claim in document["claims"] if claim["id"] == "toy.half"]
    assert half["note"] == "it is not so small"
    assert half["measured"].keys() == {"mean", "ci95"}
    [ran] = document["experiments"]
    assert (ran["points"], ran["reused"]) == (2, 0)
    # The store has everything now.
    assert reproduce(store=tmp_path / "store").ran["toy"]["buffers"].reused == 2
    assert paper.claims.keys() == found.judged.keys()


def test_an_explanation_that_is_not_shown_does_not_count(paper: Paper, tmp_path: Path) -> None:
    path = paper.folder / "deviations.toml"
    path.write_text(path.read_text().replace("min 0.3", "min 1.3"))
    half = reproduce("toy.half", store=tmp_path / "store").judged["toy.half"]
    assert half.verdict == "fail"
    assert "is not shown: it is above 0.3" in half.note
    # Neither does one that rests on nothing.
    path.write_text(path.read_text().partition("[[deviations.shown]]")[0] + "shown = []\n")
    again = Paper(paper.folder, paper.about)
    argued = Reproduction((again,), ("toy.half",), {"toy": {}}, quick=False, wall_s=0.0).argued["toy"]
    assert [each.holds for each in argued] == [False]


def test_an_explanation_may_have_to_be_shown_of_each_claim(paper: Paper, tmp_path: Path) -> None:
    path = paper.folder / "deviations.toml"
    text = path.read_text().replace('["toy.half"]', '["toy.h*", "toy.wrong"]')
    path.write_text(text + EACH.format("one and a half", "half=1.5", "min 0"))
    found = reproduce("toy.half", "toy.wrong", store=tmp_path / "store")
    # What is said of both is so, but only one has what excuses it of its own.
    assert verdicts(found) == {"toy.half": "deviation", "toy.wrong": "fail"}
    assert "not shown of this claim" in found.judged["toy.wrong"].note
    half, wrong = found.to_json()["claims"]
    assert [(one["measured"], one["accept"], one["holds"]) for one in half["own"]] == [(1.5, "at least 0", True)]
    assert [one["holds"] for one in wrong["own"]] == [False]


@pytest.mark.parametrize(("value", "verdict"), [(0.105, "deviation"), (0.12, "fail")])
def test_one_check_of_a_claim_is_enough_and_may_accept_what_the_claim_does(
    paper: Paper, tmp_path: Path, value: float, verdict: str
) -> None:
    path = paper.folder / "deviations.toml"
    text = path.read_text().replace("toy.half", "toy.wrong")
    path.write_text(text + EACH.format("a", "wrong=-1", "min 0") + EACH.format("b", f"wrong={value}", "as claimed"))
    wrong = reproduce("toy.wrong", store=tmp_path / "store").judged["toy.wrong"]
    # 0.1, within 0.01 of it.
    assert (wrong.verdict, [one.holds for one in wrong.own]) == (verdict, [False, verdict == "deviation"])


@pytest.mark.usefixtures("paper")
def test_shortened_runs_keep_only_some_points(tmp_path: Path) -> None:
    found = reproduce(quick=True, store=tmp_path / "store")
    [point] = found.ran["toy"]["buffers"].points
    run = point.document["run"]
    assert (point.labels, run["replications"], run["duration_s"]) == ({"buffer": "25 packets"}, 1, 2.0)
    assert verdicts(found)["toy.half"] == "not_run"
    # Its interval is not known, and its measure says so.
    assert found.to_json()["claims"][1]["measured"]["ci95"] is None


def test_what_passes_by_the_wider_band_alone_says_so(paper: Paper, tmp_path: Path) -> None:
    path = paper.folder / "claims.csv"
    path.write_text(path.read_text().replace("abs 0.2,,", "abs 0.001,abs 0.2,"))
    quick = reproduce("toy.full", "toy.bound", quick=True, store=tmp_path / "store")
    claims = {claim["id"]: claim for claim in quick.to_json()["claims"]}
    assert [claim["verdict"] for claim in claims.values()] == ["pass", "pass"]
    full = claims["toy.full"]
    bands = ("within 0.2 of it", "within 0.001 of it")
    assert (full["tolerance"], full["full_tolerance"], full["full_holds"]) == (*bands, False)
    assert claims["toy.bound"]["full_holds"] is True
    assert quick.only_wider == {"toy": 1}
    # The wider band is for shortened runs.
    whole = reproduce("toy.full", store=tmp_path / "store")
    assert verdicts(whole) == {"toy.full": "fail"}
    assert whole.only_wider == {"toy": 0}


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
    assert not Accept.read(accept, value).holds(found)


def test_a_number_on_the_edge_of_its_rounding_is_accepted() -> None:
    assert Accept.read("abs 0.05", "1.2").holds(1.25)
    assert Accept.read("abs 0.005", "0.985").holds(0.99)


@pytest.mark.parametrize(
    ("text", "value"),
    [("near 3", "1"), ("abs 3", "big"), ("sign", "0"), ("sign", ""), ("sign < 0", "> 0"), ("in 3", ""), ("", "")],
)
def test_what_cannot_be_accepted_is_refused(text: str, value: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (whichever number cannot be read)
        Accept.read(text, value)


def test_arguments_of_measures_are_numbers_words_and_texts() -> None:
    arguments = {"case": 1, "delay": "25 ms", "law": "reno", "share": 0.1, "every": [1, 2], "on": True}
    assert parse("cell case=1 delay='25 ms' law=reno share=0.1 every=[1, 2] on=true") == ("cell", arguments)
    with pytest.raises(ValueError, match=r"cannot read 'share 0\.1'"):
        parse("cell share 0.1")
    with pytest.raises(ValueError, match="no measure 'cell'; there are used, rise, product"):
        MEASURES("cell case=1", None)


def test_differences_are_paired() -> None:
    first, second = Measured([0.90, 0.95, 1.0]), Measured([0.91, 0.96, 1.01])
    assert (second - first).ci95 == pytest.approx(0.0, abs=1e-12)  # rounding only
    assert least([first, second]) is first
    assert largest([first, second]) is second
    # What is no number decides, wherever it stands; and what cannot be paired is not.
    unknown = Measured([float("nan")])
    assert least([first, unknown]) is unknown
    assert largest([first, unknown]) is unknown
    with pytest.raises(ValueError, match="3 replications cannot be paired with 1"):
        _ = first - unknown


def test_one_replication_without_a_number_leaves_none_as_the_verdict_has_it() -> None:
    assert Measured([0.5, float("nan"), 0.7]).to_json() == {"mean": None, "ci95": None}
    assert Measured([0.5, 0.7]).to_json() == {"mean": pytest.approx(0.6), "ci95": pytest.approx(12.706 * 0.1, rel=1e-4)}
    assert Measured([0.5]).to_json() == {"mean": 0.5, "ci95": None}


def test_a_point_is_found_by_what_its_label_begins_with(paper: Paper, tmp_path: Path) -> None:
    points = reproduce("toy.full", store=tmp_path / "store").runs[paper.name]["buffers"]
    assert points.at(buffer=25).labels == points.at(buffer="25 packets").labels
    with pytest.raises(NotRunError, match="0 points with buffer=2"):
        points.at(buffer=2)
    with pytest.raises(NotRunError, match="2 points with no labels"):
        points.at()
    flows = points.at(buffer=25).flows("goodput_bps", group="bulk")
    assert flows.shape == (points.at(buffer=25).document["run"]["replications"], 2)


def test_a_point_that_failed_leaves_its_claims_unjudged_and_no_others(paper: Paper, tmp_path: Path) -> None:
    path = paper.folder / "experiments/buffers.toml"
    path.write_text(path.read_text().replace('["5 packets", ', '["5 packets", "no buffer", '))
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
    figures = Figures()

    @figures("Figure 1", "Use | and buffer", paper="It rises.", experiments=("buffers",))
    def figure1(runs: Runs) -> tuple[Figure | Table, ...]:
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
    monkeypatch.setattr(import_module("elephan.report.papers"), "PAPERS", ("toy",))
    return paper


def test_pages_lead_from_a_figure_to_its_verdicts_and_from_those_to_the_argument(drawn: Paper, tmp_path: Path) -> None:
    path = drawn.folder / "deviations.toml"
    text = path.read_text().replace('["toy.half"]', '["toy.half", "toy.wrong"]')
    path.write_text(text + EACH.format("none", "half=-1", "min 0") + EACH.format("one and a half", "half=1.5", "min 0"))
    index, page = write_pages(reproduce(store=tmp_path / "store"), tmp_path / "pages")
    assert "[A toy](toy.md) | 6 | 3 | 1 | 1 | 1 |" in index.read_text()
    text = page.read_text()
    # First what came of it, then what was counted, then where to find the rest.
    leading = ["# A toy", "**6 claims: 3 met, ", "* twice as many: 400", "| in the paper |", "## Figure 1"]
    places = [text.index(each) for each in leading]
    assert places == sorted(places)
    assert "wider" not in text
    assert "| [Figure 1](#figure-1-use--and-buffer) | Use \\| and buffer | 2 met, 1 not met for a shown reason" in text
    assert (tmp_path / "pages" / re.search(r"\((pictures/.*svg)\)", text)[1]).stat().st_size > 1000  # type: ignore[index]
    assert "[**deviation**](#deviation-1-it-is-not-so-small)" in text
    assert "### Deviation 1: it is not so small" in text
    assert "Of `toy.half`. **Not shown of `toy.wrong`.**" in text
    assert re.search(r"`toy\.half`.* \(one and a half: 1\.5\) \|", text)
    assert "| it is above 0.3 |" in text
    # What stands at no figure is not lost.
    assert all(f"`{row.partition(',')[0]}`" in text for row in CLAIMS)


def test_pages_of_shortened_runs_say_what_passes_by_wider_bands_alone(drawn: Paper, tmp_path: Path) -> None:
    path = drawn.folder / "claims.csv"
    path.write_text(path.read_text().replace("abs 0.2,,", "abs 0.001,abs 0.2,"))
    index, page = write_pages(reproduce(quick=True, store=tmp_path / "store"), tmp_path / "pages")
    assert "| paper | claims | pass | by wider bands only | deviation |" in index.read_text()
    assert "[A toy](toy.md) | 6 | 2 | 1 | 0 | 0 | 4 |" in index.read_text()
    said = "2 met (1 of them only within the wider bands of `--quick`)"
    assert said in index.read_text()
    assert f"**6 claims: {said} and 4 not run.**" in page.read_text()
    assert "| pass in the wider band; not within 0.001 of it |" in page.read_text()
    # What is not there cannot be drawn, and the page is written.
    assert "*Not drawn:* buffers: 0 points with buffer=5" in page.read_text()
