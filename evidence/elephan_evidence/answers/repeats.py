"""Points of answers repeated by ns-2 or ns-3, whose senders and queues were written by others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elephan.errors import InputError, suggest
from elephan.metrics import percentile
from elephan.runs import run
from elephan.scenario import Scenario
from elephan.stats import estimate
from elephan_evidence.answers.answer import answers
from elephan_evidence.answers.record import Record
from elephan_evidence.answers.simulators import SIMULATORS, simulator
from elephan_evidence.answers.values import Bounds, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elephan_evidence.answers.answer import Answer, Repeat
    from elephan_evidence.answers.simulators import Simulator

FOUND = Path(__file__).with_name("repeated.json")
"""Values by answer and point, in the unit of the answer's picture: ``there`` by the other simulator; ``alike``, here
and there with the settings of `Alike`."""

WAIT = "wait95"
"""Name of the 95th percentile of the waiting times of the last group's packets, which a run's document lacks."""

MEASURED: dict[str, tuple[str | int, ...]] = {
    "utilization": ("links", 0, "utilization"),
    "delay": ("links", 0, "queueing_delay_s"),
    "loss": ("links", 0, "loss_ratio"),
    "goodput": ("groups", 0, "goodput_per_flow_bps"),
    "goodput2": ("groups", 1, "goodput_per_flow_bps"),
    "time": ("groups", -1, "transfers", "completion_time_s"),
    "time95": ("groups", -1, "transfers", "page_time_p95_s"),
}
"""Place in the document of a run, by the name that scripts print."""


@dataclass(frozen=True)
class Repeated:
    """A point of an answer's picture in both simulators.

    Parameters
    ----------
    point : str
        Name of the point in the picture.
    by : Simulator
        The other simulator.
    ours, theirs : Bounds
        Value and 95 % interval in elephan and in the other, in the unit of the picture.
    why : str
        Reason of a difference, or an empty string.
    alike : tuple of Bounds or None
        Both values with the settings made alike.
    """

    point: str
    by: Simulator
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
    """Return the points of an answer that were repeated; empty if none were, or the answer was not asked."""
    record = Record.read(answer)
    if record is None or answer.picture is None:
        return []
    drawn, found, per = dict(record.drawn), _found().get(answer.id, {}), answer.picture.per
    return [
        Repeated(
            each.point,
            simulator(each.by),
            Bounds(*(value / per for value in drawn[each.point])),
            _reachable(answer, found[each.point]["there"][0]),
            each.why,
            _pair(found[each.point]["alike"]) if each.alike else None,
        )
        for each in answer.repeats
        if each.point in found
    ]


def repeated_by(points: Sequence[Repeated]) -> dict[Simulator, list[Repeated]]:
    """Return points by the simulator that repeated them."""
    found: dict[Simulator, list[Repeated]] = {}
    for each in points:
        found.setdefault(each.by, []).append(each)
    return found


def sentence(answer: Answer) -> str:
    """Return the comparison with each simulator in a sentence; empty if no point was repeated."""
    return " ".join(
        f"Repeated by {by.name}: {'; '.join(each.text() for each in points)}."
        for by, points in repeated_by(repeated(answer)).items()
    )


def scores() -> tuple[dict[Simulator, int], int, int, float]:
    """Count the agreements of all answers.

    Returns
    -------
    points : dict of Simulator to int
        Number that each repeats.
    agreeing : int
    alike : int
        Further points that agree with the settings made alike.
    null : float
        Number of agreements expected if the points of each answer were exchanged at random.
    """
    all_points = [points for points in map(repeated, answers()) if points]
    flat = [each for points in all_points for each in points]
    agreeing = sum(each.agrees for each in flat)
    null = sum(
        sum(one.ours.overlaps(other.theirs) for other in points if other is not one) / max(len(points) - 1, 1)
        for points in all_points
        for one in points
    )
    alike = sum(each.agrees_alike for each in flat) - agreeing
    points = {by: sum(each.by == by for each in flat) for by in SIMULATORS.values()}
    return points, agreeing, alike, null


def here(repeat: Repeat, workers: int | None = None) -> Bounds:
    """Measure a repeated quantity here, with the settings of `Repeat.alike`.

    Raises
    ------
    InputError
        If the quantity is not one that is measured here.
    """
    assert repeat.alike is not None
    names = repeat.quantity.split("/")
    for name in names:
        if name not in {WAIT, *MEASURED}:
            message = f'{repeat.point}: cannot be made alike: "{name}" is none of {", ".join([*MEASURED, WAIT])}'
            raise InputError(message)
    scenario = Scenario.from_file(Path(repeat.alike.scenario)).replace(repeat.alike.set)
    result = run(scenario, replications=repeat.alike.replications, workers=workers)
    if names == [WAIT]:
        histograms = (each.histograms["group_delay_ps"][0][-1] for each in result.outcomes)
        return _interval(repeat, [1e-12 * percentile(waits, 0.95) for waits in histograms])
    document: Any = result.to_json()
    first, *rest = (reduce(lambda part, key: part[key], MEASURED[name], document) for name in names)
    return Bounds.of(Values.ratio(first, rest[0]) if rest else first)


def value(repeat: Repeat, lines: Sequence[str]) -> Bounds:
    """Read a repeated quantity from the output of runs with different seeds.

    Raises
    ------
    InputError
        If a run printed no such quantity, or there are fewer than two runs.
    """
    return _interval(repeat, [_read(repeat, line) for line in lines])


def _interval(repeat: Repeat, values: Sequence[float]) -> Bounds:
    found = estimate(values)
    if found.ci95 is None:
        message = f"{repeat.point}: an interval needs two runs at least"
        raise InputError(message)
    return Bounds(found.mean, found.mean - found.ci95, found.mean + found.ci95)


def _read(repeat: Repeat, line: str) -> float:
    """Evaluate a quantity: a name that the script prints, or the ratio of two."""
    words = line.split()
    printed = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    names = repeat.quantity.split("/")
    for name in names:
        if name not in printed:
            message = f'{repeat.by} prints no "{name}"; {suggest(name, printed, "there are " + ", ".join(printed))}'
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
