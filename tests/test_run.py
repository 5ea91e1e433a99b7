"""Runs: the document, the columns, the files, all independent of workers and engines to the byte."""

import json
import re
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import elephan
from elephan.errors import InputError
from elephan.results.files import atomic, encode_files, encode_json, write_json
from elephan.runs import run_several
from elephan.runs.files import COUNTERS
from elephan.runs.outcome import CAUSES, ReplicationOutcome, simulate
from elephan.runs.parallel import ReplicationJob, simulate_all
from elephan.runs.result import RunResult
from elephan.scenario import EXAMPLE


@pytest.fixture(scope="module")
def scenario() -> elephan.Scenario:
    return elephan.Scenario.from_text(elephan.EXAMPLE)


@pytest.fixture(scope="module")
def result(scenario: elephan.Scenario) -> RunResult:
    return elephan.run(scenario, replications=3, series=True)


def encode_result(result: RunResult) -> dict[str, bytes]:
    return dict(encode_files(result.files()))


def test_random_tests_have_no_time_limit() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


@pytest.mark.parametrize("workers", [-1, 1025])
def test_workers_that_cannot_be_meant_are_refused(workers: int) -> None:
    with pytest.raises(InputError, match=rf"workers: {workers} .*; give 1 to 1024, or omit it to use all cores"):
        elephan.run(elephan.Scenario.from_text(elephan.EXAMPLE), workers=workers)


def test_runs_in_one_call_are_those_of_run_and_one_that_cannot_be_is_told_by_itself(scenario: elephan.Scenario) -> None:
    # Flow numbers have 24 bits: what only the building of the network counts are the places of all groups together.
    traffic = "{ kind = 'elastic', size = '20 kB', load = 0.1, places = 1000000 }"
    group = f"[[flows]]\ncount = 9\npath = ['l']\nrtt = '80 ms'\ntraffic = {traffic}\n"
    large = elephan.Scenario.from_text(
        f"duration = '60 s'\n[[links]]\nname = 'l'\nrate = '10 Mbit/s'\nbuffer = '10 packets'\n{group}{group}"
    )
    automatic = scenario.replace({"warmup": "auto", "duration": "60 s"})
    plain = [scenario.replace({"replications": 2}), scenario.replace({"seed": 7})]
    found = run_several([plain[0], large, automatic, plain[1]], series=True)
    assert isinstance(found[1], InputError)
    with pytest.raises(InputError, match=re.escape(str(found[1]))):
        elephan.run(large)
    for one, asked in zip((found[0], found[2], found[3]), (plain[0], automatic, plain[1]), strict=True):
        assert isinstance(one, RunResult)
        alone = elephan.run(asked, series=True)
        files, others = encode_result(replace(one, wall_s=0.0)), encode_result(replace(alone, wall_s=0.0))
        assert files == others


def test_the_document_has_the_promised_shape(result: RunResult) -> None:
    document = result.to_json()
    promised = {
        "id", "scenario", "engine_version", "seed", "replications", "duration_s", "warmup_s", "wall_s",
        "packets_delivered",
    }  # fmt: skip
    assert promised <= set(document["run"])
    link, group = document["links"][0], document["groups"][0]
    assert {
        "name", "rate_bps", "buffer_packets", "utilization", "loss_ratio", "backlog_packets", "backlog_max_packets",
        "queueing_delay_s", "idle_fraction", "empty_fraction", "drops", "marks", "queue", "tc", "occupancy",
        "backlog_p50_packets", "backlog_p95_packets", "backlog_p99_packets", "queueing_delay_p50_s",
        "queueing_delay_p95_s", "queueing_delay_p99_s", "loss_events", "flows_hit_per_loss_event",
    } == set(link)  # fmt: skip
    assert {"overflow", "early", "forced", "sojourn"} <= set(link["drops"])
    assert {
        "name", "law", "recovery", "flows", "goodput_bps", "goodput_per_flow_bps", "loss_ratio", "cwnd_segments",
        "srtt_s", "timeouts", "loss_events", "transfers",
    } == set(group)  # fmt: skip
    assert {"jain", "jain_maxmin", "rtt_ratio"} == set(document["fairness"])
    for quantity in (
        link["utilization"],
        link["drops"]["overflow"],
        group["goodput_bps"],
        document["fairness"]["jain"],
    ):
        assert set(quantity) == {"mean", "ci95"}
    json.dumps(document, allow_nan=False)


def test_the_numbers_hang_together(result: RunResult) -> None:
    link, group = result.to_json()["links"][0], result.to_json()["groups"][0]
    assert link["rate_bps"] == 10_000_000
    assert 0.5 < link["utilization"]["mean"] <= 1.0
    assert link["utilization"]["mean"] + link["idle_fraction"]["mean"] == pytest.approx(1.0)
    assert link["backlog_max_packets"]["mean"] <= link["buffer_packets"] == 25
    assert group["goodput_bps"]["mean"] == pytest.approx(2 * group["goodput_per_flow_bps"]["mean"])
    # In-order delivery may count at its end what was buffered before the warm-up ended: a window at most.
    assert group["goodput_bps"]["mean"] <= 10e6 * 1.05
    assert group["srtt_s"]["mean"] >= 0.080


def test_packets_are_conserved(result: RunResult) -> None:
    for outcome in result.outcomes:
        balance = outcome.balance
        assert balance["sent"] == balance["delivered"] + balance["dropped"] + balance["in_flight"]
    total = sum(outcome.balance["delivered"] for outcome in result.outcomes)
    assert result.to_json()["run"]["packets_delivered"] == total > 0


def test_one_replication_has_no_interval(scenario: elephan.Scenario) -> None:
    document = elephan.run(scenario, replications=1).to_json()
    assert document["links"][0]["utilization"]["ci95"] is None


def test_columns_have_a_row_per_link_and_flow_and_series_a_column_per_sample(result: RunResult) -> None:
    outcome = result.outcomes[0]
    samples = outcome.samples["time_s"].size
    assert samples > 30
    assert outcome.samples["cwnd_segments"].shape == outcome.samples["srtt_s"].shape == (2, samples)
    assert outcome.samples["backlog_packets"].shape == (1, samples)
    assert {column.shape for column in outcome.flows.values()} == {(2,)}
    assert {column.shape for column in outcome.links.values()} == {(1,)}
    assert (outcome.flows["start_s"] <= 0.1).all()


def test_series_cost_nothing_when_not_asked_for(scenario: elephan.Scenario) -> None:
    assert not simulate(scenario, 0).has_series


def test_replications_differ_and_seeds_do(scenario: elephan.Scenario) -> None:
    first, second = (simulate(scenario, r) for r in (0, 1))
    other = simulate(scenario.replace(seed=99), 0)
    assert len({tuple(o.flows["start_s"]) for o in (first, second, other)}) == 3


def without_time(result: RunResult) -> str:
    return json.dumps(replace(result, wall_s=0.0).to_json())


def test_one_and_two_workers_give_the_same_bytes(scenario: elephan.Scenario, tmp_path: Path) -> None:
    results = [elephan.run(scenario, replications=4, workers=n, series=True) for n in (1, 2)]
    assert without_time(results[0]) == without_time(results[1])
    folders = [tmp_path / "one", tmp_path / "two"]
    for result, folder in zip(results, folders, strict=True):
        result.write(folder)
    for name in ("flows.parquet", "links.parquet", "samples.parquet"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_both_engines_give_the_same_columns(scenario: elephan.Scenario) -> None:
    window, reference = (simulate(scenario, 0, engine=e, series=True, with_hash=True) for e in ("window", "reference"))
    assert window.hash == reference.hash != 0
    for of_window, of_reference in ((window.flows, reference.flows), (window.links, reference.links)):
        for name, column in of_window.items():
            np.testing.assert_array_equal(column, of_reference[name], err_msg=name)


def test_traced_flows_come_event_by_event(scenario: elephan.Scenario) -> None:
    outcome = simulate(scenario.replace({"record": {"trace": ["bulk[1]"]}}), 0)
    (trace,) = outcome.traces
    assert trace["flow"] == 1
    assert trace["cwnd_segments"].size > 100
    assert (np.diff(trace["time_s"]) >= 0).all()
    assert trace["drop_time_s"].size == trace["drop_segment"].size > 0


def test_files_hold_what_was_measured(result: RunResult, tmp_path: Path) -> None:
    written = {path.name for path in result.write(tmp_path / "deep" / "folder")}
    assert written == {"flows.parquet", "links.parquet", "samples.parquet", "scenario.toml", "run.json"}
    folder = tmp_path / "deep" / "folder"
    flows = pq.read_table(folder / "flows.parquet")
    assert flows.num_rows == 6
    assert flows.column("finished_s").null_count == 6
    assert flows.schema.metadata[b"elephan_run_id"].decode() == result.scenario.id
    links = pq.read_table(folder / "links.parquet")
    mean = result.to_json()["links"][0]["utilization"]["mean"]
    assert np.mean(links.column("utilization")) == pytest.approx(mean)
    document = json.loads((folder / "run.json").read_text())
    assert document["resolved"] == result.scenario.resolved
    assert elephan.Scenario.from_file(folder / "scenario.toml") == result.scenario
    # JSON has no NaN: what was not measured is null in every form of the tables.
    result.write(tmp_path / "json", "json")
    samples = pq.read_table(folder / "samples.parquet")
    assert json.loads((tmp_path / "json" / "samples.json").read_text()) == samples.to_pylist()
    assert samples.column("delivery_rate_bps").null_count > 0


def test_loss_is_dropped_over_arrived(result: RunResult) -> None:
    outcome: ReplicationOutcome = result.outcomes[0]
    dropped = sum(outcome.links[f"drops_{cause}"][0] for cause in CAUSES)
    assert outcome.loss_ratio(0) == dropped / outcome.links["arrived"][0] > 0


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(documents)
@pytest.mark.slow
def test_documents_are_written_as_json_writes_them(document: object) -> None:
    assert encode_json({"all": document}).decode() == json.dumps({"format": 1, "all": document}, indent=1) + "\n"


def test_no_file_holds_a_number_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode_json({"mean": float("nan")})


def test_files_are_what_is_encoded_of_them(result: RunResult, tmp_path: Path) -> None:
    files = encode_result(result)
    assert {path.name: path.read_bytes() for path in result.write(tmp_path)} == files
    assert {path.name for path in tmp_path.iterdir()} == set(files)


@pytest.mark.parametrize("count", [1, 20])
def test_columns_are_read_back_as_they_were_whether_compressed_or_not(count: int, tmp_path: Path) -> None:
    flows = elephan.Scenario.from_text(elephan.EXAMPLE).replace({"flows[0].count": count})
    result = elephan.run(flows, replications=2)
    result.write(tmp_path)
    table = pq.read_table(tmp_path / "flows.parquet")
    for name in ("goodput_bps", "cwnd_segments", "sent"):
        np.testing.assert_array_equal(table[name], np.concatenate([o.flows[name] for o in result.outcomes]))


def test_a_single_worker_runs_in_the_callers_thread(
    scenario: elephan.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    def where(*_: object, **__: object) -> object:
        return threading.current_thread()

    monkeypatch.setattr(sys.modules["elephan.runs.parallel"], "simulate", where)
    here: object = threading.main_thread()
    assert simulate_all([ReplicationJob(scenario, 0)] * 2, workers=1) == [here, here]
    assert here not in simulate_all([ReplicationJob(scenario, 0)] * 2, workers=2)


def _stop_half_way(path: Path) -> None:
    with atomic(path) as temporary:
        temporary.write_text('{"ne')
        raise KeyboardInterrupt


def test_a_file_that_fails_half_way_leaves_the_old_one(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", {"old": True})
    with pytest.raises(KeyboardInterrupt):
        _stop_half_way(path)
    assert json.loads(path.read_text()) == {"format": 1, "old": True}
    assert list(tmp_path.iterdir()) == [path]


def test_there_is_no_third_engine(scenario: elephan.Scenario) -> None:
    with pytest.raises(ValueError, match=r'engine: there is no "turbo"; use "window" or "reference"'):
        elephan.run(scenario, engine="turbo")


def test_samples_of_flows_have_the_counters_of_ss_and_end_with_the_totals() -> None:
    path = {"flows[0].tcp": "linux", "links[0].buffer": "20 packets", "duration": "6 s", "warmup": "0 s"}
    scenario = elephan.Scenario.from_text(EXAMPLE).replace(path)
    fast, plain = (simulate(scenario, 0, engine=engine, series=True) for engine in ("window", "reference"))
    for name in COUNTERS:
        np.testing.assert_array_equal(fast.samples[name], plain.samples[name])
        assert fast.samples[name].shape == fast.samples["srtt_s"].shape
    retrans, delivered = fast.samples["retrans_segments"], fast.samples["delivered_segments"]
    assert (np.diff(retrans.astype(int)) >= 0).all()
    assert (np.diff(delivered.astype(int)) >= 0).all()
    assert 0 < retrans[0, -1] <= fast.flows["retransmitted"][0]
    assert delivered[0, -1] <= fast.flows["sent"][0] - fast.flows["retransmitted"][0]
    # Smoothed from the handshake on, which is no sample of data.
    seen = fast.samples["min_rtt_s"][0] > 0
    assert (fast.samples["min_rtt_s"][0][seen] <= fast.samples["srtt_s"][0][seen] + 1e-9).mean() > 0.9
