"""What elephan says where a package is missing that it works without; `make walk` tries clean environments."""

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
        (["run", "a.toml", "--out", "out"], "--out needs pyarrow and matplotlib, not installed here; pip install"),
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
