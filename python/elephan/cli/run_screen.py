"""Default screen of ``elephan run``: the answer in a sentence, links and groups in two short tables.

Numbers are never cut and keep their intervals: if there is no room, columns are omitted, and the last line lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elephan.cli.columns import (
    LINES,
    Column,
    command_lines,
    deciding,
    table_lines,
    terminal_width,
    with_intervals,
    wrapped,
)
from elephan.cli.common import shown
from elephan.lint.deterministic_replications import SAME, all_the_same, without_empty_intervals
from elephan.units import count

if TYPE_CHECKING:
    from elephan.results import GroupDocument, LinkDocument, RunAbout, RunDocument

Row = Mapping[str, Any]

FIXED = 2
"""Number of lines for heads and units of a table."""

GROUPS_BY = ("goodput_per_flow_bps", "loss_ratio", "srtt_s")
"""Quantities by which groups are selected if they do not all fit on the screen."""

TIMED = {"rtt": "round trip", "delay": "one way"}
"""Keys of the delays of timed datagrams, and their names."""

MOST_TIMED = 2
"""Maximum number of groups of datagrams with a line for their delays."""


def screen(
    document: Any,
    facts: Sequence[Mapping[str, Any]],
    *,
    links: Sequence[Mapping[str, Any]] = (),
) -> list[str]:
    """Format the results of a run as lines.

    Parameters
    ----------
    document : mapping
        Document of ``elephan run --json``.
    facts : sequence of mapping
        Facts of the document's groups.
    links : sequence of mapping
        The links as the scenario has them.

    Returns
    -------
    list of str
        At most 15, the answer first; a long line for Linux is broken with a backslash, so that it can be copied.
    """
    rows = len(document["links"]) + len(document["groups"])
    lines, shown_ = _lines(document, facts, links, ())
    for without in ROWS_BEFORE if rows <= MOST_ROWS else ():
        # Rows of a table are more important than these lines.
        other, more = _lines(document, facts, links, without) if shown_ < rows else ([], 0)
        lines, shown_ = (other, more) if more > shown_ else (lines, shown_)
    return lines


JAIN, TC = "Jain's index", "the tc command for Linux"

ROWS_BEFORE = ((JAIN,), (JAIN, TC))
"""Lines that are omitted if all rows of the tables then fit on the screen."""

MOST_ROWS = 5
"""Maximum number of links and groups, together, for which lines of `ROWS_BEFORE` are omitted."""


def _lines(
    document: RunDocument,
    facts: Sequence[Mapping[str, Any]],
    resolved: Sequence[Mapping[str, Any]],
    without: Sequence[str],
) -> tuple[list[str], int]:
    """Return the lines, except those named in `without`, and the number of rows of the tables."""
    run, same = document["run"], all_the_same(document)
    document = without_empty_intervals(document)
    links, groups = _busiest(document["links"]), list(zip(document["groups"], facts, strict=True))
    head = wrapped(f"{run['scenario']}: {_answer(links[0])}.") + wrapped(_about(run, same=same))
    tail, timed = [], delay_lines(document)
    for said in timed[:MOST_TIMED]:
        tail += wrapped(said)
    from elephan.reports.sources import rate_lines  # noqa: PLC0415 (--help does without NumPy)

    limited, pools = rate_lines(resolved)[:2], pool_lines(document)[:2]
    tail += [line for said in [*limited, *pools] for line in wrapped(said)]
    tc = links[0]["tc"]
    if tc and TC not in without:
        # The first line names the link if there is room.
        mark = f"{links[0]['name']}, on Linux: "
        tail += command_lines(tc, mark if len(mark) + len(tc) <= terminal_width() else "Linux: ")
    jain = wrapped(fairness_line(document, facts))
    # Jain's index is shown only if each table has room for a row.
    has_room = JAIN not in without and len(head) + len(jain) + len(tail) + 2 * FIXED + 4 <= LINES
    tail = [*(jain if has_room else []), *tail]
    unsaid = ["more delays of datagrams"] if len(timed) > MOST_TIMED else []
    unsaid += [JAIN] if jain and not has_room else []
    unsaid += [TC] if tc and TC in without else []
    names = [link["name"] for link in document["links"]]
    lines, rows_ = [], 0
    # The line with the omitted columns and rows may take two lines.
    for reserved in range(3):
        room = LINES - len(head) - len(tail) - 2 * FIXED - reserved
        of_links = min(len(links), max(1, room - len(groups), room // 2))
        of_groups = min(len(groups), max(1, room - of_links))
        rows_ = of_links + of_groups
        left = [
            f"{all_ - some} more {what}{'s' if all_ - some > 1 else ''}"
            for all_, some, what in ((len(links), of_links, "link"), (len(groups), of_groups, "group"))
            if all_ > some
        ]
        left += unsaid
        some_links = sorted(links[:of_links], key=lambda link: names.index(link["name"]))
        some_groups = [groups[i] for i in _chosen(document["groups"], of_groups)]
        tables = []
        for make, rows in ((_of_links, some_links), (_of_groups, some_groups)):
            shown_, gone = _table(make, rows)
            tables += shown_
            left += [what for what in gone if what not in left]
        last = wrapped(f"({', '.join(left)}: --details)") if left else []
        lines = [*head, *tables, *tail, *last]
        if len(lines) <= LINES:
            break
    return lines, rows_


def _chosen(groups: Sequence[Row], most: int) -> list[int]:
    """Choose groups for the table: first those that differ most, last those whose delays have a line of their own."""
    said = [any(f"{key}_s" in group and group[f"{key}_s"]["mean"] is not None for key in TIMED) for group in groups]
    others = [i for i, is_said in enumerate(said) if not is_said]
    chosen = [others[i] for i in deciding([groups[i] for i in others], GROUPS_BY, most)] if others else []
    return sorted([*chosen, *(i for i, is_said in enumerate(said) if is_said)][:most])


def _about(run: RunAbout, *, same: bool) -> str:
    found = "" if run["warmup_rule"] == "stated" else f" by {run['warmup_rule']}"
    times = f"{run['duration_s']:g} s ({run['warmup_s']:g} s warm-up{found})"
    made = f"seed {run['seed']}, run {run['id'][:12]}, {run['wall_s']:.1f} s"
    return f"{count(run['replications'], 'replication')} of {times}{f', {SAME}' if same else ''}, {made}"


def _answer(link: LinkDocument) -> str:
    known = link["queueing_delay_s"]["mean"] is not None
    waits = f", packets wait {_mean(link['queueing_delay_s'], 1e3, 'queueing_delay_s')} ms" if known else ""
    lost = f", {_mean(link['loss_ratio'], 100, 'loss_ratio')} % are lost"
    return f"{link['name']} is {_mean(link['utilization'], 100, 'utilization')} % busy{waits}{lost}"


def _mean(quantity: Mapping[str, Any], scale: float, of: str = "") -> str:
    """Format a mean in at most three digits, and no more than its interval in the table has."""
    mean = shown({"mean": quantity["mean"], "ci95": None}, scale, 3)
    with_interval = shown(quantity, scale, of=of)
    return min(with_interval.partition("±")[0].partition(" (")[0], mean, key=len)


def _busiest(links: Sequence[LinkDocument]) -> list[LinkDocument]:
    return sorted(links, key=lambda link: -(link["utilization"]["mean"] or 0.0))


def fairness_line(document: RunDocument, facts: Sequence[Mapping[str, Any]]) -> str:
    """Describe the fairness of the flows; empty for fewer than two flows that count, whose index is always 1.

    Parameters
    ----------
    facts : sequence of mapping
        Facts of the document's groups.
    """
    from elephan.network import counted_flows  # noqa: PLC0415 (--help does without NumPy)
    from elephan.reports.sources import whose  # noqa: PLC0415 (as above)

    fair: Row = document["fairness"]
    jain, flows = fair["jain"], counted_flows(facts)
    if flows < 2 or jain["mean"] is None:
        return ""
    return f"Jain's index{whose(document['groups'])} {shown(jain, of='jain', flows=flows)}"


def _table(make: Callable[[Sequence[Any], bool], list[Column]], rows: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return the lines of a table, and the names of what does not fit."""
    shown_, gone = with_intervals(make(rows, True), make(rows, False), terminal_width())
    return table_lines(shown_), gone


def _cells(rows: Sequence[Row], key: str, scale: float, digits: int, *, bare: bool, of: str = "") -> tuple[str, ...]:
    found = []
    for row in rows:
        part = row[of] if of else row
        value = None if part is None else part.get(key)
        if value is None:
            found.append("-")
        else:
            found.append(shown({"mean": value["mean"], "ci95": None} if bare else value, scale, digits, of=key))
    return tuple(found)


def _of_links(links: Sequence[LinkDocument], intervals: bool) -> list[Column]:
    found = [
        Column("link", "", tuple(link["name"] for link in links), 0, is_text=True),
        Column("queue", "", tuple(link["queue"]["discipline"] for link in links), 4, is_text=True),
        Column("buffer", "packets", tuple(map(buffer_cell, links)), 1),
        *_columns(links, intervals, "links"),
    ]
    if any("pool" in link for link in links):
        held = [{"pool": link.get("pool")} for link in links]
        cells = _cells(held, "occupancy", 100, 3, bare=not intervals, of="pool")
        found.insert(-1, Column("of pool", "%", cells, 1))
    return found


def _columns(rows: Sequence[Row], intervals: bool, *kinds: str) -> list[Column]:
    """Return the columns of the quantities that screens show."""
    from elephan.metrics import quantity  # noqa: PLC0415 (--help does without NumPy)

    found = []
    for each in quantity.shown(*kinds):
        assert each.shown is not None
        unit, scale = each.shown_unit
        of = each.of if each.of == quantity.TRANSFERS else ""
        if not each.shown.has_values(each.name, ((row[of] if of else row) for row in rows)):
            continue  # Only pages have page times.
        cells = _cells(rows, each.name, scale, each.shown.digits, bare=not intervals, of=of)
        # "all" tells totals of a group from values per flow.
        unit = unit or ("all" if each.meaning.endswith(quantity.TOGETHER) else "")
        found.append(Column(each.shown.head, unit, cells, each.shown.rank))
    return found


def buffer_cell(link: LinkDocument) -> str:
    """Format the buffer of a link: packets, its pool, or unlimited."""
    if link["buffer_packets"] is not None:
        return f"{link['buffer_packets']:.6g}"
    return f"in {link['pool']['name']}" if "pool" in link else "unlimited"


def delay_lines(document: RunDocument) -> list[str]:
    """Describe the delays of each group of timed datagrams: round trips of pings, one-way delays of others."""
    found = []
    groups: Sequence[Row] = document["groups"]
    for group in groups:
        for key, what in TIMED.items():
            if f"{key}_s" in group and group[f"{key}_s"]["mean"] is not None:
                # Percentiles come from bins that are 1/32 wide, so an interval narrower than a bin is not meaningful.
                tail = _mean(group[f"{key}_p95_s"], 1e3)
                found.append(f"{group['name']}: {what} {shown(group[f'{key}_s'], 1e3, 3)} ms, 95 % within {tail} ms")
    return found


def pool_lines(document: RunDocument) -> list[str]:
    """Describe the occupancy of each pool."""
    return [
        f"{pool['name']}: {_mean(pool['occupancy'], 100)} % used, {_mean(pool['occupancy_max'], 100)} % at most; "
        f"packets dropped because it was full: {_mean(pool['drops'], 1)}"
        for pool in document.get("pools", ())
    ]


def _of_groups(groups: Sequence[tuple[GroupDocument, Row]], intervals: bool) -> list[Column]:
    rows = [group for group, _ in groups]

    names = tuple(f"{group['name']}: {group['flows']} {group['law'] or fact['traffic']}" for group, fact in groups)
    kinds = ["groups", *(["transfers"] if any(group["transfers"] for group in rows) else [])]
    return [Column("flows", "", names, 0, is_text=True), *_columns(rows, intervals, *kinds)]
