"""The command line: documents on stdout, one line on stderr, exit codes."""

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import get_args

import pytest

from conftest import SCENARIOS, Command
from elephan.cli import _command_for, command, options
from elephan.workers import MOST_WORKERS


def one_line(text: str) -> str:
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "Traceback" not in text
    return text.rstrip()


def test_names_in_brackets_survive_in_help(elephan: Command) -> None:
    assert "utilization[core]=1%" in elephan("run", "--help").out


def test_version_and_bare_call(elephan: Command) -> None:
    assert elephan("--version").out.startswith("elephan 0.")
    bare = elephan()
    assert bare.code == 2


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["fly"], 'elephan: there is no verb "fly"; use size, attack'),
        (["run"], "elephan run: Missing argument"),
        (["run", "{small}", "--sed", "3"], "elephan run: there is no option --sed; did you mean --seed?"),
        (["run", "{small}", "--replications", "0"], "elephan run: --replications: must be 1 or more"),
        (["run", "nothing.toml"], "nothing.toml: no such file or directory"),
        (["run", "{small}", "--set", "seed"], '--set: "seed" is not of the form place=value'),
        (["run", "{small}", "--set", "links[0].rate=10 mbps"], "{small}: links[0].rate: "),
        (["run", "{small}", "--set", "links[7].rate=1 Gbit/s"], "{small}: links[7]: there is one, links[0]"),
        (["run", "{small}", "--plot"], "--plot: where to?"),
        (["run", "{small}", "--max-replications", "5"], "--max-replications: needs --precision"),
        (
            ["run", "{small}", "--precision", "1%", "--replications", "9", "--max-replications", "8"],
            "--replications: 9 are more than --max-replications, 8",
        ),
        # A system folder that seems writable for root, but is not.
        (["run", "{small}", "--out", "/proc/run"], "--out /proc/run: /proc cannot be written; give a folder"),
        (["run", "{small}", "--engine", "steam"], '--engine: there is no "steam"; use window or reference'),
        (["run", "{small}", "--out", "{small}/x"], "--out {small}/x: {small} is a file"),
        (["size", "{small}"], "--target: none given"),
        (["size", "{small}", "--target", "speed=1"], 'target: there is no "speed"'),
        (["size", "{small}", "--target", "delay=10"], "target: delay: "),
        (["size", "{small}", "--target", "loss=1%", "--link", "edge"], '{small}: there is no link "edge"; links: core'),
        (["size", "{small}", "--target", "loss=1%", "--precision", "0"], "precision: 0 is out of range"),
        (["size", "{small}", "--target", "loss=1%", "--laws", "reno,renoo"], "{small}: flows[0].control.law: "),
        (["size", "{small}", "--target", "loss=1%", "--laws", ","], "--laws: none given"),
        (["list", "birds"], 'list: there is no "birds"; use laws, slow-starts, recoveries, queues, traffic, profiles'),
        (["bench", "--workloads", "W11"], '--workloads: there is no "W11"; use all, or some of W1,W2,W3,W4,W5,W6'),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_wrong_input_is_one_line_on_stderr_and_exit_2(
    elephan: Command, small: Path, words: list[str], where: str, as_json: bool
) -> None:
    asked = [word.format(small=small) for word in words]
    done = elephan(*asked, *(["--json"] if as_json and words != ["fly"] else []))
    assert done.code == 2
    assert done.out == ""
    assert one_line(done.err).startswith(where.format(small=small))


MISSING = [
    (["run"], "scenario file (TOML)"),
    (["size", "--target", "loss=1%"], "scenario file (TOML)"),
    (["lint"], "scenario file (TOML)"),
    (["testbed", "run"], "scenario file (TOML)"),
    (["estimate"], "scenario or sweep file (TOML)"),
    (["sweep"], "scenario or sweep file (TOML)"),
    (["compare", "--no-testbed"], "scenario or sweep file (TOML)"),
    (["import"], "trace"),
    (["infer"], "measurement"),
    (["conform", "tcp"], "packetdrill script"),
]


@pytest.mark.parametrize(
    ("words", "what"), MISSING, ids=lambda value: "-".join(value) if isinstance(value, list) else ""
)
def test_every_verb_says_the_same_of_a_file_that_is_missing(elephan: Command, words: list[str], what: str) -> None:
    done = elephan(*words, "nothing.toml")
    assert (done.code, done.out) == (2, "")
    assert one_line(done.err).startswith(f"nothing.toml: no such file or directory; give the path of a {what}")


def test_a_law_of_a_missing_file_and_an_unknown_law_are_named_in_full(elephan: Command, small: Path) -> None:
    done = elephan("run", small, "--law", "mine=nothing.py:Mine")
    assert one_line(done.err).startswith("--law mine: nothing.py: no such file or directory; give the path of a Python")
    done = elephan("attack", "nothing.toml")
    assert one_line(done.err).startswith('attack nothing.toml: unknown law "nothing.toml"; available: reno, ')


def on_terminal(columns: int | None, *words: object) -> list[str]:
    """Return the lines on the terminal of stderr, which has 50 columns, or as many as COLUMNS says."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    env |= {} if columns is None else {"COLUMNS": str(columns)}
    command = [sys.executable, "-m", "elephan", *map(str, words)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs, env=env) as done:
        os.close(theirs)
        seen = b""
        # Linux ends the reading of a terminal that all have closed with an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                seen += part
        os.close(ours)
    assert done.returncode == 2
    return seen.decode().splitlines()


@pytest.mark.parametrize("columns", [None, 30, 80])
@pytest.mark.parametrize("words", [("list", "birds"), ("run", "{small}", "--strict"), ("size", "{small}")])
def test_a_message_wraps_on_a_terminal_between_words_and_is_one_line_in_a_pipe(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, small: Path, columns: int | None, words: tuple[str, ...]
) -> None:
    asked = [word.format(small=small) for word in words]
    if columns is not None:
        monkeypatch.setenv("COLUMNS", str(columns))
    piped = elephan(*asked).err
    lines = on_terminal(columns, *asked)
    width = columns or 50
    # A word that is longer than a line, such as a path, is not broken.
    assert all(len(line) <= width or " " not in line.strip() for line in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(piped.split())
    assert len(lines) > piped.count("\n")
    if words[1] != "{small}" or len(words) == 2:
        one_line(piped)


def test_a_defect_is_one_line_and_exit_70(small: Path) -> None:
    script = (
        "import elephan, sys; from elephan.cli import main\n"
        "def broken(*_, **__): raise RuntimeError('the moon')\n"
        "elephan.run = broken\n"
        "main(['run', sys.argv[1], '--json'])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(small)], capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert done.stdout == ""
    assert one_line(done.stderr).startswith("internal error: RuntimeError: the moon at ")
    assert "please report it" in done.stderr


DRAWING, COMPUTING = {"matplotlib", "bokeh", "pyarrow", "jinja2"}, {"numpy", "scipy"}
"""Packages whose import takes a tenth of a second or more."""


@pytest.mark.parametrize(
    ("words", "without"),
    [
        (["list", "laws", "--json"], DRAWING | COMPUTING | {"rich", "elephan.runs", "elephan.cli.run"}),
        (["--help"], DRAWING | COMPUTING | {"elephan.scenario", "elephan.cli.run"}),
        (["run", "{small}", "--quiet", "--replications", "3"], DRAWING | {"scipy", "elephan.cli.size"}),
        (["report", "{folder}"], {"matplotlib", "scipy", "elephan.plots"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_verbs_load_nothing_heavy_that_they_do_not_need(
    small: Path, tmp_path: Path, elephan: Command, words: list[str], without: set[str]
) -> None:
    folder = tmp_path / "out"
    if "{folder}" in words:
        assert elephan("run", small, "--out", folder, "--quiet").code == 0
    script = (
        f"import sys; from elephan.cli import main\n"
        f"try: main(sys.argv[1:])\n"
        f"except SystemExit as end: assert not end.code, end.code\n"
        f"heavy = {without!r} & set(sys.modules)\n"
        f"sys.exit(str(heavy) if heavy else 0)"
    )
    asked = [word.format(small=small, folder=folder) for word in words]
    done = subprocess.run([sys.executable, "-c", script, *asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_verb_is_the_same_whether_the_others_are_loaded_or_not() -> None:
    for name, verb in command().commands.items():
        alone = _command_for([name, "--help"]).commands
        assert list(alone) == [name]
        assert (alone[name].short_help, alone[name].epilog) == (verb.short_help, verb.epilog)
        assert [each.opts for each in alone[name].params] == [each.opts for each in verb.params]
    # The list of all verbs is drawn without what they do.
    assert list(_command_for(["--help"]).commands) == list(command().commands)
    assert _command_for(["siez"]) is command()


@pytest.mark.parametrize(
    "kind", ["laws", "slow-starts", "recoveries", "queues", "traffic", "profiles", "columns", "lints"]
)
def test_list_gives_cards(elephan: Command, kind: str) -> None:
    done = elephan("list", kind, "--json")
    assert done.code == 0
    assert done.err == ""
    cards = json.loads(done.out)
    assert cards
    for card in cards:
        assert {"name", "title", "source", "parameters"} <= set(card)
        assert card["name"]
        assert card["title"]
        assert card["source"]
        for parameter in card["parameters"]:
            assert set(parameter) - {"source"} == {"name", "default", "unit", "meaning", "needs"}
    table = elephan("list", kind, "--details")
    assert all(card["name"] in table.out for card in cards)


def test_the_laws_are_there_with_their_sources(elephan: Command) -> None:
    cards = {card["name"]: card for card in json.loads(elephan("list", "laws", "--json").out)}
    assert cards["highspeed"]["source"] == "RFC 3649"
    assert {p["name"] for p in cards["highspeed"]["parameters"]} >= {"low_window", "high_window", "high_p"}


def test_run_prints_one_document(elephan: Command, small: Path) -> None:
    done = elephan(
        "run", small, "--json", "-q", "--set", "links[0].buffer=50 packets", "--seed", 5, "--replications", 2
    )
    assert done.code == 0
    assert done.err == ""
    document = json.loads(done.out)
    assert document["run"]["seed"] == 5
    assert document["run"]["replications"] == 2
    assert document["links"][0]["buffer_packets"] == 50


@pytest.mark.slow
def test_run_prints_tables_and_writes_files_and_a_picture(elephan: Command, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = elephan("run", small, "--out", out, "--plot")
    assert done.code == 0
    assert "utilization" in done.out
    assert "core is " in done.out
    assert "over max-min fair shares" in elephan("run", small, "--details").out
    expected = {
        "run.json",
        "flows.parquet",
        "links.parquet",
        "samples.parquet",
        "scenario.toml",
        "run.png",
        "run.svg",
        "distributions.png",
        "distributions.svg",
    }
    assert {path.name for path in out.iterdir()} == expected


@pytest.mark.parametrize("name", sorted(path.name for path in SCENARIOS.glob("*.toml")))
def test_shipped_scenarios_run(elephan: Command, name: str) -> None:
    words = ["--set", "duration=3 s", "--set", "warmup=1 s", "--replications", 1, "--json"]
    done = elephan("run", SCENARIOS / name, *words)
    assert done.code == 0
    assert json.loads(done.out)["links"][0]["utilization"]["mean"] > 0


def test_the_command_line_and_the_library_take_as_many_workers() -> None:
    """The option states the number itself: to import it would load what runs scenarios with every verb."""
    assert get_args(options.Workers)[1].max == MOST_WORKERS
