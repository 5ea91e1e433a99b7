"""``elephan model``: an analytic model's table for given parameters, or for the link of a scenario.

With ``--simulate``: a simulation beside it. With ``--map``: where it holds, from tables of earlier simulations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import elephan
from elephan.cli import common, options
from elephan.cli.columns import LINES, Column, left_out, table_lines, terminal_width, wrapped
from elephan.cli.help import CommandHelp
from elephan.cli.options import argument, option
from elephan.cli.progress import ProgressLine
from elephan.cli.tables import whole_table
from elephan.errors import InputError
from elephan.units import format_number, format_quantity, scaled

if TYPE_CHECKING:
    from elephan.accuracy import ErrorRegion
    from elephan.network import Network
    from elephan.results import ModelDocument
    from elephan.theory.models import Model, ModelTable
    from elephan.theory.models.card import ModelParameter

EXAMPLE = """Example:  elephan model sawtooth --set law=reno --set flows=1 --set "rtt=20 ms,100 ms"
elephan model sawtooth --scenario scenarios/hstcp-1g.toml"""


class HELP(CommandHelp):
    """Help that lists what ``--set`` takes for the model that is named beside ``--help``."""

    _named: Sequence[str] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words for `format_options`, as help is printed before they are parsed."""
        self._named = tuple(args)
        return list(super().parse_args(ctx, args))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options, then the keys of the model."""
        from elephan.theory import models  # noqa: PLC0415 (without a model, help does without NumPy)

        super().format_options(ctx, formatter)
        for name in [word for word in self._named if not word.startswith("-")][:1]:
            rows = [
                (key, f"{row.meaning}{_unit_of(row)}; {row.default}")
                for key, row in models.model(name).parameters.items()
            ]
            with formatter.section(f"Keys of --set for {name}, with their units and defaults"):
                formatter.write_dl(rows)


def _unit_of(parameter: ModelParameter) -> str:
    """Say in which units a parameter is given."""
    if parameter.choices:
        return f" ({', '.join(parameter.choices)})" if len(parameter.choices) < MANY else ""
    also = "" if parameter.bdp is None else ', or such as "0.5 bdp"'
    return f" [{UNITS.get(parameter.unit, parameter.unit)}{also}]" if parameter.unit not in ("", "1") else ""


MANY = 8
"""Number of choices from which on help does not list them."""

UNITS = {
    "s": "a time, such as 20 ms",
    "bit/s": "a rate, such as 1 Gbit/s",
    "B": "a size, such as 1500 B",
    "packets": "a number of packets",
}
"""Forms of values by their units."""


def model(
    name: Annotated[str, argument("NAME", "See `elephan list models`.")],
    set_: Annotated[
        list[str] | None,
        option(
            "--set NAME=VALUE",
            "A value, a list a,b,c or a range a..b:21, a..b:21lin; repeatable. Names: elephan model NAME --help.",
        ),
    ] = None,
    scenario: Annotated[Path | None, option("--scenario FILE", "Take the link parameters from this scenario.")] = None,
    link: Annotated[str | None, option("--link", "Link to use; the first that carries data.")] = None,
    simulate: Annotated[
        bool, option("--simulate", "Also simulate some rows, in a scenario made for the model.")
    ] = False,
    map_: Annotated[
        bool, option("--map", "Show the model's error in simulations, over buffer, flows and RTT.")
    ] = False,
    out: options.Out = None,
    details: options.Details = False,
    json: options.Json = False,
) -> None:
    """Compute an analytic model: a table, JSON, a picture. Nothing is simulated unless --simulate says so."""
    from elephan.theory import models  # noqa: PLC0415 (--help does without NumPy)

    common.check_out(out)
    chosen = models.model(name)
    if map_:
        if set_ or scenario is not None or link is not None or simulate:
            raise InputError("--map: shows the stored simulations; leave out --set, --scenario, --link and --simulate")
        _show_map(chosen, out, json=json)
        return
    given = _assignments(set_ or [])
    simulation: dict[str, Any] = {}
    if simulate:
        table, printed, simulation = _simulate(chosen, given, other=scenario is not None or link is not None)
    else:
        table = printed = _computed(chosen, given, scenario, link)
    document = table.to_json() | simulation
    written = [] if out is None else _write(table, document, out)
    if json:
        common.print_json(document)
    elif details:
        from elephan.cli.page_screen import page_lines  # noqa: PLC0415 (pages; a screen does without)
        from elephan.reports.model import content  # noqa: PLC0415 (as above)

        common.print_lines(*page_lines(content(cast("ModelDocument", printed.to_json() | simulation))))
    else:
        common.print_lines(*_screen(printed))
    common.say_written(written)
    for line in table.model.fails if json else ():
        common.say(f"note: {line}")
    if simulation and not details:
        common.say(f"note: simulated, without --set: {simulation['simulation']['says']}")


def _computed(chosen: Model, given: dict[str, str], scenario: Path | None, link: str | None) -> ModelTable:
    """Return the table of a model, for the link of a scenario if there is one."""
    from elephan.theory.models import links  # noqa: PLC0415 (--help does without NumPy)

    if scenario is None:
        if link is not None:
            raise InputError("--link: a link belongs to a scenario; give --scenario FILE too")
        return chosen.table(given)
    read = elephan.Scenario.from_file(scenario)
    index = read.link_index(link)
    return _checked_for_pacing(links.table(chosen, read.network, index, given), read.network, index)


def _write(table: ModelTable, document: Mapping[str, Any], out: Path) -> list[Path]:
    """Write the table of a model, its document and its picture."""
    from elephan.results.files import TableColumns, write_files  # noqa: PLC0415 (NumPy; --help does without)

    name = table.model.name
    columns = TableColumns({**table.values, **table.columns}, {"model": name})
    with common.writing(out):
        return [*write_files(out, [(name, columns), (f"{name}.json", document)]), *common.draw(table, out)]


def _checked_for_pacing(table: ModelTable, network: Network, link: int) -> ModelTable:
    """Prepend how far the model was off in runs of paced senders near the scenario's buffer, if the senders pace."""
    from elephan.accuracy import nearby  # noqa: PLC0415 (--help does without NumPy)
    from elephan.theory.models import bottleneck  # noqa: PLC0415 (as above)

    seen = bottleneck(network, link)
    if table.model.predict is None or seen is None or not seen.is_paced:
        return table
    found = nearby(table.model.name, seen, seen.buffer_packets or seen.bdp)
    return replace(table, model=replace(table.model, fails=(found.sentence, *table.model.fails)))


def _simulate(chosen: Model, given: dict[str, str], *, other: bool) -> tuple[ModelTable, ModelTable, dict[str, Any]]:
    """Return the table with the measurements of a simulation, the simulated rows alone, and remarks on them."""
    from elephan.plugins import hook  # noqa: PLC0415 (reads the metadata of all packages; start-up does without)

    if other:
        raise InputError(
            "--simulate: makes its own scenario; for a link of another use elephan size, which has the models too"
        )
    simulate = hook("model.simulate", "--simulate:")
    with ProgressLine("simulation") as line:
        found: tuple[ModelTable, ModelTable, dict[str, Any]] = simulate(chosen, given, line.update)
    return found


def _show_map(model: Model, out: Path | None, *, json: bool) -> None:
    """Print, and draw if requested, where a model holds."""
    from elephan.accuracy import regions  # noqa: PLC0415 (--help does without NumPy)

    maps = regions(model.name)
    if not maps:
        raise InputError(f"--map: {model.name} was not compared to simulations of a link")
    document = {"model": model.name, "title": model.title, "maps": [region.to_json() for region in maps]}
    written = []
    if out is not None:
        from elephan.runs.files import write_json  # noqa: PLC0415 (NumPy; --help does without)

        with common.writing(out):
            written = [write_json(out / f"{model.name}-map.json", document)]
            if common.can_draw():
                from elephan.plots.accuracy import draw_accuracy  # noqa: PLC0415 (matplotlib is slow to import)

                written += draw_accuracy(model, out)
    if json:
        common.print_json(document)
    else:
        from elephan.accuracy.regions import LEGEND  # noqa: PLC0415 (start-up does without)

        common.print_parts(LEGEND, *map(_map_lines, maps))
    common.say_written(written)
    for line in model.fails:
        common.say(f"note: {line}")


def _map_lines(region: ErrorRegion) -> list[str]:
    """Return a line for each RTT and number of flows, with a column for each buffer."""
    from elephan.accuracy.regions import label  # noqa: PLC0415 (start-up does without)
    from elephan.accuracy.survey import FLOWS, RTTS_MS, SHARES  # noqa: PLC0415 (as above)

    heads = ["RTT", "flows", *(f"{share:g}" for share in SHARES)]
    rows = [
        [f"{rtt:g} ms" if flows == FLOWS[0] else "", f"{flows}", *map(label, of_flows)]
        for rtt, of_rtt in zip(RTTS_MS, region.points, strict=True)
        for flows, of_flows in zip(FLOWS, of_rtt, strict=True)
    ]
    return ["", *wrapped(region.title), "", *whole_table(heads, rows, [False] + [True] * (len(heads) - 1))]


def _assignments(texts: list[str]) -> dict[str, str]:
    pairs = [_assignment(text) for text in texts]
    names = [name for name, _ in pairs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"--set: {twice[0]} is given twice; several values are one list, such as rtt=20 ms,100 ms")
    return dict(pairs)


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise InputError(f'--set: "{text}" is not of the form name=value, such as rtt="100 ms"')
    return name.strip(), value.strip()


def _screen(table: ModelTable) -> list[str]:
    """Return at most 15 lines: constant columns, some rows, and the number of omitted ones."""
    title, fixed, heads, columns, words = _parts(table)
    head = wrapped(title) + (wrapped(fixed) if fixed else [])
    # The model's limits precede its numbers; the first one is always shown.
    fails = table.model.fails
    head += wrapped(fails[0], mark="  ! ") if fails else []
    # Requested columns stay; of the computed ones the last are omitted first.
    varied = len(heads) - len(table.model.columns)
    made = [
        Column(*_split(text), tuple(cells), max(0, i + 1 - max(varied, 1)), is_text=word)
        for i, (text, cells, word) in enumerate(zip(heads, columns, words, strict=True))
    ]
    chosen = _rows(len(columns[0]), LINES - len(head) - max(len(column.heads) for column in made) - 2)
    some = [replace(column, cells=tuple(column.cells[i] for i in chosen)) for column in made]
    left = left_out(some, terminal_width())
    more, notes = len(columns[0]) - len(chosen), len(fails[1:])
    left += [f"{more} more rows"] if more else []
    left += [f"{notes} more note{'s' if notes > 1 else ''} on where it does not hold"] if notes else []
    return [*head, *table_lines(some), *(wrapped(f"({', '.join(left)}: --details)") if left else [])]


def _rows(count: int, most: int) -> list[int]:
    """Return the indices of the rows to show: all, or the first, the last and as many between as fit."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})


def _split(head: str) -> tuple[str, str]:
    """Split a head into name and unit, for two lines."""
    name, bracket, unit = head.partition(" [")
    return name.replace(" ", "\n"), unit.removesuffix("]") if bracket else ""


def _parts(table: ModelTable) -> tuple[str, str, Sequence[str], Sequence[list[str]], list[bool]]:
    """Return title, constant columns, and for each other column its head, cells, and whether they are words."""
    model, varied = table.model, table.varied
    fixed = [f"{name} = {_fixed(column[0], model.parameters[name].unit)}" for name, column in table.values.items()
             if name not in varied]  # fmt: skip
    shown = [(name, model.parameters[name].unit, table.values[name].tolist(), 5) for name in varied]
    # Parameters with all the digits that a user would give, what is computed with four.
    shown += [(name, column.unit, table.columns[name].tolist(), 4) for name, column in model.columns.items()]
    heads, columns = zip(*(_column(*column) for column in shown), strict=True)
    words = [isinstance(column[2][0], str) for column in shown]
    return model.title, ", ".join(fixed), heads, columns, words


def _column(name: str, unit: str, values: list[Any], digits: int) -> tuple[str, list[str]]:
    """Return head and cells of a column, in a suitable unit."""
    if isinstance(values[0], str):
        return name.replace("_", " "), values
    factor, written = scaled(unit, (value for value in values if value is not None))
    cells = [format_number(None if value is None else value / factor, digits) for value in values]
    return _head(name, written), cells


def _head(name: str, unit: str) -> str:
    """Format name and unit of a column, with the unit only once."""
    bare = name
    for ending in ("_packets_per_s", "_packets", "_segments", "_bps", "_s"):
        bare = bare.removesuffix(ending)
    # The half-width of a 95 % interval follows the measured value.
    bare = "±" if name.endswith("_ci95") else bare.replace("_", " ")
    short = unit.replace("segments", "seg").replace("packets", "pkt")
    return bare if unit in ("", "1", bare) else f"{bare} [{short}]"


def _fixed(value: Any, unit: str) -> str:
    return value if isinstance(value, str) else format_quantity(value, unit)
