"""The data set of CONTRIBUTING's worked example, as files."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "CONTRIBUTING.md"


def example(folder: Path) -> Path:
    """Write the blocks of the section into a folder, and return it."""
    section = PAGE.read_text(encoding="utf-8").partition("\n## Adding a data set\n")[2].partition("\n## ")[0]
    [measured] = re.findall(r"```text\n(.*?)```", section, flags=re.DOTALL)
    scenario, described = re.findall(r"```toml\n(.*?)```", section, flags=re.DOTALL)
    made = folder / "two-flows"
    made.mkdir(parents=True)
    for name, text in (("measured.csv", measured), ("scenario.toml", scenario), ("set.toml", described)):
        (made / name).write_text(text, encoding="utf-8")
    return made
