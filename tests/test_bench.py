"""The bench: its workloads are those of the speed limits, its document has the promised shape."""

import json
from pathlib import Path

import pytest

from conftest import Command
from elephan.bench import WORKLOADS, bench, select
from elephan.bench.memory import measure_peak_mb
from elephan.bench.ns2 import find_ns2, ns2_ns_per_packet


@pytest.mark.parametrize(
    ("name", "flows", "law", "rate_bps", "bdp", "buffer", "duration_s"),
    [
        ("W1", 10, "highspeed", 1e9, 15_000, 1250, 60),
        ("W2", 100, "reno", 1e9, 15_000, 1250, 60),
        ("W3", 10, "highspeed", 2.5e9, 41_667, 10_000, 60),
        ("W4", 1000, "reno", 1e10, 150_000, 12_500, 10),
        ("W5", 10_000, "reno", 1e10, 150_000, 12_500, 5),
    ],
)
def test_workloads_are_those_of_the_limits(
    name: str, flows: int, law: str, rate_bps: float, bdp: float, buffer: int, duration_s: float
) -> None:
    scenario = WORKLOADS[name].scenario()
    link, group = scenario.links[0], scenario.groups[0]
    assert (link["flows"], group["law"], link["rate_bps"]) == (flows, law, rate_bps)
    assert link["bdp_packets"] == pytest.approx(bdp, rel=1e-4)
    assert link["buffer_limit_packets"] == buffer
    assert scenario.facts["duration_s"] == duration_s
    assert group["slow_start"] == ("limited" if name in ("W1", "W3") else "classic")
    assert group["recovery"] == "sack"


@pytest.mark.parametrize(
    ("name", "flows", "law", "rate_bps", "rtts_s", "duration_s", "must"),
    [
        ("W6", 500, "cubic", 1e10, (0.02, 0.08), 20, 20),
        ("W6-paced", 500, "cubic", 1e10, (0.02, 0.08), 20, None),
        ("W6-fq-codel", 500, "cubic", 1e10, (0.02, 0.08), 20, None),
        ("W7", 500, "bbr3", 1e10, (0.02, 0.08), 20, 45),
        ("W8", 4, "bbr3", 1e10, (0.1, 0.1), 10, 45),
        ("W8b", 2, "bbr3", 4e10, (0.12, 0.12), 2.5, 50),
        ("W9", 50_000, "cubic", 1e11, (0.02, 0.08), 4, 25),
        ("W10", 500, "cubic", 1e10, (0.02, 0.08), 20, 25),
    ],
)
def test_workloads_of_today_are_those_of_the_limits(
    name: str, flows: int, law: str, rate_bps: float, rtts_s: tuple[float, float], duration_s: float, must: float | None
) -> None:
    workload = WORKLOADS[name]
    scenario = workload.scenario()
    link, group = scenario.links[0], scenario.groups[0]
    assert (link["flows"], group["law"], link["rate_bps"]) == (flows, law, rate_bps)
    assert (link["min_rtt_s"], link["max_rtt_s"]) == pytest.approx(rtts_s)
    assert link["buffer_limit_packets"] == pytest.approx(0.1 * link["bdp_packets"], abs=1)
    assert (group["packet_bytes"], scenario.facts["duration_s"], workload.must) == (1500, duration_s, must)
    assert scenario.facts["title"].startswith(f"{name}: ")
    flow = scenario.resolved["flows"][0]
    # Linux's recovery, delayed ACKs and timers; BBR paces itself.
    assert (flow["tcp"]["delayed_ack"], flow["recovery"]) == (2, "rack")
    assert flow["tcp"].get("pacing", "none") == ("linux" if name == "W6-paced" else "none")
    assert scenario.resolved["links"][0]["queue"]["discipline"] == ("fq-codel" if "codel" in name else "drop-tail")
    assert len(flow.get("return", [])) == (1 if name == "W10" else 0)


def test_what_takes_minutes_is_measured_where_it_is_named() -> None:
    assert [w.name for w in select(None)] == ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W10"]
    assert [w.name for w in select("all")] == list(WORKLOADS)
    assert [w.name for w in select("w8B, W6-Paced")] == ["W8b", "W6-paced"]


def test_the_screen_has_the_ratio_and_its_limit_in_few_lines(elephan: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    row = {
        "ns_per_packet": 11.25, "median_ns_per_packet": 12.0, "floor_ns_per_packet": 2.5, "over_floor": 4.5,
        "must_over_floor": 5, "extreme_over_floor": 4.2, "delivered": 7_000_000, "title": "W1: ten flows",
        "reference_ns_per_packet": 500.0, "speedup_over_reference": 44.4, "peak_rss_mb": 3.2,
    }  # fmt: skip
    document = {"workloads": {w.name: row for w in select(None)}, "peers": {}, "runs": 3, "quick": False}
    monkeypatch.setattr("elephan.bench.bench", lambda *_, **__: document)
    shown = elephan("bench").out.rstrip("\n").splitlines()
    assert len([line for line in shown if line.strip()]) <= 15
    assert max(map(len, shown)) <= 80
    assert any(line.split() == ["W7", "11.2", "2.5", "4.5", "5", "44x", "3.2"] for line in shown), shown
    assert shown[-1] == "not measured: W6-paced, W6-fq-codel, W8b, W9 (--workloads all)"
    details = elephan("bench", "--details").out
    assert "11.25" in details
    assert "4.2" in details
    assert "W1: ten flows" in details


@pytest.mark.slow
def test_the_document_has_the_promised_shape(elephan: Command, tmp_path: Path) -> None:
    words = ["--workloads", "W1", "--runs", 1, "--quick", "--no-peers", "--json", "--out", tmp_path]
    done = elephan("bench", *words)
    assert done.code == 0
    document = json.loads(done.out)
    row = document["workloads"]["W1"]
    assert {
        "ns_per_packet", "delivered", "floor_ns_per_packet", "over_floor", "must_over_floor", "extreme_over_floor",
        "title", "reference_ns_per_packet", "speedup_over_reference", "peak_rss_mb",
    } <= set(row)  # fmt: skip
    # Their speed depends on the machine.
    assert min(row["ns_per_packet"], row["floor_ns_per_packet"]) > 0
    assert row["speedup_over_reference"] == row["reference_ns_per_packet"] / row["ns_per_packet"]
    assert document["peers"] == {}
    assert json.loads((tmp_path / "bench.json").read_text()) == document


def test_laws_are_compared_with_highspeed(elephan: Command) -> None:
    done = elephan("bench", "--laws", "reno", "--runs", 1, "--quick", "--json")
    assert done.code == 0
    rows = json.loads(done.out)["laws"]
    assert list(rows) == ["highspeed", "reno"]
    assert rows["highspeed"]["over_highspeed"] == 1.0
    assert rows["reno"]["ns_per_packet"] > 0
    wrong = elephan("bench", "--laws", "cubik")
    assert wrong.code == 2
    assert wrong.err.startswith('--laws: there is no "cubik"; did you mean "cubic"?')


def test_disciplines_are_compared_with_drop_tail(elephan: Command) -> None:
    done = elephan("bench", "--queues", "red,DRR", "--runs", 1, "--quick", "--json")
    assert done.code == 0
    rows = json.loads(done.out)["queues"]
    assert list(rows) == ["drop-tail", "red", "drr"]
    assert rows["drop-tail"]["more_ns_per_packet"] == 0.0
    assert (rows["red"]["must_more_ns_per_packet"], rows["drr"]["must_more_ns_per_packet"]) == (8, 12)
    table = elephan("bench", "--queues", "codel", "--runs", 1, "--quick")
    assert table.code == 0
    assert "drop-tail" in table.out
    both = elephan("bench", "--queues", "red", "--workloads", "W1")
    assert both.code == 2
    assert both.err.startswith("--queues: measures W1 alone under each")


def test_memory_is_measured_above_the_interpreter() -> None:
    peak = measure_peak_mb(WORKLOADS["W1"].scenario(2.0).canonical)
    # W1 keeps some 16,000 packets in flight; the interpreter with NumPy alone holds 30 MB.
    assert 0 <= peak < 20


def test_steps_are_announced_in_order() -> None:
    seen: list[tuple[str, int, int]] = []
    bench(select("W1"), runs=1, peers=False, reference=False, quick=True, progress=lambda *step: seen.append(step))
    assert seen == [("W1 engine", 0, 2), ("W1 memory", 1, 2)]


@pytest.mark.skipif(find_ns2() is None, reason="ns-2 is not installed")
def test_ns2_runs_the_same_dumbbell() -> None:
    ns = find_ns2()
    assert ns is not None
    assert ns2_ns_per_packet(ns, WORKLOADS["W1"], 2.0) > 0
