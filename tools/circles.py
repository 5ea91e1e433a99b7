"""Checks that the modules of each crate form no circles.

Edges are `use` declarations, and paths that begin with `crate` or `super`.

A module that its own macros name (`$crate::…`) does not depend on it: the macro is expanded elsewhere. Unit tests and
comments do not count, nor does a crate's root, whose re-exports all modules may use. It prints one line per circle that
is not in `KNOWN`, and one per circle of `KNOWN` that is gone, and exits with 1 if there is one.
"""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

Module = tuple[str, ...]
Graph = Mapping[Module, Collection[Module]]

KNOWN = {
    "law": {
        # A law's parameters are those of its program in the kernel, and the program is found by the law.
        "bpf, bpf::object, ghstcp, highspeed, htcp, kernel, kernel::params, nr_hstcp, scalable",
        # The state of BBR is one struct, of which several files hold the methods.
        "bbr, bbr::gauges, bbr::model, bbr::undo",
        "bbr1, bbr1::parts",
    },
    "transport": {
        "receiver, receiver::extra",
    },
}
"""Circles that remain, by crate, and why."""


def modules(source: Path) -> dict[Module, str]:
    """Return the text of each module below a folder, by its path in the crate; the root has an empty path."""
    found = {}
    for file in sorted(source.rglob("*.rs")):
        path = file.relative_to(source).with_suffix("").parts
        found[path[:-1] if path[-1] in ("lib", "main", "mod") else path] = file.read_text(encoding="utf-8")
    return found


def paths(text: str) -> Iterator[list[str]]:
    """Yield the paths that a module names: those of `use`, each by itself, and others from `crate` or `super` on."""
    text = re.sub(r"//[^\n]*", "", text).partition("#[cfg(test)]\nmod tests")[0].replace("$crate::", "")
    use = re.compile(r"\buse\s+([\w:{},\s*]+);")
    for tree in use.findall(text):
        yield from _flat(tree, [])
    for path in re.findall(r"\b(?:crate|super)(?:::\w+)+", use.sub("", text)):
        yield path.split("::")


def _flat(tree: str, before: list[str]) -> Iterator[list[str]]:
    """Yield the paths of a tree such as ``a::{b, c::{d, e}}``."""
    head, brace, rest = tree.strip().partition("{")
    if not brace:
        yield [*before, *head.partition(" as ")[0].split("::")]
        return
    before, depth, branch = [*before, *filter(None, head.strip().split("::"))], 0, ""
    for letter in rest.rpartition("}")[0] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield from _flat(branch, before) if branch.strip() else ()
            branch = ""
        else:
            branch += letter


def graph(texts: Mapping[Module, str]) -> dict[Module, set[Module]]:
    """Return the modules on which each module depends, without the crate's root."""
    return {module: set(_needed(module, text, texts)) for module, text in texts.items() if module}


def _needed(module: Module, text: str, texts: Mapping[Module, str]) -> Iterator[Module]:
    for path in paths(text):
        rest = [word.strip() for word in path]
        if rest[0] == "crate":
            place = tuple(rest[1:])
        elif rest[0] == "super":
            up = next((i for i, word in enumerate(rest) if word != "super"), len(rest))
            place = (*module[: len(module) - up], *rest[up:])
        elif rest[0] == "self" or (*module, rest[0]) in texts:
            place = (*module, *rest[rest[0] == "self" :])
        else:
            continue
        while place and place not in texts:
            place = place[:-1]
        if place and place != module:
            yield place


def circles(edges: Graph) -> list[str]:
    """Return the strongly connected components of more than one module, each as names in order, joined by commas."""
    reached = {module: _reached(module, edges) for module in edges}
    found = {frozenset(b for b in reached[a] if a in reached.get(b, ())) | {a} for a in edges}
    return sorted(", ".join(sorted("::".join(module) for module in circle)) for circle in found if len(circle) > 1)


def _reached(start: Module, edges: Graph) -> set[Module]:
    """Return the modules that a module reaches over one edge or more."""
    found: set[Module] = set()
    waiting = list(edges[start])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += edges.get(module, ())
    return found


def violations(root: Path) -> Iterable[str]:
    """List circles that are not known, and known ones that are gone, of all crates."""
    for crate in sorted((root / "crates").iterdir()):
        found, known = set(circles(graph(modules(crate / "src")))), KNOWN.get(crate.name, set())
        yield from (f"crates/{crate.name}: circle of modules: {circle}" for circle in sorted(found - known))
        yield from (
            f"tools/circles.py: no circle any more in {crate.name}: {circle}" for circle in sorted(known - found)
        )


if __name__ == "__main__":
    sys.exit("\n".join(violations(ROOT)) or 0)
