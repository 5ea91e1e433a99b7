"""``elephan testbed``: a scenario run with the kernel's TCP."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from elephan.assignments import parse_assignments
from elephan.cli import options
from elephan.cli.common import check_out, note_changes, print_json, print_lines, say, titled, writing
from elephan.cli.estimate import announce_testbed
from elephan.cli.help import CommandHelp
from elephan.cli.options import option
from elephan.cli.run import print_document
from elephan.scenario import Scenario
from elephan.units import count, format_time

app = typer.Typer(
    name="testbed",
    help="Run a scenario with the kernel's TCP through the simulator's queue. Needs root.",
    epilog="Example:  elephan testbed run scenarios/testbed.toml",
)


@app.callback()
def testbed() -> None:
    """Group of commands, which keeps `run` a command of its own although it is the only one."""


@app.command("run", cls=CommandHelp, epilog="Example:  elephan testbed run scenarios/testbed.toml --dry-run")
def run(
    scenario: options.Scenario,
    assignments: options.Set = None,
    replications: options.Replications = None,
    seed: options.Seed = None,
    out: options.Out = None,
    attempts: options.Attempts = None,
    dry_run: Annotated[bool, option("--dry-run", "Print the commands, and run nothing.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a scenario in real time between two hosts of this machine; the document is that of a simulation.

    Exit code 0 if the run is valid, 1 if it is invalid: then its numbers must not be used.
    """
    from elephan import testbed  # noqa: PLC0415 (NumPy; --help does without)
    from elephan.runs.files import whole_folder  # noqa: PLC0415 (as above)

    check_out(out)

    read = Scenario.from_file(scenario).replace(parse_assignments(assignments))
    # Planned first: what a testbed cannot do is refused before its time is announced.
    planned = testbed.plan(read.replace(seed=seed))
    if dry_run:
        print_lines(*planned.lines())
        return
    attempts = attempts or testbed.ATTEMPTS
    if not quiet:
        announce_testbed([read.replace(replications=replications)], attempts)
    progress = None if quiet or json else lambda done, total: say(f"testbed: {done} of {count(total, 'replication')}")
    tested = testbed.run(read, replications, seed, progress, attempts=attempts)
    if out is not None:
        with writing(out), whole_folder(out) as folder:
            tested.write(folder)
            note_changes(folder, assignments)
    if json:
        print_json(tested.to_json())
    else:
        document: dict[str, Any] = {**tested.result.to_json()}
        document["run"] = document["run"] | {"scenario": titled(read.title, assignments)}
        print_document(document, tested.result.scenario)
        for one in tested.punctuality:
            late = f"late by up to {format_time(1e-6 * one['p99_us'])} at 99 %, {format_time(one['latest_s'])} at most"
            say(f"testbed: {late}; the relay paused for at most {format_time(one['gap_s'])}; attempt {one['attempts']}")
    for difference in tested.differences:
        say(f"testbed: differs from the scenario: {difference}")
    for objection in tested.objections:
        say(f"testbed: not valid: {objection}")
    raise typer.Exit(0 if tested.valid else 1)
