"""Screen of ``elephan run --trace``: losses, recoveries, timeouts and probes of one flow in the order of time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from elephan.cli.columns import LINES, Column, table_lines, wrapped
from elephan.cli.common import shown
from elephan.errors import InputError, suggest
from elephan.units import count

if TYPE_CHECKING:
    from elephan.runs.result import RunResult
    from elephan.scenario import Scenario

LOST, STATE, RTO, PROBE, UNDO = "lost", "ca_state", "rto", "tlp", "undo"
"""Names of kinds of events in a record, which may also have ``reo_timer``."""

QUIET = ("sack", "dupack", "acked")
"""Reasons of changes between Open and Disorder, at which nothing is lost."""

HEADS = 2
"""Number of lines of heads and units."""


class ShownEvent(NamedTuple):
    """A line of the screen: an event, or segments that are lost in a row by one rule.

    Parameters
    ----------
    time_s : float
        Time of the first [s].
    event, reason, ca_state : str
        As in the table ``events``.
    segments : tuple of int
        Numbers of the segments.
    cwnd, ssthresh : tuple of float
        Before and after [segments].
    rto_s, backoff : float, int
        Timeout [s], and timeouts in a row.
    """

    time_s: float
    event: str
    reason: str
    ca_state: str
    segments: tuple[int, ...]
    cwnd: tuple[float, float]
    ssthresh: tuple[float, float]
    rto_s: float
    backoff: int


def traced(scenario: Scenario, flow: str | None) -> Scenario:
    """Return the scenario with a flow recorded.

    Parameters
    ----------
    flow : str or None
        ``GROUP[INDEX]``, or the name of a group for its first flow; None for none.

    Raises
    ------
    InputError
        If there is no such flow, or it does not send by TCP.
    """
    if flow is None:
        return scenario
    name = flow_name(flow)
    of, _, number = name.removesuffix("]").rpartition("[")
    group = next((group for group in scenario.groups if group["name"] == of), None)
    if group is None or not number.isdecimal() or int(number) >= group["flows"]:
        known = [f"{group['name']}[{i}]" for group in scenario.groups for i in range(min(group["flows"], 2))]
        raise InputError(f'--trace: there is no flow "{name}"; {suggest(name, known, f"use for example {known[0]}")}')
    if group["law"] is None:
        raise InputError(f"--trace: {name} sends datagrams, which are not acknowledged; name a flow of TCP")
    record = scenario.source.get("record", {})
    named = list(record.get("trace", [])) if isinstance(record, dict) else []
    return scenario if name in named else scenario.replace({"record.trace": [*named, name]})


def flow_name(flow: str) -> str:
    """Return the name of a flow in full.

    Examples
    --------
    >>> flow_name("bulk"), flow_name("bulk[3]")
    ('bulk[0]', 'bulk[3]')
    """
    return flow if flow.endswith("]") else f"{flow}[0]"


def events_of(result: RunResult, flow: str) -> list[dict[str, Any]]:
    """Return the events of a recorded flow as records, of all replications.

    Parameters
    ----------
    flow : str
        Name of the flow, such as ``bulk[0]``.
    """
    found: list[dict[str, Any]] = []
    for replication, outcome in enumerate(result.outcomes):
        for trace in outcome.traces:
            group = result.scenario.groups[int(outcome.flows["group"][trace["flow"]])]["name"]
            if f"{group}[{int(outcome.flows['index'][trace['flow']])}]" == flow_name(flow):
                columns = {name: values.tolist() for name, values in trace["events"].items()}
                rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
                found += [{"replication": replication, "flow": flow_name(flow), **row} for row in rows]
    return found


def finite(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return events for JSON, with None for an infinite threshold.

    Examples
    --------
    >>> finite([{"ssthresh_segments": math.inf, "event": "rto"}])
    [{'ssthresh_segments': None, 'event': 'rto'}]
    """
    return [{key: None if value == math.inf else value for key, value in event.items()} for event in events]


def event_lines(events: Sequence[Mapping[str, Any]], flow: str, *, details: bool = False) -> list[str]:
    """Format the events of a flow: what happened in one sentence, then a line for each event.

    Parameters
    ----------
    events : sequence of mapping
        Of `events_of`; those of the first replication are shown.
    flow : str
        Name of the flow.
    details : bool
        All events; if not, at most 15 lines, without changes between Open and Disorder.

    Returns
    -------
    list of str
    """
    several = any(event["replication"] for event in events)
    first = [event for event in events if event["replication"] == 0]
    said = wrapped(f"{flow_name(flow)}{', replication 0' if several else ''}: {_answer(first)}.")
    rows = _merged(first, apart=details)
    chosen = rows if details else [row for row in rows if not _is_quiet(row)]
    if not details:
        # The line that says what is left out takes one more on a narrow screen.
        room = LINES - len(said) - HEADS
        is_whole = len(chosen) == len(rows) <= room
        chosen = chosen if is_whole else chosen[: room - len(_left_out(len(rows)))]
    tables = table_lines(_columns(chosen)) if chosen else []
    last = _left_out(len(rows) - len(chosen)) if len(rows) > len(chosen) else []
    return [*said, *tables, *last]


def _left_out(number: int) -> list[str]:
    return wrapped(f"({count(number, 'more event')}: --details; all in a table: --out DIR)")


def _answer(events: Sequence[Mapping[str, Any]]) -> str:
    """Say how often each kind of event happened."""

    def of(kind: str) -> list[Mapping[str, Any]]:
        return [event for event in events if event["event"] == kind]

    rules = sorted({event["reason"] for event in of(LOST)})
    by_rule = [(rule, sum(event["reason"] == rule for event in of(LOST))) for rule in rules]
    by = f" (by {', '.join(f'{rule} {number}' for rule, number in by_rule)})" if by_rule else ""
    recoveries = sum(event["ca_state"] == "Recovery" for event in of(STATE))
    cut = sum(event["ca_state"] == "CWR" for event in of(STATE))
    parts = [
        f"{count(len(of(LOST)), 'segment')} declared lost{by}",
        "1 recovery" if recoveries == 1 else f"{recoveries} recoveries",
        count(len(of(RTO)), "timeout"),
        count(len(of(PROBE)), "tail-loss probe"),
    ]
    parts += [count(cut, "reduction") + " without a loss (CWR)"] if cut else []
    return f"{', '.join(parts)}, {len(of(UNDO))} undone"


def _merged(events: Sequence[Mapping[str, Any]], *, apart: bool) -> list[ShownEvent]:
    """Return the lines of events; losses in a row by one rule are one, unless they are at instants ``apart``."""
    found = []
    for _, same in groupby(enumerate(events), lambda each: _key(*each, apart=apart)):
        rows = [event for _, event in same]
        head = rows[0]
        found.append(
            ShownEvent(
                head["time_s"],
                head["event"],
                head["reason"],
                head["ca_state"],
                tuple(row["segment"] for row in rows),
                (head["cwnd_before_segments"], head["cwnd_segments"]),
                (head["ssthresh_before_segments"], head["ssthresh_segments"]),
                head["rto_s"],
                head["backoff"],
            )
        )
    return found


def _key(position: int, event: Mapping[str, Any], *, apart: bool) -> tuple[Any, ...]:
    at = event["time_s"] if apart else None
    return (LOST, at, event["reason"], event["ca_state"]) if event["event"] == LOST else (position,)


def _is_quiet(row: ShownEvent) -> bool:
    return row.event == STATE and row.reason in QUIET


def _columns(rows: Sequence[ShownEvent]) -> list[Column]:
    found = [
        Column("time", "s", tuple(f"{row.time_s:.6f}" for row in rows)),
        Column("event", "", tuple(row.event for row in rows), is_text=True),
        Column("reason", "", tuple(row.reason for row in rows), is_text=True),
        Column("ca_state", "", tuple(row.ca_state for row in rows), 2, is_text=True),
        Column("segments", "", tuple(_segments(row.segments) for row in rows), 3),
        Column("cwnd", "segments", tuple(_change(row.cwnd) for row in rows), 1),
        Column("ssthresh", "segments", tuple(_change(row.ssthresh) for row in rows), 5),
    ]
    timeouts = tuple(_rto(row) for row in rows)
    return [*found, Column("rto", "ms", timeouts, 4)] if any(timeouts) else found


def _segments(numbers: Sequence[int]) -> str:
    """Format the segments of a line.

    Examples
    --------
    >>> _segments((7,)), _segments((7, 8, 12))
    ('7', '7..12 (3)')
    """
    return f"{numbers[0]}" if len(numbers) == 1 else f"{min(numbers)}..{max(numbers)} ({len(numbers)})"


def _change(values: tuple[float, float]) -> str:
    """Format a number before and after an event.

    Examples
    --------
    >>> _change((20.5, 10.25)), _change((math.inf, 10)), _change((10, 10))
    ('20.5 > 10.2', 'inf > 10', '10')
    """
    before, after = (shown({"mean": value, "ci95": None}, 1, 3) if math.isfinite(value) else "inf" for value in values)
    return before if before == after else f"{before} > {after}"


def _rto(row: ShownEvent) -> str:
    """Format the timeout that expired, and the number of those in a row from the second on."""
    if row.event != RTO or not math.isfinite(row.rto_s):
        return ""
    return f"{row.rto_s * 1e3:.4g}" + (f" no. {row.backoff}" if row.backoff > 1 else "")
