"""Screen of ``elephan sweep``: the points that differ most, each number with its interval, within the terminal.

If there is no room, columns are omitted before intervals, and points that differ little are omitted.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elephan.assignments import labelled
from elephan.cli.brief import brief
from elephan.cli.columns import (
    LINES,
    Column,
    blocks,
    deciding,
    line_width,
    narrowed,
    table_lines,
    terminal_width,
    with_intervals,
    wrapped,
)
from elephan.cli.common import print_lines, print_wrapped, say, shown
from elephan.cli.tables import whole_table
from elephan.lint.deterministic_replications import SAME, all_the_same
from elephan.lint.rule import GRAVE
from elephan.results.axes import short
from elephan.runs.measures import absent
from elephan.sweeps import SweepPoint, SweepResult
from elephan.sweeps.columns import (
    AnyColumn,
    MetricColumn,
    SweepColumn,
    column_rows,
    default_columns,
    is_paired,
    metric_columns,
    varied_link,
)
from elephan.units import count, format_number, scaled

if TYPE_CHECKING:
    from elephan.results import RunDocument

RANKS = {"utilization": 0, "delay": 1, "page_time_p95": 1, "loss": 3, "total": 5, "jain": 5}
"""Ranks of columns, which are omitted in descending order if there is no room; columns of groups have rank 2."""

BESIDE = 4
"""Rank of a label that follows from the others, and does not distinguish points."""

LEAST_ROWS, FEWEST_ROWS = 4, 2
"""Minimum number of points shown with the columns that are asked for, and where labels have several lines."""

NAME = 16
"""Number of characters from which the name of a metric is wrapped."""

Row = dict[str, Any]


def sweep_screen(
    swept: SweepResult, columns: Sequence[SweepColumn] | None, title: str, *, differences: bool, details: bool
) -> list[str]:
    """Format the table of the points.

    Parameters
    ----------
    columns : sequence of SweepColumn, optional
        Requested columns, which all stay: those that do not fit into a line follow below.
    differences : bool
        Whether points other than the first show their differences from it.
    details : bool
        All points, not only those for which a screen has room.

    Returns
    -------
    list of str
    """
    base = swept.sweep.base
    link = _link(swept)
    head = wrapped(f"{title} (link {base.links[link]['name']}, {_replications(swept)}, seed {base.seed})")
    metrics = metric_columns(swept.metrics, swept.points, base.network)
    alike = [column.alike for column in metrics]
    # A quantity that is asked for as a metric has one column.
    others = default_columns(base.network, link) if columns is None else columns
    chosen: list[AnyColumn] = [*(column for column in others if column not in alike), *metrics]
    if differences:
        head += wrapped(f"Rows below the first show differences from it{_pairing(swept, chosen)}.")
    if not swept.points:
        return head
    found = rows_of(swept, chosen, differences=differences)
    table = _PointTable(swept, found, columns is not None or (details and bool(metrics)), differences)

    def screen(rows: Sequence[int], without: int = 0) -> list[str]:
        """The screen of some of the points, without the last of the columns."""
        left = []
        if len(rows) < len(found):
            left.append(f"the {len(rows)} of {count(len(found), 'point')} that differ most: --details")
        if without:
            left.append(f"no room for {count(without, 'more column')}: --details, --json")
        lines, said = table.lines(chosen[: len(chosen) - without], rows)
        said = [*left, *_without_value(swept, metrics), *_more_than_a_link(swept, chosen, found, said), *said]
        return [*head, *lines, *(wrapped(f"({'; '.join(said)})") if said else [])]

    if details or (len(found) <= LINES and len(screen(range(len(found)))) <= LINES):
        return screen(range(len(found)))
    decide = [column.label for column in (metrics if columns is None and metrics else chosen)]
    rows, lines = list(range(len(found))), []
    # Columns that wrap below others repeat the rows.
    for most in range(min(len(found) - 1, LINES), (LEAST_ROWS if columns is not None else FEWEST_ROWS) - 1, -1):
        rows = deciding(found, decide, most, _compared(swept))
        lines = screen(rows)
        if len(lines) <= LINES:
            return lines
    for without in range(1, len(metrics) if columns is None else 0):
        lines = screen(rows, without)
        if len(lines) <= LINES:
            return lines
    return lines or screen(rows)


def _without_value(swept: SweepResult, columns: Sequence[MetricColumn]) -> list[str]:
    """Return the metrics that have a value at no point, each with the reason at the first point."""
    there = {row["metric"] for column in columns for row in column.rows.values()}
    lost = [metric for metric in swept.metrics if str(metric) not in there]
    return [f"{metric}: {absent(metric, swept.points[0].stored.scenario) or 'no point has a value'}" for metric in lost]


def _link(swept: SweepResult) -> int:
    """Return the index of the link that the default columns are of."""
    return varied_link(swept.sweep.base.network, swept.label_names)


def _more_than_a_link(
    swept: SweepResult, chosen: Sequence[AnyColumn], found: Sequence[Row], said: Sequence[str]
) -> list[str]:
    """Explain a total above the rate of the link that the other columns are of; empty where there is none."""
    base = swept.sweep.base
    label = next((column.label for column in chosen if column.name == "total"), None)
    if len(base.links) < 2 or label is None or any("total" in text for text in said):
        return []
    link = _link(swept)
    rates = [point.document["links"][link]["rate_bps"] for point in swept.points]
    if all((row[label]["mean"] or 0.0) <= rate for row, rate in zip(found, rates, strict=True)):
        return []
    return [
        f"total: of all flows, over {count(len(base.links), 'link')}; the rate of {base.links[link]['name']} is less"
    ]


def _pairing(swept: SweepResult, chosen: Sequence[AnyColumn]) -> str:
    """Explain which intervals of differences are not paired by replication."""
    if not swept.points:
        return ""
    if max(point.document["run"]["replications"] for point in swept.points) < 2:
        return "; no intervals, as there is one replication"
    alone = [column.name.replace("_", " ") for column in chosen if not is_paired(column, swept.points[0])]
    named = ", ".join(dict.fromkeys(alone))
    return f"; not paired, as only means of replications are kept: {named}" if alone else ""


def _compared(swept: SweepResult) -> list[tuple[str, ...]]:
    """Return the labels that each point shares with those it is compared with; empty if only numbers vary.

    Points are compared by the label with the fewest values of those that are choices, such as laws or queues.
    """
    columns = {name: [str(point.labels.get(name, "")) for point in swept.points] for name in swept.label_names}
    choices = {name: len(set(texts)) for name, texts in columns.items() if not any(t[:1].isdigit() for t in texts)}
    choices = {name: number for name, number in choices.items() if 1 < number < len(swept.points)}
    if not choices:
        return []
    by = min(choices, key=lambda name: choices[name])
    return list(zip(*(texts for name, texts in columns.items() if name != by), strict=True))


def labelled_rows(swept: SweepResult, columns: Sequence[SweepColumn] | None, *, differences: bool) -> list[Row]:
    """Return the values of columns at all points, each with its labels; by default of the default columns."""
    return rows_of(
        swept,
        default_columns(swept.sweep.base.network, _link(swept)) if columns is None else columns,
        differences=differences,
    )


def rows_of(swept: SweepResult, columns: Sequence[AnyColumn], *, differences: bool) -> list[Row]:
    """Return the values of columns at all points, each with its labels."""
    rows = column_rows(columns, swept.points, differences=differences)
    return [{"labels": point.labels, **row} for point, row in zip(swept.points, rows, strict=True)]


@dataclass(frozen=True)
class _PointTable:
    """Tables of the points of a sweep.

    Parameters
    ----------
    found : sequence of dict
        As `rows_of` returns them.
    whole : bool
        Whether all columns stay: those that do not fit into a line follow below.
    """

    swept: SweepResult
    found: Sequence[Row]
    whole: bool
    differences: bool

    def lines(self, chosen: Sequence[AnyColumn], rows: Sequence[int]) -> tuple[list[str], list[str]]:
        """Return the lines of the table of some points and columns, and what is omitted."""
        width, labels = terminal_width(), self._labels(rows)
        full, bare = ([*labels, *self._measured(chosen, rows, bare=bare)] for bare in (False, True))
        needed = [column for column in full if not (column.is_text and column.rank)]
        if not self.whole:
            kept, left = with_intervals(narrowed(full, width), narrowed(bare, width), width)
            said = [f"no room for {', '.join(left)}: --columns, --json"] if left else []
            if "intervals" not in left or not self.swept.metrics:
                return table_lines(kept), said
            # Requested metrics keep their intervals; columns without room follow below.
            needed = [column for column in needed if not column.rank]
            return blocks(narrowed(needed, width)), ["no room for other columns: --columns, --json"]
        return blocks(narrowed(full if _fits(full, width) else needed, width)), []

    def _labels(self, rows: Sequence[int]) -> list[Column]:
        """Return the columns of labels; those that follow from the others may be omitted."""
        points, names = self.swept.points, self.swept.label_names
        texts = {name: brief([str(point.labels.get(name, "")) for point in points]) for name in names}
        needed = list(names)
        for name in reversed(names):
            others = [other for other in needed if other != name]
            if others and len(set(zip(*(texts[other] for other in others), strict=True))) == len(points):
                needed = others
        found = []
        for name, head in short(names).items():
            cells, rank = tuple(texts[name][i] for i in rows), 0 if name in needed else BESIDE
            # The place of a key, such as `links[0]`, has a line of its own above it.
            found.append(Column(head.replace("].", "]\n"), "", cells, rank, is_text=True))
        return found

    def _measured(self, chosen: Sequence[AnyColumn], rows: Sequence[int], *, bare: bool) -> list[Column]:
        """Return the columns of measured quantities; empty ones are omitted unless they were requested."""
        several, columns = len(self.swept.sweep.base.network.groups) > 1, []
        links = len({column.link for column in chosen if column.link is not None})
        documents = {i: self.swept.points[i].document for i in rows}
        for column in chosen:
            # Differences are smaller than the values, so only the first row decides the unit.
            divide, unit = scale_of(column, self.found[:1] if self.differences else self.found)
            texts = tuple(self._cell(column, documents, i, divide, bare=bare) for i in rows)
            name = "Jain" if column.name == "jain" else column.name.replace("_", " ")
            # Percentiles go below the name, which is long.
            name = name.replace(" time ", "\ntime ") if "_time_" in column.name else name
            if isinstance(column, MetricColumn):
                head = "\n".join([*([column.of] if column.of else []), *textwrap.wrap(name, NAME)])
                columns.append(Column(head, unit, texts))
                continue
            named = several if column.group is not None else column.link is not None and links > 1
            whose = f"{column.of}\n" if named else ""
            columns.append(Column(whose + name, unit, texts, RANKS.get(column.name, 2) + bool(self.swept.metrics)))
        return (
            columns if self.whole else [column for column in columns if set(column.cells) != {"-"} or not column.rank]
        )

    def _cell(self, column: AnyColumn, documents: dict[int, RunDocument], i: int, divide: float, *, bare: bool) -> str:
        """Format the value of a column at a point."""
        cell, document = self.found[i][column.label], documents[i]
        flows = sum(document["groups"][g]["flows"] for g in column.counted)
        if column.name.startswith("jain") and flows == 1:
            cell = {"mean": None, "ci95": None}
        same = all_the_same(document) and not (self.differences and not all_the_same(documents[0]))
        is_more = self.differences and i > 0
        digits = 4 if divide == 1 or column.name == "utilization" else 3
        of = "" if is_more else column.key
        text = shown({**cell, "ci95": None} if bare or same else cell, 1 / divide, digits, of=of, flows=flows)
        note = ""
        if isinstance(column, MetricColumn):
            note = column.known(self.swept.points[i], document["run"]["replications"])
        return (f"+{text}" if is_more and (cell["mean"] or 0.0) > 0 else text) + note


def _fits(columns: Sequence[Column], width: int) -> bool:
    """Whether labels take at most half of a line, or no line is wrapped."""
    labels = sum(column.width + 2 for column in columns if column.is_text)
    return labels <= width / 2 or line_width(columns) <= width


def scale_of(column: AnyColumn, rows: Sequence[Row]) -> tuple[float, str]:
    """Return the divisor of a column and its unit, common to all rows."""
    if column.unit == "%" or column.name == "utilization":
        return 0.01, "%"
    return scaled(column.unit, [row[column.label]["mean"] or 0.0 for row in rows])


def _replications(swept: SweepResult) -> str:
    """Format the number of replications of the points, which varies with a requested precision."""
    if not swept.sweep.precision or not swept.points:
        same = bool(swept.points) and all(all_the_same(point.document) for point in swept.points)
        return count(swept.sweep.base.replications, "replication") + (f", {SAME}" if same else "")
    numbers = [point.document["run"]["replications"] for point in swept.points]
    low, high = min(numbers), max(numbers)
    return count(low, "replication") if low == high else f"{low} to {high} replications"


def say_end(swept: SweepResult, *, json: bool, quiet: bool) -> None:
    """Print the warnings about points, then the failures and a summary; a document has the warnings, too."""
    rules = (() if json else GRAVE) if quiet else None
    for each in swept.warnings:
        if rules is None or each["rule"] in rules:
            at = f"{each['points']} of {count(len(swept.points), 'point')}"
            say(f"{each['severity']}: {each['where']}: {each['message']}; {each['remedy']} ({each['rule']}, {at})")
    for point in swept.failures:
        say(f"failed: {labelled(point.labels)}: {point.error}")
    say(_summary(swept))


def _summary(swept: SweepResult) -> str:
    run = len(swept.points) - swept.reused
    per_s = swept.packets / swept.wall_s
    rate = f", {format_number(per_s / 1e6, 3)} million packets/s" if run else ""
    return (
        f"{count(len(swept.done), 'point')}: {run} run, {swept.reused} from the store, {len(swept.failures)} failed; "
        f"{swept.wall_s:.1f} s{rate}; store {swept.store}"
    )


def preview_rows(points: list[tuple[SweepPoint, bool]]) -> list[dict[str, Any]]:
    """Return the points of a sweep for the document of ``--dry-run``."""
    return [
        {"labels": point.labels, "run": point.key, "cost_packets": point.cost, "stored": kept, "error": point.error}
        for point, kept in points
    ]


def show_preview(title: str, points: list[tuple[SweepPoint, bool]], cost: str, most: int | None) -> None:
    """Print the points of a sweep, at most as many as given, and what all of them cost."""
    names = list(dict.fromkeys(name for point, _ in points for name in point.labels))
    labels = [brief([str(point.labels.get(name, "")) for point, _ in points]) for name in names]
    costs = [format_number(point.cost / 1e6, 3) for point, _ in points]
    states = ["unreadable" if point.error else "yes" if kept else "no" for point, kept in points]
    rows = list(zip(*labels, costs, states, strict=True))[:most]
    heads = [*short(names).values(), "million packets", "in the store"]
    print_wrapped(f"{title}: longest first")
    print_lines(*whole_table(heads, rows, [False] * len(names) + [True, False], names=len(names)))
    if most is not None and len(points) > most:
        print_wrapped(f"… and {len(points) - most} more: --details")
    kept_count = sum(kept for _, kept in points)
    print_wrapped(f"{count(len(points), 'point')}, {kept_count} in the store; {cost}")
    # All of them: a sweep names only the first one and runs nothing.
    for point, _ in points:
        if point.error:
            say(f"cannot be read: {labelled(point.labels)}: {point.error}")
