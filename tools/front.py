"""Writes the demo's output into the front pages: the screen in README.md, the answer and the picture of docs/index.md.

    python tools/front.py              # writes what is not as the command says
    python tools/front.py --check      # says what is not, and ends with 1

`tests/test_samples.py` compares the same three with the command, so that their numbers are never typed by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.pictures.words import NARROW, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent
COMMAND = ("size", "scenarios/hstcp-1g.toml", "--target", "utilization=0.95")
README, INDEX, PICTURE = ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "images" / "size.svg"
SCREEN = re.compile(r"(?<=^```text\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
ANSWER = re.compile(r"(?<=^:::\{container\} answer\n).*?(?=^:::$)", re.MULTILINE | re.DOTALL)


def answer(document: Mapping[str, Any]) -> str:
    """Format the answer of a sizing in a line.

    Parameters
    ----------
    document : mapping
        Document of ``elephan size --json``.
    """
    low, high = document["buffer_interval_packets"]
    delay, loss = plain(document["queueing_delay_s"], "s"), plain(document["loss_ratio"], "%", 2)
    return (
        f"{document['buffer_packets']:,} packets (95 %: {low:,} to {high:,}), {document['buffer_bdp']:.3g} of a "
        f"bandwidth-delay product; {delay} of queueing delay; {loss} loss.\n"
    ).replace(NARROW, " ")


def drawn(svg: str) -> list[str]:
    """Return the texts of a picture that do not depend on the drawing library: without axes and version."""
    words = re.findall(r"<!-- (.*?) -->", svg)
    return [
        re.sub(r"^elephan \S+", "elephan", word) for word in words if re.search(r"packets$|scenario|wanted|BDP", word)
    ]


def differing(screen: str, document: Mapping[str, Any], svg: str) -> dict[Path, str]:
    """Return the files that differ from the command's output, with their new content.

    Parameters
    ----------
    screen : str
        Output of the command at 80 columns.
    document : mapping
        Document of ``--json``.
    svg : str
        The picture.
    """
    readme, index = (page.read_text(encoding="utf-8") for page in (README, INDEX))

    def timeless(text: str) -> str:
        return re.sub(r", [\d.]+ s([;)])", r", 0 s\1", text)

    found = {}
    shown = SCREEN.search(readme)
    if shown is None or timeless(shown[0]) != timeless(screen):
        found[README] = SCREEN.sub(lambda _: screen, readme, count=1)
    if (front := ANSWER.sub(lambda _: answer(document), index, count=1)) != index:
        found[INDEX] = front
    if not PICTURE.exists() or drawn(PICTURE.read_text(encoding="utf-8")) != drawn(svg):
        found[PICTURE] = svg
    return found


def measured() -> tuple[str, dict[str, Any], str]:
    """Run the command; return its screen, its document and its picture."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "elephan", *COMMAND, "-q", "--out", folder],
            cwd=ROOT,
            env={**os.environ, "COLUMNS": "80"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        read = [(Path(folder) / name).read_text(encoding="utf-8") for name in ("size.json", "size.svg")]
        return done.stdout, json.loads(read[0]), read[1]


def main() -> int:
    """Write the outdated files; with ``--check`` only list them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    found = differing(*measured())
    for path, text in found.items():
        if not asked.check:
            path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}: {'is not as the command says' if asked.check else 'written'}\n")
    return 1 if asked.check and found else 0


if __name__ == "__main__":
    sys.exit(main())
