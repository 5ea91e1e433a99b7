"""Stored results are found again: by question, by labels and by SQL."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import elephan
from elephan.errors import InputError
from elephan.runs.result import RunResult
from elephan.store import PackedRun, Store, pack, schema
from elephan.store.index import FILE

SHORT = elephan.Scenario.from_text(elephan.EXAMPLE).replace({"duration": "0.3 s", "warmup": "0.1 s"})


@pytest.fixture(scope="module")
def results() -> list[RunResult]:
    return [elephan.run(SHORT, replications=2, seed=seed) for seed in range(6)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store") as opened:
        yield opened


def test_a_store_says_where_it_is(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert repr(store) == f"<Store {str(tmp_path)!r}>"
    with Store(tmp_path, readonly=True) as store:
        assert repr(store) == f"<Store {str(tmp_path)!r}, to be read only>"


def test_a_run_comes_back_as_it_was_put(store: Store, results: list[RunResult]) -> None:
    put = store.put(results[0], labels={"buffer": "25 packets"})
    found = store.find(store.key(results[0].scenario))
    assert found is not None
    assert found.id == put.id == results[0].scenario.id
    assert found.document == results[0].to_json()
    assert list(found.document["run"]) == list(results[0].to_json()["run"])
    assert found.scenario == results[0].scenario
    assert found.labels == [{"buffer": "25 packets"}]
    assert found.read("links").column("utilization").to_pylist() == [
        float(o.links["utilization"][0]) for o in results[0].outcomes
    ]
    assert found.read("flows").num_rows == 4


def test_what_is_volatile_stands_under_provenance_alone(tmp_path: Path, results: list[RunResult]) -> None:
    again = elephan.run(results[0].scenario)
    texts = []
    for name, result in (("a", results[0]), ("b", again)):
        with Store(tmp_path / name) as store:
            full = json.loads((store.put(result).folder / "run.json").read_text())
        assert full.pop("provenance")["wall_s"] == result.wall_s
        texts.append(json.dumps(full))
    assert texts[0] == texts[1]


def test_checksums_can_be_checked_with_other_tools(store: Store, results: list[RunResult]) -> None:
    folder = store.put(results[0]).folder
    sums = json.loads((folder / "run.json").read_text())["files"]
    assert set(sums) == {"flows.parquet", "links.parquet", "scenario.toml"}
    for name, expected in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == expected


def test_a_run_that_is_there_is_not_run_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = store.run(SHORT, labels={"a": 1})
    monkeypatch.setattr("elephan.store.store.run", lambda *_, **__: pytest.fail("was run again"))
    assert store.run(SHORT, labels={"a": 2}).id == first.id
    assert first.labels == [{"a": 1}, {"a": 2}]
    with Store(store.folder) as other:
        assert other.run(SHORT).document == first.document


def test_what_must_be_found_out_first_has_a_key_of_its_own(store: Store) -> None:
    auto = SHORT.replace({"warmup": "auto", "duration": "20 s"})
    run = store.run(auto)
    assert run.id == Store.key(auto) != auto.id
    assert run.document["run"]["warmup_rule"].startswith("MSER-5")
    assert run.scenario.warmup_rule == run.document["run"]["warmup_rule"]
    assert store.get(run.document["run"]["id"][:16]).id == run.id
    keys = {
        Store.key(SHORT, **asked)
        for asked in (
            {},
            {"precision": "1%"},
            {"precision": "2%"},
            {"precision": "1%", "max_replications": 50},
            {"engine": "reference"},
        )
    }
    assert len(keys) == 5
    assert Store.key(SHORT, precision="1%") == Store.key(SHORT, precision=["utilization=1%", "goodput=1%"])


def test_series_are_added_to_a_run_that_has_none(store: Store) -> None:
    plain = store.run(SHORT, labels={"a": 1})
    assert store.find(plain.id, series=True) is None
    with pytest.raises(InputError, match="series=True"):
        plain.samples()
    full = store.run(SHORT, series=True)
    assert full.id == plain.id
    assert full.samples().rows > 0
    assert full.labels == [{"a": 1}]
    assert store.verify() == []


def test_labels_keep_their_kinds(store: Store, results: list[RunResult]) -> None:
    labels = {"text": "1 bdp", "whole": 2, "real": 2.5, "flag": True, "queue": {"discipline": "red", "max_p": 0.1}}
    store.put(results[0], labels=labels)
    kept = dict(labels, queue='{ discipline = "red", max_p = 0.1 }')
    assert store.get(results[0].scenario.id).labels == [kept]
    assert store.table(columns=["labels"]).arrow.to_pylist() == [dict(sorted(kept.items()))]
    assert [run.id for run in store.runs(flag=True, whole=2)] == [results[0].scenario.id]
    assert store.runs(whole=3) == []


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"": 1}, "is no name"),
        ({"run": 1}, "choose another name"),
        ({"x": float("nan")}, "x: nan"),
        ({"x": None}, "x: has no value"),
        ({"x": object()}, "x: object cannot be"),
    ],
)
def test_labels_that_cannot_be_kept_are_refused(
    store: Store, results: list[RunResult], labels: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        store.put(results[0], labels=labels)
    assert store.runs() == []


def test_labels_that_differ_in_case_alone_are_refused(store: Store, results: list[RunResult]) -> None:
    store.put(results[0], labels={"Buffer": 1})
    with pytest.raises(InputError, match=r'"buffer": the store calls it "Buffer"'):
        store.put(results[1], labels={"buffer": 1})


def test_a_label_stands_where_the_run_has_a_column_of_its_name(store: Store, results: list[RunResult]) -> None:
    store.put(results[4], labels={"seed": 40})
    store.put(results[5])
    assert sorted(store.table(columns=["seed"]).arrow["seed"].to_pylist()) == [5, 40]
    assert sorted(store.query("SELECT seed FROM results").arrow["seed"].to_pylist()) == [5, 40]


def test_an_unknown_label_or_column_is_named_with_the_nearest(store: Store, results: list[RunResult]) -> None:
    assert store.runs(buffer=1) == []
    store.put(results[0], labels={"buffer": 1})
    with pytest.raises(InputError, match='no "bufer"; did you mean "buffer"'):
        store.runs(bufer=1)
    with pytest.raises(InputError, match=r'did you mean "core\.utilization"'):
        store.table(columns=["core.utilisation"])


def test_a_prefix_finds_one_run_or_says_why_not(store: Store, results: list[RunResult]) -> None:
    ids = sorted(store.put(result).id for result in results)
    assert store.get(ids[0][:20]).id == ids[0]
    with pytest.raises(InputError, match="no run begins so"):
        store.get("zz")
    with pytest.raises(InputError, match="several runs begin so"):
        store.get("")


def test_failures_are_kept_until_the_point_succeeds(store: Store, results: list[RunResult]) -> None:
    key = store.key(results[0].scenario)
    store.fail(key, "text", {"a": 1}, "went wrong")
    store.fail(key, "text", {"a": 2}, "went wrong")
    (store.folder / FILE).rename(store.folder / "gone")
    with Store(store.folder) as again:
        assert [(failure["labels"], failure["error"]) for failure in again.failures()] == [
            ({"a": 1}, "went wrong"),
            ({"a": 2}, "went wrong"),
        ]
        again.put(results[0])
        again.flush()
        assert again.failures() == []
        assert list((store.folder / "failures").iterdir()) == []


@pytest.mark.slow
def test_sql_answers_in_columns_and_by_group(store: Store, results: list[RunResult]) -> None:
    for i, result in enumerate(results):
        store.put(result, labels={"links[0].buffer": f"{i % 2} bdp"})
    found = store.query('SELECT "links[0].buffer" AS b, avg("core.utilization") AS u, count(*) FROM results GROUP BY 1')
    means = [np.mean([r.to_json()["links"][0]["utilization"]["mean"] for r in results[i::2]]) for i in (0, 1)]
    assert found.columns == ["b", "u", "count(*)"]
    assert found.arrow["b"].to_pylist() == ["0 bdp", "1 bdp"]
    # Sums in another order differ in the last digits.
    assert found.arrow["u"].to_pylist() == pytest.approx(means, rel=1e-14)
    assert found.to_pandas().shape == found.to_polars().shape == (2, 3)
    joined = store.query("SELECT l.run, r.run FROM links AS l JOIN runs AS r USING (run)")
    assert joined.columns == ["run", "run_2"]


def test_measured_quantities_are_grouped_by_labels_and_joined(store: Store, results: list[RunResult]) -> None:
    for i, result in enumerate(results):
        store.put(result, labels={"flows[bulk].control": ("cubic", "reno")[i % 2]})
    sql = 'SELECT "flows[bulk].control" AS law, avg(utilization) AS u FROM links JOIN points USING (run) GROUP BY law'
    means = [np.mean([r.to_json()["links"][0]["utilization"]["mean"] for r in results[i::2]]) for i in (0, 1)]
    found = store.query(sql).arrow
    assert (found["law"].to_pylist(), found["u"].to_pylist()) == (["cubic", "reno"], pytest.approx(means, rel=1e-14))


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ('SELECT "core.utilisation" FROM results', 'did you mean "core.utilization"'),
        ("SELECT goodput FROM groups", 'did you mean "goodput_bps"'),
        ("SELECT * FROM result", 'did you mean "results"'),
        # SQLite would take the name for a text there, and say 0.
        (
            'SELECT avg("core.utilization") FROM points',
            'what is asked has no column "core.utilization"; write FROM results, which has it',
        ),
        ('SELECT count(*) FROM points WHERE "core.utilization" > 0.5', "write FROM results, which has it"),
        # No table has both; a column of this one has the name of a group in front.
        ('SELECT recovery, "core.utilization" FROM results', 'there is "bulk.recovery"'),
        # Table and column are named in one step, also where one of the names is quoted.
        (
            "SELECT control, avg(utilization) FROM links GROUP BY control",
            r'links has no column "control"; points has "flows\[bulk\].control": '
            r"write FROM links JOIN points USING \(run\)$",
        ),
        (
            'SELECT "flows[bulk].control", avg(utilization) FROM links GROUP BY 1',
            r'points has "flows\[bulk\].control": write FROM links JOIN points USING \(run\)$',
        ),
        (
            "SELECT l.jain, utilization FROM links AS l",
            r'links has no column "jain"; runs has "jain": write FROM links JOIN runs USING \(run\)$',
        ),
        ("SELECT 'jain', control FROM links", "points has"),
        # It would have no rows.
        ("SELECT utilization FROM links AS l JOIN results AS r USING (run)", "JOIN points"),
        ("SELECT utilization FROM results JOIN links USING ( run )", "JOIN points"),
        ("SELEC 1", 'near "SELEC": syntax error; the tables and their columns: elephan store tables'),
        ("SELECT run FROM runs WHERE", "incomplete input; the tables and their columns: elephan store tables"),
        ("DELETE FROM runs", "can only read"),
        ("PRAGMA journal_mode = DELETE", "can only read"),
        ("CREATE TABLE x (y)", "can only read"),
        ("ATTACH 'other.sqlite' AS other", "can only read"),
        ("SELECT 1; SELECT 2", "several statements"),
        ("SELEC 1", 'near "SELEC"'),
        ("", "empty"),
    ],
)
def test_wrong_sql_is_answered_in_one_line(store: Store, results: list[RunResult], sql: str, said: str) -> None:
    store.put(results[0], labels={"flows[bulk].control": "reno"})
    with pytest.raises(InputError, match=said) as raised:
        store.query(sql)
    assert "\n" not in str(raised.value)
    assert len(store.runs()) == 1
    # And after a refusal the store can be written as before.
    store.put(results[1])
    assert len(store.runs()) == 2


def test_quoted_names_are_names_and_texts_are_texts(store: Store, results: list[RunResult]) -> None:
    store.put(results[0], labels={"od`d": 1, "links[0].buffer": "1 bdp"})
    asked = """"core.utilization", 'core.utilization' AS "a `text`", "links[0].buffer", "od`d\""""
    sql = f'SELECT {asked} FROM results -- "x"'
    [row] = store.query(sql).arrow.to_pylist()
    assert row["core.utilization"] == results[0].to_json()["links"][0]["utilization"]["mean"]
    assert row["a `text`"] == "core.utilization"
    assert (row["links[0].buffer"], row["od`d"]) == ("1 bdp", 1)


@pytest.mark.slow
def test_a_table_becomes_an_array_over_its_labels(store: Store, results: list[RunResult]) -> None:
    for i, result in enumerate(results):
        store.put(result, labels={"a": i % 2, "b": i // 2})
    table = store.table(columns=["labels", "core.utilization"])
    found = table.to_xarray(["a", "b"])
    assert dict(found.sizes) == {"a": 2, "b": 3}
    assert "<table" in table._repr_html_()
    with pytest.raises(InputError, match="do not identify each row"):
        table.to_xarray(["a"])
    with pytest.raises(InputError, match='no column "c"'):
        table.to_xarray(["c"])


@pytest.fixture(scope="module")
def packed(results: list[RunResult]) -> list[PackedRun]:
    other = SHORT.replace({"links[core].name": "edge", "flows[bulk].path": ["edge"], "flows[bulk].name": "few"})
    return [pack(result) for result in (*results[:4], elephan.run(other))]


SETS: list[list[dict[str, Any]]] = [[{"b": 2, "x": "u"}, {"b": 10}], [{"b": "ten"}], [{"x": True}], [], [{"b": 1.5}]]


@given(order=st.permutations(range(5)), copies=st.booleans())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_exports_do_not_depend_on_the_order_of_insertion(
    tmp_path_factory: pytest.TempPathFactory, packed: list[PackedRun], order: list[int], copies: bool
) -> None:
    def exported(numbers: list[int], split: bool) -> list[bytes]:
        folder = tmp_path_factory.mktemp("store")
        with Store(folder / "a") as store, Store(folder / "b") as other:
            for number in numbers:
                for labels in SETS[number] or [{}]:
                    (other if split and number % 2 else store).put(packed[number], labels=labels)
            store.merge(other)
            return [store.export(format=kind) for kind in ("csv", "parquet", "json")]

    assert exported(order, copies) == exported(list(range(5)), split=False)


def test_an_export_has_a_row_for_each_run_and_label_set(store: Store, packed: list[PackedRun]) -> None:
    for number, one in enumerate(packed):
        for labels in SETS[number] or [{}]:
            store.put(one, labels=labels)
    rows = json.loads(store.export(format="json", columns=["labels", "replications", "edge.utilization"]))
    assert len(rows) == 6
    assert [row["replications"] for row in rows].count(1) == 1
    assert [row["edge.utilization"] is None for row in rows].count(False) == 1
    # A set that was given later for a link that only others have brings no columns.
    assert "edge.utilization" not in store.table({"b": 2}).columns
    with pytest.raises(InputError, match='no "xlsx"'):
        store.export(format="xlsx")
    assert store.export().startswith(b"b,x,run,seed,")


def test_stores_merge_into_one(tmp_path: Path, results: list[RunResult]) -> None:
    with Store(tmp_path / "a") as a, Store(tmp_path / "b") as b:
        a.put(results[0], labels={"i": 0})
        b.put(results[0], labels={"j": 0})
        b.put(results[1], labels={"i": 1})
        b.fail("k", "text", {"i": 2}, "went wrong")
        merged = a.merge(b)
        assert (merged.added, merged.known, merged.problems) == (1, 1, ())
        assert a.get(results[0].scenario.id).labels == [{"i": 0}, {"j": 0}]
        assert [failure["key"] for failure in a.failures()] == ["k"]
        assert len(b.runs()) == 2
        with pytest.raises(InputError, match="there is no store"):
            a.merge(tmp_path / "c")


def test_shards_that_nobody_holds_are_absorbed(tmp_path: Path, results: list[RunResult]) -> None:
    with Store(tmp_path / "shards" / "1-of-2") as shard:
        shard.put(results[0], labels={"i": 0})
        with Store(tmp_path) as whole:
            assert whole.runs() == []
        assert (tmp_path / "shards" / "1-of-2").exists()
    with Store(tmp_path) as whole:
        assert [run.labels for run in whole.runs()] == [[{"i": 0}]]
        assert whole.verify() == []
    assert not (tmp_path / "shards").exists()


def test_series_from_a_shard_or_another_store_are_added_to_a_run_that_has_none(tmp_path: Path) -> None:
    with Store(tmp_path / "whole") as whole, Store(tmp_path / "other") as other:
        plain = whole.run(SHORT, labels={"a": 1})
        other.run(SHORT, series=True, labels={"b": 2})
        assert whole.merge(other).added == 1
        assert whole.merge(other).known == 1
        assert whole.get(plain.id).samples().rows > 0
    with Store(tmp_path / "sharded") as whole:
        whole.run(SHORT, labels={"a": 1})
    with Store(tmp_path / "sharded" / "shards" / "1-of-2") as shard:
        shard.run(SHORT, series=True, labels={"b": 2})
    for folder in (tmp_path / "whole", tmp_path / "sharded"):
        with Store(folder) as whole:
            assert whole.find(plain.id, series=True) is not None
            assert whole.get(plain.id).labels == [{"a": 1}, {"b": 2}]
            assert whole.verify() == []
        # The folder alone knows the labels too.
        (folder / FILE).unlink()
        with Store(folder) as whole:
            assert whole.get(plain.id).labels == [{"a": 1}, {"b": 2}]


def test_cleaning_removes_what_all_conditions_name(store: Store, results: list[RunResult]) -> None:
    for i, result in enumerate(results[:4]):
        store.put(result, labels={"old": True} if i % 2 else {})
    before = sum(path.stat().st_size for path in store.folder.glob("runs/*/*/*"))
    would = store.gc(unlabelled=True, dry_run=True)
    assert (would.runs, len(store.runs())) == (2, 4)
    did = store.gc(unlabelled=True)
    assert did.bytes == would.bytes == before - sum(path.stat().st_size for path in store.folder.glob("runs/*/*/*"))
    assert store.gc(labels={"old": True}, other_versions=True).runs == 0
    assert store.gc(older_than_s=3600).runs == 0
    assert store.gc().runs == 0
    assert store.gc(labels={"old": True}, older_than_s=-1).runs == 2
    assert store.runs() == []
    assert store.verify() == []


def test_failures_that_nobody_asks_for_any_more_can_be_forgotten(store: Store) -> None:
    store.fail("k", "text", {"a": 1}, "went wrong")
    assert store.gc().failures == 0
    assert (store.gc(failures=True, dry_run=True).failures, len(store.failures())) == (1, 1)
    assert store.gc(failures=True).failures == 1
    assert store.failures() == []
    assert not list((store.folder / "failures").iterdir())


def test_an_index_of_another_version_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.index.rows(f"PRAGMA user_version = {schema.VERSION + 1}")
    for readonly in (True, False):
        with pytest.raises(InputError, match="written by another elephan"):
            Store(tmp_path, readonly=readonly)


@pytest.mark.parametrize("mark", [0, 7])
def test_a_file_of_another_program_is_refused_and_left_alone(tmp_path: Path, mark: int) -> None:
    path = tmp_path / "index.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE pages (name TEXT)")
    connection.execute(f"PRAGMA application_id = {mark}")
    connection.close()
    before = path.read_bytes()
    for readonly in (True, False):
        with pytest.raises(InputError, match="is the file of another program"):
            Store(tmp_path, readonly=readonly)
    assert path.read_bytes() == before


def test_a_store_that_was_closed_says_so_in_one_line(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        pass
    for asked in (store.runs, store.failures, store.table, store.verify, lambda: store.find("0" * 64)):
        with pytest.raises(InputError, match="is closed; open it again"):
            asked()


def test_more_links_than_sqlite_joins_can_be_asked_for(store: Store) -> None:
    table = {"rate": "10 Mbit/s", "delay": "1 ms", "buffer": "25 packets"}
    flow = {"rtt": "90 ms", "packet": "1000 B"}
    for part in range(2):
        names = [f"l{part}-{i}" for i in range(40)]
        mapping = {
            "duration": "0.2 s",
            "warmup": "0.1 s",
            "links": [{"name": name, **table} for name in names],
            "flows": [{"name": f"f{part}", "path": names, **flow}],
        }
        store.run(elephan.Scenario.from_mapping(mapping), labels={"part": part})
    for name in ("l0-39", "l1-39"):
        found = store.query(f'SELECT count("{name}.utilization") AS n FROM results').arrow
        assert found.to_pylist() == [{"n": 1}]
    assert len(store.query("SELECT * FROM results")) == 2
    assert store.table().columns[-1].startswith("f1.")


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 2**63 - 1},
        {"links[0].rate": "1000 Tbit/s", "duration": "1 us", "warmup": "0 s"},
        {"links[0].buffer": "4294967295 packets", "links[0].rate": "1 Tbit/s", "duration": "1 us", "warmup": "0 s"},
        {"links[0].buffer": "1000000000 MB", "links[0].rate": "1000 Tbit/s", "duration": "1 us", "warmup": "0 s"},
        {"links[0].buffer": "unlimited"},
        {"duration": "100 s", "warmup": "99.999 s", "flows[0].start": "99.99 s"},
        {"flows[0].packet": "65535 B", "flows[0].rtt": "50 s"},
    ],
)
def test_the_largest_numbers_of_a_scenario_fit_what_stores_them(store: Store, changes: dict[str, object]) -> None:
    run = store.run(SHORT.replace(changes))
    store.flush()
    row = store.query("SELECT seed, duration_s FROM runs").arrow.to_pylist()[0]
    assert row == {"seed": run.document["run"]["seed"], "duration_s": run.document["run"]["duration_s"]}
    assert store.table().arrow.num_rows == 1
    assert store.export()


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        (2**63, "seed: must be a whole number from 0 to 9223372036854775807"),
        (2**64, "line 2, column 8: whole numbers end at 9223372036854775807"),
    ],
)
def test_seeds_that_nothing_could_store_are_refused(seed: int, said: str) -> None:
    text = f'duration = "1 s"\nseed = {seed}\n[[links]]\nrate = "1 Mbit/s"\nbuffer = "9 packets"\n'
    text += '[[flows]]\nrtt = "9 ms"\n'
    with pytest.raises(elephan.ScenarioError) as refused:
        elephan.Scenario.from_text(text)
    assert str(refused.value) == f"scenario: {said}"
