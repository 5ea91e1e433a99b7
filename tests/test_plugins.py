"""Verbs and hooks of other distributions: elephan works without the evidence, and any package can add a verb."""

import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import elephan as package
from conftest import Command
from elephan import cli, plugins
from elephan.cli.completion import table

ROOT = Path(__file__).resolve().parent.parent

HELLO = '''
"""Verbs for a test."""
from typing import Annotated
import typer

EXAMPLE = "Example:  elephan hello world"
app = typer.Typer()
number = 7


def worlds():
    return [("world", "This one."), ("moon", "Another one.")]


def hello(
    whom: Annotated[str, typer.Argument(metavar="WHOM", help="Whom.", autocompletion=worlds)], loud: bool = False
):
    """Greet somebody."""
    print("HELLO" if loud else "hello", whom)


@app.command()
def small():
    """Say little."""
    print("few words")


@app.command()
def large():
    """Say much."""
    print("many words")
'''

Install = Callable[..., None]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Forget the command line, which is built once, before and after a test that changes what is installed."""
    caches = (cli._others, cli.app, cli.command)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs a distribution with verbs into a folder on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "greetings_of_a_test", raising=False)
    (tmp_path / "greetings_of_a_test.py").write_text(HELLO)

    def call(distribution: str, **verbs: str) -> None:
        about = tmp_path / f"{distribution}-1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
        lines = [f"{verb} = {value}" for verb, value in verbs.items()]
        (about / "entry_points.txt").write_text("\n".join(["[elephan.commands]", *lines, ""]))

    return call


@pytest.fixture
def without_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda **_: ())


def test_elephan_imports_nothing_of_the_evidence() -> None:
    files = [path for path in (ROOT / "python" / "elephan").rglob("*") if path.suffix in (".py", ".pyi", ".toml")]
    assert len(files) > 100
    assert [path for path in files if "elephan_evidence" in path.read_text(encoding="utf-8")] == []


def test_the_evidence_has_the_version_of_elephan() -> None:
    project = tomllib.loads((ROOT / "evidence" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == package.__version__
    assert f"elephan=={package.__version__}" in project["dependencies"]


@pytest.mark.parametrize("name", ["LICENSE-APACHE", "LICENSE-MIT"])
def test_the_evidence_has_the_licences_of_elephan(name: str) -> None:
    assert (ROOT / "evidence" / name).read_bytes() == (ROOT / name).read_bytes()


@pytest.mark.usefixtures("without_evidence")
@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["reproduce"], "reproduce:"),
        (["reproduce", "--list", "--json"], "reproduce:"),
        (["conform", "bbr"], "conform:"),
        (["judge"], "judge:"),
        (["model", "sawtooth", "--simulate"], "--simulate:"),
        (["list", "experiments"], "list experiments:"),
    ],
)
def test_without_the_evidence_a_verb_says_what_to_install(elephan: Command, words: list[str], what: str) -> None:
    done = elephan(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"{what} comes with elephan-evidence; pip install elephan-evidence\n"


@pytest.mark.usefixtures("without_evidence")
def test_without_the_evidence_the_page_of_a_reproduction_says_what_to_install(elephan: Command, tmp_path: Path) -> None:
    (tmp_path / "reproduce.json").write_text("{}")
    done = elephan("report", tmp_path)
    assert done.code == 2
    says = "the page of a reproduction comes with elephan-evidence; pip install elephan-evidence"
    assert done.err == f"{tmp_path}: {says}\n"


@pytest.mark.usefixtures("without_evidence")
def test_without_the_evidence_its_verbs_are_not_listed(elephan: Command) -> None:
    shown = elephan("--help")
    assert (shown.code, shown.err) == (0, "")
    assert "reproduce" not in shown.out
    assert not {"reproduce", "conform", "judge"} & set(table(cli.command())["verbs"])


def test_with_the_evidence_its_verbs_are_listed_without_importing_it(elephan: Command) -> None:
    before = {name for name in sys.modules if name.startswith("elephan_evidence")}
    shown = elephan("--help").out
    assert " reproduce " in shown
    assert " conform " in shown
    assert "From other packages" not in shown
    assert {name for name in sys.modules if name.startswith("elephan_evidence")} == before


def test_another_package_adds_a_verb(elephan: Command, install: Install) -> None:
    install("greetings", hello="greetings_of_a_test:hello")
    shown = elephan("--help")
    assert "From other packages" in shown.out
    assert "From greetings 1.2." in shown.out
    assert "greetings_of_a_test" not in sys.modules
    assert elephan("hello", "world", "--loud") == (0, "HELLO world\n", "")
    about = elephan("hello", "--help").out
    assert "Greet somebody." in about
    assert about.endswith("Example:\n  elephan hello world\n")
    assert 'did you mean "hello"?' in elephan("helo").err


def test_another_package_adds_a_verb_with_verbs_of_its_own(elephan: Command, install: Install) -> None:
    install("greetings", words="greetings_of_a_test:app")
    assert elephan("words", "large") == (0, "many words\n", "")
    assert set(table(cli.command())["verbs"]["words"]["verbs"]) == {"small", "large"}


def test_tab_offers_the_verbs_of_other_packages_and_their_values(install: Install) -> None:
    install("greetings", hello="greetings_of_a_test:hello")
    known = table(cli.command())
    verb = known["verbs"]["hello"]
    assert verb["help"] == "Greet somebody."
    assert known["names"][verb["arguments"][0].removeprefix("names ")] == {"world": "This one.", "moon": "Another one."}


def test_a_verb_of_elephan_cannot_be_replaced(elephan: Command, install: Install) -> None:
    install("greetings", list="greetings_of_a_test:hello", hello="greetings_of_a_test:hello")
    shown = elephan("--help")
    assert shown.code == 0
    assert shown.err == "list: greetings 1.2 adds a verb that elephan has; uninstall it\n"
    assert "drop-tail" in elephan("list", "queues").out


def test_of_two_packages_with_one_verb_neither_runs(elephan: Command, install: Install) -> None:
    install("greetings", hello="greetings_of_a_test:hello")
    install("salutes", hello="greetings_of_a_test:hello")
    says = "hello: both greetings 1.2 and salutes 1.2 add this verb; uninstall one of them\n"
    assert elephan("hello", "world") == (2, "", says)
    assert elephan("--help").err == says


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("nothing_of_a_test:hello", "cannot be imported (ModuleNotFoundError: No module named 'nothing_of_a_test')"),
        (
            "greetings_of_a_test:bye",
            "cannot be imported (AttributeError: module 'greetings_of_a_test' has no attribute",
        ),
        ("greetings_of_a_test:number", "names greetings_of_a_test:number, which is no function and no typer.Typer"),
    ],
)
def test_a_verb_that_cannot_be_imported_is_one_line(elephan: Command, install: Install, value: str, says: str) -> None:
    install("greetings", hello=value)
    done = elephan("hello", "world")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"hello: greetings 1.2 {says}")
    # The other verbs work, and the list of all says the same line.
    assert "hello" not in table(cli.command())["verbs"]
    assert elephan("list", "queues").code == 0
