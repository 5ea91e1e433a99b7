"""``elephan kernel``: the laws in the running Linux kernel."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from elephan.assignments import parse_assignments
from elephan.cli import options
from elephan.cli.common import print_json, print_lines, say
from elephan.cli.help import CommandHelp
from elephan.cli.options import argument, option
from elephan.cli.tables import whole_table

app = typer.Typer(
    name="kernel",
    help="Load laws into the running Linux kernel, list them, show their counters and unload them. Needs root.",
    epilog="Example:  elephan kernel load ghstcp",
)

LawArgument = Annotated[str, argument("LAW", "Name of a law in scenarios (ghstcp) or in the kernel (el_ghstcp).")]
LawOrObject = Annotated[
    str, argument("LAW", "Name of a law (see `elephan kernel list`), or the file of an object such as mine.bpf.o.")
]


@app.command("load", cls=CommandHelp, epilog="Example:  elephan kernel load ghstcp --set z_threshold=2.5")
def load(
    law: LawOrObject,
    assignments: Annotated[list[str] | None, option("--set NAME=VALUE", "A parameter of the law; repeatable.")] = None,
    json: options.Json = False,
) -> None:
    """Load a law into the kernel. It stays until it is unloaded or the machine restarts."""
    from elephan import kernel  # noqa: PLC0415 (--help does without)

    loaded = kernel.load(law, **parse_assignments(assignments))
    if json:
        print_json(asdict(loaded))
        return
    say(f"{loaded.name}: sockets can choose {loaded.called}, as with iperf3 -C {loaded.called}")


@app.command("unload", cls=CommandHelp, epilog="Example:  elephan kernel unload ghstcp")
def unload(law: LawArgument, json: options.Json = False) -> None:
    """Unload a law. Sockets that use it keep it until they close."""
    from elephan import kernel  # noqa: PLC0415 (as in `load`)

    kernel.unload(law)
    if json:
        print_json({"unloaded": law})


@app.command("list", cls=CommandHelp, epilog="Example:  elephan kernel list")
def list_(json: options.Json = False) -> None:
    """List the laws that can be loaded, and the state of each in this kernel."""
    from elephan import kernel  # noqa: PLC0415 (as in `load`)

    rows = kernel.laws()
    if json:
        print_json([asdict(row) for row in rows])
        return
    cells = [[row.name, row.called, _state(row)] for row in rows]
    print_lines(*whole_table(["law", "in the kernel", "state"], cells, [False] * 3))


@app.command("show", cls=CommandHelp, epilog="Example:  elephan kernel show ghstcp")
def show(law: LawArgument, json: options.Json = False) -> None:
    """Show the counters of a loaded law: connections, losses, timeouts and others."""
    from elephan import kernel  # noqa: PLC0415 (as in `load`)

    counted = asdict(kernel.counters(law))
    if json:
        print_json({"law": law, **counted})
        return
    print_lines(*(f"{name:<12} {value}" for name, value in counted.items()))


def _state(row: Any) -> str:
    if row.kept:
        return "loaded"
    return "available, not loaded by elephan" if row.offered else "not loaded"
