"""Everything in the guide can be typed: its commands run, its Python runs, its files and options exist.

A page runs in a folder of its own, from top to bottom; its commands with the scenarios of the repository cut to a few
seconds of simulated time, its Python with the scenarios as they are. `<!-- not run: why -->` before a block keeps its
commands from being run; they are read all the same.
"""

import itertools
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from elephan import cli
from elephan.cli import app, main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "docs/index.md")),
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FIRST_FIGURE = (ROOT / "docs" / "guide" / "first_figure.py").read_text(encoding="utf-8")

FENCE = re.compile(
    r"(?:<!-- not run: (?P<why>[^\n]+?) -->\n+)?"
    r"^(?P<tick>```+)(?P<kind>[\w{}-]*)(?: [^\n]*)?\n(?P<text>.*?)^(?P=tick)$",
    flags=re.MULTILINE | re.DOTALL,
)
SHELL = ("", "sh", "bash", "console")
COMMAND = re.compile(r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?elephan\s")
ENDS = {"|", ">", ">>", "2>", "&&", "&", ";"}
"""Tokens at which a command ends and the shell begins."""

START = "elephan new dumbbell --out my-link.toml"
MINE = ("my-link.toml", "mine.toml")
"""Names of the reader's own scenario in pages, and how it is made."""


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    text: str
    is_run: bool


def blocks(page: Path) -> list[Block]:
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [Block(each["kind"], each["text"], each["why"] is None) for each in found]


def commands(text: str) -> Iterator[list[str]]:
    """The command lines of a block, each as its words without the program's name."""
    lines = iter(text.replace("\\\n", " ").splitlines())
    for line in lines:
        if not COMMAND.match(line):
            continue
        words = None
        while words is None:
            try:
                words = shlex.split(line, comments=True)
            except ValueError:  # a quotation goes on in the next line
                line += "\n" + next(lines)
        after = itertools.dropwhile(lambda word: not word.endswith("elephan"), words)
        yield list(itertools.takewhile(lambda word: word not in ENDS, after))[1:]


def read(words: list[str]) -> None:
    """Let the parser of the command line read the words, without running the command."""
    command: Any = typer.main.get_command(app())
    context = command.make_context("elephan", list(words), resilient_parsing=False)
    rest = [*context._protected_args, *context.args] if hasattr(context, "_protected_args") else context.args
    while rest and hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
        rest = [*getattr(context, "_protected_args", ()), *context.args]


SMALL = {"size": ["--precision", "0.5", "--replications", "1"], "attack": ["--runs", "50"]}
"""Options added to commands that search, so that they stop soon."""


def shortened(text: str) -> str:
    """Return a scenario of at most 20 s, 100 Mbit/s and two replications: enough for every command to work."""

    def cut(found: re.Match[str]) -> str:
        return f'{found[1]}"{min(float(found[2]), 20 if found[1].startswith("duration") else 5):g} s"'

    text = re.sub(r'"[\d.]+ Gbit/s"', '"100 Mbit/s"', text)
    text = re.sub(r'^((?:duration|warmup)\s*=\s*)"([\d.]+) s"', cut, text, flags=re.MULTILINE)
    return re.sub(r"^(replications\s*=\s*)\d+", r"\g<1>2", text, flags=re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like the repository's for the commands in it."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    for file in (tmp_path / "scenarios").rglob("*.toml"):
        file.write_text(shortened(file.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("target"))
    monkeypatch.syspath_prepend(str(tmp_path / "examples" / "python"))
    shutil.copy(ROOT / "Makefile", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ELEPHAN_STORE", raising=False)
    monkeypatch.setattr(cli, "leave", _exit)
    assert typed(shlex.split(START)[1:]) == 0
    text = (tmp_path / "my-link.toml").read_text(encoding="utf-8")
    for name in MINE:
        (tmp_path / name).write_text(shortened(text), encoding="utf-8")
    return tmp_path


def _exit(code: int) -> None:
    raise SystemExit(code)


def typed(words: list[str]) -> int:
    """Run a command line; return its exit code."""
    with pytest.raises(SystemExit) as end:
        main(words)
    return int(end.value.code or 0)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", NAMES)
def test_commands_of_a_page_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(ROOT / name):
        if block.kind not in SHELL:
            continue
        for words in commands(block.text):
            read(words)
            if block.is_run:
                if words == shlex.split(START)[1:]:
                    continue  # the fixture has made it
                # 1: short runs may miss a target or a precision.
                small = [] if "--model-only" in words else SMALL.get(words[0], [])
                small = [*small, "--runs", "50"] if "--worst-case" in words else small
                assert typed([*words, *small]) in (0, 1), (words, capsys.readouterr().err)


@pytest.mark.parametrize("name", NAMES)
def test_python_of_a_page_runs(name: str, folder: Path) -> None:
    # The scenarios as they are: pages take samples from the times that the files have.
    shutil.copytree(ROOT / "scenarios", folder / "scenarios", dirs_exist_ok=True)
    # Later blocks go on where earlier ones ended.
    together: dict[str, Any] = {"__name__": "page"}
    for number, block in enumerate(blocks(ROOT / name)):
        # `test_guide_python.py` runs sessions with their answers, which are doctests, and the first figure, shortened.
        elsewhere = block.text.lstrip().startswith(">>>") or block.text == FIRST_FIGURE
        if block.kind == "python" and block.is_run and not elsewhere:
            exec(compile(block.text, f"{name}, block {number}", "exec"), together)


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "guide").glob("*.md")), ids=lambda page: page.name)
def test_pages_say_from_where_their_files_are_named(page: Path) -> None:
    """An installed wheel has neither of these folders."""
    typed_in = [block.text for block in blocks(page) if block.kind in (*SHELL, "python")]
    named = {folder for folder in ("scenarios/", "examples/") for text in typed_in if folder in text}
    said = page.read_text(encoding="utf-8").partition("```")[0] if page.name != "law-in-rust.md" else page.read_text()
    if named:
        assert "root of a checkout" in said or "root of the checkout" in said
        assert all(f"`{folder}" in said or "`examples/own-law`" in said for folder in named)
        assert "scenarios/" not in named or "elephan new" in said


@pytest.mark.parametrize("name", NAMES)
def test_inline_commands_name_verbs_and_options_that_exist(name: str) -> None:
    for line in inline(ROOT / name):
        known: Any = typer.main.get_command(app())
        options = {"--help", "-h", "--version"}
        for word in line.split()[1:]:
            if word.startswith("-"):
                assert re.split(r"[=…]", word)[0] in options, (line, word)
            elif hasattr(known, "commands") and re.fullmatch(r"[a-z-]+", word):
                assert word in known.commands, (line, word)
                known = known.commands[word]
                options |= {each for option in known.params for each in (*option.opts, *option.secondary_opts)}


def inline(page: Path) -> list[str]:
    """Return the commands within sentences."""
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(each.split()) for each in re.findall(r"`(elephan [^`]+)`", prose)]


def test_examples_of_the_help_can_be_typed() -> None:
    verbs: Any = typer.main.get_command(app())
    waiting = list(verbs.commands.values())
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        if hasattr(command, "commands"):
            continue
        example = (command.epilog or "").replace("\\[", "[").partition("Example:")[2].strip()
        assert example.startswith("elephan "), command.name
        for words in commands(example):
            read(words)
            for word in words:
                assert not word.startswith("scenarios/") or (ROOT / word).is_file(), (example, word)


@pytest.mark.parametrize("name", NAMES)
def test_targets_of_make_exist(name: str) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(named) <= set(targets)


def test_pages_have_commands_and_python_to_run() -> None:
    # Otherwise the tests above would pass without testing anything.
    assert sum(len(list(commands(b.text))) for page in PAGES for b in blocks(page) if b.kind in SHELL) >= 8
    assert sum(b.kind == "python" for page in PAGES for b in blocks(page)) >= 3


@pytest.mark.parametrize(
    "line", ["elephan run --nonsense x", "elephan nonsense", "elephan size", "elephan run x --seed one"]
)
def test_a_wrong_command_is_seen(line: str) -> None:
    (words,) = commands(line)
    with pytest.raises(cli.USAGE_ERROR):
        read(words)
