"""The page that compares several runs: the settings that differ, the results of each, and all of them over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elephan.pictures.table import Column, Table, cell, fact_column, measured_column
from elephan.pictures.words import joined, plain, with_unit
from elephan.reports.page import PageSection, ReportPage
from elephan.reports.sources import made_by, set_up
from elephan.runs.side_by_side import DifferingKey, NamedRun, decisive, differing, laid_over, named_runs, spoken
from elephan.scenario import Scenario
from elephan.units import count, resolved

if TYPE_CHECKING:
    from elephan.results import Quantity, WarningDocument
    from elephan.runs.saved import ReplicatedRun

MOST_KEYS = 3
"""Maximum number of keys that the question names and that have columns in the table of results."""

MOST_SAID = 4
"""Maximum number of runs that the sentence names one by one."""

_NOTHING: Quantity = {"mean": None, "ci95": None}

NO_SAMPLES = "kept no samples, and has no line below; run it again with --out (in Python with series=True)"


def page(runs: Mapping[str, ReplicatedRun]) -> ReportPage:
    """Make the page of several runs.

    Parameters
    ----------
    runs : mapping of str to RunResult, StoredRun, SavedRun or TestbedResult
        Runs by distinguishing name.

    Raises
    ------
    InputError
        If there are too few or too many.
    """
    named = named_runs(runs)
    keys = differing([run.scenario for run in named])
    decided = decisive(keys)
    found = compared(named)
    figures = laid_over(named)
    first = named[0]
    parts = [PageSection("Results", tables=(results_table(named, decided),))]
    if figures:
        lead = "Replication 1 of each; shaded: the warm-up. The pictures are zoomed together along time."
        without = [run.name for run in named if run.seen is None]
        missing = (f"{joined(without)} {NO_SAMPLES}.",) if without else ()
        parts.append(PageSection("Over time", (lead, *missing), figures))
    if keys:
        parts.append(PageSection("What differs", tables=(keys_table(named, keys),)))
    return ReportPage(
        kind="Runs over each other",
        title=joined(dict.fromkeys(run.scenario.title for run in named)),
        question=(
            _question(decided, first.scenario),
            set_up(first.scenario, first.scenario.links[first.scenario.link_index(None)]),
        ),
        headline=_headline(named, found),
        sentence=_sentence(named, found),
        notes=tuple(f"{run.name} {NO_SAMPLES}." for run in named if run.seen is None) if not figures else (),
        parts=tuple(parts),
        warnings=_warnings(named),
        scenario=first.scenario.text,
        resolved=first.scenario.canonical,
        provenance=(*((f"run {run.name}", str(run.document["run"]["id"])) for run in named), made_by()),
    )


def _question(keys: Sequence[DifferingKey], first: Scenario) -> str:
    if not keys:
        return "Do runs of the same scenario agree?"
    named = [f"the {spoken(key.path, first)}" for key in keys[:MOST_KEYS]]
    more = [count(len(keys) - len(named), "more key")] if len(keys) > len(named) else []
    return f"What {'does' if len(keys) == 1 else 'do'} {joined([*named, *more])} change?"


@dataclass(frozen=True)
class ComparedQuantity:
    """A quantity by which runs are compared: its key, its words, its unit, and its value in each run."""

    key: str
    title: str
    unit: str
    values: tuple[Quantity, ...]
    says: str = ""

    @property
    def ends(self) -> tuple[int, int] | None:
        """Return the runs with the smallest and the largest value, if their intervals do not overlap."""
        known = [(value["mean"], i) for i, value in enumerate(self.values) if value["mean"] is not None]
        if len(known) < 2:
            return None
        (low, at), (high, there) = min(known), max(known)
        room = sum(resolved(self.values[i], self.key)["ci95"] or 0.0 for i in (at, there))
        return (at, there) if high - low > room else None


def compared(runs: Sequence[NamedRun]) -> list[ComparedQuantity]:
    """List the quantities by which runs are compared, the most important first."""
    found = [
        ComparedQuantity(key, title, unit, tuple(_of_link(run)[key] for run in runs), says)
        for key, title, unit, says in (
            ("queueing_delay_s", "Mean queueing delay", "s", "Packets wait {} with {} and {} with {}"),
            ("utilization", "Utilization", "%", "The link is {} busy with {} and {} with {}"),
            ("loss_ratio", "Loss", "%", "{} of the packets are lost with {} and {} with {}"),
        )
    ]
    for name, key in timed(runs):
        title = f"{'Round trip' if key == 'rtt' else 'One-way delay'} of {name}, 95 % take at most"
        rows = (_group(run, name).get(f"{key}_p95_s", _NOTHING) for run in runs)
        found.append(ComparedQuantity(f"{key}_p95_s", title, "s", tuple(rows)))
    return found


def timed(runs: Sequence[NamedRun]) -> list[tuple[str, str]]:
    """List the groups whose datagrams are timed, with the prefix of the keys of their delays."""
    rows = [group for run in runs for group in run.document["groups"]]
    return list(dict.fromkeys((row["name"], key) for row in rows for key in ("rtt", "delay") if f"{key}_s" in row))


LEAST = {"s": 1.1, "%": 1.01}
"""Minimum ratio of the largest to the smallest value for a difference in the headline, by unit."""


DECIDES = 0.02
"""Difference of utilizations above which the headline is about utilization, not delay: idle capacity costs, too."""


def _headline(runs: Sequence[NamedRun], found: Sequence[ComparedQuantity]) -> str:
    """Return the headline: the most important differences that the intervals do not explain."""
    said: dict[str, tuple[tuple[int, int], list[float]]] = {}
    for quantity in found:
        if quantity.says and (ends := quantity.ends) is not None:
            values = [quantity.values[i]["mean"] or 0.0 for i in ends]
            if values[1] > LEAST[quantity.unit] * values[0]:
                said[quantity.key] = ends, values
    used, wait = said.get("utilization"), said.get("queueing_delay_s")
    leads = used is not None and used[1][1] - used[1][0] > DECIDES
    first = next((each for each in found if each.key in said and (each.key == "utilization" or not leads)), None)
    if first is None:
        return f"The {count(len(runs), 'run')} do not differ beyond their intervals"
    ends, values = said[first.key]
    headline = first.says.format(
        *(word for i, x in zip(ends, values, strict=True) for word in _with(runs[i], x, first))
    )
    if leads and wait is not None and wait[0] == ends:
        headline += f"; packets wait {' and '.join(plain(x, 's') for x in wait[1])}"
    return headline


def _with(run: NamedRun, value: float, of: ComparedQuantity) -> tuple[str, str]:
    return plain(value, of.unit), run.name


def _sentence(runs: Sequence[NamedRun], found: Sequence[ComparedQuantity]) -> str:
    """State the values of each run; for many runs only the smallest and the largest."""
    phrases = []
    for quantity in found:
        known = [
            (value, run.name) for value, run in zip(quantity.values, runs, strict=True) if value["mean"] is not None
        ]
        if len(known) > MOST_SAID:
            ends = [f(known, key=lambda one: one[0]["mean"] or 0.0) for f in (min, max)]
            said = " to ".join(f"{with_unit(value, quantity.unit, of=quantity.key)} ({name})" for value, name in ends)
        else:
            said = ", ".join(f"{with_unit(value, quantity.unit, of=quantity.key)} ({name})" for value, name in known)
        phrases += [f"{quantity.title}: {said}."] if known else []
    return " ".join(phrases) or "Nothing was measured."


def _of_link(run: NamedRun) -> Any:
    """Return the document's part about the link that carries data."""
    name = run.scenario.links[run.scenario.link_index(None)]["name"]
    return next(link for link in run.document["links"] if link["name"] == name)


def _group(run: NamedRun, name: str) -> Any:
    return next((group for group in run.document["groups"] if group["name"] == name), {})


def results_table(runs: Sequence[NamedRun], keys: Sequence[DifferingKey]) -> Table:
    """List the results of each run at the link that carries data and of each group of flows, one column per run."""
    groups = list(dict.fromkeys(group["name"] for run in runs for group in run.document["groups"]))
    names = list(dict.fromkeys(_of_link(run)["name"] for run in runs))
    # For pings the round trip matters, not the goodput.
    pings = {name for name, key in timed(runs) if key == "rtt"}

    def of_group(head: str, name: str, key: str, scale: float) -> Column:
        return Column(f"{name}: {head}", lambda run: cell(_group(run, name).get(key), scale, of=key))

    late = {"rtt": "round trip, 95 % [ms]", "delay": "one way, 95 % [ms]"}
    columns = (
        measured_column("delay [ms]", "queueing_delay_s", 1e3).within(_of_link),
        measured_column("delay, 95 % [ms]", "queueing_delay_p95_s", 1e3).within(_of_link),
        measured_column("loss [%]", "loss_ratio", 100).within(_of_link),
        measured_column("utilization [%]", "utilization", 100).within(_of_link),
        *(of_group(late[key], name, f"{key}_p95_s", 1e3) for name, key in timed(runs)),
        *(of_group("each [Mbit/s]", name, "goodput_per_flow_bps", 1e-6) for name in groups if name not in pings),
        measured_column("Jain's index", "jain").within(lambda run: run.document["fairness"]),
        *((fact_column("link", "name").within(_of_link),) if len(names) > 1 else ()),
    )
    rows = [(cell(column.head), *map(column.cell, runs)) for column in columns]
    rows += [(cell(spoken(key.path, runs[0].scenario)), *map(cell, key.values)) for key in keys[:MOST_KEYS]]
    of = f" at {names[0]}" if len(names) == 1 else ""
    return Table(f"Results{of}, with 95 % intervals", ("quantity", *(run.name for run in runs)), tuple(rows))


def keys_table(runs: Sequence[NamedRun], keys: Sequence[DifferingKey]) -> Table:
    """List every key that is not the same in all runs."""
    rows = tuple((cell(key.path), *(cell(value) for value in key.values)) for key in keys)
    return Table("Keys that differ, defaults filled in", ("key", *(run.name for run in runs)), rows)


def _warnings(runs: Sequence[NamedRun]) -> tuple[WarningDocument, ...]:
    """Collect the warnings, each once, with the names of its runs."""
    found: dict[tuple[str, str], tuple[WarningDocument, list[str]]] = {}
    for run in runs:
        for warned in run.document["warnings"]:
            found.setdefault((warned["rule"], warned["where"]), (warned, []))[1].append(run.name)
    return tuple(
        warned | {"where": f"{joined(names)}: {warned['where']}"} if len(names) < len(runs) else warned
        for warned, names in found.values()
    )
