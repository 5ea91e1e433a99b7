"""``elephan why``: causes of a link's idle time, by counterfactual replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from elephan.cli import options
from elephan.cli.columns import LINES, Column, table_lines, wrapped
from elephan.cli.common import check_out, draw, print_json, print_lines, say_written, writing
from elephan.cli.options import argument, option
from elephan.units import count, format_packets

if TYPE_CHECKING:
    from elephan.causes import Charge, IdleCauses

EXAMPLE = """Example:  elephan why scenarios/hstcp-1g.toml --out why/
elephan why run/ --link bottleneck --replication 2"""

LEAST_SHARE = 1e-3
"""Least share of the idle time in timeouts for which they have a column."""

ROWS = 10
"""Maximum number of causes on the screen."""


def why(
    run: Annotated[str, argument("RUN", "Scenario file, folder of `elephan run --out`, or id of a stored run.")],
    link: Annotated[str | None, option("--link NAME", "Link to explain.")] = None,
    replication: Annotated[int, option("--replication", "Number of the replication.", min=1)] = 1,
    forks: Annotated[
        int, option("--forks", "Most loss events to which the idle time before the next is charged.", min=1, max=100)
    ] = 8,
    store: options.Store = None,
    out: options.Out = None,
    details: options.Details = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Show why a link was idle: drops, timeouts, slow start, an application, a receive window.

    The run is simulated again. Before each loss event it is forked into a run in which the link drops nothing; the idle
    time that this avoids is charged to the event. The charges add up to the idle time.
    """
    from elephan.causes import why as explain  # noqa: PLC0415 (--help does without NumPy)

    check_out(out)
    found = explain(run, link, replication, forks=forks, store=store)
    with writing(out):
        written = [] if out is None else [*found.write(out), *draw(found, out)]
    if json:
        print_json(found.to_json())
    else:
        print_lines(*screen(found, details=details))
    if not quiet:
        say_written(written)


def screen(found: IdleCauses, *, details: bool = False) -> list[str]:
    """Return the lines of an answer.

    Parameters
    ----------
    found : IdleCauses
    details : bool
        All charges, and the waiting times.
    """
    head = wrapped(found.sentence())
    charges = list(found.charges)
    if not charges:
        return head + _waits(found, details=details)
    notes = []
    if found.cut_ps:
        part = f"{100 * found.share(found.cut_ps):.2g} % of it might follow earlier events: --forks examines more"
        notes = wrapped(f"({part})")
    shown = charges
    waits = _waits(found, details=details)
    if not details:
        # Three lines of heads, sum and others.
        most = min(ROWS, LINES - len(head) - len(notes) - len(waits) - 4)
        shown = charges if len(charges) <= most else charges[: most - 1]
    return [*head, *table_lines(_columns(found, shown, charges[len(shown) :])), *notes, *waits]


def _columns(found: IdleCauses, shown: list[Charge], others: list[Charge]) -> list[Column]:
    rows = [
        (one.words, f"{one.flows_hit} of {one.flows}" if one.cause == "event" else "", one.idle_ps, one.timeout_ps)
        for one in shown
    ]
    if others:
        idle, timeout = sum(one.idle_ps for one in others), sum(one.timeout_ps for one in others)
        rows.append((count(len(others), "other cause"), "", idle, timeout))
    rows.append(("sum", "", found.idle_ps, sum(one.timeout_ps for one in found.charges)))
    names, hit, idle_ps, timeout_ps = zip(*rows, strict=True)
    columns = [
        Column("cause", "", names, is_text=True),
        Column("flows hit", "", hit, 2),
        Column("idle", "ms", tuple(f"{ps / 1e9:.1f}" for ps in idle_ps)),
        Column("share", "%", tuple(f"{100 * found.share(ps):.1f}" for ps in idle_ps)),
    ]
    if timeout_ps[-1] >= LEAST_SHARE * found.idle_ps:
        columns.append(Column("in timeouts", "ms", tuple(f"{ps / 1e9:.1f}" for ps in timeout_ps), 1))
    return columns


WAITS = {
    "timeout": "after a timeout",
    "recovery": "in recovery",
    "slow_start": "in slow start",
    "window": "in congestion avoidance",
    "receive_window": "at their receive window",
    "application": "before a pause of the application",
    "acks": "ACKs",
}
"""States of the senders of the packets that waited."""

MOST_WAITS = 2
"""Number of causes of waiting times on the screen."""


def _waits(found: IdleCauses, *, details: bool) -> list[str]:
    """Return the causes of the waiting times in a sentence."""
    waits = found.waits
    total = sum(wait for *_, wait in waits)
    if not waits:
        return []
    shown = waits if details else waits[:MOST_WAITS]
    parts = []
    for group, limit, wait in shown:
        sender = f"sent by {group} " if group else ""
        parts.append(f"{100 * wait / total:.0f} % {sender}{WAITS[limit]}")
    others = total - sum(wait for *_, wait in shown)
    more = f"; others {100 * others / total:.0f} %" if len(shown) < len(waits) else ""
    mean = total / found.measured_s
    return wrapped(f"On average {format_packets(mean)} waited: {'; '.join(parts)}{more}.")
