"""``elephan estimate``: the cost of a run or a sweep, before it starts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elephan.cli import options
from elephan.cli.common import print_json, print_wrapped, read_sweep, say, titled
from elephan.cli.options import argument, option
from elephan.units import count, format_bytes, format_long_time, format_number, format_time

if TYPE_CHECKING:
    from elephan.costs import RunEstimate, SweepEstimate
    from elephan.scenario import Scenario
    from elephan.sweeps.document import Sweep

EXAMPLE = "Example:  elephan estimate scenarios/hstcp-1g.toml --set flows.0.count=100000"

LONG_S = 10.0
"""Processor time above which a run is announced before it begins [s]."""

TOO_LONG_S = 3600.0
"""Time above which the announcement says how to shorten the run [s]."""

SEARCHED = "10 to 40"
"""Number of buffers that a search measures: few if a model gives a good start, most if no buffer suffices."""


def estimate(
    file: Annotated[Path, argument("FILE", "Scenario or sweep file (TOML).")],
    set_: options.Set = None,
    law: options.Law = None,
    replications: options.Replications = None,
    workers: options.Workers = None,
    series: Annotated[bool, option("--series", "Keep the sampled cwnd, srtt and backlog, as with --out.")] = False,
    json: options.Json = False,
) -> None:
    """Estimate the cost of a run: packets, processor seconds, peak memory, bytes written. Nothing is run.

    Exit code 2 if the run needs more memory than is available.
    """
    from elephan.costs import estimate as look  # noqa: PLC0415 (--help does without NumPy)
    from elephan.costs import estimate_points  # noqa: PLC0415 (as above)

    asked = read_sweep(file, set_, law, replications=replications)
    found: RunEstimate | SweepEstimate
    if asked.axes:
        points = asked.points()
        asked.check(points)
        scenarios = (point.scenario for point in points)
        found = estimate_points(asked.title, scenarios, workers=workers, series=series)
    else:
        found = look(asked.base, workers=workers, series=series)
    reason = found.refusal()
    if json:
        print_json(found.to_json())
    else:
        print_wrapped(*_lines(found, titled(found.title, set_), reason))
    if reason:
        say(f"{file}: {reason}")
        raise typer.Exit(2)


def _lines(found: RunEstimate | SweepEstimate, title: str, reason: str) -> list[str]:
    """Return the answer, then its components."""
    from elephan.costs import FACTORS, in_words  # noqa: PLC0415 (as above)

    room = found.available
    system = "the system does not say how much there is"
    if room is not None:
        system = f"{'not enough' if reason else 'fits'}: there are {format_bytes(room.size_bytes)} ({room.limit})"
    at_once = f"{found.workers} at a time" if found.workers > 1 else "one after the other"
    what = f"points: {found.points}" if hasattr(found, "points") else f"replications: {found.replications}"
    parts = sorted(found.parts_bytes.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{name} {format_bytes(size)}" for name, size in parts if size >= 0.01 * found.memory_bytes)
    took = format_long_time(found.wall_s)
    factors = ", ".join(
        f"{name.removesuffix('_s').removesuffix('_bytes')} {factor:g}" for name, factor in FACTORS.items()
    )
    return [
        f"{title}: {in_words(found)}",
        f"{what}, {at_once}, {took} in all; files of {format_bytes(found.written_bytes)} by --out",
        f"memory {system}",
        f"parts of the memory: {shares}; the rest is the program itself"
        if shares
        else "nearly all of the memory is the program itself",
        f"correct within these factors in 95 % of cases: {factors}",
    ]


def announce(scenario: Scenario, *, workers: int | None, series: bool, force: bool, quiet: bool) -> bool:
    """Refuse a run that needs too much memory, and announce a long one on stderr.

    Returns
    -------
    bool
        Whether it is long.

    Raises
    ------
    InputError
        If there is not enough memory for it.
    """
    from elephan.costs import check_memory, in_words  # noqa: PLC0415 (--help does without NumPy)

    check_memory(scenario, workers=workers, series=series, force=force)
    found = None if quiet else _cost_if_long(scenario, workers, series=series)
    if found is None:
        return False
    if found.cpu_s > LONG_S:
        say(f"{in_words(found)}; {_on_the_clock(found.workers, found.wall_s)}")
    return True


def _cost_if_long(scenario: Scenario, workers: int | None, *, series: bool) -> RunEstimate | None:
    """Return the cost of a run; None if it is short, which is found out faster."""
    from elephan.costs import estimate as look  # noqa: PLC0415 (as above)
    from elephan.costs.work import is_long  # noqa: PLC0415 (as above)

    return look(scenario, workers=workers, series=series) if is_long(scenario.network, LONG_S) else None


def _on_the_clock(
    workers: int, wall_s: float, most: str = "a smaller duration, fewer replications or a lower rate"
) -> str:
    """Format the wall-clock time, with advice on shortening a very long run."""
    shorter = f"; shorter by {most}; Ctrl-C ends it at once" if wall_s > TOO_LONG_S else ""
    return f"with {workers} worker{'' if workers == 1 else 's'} about {format_long_time(wall_s)}{shorter}"


def announce_search(scenario: Scenario, *, workers: int | None, variants: int) -> None:
    """Announce on stderr the time for each buffer of a search, if it is long.

    Parameters
    ----------
    variants : int
        Searches.
    """
    from elephan.costs import in_words  # noqa: PLC0415 (as above)

    found = _cost_if_long(scenario, workers, series=False)
    if found is not None and found.cpu_s > LONG_S:
        each = f"; {variants} variants" if variants > 1 else ""
        time = _on_the_clock(found.workers, found.wall_s)
        say(f"each buffer: {in_words(found)}; {time}; a search measures {SEARCHED} buffers{each}")


def announce_packets(packets: float, points: int, workers: int | None) -> None:
    """Announce on stderr the total time of a sweep's points, if it is long.

    Parameters
    ----------
    packets : float
        Expected, over all points.
    """
    from elephan.costs.machine import ns_per_packet  # noqa: PLC0415 (as above)
    from elephan.costs.work import SLOW_NS  # noqa: PLC0415 (as above)
    from elephan.workers import default_workers  # noqa: PLC0415 (as above)

    if packets * SLOW_NS * 1e-9 <= LONG_S:
        return
    cpu_s, at_once = packets * ns_per_packet() * 1e-9, min(workers or default_workers(), points)
    if cpu_s > LONG_S:
        words = f"about {format_number(packets / 1e6, 3)} million packets, {format_long_time(cpu_s)} of processor"
        fewer = "fewer points, a smaller duration or fewer replications (--dry-run says what each takes)"
        say(f"{count(points, 'point')}: {words}; {_on_the_clock(at_once, cpu_s / at_once, fewer)}")


def announce_testbed(scenarios: Iterable[Scenario], attempts: int) -> None:
    """Announce on stderr the time of a testbed, if it is long: it runs scenarios in real time, one after the other.

    Parameters
    ----------
    attempts : int
        Maximum number of runs of a replication.
    """
    asked = list(scenarios)
    wall_s = sum(one.replications * one.facts["duration_s"] for one in asked)
    if wall_s <= LONG_S:
        return
    runs, lengths = sum(one.replications for one in asked), {one.facts["duration_s"] for one in asked}
    each = f" of {format_time(lengths.pop())}" if len(lengths) == 1 else ""
    again = f", at most {format_long_time(attempts * wall_s)} where runs are not valid" if attempts > 1 else ""
    say(f"testbed: {count(runs, 'run')}{each} in real time, about {format_long_time(wall_s)}{again}")


def check_sweep(sweep: Sweep, *, force: bool) -> None:
    """Refuse scenarios that run one after the other if one of them needs more memory than there is.

    Raises
    ------
    InputError
        If there is not enough memory for one of them, or one is not a valid scenario.
    """
    from elephan.costs import check_memory  # noqa: PLC0415 (--help does without NumPy)

    if not sweep.axes:
        check_memory(sweep.base, force=force)
        return
    points = sweep.points()
    sweep.check(points)
    for point in points:
        check_memory(point.scenario, force=force)


def preview_cost(points: list[Any], workers: int | None, *, series: bool) -> str:
    """Return the total cost of the points of a sweep that are not in the store, in one line."""
    from elephan.costs import estimate_points, in_words  # noqa: PLC0415 (as above)

    missing = [point.scenario for point, kept in points if not kept and not point.error]
    if not missing:
        return "nothing to do"
    found = estimate_points("", missing, workers=workers, series=series)
    reason = found.refusal()
    words = f"{in_words(found)}; with {count(found.workers, 'worker')} about {format_long_time(found.wall_s)}"
    return f"to run: {words}; {reason}: it would be refused" if reason else f"to run: {words}"
