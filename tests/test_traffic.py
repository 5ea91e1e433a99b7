"""Datagrams beside TCP: flows without a window in the document, the columns, the files and the pictures."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import elephan
from elephan.cli.run_screen import screen
from elephan.reports.run import page
from elephan.runs.result import RunResult
from elephan.sizing.rules import rules
from elephan.sweeps.columns import column_rows, default_columns, parse_columns

TCP = """
duration = "6 s"
warmup = "2 s"
replications = 2
[[links]]
name = "l"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "40 packets"
[[flows]]
name = "tcp"
count = 4
path = ["l"]
rtt = { from = "40 ms", to = "60 ms" }
packet = "1000 B"
access = { rate = "100 Mbit/s" }
"""

DATAGRAMS = """
[[flows]]
name = "background"
count = 3
path = ["l"]
rtt = "300 ms"
packet = "500 B"
traffic = { kind = "poisson", rate = "1 Mbit/s" }
"""


@pytest.fixture(scope="module")
def result() -> RunResult:
    return elephan.run(elephan.Scenario.from_text(TCP + DATAGRAMS), series=True)


def test_datagrams_have_a_goodput_but_no_window(result: RunResult) -> None:
    groups: Any = result.to_json()["groups"]
    tcp, background = groups
    assert set(tcp) == set(background)
    assert (background["law"], background["recovery"]) == (None, None)
    absent = ("cwnd_segments", "srtt_s", "timeouts", "loss_events")
    assert all(background[name] == {"mean": None, "ci95": None} for name in absent)
    assert tcp["cwnd_segments"]["mean"] > 1
    # 3 Mbit/s for 4 s are 3000 packets: four standard deviations of their number, and a few percent of loss.
    goodput, loss = background["goodput_bps"]["mean"], background["loss_ratio"]["mean"]
    assert goodput == pytest.approx(3e6 * (1 - loss), rel=4 / np.sqrt(2 * 3000))
    assert 0 < loss < 0.1
    for outcome in result.outcomes:
        balance = outcome.balance
        assert balance["sent"] == balance["delivered"] + balance["dropped"] + balance["in_flight"]
    json.dumps(result.to_json(), allow_nan=False)


def test_fairness_is_that_of_the_flows_that_can_be_fair(result: RunResult) -> None:
    fairness = result.to_json()["fairness"]
    of_tcp = [outcome.flows["goodput_bps"][:4] for outcome in result.outcomes]
    assert fairness["jain"]["mean"] == pytest.approx(np.mean([g.sum() ** 2 / (4 * (g**2).sum()) for g in of_tcp]))
    # Equal shares: the same index, whatever the background leaves.
    assert fairness["jain_maxmin"]["mean"] == pytest.approx(fairness["jain"]["mean"])
    alone = elephan.run(elephan.Scenario.from_text(TCP.split("[[flows]]")[0] + DATAGRAMS))
    assert alone.to_json()["fairness"]["jain"]["mean"] == pytest.approx(1.0, abs=0.01)


def test_columns_and_files_leave_empty_what_datagrams_do_not_have(result: RunResult, tmp_path: Path) -> None:
    cwnd = result.outcomes[0].samples["cwnd_segments"]
    assert cwnd.shape == (7, result.outcomes[0].samples["time_s"].size)
    assert np.isfinite(cwnd[:4]).all()
    assert np.isnan(cwnd[4:]).all()
    result.write(tmp_path)
    flows = pq.read_table(tmp_path / "flows.parquet").to_pydict()
    kinds = set(zip(flows["group"], flows["traffic"], flows["law"], strict=True))
    assert kinds == {("tcp", "bulk", "reno"), ("background", "poisson", None)}
    assert all((c is None) == (g == "background") for g, c in zip(flows["group"], flows["cwnd_segments"], strict=True))
    samples = pq.read_table(tmp_path / "samples.parquet").to_pydict()
    rows = zip(samples["name"], samples["cwnd_segments"], samples["srtt_s"], strict=True)
    assert all(cwnd is None and srtt is None for name, cwnd, srtt in rows if name == "background")


@pytest.mark.slow
@pytest.mark.parametrize("text", [TCP + DATAGRAMS, TCP.split("[[flows]]")[0] + DATAGRAMS])
def test_tables_and_pictures_cope(elephan: Callable[..., Any], tmp_path: Path, text: str) -> None:
    scenario = tmp_path / "mixed.toml"
    scenario.write_text(text)
    done = elephan("run", scenario, "--out", tmp_path / "out", "--plot", "-q")
    assert done.code == 0, done.err
    assert "background: 3 poisson" in done.out
    assert ("Jain's index of TCP" in done.out) == ("tcp" in text)
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"run.png", "run.svg", "flows.parquet", "samples.parquet", "run.json"} <= written
    law = pq.read_schema(tmp_path / "out" / "flows.parquet").field("law")
    assert str(law.type) == "string"


def test_a_buffer_is_sized_for_tcp() -> None:
    alone, mixed = (elephan.Scenario.from_text(text) for text in (TCP, TCP + DATAGRAMS))
    assert mixed.links[0]["background_flows"] == 3
    assert rules(mixed.network, 0) == rules(alone.network, 0)
    answer = elephan.size(mixed, "utilization=0.9", replications=2)
    assert answer.buffer_packets is not None


@pytest.mark.slow
def test_laws_are_compared_for_the_first_group_that_has_one(elephan: Callable[..., Any], tmp_path: Path) -> None:
    head, tcp = TCP.split("[[flows]]")
    scenario = tmp_path / "mixed.toml"
    scenario.write_text(f"{head}{DATAGRAMS}[[flows]]{tcp}")
    words = ("--target", "utilization=0.8", "--laws", "reno,highspeed", "--precision", "0.5", "--json", "-q")
    done = elephan("size", scenario, *words)
    assert done.code in (0, 1), done.err
    assert [row["law"] for row in json.loads(done.out)["variants"]] == ["reno", "highspeed"]


PINGS = """
[[links]]
name = "up"
rate = "2 Mbit/s"
buffer = "100 packets"
[[flows]]
name = "upload"
path = ["up"]
return = ["l"]
rtt = "40 ms"
start = { from = "0 s", to = "1 s" }
[[flows]]
name = "ping"
count = 2
path = ["l"]
return = ["up"]
rtt = "40 ms"
start = { from = "0 s", to = "200 ms" }
traffic = "ping"
[[flows]]
name = "call"
path = ["l"]
rtt = "40 ms"
packet = "200 B"
start = { from = "0 s", to = "20 ms" }
traffic = { kind = "cbr", rate = "80 kbit/s" }
[record]
every = "100 ms"
"""


@pytest.fixture(scope="module")
def pinged() -> RunResult:
    return elephan.run(elephan.Scenario.from_text(TCP + PINGS), series=True)


def test_pings_have_a_round_trip_and_calls_a_delay_one_way(pinged: RunResult) -> None:
    groups: Any = {group["name"]: group for group in pinged.to_json()["groups"]}
    ping, call = groups["ping"], groups["call"]
    assert not {name for group in (groups["tcp"], call) for name in group if name.startswith("rtt_")}
    assert not {name for group in (groups["tcp"], ping) for name in group if name.startswith("delay_")}
    # Both ways have queues, and the second alone holds up to 100 packets of 1500 B: 0.6 s.
    links: Any = {link["name"]: link["queueing_delay_s"]["mean"] for link in pinged.to_json()["links"]}
    waits = links["l"] + links["up"]
    assert ping["rtt_s"]["mean"] == pytest.approx(0.040 + waits, rel=0.3), "four pings a second see nearly the mean"
    assert ping["rtt_s"]["mean"] < ping["rtt_p95_s"]["mean"] <= ping["rtt_p99_s"]["mean"]
    # Half of what the links leave of the base RTT, the link's own delay, its queue and its service.
    expected = 0.015 + 0.010 + links["l"] + 200 * 8 / 10e6
    assert call["delay_s"]["mean"] == pytest.approx(expected, rel=0.1), (
        "a call samples the queue a hundred times a second"
    )
    facts: Any = {group["name"]: group for group in pinged.scenario.groups}
    assert pinged.scenario.resolved["flows"][2]["packet_bytes"] == 84
    assert facts["ping"]["traffic"] == "ping"


def test_both_engines_agree_on_every_delay(pinged: RunResult) -> None:
    from elephan.runs.outcome import simulate  # noqa: PLC0415

    fast, plain = (simulate(pinged.scenario, 1, engine=name, series=True) for name in ("window", "reference"))
    for ours, theirs in zip(*(one.histograms["datagram_delay_ps"] for one in (fast, plain)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(fast.samples["srtt_s"], plain.samples["srtt_s"])
    np.testing.assert_array_equal(fast.flows["delay_s"], plain.flows["delay_s"])


@pytest.mark.parametrize("width", [60, 80, 120])
def test_delays_of_datagrams_are_on_the_screen(pinged: RunResult, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = screen(pinged.to_json(), pinged.scenario.groups)
    assert len(lines) <= 15
    assert any(re.match(r"ping: round trip [\d.]+(±[\d.]+)? ms, 95 % within [\d.]+ ms$", line) for line in lines)
    assert any(re.match(r"call: one way [\d.]+(±[\d.]+)? ms, 95 % within [\d.]+ ms$", line) for line in lines)


def test_delays_of_datagrams_are_on_the_page_and_in_its_pictures(pinged: RunResult, tmp_path: Path) -> None:
    pinged.write(tmp_path / "run")
    found = page(tmp_path / "run")
    assert "Of ping the round trip takes" in found.sentence
    assert {"ping: round trip", "call: delay, one way"} <= {tile.label for tile in found.tiles}
    figures = {figure.name: figure for part in found.parts for figure in part.figures}
    assert {"srtt", "rtt", "one-way"} <= set(figures)
    # The smoothed round-trip times are TCP's alone.
    assert {series.name for series in figures["srtt"].series} == {"tcp: 4 reno flows", "upload: 1 reno flow"}
    assert {series.name for series in figures["rtt"].series} == {"ping: 2 datagram flows"}
    assert figures["rtt"].series[0].average == pytest.approx(
        1e3 * pinged.to_json()["groups"][2]["rtt_s"]["mean"], rel=0.3
    )
    titles = [table.title for part in found.parts for table in part.tables]
    assert "Round trip of pings, with 95 % intervals" in titles
    assert "Delay of datagrams, one way, with 95 % intervals" in titles
    flows = pq.read_table(tmp_path / "run" / "flows.parquet").to_pydict()
    timed = [value is not None for value in flows["delay_s"]]
    assert timed == [kind in ("ping", "cbr") for kind in flows["traffic"]]
    # Read back, the folder says the same.
    again = elephan.load(tmp_path / "run")
    assert again.groups["rtt_p95_s"] == pinged.groups["rtt_p95_s"]


def test_round_trips_of_pings_are_columns_of_sweeps_and_of_sql(tmp_path: Path) -> None:
    base = elephan.Scenario.from_text(TCP + PINGS)
    swept = elephan.sweep(base, over={"links[0].buffer": ["10 packets", "60 packets"]}, store=tmp_path / "runs")
    asked = [column.label for column in default_columns(base.network)]
    assert "rtt_p95[ping]" in asked
    columns = parse_columns("rtt[ping],rtt_p95[ping],delay[call],delay[l]", base.network)
    rows = column_rows(columns, swept.points)
    small, large = ({label: value["mean"] or 0.0 for label, value in row.items()} for row in rows)
    assert all(0.04 < row["rtt[ping]"] <= row["rtt_p95[ping]"] for row in (small, large))
    assert small["delay[call]"] < large["delay[call]"]
    (_, more) = column_rows(columns[:1], swept.points, differences=True)
    assert more["rtt[ping]"]["ci95"] is not None
    with elephan.Store(tmp_path / "runs") as store:
        stored = store.query("SELECT name, rtt_p95_s FROM groups WHERE rtt_p95_s IS NOT NULL")
    assert set(stored.to_arrow()["name"].to_pylist()) == {"ping"}


def test_a_ping_may_be_small_or_rare_but_not_be_nothing() -> None:
    base = elephan.Scenario.from_text(TCP + PINGS)
    assert base.replace({"flows[2].packet": "64 B"}).resolved["flows"][2]["packet_bytes"] == 64
    with pytest.raises(elephan.ElephanError, match=r"flows\[2\].traffic.every: must lie between 10 us and 100 s"):
        base.replace({"flows[2].traffic": {"kind": "ping", "every": "0 s"}})
    with pytest.raises(elephan.ElephanError, match=r"flows\[3\].return: cbr traffic is datagrams"):
        base.replace({"flows[3].return": ["up"]})
