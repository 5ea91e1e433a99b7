"""``elephan reproduce`` on the command line: its output, and the state after an interruption."""

import json
import re
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

import elephan_evidence.papers
from conftest import Command
from elephan.sweeps import execution
from elephan_evidence.papers import Paper, reproduction
from elephan_evidence.papers.nulls import NullPower
from test_site_reference import keys, rows
from toy_paper import toy_paper


@pytest.fixture(autouse=True)
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    toy = toy_paper(tmp_path / "toy")
    for where in (reproduction, elephan_evidence.papers):
        monkeypatch.setattr(where, "papers", lambda: (toy,))
    return toy


def test_claims_are_a_table_and_a_line_sums_them_up(elephan: Command, tmp_path: Path) -> None:
    done = elephan("reproduce", "--store", tmp_path / "store", "--quiet")
    assert done.code == 1  # one cannot be judged
    assert "toy.half" in done.out
    assert "deviation" in done.out
    stated = "5 statements: 2 met, 1 explained by one variant, 1 not met and 1 not run."
    assert stated in " ".join(done.out.split())
    assert "Counted apart: 1 statement that a formula alone decides (1 met)." in done.out
    said = "6 claims: 3 pass, 1 deviation, 1 fail, 1 not run; no verdicts have changed, 6 were not known; 2 points in "
    assert done.err.startswith(said)
    assert done.err.endswith(", 0 of them from the store\n")


def test_a_fail_that_is_known_is_no_error_and_a_verdict_that_changes_is(
    elephan: Command, paper: Paper, tmp_path: Path
) -> None:
    words = ("reproduce", "toy.wrong", "toy.full", "--store", tmp_path / "store", "--quiet")
    assert elephan(*words).code == 1
    blessed = elephan(*words, "--bless")
    assert blessed.code == 0
    path = paper.folder / "verdicts.csv"
    assert f"wrote {path.parent}: {path.name}" in blessed.err
    rows = dict.fromkeys(paper.claims, ",") | {"toy.wrong": "fail,", "toy.full": "pass,"}
    assert path.read_text() == "\n".join(["id,verdict,quick", *(f"{key},{row}" for key, row in rows.items()), ""])
    known = elephan(*words)
    assert (known.code, "no verdicts have changed; " in known.err) == (0, True)
    # The file has a column for shortened runs.
    assert elephan("reproduce", "toy.full", "--quick", "--bless", "--store", tmp_path / "store", "--quiet").code == 0
    assert "toy.full,pass,pass\n" in path.read_text()
    path.write_text(path.read_text().replace("toy.wrong,fail", "toy.wrong,pass"))
    changed = elephan(*words)
    assert changed.code == 1
    assert "toy.wrong: fail, was pass" in changed.err
    [row] = json.loads(elephan(*words, "--json").out)["changed"]
    assert row == {"id": "toy.wrong", "was": "pass", "now": "fail"}


def test_of_many_claims_a_screen_has_papers_and_bands_and_the_missed_are_asked_for(
    elephan: Command, paper: Paper, tmp_path: Path
) -> None:
    path = paper.folder / "claims.csv"
    row = "toy.n{},numeric,stated,the same,0.1,Figure 1,buffers,used buffer=5,abs 0.01,,none\n"
    path.write_text(path.read_text() + "".join(row.format(n) for n in range(60)))
    words = ("reproduce", "--store", tmp_path / "store", "--quiet")
    done = elephan(*words)
    assert "toy.n59" not in done.out
    assert len((done.out + done.err).splitlines()) <= 15
    assert "toy.n59" in elephan(*words, "--claims").out


def test_shortened_runs_say_ran(elephan: Command, paper: Paper, tmp_path: Path) -> None:
    path = paper.folder / "claims.csv"
    path.write_text(path.read_text().replace("abs 0.2,,", "abs 0.001,abs 0.2,"))
    words = ("reproduce", "--quick", "toy.full", "toy.bound", "--store", tmp_path / "store", "--quiet")
    assert "2 claims: 1 ran, 1 pass; no verdicts have changed, 2 were not known; 1 point in " in elephan(*words).err
    [full, bound] = json.loads(elephan(*words, "--json").out)["claims"]
    assert (full["verdict"], full["full_holds"], bound["full_holds"]) == ("ran", False, True)


def test_the_list_says_what_is_claimed_and_runs_nothing(elephan: Command, tmp_path: Path) -> None:
    done = elephan("reproduce", "--list", "--store", tmp_path / "store")
    assert (done.code, done.err) == (0, "6 claims\n")
    listed = json.loads(elephan("reproduce", "toy:Section 2", "--list", "--json").out)
    assert [claim["id"] for claim in listed] == ["toy.bound", "toy.elsewhere"]
    assert listed[0]["experiments"] == []
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["toy.bond"], 'reproduce: no claim, paper or figure "toy.bond"; did you mean "toy.bound"?'),
        (["toy:Figure 9"], 'reproduce: no claim, paper or figure "toy:Figure 9"; did you mean "toy:Figure 1"?'),
        (["birds"], 'reproduce: no claim, paper or figure "birds"; elephan reproduce --list says which there are'),
        (["toy.bound", "--pages", "pages"], "--pages: a page is about a whole paper; ask for toy instead"),
        (["--workers", "0"], "elephan reproduce: --workers: must be 1 or more"),
        (["--out", "{toy}/claims.csv"], "--out {toy}/claims.csv: {toy}/claims.csv is a file"),
        (["--pages", "{toy}/claims.csv"], "--pages {toy}/claims.csv: {toy}/claims.csv is a file"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(words: list[str], says: str, elephan: Command, paper: Paper) -> None:
    done = elephan("reproduce", *(word.format(toy=paper.folder) for word in words))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(says.format(toy=paper.folder))


def test_what_was_interrupted_says_what_is_kept_and_goes_on(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(running: dict[Future[Any], Any], **_: Any) -> Any:
        next(iter(running)).result()
        raise KeyboardInterrupt

    words = ("reproduce", "--store", tmp_path / "store", "--workers", 1, "--quiet")
    with monkeypatch.context() as patched:
        patched.setattr(execution, "wait", wait)
        patched.setattr("elephan.cli.leave", sys.exit)  # it would leave this process
        done = elephan(*words)
    assert done.code == 130
    stopped = re.fullmatch(r"interrupted: ([12]) of 2 points kept; the same command goes on from there\n", done.err)
    assert stopped
    assert elephan(*words).err.endswith(f", {stopped[1]} of them from the store\n")


def test_results_and_pages_are_written_and_said(elephan: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = elephan("reproduce", "toy.bound", "--out", out, "--store", tmp_path / "store", "--bless")
    assert done.code == 0
    assert f"wrote {out}: reproduce.json" in done.err
    document = json.loads((out / "reproduce.json").read_text())
    assert [claim["id"] for claim in document["claims"]] == ["toy.bound"]


def test_every_key_of_the_document_has_a_row_in_the_reference(elephan: Command, tmp_path: Path) -> None:
    document = json.loads(elephan("reproduce", "--json", "--store", tmp_path / "store").out)
    document["power"] = [NullPower("cells", ("a",), whole=True, ours=1, variant=1, nulls={"constant": 1.0}).to_json()]
    document["power"][0]["paper"] = "toy"
    listed = rows("elephan reproduce")
    holes = {"NAME": r"\w+", "ORIGIN": r"\w+", "VERDICT": r"\w+", "NULL": r".+"}
    known = []
    for key in map(re.escape, listed):
        for hole, what in holes.items():
            key = key.replace(hole, what)
        known.append(re.compile(key))
    missing = {key for key, _ in keys(document) if not any(each.fullmatch(key) for each in known)}
    assert {key for key in missing if not key.startswith("provenance")} == set()


@pytest.mark.slow
def test_what_goes_on_after_a_signal_writes_the_same_bytes(
    elephan: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(running: dict[Future[Any], Any], **_: Any) -> Any:
        next(iter(running)).result()
        raise KeyboardInterrupt

    def words(name: str) -> tuple[object, ...]:
        return ("reproduce", "--store", tmp_path / name / "s", "--out", tmp_path / name / "o", "--workers", 1, "-q")

    monkeypatch.setattr("elephan.cli.leave", sys.exit)  # it would leave this process
    with monkeypatch.context() as patched:
        patched.setattr(execution, "wait", wait)
        assert elephan(*words("stopped")).code == 130
    assert not (tmp_path / "stopped" / "o").exists()
    again, whole_run = elephan(*words("stopped")), elephan(*words("whole"))
    assert again.code == whole_run.code < 2, again.err

    def files(name: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (tmp_path / name / "o").iterdir()}

    whole, stopped = files("whole"), files("stopped")
    assert whole.keys() == stopped.keys()
    assert [name for name in whole if whole[name] != stopped[name]] in ([], ["reproduce.json"])
    # Only the document's times, and its counts of stored runs, depend on the history.
    one, other = (json.loads(found["reproduce.json"]) for found in (whole, stopped))
    for document in (one, other):
        document.pop("wall_s")
        for experiment in document["experiments"]:
            del experiment["reused"], experiment["cpu_s"]
    assert one == other
