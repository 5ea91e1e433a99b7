"""Writes the types of the registries of the catalogue, so that editors complete names without running anything.

It also writes the quantities of results into the types of documents and into the reference of JSON documents.

With --check nothing is written; it prints one line per outdated file, and exits with 1 if there is one.
"""

import keyword
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from elephan.catalog import registries
from elephan.catalog.entry import RegistryEntry, identifier
from elephan.metrics.quantity import quantities
from elephan.theory.models import registry

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "python" / "elephan"
NOTICE = '"""Written by tools/stubs.py from the cards of the catalogue; edit the cards in the code instead."""'
HEAD = f"""{NOTICE}

from typing import Any

from elephan.catalog.entry import Registry, RegistryEntry
"""
GIVES = {"recoveries": "str", "models": "ModelTable"}
"""Return types of calls of entries, if not the table of a scenario file."""

LONGEST = 80
"""Maximum length of a default that is shown on a line [characters]."""


def described(value: object) -> str:
    """Return a parameter's type: numbers may also be text with a unit, and text may also be a number."""
    if isinstance(value, bool):
        return f"bool = {value!r}"
    if isinstance(value, (int, float)):
        return f"float | str = {value!r}"
    return f'Any = "{value}"' if isinstance(value, str) and len(value) <= LONGEST else "Any = ..."


def entry_class(entry: RegistryEntry) -> list[str]:
    """Write the class of an entry: its call with all parameters."""
    rows = [(row["name"], described(row["default"])) for row in entry.parameters.values()]
    rows += [(name, "Any = None") for name in entry.also]
    wrong = [name for name, _ in rows if not name.isidentifier() or keyword.iskeyword(name)]
    if wrong:
        sys.exit(f"{entry}: {wrong[0]} cannot be the name of a parameter in Python")
    stated = ", ".join(["self", "*", *(f"{name}: {kind}" for name, kind in rows)] if rows else ["self"])
    gives = GIVES.get(entry.kind, "dict[str, Any]")
    doc = f"{entry.title}. {entry.source.rstrip('.')}.".replace("\\", "\\\\").replace('"', "'")
    return [
        f"class {class_name(entry)}(RegistryEntry):",
        f'    """{doc}"""',
        "",
        f"    def __call__({stated}) -> {gives}: ...",
        "",
    ]


def class_name(entry: RegistryEntry) -> str:
    """Name the class of an entry."""
    words = f"{entry.kind}-{identifier(entry.name)}".replace("_", "-").split("-")
    return "_" + "".join(word[:1].upper() + word[1:] for word in words)


def registry_class(name: str, entries: Iterable[RegistryEntry]) -> list[str]:
    """Write the class of a registry, and the registry itself."""
    title = "_" + name.title().replace("_", "")
    inside = [f"    {identifier(entry.name)}: {class_name(entry)}" for entry in entries]
    return [f"class {title}(Registry[RegistryEntry]):", *inside, "", f"{name}: {title}", ""]


def stub(by_name: Mapping[str, Iterable[RegistryEntry]], *more: str) -> str:
    """Write one file."""
    lines = [HEAD.rstrip(), *more, ""]
    for name, entries in by_name.items():
        for entry in entries:
            lines += entry_class(entry)
        lines += registry_class(name, entries)
    return formatted("\n".join(lines))


def formatted(text: str) -> str:
    """Format a text as ruff does."""
    ruff = [sys.executable, "-m", "ruff"]
    command = [*ruff, "format", "--quiet", "--stdin-filename", str(FOLDER / "registries.pyi"), "-"]
    return subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.PIPE).stdout


DOCUMENTS = {"LinkDocument": "links", "TransfersDocument": "transfers", "GroupDocument": "groups"}
"""Types of the parts of a run's document, and kinds of the quantities in them."""
MARK = "    # Quantities, as they are declared in elephan.metrics; written by tools/stubs.py.\n"
PREFIXES = {
    "links": "links[].",
    "groups": "groups[].",
    "transfers": "groups[].transfers.",
    "fairness": "fairness.",
}
"""Begin of the keys of quantities in the reference."""


def typed(text: str) -> str:
    """Write the keys of quantities into the types of documents: in each type what stands below the mark."""
    for name, kind in (*DOCUMENTS.items(), ("FairnessDocument", "fairness")):
        keys: dict[str, str] = {}
        for each in quantities(kind):
            if each.reported:
                outer, dot, _ = each.name.partition(".")
                kept = "dict[str, Quantity]" if dot else "Quantity"
                keys[outer] = kept if each.applies is None else f"NotRequired[{kept}]"
        before, found, rest = text.partition(f"class {name}(")
        facts, marked, _ = rest.partition(MARK)
        if not found or not marked:
            sys.exit(f"documents.py: {name} lacks the line that marks the quantities")
        after = rest[len(facts) + len(MARK) :].partition("\n\n\n")[2]
        lines = "\n".join(f"    {key}: {value}" for key, value in keys.items())
        text = f"{before}{found}{facts}{MARK}{lines}\n\n\n{after}"
    return text


def described_quantities(text: str) -> str:
    """Write the rows of quantities into the reference of the document of a run, below the facts of each part."""
    begin, head, section = text.partition("\n## `elephan run`\n")
    section, end, rest = section.partition("\n## ")
    for kind, prefix in PREFIXES.items():
        known = [each for each in quantities(kind) if each.reported]
        row = re.compile(rf"\| `{re.escape(prefix)}([\w.]+)` \| quantity \| .*\n")
        names = {each.name for each in known}
        outer = {name.partition(".")[0] for name in names if "." in name}
        old = [m for m in row.finditer(section) if m[1] in names or m[1].partition(".")[0] in outer]
        if not old:
            sys.exit(f"json.md: no row begins with {prefix}")
        place = next(m for m in old if m[1] == next(each.name for each in known if each.applies is None)).start()
        rows = "".join(
            f"| `{prefix}{each.name}` | quantity | {each.meaning}{f'; {each.only}' if each.only else ''} |\n"
            for each in known
        )
        left = "".join(line for line in section[:place].splitlines(True) if line not in {m[0] for m in old})
        right = "".join(line for line in section[place:].splitlines(True) if line not in {m[0] for m in old})
        section = left + rows + right
    return begin + head + section + end + rest


def stubs() -> dict[Path, str]:
    """Write all files."""
    native = {name: getattr(registries, name) for name in ("laws", "slow_starts", "recoveries", "queues", "traffic")}
    table = "from elephan.theory.models.card import ModelTable"
    return {
        FOLDER / "catalog" / "registries.pyi": stub(native, "", "def plain(value: Any) -> Any: ..."),
        FOLDER / "theory" / "models" / "registry.pyi": stub({"models": registry.models}, table),
        **{file: write(file.read_text(encoding="utf-8")) for file, write in WRITTEN_INTO.items()},
    }


WRITTEN_INTO = {
    FOLDER / "results" / "documents.py": typed,
    ROOT / "docs" / "reference" / "json.md": described_quantities,
}
"""Files of which only a part is written."""


def main() -> None:
    """Write the files, or compare them with the existing ones."""
    there = {file: file.read_text(encoding="utf-8") if file.exists() else "" for file in stubs()}
    if "--check" in sys.argv[1:]:
        stale = [file for file, text in stubs().items() if there[file] != text]
        sys.exit("\n".join(f"{file.relative_to(ROOT)}: not up to date; run make docs" for file in stale) or 0)
    for file, text in stubs().items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
