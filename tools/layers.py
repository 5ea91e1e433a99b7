"""Checks the order of the layers: what depends on what, against the tables in docs/architecture.md.

A crate may depend only on crates of a lower number. The layers of the import-linter contract in pyproject.toml (which
holds the Python modules to the same rule) must be rows of the second table. One line per violation; exit 1 if any.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/architecture.md"
PREFIX = "elephan-"

Layers = dict[str, int]


def table(page: str, heading: str) -> Layers:
    """Read the number of each layer from the table under a heading, whose rows begin ``| 1 | `law`, `queue` |``."""
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|\s*(\d+)\s*\|([^|]+)\|", section, flags=re.MULTILINE)
    return {layer: int(number) for number, cell in rows for layer in re.findall(r"`([^`]+)`", cell)}


def crate_violations(layers: Layers, metadata: Mapping[str, Any]) -> Iterable[str]:
    """Name the edges of ``cargo metadata --no-deps`` that do not lead downwards, and crates outside the table."""
    names = {package["name"]: package["name"].removeprefix(PREFIX) for package in metadata["packages"]}
    for package in metadata["packages"]:
        layer = names[package["name"]]
        if layer not in layers:
            yield f"crates/{layer}: no row in {PAGE}"
            continue
        needed = {names[edge["name"]] for edge in package["dependencies"] if edge["name"] in names}
        for other in sorted(needed):
            if layers.get(other, -1) >= layers[layer]:
                yield f"crates/{layer} ({layers[layer]}) must not depend on {other} ({layers[other]})"


def layer_violations(layers: Layers, contract: Iterable[str]) -> Iterable[str]:
    """Name the layers of the contract, highest first, that are not rows of the table or stand in another order."""
    above = sys.maxsize
    for line in contract:
        names = [name.strip(" ()") for name in re.split("[|:]", line)]
        numbers = {layers[name] for name in names if name in layers}
        yield from (f"import-linter: {name} has no row in {PAGE}" for name in names if name not in layers)
        if len(numbers) > 1 or (numbers and max(numbers) >= above):
            yield f"import-linter: layer {line!r} is out of the order of {PAGE}"
        above = min(numbers, default=above)


def main() -> None:
    """Compare this project with its page."""
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = [layer for contract in contracts if contract["type"] == "layers" for layer in contract["layers"]]
    wrong = [
        *crate_violations(table(page, "Rust layers"), metadata),
        *layer_violations(table(page, "Python layers"), layers),
    ]
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
