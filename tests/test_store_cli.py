"""``elephan store`` and ``elephan run --store`` answer as documented."""

import json
import re
import sys
from pathlib import Path

import pytest

from conftest import Command
from elephan import Scenario
from elephan.store import Store


def test_a_run_in_the_store_is_shown_from_there(
    elephan: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, asked = tmp_path / "store", ("run", small, "--store", tmp_path / "store", "--replications", 2)
    first = elephan(*asked, "--json")
    monkeypatch.setattr(sys.modules["elephan.runs"], "simulate_all", lambda *_, **__: pytest.fail("was run again"))
    again = elephan(*asked, "--json")
    assert (first.code, again.code) == (0, 0)
    assert first.out == again.out
    assert "is in the store" in again.err
    table = elephan(*asked, "--quiet")
    assert (
        table.out
        == elephan("store", "show", json.loads(first.out)["run"]["id"][:8], "--store", store).out[: len(table.out)]
    )


def test_files_of_a_stored_run_are_those_of_the_run(elephan: Command, small: Path, tmp_path: Path) -> None:
    for out in ("a", "b"):
        assert elephan("run", small, "--store", tmp_path / "store", "--out", tmp_path / out).code == 0
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "b").iterdir())
    for name in names:
        if name == "run.json":
            a, b = (json.loads((tmp_path / out / name).read_text()) for out in ("a", "b"))
            assert a | {"provenance": 0} == b | {"provenance": 0}
            assert a["provenance"].items() <= b["provenance"].items()
        else:
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.slow
def test_pictures_are_drawn_of_a_stored_run_too(elephan: Command, small: Path, tmp_path: Path) -> None:
    asked = ("run", small, "--store", tmp_path / "store", "--out", tmp_path / "out")
    elephan(*asked)
    assert elephan(*asked, "--plot").code == 0
    assert list((tmp_path / "out").glob("*.png")) + list((tmp_path / "out").glob("*.svg"))


def test_a_precision_that_was_not_met_is_still_not_met(elephan: Command, small: Path, tmp_path: Path) -> None:
    asked = ("run", small, "--store", tmp_path / "store", "--precision", "0.01%", "--max-replications", 5)
    first, again = elephan(*asked), elephan(*asked)
    assert (first.code, again.code) == (1, 1)
    assert first.err.splitlines()[-1] == again.err.splitlines()[-1]
    assert "precision not met after 5 replications" in again.err


@pytest.fixture
def store(small: Path, tmp_path: Path) -> Path:
    with Store(tmp_path / "store") as opened:
        for count in (1, 2):
            scenario = Scenario.from_file(small).replace(
                {"flows[0].count": count, "duration": "1 s", "warmup": "0.5 s"}
            )
            opened.run(scenario, replications=2, labels={"flows[0].count": count, "kind": "plain"})
        opened.fail("key", "text", {"flows[0].count": 3}, "it went wrong")
    return tmp_path / "store"


def test_runs_are_listed_by_label(elephan: Command, store: Path) -> None:
    listed = elephan("store", "ls", "--store", store)
    assert (listed.code, "flows[0].count" in listed.out, "plain" in listed.out) == (0, True, True)
    assert "2 rows" in listed.err
    assert "it went wrong" in listed.err
    one = elephan("store", "ls", "--store", store, "--where", "flows[0].count=2", "--json")
    (row,) = json.loads(one.out)
    assert (row["flows[0].count"], row["replications"], row["kind"]) == (2, 2, "plain")
    wrong = elephan("store", "ls", "--store", store, "--where", "flow[0].count=2")
    assert (wrong.code, wrong.out) == (2, "")
    assert 'did you mean "flows[0].count"?' in wrong.err


def test_list_is_ls(elephan: Command, store: Path) -> None:
    assert elephan("store", "list", "--store", store) == elephan("store", "ls", "--store", store)


def test_tables_of_a_store_are_described(elephan: Command, store: Path) -> None:
    done = elephan("store", "tables", "--store", store)
    assert done.code == 0
    assert len(done.out.splitlines()) <= 15
    tables = json.loads(elephan("store", "tables", "--store", store, "--json").out)
    assert [table["name"] for table in tables] == ["results", "runs", "links", "groups", "points", "failures", "names"]
    for table in tables:
        # Each can be asked, column by column.
        names = ", ".join(f'"{column["name"]}"' for column in table["columns"])
        asked = elephan("store", "query", f"SELECT {names} FROM {table['name']}", "--store", store)
        assert asked.code == 0, asked.err
        assert [column["name"] for column in table["columns"] if not column["meaning"]] == []
    columns = {column["name"]: column for column in tables[0]["columns"]}
    assert columns["core.queueing_delay_s"] == {
        "name": "core.queueing_delay_s",
        "unit": "s",
        "meaning": "waiting time at the link, own service excluded, mean over packets",
    }
    assert columns["flows[0].count"]["meaning"] == "label"
    one = elephan("store", "tables", "links", "--store", store)
    assert "queueing_delay_p95_s" in one.out
    assert "_ci95 is the half-width" in one.out
    wrong = elephan("store", "tables", "link", "--store", store)
    assert (wrong.code, wrong.err) == (2, 'store tables: there is no table "link"; did you mean "links"?\n')


def test_tables_are_described_before_there_is_a_store(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ELEPHAN_STORE", raising=False)
    assert "queueing_delay_s" in elephan("store", "tables", "links").out
    assert list(tmp_path.iterdir()) == [], "none is made"
    assert elephan("store", "tables", "--store", tmp_path / "none").code == 2


def test_sql_answers_and_wrong_sql_is_one_line(elephan: Command, store: Path) -> None:
    sql = 'SELECT "flows[0].count" AS n, "bulk.flows" AS flows FROM results ORDER BY 1'
    assert json.loads(elephan("store", "query", sql, "--store", store, "--json").out) == [
        {"n": 1, "flows": 1},
        {"n": 2, "flows": 2},
    ]
    assert "flows" in elephan("store", "query", sql, "--store", store).out
    # An interval has no more digits than its value, and none if nothing is left of it.
    sql = "SELECT 0.98765432 AS used, 0.00001234567 AS used_ci95, 1.0 AS x, 5.73687e-07 AS x_ci95"
    shown = [line.split() for line in elephan("store", "query", sql, "--store", store).out.splitlines()]
    assert (shown[0], shown[-1]) == (["used", "used_ci95", "x", "x_ci95"], ["0.987654", "1.2e-05", "1"])
    many = elephan("store", "query", "SELECT a.rowid FROM runs a, runs b, runs c, runs d, runs e", "--store", store)
    lines = many.out.splitlines()
    assert all(line.strip() for line in (lines[0], lines[-1]))
    assert len(lines) + many.err.count("\n") == 15
    assert "more with --limit 0" in many.err
    wrong = elephan("store", "query", "SELECT utilisation FROM links", "--store", store)
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    assert 'did you mean "utilization"?' in wrong.err
    unknown = elephan("store", "query", "SELECT zzz FROM runs", "--store", store)
    assert (unknown.code, unknown.err.count("\n")) == (2, 1)
    # The number is that of the columns of all tables.
    assert re.search(r", … \(\d+ columns: elephan store tables\)$", unknown.err), unknown.err
    assert len(unknown.err) < 300


def test_an_export_into_a_folder_is_refused(elephan: Command, store: Path, tmp_path: Path) -> None:
    done = elephan("store", "export", "--store", store, "--out", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"{tmp_path}: is a folder; give the name of a file, such as {tmp_path / 'all.csv'}\n"


def test_an_export_is_a_row_for_each_run(elephan: Command, store: Path, tmp_path: Path) -> None:
    asked = ("store", "export", "--store", store, "--columns", "labels,replications,core.utilization")
    assert elephan(*asked, "--out", tmp_path / "all.csv").code == 0
    lines = (tmp_path / "all.csv").read_text().splitlines()
    assert lines[0] == "flows[0].count,kind,replications,core.utilization"
    assert [line.split(",")[:3] for line in lines[1:]] == [["1", '"plain"', "2"], ["2", '"plain"', "2"]]
    wrong = elephan(*asked, "--format", "xlsx")
    assert (wrong.code, "use csv, parquet, json" in wrong.err) == (2, True)


def test_an_export_has_the_form_of_its_suffix(elephan: Command, store: Path, tmp_path: Path) -> None:
    first = {}
    for name in ("all.parquet", "all.json", "all.csv", "all"):
        assert elephan("store", "export", "--store", store, "--out", tmp_path / name).code == 0
        first[name] = (tmp_path / name).read_bytes()[:4]
    assert first["all.parquet"] == b"PAR1"
    assert first["all.json"][:1] in b"[{"
    assert first["all.csv"] == first["all"] == b"flow"
    assert elephan("store", "export", "--store", store, "--out", tmp_path / "x.json", "--format", "csv").code == 0
    assert (tmp_path / "x.json").read_bytes()[:4] == b"flow"


def test_damage_exits_with_1_and_repair_mends_it(elephan: Command, store: Path) -> None:
    assert elephan("store", "verify", "--store", store) == (0, "2 runs whole, 0 damaged\n", "")
    file = next(store.glob("runs/*/*/links.parquet"))
    file.write_bytes(b"PAR1")
    found = elephan("store", "verify", "--store", store)
    assert found.code == 1
    assert found.out.startswith(f"run {file.parent.name}: links.parquet: has changed: its SHA-256 is ")
    assert json.loads(elephan("store", "verify", "--store", store, "--json").out)[0]["run"] == file.parent.name
    assert elephan("store", "verify", "--repair", "--store", store).out.endswith("1 run whole, 0 damaged\n")
    assert elephan("store", "verify", "--store", store).code == 0


def test_cleaning_says_first_what_would_go(elephan: Command, store: Path) -> None:
    asked = ("store", "gc", "--store", store, "--where", "flows[0].count=2")
    assert elephan(*asked, "--dry-run").out.startswith("would remove 1 run and 0 leftovers: ")
    assert elephan(*asked).out.startswith("removed 1 run and 0 leftovers: ")
    assert json.loads(elephan("store", "gc", "--store", store, "--json").out)["runs"] == 0
    assert elephan("store", "gc", "--store", store, "--older-than", "soon").code == 2


def test_stores_are_merged(elephan: Command, store: Path, tmp_path: Path) -> None:
    asked = ("store", "merge", store, "--store", tmp_path / "all")
    assert elephan(*asked).out == "added 2 runs; there already: 0\n"
    assert elephan(*asked).out == "added 0 runs; there already: 2\n"
    names = [
        elephan("store", "export", "--store", each, "--out", tmp_path / f"{i}.csv")
        for i, each in enumerate((store, tmp_path / "all"))
    ]
    assert [name.code for name in names] == [0, 0]
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()


@pytest.mark.parametrize("words", [("ls",), ("show", "ab"), ("query", "SELECT 1"), ("export",), ("verify",), ("gc",)])
def test_a_folder_that_is_no_store_is_refused_and_not_made(elephan: Command, tmp_path: Path, words: tuple[str]) -> None:
    done = elephan("store", *words, "--store", tmp_path / "none")
    assert (done.code, done.out) == (2, "")
    assert "there is none; give the folder of one" in done.err
    assert not (tmp_path / "none").exists()


def test_a_store_that_cannot_be_made_is_one_line(elephan: Command, small: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = elephan("run", small, "--store", tmp_path / "file")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_label_that_no_run_has_is_named_with_those_that_there_are(
    elephan: Command, small: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    assert elephan("sweep", small, "--over", "links[0].buffer=10,12 packets", "--store", store, "-q").code == 0
    found = elephan("store", "ls", "--store", store, "--where", "buffer=7 packets")
    assert found.out.splitlines() == ["no run has links[0].buffer = 7 packets; runs have 10 packets, 12 packets"]
