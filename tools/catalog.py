"""Writes docs/catalog, one page per kind of catalogue entry, from the output of `elephan list KIND --json`.

Laws, slow starts, queue disciplines and models get pictures, which are not committed, and under each the numbers that
it shows, so that --check can check without drawing whether a page is up to date. With --check nothing is written: one
line per page that is not up to date, and exit 1 if any.
"""

import json
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import queue_pictures as queues
from law_pictures import START_STORY, STORY, draw_rounds, rounds

from elephan.catalog import needed
from elephan.plots import draw_model
from elephan.runs.measures import MEASURES, SERIES, TRACE
from elephan.theory.models import MODELS, ModelTable
from elephan.theory.models.card import CI95
from elephan.units import format_number
from elephan_evidence.against import AGAINST, WITHOUT, simulated, spread

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "catalog"
KINDS = {
    "laws": "Congestion-control laws",
    "slow-starts": "Slow starts",
    "recoveries": "Loss recoveries",
    "queues": "Queue disciplines",
    "traffic": "Traffic",
    "metrics": "Metrics",
    "lints": "Lint rules",
    "models": "Analytic models",
}
CONTROLS = {"laws": '"{}"', "slow-starts": '{{ slow_start = "{}" }}'}
"""Template of a control in a scenario file, for kinds whose picture shows round trips."""
SHOWN = {"laws": (9, 11, 20, 39, 41, 59, 61, 79, 81, 99), "slow-starts": (2, 4, 6, 8, 9, 10, 11, 12, 13, 15)}
"""Rounds whose windows are listed below the picture."""
STORIES = {
    "laws": f"In the pictures: {STORY} Grey: Reno under the same losses.",
    "slow-starts": f"In the pictures: {START_STORY} Grey: the classic slow start.",
    "metrics": "What `elephan run` measures, and what the functions of `elephan.metrics` compute from the columns, "
    "samples and traces of an outcome. Every mean is over the measured period, [warmup, duration).",
    "lints": "`elephan run`, `elephan size` and `elephan lint` warn about these. `--strict` makes warnings errors.",
    "models": "`elephan model NAME` computes a table, `--simulate` puts a simulation beside it, on the scenario of the "
    "picture: closed form as a broad line, what checks it dashed or dotted, points for the simulation with 95 % "
    "intervals over its replications. Where they differ it says why. `elephan size` asks all that apply to a link.",
    "queues": f"Everything below is for {queues.LINK}. In the pictures of the backlog, {queues.STORY} The grey line is "
    "drop-tail under the same traffic. The panel below has one of the numbers that the discipline keeps; `elephan run "
    "--out` writes all of them, as the columns `queue_…` of `samples.parquet`. The scenario without its discipline is "
    "`TEXT` in [queue_pictures.py](../../tools/queue_pictures.py). Which to take is another page: "
    "[choosing a queue](../guide/choosing-a-queue.md).",
}
DRAWN = {"rules": {"flows": "1,2,5,10,20,50,100,200,500,1000"}}
"""Varied parameters in pictures of models without simulation, if not the default ones."""
SHOWN_ROWS = 6
"""Number of rows for each curve of a simulated model."""
COLUMNS = ("name", "default", "unit", "meaning")
NOTICE = "<!-- Written by `make docs` from `elephan list`; edit the cards in the code instead. -->"

Card = Mapping[str, Any]


def entries(kind: str) -> list[dict[str, Any]]:
    """Ask the program for the entries of a kind."""
    command = [str(Path(sys.executable).parent / "elephan"), "list", kind, "--json"]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    found: list[dict[str, Any]] = json.loads(answer)
    # Entries of other programs on this machine are not a part of the pages.
    return [card for card in found if "adapter" not in card]


def page(kind: str, cards: Sequence[Card]) -> str:
    """Write the Markdown page of one kind."""
    lines = [f"# {KINDS[kind]}", "", NOTICE, ""]
    if kind in STORIES:
        lines += [STORIES[kind], ""]
    if kind == "queues":
        lines += overview(cards)
    for card in cards:
        if kind in OWN:
            lines += OWN[kind](card)
            continue
        source = card["source"].rstrip(".")
        lines += [f"## `{card['name']}`", "", f"{card['title']}. Source: {source}.", ""]
        called = ", ".join(f"`{alias}`" for alias in card["aliases"])
        texts = [card.get("why"), called and f"Also called: {called}.", needed(card)]
        texts.append(card["differs"] and f"Differs: {card['differs']}")
        lines += [line for text in texts if text for line in (text, "")]
        if rows := card["parameters"]:
            lines += ["| parameter | default | unit | meaning |", "|---|---|---|---|"]
            lines += ["| " + " | ".join(cell(row[column]) for column in COLUMNS) + " |" for row in rows]
            lines.append("")
        if others := card["spellings"]:
            said = ", ".join(f"`{other}` for `{name}`" for other, name in others.items())
            lines += [f"Other spellings: {said}.", ""]
        if kind in CONTROLS:
            lines += [*picture(kind, card["name"]), ""]
        if kind == "queues":
            lines += [*linux(card["name"]), *curve(card["name"]), *backlog(card["name"])]
    return "\n".join(lines)


def metric(card: Card) -> list[str]:
    """Define one metric."""
    found = f" In results: `{card['found']}`." if card["found"] else ""
    if card["name"] in MEASURES:
        how = MEASURES[card["name"]]
        by = {SERIES: ", from the sampled series", TRACE: ", from flows recorded ACK by ACK (`record.trace`)"}
        found = f" `--metric {card['name']}` gives it for each {how.of}{by.get(how.needs, '')}."
    options = [f"Option `{p['name']}`, by default {p['default']}: {p['meaning']}." for p in card["parameters"]]
    unit = f"Unit: {card['unit']}." if card["unit"] else "A ratio, without unit."
    return [
        f"## `{card['name']}`",
        "",
        f"{card['title']}. {card['definition']} {unit}{found} Computed by `{card['function']}`.",
        "",
        *[line for option in options for line in (option, "")],
        f"Source: {card['citation']}",
        "",
    ]


def model(card: Card) -> list[str]:
    """Describe a model, and put a simulation beside it."""
    name = card["name"]
    columns = [[f"`{c['name']}`", cell(c["unit"]), cell(c["meaning"])] for c in card["columns"]]
    if name in AGAINST:
        beside = [f"Beside packets: {AGAINST[name].says}", "", *table(*beside_packets(name))]
    else:
        beside = [f"Not simulated: {WITHOUT[name]}."]
    return [
        f"## `{name}`",
        "",
        f"{card['title']}. {card['says']} Source: {card['citation']}",
        "",
        *[f"* {line}" for line in card["fails"]],
        "",
        "| parameter | default | unit | meaning |",
        "|---|---|---|---|",
        *("| " + " | ".join(cell(row[column]) for column in COLUMNS) + " |" for row in card["parameters"]),
        "",
        "| column | unit | meaning |",
        "|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in columns),
        "",
        f"![{name}](models/{name}.svg)",
        "",
        *beside,
        "",
    ]


OWN = {"metrics": metric, "models": model}
"""Functions for kinds whose entries have their own format."""


@cache
def computed(name: str) -> ModelTable:
    """Compute a model's table, with a simulation if the model has one."""
    entry = AGAINST.get(name)
    return MODELS[name].table(DRAWN.get(name)) if entry is None else entry.simulate(MODELS[name].table(entry.given))


def beside_packets(name: str) -> list[list[str]]:
    """Return head and rows of a table of model and simulation at a few points."""
    run, entry = simulated(computed(name)), AGAINST[name]
    lines = [name for name in entry.picture.lines if name in run.columns]
    rows = []
    for i in sorted(spread(run, entry.picture.x, SHOWN_ROWS)):
        mean, half = (run.columns[key][i] for key in (entry.column, entry.column + CI95))
        measured = written(mean) + (f" ± {format_number(half, 2)}" if np.isfinite(half) and half else "")
        given = [written(run.values[key][i]) for key in run.varied]
        rows.append([*given, *(written(run.columns[line][i]) for line in lines), measured])
    units = {key: run.model.parameters[key].unit for key in run.varied}
    units |= {key: run.model.columns[key].unit for key in (*lines, entry.column)}
    return [[f"{key} [{unit}]" if unit not in ("", "1") else key for key, unit in units.items()], *rows]


def written(value: object) -> str:
    """Format a parameter or a result with three digits."""
    return str(value) if isinstance(value, str) else format_number(float(str(value)), 3)


def picture(kind: str, name: str) -> list[str]:
    """Refer to the picture of a law or slow start, and list its numbers."""
    cwnd = rounds(CONTROLS[kind].format(name), slow_start=kind == "slow-starts")[:, 1]
    return [
        f"![cwnd of {name} round by round](rounds/{name}.svg)",
        "",
        *table(["round", *SHOWN[kind]], ["cwnd", *(f"{cwnd[i]:.4g}" for i in SHOWN[kind])]),
    ]


def overview(cards: Sequence[Card]) -> list[str]:
    """List the numbers of all disciplines beside each other."""
    rows = []
    for card in cards:
        found = queues.numbers(card["name"])
        marked, stream = sum(found.marks.values()), found.stream_drops
        name = f"[`{card['name']}`](#{card['name']})"
        rows.append([name, *measures(found), sum(found.drops.values()) - stream, marked, stream])
    head = ["discipline", "queueing delay [ms]", "utilization", "Jain's index", "dropped", "marked", "stream dropped"]
    notes = (
        "Jain's index is over the goodputs of the four flows of TCP. The packets dropped and marked are theirs; the "
        "last column has the dropped packets of the stream."
    )
    return [*table(head, *rows), "", notes, ""]


def linux(name: str) -> list[str]:
    """Return the `tc` line of a discipline on the link of the pictures."""
    if (found := queues.linux(name)) is None:
        return ["No words of `tc` give the same on Linux.", ""]
    setting, line = found
    changes = " and ".join(f"`{key} = {json.dumps(value)}`" for key, value in setting.items())
    return [f"The same on Linux{changes and ', with '}{changes}:", "", "```sh", line, "```", ""]


def curve(name: str) -> list[str]:
    """Refer to the picture of a drop probability, and list its numbers."""
    found = queues.curves(name, np.array(queues.AVERAGES, dtype=float))
    if not found:
        return []
    rows = [[f"`{label}`", *(f"{value:.3g}" for value in values)] for label, values in found.items()]
    picture = f"![drop probability of {name} against the average backlog](curves/{name}.svg)"
    return [picture, "", *table(["average [packets]", *queues.AVERAGES], *rows), ""]


def backlog(name: str) -> list[str]:
    """Refer to the picture of a backlog, and list its numbers."""
    found = queues.numbers(name)
    delay, utilization, jain = measures(found)
    law = queues.own_law(name)
    instead = f"Here the four flows are under the law `{law}`, not Reno. " if law else ""
    return [
        f"![backlog of {name} over time](backlogs/{name}.svg)",
        "",
        f"{instead}Queueing delay {delay} ms, utilization {utilization}, Jain's index {jain}.",
        "",
        *table(["packets", *found.drops], ["dropped", *found.drops.values()], ["marked", *found.marks.values()]),
        "",
    ]


def measures(found: queues.BacklogNumbers) -> list[str]:
    """Format queueing delay in ms, utilization and Jain's index."""
    return [f"{1e3 * found.queueing_delay_s:.3g}", f"{found.utilization:.3f}", f"{found.jain:.3f}"]


def table(head: Sequence[object], *rows: Sequence[object]) -> list[str]:
    """Format a table of numbers whose first column names the rows."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, *rows)]
    return [lines[0], "|---|" + "--:|" * (len(head) - 1), *lines[1:]]


def cell(value: object) -> str:
    """Format a value for a table cell."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("|", "\\|")


def wanted(cards: Mapping[str, Sequence[Card]]) -> set[Path]:
    """List the pictures that the pages refer to."""
    names = {kind: [card["name"] for card in cards[kind]] for kind in cards}
    folders = {
        "rounds": [name for kind in CONTROLS for name in names[kind]],
        "curves": [name for name in names["queues"] if curve(name)],
        "backlogs": names["queues"],
        "models": names["models"],
    }
    return {FOLDER / folder / f"{name}.svg" for folder, inside in folders.items() for name in inside}


def main(arguments: Sequence[str]) -> None:
    """Write the pages, or compare them with the existing ones."""
    there = {file: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    cards = {kind: entries(kind) for kind in KINDS}
    pages = {FOLDER / f"{kind}.md": page(kind, cards[kind]) for kind in KINDS}
    if "--check" in arguments:
        stale = [file for file, text in pages.items() if there.get(file) != text]
        sys.exit("\n".join(f"{file.relative_to(ROOT)}: not up to date; run make docs" for file in stale) or 0)
    for file, text in pages.items():
        file.write_text(text, encoding="utf-8")
    for file in FOLDER.glob("*/*.svg"):
        file.unlink()
    draw(cards, wanted(cards))


def draw(cards: Mapping[str, Sequence[Card]], files: Collection[Path]) -> None:
    """Draw pictures of what the cards describe.

    Parameters
    ----------
    files : collection of Path
        Pictures to draw, as `wanted` lists them.
    """
    for folder in {file.parent for file in files}:
        folder.mkdir(exist_ok=True)
    for file in sorted(files):
        name, folder = file.stem, file.parent
        if folder.name == "rounds":
            kind = "laws" if any(card["name"] == name for card in cards["laws"]) else "slow-starts"
            draw_rounds(CONTROLS[kind].format(name), name, folder, slow_start=kind == "slow-starts")
        elif folder.name == "curves":
            queues.draw_curve(name, folder)
        elif folder.name == "backlogs":
            queues.draw_backlog(name, folder)
        else:
            draw_model(computed(name), folder, (".svg",))


if __name__ == "__main__":
    main(sys.argv[1:])
