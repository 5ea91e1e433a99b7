"""Comparisons of variants with the same random numbers: two with paired differences, or several in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.pictures.figure import COLOURS, Axis, Figure, Series, colour
from elephan.pictures.table import Table, cell
from elephan.pictures.words import NARROW, joined, number
from elephan.reports.folders import page_of_several
from elephan.reports.page import PageSection, ReportPage
from elephan.reports.side_by_side import LEAST
from elephan.runs.result import DELAYS, RunResult
from elephan.runs.side_by_side import decisive, differing
from elephan.stats import estimate, paired
from elephan.store.stored import StoredRun
from elephan.units import format_measured
from elephan.web.cards import labels_of

if TYPE_CHECKING:
    from elephan.results import Quantity

PAGES = "pages.parquet"
"""File with the page times of a run; only runs with pages have it."""

SAID = {
    "utilization": ("utilization", "uses {1} of the link"),
    "mean queueing delay": ("queueing delay", "packets wait {1}"),
    "mean round trip of": ("round trip of{0}", "a round trip of{0} takes {1}"),
    "goodput of one flow of": ("goodput of{0}", "a flow of{0} gets {1}"),
    "time of a page, 95 %": ("page times", "95 % of the pages take at most {1}"),
}
"""Quantities in the headline of a comparison, by the beginning of their labels: name, and template of a sentence."""

MORE = ("utilization", "goodput")
"""Quantities for which a larger value is better, by the beginning of their labels."""


def quantities(run: StoredRun | RunResult) -> dict[str, list[float]]:
    """Return the compared quantities, each with a value per replication: of the link, of pages, then of flows."""
    scenario, outcomes = run.scenario, run.outcomes
    link = scenario.link_index(None)
    found = {
        "utilization [%]": [100 * float(each.links["utilization"][link]) for each in outcomes],
        "mean queueing delay [ms]": [1e3 * float(each.links["queueing_delay_s"][link]) for each in outcomes],
        "loss [%]": [100 * each.loss_ratio(link) for each in outcomes],
    }
    if isinstance(run, StoredRun) and (run.folder / PAGES).is_file():
        pages = run.read("pages")
        run_of, took_s = (np.asarray(pages[name]) for name in ("replication", "duration_s"))
        times = [took_s[run_of == i] for i in range(len(outcomes))]
        for label, how in (("mean time of a page", np.mean), ("time of a page, 95 %", lambda x: np.quantile(x, 0.95))):
            found[f"{label} [s]"] = [float(how(x)) if x.size else float("nan") for x in times]
    for i, group in enumerate(scenario.groups):
        mine = [each.flows["group"] == i for each in outcomes]
        name = group["name"]
        if (key := DELAYS.get(group["traffic"])) is not None:
            what = "round trip" if key == "rtt" else "one-way delay"
            values = [1e3 * each.flows["delay_s"][at].mean() for each, at in zip(outcomes, mine, strict=True)]
            found[f"mean {what} of {name} [ms]"] = [float(value) for value in values]
        else:
            values = [1e-6 * each.flows["goodput_bps"][at].mean() for each, at in zip(outcomes, mine, strict=True)]
            found[f"goodput of one flow of {name} [Mbit/s]"] = [float(value) for value in values]
    return found


def verdict(names: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, str]:
    """Return the headline of a comparison, which begins with clear differences, and a sentence with both values."""
    better: dict[str, list[str]] = {name: [] for name in names}
    alike: list[str] = []
    values: tuple[list[str], list[str]] = ([], [])
    # For groups that read pages, the page times matter and not the goodput.
    has_pages = any(label.startswith("time of a page") for label, *_ in rows)
    shown = [start for start in SAID if not (has_pages and start.startswith("goodput"))]
    for label, *means, _, differs in rows:
        start = next((start for start in shown if label.startswith(start)), None)
        if start is None:
            continue
        of, _, unit = label.removeprefix(start).rstrip("]").partition(" [")
        a, b = map(float, means)
        for said, mean in zip(values, (a, b), strict=True):
            said.append(SAID[start][1].format(of, f"{number(mean, 3)}{NARROW}{unit}"))
        words = SAID[start][0].format(of)
        if differs != "yes" or max(a, b) < LEAST["%"] * min(a, b):
            alike.append(words)
        else:
            better[names[(b > a) == label.startswith(MORE)]].append(words)
    parts = [f"{name} is better in {joined(found)}" for name, found in better.items() if found]
    parts += [f"no clear difference in {joined(alike)}"] if alike else []
    sentence = " ".join(f"{name} {joined(said)}." for name, said in zip(names, values, strict=True))
    headline = "; ".join(parts)
    return f"{headline[:1].upper()}{headline[1:]}", sentence


def paired_table(runs: Sequence[StoredRun]) -> dict[str, Any]:
    """Return the paired differences of two runs, B - A, with 95 % intervals, as a table."""
    first, second = map(quantities, runs)
    rows = []
    for label in (each for each in first if each in second):
        a, b = np.array(first[label]), np.array(second[label])
        if a.shape != b.shape or not (np.isfinite(a) & np.isfinite(b)).any():
            continue
        found = paired(b, a).difference
        sure = "" if found.ci95 is None else "yes" if abs(found.mean) > found.ci95 else "no"
        shown = (f"{float(np.nanmean(values)):.4g}" for values in (a, b))
        rows.append([label, *shown, format_measured({"mean": found.mean, "ci95": found.ci95}), sure])
    heads = ["quantity", "A", "B", "B - A, with 95 % interval", "differs"]
    pairs = f"{len(runs[0].outcomes)} pairs of replications"
    note = f"Differences of {pairs} with the same random numbers, whose common effects cancel."
    numeric = [False, True, True, True, False]
    return {"title": "Paired difference", "heads": heads, "rows": rows, "numeric": numeric, "note": note}


def page_of_variants(runs: Mapping[str, StoredRun]) -> ReportPage:
    """Return the page of two or more variants, by name; only two are drawn in the same figures."""
    if len(runs) == 2:
        page, rows = page_of_several(dict(runs)), paired_table(list(runs.values()))["rows"]
        headline, sentence = verdict(list(runs), rows)
        # Runs with different numbers of replications cannot be paired.
        return replace(page, headline=headline, sentence=sentence) if rows else page
    table, best = options_table(runs)
    won: dict[str, list[str]] = {}
    for label, name in best.items():
        won.setdefault(name, []).append(label.partition(" [")[0].removeprefix("mean "))
    others = won.pop("", [])
    headline = "; ".join(f"{name} is best in {joined(labels)}" for name, labels in won.items()) or "None is best"
    sentence = f"The intervals decide no best one in {joined(others)}." if others else ""
    scenario = next(iter(runs.values())).scenario
    parts = (PageSection("Results", (), tuple(options_pictures(runs)), (table,)),)
    found = [(name, warned) for name, run in runs.items() for warned in run.to_json()["warnings"]]
    warnings = tuple({**warned, "where": f"{name}: {warned['where']}"} for name, warned in found)
    about: dict[str, Any] = {"parts": parts, "warnings": warnings, "scenario": scenario.text}
    return ReportPage("Options", scenario.title, (), headline, sentence, **about)


def names_of(runs: Sequence[StoredRun]) -> list[str]:
    """Return the names of stored variants: A and B for two; for more, the values in which they differ."""
    if len(runs) == 2:
        return ["A", "B"]
    labels = labels_of("queue") | labels_of("law")
    columns = ([labels.get(x, x) for x in key.values] for key in decisive(differing([run.scenario for run in runs])))
    return [", ".join(row) for row in zip(*columns, strict=True)]


def options_table(runs: Mapping[str, StoredRun | RunResult]) -> tuple[Table, dict[str, str]]:
    """Return the table of options, and the best one for each quantity (empty if the intervals do not decide)."""
    found = {name: quantities(run) for name, run in runs.items()}
    labels = list(dict.fromkeys(label for each in found.values() for label in each))
    best = {label: best_of({name: each.get(label, []) for name, each in found.items()}, label) for label in labels}
    rows = []
    for name, run in runs.items():
        row = [(cell(_mean(found[name].get(label, []))), best[label] == name) for label in labels]
        cells = [shown._replace(text=f"{shown.text} best") if is_best else shown for shown, is_best in row]
        by = str(len(run.outcomes)) if isinstance(run, StoredRun) else "short run"
        rows.append((cell(name), *cells, cell(by)))
    note = "Best: its paired differences from all others exclude zero with 95 % intervals, and are 1 % or more."
    return Table("All options, with 95 % intervals", ("option", *labels, "replications"), tuple(rows), note), best


def _mean(values: Sequence[float]) -> Quantity:
    return estimate(values).to_json() if np.isfinite(values).any() else {"mean": None, "ci95": None}


def best_of(values: Mapping[str, Sequence[float]], label: str) -> str:
    """Return the name whose values are better than all others by paired differences; empty if none is."""
    if len(values) < 2 or any(len(each) < 2 or not np.isfinite(each).all() for each in values.values()):
        return ""
    means = {name: float(np.mean(each)) for name, each in values.items()}
    first = (max if label.startswith(MORE) else min)(means, key=means.__getitem__)
    for name in (name for name in values if name != first):
        difference = paired(values[first], values[name]).difference
        low, high = sorted((means[first], means[name]))
        if not abs(difference.mean) > (difference.ci95 or 0.0) or high < LEAST["%"] * low:
            return ""
    return first


def options_pictures(runs: Mapping[str, StoredRun | RunResult]) -> list[Figure]:
    """Return the figure of utilization against delay, with a point for each option."""
    lines, said = [], []
    for i, (name, run) in enumerate(runs.items()):
        busy, delay = map(_mean, list(quantities(run).values())[:2])
        x, y = (np.array([each["mean"]], dtype=float) for each in (delay, busy))
        half = busy["ci95"] or 0.0
        hollow = i >= len(COLOURS)
        lines.append(Series(name, x, y, y - half, np.minimum(y + half, 100.0), colour(i), "points", faint=hollow))
        said.append(f"{name} {y[0]:.3g} % at {x[0]:.3g} ms")
    axes = Axis("mean queueing delay", "ms", "log"), Axis("utilization", "%")
    alt = f"Utilization against queueing delay: {', '.join(said)}."
    return [Figure("options", "Utilization against queueing delay", alt, *axes, tuple(lines))]
