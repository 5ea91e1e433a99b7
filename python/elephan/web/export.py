"""The static edition: the page and precomputed results as plain files, for any web server or for use from a folder.

A result is the last event of a job. Each is a script that passes the event to the page, because a page that was opened
from a folder can load scripts, but not data.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from elephan.runs import run
from elephan.scenario import Scenario
from elephan.sizing import size, size_limit
from elephan.store.stored import StoredRun
from elephan.web.app import page_data, sent, static_files
from elephan.web.asking import Ask, read_ask
from elephan.web.cards import cards, lessons
from elephan.web.results import Results, size_key
from elephan.web.work import compare_event, run_event, size_event

FOOT = re.compile(r'<p id="foot">[^<]*')
PRELOAD = '<link rel="preload" href="api/page" as="fetch" crossorigin="anonymous">'


def export_site(
    folder: Path, *, say: Callable[[str], None], only: Collection[str] | None = None, shorten: float = 1.0
) -> int:
    """Write the static edition into a folder, and return the number of its files.

    Parameters
    ----------
    say : callable
        Called with a line of progress for each question.
    only : collection of str, optional
        Ids of questions and experiments to compute; all by default.
    shorten : float
        Factor on the length of every run; other values than 1 are for tests.
    """
    written = 0
    wanted = [name for name in (*cards(), *lessons()) if only is None or name in only]
    data = page_data()
    for key in ("cards", "lessons"):
        data[key] = [each for each in data[key] if each["id"] in wanted]
    for name, content in static_files().items():
        text = content.decode()
        if name == "index.html":
            text = text.replace(PRELOAD, '<script src="data.js" defer></script>')
            text = FOOT.sub(f'<p id="foot">Computed by elephan {data["version"]}.', text)
        written += _write(folder / name, text)
    written += _write(folder / "data.js", f"window.elephanStatic = {_json(data)};\n")
    with tempfile.TemporaryDirectory(prefix="elephan-") as store:
        results = Results(Path(store))
        try:
            for name in wanted:
                for number, ask in enumerate(_asks(name)):
                    file = f"lesson-{name}.js" if name in lessons() else f"{name}-{number}.js"
                    event = sent(ask) | _answer(results, ask, shorten)
                    # Remove what the static page does not show.
                    for key in ("state", "id", "ids", "downloads"):
                        event.pop(key, None)
                    written += _write(folder / "data" / file, f"window.elephanPoint({_json(event)});\n")
                say(f"{name}: done")
        finally:
            results.close()
    return written


def _asks(name: str) -> list[Ask]:
    """Return the requests of a question, one for each value of its varied control, or the request of an experiment."""
    if name in lessons():
        return [read_ask({"kind": "compare", "lesson": name})]
    card = cards()[name]
    control, values = card.vary
    return [read_ask({"kind": card.view, "card": name, "values": {control: value}}) for value in values]


def _answer(results: Results, ask: Ask, shorten: float) -> dict[str, Any]:
    variants = {name: _shortened(scenario, shorten) for name, scenario in ask.variants.items()}
    if ask.kind in ("curve", "limit"):
        [scenario] = variants.values()
        if ask.kind == "curve":
            answer: Any = size(scenario, ask.target, link=ask.link, whole_curve=True)
        else:
            answer = size_limit(scenario, ask.target, "rtt", link=ask.link)
        size_id = size_key(scenario, ask.kind, ask.target, ask.link)
        results.keep_size(size_id, answer)
        return size_event(results, size_id)
    kept: dict[str, StoredRun] = {}
    for name, scenario in variants.items():
        kept[name] = results.keep(run(scenario, series=True), scenario)
    if ask.kind == "compare":
        return compare_event(results, kept)
    [stored] = kept.values()
    return run_event(results, stored)


def _shortened(scenario: Scenario, factor: float) -> Scenario:
    if factor == 1.0:
        return scenario
    facts = scenario.facts
    times = {key: f"{factor * facts[f'{key}_s']:.6g} s" for key in ("duration", "warmup")}
    return scenario.replace({**times, "replications": 2})


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _write(path: Path, text: str) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return 1
