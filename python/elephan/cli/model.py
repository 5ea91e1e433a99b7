"""``elephan model``: an analytic model's table for given parameters, or for the link of a scenario; no simulation."""

from __future__ import annotations

import math
from pathlib import Path  # noqa: TC003 (Typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli.common import JsonOption, OutOption, check_out, new_table, print_json, print_tables, say, writing
from elephan.errors import InputError
from elephan.units import format_rate, format_time

if TYPE_CHECKING:
    from rich.table import Table as Printed

    from elephan.theory.models import Table

EXAMPLE = 'Example:  elephan model sawtooth --set law=reno --set flows=1 --set "rtt=20 ms,100 ms"'


def model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="See `elephan list models`.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A value, a list a,b,c or a range a..b:21; repeatable."),
    ] = None,
    scenario: Annotated[
        Path | None, typer.Option("--scenario", metavar="FILE", help="What it says of a link of this scenario.")
    ] = None,
    link: Annotated[str | None, typer.Option("--link", help="That link; the first that carries data.")] = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Compute an analytic model: a table, JSON, a picture. Nothing is simulated."""
    import elephan  # noqa: PLC0415 (--help does without NumPy)
    from elephan.theory import models  # noqa: PLC0415
    from elephan.theory.models import links  # noqa: PLC0415

    check_out(out)
    chosen = models.model(name)
    given = dict(_assignment(text) for text in set_ or [])
    if scenario is None:
        if link is not None:
            message = "--link: a link belongs to a scenario; give --scenario FILE too"
            raise InputError(message)
        table = chosen.table(given)
    else:
        read = elephan.Scenario.from_file(scenario)
        table = links.table(chosen, read, read.link_index(link), given)
    written = []
    if out is not None:
        from elephan.plots.model import draw_model  # noqa: PLC0415 (matplotlib is slow to import)
        from elephan.run.files import write_json, write_parquet  # noqa: PLC0415 (loads Arrow)

        with writing(out):
            columns = {key: list(column) for key, column in {**table.values, **table.columns}.items()}
            written = [
                write_parquet(out / f"{name}.parquet", columns, {"model": name}),
                write_json(out / f"{name}.json", table.to_json()),
                *draw_model(table, out),
            ]
    if json:
        print_json(table.to_json())
    else:
        print_tables(*_tables(table))
    for path in written:
        say(f"wrote {path}")
    for line in table.model.fails:
        say(f"note: {line}")


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        message = f'--set: "{text}" is not of the form name=value, such as rtt="100 ms"'
        raise InputError(message)
    return name.strip(), value.strip()


def _tables(table: Table) -> list[Printed | str]:
    """What does not vary in one line, the rest as a table."""
    model, varied = table.model, table.varied
    fixed = [f"{name} = {_cell(column[0], model.parameters[name].unit)}" for name, column in table.values.items()
             if name not in varied]  # fmt: skip
    heads = [_head(name, model.parameters[name].unit) for name in varied]
    heads += [_head(name, column.unit) for name, column in model.columns.items()]
    rows = new_table(*heads)
    units = [model.parameters[name].unit for name in varied]
    for i in range(len(next(iter(table.columns.values())))):
        cells = [_cell(table.values[name][i], unit) for name, unit in zip(varied, units, strict=True)]
        rows.add_row(*cells, *(_cell(column[i], "") for column in table.columns.values()))
    return [f"{model.title}\n{', '.join(fixed)}", rows]


def _head(name: str, unit: str) -> str:
    """Name and unit of a column, the unit once."""
    bare = name.replace("_packets_per_s", "").replace("_packets", "").replace("_segments", "").removesuffix("_s")
    return f"{bare.replace('_', ' ')} [{unit}]" if unit not in ("", "1") else bare.replace("_", " ")


def _cell(value: Any, unit: str) -> str:
    """Write a value in a unit that people read."""
    if isinstance(value, str):
        return value
    if unit == "bit/s":
        return format_rate(value)
    if unit == "s":
        return format_time(value)
    return "-" if math.isnan(value) else f"{value:.5g}"
