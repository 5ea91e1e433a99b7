"""Texts of `--help` beyond options: commands in groups, each in one line, and examples to copy.

The parser's own way of showing an epilogue breaks lines wherever the terminal ends, so that half an example is copied.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

VERBS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("verbs.toml").read_text(encoding="utf-8"))
"""Groups of commands in the order of display; those of `elephan.plugins.EVIDENCE` are listed if it is installed."""

OTHERS = "From other packages"
"""Group of the commands of all other distributions."""

START = """\
New to it? An answer at once; or a file, an answer, a picture:
  elephan demo
  elephan new dumbbell --out mine.toml
  elephan size mine.toml --target utilization=0.95
  elephan run mine.toml --out run/ --plot

Exit codes: 0 done, 1 a target or claim not met, 2 wrong input,
            70 a defect of elephan, 130 interrupted (143 by SIGTERM).
"""

LEAST_WIDTH = 40
"""Minimum width at which examples are wrapped [columns]."""

MOST_WIDTH = 110
"""Maximum width of sentences, for legibility [columns]."""

NAMES_WIDTH = 20
"""Width of the names of options beside sentences [columns]."""


def arrange(group: TyperGroup) -> TyperGroup:
    """Put the commands in their groups and in order, each with its line; those of other distributions come last.

    Returns
    -------
    TyperGroup
        The same.
    """
    known = {name: (panel, line) for panel, verbs in VERBS.items() for name, line in verbs.items()}
    for name, command in group.commands.items():
        panel, command.short_help = known.get(name, (OTHERS, command.short_help))
        command.rich_help_panel = panel  # type: ignore[attr-defined]
    order = {name: place for place, name in enumerate(known)}
    group.commands = dict(sorted(group.commands.items(), key=lambda item: order.get(item[0], len(order))))
    return group


class CommandHelp(TyperCommand):
    """Command whose epilogue is examples, a line each, the first after ``Example:``."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write help, then the examples.

        Without frames: a column of types between options and sentences leaves the sentences a third of 80 columns.
        """
        columns = shutil.get_terminal_size().columns
        examples, self.epilog = self.epilog, None
        framed, self.rich_markup_mode = self.rich_markup_mode, None
        formatter.width = min(columns, MOST_WIDTH)
        super().format_help(ctx, formatter)
        self.epilog, self.rich_markup_mode = examples, framed
        if examples:
            formatter.write("\n" + write_examples(examples, columns))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options: a name longer than its column has a line of its own."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            found = [param.get_help_record(ctx) for param in self.get_params(ctx) if param.param_type_name == kind]
            records = [(name, text.replace("\\[", "[")) for name, text in filter(None, found)]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records, col_max=NAMES_WIDTH)


class GroupHelp(TyperGroup):
    """Group of commands; its help ends with instructions to start."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write help, then instructions to start."""
        super().format_help(ctx, formatter)
        formatter.write(START)


def write_examples(text: str, width: int) -> str:
    r"""Format examples so that they can be copied, however narrow the terminal.

    Parameters
    ----------
    text : str
        A command a line; ``Example:`` in front is left out.
    width : int
        Width of the terminal [columns].

    Examples
    --------
    >>> print(write_examples("Example:  elephan run mine.toml --seed 7 --out run/", 40), end="")
    Example:
      elephan run mine.toml --seed 7 \
        --out run/
    """
    lines = [line.strip() for line in text.removeprefix("Example:").splitlines() if line.strip()]
    head = "Example:" if len(lines) == 1 else "Examples:"
    broken = (part for line in lines for part in _break(line, max(width, LEAST_WIDTH) - 1))
    return "\n".join([head, *broken]) + "\n"


def _break(line: str, width: int) -> Iterable[str]:
    """Break a command into lines, only in front of options."""
    now = "  "
    for part in re.split(r" (?=--)", line):
        joined = f"{now} {part}" if now.strip() else f"{now}{part}"
        if len(joined) + 2 > width and now.strip():
            yield f"{now} \\"
            now = f"    {part}"
        else:
            now = joined
    yield now
