"""The page of a sweep: results against the varied parameters, any quantity against any axis, and every point."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError
from elephan.metrics.quantity import FAIRNESS, GROUPS, LINKS, tabled
from elephan.pictures.table import Cell, Column, Table, cell, fact_column, label_column, measured_column, tabulated
from elephan.pictures.words import capital, joined, plain
from elephan.reports.explorer import MeasuredColumn, explorer, quantity
from elephan.reports.page import PageSection, ReportPage, TerminalCommand
from elephan.reports.sources import made_by, set_up
from elephan.results.axes import run_names
from elephan.runs.measures import row_name
from elephan.runs.saved import read_document
from elephan.runs.side_by_side import chosen, laid_over, named_runs
from elephan.scenario import Scenario
from elephan.store.labels import as_value, short
from elephan.sweeps.columns import varied_link
from elephan.sweeps.saved import read_sweep
from elephan.units import count, format_time, scaled

if TYPE_CHECKING:
    from elephan.results import AxisDocument, MetricDocument, SweepDocument, SweepFailure, SweepPointDocument

MOST_COLUMNS = 3
"""Maximum number of links, and of groups, with columns in the table of points."""


def page(folder: Path) -> ReportPage:
    """Make the page of a folder that ``elephan sweep --out`` wrote.

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    document: SweepDocument = read_document(folder / "sweep.json")
    check_points(document, folder / "sweep.json")
    base = Scenario.from_text(document["base"], "base.toml")
    explored = explorer([point["labels"] for point in document["points"]], quantities(document["points"]), "what")
    made = content(document, base, (*explored, *_over_time(folder)), where="points.parquet")
    known = sorted(document["provenance"].items())
    machine = ((key.replace("_", " "), _value_text(key, value)) for key, value in known if key != "engine_version")
    return replace(made, provenance=(*made.provenance, *machine))


def content(
    document: SweepDocument, base: Scenario, pictures: Sequence[PageSection] = (), *, where: str = ""
) -> ReportPage:
    """Describe a sweep.

    Parameters
    ----------
    document : mapping
        Document of ``elephan sweep --json``.
    base : Scenario
        Scenario of which the points are changed copies.
    pictures : sequence of PageSection
        Sections with pictures.
    where : str
        As in `points_table`.
    """
    points, failures = document["points"], document["failures"]
    names = list(dict.fromkeys(name for point in (*points, *failures) for name in point["labels"]))
    link = base.links[varied_link(base.network, names)]
    parts = [*pictures, PageSection("Points", tables=(points_table(points, link["name"], where),))]
    if failures:
        parts.append(PageSection("Failed points", tables=(failures_table(failures),)))
    total = len(points) + len(failures)
    return ReportPage(
        kind="Sweep",
        title=document["title"] or base.title,
        question=(_question(names, points, failures), set_up(base, link)),
        headline=count(total, "point") if not failures else f"{len(points):,} of {count(total, 'point')}",
        sentence=_sentence(points, failures, quantities(points)),
        tone="bad" if failures else "plain",
        parts=tuple(parts),
        warnings=tuple(document["warnings"]),
        scenario=document["base"],
        resolved=base.canonical,
        reproduce=_reproduce(document),
        provenance=(
            ("seed", str(document["seed"])),
            ("replications", str(document["replications"])),
            ("elephan that ran it", str(document["engine_version"])),
            made_by(),
        ),
    )


def _over_time(folder: Path) -> list[PageSection]:
    """Draw the points over each other, if the store still has their samples."""
    kept = [point for point in read_sweep(folder).points if point.has_samples]
    if len(kept) < 2:
        return []
    shown = [kept[i] for i in chosen(len(kept))]
    names = run_names([point.labels for point in shown])
    figures = laid_over(named_runs({name: point.stored for name, point in zip(names, shown, strict=True)}))
    some = f"{len(shown)} of the {count(len(kept), 'point')}, replication 1 of each"
    return [PageSection("Over time", (f"{some}; the pictures are zoomed together along time.",), figures)]


def _value_text(key: str, value: object) -> str:
    return format_time(value) if key.endswith("_s") and isinstance(value, int | float) else str(value)


def _question(names: Sequence[str], points: Sequence[SweepPointDocument], failures: Sequence[SweepFailure]) -> str:
    if not names:
        return "What happens at the one point of this sweep?"
    each = [
        f"{name} ({count(len(dict.fromkeys(str(p['labels'].get(name)) for p in (*points, *failures))), 'value')})"
        for name in names
    ]
    return f"How do the results depend on {joined(each)}?"


def _sentence(
    points: Sequence[SweepPointDocument], failures: Sequence[SweepFailure], found: Sequence[MeasuredColumn]
) -> str:
    phrases = []
    for own in found[:3]:
        known = [(v, i) for i, v in enumerate(own.mean) if v is not None]
        if known and own.title:
            (low, at), (high, there) = min(known), max(known)
            unit = "" if own.unit == "%" else f"{own.unit}"
            ends = [plain(v / 100, "%") if own.unit == "%" else plain(v, unit) for v in (low, high)]
            phrases.append(
                f"{own.title} lies between {ends[0]} ({_where(points[at])}) and {ends[1]} ({_where(points[there])})"
                if low < high
                else f"{own.title} is {ends[0]} everywhere"
            )
    text = "; ".join(phrases)
    text = f"{capital(text)}." if text else "Nothing was measured."
    failed = f" {count(len(failures), 'point')} failed." if failures else ""
    return text + failed


def _where(point: SweepPointDocument) -> str:
    names = short(list(point["labels"]))
    return ", ".join(f"{names[name]} {value}" for name, value in point["labels"].items())


def quantities(points: Sequence[SweepPointDocument]) -> list[MeasuredColumn]:
    """List the quantities that can be shown, the most important first."""
    found: list[MeasuredColumn] = []
    read: Sequence[Mapping[str, Any]] = points
    for part in (LINKS, GROUPS):
        names = list(dict.fromkeys(row["name"] for point in read for row in point[part]))
        by_name = [{row["name"]: row for row in point[part]} for point in read]
        if part == GROUPS:
            found += [
                quantity(each.title, "", [point[FAIRNESS][each.name] for point in read])
                for each in tabled(FAIRNESS)
                if each.title
            ]
        for name in names:
            of = f" of {name}" if len(names) > 1 or part == LINKS else f", {name}"
            rows = [own.get(name, {}) for own in by_name]
            found += [
                quantity(f"{each.title}{of}", each.sentence_unit, [row.get(each.name) for row in rows])
                for each in tabled(part)
                if each.title
            ]
    return [own for own in found if any(v is not None for v in own.mean)]


def points_table(points: Sequence[SweepPointDocument], link: str = "", where: str = "") -> Table:
    """List the points.

    Parameters
    ----------
    link : str
        Name of the link that notebooks show.
    where : str
        File with all points; if it is given, the table has only as many as a page can hold.
    """
    labels = list(dict.fromkeys(name for point in points for name in point["labels"]))
    links = list(dict.fromkeys(row["name"] for point in points for row in point["links"]))[:MOST_COLUMNS]
    groups = list(dict.fromkeys(row["name"] for point in points for row in point["groups"]))[:MOST_COLUMNS]

    def of(part: str, name: str, head: str, key: str, scale: float) -> Column:
        def shown(point: Mapping[str, Any]) -> Cell:
            row: Mapping[str, Any] = next((row for row in point[part] if row["name"] == name), {})
            return cell(row.get(key), scale, of=key)

        return Column(f"{name}: {head}", shown)

    costs = (
        ("utilization [%]", "utilization", 100.0),
        ("loss [%]", "loss_ratio", 100.0),
        ("delay [ms]", "queueing_delay_s", 1e3),
    )
    # Pings are judged by their round-trip time, not by goodput.
    ping, goodput = ("round trip, 95 % [ms]", "rtt_p95_s", 1e3), ("goodput [Mbit/s]", "goodput_bps", 1e-6)
    pings = {row["name"] for point in points for row in point["groups"] if "rtt_p95_s" in row}
    columns = (
        *(label_column(name).within(_labels) for name in labels),
        *(of("links", name, *cost)._replace(main=name == link) for name in links for cost in costs),
        *(of("groups", name, *(ping if name in pings else goodput)) for name in groups),
        *_metric_columns(points),
        measured_column("Jain's index", "jain").within(lambda point: point["fairness"]),
        Column("run", lambda point: cell(str(point["run"])[:12]), main=False),
    )
    return tabulated("Points, with 95 % intervals", columns, points, where=where, names=len(labels))


def _metric_columns(points: Sequence[SweepPointDocument]) -> Iterator[Column]:
    """Yield the columns of the metrics that were requested."""
    known: dict[tuple[str, str, str], list[MetricDocument]] = {}
    for row in (row for point in points for row in point.get("metrics", ())):
        known.setdefault(_metric_key(row), []).append(row)
    for key, rows in known.items():
        divide, unit = scaled(rows[0]["unit"], [row["value"]["mean"] or 0.0 for row in rows])
        metric, quantity, name = key
        head = f"{name}: " * bool(name) + row_name(metric, quantity) + f" [{unit}]" * (unit not in ("", "1"))
        yield Column(head, partial(_metric_cell, key, 1 / divide))


def _metric_key(row: MetricDocument) -> tuple[str, str, str]:
    return row["metric"], row["quantity"], row["name"]


def _metric_cell(key: tuple[str, str, str], scale: float, point: SweepPointDocument) -> Cell:
    found = [row["value"] for row in point.get("metrics", ()) if _metric_key(row) == key]
    return cell(found[0] if found else None, scale, of=key[1])


def failures_table(failures: Sequence[SweepFailure]) -> Table:
    """List the points that failed."""
    labels = dict.fromkeys(name for point in failures for name in point["labels"])
    columns = (*(label_column(name).within(_labels) for name in labels), fact_column("error", "error"))
    return tabulated("Points that failed", columns, failures, where="sweep.json", names=len(labels))


def _labels(point: SweepPointDocument | SweepFailure) -> dict[str, Any]:
    return point["labels"]


def _reproduce(document: SweepDocument) -> tuple[TerminalCommand, ...]:
    """Write the sweep as a file beside its base, and the command line that runs it."""
    import tomli_w  # noqa: PLC0415 (beside pages, nothing here writes TOML)

    mapping: dict[str, Any] = {"base": "base.toml"} | _lists(document["axes"])
    if document["title"]:
        mapping = {"title": document["title"]} | mapping
    precision = " ".join(f"--precision {shlex.quote(text)}" for text in document["precision"])
    most = f" --max-replications {document['max_replications']}" if precision else ""
    line = f"elephan sweep sweep.toml {precision}{most}".rstrip() + " --out swept/"
    return (
        TerminalCommand(
            tomli_w.dumps(mapping).rstrip(), "Save this as sweep.toml, and the scenario below as base.toml beside it."
        ),
        TerminalCommand(line, "The same points; what is in the store already is not run again."),
    )


def _lists(axes: Sequence[AxisDocument]) -> dict[str, Any]:
    """Return the axes in the form of a sweep file."""
    over: dict[str, Any] = {}
    zipped: list[dict[str, Any]] = []
    cases: list[dict[str, Any]] = []
    for axis in axes:
        if "cases" in axis:
            cases += [
                {"name": case["name"], "set": {place: as_value(v) for place, v in case["set"].items()}}
                | _lists(case["axes"])
                for case in axis["cases"]
            ]
            continue
        places = axis["places"]
        columns = {place: [as_value(row[i]) for row in axis["values"]] for i, place in enumerate(places)}
        if len(places) == 1:
            over |= columns
        else:
            zipped.append(columns)
    found = {"over": over, "zip": zipped, "cases": cases}
    return {key: value for key, value in found.items() if value}


def check_points(document: Mapping[str, Any], path: Path) -> None:
    """Refuse a document without points.

    Parameters
    ----------
    path : Path
        Path for the message.

    Raises
    ------
    InputError
        If it has none.
    """
    if not isinstance(document.get("points"), list) or not isinstance(document.get("failures"), list):
        raise InputError(f"{path}: holds no points; run the sweep again")
