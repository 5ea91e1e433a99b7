"""The page of several runs over each other: what differs between them, what each gave, and all of them over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elephan.pictures.table import Table, cell
from elephan.pictures.words import count, joined, plain
from elephan.report.page import PageSection, ReportPage
from elephan.report.sources import made_by, set_up
from elephan.run.side_by_side import differing, laid_over, named_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan.run.saved import ReplicatedRun
    from elephan.run.side_by_side import DifferingKey, NamedRun

MOST_KEYS = 4
"""Keys that the question names, and the table of results has columns for."""

NO_SAMPLES = "kept no samples, and has no line below; run it again with --out, in Python with series=True"


def page(runs: Mapping[str, ReplicatedRun]) -> ReportPage:
    """Make the page of several runs.

    Parameters
    ----------
    runs : mapping of str to RunResult, StoredRun, SavedRun or TestbedResult
        By the name that tells them apart.

    Raises
    ------
    InputError
        If they are too few or too many.
    """
    named = named_runs(runs)
    keys = differing([run.scenario for run in named])
    figures = laid_over(named)
    first = named[0]
    parts = [PageSection("Results", (), (), (results_table(named, keys),))]
    if figures:
        lead = "Replication 1 of each; the pictures are zoomed together along time."
        without = [run.name for run in named if run.seen is None]
        missing = (f"{joined(without)} {NO_SAMPLES}.",) if without else ()
        parts.append(PageSection("Over time", (lead, *missing), figures))
    if keys:
        parts.append(PageSection("What differs", (), (), (keys_table(named, keys),)))
    return ReportPage(
        kind="Runs over each other",
        title=joined(dict.fromkeys(run.scenario.title for run in named)),
        question=(_question(keys), set_up(first.scenario, first.scenario.links[first.scenario.link_index(None)])),
        headline=count(len(named), "run"),
        sentence=_sentence(named),
        notes=tuple(f"{run.name} {NO_SAMPLES}." for run in named if run.seen is None) if not figures else (),
        parts=tuple(parts),
        warnings=_warnings(named),
        scenario=first.scenario.text,
        resolved=first.scenario.canonical,
        provenance=(*((f"run {run.name}", str(run.document["run"]["id"])) for run in named), made_by()),
    )


def _question(keys: Sequence[DifferingKey]) -> str:
    if not keys:
        return "Do runs of the same scenario agree?"
    named = [key.path for key in keys[:MOST_KEYS]]
    more = [count(len(keys) - len(named), "more key")] if len(keys) > len(named) else []
    return f"What {'does' if len(keys) == 1 else 'do'} {joined([*named, *more])} change?"


def _sentence(runs: Sequence[NamedRun]) -> str:
    """Who is lowest and who is highest, of what a reader asks first."""
    phrases = []
    for key, title, unit in (
        ("utilization", "Utilization", "%"),
        ("queueing_delay_s", "the mean queueing delay", "s"),
        ("loss_ratio", "the loss ratio", "%"),
    ):
        known = [(value, run.name) for run in runs if (value := _of_link(run)[key]["mean"]) is not None]
        if known:
            (low, at), (high, there) = min(known), max(known)
            ends = f"{plain(low, unit)} ({at}) and {plain(high, unit)} ({there})"
            phrases.append(f"{title} lies between {ends}" if low < high else f"{title} is {plain(low, unit)} in all")
    text = "; ".join(phrases)
    return f"{text[:1].upper()}{text[1:]}." if text else "Nothing was measured."


def _of_link(run: NamedRun) -> Any:
    """What the document says of the link that carries data."""
    name = run.scenario.links[run.scenario.link_index(None)]["name"]
    return next(link for link in run.document["links"] if link["name"] == name)


def results_table(runs: Sequence[NamedRun], keys: Sequence[DifferingKey]) -> Table:
    """List what each run gave, at the link that carries data and for each group of flows."""
    groups = list(dict.fromkeys(group["name"] for run in runs for group in run.document["groups"]))
    shown = keys[:MOST_KEYS]
    heads = [
        "run",
        *(key.path for key in shown),
        "link",
        "utilization [%]",
        "delay [ms]",
        "delay, 95th percentile [ms]",
        "loss [%]",
        *(f"{name}: each [Mbit/s]" for name in groups),
        "Jain's index",
    ]
    rows = []
    for i, run in enumerate(runs):
        link, flows = _of_link(run), {group["name"]: group for group in run.document["groups"]}
        row = [cell(run.name), *(cell(key.values[i]) for key in shown), cell(link["name"])]
        row += [cell(link["utilization"], 100), cell(link["queueing_delay_s"], 1e3)]
        row += [cell(link["queueing_delay_p95_s"], 1e3), cell(link["loss_ratio"], 100)]
        row += [cell(flows.get(name, {}).get("goodput_per_flow_bps"), 1e-6) for name in groups]
        rows.append((*row, cell(run.document["fairness"]["jain"])))
    return Table("Results, with 95 % intervals", tuple(heads), tuple(rows))


def keys_table(runs: Sequence[NamedRun], keys: Sequence[DifferingKey]) -> Table:
    """List every key that is not the same in all."""
    rows = tuple((cell(key.path), *(cell(value) for value in key.values)) for key in keys)
    return Table("Keys that differ, defaults filled in", ("key", *(run.name for run in runs)), rows)


def _warnings(runs: Sequence[NamedRun]) -> tuple[dict[str, str], ...]:
    """Each once, and of which runs it is."""
    found: dict[tuple[str, str], tuple[dict[str, str], list[str]]] = {}
    for run in runs:
        for warned in run.document["warnings"]:
            found.setdefault((warned["rule"], warned["where"]), (dict(warned), []))[1].append(run.name)
    return tuple(
        {**warned, "where": f"{joined(names)}: {warned['where']}"} if len(names) < len(runs) else warned
        for warned, names in found.values()
    )
