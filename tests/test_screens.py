"""Default output of commands: the answer on one screen, with complete numbers however narrow the terminal."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

import pytest

import elephan as elephan_package
from elephan.cli.brief import brief
from elephan.cli.columns import LINES, wrapped
from elephan.cli.common import shown
from elephan.cli.size_screen import within
from elephan.display import cell as notebook_cell
from elephan.pictures.table import cell as page_cell
from elephan.results.documents import LinkDocument, TransfersDocument
from elephan.theory.models import MODELS
from elephan.units import format_measured

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Command

WIDTHS = (60, 80, 132)

SCENARIO = """
title = "A network with more than a screen has room for"
duration = "6 s"
warmup = "2 s"
replications = 2
"""


def network(links: int) -> str:
    """A chain of links, each with a group of its own, and transfers over all of them."""
    text, names = SCENARIO, [f"hop{i}" for i in range(links)]
    for i, name in enumerate(names):
        text += f'[[links]]\nname = "{name}"\nrate = "{12 + i} Mbit/s"\ndelay = "2 ms"\n'
        text += f'buffer = "{17 + 5 * i} packets"\n'
    for i, name in enumerate(names):
        text += f'[[flows]]\nname = "group{i}"\ncount = {1 + i % 3}\npath = ["{name}"]\nrtt = "{40 + i} ms"\n'
    path = ", ".join(f'"{name}"' for name in names)
    text += f'[[flows]]\nname = "pages"\npath = [{path}]\nrtt = "90 ms"\n'
    return text + 'traffic = { kind = "elastic", rate = "1 Mbit/s", size = "20 kB" }\n'


@pytest.fixture(params=[1, 2, 9])
def scenario(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "net.toml"
    path.write_text(network(request.param))
    return path


def commands(scenario: Path, tmp_path: Path) -> dict[str, list[object]]:
    """Return every verb that shows results, applied to the scenario."""
    return {
        "run": ["run", scenario, "-q"],
        "sweep": [
            "sweep", scenario, "--over", 'links[0].buffer="5 packets","10 packets","20 packets","40 packets"',
            "--over", "flows[0].count=1,2,3", "--store", tmp_path / "runs", "-q",
        ],
        "compare": ["compare", scenario, "--no-testbed", "-q"],
        "model": ["model", "sawtooth", "--set", "law=reno", "--set", "rtt=20 ms,100 ms", "--set", "flows=1,10,100"],
    }  # fmt: skip


VERBS = ("run", "sweep", "compare", "model")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("verb", VERBS)
def test_a_screen_holds_the_answer(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, scenario: Path, tmp_path: Path, verb: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = elephan(*commands(scenario, tmp_path)[verb])
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert len(lines) <= LINES, done.out
    # A line for Linux is to be copied; all else fits.
    too_long = [line for line in lines if len(line.rstrip()) > width and "tc qdisc" not in line]
    assert not too_long
    assert "…" not in done.out


NUMBER = re.compile(r"\d[\d,.]*(?:e-?\d+)?")


def numbers(text: str) -> set[float]:
    """Return the numbers in a text, without durations and versions."""
    text = re.sub(r"\d[\d.]* s$|\d+\.\d+\.\d+", "", text, flags=re.MULTILINE)
    return {float(found.rstrip(".,").replace(",", "")) for found in NUMBER.findall(text)}


def new(some: set[float], known: set[float]) -> set[float]:
    """Return the numbers that are not known; details have four digits where a screen has three."""
    return {x for x in some if not any(math.isclose(x, y, rel_tol=0.005) for y in known)}


@pytest.mark.parametrize("width", WIDTHS)
def test_every_number_of_a_narrow_screen_is_one_of_the_wide_one(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, scenario: Path, tmp_path: Path, width: int
) -> None:
    """A number that lost a digit is another number; intervals, which round their quantities, are ignored."""
    scenario.write_text(scenario.read_text().replace("replications = 2", "replications = 1"))
    for verb in VERBS:
        command = commands(scenario, tmp_path)[verb]
        monkeypatch.setenv("COLUMNS", "1000")
        wide = numbers(elephan(*command, "--details").out) | numbers(elephan(*command).out)
        monkeypatch.setenv("COLUMNS", str(width))
        # Omitted rows are counted, and the line about them may break.
        out = re.sub(r"\([^()]*--details[^()]*\)", "", elephan(*command).out)
        assert not new(numbers(out), wide), f"{verb}: {new(numbers(out), wide)}\n{out}"


def test_the_numbers_of_a_run_are_those_of_its_document(elephan: Command, scenario: Path) -> None:
    scenario.write_text(scenario.read_text().replace("replications = 2", "replications = 1"))
    on_screen = numbers(elephan("run", scenario, "-q").out)
    document = json.loads(elephan("run", scenario, "-q", "--json").out)
    busiest = max(document["links"], key=lambda link: link["utilization"]["mean"])
    for quantity, scale, digits in (("utilization", 100, 3), ("queueing_delay_s", 1e3, 3), ("loss_ratio", 100, 3)):
        value = busiest[quantity]["mean"] * scale
        assert float(f"{value:.{digits}g}") in on_screen or float(f"{value:.0f}") in on_screen, quantity
    first = document["groups"][0]
    assert float(f"{first['goodput_per_flow_bps']['mean'] * 1e-6:.4g}") in on_screen


def test_what_is_left_out_is_said_and_shown_with_details(elephan: Command, tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    path.write_text(network(9))
    short, full = elephan("run", path, "-q").out, elephan("run", path, "-q", "--details").out
    said = re.search(r"\((\d+) more links?, (\d+) more groups?", short)
    assert said is not None, short
    rows = [sum(line.startswith((f"hop{i} ", f" hop{i} ")) for line in short.splitlines()) for i in range(9)]
    assert 9 - sum(rows) == int(said[1])
    for name in (*(f"hop{i}" for i in range(9)), *(f"group{i}" for i in range(9)), "pages"):
        assert name in full


def test_the_busiest_link_is_shown_though_it_is_the_last(elephan: Command, tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    path.write_text(network(9).replace('name = "group8"\ncount = 3', 'name = "group8"\ncount = 60'))
    out = elephan("run", path, "-q").out
    assert re.search(r": hop8 is \d", out.replace("\n", " ")), out
    assert any(line.startswith("hop8 ") for line in out.splitlines())


@pytest.mark.parametrize("width", WIDTHS)
def test_details_of_a_run_hold_all_that_its_screen_holds_and_more(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, scenario: Path, width: int
) -> None:
    scenario.write_text(scenario.read_text().replace("replications = 2", "replications = 1"))
    monkeypatch.setenv("COLUMNS", str(width))
    out, full = (elephan("run", scenario, "-q", *more).out for more in ((), ("--details",)))
    # The lines that say what is left out have no counterpart.
    short = re.sub(r"\([^()]*--details\)", "", out)
    assert not new(numbers(short), numbers(full)), new(numbers(short), numbers(full))
    assert len(numbers(short)) < len(numbers(full))
    assert max(len(line) for line in full.splitlines() if "tc qdisc" not in line) <= width
    document = json.loads(elephan("run", scenario, "-q", "--json").out)
    for link in document["links"]:
        assert float(f"{link['queueing_delay_p95_s']['mean'] * 1e3:.3g}") in numbers(full)
    for group in document["groups"]:
        assert float(f"{group['loss_ratio']['mean'] * 100:.4g}") in numbers(full)


INTERVAL = re.compile(r"(\d[\d.]*)±(\d[\d.]*)")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("details", [[], ["--details"]])
def test_no_interval_of_a_screen_leaves_the_range_of_its_quantity(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, scenario: Path, width: int, details: list[str]
) -> None:
    """All quantities of a run are 0 or more; two short replications differ by more than that."""
    scenario.write_text(scenario.read_text().replace('duration = "6 s"', 'duration = "2.5 s"'))
    monkeypatch.setenv("COLUMNS", str(width))
    out = elephan("run", scenario, "-q", *details).out
    found = [(float(mean), float(half)) for mean, half in INTERVAL.findall(out)]
    assert found
    assert all(mean >= half for mean, half in found), out
    assert re.search(r" \(<\d|\d \(>\d| to \d", out), out


def test_the_index_of_a_single_flow_is_not_shown(elephan: Command, tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    text = network(1).partition('[[flows]]\nname = "pages"')[0]
    path.write_text(text)
    for details in ([], ["--details"]):
        assert "Jain" not in elephan("run", path, "-q", *details).out
    path.write_text(text.replace("count = 1", "count = 2"))
    for details in ([], ["--details"]):
        assert "Jain's index" in elephan("run", path, "-q", *details).out


@pytest.mark.parametrize("key", ["page_time_p95_s", "completion_time_p50_s", "slowdown_p99", "queueing_delay_p95_s"])
def test_a_quantile_of_a_histogram_is_no_finer_than_its_bins(key: str) -> None:
    """Bins are at most a 32nd of their lower edge wide: a quantile is known to half of that."""
    assert key in {*TransfersDocument.__annotations__, *LinkDocument.__annotations__}
    assert shown({"mean": 0.91234, "ci95": None}, of=key) == "0.912"
    assert shown({"mean": 0.91234, "ci95": 0.0}, of=key) == "0.912±0.014"
    assert shown({"mean": 0.91234, "ci95": 0.04}, of=key) == "0.91±0.04"
    mean = key.replace("_p95", "").replace("_p50", "").replace("_p99", "")
    assert shown({"mean": 0.91234, "ci95": 0.0004}, of=mean) == "0.9123±0.0004"


@pytest.mark.parametrize("write", [lambda *x: page_cell(x[0], of=x[1]).text, notebook_cell], ids=["page", "notebook"])
def test_pages_and_notebooks_have_the_digits_of_screens(write: Callable[..., str]) -> None:
    for key, mean, ci95, text in (
        ("queueing_delay_p95_s", 0.91234, 0.0, "0.912 ± 0.014"),
        ("queueing_delay_p95_s[ping]", 0.91234, 0.0004, "0.912 ± 0.014"),
        ("rtt_p95_s", 0.91234, None, "0.912"),
        ("queueing_delay_s", 0.91234, 0.0004, "0.9123 ± 0.0004"),
        ("utilization", 0.912345, 0.0, "0.9123"),
        ("jain", 0.9, 0.3, "0.9 (0.6 to 1)"),
    ):
        if write is notebook_cell and ci95 == 0.0 and key == "utilization":
            continue  # A column of facts has no interval.
        assert write({"mean": mean, "ci95": ci95}, key) == format_measured({"mean": mean, "ci95": ci95}, of=key) == text


SWEEP = """
title = "Four flows"
duration = "3 s"
warmup = "1 s"
replications = 2
[[links]]
name = "link"
rate = "12 Mbit/s"
buffer = "30 packets"
[[flows]]
name = "flows"
count = 4
path = ["link"]
rtt = { from = "20 ms", to = "30 ms" }
start = { from = "0 s", to = "500 ms" }
"""
MEASURED = re.compile(r"[+-]?\d[\d.]*(?:±\d[\d.]*| \([<>]\d[\d.]*\)| \(\d[\d.]* to \d[\d.]*\))")


@pytest.fixture
def four(tmp_path: Path) -> Path:
    path = tmp_path / "four.toml"
    path.write_text(SWEEP)
    return path


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("differences", [[], ["--differences"]])
def test_the_points_that_decide_and_their_intervals_survive_on_a_narrow_screen(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, four: Path, tmp_path: Path, width: int, differences: list[str]
) -> None:
    """One of 25 buffers is small: the last, which a table of the first points would omit."""
    monkeypatch.setenv("COLUMNS", str(width))
    buffers = ",".join(f'"{n} packets"' for n in (*range(200, 224), 3))
    words = ("--over", f"links[0].buffer=[{buffers}]", "--store", tmp_path / "runs", "-q", *differences)
    out = elephan("sweep", four, *words).out
    lines = out.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if re.match(r"\d+ packets", line)]
    assert rows[-1].startswith("3 packets ")
    assert re.search(rf"the {len(rows)} of 25 points that\s+differ\s+most:\s+--details", out)
    for row in rows:
        numbers_of = re.sub(r"^\d+ packets", "", row)
        assert len(MEASURED.findall(numbers_of)) >= 2, row
        # Where all runs agree there is no interval: they fill the link, and do not differ in it.
        assert not re.search(r"\d", re.sub(r"(?<= )(?:100|0)(?= )", "", MEASURED.sub("", numbers_of))), row
    assert elephan("sweep", four, *words, "--details").out.count(" packets ") >= 25


@pytest.mark.parametrize("width", WIDTHS)
def test_points_of_a_screen_are_all_there_while_it_has_room(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, four: Path, tmp_path: Path, width: int
) -> None:
    """Ten points, as in question 19."""
    monkeypatch.setenv("COLUMNS", str(width))
    words = ("--over", "links[0].buffer=5..50 packets:5lin", "--over", "seed=1,2", "--store", tmp_path / "runs", "-q")
    lines = elephan("sweep", four, *words).out.splitlines()
    assert len(lines) <= LINES
    assert sum(" packets " in line for line in lines) == 10


@pytest.mark.parametrize("width", WIDTHS)
def test_columns_that_are_asked_for_fit_and_all_stay(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, four: Path, tmp_path: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    asked = [
        "utilization",
        "loss",
        "delay",
        "delay_p50",
        "delay_p95",
        "delay_p99",
        "goodput_p5",
        "srtt",
        "cwnd",
        "total",
    ]
    words = ("--over", "links[0].buffer=5..50 packets:9lin", "--store", tmp_path / "runs", "-q")
    out = elephan("sweep", four, *words, "--columns", ",".join(asked)).out
    assert max(map(len, out.splitlines())) <= width
    assert not [name for name in asked if not re.search(rf"\b{name.replace('_', ' ')}\b", out)]
    rows = [line for line in out.splitlines() if re.match(r"\d[\d.]* packets", line)]
    heads = sum(line.startswith("buffer") for line in out.splitlines())
    assert len(rows) % heads == 0
    assert sum(len(MEASURED.findall(row)) for row in rows) == len(asked) * len(rows) // heads


def test_labels_that_are_tables_keep_what_tells_them_apart() -> None:
    red = '{{ discipline = "red", max_th = "{} packets", min_th = "{} packets", max_p = 0.1 }}'
    assert brief([red.format(30, 10), red.format(60, 20), "codel"]) == [
        "red, max_th 30 packets",
        "red, max_th 60 packets",
        "codel",
    ]
    assert brief(["1 bdp", "2 bdp"]) == ["1 bdp", "2 bdp"]
    assert brief(['{ law = "cubic", beta = 0.5 }', '{ law = "cubic", beta = 0.7 }', '{ law = "reno" }']) == [
        "cubic, beta 0.5",
        "cubic, beta 0.7",
        "reno",
    ]
    # Only this distinguishes them, and a broken line is left as it is.
    assert brief(['{ rate = "1 Mbit/s" }', "{ rate = "]) == ['{ rate = "1 Mbit/s" }', "{ rate = "]


def test_a_label_that_follows_from_another_gives_way_first(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, four: Path, tmp_path: Path
) -> None:
    zipped = "links[0].buffer=5 packets,50 packets;flows[0].recovery=sack,newreno;links[0].rate=12 Mbit/s,15 Mbit/s"
    words = ("--zip", zipped, "--store", tmp_path / "runs", "-q")
    monkeypatch.setenv("COLUMNS", "60")
    narrow = elephan("sweep", four, *words).out
    assert "buffer recovery utilization loss delay" in re.sub(" +", " ", narrow)
    assert "no room for rate" in narrow
    monkeypatch.setenv("COLUMNS", "132")
    assert "buffer recovery rate utilization" in re.sub(" +", " ", elephan("sweep", four, *words).out)


SHARED = (
    SWEEP.replace("count = 4", "count = 6").replace('duration = "3 s"', 'duration = "6 s"')
    + """
[[flows]]
name = "constant"
count = 6
path = ["link"]
rtt = { from = "40 ms", to = "60 ms" }
control = { law = "bbr1" }
"""
)


def joined(lines: list[str]) -> str:
    """Text without line breaks and the indentation of what is wrapped."""
    return re.sub(r"\s+", " ", " ".join(lines))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("more", [[], ["--queues", "drop-tail,codel"]])
def test_a_danger_of_a_buffer_is_on_every_screen(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int, more: list[str]
) -> None:
    path = tmp_path / "shared.toml"
    path.write_text(SHARED)
    words = ("size", path, "--target", "utilization=0.9", "-q", *more)
    document = json.loads(elephan(*words, "--json").out)
    dangers = document["dangers"] if not more else document["recommendation"]["caveats"][:2]
    assert any("are lost" in danger for danger in dangers)
    assert any("Jain's index" in danger for danger in dangers)
    monkeypatch.setenv("COLUMNS", str(width))
    lines = elephan(*words).out.splitlines()
    assert max(len(line) for line in lines if "tc qdisc" not in line) <= width
    for danger in dangers:
        assert f"! {danger}." in joined(lines)
    # At 60 columns even without a buffer beside the answer.
    assert len(lines) <= LINES + 2 * (width < 80)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [1, 3, 9])
def test_dangers_come_before_advice_and_are_never_counted(
    monkeypatch: pytest.MonkeyPatch, width: int, count: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    dangers = [wrapped(f"danger {i} " + "of a buffer " * 9, mark="  ! ") for i in range(count)]
    advice = [wrapped(f"advice {i} " + "for a buffer " * 9, mark="  > ") for i in range(3)]
    for room in range(30):
        shown_lines = within(dangers, advice, room)
        assert shown_lines[: sum(map(len, dangers))] == [line for lines in dangers for line in lines]
        assert len(shown_lines) <= max(room, sum(map(len, dangers)))


@pytest.mark.parametrize("width", WIDTHS)
def test_of_many_groups_the_one_that_gets_least_survives(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int
) -> None:
    """The last but one of 14 groups is limited to a tenth of the others' rate."""
    text = SWEEP.partition("[[flows]]")[0].replace("12 Mbit/s", "60 Mbit/s")
    for i in range(14):
        held = 'access = { rate = "300 kbit/s" }\n' if i == 12 else ""
        text += f'[[flows]]\nname = "group{i}"\ncount = 1\npath = ["link"]\nrtt = "{40 + i} ms"\n{held}'
    path = tmp_path / "net.toml"
    path.write_text(text)
    monkeypatch.setenv("COLUMNS", str(width))
    out = elephan("run", path, "-q").out
    assert len(out.splitlines()) <= LINES
    assert "\ngroup12: " in out
    assert "more groups" in out


@pytest.mark.parametrize("width", WIDTHS)
def test_of_many_points_the_one_whose_metric_is_unlike_survives(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, four: Path, tmp_path: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    buffers = ",".join(f'"{n} packets"' for n in (*range(200, 212), 3))
    words = ("--over", f"links[0].buffer=[{buffers}]", "--store", tmp_path / "runs", "-q", "--metric", "utilization")
    out = elephan("sweep", four, *words).out
    assert re.search(r"^ *3 packets", out, flags=re.MULTILINE), out
    assert re.search(r"the \d+ of 13 points that differ most", " ".join(out.split())), out
    assert len(out.splitlines()) <= LINES


@pytest.mark.parametrize("width", WIDTHS)
def test_a_model_says_first_where_it_fails(elephan: Command, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = elephan("model", "sawtooth", "--set", "flows=1,10,100", "--set", "rtt=20 ms,100 ms").out.splitlines()
    assert f"! {MODELS['sawtooth'].fails[0]}" in joined(lines)
    assert len(lines) <= LINES
    assert f"{len(MODELS['sawtooth'].fails) - 1} more notes" in joined(lines)


PING = """
title = "Pings beside bulk"
duration = "4 s"
warmup = "1 s"
replications = 3
[[links]]
name = "link"
rate = "10 Mbit/s"
buffer = "1 bdp"
[[flows]]
name = "bulk"
count = 4
path = ["link"]
rtt = { from = "18 ms", to = "22 ms" }
start = { from = "0 s", to = "1 s" }
[[flows]]
name = "ping"
path = ["link"]
rtt = "20 ms"
traffic = "ping"
[[flows]]
name = "voice"
path = ["link"]
rtt = "20 ms"
traffic = { kind = "cbr", rate = "64 kbit/s" }
"""
SIZED = ("--target", "utilization=0.9", "--target", "delay=10ms", "--seed", "1")


@pytest.mark.parametrize("words", [(), ("--find", "flows")], ids=["buffer", "limit"])
def test_a_table_of_sizes_has_the_delay_of_datagrams_and_not_their_goodput(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    path = tmp_path / "net.toml"
    path.write_text(PING)
    out = tmp_path / "sized"
    monkeypatch.setenv("COLUMNS", "120")
    text = elephan("size", path, *SIZED, *words, "-q", "--out", out).out
    assert re.search(r"^ +ping +voice", text, re.MULTILINE), text
    assert re.search(r" rtt +one way ", text), text
    row = next(line for line in text.splitlines() if line.endswith(("suggested", "per flow", "<- answer")))
    assert re.search(r" [234]\d ms +[1-4]\d ms ", row), row
    html = elephan_package.report(out, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "ping: round trip, 95 % [ms]" in html
    assert "voice: one way, 95 % [ms]" in html
    assert "bulk: goodput of a flow [Mbit/s]" in html
    assert "ping: goodput" not in html


def test_numbers_on_which_a_size_rests_have_intervals_where_there_is_room(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.toml"
    path.write_text(PING)
    half = r"(±[\d.]+|\([<>][\d.]+\))"
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        text = elephan("size", path, *SIZED, "-q").out
        assert max(map(len, text.splitlines())) <= width
        # Dangers are never left out, and three of them have no room on a narrow terminal.
        assert text.count("  ! ") == 3
        assert len(text.splitlines()) <= LINES or width < 80
        row = next(line for line in text.splitlines() if "suggested" in line)
        # Columns that decide stay at any width; intervals do not take the room of those of groups.
        assert re.search(r"[\d.]+.* % +[\d.]+.* ms ", row), row
        assert "ping" in text
        if width >= 80:
            assert re.search(rf"[\d.]+ ?{half} % +[\d.]+ ?{half} ms ", row), row


def test_a_table_of_sizes_without_chance_has_no_intervals(elephan: Command, tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    path.write_text(PING.replace('start = { from = "0 s", to = "1 s" }', ""))
    # Small intervals are shown, and no interval of zero.
    assert not re.search(r"±0(?![.\d])", elephan("size", path, *SIZED, "-q").out)


def test_differences_of_percentiles_have_intervals_and_say_that_they_are_not_paired(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.toml"
    path.write_text(PING)
    columns = "delay,delay_p95,rtt_p95[ping],goodput[bulk]"
    over = ("--over", "links[0].buffer=8 packets,17 packets", "--columns", columns, "--store", tmp_path / "runs", "-q")
    monkeypatch.setenv("COLUMNS", "80")
    text = elephan("sweep", path, *over, "--differences").out
    assert "not paired, as only means of replications are kept: delay p95, rtt p95." in " ".join(text.split())
    row = next(line for line in text.splitlines() if line.startswith("17 packets"))
    assert row.count("±") == 4, text
    document = json.loads(elephan("sweep", path, *over, "--differences", "--json").out)
    first, second = (point["groups"][1]["rtt_p95_s"] for point in document["points"])
    found = document["columns"][1]["rtt_p95[ping]"]
    assert found["mean"] == pytest.approx(second["mean"] - first["mean"])
    # A quantile is known to half of a bin, a 64th of itself, however alike replications are.
    halves = [max(each["ci95"], each["mean"] / 64) for each in (first, second)]
    assert found["ci95"] == pytest.approx((halves[0] ** 2 + halves[1] ** 2) ** 0.5)
    text = elephan("sweep", path, *over, "--differences", "--replications", "1").out
    assert "(link link, 1 replication, seed 1)" in text
    assert "no intervals, as there is one replication." in " ".join(text.split())
    assert "±" not in text


def test_points_that_are_compared_stay_together_where_many_are_cut(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.toml"
    path.write_text(SWEEP.replace("replications = 2", "replications = 1"))
    rates = [f"{rate} Mbit/s" for rate in (4, 5, 6, 8, 9, 10, 12, 14, 15)]
    over = ("--over", f"links[0].rate={','.join(rates)}", "--over", "flows[0].control=reno,cubic")
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        text = elephan("sweep", path, *over, "--store", tmp_path / "runs", "-q").out
        assert len(text.splitlines()) <= LINES, text
        shown = [tuple(re.split("  +", line)[:2]) for line in text.splitlines() if "Mbit/s  " in line]
        pairs = {rate: {law for rate_, law in shown if rate_ == rate} for rate, _ in shown}
        assert len(pairs) >= 3, text
        assert set(map(frozenset, pairs.values())) == {frozenset({"reno", "cubic"})}, text
        assert f"(the {len(shown)} of 18 points that differ most: --details" in text
