"""Questions and guided experiments as data: controls with ranges, presets, and the scenario that they fill.

Source: ``cards.toml`` and ``lessons.toml`` in this folder, and the templates of `elephan.templates`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

from elephan.errors import InputError, suggest
from elephan.scenario import Scenario
from elephan.templates import template

VIEWS = ("curve", "limit", "run", "compare")

ROUNDS, SHORTEST_S, LONGEST_S, MOST_PACKETS = 1000.0, 40.0, 120.0, 1.2e6
"""Length of a run: desired number of round trips, limits of the time [s], and maximum number of packets of 1,500 B."""

ALL = "all"
"""Value of the control of the second variant that compares all choices of this control."""

FEWEST_ROUNDS = 150.0
"""Minimum number of round trips of a run, which takes precedence over the maximum of packets: windows need time to
grow."""

SAMPLES = 600
"""Number of samples in a run; a figure cannot show more."""


@dataclass(frozen=True)
class Control:
    """One control of a card, with its default: a number with a range, or a choice with names by value.

    Parameters
    ----------
    unit, shown : str
        Unit in scenario files, and on the page if that differs.
    plain : bool
        Whether the scenario file has the number without a unit.
    scale : str
        Scale of the slider: ``"log"`` or ``"linear"``.
    """

    name: str
    label: str
    value: Any
    unit: str = ""
    shown: str = ""
    low: float = 0.0
    high: float = 0.0
    step: float = 0.0
    whole: bool = False
    plain: bool = False
    scale: str = "log"
    help: str = ""
    choices: Mapping[str, str] | None = None

    def check(self, value: Any) -> Any:
        """Check a value of the control; return it as a number of the right type, or as one of the choices.

        Raises
        ------
        InputError
            The message begins with the name of the control.

        Examples
        --------
        >>> Control("rate", "Rate", 100, unit="Mbit/s", low=1, high=1000).check(2000)
        Traceback (most recent call last):
        elephan.errors.InputError: rate: must be 1 to 1000 Mbit/s
        """
        if self.choices is not None:
            if not isinstance(value, str) or value not in self.choices:
                raise InputError(f"{self.name}: use one of {', '.join(self.choices)}")
            return value
        # The comparison is false for NaN, and also works for integers that are too large for a float.
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not self.low <= value <= self.high:
            raise InputError(f"{self.name}: must be {self.low:g} to {self.high:g} {self.shown or self.unit}".rstrip())
        return round(value) if self.whole else float(f"{value:.6g}")

    def text(self, value: Any) -> str:
        """Return a checked value in the notation of scenario files."""
        if self.choices is not None:
            return str(value)
        return f"{value:g}" if self.plain or not self.unit else f"{value:.10g} {self.unit}"


class Variant(NamedTuple):
    """A variant of a scenario: its name, and the keys that it sets."""

    name: str
    set: Mapping[str, Any]


@dataclass(frozen=True)
class Card:
    """A question of the page, with its controls and the template of its scenario.

    Parameters
    ----------
    view : str
        One of `VIEWS`.
    target, scenario : str
        Templates with ``$names``: the target of a sizing, and the scenario (TOML).
    variants : tuple of Variant
        Two variants for a comparison, with ``$names``; `fill` makes a variant of each choice if control b is `ALL`.
    vary : tuple of str and list
        The control that varies in the static edition, and its values.
    """

    id: str
    group: str
    question: str
    short: str
    see: str
    view: str
    controls: tuple[Control, ...]
    scenario: str
    target: str
    variants: tuple[Variant, ...]
    presets: Mapping[str, Mapping[str, Any]]
    vary: tuple[str, Sequence[Any]]
    length: Mapping[str, float]
    rtt_ms: float | None = None
    rate: str = "rate"

    def to_json(self) -> dict[str, Any]:
        """Return the data of the card that the page needs."""
        keys = ("id", "group", "question", "short", "see", "view", "presets")
        about = {key: getattr(self, key) for key in keys}
        controls = [{k: v for k, v in vars(each).items() if v not in ("", None, False)} for each in self.controls]
        return about | {"controls": controls, "vary": {"control": self.vary[0], "values": list(self.vary[1])}}


class Filled(NamedTuple):
    """A card with values: the scenario, the target of a sizing, and the variants."""

    text: str
    target: str
    variants: tuple[Variant, ...]


def run_length(
    rate_bps: float,
    rtt_s: float,
    *,
    rounds: float = ROUNDS,
    shortest: float = SHORTEST_S,
    packets: float = MOST_PACKETS,
) -> float:
    """Return the length of a card's run [s], see `ROUNDS`: many round trips, but a limited number of packets.

    Examples
    --------
    >>> run_length(100e6, 0.06), run_length(10e9, 0.0005)
    (60.0, 1.4)
    """
    wanted = min(max(rounds * rtt_s, shortest), max(LONGEST_S, shortest))
    affordable = packets * 12_000 / rate_bps
    length = min(wanted, max(affordable, FEWEST_ROUNDS * rtt_s))
    return float(f"{length:.2g}")


def fill(card: Card, values: Mapping[str, Any], slider: object = None) -> Filled:
    """Fill a card with values by the names of controls; other controls have their defaults.

    Parameters
    ----------
    slider : int, optional [packets]
        Buffer for a card whose view is a curve; by default one bandwidth-delay product.

    Raises
    ------
    InputError
        If a value is out of range, or a control does not exist.

    Examples
    --------
    >>> filled = fill(cards()["buffer"], {"rate": 20})
    >>> filled.target, 'rate   = "20 Mbit/s"' in filled.text
    ('utilization=95%', True)
    """
    known = {control.name: control for control in card.controls}
    for name in values:
        if name not in known:
            raise InputError(f"{name}: there is no such control; {suggest(str(name), known)}")
    checked = {name: control.check(values.get(name, control.value)) for name, control in known.items()}
    if slider is not None and (isinstance(slider, bool) or not isinstance(slider, int) or not 1 <= slider <= 10**7):
        raise InputError("slider: must be a whole number of packets, 1 to 10000000")
    words = {name: known[name].text(value) for name, value in checked.items()}
    words |= _derived(card, checked) | {"slider": "1 bdp" if slider is None else f"{slider} packets"}
    labels = {name: (known[name].choices or {}).get(value, value) for name, value in checked.items()}
    named = [(Template(each.name).substitute(labels), each, words) for each in card.variants]
    if checked.get("b") == ALL:
        named = [(o, card.variants[1], {"b": key}) for key, o in (known["b"].choices or {}).items() if key != ALL]
    variants = tuple(Variant(name, {k: _substituted(v, own) for k, v in each.set.items()}) for name, each, own in named)
    return Filled(Template(card.scenario).substitute(words).lstrip(), Template(card.target).substitute(words), variants)


def _substituted(value: Any, words: Mapping[str, str]) -> Any:
    return Template(value).substitute(words) if isinstance(value, str) else value


def _derived(card: Card, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of the ``$names`` that are computed from the controls."""
    rtt_ms = float(card.rtt_ms if card.rtt_ms is not None else values.get("rtt", 50.0))
    rate = float(values.get(card.rate, values.get("contract", 100.0))) * (1000 if card.rate == "gbit" else 1)
    length = run_length(rate * 1e6, rtt_ms * 1e-3, **card.length)
    found = {
        "duration": f"{length:g} s",
        "warmup": f"{float(f'{length / 4:.2g}'):g} s",
        "every": f"{float(f'{1e3 * length / SAMPLES:.2g}'):g} ms",
        "begin": f"{float(f'{min(length / 20, 2.0):.2g}'):g} s",
        "rtt_low": f"{0.9 * rtt_ms:.6g} ms",
        "rtt_high": f"{1.1 * rtt_ms:.6g} ms",
    }
    if "loss" in values:
        found["loss_share"] = f"{values['loss'] / 100:.6g}".replace("e-0", "e-")
    if "mean" in values:
        found["swing_of_mean"] = f"{values['mean'] * values['swing'] / 100:.6g}"
        found["step_high"] = f"{15 + values['step'] / 2:.6g}"
    if "threshold" in values:
        one = f'{{ discipline = "drop-tail", ecn_threshold = "{values["threshold"]} packets" }}'
        found["marking"] = one if values["discipline"] == "drop-tail" else '{ discipline = "dualpi2" }'
    return found


@cache
def cards() -> dict[str, Card]:
    """Return the questions by id, in the order of the page."""
    read = _read("cards.toml")
    presets = read["presets"]
    return {card.id: card for card in (_card(each, read["controls"], presets) for each in read["cards"])}


@cache
def labels_of(control: str) -> dict[str, str]:
    """Return the names of the choices of a control that several cards share, by value."""
    return dict(_read("cards.toml")["controls"][control]["choices"])


@cache
def presets() -> dict[str, str]:
    """Return the names of the presets by id."""
    return {name: preset["label"] for name, preset in _read("cards.toml")["presets"].items()}


def card(name: object) -> Card:
    """Return a card by its id; raise an `InputError` if it does not exist."""
    if not isinstance(name, str) or name not in cards():
        raise InputError(f"card: there is no such question; use one of {', '.join(cards())}")
    return cards()[name]


def _card(each: Mapping[str, Any], shared: Mapping[str, Any], named: Mapping[str, Any]) -> Card:
    given = {name: shared[name] for name in each["controls"]} | each.get("own", {})
    given = {name: {**shared[own["like"]], **own} if "like" in own else own for name, own in given.items()}
    values = each.get("values", {})
    controls = tuple(
        _control(name, own | ({"value": values[name]} if name in values else {})) for name, own in given.items()
    )
    there = {control.name for control in controls}
    of_card = {name: {k: v for k, v in named[name]["values"].items() if k in there} for name in each.get("presets", ())}
    [(vary, amounts)] = each["vary"].items()
    keys = ("id", "group", "question", "short", "see", "view", "scenario")
    return Card(
        **{key: each[key] for key in keys},
        controls=controls,
        target=each.get("target", ""),
        variants=tuple(Variant(**variant) for variant in each.get("variants", ())),
        presets=of_card,
        vary=(vary, amounts),
        length=each.get("length", {}),
        rtt_ms=each.get("rtt"),
        rate=each.get("rate", "rate"),
    )


def _control(name: str, given: Mapping[str, Any]) -> Control:
    own = {key: value for key, value in given.items() if key not in ("range", "like")}
    if name == "b":
        own |= {"choices": {**own["choices"], ALL: "All, in one table"}, "help": ""}
    low, high = given.get("range", (0.0, 0.0))
    return Control(name=name, low=low, high=high, **own)


@dataclass(frozen=True)
class Lesson:
    """A guided experiment: a question with choices, two variants to run, an explanation, and checks of the results."""

    id: str
    title: str
    question: str
    choices: tuple[str, ...]
    right: int
    do: str
    explains: str
    text: str
    variants: tuple[Variant, ...]
    checks: tuple[tuple[str, str, str, float], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the data of the experiment that the page needs."""
        keys = ("id", "title", "question", "choices", "right", "do", "explains", "text")
        found = {key: getattr(self, key) for key in keys}
        return found | {"variants": [variant._asdict() for variant in self.variants], "checks": list(self.checks)}


@cache
def lessons() -> dict[str, Lesson]:
    """Return the guided experiments by id, in the order of the page."""
    return {each["id"]: _lesson(each) for each in _read("lessons.toml")["lessons"]}


def _lesson(each: Mapping[str, Any]) -> Lesson:
    scenario = Scenario.from_text(template(each["template"], each["choose"]), each["id"])
    scenario = scenario.replace({"title": each["title"], **each["set"]})
    if more := each.get("more"):
        groups = deepcopy(list(scenario.source["flows"]))
        scenario = scenario.replace({"flows": [*groups, {**groups[0], **more}]})
    keys = ("id", "title", "question", "right", "do", "explains")
    return Lesson(
        **{key: each[key] for key in keys},
        choices=tuple(each["choices"]),
        text=scenario.text,
        variants=tuple(Variant(**variant) for variant in each["variants"]),
        checks=tuple((left, sign, str(right), float(factor)) for left, sign, right, factor in each["checks"]),
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("elephan.web").joinpath(name).read_text(encoding="utf-8"))
