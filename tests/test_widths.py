"""Every verb, at 60 and 80 columns: no line is longer than the terminal, and an answer takes one screen.

Verbs come from the parser: a new one is called without arguments until `ARGUMENTS` or `BY_DESIGN` has it.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from elephan import Scenario, doctor
from elephan.cli import command
from elephan.cli.catalog import KINDS
from elephan.cli.columns import LINES, command_lines
from elephan.cli.progress import ProgressLine
from elephan.cli.tables import text_table, whole_table
from elephan.doctor.finding import Probe, ProbeFinding
from elephan.store import Store
from test_help import ALL

if TYPE_CHECKING:
    from conftest import Command

WIDTHS = (60, 80)

NET = """
title = "Two queues with everything that has a line of its own"
duration = "3 s"
warmup = "1 s"
replications = 2

[[links]]
name = "the-link-to-the-provider"
rate = "10 Mbit/s"
buffer = "60 packets"
queue = { discipline = "red", min_th = "20 packets", max_th = "60 packets", max_p = 0.1 }

[[links]]
name = "backup"
rate = "12 Mbit/s"
buffer = "40 packets"

[[flows]]
name = "bulk-transfers"
count = 3
path = ["the-link-to-the-provider", "backup"]
rtt = { from = "40 ms", to = "60 ms" }

[[flows]]
name = "pages"
path = ["backup"]
rtt = "90 ms"
traffic = { kind = "elastic", rate = "1 Mbit/s", size = "20 kB" }
"""

OVER = {"links[0].buffer": ["30 packets", "60 packets"], "flows[0].control": ["cubic", "reno"]}

BY_DESIGN = {
    ("completion",): "a script",
    ("schema",): "a document for editors",
    ("new",): "a file, with its comments",
    ("demo",): "the screen of `size`, of a scenario that takes long",
    ("web",): "serves a page, and prints its address alone",
    ("report",): "writes a page, and says so on stderr",
    ("store", "export"): "a table for other programs",
    ("testbed", "run"): "needs root and real time; --dry-run has commands as they are typed; screen of `run`",
    ("kernel", "load"): "changes the kernel, and says so on stderr",
    ("kernel", "unload"): "changes the kernel",
    ("kernel", "list"): "needs the laws of the kernel, which not every build has",
    ("kernel", "show"): "needs a loaded law; counters of a few letters",
}
"""Verbs whose output is not for reading on a screen, or that cannot be called in a test, and why."""

ARGUMENTS: dict[tuple[str, ...], list[list[str]]] = {
    ("size",): [
        ["NET", "--target", "utilization=0.5", "-q", "--precision", "0.5"],
        ["NET", "--target", "utilization=0.5", "-q", "--precision", "0.5", "--find", "red"],
        ["NET", "--target", "utilization=0.5", "-q", "--model-only", "--queues", "drop-tail,codel"],
        ["NET", "--target", "utilization=0.5", "-q", "--precision", "0.5", "--worst-case", "--runs", "50"],
    ],
    ("why",): [["NET"]],
    ("attack",): [["cubic", "--runs", "50", "-q", "--out", "ATTACKED"]],
    ("model",): [["sawtooth", "--set", "flows=1,10,100"], ["fluid"], ["rules", "--set", "flows=1,10"]],
    ("reproduce",): [["hsbuf.ref.T.p5e-4", "-q"]],
    ("conform",): [["bbr", "drain-time", "-q"], ["tcp", "RECORDED", "-q"]],
    ("judge",): [["l4s-classic-2020", "--quick", "-q"]],
    ("answer",): [[], ["satellite"], ["own-law"]],
    ("transfer",): [["4MB", "--rtt", "200ms", "--rate", "50Mbit/s", "--after", "8s"]],
    ("import",): [["TRACE", "--rate", "Mbit/s"], ["tc", "QUEUES"]],
    ("infer",): [["MEASURED", "--control", "cubic"]],
    ("expect",): [
        ["NET", "--replications", "3"],
        ["QUEUES", "--replications", "3", "--measured", "MEASURED"],
        ["NOTED", "--replications", "3", "--time", "1 s"],
    ],
    ("lint",): [["NET"]],
    ("estimate",): [["NET"]],
    ("run",): [["NET", "-q"], ["NET", "--out", "OUT"]],
    ("sweep",): [
        ["NET", "--over", "links[0].buffer=30 packets,60 packets", "-q", "--store", "STORE"],
        ["NET", "--over", "links[0].buffer=30 packets,60 packets", "--dry-run", "--store", "STORE"],
    ],
    ("compare",): [["NET", "--no-testbed", "-q"]],
    ("list",): [[kind] for kind in KINDS.split(", ")],
    ("bench",): [
        ["--quick", "--workloads", "W1", "--no-peers", "--no-reference", "-q"],
        ["--quick", "--laws", "reno", "--no-peers", "--no-reference", "-q"],
    ],
    ("store", "ls"): [["--store", "STORE"]],
    ("store", "list"): [["--store", "STORE"]],
    ("store", "show"): [["ID", "--store", "STORE", "-q"]],
    ("store", "query"): [
        ["SELECT name, avg(utilization) FROM links GROUP BY name", "--store", "STORE"],
        ["SELECT * FROM results LIMIT 2", "--store", "STORE"],
        ["SELECT a.rowid FROM runs a, runs b, runs c", "--store", "STORE"],
    ],
    ("store", "tables"): [
        ["--store", "STORE"],
        *([name, "--store", "STORE"] for name in ("results", "runs", "links", "groups", "points", "failures", "names")),
    ],
    ("store", "gc"): [["--dry-run", "--store", "STORE"]],
    ("store", "verify"): [["--store", "STORE"]],
    ("store", "merge"): [["STORE", "--store", "OTHER"]],
}
"""Arguments of verbs that need some; words in capitals are made by `prepared`."""

LONGER = {("list",), ("store", "tables"), ("store", "query"), ("store", "show")}
"""Lists that somebody asks for by name, queries whose columns are the reader's, and a run's screen with its origin."""

DETAILS: dict[tuple[str, ...], list[list[str]]] = {
    ("conform",): [["bbr", "--list"], ["bbr", "--list", "--details"]],
    ("reproduce",): [["nr-hstcp", "--list"]],
    ("judge",): [["--list"]],
    ("model",): [["sawtooth", "--map"]],
    ("run",): [["NET", "-q", "--metric", "jain", "--metric", "utilization"]],
}
"""Longer forms that are asked for by name; of verbs with ``--details`` that is added to what `ARGUMENTS` has."""


def calls() -> list[tuple[tuple[str, ...], list[str], bool]]:
    """Words of the verb, arguments, and whether one screen must do."""
    found = []
    for words in ALL:
        if words in BY_DESIGN:
            continue
        has_details = any("--details" in each.opts for each in ALL[words].params)
        for arguments in ARGUMENTS.get(words, [[]]):
            is_list = words == ("answer",) and not arguments
            found.append((words, arguments, words not in LONGER and not is_list))
            if has_details:
                found.append((words, [*arguments, "--details"], False))
        found += [(words, arguments, False) for arguments in DETAILS.get(words, [])]
    return found


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A scenario with long names, a trace, and a store with runs and a failure."""
    folder = tmp_path_factory.mktemp("widths")
    (folder / "net.toml").write_text(NET)
    (folder / "trace.csv").write_text("time_s,rate\n0,10\n1,20\n2,15\n")
    (folder / "queues.txt").write_text("qdisc netem 1: dev eth0 root limit 1000 delay 20ms 2ms rate 10Mbit\n")
    noted = "tc qdisc add dev e root handle 1: tbf rate 10mbit burst 9k latency 50\n"
    noted += "tc qdisc add dev e parent 1:1 netem delay 20ms 2ms limit 5\n"
    (folder / "noted.txt").write_text(noted)
    rows = [f"{i / 10},{20 + i % 40},{20 + i % 40},120000,{int(i % 40 == 39)}" for i in range(1, 121)]
    (folder / "m.csv").write_text("time_s,rtt_ms,cwnd_segments,acked_bytes,retransmits\n" + "\n".join(rows) + "\n")
    with Store(folder / "store") as store:
        base = Scenario.from_text(NET)
        for buffer in OVER["links[0].buffer"]:
            for law in OVER["flows[0].control"]:
                labels = {"links[0].buffer": buffer, "flows[0].control": law, "a label of the reader": "with a text"}
                changes = {"links[0].buffer": buffer, "flows[0].control": law}
                run = store.run(base.replace(changes), replications=2, labels=labels)
        store.fail("key", "text", {"flows[0].count": 3}, "it went wrong")
        shown = run.id
    return {
        "NET": str(folder / "net.toml"),
        "TRACE": str(folder / "trace.csv"),
        "QUEUES": str(folder / "queues.txt"),
        "NOTED": str(folder / "noted.txt"),
        "OUT": str(folder / "out"),
        "MEASURED": str(folder / "m.csv"),
        "RECORDED": str(Path(__file__).parent / "data" / "recorded"),
        "STORE": str(folder / "store"),
        "OTHER": str(folder / "other"),
        "ID": shown[:12],
    }


MISSING = ProbeFinding(
    "missing",
    "it is not installed, or not where it is looked for",
    f"/opt/{'a-long-path/' * 12}bin/python -m pip install thing",
)
PROBED = doctor.examine([Probe("g", f"thing {n}", "some purpose of some users", lambda: MISSING) for n in range(9)])
"""Much is missing, with a command longer than any terminal, which is to be copied."""


def too_long(out: str, width: int) -> list[str]:
    """Lines longer than the terminal, but for what has no blank, such as a path, and commands that mend."""
    lines = [line.rstrip() for line in out.splitlines()]
    return [line for line in lines if len(line) > width and " " in line.strip() and "/opt/a-long-path/" not in line]


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("words", "arguments", "one_screen"), calls(), ids=[" ".join((*words, *more)) for words, more, _ in calls()]
)
def test_no_verb_writes_wider_than_the_terminal(
    elephan: Command,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    prepared: dict[str, str],
    words: tuple[str, ...],
    arguments: list[str],
    one_screen: bool,
    width: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "examine", lambda: PROBED)
    done = elephan(*words, *(prepared.get(word, word) for word in arguments))
    assert done.code in (0, 1), f"give {' '.join(words)} its arguments in ARGUMENTS: {done.err}"
    assert not too_long(done.out, width), done.out
    assert not too_long(done.err, width), done.err
    if one_screen and width == 80:
        assert len(done.out.splitlines()) <= LINES, done.out


def test_progress_in_a_log_is_no_wider_than_its_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "search: 1,667 packets, then the 3 worst of the variants with cubic and fq-codel on this link"
    monkeypatch.setattr("elephan.cli.progress.FIRST_S", 0.0)
    for width in (None, *WIDTHS):
        if width is not None:
            monkeypatch.setenv("COLUMNS", str(width))
        with ProgressLine("size", of="runs") as line:
            line.update(1, 12, long, 7.0)
        written = capsys.readouterr().err
        assert "about 7 s left" in " ".join(written.split())
        if width is None:
            assert written.count("\n") == 1, "one line for programs"
        else:
            assert not too_long(written, width)


def test_reasons_are_of_verbs_that_exist() -> None:
    assert {*BY_DESIGN, *ARGUMENTS, *LONGER} <= set(ALL)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("words", [(), *ALL, *sorted({words[:1] for words in ALL if len(words) > 1})], ids=" ".join)
def test_no_help_is_wider_than_the_terminal(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = elephan(*words, "--help")
    assert done.code == 0
    # Examples are commands, which `test_help` copies.
    own = done.out.partition("\nExample")[0].partition("\nNew to it?")[0]
    assert not too_long(own, width)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_list_of_make_fits_and_loses_no_word() -> None:
    makefile = Path(__file__).resolve().parent.parent / "Makefile"
    done = subprocess.run(
        ["make", "-s", "-f", makefile, "help"], cwd=makefile.parent, capture_output=True, text=True, check=True
    )
    assert max(map(len, done.stdout.splitlines())) <= 80
    written = re.findall(r"^([a-z]+):.*## (.*)$", makefile.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert done.stdout.split() == [word for name, says in written for word in ("make", name, *says.split())]


def test_a_broken_command_is_the_same_to_a_shell() -> None:
    command_ = "tc qdisc replace dev eth0 root red limit 499500 min 166500 max 499500 avpkt 1500 burst 281"
    for width in (30, 60, 80, 200):
        lines = command_lines(command_, "Linux: ", width)
        assert max(map(len, lines)) <= width
        joined = "\n".join(lines).removeprefix("Linux: ").replace("\\\n", " ")
        assert joined.split() == command_.split()
        assert (len(lines) == 1) is (width == 200)


def test_a_word_in_quotes_longer_than_a_line_is_the_same_to_a_shell() -> None:
    word = "links[0].rate=10 Mbit/s,100 Mbit/s,1 Gbit/s;flows[0].rtt=20 ms,40 ms,80 ms;links[0].buffer=1 bdp,0.5 bdp"
    for command_ in (f"elephan sweep x.toml --zip '{word}' --store runs", f"elephan sweep x.toml --zip '{word}'"):
        for width in (40, 60, 80, 300):
            lines = command_lines(command_, "Command: ", width)
            assert max(map(len, lines)) <= width
            joined = "\n".join(lines).removeprefix("Command: ").replace("\\\n", "")
            assert shlex.split(joined) == shlex.split(command_)


def test_a_table_without_room_loses_no_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads = ["name", *(f"a_quantity_{n}" for n in range(12))]
    rows = [[f"row{i}", *(f"{i}{n}.12345" for n in range(12))] for i in range(3)]
    for width in (30, 60, 80, 400):
        monkeypatch.setenv("COLUMNS", str(width))
        out = "\n".join(whole_table(heads, rows, [False, *([True] * 12)]))
        assert not too_long(out, width)
        assert all(cell in out for row in rows for cell in row)
        assert all(head in out for head in heads)
    assert whole_table(["a"], [], [False], 80) == ["a"]
    assert text_table((), []) == []


def test_lists_of_verbs_are_all_walked() -> None:
    assert {words[0] for words in ALL} == set(command().commands)
