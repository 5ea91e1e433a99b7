"""``elephan compare``: a model, the simulator and the kernel on one scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli import common, options
from elephan.cli.estimate import announce, announce_testbed, check_sweep
from elephan.cli.options import option
from elephan.errors import InputError

if TYPE_CHECKING:
    from elephan.comparisons import ScenarioComparison
    from elephan.scenario import Scenario
    from elephan.sweeps.document import Sweep

    Progress = Callable[[str], None] | None

EXAMPLE = "Example:  elephan compare scenarios/testbed.toml --out compared/"


def compare(
    scenario: options.Scenario,
    assignments: options.Set = None,
    law: options.Law = None,
    replications: options.Replications = None,
    seed: options.Seed = None,
    out: options.Out = None,
    no_testbed: Annotated[
        bool, option("--no-testbed", "Compare only the model and the simulation; needs no root.")
    ] = False,
    attempts: options.Attempts = None,
    force: options.Force = False,
    details: options.Details = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Ask an analytic model, the simulator and the kernel's TCP, and say how far they are apart.

    A sweep file is compared point by point. Exit code 0, or 1 if a testbed's run was invalid: then its numbers
    must not be used.
    """
    from elephan.testbed import ATTEMPTS  # noqa: PLC0415 (NumPy; --help does without)

    common.check_out(out)
    if no_testbed and attempts is not None:
        raise InputError("--attempts: is for the testbed, which --no-testbed leaves out; give one of them")
    sweep = common.read_sweep(scenario, assignments, law, replications=replications, seed=seed)
    check_sweep(sweep, force=force)
    if not quiet and not sweep.axes:
        announce(sweep.base, workers=None, series=False, force=True, quiet=False)
    attempts = attempts or ATTEMPTS
    if not quiet and not no_testbed:
        announce_testbed([point.scenario for point in sweep.points()] if sweep.axes else [sweep.base], attempts)
    progress = None if quiet or json else lambda what: common.say(f"compare: {what}")
    asked: dict[str, Any] = {"progress": progress, "real": not no_testbed, "attempts": attempts}
    title = common.titled(sweep.title, assignments)
    if sweep.axes:
        valid = _points(sweep, title, out, assignments, asked, json=json, details=details)
    else:
        valid = _one(sweep.base, title, out, assignments, asked, json=json, details=details)
    raise typer.Exit(0 if valid else 1)


def _one(
    scenario: Scenario,
    title: str,
    out: Path | None,
    set_: list[str] | None,
    asked: dict[str, Any],
    *,
    json: bool,
    details: bool,
) -> bool:
    """Compare one scenario; return whether the testbed was valid, if there was one."""
    from elephan.cli.compare_screen import scenario_screen  # noqa: PLC0415 (NumPy; --help does without)
    from elephan.comparisons import compare_scenario  # noqa: PLC0415 (as above)

    compared = compare_scenario(scenario, **asked)
    written = [] if out is None else _write(compared, out, set_)
    if json:
        common.print_json(compared.to_json())
    elif details:
        from elephan.cli.page_screen import details as details_of  # noqa: PLC0415 (as above)

        common.print_lines(*details_of(compared, title))
    else:
        common.print_lines(*scenario_screen(compared, title, real=asked["real"]))
    if not json:
        common.say_written(written)
    return _objected(compared, "")


def _points(
    sweep: Sweep,
    title: str,
    out: Path | None,
    set_: list[str] | None,
    asked: dict[str, Any],
    *,
    json: bool,
    details: bool,
) -> bool:
    """Compare all points of a sweep; return whether all testbeds were valid."""
    from elephan.cli.compare_screen import points_notes, points_table  # noqa: PLC0415 (NumPy; --help does without)
    from elephan.comparisons.several import compare_points  # noqa: PLC0415 (as above)
    from elephan.runs.files import write_json  # noqa: PLC0415 (as above)

    found, valid = [], True
    for point in compare_points(sweep, **asked):
        found.append(point)
        if out is not None:
            _write(point.comparison, out / point.name, set_)
            with common.writing(out):
                write_json(out / "points.json", {"points": [one.to_json() for one in found]})
        valid &= _objected(point.comparison, f"{point.name}: ")
    if json:
        common.print_json({"points": [one.to_json() for one in found]})
        return valid
    common.print_lines(*points_table(found, sweep.base, title, real=asked["real"], details=details))
    for note in points_notes(found, real=asked["real"]):
        common.say(note)
    if out is not None:
        common.say(f"wrote {out}: a folder of each point, and points.json")
    return valid


def _write(compared: ScenarioComparison, out: Path, set_: list[str] | None) -> list[Path]:
    from elephan.runs.files import whole_folder  # noqa: PLC0415 (NumPy; --help does without)

    with common.writing(out), whole_folder(out) as folder:
        written = compared.write(folder)
        common.note_changes(folder, set_)
        written += common.draw(compared, folder, set_)
    return [out / path.name for path in written]


def _objected(compared: ScenarioComparison, where: str) -> bool:
    """Print where a testbed differs, and why it is invalid; return whether it is valid."""
    tested = compared.tested
    if tested is None:
        return True
    for difference in tested.differences:
        common.say(f"compare: {where}the testbed is not as the scenario says: {difference}")
    for objection in tested.objections:
        common.say(f"compare: {where}the testbed is not valid: {objection}")
    return tested.valid
