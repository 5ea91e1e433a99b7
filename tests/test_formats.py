"""The version of files and documents: stated, checked when read, and not a part of a scenario's identity."""

import json
from pathlib import Path

import pytest

import elephan as package
from conftest import Command
from elephan.errors import InputError
from elephan.formats import FORMAT, stamped, unstamped
from elephan.scenario import EXAMPLE
from elephan.schema import schema


def test_a_stated_form_changes_nothing_about_a_scenario() -> None:
    plain, stated = (package.Scenario.from_text(text) for text in (EXAMPLE, "format = 1\n" + EXAMPLE))
    assert stated.canonical == plain.canonical
    assert stated.id == plain.id
    assert stated.replace(seed=7).canonical == plain.replace(seed=7).canonical
    assert "format" in schema()["properties"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("2", "format: the file is for a newer elephan; this one reads form 1"),
        ("0", "format: must be 1, the version of the file's form"),
        ('"1"', "format: must be 1, the version of the file's form"),
        ("1.5", "format: must be 1, the version of the file's form"),
    ],
)
def test_another_form_is_one_line(elephan: Command, tmp_path: Path, value: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"format = {value}\n{EXAMPLE}")
    done = elephan("run", path)
    assert (done.code, done.out, done.err) == (2, "", f"{path}: {message}\n")


def test_documents_of_another_version_are_refused() -> None:
    assert unstamped(stamped({"links": []}), "a.json") == {"links": []}
    for version in (FORMAT + 1, 0, "1", True, None):
        with pytest.raises(InputError, match=r"^a\.json: is of format .*; this elephan reads 1$"):
            unstamped({"format": version}, "a.json")
    with pytest.raises(InputError, match=r'^a\.json: has no "format", which every document of elephan has; write'):
        unstamped({"links": []}, "a.json")


@pytest.mark.parametrize("change", [{"format": FORMAT + 1}, {}])
def test_a_folder_of_another_version_is_one_line(elephan: Command, tmp_path: Path, change: dict[str, int]) -> None:
    package.run(package.Scenario.from_text(EXAMPLE), replications=1).write(tmp_path)
    path = tmp_path / "run.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["format"]
    path.write_text(json.dumps(change | document))
    with pytest.raises(InputError, match="format"):
        _ = package.load(tmp_path)
    done = elephan("report", tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(f"{path}: ")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "SMALL", "-q"),
        ("lint", "SMALL"),
        ("estimate", "SMALL"),
        ("list", "laws"),
        ("doctor",),
        ("new", "dumbbell"),
        ("size", "SMALL", "--target", "utilization=0.9", "--model-only", "-q"),
        ("model", "sawtooth", "--scenario", "SMALL"),
    ],
)
def test_every_document_states_its_version_first(elephan: Command, small: Path, words: tuple[str, ...]) -> None:
    done = elephan(*(small if word == "SMALL" else word for word in words), "--json")
    document = json.loads(done.out)
    if isinstance(document, dict):
        assert next(iter(document)) == "format"
        assert document["format"] == FORMAT
    else:
        assert words[0] in ("list", "doctor", "lint")
