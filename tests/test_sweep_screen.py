"""The table of ``elephan sweep``: metrics are columns of it, long labels wrap, equal replications have no interval."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from elephan.cli.columns import LINES, Column, blocks, narrowed

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Command

WIDTHS = (60, 80, 120)

BASE = """
title = "Two flows"
duration = "6 s"
warmup = "2 s"
replications = 3
[[links]]
name = "core"
rate = "10 Mbit/s"
buffer = "1 bdp"
[[flows]]
name = "bulk"
count = 2
path = ["core"]
rtt = "40 ms"
start = { from = "0 s", to = "1 s" }
"""

BUFFERS = "links[0].buffer=5,10,20,30,40,60,80,100,120,160,200,300 packets"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    path = tmp_path / "base.toml"
    path.write_text(BASE)
    return path


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "metrics",
    [
        ("convergence_time",),
        ("convergence_time", "convergence_time(delta=0.3)", "jain"),
        ("loss_synchronization", "maxmin_share", "utilization", "jain", "loss_ratio", "goodput", "completion_time"),
    ],
)
def test_metrics_are_columns_and_the_screen_stays_one(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, base: Path, tmp_path: Path, metrics: tuple[str, ...], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    asked = [word for metric in metrics for word in ("--metric", metric)]
    done = elephan("sweep", base, "--over", BUFFERS, "--store", tmp_path / "runs", "-q", *asked)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert len(lines) <= LINES, done.out
    assert max(map(len, lines)) <= width, done.out
    first = metrics[0].partition("_")[0]
    assert first in done.out.partition("seed 1)")[2], done.out


def test_what_is_shown_of_a_metric_is_what_the_document_has(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, base: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    asked = ("--metric", "convergence_time(delta=0.5)", "--metric", "loss_synchronization", "-q")
    words = ("sweep", base, "--over", "links[0].buffer=10,40 packets", "--store", tmp_path / "runs", *asked)
    out = elephan(*words).out
    points = json.loads(elephan(*words, "--json").out)["points"]
    for point in points:
        label = point["labels"]["links[0].buffer"]
        (row,) = [line for line in out.splitlines() if line.startswith(label)]
        for measured in point["metrics"]:
            mean, known = measured["value"]["mean"], measured["replications"]
            if known < 3:
                assert f"({known} of 3)" in row
            if mean is not None:
                shown = [float(found) for found in re.findall(r"\d+(?:\.\d+)?", row)]
                # Digits follow the interval, which is wide: a tenth of the value or more.
                assert min(abs(value - mean) for value in shown) <= max(0.1 * mean, measured["value"]["ci95"] or 0.0)


def test_a_metric_has_differences_too_and_says_where_they_are_not_paired(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, base: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    words = ("sweep", base, "--over", "links[0].buffer=5,40 packets", "--store", tmp_path / "runs", "-q")
    out = elephan(*words, "--metric", "goodput", "--metric", "loss_synchronization", "--differences").out
    said = " ".join(out.split()).partition("not paired, as only means of replications are kept: ")[2].partition(".")[0]
    assert said == "goodput, loss synchronization"
    absolute = elephan(*words, "--metric", "goodput", "--metric", "loss_synchronization").out
    for text in (out, absolute):
        assert "\n5 packets " in text
    changed, own = (next(line for line in text.splitlines() if line[:2] == "40") for text in (out, absolute))
    assert changed != own
    assert "+" in changed
    # The goodput of a group is kept by replication, so that its difference is the paired one of the column.
    paired = elephan(*words, "--columns", "goodput", "--differences").out.splitlines()[-1].split()[-1]
    assert paired in changed.split()


def test_a_quantity_that_is_a_column_already_is_shown_once(elephan: Command, base: Path, tmp_path: Path) -> None:
    words = ("sweep", base, "--over", "links[0].buffer=5,40 packets", "--store", tmp_path / "runs", "-q")
    assert elephan(*words, "--metric", "jain").out.count("Jain") == 1
    assert elephan(*words, "--metric", "jain", "--columns", "jain,delay").out.count("Jain") == 1


def test_a_metric_without_a_value_says_why(elephan: Command, base: Path, tmp_path: Path) -> None:
    base.write_text(BASE.replace("count = 2", "count = 3"))
    words = ("sweep", base, "--over", "links[0].buffer=5,40 packets", "--store", tmp_path / "runs", "-q")
    out = " ".join(elephan(*words, "--metric", "convergence_time", "--metric", "completion_time").out.split())
    assert "convergence_time: is defined for two TCP flows, and the scenario has 3" in out
    assert "completion_time: no point has a value" in out


QUEUES = (
    'links[0].queue={discipline="red",min_th="5 packets",max_th="15 packets",max_p=0.1},'
    '{discipline="red",min_th="5 packets",max_th="15 packets",max_p=0.2},'
    '{discipline="red",min_th="8 packets",max_th="15 packets",max_p=0.2},{discipline="codel",target="5 ms"}'
)
CONTROLS = 'flows[0].control={law="cubic",slow_start="classic"},{law="cubic",slow_start="hystart++",beta=0.5}'
FLOWS = (
    'flows=[[{name="a",path=["core"],rtt="40 ms",count=2}],'
    '[{name="b",path=["core"],rtt="80 ms",count=2,control={law="reno"}}]]'
)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("columns", [(), ("--columns", "utilization,delay,jain,delay_p95,loss")])
@pytest.mark.parametrize("over", [(QUEUES,), (QUEUES, CONTROLS), (FLOWS,)])
def test_labels_that_are_tables_leave_room_for_numbers(
    elephan: Command,
    monkeypatch: pytest.MonkeyPatch,
    base: Path,
    tmp_path: Path,
    over: tuple[str, ...],
    columns: tuple[str, ...],
    width: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    words = [word for text in over for word in ("--over", text)]
    done = elephan("sweep", base, *words, "--store", tmp_path / "runs", "-q", *columns)
    assert done.code == 0, done.err
    assert max(map(len, done.out.splitlines())) <= width, done.out
    assert "…" not in done.out
    if not columns:
        assert len(done.out.splitlines()) <= LINES, done.out


@pytest.mark.parametrize("width", WIDTHS)
def test_other_screens_with_such_labels_fit_too(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, base: Path, tmp_path: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    preview = elephan("sweep", base, "--over", QUEUES, "--over", CONTROLS, "--store", tmp_path / "runs", "--dry-run")
    assert "red, min_th 5" in " ".join(preview.out.split())
    elephan("sweep", base, "--over", QUEUES, "--over", CONTROLS, "--store", tmp_path / "runs", "-q")
    listed = elephan("store", "ls", "--store", tmp_path / "runs")
    over = QUEUES.partition("=")[2]
    path = tmp_path / "sweep.toml"
    path.write_text(f'base = "base.toml"\n[over]\n"links[0].queue" = [{over}]\n')
    compared = elephan("compare", path, "--no-testbed", "-q")
    for done in (preview, listed, compared):
        assert done.code == 0, done.err
        assert max(len(line.rstrip()) for line in done.out.splitlines()) <= width, done.out


def test_labels_wrap_between_words_and_keep_what_they_say() -> None:
    text = "red, min_th 20 packets, max_th 60 packets, max_p 0.1"
    columns = [Column("queue", "", (text, "codel"), is_text=True), Column("used", "%", ("95.26±0.11", "99.98±0.02"))]
    lines = blocks(narrowed(columns, 40), 40)
    assert max(map(len, lines)) <= 40
    label = [line[:20].strip() for line in lines[2:]]
    assert " ".join(label[:-1]) == text
    assert label[-1] == "codel"
    # Where there is room nothing changes.
    assert narrowed(columns, 80) == columns


def test_equal_replications_are_said_once_and_have_no_interval(elephan: Command, base: Path, tmp_path: Path) -> None:
    base.write_text(BASE.replace('start = { from = "0 s", to = "1 s" }\n', ""))
    run = elephan("run", base)
    assert "3 replications of 6 s (2 s warm-up), all the same because nothing is random" in " ".join(run.out.split())
    assert "±" not in run.out
    assert "±" not in elephan("run", base, "--details", "-q").out
    assert "deterministic-replications" in run.err
    words = ("sweep", base, "--over", "links[0].buffer=10,40 packets", "--store", tmp_path / "runs", "-q")
    for more in ((), ("--differences",), ("--metric", "goodput")):
        out = elephan(*words, *more).out
        assert out.count("all the same because nothing is random") == 1, out
        assert "±" not in out
    # The document keeps the interval that was computed.
    document = json.loads(elephan("run", base, "-q", "--json").out)
    assert document["links"][0]["backlog_packets"]["ci95"] == 0


def test_replications_that_differ_keep_their_intervals(elephan: Command, base: Path) -> None:
    out = elephan("run", base, "-q").out
    assert "all the same" not in out
    assert "±" in out
