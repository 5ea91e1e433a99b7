"""Common parts of the commands: lines on stderr, JSON on stdout, formatted numbers, exits."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

from elephan.assignments import changed_title, parse_assignments
from elephan.cli import options
from elephan.cli.columns import broken, terminal_width
from elephan.cli.output import OutputError
from elephan.errors import InputError
from elephan.extras import missing, require
from elephan.formats import stamped
from elephan.own_laws import check_used, declare
from elephan.own_laws import here as own_laws
from elephan.units import format_measured

if TYPE_CHECKING:
    from elephan.lint import LintWarning
    from elephan.results import ResultTables
    from elephan.scenario import Scenario
    from elephan.sizing import LimitAnswer
    from elephan.sweeps.document import Sweep

T = TypeVar("T")


class Interrupted(Exception):  # noqa: N818 (it is no error)
    """Interrupt by Ctrl-C; the message says what was done until then."""


def say(line: str) -> None:
    """Print a sentence on stderr in the width of the terminal, or of ``COLUMNS``; on one line in a pipe without that.

    Parameters
    ----------
    line : str
        Line breaks in it become spaces. Lines after the first are indented; words, such as paths, stay whole.
    """
    _say(line, is_read=sys.stderr.isatty() or "COLUMNS" in os.environ)


def say_error(line: str) -> None:
    """Print an error on stderr: on a terminal in its width, in a pipe or a file on one line for programs.

    Parameters
    ----------
    line : str
        As for `say`.
    """
    _say(line, is_read=sys.stderr.isatty())


def _say(line: str, *, is_read: bool) -> None:
    words = " ".join(line.split())
    lines = broken(words, _message_width(), others="  ")
    sys.stderr.write("\n".join(lines if is_read else [words]) + "\n")
    sys.stderr.flush()


def _message_width() -> int:
    """Return the width of the terminal of stderr, which may be one where stdout is none."""
    try:
        return (0 if "COLUMNS" in os.environ else os.get_terminal_size(2).columns) or terminal_width()
    except OSError:
        return terminal_width()


def warn(warnings: Iterable[LintWarning], *, strict: bool = False, quiet: bool = False) -> None:
    """Print warnings on stderr, without duplicates.

    Parameters
    ----------
    strict : bool
        They are errors.
    quiet : bool
        Of warnings only those are shown that put the result in doubt, see `LintWarning.is_grave`.

    Raises
    ------
    typer.Exit
        With code 2 if there are errors.
    """
    lines = list(dict.fromkeys(str(warned) for warned in warnings if strict or not quiet or warned.is_grave))
    for line in lines:
        # An error is one line for whoever looks for it.
        say_error(line.replace("warning:", "error:", 1)) if strict else say(line)
    if strict and lines:
        raise typer.Exit(2)


def titled(title: str, assignments: Sequence[str] | None) -> str:
    """Return a title with what ``--set`` has changed, see `elephan.assignments.changed_title`.

    Parameters
    ----------
    assignments : sequence of str or None
        As the option has them.

    Examples
    --------
    >>> titled("A buffer of one BDP", ["links.0.buffer=50 packets"])
    'A buffer of one BDP, but links[0].buffer = 50 packets'
    """
    return changed_title(title, parse_assignments(assignments))


def note_changes(folder: Path | None, assignments: Sequence[str] | None) -> None:
    """Keep what ``--set`` has changed in the document of a result's folder, for the title of its page.

    Parameters
    ----------
    folder : Path or None
        Folder of ``--out`` that holds a result; nothing is done without one.
    assignments : sequence of str or None
        As the option has them.
    """
    changes = parse_assignments(assignments)
    if folder is None or not changes:
        return
    from elephan.loading import kind_of  # noqa: PLC0415 (NumPy; --help does without)
    from elephan.results.files import write_json  # noqa: PLC0415 (as above)

    if (kind := kind_of(folder)) is not None:
        path = folder / kind.document
        with writing(folder):
            write_json(path, json.loads(path.read_text(encoding="utf-8")) | {"set": changes})


def print_json(document: object) -> None:
    """Print a JSON document on stdout."""
    shown = stamped(document) if isinstance(document, dict) else document
    sys.stdout.write(json.dumps(shown, indent=1, allow_nan=False) + "\n")


def leave(code: int) -> NoReturn:
    """Exit immediately, without waiting for replications that still run in threads."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OutputError as error:
            code = code or error.code
        except OSError:
            code = code or 2
    os._exit(code)


def report_defect(error: BaseException) -> None:
    """Report a defect of elephan: location, and how to report it.

    Parameters
    ----------
    error : BaseException
        Its traceback is shown if ``ELEPHAN_TRACEBACK`` is set.
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    if os.environ.get("ELEPHAN_TRACEBACK"):
        traceback.print_exception(error)
    say_error(
        f"internal error: {type(error).__name__}: {error}{where}; a defect of elephan, not of "
        "your input: please report it, with the command line and the scenario (ELEPHAN_TRACEBACK=1 shows more)"
    )


def say_written(paths: Sequence[Path]) -> None:
    """Print the names of the files written, one line per folder.

    Parameters
    ----------
    paths : sequence of Path
    """
    for folder in dict.fromkeys(path.parent for path in paths):
        names = [path.name for path in paths if path.parent == folder]
        say(f"wrote {folder / names[0]}" if len(names) == 1 else f"wrote {folder}: {', '.join(names)}")


def check_tables(suffix: str) -> None:
    """Refuse a format of tables that does not exist."""
    if suffix != options.PARQUET:
        from elephan.results.formats import table_format  # noqa: PLC0415 (--help does without NumPy)

        table_format(suffix)


def check_out(out: Path | None, option: str = "--out", *, drawn: bool = False) -> None:
    """Refuse a folder that cannot be written, before any work is done.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    drawn : bool
        Whether it is for pictures: without Matplotlib there is nothing to write then.

    Raises
    ------
    InputError
        If it is a file or another option, or its parent cannot be written.
    """
    if out is None:
        return
    if str(out).startswith("--"):
        raise InputError(f"{option} needs a folder, and is followed by {out}; write {option} DIR {out}")
    require(option, "pyarrow", *(["matplotlib"] if drawn else []))
    existing = next(p for p in (out, *out.absolute().parents) if p.exists())
    if not _can_be_filled(existing):
        what = "is a file" if existing.is_file() else "cannot be written"
        raise InputError(f"{option} {out}: {existing} {what}; give a folder that can be made or written")


def _can_be_filled(folder: Path) -> bool:
    """Whether files can be made in a folder: /proc and full disks refuse what their permissions allow."""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".elephan-"):
            return True
    except OSError:
        return False


def can_draw() -> bool:
    """Whether figures can be drawn beside tables; if not, prints the reason in one line."""
    if missing("matplotlib"):
        say("no pictures: matplotlib is not installed here; pip install 'elephan[plots]'")
        return False
    return True


def draw(found: object, folder: Path, assignments: Sequence[str] | None = None) -> list[Path]:
    """Draw the pictures of a result into a folder, see `elephan.plots.draw`; nothing without Matplotlib.

    Parameters
    ----------
    assignments : sequence of str or None
        As ``--set`` has them.
    """
    if not can_draw():
        return []
    from elephan import plots  # noqa: PLC0415 (matplotlib is slow to import)

    return plots.draw(found, folder, parse_assignments(assignments))


def check_laws(*used: Iterable[str]) -> None:
    """Refuse a law given by ``--law`` that nothing uses.

    Parameters
    ----------
    *used : iterable of str
        The laws of each scenario that is run, and those that other options name.

    Raises
    ------
    InputError
        If there is one.
    """
    check_used(own_laws(), used, "--law")


def read_scenario(
    file: Path,
    assignments: Sequence[str] | None,
    law: Sequence[str] | None,
    *,
    compared: Sequence[str] = (),
    **more: object,
) -> Scenario:
    """Read a scenario file, change it, and declare the laws of ``--law``.

    Parameters
    ----------
    assignments : sequence of str or None
        As ``--set`` has them.
    law : sequence of str or None
        As ``--law`` has them.
    compared : sequence of str
        Laws that the first group of TCP flows will have instead of its own.
    **more
        Further changes, by their places; those that are None change nothing.

    Raises
    ------
    InputError
        If the file cannot be used, a law is unknown, or nothing uses one of ``--law``.
    """
    from elephan.scenario import Scenario  # noqa: PLC0415 (start-up does without)

    declare(law or ())
    read = Scenario.from_file(file).replace(parse_assignments(assignments, **more))
    # A law that is unknown is refused before one that nothing uses.
    for name in compared if own_laws() else ():
        group = next((each.index for each in read.network.groups if each.is_tcp), 0)
        read.replace({f"flows[{group}].control": name})
    check_laws(read.own_laws, compared)
    return read


def read_sweep(
    file: Path,
    assignments: Sequence[str] | None,
    law: Sequence[str] | None,
    over: Mapping[str, Any] | None = None,
    zipped: Sequence[Mapping[str, Any]] = (),
    **more: object,
) -> Sweep:
    """Read a sweep file, or a scenario as a sweep without axes, as `read_scenario` reads a scenario.

    Parameters
    ----------
    over, zipped
        Further axes, as `Sweep.extended` takes them.
    """
    from elephan.sweeps.document import Sweep  # noqa: PLC0415 (--help does without NumPy)

    declare(law or ())
    sweep = Sweep.from_file(file).changed(parse_assignments(assignments, **more)).extended(over, zipped)
    if law:
        check_laws(*sweep.own_laws())
    return sweep


def write_result(
    found: ResultTables | LimitAnswer,
    out: Path | None,
    tables: str,
    assignments: Sequence[str] | None,
    *,
    drawn: bool = True,
) -> list[Path]:
    """Write a result into the folder of ``--out``: its files, its pictures, and what ``--set`` has changed.

    Parameters
    ----------
    out : Path or None
        Nothing is written without one.
    assignments : sequence of str or None
        As ``--set`` has them.
    drawn : bool
        Whether there are pictures of it.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    if out is None:
        return []
    with writing(out):
        written = [*found.write(out, tables), *(draw(found, out, assignments) if drawn else [])]
        note_changes(out, assignments)
    return written


@contextmanager
def writing(out: Path | None, option: str = "--out") -> Iterator[None]:
    """Convert errors of the system while results are written to messages.

    Parameters
    ----------
    option : str
        Name of the option, for messages.

    Raises
    ------
    InputError
        If the block fails to write.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).splitlines()[0]
        reason = f"{reason[:1].lower()}{reason[1:]}"
        raise InputError(f"{option} {out}: {reason}; give a folder that can be written, with room in it") from None


def write_new(out: Path, text: str, *, force: bool) -> None:
    """Write a file that must not exist yet.

    Parameters
    ----------
    force : bool
        It may be there and is replaced.

    Raises
    ------
    InputError
        If it is there, or cannot be written.
    """
    try:
        with out.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"--out {out}: is there already; --force replaces it") from None
    except OSError as error:
        raise InputError(f"--out {out}: {(error.strerror or 'cannot be written').lower()}") from None


def option_value(option: str, parse: Callable[[str], T], text: str) -> T:
    """Parse the value of an option; a message names it.

    Raises
    ------
    InputError
    """
    try:
        return parse(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from None


def shown(
    quantity: Mapping[str, float | None], scale: float = 1.0, digits: int = 4, *, of: str = "", flows: int = 0
) -> str:
    """Format a measured quantity for the screen, see `elephan.units.format_measured`.

    Examples
    --------
    >>> shown({"mean": 0.93214, "ci95": 0.0042})
    '0.932±0.004'
    >>> shown({"mean": 0.7, "ci95": 1.3}, of="jain", flows=2), shown({"mean": 0.02, "ci95": 0.3}, 100, of="loss_ratio")
    ('0.7 (0.5 to 1)', '2 (<32)')
    >>> shown({"mean": 0.9123, "ci95": 0.0}, of="page_time_p95_s")
    '0.912±0.014'
    >>> shown({"mean": 123456.0, "ci95": 123.0}, digits=3)
    '123460±120'
    >>> shown({"mean": 999.97, "ci95": None}, digits=3)
    '1000'
    >>> shown({"mean": None, "ci95": None})
    '-'
    """
    return format_measured(quantity, scale, digits, of=of, flows=flows, joint="±")


def print_lines(*lines: str) -> None:
    """Print lines on stdout unchanged: commands to copy, documents, wrapped text."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def print_wrapped(*lines: str) -> None:
    """Put sentences on stdout, each in as many lines as the terminal needs; what follows the first is moved in."""
    for line in lines:
        print_lines(*sentence_lines(line))


def sentence_lines(line: str) -> list[str]:
    """Break a sentence into the lines that `print_wrapped` prints."""
    inside = " " * (len(line) - len(line.lstrip()) + 2)
    # A path stays whole.
    return broken(line, terminal_width(), others=inside) or [""]


def print_parts(*parts: str | Sequence[str]) -> None:
    """Put sentences, which are wrapped, and the lines of tables on stdout."""
    for part in parts:
        if isinstance(part, str):
            print_wrapped(part)
        else:
            print_lines(*part)
