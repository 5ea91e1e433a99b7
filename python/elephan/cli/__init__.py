"""Command line ``elephan VERB …``: commands parse, call the Python API and print; computations are elsewhere.

Exit codes: 0 done, 1 a target or claim not met, 2 wrong input, 70 a defect of elephan, 130 interrupted (143: SIGTERM),
141 the reader of standard output has closed it.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from elephan import __version__
from elephan.cli.common import Interrupted, leave, report_defect, say_error
from elephan.cli.help import VERBS as PANELS
from elephan.cli.help import CommandHelp, GroupHelp, arrange
from elephan.cli.options import option
from elephan.cli.output import OutputError, prepare_streams
from elephan.cli.signals import exit_code, heed_signals
from elephan.errors import InputError, nearest, suggest
from elephan.extras import of_error
from elephan.units import count

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from elephan.plugins import Verbs

_MODULES = {"list": "catalog", "import": "importing"}
"""Modules of the commands whose name is a Python keyword or built-in."""

IN_EVIDENCE = ("answer", "reproduce", "conform", "judge")
"""Commands of the distribution elephan-evidence (`elephan.plugins.EVIDENCE`)."""

VERBS = {
    verb: f"elephan.cli.{_MODULES.get(verb, verb)}"
    for panel in PANELS.values()
    for verb in panel
    if verb not in IN_EVIDENCE
}
"""Module of each command of elephan; only the module of the command that is called is loaded."""

OUT_OF_MEMORY = "out of memory; `elephan estimate` shows how much each part of a run needs"

UNUSABLE_PATH = (errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.EROFS)
"""errno values of paths that cannot be used. `pathlib` may raise such an error even if it only checks for existence."""

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""`UsageError`, the base class of `BadParameter`. The module that defines it depends on the version of Typer."""


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"elephan {__version__}")
        raise typer.Exit


def _elephan(
    version: Annotated[
        bool, option("--version", "Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """A laboratory for TCP over long fat networks and for the router buffers on them."""


def _new_app() -> typer.Typer:
    app = typer.Typer(
        name="elephan",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        cls=GroupHelp,
    )
    app.callback()(_elephan)
    return app


def _add(app: typer.Typer, verb: str) -> None:
    """Add a command, which may have subcommands."""
    module = import_module(VERBS[verb])
    _attach(app, verb, getattr(module, "app", None) or getattr(module, f"{verb}_" if verb in _MODULES else verb))


def _add_other(app: typer.Typer, entry: EntryPoint) -> None:
    """Add a command of another distribution."""
    from elephan.plugins import load, source  # noqa: PLC0415 (reads the metadata of all packages; most commands do without)

    found = load(entry)
    if not callable(found):
        raise InputError(f"{entry.name}: {source(entry)} names {entry.value}, which is no function and no typer.Typer")
    _attach(app, entry.name, found)


def _attach(app: typer.Typer, verb: str, found: Any) -> None:
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=verb)
    else:
        module = sys.modules.get(found.__module__)
        app.command(verb, epilog=getattr(module, "EXAMPLE", None), cls=getattr(module, "HELP", CommandHelp))(found)


@cache
def _others() -> Verbs:
    """Return the commands of other distributions; nothing of them is imported."""
    from elephan.plugins import verbs  # noqa: PLC0415 (as above)

    return verbs(VERBS)


def _unloaded() -> None:
    """Placeholder for a command that is only listed."""


def _parser(app: typer.Typer) -> TyperGroup:
    group = typer.main.get_command(app)
    assert isinstance(group, GroupHelp)
    return arrange(group)


@cache
def app() -> typer.Typer:
    """Return the full command line. The order, groups and lines of commands in `elephan --help` are in `help.VERBS`."""
    made = _new_app()
    for verb in VERBS:
        _add(made, verb)
    for line in _others().refused.values():
        say_error(line)
    for entry in _others().found.values():
        try:
            _add_other(made, entry)
        except InputError as error:
            say_error(str(error))
    return made


@cache
def command() -> TyperGroup:
    """Return the command line as a parser."""
    return _parser(app())


def _command_for(words: Sequence[str]) -> TyperGroup:
    """Return the part of the command line that a call needs.

    This is the named command; for help and version, a list of all commands; for an unknown command, the complete
    command line.
    """
    made = _new_app()
    if words and words[0] in VERBS:
        _add(made, words[0])
    elif set(words) <= {"-h", "--help", "--version"}:
        _list(made)
    elif words and words[0] in _others().found:
        _add_other(made, _others().found[words[0]])
    elif words and words[0] in _others().refused:
        raise InputError(_others().refused[words[0]])
    elif words and words[0] in IN_EVIDENCE:
        from elephan.plugins import absent  # noqa: PLC0415 (as in `_others`)

        raise InputError(absent(f"{words[0]}:"))
    else:
        return command()
    return _parser(made)


def _list(app: typer.Typer) -> None:
    """Add all commands without importing their modules."""
    from elephan.plugins import source  # noqa: PLC0415 (as in `_others`)

    for verb in VERBS:
        app.command(verb, cls=CommandHelp)(_unloaded)
    for verb, entry in _others().found.items():
        app.command(verb, short_help=f"From {source(entry)}.", cls=CommandHelp)(_unloaded)
    for line in _others().refused.values():
        say_error(line)


def _usage(error: Exception, words: Sequence[str]) -> str:
    """Explain an error of the command line, and point to the help."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "elephan"
    if type(error).__name__ == "NoArgsIsHelpError":
        return f"{where}: what should it do? See {where} --help"
    message = getattr(error, "format_message", error.__str__)()
    if (missing := _MISSING_VALUE.fullmatch(message)) is not None:
        where, parser = _called(words)
        return f"{where}: {_needs(missing[1], parser)}; see {where} --help"
    if (unwanted := _UNWANTED_VALUE.fullmatch(message)) is not None:
        where, _ = _called(words)
        return f"{where}: {unwanted[1]} takes no value; see {where} --help"
    if message == "Missing command." and context is not None:
        return f"{where}: say one of {', '.join(context.command.list_commands(context))}; see {where} --help"
    if (extra := _EXTRA.fullmatch(message)) is not None:
        return f'{where}: unexpected "{extra[1]}"; {_unquoted(extra[1], words)}; see {where} --help'
    return f"{where}: {_nearest(error, message)}; see {where} --help"


def _called(words: Sequence[str]) -> tuple[str, Any]:
    """Return the name and the parser of the command that the words call."""
    where = "elephan"
    parser: Any = command()
    for word in words:
        if word not in getattr(parser, "commands", {}):
            break
        where, parser = f"{where} {word}", parser.commands[word]
    return where, parser


def _needs(option: str, parser: Any) -> str:
    """Say what an option without its value needs."""
    param = next((each for each in getattr(parser, "params", []) if option in each.opts), None)
    metavar = getattr(param, "metavar", None) or ""
    return f"{option} needs {_VALUES.get(metavar, 'a value')}" + f", as in {option} {metavar}" * bool(metavar)


def _unquoted(extra: str, words: Sequence[str]) -> str:
    """Give advice about an extra word, which is mostly the end of a value that the shell split for lack of quotes."""
    at = next((i for i, word in enumerate(words) if extra.partition(" ")[0] == word), 0)
    before, value = words[at - 2 : at] if at > 1 else ("", "")
    if before.startswith("--") and value.startswith("--"):
        return _needs(before, _called(words)[1])
    if before.startswith("--") and "=" in value:
        return f"a value with spaces is put into quotes: {before} '{value} {extra}'"
    if words[:1] == ["compare"] and not before.startswith("-") and not value.startswith("-"):
        return f"to show two results side by side, use elephan report {value} {extra}"
    return "a list has commas and no spaces, as in reno,cubic" if before.startswith("--") else "it takes no more words"


def _nearest(error: Exception, message: str) -> str:
    """Return the parser's message with a single nearest name, instead of its own list of candidates."""
    parser = getattr(getattr(error, "ctx", None), "command", None)
    if (option := getattr(error, "option_name", None)) is not None:
        known = [name for each in getattr(parser, "params", []) for name in each.opts if name.startswith("--")]
        meant = _meant(option, ["--help", *known])
        return f"there is no option {option}{meant or _elsewhere(option)}"
    if message.startswith("Missing argument ") and (meaning := getattr(getattr(error, "param", None), "help", None)):
        sentence = meaning.partition(". ")[0].rstrip(".")
        return f"{message.rstrip('.')}: {sentence[0].lower()}{sentence[1:]}"
    if (verb := re.match(r"No such command '(.*?)'\.", message)) is not None:
        return f'there is no verb "{verb[1]}"; {suggest(verb[1], getattr(parser, "commands", {}))}'
    if (choice := re.fullmatch(r"(.*'(.*)' is not one of (.*?))\.?", message)) is not None:
        return choice[1] + _meant(choice[2], re.findall(r"'(.*?)'", choice[3]), '"')
    return _plainer(message).rstrip(".")


_NUMBER = re.compile(r"Invalid value for '(--[\w-]+)': (?:'.*' is not|Input should be) a valid (int|float|number)\w*.*")
_RANGE = re.compile(r"Invalid value for '(--[\w-]+)': Input should be (greater|less) than or equal to ([\d.]+?)\.?")
_EXTRA = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)\.?")
_MISSING_VALUE = re.compile(r"Option '(--?[\w-]+)' requires (?:an argument|\d+ arguments)\.?")
_UNWANTED_VALUE = re.compile(r"Option '(--?[\w-]+)' does not take a value\.?")
"""Patterns of the messages of all supported versions of Typer: a value that is not a number, a number out of range, an
unexpected word, an option without its value, a flag with a value."""

_VALUES = {"DIR": "a folder", "FILE": "a file", "TIME": "a time", "RATE": "a rate", "SIZE": "a size"}
"""Descriptions of the values of options, by their placeholders in the help."""


def _plainer(message: str) -> str:
    """Return the parser's message in plainer words, if there are any."""
    if (value := _NUMBER.fullmatch(message)) is not None:
        return f"{value[1]}: must be a {'whole number' if value[2] == 'int' else 'number'}"
    if (value := _RANGE.fullmatch(message)) is not None:
        return f"{value[1]}: must be {value[3]} or {'more' if value[2] == 'greater' else 'less'}"
    return message


_FIRST = ("run", "size", "sweep")
"""Commands that a message names first if several commands have the same option."""


def _elsewhere(option: str) -> str:
    """Name the other commands that have an option which the called command lacks; empty if none has it."""
    known = {name: getattr(verb, "params", []) for name, verb in command().commands.items()}
    having = {name: each for name, params in known.items() for each in params if option in each.opts}
    if not having:
        return ""
    # If commands use the option with different kinds of value, only those with the first one's kind are named.
    kind = next((having[name].metavar for name in (*_FIRST, *having) if name in having), None)
    verbs = sorted((name for name in having if having[name].metavar == kind), key=lambda name: name not in _FIRST)
    more = f" and {count(len(verbs) - 3, 'other verb')}" if len(verbs) > 3 else ""
    named = ", ".join(verbs[:3]) if more else " and ".join(verbs)
    if option == "--law":
        return f"; {named}{more} take {option} {kind}, a law of your own: docs/guide/law-in-python.md"
    return f"; it is an option of elephan {named}{more}"


def _meant(word: str, known: Iterable[str], mark: str = "") -> str:
    """Return a suggestion as the end of a message; empty if no known name is near."""
    near = nearest(word, known)
    return "" if near is None else f"; did you mean {mark}{near}{mark}?"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of ``sys.argv[1:]``.

    Raises
    ------
    SystemExit
        Always, with the exit code.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    prepare_streams()
    heed_signals()
    try:
        parser = _command_for(words)
        with parser.make_context("elephan", words) as context:
            parser.invoke(context)
        sys.stdout.flush()
    except typer.Exit as done:
        raise SystemExit(done.exit_code) from None
    except USAGE_ERROR as error:
        say_error(_usage(error, words))
        raise SystemExit(2) from None
    except (InputError, MemoryError) as error:
        say_error(str(error) if isinstance(error, InputError) else OUT_OF_MEMORY)
        raise SystemExit(2) from None
    except (KeyboardInterrupt, typer.Abort):
        say_error("interrupted; nothing was written")
        leave(exit_code() or 130)
    except Interrupted as stop:
        say_error(str(stop))
        leave(exit_code() or 130)
    except OutputError as error:
        if error.code != 141:
            say_error(str(error))
        leave(error.code)
    except BrokenPipeError:
        leave(141)
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        _end_unforeseen(error)
    raise SystemExit(0)


def _end_unforeseen(error: BaseException) -> NoReturn:
    """End a command after an exception that no module has handled."""
    if (code := exit_code()) is not None:
        # A library (an import, a database query) has turned the interrupt into an exception of its own.
        say_error("interrupted; nothing was written")
        leave(code)
    if isinstance(error, ModuleNotFoundError) and (told := of_error(error)) is not None:
        say_error(str(told))
        leave(2)
    if isinstance(error, OSError) and error.errno in UNUSABLE_PATH and error.filename is not None:
        say_error(f"{error.filename}: {os.strerror(error.errno).lower()}; give another path")
        leave(2)
    report_defect(error)
    leave(70)
