"""Pages of comparisons: they agree with the document, with a testbed and without, valid or not."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import elephan
from conftest import Command
from elephan import results
from elephan.comparisons import ScenarioComparison, compare
from elephan.reports import report
from elephan.reports.testbed_section import counted
from elephan.scenario import EXAMPLE, Scenario
from report_pages import Node, numbers, read, tables
from testbeds import DIFFERENT, beside, faked, punctual

pytestmark = pytest.mark.slow

LATE = "replication 1: the relay stood still for 30.1 ms, more than half a round trip, 20.0 ms"
QUANTITIES = "Quantities, with 95 % intervals where there are any"
SCALES = {"utilization": 100, "queueing_delay_s": 1e3, "loss_ratio": 100}
"""Factors from a document's numbers to a page's, if not one."""


@pytest.fixture(scope="module")
def alone() -> ScenarioComparison:
    """A comparison without a testbed."""
    scenario = Scenario.from_text(EXAMPLE).replace(duration="20 s", warmup="5 s", replications=2)
    return compare(scenario.replace({"record": {"every": "50 ms"}}), real=False)


@pytest.fixture(scope="module")
def both(alone: ScenarioComparison) -> ScenarioComparison:
    """A comparison with a simulation in place of the testbed, with a smaller buffer so that there are gaps."""
    other = elephan.run(alone.scenario.replace({"links[0].buffer": "80 packets"}), series=True)
    return beside(alone, replace(other, scenario=alone.simulated.scenario))


@pytest.fixture(scope="module")
def folder(both: ScenarioComparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compared")
    both.write(path)
    return path


def page_of(source: Path | ScenarioComparison, tmp_path: Path) -> Node:
    return read(report(source, tmp_path / "page.html").read_text())


def headline(page: Node) -> str:
    return page.all("p", class_="headline")[0].text


def test_a_folder_has_both_results_with_their_series(folder: Path) -> None:
    for name in ("simulation", "testbed"):
        assert {path.name for path in (folder / name).iterdir()} >= {"run.json", "samples.parquet", "scenario.toml"}
    document = json.loads((folder / "testbed" / "run.json").read_text())
    assert document["testbed"] == json.loads((folder / "compare.json").read_text())["testbed"]["testbed"]


def test_a_page_says_what_the_document_says(folder: Path, tmp_path: Path) -> None:
    document = json.loads((folder / "compare.json").read_text())
    page = page_of(folder, tmp_path)
    rows = [row for row in document["rows"] if None not in row.values()]
    assert len(rows) == 7
    for column, key in ((2, "model"), (3, "simulation"), (4, "testbed")):
        expected = [SCALES.get(row["name"], 1) * row[key] for row in rows]
        assert numbers(page, QUANTITIES, column) == pytest.approx(expected)
    for column, key in ((5, "simulation_gap"), (6, "model_gap")):
        assert numbers(page, QUANTITIES, column) == pytest.approx([100 * row[key] for row in rows])
    worst = max(abs(row["simulation_gap"]) for row in rows)
    assert headline(page) == f"Simulation within {100 * worst:.2g}\u00a0% of the testbed"
    assert "less than 4 us late: its numbers are valid." in page.all("p", class_="sentence")[0].text
    facts = {term.text: value.text for term, value in zip(page.all("dt"), page.all("dd"), strict=True)}
    assert facts["run"] == document["simulation"]["run"]["id"]
    assert "numpy" in facts


def test_a_page_has_the_numbers_of_both_sides(folder: Path, tmp_path: Path) -> None:
    found = tables(page_of(folder, tmp_path))
    assert [row[0] for row in found["Links, with 95 % intervals"]] == ["core, simulation", "core, testbed"]
    assert [row[0] for row in found["Groups of flows, with 95 % intervals"]] == ["bulk, simulation", "bulk, testbed"]


def test_pictures_show_both_sides_and_the_ends_of_the_models_sawtooth(folder: Path, tmp_path: Path) -> None:
    page = page_of(folder, tmp_path)
    windows, backlog = page.all("figure")
    words = windows.all("p", class_="words")[0].text
    assert "simulation: 2 flows: between" in words
    assert "testbed: 2 flows: between" in words
    model = {row["name"]: row["model"] for row in json.loads((folder / "compare.json").read_text())["rows"]}
    assert f"Dashed: by the model {model['cwnd_high_segments']:.4g} (highest)" in words
    assert [name.text for name in backlog.all("span", class_="name")] == [
        *("simulation", "testbed", "warm-up, not counted")
    ]
    assert len(windows.all("details")[0].all("tr")) > 100


def test_the_scenario_of_a_page_gives_its_comparison_again(folder: Path, tmp_path: Path) -> None:
    page = page_of(folder, tmp_path)
    text = page.all("section", id="scenario")[0].all("code")[0].text
    assert Scenario.from_text(text).id == json.loads((folder / "compare.json").read_text())["simulation"]["run"]["id"]
    line = page.all("section", id="reproduce")[0].all("code")[0].text
    assert line == "sudo elephan compare scenario.toml --out compared/"


def test_punctuality_is_said_of_each_replication(both: ScenarioComparison, tmp_path: Path) -> None:
    assert both.tested is not None
    late = punctual(p99_us=2048, suspect=3, attempts=3, latest_s=0.0301)
    tested = replace(both.tested, valid=False, objections=(LATE,), punctuality=(punctual(), late))
    page = page_of(replace(both, tested=tested), tmp_path)
    caption = "Punctuality of the testbed"
    assert [row[:3] for row in tables(page)[caption]] == [["0", "yes", "1"], ["1", "no", "3"]]
    assert numbers(page, caption, 4) == [4, 2048]
    assert numbers(page, caption, 5) == pytest.approx([0.0035, 30.1])
    assert numbers(page, caption, 9) == [0, 3]


@pytest.mark.slow
def test_what_the_kernel_counted_and_did_otherwise_is_said(both: ScenarioComparison, tmp_path: Path) -> None:
    page = page_of(both, tmp_path)
    rows = tables(page)["Counted by the kernel"]
    assert [row[:5] for row in rows[:2]] == [[str(i), "all senders", "9,000", "8,990", "12"] for i in range(2)]
    assert [(row[1], *row[5:]) for row in rows[2:]] == [("ghstcp", "1", "3", "0", "40", "20", "0")] * 2
    assert f"Not as the scenario says: {DIFFERENT}." in page.text
    nothing: results.TestbedRecord = {
        "valid": True,
        "objections": [],
        "punctuality": [],
        "differences": [],
        "acks": [],
        "laws": [],
    }
    assert counted(nothing) is None


def test_a_testbed_that_was_late_is_an_invalid_run(
    alone: ScenarioComparison, both: ScenarioComparison, tmp_path: Path
) -> None:
    assert both.tested is not None
    page = page_of(beside(alone, both.tested.result, LATE), tmp_path)
    assert headline(page) == "The testbed is not valid"
    assert f"Invalid run, its numbers mean nothing: {LATE}." in page.all("p", class_="sentence")[0].text
    assert page.all("section", id="answer")[0].attributes["class"] == "answer bad"


def test_without_a_testbed_the_model_is_measured_by_the_simulation(alone: ScenarioComparison, tmp_path: Path) -> None:
    page = page_of(alone, tmp_path)
    expected = [
        row.model / row.simulation - 1 if row.relative else row.model - row.simulation
        for row in alone.rows
        if row.model is not None and row.simulation is not None
    ]
    assert numbers(page, QUANTITIES, 4) == pytest.approx([100 * gap for gap in expected])
    assert headline(page).startswith("Model within ")
    assert "Punctuality of the testbed" not in tables(page)
    assert len(page.all("figure")) == 2
    assert page.all("section", id="reproduce")[0].all("code")[0].text.startswith("elephan compare scenario.toml --no-")


def test_a_scenario_to_which_no_model_applies_has_a_page(alone: ScenarioComparison, tmp_path: Path) -> None:
    red = alone.scenario.replace({"links[0].queue": {"discipline": "codel"}})
    page = page_of(compare(red, 1, real=False), tmp_path)
    assert headline(page) == "Nothing to compare with"
    assert "No model applies to this scenario" in page.all("section", id="answer")[0].text
    assert len(page.all("figure")) == 2


def test_many_flows_are_a_mean_and_a_range(alone: ScenarioComparison, tmp_path: Path) -> None:
    page = page_of(compare(alone.scenario.replace({"flows[0].count": 31}), 1, real=False), tmp_path)
    names = [name.text for name in page.all("figure")[0].all("span", class_="name")]
    assert names == ["simulation: 31 flows, mean and range", "warm-up, not counted"]


def test_a_document_alone_gives_a_page_without_pictures(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "compare.json", tmp_path)
    page = page_of(tmp_path, tmp_path)
    assert not page.all("figure")
    assert tables(page)[QUANTITIES] == tables(page_of(folder, tmp_path))[QUANTITIES]
    assert page.all("section", id="scenario")


def test_results_of_another_comparison_are_not_drawn(folder: Path, tmp_path: Path, elephan: Command) -> None:
    shutil.copytree(folder, tmp_path / "mixed")
    path = tmp_path / "mixed" / "testbed" / "run.json"
    document = json.loads(path.read_text())
    document["run"]["wall_s"] += 1
    path.write_text(json.dumps(document))
    done = elephan("report", tmp_path / "mixed")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "testbed: is of another run than" in done.err


def test_the_verb_writes_what_the_page_needs(alone: ScenarioComparison, tmp_path: Path, elephan: Command) -> None:
    file = tmp_path / "small.toml"
    file.write_text(alone.scenario.replace(duration="6 s", warmup="2 s", replications=1).text)
    out = tmp_path / "out"
    done = elephan("compare", file, "--no-testbed", "--out", out, "--json")
    assert done.code == 0
    assert json.loads(done.out) == json.loads((out / "compare.json").read_text())
    assert elephan("report", out, "--out", tmp_path / "page.html").code == 0
    assert len(read((tmp_path / "page.html").read_text()).all("figure")) == 2
    done = elephan("compare", file, "--no-testbed", "--out", file)
    assert (done.code, done.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("objections", [(), (LATE,)])
def test_a_run_on_a_testbed_says_whether_it_is_valid(
    alone: ScenarioComparison, tmp_path: Path, objections: tuple[str, ...]
) -> None:
    page = read(report(faked(alone.simulated, *objections), tmp_path / "run.html").read_text())
    assert len(tables(page)["Punctuality of the testbed"]) == 2
    assert headline(page).startswith("The testbed is not valid" if objections else "core is ")
    assert ("Invalid run" in page.all("section", id="answer")[0].text) == bool(objections)
    line = page.all("section", id="reproduce")[0].all("code")[0].text
    assert line == "sudo elephan testbed run scenario.toml --out run/"
