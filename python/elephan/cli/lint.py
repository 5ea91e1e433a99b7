"""``elephan lint``: warnings about common mistakes of studies, before the run."""

from __future__ import annotations

from elephan.cli import options
from elephan.cli.common import print_json, print_wrapped, read_scenario, warn

EXAMPLE = 'Example:  elephan lint scenarios/hstcp-1g.toml --set links.0.buffer="1 bdp" --strict'


def lint(
    scenario: options.Scenario,
    set_: options.Set = None,
    law: options.Law = None,
    strict: options.Strict = False,
    json: options.Json = False,
) -> None:
    """Warn about properties that give a scenario's numbers another meaning than intended; nothing is run."""
    from elephan.lint import lint as look  # noqa: PLC0415 (a dozen modules; --help does without)

    read = read_scenario(scenario, set_, law)
    warnings = look(read)
    if json:
        print_json({"scenario": read.title, "warnings": [warned.to_json() for warned in warnings]})
    elif not warnings:
        print_wrapped("nothing to warn about")
    elif not strict:
        print_wrapped(*(str(warned) for warned in warnings))
    warn(warnings if strict else (), strict=strict)
