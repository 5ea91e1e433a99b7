"""Every key and every parameter has an effect where it should, and none where the lint rule `no-effect` says so.

The keys come from the schema, the parameters from the catalogue: a new one is tried by itself, and fails until it
matters in a scenario of ``data/effects.toml``.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from elephan import _native
from elephan.catalog import KEYS, CardParameter, Need, catalog
from elephan.errors import ScenarioError
from elephan.lint import lint
from elephan.scenario import Scenario
from elephan.schema import schema

Changes = Mapping[str, Any]

DATA: dict[str, Any] = tomllib.loads((Path(__file__).parent / "data" / "effects.toml").read_text(encoding="utf-8"))
PLACES = {"laws": "flows[one].control", "slow-starts": "flows[one].control.slow_start", "queues": "links[core].queue"}
PLACES["traffic"] = "flows[one].traffic"
"""Place in the bases at which an entry of the catalogue is named."""

BASES = {"slow-starts": "laws"}
"""Base of a kind that has none of its own."""


@cache
def base(name: str) -> Scenario:
    return Scenario.from_text(DATA["base"][name]["text"], name)


@cache
def rolling_hash(canonical: str) -> int:
    """Return the hash of every arrival at every link, every ACK and every datagram."""
    return int(_native.simulate(canonical, 0, hash=True)["hash"])


def recorded(scenario: Scenario) -> str:
    """Return a hash of a run's results: its columns, samples and traces, and the names and numbers of its document."""
    outcome = _native.simulate(scenario.canonical, 0, series=True, hash=True)
    return hashlib.sha256((described(outcome) + described(scenario.facts)).encode()).hexdigest()


def described(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(f"{key}={described(value[key])};" for key in sorted(value))
    if isinstance(value, list | tuple):
        return "".join(map(described, value))
    return value.tobytes().hex() if isinstance(value, np.ndarray) else repr(value)


def warned(scenario: Scenario, where: str) -> list[str]:
    """Return the `no-effect` warnings about a place, or about a place that contains it."""
    found = [warning for warning in lint(scenario) if warning.rule == "no-effect"]
    return [str(w) for w in found if where == w.where or where.startswith((f"{w.where}.", f"{w.where}["))]


class Trial(NamedTuple):
    """A parameter on a scenario in which it must matter, and its possible other values."""

    scenario: Scenario
    place: str
    needs: list[Need]
    others: list[Any]

    def changed(self, value: Any) -> Scenario:
        return self.scenario.replace({self.place: value})


def parameters() -> list[Any]:
    every = [(kind, card["name"], row) for kind in KEYS for card in catalog(kind) for row in card["parameters"]]
    return [pytest.param(kind, name, row, id=f"{kind}.{name}.{row['name']}") for kind, name, row in every]


def trial(kind: str, name: str, row: CardParameter) -> Trial:
    of_card, of_row = (DATA["parameters"].get(key, {}) for key in (f"{kind}.{name}", f"{kind}.{name}.{row['name']}"))
    entry = {**of_card, **of_row}
    beside = {need["name"]: typed(need["value"]) for need in row["needs"] if need["kind"] == "is"}
    named = {PLACES[kind]: {KEYS[kind]: name, **beside}}
    scenario = base(entry.get("base", BASES.get(kind, kind))).replace({**named, **entry.get("set", {})})
    place = f"{PLACES[kind]}.{row['name']}"
    return Trial(scenario, place, row["needs"], list(entry["to"] if "to" in entry else others(scenario, place, row)))


def typed(value: str) -> Any:
    return value == "true" if value in ("true", "false") else value


def others(scenario: Scenario, place: str, row: CardParameter) -> Iterator[Any]:
    """Legal values other than the default, near ones first."""
    default = row["default"]
    if isinstance(default, list):
        return  # Tables of a law have entries of their own.
    for value in guessed(scenario, place, default):
        try:
            scenario.replace({place: value})
        except ScenarioError:
            continue
        yield value


def guessed(scenario: Scenario, place: str, default: Any) -> list[Any]:
    if isinstance(default, bool):
        return [not default]
    if isinstance(default, int | float):
        near = [factor * default for factor in (1.5, 2, 0.5, 0.1, 10)] if default else []
        return [*near, default + 1, default - 1, 0.3, 12]
    number, _, unit = str(default).partition(" ")
    if unit:
        scaled = [f"{factor * float(number):g} {unit}" for factor in (2, 0.5, 4, 0.1, 20) if float(number)]
        return scaled or [f"{x} {unit}" for x in ({"s": (0.001, 0.01, 0.1)}.get(unit, (2, 10, 5000)))]
    # A word: what it may be is in the message that refuses another. What is open may be a number or an amount.
    try:
        scenario.replace({place: "?"})
    except ScenarioError as refused:
        words = [word for word in re.findall(r'"([\w-]+)"', str(refused)) if word not in (default, "?")]
        return [*words, 0.5, 0.01, "20 packets", "3 packets", "600 B", "500 kbit/s"]
    raise AssertionError(place)


@pytest.mark.parametrize(("kind", "name", "row"), parameters())
def test_every_parameter_changes_the_run_where_it_matters(kind: str, name: str, row: CardParameter) -> None:
    tried = trial(kind, name, row)
    before = rolling_hash(tried.scenario.canonical)
    assert tried.others, "no other legal value was found: give `to` in effects.toml"
    for value in tried.others:
        changed = tried.changed(value)
        if rolling_hash(changed.canonical) != before:
            assert not warned(changed, tried.place), "it has an effect"
            return
    pytest.fail(f"none of {tried.others} changes the run: it is connected to nothing, or effects.toml lacks an entry")


def takes_away(need: Need, place: str) -> Changes:
    """Return changes that leave a need unmet."""
    beside = f"{place.rpartition('.')[0]}.{need['name']}"
    if need["kind"] == "not":
        around = "flows[one].recovery" if need["name"] == "recovery" else beside
        return {around: int(need["value"]) if need["value"].isdigit() else need["value"]}
    if need["kind"] == "open":
        return {beside: 0.01}
    if need["kind"] == "is":
        value = typed(need["value"])
        return {beside: not value if isinstance(value, bool) else OTHER[need["value"]]}
    return dict(DATA["unmet"][need["kind"]])


OTHER = {
    "drr": "start-time", "weighted": "time-shifted", "time-shifted": "weighted", "pareto": "exponential",
    "none": "1 Mbit/s", "dynamic": "static", "rate": "none",
}  # fmt: skip
"""Another value beside the one that a need names."""


def needing() -> list[Any]:
    found = []
    for parameter in parameters():
        kind, name, row = parameter.values
        found += [pytest.param(kind, name, row, need, id=f"{parameter.id}-{need['kind']}") for need in row["needs"]]
    return found


@pytest.mark.parametrize(("kind", "name", "row", "need"), needing())
def test_a_parameter_whose_need_is_not_met_changes_nothing_and_is_warned_of(
    kind: str, name: str, row: CardParameter, need: Need
) -> None:
    tried = trial(kind, name, row)
    unmet = tried.scenario.replace(takes_away(need, tried.place))
    if kind in ("queues", "laws") and unmet.source != tried.scenario.source:
        # Another queue removes a mark; it must differ from the tested one.
        assert unmet.resolved != tried.scenario.resolved
    before = rolling_hash(unmet.canonical)
    for value in tried.others:
        changed = unmet.replace({tried.place: value})
        assert warned(changed, tried.place), value
        assert rolling_hash(changed.canonical) == before, f"{value}: the need is not true"


def all_keys() -> set[str]:
    """Every key of every table, as ``Table.key``."""
    whole = schema()
    # Laws, disciplines and traffic hold parameters, which are tried above.
    tables = {"": whole} | {name: part for name, part in whole["$defs"].items() if "properties" in part}
    found = {f"{name}.{key}" for name, table in tables.items() for key in table["properties"]}
    # The version of the file, and what stands for other keys.
    return found - {".format", "TcpTable.profile"}


def test_every_key_has_a_scenario_in_which_it_must_matter() -> None:
    assert set(DATA["keys"]) == all_keys()


@pytest.mark.parametrize("key", sorted(DATA["keys"]))
def test_every_key_changes_the_run_or_what_is_recorded(key: str) -> None:
    entry = DATA["keys"][key]
    scenario = base("keys").replace(entry.get("set", {}))
    changed = scenario.replace(entry["change"])
    assert not [w for w in lint(changed) if w.rule == "no-effect"]
    same = rolling_hash(scenario.canonical) == rolling_hash(changed.canonical)
    if entry.get("recorded"):
        assert same
        assert recorded(scenario) != recorded(changed)
    else:
        assert not same


def keys_with_needs() -> list[Any]:
    whole = schema()
    tables = {"": whole} | {name: part for name, part in whole["$defs"].items() if "properties" in part}
    return [
        pytest.param(f"{name}.{key}", need, id=f"{name}.{key}-{need['kind']}")
        for name, table in tables.items()
        for key, part in table["properties"].items()
        for need in part.get("needs", ())
    ]


@pytest.mark.parametrize(("key", "need"), keys_with_needs())
def test_a_key_whose_need_is_not_met_changes_nothing_and_is_warned_of(key: str, need: Need) -> None:
    entry = DATA["keys"][key]
    own = entry.get("unmet", {})
    scenario = base(own.get("base", "keys")).replace(entry.get("set", {}))
    changes = own.get("change", entry["change"])
    for place, value in changes.items():
        unmet = scenario if own else scenario.replace(takes_away(need, place))
        changed = unmet.replace({place: value})
        assert warned(changed, own.get("at", place)), place
        assert rolling_hash(changed.canonical) == rolling_hash(unmet.canonical), f"{place}: the need is not true"


def test_every_kind_of_need_is_tried() -> None:
    kinds = {parameter.values[-1]["kind"] for parameter in (*needing(), *keys_with_needs())}
    cards = {need["kind"] for kind in KEYS for card in catalog(kind) for need in card["needs"]}
    assert kinds | cards == {"is", "not", "open", "crossed", *DATA["unmet"]}


def goodput(scenario: Scenario) -> float:
    """Return the goodput of the flows of group one, over half a minute [bit/s]."""
    flows = _native.simulate(scenario.replace(duration="30 s").canonical, 0)["flows"]
    return float(np.sum(np.array(flows["goodput_bps"])[np.array(flows["group"]) == 0]))


@pytest.mark.parametrize(
    ("kind", "name", "without"),
    [
        pytest.param(kind, card["name"], card["without"], id=f"{kind}.{card['name']}")
        for kind in KEYS
        for card in catalog(kind)
        if card["without"] in {other["name"] for other in catalog(kind)}
    ],
)
def test_a_card_without_what_it_needs_behaves_as_it_says(kind: str, name: str, without: str) -> None:
    # One flow and nothing that arrives by chance: what rounding moves does not grow.
    alone = base("laws").replace({"flows[one].count": 1, "flows[two].traffic": {"kind": "cbr", "rate": "3 Mbit/s"}})
    own, other = (alone.replace({PLACES[kind]: {KEYS[kind]: one}}) for one in (name, without))
    assert f"{name} behaves as {without} here" in "".join(warned(own, PLACES[kind]))
    if kind == "queues":
        assert rolling_hash(own.canonical) == rolling_hash(other.canonical)
    # The same rule computed in other steps: a loss comes an ACK earlier or later, of some thousand in each sawtooth.
    assert goodput(own) == pytest.approx(goodput(other), rel=0.01)


SEEDS = range(40)
"""Seeds of random scenarios: as many as take two seconds."""


def by_chance(seed: int) -> Scenario:
    """Return two links and three groups with random laws, disciplines and parameters."""
    random = np.random.default_rng(seed)

    def drawn(kind: str, place: str, scenario: Scenario) -> Scenario:
        cards = [card for card in catalog(kind) if card["name"] != "replay"]
        card = cards[random.integers(len(cards))]
        chosen = scenario.replace({place: {KEYS[kind]: card["name"]}})
        for row in random.permutation(np.array(card["parameters"], dtype=object))[:3]:
            legal = list(others(chosen, f"{place}.{row['name']}", row))
            if not legal:
                continue
            try:
                chosen = chosen.replace({f"{place}.{row['name']}": legal[random.integers(len(legal))]})
            except ScenarioError:
                continue
        return chosen

    scenario = base("chance")
    for link in ("core", "side"):
        scenario = drawn("queues", f"links[{link}].queue", scenario)
    for group in ("one", "two"):
        scenario = drawn("laws", f"flows[{group}].control", scenario)
        # The kernel's arithmetic has a slow start of its own.
        if scenario.source["flows"][("one", "two").index(group)]["control"].get("arithmetic") != "kernel":
            scenario = drawn("slow-starts", f"flows[{group}].control.slow_start", scenario)
        tcp = {"ecn": str(random.choice(["on", "off", "l4s"])), "limited_transmit": bool(random.random() < 0.5)}
        tcp |= {"delayed_ack": int(random.integers(1, 3)), "delayed_ack_timeout": "60 ms", "initial_ssthresh": 20.0}
        scenario = scenario.replace({f"flows[{group}].tcp": tcp})
    return drawn("traffic", "flows[three].traffic", scenario)


def test_what_has_no_effect_can_be_left_out_of_any_scenario() -> None:
    tried = 0
    for seed in SEEDS:
        scenario = by_chance(seed)
        before = rolling_hash(scenario.canonical)
        for warning in lint(scenario):
            if warning.rule == "no-effect" and "behaves as" not in warning.message:
                assert rolling_hash(left_out(scenario, warning.where).canonical) == before, (seed, warning)
                tried += 1
    assert tried > 2 * len(SEEDS), "a test of few warnings shows little"


def left_out(scenario: Scenario, where: str) -> Scenario:
    """Return the same file without one key."""
    table: Any = scenario.source
    *inside, last = re.findall(r"[^.\[\]]+", where)
    for word in inside:
        table = table[word] if isinstance(table, dict) else next(item for item in table if item["name"] == word)
    del table[last]
    return Scenario.from_mapping(scenario.source)
