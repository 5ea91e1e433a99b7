"""The work of a job: a run, two variants, several options, a curve of buffers, or the longest path for a buffer.

Jobs send preliminary figures while they run. Python cannot observe a native run, so the first replication is simulated
for a short time first, then for twice as long, and so on. The same random numbers give the same packets, so every
figure is the beginning of the final one. Means of preliminary figures include the warm-up. The last event of a job is
its final result, with the same numbers as on the command line.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elephan.costs import estimate
from elephan.errors import InputError
from elephan.pictures.figure import Axis, Figure, Series, colour
from elephan.pictures.words import joined, with_unit
from elephan.reports.folders import page_of
from elephan.reports.page import HeadlineNumber, PageSection, ReportPage
from elephan.runs import run
from elephan.runs.pictures import over_time
from elephan.runs.result import RunResult
from elephan.runs.sampled import sampled
from elephan.runs.side_by_side import NamedRun, laid_over
from elephan.runs.warmup import settle_warmup
from elephan.scenario import EXAMPLE, Scenario
from elephan.sizing import size, size_limit
from elephan.sizing.curve import APART, BufferCurve
from elephan.sizing.measuring import sample
from elephan.sizing.pictures import DRAWN_RULES, answer_pictures, brief, rule_name
from elephan.sizing.rules import rules
from elephan.sizing.search import SearchProgress
from elephan.sizing.targets import BufferSample, check_targets, parse_targets, targets_json
from elephan.store.stored import StoredRun
from elephan.units import count, format_long_time, format_time
from elephan.web.asking import Ask
from elephan.web.comparing import options_pictures, options_table, page_of_variants, paired_table
from elephan.web.jobs import Event, Job
from elephan.web.results import Results, size_key
from elephan.web.views import figure_views, page_view, table_view

if TYPE_CHECKING:
    from elephan.results import RunDocument
    from elephan.sizing.documents import SizeDocument

FIRST_S = 0.05
"""Processor time of the simulation for the first figure [s]."""

SHORT_S = 0.04
"""Processor time of a preliminary point of a curve [s]."""

MOST_CPU_S = 240.0
"""Maximum estimated processor time of a job [s]; larger ones are refused, and must be run with the command line."""

POINTS = 9
"""Number of preliminary points of a curve."""

SIZED = 40
"""Approximate number of replications of a sizing, to estimate its cost."""

SERIES = ("utilization", "queueing_delay_s", "loss_ratio")


def warm() -> None:
    """Import the modules that the first answer needs, so that its first figure does not wait for them."""
    scenario = Scenario.from_text(EXAMPLE)
    size(scenario, "utilization=0.9", model_only=True)
    result = run(scenario.replace({"duration": "1 s", "warmup": "0 s"}), 1, workers=1, series=True)
    over_time(result.to_json(), scenario, sampled(result))
    estimate(scenario)
    with tempfile.TemporaryDirectory(prefix="elephan-") as folder:
        result.write(folder)
        page_of(Path(folder))


def check_cost(scenarios: Sequence[Scenario], kind: str) -> float:
    """Return the estimated processor time of a job [s].

    Raises
    ------
    InputError
        If the job takes too long for a page, or needs more memory than is available.
    """
    cpu_s = 0.0
    for scenario in scenarios:
        cost = estimate(scenario, workers=1, series=True)
        if reason := cost.refusal():
            raise InputError(reason)
        cpu_s += SIZED * cost.cpu_s / max(1, cost.replications) if kind in ("curve", "limit") else cost.cpu_s
    if cpu_s > MOST_CPU_S:
        raise InputError(
            f"takes about {format_long_time(cpu_s)} of processor; a page runs up to {format_long_time(MOST_CPU_S)}: "
            "shorten the duration, lower the rate, or use the command below"
        )
    return cpu_s


def run_work(job: Job, results: Results, ask: Ask) -> Event:
    """Run a scenario, with preliminary figures; the last event is the page of the run."""
    stored = results.find(ask.scenario)
    if stored is None:
        _watch(job, ask.scenario)
        stored = _final(job, results, {"refining": ask.scenario}, "refining")
    return run_event(results, stored)


def _watch(job: Job, scenario: Scenario) -> None:
    """Send preliminary figures of the first replication, for longer and longer parts of it."""
    for share, [result] in _preliminary(job, [scenario]):
        document = _as_whole(result, scenario)
        job.send(_seen(share, scenario, over_time(document, scenario, sampled(result)), _tiles(document)))


def run_event(results: Results, stored: StoredRun) -> Event:
    """Return the last event of a run: its page, whose headline is the goodput of a flow of each group."""
    page = results.page(stored.id)
    document = stored.to_json()
    assert page is not None
    shares = [
        f"{'a' if len(document['groups']) > 1 else 'each'} {group['name']} flow gets {goodput}"
        for group in document["groups"]
        if group["law"] and (goodput := with_unit(group["goodput_per_flow_bps"], "bit/s", 3))
    ]
    if shares:
        page = replace(page, headline=f"{shares[0][0].upper()}{', '.join(shares)[1:]}")
    return _final_event(results, "run", [stored.id], page)


def _final_event(results: Results, kind: str, ids: list[str], page: ReportPage, names: Sequence[str] = ("",)) -> Event:
    return {
        "state": "final",
        "kind": kind,
        "id": ids[0],
        "ids": ids,
        "page": page_view(page),
        "downloads": results.downloads(ids, names),
    }


def compare_work(job: Job, results: Results, ask: Ask) -> Event:
    """Run two variants with the same random numbers in each replication, and compare them."""
    variants = ask.variants
    runs = {name: results.find(scenario) for name, scenario in variants.items()}
    scenarios = list(variants.values())
    if None in runs.values():
        for share, found in _preliminary(job, scenarios):
            seen = [
                NamedRun(name, scenario, _as_whole(result, scenario), sampled(result))
                for (name, scenario), result in zip(variants.items(), found, strict=True)
            ]
            job.send(_seen(share, scenarios[0], laid_over(seen), []))
    return compare_event(results, {name: _final(job, results, variants, name) for name in variants})


def compare_event(results: Results, runs: Mapping[str, StoredRun]) -> Event:
    """Return the last event of a comparison: the page of its variants; for two, also their paired differences."""
    names = ["A", "B"] if len(runs) == 2 else list(runs)
    event = _final_event(results, "compare", [run.id for run in runs.values()], page_of_variants(runs), names)
    return event | ({"paired": paired_table(list(runs.values()))} if len(runs) == 2 else {})


def options_work(job: Job, results: Results, ask: Ask) -> Event:
    """Run all options one after the other; their table first has results of short runs, which are then replaced."""
    variants = ask.variants
    seen: dict[str, StoredRun | RunResult] = {}

    def tell(says: str, done: int) -> None:
        table, _ = options_table(seen)
        sent = _progress(says, done, 2 * len(variants)) | {"state": "preliminary", "table": table_view(table)}
        job.send(sent | {"kind": "options", "figures": figure_views(options_pictures(seen))})

    for name, scenario in variants.items():
        short = _short(scenario)
        seen[name] = results.find(scenario) or RunResult(short, tuple(job.replications(short, [0])), "window", 0.0)
        tell(f"a sketch: {len(seen)} of {len(variants)} with short runs", len(seen))
    kept: dict[str, StoredRun] = {}
    for name in variants:
        seen[name] = kept[name] = _final(job, results, variants, name)
        tell(f"{len(kept)} of {len(variants)} measured", len(variants) + len(kept))
    return compare_event(results, kept)


def curve_work(job: Job, results: Results, ask: Ask) -> Event:
    """Size the buffer of a link, with preliminary curves; the last event is the page of the sizing."""
    scenario, target, link = ask.scenario, ask.target, ask.link
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
    """Return the last event of a sizing: its page, without the curves of models (the report has them)."""
    page, folder = results.page(size_id), results.size_folder(size_id)
    assert page is not None
    assert folder is not None
    path, parts = folder / "size.json", list[PageSection]()
    document: Any = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"curve": []}
    for part in page.parts:
        figures = list(part.figures)
        if document["curve"] and figures:
            figures = _brief(figures, document)
            if not any(each.figures for each in parts):
                figures += _goodput(document["curve"], figures[0].x)
        parts.append(replace(part, figures=tuple(figures)))
    return _final_event(results, "size", [size_id], replace(page, parts=tuple(parts)))


def _goodput(rows: Sequence[Mapping[str, Any]], x: Axis) -> list[Figure]:
    """Return the figure of the goodput per flow of each group against the buffer; empty without rows."""
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


def _brief(figures: Sequence[Figure], document: SizeDocument) -> list[Figure]:
    """Remove the models and most rules of thumb from figures, and label the marks."""
    rules = {at: rule_name(name) for name in DRAWN_RULES if (at := document["rules"].get(name)) is not None}
    nothing = np.empty(0)
    key = Series(f"rules of thumb: {joined(rules.values())}", nothing, nothing, colour="muted", dashed=True)
    found = []
    for figure in brief(figures, document):
        words = (m.label or ("answer" if m.role == "answer" else rules.get(m.at or 0.0, "")) for m in figure.marks)
        marks = tuple(replace(mark, label=label) for mark, label in zip(figure.marks, words, strict=True))
        found.append(replace(figure, series=(*figure.series, key) if rules else figure.series, marks=marks))
    return found


def limit_work(job: Job, results: Results, ask: Ask) -> Event:
    """Find the longest RTT for which a buffer suffices, with preliminary figures of the scenario."""
    scenario, target, link = ask.scenario, ask.target, ask.link
    size_id = size_key(scenario, "rtt", target, link)
    if results.size_folder(size_id) is None:
        _watch(job, scenario)

        def told(progress: Any) -> None:
            of = progress.expected
            job.send(_progress(f"searching: {progress.done} of about {count(of, 'run')}", progress.done, of))

        results.keep_size(size_id, size_limit(scenario, target, "rtt", link=link, progress=told))
    return size_event(results, size_id)


WORK = {"run": run_work, "compare": compare_work, "options": options_work, "curve": curve_work, "limit": limit_work}
"""Functions by the kind of a request. Each takes the job, the results and the request, and returns the last event."""


class _Curve:
    """The curve of a sizing while it is measured: preliminary points from short runs, and measured points."""

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
        short = _short(self.scenario)
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
        """Store the number of runs that the search expects."""
        self.job.check()
        self._expected = progress.expected

    def send(self) -> None:
        """Send the figures of the points so far."""
        self._sent_s = time.monotonic()
        points, runs = len(self.curve.buffers), sum(map(self.curve.replications, self.curve.buffers))
        sketched = f"a sketch: {len(self.short)} of {POINTS} buffers with short runs"
        says = (
            f"{count(points, 'buffer')} measured, {runs} of about {count(max(runs, self._expected), 'run')}"
            if points
            else sketched
        )
        done = _progress(says, len(self.short) + runs, POINTS + max(runs, self._expected or SIZED))
        self.job.send(done | {"state": "preliminary", "kind": "size", "figures": figure_views(self.figures())})

    def figures(self) -> list[Figure]:
        """Return the figures of utilization, delay, loss and goodput against the buffer."""
        rows: list[dict[str, Any]] = [
            {"buffer_packets": buffer} | {key: self.curve.estimate(buffer, key).to_json() for key in SERIES}
            for buffer in self.curve.buffers
        ]
        document: Any = {"curve": rows, "buffer_packets": None, "buffer_interval_packets": None, "target": self.target}
        document |= {"rules": self.rules, "trusted_model": None}
        guessed: list[dict[str, Any]] = [
            {"buffer_packets": b} | {key: {"mean": getattr(s, key), "ci95": None} for key in SERIES}
            for b, s in sorted(self.short.items())
        ]
        found = []
        # The axes cover all points, measured and preliminary.
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
    """Yield growing shares of the run, and for each the beginning of the first replication of every scenario."""
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


def _final(job: Job, results: Results, variants: Mapping[str, Scenario], name: str) -> StoredRun:
    """Return the stored run of a variant; if it is missing, run all replications as in `elephan.run`, and store it."""
    scenario = variants[name]
    if (kept := results.find(scenario)) is not None:
        return kept
    started = time.perf_counter()
    settled = settle_warmup(scenario, 1, lambda _: job.check())
    each, before = settled.replications, list(variants).index(name)

    def told(done: int) -> None:
        says = f"{name}: {done} of {count(each, 'replication')}"
        job.send(_progress(says, before * each + done, len(variants) * each))

    outcomes = tuple(job.replications(settled, range(each), done=told))
    return results.keep(RunResult(settled, outcomes, "window", time.perf_counter() - started), scenario)


def _short(scenario: Scenario) -> Scenario:
    """Return the scenario with a shorter duration, which takes about `SHORT_S` of processor time."""
    cost, whole_s = estimate(scenario, workers=1), scenario.facts["duration_s"]
    short_s = whole_s * min(0.5, max(0.02, SHORT_S / max(1e-9, cost.cpu_s / cost.replications)))
    return scenario.replace({"duration": f"{short_s:.6g} s", "warmup": f"{short_s / 4:.6g} s"})


def _as_whole(result: RunResult, scenario: Scenario) -> RunDocument:
    """Return the document of the beginning of a run, with duration and warm-up of the complete run, for the axes."""
    document, facts = result.to_json(), scenario.facts
    document["run"] = document["run"] | {"duration_s": facts["duration_s"], "warmup_s": facts["warmup_s"] or 0.0}
    return document


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


def _tiles(document: RunDocument) -> list[HeadlineNumber]:
    """Return the headline numbers of the link with the highest utilization so far."""
    link = max(document["links"], key=lambda each: each["utilization"]["mean"] or 0.0)
    delay = link["queueing_delay_s"]["mean"]
    return [
        HeadlineNumber("Utilization", f"{100 * (link['utilization']['mean'] or 0.0):.3g}\u00a0%", "so far"),
        HeadlineNumber("Queueing delay", "–" if delay is None else format_time(float(f"{delay:.3g}")), "mean so far"),
        HeadlineNumber("Loss", f"{100 * (link['loss_ratio']['mean'] or 0.0):.2g}\u00a0%", "so far"),
    ]
