"""All results have the same interface: tables, samples, pictures, data frames and arrays, of one shape."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import elephan
from elephan.comparisons import compare as ask
from elephan.comparisons.several import SweepComparison, compare_points
from elephan.display import ColumnTable
from elephan.errors import InputError
from elephan.loading import load
from elephan.results import TABLES, ResultTables
from elephan.results.axes import as_numbers, result_axes
from elephan.results.dataset import CONVENTIONS
from elephan.runs.saved import SavedRun
from elephan.store import Store
from elephan.sweeps.document import Sweep
from elephan.sweeps.result import SweepResult
from testbeds import beside, faked

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command


SMALL = elephan.Scenario.from_text(elephan.EXAMPLE)
OVER = {"links[0].buffer": ["10 packets", "40 packets"], "flows[0].control": ["reno", "cubic"]}
KINDS = ("run", "saved", "stored", "store", "point", "sweep", "testbed", "comparison")


@pytest.fixture(scope="module")
def holders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("results")
    run = elephan.run(SMALL, replications=2, series=True)
    run.write(folder / "run")
    swept = elephan.sweep(SMALL, over=OVER, replications=2, series=True, store=folder / "store")
    compared = beside(ask(SMALL.replace(replications=2), real=False), run)
    store = Store(folder / "store", readonly=True)
    return {
        "run": run,
        "saved": SavedRun(folder / "run"),
        "stored": swept.points[0].stored,
        "store": store,
        "point": swept.points[0],
        "sweep": swept,
        "testbed": faked(run),
        "comparison": compared,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_holder_has_tables_of_the_same_columns(holders: dict[str, Any], kind: str) -> None:
    held, run = holders[kind], holders["run"]
    assert isinstance(held, ResultTables)
    for name in ("links", "groups", "fairness"):
        found, plain = getattr(held, name), getattr(run, name)
        assert isinstance(found, ColumnTable)
        # Labels stand before the columns that all have.
        assert list(found)[-len(plain) :] == list(plain)
        assert found.rows > 0
    for what in ("links", "flows"):
        found, plain = held.samples(what), run.samples(what)
        assert isinstance(found, ColumnTable)
        assert list(found)[-len(plain) :] == list(plain)
    with pytest.raises(InputError, match="neither"):
        held.samples("packets")


@pytest.mark.parametrize("kind", KINDS)
def test_every_holder_gives_frames_of_every_table(holders: dict[str, Any], kind: str) -> None:
    held = holders[kind]
    for name in TABLES:
        frame, other = held.to_pandas(name), held.to_polars(name)
        assert type(frame).__module__.startswith("pandas")
        assert list(frame.columns) == other.columns
        assert len(frame) == other.height > 0
    with pytest.raises(InputError, match='unknown table "lnks"; did you mean "links"'):
        held.to_pandas("lnks")


@pytest.mark.parametrize("kind", KINDS)
def test_every_holder_is_a_dataset_with_units_and_long_names(holders: dict[str, Any], kind: str) -> None:
    dataset = holders[kind].to_xarray()
    assert {"replication", "link", "flow", "time"} <= set(dataset.sizes)
    assert dataset.attrs["Conventions"] == CONVENTIONS
    for name, variable in dataset.data_vars.items():
        assert variable.attrs["units"], name
        assert variable.attrs["long_name"] != name, name
        assert np.issubdtype(variable.dtype, np.floating), name
    assert dataset.time.attrs["units"] == "s"
    used = dataset.link_backlog_packets_over_time.dims
    assert used[-3:] == ("replication", "link", "time")


@pytest.mark.parametrize("kind", KINDS)
def test_every_holder_draws_itself(holders: dict[str, Any], kind: str) -> None:
    assert holders[kind].plot()._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="unknown picture"):
        holders[kind].plot("runs")


@pytest.mark.parametrize("kind", KINDS)
def test_every_holder_can_be_drawn_against_a_column(holders: dict[str, Any], kind: str) -> None:
    # Two laws with one buffer, and three origins of one number: a line through them would mean nothing.
    by = {"store": "flows[0].control", "sweep": "flows[0].control", "comparison": "source"}.get(kind, ())
    if by:
        with pytest.raises(InputError, match="points of one line differ in"):
            elephan.plots.xy(holders[kind], "buffer_packets", "utilization")
    figure = elephan.plots.xy(holders[kind], "buffer_packets", "utilization", by=by)
    points = [line for line in figure.axes[0].get_lines() if np.size(line.get_xdata())]
    assert len(points) > 0
    used = {value for line in points for value in np.asarray(line.get_ydata(), dtype=float)}
    assert used == set(holders[kind].links["utilization"])


def test_a_run_that_is_read_back_is_the_run(holders: dict[str, Any]) -> None:
    run, saved = holders["run"], holders["saved"]
    assert saved.to_json() == run.to_json()
    assert saved.scenario.canonical == run.scenario.canonical
    assert saved.to_xarray().identical(run.to_xarray())
    for table in TABLES:
        assert saved.to_pandas(table).equals(run.to_pandas(table)), table


def test_a_dataset_holds_what_the_replications_measured(holders: dict[str, Any]) -> None:
    run = holders["run"]
    dataset = run.to_xarray()
    for r, outcome in enumerate(run.outcomes):
        here = dataset.isel(replication=r)
        assert np.array_equal(here.flow_goodput_bps, outcome.flows["goodput_bps"])
        assert np.array_equal(here.link_utilization, outcome.links["utilization"])
        assert np.array_equal(here.link_backlog_packets_over_time, outcome.samples["backlog_packets"])
    assert dataset.jain.mean() == pytest.approx(run.to_json()["fairness"]["jain"]["mean"])
    assert dataset.flow.values.tolist() == ["bulk[0]", "bulk[1]"]


def test_a_sweep_is_laid_out_along_what_varies(holders: dict[str, Any]) -> None:
    swept: SweepResult = holders["sweep"]
    dataset = swept.to_xarray()
    assert dataset.link_utilization.dims == ("buffer", "control", "replication", "link")
    assert dataset.buffer.values.tolist() == [10.0, 40.0]
    assert dataset.buffer.attrs == {"long_name": "links[0].buffer", "units": "packets"}
    assert dataset.control.values.tolist() == ["reno", "cubic"]
    for point in swept.points:
        packets = float(str(point.labels["links[0].buffer"]).split()[0])
        here = dataset.sel(buffer=packets, control=point.labels["flows[0].control"])
        mean = point.document["links"][0]["utilization"]["mean"]
        assert float(here.link_utilization.mean()) == pytest.approx(mean, rel=1e-12)
        assert float(here.link_buffer_packets[0]) == packets
    # Whatever order the store keeps them in, the same numbers stand at the same places.
    stored = holders["store"].to_xarray().sel(buffer=dataset.buffer, control=dataset.control)
    assert stored.link_utilization.transpose(*dataset.link_utilization.dims).equals(dataset.link_utilization)


def test_a_comparison_has_its_sources_as_an_axis(holders: dict[str, Any]) -> None:
    held = holders["comparison"]
    dataset = held.to_xarray()
    assert dataset.source.values.tolist() == ["model", "simulation", "testbed"]
    rows = {row.name: row for row in held.rows}
    assert float(dataset.period_s.sel(source="model")) == rows["period_s"].model
    assert float(dataset.utilization.sel(source="testbed")) == rows["utilization"].testbed
    assert dataset.link_utilization.sel(source="model").isnull().all()
    assert held.links["source"] == ["model", "simulation", "testbed"]
    assert held.links["utilization"] == [
        rows["utilization"].model,
        rows["utilization"].simulation,
        rows["utilization"].testbed,
    ]
    assert held.groups["source"] == ["simulation", "testbed"]


def test_flows_and_replications_that_a_point_lacks_are_nan(tmp_path: Path) -> None:
    swept = elephan.sweep(SMALL, over={"flows[0].count": [1, 3], "replications": [1, 2]}, store=tmp_path)
    dataset = swept.to_xarray()
    assert dataset.flow_goodput_bps.dims == ("count", "replications", "replication", "flow")
    known = np.isfinite(dataset.flow_goodput_bps)
    assert known.sum(("replication", "flow")).values.tolist() == [[1, 2], [3, 6]]
    assert known.sel(count=1, replications=2).isel(replication=1).values.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("values", "numbers", "unit"),
    [
        ([1, 2.5], (1, 2.5), "1"),
        (["10 ms", "0.5 s"], (0.01, 0.5), "s"),
        (["1 Gbit/s", "10 Mbit/s"], (1e9, 1e7), "bit/s"),
        (["1500 B", "1 MB"], (1500.0, 1e6), "byte"),
        (["1 packet", "12 packets"], (1.0, 12.0), "packets"),
        (["0.1 bdp", "1 bdp"], (0.1, 1.0), "bdp"),
        (["10 packets", "1 bdp"], ("10 packets", "1 bdp"), ""),
        (["reno", "10 ms"], ("reno", "10 ms"), ""),
        ([True, False], (True, False), ""),
    ],
)
def test_values_of_an_axis_are_numbers_where_their_units_agree(values: list[Any], numbers: Any, unit: str) -> None:
    found = as_numbers(values)
    assert found.values == pytest.approx(numbers) if unit else found.values == numbers
    assert found.unit == unit


def test_lists_that_go_together_are_one_axis_and_what_is_no_grid_is_a_list_of_points() -> None:
    together = [{"a": i, "b": 10 * i, "c": k} for i in (1, 2) for k in (5, 6)]
    axes, places = result_axes(together)
    assert [axis.name for axis in axes] == ["a", "c"]
    assert axes[0].beside["b"].values == (10, 20)
    assert places == [(0, 0), (0, 1), (1, 0), (1, 1)]
    alike = [{"a": 1}, {"a": 1}]
    axes, places = result_axes(alike)
    assert [(axis.name, axis.beside["a"].values) for axis in axes] == [("point", (1, 1))]
    assert places == [(0,), (1,)]
    diagonal = [{"a": i, "b": i * i % 7, "c": -i % 3} for i in range(12)]
    axes, places = result_axes(diagonal)
    assert len(set(places)) == 12


def test_buffers_in_different_units_are_the_packets_that_they_came_to(tmp_path: Path) -> None:
    swept = elephan.sweep(SMALL, over={"links[0].buffer": ["0.5 bdp", "10 packets"]}, replications=1, store=tmp_path)
    dataset = swept.to_xarray()
    assert dataset.buffer.values.tolist() == [50.0, 10.0]
    assert dataset.buffer.attrs["units"] == "packets"


def test_a_number_is_no_name_of_a_column(holders: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=re.escape("Links: [0]: columns have names; write for example table['name']")):
        _ = holders["run"].links[0]


def test_damage_is_said_in_one_line(holders: dict[str, Any], tmp_path: Path) -> None:
    holders["run"].write(tmp_path)
    (tmp_path / "links.parquet").write_bytes(b"none")
    with pytest.raises(InputError, match=r"links\.parquet: cannot be read as Parquet"):
        SavedRun(tmp_path).to_xarray()
    (tmp_path / "run.json").write_text('{"format": 1, "run": {}}')
    with pytest.raises(InputError, match=r'run\.json: has no "links"'):
        _ = SavedRun(tmp_path).links


def test_every_folder_and_store_is_read_back(holders: dict[str, Any], tmp_path: Path) -> None:
    for kind in ("run", "sweep", "testbed", "comparison"):
        held = holders[kind]
        held.write(tmp_path / kind)
        back = elephan.load(tmp_path / kind)
        assert isinstance(back, ResultTables)
        said, own = back.to_json(), held.to_json()  # type: ignore[attr-defined]
        # When it was asked is not the same each time.
        assert {**said, "provenance": None} == {**own, "provenance": None}, kind
        for name in TABLES:
            assert back.to_pandas(name).equals(held.to_pandas(name)), (kind, name)
        assert back.to_xarray().identical(held.to_xarray()), kind
        assert back.plot()._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    store = elephan.load(holders["sweep"].store)
    assert isinstance(store, Store)
    assert store.links.rows == 4


def test_what_a_command_wrote_is_read_back(elephan: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "s.toml", tmp_path / "out"
    file.write_text(SMALL.text)
    for words in (
        ("run", file),
        ("sweep", file, "--over", "flows[0].count=1,2", "--store", tmp_path / "runs"),
        ("compare", file, "--no-testbed"),
    ):
        target = out / str(words[0])
        done = elephan(*words, "--replications", "1", "--out", target, "--json")
        assert done.code == 0, done.err
        back = load(target)
        shown = json.loads(done.out)
        rows = shown["points"] if "points" in shown else [shown.get("simulation", shown)]
        means = [row["links"][0]["queueing_delay_s"]["mean"] for row in rows]
        assert back.links["queueing_delay_s"][-len(means) :] == means


def test_comparisons_of_a_sweep_are_one_result(tmp_path: Path) -> None:
    sweep = Sweep.of(SMALL.replace(replications=1), over={"links[0].buffer": ["10 packets", "25 packets"]})
    made = SweepComparison(tuple(compare_points(sweep, real=False)))
    made.write(tmp_path)
    back = elephan.load(tmp_path)
    assert isinstance(back, SweepComparison)
    assert isinstance(back, ResultTables)
    assert list(elephan.plots.figures(back)) == ["01-10-packets", "02-25-packets"]
    assert back.to_json() == made.to_json()
    dataset = back.to_xarray()
    assert dataset.identical(made.to_xarray())
    assert dataset.period_s.dims == ("buffer", "source")
    one = made.points[1].comparison.rows
    window = next(row.simulation for row in one if row.name == "cwnd_high_segments")
    assert float(dataset.cwnd_high_segments.sel(buffer=25, source="simulation")) == window


def test_a_sweep_without_its_store_has_its_tables_and_says_what_is_missing(tmp_path: Path) -> None:
    swept = elephan.sweep(SMALL, over={"flows[0].count": [1, 2]}, replications=1, store=tmp_path / "runs")
    swept.write(tmp_path / "out")
    used = swept.links["utilization"]
    (tmp_path / "runs").rename(tmp_path / "elsewhere")
    back = elephan.load(tmp_path / "out")
    assert back.links["utilization"] == used
    assert back.plot()._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    with pytest.raises(InputError, match=r"runs: does not hold run .* put the store back"):
        back.to_xarray()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "holds no result; looked for run.json, sweep.json"),
        ({"size.json": '{"format": 1}'}, 'size.json: has no "target"; write the folder again'),
        ({"run.json": "[]"}, "run.json: not a document of elephan"),
        ({"run.json": "{"}, "run.json: not JSON"),
        ({"sweep.json": '{"format": 1}'}, 'sweep.json: has no "title"'),
        ({"compare.json": '{"format": 1}'}, 'compare.json: has no "scenario"'),
        ({"points.json": '{"format": 1, "points": [{}]}'}, "points.json: points: have no 'labels'"),
    ],
)
def test_what_cannot_be_read_back_is_said(tmp_path: Path, files: dict[str, str], said: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        _ = elephan.load(tmp_path).links
    with pytest.raises(InputError, match="there is no such folder"):
        elephan.load(tmp_path / "none")


def test_a_saved_sweep_can_be_swept_again(tmp_path: Path) -> None:
    cases: list[dict[str, Any]] = [{"name": "red", "set": {"links[0].queue": {"discipline": "red"}}}, {"name": "plain"}]
    made = elephan.sweep(SMALL, over={"flows[0].count": [1, 2]}, cases=cases, replications=1, store=tmp_path / "runs")
    made.write(tmp_path / "out")
    back = elephan.load(tmp_path / "out")
    assert isinstance(back, SweepResult)
    assert [point.key for point in back.sweep.points()] == [point.run for point in made.points]


MIXED = """
title = "All kinds"
duration = "6 s"
warmup = "2 s"
replications = 2
[[links]]
name = "core"
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "60 packets"
queue = { discipline = "red" }
[[links]]
name = "edge"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "50 packets"
count = 3
[[flows]]
name = "bulk"
path = ["edge[*]", "core"]
rtt = "80 ms"
count = 3
start = { from = "0 s", to = "0.5 s" }
[[flows]]
name = "noise"
path = ["core"]
rtt = "50 ms"
traffic = { kind = "poisson", rate = "1 Mbit/s" }
[[flows]]
name = "web"
path = ["core"]
rtt = "50 ms"
count = 2
traffic = { kind = "web" }
[record]
every = "100 ms"
packets = [{ link = "edge[1]", from = "3 s", to = "4 s" }]
trace = ["bulk[1]"]
"""


def test_runs_of_all_kinds_come_back_as_they_were(tmp_path: Path) -> None:
    run = elephan.run(elephan.Scenario.from_text(MIXED), series=True)
    run.write(tmp_path)
    back = elephan.load(tmp_path)
    assert isinstance(back, SavedRun)
    assert back.to_json() == run.to_json()
    assert back.to_xarray().identical(run.to_xarray())
    for table in TABLES:
        assert back.to_pandas(table).equals(run.to_pandas(table)), table
    for own, theirs in zip(run.outcomes, back.outcomes, strict=True):
        for mine, other in ((own.packets, theirs.packets), (own.traces, theirs.traces)):
            assert len(mine) == len(other) == 1
            for name, values in mine[0].items():
                if name == "events":
                    assert values["time_s"].size > 0
                    for column, cells in values.items():
                        np.testing.assert_array_equal(other[0][name][column], cells, err_msg=column)
                elif not name.startswith(("drop_", "sack_")) and name != "gauges":
                    np.testing.assert_array_equal(other[0][name], values, err_msg=name)
    dataset = run.to_xarray()
    # Datagrams have neither a window nor a timeout.
    assert dataset.flow_srtt_s.sel(flow="noise[0]").isnull().all()
    assert any(str(name).startswith("link_queue_") for name in dataset)
    pictures = set(elephan.plots.figures(run))
    assert set(elephan.plots.figures(back)) == pictures - {"distributions"}


def test_frames_that_are_not_installed_are_named_with_what_brings_them(
    holders: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elephan.extras.find_spec", lambda _name: None)
    for method, extra in (("to_pandas", "frames,tables"), ("to_polars", "frames,tables"), ("to_xarray", "frames")):
        with pytest.raises(
            InputError, match=rf"^{method} needs .*, not installed here; pip install 'elephan\[{extra}\]'"
        ):
            getattr(holders["run"], method)()
    # The display, and samples, need none of them.
    assert holders["run"].links.rows == 1
    assert holders["run"].samples().rows == 80


def test_labels_that_are_called_like_something_else_are_told_apart(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for i, buffer in enumerate(["10 packets", "40 packets"]):
            labels = {"utilization": buffer, "flow": i, "index": 7 * i}
            store.run(SMALL.replace({"links[0].buffer": buffer}), replications=1, labels=labels)
        links, flows, dataset = store.links, store.to_pandas("flow_replications"), store.to_xarray()
    # Runs come in the order of their ids.
    assert sorted(links["label utilization"]) == ["10 packets", "40 packets"]
    assert all(0 < used <= 1 for used in links["utilization"])
    assert sorted(flows["label index"]) == [0, 0, 7, 7]
    assert flows["index"].tolist() == [0, 1, 0, 1]
    assert dataset.sizes["flow"] == 2
    assert "flow of the point" in dataset.coords
    assert dataset.jain.dims[0] in dataset.coords


def test_the_folder_of_a_run_in_a_store_is_a_run(holders: dict[str, Any]) -> None:
    stored = holders["stored"]
    back = elephan.load(stored.folder)
    assert isinstance(back, SavedRun)
    assert back.to_json() == stored.to_json()
    assert back.to_xarray().identical(stored.to_xarray())


def test_a_sizing_holds_results_by_buffer_and_a_comparison_by_law_and_queue_too() -> None:
    answer = elephan.size(SMALL, "utilization=0.8", replications=2)
    assert isinstance(answer, ResultTables)
    assert answer.links["buffer_packets"] == answer.curve.buffers
    dataset = answer.to_xarray()
    assert dataset.buffer.values.tolist() == answer.curve.buffers
    assert dataset.buffer.attrs["units"] == "packets"
    for buffer in answer.curve.buffers:
        measured = dataset.sel(buffer=buffer).link_utilization.values[: answer.curve.replications(buffer), 0]
        assert measured.tolist() == [sample.utilization for sample in answer.curve.samples(buffer)]
    assert answer.to_pandas("groups").goodput_per_flow_bps.tolist() == answer.groups["goodput_per_flow_bps"]
    compared = elephan.size_variants(SMALL, ["reno", "cubic"], [], "utilization=0.8", replications=2)
    assert isinstance(compared, ResultTables)
    assert set(compared.links["law"]) == {"reno", "cubic"}
    assert len(compared.links["buffer"]) == sum(len(each.answer.curve.buffers) for each in compared.variants)
