"""Writes docs/catalog, one page per kind of thing that exists, from what `elephan list KIND --json` answers.

With --check nothing is written: one line per page that is not up to date, and exit 1 if any.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "catalog"
KINDS = {
    "laws": "Congestion-control laws",
    "slow-starts": "Slow starts",
    "recoveries": "Loss recoveries",
    "queues": "Queue disciplines",
    "traffic": "Traffic",
}
COLUMNS = ("name", "default", "unit", "meaning")
NOTICE = "Written by `make docs` from `elephan list`; edit the cards in the code instead."


def entries(kind: str) -> list[dict[str, Any]]:
    """Ask the program what it knows of this kind."""
    command = [str(Path(sys.executable).parent / "elephan"), "list", kind, "--json"]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    found: list[dict[str, Any]] = json.loads(answer)
    return found


def page(title: str, cards: Sequence[Mapping[str, Any]]) -> str:
    """Write the Markdown page of one kind."""
    lines = [f"# {title}", "", NOTICE, ""]
    for card in cards:
        source = card["source"].rstrip(".")
        lines += [f"## `{card['name']}`", "", f"{card['title']}. Source: {source}.", ""]
        if card["aliases"]:
            lines += ["Also called: " + ", ".join(f"`{alias}`" for alias in card["aliases"]) + ".", ""]
        if card["differs"]:
            lines += [f"Differs: {card['differs']}", ""]
        if rows := card["parameters"]:
            lines += ["| parameter | default | unit | meaning |", "|---|---|---|---|"]
            lines += ["| " + " | ".join(cell(row[column]) for column in COLUMNS) + " |" for row in rows]
            lines.append("")
    return "\n".join(lines)


def cell(value: object) -> str:
    """Write a value as a table cell shows it."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> None:
    """Write the pages, or compare them with what is there."""
    there = {file: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    pages = {FOLDER / f"{kind}.md": page(title, entries(kind)) for kind, title in KINDS.items()}
    if "--check" in arguments:
        stale = [file.relative_to(ROOT) for file, text in pages.items() if there.get(file) != text]
        sys.exit("\n".join(f"{file}: not up to date; run make docs" for file in stale) or 0)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, text in pages.items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
