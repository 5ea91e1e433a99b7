"""Writes THIRD-PARTY.md: the licence of every crate that is compiled into the wheel, and of every required package.

    python tools/licences.py

The licences come from the metadata of cargo and of the installed packages; a missing licence is an error.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "THIRD-PARTY.md"

HEAD = """\
# Licences of others

elephan is licensed under MIT or Apache-2.0, at your choice. Its wheel contains code of the crates below, compiled; the
packages below them are installed beside it. By `make licences`.
"""


def crates() -> list[tuple[str, str, str]]:
    """Return name, version and licence of every crate that the extension is compiled from."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", "crates/py/Cargo.toml"]
    found = json.loads(subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    seen: set[str] = set()
    left = [found["resolve"]["root"]]
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        kinds: Any = nodes[one]["deps"]
        left += [dep["pkg"] for dep in kinds if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    mine = [packages[each] for each in seen if packages[each]["source"] is not None]
    return sorted((p["name"], p["version"], _said(p["name"], p["license"])) for p in mine)


def packages() -> list[tuple[str, str, str]]:
    """Return name, version and licence of the Python packages of constraints.txt that are installed here."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    rows = []
    for name in re.findall(r"^([\w.-]+)==", text, flags=re.MULTILINE):
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        rows.append((name, metadata.version(name), _said(name, _licence(about))))
    return rows


def _licence(about: Any) -> str:
    if expression := about.get("License-Expression"):
        return str(expression)
    classed = [line.rsplit(" :: ", 1)[1] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    first = (about.get("License") or "").strip().split("\n")[0]
    return ", ".join(each for each in classed if each != "OSI Approved") or first[:60]


def _said(name: str, licence: str | None) -> str:
    if not licence:
        sys.exit(f"{name}: says nothing of its licence")
    return licence


def table(rows: list[tuple[str, str, str]]) -> str:
    """Format rows as a table."""
    return "\n".join(["| name | version | licence |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)])


def main() -> None:
    """Collect the licences and write the file."""
    text = f"{HEAD}\n## Crates\n\n{table(crates())}\n\n## Python packages\n\n{table(packages())}\n"
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
