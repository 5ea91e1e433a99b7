"""Replayed flows from tables: CSV and Parquet, beside the scenario or the caller, and what is wrong with them."""

import json
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

from conftest import Command
from elephan import Scenario, ScenarioError
from elephan.scenario import EXAMPLE

ROWS = {"start_s": [0.0, 1.5, 1.5, 2.000000001], "size_bytes": [12_000, 1, 300_000, 7_000_000_000]}
LISTED = "0 s 12000 B; 1.5 s 1 B; 1.5 s 300000 B; 2.000000001 s 7000000000 B"


def scenario_text(traffic: str) -> str:
    return f"{EXAMPLE}traffic = {traffic}  # of the last group\n"


def flows(scenario: Scenario) -> Any:
    return scenario.resolved["flows"][0]["traffic"]["flows"]


def as_csv(table: pa.Table, path: Path) -> Path:
    path = path.with_suffix(".csv")
    csv.write_csv(table, path)
    return path


def as_parquet(table: pa.Table, path: Path) -> Path:
    path = path.with_suffix(".parquet")
    parquet.write_table(table, path)
    return path


Write = Callable[[pa.Table, Path], Path]


@pytest.mark.parametrize("write", [as_csv, as_parquet])
def test_rows_of_a_file_beside_the_scenario_are_the_flows(tmp_path: Path, write: Write) -> None:
    file = write(pa.table(ROWS | {"remark": ["a", "b", "c", "d"]}), tmp_path / "flows")
    (tmp_path / "s.toml").write_text(scenario_text(f'{{ kind = "replay", file = "{file.name}", places = 3 }}'))
    scenario = Scenario.from_file(tmp_path / "s.toml")
    assert flows(scenario) == LISTED
    assert scenario == Scenario.from_text(scenario_text(f'{{ kind = "replay", flows = "{LISTED}", places = 3 }}'))
    # Stored runs do not need the file any more.
    file.unlink()
    assert Scenario.from_text(scenario.text) == scenario
    assert flows(scenario.replace({"links[0].buffer": "1 bdp"})) == LISTED


def test_columns_may_have_any_numeric_type_and_times_are_rounded_to_nanoseconds(tmp_path: Path) -> None:
    table = pa.table(
        {
            "size_bytes": pa.array([1, 2, 3], pa.float32()),
            "start_s": pa.array([0, 1, 2], pa.uint8()),
        }
    )
    as_parquet(table, tmp_path / "whole")
    (tmp_path / "close.csv").write_text("start_s,size_bytes\n1e-3,1e3\n0.0010000004,1000\n0.0010000006,1000\n")
    read = [f'{{ kind = "replay", file = "{name}" }}' for name in ("whole.parquet", "close.csv")]
    whole, close = (Scenario.from_text(scenario_text(traffic), folder=tmp_path) for traffic in read)
    assert flows(whole) == "0 s 1 B; 1 s 2 B; 2 s 3 B"
    assert flows(close) == "0.001 s 1000 B; 0.001 s 1000 B; 0.001000001 s 1000 B"


def test_without_a_file_of_its_own_a_scenario_looks_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_csv(pa.table(ROWS), tmp_path / "flows")
    monkeypatch.chdir(tmp_path)
    traffic = {"kind": "replay", "file": "flows.csv"}
    assert flows(Scenario.from_text(EXAMPLE).replace({"flows[0].traffic": traffic})) == LISTED
    mapping = tomllib.loads(EXAMPLE)
    mapping["flows"][0]["traffic"] = traffic
    assert flows(Scenario.from_mapping(mapping)) == LISTED
    # The mapping is the caller's.
    assert traffic == {"kind": "replay", "file": "flows.csv"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("start_s,bytes\n0,1\n", "must have one column size_bytes; its columns: start_s, bytes"),
        (
            "start_s,start_s,size_bytes\n0,1,1\n",
            "must have one column start_s; its columns: start_s, start_s, size_bytes",
        ),
        ("start_s,size_bytes\n", "must have 1 to 10000000 rows, has 0"),
        ("", "cannot be read: Empty CSV file"),
        (
            "start_s,size_bytes\n0,1\n1,2,3\n",
            "row 2: has 3 fields, not 2",
        ),
        ("start_s,size_bytes\n0,1\n1,\n", "row 2: size_bytes is missing"),
        ("start_s,size_bytes\n0,1\n1 s,5\n", 'row 2: start_s must be a number, not "1 s"'),
        ("start_s,size_bytes\n0,1\n2020-01-01,5\n", 'row 2: start_s must be a number, not "2020-01-01"'),
        ("start_s,size_bytes\n2020-01-01,5\n", 'row 1: start_s must be a number, not "2020-01-01"'),
        ("start_s,size_bytes\n-0.5,1\n", "row 1: start_s must lie between 0 and 1000000 s, not -0.5"),
        ("start_s,size_bytes\n0,1\ninf,1\n", 'row 2: start_s must be a number, not "inf"'),
        ("start_s,size_bytes\n0x1,1\n", 'row 1: start_s must be a number, not "0x1"'),
        ("start_s,size_bytes\n0,1\n1,1_000\n", 'row 2: size_bytes must be a number, not "1_000"'),
        ("start_s,size_bytes\n0,1\n1,0\n", "row 2: size_bytes must be a whole number of bytes, 1 or more, not 0"),
        ("start_s,size_bytes\n0,1\n1,1.5\n", "row 2: size_bytes must be a whole number of bytes, 1 or more, not 1.5"),
        (
            "start_s,size_bytes\n0,1\n5,1\n4,1\n",
            "row 3: start_s must be sorted, not before the row above, not 4",
        ),
    ],
)
def test_wrong_tables_are_refused_with_file_and_row(tmp_path: Path, rows: str, message: str) -> None:
    (tmp_path / "f.csv").write_text(rows)
    with pytest.raises(ScenarioError) as error:
        Scenario.from_text(scenario_text('{ kind = "replay", file = "f.csv" }'), folder=tmp_path)
    assert str(error.value) == f"scenario: flows[0].traffic.file: {tmp_path / 'f.csv'}: {message}"


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ('{ kind = "replay", file = "none.csv" }', "file: none.csv: no such file or directory"),
        (
            '{ kind = "replay", file = "f.txt" }',
            "file: f.txt: must be a .csv or .parquet file with the columns start_s ",
        ),
        ('{ kind = "replay", file = "f.parquet" }', "file: f.parquet: cannot be read: "),
        ('{ kind = "replay", file = 3 }', 'file: must be the name of a file such as "flows.csv"'),
        ('{ kind = "replay", file = "", flows = "0 s 1 B" }', "file: flows stand beside it; give one of them"),
        ('{ kind = "bulk", file = "f.csv" }', "file: unknown key; known here: kind"),
        ('{ kind = "replay", flows = "0 s 1 B; x" }', 'flows: entry 2: "x" is not a time and a size, such as '),
    ],
)
def test_wrong_names_of_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traffic: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.parquet").write_text("no table")
    with pytest.raises(ScenarioError) as error:
        Scenario.from_text(scenario_text(traffic))
    assert str(error.value).startswith(f"scenario: flows[0].traffic.{message}")
    assert "\n" not in str(error.value)


def test_on_the_command_line_a_wrong_row_is_one_line_and_exit_code_two(tmp_path: Path, elephan: Command) -> None:
    (tmp_path / "f.csv").write_text("start_s,size_bytes\n0,1\n0,none\n")
    (tmp_path / "s.toml").write_text(scenario_text('{ kind = "replay", file = "f.csv" }'))
    done = elephan("run", str(tmp_path / "s.toml"))
    assert (done.code, done.out) == (2, "")
    place = f"{tmp_path / 's.toml'}: flows[0].traffic.file: {tmp_path / 'f.csv'}"
    assert done.err == f'{place}: row 2: size_bytes must be a number, not "none"\n'


@given(
    st.lists(st.tuples(st.integers(0, 10**15), st.integers(1, 960 * 10**9)), min_size=1, max_size=30).map(sorted),
    st.text("0123456789. munskMGB;'\"\\\n", max_size=20),
)
def test_any_list_survives_the_way_through_text(rows: list[tuple[int, int]], title: str) -> None:
    listed = "; ".join(f"{ns} ns {size} B" for ns, size in rows)
    mapping = tomllib.loads(scenario_text(f'{{ kind = "replay", flows = "{listed}" }}'))
    mapping["title"] = title.replace("\n", " ")
    scenario = Scenario.from_mapping(mapping)
    assert scenario.source == mapping
    exact = [f"{(Decimal(ns) / 10**9).normalize():f} s {size} B" for ns, size in rows]
    assert flows(scenario) == "; ".join(exact)


@pytest.mark.slow
def test_a_large_table_is_read_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    ns = np.sort(rng.integers(0, 10**12, 100_000))
    sizes = rng.integers(1, 10**9, 100_000)
    as_parquet(pa.table({"start_s": ns / 1e9, "size_bytes": sizes}), tmp_path / "large")
    text = scenario_text('{ kind = "replay", file = "large.parquet" }')
    scenario = Scenario.from_text(text, folder=tmp_path)
    read = [entry.split() for entry in flows(scenario).split("; ")]
    assert [round(Decimal(start) * 10**9) for start, *_ in read] == ns.tolist()
    assert [int(size) for _, _, size, _ in read] == sizes.tolist()
    assert json.loads(scenario.canonical) == scenario.resolved
