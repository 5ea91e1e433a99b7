"""Writes constraints.txt: versions of all packages that elephan and its extras require, with the hashes of their files.

    python tools/constraints.py

pip resolves the versions; the hashes come from pip's configured index, whose address is not written to the file. Source
of the index's format: PEP 691.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "constraints.txt"

EXTRAS = ("tables", "plots", "report", "frames", "cluster", "gym", "web", "captures")

HEAD = """\
# Versions and hashes of the packages that elephan and its extras take, by `make constraints`.
#   pip install --require-hashes -r constraints.txt && pip install --no-deps elephan
"""


def requirements() -> list[str]:
    """Return the requirements in pyproject.toml, extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]


def resolved() -> dict[str, str]:
    """Return the version of each package that pip would install."""
    words = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    done = subprocess.run([*words, *requirements()], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)["install"]
    return {each["metadata"]["name"].lower().replace("_", "-"): each["metadata"]["version"] for each in found}


def index() -> str:
    """Return the URL of the index that pip is configured for."""
    words = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout.strip().rstrip("/")
    from pip._internal.models.index import PyPI  # noqa: PLC0415 (pip's own default)

    return str(PyPI.simple_url).rstrip("/")


def hashes(name: str, version: str, address: str) -> list[str]:
    """Return the hashes of all files of a version."""
    asked = urllib.request.Request(f"{address}/{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        files = json.load(answer)["files"]
    begins = tuple(f"{name.replace('-', mark)}-{version}".lower() for mark in "-_.")
    mine = [
        file["hashes"]["sha256"]
        for file in files
        if file["filename"].lower().startswith(begins)
        and file["filename"][len(name) + 1 + len(version)] in "-."
        and file["filename"].endswith((".whl", ".tar.gz"))
        and "sha256" in file["hashes"]
    ]
    if not mine:
        sys.exit(f"{name} {version}: the index has no hash of it")
    return sorted(mine)


def main() -> None:
    """Resolve versions, fetch hashes and write the file."""
    address = index()
    lines = [HEAD.rstrip("\n")]
    for name, version in sorted(resolved().items()):
        each = (f"--hash=sha256:{x}" for x in hashes(name, version, address))
        lines.append(" \\\n    ".join([f"{name}=={version}", *each]))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
