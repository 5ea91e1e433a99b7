"""``--help``: verbs in groups, a way to start, examples that work when copied, at any width."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import Command
from elephan.cli import command
from elephan.cli.help import START, VERBS, write_examples


def verbs(group: Any = None, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every verb with the words that call it; a verb may have verbs of its own."""
    for name, verb in (group or command()).commands.items():
        if hasattr(verb, "commands"):
            yield from verbs(verb, (*before, name))
        else:
            yield (*before, name), verb


ALL = dict(verbs())
EXAMPLES = [
    (words, line.strip())
    for words, verb in ALL.items()
    for line in (verb.epilog or "").removeprefix("Example:").splitlines()
]


def accept(line: str) -> None:
    """Parse a command as the command line would, without running it."""
    name, *words = shlex.split(line.partition(" > ")[0])
    assert name == "elephan"
    where: Any = command()
    while hasattr(where, "commands"):
        where = where.commands[words.pop(0)]
    where.make_context(line, words).close()


def lines_of(text: str) -> list[str]:
    """Return the commands in a text; commands over several lines are joined as by a shell."""
    whole = text.replace("\\\n", " ")
    return [" ".join(line.split()) for line in whole.splitlines() if line.startswith("  elephan ")]


def test_every_verb_has_an_example() -> None:
    assert {words for words, _ in EXAMPLES} == set(ALL)


@pytest.mark.parametrize(("words", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_examples_are_accepted(words: tuple[str, ...], line: str) -> None:
    assert line.startswith(" ".join(("elephan", *words)))
    accept(line)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
@pytest.mark.parametrize("columns", [50, 200])
def test_examples_can_be_copied_at_any_width(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = elephan(*words, "--help")
    assert done.code == 0
    assert lines_of(done.out) == [" ".join(line.split()) for said, line in EXAMPLES if said == words]


@pytest.mark.parametrize("columns", [60, 80, 132])
def test_help_stays_within_the_terminal(elephan: Command, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = elephan("--help").out.splitlines()
    own = START.splitlines()
    # Commands to copy, and addresses, are not broken.
    assert max(len(line) for line in shown if line not in own) <= columns


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_sentences_of_options_have_most_of_80_columns(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = elephan(*words, "--help").out.partition("\nExample")[0]
    assert max(map(len, shown.splitlines())) <= 80
    # An escape of the markup is not shown, and the column of sentences begins in the first third.
    assert "\\" not in shown
    begins = [re.search(r"\S  +(\S)", line) for line in shown.splitlines() if line.startswith("  -")]
    assert max(found.start(1) for found in begins if found) <= 80 / 3


def test_verbs_stand_in_groups_each_with_its_line(elephan: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = elephan("--help").out
    known = {name: line for group in VERBS.values() for name, line in group.items()}
    assert set(command().commands) <= set(known)
    for name in command().commands:
        # One line each: what wraps is hard to find.
        assert any(row.startswith(f"│ {name} ") and known[name] in row for row in shown.splitlines()), name
    order = [shown.index(f" {group} ") for group in VERBS]
    assert order == sorted(order)
    assert list(command().commands) == [name for name in known if name in command().commands]


def test_the_first_page_says_how_to_start_and_what_codes_mean(elephan: Command) -> None:
    shown = elephan("--help").out
    assert START in shown
    assert len(lines_of(START)) == 4
    for line in lines_of(START):
        accept(line)
    for code in ("0 done", "1 a target", "2 wrong input", "70 a defect", "130 interrupted"):
        assert code in START


def test_attack_takes_any_law(elephan: Command) -> None:
    assert "Any law, e.g. bbr1 or cubic (elephan list laws)." in elephan("attack", "--help").out


def test_short_commands_stay_whole_and_long_ones_break_before_options() -> None:
    assert write_examples("elephan run a.toml\nelephan run b.toml", 80) == (
        "Examples:\n  elephan run a.toml\n  elephan run b.toml\n"
    )
    broken = write_examples("Example:  elephan run a.toml --set x=1 --set y=2 --out run/", 40)
    assert broken == "Example:\n  elephan run a.toml --set x=1 \\\n    --set y=2 --out run/\n"


@pytest.mark.parametrize(("variable", "coloured"), [({"NO_COLOR": "1"}, False), ({"FORCE_COLOR": "1"}, True)])
def test_colour_is_as_asked(variable: dict[str, str], coloured: bool) -> None:
    plain = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    words = [sys.executable, "-c", "from elephan.cli import main; main(['--help'])"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=plain | {"TERM": "xterm"} | variable)
    assert ("\x1b[" in done.stdout) is coloured
