"""Points of answers repeated by ns-2, whose senders and queues were written by others.

Source of its congestion controls: D. X. Wei and P. Cao, NS-2 TCP-Linux, WNS2 2006 (Linux 2.6.22).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from elephan.errors import InputError, suggest
from elephan.runs import run
from elephan.scenario import Scenario
from elephan.stats import estimate
from elephan_evidence.answers.answer import answers
from elephan_evidence.answers.record import Record
from elephan_evidence.answers.values import Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elephan_evidence.answers.answer import Answer, Repeat

SCRIPT = Path(__file__).with_name("ns2") / "dumbbell.tcl"
FOUND = SCRIPT.with_name("found.json")
"""Values by answer and point, in the unit of the answer's picture: ``there`` by ns-2; ``alike``, here and by ns-2 with
the settings of `Alike`."""

BY = "ns-2 2.35"

MEASURED = {
    "utilization": ("links", "utilization", 0),
    "delay": ("links", "queueing_delay_s", 0),
    "loss": ("links", "loss_ratio", 0),
    "goodput": ("groups", "goodput_per_flow_bps", 0),
    "goodput2": ("groups", "goodput_per_flow_bps", 1),
}
"""Table of results, its column and its row, by the name that the script prints."""


@dataclass(frozen=True)
class Repeated:
    """A point of an answer's picture in both simulators.

    Parameters
    ----------
    point : str
        Name of the point in the picture.
    ours, theirs : Bounds
        Value and 95 % interval in elephan and in ns-2, in the unit of the picture.
    why : str
        Reason of a difference, or an empty string.
    alike : tuple of Bounds or None
        Both values with the settings made alike.
    """

    point: str
    ours: Bounds
    theirs: Bounds
    why: str
    alike: tuple[Bounds, Bounds] | None = None

    @property
    def agrees(self) -> bool:
        """Whether the 95 % intervals overlap."""
        return self.ours.overlaps(self.theirs)

    @property
    def agrees_alike(self) -> bool:
        """Whether the intervals overlap as published, or with the settings made alike."""
        return self.agrees or (self.alike is not None and self.alike[0].overlaps(self.alike[1]))

    def text(self) -> str:
        """Format both values, the reason if they differ, and the values with the settings made alike."""
        values = f"{self.point} {_both(self.ours, self.theirs)}"
        differs = "" if self.agrees else f" (differs: {self.why})"
        alike = f", and with the settings made alike {_both(*self.alike)}" if self.alike else ""
        return f"{values}{differs}{alike}"


def repeated(answer: Answer) -> list[Repeated]:
    """Return the points of an answer that ns-2 has repeated; empty if none were, or the answer was not asked."""
    record = Record.read(answer)
    if record is None or answer.picture is None:
        return []
    drawn, found, per = dict(record.drawn), _found().get(answer.id, {}), answer.picture.per
    return [
        Repeated(
            each.point,
            Bounds(*(value / per for value in drawn[each.point])),
            _reachable(answer, found[each.point]["there"][0]),
            each.why,
            _pair(found[each.point]["alike"]) if each.alike else None,
        )
        for each in answer.repeats
        if each.point in found
    ]


def sentence(answer: Answer) -> str:
    """Return the comparison with ns-2 in a sentence; empty if no point was repeated."""
    points = repeated(answer)
    return f"Repeated by {BY}: {'; '.join(each.text() for each in points)}." if points else ""


def scores() -> tuple[int, int, int, float]:
    """Count the agreements of all answers.

    Returns
    -------
    points, agreeing : int
    alike : int
        Further points that agree with the settings made alike.
    null : float
        Number of agreements expected if the points of each answer were exchanged at random.
    """
    all_points = [points for points in map(repeated, answers()) if points]
    agreeing = sum(each.agrees for points in all_points for each in points)
    null = sum(
        sum(one.ours.overlaps(other.theirs) for other in points if other is not one) / max(len(points) - 1, 1)
        for points in all_points
        for one in points
    )
    alike = sum(each.agrees_alike for points in all_points for each in points) - agreeing
    return sum(map(len, all_points)), agreeing, alike, null


def command(run: str, seed: int) -> list[str]:
    """Return the command of one run in ns-2."""
    return ["ns", str(SCRIPT), *run.split(), f"seed={seed}"]


def here(repeat: Repeat, workers: int | None = None) -> Bounds:
    """Measure a repeated quantity here, with the settings of `Repeat.alike`.

    Raises
    ------
    InputError
        If the quantity is not one that is measured here.
    """
    assert repeat.alike is not None
    if repeat.quantity not in MEASURED:
        message = f'{repeat.point}: cannot be made alike: "{repeat.quantity}" is none of {", ".join(MEASURED)}'
        raise InputError(message)
    scenario = Scenario.from_file(Path(repeat.alike.scenario)).replace(repeat.alike.set)
    table, column, row = MEASURED[repeat.quantity]
    found = getattr(run(scenario, replications=repeat.alike.replications, workers=workers), table)
    mean, half = (float(found[name][row]) for name in (column, f"{column}_ci95"))
    return Bounds(mean, mean - half, mean + half)


def value(repeat: Repeat, lines: Sequence[str]) -> Bounds:
    """Read a repeated quantity from the output of runs with different seeds.

    Raises
    ------
    InputError
        If a run printed no such quantity, or there are fewer than two runs.
    """
    found = estimate([_read(repeat.quantity, line) for line in lines])
    if found.ci95 is None:
        message = f"{repeat.point}: an interval needs two runs at least"
        raise InputError(message)
    return Bounds(found.mean, found.mean - found.ci95, found.mean + found.ci95)


def _read(quantity: str, line: str) -> float:
    """Evaluate a quantity: a name that the script prints, or the ratio of two."""
    words = line.split()
    printed = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    names = quantity.split("/")
    for name in names:
        if name not in printed:
            message = f'ns-2 prints no "{name}"; {suggest(name, printed, "there are " + ", ".join(printed))}'
            raise InputError(message)
    first, *rest = (printed[name] for name in names)
    return first / rest[0] if rest else first


def _both(ours: Bounds, theirs: Bounds) -> str:
    return f"{ours.short()} here, {theirs.short()} there"


def _reachable(answer: Answer, values: list[float]) -> Bounds:
    """Return recorded bounds without what the quantity of the picture cannot reach."""
    assert answer.picture is not None
    per = answer.picture.per
    return Bounds(*(value / per for value in answer.drawable(Bounds(*(value * per for value in values)))))


def _pair(values: list[list[float]]) -> tuple[Bounds, Bounds]:
    ours, theirs = (Bounds(*each) for each in values)
    return ours, theirs


@cache
def _found() -> dict[str, dict[str, dict[str, list[list[float]]]]]:
    found: dict[str, dict[str, dict[str, list[list[float]]]]] = json.loads(FOUND.read_text(encoding="utf-8"))
    return found
