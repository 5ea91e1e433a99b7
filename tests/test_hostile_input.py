"""Odd inputs by users, and odd states of the system: one line, never "a defect of elephan"."""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import elephan
from conftest import PATIENCE_S
from elephan import flow_files
from elephan.errors import InputError
from elephan.input_files import MOST_BYTES, read_text
from elephan.plots.packets import packets_figures
from elephan.scenario import EXAMPLE, Scenario
from elephan.store import Store
from elephan.sweeps import Sweep

DEEP, LONG = "[" * 5000 + "]" * 5000, "9" * 5000
LINK = 'duration = "1 s"\n[[links]]\nname = "{name}"\nrate = "10 Mbit/s"\ndelay = "5 ms"\nbuffer = "20 packets"\n'
FLOWS = '[[flows]]\nname = "{name}"\npath = ["{name}"]\nrtt = "20 ms"\n'


def scenario(name: str = "a", more: str = "") -> str:
    return more + (LINK + FLOWS).format(name=name)


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "elephan", *words], timeout=PATIENCE_S, check=False, **options)


def refused(done: subprocess.CompletedProcess[bytes]) -> str:
    assert done.returncode == 2, done.stderr
    assert done.stderr.count(b"\n") == 1, done.stderr
    return done.stderr.decode()


@pytest.mark.parametrize("value", [DEEP, LONG], ids=["deep", "long"])
@pytest.mark.parametrize("beside", ['warmup = "auto"\n', 'title = "file"\n', ""], ids=["auto", "file", "plain"])
def test_nesting_and_digits_beyond_measure_are_refused(tmp_path: Path, value: str, beside: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(scenario(more=beside) + f"x = {value}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"s\.toml: line \d+, column \d+"):
        Scenario.from_file(path)
    with pytest.raises(InputError, match=r"s\.toml: not TOML: (nested too deeply|a number has too many digits)"):
        Sweep.from_file(path)


def test_python_values_that_no_file_can_hold_are_refused() -> None:
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    for value in (nested, 10**5000):
        with pytest.raises(InputError):
            Scenario.from_mapping({"duration": value})
        with pytest.raises(InputError):
            Scenario.from_text(EXAMPLE).replace({"links[0].buffer": value})


@pytest.mark.parametrize("read", [Scenario.from_file, Sweep.from_file])
def test_a_name_with_nul_is_no_files(read: Any) -> None:
    with pytest.raises(InputError, match=r"^a\\0b: no file has such a name"):
        read("a\0b")


def test_a_list_of_flows_with_nul_in_its_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(scenario() + 'traffic = { kind = "replay", file = "a\\u0000b.csv" }\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"flows\[0\]\.traffic\.file: .*no file has such a name"):
        Scenario.from_file(path)


@pytest.mark.parametrize("verb", ["run", "lint", "sweep", "size"])
def test_devices_and_named_pipes_are_no_scenarios(tmp_path: Path, verb: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    more = ["--target", "utilization=0.9"] if verb == "size" else []
    assert "is a pipe; give the path of a" in refused(run(verb, str(pipe), *more, capture_output=True))
    assert "is a device; give the path of a" in refused(run(verb, "/dev/zero", *more, capture_output=True))


def test_a_file_too_large_to_be_meant_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(InputError, match="has more than"):
        read_text(path, "scenario file (TOML)")


def test_what_the_shell_pipes_in_is_read() -> None:
    done = run("run", "/dev/stdin", "-q", "--json", input=scenario().encode(), capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a$", "$_x$y^", r"f$\\frac{$"])
def test_names_with_dollars_are_drawn_as_they_are(tmp_path: Path, name: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(scenario(name), encoding="utf-8")
    done = run("run", str(path), "-q", "--plot", "--out", str(tmp_path / "out"), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "run.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    "words",
    [
        ("report", "{name}"),
        ("run", "{file}", "-q", "--out", "{name}"),
        ("run", "{file}", "-q", "--out", "{folder}/{name}"),
        ("store", "verify", "--store", "{name}"),
    ],
)
def test_a_path_that_the_system_does_not_take_is_not_a_defect(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "s.toml"
    path.write_text(scenario(), encoding="utf-8")
    given = [word.format(file=path, folder=tmp_path, name="x" * 300) for word in words]
    assert "file name too long; give another path" in refused(run(*given, capture_output=True, cwd=tmp_path))


@pytest.mark.parametrize(
    "words", [("list", "laws"), ("--help",), ("run", "{file}", "-q"), ("run", "{file}", "--json", "-q")]
)
def test_a_full_device_is_not_a_defect(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "s.toml"
    path.write_text(scenario(), encoding="utf-8")
    with open("/dev/full", "wb") as full:  # noqa: PTH123 (a device)
        done = run(*(word.format(file=path) for word in words), stdout=full, stderr=subprocess.PIPE)
    assert "standard output: no space left on device" in refused(done)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_letters_that_the_terminal_lacks_are_escaped(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(scenario("λ"), encoding="utf-8")
    done = run("run", str(path), "-q", capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert done.returncode == 0, done.stderr
    assert rb"\u03bb" in done.stdout


@pytest.mark.parametrize("words", [("schema",), ("list", "laws", "--details"), ("--help",)])
def test_a_reader_that_leaves_ends_the_command_as_a_pipe_does(words: tuple[str, ...]) -> None:
    """`elephan … | head -1` under pipefail: 141 as for every tool, or 0 if all output fitted into the pipe; never 1."""
    reader, writer = os.pipe()
    os.close(reader)
    done = run(*words, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_closed_streams_are_no_obstacle_and_no_files_number(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(scenario(), encoding="utf-8")
    command = f"{sys.executable} -m elephan run {path} -q --out {tmp_path}/out"
    done = subprocess.run(["sh", "-c", f"{command} <&- >&- 2>&-"], timeout=PATIENCE_S, check=False)
    assert done.returncode == 0
    # The output was discarded, not written into the first file that was opened.
    assert (tmp_path / "out" / "run.json").read_text(encoding="utf-8").startswith("{")
    assert (
        subprocess.run(
            ["sh", "-c", f"{sys.executable} -m elephan list laws >&-"], timeout=PATIENCE_S, check=False
        ).returncode
        == 0
    )


@pytest.mark.parametrize("words", ["list laws", "list queues --details", "run {file} -q"])
def test_a_narrow_terminal_cuts_no_number_and_no_name(tmp_path: Path, words: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(scenario(), encoding="utf-8")
    for columns in ("20", "40"):
        done = run(*words.format(file=path).split(), capture_output=True, env={**os.environ, "COLUMNS": columns})
        assert done.returncode == 0, done.stderr
        assert "…" not in done.stdout.decode()


def test_links_whose_names_differ_in_what_a_file_cannot_have_get_a_picture_each() -> None:
    text = 'duration = "1 s"\n' + "".join(
        f'[[links]]\nname = "{name}"\nrate = "10 Mbit/s"\nbuffer = "20 packets"\n'
        f'[[flows]]\nname = "f{i}"\npath = ["{name}"]\nrtt = "20 ms"\n'
        for i, name in enumerate(["a b", "a/b", "a-b"])
    )
    packets = ", ".join(f'{{ link = "{name}", from = "0.2 s", to = "0.3 s" }}' for name in ["a b", "a/b", "a-b"])
    recorded = Scenario.from_text(text + f"[record]\npackets = [{packets}]\n")
    assert len(packets_figures(elephan.run(recorded))) == 3


def test_a_spreadsheet_finds_no_formula_in_exported_labels(tmp_path: Path) -> None:
    labels = {"name": '=HYPERLINK("x")', "place": "+a", "low": "-5", "far": "@b", "mean": "a=b"}
    with Store(tmp_path) as store:
        store.put(elephan.run(elephan.Scenario.from_text(EXAMPLE)), labels=labels)
        rows = list(csv.DictReader(store.export(columns=["labels"], format="csv").decode().splitlines()))
    assert {'\'=HYPERLINK("x")', "'+a", "-5", "'@b", "a=b"} <= set(rows[0].values())


def test_a_file_of_too_many_flows_is_refused_by_what_it_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow_files, "_MOST_ROWS", 3)
    table = pa.table({"start_s": [0.0] * 4, "size_bytes": [1] * 4})
    pq.write_table(table, tmp_path / "f.parquet")
    pacsv.write_csv(table, tmp_path / "f.csv")
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("was read"))
    for name in ("f.parquet", "f.csv"):
        with pytest.raises(InputError, match="must have 1 to 3 rows"):
            flow_files.read(tmp_path / name)
