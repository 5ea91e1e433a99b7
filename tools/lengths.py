"""Checks that no source file has more than 600 lines: longer ones are two subjects. One line each; exit 1 if any."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 600
PLACES = ("crates", "python", "tests", "tools", "evidence", "examples")


def main() -> None:
    """Measure every source file."""
    patterns = [(place, end) for place in PLACES for end in ("*.rs", "*.py")]
    files = [file for place, end in patterns for file in sorted((ROOT / place).rglob(end))]
    lengths = [(file.relative_to(ROOT), file.read_text(encoding="utf-8").count("\n")) for file in files]
    long = [f"{file}: {lines} lines, more than {LIMIT}" for file, lines in lengths if lines > LIMIT]
    sys.exit("\n".join(long) or 0)


if __name__ == "__main__":
    main()
