"""``elephan demo``: a first answer, from a scenario that comes with elephan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from elephan.cli.common import say
from elephan.cli.options import option
from elephan.cli.size import size
from elephan.extras import missing
from elephan.templates import example_path

EXAMPLE = "Example:  elephan demo --out demo/"

NAME, TARGET = "hstcp-1g", "utilization=0.95"
"""Scenario and target of the demo: the link of Barman2004."""


def demo(
    out: Annotated[Path, option("--out DIR", "Write the answer and its picture into this folder.")] = Path("demo"),
    details: Annotated[bool, option("--details", "Show all details.")] = False,
) -> None:
    """Size the buffer of a 1 Gbit/s, 120 ms path under HighSpeed TCP, in some ten seconds.

    The same as: elephan new hstcp-1g --out hstcp-1g.toml, and elephan size hstcp-1g.toml --target utilization=0.95.
    """
    lacking = missing("pyarrow")
    if lacking:
        say(f"nothing is written to {out}: {', '.join(lacking)} not installed; pip install 'elephan[all]'")
    size(example_path(NAME), [TARGET], out=None if lacking else out, details=details)
