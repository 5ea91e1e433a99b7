"""The work of a job: a run, two variants, a curve of buffers, or the reach of one, with pictures while it goes on.

A native run cannot be watched from Python, so a run is first simulated for a short time and then for twice as long,
again and again: the same random numbers give the same packets, so every picture is the beginning of the final one. Such
pictures are preliminary, and their means include the warm-up. The last event of a job is its final result, whose
numbers are those of the command line.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.costs import estimate
from elephan.errors import InputError
from elephan.pictures.figure import Axis, Figure, Series, colour
from elephan.pictures.words import NARROW, joined, number, with_unit
from elephan.reports.folders import page_of
from elephan.reports.page import HeadlineNumber, PageSection
from elephan.reports.side_by_side import LEAST
from elephan.runs import run
from elephan.runs.pictures import over_time
from elephan.runs.result import DELAYS, RunResult
from elephan.runs.sampled import sampled
from elephan.runs.side_by_side import NamedRun, laid_over
from elephan.runs.warmup import settle_warmup
from elephan.scenario import EXAMPLE, Scenario
from elephan.sizing import size, size_limit
from elephan.sizing.curve import APART, BufferCurve
from elephan.sizing.measuring import sample
from elephan.sizing.pictures import DRAWN_RULES, answer_pictures, brief, rule_name
from elephan.sizing.rules import rules
from elephan.sizing.targets import check_targets, parse_targets, targets_json
from elephan.stats import paired
from elephan.units import format_long_time, format_measured, format_time
from elephan.web.results import size_key
from elephan.web.views import figure_views, page_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elephan.reports.page import ReportPage
    from elephan.sizing.search import SearchProgress
    from elephan.sizing.targets import BufferSample
    from elephan.store.stored import StoredRun
    from elephan.web.jobs import Event, Job
    from elephan.web.results import Results

FIRST_S = 0.05
"""Processor time of the first picture [s]."""

SHORT_S = 0.04
"""Processor time of a preliminary point of a curve [s]."""

MOST_CPU_S = 240.0
"""Maximum processor time of a job, as estimated [s]; larger ones are for the command line."""

POINTS = 9
"""Preliminary points of a curve."""

SIZED = 40
"""Replications that a sizing takes, roughly, for the limit on its cost."""

PAGES = "pages.parquet"
"""File of a run whose groups read pages."""

SAID = {
    "utilization": ("utilization", "uses {1} of the link"),
    "mean queueing delay": ("queueing delay", "packets wait {1}"),
    "goodput of one flow of": ("goodput of{0}", "a flow of{0} gets {1}"),
    "time of a page, 95 %": ("page times", "95 % of the pages take at most {1}"),
}
"""Quantities that the headline of a comparison names, by the start of their rows: their words, and those of a value."""

MORE = ("utilization", "goodput")
"""Quantities of which more is better, by the start of their rows."""

SERIES = ("utilization", "queueing_delay_s", "loss_ratio")


def warm() -> None:
    """Load what the first answer needs: the first picture of a page must not wait for imports."""
    scenario = Scenario.from_text(EXAMPLE)
    size(scenario, "utilization=0.9", model_only=True)
    result = run(scenario.replace({"duration": "1 s", "warmup": "0 s"}), 1, workers=1, series=True)
    over_time(dict(result.to_json()), scenario, sampled(result))
    estimate(scenario)
    with tempfile.TemporaryDirectory(prefix="elephan-") as folder:
        result.write(folder)
        page_of(Path(folder))


def check_cost(scenario: Scenario, kind: str) -> float:
    """Return the estimated processor time of a job [s].

    Raises
    ------
    InputError
        If it is too long for a page, or needs more memory than there is.
    """
    cost = estimate(scenario, workers=1, series=True)
    if reason := cost.refusal():
        raise InputError(reason)
    each = cost.cpu_s / max(1, cost.replications)
    cpu_s = {"run": cost.cpu_s, "compare": 2 * cost.cpu_s}.get(kind, SIZED * each)
    if cpu_s > MOST_CPU_S:
        message = (
            f"takes about {format_long_time(cpu_s)} of processor; a page runs up to {format_long_time(MOST_CPU_S)}: "
            "shorten the duration, lower the rate, or use the command below"
        )
        raise InputError(message)
    return cpu_s


def run_work(job: Job, results: Results, scenario: Scenario) -> Event:
    """Run a scenario, with pictures meanwhile; the last event is the page of the run."""
    stored = results.find(scenario)
    if stored is None:
        for share, [result] in _preliminary(job, [scenario]):
            document = _as_whole(result, scenario)
            figures = over_time(document, scenario, sampled(result))
            job.send(_seen(share, scenario, figures, _tiles(document)))
        stored = _final(job, results, scenario)
    return run_event(results, stored)


def run_event(results: Results, stored: StoredRun) -> Event:
    """Return the last event of a run: its page, whose headline is what a flow of each group gets."""
    page = results.page(stored.id)
    document: Mapping[str, Any] = stored.to_json()
    assert page is not None
    shares = [
        f"{'a' if len(document['groups']) > 1 else 'each'} {group['name']} flow gets {goodput}"
        for group in document["groups"]
        if group["law"] and (goodput := with_unit(group["goodput_per_flow_bps"], "bit/s", 3))
    ]
    if shares:
        page = replace(page, headline=f"{shares[0][0].upper()}{', '.join(shares)[1:]}")
    return _final_event(results, "run", [stored.id], page)


def _final_event(results: Results, kind: str, ids: list[str], page: ReportPage) -> Event:
    return {
        "state": "final",
        "kind": kind,
        "id": ids[0],
        "ids": ids,
        "page": page_view(page),
        "downloads": results.downloads(ids),
    }


def compare_work(job: Job, results: Results, variants: Mapping[str, Scenario]) -> Event:
    """Run two variants, replication by replication with the same random numbers, and compare them."""
    runs = {name: results.find(scenario) for name, scenario in variants.items()}
    scenarios = list(variants.values())
    if None in runs.values():
        for share, found in _preliminary(job, scenarios):
            seen = [
                NamedRun(name, scenario, _as_whole(result, scenario), sampled(result))
                for (name, scenario), result in zip(variants.items(), found, strict=True)
            ]
            job.send(_seen(share, scenarios[0], laid_over(seen), []))
    kept = {name: run or _final(job, results, variants[name]) for name, run in runs.items()}
    return compare_event(results, kept)


def compare_event(results: Results, runs: Mapping[str, StoredRun]) -> Event:
    """Return the last event of a comparison: the page of both runs, and the paired differences."""
    table = paired_table(list(runs.values()))
    headline, sentence = verdict(list(runs), table["rows"])
    page = replace(results.pair_page(runs), headline=headline, sentence=sentence)
    ids = [run.id for run in runs.values()]
    documents = {letter: run.to_json() for letter, run in zip("ab", runs.values(), strict=True)}
    whole = _final_event(results, "compare", ids, page)
    return whole | {"names": list(runs), "paired": table, "documents": documents}


def verdict(names: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, str]:
    """Return the headline of a comparison, what is decided first, and a sentence with the values of both variants."""
    better: dict[str, list[str]] = {name: [] for name in names}
    alike: list[str] = []
    values: tuple[list[str], list[str]] = ([], [])
    # Where there are pages, their times matter, and not the goodput of those who read them.
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
    first, second = (_quantities(run) for run in runs)
    rows, count = [], 0
    for label in (each for each in first if each in second):
        a, b = np.array(first[label]), np.array(second[label])
        if a.shape != b.shape or not (np.isfinite(a) & np.isfinite(b)).any():
            continue
        count = len(a)
        found = paired(b, a).difference
        sure = "" if found.ci95 is None else "yes" if abs(found.mean) > found.ci95 else "no"
        shown = (f"{float(np.nanmean(values)):.4g}" for values in (a, b))
        rows.append([label, *shown, format_measured({"mean": found.mean, "ci95": found.ci95}), sure])
    heads = ["quantity", "A", "B", "B - A, with 95 % interval", "differs"]
    note = f"Differences of {count} pairs of replications with the same random numbers, whose common effects cancel."
    return {"title": "Paired difference", "heads": heads, "rows": rows, "numeric": [False, True, True, True, False]} | {
        "note": note
    }


def _quantities(run: StoredRun) -> dict[str, list[float]]:
    """Return what two variants are compared by, a number for each replication: of the link, then of groups of flows."""
    scenario, outcomes = run.scenario, run.outcomes
    link = scenario.link_index(None)
    found = {
        "utilization [%]": [100 * float(each.links["utilization"][link]) for each in outcomes],
        "mean queueing delay [ms]": [1e3 * float(each.links["queueing_delay_s"][link]) for each in outcomes],
        "loss [%]": [100 * each.loss_ratio(link) for each in outcomes],
    }
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
    if PAGES in {path.name for path in run.folder.iterdir()}:
        pages = run.read("pages")
        run_of, took_s = (np.asarray(pages[name]) for name in ("replication", "duration_s"))
        for label, how in (("mean", np.mean), ("95 %", lambda x: np.quantile(x, 0.95))):
            times = [took_s[run_of == i] for i in range(len(outcomes))]
            found[f"time of a page, {label} [s]"] = [float(how(x)) if x.size else float("nan") for x in times]
    return found


def curve_work(job: Job, results: Results, scenario: Scenario, target: str, link: str) -> Event:
    """Size the buffer of a link, with the curve meanwhile; the last event is the page of the sizing."""
    size_id = size_key(scenario, "size", target, link)
    if results.size_folder(size_id) is None:
        targets = parse_targets(target)
        index = scenario.link_index(link)
        check_targets(targets, scenario.network, index)
        drawn = _Curve(job, scenario, index, target)
        drawn.sketch()
        answer = size(scenario, target, link=link, whole_curve=True, on_sample=drawn.add, progress=drawn.told)
        results.keep_size(size_id, answer)
    return size_event(results, size_id)


def size_event(results: Results, size_id: str) -> Event:
    """Return the last event of a sizing: its page, without the curves of models, which its report has."""
    page, folder = results.page(size_id), results.size_folder(size_id)
    assert page is not None
    assert folder is not None
    path, parts = folder / "size.json", list[PageSection]()
    document = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"curve": []}
    for part in page.parts:
        figures = list(part.figures)
        if document["curve"] and figures:
            figures = _brief(figures, document)
            if not any(each.figures for each in parts):
                figures += _goodput(document["curve"], figures[0].x)
        parts.append(replace(part, figures=tuple(figures)))
    return _final_event(results, "size", [size_id], replace(page, parts=tuple(parts)))


def _goodput(rows: Sequence[Mapping[str, Any]], x: Axis) -> list[Figure]:
    """Return the picture of the goodput of one flow of each group, of rows of a curve; none without a row."""
    names = [group["name"] for group in rows[0]["groups"]] if rows else []
    at = np.array([row["buffer_packets"] for row in rows], dtype=float)
    lines = []
    for i, name in enumerate(names):
        found = [row["groups"][i]["goodput_per_flow_bps"] for row in rows]
        mean = 1e-6 * np.array([each["mean"] for each in found], dtype=float)
        half = 1e-6 * np.array([each["ci95"] or 0.0 for each in found])
        lines.append(Series(name, at, mean, np.maximum(mean - half, 0.0), mean + half, colour(i), "both"))
    alt = f"Goodput of one flow of {', '.join(names)} against the buffer."
    y = Axis("goodput", "Mbit/s", low=0.0)
    return [Figure("goodput", "Goodput per flow", alt, x, y, tuple(lines), height=220)] if names else []


def _brief(figures: Sequence[Figure], document: Mapping[str, Any]) -> list[Figure]:
    """Leave out the models and most rules of thumb, and name the marks in every picture."""
    rules = {at: rule_name(name) for name in DRAWN_RULES if (at := document["rules"].get(name)) is not None}
    nothing = np.empty(0)
    key = Series(f"rules of thumb: {joined(rules.values())}", nothing, nothing, colour="muted", dashed=True)
    found = []
    for figure in brief(figures, document):
        words = (m.label or ("answer" if m.role == "answer" else rules.get(m.at or 0.0, "")) for m in figure.marks)
        marks = tuple(replace(mark, label=label) for mark, label in zip(figure.marks, words, strict=True))
        found.append(replace(figure, series=(*figure.series, key) if rules else figure.series, marks=marks))
    return found


def limit_work(job: Job, results: Results, scenario: Scenario, target: str, link: str) -> Event:
    """Search for the longest path that a buffer is enough for, with pictures of the scenario meanwhile."""
    size_id = size_key(scenario, "rtt", target, link)
    if results.size_folder(size_id) is None:
        for share, [result] in _preliminary(job, [scenario]):
            document = _as_whole(result, scenario)
            job.send(_seen(share, scenario, over_time(document, scenario, sampled(result)), _tiles(document)))

        def told(progress: Any) -> None:
            of = progress.expected
            job.send(_progress(f"searching: {progress.done} of about {of} runs", progress.done, of))

        results.keep_size(size_id, size_limit(scenario, target, "rtt", link=link, progress=told))
    return size_event(results, size_id)


class _Curve:
    """The curve of a sizing while it is measured: preliminary points of short runs, and measured ones."""

    def __init__(self, job: Job, scenario: Scenario, link: int, target: str) -> None:
        self.job, self.scenario, self.link = job, scenario, link
        self.facts = scenario.links[link]
        self.target = targets_json(parse_targets(target))
        self.rules = rules(scenario.network, link)
        self.names = [group.name for group in scenario.network.crossing(link)]
        self.short: dict[int, BufferSample] = {}
        self.curve = BufferCurve(scenario.replications)
        self._sent_s = 0.0
        self._expected = 0

    def sketch(self) -> None:
        """Measure a few buffers with short runs."""
        bdp, flows = self.facts["bdp_packets"], max(1, self.facts["flows"])
        low, high = max(1.0, min(bdp / 64, bdp / flows**0.5 / 4)), max(4.0, 2 * bdp)
        buffers = sorted({max(1, round(low * (high / low) ** (i / (POINTS - 1)))) for i in range(POINTS)})
        cost = estimate(self.scenario, workers=1)
        whole_s = self.scenario.facts["duration_s"]
        short_s = whole_s * min(0.5, max(0.02, SHORT_S / max(1e-9, cost.cpu_s / cost.replications)))
        short = self.scenario.replace({"duration": f"{short_s:.6g} s", "warmup": f"{short_s / 4:.6g} s"})
        for buffer in sorted(buffers, key=lambda b: abs(b - bdp)):
            [outcome] = self.job.replications(short.with_buffer(self.link, buffer), [0], series=False)
            self.short[buffer] = sample(short, self.link, outcome)
            self.send()

    def add(self, buffer: int, replication: int, found: BufferSample) -> None:
        """Add a measured point, and draw the curve again."""
        self.job.check()
        self.curve.add(buffer, replication, found)
        if time.monotonic() - self._sent_s > 0.1:
            self.send()

    def told(self, progress: SearchProgress) -> None:
        """Note how many runs the search expects."""
        self.job.check()
        self._expected = progress.expected

    def send(self) -> None:
        """Send the pictures of what is known."""
        self._sent_s = time.monotonic()
        points, runs = len(self.curve.buffers), sum(map(self.curve.replications, self.curve.buffers))
        sketched = f"a sketch: {len(self.short)} of {POINTS} buffers with short runs"
        says = f"{points} buffers measured, {runs} of about {max(runs, self._expected)} runs" if points else sketched
        done = _progress(says, len(self.short) + runs, POINTS + max(runs, self._expected or SIZED))
        self.job.send(done | {"state": "preliminary", "kind": "size", "figures": figure_views(self.figures())})

    def figures(self) -> list[Figure]:
        """Return the pictures of utilization, delay, loss and goodput against the buffer."""
        rows: list[dict[str, Any]] = [
            {"buffer_packets": buffer} | {key: self.curve.estimate(buffer, key).to_json() for key in SERIES}
            for buffer in self.curve.buffers
        ]
        document = {"curve": rows, "buffer_packets": None, "buffer_interval_packets": None, "target": self.target}
        document |= {"rules": self.rules, "trusted_model": None}
        guessed: list[dict[str, Any]] = [
            {"buffer_packets": b} | {key: {"mean": getattr(s, key), "ci95": None} for key in SERIES}
            for b, s in sorted(self.short.items())
        ]
        found = []
        # The axes are those of all points, measured and preliminary.
        whole = document | {"curve": guessed + rows}
        drawn = _brief(answer_pictures(whole, self.facts, {}), whole)
        measured = {figure.name: figure for figure in answer_pictures(document, self.facts, {})} if rows else {}
        for figure in drawn:
            short = [s for s in guessed if not any(_near(s["buffer_packets"], row["buffer_packets"]) for row in rows)]
            key = figure.name.replace("-", "_")
            scale = {"utilization": 1.0, "queueing_delay_s": 1e3, "loss_ratio": 100.0}[key]
            pale = Series(
                "preliminary, short runs",
                np.array([float(s["buffer_packets"]) for s in short]),
                np.array([scale * s[key]["mean"] for s in short]),
                colour="muted",
                kind="points" if rows else "both",
                faint=True,
            )
            lines = measured[figure.name].series if figure.name in measured else ()
            found.append(replace(figure, series=(*lines, *((pale,) if short else ()), *figure.series[-1:])))
        goodput = "goodput_per_flow_bps"
        for row in rows:
            estimates = [self.curve.group(row["buffer_packets"], i, goodput).to_json() for i in range(len(self.names))]
            row["groups"] = [{"name": n, goodput: each} for n, each in zip(self.names, estimates, strict=True)]
        return [*found, *_goodput(rows, drawn[0].x if drawn else Axis("buffer", "packets", "log"))]


def _near(one: float, other: float) -> bool:
    return bool(max(one, other) <= APART**0.5 * min(one, other))


def _preliminary(job: Job, scenarios: Sequence[Scenario]) -> Any:
    """Yield the share of the run that is simulated, and the first replication of each scenario until then."""
    whole_s = scenarios[0].facts["duration_s"]
    cost = max(estimate(each, replications=1, workers=1, series=True).cpu_s for each in scenarios)
    share = min(1 / 8, max(1 / 64, FIRST_S / max(cost, 1e-9)))
    while share < 1:
        begun = [each.replace({"duration": f"{share * whole_s:.9g} s", "warmup": "0 s"}) for each in scenarios]
        found = []
        started = time.perf_counter()
        for each in begun:
            outcomes = tuple(job.replications(each, [0]))
            found.append(RunResult(each, outcomes, "window", time.perf_counter() - started))
        if found[0].outcomes[0].samples["time_s"].size > 1:
            yield share, found
        share *= 2


def _final(job: Job, results: Results, scenario: Scenario) -> StoredRun:
    """Run all replications as `elephan.run` does, and keep the result."""
    started = time.perf_counter()
    settled = settle_warmup(scenario, 1, lambda _: job.check())
    count = settled.replications

    def told(done: int) -> None:
        job.send(_progress(f"refining: {done} of {count} replications", done, count))

    outcomes = tuple(job.replications(settled, range(count), done=told))
    return results.keep(RunResult(settled, outcomes, "window", time.perf_counter() - started), scenario)


def _as_whole(result: RunResult, scenario: Scenario) -> dict[str, Any]:
    """Return the document of the beginning of a run with the length and warm-up of the whole, for its axes."""
    document: dict[str, Any] = dict(result.to_json())
    facts = scenario.facts
    warmup_s = facts["warmup_s"] or 0.0
    return document | {"run": document["run"] | {"duration_s": facts["duration_s"], "warmup_s": warmup_s}}


def _progress(says: str, done: float, of: float) -> Event:
    return {"state": "running", "says": says, "done": done, "of": of}


def _seen(share: float, scenario: Scenario, figures: Sequence[Figure], tiles: Sequence[HeadlineNumber]) -> Event:
    whole_s = scenario.facts["duration_s"]
    until_s = float(f"{share * whole_s:.3g}")
    return _progress(f"the first {until_s:g} s of {whole_s:g} s", until_s, whole_s) | {
        "state": "preliminary",
        "kind": "run",
        "figures": figure_views(figures),
        "tiles": [tile._asdict() for tile in tiles],
    }


def _tiles(document: Mapping[str, Any]) -> list[HeadlineNumber]:
    """Return the numbers of the busiest link so far."""
    link = max(document["links"], key=lambda each: each["utilization"]["mean"] or 0.0)
    delay = link["queueing_delay_s"]["mean"]
    return [
        HeadlineNumber("Utilization", f"{100 * (link['utilization']['mean'] or 0.0):.3g}\u00a0%", "so far"),
        HeadlineNumber("Queueing delay", "–" if delay is None else format_time(float(f"{delay:.3g}")), "mean so far"),
        HeadlineNumber("Loss", f"{100 * (link['loss_ratio']['mean'] or 0.0):.2g}\u00a0%", "so far"),
    ]
