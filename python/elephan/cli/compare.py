"""``elephan compare``: a model, the simulator and the kernel on one scenario."""

from __future__ import annotations

import math
import textwrap
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.assignments import parse_assignments
from elephan.cli.columns import GAP, GAP_HEAD, LINES, Column, narrowed, table_lines, terminal_width, wrapped
from elephan.cli.common import (
    AttemptsOption,
    DetailsOption,
    ForceOption,
    JsonOption,
    LawOption,
    OutOption,
    QuietOption,
    ReplicationsOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    can_draw,
    check_laws,
    check_out,
    fitted_table,
    note_changes,
    print_json,
    print_lines,
    print_tables,
    say,
    say_written,
    titled,
    writing,
)
from elephan.cli.estimate import announce, announce_testbed, check_sweep
from elephan.cli.sweep_screen import brief
from elephan.errors import InputError
from elephan.own_laws import declare
from elephan.results.axes import short
from elephan.units import count, format_interval, format_measured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from elephan.comparisons import ComparedQuantity, ScenarioComparison
    from elephan.runs.result import RunResult
    from elephan.runs.saved import SavedRun
    from elephan.scenario import Scenario
    from elephan.sweeps.document import Sweep

    Progress = Callable[[str], None] | None

MODEL = "sawtooth"
"""Name of the model, as `elephan model` has it."""

LONG_HEAD = 13
"""Number of characters from which heads of columns are wrapped."""

EXAMPLE = "Example:  elephan compare scenarios/testbed.toml --out compared/"


def compare(
    scenario: ScenarioArgument,
    assignments: SetOption = None,
    law: LawOption = None,
    replications: ReplicationsOption = None,
    seed: SeedOption = None,
    out: OutOption = None,
    no_testbed: Annotated[bool, typer.Option("--no-testbed", help="Model and simulation only: needs no root.")] = False,
    attempts: AttemptsOption = None,
    force: ForceOption = False,
    details: DetailsOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Ask an analytic model, the simulator and the kernel's TCP, and say how far they are apart.

    A sweep file is compared point by point. Exit code 0, or 1 if a testbed's run was invalid: then its numbers
    mean nothing.
    """
    from elephan.sweeps.document import Sweep  # noqa: PLC0415 (NumPy; --help does without)
    from elephan.testbed import ATTEMPTS  # noqa: PLC0415 (as above)

    check_out(out)
    if no_testbed and attempts is not None:
        message = "--attempts: is for the testbed, which --no-testbed leaves out; give one of them"
        raise InputError(message)
    changes = parse_assignments(assignments, replications=replications, seed=seed)
    declare(law or [])
    sweep = Sweep.from_file(scenario)
    sweep = sweep.changed(changes) if changes else sweep
    if law:
        check_laws(*sweep.own_laws())
    check_sweep(sweep, force=force)
    if not quiet and not sweep.axes:
        announce(sweep.base, workers=None, series=False, force=True, quiet=False)
    attempts = attempts or ATTEMPTS
    if not quiet and not no_testbed:
        announce_testbed([point.scenario for point in sweep.points()] if sweep.axes else [sweep.base], attempts)
    progress = None if quiet or json else lambda what: say(f"compare: {what}")
    title = titled(sweep.title, assignments)
    if sweep.axes:
        shown = "json" if json else "details" if details else "screen"
        valid = _points(
            sweep, title, out, progress, shown=shown, real=not no_testbed, attempts=attempts, set_=assignments
        )
    else:
        valid = _one(
            sweep.base, title, out, progress, json=json, real=not no_testbed, attempts=attempts, set_=assignments
        )
    raise typer.Exit(0 if valid else 1)


def _one(
    scenario: Scenario,
    title: str,
    out: Path | None,
    progress: Progress,
    *,
    json: bool,
    real: bool,
    attempts: int,
    set_: list[str] | None,
) -> bool:
    """Compare one scenario; return whether the testbed was valid, if there was one."""
    from elephan.comparisons import compare_scenario  # noqa: PLC0415 (NumPy; --help does without)

    compared = compare_scenario(scenario, None, None, progress, real=real, attempts=attempts)
    written = [] if out is None else _write(compared, out, set_)
    if json:
        print_json(compared.to_json())
    else:
        print_lines(*wrapped(_of_link(title, scenario)), *_table(compared, real=real))
        say_written(written)
    return _objected(compared, "")


def _of_link(title: str, scenario: Scenario) -> str:
    """Return the title with the link that the quantities are of, if there are several."""
    links = scenario.links
    return title if len(links) == 1 else f"{title} (link {links[0]['name']})"


def _table(compared: ScenarioComparison, *, real: bool) -> list[str]:
    """Format a row for each quantity, and the reason if there is no model."""
    no_model, rows = compared.no_model, compared.rows
    if sum(group["flows"] for group in compared.scenario.groups) == 1:
        # The index of a single flow is always 1.
        rows = tuple(row for row in rows if row.name != "jain")
    sources = [*([] if no_model else ["model"]), "simulation", *(["testbed"] if real else [])]
    columns = [Column("", "", tuple(_named(row.name) for row in rows), is_text=True)]
    heads = {"model": f"model\n{MODEL}"}
    known = _measured(compared)
    columns += [
        Column(heads.get(one, one), "", tuple(_number(row, one, known.get(one, {})) for row in rows)) for one in sources
    ]
    if len(sources) > 1:
        # The gap between the two columns before it.
        other, against = sources[-2:]
        gaps = [
            Column(f"{other} less\n{against}", "", tuple(_gap(row, other, of) for row in rows)) for of in (known, {})
        ]
        # On a narrow terminal the intervals of the values beside it suffice.
        columns = next((wide for gap in gaps if _fits(wide := [*columns, gap])), [*columns, gaps[-1]])
    if not _fits(columns):
        # Windows are in segments everywhere, and every delay here is a mean.
        cells = (cell.removesuffix(" [segments]").removeprefix("mean ") for cell in columns[0].cells)
        columns[0] = replace(columns[0], cells=tuple(cells))
    said = wrapped(f"No model: the {MODEL} does not apply: {no_model}.") if no_model else []
    return [*table_lines(columns), *said]


def _fits(columns: Sequence[Column]) -> bool:
    return sum(column.width + len(GAP) for column in columns) - len(GAP) <= terminal_width()


def _points(
    sweep: Sweep,
    title: str,
    out: Path | None,
    progress: Progress,
    *,
    shown: str,
    real: bool,
    attempts: int,
    set_: list[str] | None,
) -> bool:
    """Compare all points of a sweep; return whether all testbeds were valid. `shown` is json, details or screen."""
    from elephan.comparisons.several import SHOWN, compare_points  # noqa: PLC0415 (NumPy; --help does without)
    from elephan.runs.files import write_json  # noqa: PLC0415 (as above)

    found, valid = [], True
    for point in compare_points(sweep, progress, real=real, attempts=attempts):
        found.append(point)
        if out is not None:
            _write(point.comparison, out / point.name, set_)
            with writing(out):
                write_json(out / "points.json", {"points": [one.to_json() for one in found]})
        valid &= _objected(point.comparison, f"{point.name}: ")
    if shown == "json":
        print_json({"points": [one.to_json() for one in found]})
        return valid
    names = list(dict.fromkeys(name for one in found for name in one.labels))
    other, against = ("simulation", "testbed") if real else ("model", "simulation")
    labels = {name: brief([str(one.labels.get(name, "")) for one in found]) for name in names}
    cells = []
    for i, one in enumerate(found):
        rows, known = {row.name: row for row in one.comparison.rows}, _measured(one.comparison)
        # Units are in the heads.
        values = [
            (_number(rows[name], against, known.get(against, {})), _gap(rows[name], other, known).partition(" ")[0])
            for name in SHOWN
        ]
        cells.append([*(labels[name][i] for name in names), *(text for pair in values for text in pair)])
    points = {row.name for one in found for row in one.comparison.rows if not row.relative}
    gap_heads = {name: f"{GAP_HEAD} [{'points' if name in points else '%'}]" for name in SHOWN}
    heads = [*short(names).values(), *(head for name in SHOWN for head in (_named(name), gap_heads[name]))]
    if not any(row[-1] for row in cells) and all(not text for row in cells for text in row[len(names) + 1 :: 2]):
        # No point has a gap, as none has a model.
        keep = [*range(len(names)), *range(len(names), len(heads), 2)]
        heads, cells = [heads[i] for i in keep], [[row[i] for i in keep] for row in cells]
    silent = [one.comparison.no_model for one in found] if not real else []
    head = wrapped(_of_link(title, sweep.base))
    print_lines(*head)
    if shown == "details":
        print_tables(fitted_table(heads, cells, [*[True] * len(names), *[False] * (len(heads) - len(names))]))
    else:
        gaps = [max((abs(row.gap(other) or 0.0) for row in one.comparison.rows), default=0.0) for one in found]
        print_lines(*_screen(heads, cells, len(names), gaps, LINES - len(head)))
    for why in dict.fromkeys(filter(None, silent)):
        say(f"no model at {silent.count(why)} of {count(len(found), 'point')}: the {MODEL} does not apply: {why}")
    of_model = f" (the {MODEL})" if other == "model" else ""
    say(f"values of the {against}; gap: {other}{of_model} less {against}")
    if out is not None:
        say(f"wrote {out}: a folder of each point, and points.json")
    return valid


def _screen(heads: list[str], cells: list[list[str]], labels: int, gaps: list[float], lines: int) -> list[str]:
    """Return the points that fit on a screen, those with the largest gaps; quantities are omitted from the last one."""
    width = terminal_width()
    # Heads have three lines, and what is omitted two.
    most = lines - 5
    largest = sorted(sorted(range(len(cells)), key=lambda i: -gaps[i])[:most])
    columns = []
    for i, head in enumerate(heads):
        name, _, unit = head.partition(" [")
        own = tuple(cells[row][i] for row in largest)
        if i < labels:
            columns.append(Column(head, "", own, is_text=True))
        else:
            columns.append(Column("\n".join(textwrap.wrap(name, LONG_HEAD)), unit.rstrip("]"), own))
    columns = narrowed(columns, width)
    # A quantity and its gap go together.
    group = 2 if any(column.head == GAP_HEAD for column in columns) else 1
    kept = len(columns)
    while kept > labels + group and sum(column.width + len(GAP) for column in columns[:kept]) - len(GAP) > width:
        kept -= group
    left = [column.head.replace("\n", " ") for column in columns[kept::group]]
    left += [f"{len(cells) - most} more points, with smaller gaps"] if len(cells) > most else []
    return [*table_lines(columns[:kept], width), *(wrapped(f"({', '.join(left)}: --details)", width) if left else [])]


def _write(compared: ScenarioComparison, out: Path, set_: list[str] | None) -> list[Path]:
    from elephan.runs.files import whole_folder  # noqa: PLC0415 (NumPy; --help does without)

    with writing(out), whole_folder(out) as folder:
        written = compared.write(folder)
        note_changes(folder, set_)
        if can_draw():
            from elephan.plots import draw  # noqa: PLC0415 (slow to import)

            written += draw(compared, folder, parse_assignments(set_))
    return [out / path.name for path in written]


def _objected(compared: ScenarioComparison, where: str) -> bool:
    """Print where a testbed differs, and why it is invalid; return whether it is valid."""
    tested = compared.tested
    if tested is None:
        return True
    for difference in tested.differences:
        say(f"compare: {where}the testbed is not as the scenario says: {difference}")
    for objection in tested.objections:
        say(f"compare: {where}the testbed is not valid: {objection}")
    return tested.valid


def _named(name: str) -> str:
    """Return the name of a quantity as on pages, with its unit."""
    from elephan.reports.model_sim_testbed import SHOWN  # noqa: PLC0415 (NumPy; --help does without)

    form = SHOWN[name]
    return f"{form.title} [{form.unit}]" if form.unit else form.title


def _measured(compared: ScenarioComparison) -> dict[str, dict[str, Any]]:
    """Return the measured quantities of the simulation and of the testbed, if there is one, with their intervals."""
    runs = {"simulation": compared.simulated, **({"testbed": compared.tested.result} if compared.tested else {})}
    return {one: _intervals(run) for one, run in runs.items()}


def _intervals(result: RunResult | SavedRun) -> dict[str, Any]:
    """Return the quantities that are measured once a replication, with their 95 % intervals."""
    document = result.to_json()
    return {**document["links"][0], "jain": document["fairness"]["jain"]}


def _number(row: ComparedQuantity, source: str, intervals: Mapping[str, Any] = MappingProxyType({})) -> str:
    from elephan.reports.model_sim_testbed import SHOWN  # noqa: PLC0415 (as above)

    value, quantity = getattr(row, source), intervals.get(row.name)
    if value is None:
        return ""
    # Runs that all agree, as where only starts are random, have no interval to show.
    if quantity is not None and quantity["ci95"]:
        return format_measured(quantity, SHOWN[row.name].scale, of=row.name, joint="±")
    return f"{value * SHOWN[row.name].scale:.4g}"


def _gap(row: ComparedQuantity, other: str, known: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> str:
    """Format a gap, with its 95 % interval where `known` has those of the sources, by source and quantity."""
    from elephan.reports.model_sim_testbed import SHOWN  # noqa: PLC0415 (as above)

    gap = row.gap(other)
    if gap is None:
        return ""
    form = SHOWN[row.name]
    scale, unit = (100.0, " %") if row.relative else (form.scale, " points" if form.unit == "%" else "")
    half = _half(row, other, known) * scale
    if half:
        text = format_interval(abs(gap) * scale, half, joint="±")
        return f"{'-' if gap < 0 and not text.startswith('0±') else '+'}{text}{unit}"
    text = f"{gap * scale:+.{1 if row.relative else 2 if unit else 4}f}{unit}"
    return text.replace("-0.00 ", "+0.00 ")


def _half(row: ComparedQuantity, other: str, known: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the half-width of the interval of a gap, to first order; 0 where neither value has an interval.

    The replications of a simulation and of a testbed are independent, and a model is exact.
    """
    measured = {one: known.get(one, {}).get(row.name) for one in (other, row.against)}
    halves = {one: quantity["ci95"] or 0.0 if quantity else 0.0 for one, quantity in measured.items()}
    if not row.relative:
        return math.hypot(*halves.values())
    value, base = getattr(row, other), getattr(row, row.against)
    return math.hypot(halves[other] / base, halves[row.against] * value / base**2)
