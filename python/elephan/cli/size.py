"""``elephan size``: the smallest buffer that meets the targets, for one scenario or for laws and queues compared."""

from __future__ import annotations

from typing import Annotated

import typer

from elephan.cli import common, options
from elephan.cli.estimate import announce_search
from elephan.cli.options import option
from elephan.cli.progress import ProgressLine
from elephan.errors import InputError
from elephan.units import share

EXAMPLE = """Example:  elephan size scenarios/hstcp-1g.toml --target utilization=0.95 --target delay=10ms --out sized/
elephan size scenarios/hstcp-1g.toml --target utilization=0.95 --laws reno,highspeed,cubic --model-only"""


def size(
    scenario: options.Scenario,
    target: Annotated[
        list[str] | None,
        option(
            "--target NAME=VALUE",
            "utilization=0.95, loss=0.1%, delay=10ms (mean), delay_p95=20ms, fairness=0.9; of pings "
            "rtt_p95\\[GROUP]=50ms, of cbr delay_p95\\[GROUP]=20ms; repeatable.",
        ),
    ] = None,
    link: Annotated[str | None, option("--link", "Link to size; the first that carries data.")] = None,
    precision: Annotated[str, option("--precision", "Precision of the answer, as a share of the buffer.")] = "5%",
    laws: Annotated[str | None, option("--laws A,B,C", "Compare laws of the first group of TCP flows.")] = None,
    queues: Annotated[str | None, option("--queues X,Y", "Compare disciplines of the link, under each law.")] = None,
    model_only: Annotated[
        bool, option("--model-only", "Answer by the analytic models only, without simulation.")
    ] = False,
    whole_curve: Annotated[
        bool, option("--whole-curve", "Measure buffers over the whole range, not only near the answer.")
    ] = False,
    find: Annotated[
        str | None,
        option(
            "--find rtt|rate|flows|red|pool|alpha",
            "Find not the buffer but what the file's buffer suffices for: the longest path, the fastest link, the "
            "fewest flows; or RED's thresholds, the size of the link's pool, its alpha.",
        ),
    ] = None,
    pacing: Annotated[
        str | None,
        option(
            "--pacing none|linux|quic|both",
            "How all TCP senders space their segments; both: also the answer with Linux's pacing.",
        ),
    ] = None,
    worst_case: Annotated[
        bool, option("--worst-case", "Find the buffer that meets the targets in the worst case found within --range.")
    ] = False,
    range_: options.Range = None,
    runs: options.Runs = None,
    set_: options.Set = None,
    law: options.Law = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    workers: options.Workers = None,
    out: options.Out = None,
    tables: options.Tables = options.PARQUET,
    details: options.Details = False,
    strict: options.Strict = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Find the smallest buffer of a link that meets all targets, with the delay and loss it costs.

    With --laws or --queues: for each of them, with a recommendation and its reason. With --find: what the file's own
    buffer suffices for. With --worst-case: the smallest that meets the targets in the worst case that a search finds
    within --range (by default RTTs within a factor of 1.25, starts, the seed); this is not a proof.
    Exit code 0 if the targets are met (in a comparison: by the recommended variant), 1 if not.
    """
    from elephan.cli import size_search  # noqa: PLC0415 (--help does without NumPy)
    from elephan.costs import check_memory  # noqa: PLC0415 (as above)
    from elephan.sizing.pacing import BOTH, WAYS, with_pacing  # noqa: PLC0415 (as above)

    common.check_out(out)
    common.check_tables(tables)
    names = read_names("--laws", laws, "reno,highspeed"), read_names("--queues", queues, "drop-tail,fq")
    flags = {"model_only": model_only, "whole_curve": whole_curve, "worst_case": worst_case}
    target = _check(target, find, pacing, {"--range": range_, "--runs": runs}, compared=any(names), **flags)
    counts = {"replications": replications, "seed": seed}
    # In a comparison each answer gets replications and seed, and the compared scenario keeps those of the file.
    read = common.read_scenario(scenario, set_, law, compared=names[0], **({} if any(names) else counts))
    read = with_pacing(read, pacing) if pacing in WAYS else read
    title = common.titled(read.title, set_)
    search = {"link": link, "precision": common.option_value("--precision", share, precision), "workers": workers}
    if not model_only:
        check_memory(read, workers=workers, force=force)
    if worst_case:
        shown = {"quiet": quiet, "json": json, "details": details}
        worst = size_search.size_worst(read, target, range_, runs, search, title, out, **shown)
        common.warn(worst.nominal.warnings, strict=strict, quiet=quiet)
        raise typer.Exit(0 if worst.is_met else 1)
    if not (model_only or quiet):
        searched = read.replace(replications=replications if any(names) else None)
        announce_search(searched, workers=workers, variants=max(len(names[0]), 1) * max(len(names[1]), 1))
    search |= counts if any(names) else {}
    how = {"whole_curve": whole_curve, "model_only": model_only, "pacing": pacing if pacing == BOTH else None}
    with ProgressLine("sizing", quiet=quiet) as line:
        found = size_search.search(read, target, names, find, search, line, **how)
        written = size_search.write(found, out, tables, set_)
    if json:
        common.print_json(found.to_json())
    else:
        size_search.show(found, title, details=details)
        common.say_written(written)
    # The screen shows only the number of warnings.
    common.warn(found.warnings if strict or details or (json and not quiet) else (), strict=strict, quiet=quiet)
    for note in size_search.notes(found) if json else ():
        common.say(note)
    raise typer.Exit(0 if found.is_met else 1)


def read_names(option: str, text: str | None, example: str) -> list[str]:
    """Parse a list of names.

    Parameters
    ----------
    option : str
        Name of the option, for the message.
    text : str or None
        Names with commas between them; None gives none.

    Raises
    ------
    InputError
        If the list is given and empty.

    Examples
    --------
    >>> read_names("--queues", "fq, codel", "drop-tail,fq")
    ['fq', 'codel']
    """
    names = [] if text is None else [name.strip() for name in text.split(",") if name.strip()]
    if text is not None and not names:
        raise InputError(f"{option}: none given; write for example {option} {example}")
    return names


def _check(
    target: list[str] | None, find: str | None, pacing: str | None, given: dict[str, object], **asked: bool
) -> list[str]:
    """Refuse contradictory options; return the targets.

    Parameters
    ----------
    given : dict
        Values of the options that are for ``--worst-case`` alone.
    **asked : bool
        Whether variants are compared, and the flags.
    """
    from elephan.sizing.pacing import BOTH, check_pacing  # noqa: PLC0415 (--help does without NumPy)
    from elephan.sizing.targets import parse_targets  # noqa: PLC0415 (as above)

    check_pacing(pacing)
    compared, model_only, whole_curve = asked["compared"], asked["model_only"], asked["whole_curve"]
    if not target:
        raise InputError(
            "--target: none given; write for example --target utilization=0.95 or --target loss=0.1%,delay=10ms"
        )
    if model_only and whole_curve:
        raise InputError("--whole-curve: is measured by simulation, which --model-only leaves out; give one of them")
    if find is not None and (compared or model_only or whole_curve):
        raise InputError(
            "--find: goes without --laws, --queues, --model-only and --whole-curve; ask one thing at a time"
        )
    parse_targets(target)
    if pacing == BOTH and (find is not None or compared):
        raise InputError("--pacing: both goes without --find, --laws and --queues; give none, linux or quic there")
    if asked["worst_case"] and (find is not None or compared or model_only or whole_curve or pacing == BOTH):
        raise InputError(
            "--worst-case: goes without --laws, --queues, --find, --model-only, --whole-curve and --pacing both; "
            "ask one thing at a time"
        )
    lonely = next((option for option, value in given.items() if value is not None), None)
    if not asked["worst_case"] and lonely is not None:
        raise InputError(f"{lonely}: needs --worst-case; give it, too")
    return target
