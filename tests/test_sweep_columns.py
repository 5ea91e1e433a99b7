"""Columns of a sweep's table: compared with the document and the rows of the store; differences with their
definition."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import elephan as package
from conftest import Command
from elephan.cli.common import shown
from elephan.metrics import jain
from elephan.metrics.values import PERCENTILES
from elephan.runs.precision import parse_precision
from elephan.stats import estimate
from elephan.sweeps import SweepResult
from elephan.sweeps.columns import (
    NAMES,
    SweepColumn,
    cards,
    column_rows,
    default_columns,
    difference,
    is_paired,
    parse_columns,
    varied_link,
)
from elephan.templates import template
from elephan.units import resolved

pytestmark = pytest.mark.slow

BASE = """
title = "Three groups"
duration = "6 s"
warmup = "2 s"
replications = 3

[[links]]
name = "core"
rate = "20 Mbit/s"
buffer = "0.5 bdp"

[[flows]]
name = "cubic"
count = 3
path = ["core"]
rtt = "40 ms"
control = { law = "cubic" }

[[flows]]
name = "reno"
count = 3
path = ["core"]
rtt = { from = "40 ms", to = "80 ms" }

[[flows]]
name = "web"
path = ["core"]
rtt = "80 ms"
traffic = { kind = "web", think = "200 ms" }
"""
PING = """
[[flows]]
name = "ping"
path = ["core"]
rtt = "40 ms"
start = { from = "0 s", to = "200 ms" }
traffic = "ping"
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    scenario = package.Scenario.from_text(BASE + PING)
    store = tmp_path_factory.mktemp("store")
    return package.sweep(scenario, over={"flows[0].control": ["cubic", "highspeed"]}, store=store)


def column(swept: SweepResult, text: str) -> SweepColumn:
    [found] = parse_columns(text, swept.sweep.base.network)
    return found


def test_both_spellings_of_utilization_are_read(swept: SweepResult) -> None:
    assert column(swept, "utilisation") == column(swept, "utilization")
    wanted = parse_precision("utilisation=5%", swept.sweep.base)
    assert wanted == parse_precision("utilization=5%", swept.sweep.base)


def test_every_percentile_of_a_document_is_a_column() -> None:
    # As the guide to traffic has them: 50, 95 and 99 % of completion times, slowdowns and times of pages.
    for name in ("delay", "rtt", "completion_time", "slowdown", "page_time"):
        assert {f"{name}_p{p}" for p in PERCENTILES} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_a_number_of_a_link_a_group_or_all(swept: SweepResult, name: str) -> None:
    group = "[ping]" if name.startswith("rtt") else "[web]"
    asked_as = {card["name"]: card["source"] for card in cards()}[name]
    of = "" if "[" not in asked_as else "[core]" if "[LINK]" in asked_as else group
    asked = column(swept, name + of)
    point = swept.points[0]
    found = asked.measured(point, point.document)
    assert set(found) == {"mean", "ci95"}
    # Receivers report duplicates only where a link reorders.
    assert found["mean"] is not None or name == "rtt_ratio" or name.startswith(("dsack", "spurious"))


@pytest.mark.parametrize(
    "name",
    ["utilization", "loss[core]", "delay", "backlog", "goodput[cubic]", "loss[reno]", "srtt[reno]", "cwnd[cubic]"],
)
def test_the_replications_are_those_of_the_mean_in_the_document(swept: SweepResult, name: str) -> None:
    asked, point = column(swept, name), swept.points[0]
    values = asked.by_replication(point)
    assert values is not None
    assert len(values) == 3
    found = asked.measured(point, point.document)
    assert estimate(values).to_json() == pytest.approx(found, rel=1e-9)


def test_counts_are_those_of_the_document_and_of_the_flows(swept: SweepResult) -> None:
    point = swept.points[0]
    group: Mapping[str, Any] = next(each for each in point.document["groups"] if each["name"] == "cubic")
    for name, key in (("cuts", "loss_events"), ("timeouts", "timeouts")):
        asked = column(swept, f"{name}[cubic]")
        assert asked.measured(point, point.document) == group[key]
        assert estimate(asked.by_replication(point) or []).to_json() == pytest.approx(group[key], rel=1e-9)
    rows = pq.read_table(point.folder / "flows.parquet").to_pylist()
    again = sum(row["retransmitted"] for row in rows if row["group"] == "cubic") / 3
    assert column(swept, "retransmitted[cubic]").measured(point, point.document)["mean"] == pytest.approx(again)
    # At least a packet is sent again for each cut by a loss.
    assert again >= group["loss_events"]["mean"] - group["timeouts"]["mean"] > 0


def test_jain_is_over_the_flows_that_count(swept: SweepResult) -> None:
    asked, point = column(swept, "jain"), swept.points[0]
    values = asked.by_replication(point)
    assert values is not None
    assert estimate(values).mean == pytest.approx(point.document["fairness"]["jain"]["mean"], rel=1e-9)
    # With the web users beside the others it would be another number.
    rows = pq.read_table(point.folder / "flows.parquet")
    every = np.asarray(rows["goodput_bps"])[np.asarray(rows["replication"]) == 0]
    assert jain(every) != pytest.approx(values[0], rel=1e-3)


def test_percentiles_lie_around_the_mean_of_their_own_group(swept: SweepResult) -> None:
    point = swept.points[0]
    low, middle, high, mean = (
        column(swept, f"{name}[reno]").measured(point, point.document)["mean"]
        for name in ("goodput_p5", "goodput_p50", "goodput_p95", "goodput")
    )
    assert low is not None
    assert middle is not None
    assert high is not None
    assert mean is not None
    assert low < middle < high
    assert low < mean < high
    rows = pq.read_table(point.folder / "flows.parquet").to_pylist()
    medians = [
        np.median([row["goodput_bps"] for row in rows if row["group"] == "reno" and row["replication"] == r])
        for r in range(3)
    ]
    assert middle == pytest.approx(float(np.mean(medians)), rel=1e-9)


def test_differences_are_paired_and_know_their_sign(swept: SweepResult) -> None:
    asked = column(swept, "goodput[cubic]")
    first, second = (asked.by_replication(point) for point in swept.points)
    assert first is not None
    assert second is not None
    found = difference(asked, swept.points[1], swept.points[0])
    each = [b - a for a, b in zip(first, second, strict=True)]
    assert found == pytest.approx(estimate(each).to_json())
    back = difference(asked, swept.points[0], swept.points[1])
    assert back["mean"] == pytest.approx(-(found["mean"] or math.nan))
    rows = column_rows([asked], swept.points, differences=True)
    assert rows[0][asked.label] == asked.measured(swept.points[0], swept.points[0].document)
    assert rows[1][asked.label] == found


def test_what_is_kept_as_a_mean_only_has_the_interval_of_independent_means(swept: SweepResult) -> None:
    asked = column(swept, "page_time_p95[web]")
    found = difference(asked, swept.points[1], swept.points[0])
    assert not is_paired(asked, swept.points[0])
    assert is_paired(column(swept, "utilization"), swept.points[0])
    one, other = (resolved(asked.measured(point, point.document), asked.key) for point in swept.points)
    assert None not in {*one.values(), *other.values()}
    half = math.hypot(one["ci95"] or 0.0, other["ci95"] or 0.0)
    assert found == {"mean": pytest.approx((other["mean"] or 0.0) - (one["mean"] or 0.0)), "ci95": half}


def test_several_groups_have_their_goodput_and_pages_their_time(swept: SweepResult) -> None:
    labels = [each.label for each in default_columns(swept.sweep.base.network)]
    of_link = ["utilization[core]", "loss[core]", "delay[core]"]
    assert labels == [*of_link, "goodput[cubic]", "goodput[reno]", "page_time_p95[web]", "rtt_p95[ping]", "jain"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("utilizatoin", '--columns: there is no "utilizatoin"; did you mean "utilization"?'),
        ("goodput", "--columns: goodput: of which group; write goodput[cubic] or goodput[reno] or goodput[web]"),
        ("goodput[core]", '--columns: goodput: there is no "core"; write goodput[cubic] or'),
        ("jain[cubic]", "--columns: jain is of all flows; leave out [cubic]"),
        ("", '--columns: there is no ""'),
    ],
)
def test_a_wrong_column_is_one_line_before_anything_runs(
    elephan: Command, tmp_path: Path, words: str, message: str
) -> None:
    path = tmp_path / "base.toml"
    path.write_text(BASE)
    done = elephan("sweep", path, "--over", "seed=1,2", "--store", tmp_path / "s", "--columns", words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(message)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_table_fits_the_terminal_and_cuts_no_number(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    path = tmp_path / "base.toml"
    path.write_text(BASE)
    words = ("sweep", path, "--over", "flows[0].control=cubic,highspeed", "--store", tmp_path / "s", "-q")
    done = elephan(*words)
    assert max(map(len, done.out.splitlines())) <= columns
    assert "…" not in done.out
    document = json.loads(elephan(*words, "--json").out)
    for point in document["points"]:
        used = point["links"][0]["utilization"]
        assert shown(used, 100, of="utilization") in done.out
    assert "±" in done.out
    # Page times are kept in preference to goodputs.
    assert "time p95" in done.out
    asked = json.loads(elephan(*words, "--json", "--columns", "utilization,goodput_p5[reno]", "--differences").out)
    assert [set(row) for row in asked["columns"]] == [{"labels", "utilization[core]", "goodput_p5[reno]"}] * 2


def test_a_column_without_a_link_is_of_the_one_that_the_head_names() -> None:
    base = package.Scenario.from_text(template("web", {}))
    assert base.links[0]["name"] == "server"
    for column in default_columns(base.network)[:3]:
        assert column.of == base.links[base.link_index(None)]["name"] == "bottleneck"


def test_a_sweep_of_one_links_buffer_shows_that_link() -> None:
    network = package.Scenario.from_text(template("two-way", {}), "two-way").network
    assert [link.name for link in network.links] == ["east", "west"]
    # Two links whose keys vary leave the default.
    for places, of in (
        (["links[1].buffer", "seed"], "west"),
        (["links[west].rate", "links[1].buffer"], "west"),
        (["links[east].buffer", "links[west].buffer"], "east"),
        (["flows[0].count"], "east"),
    ):
        link = varied_link(network, places)
        assert network.links[link].name == of
        assert [column.label for column in default_columns(network, link)][:3] == [
            f"utilization[{of}]", f"loss[{of}]", f"delay[{of}]"
        ]  # fmt: skip
