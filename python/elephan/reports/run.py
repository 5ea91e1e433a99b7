"""The page of a run: the results of each link and each group of flows, over time and as distributions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.catalog import catalog
from elephan.input_files import as_text
from elephan.lint.deterministic_replications import SAME, all_the_same, without_empty_intervals
from elephan.metrics.quantity import GROUPS, LINKS, Quantity, shown
from elephan.network import counted_flows
from elephan.pictures.figure import Axis, Figure, Series, colour
from elephan.pictures.table import Cell, Column, Table, cell, fact_column, measured, measured_column, tabulated
from elephan.pictures.thin import thin
from elephan.pictures.words import capital, joined, plain, row_with_unit, with_unit
from elephan.reports.page import HeadlineNumber, PageSection, ReportPage, TerminalCommand
from elephan.reports.sources import (
    cost_tiles,
    fairness_tile,
    origin,
    rate_lines,
    read_scenario,
    set_up,
    whose,
    why_warmup,
)
from elephan.reports.testbed_section import parts as testbed_parts
from elephan.reports.testbed_section import verdict
from elephan.results.formats import table_path
from elephan.runs.measures import row_name
from elephan.runs.pictures import MOST_LINKS, busiest, over_time
from elephan.runs.sampled import SampledRun, sampled
from elephan.runs.saved import SavedRun, read_document
from elephan.scenario import Scenario
from elephan.units import count, format_rate, format_time, scaled

if TYPE_CHECKING:
    from elephan.results import GroupDocument, LinkDocument, RunDocument, RunFileDocument
    from elephan.results import Quantity as Mean


def page(folder: Path) -> ReportPage:
    """Make the page of a folder that ``elephan run --out`` wrote.

    Raises
    ------
    InputError
        If something in it cannot be read.
    """
    read: RunFileDocument = read_document(folder / "run.json")
    document, scenario = without_empty_intervals(read), read_scenario(folder / "scenario.toml")
    pictures = []
    if table_path(folder, "samples").exists():
        seen = sampled(SavedRun(folder))
        pictures.append(PageSection("Over time", (_when(document),), over_time(document, scenario, seen)))
        spread = _distributions(document, seen)
        if spread:
            pictures.append(PageSection("Distribution", figures=spread))
    return content(read, scenario, pictures)


def content(read: RunDocument, scenario: Scenario, pictures: Sequence[PageSection] = ()) -> ReportPage:
    """Describe a run.

    Parameters
    ----------
    read : mapping
        Document of ``elephan run --json``, or of a run's folder.
    pictures : sequence of PageSection
        Sections with pictures.
    """
    same, document = all_the_same(read), without_empty_intervals(read)
    run, links, sharing = document["run"], document["links"], counted_flows(scenario.groups)
    # Packets of real stacks may be late; those of a simulation cannot.
    beside: Mapping[str, Any] = document
    tested = beside.get("testbed")
    parts = [*([] if tested is None else testbed_parts(tested)), *pictures]
    of_links = links_table(links, limits(scenario)), drops_table(links), pools_table(document)
    parts.append(PageSection("Links", tables=tuple(each for each in of_links if each.rows)))
    parts.append(PageSection("Flows", tables=_groups(document, scenario, sharing)))
    if document.get("metrics"):
        parts.append(PageSection("Metrics", tables=(metrics_table(document),)))
    loaded = [link for link, facts in zip(links, scenario.links, strict=True) if facts["flows"]] or links
    return ReportPage(
        kind="Run" if tested is None else "Run on a testbed",
        title=scenario.title,
        question=("What happens on this network?", *_network(scenario)),
        headline=_headline(loaded) if tested is None or tested["valid"] else "The testbed is not valid",
        sentence=_sentence(document, loaded),
        tone="plain" if tested is None or tested["valid"] else "bad",
        tiles=_tiles(document, loaded, sharing),
        notes=(*(() if tested is None else (verdict(tested),)), *_precision(document)),
        commands=tuple(
            TerminalCommand(link["tc"], f"The queue of {link['name']} on Linux.") for link in links if link["tc"]
        ),
        parts=tuple(parts),
        warnings=tuple(document["warnings"]),
        scenario=scenario.text,
        resolved=scenario.canonical,
        reproduce=(_again(scenario, real=tested is not None),),
        provenance=(
            *origin(run),
            ("replications", f"{run['replications']}{f', {SAME}' if same else ''}"),
            (
                "simulated",
                f"{format_time(run['duration_s'])} each, {run['packets_delivered']:,} packets delivered in all",
            ),
            ("warm-up", why_warmup(run)),
            ("engine", run["engine"]),
            *((name, str(value)) for name, value in beside.get("provenance", {}).items() if name != "engine_version"),
            ("time taken", format_time(run["wall_s"])),
        ),
    )


def command(scenario: Scenario) -> str:
    """Write the command line that gives the same numbers.

    Parameters
    ----------
    scenario : Scenario
        The scenario as it was run, with its replications and seed.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> command(Scenario.from_text(EXAMPLE))
    'elephan run scenario.toml --out run/ --plot'
    """
    settled = scenario.warmup_rule == "auto"
    more = f" --set {shlex.quote('warmup=auto')}" if settled else ""
    return f"elephan run scenario.toml{more} --out run/ --plot"


def _again(scenario: Scenario, *, real: bool) -> TerminalCommand:
    if real:
        return TerminalCommand(
            "sudo elephan testbed run scenario.toml --out run/", "Similar numbers: runs with real packets differ."
        )
    return TerminalCommand(command(scenario), "The same numbers, from the scenario of this page.")


def _network(scenario: Scenario) -> tuple[str, ...]:
    loaded = [facts for facts in scenario.links if facts["flows"]]
    phrases = tuple(set_up(scenario, facts) for facts in loaded[:MOST_LINKS])
    left = len(scenario.links) - len(phrases)
    return (*phrases, f"And {count(left, 'more link')}.") if left else phrases


def _headline(links: Sequence[LinkDocument]) -> str:
    first = links[0]
    return f"{first['name']} is {row_with_unit(first, 'utilization', '%', 3)} busy"


def _sentence(document: RunDocument, links: Sequence[LinkDocument]) -> str:
    phrases = []
    for link in links[:MOST_LINKS]:
        words = f"Link {link['name']} is {row_with_unit(link, 'utilization', '%', 3)} busy, packets wait "
        words += f"{row_with_unit(link, 'queueing_delay_s', 's', 2)} and "
        words += f"{row_with_unit(link, 'loss_ratio', '%', 2)} are lost"
        phrases.append(words)
    flows = [
        f"each of {count(group['flows'], (group['law'] or 'datagram') + ' flow')} ({group['name']}) gets "
        f"{row_with_unit(group, 'goodput_per_flow_bps', 'bit/s', 3)}"
        if group["flows"] > 1
        else f"{group['name']} ({group['law'] or 'datagrams'}) gets {row_with_unit(group, 'goodput_bps', 'bit/s', 3)}"
        for group in document["groups"][:MOST_LINKS]
    ]
    groups: Sequence[Mapping[str, Any]] = document["groups"]
    timed = [
        f" Of {group['name']} {what} takes {row_with_unit(group, f'{key}_s', 's', 3)}, 95 % of the time at most "
        f"{plain(group[f'{key}_p95_s'], 's', 3)}."
        for group in groups
        for key, what, _ in TIMED
        if f"{key}_s" in group and group[f"{key}_s"]["mean"] is not None
    ]
    return f"{'; '.join(phrases)}. {capital(joined(flows))}.{''.join(timed[:MOST_LINKS])}"


def _tiles(document: RunDocument, links: Sequence[LinkDocument], sharing: int) -> tuple[HeadlineNumber, ...]:
    link = links[0]
    of = f"of {link['name']}" if len(document["links"]) > 1 else ""
    found = [*cost_tiles(link, of), HeadlineNumber("Goodput", with_unit(_total(document), "bit/s"), "of all flows")]
    groups: Sequence[Mapping[str, Any]] = document["groups"]
    timed = ((group, key) for group in groups for key, _, _ in TIMED if f"{key}_s" in group)
    for group, key in list(timed)[:2]:
        label = f"{group['name']}: {'round trip' if key == 'rtt' else 'delay, one way'}"
        found.append(HeadlineNumber(label, plain(group[f"{key}_p95_s"], "s"), "95 % take at most this"))
    if sharing > 1:
        found += fairness_tile(document["fairness"])
    if link["buffer_packets"] is not None:
        found.append(HeadlineNumber("Buffer", count(link["buffer_packets"], "packet"), of))
    return tuple(found)


def _total(document: RunDocument) -> Mean | float:
    """Return the goodput of all groups, with an interval only if there is a single group."""
    groups = document["groups"]
    if len(groups) == 1:
        return groups[0]["goodput_bps"]
    return sum(group["goodput_bps"]["mean"] or 0.0 for group in groups)


def _precision(document: RunDocument) -> tuple[str, ...]:
    asked = document.get("precision")
    if asked is None:
        return ()
    rows = [
        f"{row['metric']} to {plain(row['wanted'], '%')} of its mean, reached {plain(row['reached'], '%')}"
        for row in asked["metrics"]
    ]
    head = "The precision asked for was reached" if asked["met"] else "The precision asked for was not reached"
    return (f"{head}: {'; '.join(rows)}.",)


def _when(document: RunDocument) -> str:
    run = document["run"]
    words = f"Replication 1 of {run['replications']}"
    words += f"; shaded: the warm-up of {format_time(run['warmup_s'])}" if run["warmup_s"] else ""
    return f"{words}. The pictures are zoomed together along time."


def _distributions(document: RunDocument, seen: SampledRun) -> tuple[Figure, ...]:
    """Draw the distribution of the backlog, over all replications after the warm-up."""
    shown = busiest(document["links"], seen)
    found = []
    for k, name in enumerate(shown):
        values, share = seen.distribution(name)
        if values.size:
            x, y = thin(values, share, 2000)
            found.append(Series(name, x, y, colour=colour(k), kind="step"))
    if not found:
        return ()
    rows = {link["name"]: link for link in document["links"]}
    phrases = [
        f"{name}: half of the time at most {plain(rows[name]['backlog_p50_packets'], 'packets')} wait, 95 % of the "
        f"time at most {plain(rows[name]['backlog_p95_packets'], 'packets')}, 99 % of the time at most "
        f"{plain(rows[name]['backlog_p99_packets'], 'packets')}"
        for name in shown
        if rows[name]["backlog_p50_packets"]["mean"] is not None
    ]
    alt = f"Cumulative distribution of the backlog at the samples after the warm-up. {'. '.join(phrases)}."
    axes = Axis("backlog", "packets", low=0.0), Axis("share of the samples", low=0.0, high=1.02)
    backlog = Figure("distribution", "Distribution of the backlog", alt, *axes, tuple(found))
    return (backlog, *_delays(document, shown))


def _delays(document: RunDocument, shown: list[str]) -> tuple[Figure, ...]:
    """Draw percentiles of the queueing delay of each link."""
    keys = ("queueing_delay_s", "queueing_delay_p50_s", "queueing_delay_p95_s", "queueing_delay_p99_s")
    links: Sequence[Mapping[str, Any]] = document["links"]
    rows = [link for link in links if link["name"] in shown and link[keys[1]]["mean"] is not None]
    if not rows:
        return ()
    names = ("mean", "half wait less", "95 % wait less", "99 % wait less")
    series, phrases = [], []
    for k, link in enumerate(rows):
        mean = 1e3 * np.array([link[key]["mean"] for key in keys])
        half = 1e3 * np.array([link[key]["ci95"] or 0.0 for key in keys])
        x = np.arange(4.0) + 0.12 * (k - (len(rows) - 1) / 2)
        series.append(Series(link["name"], x, mean, np.maximum(mean - half, 0), mean + half, colour(k), "points"))
        each = ", ".join(f"{name} {plain(link[key], 's')}" for name, key in zip(names, keys, strict=True))
        phrases.append(f"{link['name']}: {each}")
    delays = (measured_column(f"{name} [ms]", key, 1e3) for name, key in zip(names, keys, strict=True))
    table = tabulated("Queueing delay, with 95 % intervals", (fact_column("link", "name"), *delays), rows)
    alt = f"Queueing delay: mean and percentiles. {'. '.join(phrases)}."
    y = Axis("queueing delay", "ms", low=0.0)
    title = "Queueing delay: mean and percentiles"
    x_axis = Axis("", scale="names", names=names)
    return (Figure("delay", title, alt, x_axis, y, tuple(series), table=table, height=260),)


def links_table(links: Sequence[LinkDocument], note: str = "") -> Table:
    """List the results of each link."""
    columns = [
        fact_column("link", "name"),
        Column("rate", lambda link: cell(format_rate(link["rate_bps"])), main=False),
        fact_column("queue", "discipline").within(lambda link: link["queue"]),
        Column("buffer [packets]", _buffer),
        *(
            measured_column(each.page_head, each.name, each.shown_unit[1])._replace(main=_is_main(each, links))
            for each in shown(LINKS, on_screen=False)
        ),
    ]
    if any("pool" in link for link in links):
        occupancy = measured_column("of pool [%]", "occupancy", 100)
        columns.append(
            Column("of pool [%]", lambda link: occupancy.cell(link["pool"]) if "pool" in link else cell(None))
        )
    if any(map(settings, links)):
        columns.append(Column("settings of the queue", lambda link: cell(settings(link) or None), main=False))
    return tabulated("Links, with 95 % intervals", columns, links, note)


def _is_main(quantity: Quantity, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether notebooks show a quantity: they show the quantities of screens."""
    form = quantity.shown
    return form is not None and bool(form.head) and form.has_values(quantity.name, rows)


def _buffer(link: LinkDocument) -> Cell:
    if link["buffer_packets"] is not None:
        return cell(link["buffer_packets"])
    return cell(f"in {link['pool']['name']}" if "pool" in link else "unlimited")


def settings(link: LinkDocument) -> str:
    """Return the parameters of a link's queue that differ from their defaults."""
    cards = {card["name"]: card["parameters"] for card in catalog("queues")}
    queue = link["queue"]
    defaults = {each["name"]: as_text(each["default"]) for each in cards[queue["discipline"]]}
    chosen = [f"{key} = {as_text(queue[key])}" for key, usual in defaults.items() if as_text(queue[key]) != usual]
    # Values that were converted from other units may have all digits of a double.
    return re.sub(r"\d+\.\d{5,}", lambda found: f"{float(found[0]):.5g}", ", ".join(chosen))


def limits(scenario: Scenario) -> str:
    """Return the lines of `rate_lines` as sentences.

    Examples
    --------
    >>> from elephan.scenario import EXAMPLE, Scenario
    >>> policed = {"links[0].policer": {"rate": "2 Mbit/s", "burst": "15 kB"}}
    >>> limits(Scenario.from_text(EXAMPLE).replace(policed))
    'core: utilization is of its rate, 10 Mbit/s; its policer lets 2 Mbit/s through.'
    """
    return " ".join(f"{line}." for line in rate_lines(scenario.resolved["links"]))


def pools_table(document: RunDocument) -> Table:
    """List the occupancy of each pool of memory."""
    columns = (
        fact_column("pool", "name"),
        measured_column("used [%]", "occupancy", 100),
        measured_column("at most [%]", "occupancy_max", 100),
        measured_column("packets dropped because it was full", "drops"),
    )
    return tabulated("Pools, with 95 % intervals", columns, document.get("pools", ()))


def drops_table(links: Sequence[LinkDocument]) -> Table:
    """List the packets that each link dropped by cause; only links and causes with drops."""
    causes = [cause for cause in links[0]["drops"] if any(link["drops"][cause]["mean"] for link in links)]
    marks = any(link["marks"]["mean"] for link in links)
    some = [link for link in links if any(link["drops"][cause]["mean"] for cause in causes) or link["marks"]["mean"]]
    columns = (
        fact_column("link", "name"),
        *(Column(f"dropped: {cause}", partial(_dropped, cause)) for cause in causes),
        *((measured_column("marked", "marks"),) if marks else ()),
    )
    minor = (column.minor() for column in columns)
    return tabulated("Packets dropped, by cause, with 95 % intervals", minor, some)


def _dropped(cause: str, link: LinkDocument) -> Cell:
    return cell(link["drops"][cause], of="drops")


def metrics_table(document: RunDocument) -> Table:
    """List the requested metrics."""

    def form(row: Mapping[str, Any]) -> tuple[float, str]:
        return scaled(row["unit"], [row["value"]["mean"] or 0.0])

    # Properties of the network are the same in all replications.
    some = any(row["replications"] not in (document["run"]["replications"], 1) for row in document["metrics"])

    columns = (
        Column("metric", lambda row: cell(row_name(row["metric"], row["quantity"]))),
        Column("of", lambda row: cell(row["name"] or row["of"])),
        Column("value", lambda row: cell(row["value"], 1 / form(row)[0], of=row["quantity"])),
        Column("unit", lambda row: cell(form(row)[1].removeprefix("1"))),
        fact_column("replications with a value", "replications")._replace(main=some),
    )
    return tabulated("Metrics that were asked for, with 95 % intervals", columns, document["metrics"])


def groups_table(groups: Sequence[GroupDocument], traffic: Mapping[str, str] = MappingProxyType({})) -> Table:
    """List the results of each group of flows.

    Parameters
    ----------
    traffic : mapping of str to str
        Kind of traffic of each group by name, for those without a law.
    """

    def of(quantity: Quantity) -> Column:
        name, (_, scale) = quantity.name, quantity.shown_unit
        head, main = quantity.page_head, _is_main(quantity, groups)
        return Column(head, lambda group: measured(group, name, scale) if name in group else cell("-"), main)

    columns = (
        fact_column("group", "name"),
        Column("law", lambda group: cell(group["law"] or traffic.get(group["name"]))),
        fact_column("recovery", "recovery").minor(),
        fact_column("flows", "flows"),
        *(
            of(each)
            for each in shown(GROUPS, on_screen=False)
            if each.shown is not None and each.shown.has_values(each.name, groups)
        ),
    )
    return tabulated("Groups of flows, with 95 % intervals", columns, groups)


def _groups(document: RunDocument, scenario: Scenario, sharing: int) -> tuple[Table, ...]:
    """Make the tables of the groups, and of the fairness if several flows count: a single flow's index is always 1."""
    fair, traffic = document["fairness"], {group["name"]: group["traffic"] for group in scenario.groups}
    tables = (groups_table(document["groups"], traffic), *_timed(document), *_transfers(document))
    if sharing == 1:
        return tables
    shares = Table(
        f"Fairness{whose(document['groups'])}, with 95 % intervals",
        ("index", "value"),
        (
            (cell("Jain's index"), cell(fair["jain"], of="jain", flows=sharing)),
            (cell("Jain's index over max-min fair shares"), cell(fair["jain_maxmin"], of="jain_maxmin", flows=sharing)),
            (cell("ratio of goodputs, short against long RTT"), measured(fair, "rtt_ratio")),
        ),
    )
    return (*tables, shares)


TIMED = (
    ("rtt", "the round trip", "Round trip of pings"),
    ("delay", "the delay, one way,", "Delay of datagrams, one way"),
)
"""Prefixes of the keys of timed datagrams, and words for them."""


def _timed(document: RunDocument) -> tuple[Table, ...]:
    """Make the table of the delays of groups of timed datagrams."""
    heads = {"s": "mean", "p50_s": "half take at most", "p95_s": "95 % take at most", "p99_s": "99 % take at most"}
    found = []
    for key, _, title in TIMED:
        columns = [measured_column(f"{head} [ms]", f"{key}_{part}", 1e3) for part, head in heads.items()]
        if rows := [group for group in document["groups"] if f"{key}_s" in group]:
            table = tabulated(f"{title}, with 95 % intervals", (fact_column("group", "name"), *columns), rows)
            found.append(table)
    return tuple(found)


def _transfers(document: RunDocument) -> tuple[Table, ...]:
    some = [(group["name"], group["transfers"]) for group in document["groups"] if group["transfers"] is not None]
    if not some:
        return ()
    heads = ("group", "opened", "complete", "refused", "open", "time [s]", "95th percentile [s]", "slowdown")
    keys = ("opened", "completed", "refused", "open", "completion_time_s", "completion_time_p95_s", "slowdown")
    rows = tuple((cell(name), *(measured(each, key) for key in keys)) for name, each in some)
    of_pages = (None, "pages", None, None, "page_time_s", "page_time_p95_s", None)
    pages = tuple(
        (cell(f"{name}: pages"), *(cell(None) if key is None else measured(each, key) for key in of_pages))
        for name, each in some
        if "pages" in each
    )
    return (Table("Transfers, with 95 % intervals", heads, rows + pages),)
