"""Writes docs/catalog, one page per kind of thing that exists, from what `elephan list KIND --json` answers.

Laws and slow starts get a picture each, and under it the numbers that it shows, so that --check can tell without
drawing whether it is up to date. With --check nothing is written: one line per page that is not, and exit 1 if any.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elephan.plots.rounds import START_STORY, STORY, draw_rounds, rounds

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "catalog"
KINDS = {
    "laws": "Congestion-control laws",
    "slow-starts": "Slow starts",
    "recoveries": "Loss recoveries",
    "queues": "Queue disciplines",
    "traffic": "Traffic",
}
CONTROLS = {"laws": '"{}"', "slow-starts": '{{ slow_start = "{}" }}'}
"""How a scenario file names one of a kind that has a picture."""
SHOWN = {"laws": (9, 11, 20, 39, 41, 59, 61, 79, 81, 99), "slow-starts": (2, 4, 6, 8, 9, 10, 11, 12, 13, 15)}
"""Rounds whose windows stand under the picture."""
STORIES = {
    "laws": f"In the pictures: {STORY} The grey line is Reno in the same story.",
    "slow-starts": f"In the pictures: {START_STORY} The grey line is the classic slow start.",
}
COLUMNS = ("name", "default", "unit", "meaning")
NOTICE = "Written by `make docs` from `elephan list`; edit the cards in the code instead."


def entries(kind: str) -> list[dict[str, Any]]:
    """Ask the program what it knows of this kind."""
    command = [str(Path(sys.executable).parent / "elephan"), "list", kind, "--json"]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    found: list[dict[str, Any]] = json.loads(answer)
    return found


def page(kind: str, cards: Sequence[Mapping[str, Any]]) -> str:
    """Write the Markdown page of one kind."""
    lines = [f"# {KINDS[kind]}", "", NOTICE, ""]
    if kind in CONTROLS:
        lines += [STORIES[kind], ""]
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
        if kind in CONTROLS:
            lines += [*picture(kind, card["name"]), ""]
    return "\n".join(lines)


def picture(kind: str, name: str) -> list[str]:
    """Refer to the picture of a law or slow start, and say its numbers."""
    cwnd = rounds(CONTROLS[kind].format(name), slow_start=kind == "slow-starts")[:, 1]
    shown = SHOWN[kind]
    return [
        f"![cwnd of {name} round by round](rounds/{name}.svg)",
        "",
        "| round | " + " | ".join(map(str, shown)) + " |",
        "|---|" + "--:|" * len(shown),
        "| cwnd | " + " | ".join(f"{cwnd[i]:.4g}" for i in shown) + " |",
    ]


def cell(value: object) -> str:
    """Write a value as a table cell shows it."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> None:
    """Write the pages, or compare them with what is there."""
    there = {file: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    pages = {FOLDER / f"{kind}.md": page(kind, entries(kind)) for kind in KINDS}
    if "--check" in arguments:
        stale = [file.relative_to(ROOT) for file, text in pages.items() if there.get(file) != text]
        drawn = {file.stem for file in (FOLDER / "rounds").glob("*.svg")}
        named = {card["name"] for kind in CONTROLS for card in entries(kind)}
        wrong = [FOLDER.relative_to(ROOT) / "rounds" / f"{name}.svg" for name in sorted(drawn ^ named)]
        sys.exit("\n".join(f"{file}: not up to date; run make docs" for file in [*stale, *wrong]) or 0)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, text in pages.items():
        file.write_text(text, encoding="utf-8")
    pictures = FOLDER / "rounds"
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir()
    for kind, form in CONTROLS.items():
        for card in entries(kind):
            draw_rounds(form.format(card["name"]), card["name"], pictures, slow_start=kind == "slow-starts")


if __name__ == "__main__":
    main(sys.argv[1:])
