"""``elephan completion``: what Tab offers, in each shell that is installed, without anything slow."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from elephan.cli import command, completer, completion
from elephan.scenario import EXAMPLE

SHELLS = tuple(completion.SHELLS)


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    return completion.table(command())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(EXAMPLE.replace("[[flows]]", 'queue = "red"\n\n[[flows]]'))
    (tmp_path / "sweep.toml").write_text('base = "small.toml"\n')
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "runs").mkdir()
    (tmp_path / "my runs").mkdir()
    return tmp_path


def offered(table: dict[str, Any], line: str) -> list[str]:
    return [word for word, _ in completer.offers(table, completer.split(line)[1:])]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("elephan si", ["size"]),
        ("elephan size small.toml --find r", ["rtt", "rate", "red"]),
        ("elephan x", []),
        ("elephan --v", ["--version"]),
        ("elephan nonsense ", []),
        ("elephan run s", ["small.toml", "sweep.toml"]),
        ("elephan run ./small", ["./small.toml"]),
        ("elephan run small.toml --see", ["--seed"]),
        ("elephan run small.toml --seed 3 --see", []),
        ("elephan run small.toml --set seed=1 --set", ["--set"]),
        ("elephan run small.toml --out ", ["my runs/", "runs/"]),
        ("elephan run small.toml --engine r", ["reference"]),
        ("elephan run small.toml --precision go", ["goodput="]),
        ("elephan size small.toml --precision ", []),
        ("elephan size small.toml --link ", ["core"]),
        ("elephan size --link c", []),
        ("elephan size small.toml --target u", ["utilization="]),
        ("elephan size small.toml --laws ren", ["reno"]),
        ("elephan size small.toml --laws reno,htcp,hs", []),
        ("elephan size small.toml --laws reno,htcp,hig", ["reno,htcp,highspeed"]),
        ("elephan size small.toml --laws reno,ren", []),
        ("elephan size small.toml --queues pi", ["pie"]),
        ("elephan list la", ["laws"]),
        ("elephan model sawt", ["sawtooth"]),
        ("elephan model sawtooth --set rt", ["rtt="]),
        ("elephan new park", ["parking-lot"]),
        ("elephan new dumbbell --out n", ["notes.txt"]),
        ("elephan schema s", ["scenario", "sweep"]),
        ("elephan completion ", ["bash", "zsh", "fish"]),
        ("elephan conform ", ["bbr", "tcp"]),
        ("elephan judge neb", ["nebby-2024"]),
        ("elephan conform bbr dr", ["drain-inflight", "drain-time"]),
        ("elephan conform bbr drain-time pol", ["policer"]),
        ("elephan run small.toml --set dur", ["duration="]),
        ("elephan run small.toml --set li", ["links[core]."]),
        ("elephan run small.toml --set fl", ["flows[bulk]."]),
        ("elephan run sweep.toml --set fl", ["flows[bulk]."]),
        ("elephan run nothing.toml --set fl", []),
        ("elephan run small.toml --set links[core].ra", ["links[core].rate="]),
        ("elephan run small.toml --set links[0].bu", ["links[0].buffer="]),
        ("elephan run small.toml --set 'links[0].bu", ["links[0].buffer="]),
        ("elephan run small.toml --set flows[bulk].tcp.min", ["flows[bulk].tcp.min_rto="]),
        ("elephan run small.toml --set links[core].queue.gen", ["links[core].queue.gentle="]),
        ("elephan run small.toml --set record.ev", ["record.every="]),
        ("elephan run small.toml --set flows[bulk].control=hig", ["flows[bulk].control=highspeed"]),
        ("elephan run small.toml --set flows[bulk].recovery=pr", ["flows[bulk].recovery=prr"]),
        ("elephan run small.toml --set links[core].queue=cod", ["links[core].queue=codel"]),
    ],
)
def test_tab_offers(table: dict[str, Any], line: str, words: list[str]) -> None:
    assert offered(table, line) == words


def test_every_verb_and_option_is_offered(table: dict[str, Any]) -> None:
    assert offered(table, "elephan ") == list(command().commands)
    for name in table["verbs"]:
        options = offered(table, f"elephan {name} --")
        known: Any = command().commands[name]
        assert {opt for each in known.params for opt in each.opts if opt.startswith("--")} <= {*options, "--help"}


def test_verbs_of_verbs_are_offered() -> None:
    inner = {"help": "List.", "options": [], "arguments": ["names things"]}
    outer = {"help": "Keep.", "options": [], "verbs": {"ls": inner}}
    known = {"verbs": {"store": outer}, "names": {"things": {"one": "", "two": ""}}}
    assert offered(known, "elephan store ") == ["ls"]
    assert offered(known, "elephan store ls t") == ["two"]


def test_runs_are_those_of_the_store(table: dict[str, Any], here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**table, "verbs": {"show": {"help": "", "options": [], "arguments": ["runs"]}}}
    assert offered(known, "elephan show ") == []
    (here / ".elephan" / "runs" / "ab" / ("ab" * 32)).mkdir(parents=True)
    assert offered(known, "elephan show a") == ["abababababab"]
    (here / "mine" / "runs" / "cd" / ("cd" * 32)).mkdir(parents=True)
    assert offered(table, "elephan store show --store mine ") == ["cdcdcdcdcdcd"]
    monkeypatch.setenv("ELEPHAN_STORE", "elsewhere")
    assert offered(known, "elephan show a") == []


def test_every_format_of_an_export_is_offered(table: dict[str, Any]) -> None:
    assert offered(table, "elephan store export --format ") == ["csv", "parquet", "json"]


def test_sources_name_what_there_is(table: dict[str, Any]) -> None:
    for source in completion.SOURCES.values():
        kind, _, which = source.partition(" ")
        assert (
            which in table["names"]
            if which
            else kind in ("toml", "file", "folder", "runs", "places", "links", "parameters", "")
        )


def test_bash_gets_what_stands_behind_its_own_breaks(table: dict[str, Any], here: Path) -> None:
    assert completer.for_bash(table, "elephan run small.toml --set flows[bulk].control=hig") == ["highspeed"]
    assert completer.for_bash(table, "elephan run small.toml --out my") == ["my\\ runs/"]
    assert completer.for_bash(table, f"elephan run {here}/sm") == [f"{here}/small.toml"]


def test_a_shell_that_there_is_not_is_refused(elephan: Command) -> None:
    done = elephan("completion", "bsh")
    assert (done.code, done.err) == (2, 'completion: there is no "bsh"; did you mean "bash"?\n')


def test_the_answer_needs_the_standard_library_alone(table: dict[str, Any], here: Path) -> None:
    words = [sys.executable, "-I", "-S", "-X", "importtime", str(completer.__file__)]
    done = subprocess.run(
        [*words, "zsh", "size", "small.toml", "--laws", "reno,hig"],
        capture_output=True,
        text=True,
        check=True,
        env={},
        input=json.dumps(table),
        cwd=here,
    )
    assert done.stdout == "reno,highspeed\tHighSpeed TCP\n"
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    # Each of these costs as much as all the rest.
    assert not {"elephan", "typer", "numpy", "typing", "pathlib", "inspect"} & loaded


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_is_put_into_the_environment(table: dict[str, Any], shell: str) -> None:
    """The table goes to the answering file through a pipe: no other process sees it, and it may be of any size."""
    text = completion.script(shell, {**table, "much": "x" * 300_000})
    assert not re.search(r"export |set -\w*x|^\s*ELEPHAN\w*=", re.sub(r"'\{.*\}'", "", text), flags=re.MULTILINE)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    ask = {
        "bash": "COMP_LINE='elephan si' COMP_POINT=10; _elephan; echo ${COMPREPLY[@]}",
        "fish": "complete -C 'elephan si'",
    }
    if shell in ask:
        # The script comes on standard input, as 300 kB are too long for an argument.
        done = subprocess.run([shell], input=f"{text}\n{ask[shell]}\n", capture_output=True, text=True, check=True)
        assert done.stdout.split()[0] == "size", done.stderr


BASH = """
compopt() { :; }  # What only works while somebody types.
source ./script
COMP_LINE=$1 COMP_POINT=${#1}
_elephan
printf '%s\\n' "${COMPREPLY[@]}"
"""

ASK = {
    "bash": BASH,
    "fish": "source ./script; complete -C $argv[1]",
}


@pytest.mark.parametrize("shell", ASK)
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("elephan si", ["size"]),
        ("elephan run small.toml --set links[core].ra", ["links[core].rate="]),
        ("elephan size small.toml --laws reno,hig", ["reno,highspeed"]),
        ("elephan run my", {"bash": ["my\\ runs/"], "fish": ["my runs/"]}),
    ],
)
def test_shells_complete(elephan: Command, here: Path, shell: str, line: str, words: Any) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (here / "script").write_text(elephan("completion", shell).out)
    rest = ["_", line] if shell == "bash" else [line]
    done = subprocess.run([shell, "-c", ASK[shell], *rest], capture_output=True, text=True, check=True, cwd=here)
    found = [row.partition("\t")[0] for row in done.stdout.splitlines()]
    assert found == (words[shell] if isinstance(words, dict) else words)


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_of_their_shell(elephan: Command, here: Path, shell: str) -> None:
    done = elephan("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert re.search(r"-I -S \S*completer\.py", done.out)
    assert json.loads(elephan("completion", shell, "--json").out) == {"format": 1, "shell": shell, "text": done.out}
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (here / "script").write_text(done.out)
    subprocess.run([shell, "-n", "script"], check=True, cwd=here, env=dict(os.environ))
