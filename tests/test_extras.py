"""Messages if an optional package is missing; `make walk` tries clean environments."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import PATIENCE_S
from elephan.errors import InputError
from elephan.extras import EXTRAS, missing, of_error, require

ROOT = Path(__file__).resolve().parent.parent

HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in {hidden!r} else found(name, package)
from elephan.cli import main
main({words!r})
"""


def without(words: list[str], *hidden: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as if some packages were not installed."""
    program = HIDE.format(hidden=set(hidden), words=words)
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def test_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for module, extra in EXTRAS.items():
        assert any(line.startswith(module) for line in extras[extra]), module
        assert not any(line.startswith(module) for line in project["dependencies"]), module
    assert set(extras["all"]) == {*extras["tables"], *extras["plots"], *extras["report"]}


def test_what_is_there_is_not_missing() -> None:
    assert missing("pyarrow", "no_such") == ["no_such"]
    require("--out", "pyarrow", "math")
    with pytest.raises(InputError, match="--out needs no_such, not installed here"):
        require("--out", "no_such")
    assert of_error(ModuleNotFoundError("no", name="no_such.part")) is None
    told = of_error(ModuleNotFoundError("no", name="pyarrow.parquet"))
    assert str(told) == "this needs pyarrow, not installed here; pip install 'elephan[tables]'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["run", "a.toml", "--out", "out"], "--out needs pyarrow, not installed here; pip install 'elephan[tables]'"),
        (["run", "a.toml", "--out", "out", "--plot"], "--out needs pyarrow, not installed here; pip install"),
        (["sweep", "a.toml", "--over", "seed=1,2", "--store", "s"], "needs pyarrow, not installed here; pip install"),
        (["report", "a.toml"], "pip install"),
    ],
)
def test_a_missing_package_is_one_line_and_exit_code_2(tmp_path: Path, words: list[str], line: str) -> None:
    subprocess.run([sys.executable, "-m", "elephan", "new", "dumbbell", "--out", "a.toml"], cwd=tmp_path, check=True)
    done = without(words, "pyarrow", "matplotlib", "bokeh", "jinja2", folder=tmp_path)
    assert done.returncode == 2, done.stderr
    last = done.stderr.splitlines()[-1]
    assert line in last or "a.toml" in last
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["run", "a.toml", "--set", "duration=3 s", "--set", "warmup=1 s", "-q"],
        ["size", "a.toml", "--target", "utilization=0.8", "--set", "duration=3 s", "--set", "warmup=1 s", "-q"],
        ["lint", "a.toml"],
        ["estimate", "a.toml"],
        ["list", "laws"],
        ["model", "sawtooth", "--scenario", "a.toml"],
    ],
)
def test_what_only_answers_needs_none_of_them(tmp_path: Path, words: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "elephan", "new", "dumbbell", "--out", "a.toml"], cwd=tmp_path, check=True)
    done = without(words, "pyarrow", "matplotlib", "bokeh", "jinja2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="without make")
def test_a_wheel_is_made_of_what_make_has_compiled() -> None:
    # A target of its own, as of `--zig`, would compile everything once more.
    done = subprocess.run(["make", "-n", "wheel"], cwd=ROOT, capture_output=True, text=True, check=True)
    words = done.stdout.splitlines()[-1].split()
    assert words[1:5] == ["-m", "maturin", "build", "--release"]
    assert not {"--zig", "--target", "--profile", "--features"} & set(words)
    assert words[words.index("--compatibility") + 1] == "manylinux2014"
    assert words[-2] == "-C"
    assert words[-1].startswith("linker=")


SHORT = ("--set", "duration=3 s", "--set", "warmup=1 s")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "files"),
    [
        (["run", "a.toml", *SHORT, "--out", "out"], {"run.json", "scenario.toml", "links.parquet", "flows.parquet"}),
        (["size", "a.toml", *SHORT, "--target", "utilization=0.5", "--out", "out"], {"size.json", "curve.parquet"}),
        (
            ["size", "a.toml", *SHORT, "--target", "utilization=0.5", "--laws", "reno,cubic", "--out", "out"],
            {"comparison.json", "comparison.parquet"},
        ),
        (
            ["sweep", "a.toml", *SHORT, "--over", "seed=1,2", "--store", "s", "--out", "out"],
            {"points.parquet", "sweep.json"},
        ),
        (["model", "sawtooth", "--scenario", "a.toml", "--out", "out"], {"sawtooth.json", "sawtooth.parquet"}),
    ],
)
def test_tables_are_written_without_matplotlib(tmp_path: Path, words: list[str], files: set[str]) -> None:
    subprocess.run([sys.executable, "-m", "elephan", "new", "dumbbell", "--out", "a.toml"], cwd=tmp_path, check=True)
    done = without(words, "matplotlib", folder=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert files <= written
    assert not any(name.endswith((".png", ".svg")) for name in written)
    # For a run, pictures are requested.
    noted = done.stderr.count("no pictures: matplotlib is not installed here; pip install 'elephan[plots]'")
    assert noted == (0 if words[0] == "run" else 1)


@pytest.mark.slow
def test_a_picture_that_is_asked_for_needs_matplotlib(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "elephan", "new", "dumbbell", "--out", "a.toml"], cwd=tmp_path, check=True)
    done = without(["run", "a.toml", "--out", "out", "--plot"], "matplotlib", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "--plot needs matplotlib, not installed here; pip install 'elephan[plots]'\n"
    assert not (tmp_path / "out").exists()
