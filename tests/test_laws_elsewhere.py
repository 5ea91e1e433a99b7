"""``elephan list laws`` shows the laws of elephan-quic, with versions, if it is installed; a stand-in plays it."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE_S
from elephan.catalog import catalog
from elephan.catalog.elsewhere import PROGRAM

ROOT = Path(__file__).resolve().parent.parent
LAWS = [
    {
        "name": "quinn/cubic",
        "title": "CUBIC of quinn",
        "package": "quinn-proto",
        "version": "0.11.19",
        "source": "RFC 8312",
        "differs": "No TLS.",
    },
    {
        "name": "elephan",
        "title": "As it is",
        "package": "elephan-quic",
        "version": "1",
        "source": "elephan",
        "differs": "",
    },
]


def listed(folder: Path, *words: str, script: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``elephan list laws`` where only `folder` is on the path, with `script` as the program."""
    if script is not None:
        program = folder / PROGRAM
        program.write_text(f"#!{sys.executable}\n{script}\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    environment = os.environ | {"PATH": str(folder), "COLUMNS": "160"}
    # Python's own folder is looked into as well: one without the program.
    beside = "import sys; sys.executable = '/nowhere/python'; from elephan.__main__ import main; main()"
    command = [sys.executable, "-c", beside, "list", "laws", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE_S, check=False)


def answering(laws: object) -> str:
    return f"print({json.dumps(json.dumps({'adapter': PROGRAM, 'version': '0.1.0', 'laws': laws}))})"


def test_laws_of_the_program_stand_under_ours_with_their_version(tmp_path: Path) -> None:
    done = listed(tmp_path, script=answering(LAWS))
    assert done.returncode == 0, done.stderr
    ours, _, theirs = done.stdout.partition(f"By {PROGRAM} 0.1.0")
    assert "highspeed" in ours
    assert "quinn/cubic" in theirs
    assert "0.11.19" in theirs
    assert "As it is" not in theirs
    assert "No TLS." not in theirs
    assert "quinn/cubic (quinn-proto): No TLS." in listed(tmp_path, "--details").stdout


def test_json_has_them_behind_ours(tmp_path: Path) -> None:
    cards = json.loads(listed(tmp_path, "--json", script=answering(LAWS)).stdout)
    names = [card["name"] for card in cards]
    assert names == [card["name"] for card in catalog("laws")] + ["quinn/cubic"]
    assert cards[-1]["adapter"] == PROGRAM
    assert cards[-1]["version"] == "0.11.19"
    assert cards[-1].keys() >= cards[0].keys() - {"remembers", "response"}


def test_without_it_only_the_details_say_how_to_get_it(tmp_path: Path) -> None:
    assert "quic" not in listed(tmp_path).stdout.lower()
    assert "make quic" in " ".join(listed(tmp_path, "--details").stdout.split())
    names = [card["name"] for card in json.loads(listed(tmp_path, "--json").stdout)]
    assert names == [card["name"] for card in catalog("laws")]


@pytest.mark.parametrize("script", ["raise SystemExit(3)", "print('{')", answering([{"name": "x"}]), answering(3)])
def test_a_program_that_does_not_answer_is_said_and_ours_are_listed(tmp_path: Path, script: str) -> None:
    done = listed(tmp_path, script=script)
    assert done.returncode == 0
    assert "highspeed" in done.stdout
    said = " ".join(done.stdout.split())
    assert f"{PROGRAM}: list did not answer (" in said
    assert "make quic builds it again" in said
