"""The door: ``elephan VERB …``. Verbs parse, call the Python API and print; the arithmetic is elsewhere.

Exit codes: 0 done, 1 a target or claim not met, 2 wrong input, 70 a defect of elephan, 130 interrupted.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from elephan.cli import bench, catalog, lint, model, new, run, size, store
from elephan.cli.common import Interrupted, leave, report_defect, say
from elephan.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(
    name="elephan",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example:  elephan size scenarios/hstcp-1g.toml --target utilization=0.95 --out demo/",
)
app.command("run", epilog=run.EXAMPLE)(run.run)
app.command("size", epilog=size.EXAMPLE)(size.size)
app.command("model", epilog=model.EXAMPLE)(model.model)
app.command("new", epilog=new.EXAMPLE)(new.new)
app.command("lint", epilog=lint.EXAMPLE)(lint.lint)
app.command("list", epilog=catalog.EXAMPLE)(catalog.list_)
app.add_typer(store.app)
app.command("bench", epilog=bench.EXAMPLE)(bench.bench)


USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""Base of what the parser finds wrong; Typer has moved its module about, but not the family."""


def _version(asked: bool) -> None:
    if asked:
        from elephan import __version__  # noqa: PLC0415 (the package imports NumPy)

        typer.echo(f"elephan {__version__}")
        raise typer.Exit


@app.callback()
def elephan(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A laboratory for TCP over long fat networks and for the router buffers on them."""


def _usage(error: Exception) -> str:
    """What is wrong with the command line, and where to look."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "elephan"
    if type(error).__name__ == "NoArgsIsHelpError":
        return f"{where}: what should it do? See {where} --help"
    message = getattr(error, "format_message", error.__str__)()
    return f"{where}: {message.rstrip('.')}; see {where} --help"


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
    try:
        command = typer.main.get_command(app)
        with command.make_context("elephan", words) as context:
            command.invoke(context)
    except typer.Exit as done:
        raise SystemExit(done.exit_code) from None
    except USAGE_ERROR as error:
        say(_usage(error))
        raise SystemExit(2) from None
    except InputError as error:
        say(str(error))
        raise SystemExit(2) from None
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted; nothing was written")
        leave(130)
    except Interrupted as stop:
        say(str(stop))
        leave(130)
    except BrokenPipeError:
        leave(141)
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        report_defect(error)
        leave(70)
    raise SystemExit(0)
