"""Checks the order of the layers: the dependencies between modules against the tables in docs/architecture.md.

A crate may depend only on crates of a lower number. The layers of the import-linter contracts in pyproject.toml (which
hold the Python modules to the same rule) must be rows of the table of their package. It also checks imports that the
linter does not see: those of the package as a whole, which its configuration ignores, and those by name. It prints one
line per violation, and exits with 1 if there is one.
"""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/architecture.md"
PREFIX = "elephan-"
TABLES = {"elephan": "Python layers", "elephan_evidence": "Evidence layers"}
"""Heading of the table of each Python package."""
PLACES = {"elephan": ROOT / "python", "elephan_evidence": ROOT / "evidence"}
BY_NAME = ("import_module", "__import__")

Layers = dict[str, int]


def table(page: str, heading: str) -> Layers:
    """Read the number of each layer from the table below a heading, whose rows begin ``| 1 | `law`, `queue` |``."""
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|\s*(\d+)\s*\|([^|]+)\|", section, flags=re.MULTILINE)
    return {layer: int(number) for number, cell in rows for layer in re.findall(r"`([^`]+)`", cell)}


def crate_violations(layers: Layers, metadata: Mapping[str, Any]) -> Iterable[str]:
    """List the edges of ``cargo metadata --no-deps`` that do not lead downwards, and crates missing from the table."""
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
    """List the layers of the contract, highest first, that are missing from the table or in another order."""
    above = sys.maxsize
    for line in contract:
        names = [name.strip(" ()") for name in re.split("[|:]", line)]
        numbers = {layers[name] for name in names if name in layers}
        yield from (f"import-linter: {name} has no row in {PAGE}" for name in names if name not in layers)
        if len(numbers) > 1 or (numbers and max(numbers) >= above):
            yield f"import-linter: layer {line!r} is out of the order of {PAGE}"
        above = min(numbers, default=above)


def unseen_imports(module: str, source: str, modules: Collection[str]) -> Iterable[str]:
    """List the imports of a module that import-linter does not see, and that could lead upwards.

    Its configuration ignores imports of the package as a whole, because it confuses the extension `_native` with them;
    so only the extension may be imported like this. A module loaded by name must belong to the same package.
    """
    package = ".".join(module.split(".")[:2])
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "elephan":
            names = [alias.name for alias in node.names if f"elephan.{alias.name}" not in modules]
            yield from (
                f"{module}:{node.lineno}: import {name} from where it is defined, not from the package as a whole"
                for name in names
                if name != "_native"
            )
        elif isinstance(node, ast.Import) and any(alias.name == "elephan" for alias in node.names):
            yield f"{module}:{node.lineno}: import what is needed, not the package as a whole"
        elif isinstance(node, ast.Call) and node.args and ast.unparse(node.func).split(".")[-1] in BY_NAME:
            name = _beginning(node.args[0])
            if name.startswith("elephan") and not f"{name}.".startswith(f"{package}."):
                yield f"{module}:{node.lineno}: {name} is imported by its name, which import-linter does not see"


def _beginning(argument: ast.expr) -> str:
    """Return the literal text at the beginning of an argument; empty if it is computed."""
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def python_violations(linter: Mapping[str, Any]) -> Iterable[str]:
    """List the settings in pyproject.toml that keep import-linter from seeing all imports of the Python package."""
    if linter.get("exclude_type_checking_imports"):
        yield "import-linter: must count the imports under TYPE_CHECKING"
    paths = {
        _module(path, place): path for name, place in PLACES.items() for path in sorted((place / name).rglob("*.py"))
    }
    for module, path in sorted(paths.items()):
        # The package itself offers the names of all others, and the command line may use it as users do.
        if module != "elephan" and not f"{module}.".startswith(("elephan.cli.", "elephan_evidence.cli.")):
            yield from unseen_imports(module, path.read_text(encoding="utf-8"), paths)
        yield from unreasoned_imports(module, path.read_text(encoding="utf-8"))


def unreasoned_imports(module: str, source: str) -> Iterable[str]:
    """List the imports within functions that lack a reason: ``# noqa: PLC0415 (reason)``."""
    for number, line in enumerate(source.splitlines(), 1):
        if re.search(r"noqa: PLC0415(?! \(\S)", line):
            yield f"{module}:{number}: say behind noqa: PLC0415, in brackets, why the import is not at the top"


def _module(path: Path, place: Path) -> str:
    parts = path.relative_to(place).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def main() -> None:
    """Compare this project with its page."""
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    linter = project["tool"]["importlinter"]
    ordered = [contract for contract in linter["contracts"] if contract["type"] == "layers"]
    wrong = [
        *crate_violations(table(page, "Rust layers"), metadata),
        *(
            line
            for contract in ordered
            for line in layer_violations(table(page, TABLES[contract["containers"][0]]), contract["layers"])
        ),
        *python_violations(linter),
    ]
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
