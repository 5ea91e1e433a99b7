"""Datagrams beside TCP: what the document, the columns, the files and the pictures say of flows without a window."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import elephan
from elephan.run.result import RunResult
from elephan.size.rules import rules

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
