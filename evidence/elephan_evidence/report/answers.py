"""Pages of answers, in Markdown with pictures: a page for each, and an index by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elephan.pictures.figure import Axis, Figure, Series
from elephan.pictures.words import joined
from elephan.plots.pictures import draw
from elephan.plots.style import save
from elephan.runs.files import write_text
from elephan.units import format_time
from elephan_evidence.answers import Record, answers, repeats
from elephan_evidence.answers.judged import nearest
from elephan_evidence.answers.shown import said_of_others
from elephan_evidence.report.markdown import line, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from elephan_evidence.answers import Answer

INDEX, PICTURES = "README.md", "pictures"
JUDGED = "../judged/"

GENERATED = "<!-- Written by `elephan answer --pages`; what is changed here is lost. -->"

HEAD = """\
What operators, teachers and developers of stacks ask, and what the five papers left open; each is answered by one
command, which anyone can repeat: `elephan answer ID --ask`. Senders are those of a default Linux host (`tcp = "linux"`:
CUBIC, offload of 64 KiB, a receive window of 3 MiB) unless an answer says otherwise. A verdict is what 95 % intervals
allow: where they do not exclude the opposite, the answer says *not decided* and how long a run would decide.

*Asked again* is the outcome of a repetition with four times the duration (or the replications) and with another seed:
*stays* means that each claim is decided as before and that the intervals overlap. Times are processor times; two cores
take half.

{repeated}
"""


def write_pages(folder: Path) -> list[Path]:
    """Write the index and a page for each answer that has been asked.

    Parameters
    ----------
    folder : Path
        Created if missing. Each file appears whole or not at all.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    found = [(each, Record.read(each)) for each in answers()]
    written = [write_text(folder / INDEX, index(found))]
    for each, record in found:
        if record is None:
            continue
        if each.picture is not None:
            save(draw(picture(each, record)), folder / PICTURES, each.id, (".svg",))
        written.append(write_text(folder / f"{each.id}.md", page(each, record)))
    return written


def index(found: list[tuple[Answer, Record | None]]) -> str:
    """Return the text of the index: a table for each topic, and the repetitions."""
    topics: dict[str, list[tuple[Answer, Record | None]]] = {}
    for each, record in found:
        topics.setdefault(each.topic, []).append((each, record))
    points, agreeing, alike, null = repeats.scores()
    numbers = joined([f"{by.name} repeats {n}" for by, n in points.items()])
    repeated = (
        f"{numbers} points of these pictures: the 95 % intervals of\n"
        f"{agreeing} overlap, and those of {alike} more with the settings of both made alike; {null:.0f} would if\n"
        "points were compared with the others of their answer. Pages name reasons of differences.\n\n"
        f"Of {len(found)} answers {_repeated_twice(found)} have two such points at least; the pages of the others say\n"
        "why they have not."
    )
    return "\n".join(["# Answers", "", GENERATED, "", HEAD.format(repeated=repeated), *_tables(topics)])


def _repeated_twice(found: list[tuple[Answer, Record | None]]) -> int:
    """Count the answers of which two points at least are repeated."""
    return sum(len(repeats.repeated(each)) >= 2 for each, _ in found)


def _tables(topics: dict[str, list[tuple[Answer, Record | None]]]) -> Iterator[str]:
    heads = ["question", "answer", "time", "asked again"]
    for topic, members in topics.items():
        yield f"## {topic[:1].upper()}{topic[1:]}\n"
        rows = []
        for each, record in members:
            if record is None:
                rows.append([each.question, "not asked yet", "", ""])
            else:
                took = format_time(record.processor_s)
                rows.append([f"[{each.question}]({each.id}.md)", record.sentence, took, record.repetitions])
        yield from table(heads, rows, [False, False, True, False])


def page(each: Answer, record: Record) -> str:
    """Return the text of the page of an answer."""
    lines = [
        f"# {each.question}",
        "",
        GENERATED,
        "",
        f"**Answer.** {record.sentence}",
        "",
        f"- Valid for: {record.senders}",
        f"- Would change it: {record.changes}",
        f"- How sure: {record.certainty}",
        f"- Asked again: {record.repetitions}.",
        f"- {nearest(each, link=JUDGED)}",
        *([f"- {repeats.sentence(each)}"] if repeats.repeated(each) else []),
        *([f"- Not repeated by another simulator: {each.not_repeated}"] if each.not_repeated else []),
        *([f"- Asked by: {each.source}"] if each.source else []),
        "",
    ]
    if each.picture is not None:
        lines += [f"![{line(picture(each, record).alt)}]({PICTURES}/{each.id}.svg)", ""]
    lines += [
        "<!-- not run: it takes too long -->",
        "```",
        each.command,
        "```",
        "",
        "```text",
        record.screen,
        "```",
        "",
        *([f"{others.replace('--json', '`--json`')}.", ""] if (others := said_of_others(each, record)) else []),
        f"`elephan answer {each.id} --ask` repeats it ({format_time(record.processor_s)} of processor time); `--out`",
        f"writes its files. Asked with elephan {record.version}.",
        "",
    ]
    return "\n".join(lines)


def picture(each: Answer, record: Record) -> Figure:
    """Return the picture of an answer: the values on which it rests, with their intervals."""
    asked = each.picture
    assert asked is not None
    names = tuple(name for name, _ in record.drawn)

    def values(of: str) -> np.ndarray:
        return np.array([getattr(bounds, of) for _, bounds in record.drawn]) / asked.per

    quantity, _, unit = asked.says.rstrip("]").partition(" [")
    series = Series(quantity, np.arange(float(len(names))), values("mid"), values("low"), values("high"), kind="points")
    beside = _beside(each, names)
    said = ", ".join(f"{name} {bounds.short(asked.per)}" for name, bounds in record.drawn)
    return Figure(
        each.id,
        each.question,
        f"{asked.says}: {said}.",
        Axis("", scale="names", names=names),
        Axis(quantity, unit, scale=asked.scale),  # type: ignore[arg-type]
        (series, *beside),
        height=360,
    )


def _beside(each: Answer, names: tuple[str, ...]) -> tuple[Series, ...]:
    """Return what a formula gives, and the points that other simulators repeat; empty if there are none."""
    assert each.picture is not None
    series = []
    if theory := each.theory():
        x = np.array([float(names.index(name)) for name, _ in theory])
        y = np.array([value / each.picture.per for _, value in theory])
        series.append(Series("Formula", x, y, colour="green", kind="points"))
    for by, found in repeats.repeated_by(repeats.repeated(each)).items():
        x = np.array([float(names.index(of.point)) for of in found])
        mid, low, high = np.array([of.theirs for of in found]).T
        series.append(Series(by.name, x, mid, low, high, colour=by.colour, kind="points"))
    return tuple(series)
