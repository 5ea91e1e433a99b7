"""Runs the commands of the documentation in clean environments made from the wheels in target/wheels.

    python tools/walk.py

First without any extra: commands that must work do, all others name the missing package in one line. Then with all
extras and elephan-evidence: every command of README and the guides, by `tests/test_guide.py`. Run by `make walk`;
packages come from the registry.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEELS, PLACE = ROOT / "target" / "wheels", ROOT / "target" / "walk"
CONSTRAINTS = ROOT / "constraints.txt"

MOST_MB = 300
"""Maximum size of an environment without extras [MB]."""

SHORT = ("--set", "duration=4 s", "--set", "warmup=1 s")

ANSWER = (
    ["--version"],
    ["--help"],
    ["doctor"],
    ["list", "laws"],
    ["new", "hstcp-1g", "--out", "mine.toml"],
    ["new", "dumbbell", "--out", "bell.toml"],
    ["lint", "mine.toml"],
    ["estimate", "mine.toml"],
    ["run", "bell.toml", *SHORT, "--replications", "2"],
    ["size", "mine.toml", "--target", "utilization=0.95", "--model-only"],
    ["size", "bell.toml", "--target", "utilization=0.9", "--set", "duration=4 s", "--set", "warmup=1 s"],
    [
        "size",
        "bell.toml",
        "--target",
        "utilization=0.9",
        "--set",
        "duration=4 s",
        "--set",
        "warmup=1 s",
        "--find",
        "rtt",
    ],
    ["model", "sawtooth", "--scenario", "mine.toml"],
    ["schema"],
    ["demo"],
)
"""Commands that must work without extras, in this order."""

REFUSED = (
    (["run", "bell.toml", "--out", "run/"], "pyarrow"),
    (["size", "mine.toml", "--target", "utilization=0.95", "--out", "sized/"], "pyarrow"),
    (["sweep", "bell.toml", "--over", "seed=1,2", "--store", "runs/"], "pyarrow"),
    (["report", "run/"], ""),
    (["reproduce", "--list"], "elephan-evidence"),
    (["conform", "bbr"], "elephan-evidence"),
    (["judge", "--list"], "elephan-evidence"),
    (["model", "sawtooth", "--simulate"], "elephan-evidence"),
)
"""Commands that fail in a bare environment, and the package that their line names; a missing folder may come first."""


def environment(name: str, what: str, *more: str, hashed: bool) -> Path:
    """Create an environment and install into it; return the folder of its programs.

    Versions are those of constraints.txt; with `hashed` its packages are installed first, with checked hashes.
    """
    place = PLACE / name
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if hashed:
        subprocess.run([*pip, "--require-hashes", "-r", str(CONSTRAINTS)], check=True)
    versions = PLACE / "versions.txt"
    text = CONSTRAINTS.read_text(encoding="utf-8")
    versions.write_text("\n".join(re.findall(r"^[\w.-]+==\S+", text, flags=re.MULTILINE)) + "\n", encoding="utf-8")
    subprocess.run([*pip, "-c", str(versions), what, *more], check=True)
    return place / "bin"


def megabytes(folder: Path) -> float:
    """Return the size of a folder [MB]."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def elephan(programs: Path, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, without this checkout on the path."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV", "ELEPHAN"))}
    return subprocess.run(
        [str(programs / "elephan"), *words],
        cwd=folder,
        env=kept,
        text=True,
        capture_output=True,
        timeout=600,
        check=False,
    )


def without_extras(wheel: Path) -> list[str]:
    """Try the commands without extras; return the failures."""
    programs = environment("bare", str(wheel), hashed=False)
    weight = megabytes(programs.parent)
    sys.stdout.write(f"without extras: {weight:.0f} MB\n")
    wrong = [] if weight < MOST_MB else [f"an environment without extras has {weight:.0f} MB, more than {MOST_MB}"]
    folder = PLACE / "work"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for words in ANSWER:
        done = elephan(programs, list(words), folder)
        if done.returncode != 0 or "internal error" in done.stderr:
            wrong.append(f"elephan {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    for words, package in REFUSED:
        done = elephan(programs, list(words), folder)
        if done.returncode != 2 or done.stderr.count("\n") != 1 or package not in done.stderr:
            wrong.append(
                f"elephan {' '.join(words)}: exit {done.returncode}, wanted one line: {done.stderr.strip()[-300:]}"
            )
    return wrong


def with_all(wheel: Path, evidence: Path) -> list[str]:
    """Try every documented command with all extras and the evidence; return the failures."""
    more = (str(evidence), "pytest>=8.3", "pytest-xdist>=3.6", "psutil>=6", "hypothesis>=6.115", "nbformat")
    programs = environment("all", f"{wheel}[all,frames]", *more, hashed=True)
    sys.stdout.write(f"with all extras: {megabytes(programs.parent):.0f} MB\n")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV", "ELEPHAN"))}
    # Use the package from the wheel, not the checkout's. The tests beside it are still found.
    tests = ["tests/test_guide.py", "-k", "commands_of_a_page", "-q", "-n", "logical", "-p", "no:cacheprovider"]
    done = subprocess.run([str(programs / "python"), "-m", "pytest", *tests], cwd=ROOT, env=kept, check=False)
    return [] if done.returncode == 0 else ["documented commands failed in an environment of the wheel"]


def newest(name: str) -> Path:
    """Return the newest wheel of a distribution."""
    wheels = sorted(WHEELS.glob(f"{name}-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        sys.exit(f"target/wheels: there is no wheel of {name}; make wheel builds it")
    return wheels[-1]


def main() -> None:
    """Run everything; exit with 1 if anything fails."""
    wheel, evidence = newest("elephan"), newest("elephan_evidence")
    PLACE.mkdir(parents=True, exist_ok=True)
    wrong = [*without_extras(wheel), *with_all(wheel, evidence)]
    if wrong:
        sys.exit("\n".join(wrong))
    sys.stdout.write("every documented command runs from the wheels\n")


if __name__ == "__main__":
    main()
